//! What detection costs beside reading: a tenth at most for large payloads.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use otlp_profiles::{Limits, ReadOptions, WriteOptions, detect, format, read, write};

#[path = "support/generate.rs"]
mod generate;

fn detection(criterion: &mut Criterion) {
    let options = ReadOptions {
        limits: Limits::file(),
        ..Default::default()
    };
    let pprof = generate::pprof(1);
    let profiles = read(&pprof, &options).unwrap().profiles;
    for name in ["pprof", "otlp-1.10", "otlp-1.9", "otlp-1.7", "otlp-1.3"] {
        let to = format(name).unwrap();
        let write_options = WriteOptions {
            max_output_bytes: u64::MAX,
            ..Default::default()
        };
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

criterion_group!(benches, detection);
criterion_main!(benches);
