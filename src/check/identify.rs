//! Determines the format of a payload if none was requested, and identifies other bytes.
//!
//! A payload that matches no format may be a malformed message. It is then walked in each format whose first field
//! fits. The format with the fewest violations is chosen, then the one whose first violation occurs latest.
//!
//! [`format::detect`](crate::format::detect) does the detection proper, which the reader uses as well, so that a
//! check and the reader agree. This file adds what only a check needs: responses, old formats and malformed
//! messages.

use std::rc::Rc;

use super::catalogue::{OP1018, OP1019, OP9008};
use super::context::CheckContext;
use super::findings::Findings;
use super::layout::{Layouts, ROOT, Take};
use super::options::Options;
use super::rule::{Fact, Rule};
use super::varint::varint;
use super::walk;
use crate::error::{Error, Severity};
use crate::format::detect::{
    Certainty, Depth, Detected, detect_payload, is_legacy_cpu, is_legacy_java_cpu,
};
use crate::format::{Encoding, Format};
use crate::limits::Limits;
use crate::losses::Losses;
use crate::read_context::{Policy, ReadContext};
use crate::schema::{NOW, Version};
use crate::write_options::WriteOptions;

/// Detects the format from a bounded part of the payload, or from all of it if that is not conclusive.
///
/// The cost is bounded for nearly every payload. If a format is only preferred, the whole payload is examined, as
/// the reader does before it rejects one.
pub(super) fn detect(payload: &[u8]) -> Result<Detected, Error> {
    let detected = detect_payload(payload, None, None, Depth::Bounded)?;
    match detected.certainty {
        Certainty::Preferred(_) => detect_payload(payload, None, None, Depth::Whole),
        _ => Ok(detected),
    }
}

/// The version whose rules apply to a format. OTLP/JSON has the newest, because its text is converted to bytes
/// first.
///
/// Each version stands for all releases with its schema: 1.11 has the schema of 1.10.
pub(super) fn version_of(format: Format) -> Version {
    match (format.encoding(), format.schema()) {
        (Encoding::Pprof, _) => Version::Pprof,
        (_, Some(schema)) => schema,
        (_, None) => NOW,
    }
}

/// Whether bytes are in a legacy format that google/pprof still reads.
///
/// The texts are the prefixes in legacy_profile.go, the bytes those of CPU profiles.
pub(super) fn is_legacy(bytes: &[u8]) -> bool {
    const WORDS: [&[u8]; 10] = [
        b"heap profile:",
        b"heapz ",
        b"--- contention",
        b"--- mutex",
        b"--- threadz",
        b"--- Thread ",
        b"--- heapz",
        b"--- symbol",
        b"goroutine profile:",
        b"threadcreate profile:",
    ];
    WORDS.iter().any(|word| bytes.starts_with(word))
        || is_legacy_cpu(bytes)
        || is_legacy_java_cpu(bytes)
        || is_count(bytes)
}

/// Whether the first line is `NAME profile: total N`, which Go programs write for custom counts.
fn is_count(bytes: &[u8]) -> bool {
    const NAMED: &[u8] = b" profile: total ";
    let name = bytes.iter().take_while(|byte| byte.is_ascii_graphic()).count();
    name > 0 && bytes[name..].starts_with(NAMED)
}

/// Parses a receiver's response, if the payload is only that: the number of rejected profiles, and the error
/// message.
///
/// A request is never mistaken for one: the bytes must be `partial_success` from end to end, with
/// `rejected_profiles` or a message without control characters, which the header of a scope's field would contain.
///
/// ```text
/// 0a 04 08 03 12 00      ExportProfilesServiceResponse { partial_success { rejected_profiles: 3, error_message: "" } }
/// ```
pub(super) fn response(payload: &[u8]) -> Option<(i64, &[u8])> {
    let (rejected, message) = answer(payload)?;
    let is_text =
        |text| std::str::from_utf8(text).is_ok_and(|text| !text.contains(char::is_control));
    let told = !message.is_empty() && is_text(message);
    Some((rejected.or(told.then_some(0))?, message))
}

/// Parses bytes that are `partial_success` from end to end: the number of rejected profiles, and the error message.
pub(super) fn answer(payload: &[u8]) -> Option<(Option<i64>, &[u8])> {
    let field = |at: usize, end: usize| {
        let (tag, body) = varint(payload, at, end).ok()?;
        let (value, after) = varint(payload, body, end).ok()?;
        Some((tag, value, after))
    };
    let (10, length, mut at) = field(0, payload.len())? else { return None };
    if (at as u64).checked_add(length) != Some(payload.len() as u64) {
        return None;
    }
    let (mut rejected, mut message) = (None, &b""[..]);
    while at < payload.len() {
        let (tag, value, after) = field(at, payload.len())?;
        at = after;
        match tag {
            8 => rejected = Some(value as i64),
            18 => {
                let end = at.checked_add(usize::try_from(value).ok()?)?;
                message = payload.get(at..end)?;
                at = end;
            }
            _ => return None,
        }
    }
    Some((rejected, message))
}

/// The format of a malformed message: the one in which most of it can be decoded.
///
/// Walks the payload in each format whose first field fits, with the rules about bytes alone. Makes at most one
/// walk per generation, and only for payloads that would otherwise be called unknown.
pub(super) fn closest_format(payload: &[u8], limits: Limits) -> Option<Format> {
    // The rules that indicate a wrong format.
    let shows = |rule: &&Rule| rule.is(Fact::Breaking) || [&OP1018, &OP1019].contains(rule);
    let rules = Rule::all().filter(shows).collect();
    let options = Options::default().limits(limits).only(rules).max_findings(1);
    let options = Rc::new(options);
    let protobuf = Format::ALL.iter().filter(|format| format.is_whole() && !format.is_json());
    let mut best: Option<(u64, u64, Format)> = None;
    for format in protobuf {
        let version = version_of(*format);
        if !begins(payload, version) {
            continue;
        }
        let mut cx = CheckContext::new(
            payload,
            version,
            limits,
            Findings::new(Rc::clone(&options), Some(version)),
        );
        walk::walk(&mut cx);
        let furthest = cx.findings.first(|rule| rule.is(Fact::Breaking));
        let found = cx.findings.finish();
        let odd = found.rule_counts().filter(|tally| *tally.rule != OP9008);
        // Inverted, so that fewer violations compare as more.
        let odd = u64::MAX - odd.map(|tally| tally.count).sum::<u64>();
        // Prefer fewer violations, then a later first violation.
        if best.is_none_or(|(far, few, _)| (odd, furthest) > (few, far)) {
            best = Some((furthest, odd, *format));
        }
    }
    best.map(|(.., format)| format)
}

/// The rules that a payload breaks in a format, with counts: errors, and unknown fields.
///
/// Counts findings and lists none, so that memory does not grow with their number.
pub(super) fn broken(payload: &[u8], format: Format, limits: Limits) -> Vec<(&'static Rule, u64)> {
    let version = version_of(format);
    let options = Rc::new(Options::default().max_findings(0));
    let mut cx = CheckContext::new(payload, version, limits, Findings::new(options, Some(version)));
    walk::walk(&mut cx);
    let found = cx.findings.finish();
    let breaks =
        |rule: &Rule| *rule == OP1019 || rule.level(Some(version)) == Some(Severity::Error);
    let rule_counts = found.rule_counts().filter(|tally| breaks(tally.rule));
    rule_counts.map(|tally| (tally.rule, tally.count)).collect()
}

/// Whether the first list has more violations of any rule than the second.
pub(super) fn is_more(first: &[(&'static Rule, u64)], second: &[(&'static Rule, u64)]) -> bool {
    let times = |rule| second.iter().find(|broken| broken.0 == rule).map_or(0, |broken| broken.1);
    first.iter().any(|(rule, count)| *count > times(*rule))
}

/// Whether the payload begins with a field of the version's root message, by number and wire type.
///
/// A cheap filter: pprof and OTLP share few first fields.
fn begins(payload: &[u8], version: Version) -> bool {
    let Ok((tag, _)) = varint(payload, 0, payload.len()) else { return false };
    let Ok(tag) = u32::try_from(tag) else { return false };
    let slot = Layouts::of(version).get(ROOT).slot(tag >> 3);
    slot.is_some_and(|slot| match slot.take {
        Take::Varint => tag & 7 == 0 || (slot.repeated && tag & 7 == 2),
        Take::Fixed => tag & 7 == 1,
        _ => tag & 7 == 2,
    })
}

/// The size of a payload in the newest generation, if it can be read.
///
/// Repairs defects on the way, because only the size matters.
pub(super) fn length_as_newest(payload: &[u8], format: Format, limits: &Limits) -> Option<usize> {
    let mut context = ReadContext::new(*limits, Policy::Repair, payload.len());
    let profiles = format.read(payload, &mut context).ok()?;
    let options = WriteOptions::default().max_output_bytes(limits.max_output_bytes);
    let payloads =
        Format::OTLP.write(&profiles, &options, &mut Losses::default(), Vec::new()).ok()?;
    Some(payloads.iter().map(Vec::len).sum())
}
