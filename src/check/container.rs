//! Unpacks a file into its payloads: compression, framing, and the format of each payload.
//!
//! ```text
//! file ─► gzip? ─► frames? ─► JSON? ─► pprof's old forms? ─► detect ─► walk of each payload
//!           │         └─► each message likewise, with its number before every path: `message[3].…`
//!           └─► only faults of the stream, if it is corrupt
//! ```
//!
//! Input is untrusted: a file may be a decompression bomb, contain several messages, or be malformed or no profile
//! at all. In each case the result is a list of findings, never an error of the function.

use std::borrow::Cow;
use std::rc::Rc;

use super::catalogue::{
    OP0001, OP0002, OP0003, OP0004, OP0005, OP0006, OP0007, OP0009, OP0010, OP0020, OP0021, OP0022,
    OP0023, OP0024, OP0025, OP0026, OP0027, OP0029, OP0030, OP0031, OP0032, OP0033, OP1009, OP1018,
    OP1019, OP2030, OP9104, OP9201,
};
use super::findings::{Counted, Findings, Position, Shown};
use super::identify::{
    broken, closest_format, detect, is_legacy, is_more, length_as_newest, response, version_of,
};
use super::options::{Options, Profcheck};
use super::profcheck;
use super::report::Report;
use super::rule::{Fact, Family, Rule};
use super::{message, reader_errors};
use crate::compression::Unpacked;
use crate::error::{Error, GzipFault, Severity};
use crate::format::Format;
use crate::format::detect::{Certainty, Detected, begins_json, is_foreign, names};
use crate::framing::Framing;
use crate::limits::Limits;
use crate::stream::{self, are_messages, messages_of};

/// The formats with rules.
pub(super) const CHECKED: &str =
    "pprof or OTLP profiles, which `otlp-profiles convert` makes of it";

/// Checks a file. Implements `check::validate`.
pub(crate) fn file(bytes: &[u8], options: &Options) -> Report {
    let findings = Findings::new(Rc::new(options.clone()), None);
    let mut checking = Checking { options, format: None, lines: None, findings };
    checking.file(bytes);
    let format = checking.format;
    Report { format, ..checking.findings.finish() }
}

/// Counts the newlines in some bytes.
pub(super) fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// The state of a file's check.
pub(super) struct Checking<'a> {
    pub(super) options: &'a Options,
    /// The format of the last payload that was recognised.
    format: Option<Format>,
    /// The number of lines in the file before the payload; `None` if the payload was decompressed.
    pub(super) lines: Option<u64>,
    pub(super) findings: Findings,
}

impl Checking<'_> {
    /// Unpacks the payloads of a file, and checks each of them.
    ///
    /// All framed payloads share one limit for decompressed bytes, so that many small bombs do not evade it.
    fn file(&mut self, bytes: &[u8]) {
        if let Some(compat) = self.options.compat {
            return self.profcheck(bytes, compat);
        }
        let is_otlp = self.options.format.is_some_and(|format| format.schema().is_some());
        if bytes.is_empty() && !is_otlp {
            return self.findings.report_whole(&OP0001, "no bytes", "a payload");
        }
        let Some(unpacked) = self.unpack(bytes, &self.options.limits) else { return };
        if unpacked.bytes.is_empty() && !is_otlp {
            return self.findings.report_whole(&OP0001, "no bytes inside", "a payload");
        }
        let is_compressed = unpacked.packing.is_some();
        self.findings.in_file = matches!(unpacked.bytes, Cow::Borrowed(_));
        match messages_of(&unpacked, &self.options.limits) {
            Ok((framed, cut)) if framed.framing() != Framing::None => {
                let framing = framed.framing();
                let found = format!("{}, {framing}", Counted(framed.len(), "message"));
                self.findings.report(&OP0010, Position::at(0), found, "");
                let mut limits = self.options.limits;
                let in_file = std::mem::take(&mut self.findings.in_file);
                self.lines = (in_file && framing == Framing::JsonLines).then_some(0);
                let mut passed = 0;
                for (row, message) in framed.enumerate() {
                    // A message is a part of the unpacked bytes, so the difference is its offset.
                    let start = message.as_ptr().addr() - unpacked.bytes.as_ptr().addr();
                    let before = unpacked.bytes.get(passed..start).unwrap_or_default();
                    self.lines = self.lines.map(|lines| lines + newlines(before));
                    passed = start;
                    self.findings.prefix = format!("message[{row}]");
                    if let Some(inner) = self.unpack(message, &limits) {
                        // All messages draw on one limit.
                        limits.max_decompressed_bytes -=
                            limits.max_decompressed_bytes.min(inner.bytes.len() as u64);
                        self.payload(&inner.bytes, true);
                    }
                }
                self.findings.prefix.clear();
                if let Some(error) = cut {
                    self.findings.in_file = in_file;
                    reader_errors::report(&mut self.findings, &OP1009, &error, "");
                }
            }
            Ok(_) => {
                self.lines = self.findings.in_file.then_some(0);
                self.payload(&unpacked.bytes, is_compressed);
            }
            Err(error) => reader_errors::report_limit(&mut self.findings, &error, ""),
        }
    }

    /// Reports profcheck's verdict on the bytes as they are.
    ///
    /// profcheck supports neither compression nor framing nor detection. Offsets have 32 bits, hence the second
    /// limit.
    fn profcheck(&mut self, bytes: &[u8], compat: Profcheck) {
        let most = self.options.limits.max_input_bytes.min(u64::from(u32::MAX));
        if bytes.len() as u64 > most {
            let found = format!("{} bytes", bytes.len());
            return self.findings.report_whole(&OP0002, found, most);
        }
        self.format = Some(Format::OTLP_1_10);
        profcheck::check(bytes, compat, &mut self.findings);
    }

    /// Decompresses bytes. Reports faults, members that are not messages, and zeros after the last member. Returns
    /// `None` after a fault, which is reported.
    fn unpack<'b>(&mut self, bytes: &'b [u8], limits: &Limits) -> Option<Unpacked<'b>> {
        match stream::unpack(bytes, limits) {
            Ok(unpacked) => {
                if unpacked.members > 1 && !are_messages(&unpacked) {
                    let found = Counted(unpacked.members as usize, "member");
                    self.findings.report_whole(&OP0027, found, "one");
                }
                if unpacked.padding > 0 {
                    let spot = Position::at(bytes.len() - unpacked.padding);
                    let found = Counted(unpacked.padding, "zero byte");
                    self.findings.report(&OP0026, spot, found, "nothing");
                }
                Some(unpacked)
            }
            Err(error) => {
                self.compression(&error);
                None
            }
        }
    }

    /// Reports why bytes cannot be decompressed: each fault of gzip (RFC 1952) has a separate rule.
    fn compression(&mut self, error: &Error) {
        let rule = match error.gzip_fault() {
            Some(GzipFault::Header) => &OP0020,
            Some(GzipFault::HeaderCrc) => &OP0033,
            Some(GzipFault::HeaderLength) => &OP0029,
            Some(GzipFault::Truncated) => &OP0021,
            Some(GzipFault::Checksum) => &OP0022,
            Some(GzipFault::Size) => &OP0023,
            Some(GzipFault::Deflate) => &OP0024,
            Some(GzipFault::Garbage) => &OP0025,
            Some(GzipFault::Nested) => {
                return reader_errors::report(&mut self.findings, &OP0030, error, "");
            }
            Some(GzipFault::Other) => {
                return reader_errors::report(&mut self.findings, &OP0031, error, "");
            }
            None => return reader_errors::report_limit(&mut self.findings, error, ""),
        };
        reader_errors::report(&mut self.findings, rule, error, "");
    }

    /// Checks one payload.
    ///
    /// Records store positions as `u32`, which limits a payload to 4 GiB regardless of the options.
    fn payload(&mut self, payload: &[u8], is_compressed: bool) {
        if payload.len() > u32::MAX as usize {
            let found = format_args!("{} bytes", payload.len()).to_string();
            return self.findings.report_whole(
                &OP0003,
                found,
                format_args!("at most {} bytes", u32::MAX),
            );
        }
        let Some(format) = self.format_of(payload) else { return };
        self.format = Some(format);
        if format.is_json() {
            return self.json(payload);
        }
        self.findings.set_version(Some(version_of(format)));
        if !is_compressed {
            self.findings.report_whole(&OP0032, "", "");
        }
        self.message(payload, format);
        if let Some(expected) = self.options.format {
            self.mismatch(payload, expected);
        }
        self.findings.set_version(None);
    }

    /// Checks a message of a format.
    fn message(&mut self, payload: &[u8], format: Format) {
        let found = self.walk(payload, format);
        self.findings.add(found);
        self.generation(payload, format);
    }

    /// Walks a message of a format and returns the findings. Sets the version for later findings too.
    pub(super) fn walk(&mut self, payload: &[u8], format: Format) -> Findings {
        self.findings.set_version(Some(version_of(format)));
        if format.schema().is_some() {
            // The rule is on only for receivers, whose rows name the generation that they read.
            self.findings.report_whole(&OP9201, format, "otlp-1.10");
        }
        message::check(payload, version_of(format), self.options.limits, &self.findings)
    }

    /// Reports how much smaller a payload of an older generation would be in the newest.
    ///
    /// Costs a conversion, so it runs only if `OP9104` is named.
    pub(super) fn generation(&mut self, payload: &[u8], format: Format) {
        if !self.findings.is_enabled(&OP9104) || format.schema().is_none() || payload.is_empty() {
            return;
        }
        let Some(newest) = length_as_newest(payload, format, &self.options.limits) else { return };
        let saved = payload.len().saturating_sub(newest) * 100 / payload.len();
        if saved > 0 {
            let found = format_args!("{} bytes ({saved} % more)", payload.len()).to_string();
            self.findings.report_whole(&OP9104, found, format_args!("{newest} bytes"));
        }
    }

    /// Determines the format of a payload; `None` if it has no rules or was not recognised, which is reported.
    ///
    /// The options name the format, or detection finds it. Texts are recognised before detection, because they
    /// should not be parsed as protobuf. The empty payload is the empty OTLP message.
    fn format_of(&mut self, payload: &[u8]) -> Option<Format> {
        match self.options.format {
            Some(format) if format.is_whole() => return Some(format),
            Some(format) => {
                let found = format!("no rules exist for the requested format {format}");
                self.findings.report_whole(&OP0004, found, CHECKED);
                return None;
            }
            None => {}
        }
        if payload.is_empty() {
            return Some(Format::OTLP);
        }
        // Some tools put a byte order mark before text.
        let start = payload.strip_prefix("\u{feff}".as_bytes()).unwrap_or(payload);
        if begins_json(start.trim_ascii_start()) && std::str::from_utf8(payload).is_ok() {
            return self.json_format(payload);
        }
        if is_legacy(payload) {
            self.findings.report(&OP0009, Position::at(0), "", "");
            return None;
        }
        match detect(payload) {
            Ok(detected) if detected.format.is_whole() => {
                self.certainty(payload, &detected);
                Some(detected.format)
            }
            Ok(detected) => {
                let found = detected.evidence.join("; ") + "; this format has no rules";
                self.findings.report_whole(&OP0004, found, CHECKED);
                None
            }
            Err(error) => self.undetected(payload, &error),
        }
    }

    /// Reports other formats that a payload may have.
    ///
    /// "Preferred" and "ambiguous" are warnings only if the other interpretation is as good; one that breaks more
    /// rules does not merit a warning.
    fn certainty(&mut self, payload: &[u8], detected: &Detected) {
        let mut others = detected.certainty.others().to_vec();
        let rule = match &detected.certainty {
            Certainty::Certain | Certainty::Nearest => return,
            // An empty entry of field 1 is an empty resource, or a pprof's sample type without a name.
            _ if payload.chunks(2).all(|field| field == [0x0a, 0]) => {
                others.push(Format::PPROF);
                &OP0005
            }
            Certainty::Preferred(_) | Certainty::Ambiguous(_)
                if others.iter().any(|other| self.is_as_good(payload, detected.format, *other)) =>
            {
                &OP0005
            }
            _ => &OP0006,
        };
        let found =
            format!("read as {}, but the bytes also match {}", detected.format, names(&others));
        self.findings.set_version(Some(version_of(detected.format)));
        self.findings.report(rule, Position::nowhere(), found, "");
        self.findings.set_version(None);
    }

    /// Handles bytes of no known format: a response, or a malformed message.
    ///
    /// Tries a response first, since it is recognised to its last byte. For a malformed message, returns the format
    /// that matches the longest part of it, to walk it as.
    fn undetected(&mut self, payload: &[u8], error: &Error) -> Option<Format> {
        if let Some((rejected, message)) = response(payload) {
            self.response(rejected, message);
            return None;
        }
        let foreign = is_foreign(payload) || error.is_signal();
        let broken = if foreign { None } else { closest_format(payload, self.options.limits) };
        if broken.is_none() {
            reader_errors::report(&mut self.findings, &OP0004, error, "pprof or OTLP profiles");
        }
        broken
    }

    /// Checks the response of a receiver: the number of rejected profiles, and the error message.
    pub(super) fn response(&mut self, rejected: i64, message: &[u8]) {
        if std::str::from_utf8(message).is_err() {
            let spot = Position::at(0).field("partial_success.error_message");
            self.findings.report(&OP1018, spot, Shown(message), "");
        }
        if rejected < 0 {
            let spot = Position::at(0).field("partial_success.rejected_profiles");
            self.findings.report(
                &OP2030,
                spot,
                format_args!("{rejected} rejected profiles"),
                "0 or more",
            );
        } else if rejected == 0 && message.is_empty() {
            let spot = Position::at(0).field("partial_success");
            let info = Some(Severity::Info);
            self.findings.report_as(
                &OP2030,
                info,
                spot,
                "no content",
                "a count or an error message",
            );
        }
    }

    /// Reports a payload that breaks rules of the requested generation, but no rule of the detected one.
    fn mismatch(&mut self, payload: &[u8], expected: Format) {
        let shows = |rule: &Rule| {
            rule.is(Fact::Breaking) || *rule == OP1019 || rule.family == Family::Index
        };
        if !self.findings.any(shows) {
            return;
        }
        let Ok(detected) = detect(payload) else { return };
        let fits = detected.format == expected || detected.certainty.others().contains(&expected);
        // The detected generation counts only if the payload breaks no rule of it.
        if !fits && broken(payload, detected.format, self.options.limits).is_empty() {
            let (spot, fits) = (Position::nowhere(), detected.format);
            let found = format_args!("read as {expected}, but the bytes match {fits}").to_string();
            self.findings.report(&OP0007, spot, found, "");
        }
    }

    /// Whether another format is as good: the payload breaks no rules as that format, or no more than as this one.
    /// Violations in both, such as an empty key, do not count.
    fn is_as_good(&self, payload: &[u8], this: Format, other: Format) -> bool {
        let of = |format| broken(payload, format, self.options.limits);
        let theirs = of(other);
        theirs.is_empty() || {
            let ours = of(this);
            !is_more(&theirs, &ours) || is_more(&ours, &theirs)
        }
    }
}
