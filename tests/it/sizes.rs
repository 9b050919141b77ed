//! Checks that the bytes of all fields add up to the payload, in every format with fields.

use std::path::PathBuf;

use otlp_profiles::compression::{Level, deflate, inflate};
use otlp_profiles::format::{Layout, StringEncoding};
use otlp_profiles::stream::MessageReader;
use otlp_profiles::summary::{FieldSize, Sizes, TableSize};
use otlp_profiles::{Ambiguity, ErrorKind, Format, Limits, ReadOptions, WriteOptions, read, write};

use crate::support::wire::{len, nest, tag, varint};

fn options() -> ReadOptions {
    ReadOptions::default().limits(Limits::file()).ambiguity(Ambiguity::Prefer)
}

fn testdata(name: &str) -> Vec<u8> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata")).join(name);
    std::fs::read(path).unwrap()
}

/// All files of the repository, and the smaller ones of the corpus.
fn files() -> Vec<(String, Vec<u8>)> {
    let mut folders = vec![PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata"))];
    match std::env::var_os("OTLP_PROFILES_CORPUS") {
        Some(corpus) => folders.push(corpus.into()),
        None => println!("OTLP_PROFILES_CORPUS is not set: its files were skipped"),
    }
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.metadata() {
                Ok(of) if of.is_dir() => folders.push(path),
                Ok(of) if of.len() < 300_000 => {
                    files.push((path.display().to_string(), std::fs::read(&path).unwrap()));
                }
                _ => {}
            }
        }
    }
    files.sort();
    files
}

/// Measures a payload and checks the invariants of sizes.
#[track_caller]
fn measured(name: &str, payload: &[u8], options: &ReadOptions) -> Sizes {
    let sizes = Sizes::of(payload, options).unwrap_or_else(|error| panic!("{name}: {error}"));
    accounted(name, payload, &sizes);
    sizes
}

#[track_caller]
fn accounted(name: &str, payload: &[u8], sizes: &Sizes) {
    assert_eq!(sizes.bytes(), payload.len() as u64, "{name}");
    assert_eq!(sizes.gzipped(), deflate(payload, Level::DEFAULT).len() as u64, "{name}");
    let all: u64 = sizes.tables().iter().map(|table| table.bytes).sum();
    assert_eq!(all, sizes.bytes(), "{name}");
    for table in sizes.tables().iter().filter(|table| !table.fields.is_empty()) {
        let sum: u64 = table.fields.iter().map(|field| field.bytes).sum();
        assert_eq!(sum, table.bytes, "{name}: {table:?}");
        let order = |field: &FieldSize| (std::cmp::Reverse(field.bytes), field.path.clone());
        assert!(table.fields.is_sorted_by_key(order), "{name}: {table:?}");
    }
    let order = |table: &TableSize| (std::cmp::Reverse(table.bytes), table.message, table.field);
    assert!(sizes.tables().is_sorted_by_key(order), "{name}");
    assert!(sizes.strings().is_sorted_by_key(|text| std::cmp::Reverse(text.bytes)), "{name}");
    assert!(sizes.stacks().is_sorted_by_key(|stack| std::cmp::Reverse(stack.depth)), "{name}");
}

fn table<'a>(sizes: &'a Sizes, field: &str) -> &'a TableSize {
    let found = sizes.tables().iter().find(|table| table.field == field);
    found.unwrap_or_else(|| panic!("no {field} in {:?}", sizes.tables()))
}

#[test]
fn the_bytes_of_every_file_are_accounted_for() {
    let (mut measured_files, mut others) = (0, 0);
    for (name, file) in files() {
        let Ok(payloads) = MessageReader::new(&file[..], Limits::file()) else { continue };
        for payload in payloads.map_while(Result::ok).take(20) {
            let Ok(reading) = read(&payload, &options()) else { continue };
            match Sizes::of(&payload, &options()) {
                Ok(sizes) => {
                    assert_eq!(sizes.detected().format, reading.detected.format, "{name}");
                    accounted(&name, &payload, &sizes);
                    measured_files += 1;
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Unrepresentable, "{name}: {error}");
                    assert!(error.to_string().contains("no fields"), "{name}: {error}");
                    others += 1;
                }
            }
        }
    }
    assert!(measured_files > 15 && others > 5, "{measured_files} {others}");
}

#[test]
fn the_bytes_of_every_generation_are_accounted_for() {
    let mut seen = 0;
    for file in ["go-cpu-labels.pb.gz", "go-heap.pb.gz", "otlp-1.11-timestamped-cpu-offcpu.binpb"] {
        let profiles = read(&testdata(file), &options()).unwrap().profiles;
        let deepest = profiles.dictionary().stacks();
        let deepest = (0..deepest.len()).map(|row| deepest.row(row).len()).max().unwrap() as u64;
        for format in Format::ALL.iter().filter(|format| format.can_write()) {
            for refs in [StringEncoding::Inline, StringEncoding::Dictionary] {
                let options = options().format(*format);
                let how = WriteOptions::default().string_encoding(refs);
                let Ok(written) = write(&profiles, *format, &how) else { continue };
                let name = format!("{file} as {format}");
                let sizes = match Sizes::of(&written.payload, &options) {
                    Err(error) if error.kind() == ErrorKind::Unrepresentable => continue,
                    _ => measured(&name, &written.payload, &options),
                };
                seen += 1;
                assert_eq!(sizes.stacks()[0].depth, deepest, "{name}");
                assert!(sizes.stacks().iter().all(|stack| stack.bytes >= stack.depth), "{name}");
                assert!(sizes.tables().iter().all(|table| table.field != "unknown"), "{name}");
                let strings = table(
                    &sizes,
                    if name.ends_with("events") { "strings" } else { "string_table" },
                );
                assert!(strings.bytes > 80 && strings.gzip > Some(50), "{name}: {strings:?}");
                match sizes.compact() {
                    Ok(compact) => {
                        let how = WriteOptions::default().layout(Layout::Compact);
                        let read = read(&written.payload, &options).unwrap().profiles;
                        let expected = write(&read, *format, &how).unwrap().payload;
                        let gzipped = deflate(&expected, Level::BEST).len();
                        assert_eq!(
                            (compact.bytes, compact.gzipped),
                            (expected.len() as u64, gzipped as u64)
                        );
                        assert!(compact.losses.is_empty(), "{name}");
                    }
                    Err(error) => assert!(name.ends_with("events"), "{error}"),
                }
            }
        }
    }
    assert!(seen >= 3 * 10, "{seen}");
}

/// The gzip saving of a field equals that of a payload that never had the field.
#[test]
fn what_is_left_out_is_missing_from_the_gzip() {
    let file = testdata("go-cpu-labels.pb.gz");
    let payload = inflate(&file, &Limits::file()).unwrap();
    let sizes = measured("", &payload, &options());
    // Finds the fields of a pprof by their tags: those of samples are 0x12, and all lengths have one or two bytes.
    let (mut without, mut at) = (Vec::new(), 0);
    while at < payload.len() {
        let start = at;
        let tag = payload[at];
        at += 1;
        let mut value = 0;
        for shift in 0.. {
            value |= u64::from(payload[at] & 0x7f) << (7 * shift);
            at += 1;
            if payload[at - 1] < 0x80 {
                break;
            }
        }
        at += if tag & 7 == 2 { value as usize } else { 0 };
        if tag != 0x12 {
            without.extend_from_slice(&payload[start..at]);
        }
    }
    let sample = table(&sizes, "sample");
    assert_eq!(sample.bytes, (payload.len() - without.len()) as u64);
    let gzip = sizes.gzipped() as i64 - deflate(&without, Level::DEFAULT).len() as i64;
    assert_eq!(sample.gzip, Some(gzip));
    assert_eq!(sample.rows, 143);
    let measured = sizes.tables().iter().map(|table| {
        let fields = table.fields.iter().filter(|field| field.gzip.is_some()).count();
        fields + usize::from(table.gzip.is_some())
    });
    assert_eq!(measured.sum::<usize>(), 20);
}

/// A hundred thousand items of each kind: the cost of each must not grow with their number.
const MANY: u64 = 100_000;

/// A payload of OTLP 1.7 with `profiles` profiles of this body.
fn sliced(profiles: u64, body: &[u8]) -> Sizes {
    let list: Vec<u8> = (0..profiles).flat_map(|_| len(2, body)).collect();
    let payload = nest(&[1, 2], &list);
    measured("sliced", &payload, &options().format(Format::OTLP_1_7))
}

/// A sample whose stack is a slice.
fn slice(start: u64, length: u64) -> Vec<u8> {
    let mut sample = Vec::new();
    for (number, value) in [(1, start), (2, length)] {
        sample.extend(tag(number, 0));
        sample.extend(varint(value));
    }
    len(2, &sample)
}

#[test]
fn stacks_are_slices_of_the_list_of_their_profile() {
    // Numbers of one and two bytes, after the samples, packed and unpacked; one slice exceeds the list.
    let mut body =
        [slice(1, 3), slice(0, 2), slice(1, 3), slice(2, 9), slice(u64::MAX, 2)].concat();
    body.extend(len(3, b"\x01\xac\x02\x05"));
    body.extend([tag(3, 0), varint(300)].concat());
    let sizes = sliced(2, &body);
    let stacks: Vec<_> =
        sizes.stacks().iter().map(|stack| (stack.depth, stack.bytes, stack.times)).collect();
    assert_eq!(stacks, [(3, 5, 2), (3, 5, 2), (2, 3, 1), (2, 3, 1)]);
}

#[test]
fn many_profiles_samples_and_numbers() {
    let body = [slice(0, 2), len(3, b"\x01\x02")].concat();
    let sizes = sliced(MANY, &body);
    assert_eq!(table(&sizes, "profiles").rows, MANY);
    assert_eq!(sizes.stacks().len(), 10);
    let samples: Vec<u8> = (0..MANY).flat_map(|row| slice(row, MANY - row)).collect();
    let numbers: Vec<u8> = (0..MANY).flat_map(|_| [tag(3, 0), varint(1)].concat()).collect();
    let sizes = sliced(1, &[samples, numbers].concat());
    assert_eq!((sizes.stacks()[0].depth, sizes.stacks()[9].bytes), (MANY, MANY - 9));
}

#[test]
fn fields_that_no_version_has_are_counted_as_unknown() {
    let file = testdata("go-cpu-labels.pb.gz");
    let mut payload = inflate(&file, &Limits::file()).unwrap().into_owned();
    payload.extend(b"\xa2\x06\x03abc");
    let sizes = measured("", &payload, &options().format(Format::PPROF));
    let unknown = table(&sizes, "unknown");
    assert_eq!((unknown.message, unknown.rows, unknown.bytes), ("Profile", 1, 6));
}

#[test]
fn broken_payloads_are_errors_with_a_place() {
    let file = testdata("go-cpu-labels.pb.gz");
    let payload = inflate(&file, &Limits::file()).unwrap();
    let mut errors = 0;
    for end in (0..payload.len()).step_by(151) {
        match Sizes::of(&payload[..end], &options().format(Format::PPROF)) {
            Ok(sizes) => assert_eq!(sizes.bytes(), end as u64),
            Err(error) => {
                errors += 1;
                assert!(error.byte().is_some(), "{end}: {error}");
            }
        }
    }
    assert!(errors > 50, "{errors}");
    for at in (0..payload.len()).step_by(173) {
        for byte in [0, 0x0b, 0xff] {
            let mut broken = payload.to_vec();
            broken[at] = byte;
            // It does not panic, and readable parts add up.
            if let Ok(sizes) = Sizes::of(&broken, &options().format(Format::PPROF)) {
                let sum: u64 = sizes.tables().iter().map(|table| table.bytes).sum();
                assert_eq!(sum, payload.len() as u64);
            }
        }
    }
}

#[test]
fn limits_are_kept() {
    let file = testdata("go-cpu-labels.pb.gz");
    for limits in [Limits::file().max_decompressed_bytes(100), Limits::file().max_input_bytes(100)]
    {
        let error = Sizes::of(&file, &options().limits(limits)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
    }
    // Beyond the limits of the model, the sizes are still measured.
    let sizes = Sizes::of(&file, &options().limits(Limits::file().max_samples(3))).unwrap();
    assert_eq!(sizes.compact().unwrap_err().kind(), ErrorKind::Limit);
    assert_eq!(table(&sizes, "sample").rows, 143);
}

#[test]
fn what_has_no_fields_or_no_one_reading_is_refused() {
    let folded = Sizes::of(&testdata("pyspy.folded"), &options()).unwrap_err();
    assert_eq!(folded.kind(), ErrorKind::Unrepresentable);
    let ambiguous = testdata("ambiguous-1.10-or-1.9.otlp");
    let error = Sizes::of(&ambiguous, &ReadOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Ambiguous);
    let named = ReadOptions::default().format(Format::OTLP_1_9);
    assert_eq!(Sizes::of(&ambiguous, &named).unwrap().detected().format, Format::OTLP_1_9);
}
