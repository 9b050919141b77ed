//! Compares reports with reading. The goal for `top`, including reading, is at least 8 times the throughput
//! of `go tool pprof -top`, which is 10 to 16 MB per CPU second.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use otlp_profiles::look::{self, Filter, Options, Pattern};
use otlp_profiles::{Limits, ReadOptions, read};

#[path = "support/generate.rs"]
mod generate;

fn reports(criterion: &mut Criterion) {
    let read_options = ReadOptions::default().limits(Limits::file());
    let payload = generate::pprof(1);
    let options = Options::default();
    let mut filter = Filter::default();
    filter.focus = Some(Pattern::new("7", |name| name.contains('7')));
    let filtered = Options::default().filter(filter);
    let profiles = || read(black_box(&payload), &read_options).unwrap().profiles;

    let mut group = criterion.benchmark_group("look");
    group.throughput(Throughput::Bytes(payload.len() as u64));
    group.bench_function("read", |bencher| bencher.iter(profiles));
    for (name, options) in [("read and top", &options), ("read, focus and top", &filtered)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| look::top(&profiles(), options).unwrap())
        });
    }
    group.bench_function("read and tree", |bencher| {
        bencher.iter(|| look::tree(&profiles(), &options).unwrap())
    });
    group.finish();
}

criterion_group!(benches, reports);
criterion_main!(benches);
