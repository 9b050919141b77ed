//! The encoded form of one input: findings, losses and payloads.
//!
//! An input is read and encoded message by message. The encoded payloads stay in memory until the
//! input is complete, because an input with a failing message is not written at all. So a
//! conversion needs memory for the output and for one message.

use std::collections::HashMap;

use otlp_profiles::compression::Level;
use otlp_profiles::framing::Framing;
use otlp_profiles::losses::{LossCode, LossKind};
use otlp_profiles::model::ProfileId;
use otlp_profiles::transform::{Caution, snapshots};
use otlp_profiles::{
    Certainty, Detected, Error, Format, Losses, Profiles, ReadFinding, Reading, Severity, Verdict,
    WriteOptions,
};

use crate::convert::types::{labels, loss};
use crate::exit::{Exit, Failure};
use crate::files::Packing;
use crate::reading::Message;
use crate::skipped::Skipped;
use crate::sum::LAST;

/// The accumulated result of the messages of one input.
#[derive(Debug, Default)]
pub(crate) struct Converted {
    /// How the messages were framed.
    pub(crate) framing: Framing,
    /// The size of the input as stored, in bytes.
    pub(crate) stored: u64,
    /// The size of the output as stored, in bytes.
    pub(crate) bytes_out: u64,
    pub(crate) messages: u64,
    /// The number of encoded parts: one per message, or several if a verb splits a message.
    pub(crate) parts: usize,
    pub(crate) profiles: u64,
    pub(crate) samples: u64,
    /// Findings of the reader, one entry per code.
    pub(crate) findings: Vec<ReadFinding>,
    /// Losses of the writer.
    pub(crate) losses: Losses,
    /// Warnings of the verb about the input.
    pub(crate) warnings: Vec<String>,
    /// The least certain detection of all messages.
    pub(crate) detected: Option<Detected>,
    /// Whether the format of any message was guessed.
    pub(crate) guessed: bool,
    /// The formats of the messages in order of first appearance, each once.
    formats: Vec<Format>,
    /// The id of the first profile; reported if the input has only one.
    first_id: ProfileId,
    /// The payloads in the order of the messages, before framing and compression.
    payloads: Vec<Payload>,
}

/// The profiles of a payload, with a name if a verb divides a message into several.
pub(crate) type Part = (String, Profiles);

/// An encoded payload.
#[derive(Debug)]
struct Payload {
    /// The name of the part if a verb divides the input, else empty.
    part: String,
    /// The label for the name of the file, if the payload becomes a separate file.
    label: String,
    bytes: Vec<u8>,
}

impl Converted {
    /// Creates the result of an input that is not encoded here.
    #[cfg(feature = "parquet")]
    pub(crate) fn with_losses(losses: Losses) -> Self {
        Self { losses, ..Self::default() }
    }

    /// Records how a message was read, and returns its profiles.
    pub(crate) fn note(&mut self, message: Message) -> Profiles {
        self.guessed |= message.is_guess();
        self.messages += 1;
        let Reading { profiles, detected, findings, .. } = message.reading;
        self.note_detected(detected);
        self.note_findings(findings);
        profiles
    }

    fn note_findings(&mut self, findings: Vec<ReadFinding>) {
        for finding in findings {
            match self.findings.iter_mut().find(|known| known.code == finding.code) {
                Some(known) => known.count += finding.count,
                None => self.findings.push(finding),
            }
        }
    }

    /// Encodes one payload.
    ///
    /// # Errors
    ///
    /// The library cannot write the payload, or `--profile-id` applies to several profiles. The
    /// payload is not added.
    pub(crate) fn encode(
        &mut self,
        (part, profiles): Part,
        to: Format,
        options: &WriteOptions,
    ) -> Result<(), Failure> {
        if options.profile_id.is_some() && self.profiles > 0 && !profiles.is_empty() {
            let message = "--profile-id sets one profile's id, and several payloads have profiles";
            return Err(Failure::new(Exit::Usage, message));
        }
        self.parts += 1;
        if self.profiles == 0 {
            self.first_id =
                profiles.iter().next().map(otlp_profiles::Profile::profile_id).unwrap_or_default();
        }
        for profile in profiles.iter() {
            self.profiles += 1;
            self.samples += profile.samples().len() as u64;
        }
        let (payloads, losses) = otlp_profiles::write_all(&profiles, to, options)
            .map_err(|error: Error| Failure::writing(&error))?;
        if to == Format::FOLDED && profiles.len() > 1 {
            // One file has the sum of all profiles.
            let summed = snapshots([&profiles]).map_err(|error| Failure::writing(&error))?;
            let warning = |of| format!("{} ({LAST})", Caution::of_snapshots(of));
            self.warnings.extend(summed.iter().map(warning));
        }
        // Labels name files; OTLP payloads share one.
        let labels = if to.is_otlp() { Vec::new() } else { labels(&profiles, &payloads, to) };
        let mut labels = labels.into_iter();
        // Free the spare capacity: there may be millions of small messages.
        self.payloads.extend(payloads.into_iter().map(|mut bytes| {
            bytes.shrink_to_fit();
            Payload { part: part.clone(), label: labels.next().unwrap_or_default(), bytes }
        }));
        self.losses.merge(&losses);
        // pprof supports labels of mixed kinds, so they are written unchanged.
        if to == Format::PPROF {
            self.findings.retain(|finding| finding.code != "label.mixed");
        }
        Ok(())
    }

    /// The number of encoded payloads.
    pub(crate) fn payloads(&self) -> usize {
        self.payloads.len()
    }

    /// Adds the findings and losses of reading another input.
    pub(crate) fn add(&mut self, other: Self) {
        self.stored += other.stored;
        self.messages += other.messages;
        self.guessed |= other.guessed;
        self.losses.merge(&other.losses);
        self.note_findings(other.findings);
        for format in other.formats {
            if !self.formats.contains(&format) {
                self.formats.push(format);
            }
        }
        if let Some(detected) = other.detected {
            self.note_detected(detected);
        }
    }

    /// The bytes of the encoded payloads, neither framed nor compressed.
    pub(crate) fn payload_bytes(&self) -> u64 {
        self.payloads.iter().map(|payload| payload.bytes.len() as u64).sum()
    }

    /// Adds the encoded payloads of another input.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.payloads.append(&mut other.payloads);
        self.parts += other.parts;
        self.profiles += other.profiles;
        self.samples += other.samples;
        self.add(other);
    }

    /// Counts skipped messages as losses.
    ///
    /// # Errors
    ///
    /// The library lacks the loss code.
    pub(crate) fn note_skipped(&mut self, skipped: &Skipped) -> Result<(), Failure> {
        if skipped.count > 0 {
            self.losses.add_many(loss("message.unreadable")?, skipped.count, || skipped.place());
        }
        Ok(())
    }

    /// Adds the format to the list. Keeps the least certain detection for the report.
    fn note_detected(&mut self, detected: Detected) {
        if !self.formats.contains(&detected.format) {
            self.formats.push(detected.format);
        }
        let doubt = |detected: &Detected| match detected.certainty {
            Certainty::Certain => 0,
            Certainty::Equivalent(_) => 1,
            Certainty::Nearest => 2,
            Certainty::Preferred(_) => 3,
            _ => 4,
        };
        if self.detected.as_ref().is_none_or(|known| doubt(&detected) > doubt(known)) {
            self.detected = Some(detected);
        }
    }

    /// Returns the files to write, with their labels: one for each part, or several if a file of
    /// the format holds one profile. With `is_request` every message is a file, because the body of a
    /// request is one message.
    ///
    /// # Errors
    ///
    /// There is no message to write, or a frame is too long.
    pub(crate) fn blobs(
        &mut self,
        to: Format,
        packing: Packing,
        level: Level,
        is_request: bool,
    ) -> Result<Vec<(String, Vec<u8>)>, Failure> {
        let payloads = std::mem::take(&mut self.payloads);
        // An OTLP message without resources and tables has zero bytes, and readers reject an empty
        // file.
        let no_bytes = to.is_otlp() && payloads.len() == 1 && payloads[0].bytes.is_empty();
        if payloads.is_empty() || no_bytes {
            let message = format!("there is no profile to write: {} needs one", to.name());
            return Err(Failure::new(Exit::Output, message));
        }
        let key = |payload: &Payload| payload.part.clone();
        let payload = |payload: Payload| (payload.label, payload.bytes);
        let mut blobs = Vec::new();
        for (part, payloads) in grouped(payloads, key, payload) {
            let files = if is_request { requests(payloads) } else { self.files(to, payloads)? };
            let is_one = files.len() == 1;
            blobs.extend(files.into_iter().map(|(label, bytes)| match &part[..] {
                "" => (label, bytes),
                part if is_one => (part.to_owned(), bytes),
                part => (format!("{part}.{label}"), bytes),
            }));
        }
        if to.is_json() {
            // A final newline lets users concatenate files.
            blobs.iter_mut().for_each(|(_, blob)| blob.push(b'\n'));
        }
        let blobs = packed(blobs, packing, level);
        self.bytes_out = blobs.iter().map(|(_, blob)| blob.len() as u64).sum();
        Ok(blobs)
    }

    /// Joins payloads into as few files as the format allows.
    fn files(
        &self,
        to: Format,
        payloads: Vec<(String, Vec<u8>)>,
    ) -> Result<Vec<(String, Vec<u8>)>, Failure> {
        let bytes = |(_, bytes)| bytes;
        Ok(match several(to) {
            _ if payloads.len() == 1 => payloads,
            Several::Files => payloads,
            Several::Stacks => {
                let groups = grouped(payloads, |(label, _)| label.clone(), bytes);
                groups.into_iter().map(|(label, stacks)| (label, stacks.concat())).collect()
            }
            Several::Lines => {
                let lines: Vec<_> = payloads.into_iter().map(bytes).collect();
                vec![(String::new(), lines.join(&b'\n'))]
            }
            Several::Frames => {
                let payloads: Vec<_> = payloads.into_iter().map(bytes).collect();
                vec![(String::new(), self.frame(&payloads)?)]
            }
        })
    }

    /// Writes framed messages in the framing of the input.
    ///
    /// JSON lines and gzip members become length-prefixed frames, because a protobuf message may
    /// contain newlines and the output is compressed as a whole. gRPC frames stay gRPC frames.
    fn frame(&self, payloads: &[Vec<u8>]) -> Result<Vec<u8>, Failure> {
        let framing = match self.framing {
            // Length-prefixed frames are the file format of the Collector's file exporter.
            Framing::None | Framing::JsonLines | Framing::GzipMembers => Framing::LengthPrefixed,
            framing => framing,
        };
        otlp_profiles::framing::frame(framing, payloads).map_err(|error| Failure::writing(&error))
    }

    /// The fidelity of the conversion, including reading. A guessed format counts as lossy, because
    /// the values may be misread.
    pub(crate) fn verdict(&self) -> Verdict {
        if self.guessed {
            return Verdict::Lossy;
        }
        let worst = self.findings.iter().map(|finding| finding.severity).max();
        let reading = match worst {
            None => Verdict::Exact,
            Some(Severity::Info) => Verdict::Semantic,
            Some(_) => Verdict::Lossy,
        };
        self.losses.verdict().max(reading)
    }

    /// Whether `--deny-loss` refuses the result: it lost more than notes and changes that keep the
    /// meaning.
    pub(crate) fn is_lossy(&self) -> bool {
        self.verdict() == Verdict::Lossy
    }

    /// The names of the formats that were read, separated by commas: messages of one input may
    /// differ in generation.
    pub(crate) fn from(&self) -> String {
        let names: Vec<_> = self.formats.iter().map(|format| format.name()).collect();
        names.join(",")
    }

    /// The id of the profile if there is exactly one and it has an id.
    pub(crate) fn only_id(&self) -> Option<String> {
        let id = self.first_id;
        (self.profiles == 1 && id != ProfileId::NONE).then(|| id.to_string())
    }
}

/// Compresses files. Several go through one buffer: a small result that stays where a compressor was would keep the
/// next compressor from using the same memory, some 300 kB for each file.
fn packed(
    mut blobs: Vec<(String, Vec<u8>)>,
    packing: Packing,
    level: Level,
) -> Vec<(String, Vec<u8>)> {
    let (mut all, mut lengths, is_one) = (Vec::new(), Vec::new(), blobs.len() == 1);
    for (_, blob) in &mut blobs {
        let bytes = packing.pack(std::mem::take(blob), level);
        lengths.push(bytes.len());
        if is_one { *blob = bytes } else { all.extend(bytes) }
    }
    let mut rest = &all[..];
    for ((_, blob), length) in blobs.iter_mut().zip(lengths).filter(|_| !is_one) {
        let (own, others) = rest.split_at_checked(length).unwrap_or_default();
        (*blob, rest) = (own.to_owned(), others);
    }
    blobs
}

/// How a format stores several messages.
enum Several {
    /// One file for each message, named by its label: `x.cpu.pb.gz`.
    Files,
    /// Stacks as lines in any order: one file for each label.
    Stacks,
    /// One file with a JSON document per line, as the Collector's file exporter writes it.
    Lines,
    /// One file of length-prefixed messages.
    Frames,
}

/// OTLP is a format of streams, in which each message may hold many profiles; the others are file
/// formats.
fn several(to: Format) -> Several {
    match (to.is_otlp(), to.is_json()) {
        _ if to == Format::FOLDED => Several::Stacks,
        (true, true) => Several::Lines,
        (true, false) => Several::Frames,
        (false, _) => Several::Files,
    }
}

/// Labels several messages by their numbers, for a file each.
fn requests(payloads: Vec<(String, Vec<u8>)>) -> Vec<(String, Vec<u8>)> {
    if payloads.len() == 1 {
        return payloads;
    }
    payloads.into_iter().zip(0..).map(|((_, bytes), row)| (format!("{row}"), bytes)).collect()
}

/// Groups items by key, in order of the first appearance of each key.
fn grouped<T, V>(
    items: Vec<T>,
    key: impl Fn(&T) -> String,
    value: impl Fn(T) -> V,
) -> Vec<(String, Vec<V>)> {
    let mut rows = HashMap::new();
    let mut groups: Vec<(String, Vec<V>)> = Vec::new();
    for item in items {
        let key = key(&item);
        let row = *rows.entry(key.clone()).or_insert(groups.len());
        match groups.get_mut(row) {
            Some((_, group)) => group.push(value(item)),
            None => groups.push((key, vec![value(item)])),
        }
    }
    groups
}

/// The kind of loss of a finding, by its code, or else by its severity.
pub(crate) fn kind_of(finding: &ReadFinding) -> LossKind {
    match finding.code.parse::<LossCode>() {
        Ok(code) => code.kind(),
        Err(_) => match finding.severity {
            Severity::Info => LossKind::Note,
            Severity::Warning => LossKind::Approximated,
            _ => LossKind::Rejected,
        },
    }
}
