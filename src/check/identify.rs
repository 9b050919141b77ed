//! What a payload is that nobody named, and what bytes are that are no payload.
//!
//! A payload that no format fits may still be one that is broken: then it is walked as each format it may begin as, and
//! taken for the one in which the fewest things are wrong, and the first of them the latest.
//!
//! Nothing here reads profiles. Detection proper is [`format::detect`](crate::format::detect),
//! which the reader uses as well, so that what is checked is what would be read; this file adds
//! what only a check asks: responses, streams, old formats and broken messages.

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
use crate::format::losses::Losses;
use crate::format::options::WriteOptions;
use crate::format::read_context::{Policy, ReadContext};
use crate::format::{Encoding, Format};
use crate::limits::Limits;
use crate::schema::Version;

/// A small part of a large payload says what it is, or all of it where that is not enough.
///
/// Costs a look of bounded size for nearly every payload. What is only preferred is looked at
/// whole, as the reader does before it refuses.
pub(super) fn detect(payload: &[u8]) -> Result<Detected, Error> {
    let detected = detect_payload(payload, None, None, Depth::Bounded)?;
    match detected.certainty {
        Certainty::Preferred(_) => detect_payload(payload, None, None, Depth::Whole),
        _ => Ok(detected),
    }
}

/// The version whose rules are asked of a format. OTLP/JSON is one of the newest: its text became bytes before.
///
/// The newest of a family speaks for it: 1.11 has the schema of 1.10.
pub(super) fn version_of(format: Format) -> Version {
    match (format.encoding(), format.schema()) {
        (Encoding::Pprof, _) => Version::Pprof,
        (_, Some(schema)) => schema,
        (_, None) => Version::V1_10,
    }
}

/// The formats that google/pprof still reads besides its own.
///
/// The texts are what legacy_profile.go begins with, the bytes those of CPU profiles.
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

/// Whether the first line is `NAME profile: total N`: Go's programs count what they like.
fn is_count(bytes: &[u8]) -> bool {
    const NAMED: &[u8] = b" profile: total ";
    let name = bytes.iter().take_while(|byte| byte.is_ascii_graphic()).count();
    name > 0 && bytes[name..].starts_with(NAMED)
}

/// What a receiver answered, if a payload is that and nothing else: the profiles rejected, and the message
/// about them.
///
/// A request is never mistaken for one: the bytes have to be `partial_success` from end to end, with
/// `rejected_profiles` or a message in which nothing could be the header of a scope's field.
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

/// What bytes say that are `partial_success` from end to end: how many profiles were rejected, and the message.
pub(super) fn answer(payload: &[u8]) -> Option<(Option<i64>, &[u8])> {
    let field = |at: usize, end: usize| {
        let (tag, body) = varint(payload, at, end).ok()?;
        let (value, after) = varint(payload, body, end).ok()?;
        Some((tag, value, after))
    };
    let (10, length, mut at) = field(0, payload.len())? else { return None };
    if at as u64 + length != payload.len() as u64 {
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

/// The format of a message that is broken: the one that it can be read as the furthest.
///
/// A walk for each format whose first field fits, with the rules about bytes alone: at most as many
/// walks as there are generations, of a payload that would otherwise only be called unknown.
pub(super) fn closest_format(payload: &[u8], limits: Limits) -> Option<Format> {
    // The rules that show that a message is not read as it was meant.
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
        let odd = u64::MAX - odd.map(|tally| tally.count).sum::<u64>();
        if best.is_none_or(|(far, few, _)| (odd, furthest) > (few, far)) {
            best = Some((furthest, odd, *format));
        }
    }
    best.map(|(.., format)| format)
}

/// The rules that a payload breaks as one of a format, each with how often: errors, and fields that nobody knows.
///
/// Nothing is listed, only counted, so that memory does not grow with what is wrong.
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

/// Whether some rule is broken more often in the first of two lists.
pub(super) fn is_more(first: &[(&'static Rule, u64)], second: &[(&'static Rule, u64)]) -> bool {
    let times = |rule| second.iter().find(|broken| broken.0 == rule).map_or(0, |broken| broken.1);
    first.iter().any(|(rule, count)| *count > times(*rule))
}

/// Whether the first field is one that a message of the version has.
///
/// By number and wire type. A cheap sieve: pprof and OTLP share few first fields.
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

/// How many bytes a payload takes in the newest generation, if it can be read.
///
/// Defects are repaired on the way, as only the size matters.
pub(super) fn length_as_newest(payload: &[u8], format: Format, limits: &Limits) -> Option<usize> {
    let mut context = ReadContext::new(*limits, Policy::Repair, payload.len());
    let profiles = format.read(payload, &mut context).ok()?;
    let options = WriteOptions::default().max_output_bytes(limits.max_output_bytes);
    let payloads =
        Format::OTLP.write(&profiles, &options, &mut Losses::default(), Vec::new()).ok()?;
    Some(payloads.iter().map(Vec::len).sum())
}
