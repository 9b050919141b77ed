//! Builds profiles by replaying the samples of a profile frame by frame, as a profiler would.
//!
//! `strings` passes the names of every frame of every sample, `keys` the keys of its locations. `otlp` and
//! `pprof` also write the result. Each replays 20,000 samples of a synthetic profile and of every pprof in
//! `testdata/` with more than 200 samples. Stacks follow Zipf's law: earlier ones are more frequent. Each
//! sample has two labels of 64 pairs and two values.

use std::collections::HashMap;
use std::hint::black_box;
use std::ops::Range;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use otlp_profiles::builder::{Frame, Key, leaf_first, root_first};
use otlp_profiles::model::{AttributeId, LocationId};
use otlp_profiles::{Builder, Format, Profile, Profiles, ReadOptions, WriteOptions, read, write};

#[path = "support/generate.rs"]
mod generate;

const SAMPLES: usize = 20_000;
const LABELS: usize = 64;

/// The input of a profiler: frames by name, stacks of frames (leaf first), and the stack and labels of
/// each sample.
struct Replay<'a> {
    names: Vec<(&'a str, &'a str, u32)>,
    stacks: Vec<Vec<usize>>,
    order: Vec<(usize, usize)>,
    labels: Vec<(String, String)>,
}

impl<'a> Replay<'a> {
    fn of(profiles: &'a Profiles) -> Self {
        let dictionary = profiles.dictionary();
        let mut names = Vec::new();
        let mut rows_of = HashMap::<LocationId, Range<usize>>::new();
        let mut rows = |location: LocationId| {
            let make = || {
                let first = names.len();
                for line in dictionary.locations().lines(location) {
                    let function = dictionary.function(line.function);
                    let [name, file] =
                        [function.name, function.filename].map(|id| dictionary.text(id));
                    names.push((name, file, u32::try_from(line.line).unwrap_or(0)));
                }
                first..names.len()
            };
            rows_of.entry(location).or_insert_with(make).clone()
        };
        let samples = profiles.iter().flat_map(|profile| profile.samples().iter());
        let stacks: Vec<Vec<usize>> = samples
            .map(|sample| {
                dictionary.stack(sample.stack).iter().flat_map(|&location| rows(location)).collect()
            })
            .collect();
        let order = order(stacks.len());
        let label =
            |row: usize| (format!("worker-{}", row % 16), format!("/api/endpoint/{}", row / 4));
        Self { names, stacks, order, labels: (0..LABELS).map(label).collect() }
    }

    fn strings(&self, builder: &mut Builder) {
        let profile = builder.profile_of([("samples", "count"), ("cpu", "nanoseconds")]);
        for &(stack, labels) in &self.order {
            let (thread, endpoint) = &self.labels[labels];
            let frames = self.stacks[stack].iter().rev().map(|&row| {
                let (name, file, line) = self.names[row];
                Frame::new(name).at(file, line)
            });
            let sample = builder.sample(profile, root_first(frames)).values([1, 10_000_000]);
            sample.attr("thread.name", thread).attr("endpoint", endpoint);
        }
    }

    fn keys(&self, builder: &mut Builder) -> Keys {
        let profile = builder.profile_of([("samples", "count"), ("cpu", "nanoseconds")]);
        let frames: Vec<_> = self.names.iter().map(|&frame| builder.frame(frame)).collect();
        let stacks = self
            .stacks
            .iter()
            .map(|stack| stack.iter().map(|&row| frames[row]).collect())
            .collect();
        let labels = self.labels.iter().map(|(thread, endpoint)| {
            [builder.attribute("thread.name", thread), builder.attribute("endpoint", endpoint)]
        });
        Keys { profile, stacks, labels: labels.collect() }
    }
}

struct Keys {
    profile: Key<Profile>,
    stacks: Vec<Vec<Key<LocationId>>>,
    labels: Vec<[Key<AttributeId>; 2]>,
}

impl Keys {
    fn replay(&self, order: &[(usize, usize)], builder: &mut Builder) {
        for &(stack, labels) in order {
            let [thread, endpoint] = self.labels[labels];
            let stack = leaf_first(&self.stacks[stack]);
            let sample = builder.sample(self.profile, stack).values([1, 10_000_000]);
            sample.attribute(thread).attribute(endpoint);
        }
    }
}

/// The stack and labels of each sample. Deterministic.
fn order(stacks: usize) -> Vec<(usize, usize)> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut total = 0.0;
    let sums: Vec<f64> = (1..=stacks)
        .map(|rank| {
            total += 1.0 / rank as f64;
            total
        })
        .collect();
    let mut sample = || {
        let at = (random() >> 11) as f64 / (1u64 << 53) as f64 * total;
        (sums.partition_point(|sum| *sum < at).min(stacks - 1), random() as usize % LABELS)
    };
    (0..SAMPLES).map(|_| sample()).collect()
}

/// The profiles to replay, with their names.
fn profiles() -> Vec<(String, Profiles)> {
    let options = ReadOptions::default().format(Format::PPROF);
    let mut profiles = vec![(
        "synthetic".to_owned(),
        read(&generate::pprof(1), &options).expect("is pprof").profiles,
    )];
    let files = std::fs::read_dir("testdata").expect("testdata is here");
    let mut paths: Vec<_> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.to_string_lossy().ends_with(".pb.gz")) {
        let bytes = std::fs::read(path).expect("can be read");
        let Ok(reading) = read(&bytes, &options) else {
            continue;
        };
        if reading.profiles.iter().map(|profile| profile.samples().len()).sum::<usize>() > 200 {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            profiles.push((name, reading.profiles));
        }
    }
    profiles
}

fn build(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("build");
    group.throughput(Throughput::Elements(SAMPLES as u64)).sample_size(20);
    for (name, profiles) in profiles() {
        let replay = Replay::of(&profiles);
        group.bench_function(BenchmarkId::new("strings", &name), |bencher| {
            bencher.iter(|| {
                let mut builder = Builder::new();
                replay.strings(&mut builder);
                black_box(builder.owned_bytes())
            });
        });
        let mut builder = Builder::new();
        replay.strings(&mut builder);
        group.bench_function(BenchmarkId::new("strings, all seen", &name), |bencher| {
            bencher.iter(|| replay.strings(&mut builder));
        });
        let keys = replay.keys(&mut builder);
        group.bench_function(BenchmarkId::new("keys, all seen", &name), |bencher| {
            bencher.iter(|| keys.replay(&replay.order, &mut builder));
        });
        for format in [Format::OTLP, Format::PPROF] {
            let to = format.name();
            let mut builder = Builder::new();
            group.bench_function(BenchmarkId::new(to, &name), |bencher| {
                bencher.iter(|| {
                    replay.strings(&mut builder);
                    let profiles = builder.finish_interval().expect("no limit is near");
                    write(&profiles, format, &WriteOptions::default()).expect("can be said").payload
                });
            });
        }
    }
    group.finish();
}

/// The cost per sample for different numbers of samples: ten named frames and a label.
fn flat(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("flat");
    group.sample_size(10);
    let test = std::env::args().any(|arg| arg == "--test");
    let all: &[u64] = if test { &[10_000] } else { &[10_000, 100_000, 1_000_000, 10_000_000] };
    for stacks in [1_000, 100_000] {
        for &samples in all {
            group.throughput(Throughput::Elements(samples));
            let id = BenchmarkId::new(format!("{stacks} stacks"), samples);
            group.bench_function(id, |bencher| {
                bencher.iter(|| {
                    let mut builder = Builder::new();
                    record(&mut builder, samples, stacks);
                    black_box(builder.owned_bytes())
                });
            });
        }
    }
    group.finish();
}

fn record(builder: &mut Builder, samples: u64, stacks: u64) {
    let cpu = builder.profile("cpu", "nanoseconds");
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..samples {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let which = (state >> 20) % stacks;
        let frames: [Frame<'_>; 10] = std::array::from_fn(|depth| {
            let digit = which / 10u64.pow(depth as u32 / 2) % 10;
            let line = 10 * depth as u32 + digit as u32 + 1;
            Frame::new("handle_request").at("src/server/main.rs", line)
        });
        let sample = builder.sample(cpu, root_first(frames)).value(1);
        sample.attr("thread.name", "worker-1");
    }
}

criterion_group!(benches, build, flat);
criterion_main!(benches);
