//! One input on its way through: what was read, what it became.
//!
//! An input is read and written message by message; only what was written is kept until all of it
//! is there, since an input of which any message fails is not written at all. So the memory is that
//! of the output and of one message.

use std::collections::HashMap;

use otlp_profiles::compression::Level;
use otlp_profiles::framing::Framing;
use otlp_profiles::losses::{LossCode, LossKind};
use otlp_profiles::model::ProfileId;
use otlp_profiles::{
    Certainty, Detected, Error, Format, Losses, Profiles, ReadFinding, Reading, Severity, Verdict,
    WriteOptions,
};

use crate::convert::types::{labels, loss};
use crate::exit::{Exit, Failure};
use crate::files::Packing;
use crate::reading::Message;

/// What the messages of one input became.
#[derive(Debug, Default)]
pub(crate) struct Converted {
    /// How the messages were framed.
    pub(crate) framing: Framing,
    /// The bytes of the input as it is stored.
    pub(crate) stored: u64,
    /// The bytes of the output as it is stored.
    pub(crate) bytes_out: u64,
    pub(crate) messages: u64,
    /// The payloads that were written, each a part of the input if a verb divides it.
    pub(crate) parts: usize,
    pub(crate) profiles: u64,
    pub(crate) samples: u64,
    /// What was noticed when reading; one entry a code.
    pub(crate) findings: Vec<ReadFinding>,
    /// What could not be said when writing.
    pub(crate) losses: Losses,
    /// Messages of the verb about the input.
    pub(crate) warnings: Vec<String>,
    /// Of the messages' detections the least certain.
    pub(crate) detected: Option<Detected>,
    /// Whether any of them was a guess.
    pub(crate) guessed: bool,
    /// In the order in which they were met, each once.
    formats: Vec<Format>,
    /// Of the first profile, to be told if it is the only one.
    first_id: ProfileId,
    /// The payloads in the order of the messages, neither framed nor compressed.
    payloads: Vec<Payload>,
    /// The first message that was passed over as it cannot be read.
    pub(crate) passed_over: Option<Failure>,
}

/// Profiles of a payload, and what they are called if a message becomes several.
pub(crate) type Part = (String, Profiles);

/// An encoded payload.
#[derive(Debug)]
struct Payload {
    /// The part of the input, if a verb divides it; else empty.
    part: String,
    /// What a file of its own is named after.
    label: String,
    bytes: Vec<u8>,
}

impl Converted {
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
    /// The library refuses to write it; nothing of the payload is kept then.
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
        // Only files are named.
        let labels = if to.is_otlp() { Vec::new() } else { labels(&profiles, &payloads, to) };
        let mut labels = labels.into_iter();
        // Writers reserve for more than a message without samples needs, and there may be millions.
        self.payloads.extend(payloads.into_iter().map(|mut bytes| {
            bytes.shrink_to_fit();
            Payload { part: part.clone(), label: labels.next().unwrap_or_default(), bytes }
        }));
        self.losses.merge(&losses);
        // pprof has labels of mixed kinds itself: they are written as they were.
        if to == Format::PPROF {
            self.findings.retain(|finding| finding.code != "label.mixed");
        }
        Ok(())
    }

    /// Adds how a further input was read.
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

    /// Goes on without a message that cannot be read, and says so.
    ///
    /// # Errors
    ///
    /// The library has no code for it.
    pub(crate) fn pass_over(&mut self, failure: Failure) -> Result<(), Failure> {
        self.losses.add_many(loss("message.unreadable")?, 1, || failure.place.clone());
        self.passed_over.get_or_insert(failure);
        Ok(())
    }

    /// The most doubtful detection is what the report shows.
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

    /// Returns the files to write, with their labels: one for each part, or several if a file of the format holds one
    /// profile.
    ///
    /// # Errors
    ///
    /// There is no message, and the format cannot represent that; or frames are too long.
    pub(crate) fn blobs(
        &mut self,
        to: Format,
        packing: Packing,
        level: Level,
    ) -> Result<Vec<(String, Vec<u8>)>, Failure> {
        let payloads = std::mem::take(&mut self.payloads);
        // A message without resources or tables is one of no bytes, and a file of none is refused.
        let no_bytes = to.is_otlp() && payloads.len() == 1 && payloads[0].bytes.is_empty();
        if payloads.is_empty() || no_bytes {
            let message = format!("there is no profile to write: {} needs one", to.name());
            return Err(Failure::new(Exit::Output, message));
        }
        let key = |payload: &Payload| payload.part.clone();
        let payload = |payload: Payload| (payload.label, payload.bytes);
        let mut blobs = Vec::new();
        for (part, payloads) in grouped(payloads, key, payload) {
            let files = self.files(to, payloads)?;
            let is_one = files.len() == 1;
            blobs.extend(files.into_iter().map(|(label, bytes)| match &part[..] {
                "" => (label, bytes),
                part if is_one => (part.to_owned(), bytes),
                part => (format!("{part}.{label}"), bytes),
            }));
        }
        if to.is_json() {
            // So that files can be put together, line by line.
            blobs.iter_mut().for_each(|(_, blob)| blob.push(b'\n'));
        }
        let packed = |(label, blob)| (label, packing.pack(blob, level));
        let blobs: Vec<_> = blobs.into_iter().map(packed).collect();
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

    /// Messages that came framed go out in the same frames.
    ///
    /// Lines of JSON and gzip members become length-prefixed frames: protobuf has no lines, and the output has a
    /// compression of its own. gRPC's frames stay what they were.
    fn frame(&self, payloads: &[Vec<u8>]) -> Result<Vec<u8>, Failure> {
        let framing = match self.framing {
            // The form of the Collector's file exporter is the one for files.
            Framing::None | Framing::JsonLines | Framing::GzipMembers => Framing::LengthPrefixed,
            framing => framing,
        };
        otlp_profiles::framing::frame(framing, payloads).map_err(|error| Failure::writing(&error))
    }

    /// How faithful it was, from the reading on. A guess may have read what was never said.
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

    /// What `--deny-loss` refuses: anything beyond notes and differences that keep the meaning.
    pub(crate) fn is_lossy(&self) -> bool {
        self.verdict() == Verdict::Lossy
    }

    /// What it was read from.
    ///
    /// Names with commas: messages of one input may be of several generations.
    pub(crate) fn from(&self) -> String {
        let names: Vec<_> = self.formats.iter().map(|format| format.name()).collect();
        names.join(",")
    }

    /// The id, where there is one profile and it has one.
    pub(crate) fn only_id(&self) -> Option<String> {
        let id = self.first_id;
        (self.profiles == 1 && id != ProfileId::NONE).then(|| id.to_string())
    }
}

/// How a format says several messages.
enum Several {
    /// A file each, named by its label: `x.cpu.pb.gz`.
    Files,
    /// Lines of stacks, whose order means nothing: a file for each label.
    Stacks,
    /// A JSON document a line, as the Collector's file exporter writes them.
    Lines,
    /// One file of length-prefixed messages.
    Frames,
}

/// OTLP is a format of streams, where each message may hold many profiles; others are of files.
fn several(to: Format) -> Several {
    match (to.is_otlp(), to.is_json()) {
        _ if to == Format::FOLDED => Several::Stacks,
        (true, true) => Several::Lines,
        (true, false) => Several::Frames,
        (false, _) => Several::Files,
    }
}

/// Groups items by a key, in the order in which keys are met.
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

/// The kind of loss that a finding is, by its code.
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
