//! Checking payloads of the newest generation, beside prost's decoding with the same checks made on its structs.
//!
//! `cargo bench --features proto --bench check`

#[path = "support/generate.rs"]
mod generate;

use std::collections::HashSet;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use otlp_profiles::check::{Options, Rule, check};
use otlp_profiles::proto::prost::Message;
use otlp_profiles::proto::v1_10::{Profile, ProfilesData, ProfilesDictionary, Sample};
use otlp_profiles::{Format, Limits, ReadOptions, WriteOptions};

fn inputs() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut add =
        |path: &str| files.extend(std::fs::read(path).ok().map(|bytes| (path.to_owned(), bytes)));
    add("testdata/go-cpu-labels.pb.gz");
    add("testdata/rust-heap.pb.gz");
    if let Ok(corpus) = std::env::var("OTLP_PROFILES_CORPUS") {
        for name in
            ["google-pprof/large.cpu", "parca/alloc_objects.pb.gz", "pprofutils/anon.in.pprof"]
        {
            add(&format!("{corpus}/public/{name}"));
        }
    }
    let scale = if std::env::args().any(|arg| arg == "--test") { 1 } else { 4 };
    files.push(("generated".to_owned(), generate::pprof(scale)));
    files
        .into_iter()
        .map(|(path, bytes)| {
            let options = ReadOptions::default().limits(Limits::file());
            let reading = otlp_profiles::read(&bytes, &options).expect("readable");
            let options = WriteOptions::default();
            let written = otlp_profiles::write(&reading.profiles, Format::OTLP, &options);
            let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
            (name, written.expect("writable").payload)
        })
        .collect()
}

/// What both ask: the wire format, UTF-8, every reference, first rows, shapes, ranges, keys.
fn basic() -> Options {
    let asked = |rule: &&'static Rule| {
        let id = rule.id();
        let families = ["OP10", "OP20", "OP30", "OP31", "OP70"];
        families.iter().any(|family| id.starts_with(family)) && id != "OP7010"
            || ["OP4001", "OP4002", "OP4003", "OP4004", "OP4012", "OP5002", "OP6004", "OP6005"]
                .contains(&id)
    };
    let rules = Rule::all().filter(asked).collect();
    Options::default().limits(Limits::file()).from(Format::OTLP).only(rules)
}

fn full() -> Options {
    Options::default().limits(Limits::file()).from(Format::OTLP)
}

/// The same on prost's structs; how many findings there are.
fn on_structs(payload: &[u8]) -> usize {
    let Ok(data) = ProfilesData::decode(payload) else { return 1 };
    let Some(tables) = &data.dictionary else { return 1 };
    let mut found = dictionary(tables);
    for resource in &data.resource_profiles {
        for scope in &resource.scope_profiles {
            found += scope.profiles.iter().map(|one| profile(one, tables)).sum::<usize>();
        }
    }
    found
}

fn out(index: i32, len: usize) -> usize {
    usize::from(usize::try_from(index).map_or(true, |index| index >= len))
}

fn attributes(list: &[i32], tables: &ProfilesDictionary) -> usize {
    let mut keys = HashSet::new();
    let mut found = 0;
    for index in list {
        let row = usize::try_from(*index).ok().and_then(|row| tables.attribute_table.get(row));
        match row {
            None => found += 1,
            Some(row) => found += usize::from(!keys.insert(row.key_strindex)),
        }
    }
    found
}

fn dictionary(tables: &ProfilesDictionary) -> usize {
    let strings = tables.string_table.len();
    let mut found = usize::from(tables.string_table.first().is_none_or(|text| !text.is_empty()));
    for mapping in &tables.mapping_table {
        found += out(mapping.filename_strindex, strings);
        found += usize::from(mapping.memory_start > mapping.memory_limit);
        found += attributes(&mapping.attribute_indices, tables);
    }
    for location in &tables.location_table {
        found += out(location.mapping_index, tables.mapping_table.len());
        found += attributes(&location.attribute_indices, tables);
        for line in &location.lines {
            found += out(line.function_index, tables.function_table.len());
            found += usize::from(line.line < 0 || line.column < 0);
        }
    }
    for function in &tables.function_table {
        found += out(function.name_strindex, strings);
        found += out(function.system_name_strindex, strings);
        found += out(function.filename_strindex, strings);
        found += usize::from(function.start_line < 0);
    }
    for link in tables.link_table.iter().skip(1) {
        found += usize::from(link.trace_id.len() != 16 || link.span_id.len() != 8);
    }
    for attribute in &tables.attribute_table {
        found += out(attribute.key_strindex, strings) + out(attribute.unit_strindex, strings);
    }
    for stack in &tables.stack_table {
        let locations = tables.location_table.len();
        found += stack.location_indices.iter().map(|row| out(*row, locations)).sum::<usize>();
    }
    found
}

fn profile(profile: &Profile, tables: &ProfilesDictionary) -> usize {
    let mut found = attributes(&profile.attribute_indices, tables);
    for of in profile.sample_type.iter().chain(&profile.period_type) {
        let strings = tables.string_table.len();
        found += out(of.type_strindex, strings) + out(of.unit_strindex, strings);
    }
    let range =
        profile.time_unix_nano..profile.time_unix_nano.saturating_add(profile.duration_nano);
    let shape =
        |sample: &Sample| (sample.values.is_empty(), sample.timestamps_unix_nano.is_empty());
    let first = profile.samples.first().map(shape);
    for sample in &profile.samples {
        found += out(sample.stack_index, tables.stack_table.len());
        found += out(sample.link_index, tables.link_table.len());
        found += attributes(&sample.attribute_indices, tables);
        found += usize::from(Some(shape(sample)) != first);
        let (values, times) = (sample.values.len(), sample.timestamps_unix_nano.len());
        found += usize::from(values + times == 0 || (values > 0 && times > 0 && values != times));
        found += sample.timestamps_unix_nano.iter().filter(|time| !range.contains(time)).count();
    }
    found
}

fn checking(c: &mut Criterion) {
    let (basic, full) = (basic(), full());
    let mut group = c.benchmark_group("check");
    for (name, payload) in inputs() {
        assert!(check(&payload, &full).is_ok() && on_structs(&payload) == 0, "{name}");
        group.throughput(Throughput::Bytes(payload.len() as u64));
        let mut time = |what: &str, run: &dyn Fn(&[u8]) -> usize| {
            group.bench_with_input(BenchmarkId::new(what, &name), &payload, |b, payload| {
                b.iter(|| run(black_box(payload)));
            });
        };
        time("ours", &|payload| check(payload, &basic).findings().len());
        time("ours, with duplicates and orphans", &|payload| {
            check(payload, &full).findings().len()
        });
        time("prost", &on_structs);
    }
    group.finish();
}

criterion_group!(benches, checking);
criterion_main!(benches);
