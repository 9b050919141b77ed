//! Reads the formats of profilers before pprof had a protobuf message, which Go still writes for people: text
//! for heaps, contention, threads and counts, and binary words for CPU time.
//!
//! ```text
//! heap profile: 1184: 6302784 [27435: 100681816] @ heap/16384      heap_v2/4096 is jemalloc's
//! 281: 2301952 [281: 2301952] @ 0x4bb7d6 0x4bbdf8
//! #   0x4bb7d5   main.leak+0x75   /src/main.go:59                  names, for people
//! MAPPED_LIBRARIES:
//! 00400000-00500000 r-xp 00000000 08:02 1 /usr/bin/server
//! ```
//!
//! | begins with | file | from |
//! |---|---|---|
//! | words `0 3 0 PERIOD 0` | `cpu` | gperftools' CPU profiler; version 1: Java |
//! | `heap profile:`, `heap_v2/` | `heap` | Go's `debug=1`, gperftools; jemalloc |
//! | `--- threadz`, `--- Thread` | `thread` | gperftools' servers |
//! | `--- heapz`, `--- contentionz` with `format = java` | `java` | Java |
//! | `--- contention`, `--- mutex:` | `contention` | gperftools, Go |
//! | `NAME profile: total N` | `count` | Go's goroutines and created threads |
//! | `--- symbol` | `symbolized` | any of these with names, by `pprof --raw` of gperftools |
//!
//! The meaning of lines, the adjustment of return addresses and the scaling of samples follow Go's
//! `profile/legacy_profile.go` and `legacy_java_profile.go`, so both give the same sums. Unlike Go, this
//! reader also uses the names that Go prints in comments.

mod contention;
mod count;
mod cpu;
mod heap;
mod java;
mod labels;
mod mappings;
mod stacks;
mod symbolized;
mod thread;

use crate::error::{Error, Result};
use crate::format::line_reader::LineReader;
use crate::format::lines::{lines, shown};
use crate::format::{Codec, Encoding, Read};
use crate::model::Profiles;
use crate::read_context::ReadContext;

/// pprof's legacy formats as a format.
///
/// ```
/// use otlp_profiles::{Format, read};
///
/// let text = std::fs::read("testdata/go-goroutine.txt").unwrap();
/// let reading = read(&text, &Default::default())?;
/// assert_eq!(reading.detected.format, Format::PPROF_LEGACY);
/// assert_eq!(reading.profiles.iter().next().unwrap().sums(), [9]);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub(crate) static PPROF_LEGACY: Codec = Codec {
    name: "pprof-legacy",
    aliases: &["legacy"],
    about: "the legacy formats that pprof reads: Go's debug=1, gperftools, jemalloc, Java",
    extensions: &[],
    gzip_on_disk: false,
    deprecated: None,
    encoding: Encoding::Own { json: false },
    read: Some(Read::Bytes(read)),
    write: None,
    options: &[],
};

/// Detects and reads a legacy format.
///
/// # Errors
///
/// The first line matches no legacy format, or a line is not a sample. The error has the number of the line.
/// `Policy::Repair` skips broken lines.
fn read(payload: &[u8], cx: &mut ReadContext) -> Result<Profiles> {
    if payload.starts_with(symbolized::HEADING) {
        let (profile, number, names) = symbolized::split(payload, cx)?;
        if let Some(words) = cpu::Words::of(profile) {
            return cpu::read(words, profile, &names, cx);
        }
        // Empty lines preserve the line numbers of the rest.
        let text = [&vec![b'\n'; number - 1], profile, b"\n", &names].concat();
        cx.budget.charge::<u8>(text.len())?;
        return read_text(&text, cx);
    }
    match cpu::Words::of(payload) {
        Some(words) => cpu::read(words, payload, b"", cx),
        None => read_text(LineReader::of(payload).whole(cx)?, cx),
    }
}

/// Reads the text formats.
fn read_text(text: &[u8], cx: &mut ReadContext) -> Result<Profiles> {
    let first = lines(text)
        .find(|(_, line)| !line.trim_ascii().is_empty() && !line.starts_with(heap::MESSAGE));
    let (number, line) = first.unwrap_or((1, b""));
    let begins = |word: &str| line.starts_with(word.as_bytes());
    if begins("heap profile:") || begins("heap_v2/") {
        heap::read(text, cx)
    } else if begins("--- threadz ") || begins("--- Thread ") {
        thread::read(text, cx)
    } else if begins("--- heapz ") || begins("--- contentionz ") && java::is_java(text) {
        java::read(text, cx)
    } else if begins("--- contention") || begins("--- mutex:") {
        contention::read(text, cx)
    } else if line.windows(16).any(|part| part == b" profile: total ") {
        count::read(text, line, cx)
    } else {
        let message =
            format!("expected the first line of a legacy pprof format, found {}", shown(line));
        Err(Error::malformed(message).in_line(number))
    }
}
