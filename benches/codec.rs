//! Compares reading, writing and converting with prost, on real and generated profiles. Checks that both
//! sides give the same result before timing them.
//!
//! `cargo bench --features proto-all --bench codec`

#[path = "support/generate.rs"]
mod generate;
#[path = "support/twin.rs"]
mod twin;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use otlp_profiles::proto::prost::Message;
use otlp_profiles::proto::{pprof, v1_3, v1_10};
use otlp_profiles::{Format, Limits, Profiles, ReadOptions, WriteOptions};

/// The measured profiles: name and inflated pprof bytes.
fn inputs() -> Vec<(String, Vec<u8>)> {
    let mut files =
        vec!["testdata/go-cpu-labels.pb.gz".to_owned(), "testdata/rust-heap.pb.gz".to_owned()];
    if let Ok(corpus) = std::env::var("OTLP_PROFILES_CORPUS") {
        let real = [
            "google-pprof/large.cpu",
            "parca/alloc_objects.pb.gz",
            "parca/profile-with-labels.pb.gz",
            "pprofutils/anon.in.pprof",
        ];
        files.extend(real.iter().map(|name| format!("{corpus}/public/{name}")));
    }
    let mut inputs: Vec<(String, Vec<u8>)> = files
        .iter()
        .filter_map(|path| {
            let bytes = std::fs::read(path).ok()?;
            let name = path.rsplit('/').next().unwrap_or(path).to_owned();
            Some((
                name,
                otlp_profiles::compression::inflate(&bytes, &Limits::file()).ok()?.into_owned(),
            ))
        })
        .collect();
    let scales: &[u32] =
        if std::env::args().any(|arg| arg == "--test") { &[1] } else { &[1, 4, 16] };
    inputs.extend(
        scales.iter().map(|&scale| (format!("generated-x{scale}"), generate::pprof(scale))),
    );
    inputs
}

fn known(name: &str) -> Format {
    name.parse().expect("a registered format")
}

fn read(bytes: &[u8], name: &str) -> Profiles {
    let options = ReadOptions::default().limits(Limits::file()).format(known(name));
    otlp_profiles::read(bytes, &options).expect("readable").profiles
}

fn write(profiles: &Profiles, name: &str) -> Vec<u8> {
    let options = WriteOptions::default().max_output_bytes(u64::MAX).max_expanded_samples(u64::MAX);
    otlp_profiles::write(profiles, known(name), &options).expect("writable").payload
}

/// The sum of all values.
fn sum(profiles: &Profiles) -> i64 {
    let samples = profiles.iter().flat_map(|profile| profile.samples().iter());
    samples.flat_map(|sample| sample.values).sum()
}

fn reading(c: &mut Criterion) {
    let mut group = c.benchmark_group("read");
    for (name, bytes) in inputs() {
        let model = read(&bytes, "pprof");
        let payloads = [
            ("pprof", bytes),
            ("otlp-1.3", write(&model, "otlp-1.3")),
            ("otlp-1.10", write(&model, "otlp-1.10")),
        ];
        for (format, payload) in &payloads {
            assert_eq!(
                read(payload, format).iter().next().map(|p| p.samples().len()),
                model.iter().next().map(|p| p.samples().len())
            );
            group.throughput(Throughput::Bytes(payload.len() as u64));
            group.bench_with_input(
                BenchmarkId::new(format!("{format}/ours"), &name),
                payload,
                |b, payload| {
                    b.iter(|| read(black_box(payload), format));
                },
            );
            group.bench_with_input(
                BenchmarkId::new(format!("{format}/prost"), &name),
                payload,
                |b, payload| match *format {
                    "pprof" => {
                        b.iter(|| pprof::Profile::decode(black_box(&payload[..])).expect("pprof"))
                    }
                    "otlp-1.3" => {
                        b.iter(|| v1_3::ProfilesData::decode(black_box(&payload[..])).expect("1.3"))
                    }
                    _ => b.iter(|| {
                        v1_10::ProfilesData::decode(black_box(&payload[..])).expect("1.10")
                    }),
                },
            );
        }
    }
    group.finish();
}

fn writing(c: &mut Criterion) {
    let mut group = c.benchmark_group("write");
    for (name, bytes) in inputs() {
        for format in ["pprof", "otlp-1.3", "otlp-1.10"] {
            let payload = write(&read(&bytes, "pprof"), format);
            let model = read(&payload, format);
            assert_eq!(sum(&read(&write(&model, format), format)), sum(&model));
            group.throughput(Throughput::Bytes(payload.len() as u64));
            group.bench_with_input(
                BenchmarkId::new(format!("{format}/ours"), &name),
                &model,
                |b, model| {
                    b.iter(|| write(black_box(model), format));
                },
            );
            let id = BenchmarkId::new(format!("{format}/prost"), &name);
            match format {
                "pprof" => twin_write(
                    &mut group,
                    id,
                    &pprof::Profile::decode(&payload[..]).expect("pprof"),
                ),
                "otlp-1.3" => twin_write(
                    &mut group,
                    id,
                    &v1_3::ProfilesData::decode(&payload[..]).expect("1.3"),
                ),
                _ => twin_write(
                    &mut group,
                    id,
                    &v1_10::ProfilesData::decode(&payload[..]).expect("1.10"),
                ),
            }
        }
    }
    group.finish();
}

fn twin_write<M: Message>(
    group: &mut criterion::BenchmarkGroup<'_, criterion::measurement::WallTime>,
    id: BenchmarkId,
    message: &M,
) {
    group.bench_function(id, |b| b.iter(|| black_box(message).encode_to_vec()));
}

fn converting(c: &mut Criterion) {
    let mut group = c.benchmark_group("convert");
    for (name, bytes) in inputs() {
        let forth = |bytes: &[u8]| write(&read(bytes, "pprof"), "otlp-1.10");
        let back = |bytes: &[u8]| write(&read(bytes, "otlp-1.10"), "pprof");
        let payload = forth(&bytes);
        let sums = |bytes: &[u8]| -> i64 {
            pprof::Profile::decode(bytes)
                .expect("pprof")
                .sample
                .iter()
                .flat_map(|sample| &sample.value)
                .sum()
        };
        assert_eq!(sums(&bytes), sums(&back(&payload)));
        assert_eq!(sums(&bytes), sums(&twin::otlp_to_pprof(&twin::pprof_to_otlp(&bytes))));
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_with_input(
            BenchmarkId::new("pprof-to-1.10/ours", &name),
            &bytes,
            |b, bytes| b.iter(|| forth(black_box(bytes))),
        );
        group.bench_with_input(
            BenchmarkId::new("pprof-to-1.10/prost", &name),
            &bytes,
            |b, bytes| {
                b.iter(|| twin::pprof_to_otlp(black_box(bytes)));
            },
        );
        group.bench_with_input(
            BenchmarkId::new("1.10-to-pprof/ours", &name),
            &payload,
            |b, bytes| b.iter(|| back(black_box(bytes))),
        );
        group.bench_with_input(
            BenchmarkId::new("1.10-to-pprof/prost", &name),
            &payload,
            |b, bytes| {
                b.iter(|| twin::otlp_to_pprof(black_box(bytes)));
            },
        );
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1)).sample_size(20);
    targets = reading, writing, converting
}
criterion_main!(benches);
