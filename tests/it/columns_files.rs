//! Tables in Parquet files: nothing is lost, joins are right, and hostile files are errors.
#![cfg(all(feature = "proto-all", feature = "parquet"))]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;

use otlp_profiles::builder::{NewLocation, NewMapping, leaf_first};
use otlp_profiles::columns::{
    PageCompression, ParquetWriter, Partition, Restored, Segment, SegmentFiles, SegmentOptions,
    Table, restore,
};
use otlp_profiles::{Builder, Limits, Profiles, ReadOptions};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::support;
use crate::support::doc::{Doc, Mask, Resource, meaning, same};
use crate::support::files::mutants;
use crate::support::forms::FORMS;
use crate::support::generate::{Room, docs, pprofs};
use crate::support::model::doc_of;
use crate::support::{read, sized, testdata, try_read};

use otlp_profiles::proto::prost::Message;

/// Writes a segment, and returns the files of each service.
fn export(all: &[&Profiles], partition: Partition, id: u8) -> Vec<SegmentFiles> {
    export_with(all, partition, id, PageCompression::Gzip)
}

fn export_with(
    all: &[&Profiles],
    partition: Partition,
    id: u8,
    codec: PageCompression,
) -> Vec<SegmentFiles> {
    let mut options = SegmentOptions::default();
    options.partition = partition;
    let mut segment = Segment::new(options, Cursor::new(Vec::new())).unwrap();
    for profiles in all {
        let losses = segment.add(profiles, "file.pb.gz", "pprof").unwrap();
        let known = [
            "string.invalid_utf8",
            "stacktrace_id.dropped",
            "orphan.dropped",
            "resource.dropped",
            "scope.dropped",
            "temporality.dropped",
        ];
        for loss in losses.iter() {
            assert!(known.contains(&loss.code.as_str()), "{loss}");
        }
    }
    let mut tables = segment.finish([id; 12]).unwrap();
    let mut files = BTreeMap::<Option<String>, SegmentFiles>::new();
    for part in tables.parts().to_vec() {
        let mut writer = ParquetWriter::new(Vec::new(), part.table, tables.id(), codec).unwrap();
        tables.each(&part, |batch| writer.write(batch)).unwrap();
        let of = &mut files.entry(part.service).or_default().files;
        of[part.table as usize].push(writer.finish().unwrap());
    }
    files.into_values().collect()
}

fn import(files: SegmentFiles) -> Restored {
    restore(files, &Limits::file(), |_| true).unwrap()
}

/// The meaning, without resources and scopes that have no profiles.
fn said(profiles: &Profiles) -> Vec<String> {
    let mut doc: Doc = doc_of(profiles);
    for resource in &mut doc.resources {
        resource.scopes.retain(|scope| !scope.profiles.is_empty());
        let profiles = resource.scopes.iter_mut().flat_map(|scope| &mut scope.profiles);
        profiles.for_each(|profile| profile.period_type.temporality = 0);
    }
    doc.resources.retain(|resource: &Resource| !resource.scopes.is_empty());
    meaning(&doc, Mask { stacktrace_ids: true, ..Mask::default() })
}

/// The values and times of each sample in order, which `meaning` merges.
fn samples(profiles: &Profiles) -> Vec<(Vec<i64>, Vec<u64>)> {
    let all = profiles.iter().flat_map(|profile| profile.samples());
    all.map(|sample| (sample.values.to_vec(), sample.timestamps_unix_nano.to_vec())).collect()
}

fn nothing_is_lost(profiles: &Profiles) -> Result<(), TestCaseError> {
    let mut files = export(&[profiles], Partition::None, 1);
    let Some(files) = files.pop() else {
        prop_assert!(profiles.is_empty());
        return Ok(());
    };
    let after = import(files).profiles;
    same("restored", &joined(said(profiles)), &joined(said(&after)))?;
    prop_assert_eq!(samples(profiles), samples(&after));
    // A second time, as compaction does.
    let again = import(export(&[&after], Partition::None, 2).pop().unwrap_or_default()).profiles;
    same("compacted", &said(&after), &said(&again))
}

/// Equal resources and scopes in succession become one.
fn joined(mut lines: Vec<String>) -> Vec<String> {
    let (mut resource, mut scope) = (Vec::new(), String::new());
    let mut out: Vec<String> = Vec::new();
    let mut of: Vec<String> = Vec::new();
    lines.push("resource end".to_owned());
    for line in lines {
        let is_head = line.starts_with("resource")
            || line.starts_with("  entities")
            || line.starts_with("  schema");
        match () {
            () if line.starts_with("resource") => of = vec![line],
            () if is_head => of.push(line),
            () if line.starts_with("  scope") => {
                if of != resource {
                    resource = of.clone();
                    scope.clear();
                    out.extend(of.iter().cloned());
                }
                if line != scope {
                    scope = line.clone();
                    out.push(line);
                }
            }
            () => out.push(line),
        }
    }
    out
}

#[test]
fn recorded_profiles_come_back() {
    let mut files = testdata(&[""]);
    let corpus = support::files::corpus_files().into_iter();
    files.extend(corpus.map(|(name, path)| (name, std::fs::read(path).unwrap())));
    let options = ReadOptions::default().limits(Limits::file());
    let mut read = 0;
    for (name, bytes) in files {
        let Ok(reading) = otlp_profiles::read(&bytes, &options) else { continue };
        nothing_is_lost(&reading.profiles).unwrap_or_else(|error| panic!("{name}: {error}"));
        read += 1;
    }
    assert!(read > 15, "{read}");
}

proptest! {
    #![proptest_config(support::generate::config())]

    #[test]
    fn profiles_of_every_generation_come_back(
        (form, doc) in (0..FORMS.len()).prop_flat_map(|form| {
            docs(Room { caps: FORMS[form].caps, portable: false }).prop_map(move |doc| (form, doc))
        }),
    ) {
        if let Ok(profiles) = try_read(FORMS[form].name, &(FORMS[form].lower)(&doc)) {
            nothing_is_lost(&profiles)?;
        }
    }

    #[test]
    fn pprofs_come_back(profile in pprofs()) {
        nothing_is_lost(&read("pprof", &profile.encode_to_vec()))?;
    }
}

fn recorded() -> Vec<Profiles> {
    let files = testdata(&[".pb.gz", ".binpb"]);
    let read = |(_, bytes): (String, Vec<u8>)| otlp_profiles::read(&bytes, &ReadOptions::default());
    let mut all: Vec<_> =
        files.into_iter().filter_map(|file| Some(read(file).ok()?.profiles)).collect();
    for (at, profiles) in (0..).zip(&mut all) {
        let name = format!("service-{}", at % 3);
        let owner = otlp_profiles::model::AttributeOwner::Resource;
        profiles.edit_attributes(owner, |of| of.set("service.name", name.as_str())).unwrap();
    }
    all
}

/// Rows of a table as text, one for each value of a column.
fn ids(files: &[SegmentFiles], table: Table, name: &str) -> Vec<String> {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let files = files.iter().flat_map(|files| &files.files[table as usize]);
    let mut ids = Vec::new();
    for file in files {
        let reader = SerializedFileReader::new(bytes::Bytes::from(file.clone())).unwrap();
        for row in reader.get_row_iter(None).unwrap() {
            let row = row.unwrap();
            let found = row.get_column_iter().find(|(column, _)| *column == name);
            ids.push(found.unwrap().1.to_string());
        }
    }
    ids
}

#[test]
fn each_sample_has_one_stack_and_one_profile_whatever_the_runs() {
    let all = recorded();
    let one: Vec<&Profiles> = all.iter().collect();
    for partition in [Partition::None, Partition::Service, Partition::ServiceDate] {
        let whole = export(&one, partition, 1);
        let runs = one.chunks(2).zip(1..).flat_map(|(some, id)| export(some, partition, id));
        let many: Vec<SegmentFiles> = runs.collect();
        let mut sums = Vec::new();
        for files in [&whole, &many] {
            for (column, table) in [("stack_id", Table::Stacks), ("profile_key", Table::Profiles)] {
                let rows = ids(files, table, column);
                let keys: BTreeSet<&String> = rows.iter().collect();
                assert_eq!(keys.len(), rows.len(), "{column} is unique");
                let used = ids(files, Table::Samples, column);
                assert!(used.iter().all(|id| keys.contains(id)), "{column} joins");
            }
            let mappings = ids(files, Table::Mappings, "mapping_id");
            assert_eq!(mappings.iter().collect::<BTreeSet<_>>().len(), mappings.len());
            let values = ids(files, Table::Samples, "value");
            sums.push((
                values.len(),
                values.iter().map(|v| v.parse::<i64>().unwrap()).sum::<i64>(),
            ));
        }
        assert_eq!(sums[0], sums[1]);
        // Restored from either, all profiles are there.
        let count = |files: Vec<SegmentFiles>| {
            files.into_iter().map(|of| import(of).profiles.len()).sum::<usize>()
        };
        let expected: usize = all.iter().map(Profiles::len).sum();
        assert_eq!((count(whole), count(many)), (expected, expected));
    }
}

#[test]
fn equal_profiles_give_equal_bytes() {
    let all = recorded();
    let all: Vec<&Profiles> = all.iter().collect();
    let files = || export(&all, Partition::ServiceDate, 7).into_iter().map(|of| of.files);
    assert!(files().eq(files()));
}

/// Profiles of few rows that together have values in nearly all columns: a mutant takes little time, and each byte
/// is more often mutated.
fn few_rows() -> Vec<Profiles> {
    let names = ["go-block.pb.gz", "gperftools-heap.pb.gz", "1.11-go-mutex-goroutine.binpb"];
    let mut all: Vec<Profiles> = testdata(&names)
        .iter()
        .map(|(_, bytes)| otlp_profiles::read(bytes, &ReadOptions::default()).unwrap().profiles)
        .collect();
    assert_eq!(all.len(), names.len());
    let mut builder = Builder::new();
    let profile = builder.profile("samples", "count");
    let id = builder.attribute("process.executable.build_id.gnu", "abcd");
    let mut mapping = NewMapping::new("/bin/a").memory(0x1000, 0x2000);
    let attributes = [id];
    mapping.attributes = &attributes;
    let mut location = NewLocation::default();
    location.mapping = builder.mapping(mapping);
    location.frame_type = "native";
    location.attributes = &attributes;
    let location = builder.location(location);
    builder.sample(profile, leaf_first([location])).value(1_u64);
    all.push(builder.finish().unwrap());
    all
}

#[test]
fn hostile_files_are_errors() {
    let all = few_rows();
    let all: Vec<&Profiles> = all.iter().collect();
    // Panics of the crate `parquet` are contained, and their messages are noise here.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let limits = Limits::network();
    // A mutant of gzip rarely inflates, so pages without compression reach the decoders.
    for codec in [PageCompression::Gzip, PageCompression::None] {
        let files = export_with(&all, Partition::None, 1, codec).pop().unwrap();
        for table in 0..4 {
            hostile(&files, table, &limits);
        }
    }
    std::panic::set_hook(hook);
    let mut missing = export(&all, Partition::None, 1).pop().unwrap();
    missing.files[Table::Stacks as usize].clear();
    let error = restore(missing, &limits, |_| true).unwrap_err();
    assert!(error.to_string().contains("a stack that is missing"), "{error}");
}

fn hostile(files: &SegmentFiles, table: usize, limits: &Limits) {
    let file = files.files[table][0].clone();
    let try_with = |bytes: Vec<u8>| {
        let mut mutant = files.clone();
        mutant.files[table] = vec![bytes];
        restore(mutant, limits, |_| true)
    };
    for end in (0..file.len()).step_by(file.len() / sized(100) + 1) {
        assert!(try_with(file[..end].to_vec()).is_err(), "{table} {end}");
    }
    for mutant in mutants(&file, sized(250), |bytes, at, next| bytes[at] ^= 1 << (next() % 8)) {
        drop(try_with(mutant));
    }
    // The footer and page headers decide what is allocated.
    let from = file.len().saturating_sub(600);
    for mutant in mutants(&file[from..], sized(250), |bytes, at, next| bytes[at] = next() as u8) {
        drop(try_with([&file[..from], &mutant].concat()));
    }
    assert!(try_with(Vec::new()).is_err());
}
