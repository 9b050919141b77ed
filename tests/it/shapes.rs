//! Every verb on every shape: cost grows no faster than the input, at three sizes, up to 100,000 of whatever there can be
//! several of.
#![cfg(all(
    feature = "check",
    feature = "columns",
    feature = "formats",
    feature = "summary",
    feature = "transform"
))]

use otlp_profiles::columns::tables;
use otlp_profiles::look::{self, Pattern};
use otlp_profiles::transform::{
    DiffBy, DiffOptions, DiffProfile, MergeOptions, Merger, Pipeline, Redactor, SplitBy, Stage,
    Target, diff, diff_profile, sort_stacks, split,
};
use otlp_profiles::{Format, Limits, Profiles, ReadOptions, Summary, WriteOptions};

use crate::support::alloc::{Cost, cost};
use crate::support::shapes::{SHAPES, Shape};
use crate::support::sized;

/// A function of a file.
type OfBytes = fn(&[u8], &ReadOptions);

/// A verb on profiles.
type Verb = fn(&Profiles);

fn written(profiles: &Profiles, formats: &[Format]) {
    for format in formats {
        drop(otlp_profiles::write_all(profiles, *format, &WriteOptions::default()));
    }
}

fn merged(profiles: &Profiles, options: MergeOptions) {
    let mut merger = Merger::new(options);
    merger.add(profiles).and_then(|()| merger.add(profiles)).unwrap();
    let merged = merger.finish().unwrap();
    written(&merged.profiles, &[Format::OTLP, Format::PPROF]);
}

const VERBS: [(&str, Verb); 16] = [
    ("convert to OTLP", |of| written(of, &[Format::OTLP, Format::OTLP_1_3, Format::OTLP_1_7])),
    ("convert to pprof", |of| written(of, &[Format::PPROF])),
    ("convert to JSON", |of| written(of, &[Format::OTLP_JSON])),
    ("merge", |of| merged(of, MergeOptions::default())),
    ("merge apart", |of| merged(of, MergeOptions::default().keep_apart(true))),
    ("diff by function", |of| drop(diff(of, of, &DiffOptions::default()))),
    ("diff by attribute", |of| {
        drop(diff(of, of, &DiffOptions::default().by(DiffBy::Attribute("thread".to_owned()))));
    }),
    ("diff as a profile", |of| drop(diff_profile(of, of, &DiffProfile::default()))),
    ("split by type", |of| drop(split(of, &SplitBy::SampleType))),
    ("split by place", |of| {
        drop([SplitBy::Scope, SplitBy::Resource].map(|by| split(of, &by)));
    }),
    ("split by sample", |of| {
        drop([SplitBy::Thread, SplitBy::Window(1_000)].map(|by| split(of, &by)));
    }),
    ("pipeline", |of| {
        let mut pipeline = Pipeline::new(vec![Stage::delta(false, Target::default())]);
        pipeline.push(of.clone());
        pipeline.push(of.clone());
        pipeline.finish();
        drop(pipeline.take());
    }),
    ("export", |of| {
        let mut tables = tables(std::slice::from_ref(of)).unwrap();
        for part in tables.parts().to_vec() {
            tables.each(&part, |_| Ok(())).unwrap();
        }
    }),
    ("redact", |of| drop(Redactor::new(&|_| false).redact(&mut of.clone()))),
    ("view", |of| {
        let mut sorted = of.clone();
        sort_stacks(&mut sorted);
        sorted.compact();
    }),
    ("top", |of| {
        let options = look::Options::default();
        drop((look::top(of, &options), look::tree(of, &options), look::traces(of, &options)));
        drop(look::peek(of, &Pattern::new("f1", |name| name == "f1"), &options));
    }),
];

/// Compares the last of three sizes, each four times the one before, with the middle one.
fn grows(costs: &[Cost; 3], of: impl Fn(&Cost) -> u64, fixed: u64) -> bool {
    of(&costs[2]) as f64 > of(&costs[1]) as f64 * 4.0 * 1.3 + fixed as f64
}

fn fault(verb: &str, shape: &str, costs: [Cost; 3]) -> Option<String> {
    let what = [
        ("allocations", grows(&costs, |cost| cost.count, 200)),
        ("allocated bytes", grows(&costs, |cost| cost.bytes, 1 << 16)),
        ("peak", grows(&costs, |cost| cost.peak as u64, 1 << 16)),
    ];
    let what = what.into_iter().find(|(_, grows)| *grows)?.0;
    Some(format!("{verb} of {shape}: {what}: {costs:?}"))
}

fn faults_of((name, is_pprof, make): Shape) -> Vec<String> {
    // Names are ten times as long as the number, and repeat 1,000 times in outputs.
    let rows = if sized(10) == 10 { 6_400 } else { 64 };
    let rows = if name.starts_with("a long") { rows / 64 } else { rows };
    let format = if is_pprof { Format::PPROF } else { Format::OTLP };
    let options = ReadOptions::default().format(format).limits(Limits::file());
    let payloads = [1, 4, 16].map(|times| make(rows * times));
    let read = |bytes: &[u8]| otlp_profiles::read(bytes, &options).unwrap().profiles;
    let profiles = payloads.each_ref().map(|bytes| read(bytes));
    assert!(profiles[0].iter().any(|profile| !profile.samples().is_empty()), "{name} is empty");
    let mut faults = Vec::new();
    let of_bytes: [(&str, OfBytes); 4] = [
        ("read", |bytes, options| drop(otlp_profiles::read(bytes, options))),
        ("info", |bytes, options| drop(Summary::of(bytes, options))),
        ("detect", |bytes, _| drop(otlp_profiles::detect(bytes, &ReadOptions::default()))),
        ("validate", |bytes, options| {
            let checks = otlp_profiles::check::Options::default().limits(options.limits);
            drop(otlp_profiles::check::validate(bytes, &checks));
        }),
    ];
    for (verb, run) in of_bytes {
        let costs = payloads.each_ref().map(|bytes| cost(|| run(bytes, &options)).1);
        faults.extend(fault(verb, name, costs));
    }
    for (verb, run) in VERBS {
        let costs = profiles.each_ref().map(|profiles| cost(|| run(profiles)).1);
        faults.extend(fault(verb, name, costs));
    }
    faults
}

fn check(shapes: impl Iterator<Item = Shape>) {
    let faults: Vec<String> = shapes.flat_map(faults_of).collect();
    assert!(faults.is_empty(), "{} grow too fast:\n{}", faults.len(), faults.join("\n"));
}

/// Two tests run in parallel.
#[test]
fn verbs_are_linear_in_every_shape() {
    check(SHAPES.into_iter().step_by(2));
}

#[test]
fn verbs_are_linear_in_the_other_shapes() {
    check(SHAPES.into_iter().skip(1).step_by(2));
}

#[test]
fn a_quadratic_verb_is_noticed() {
    let costs = [64, 256, 1024].map(|rows: usize| cost(|| vec![0u8; rows * rows]).1);
    assert!(fault("square", "rows", costs).is_some());
}
