//! What text is, by its first lines: named, so that the error says what to do.

use super::Detected;
use super::magic::{GO_LEGACY, Known, PPROF_LEGACY, json, known};
use crate::error::Result;

/// Text, by its first lines.
pub(super) fn detect(payload: &[u8]) -> Option<Result<Detected>> {
    let start = payload.get(..4096).unwrap_or(payload);
    let odd = |byte: &u8| *byte < b' ' && !b"\t\n\r\x0c\x1b".contains(byte) || *byte == 0x7f;
    let ascii = start.iter().filter(|byte| byte.is_ascii()).count();
    if start.iter().any(odd) || ascii * 4 < start.len() * 3 || start.is_empty() {
        return None;
    }
    let start = String::from_utf8_lossy(start);
    let start = start.trim_start_matches('\u{feff}').trim_start();
    if let Some(known) = json(start.as_bytes()) {
        return Some(known.answer());
    }
    Some(legacy_text(start).or_else(|| other_text(start)).unwrap_or(TEXT).answer())
}

const TEXT: Known = known("plain text", "give pprof or OTLP profiles, as protobuf");

const CONTENTION: Known = known("a contention profile in pprof's old text form", PPROF_LEGACY);
const THREADS: Known = known("a thread profile in pprof's old text form", PPROF_LEGACY);
const JAVA_HEAP: Known = known("a Java heap profile in pprof's old text form", PPROF_LEGACY);
const HEAP: Known = known("a heap profile in pprof's old text form", GO_LEGACY);
const COUNTS: Known = known("a Go count profile in pprof's old text form", GO_LEGACY);
const GOROUTINES: Known = known("a dump of goroutines", GO_LEGACY);
const MAPS: Known = known("a memory map without a profile", PPROF_LEGACY);

/// The texts that google/pprof reads where no protobuf is found, by how they begin.
const LEGACY: [(&str, Known); 15] = [
    ("--- thread", THREADS),
    ("--- Thread ID", THREADS),
    ("--- contention", CONTENTION),
    ("--- mutex:", CONTENTION),
    ("--- heapz", JAVA_HEAP),
    ("--- growthz", JAVA_HEAP),
    ("heap profile:", HEAP),
    ("growth profile:", HEAP),
    ("fragmentation profile:", HEAP),
    ("heap_v2/", HEAP),
    ("heapz_v2/", HEAP),
    ("heapprofile/", HEAP),
    ("goroutine ", GOROUTINES),
    ("--- Memory map: ---", MAPS),
    ("MAPPED_LIBRARIES:", MAPS),
];

fn legacy_text(start: &str) -> Option<Known> {
    let line = start.lines().next().unwrap_or_default();
    if line.contains(" profile: total ") {
        return Some(COUNTS);
    }
    LEGACY.iter().find(|(begin, _)| line.starts_with(begin)).map(|(_, known)| *known)
}

fn other_text(start: &str) -> Option<Known> {
    let callgrind = |line: &str| {
        ["# callgrind format", "events:", "fl=", "fn="].iter().any(|begin| line.starts_with(begin))
    };
    if start.lines().take(20).any(callgrind) {
        return Some(known("a callgrind file", "export pprof from the profiler"));
    }
    if start.starts_with("<?xml") || start.starts_with("<svg") || start.starts_with("<!DOCTYPE") {
        return Some(known("XML or HTML", "give the profile the picture was made from"));
    }
    // The last line may be cut where the look at it ends.
    let whole = start.rfind('\n').map_or(start, |end| start.get(..end).unwrap_or(start));
    let mut lines =
        whole.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).peekable();
    let folded = lines.peek().is_some() && lines.all(is_folded);
    folded.then_some(known("folded stacks", "export pprof from the profiler"))
}

/// `main;run;poll 42`
fn is_folded(line: &str) -> bool {
    let number = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || b".-".contains(&byte))
    };
    line.trim_end()
        .rsplit_once([' ', '\t'])
        .is_some_and(|(stack, count)| number(count) && !stack.trim().is_empty())
}
