//! What is no protobuf message of profiles, by how it begins: named, so that the error says what to
//! do, or read if there is a format for it.

use super::decide::unrecognised;
use super::{Certainty, Detected};
use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;

/// A kind of file: the format that reads it, or what to do where there is none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    what: &'static str,
    /// None if it is only named.
    format: Option<Format>,
    advice: &'static str,
}

/// A kind of file that is only named.
pub(super) const fn known(what: &'static str, advice: &'static str) -> Known {
    Known { what, format: None, advice }
}

impl Known {
    /// The format that reads it.
    pub(super) fn reads(self) -> Option<Format> {
        self.format
    }

    /// The same where another format was asked for.
    pub(super) fn answer_instead(self, hint: Format) -> Result<Detected> {
        match self.reads() {
            Some(format) if format != hint => {
                let (hint, name, what) = (hint.name(), format.name(), self.what);
                Err(Error::malformed(format!(
                    "the payload is not {hint}; it is {what}: leave out the format, or name {name}"
                )))
            }
            _ => self.answer(),
        }
    }

    /// The format that reads it, or the error that names it.
    pub(super) fn answer(self) -> Result<Detected> {
        match self.reads() {
            Some(format) => {
                let evidence = vec![format!("it begins like {}", self.what)];
                Ok(Detected { format, certainty: Certainty::Certain, evidence })
            }
            None => Err(unrecognised(self.what, self.advice)),
        }
    }
}

pub(super) const GO_LEGACY: &str =
    "get the protobuf form (debug=0 in Go), or convert it: pprof -proto FILE > profile.pb.gz";
pub(super) const PPROF_LEGACY: &str =
    "convert it first: pprof -proto [BINARY] FILE > profile.pb.gz";
const INFLATE: &str = "decompress it first; gzip alone is inflated here";
const OTHER_SIGNAL: &str = "this reads profiles only";
const OTHER_JSON: &str = "OTLP/JSON of profiles has \"resourceProfiles\" or \"dictionary\" at its beginning; if this is some, name its format";

const BINARY: [(&[u8], Known); 6] = [
    (
        b"FLR\0",
        known("a Java Flight Recorder file", "convert it first, as async-profiler's jfrconv does"),
    ),
    (b"PERFILE2", known("a perf.data file", "convert it first: perf script, or perf_to_profile")),
    (
        b"2ELIFREP",
        known("a perf.data file of a big-endian machine", "convert it first: perf script"),
    ),
    (b"\x7fELF", known("an ELF binary", "give the profile, not the program it was taken of")),
    (
        b"MOJ",
        known("an austin recording in MOJO form", "convert it first: mojo2austin, austin2pprof"),
    ),
    (
        b"SQLite format 3\0",
        known("an SQLite database", "export the profile from the tool that wrote it"),
    ),
];

const CPU_LEGACY: Known = known("a CPU profile in gperftools' old binary form", PPROF_LEGACY);
const JAVA_LEGACY: Known = known("a Java CPU profile in pprof's old binary form", PPROF_LEGACY);

/// What is told by its first bytes, which no message of profiles begins with.
pub(super) fn binary(payload: &[u8]) -> Option<Known> {
    if let Some(name) = crate::compression::magic(payload) {
        return compressed(name);
    }
    let by_magic =
        BINARY.iter().find(|(magic, _)| payload.starts_with(magic)).map(|(_, known)| *known);
    by_magic.or_else(|| legacy_cpu(payload)).or_else(|| json(payload))
}

fn compressed(name: &str) -> Option<Known> {
    Some(match name {
        "gzip" => known("gzip inside gzip", "inflate it once more"),
        "zstd" => known("compressed with zstd", INFLATE),
        "zip" => known("a zip archive", "take the profile out of it first"),
        "xz" => known("compressed with xz", INFLATE),
        "lz4" => known("compressed with lz4", INFLATE),
        "snappy" => known("compressed with snappy", INFLATE),
        "bzip2" => known("compressed with bzip2", INFLATE),
        "zlib" => known("compressed with zlib", INFLATE),
        _ => known("compressed", INFLATE),
    })
}

/// The five words that begin gperftools' CPU profiles: 0, 3, 0 (1 for Java), the period, 0; of 32
/// or 64 bits, of either endianness.
fn legacy_cpu(payload: &[u8]) -> Option<Known> {
    let words32: Vec<u64> = payload
        .as_chunks::<4>()
        .0
        .iter()
        .take(5)
        .map(|word| u32::from_le_bytes(*word).into())
        .collect();
    let words64: Vec<u64> =
        payload.as_chunks::<8>().0.iter().take(5).map(|word| u64::from_le_bytes(*word)).collect();
    let swapped32 = words32.iter().map(|&word| u64::from((word as u32).swap_bytes())).collect();
    let swapped64 = words64.iter().map(|&word| word.swap_bytes()).collect();
    [words32, swapped32, words64, swapped64].into_iter().find_map(|words: Vec<u64>| match words[..]
    {
        [0, 3, 0, period, 0] if period > 0 => Some(CPU_LEGACY),
        [0, 3, 1, period, 0] if period > 0 => Some(JAVA_LEGACY),
        _ => None,
    })
}

/// JSON, by the names that its first kilobytes hold.
pub(super) fn json(payload: &[u8]) -> Option<Known> {
    let start = payload.get(..4096).unwrap_or(payload);
    if !matches!(start, [b'{' | b'[', ..])
        || !start.is_ascii() && std::str::from_utf8(payload).is_err()
    {
        return None;
    }
    if payload.len() < 64 && payload.trim_ascii_end() == b"{}" {
        return Some(OTLP_JSON);
    }
    let has = |name: &str| start.windows(name.len()).any(|window| window == name.as_bytes());
    let one = JSON.iter().find(|(names, _)| names.iter().all(|name| has(name)));
    Some(one.map_or(known("JSON", OTHER_JSON), |(_, known)| *known))
}

const OTLP_JSON: Known =
    Known { what: "OTLP profiles as JSON", format: Some(Format::OTLP_JSON), advice: "" };

const JSON: [(&[&str], Known); 11] = [
    (&["\"resourceProfiles\""], OTLP_JSON),
    (&["\"resource_profiles\""], OTLP_JSON),
    (&["\"resourceSpans\""], known("OTLP traces as JSON", OTHER_SIGNAL)),
    (&["\"resourceMetrics\""], known("OTLP metrics as JSON", OTHER_SIGNAL)),
    (&["\"resourceLogs\""], known("OTLP logs as JSON", OTHER_SIGNAL)),
    (&["\"dictionary\"", "Table\""], OTLP_JSON),
    (
        &["speedscope.app/file-format-schema"],
        known("a speedscope file", "export pprof from the profiler"),
    ),
    (&["\"traceEvents\""], known("a Chrome trace", "export pprof from the profiler")),
    (
        &["\"preprocessedProfileVersion\""],
        known("a Firefox profile", "export pprof from the profiler"),
    ),
    (&["\"callFrame\"", "\"nodes\""], known("a V8 CPU profile", "export pprof from the profiler")),
    (&["\"callFrame\"", "\"head\""], known("a V8 heap profile", "export pprof from the profiler")),
];

/// The error of what is like nothing known.
pub(super) fn nothing(payload: &[u8]) -> Error {
    let message = match payload {
        [] => "there are no bytes".to_owned(),
        [..] if is_protobuf(payload) => {
            "this is protobuf, but no message of profiles: if it is one, name its format".to_owned()
        }
        [first, ..] => {
            let length = payload.len();
            format!(
                "these {length} bytes are no format this reads, nor whole protobuf; they begin with 0x{first:02x}: check that the file is complete"
            )
        }
    };
    Error::new(ErrorKind::Unrecognised, message)
}

/// Whether the bytes are fields to their end.
fn is_protobuf(payload: &[u8]) -> bool {
    let mut reader = crate::wire::read::Reader::new(payload);
    loop {
        match reader.tag() {
            Ok(None) => return true,
            Ok(Some(tag)) if reader.skip(tag, 16).is_ok() => {}
            _ => return false,
        }
    }
}
