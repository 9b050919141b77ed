//! OTLP/JSON: checks the protobuf message that a text represents, and the form of the text.
//!
//! ```text
//! text ─► bytes of the generation that its names match ─► walk     findings by path
//!   └───► keys and values that deviate from OTLP/JSON              findings by path and byte
//! ```
//!
//! Parsing is lenient: a callback of the conversion to bytes reports deviations in the form of the text.

use std::borrow::Cow;

use super::catalogue::{OP0008, OP1003, OP1019, OP1021, OP1023, OP1031, OP1032, OP1033};
use super::container::{CHECKED, Checking, newlines};
use super::findings::{Findings, Position, Shown, Step};
use super::identify::{answer, detect};
use super::reader_errors;
use crate::error;
use crate::format::Format;
use crate::format::json;
use crate::format::json::deviation::{Deviation, DeviationKind};
use crate::format::json::names::lower_camel_case;
use crate::read_context::{Policy, ReadContext};

impl Checking<'_> {
    /// Checks a text of OTLP/JSON, and adds the line and the column to each finding that has a byte.
    ///
    /// Findings are visited by byte, so the text is scanned once.
    pub(super) fn json(&mut self, text: &[u8]) {
        let from = self.findings.listed.len();
        self.json_text(text);
        let Some(before) = self.lines else { return };
        let listed = self.findings.listed.iter_mut().skip(from);
        let mut listed: Vec<_> = listed.filter(|finding| finding.byte.is_some()).collect();
        listed.sort_by_key(|finding| finding.byte);
        let (mut at, mut line, mut column) = (0, before + 1, 1);
        for finding in listed {
            let byte = finding.byte.map_or(0, |byte| byte as usize).min(text.len());
            let passed = text.get(at..byte).unwrap_or_default();
            let last = passed.iter().rposition(|byte| *byte == b'\n');
            let of_line = passed.get(last.map_or(0, |last| last + 1)..).unwrap_or_default();
            // Count characters, not bytes: skip UTF-8 continuation bytes.
            let characters = of_line.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u64;
            column = if last.is_some() { 1 } else { column } + characters;
            (at, line) = (byte, line + newlines(passed));
            (finding.line, finding.column) = (Some(line), Some(column));
        }
    }

    /// Checks the bytes that a text represents, and the form of the text. Findings about the bytes have no byte
    /// offset, because the user does not have those bytes; findings about the text have one.
    ///
    /// Converts the text to bytes of the version whose names it uses, and checks those like any others.
    fn json_text(&mut self, text: &[u8]) {
        let context = ReadContext::new(self.options.limits, Policy::Refuse, text.len());
        let mut own = self.findings.another();
        let made =
            json::to_bytes(text, &context, &mut |found| report_deviation(&mut own, text, &found));
        match made {
            Err(_) if json::is_response(text, context.limits()) => self.json_response(text),
            Ok((format, payload)) => {
                let mut found = self.walk(&payload, format);
                // The conversion chose the encoding of the numbers, and repeated keys were reported for the text.
                found.retain(|rule| ![&OP1003, &OP1021, &OP1023].contains(&rule));
                found.forget_bytes();
                self.findings.add(own);
                self.findings.add(found);
                self.generation(&payload, format);
                self.findings.set_version(None);
            }
            Err(error) => {
                reader_errors::report_limit(&mut self.findings, &error.located(text), "OTLP/JSON")
            }
        }
    }

    /// Checks a receiver's response in JSON.
    fn json_response(&mut self, text: &[u8]) {
        let context = ReadContext::new(self.options.limits, Policy::Refuse, text.len());
        let own = &mut self.findings;
        let made = json::response_to_bytes(text, context, &mut |found| {
            report_deviation(own, text, &found)
        });
        match made.map_err(|error| error.located(text)) {
            Ok(bytes) => {
                let (rejected, message) = answer(&bytes).unwrap_or_default();
                self.response(rejected.unwrap_or_default(), message);
            }
            Err(error) => reader_errors::report_limit(&mut self.findings, &error, "OTLP/JSON"),
        }
    }

    /// Returns the format of JSON without a requested format, if it is OTLP/JSON; otherwise reports what it appears
    /// to be.
    ///
    /// A response of a receiver is recognised and checked, as in protobuf.
    pub(super) fn json_format(&mut self, payload: &[u8]) -> Option<Format> {
        if json::is_response(payload, &self.options.limits) {
            self.json_response(payload);
            return None;
        }
        let (found, bound) = match detect(payload) {
            Ok(detected) if detected.format.is_whole() => {
                if let Some(error) = json::wrapping(payload, &self.options.limits) {
                    let error = error.located(payload);
                    reader_errors::report_limit(&mut self.findings, &error, "OTLP/JSON");
                    return None;
                }
                if !self.options.wire {
                    return Some(detected.format);
                }
                (detected.evidence.join("; "), "protobuf, or --from otlp-json")
            }
            Ok(detected) => (detected.evidence.join("; "), CHECKED),
            Err(error) => (error.message().to_owned(), CHECKED),
        };
        self.findings.report(&OP0008, Position::at(0), found, bound);
        None
    }
}

/// Reports a deviation from OTLP/JSON that the parser accepts. Findings are folded by rule, message and name, as
/// unknown fields in bytes are by number.
///
/// The kind is a hash of 64 bits: a collision would only count two deviations together.
fn report_deviation(findings: &mut Findings, text: &[u8], deviation: &Deviation<'_>) {
    let (rule, bound): (_, Cow<'_, str>) = match deviation.kind {
        DeviationKind::Unknown => (&OP1019, "".into()),
        DeviationKind::DuplicateKey => (&OP1021, "".into()),
        DeviationKind::OtherCase => (&OP1023, "".into()),
        DeviationKind::OriginalName => {
            (&OP1031, lower_camel_case(deviation.found).map(char::from).collect())
        }
        DeviationKind::EnumText => (&OP1032, "a number".into()),
        DeviationKind::Base64Id => (&OP1033, "hexadecimal digits".into()),
    };
    let kind = xxhash_rust::xxh3::xxh3_128(
        format!("{}.{}", deviation.message, deviation.found).as_bytes(),
    );
    let byte = deviation.at.as_ptr().addr().wrapping_sub(text.as_ptr().addr());
    for step in deviation.path {
        match (step, findings.path.last_mut()) {
            (error::Step::Field(name), _) => findings.path.push(Step { name, row: None }),
            (error::Step::Row(row), Some(list)) => list.row = Some(*row as u32),
            _ => {}
        }
    }
    let noun =
        if matches!(deviation.kind, DeviationKind::OtherCase) { "another member " } else { "" };
    let found = Shown(deviation.found.as_bytes());
    findings.report_folded(
        rule,
        kind as u64,
        Position::at(byte),
        format_args!("{noun}{found}"),
        bound,
    );
    findings.path.clear();
}
