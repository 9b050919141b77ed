//! Reads files of several messages one by one.

use std::io::{self, Read};

use otlp_profiles::builder::root_first;
use otlp_profiles::compression::{Level, deflate};
use otlp_profiles::framing::{Framing, frame};
use otlp_profiles::stream::MessageReader;
use otlp_profiles::{Builder, ErrorKind, Format, Limits, ReadOptions, Reader, write};

/// An OTLP payload whose only profile has a sample of `value`, and a name of `size` bytes.
fn payload(value: i64, size: usize) -> Vec<u8> {
    let name = "f".repeat(size);
    let mut builder = Builder::new();
    let cpu = builder.profile("cpu", "nanoseconds");
    builder.sample(cpu, root_first([name.as_str()])).value(value);
    write(&builder.finish().unwrap(), Format::OTLP, &Default::default()).unwrap().payload
}

fn json(value: i64, size: usize) -> Vec<u8> {
    let reading = otlp_profiles::read(&payload(value, size), &Default::default()).unwrap();
    write(&reading.profiles, Format::OTLP_JSON, &Default::default()).unwrap().payload
}

/// The value of each message, or its error.
fn values(input: impl Read, framing: Framing) -> Vec<Result<i64, String>> {
    let reader = Reader::new(input, &ReadOptions::default().limits(Limits::file())).unwrap();
    assert_eq!(reader.framing(), framing);
    let value = |reading: otlp_profiles::Result<otlp_profiles::Reading>| {
        let profiles = reading.map_err(|error| error.to_string())?.profiles;
        let profile = profiles.iter().next().ok_or("no profile")?;
        Ok(profile.samples().get(0).ok_or("no sample")?.values[0])
    };
    reader.map(value).collect()
}

#[cfg(feature = "zstd")]
#[test]
fn zstd_is_read_as_gzip_is() {
    use otlp_profiles::compression::zstd;
    use otlp_profiles::detect;

    let pack = |bytes: &[u8]| zstd(bytes, Level::DEFAULT);
    for sizes in [&[10, 20, 30][..], &[300_000, 10], &[10, 300_000, 70_000]] {
        let wanted: Vec<_> = (1..=sizes.len() as i64).map(Ok).collect();
        for framing in
            [Framing::LengthPrefixed, Framing::Grpc, Framing::Delimited, Framing::JsonLines]
        {
            let make = if framing == Framing::JsonLines { json } else { payload };
            let messages: Vec<_> =
                sizes.iter().zip(1..).map(|(size, value)| make(value, *size)).collect();
            let file = frame(framing, &messages).unwrap();
            assert_eq!(values(&pack(&file)[..], framing), wanted, "{framing} {sizes:?}");
            // Several frames of zstd, split inside a message.
            let (head, tail) = file.split_at(file.len() / 2);
            let file = [pack(head), pack(tail)].concat();
            assert_eq!(values(&file[..], framing), wanted, "{framing} {sizes:?}");
            let payloads = MessageReader::new(&file[..], Limits::file()).unwrap();
            assert_eq!(payloads.compression(), Some("zstd"));
            // A skippable frame may come first.
            let file = [&b"\x5a\x2a\x4d\x18\x03\0\0\0abc"[..], &file].concat();
            assert_eq!(values(&file[..], framing), wanted, "{framing} {sizes:?}");
            if framing != Framing::JsonLines {
                let packed: Vec<_> = messages.iter().map(|message| pack(message)).collect();
                let file = frame(framing, &packed).unwrap();
                assert_eq!(values(&file[..], framing), wanted, "{framing} of zstd {sizes:?}");
                assert_eq!(file[0] == 1, framing == Framing::Grpc, "gRPC has a flag for it");
            }
        }
    }
    let file = pack(&payload(1, 10));
    assert_eq!(values(&file[..], Framing::None), [Ok(1)]);
    assert_eq!(detect(&file, &ReadOptions::default()).unwrap().format, Format::OTLP);
    let cut = values_of_broken(&file[..file.len() - 3]);
    assert!(cut.contains("zstd"), "{cut}");
}

#[cfg(feature = "zstd")]
fn values_of_broken(file: &[u8]) -> String {
    MessageReader::new(file, Limits::file()).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn messages_of_every_size_are_read_in_every_framing() {
    // Smaller than the part that is examined first, larger, and both.
    for sizes in [&[10, 20, 30][..], &[300_000, 10], &[10, 300_000, 70_000], &[65_000, 65_536]] {
        let wanted: Vec<_> = (1..=sizes.len() as i64).map(Ok).collect();
        for framing in
            [Framing::LengthPrefixed, Framing::Grpc, Framing::Delimited, Framing::JsonLines]
        {
            let make = if framing == Framing::JsonLines { json } else { payload };
            let messages: Vec<_> =
                sizes.iter().zip(1..).map(|(size, value)| make(value, *size)).collect();
            let file = frame(framing, &messages).unwrap();
            assert_eq!(values(&file[..], framing), wanted, "{framing} {sizes:?}");
            let gzip = deflate(&file, Level::DEFAULT);
            assert_eq!(values(&gzip[..], framing), wanted, "gzip of {framing} {sizes:?}");
            let compressed: Vec<_> =
                messages.iter().map(|message| deflate(message, Level::DEFAULT)).collect();
            if framing != Framing::JsonLines {
                let file = frame(framing, &compressed).unwrap();
                assert_eq!(values(&file[..], framing), wanted, "{framing} of gzip {sizes:?}");
            }
        }
    }
}

#[test]
fn a_file_without_frames_is_one_message() {
    for bytes in [payload(1, 10), payload(1, 200_000), json(1, 10), json(1, 200_000)] {
        assert_eq!(values(&bytes[..], Framing::None), [Ok(1)]);
        assert_eq!(values(&deflate(&bytes, Level::FAST)[..], Framing::None), [Ok(1)]);
    }
}

#[test]
fn a_broken_message_is_an_error_with_its_row_and_the_next_is_read() {
    let broken = &payload(2, 100)[..80];
    let file = frame(Framing::LengthPrefixed, [&payload(1, 10), broken, &payload(3, 10)]).unwrap();
    let values = values(&file[..], Framing::LengthPrefixed);
    assert_eq!((&values[0], &values[2]), (&Ok(1), &Ok(3)));
    let error = values[1].as_ref().unwrap_err();
    assert!(error.starts_with("message[1]"), "{error}");
}

#[test]
fn a_file_that_was_cut_off_gives_what_is_whole() {
    for size in [10, 100_000] {
        let messages = [payload(1, size), payload(2, size)];
        let file = frame(Framing::LengthPrefixed, &messages).unwrap();
        for cut in [1, messages[1].len() / 2, messages[1].len() + 2] {
            let file = &file[..file.len() - cut];
            let values = values(file, Framing::LengthPrefixed);
            assert_eq!((values.len(), &values[0]), (2, &Ok(1)), "{cut}");
            let error = values[1].as_ref().unwrap_err();
            assert!(error.starts_with("message[1]: "), "{error}");
            assert!(
                error.contains("exceeds the remaining") || error.contains("ends inside"),
                "{error}"
            );
            let report = otlp_profiles::check::validate(file, &Default::default());
            let mut found = report.findings().filter(|found| found.rule.id() == "OP1009");
            assert!(found.next().is_some_and(|found| found.path.starts_with("message[1]")));
            assert_eq!(found.count(), 0, "{report:?}");
            assert!(report.findings().any(|found| found.path.starts_with("message[0]")));
        }
    }
}

/// An endless stream that repeats a message.
struct Endless {
    frame: Vec<u8>,
    at: usize,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = &self.frame[self.at % self.frame.len()..];
        let read = rest.len().min(buffer.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        self.at += read;
        Ok(read)
    }
}

#[test]
fn a_stream_without_end_is_read_as_it_comes() {
    let frame = frame(Framing::LengthPrefixed, [payload(7, 5_000)]).unwrap();
    // Less than a hundred messages: the limit applies to each, not to all.
    let limits = Limits::network().max_input_bytes(200_000);
    let input = Endless { frame, at: 0 };
    let reader = Reader::new(input, &ReadOptions::default().limits(limits)).unwrap();
    assert_eq!(reader.take(1_000).filter(|reading| reading.is_ok()).count(), 1_000);
}

#[test]
fn limits_hold_for_each_message() {
    let file = frame(Framing::Grpc, [payload(1, 10), payload(2, 90_000)]).unwrap();
    let limits = Limits::network().max_input_bytes(80_000);
    let mut payloads = MessageReader::new(&file[..], limits).unwrap();
    assert!(payloads.next().unwrap().is_ok());
    let error = payloads.next().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.to_string().contains("bytes of input exceed the limit of 80000"), "{error}");
    assert!(payloads.next().is_none());
    let error = MessageReader::new(&payload(1, 90_000)[..], limits).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
}

/// A disk that fails after some bytes.
#[derive(Debug)]
struct Failing(usize);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.min(buffer.len());
        if read == 0 {
            return Err(io::Error::other("the disk is gone"));
        }
        buffer[..read].fill(0x0a);
        self.0 -= read;
        Ok(read)
    }
}

/// Regression: zeros were reported as a truncated member, and members were not counted.
#[test]
fn members_and_the_zeros_behind_them_are_those_of_a_file_without_frames() {
    let limits = Limits::file().max_gzip_members(2);
    for framing in [Framing::LengthPrefixed, Framing::Grpc, Framing::Delimited, Framing::JsonLines]
    {
        let make = if framing == Framing::JsonLines { json } else { payload };
        let file = frame(framing, [make(1, 10), make(2, 300_000)]).unwrap();
        let pack = |parts: &[&[u8]]| -> Vec<u8> {
            parts.iter().flat_map(|part| deflate(part, Level::DEFAULT)).collect()
        };
        let (head, tail) = file.split_at(file.len() / 2);
        let two = pack(&[head, tail]);
        let padded = [&two[..], &[0; 70_000]].concat();
        for file in [&two, &padded] {
            assert_eq!(values(&file[..], framing), [Ok(1), Ok(2)], "{framing}");
            assert_eq!(MessageReader::new(&file[..], limits).unwrap().count(), 2);
        }
        let three = pack(&[head, b"", tail]);
        let error = MessageReader::new(&three[..], limits).and_then(|all| all.last().unwrap());
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{framing}: {error}");
        assert!(error.limit() == Some("max_gzip_members"), "{framing}: {error}");
    }
}

#[test]
fn an_error_of_the_system_is_kept_as_the_source() {
    for after in [0, 100, 1 << 20] {
        let error = MessageReader::new(Failing(after), Limits::network()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert_eq!(error.to_string(), "the input cannot be read: the disk is gone");
        let source = std::error::Error::source(&error).unwrap();
        assert_eq!(source.to_string(), "the disk is gone");
    }
    let error = Reader::open("no/such/file", &ReadOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
}
