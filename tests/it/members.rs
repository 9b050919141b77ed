//! Reads gzip files of several members: complete profiles, or pieces of one payload.

use std::io::{self, Read};

use crate::support::alloc::cost;
use otlp_profiles::builder::root_first;
use otlp_profiles::check::{Options, fix, validate};
use otlp_profiles::compression::{Level, deflate};
use otlp_profiles::framing::{Framing, frame};
use otlp_profiles::stream::MessageReader;
use otlp_profiles::{Builder, ErrorKind, Format, Limits, ReadOptions, Reader, detect, read, write};

/// A payload of one sample, with an incompressible name of `size` bytes.
fn payload(format: Format, value: i64, size: usize) -> Vec<u8> {
    let mut state = value as u64 | 1;
    let letter = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
        char::from(b'!' + (state >> 33) as u8 % 90)
    };
    let name: String = (0..size).map(letter).collect();
    let mut builder = Builder::new();
    let cpu = builder.profile("cpu", "nanoseconds");
    builder.sample(cpu, root_first(["main", name.as_str()])).value(value);
    write(&builder.finish().unwrap(), format, &Default::default()).unwrap().payload
}

fn pack<B: AsRef<[u8]>>(members: impl IntoIterator<Item = B>) -> Vec<u8> {
    members.into_iter().flat_map(|member| deflate(member.as_ref(), Level::FAST)).collect()
}

/// The value of each message, or its error.
fn values(file: impl Read, limits: Limits) -> (Framing, Vec<Result<i64, String>>) {
    let reader = Reader::new(file, &ReadOptions::default().limits(limits)).unwrap();
    let framing = reader.framing();
    let value = |reading: otlp_profiles::Result<otlp_profiles::Reading>| {
        let profiles = reading.map_err(|error| error.to_string())?.profiles;
        let profile = profiles.iter().next().ok_or("no profile")?;
        Ok(profile.samples().get(0).ok_or("no sample")?.values[0])
    };
    (framing, reader.map(value).collect())
}

/// The formats whose payloads contain one string table, or are JSON.
const FORMATS: [Format; 8] = [
    Format::PPROF,
    Format::OTLP_1_10,
    Format::OTLP_1_9,
    Format::OTLP_1_8,
    Format::OTLP_1_7,
    Format::OTLP_1_6,
    Format::OTLP_JSON,
    Format::SPEEDSCOPE,
];

#[test]
fn members_that_are_profiles_are_messages() {
    for format in FORMATS {
        for sizes in [[10, 20, 30], [10, 300_000, 10], [300_000, 10, 70_000]] {
            let all: Vec<_> =
                (1..).zip(sizes).map(|(value, size)| payload(format, value, size)).collect();
            // Some compressors end a file with an empty member.
            let ended = pack(all.iter().flat_map(|one| [&one[..], b""]));
            for file in [pack(&all), frame(Framing::GzipMembers, &all).unwrap(), ended] {
                let wanted = (Framing::GzipMembers, vec![Ok(1), Ok(2), Ok(3)]);
                assert_eq!(values(&file[..], Limits::file()), wanted, "{format} {sizes:?}");
                let error = read(&file, &ReadOptions::default()).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::SeveralMessages, "{format}: {error}");
                let first = detect(&file, &ReadOptions::default()).unwrap().format;
                assert_eq!(first, detect(&all[0], &ReadOptions::default()).unwrap().format);
            }
        }
    }
}

#[test]
fn members_that_are_pieces_are_one_payload() {
    for format in FORMATS {
        let whole = payload(format, 7, 200);
        // A compressor may begin the next member anywhere, for example after a field.
        for at in 0..whole.len() {
            let (head, tail) = whole.split_at(at);
            let file = pack([head, tail]);
            let mut payloads = MessageReader::new(&file[..], Limits::file()).unwrap();
            assert_eq!(payloads.framing(), Framing::None, "{format} {at}");
            assert!(payloads.next().unwrap().unwrap() == whole, "{format} {at}");
        }
        let blocks = pack(whole.chunks(60));
        let limits = Limits::file().max_gzip_members(2_000);
        assert_eq!(values(&blocks[..], limits), (Framing::None, vec![Ok(7)]), "{format}");
    }
    let stacks = ["main;run 4\n", "main;idle 5\n"];
    let reading = read(&pack(stacks), &ReadOptions::default()).unwrap();
    assert_eq!(reading.profiles.iter().next().unwrap().sums(), [9]);
    // Lines of JSON are messages, however they were split into members.
    let lines = [payload(Format::OTLP_JSON, 1, 10), payload(Format::OTLP_JSON, 2, 10)].join(&b'\n');
    let flushed = pack([&lines[..], b"\n", &lines, b"\n"]);
    let wanted = (Framing::JsonLines, vec![Ok(1), Ok(2), Ok(1), Ok(2)]);
    assert_eq!(values(&flushed[..], Limits::file()), wanted);
}

#[test]
fn a_report_has_the_findings_of_every_member() {
    let mut broken = payload(Format::PPROF, 2, 10);
    broken.extend(b"\x12\x03\x0a\x01\x63"); // A sample whose location 99 is missing.
    let file = pack([payload(Format::PPROF, 1, 10), broken.clone(), broken]);
    let report = validate(&file, &Options::default());
    let found: Vec<_> = report.findings().map(|f| (f.rule.id(), f.path.clone())).collect();
    assert_eq!(found[0], ("OP0010", String::new()));
    assert!(found.iter().any(|(_, path)| path.starts_with("message[1].sample[1]")), "{found:?}");
    assert!(found.iter().any(|(_, path)| path.starts_with("message[2].sample[1]")), "{found:?}");
    assert!(!found.iter().any(|(rule, _)| *rule == "OP0027"), "{found:?}");
    let pieces = validate(&pack(payload(Format::PPROF, 1, 10).chunks(60)), &Options::default());
    assert!(pieces.findings().any(|finding| finding.rule.id() == "OP0027"));
}

#[test]
fn fixing_keeps_the_members() {
    // An unreferenced string of one byte.
    let orphan = b"\x0a\x09\x12\x07\x12\x05\x12\x03\x22\x01\x07\
        \x12\x11\x0a\x00\x12\x00\x1a\x00\x22\x00\x2a\x00\x2a\x01a\x32\x00\x3a\x00";
    let fixed =
        fix(&pack([orphan; 3]), &Options::default().format(Format::OTLP)).bytes.into_owned();
    let payloads = MessageReader::new(&fixed[..], Limits::file()).unwrap();
    assert_eq!(payloads.framing(), Framing::GzipMembers);
    let lengths: Vec<_> = payloads.map(|payload| payload.unwrap().len()).collect();
    assert_eq!(lengths, [orphan.len() - 3; 3]);
}

#[test]
fn errors_have_the_message_and_the_byte() {
    let one = payload(Format::PPROF, 1, 10);
    let members = [pack([&one]), pack([&one]), pack([&one])];
    let mut file = members.concat();
    let trailer = file.len() - 8;
    file[trailer] ^= 1;
    let place = format!("(byte {trailer})");
    for size in [file.len(), 7] {
        let (framing, all) = values(Slow(&file, size), Limits::file());
        assert_eq!((framing, &all[..2]), (Framing::GzipMembers, &[Ok(1), Ok(1)][..]));
        let error = all[2].as_ref().unwrap_err();
        assert!(error.starts_with("message[2]: gzip checksum mismatch"), "{error}");
        assert!(error.ends_with(&place), "{error}");
        assert_eq!(all.len(), 3);
    }
    // A message that is not a profile is an error, and the next one is read.
    let file = pack([&one[..], &one, b"\xff\xff", &one]);
    let (_, all) = values(&file[..], Limits::file());
    assert_eq!((&all[0], &all[1], &all[3]), (&Ok(1), &Ok(1), &Ok(1)));
    assert!(all[2].as_ref().unwrap_err().starts_with("message[2]: "), "{all:?}");
}

/// A reader that returns at most some bytes per call.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(self.1);
        self.0.read(&mut buffer[..most])
    }
}

#[test]
fn limits_hold_for_each_member_and_their_number_for_the_file() {
    let sizes = [10, 40_000, 10, 200_000];
    let all = (1..).zip(sizes).map(|(value, size)| payload(Format::PPROF, value, size));
    let file = pack(all);
    let limits = Limits::file().max_decompressed_bytes(100_000);
    let (_, values) = values(&file[..], limits);
    assert_eq!(values[..3], [Ok(1), Ok(2), Ok(3)]);
    let error = values[3].as_ref().unwrap_err();
    assert!(error.contains("decompressed bytes exceed the limit of 100000"), "{error}");
    let limits = Limits::file().max_gzip_members(3);
    let last = MessageReader::new(&file[..], limits).unwrap().last().unwrap().unwrap_err();
    assert_eq!(last.limit(), Some("max_gzip_members"));
    // A file in memory has a limit for the whole.
    let limits = Limits::file().max_decompressed_bytes(200_000);
    let error = read(&file, &ReadOptions::default().limits(limits)).unwrap_err();
    assert_eq!(error.limit(), Some("max_decompressed_bytes"));
}

/// Generates members while it is read, so that the file is never in memory.
struct Many {
    member: Vec<u8>,
    left: usize,
    at: usize,
}

impl Read for Many {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Ok(0);
        }
        let rest = &self.member[self.at..];
        let read = rest.len().min(buffer.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        self.at += read;
        if self.at == self.member.len() {
            (self.at, self.left) = (0, self.left - 1);
        }
        Ok(read)
    }
}

#[test]
fn a_hundred_thousand_members_are_read_one_by_one() {
    let member = pack([payload(Format::PPROF, 3, 10)]);
    let many = |left| Many { member: member.clone(), left, at: 0 };
    // Far less than the size of the file: only the limit on members applies to the file.
    let limits = Limits::network().max_input_bytes(1_000).max_decompressed_bytes(1_000);
    let limits = limits.max_gzip_members(100_000);
    let (payloads, cost) = cost(|| {
        let mut payloads = MessageReader::new(many(100_000), limits).unwrap();
        assert!(payloads.by_ref().all(|payload| payload.is_ok()));
        payloads
    });
    assert_eq!(payloads.framing(), Framing::GzipMembers);
    assert_eq!(payloads.bytes() % 100_000, 0);
    assert!(cost.peak < 512 << 10, "{cost:?}");
    let last = MessageReader::new(many(100_001), limits).unwrap().last().unwrap();
    assert_eq!(last.unwrap_err().limit(), Some("max_gzip_members"));
}
