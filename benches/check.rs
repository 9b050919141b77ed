//! Compares checking payloads of the newest generation with decoding by prost and checking its structs.
//!
//! `cargo bench --features proto --bench check`

#[path = "support/asked.rs"]
mod asked;
#[path = "support/generate.rs"]
mod generate;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use otlp_profiles::check::{Options, Rule, validate};
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

/// Whether a rule is among the checks of `asked::basic`: wire format, UTF-8, every reference, first rows,
/// shapes, ranges, keys.
fn is_basic(rule: &Rule) -> bool {
    let id = rule.id();
    let families = ["OP10", "OP20", "OP30", "OP31", "OP70"];
    families.iter().any(|family| id.starts_with(family)) && id != "OP7010"
        || ["OP4001", "OP4002", "OP4003", "OP4004", "OP4012", "OP5002", "OP6004", "OP6005"]
            .contains(&id)
}

/// Whether a rule is about duplicate rows, unused rows or duplicate samples.
fn is_of_rows(rule: &Rule) -> bool {
    let id = rule.id();
    ("OP3201"..="OP3207").contains(&id) || ("OP3301"..="OP3307").contains(&id) || id == "OP4006"
}

fn asking(asked: impl Fn(&Rule) -> bool) -> Options {
    let rules = Rule::all().filter(|rule| asked(rule)).collect();
    Options::default().limits(Limits::file()).format(Format::OTLP).only(rules)
}

/// The number of findings, listed or not.
fn count(payload: &[u8], options: &Options) -> usize {
    validate(payload, options).rule_counts().map(|tally| tally.count as usize).sum()
}

fn checking(c: &mut Criterion) {
    let (basic, rows) = (asking(is_basic), asking(|rule| is_basic(rule) || is_of_rows(rule)));
    let full = Options::default().limits(Limits::file()).format(Format::OTLP);
    let only_rows = asking(is_of_rows);
    let mut group = c.benchmark_group("check");
    for (name, payload) in inputs() {
        assert!(validate(&payload, &full).is_ok() && asked::basic(&payload) == 0, "{name}");
        let same = asked::with_duplicates_and_orphans(&payload);
        assert_eq!(same, count(&payload, &only_rows), "{name}");
        group.throughput(Throughput::Bytes(payload.len() as u64));
        let mut time = |what: &str, run: &dyn Fn(&[u8]) -> usize| {
            group.bench_with_input(BenchmarkId::new(what, &name), &payload, |b, payload| {
                b.iter(|| run(black_box(payload)));
            });
        };
        time("ours", &|payload| count(payload, &basic));
        time("prost", &asked::basic);
        time("ours, with duplicates and orphans", &|payload| count(payload, &rows));
        time("prost, with duplicates and orphans", &asked::with_duplicates_and_orphans);
        time("ours, every rule", &|payload| count(payload, &full));
    }
    group.finish();
}

criterion_group!(benches, checking);
criterion_main!(benches);
