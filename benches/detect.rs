//! Compares detection with reading. The goals: at most a quarter of the time of reading for large payloads
//! whose beginning is ambiguous, and almost no time for others.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use otlp_profiles::proto::prost::Message;
use otlp_profiles::proto::v1_10::*;
use otlp_profiles::{Format, Limits, Policy, ReadOptions, WriteOptions, detect, read, write};

#[path = "support/generate.rs"]
mod generate;

fn detection(criterion: &mut Criterion) {
    let options = ReadOptions::default().limits(Limits::file());
    let pprof = generate::pprof(1);
    let profiles = read(&pprof, &options).unwrap().profiles;
    for name in ["pprof", "otlp-1.10", "otlp-1.9", "otlp-1.7", "otlp-1.3"] {
        let to: Format = name.parse().unwrap();
        let write_options = WriteOptions::default().max_output_bytes(u64::MAX);
        let payload = write(&profiles, to, &write_options).unwrap().payload;
        assert_eq!(detect(&payload, &options).unwrap().format.name(), name);
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(payload.len() as u64));
        group.bench_function("detect", |bencher| {
            bencher.iter(|| detect(black_box(&payload), &options).unwrap())
        });
        group.bench_function("read", |bencher| {
            bencher.iter(|| read(black_box(&payload), &options).unwrap())
        });
        group.finish();
    }
}

/// Payloads of 1.10 that fit two generations, by the content of their samples.
fn undecided(criterion: &mut Criterion) {
    let options = ReadOptions::default().limits(Limits::file()).policy(Policy::Repair);
    let hinted = options.clone().format(Format::OTLP_1_10);
    let (stack, times) = (|row| 1 + row as i32 % 1_999, |row| vec![(1 << 60) + row]);
    let timed = |row| Sample {
        stack_index: stack(row),
        timestamps_unix_nano: times(row),
        ..Default::default()
    };
    let on_cpu = |row| Sample { attribute_indices: vec![1 + row as i32 % 50], ..timed(row) };
    let bare = |row| Sample { stack_index: stack(row), ..Default::default() };
    let random = |row: u64| Sample {
        stack_index: stack(row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33),
        ..Default::default()
    };
    for (name, payload) in [
        ("timestamps", payload(500_000, 2_000, timed)),
        ("timestamps and an attribute", payload(500_000, 2_000, on_cpu)),
        ("the same, many strings", payload(250_000, 250_000, on_cpu)),
        ("stacks alone", payload(1_000_000, 2_000, bare)),
        ("stacks alone at random", payload(1_000_000, 2_000, random)),
        ("nothing", payload(1_000_000, 2_000, |_| Sample::default())),
    ] {
        let mut group = criterion.benchmark_group(format!("undecided, {name}"));
        group.sample_size(10).throughput(Throughput::Bytes(payload.len() as u64));
        group.bench_function("detect", |bencher| {
            bencher.iter(|| detect(black_box(&payload), &options).unwrap())
        });
        group.bench_function("read", |bencher| {
            bencher.iter(|| read(black_box(&payload), &hinted).unwrap())
        });
        // Compares every message, and reads only if no other format gives a different result.
        group.bench_function("read, not named", |bencher| {
            bencher.iter(|| read(black_box(&payload), &options).is_ok())
        });
        group.finish();
    }
}

fn payload(samples: u64, strings: usize, sample: impl Fn(u64) -> Sample) -> Vec<u8> {
    let profile = Profile {
        sample_type: Some(ValueType { type_strindex: 1, unit_strindex: 2 }),
        samples: (0..samples).map(sample).collect(),
        ..Default::default()
    };
    let location = |row: u64| Location { address: row * 16, ..Default::default() };
    let attribute = |row| KeyValueAndUnit {
        key_strindex: 3 * i32::from(row > 0),
        value: (row > 0).then(|| AnyValue { value: Some(any_value::Value::IntValue(row)) }),
        ..Default::default()
    };
    let stack = |row| Stack {
        location_indices: (0..5.min(row)).map(|depth| 1 + (row * 7 + depth * 13) % 200).collect(),
    };
    let names = (1..strings).map(|row| format!("function_name_{row}"));
    let dictionary = ProfilesDictionary {
        mapping_table: vec![Mapping::default()],
        location_table: (0..=200).map(location).collect(),
        function_table: vec![Function::default()],
        link_table: vec![Link::default()],
        string_table: std::iter::once(String::new()).chain(names).collect(),
        attribute_table: (0..=50).map(attribute).collect(),
        stack_table: (0..2_000).map(stack).collect(),
    };
    let scope = ScopeProfiles { profiles: vec![profile], ..Default::default() };
    let resource = ResourceProfiles { scope_profiles: vec![scope], ..Default::default() };
    let data = ProfilesData { resource_profiles: vec![resource], dictionary: Some(dictionary) };
    data.encode_to_vec()
}

criterion_group!(benches, detection, undecided);
criterion_main!(benches);
