//! Compares merging heap profiles with reading them. The goal is six times the throughput of google/pprof,
//! which merges 10 to 16 MB of inflated pprof per CPU second.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use otlp_profiles::transform::{MaxBytes, MergeOptions, Merger, split_max};
use otlp_profiles::{Format, Limits, Profiles, ReadOptions, WriteOptions, read, write};

/// Variants of one heap profile. Each lacks a seventh of the samples.
fn variants(count: usize) -> Vec<Vec<u8>> {
    let file = std::fs::read("testdata/rust-heap.pb.gz").unwrap();
    let heap = read(&file, &ReadOptions::default()).unwrap().profiles;
    let variant = |variant: usize| {
        let (mut profiles, mut row) = (heap.clone(), variant);
        profiles.retain_samples(|_, _| {
            row += 1;
            row % 7 != 0
        });
        write(&profiles, Format::PPROF, &WriteOptions::default()).unwrap().payload
    };
    (0..count).map(variant).collect()
}

fn merge(files: &[Vec<u8>], options: &ReadOptions) -> Profiles {
    let mut merger = Merger::new(MergeOptions::default());
    for file in files {
        merger.add(&read(file, options).unwrap().profiles).unwrap();
    }
    merger.finish().unwrap().profiles
}

fn merging(criterion: &mut Criterion) {
    let options = ReadOptions::default().limits(Limits::file());
    let files = variants(50);
    let bytes: usize = files.iter().map(Vec::len).sum();
    let mut group = criterion.benchmark_group("50 heap profiles");
    group.sample_size(10).throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("read", |bencher| {
        bencher.iter(|| files.iter().for_each(|file| drop(black_box(read(file, &options)))))
    });
    group.bench_function("read and merge", |bencher| {
        bencher.iter(|| merge(black_box(&files), &options))
    });
    group.finish();
}

fn splitting(criterion: &mut Criterion) {
    let options = ReadOptions::default().limits(Limits::file());
    let merged = merge(&variants(50), &options);
    let size = write(&merged, Format::OTLP, &WriteOptions::default()).unwrap().payload.len();
    let mut group = criterion.benchmark_group("merged heap profiles");
    group.sample_size(10).throughput(Throughput::Bytes(size as u64));
    // One sample with its functions takes a quarter of the bytes, because names are long.
    let limit = MaxBytes::new(size as u64 / 2);
    group.bench_function("split into half of the bytes", |bencher| {
        bencher.iter(|| split_max(black_box(&merged), &limit).unwrap())
    });
    group.finish();
}

criterion_group!(benches, merging, splitting);
criterion_main!(benches);
