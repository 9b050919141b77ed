//! Inputs and outputs that fail: an error at every position, short reads and writes, interruptions, and bytes after
//! the end.

use std::io::{self, ErrorKind, Read, Write};

use otlp_profiles::compression::{Level, deflate};
use otlp_profiles::framing::{Framing, frame};
use otlp_profiles::{Format, Limits, Profiles, ReadOptions, Reader, WriteOptions};

use crate::support::some;

/// Bytes after the first end of an input.
const MORE: &[u8] = b"\x1f\x8b\x08\x00 more bytes\n";

/// An input with the faults of files, pipes and sockets.
struct Faulty<'a> {
    bytes: &'a [u8],
    /// The most bytes of one read.
    chunk: usize,
    /// The behaviour after the last byte.
    end: End,
    /// Whether every other read is interrupted.
    interrupts: bool,
    reads: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    /// Each further read reports the end.
    Closed,
    /// Reads after the end return more bytes, as those of a terminal or of a growing file do.
    Grows,
    Fails,
}

impl Faulty<'_> {
    fn new(bytes: &[u8], chunk: usize, end: End) -> Faulty<'_> {
        Faulty { bytes, chunk, end, interrupts: false, reads: 0 }
    }
}

impl Read for Faulty<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reads += 1;
        if self.interrupts && self.reads % 2 == 1 {
            return Err(ErrorKind::Interrupted.into());
        }
        let read = self.bytes.len().min(self.chunk).min(buffer.len());
        if read > 0 || buffer.is_empty() {
            let (head, rest) = self.bytes.split_at(read);
            buffer[..read].copy_from_slice(head);
            self.bytes = rest;
            return Ok(read);
        }
        match self.end {
            End::Closed => Ok(0),
            End::Fails => Err(io::Error::other("the disk is gone")),
            End::Grows => {
                (self.bytes, self.end) = (MORE, End::Closed);
                Ok(0)
            }
        }
    }
}

/// Files of every way to read: one message, gzip, several messages, text that is read line by line.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let testdata = |name: &str| std::fs::read(format!("testdata/{name}")).unwrap();
    let otlp = testdata("otlp-1.11-aggregated-memory.binpb");
    let framed = frame(Framing::LengthPrefixed, [&otlp, &otlp]).unwrap();
    let folded = "main;run;poll 42\nmain;idle 7\n".repeat(3_000).into_bytes();
    vec![
        ("otlp", otlp.clone()),
        ("pprof", testdata("go-mutex.pb.gz")),
        ("json", testdata("speedscope.json")),
        (
            "members",
            [deflate(&otlp[..100], Level::FAST), deflate(&otlp[100..], Level::FAST)].concat(),
        ),
        ("framed in gzip", deflate(&framed, Level::FAST)),
        ("framed", framed),
        ("text in gzip", deflate(&folded, Level::FAST)),
        ("text", folded),
    ]
}

fn read_all(input: impl Read) -> otlp_profiles::Result<Vec<Profiles>> {
    let options = ReadOptions::default().limits(Limits::file());
    Reader::new(input, &options)?.map(|reading| Ok(reading?.profiles)).collect()
}

/// An error of the system is returned with its source, wherever it occurs, and never taken for the end of the file.
#[test]
fn an_error_at_every_position_is_returned() {
    for (name, file) in files() {
        let step = file.len().div_ceil(2_000);
        for at in some((0..=file.len()).step_by(step)).chain([file.len()]) {
            for chunk in [7, usize::MAX] {
                let error = read_all(Faulty::new(&file[..at], chunk, End::Fails))
                    .expect_err(&format!("{name} fails at {at}"));
                assert_eq!(error.kind(), otlp_profiles::ErrorKind::Io, "{name}, {at}: {error}");
                let source = std::error::Error::source(&error).expect("the error of the system");
                assert_eq!(source.to_string(), "the disk is gone", "{name}, {at}");
            }
        }
    }
}

/// The result does not depend on how the bytes come.
#[test]
fn short_and_interrupted_reads_give_the_same_profiles() {
    for (name, file) in files() {
        let wanted = read_all(&file[..]).unwrap();
        for (chunk, interrupts) in [(1, false), (1, true), (13, true), (4096, true)] {
            let input = Faulty { interrupts, ..Faulty::new(&file, chunk, End::Closed) };
            assert!(read_all(input).unwrap() == wanted, "{name} in pieces of {chunk}");
        }
    }
}

/// A terminal and a growing file have more bytes after their first end. The result is that of the bytes before that end or
/// of all bytes, and not a mixture. Of a file of messages, the bytes after it are an invalid message.
#[test]
fn an_input_that_grows_after_its_end_is_read_to_one_of_its_ends() {
    for (name, file) in files() {
        let outcome = |result: otlp_profiles::Result<Vec<Profiles>>| {
            result.map_err(|error| error.to_string())
        };
        let ends =
            [outcome(read_all(&file[..])), outcome(read_all(&[&file[..], MORE].concat()[..]))];
        for chunk in [1, 4096] {
            let found = outcome(read_all(Faulty::new(&file, chunk, End::Grows)));
            let is_next = found.as_ref().is_err_and(|error| error.starts_with("message[2]: "));
            let is_expected = ends.contains(&found) || name.starts_with("framed") && is_next;
            assert!(is_expected, "{name} in pieces of {chunk}: {:?}", found.err());
        }
    }
}

/// An output that takes some bytes.
struct Full<'a> {
    taken: &'a mut Vec<u8>,
    capacity: usize,
    chunk: usize,
    /// The fault after that many bytes; `None` is a write of no bytes.
    fault: Option<ErrorKind>,
    writes: usize,
}

impl Write for Full<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writes += 1;
        if self.writes % 3 == 1 {
            return Err(ErrorKind::Interrupted.into());
        }
        let written = bytes.len().min(self.chunk).min(self.capacity - self.taken.len());
        self.taken.extend(&bytes[..written]);
        match self.fault {
            Some(fault) if written == 0 => Err(fault.into()),
            _ => Ok(written),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A write fails if the output rejects any byte. The output holds the beginning of the payload.
#[test]
fn an_output_that_fails_at_any_position_is_an_error() {
    let pprof = std::fs::read("testdata/go-mutex.pb.gz").unwrap();
    let profiles = otlp_profiles::read(&pprof, &ReadOptions::default()).unwrap().profiles;
    for &format in Format::ALL.iter().filter(|format| format.can_write()) {
        let options = WriteOptions::default();
        let Ok(written) = otlp_profiles::write(&profiles, format, &options) else { continue };
        let whole = written.payload;
        for capacity in
            some((0..=whole.len()).step_by(whole.len().div_ceil(300))).chain([whole.len()])
        {
            for (chunk, fault) in [
                (5, None),
                (usize::MAX, Some(ErrorKind::StorageFull)),
                (3, Some(ErrorKind::BrokenPipe)),
            ] {
                let mut taken = Vec::new();
                let output = Full { taken: &mut taken, capacity, chunk, fault, writes: 0 };
                let result = otlp_profiles::write_to(&profiles, format, &options, output);
                assert_eq!(taken, whole[..capacity], "{format} at {capacity}");
                assert_eq!(result.is_ok(), capacity == whole.len(), "{format} at {capacity}");
                let Err(error) = result else { continue };
                assert_eq!(error.kind(), otlp_profiles::ErrorKind::Io, "{format}: {error}");
                let source = std::error::Error::source(&error).unwrap();
                let source = source.downcast_ref::<io::Error>().map(io::Error::kind);
                assert_eq!(source, Some(fault.unwrap_or(ErrorKind::WriteZero)), "{format}");
            }
        }
    }
}
