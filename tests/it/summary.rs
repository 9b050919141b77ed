//! Compares summaries with full reads, for every file in every generation.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use otlp_profiles::compression::inflate;
use otlp_profiles::model::{KeyValue, ValueType};
use otlp_profiles::stream::MessageReader;
use otlp_profiles::{
    Ambiguity, ErrorKind, Format, Limits, Policy, ReadOptions, Summary, WriteOptions, read, write,
};

use crate::support::wire::{len, nest};

/// Formats a summary as lines, without its tables.
fn said(summary: &Summary) -> String {
    let mut page = String::new();
    let dictionary = summary.outline().dictionary();
    let text = |id| dictionary.text(id).to_owned();
    let pairs = |pairs: &[KeyValue]| -> Vec<String> {
        let pair =
            |pair: &KeyValue| format!("{}={}", text(pair.key), dictionary.value(&pair.value));
        pairs.iter().map(pair).collect()
    };
    let kind = |of: &ValueType| format!("{} {} {:?}", text(of.name), text(of.unit), of.temporality);
    let detected = summary.detected();
    let _ = writeln!(page, "{} {:?}", detected.format, detected.certainty);
    let mut profiles = summary.profiles();
    for resource in summary.outline().resource_profiles() {
        let of = resource.resource();
        let entities: Vec<_> =
            of.entity_refs().iter().map(|entity| text(entity.entity_type)).collect();
        let (attributes, url) = (pairs(of.attributes()), text(resource.schema_url()));
        let _ = writeln!(
            page,
            "resource {attributes:?} {} {entities:?} {url}",
            of.dropped_attributes_count()
        );
        for scope in resource.scope_profiles() {
            let of = scope.scope();
            let (name, version) = (text(of.name()), text(of.version()));
            let _ = writeln!(
                page,
                "scope {name} {version} {:?} {}",
                pairs(of.attributes()),
                text(scope.schema_url())
            );
            for of in scope.profiles() {
                let counted = profiles.next().expect("one more");
                assert_eq!(counted.profile, of);
                let types: Vec<_> = of.sample_types().iter().map(kind).collect();
                let attributes: Vec<String> = of
                    .attributes()
                    .iter()
                    .filter_map(|id| dictionary.attribute(*id))
                    .map(|one| {
                        format!(
                            "{}={} {}",
                            text(one.key),
                            dictionary.value(&one.value),
                            text(one.unit)
                        )
                    })
                    .collect();
                let _ = writeln!(
                    page,
                    "profile {} {types:?} {:?} {} {}",
                    of.profile_id(),
                    counted.sums,
                    counted.samples,
                    counted.timestamps
                );
                let _ = writeln!(
                    page,
                    "  {} {} {} {}",
                    of.time_unix_nano(),
                    of.duration_nanos(),
                    kind(&of.period_type()),
                    of.period()
                );
                let (format, original) = of.original_payload();
                let _ = writeln!(
                    page,
                    "  {attributes:?} {} {} {original:?} {}",
                    of.dropped_attributes_count(),
                    text(format),
                    text(of.default_sample_type())
                );
            }
        }
    }
    assert!(profiles.next().is_none());
    let _ = writeln!(page, "{:?}", summary.time_range());
    page
}

fn options() -> ReadOptions {
    ReadOptions::default().limits(Limits::file()).ambiguity(Ambiguity::Prefer)
}

/// Returns whether a payload was walked instead of read. Both paths must give the same result.
fn compare(name: &str, payload: &[u8], options: &ReadOptions) -> bool {
    let (full, summary) = (read(payload, options), Summary::of(payload, options));
    let full = match full {
        Ok(reading) => Summary::of_reading(reading),
        Err(error) => {
            // A payload that a full read rejects is rejected, or the summary reports that it was not checked.
            match summary {
                Ok(summary) => assert!(!summary.is_checked(), "{name}: {error}"),
                Err(other) => assert_eq!(error.to_string(), other.to_string(), "{name}"),
            }
            return false;
        }
    };
    let summary = summary.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(said(&summary), said(&full), "{name}");
    if summary.is_checked() {
        assert_eq!(summary.tables(), full.tables(), "{name}");
        return false;
    }
    let format = summary.detected().format;
    if [Format::OTLP_1_10, Format::OTLP_1_9, Format::OTLP_1_8].contains(&format) {
        let (mut expected, tables) = (full.tables(), summary.tables());
        // The model also contains strings that the payload has in place.
        assert!(tables.strings <= expected.strings, "{name}");
        expected.strings = tables.strings;
        assert_eq!(tables, expected, "{name}");
    }
    true
}

fn below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => below(&path, files),
            false => files.push(path),
        }
    }
    files.sort();
}

fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    below(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata")), &mut files);
    files.extend(crate::support::files::corpus_files().into_iter().map(|(_, path)| path));
    files.retain(|path| path.metadata().is_ok_and(|file| file.len() < 3_000_000));
    files
}

#[test]
fn every_file_is_summed_up_as_a_full_reading_would() {
    let (mut walked, mut all) = (0, 0);
    for path in files() {
        let name = path.display().to_string();
        let file = std::fs::read(&path).unwrap();
        let Ok(payloads) = MessageReader::new(&file[..], Limits::file()) else { continue };
        for payload in payloads.map_while(Result::ok) {
            let is_walked = compare(&name, &payload, &options());
            let read = read(&payload, &options());
            let format = read.as_ref().map(|reading| reading.detected.format);
            if format
                .is_ok_and(|format| format == Format::PPROF || format.name().starts_with("otlp-1"))
            {
                all += 1;
                walked += usize::from(is_walked);
                if !is_walked {
                    println!("UNWALKED {name}");
                }
            }
        }
    }
    assert!(walked * 10 > all * 9, "{walked} of {all} were walked");
}

#[test]
fn every_generation_is_summed_up_as_a_full_reading_would() {
    let mut walked = 0;
    for path in
        files().into_iter().filter(|path| path.metadata().is_ok_and(|file| file.len() < 20_000))
    {
        let file = std::fs::read(&path).unwrap();
        let Ok(reading) = read(&file, &options()) else { continue };
        for format in Format::ALL.iter().filter(|format| format.can_write()) {
            let refs = WriteOptions::default()
                .string_encoding(otlp_profiles::format::StringEncoding::Dictionary);
            for write_options in [WriteOptions::default(), refs] {
                let Ok(written) = write(&reading.profiles, *format, &write_options) else {
                    continue;
                };
                let name = format!("{} as {format}", path.display());
                walked += usize::from(compare(&name, &written.payload, &options().format(*format)));
            }
        }
    }
    assert!(walked > 100, "{walked}");
}

#[test]
fn what_repairs_or_labels_change_is_read_in_full() {
    let file = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    let walked = |options: &ReadOptions| !Summary::of(&file, options).unwrap().is_checked();
    assert!(walked(&ReadOptions::default()));
    assert!(!walked(&ReadOptions::default().policy(Policy::Repair)));
    assert!(!walked(&ReadOptions::default().timestamp_label("t".to_owned())));
}

#[test]
fn timestamps_count_in_a_profile_without_sample_types() {
    for (format, times) in [(Format::OTLP_1_3, 13), (Format::OTLP_1_5, 6), (Format::OTLP_1_7, 6)] {
        let sample = nest(&[2], &len(times, b"\x01\x02"));
        let profile = if format == Format::OTLP_1_3 { len(8, &sample) } else { sample };
        let payload = nest(&[1, 2, 2], &profile);
        let options = options().format(format);
        assert!(compare("timestamps", &payload, &options), "{format} is walked");
        assert_eq!(Summary::of(&payload, &options).unwrap().profiles().next().unwrap().sums, [2]);
    }
}

#[test]
fn a_container_has_one_profile() {
    // The numbers of containers and of profiles are equal, but the second container has both profiles.
    let sample = |time| len(8, &nest(&[2], &len(13, &[time])));
    let both = len(2, &[sample(3), sample(4)].concat());
    let payload = nest(&[1, 2], &[len(2, b""), both].concat());
    let options = options().format(Format::OTLP_1_3);
    assert!(!compare("containers", &payload, &options));
    let summary = Summary::of(&payload, &options).unwrap();
    assert_eq!(summary.profiles().map(|of| of.samples).collect::<Vec<_>>(), [0, 2]);
}

#[test]
fn limits_are_those_of_reading() {
    let file = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    for limits in [
        Limits::file().max_samples(3),
        Limits::file().max_strings(3),
        Limits::file().max_table_entries(3),
        Limits::file().max_decompressed_bytes(100),
        Limits::file().max_input_bytes(100),
        Limits::file().max_string_bytes(2),
        Limits::file().max_owned_bytes(2),
        Limits::file().max_stack_depth(2),
        Limits::file().max_lines_per_location(0),
        Limits::file().max_attributes_per_item(2),
    ] {
        let options = ReadOptions::default().limits(limits);
        let (full, summary) = (read(&file, &options).unwrap_err(), Summary::of(&file, &options));
        let error = summary.expect_err(full.message());
        assert_eq!((error.to_string(), error.kind()), (full.to_string(), ErrorKind::Limit));
    }
}

/// For a payload that is truncated anywhere, or has any byte changed, a summary equals a full read, or reports that
/// the payload was not checked.
#[test]
fn broken_payloads_are_refused_as_a_full_reading_would() {
    let file = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    let pprof = inflate(&file, &Limits::file()).unwrap().into_owned();
    let profiles = read(&pprof, &options()).unwrap().profiles;
    for format in [Format::PPROF, Format::OTLP, Format::OTLP_1_7, Format::OTLP_1_3] {
        let payload = write(&profiles, format, &WriteOptions::default()).unwrap().payload;
        let step = payload.len() / 300 + 1;
        for at in (0..payload.len()).step_by(step) {
            compare("cut", &payload[..at], &options().format(format));
            let mut bent = payload.clone();
            bent[at] ^= 1 << (at % 8);
            let (full, summary) = (
                read(&bent, &options().format(format)),
                Summary::of(&bent, &options().format(format)),
            );
            match (full, summary) {
                (Ok(full), Ok(summary)) => {
                    assert_eq!(said(&summary), said(&Summary::of_reading(full)), "{format} {at}")
                }
                (Err(_), Ok(summary)) => assert!(!summary.is_checked(), "{format} {at}"),
                (Err(full), Err(summary)) => {
                    assert_eq!(full.to_string(), summary.to_string(), "{format} {at}")
                }
                (Ok(_), Err(error)) => panic!("{format} {at}: {error}"),
            }
        }
    }
}

#[cfg(feature = "proto")]
#[test]
fn ids_that_a_reader_refuses_are_refused_in_every_table() {
    use otlp_profiles::proto::pprof;
    use otlp_profiles::proto::prost::Message;
    let file = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    let whole = pprof::Profile::decode(&inflate(&file, &Limits::file()).unwrap()[..]).unwrap();
    type Edit = fn(&mut pprof::Profile);
    let refused: [Edit; 6] = [
        |p| p.function.push(p.function[3]),
        |p| p.location.insert(0, p.location[5].clone()),
        |p| p.mapping.push(p.mapping[0]),
        |p| p.function[7].id = 9,
        |p| p.location[7].id = 0,
        |p| p.mapping[0].id = 0,
    ];
    for edit in refused {
        let mut profile = whole.clone();
        edit(&mut profile);
        let bytes = profile.encode_to_vec();
        let full = read(&bytes, &options()).unwrap_err();
        let summary = Summary::of(&bytes, &options()).unwrap_err();
        assert_eq!(format!("{summary:?}"), format!("{full:?}"));
    }
    // Unique ids need no full read, whatever their values.
    let mut sparse = whole;
    sparse.function.iter_mut().for_each(|function| function.id = u64::MAX - 3 * function.id);
    let lines = sparse.location.iter_mut().flat_map(|location| &mut location.line);
    lines.for_each(|line| line.function_id = u64::MAX - 3 * line.function_id);
    let bytes = sparse.encode_to_vec();
    assert!(read(&bytes, &options()).is_ok());
    assert!(!Summary::of(&bytes, &options()).unwrap().is_checked());
}
