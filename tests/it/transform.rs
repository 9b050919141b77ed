//! Merging, splitting and comparing profiles.
#![cfg(feature = "proto-all")]

use std::collections::BTreeMap;

use crate::support::forms::form;
use crate::support::generate::{Room, config, docs};
use crate::support::{codes, read, testdata, write};
use otlp_profiles::builder::{NewMapping, leaf_first, root_first};
use otlp_profiles::proto::pprof;
use otlp_profiles::transform::{
    Columns, Combine, Covered, DeltaOptions, DiffBy, DiffMode, DiffOptions, DiffProfile,
    Expression, Gate, GateKind, GateRule, Judgement, MaxBytes, MergeOptions, Merged, Merger,
    Redactor, ResourceKeys, SplitBy, Strip, convert_units, delta, derive, diff, diff_profile,
    judge, per_second, retain_time, split, split_max, strip,
};
use otlp_profiles::{Builder, ErrorKind, Profiles};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use prost::Message;

fn merged(inputs: &[Profiles], options: &MergeOptions) -> Merged {
    try_merge(inputs, options).unwrap()
}

fn try_merge(inputs: &[Profiles], options: &MergeOptions) -> otlp_profiles::Result<Merged> {
    let mut merger = Merger::new(options.clone());
    inputs.iter().try_for_each(|input| merger.add(input))?;
    merger.finish()
}

/// The nanoseconds that each merged profile covers.
fn covered(merged: &Merged) -> Vec<i128> {
    merged.covered.iter().map(Covered::nanos).collect()
}

fn defaults() -> MergeOptions {
    MergeOptions::default()
}

/// A profile of one type, with its start and duration in seconds, and samples of one frame.
fn profile(kind: (&str, &str), time: (u64, u64), samples: &[(&str, i64)]) -> Profiles {
    let mut builder = Builder::new();
    let key = builder.profile(kind.0, kind.1);
    let nanos = |seconds| std::time::Duration::from_secs(seconds);
    builder.profile_mut(key).time(nanos(time.0)).duration(nanos(time.1));
    for (frame, value) in samples {
        builder.sample(key, root_first([*frame])).value(*value);
    }
    builder.finish().unwrap()
}

/// The values of all profiles by sample type, unit and stack.
fn values(profiles: &Profiles) -> BTreeMap<String, Vec<i64>> {
    let mut values: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    let dictionary = profiles.dictionary();
    for profile in profiles {
        for sample in profile.samples() {
            let frames = dictionary.frames(sample.stack).map(|frame| frame.to_string());
            let stack = frames.collect::<Vec<_>>().join(";");
            for (kind, value) in profile.sample_types().iter().zip(profile.totals(sample)) {
                let [name, unit] = [kind.name, kind.unit].map(|id| dictionary.text(id));
                values.entry(format!("{name} {unit} {stack}")).or_default().push(value);
            }
        }
    }
    values
}

#[track_caller]
fn expect(merged: &Merged, expected: &[(&str, i64)], losses: &[&str]) {
    let expected: BTreeMap<String, Vec<i64>> =
        expected.iter().map(|(key, value)| ((*key).to_owned(), vec![*value])).collect();
    assert_eq!(values(&merged.profiles), expected);
    assert_eq!(codes(&merged.losses), losses);
}

const CPU: (&str, &str) = ("cpu", "nanoseconds");

#[test]
fn equal_profiles_are_added_up() {
    let a = profile(CPU, (100, 10), &[("f", 600), ("g", 300), ("h", 100)]);
    let b = profile(CPU, (160, 20), &[("f", 1500), ("g", 300), ("n", 200)]);
    let both = merged(&[a.clone(), b.clone()], &defaults());
    let sums = [
        ("cpu nanoseconds f", 2100),
        ("cpu nanoseconds g", 600),
        ("cpu nanoseconds h", 100),
        ("cpu nanoseconds n", 200),
    ];
    expect(&both, &sums, &[]);
    let of = |merged: &Merged| {
        let profile = merged.profiles.iter().next().unwrap();
        (profile.time_unix_nano() / 1_000_000_000, profile.duration_nanos() / 1_000_000_000)
    };
    assert_eq!((of(&both), &covered(&both)[..]), ((100, 80), &[30_000_000_000][..]));
    assert_eq!(of(&merged(&[b, a.clone()], &defaults().sum_durations(true))), (100, 30));
    let overlap = merged(&[a.clone(), profile(CPU, (105, 10), &[("f", 1)])], &defaults());
    assert_eq!(covered(&overlap), [15_000_000_000]);
    let apart = merged(&[a.clone(), a], &defaults().keep_apart(true));
    assert_eq!(apart.profiles.len(), 2);
}

#[test]
fn units_are_converted_to_the_finest() {
    let of = |unit, value| profile(("delay", unit), (0, 0), &[("f", value)]);
    let times = [of("ns", 1_500_000), of("ms", 3), of("us", 7)];
    expect(&merged(&times, &defaults()), &[("delay ns f", 4_507_000)], &["unit.converted"]);
    let bytes = [of("kB", 2), of("kBy", 3)];
    let codes = ["unit.kilobyte", "unit.converted"];
    expect(&merged(&bytes, &defaults()), &[("delay By f", 5_048)], &codes);
    let unlike = [of("count", 1), of("bytes", 2)];
    expect(&merged(&unlike, &defaults()), &[("delay count f", 1), ("delay bytes f", 2)], &[]);
}

#[test]
fn snapshots_of_one_resource_are_combined_as_asked() {
    let at = |time, samples: &[(&str, i64)]| profile(("inuse_space", "bytes"), (time, 0), samples);
    let three = [
        at(1, &[("f", 10), ("gone", 5)]),
        at(3, &[("f", 30), ("new", 7)]),
        at(2, &[("f", -20), ("gone", 6)]),
    ];
    let [f, gone, new] = ["f", "gone", "new"].map(|name| format!("inuse_space bytes {name}"));
    type Sums<'a> = &'a [(&'a str, i64)];
    let cases: [(_, Sums<'_>, &[&str]); 4] = [
        (Combine::Sum, &[(&f, 20), (&gone, 11), (&new, 7)], &["merge.snapshots_summed"]),
        (Combine::Last, &[(&f, 30), (&new, 7)], &[]),
        (Combine::Mean, &[(&f, 7), (&gone, 4), (&new, 2)], &[]),
        (Combine::Max, &[(&f, 30), (&gone, 6), (&new, 7)], &[]),
    ];
    for (combine, expected, losses) in cases {
        let options = defaults().combine(combine);
        let all = merged(&three, &options);
        expect(&all, expected, losses);
        let [report] = &all.snapshots[..] else { panic!("{:?}", all.snapshots) };
        assert_eq!((report.count, report.last), (3, 37), "{combine:?}");
        // In two parts, the later of which has the older snapshot.
        let mut earlier = Merger::new(options.clone());
        three[..2].iter().for_each(|input| earlier.add(input).unwrap());
        let mut later = Merger::new(options);
        later.add(&three[2]).unwrap();
        earlier.append(&later).unwrap();
        expect(&earlier.finish().unwrap(), expected, losses);
    }
    let delta =
        [at(1, &[("f", 1)]), profile(CPU, (1, 5), &[("f", 2)]), profile(CPU, (9, 5), &[("f", 3)])];
    let delta = merged(&delta, &defaults().combine(Combine::Last));
    expect(&delta, &[("inuse_space bytes f", 1), ("cpu nanoseconds f", 5)], &[]);
}

#[test]
fn snapshots_of_several_resources_are_added_up() {
    let pod = |name: &str, time: u64, value: i64| {
        let mut builder = Builder::new();
        builder.resource().attr("service.name", "checkout").attr("k8s.pod.name", name);
        let heap = builder.profile("inuse_space", "bytes");
        builder.profile_mut(heap).time(time);
        builder.sample(heap, root_first(["f"])).value(value);
        builder.finish().unwrap()
    };
    let pods = [pod("a", 1, 10), pod("a", 2, 20), pod("b", 1, 100), pod("b", 3, 300)];
    let apart = merged(&pods, &defaults().combine(Combine::Last));
    assert_eq!(values(&apart.profiles)["inuse_space bytes f"], [20, 300]);
    let keys = ResourceKeys::Without(vec!["k8s.pod.name".into()]);
    let together = merged(&pods, &defaults().combine(Combine::Last).resources(keys));
    expect(&together, &[("inuse_space bytes f", 320)], &["resource.dropped"]);
    let only = ResourceKeys::Only(vec!["service.name".into()]);
    let summed = merged(&pods, &defaults().resources(only));
    expect(
        &summed,
        &[("inuse_space bytes f", 430)],
        &["resource.dropped", "merge.snapshots_summed"],
    );
    assert_eq!((summed.snapshots[0].sum, summed.snapshots[0].last), (430, 320));
}

#[test]
fn sums_are_exact_and_overflow_is_an_error() {
    let of = |value| profile(CPU, (0, 0), &[("f", value)]);
    let fits = [of(i64::MAX), of(5), of(-5)];
    expect(&merged(&fits, &defaults()), &[("cpu nanoseconds f", i64::MAX)], &[]);
    let error = try_merge(&fits[..2], &defaults()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unrepresentable);
    let sum = i128::from(i64::MAX) + 5;
    let message = format!("value.overflow: the sum of cpu of stack f is {sum}, beyond 64 bits");
    assert!(error.message().starts_with(&message), "{error}");
}

#[test]
fn binaries_at_other_addresses_are_moved() {
    let loaded = |start: u64| {
        let mut builder = Builder::new();
        let cpu = builder.profile(CPU.0, CPU.1);
        let server = NewMapping::new("/bin/server").memory(start, start + 0x2000);
        let server = builder.mapping(server);
        let address = builder.address(server, start + 0x234);
        builder.sample(cpu, leaf_first([address])).value(1);
        builder.finish().unwrap()
    };
    for inputs in [[0x7000, 0x1000], [0x1000, 0x7000]] {
        let both = merged(&inputs.map(loaded), &defaults());
        assert_eq!(codes(&both.losses), ["mapping.rebased"]);
        assert_eq!(values(&both.profiles).values().flatten().collect::<Vec<_>>(), [&2]);
        let dictionary = both.profiles.dictionary();
        let leaf = dictionary.stacks().row(1)[0];
        assert_eq!(dictionary.locations().address(leaf), 0x1234);
        assert_eq!(dictionary.mappings().rows()[1].memory_limit, 0x3000);
        let exact = merged(&inputs.map(loaded), &defaults().exact_addresses(true));
        assert_eq!(values(&exact.profiles).len(), 2);
        assert_eq!(codes(&exact.losses), [""; 0]);
    }
}

#[test]
fn sample_types_that_not_all_inputs_have() {
    let of = |types: &[(&str, &str)], values: &[i64]| {
        let mut builder = Builder::new();
        let key = builder.profile_of(types);
        builder.sample(key, root_first(["f"])).values(values.iter().copied());
        builder.finish().unwrap()
    };
    let (objects, space, inuse) = (("alloc", "count"), ("space", "KiB"), ("inuse", "bytes"));
    let inputs = [of(&[objects, space], &[1, 2]), of(&[("space", "bytes"), inuse], &[3, 4])];
    let each = [("alloc count f", 1), ("space bytes f", 2051), ("inuse bytes f", 4)];
    let apart = merged(&inputs, &defaults());
    expect(&apart, &each, &["unit.converted"]);
    assert_eq!(apart.profiles.len(), 3);
    let filled = merged(&inputs, &defaults().columns(Columns::ZeroFill));
    // Every type of `f` has a value of some input, so nothing is filled.
    expect(&filled, &each, &["default.synthesized", "unit.converted"]);
    assert_eq!(filled.profiles.len(), 1);
    let mut builder = Builder::new();
    let key = builder.profile_of([inuse]);
    builder.sample(key, root_first(["g"])).value(5);
    let third = [inputs[0].clone(), inputs[1].clone(), builder.finish().unwrap()];
    let filled = merged(&third, &defaults().columns(Columns::ZeroFill));
    assert_eq!(filled.losses.get("columns.zero_filled").unwrap().count, 2, "two types of `g`");
    let common = merged(&inputs, &defaults().columns(Columns::Intersect));
    expect(&common, &each[1..2], &["columns.dropped", "unit.converted"]);
    assert_eq!(
        common.losses.get("columns.dropped").unwrap().first,
        ["alloc: 1 count", "inuse: 4 bytes"]
    );
    let unlike = [of(&[objects], &[1]), of(&[inuse], &[1])];
    let error = try_merge(&unlike, &defaults().columns(Columns::Intersect)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unrepresentable);
    // A heap with all types in one profile, and one with a profile for each.
    let whole = of(&[objects, inuse], &[1, 2]);
    let divided = split(&whole, &SplitBy::SampleType).0.remove(0).profiles;
    let both = merged(&[whole, divided], &defaults());
    expect(&both, &[("alloc count f", 2), ("inuse bytes f", 2)], &[]);
}

#[test]
fn headers_follow_their_rules() {
    let with = |set: &dyn Fn(&mut Builder)| {
        let mut builder = Builder::new();
        let cpu = builder.profile(CPU.0, CPU.1);
        builder.sample(cpu, root_first(["f"])).value(1);
        set(&mut builder);
        builder.finish().unwrap()
    };
    fn attr(key: &'static str, value: &'static str) -> impl Fn(&mut Builder) {
        move |builder| {
            let cpu = builder.profile(CPU.0, CPU.1);
            builder.profile_mut(cpu).attr(key, value);
        }
    }
    fn id(byte: u8) -> impl Fn(&mut Builder) {
        move |builder| {
            let cpu = builder.profile(CPU.0, CPU.1);
            builder.profile_mut(cpu).id([byte; 16]);
            builder.sample(cpu, root_first(["more"])).value(byte);
        }
    }
    fn period(period: i64) -> impl Fn(&mut Builder) {
        move |builder| {
            let cpu = builder.profile(CPU.0, CPU.1);
            builder.profile_mut(cpu).period("cpu", "nanoseconds", period);
        }
    }
    fn time(nanos: u64) -> impl Fn(&mut Builder) {
        move |builder| {
            let cpu = builder.profile(CPU.0, CPU.1);
            builder.profile_mut(cpu).time(nanos);
        }
    }
    let plain: &dyn Fn(&mut Builder) = &|_| {};
    let comment = "pprof.profile.comment";
    let drop = "pprof.profile.drop_frames";
    type Set<'a> = &'a dyn Fn(&mut Builder);
    let cases: &[(Set, Set, usize, &[&str])] = &[
        (&attr(comment, "one"), &attr(comment, "two"), 1, &[]),
        (&attr(drop, "x"), &attr(drop, "x"), 1, &[]),
        (&attr(drop, "x"), plain, 1, &["attr.profile.dropped"]),
        (&attr("other", "x"), plain, 2, &[]),
        (&id(1), plain, 1, &[]),
        (&id(1), &id(2), 1, &["profile_id.dropped"]),
        (&id(1), &id(1), 1, &["profile.repeated"]),
        (&period(1), &period(2), 2, &[]),
        (&time(5), plain, 1, &["time.unknown"]),
    ];
    for (row, (a, b, profiles, losses)) in cases.iter().enumerate() {
        let both = merged(&[with(a), with(b)], &defaults());
        assert_eq!(
            (both.profiles.len(), codes(&both.losses)),
            (*profiles, losses.to_vec()),
            "{row}"
        );
    }
    let comments = merged(&[with(cases[0].0), with(cases[0].1)], &defaults()).profiles;
    let entry = comments.entries().next().unwrap();
    let comments = entry.attributes().get(comment).unwrap();
    assert_eq!(comments.items().map(|of| of.as_str().unwrap()).collect::<Vec<_>>(), ["one", "two"]);
    let periods = [with(&period(1)), with(&period(2))];
    let joined = merged(&periods, &defaults().join_periods(true));
    assert_eq!((joined.profiles.len(), codes(&joined.losses)), (1, vec!["period.dropped"]));
    let repeated = merged(&[with(&id(1)), with(&id(1))], &defaults().add_repeats(true));
    assert_eq!(codes(&repeated.losses), ["profile_id.dropped"]);
    assert_eq!(values(&repeated.profiles)["cpu nanoseconds more"], [2]);
    let mut parts = [with(&id(1)), with(&id(1))].map(|input| {
        let mut merger = Merger::new(defaults());
        merger.add(&input).unwrap();
        merger
    });
    let [first, second] = &mut parts;
    assert!(first.shares_a_profile(second));
    assert_eq!(first.append(second).unwrap_err().kind(), ErrorKind::Unrepresentable);
}

#[test]
fn points_are_appended_by_time_and_never_added_to_totals() {
    let points = |times: &[u64]| {
        let mut builder = Builder::new();
        let key = builder.profile(CPU.0, CPU.1);
        let sample = builder.sample(key, root_first(["f"])).value(7);
        drop(times.iter().fold(sample, |sample, time| sample.timestamp(*time)));
        builder.finish().unwrap()
    };
    let inputs = [points(&[5, 9]), points(&[1, 5]), profile(CPU, (0, 0), &[("f", 1), ("zero", 0)])];
    let both = merged(&inputs, &defaults());
    let profiles: Vec<_> = both.profiles.iter().collect();
    assert_eq!(profiles.len(), 2);
    let series = profiles[0].samples().get(0).unwrap();
    assert_eq!((series.timestamps_unix_nano, series.values), (&[1, 5, 5, 9][..], &[7; 4][..]));
    let totals = merged(&inputs, &defaults().drop_timestamps(true).drop_zero(true));
    expect(
        &totals,
        &[("cpu nanoseconds f", 29)],
        &["timestamps.dropped", "value.zero_dropped", "time.unknown"],
    );
}

#[test]
fn a_hundred_thousand_inputs_take_linear_time() {
    let inputs: Vec<_> =
        (0..100).map(|row| profile(CPU, (row, 1), &[("f", 1), (&format!("g{row}"), 1)])).collect();
    let mut merger = Merger::new(defaults());
    for row in 0..100_000 {
        merger.add(&inputs[row % 100]).unwrap();
    }
    let all = merger.finish().unwrap();
    assert_eq!((all.inputs, all.profiles.len()), (100_000, 1));
    assert_eq!(values(&all.profiles)["cpu nanoseconds f"], [100_000]);
}

/// Random profiles of OTLP 1.10.
fn random() -> impl Strategy<Value = Profiles> {
    let form = form("otlp");
    docs(Room { caps: form.caps, portable: false })
        .prop_map(|doc| read("otlp", &(form.lower)(&doc)))
}

/// The sums of all values by sample type, in the smallest unit of a family. Empty if units overflow 64 bits.
fn sums(profiles: &Profiles) -> BTreeMap<String, i128> {
    let mut sums = BTreeMap::new();
    for profile in profiles {
        for (kind, sum) in profile.sample_types().iter().zip(profile.sums()) {
            *sums.entry(profiles.dictionary().text(kind.name).to_owned()).or_default() += sum;
        }
    }
    sums.retain(|_, sum| *sum != 0);
    sums
}

fn otlp(profiles: &Profiles) -> Vec<u8> {
    write("otlp", profiles).0
}

fn same_bytes(expected: &Profiles, got: &Profiles) -> Result<(), TestCaseError> {
    prop_assert_eq!(read("otlp", &otlp(expected)), read("otlp", &otlp(got)));
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_merge_is_associative(inputs in prop::collection::vec(random(), 1..5), cut in 0usize..5) {
        let options = defaults().add_repeats(true);
        let Ok(all) = try_merge(&inputs, &options) else { return Ok(()) };
        let mut parts = inputs.split_at(cut.min(inputs.len()));
        if parts.0.is_empty() {
            std::mem::swap(&mut parts.0, &mut parts.1);
        }
        let [mut first, second] = [parts.0, parts.1].map(|inputs| {
            let mut merger = Merger::new(options.clone());
            inputs.iter().for_each(|input| merger.add(input).unwrap());
            merger
        });
        first.append(&second).unwrap();
        let appended = first.finish().unwrap();
        prop_assert_eq!(&all.profiles, &appended.profiles);
        prop_assert_eq!(otlp(&all.profiles), otlp(&appended.profiles));
        prop_assert_eq!(covered(&all), covered(&appended));
    }

    #[test]
    fn a_canonical_merge_does_not_depend_on_the_order(inputs in prop::collection::vec(random(), 1..5), keep_apart in any::<bool>()) {
        let options = defaults().canonical(true).add_repeats(true).keep_apart(keep_apart);
        let Ok(all) = try_merge(&inputs, &options) else { return Ok(()) };
        let reversed: Vec<_> = inputs.into_iter().rev().collect();
        let back = merged(&reversed, &options);
        prop_assert_eq!(otlp(&all.profiles), otlp(&back.profiles));
    }

    #[test]
    fn sums_are_conserved(inputs in prop::collection::vec(random(), 1..4)) {
        let Ok(all) = try_merge(&inputs, &defaults().add_repeats(true)) else { return Ok(()) };
        prop_assume!(all.losses.get("unit.converted").is_none());
        let mut expected = BTreeMap::new();
        for (name, sum) in inputs.iter().flat_map(sums) {
            *expected.entry(name).or_insert(0i128) += sum;
        }
        expected.retain(|_, sum| *sum != 0);
        prop_assert_eq!(sums(&all.profiles), expected);
    }

    #[test]
    fn merged_parts_are_the_merged_whole(whole in random(), by in 0usize..6) {
        let options = defaults().canonical(true).add_repeats(true);
        let by = &[SplitBy::Resource, SplitBy::Scope, SplitBy::SampleType, SplitBy::Thread, SplitBy::Attribute("k".into()), SplitBy::Window(7)][by];
        let parts: Vec<_> = split(&whole, by).0.into_iter().map(|part| part.profiles).collect();
        // Windows without a timestamp have no part, so the parts may cover less time than the whole.
        if matches!(by, SplitBy::Window(_)) && whole.iter().any(|of| of.duration_nanos() > 0) {
            let (Ok(all), Ok(got)) = (try_merge(&[whole], &options), try_merge(&parts, &options)) else {
                return Ok(());
            };
            prop_assert_eq!(sums(&all.profiles), sums(&got.profiles));
            return Ok(());
        }
        check_parts(&whole, &parts, &options)?;
    }

    #[test]
    fn merged_parts_of_a_size_are_the_merged_whole(whole in random(), max in 200u64..4_000) {
        let options = defaults().canonical(true).add_repeats(true);
        let Ok(parts) = split_max(&whole, &MaxBytes::new(max).keep_oversize(true)) else { return Ok(()) };
        check_parts(&whole, &parts, &options)?;
        if let Ok(parts) = split_max(&whole, &MaxBytes::new(max)) {
            prop_assert!(parts.iter().all(|part| otlp(part).len() as u64 <= max));
        }
    }
}

/// Merging the parts gives the same as merging the whole, apart from data that depends on the division.
fn check_parts(
    whole: &Profiles,
    parts: &[Profiles],
    options: &MergeOptions,
) -> Result<(), TestCaseError> {
    let bare = |profiles: &Profiles| {
        let mut profiles = profiles.clone();
        profiles.drop_original_payloads();
        profiles
            .edit_attributes(otlp_profiles::model::AttributeOwner::Scope, |scope| {
                scope.remove("pprof.scope.sample_type_order");
            })
            .unwrap();
        profiles
    };
    let parts: Vec<_> = parts.iter().map(bare).collect();
    let (Ok(expected), Ok(got)) = (try_merge(&[bare(whole)], options), try_merge(&parts, options))
    else {
        return Ok(());
    };
    same_bytes(&expected.profiles, &got.profiles)
}

#[test]
fn parts_of_real_profiles_fit_and_merge_into_the_whole() {
    let mut exact = 0;
    for (name, bytes) in testdata(&[".pb.gz", ".pb", ".binpb"]) {
        let whole = otlp_profiles::read(&bytes, &Default::default()).unwrap().profiles;
        let max = (otlp(&whole).len() as u64 / 3).max(2_000);
        // A header or an unreferenced row may exceed the limit on its own.
        let limit = MaxBytes::new(max);
        let parts = split_max(&whole, &limit);
        if let Ok(parts) = &parts {
            exact += usize::from(parts.len() > 1);
            assert!(parts.iter().all(|part| otlp(part).len() as u64 <= max), "{name}");
        }
        let parts = parts.or_else(|_| split_max(&whole, &limit.keep_oversize(true))).unwrap();
        check_parts(&whole, &parts, &defaults().canonical(true)).unwrap();
    }
    assert!(exact > 3, "{exact}");
    let heap = read(
        "pprof",
        &std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/go-heap.pb.gz")).unwrap(),
    );
    let error = split_max(&heap, &MaxBytes::new(100)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.message().starts_with("sample 0 of profile 0 takes "), "{error}");
}

/// A CPU profile in Go's form: `samples` and `cpu`, with a period of 10.
fn cpu(seconds: u64, samples: &[(&str, i64)]) -> Profiles {
    let mut builder = Builder::new();
    let key = builder.profile_of([("samples", "count"), CPU]);
    let duration = std::time::Duration::from_secs(seconds);
    builder.profile_mut(key).duration(duration).period("cpu", "nanoseconds", 10);
    for (stack, value) in samples {
        builder.sample(key, root_first(stack.split(';'))).values([value / 10, *value]);
    }
    builder.finish().unwrap()
}

/// The profiles of the worked example: 100 samples in 10 s and 200 in 20 s.
fn worked() -> [Profiles; 2] {
    [
        cpu(10, &[("f", 600), ("g", 300), ("h", 100)]),
        cpu(20, &[("f", 1500), ("g", 300), ("n", 200)]),
    ]
}

#[test]
fn the_worked_difference() {
    let [a, b] = worked();
    let rows = |by, mode| -> Vec<(String, f64)> {
        let options = DiffOptions::default().by(by).mode(mode);
        let rows = diff(&a, &b, &options).unwrap().rows;
        rows.into_iter().map(|row| (row.name, (row.difference * 1e6).round() / 1e6)).collect()
    };
    let cases: [(_, &[(&str, f64)]); 4] = [
        (DiffMode::Raw, &[("f", 900.0), ("n", 200.0), ("h", -100.0)]),
        (DiffMode::Normalized, &[("f", 150.0), ("g", -150.0), ("h", -100.0), ("n", 100.0)]),
        (DiffMode::Share, &[("f", 15.0), ("g", -15.0), ("h", -10.0), ("n", 10.0)]),
        (DiffMode::PerSecond, &[("f", 15.0), ("g", -15.0), ("h", -10.0), ("n", 10.0)]),
    ];
    for (mode, expected) in cases {
        for by in [DiffBy::Function, DiffBy::Stack] {
            let got = rows(by.clone(), mode);
            let got: Vec<_> = got.iter().map(|(name, value)| (&name[..], *value)).collect();
            assert_eq!(got, expected, "{mode:?} {by:?}");
        }
        let same = diff(&a, &a, &DiffOptions::default().mode(mode)).unwrap();
        assert!(same.rows.is_empty(), "{mode:?}");
    }
    assert_eq!(rows(DiffBy::Total, DiffMode::Raw), [("total".to_owned(), 1000.0)]);
    assert_eq!(rows(DiffBy::Total, DiffMode::PerSecond), []);
    let one = cpu(1, &[("main;fib;fib;fib", 10)]);
    let two = cpu(1, &[("main;fib;fib", 30)]);
    let recursive = diff(&one, &two, &DiffOptions::default()).unwrap();
    assert_eq!(recursive.rows.iter().map(|row| row.exact).collect::<Vec<_>>(), [Some(20); 2]);
    let rename = |name: &str| name.strip_prefix("old_").map(str::to_owned);
    let renamed = cpu(10, &[("old_f", 600), ("g", 300), ("h", 100)]);
    let options = DiffOptions::default().rename(Some(&rename));
    assert!(diff(&a, &renamed, &options).unwrap().rows.is_empty());
    let unknown = diff(&a, &b, &DiffOptions::default().sample_type(Some("wall"))).unwrap_err();
    assert_eq!(
        unknown.message(),
        "no profile has the sample type wall: there are samples:count, cpu:nanoseconds"
    );
}

/// Threads, periods and types of one resource cover their common time once; those of two resources add up.
#[test]
fn profiles_of_a_resource_share_a_clock() {
    const SECOND: i128 = 1_000_000_000;
    let payload = |of: &[(&str, &str, u64, u64, i64)]| {
        let mut builder = Builder::new();
        for (row, (service, thread, start, seconds, period)) in of.iter().enumerate() {
            builder.resource().attr("service.name", *service);
            builder.scope(&format!("profiler {row}"));
            let key = builder.profile(CPU.0, CPU.1);
            let nanos = |seconds: u64| std::time::Duration::from_secs(seconds);
            let profile = builder.profile_mut(key).time(nanos(*start)).duration(nanos(*seconds));
            profile.period(CPU.0, CPU.1, *period).attr("thread.name", *thread);
            builder.sample(key, root_first(["f"])).value(30);
        }
        builder.finish().unwrap()
    };
    for (profiles, seconds) in [
        (&[("a", "1", 0, 10, 1)][..], 10),
        (&[("a", "1", 0, 10, 1), ("a", "2", 0, 8, 1)], 10),
        (&[("a", "1", 5, 10, 1), ("a", "2", 5, 10, 1)], 10),
        (&[("a", "1", 5, 10, 1), ("a", "1", 10, 10, 2)], 15),
        (&[("a", "1", 5, 10, 1), ("a", "1", 25, 10, 2)], 20),
        (&[("a", "1", 5, 10, 1), ("b", "1", 5, 10, 1)], 20),
    ] {
        let profiles = payload(profiles);
        assert_eq!(Covered::of(&profiles).nanos(), seconds * SECOND);
        let all = merged(std::slice::from_ref(&profiles), &defaults());
        let options = DiffOptions::default().covered([&all.covered, &all.covered]);
        let merged = diff(&all.profiles, &all.profiles, &options).unwrap();
        let plain = diff(&profiles, &profiles, &DiffOptions::default()).unwrap();
        assert_eq!(merged.covered_nanos, [seconds * SECOND; 2]);
        assert_eq!(plain.covered_nanos, [seconds * SECOND; 2]);
    }
    // Two payloads without a start follow each other; four threads of one do not.
    let thread = payload(&[("a", "1", 0, 10, 1)]);
    let two = merged(&[thread.clone(), thread], &defaults().add_repeats(true));
    assert_eq!(covered(&two), [20 * SECOND]);
    let base = payload(&[("a", "1", 0, 30, 1)]);
    let four = payload(&[("a", "1", 0, 30, 1); 4]);
    let gate = Gate::new([GateRule::over(GateKind::Total, 50.0)]).sigma(0.0);
    assert!(!judge(&[&base], &[&four], &gate).unwrap().passed, "four threads in the same time");
}

/// Rates are of the time that profiles cover: gaps between them do not count, and overlaps count once.
#[test]
fn rates_are_of_the_covered_time() {
    const SECOND: i128 = 1_000_000_000;
    let window =
        |start: u64, seconds: u64, value: i64| profile(CPU, (start, seconds), &[("f", value)]);
    let base = merged(&[window(1, 10, 1_000)], &defaults());
    let rates = |base: &Merged, new: &Merged| {
        let options = DiffOptions::default().by(DiffBy::Total).mode(DiffMode::PerSecond);
        let options = options.covered([&base.covered, &new.covered]);
        diff(&base.profiles, &new.profiles, &options).unwrap()
    };
    for (windows, covered, difference) in [
        (vec![window(1, 10, 1_000), window(61, 20, 2_000)], 30, 0.0),
        (vec![window(1, 10, 1_000), window(6, 10, 1_000)], 15, 2_000.0 / 15.0 - 100.0),
        (vec![window(1, 10, 500), window(11, 10, 500)], 20, -50.0),
    ] {
        let new = merged(&windows, &defaults());
        let found = rates(&base, &new);
        assert_eq!(found.covered_nanos, [10, covered].map(|time| time * SECOND));
        let row = found.rows.first().map_or(0.0, |row| row.difference);
        assert!((row - difference).abs() < 1e-9, "{covered} s: {row}");
        let gate = Gate::new([GateRule::over(GateKind::Total, 1.0)]).sigma(0.0);
        let gate = gate.covered([&base.covered, &new.covered]);
        let report = judge(&[&base.profiles], &[&new.profiles], &gate).unwrap();
        assert_eq!(report.passed, difference <= 1.0, "{report}");
    }
    // Without the covered time, that of a payload follows from its profiles.
    let apart = merged(&[window(1, 10, 1), window(6, 10, 1)], &defaults().keep_apart(true));
    let found = diff(&apart.profiles, &base.profiles, &DiffOptions::default()).unwrap();
    assert_eq!(found.covered_nanos, [15, 10].map(|time| time * SECOND));
}

#[test]
fn a_difference_as_a_profile() {
    let [a, b] = worked();
    let cancelled = diff_profile(&a, &b, &DiffProfile::default().cancel(true)).unwrap();
    let profile = cancelled.profiles.iter().next().unwrap();
    assert_eq!(cancelled.profiles.len(), 1);
    assert_eq!((profile.sums(), profile.samples().len()), (vec![100, 1000], 3));
    assert_eq!(profile.duration_nanos(), 20_000_000_000);
    let both = diff_profile(&a, &b, &DiffProfile::default()).unwrap().profiles;
    assert_eq!(both.iter().next().unwrap().samples().len(), 6);
    let scaled = DiffProfile::default().normalize(true).cancel(true);
    let scaled = diff_profile(&a, &b, &scaled).unwrap().profiles;
    assert_eq!(scaled.iter().next().unwrap().sums(), [0, 0]);
    assert_eq!(values(&scaled)["cpu nanoseconds f"], [150]);
    let least = profile_of_one(i64::MIN);
    let error = diff_profile(&least, &b, &DiffProfile::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unrepresentable);
}

fn profile_of_one(value: i64) -> Profiles {
    profile(CPU, (0, 0), &[("f", value)])
}

#[test]
fn the_gate_counts_what_sampling_does_not_explain() {
    let [a, b] = worked();
    let over = |percent| Gate::new([GateRule::over(GateKind::Function, percent)]);
    let judged = |gate: &Gate| {
        let report = judge(&[&a], &[&b], gate).unwrap();
        let rows = report.rows.iter().map(|row| (row.name.clone(), row.judgement));
        (report.passed, rows.collect::<Vec<_>>(), report.to_string())
    };
    let (passed, rows, text) = judged(&over(5.0));
    use Judgement::{Fails, Floor, Noise, Passes};
    let row = |name: &str, judgement| (name.to_owned(), judgement);
    assert!(!passed);
    assert_eq!(rows, [row("n", Fails), row("f", Noise), row("g", Passes), row("h", Passes)]);
    let noise =
        "noise: f +15.00 points, limit 5%, error 5.78 points, z = 2.60, needs 171 samples a side";
    assert!(text.contains(noise), "{text}");
    assert_eq!(judged(&over(5.0).sigma(0.0)).1[0], row("f", Fails));
    let report = judge(&[&a], &[&b], &over(5.0)).unwrap();
    let z = report.rows.iter().find(|row| row.name == "f").unwrap().noise.unwrap().z;
    assert!(judged(&over(5.0).sigma(z)).1.contains(&row("f", Noise)), "z at the limit is noise");
    assert!(judged(&over(5.0).sigma(z.next_down())).1.contains(&row("f", Fails)));
    assert_eq!(judged(&over(10.0)).1[0], row("f", Noise), "n is at the limit, not over it");
    assert!(judged(&over(5.0).min_share(11.0)).1.contains(&row("n", Floor)));
    assert!(judged(&over(5.0).min_value(201)).1.contains(&row("n", Floor)));
    let under = Gate::new([GateRule::under(GateKind::Function, 5.0)]);
    assert!(judged(&under).1.contains(&row("h", Fails)));
    let total = judged(&Gate::new([GateRule::over(GateKind::Total, 5.0)]));
    assert!(total.0 && total.1.is_empty(), "100 a second before and after");
    for wrong in [over(f64::NAN), over(-1.0), over(f64::INFINITY), over(1.0).relative(true)] {
        assert_eq!(judge(&[&a], &[&b], &wrong).unwrap_err().kind(), ErrorKind::InvalidOption);
    }
    let empty = cpu(1, &[]);
    for (base, new) in [(&empty, &a), (&a, &empty)] {
        assert!(judge(&[base], &[new], &over(5.0)).is_err(), "it cannot judge");
    }
    let separate = over(5.0).sigma(0.0).separate(true);
    let report = judge(&[&a, &a, &b], &[&b, &b, &b], &separate).unwrap();
    assert!(report.passed && report.rows[0].judgement == Judgement::Straddles);
    assert!(!judge(&[&a, &a, &a], &[&b, &b, &b], &separate).unwrap().passed);
}

#[test]
fn a_profile_that_ends_with_its_window_is_whole() {
    for (duration, undivided) in [(9, None), (10, None), (11, Some(1))] {
        let whole = profile(CPU, (20, duration), &[("f", 1)]);
        let losses = split(&whole, &SplitBy::Window(10_000_000_000)).1;
        let loss = losses.get("split.total_not_divided").map(|loss| loss.count);
        assert_eq!(loss, undivided, "{duration} s");
    }
}

#[test]
fn a_difference_negates_points_with_and_without_values() {
    let mixed = read("otlp", &crate::support::shapes::mixed());
    assert_eq!(mixed.iter().next().unwrap().sums(), [10]);
    for cancel in [false, true] {
        let options = DiffProfile::default().cancel(cancel);
        let same = diff_profile(&mixed, &mixed, &options).unwrap().profiles;
        let sums: i128 = same.iter().flat_map(|profile| profile.sums()).sum();
        assert_eq!(sums, 0, "cancel: {cancel}");
    }
}

#[test]
fn samples_that_a_change_needs() {
    for (from, to, needed) in [(5, 10, 495.0), (5, 7, 2534.0), (5, 6, 9351.0)] {
        let [a, b] =
            [from, to].map(|share| cpu(1, &[("f", 10 * share), ("rest", 10 * (100 - share))]));
        let report =
            judge(&[&a], &[&b], &Gate::new([GateRule::over(GateKind::Function, 0.5)])).unwrap();
        let row = report.rows.iter().find(|row| row.name == "f").unwrap();
        assert_eq!(row.noise.unwrap().needed, needed);
    }
}

/// A profile with data to redact in every table.
fn private() -> Profiles {
    let mut builder = Builder::new();
    builder
        .resource()
        .attr("service.name", "acme-checkout")
        .attr("process.pid", 4711)
        .attr("db.password", "hunter2")
        .entity(otlp_profiles::builder::NewEntity::new("service", &["service.name"]));
    builder.scope("profiler").version("1.0");
    let key = builder.profile(CPU.0, CPU.1);
    builder
        .profile_mut(key)
        .id([7; 16])
        .attr("pprof.profile.comment", "build of acme")
        .attr("pprof.profile.drop_frames", "acme::.*");
    let build_id = builder.attribute("process.executable.build_id.gnu", "c89b11207f64");
    let binary = NewMapping::new("/opt/acme/server").memory(0x1000, 0x9000);
    let binary = builder.mapping(binary.attributes(&[build_id]));
    let address = builder.address(binary, 0x1234);
    builder.sample(key, leaf_first([address])).value(1).attr("url", "https://me:pw@acme.example/");
    let link = builder.link([9; 16], [8; 8]);
    for (frame, tenant) in
        [("acme::pay", "acme"), ("runtime.main", "acme"), ("acme::pay", "umbrella")]
    {
        let frame =
            otlp_profiles::builder::Frame::new(frame).at("src/acme.rs", 3).frame_type("native");
        builder
            .sample(key, leaf_first([frame]))
            .value(1)
            .attr("tenant", tenant)
            .attr("size", (64, "bytes"))
            .link(link);
    }
    builder.finish().unwrap()
}

#[test]
fn redacted_profiles_hold_pseudonyms_only() {
    let original = private();
    let mut profiles = original.clone();
    let keep = |text: &str| text.starts_with("runtime.");
    let losses = Redactor::new(&keep).redact(&mut profiles);
    assert_eq!(codes(&losses), ["attr.profile.dropped", "attr.sample.dropped", "resource.dropped"]);
    let texts: Vec<&str> = profiles.dictionary().strings().iter().collect();
    let private = |text: &&&str| {
        ["acme", "umbrella", "hunter", "c89b", "pw@"].iter().any(|part| text.contains(part))
    };
    assert_eq!(texts.iter().find(private), None);
    for text in [
        "function_1",
        "runtime.main",
        "file_1",
        "file_2",
        "value_1",
        "native",
        "tenant",
        "bytes",
        "profiler",
    ] {
        assert!(texts.contains(&text), "{text} in {texts:?}");
    }
    let bytes = otlp(&profiles);
    let holds = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    assert!(!holds(b"acme") && !holds(&[9; 16]) && !holds(&[7; 16]) && !holds(b"c89b"));
    assert_eq!(profiles.iter().next().unwrap().sums(), original.iter().next().unwrap().sums());
    let tenants: Vec<_> = profiles
        .iter()
        .next()
        .unwrap()
        .samples()
        .iter()
        .map(|sample| {
            profiles.dictionary().resolve(sample.attributes).get_str("tenant").map(str::to_owned)
        })
        .collect();
    assert!(tenants[1] == tenants[2] && tenants[2] != tenants[3], "{tenants:?}");
}

#[test]
fn one_redactor_gives_equal_names_equal_pseudonyms() {
    let keep = |_: &str| false;
    let mut redactor = Redactor::new(&keep);
    let [mut a, mut b] =
        [&[("f", 1), ("g", 1)], &[("g", 1), ("h", 1)]].map(|samples| profile(CPU, (0, 0), samples));
    for profiles in [&mut a, &mut b] {
        assert!(redactor.redact(profiles).is_empty());
    }
    let names = |profiles: &Profiles| values(profiles).into_keys().collect::<Vec<_>>();
    assert_eq!(names(&a), ["cpu nanoseconds function_1", "cpu nanoseconds function_2"]);
    assert_eq!(names(&b), ["cpu nanoseconds function_2", "cpu nanoseconds function_3"]);
}

/// The errors that validation finds, by code.
#[cfg(feature = "check")]
fn errors(profiles: &Profiles) -> BTreeMap<String, usize> {
    use otlp_profiles::check::{Options, validate};
    let report = validate(&otlp(profiles), &Options::default());
    let mut errors = BTreeMap::new();
    for finding in report.findings() {
        if finding.severity == otlp_profiles::Severity::Error {
            *errors.entry(finding.rule.id().to_owned()).or_default() += 1;
        }
    }
    errors
}

#[cfg(feature = "check")]
proptest! {
    #![proptest_config(config())]

    #[test]
    fn redaction_keeps_verdicts_and_sums(original in random()) {
        let mut redacted = original.clone();
        let _losses = Redactor::new(&|_| false).redact(&mut redacted);
        prop_assert_eq!(errors(&redacted), errors(&original));
        let each = |profiles: &Profiles| profiles.iter().map(|of| of.sums()).collect::<Vec<_>>();
        prop_assert_eq!(each(&redacted), each(&original));
    }
}

#[cfg(feature = "check")]
#[test]
fn redaction_changes_no_verdict() {
    for (name, bytes) in testdata(&[".pb.gz", ".pb", ".binpb"]) {
        let original = otlp_profiles::read(&bytes, &Default::default()).unwrap().profiles;
        let mut redacted = original.clone();
        let _losses = Redactor::new(&|_| false).redact(&mut redacted);
        assert_eq!(errors(&redacted), errors(&original), "{name}");
    }
}

#[test]
fn a_time_range_and_stripped_locations() {
    let mut builder = Builder::new();
    let key = builder.profile(CPU.0, CPU.1);
    builder.profile_mut(key).time(10).duration(std::time::Duration::from_nanos(10));
    for (frame, time) in [("f", 12), ("f", 15), ("g", 19)] {
        builder.sample(key, root_first([frame])).value(1).timestamp(time);
    }
    let mut points = builder.finish().unwrap();
    assert!(retain_time(&mut points, 12..15).is_empty());
    let samples = points.iter().next().unwrap().samples();
    assert_eq!(
        samples.iter().map(|sample| sample.timestamps_unix_nano.to_vec()).collect::<Vec<_>>(),
        [[12]]
    );
    for (range, kept, losses) in [
        (0..20, 1, vec![]),
        (10..15, 1, vec!["split.total_not_divided"]),
        (11..20, 0, vec!["split.total_not_divided"]),
    ] {
        let mut builder = Builder::new();
        let key = builder.profile(CPU.0, CPU.1);
        builder.profile_mut(key).time(10).duration(std::time::Duration::from_nanos(10));
        builder.sample(key, root_first(["f"])).value(1);
        let mut totals = builder.finish().unwrap();
        let lost = retain_time(&mut totals, range.clone());
        assert_eq!(
            (totals.iter().next().unwrap().samples().len(), codes(&lost)),
            (kept, losses),
            "{range:?}"
        );
    }
    let mut builder = Builder::new();
    let key = builder.profile(CPU.0, CPU.1);
    builder.profile_mut(key).time(10).duration(std::time::Duration::from_nanos(10));
    for time in 10..20 {
        builder.sample(key, root_first(["f"])).value(1).timestamp(time);
    }
    let points = builder.finish().unwrap();
    for (range, expected) in [
        (13..16, Some((13, 3))),
        (0..12, Some((10, 2))),
        (19..u64::MAX, Some((19, 1))),
        (0..u64::MAX, Some((10, 10))),
        (20..30, Some((10, 0))),
    ] {
        let mut cut = points.clone();
        assert!(retain_time(&mut cut, range.clone()).is_empty());
        let times = |of: &otlp_profiles::Profile| (of.time_unix_nano(), of.duration_nanos());
        assert_eq!(cut.iter().next().map(times), expected, "{range:?}");
        let covered = expected.map_or(0, |(_, duration)| duration);
        assert_eq!(Covered::of(&cut).nanos(), covered, "{range:?}");
    }
    let mut builder = Builder::new();
    let key = builder.profile(CPU.0, CPU.1);
    for line in [3, 4] {
        builder.sample(key, root_first([("f", "f.rs", line)])).value(1);
    }
    let mut lines = builder.finish().unwrap();
    let losses = strip(&mut lines, &[Strip::Lines], Default::default()).unwrap();
    assert_eq!(codes(&losses), ["function.source_dropped"]);
    assert_eq!(lines.dictionary().locations().len(), 2, "equal locations become one");
}

#[test]
fn an_order_of_sample_types_survives_splitting_and_merging() {
    let columns = |seed: i64| {
        let mut builder = Builder::new();
        let heap =
            builder.profile_of([("objects", "count"), ("space", "bytes"), ("size", "bytes")]);
        for row in 0..200 {
            let frame = format!("function number {row} of {seed}");
            builder.sample(heap, root_first([&frame[..]])).values([seed, row, 2 * row]);
        }
        builder.finish().unwrap()
    };
    let first = read("otlp", &otlp(&columns(1)));
    let second = read("otlp", &otlp(&columns(2)));
    let order = |profiles: &Profiles| {
        let scope = profiles.entries().next().unwrap();
        scope.scope_attributes().get("pprof.scope.sample_type_order").map(|order| order.to_string())
    };
    assert!(order(&first).is_some());
    let parts = split_max(&first, &MaxBytes::new(8_000)).unwrap();
    assert!(
        parts.len() > 1 && parts.iter().all(|part| part.len() == 3 && order(part) == order(&first))
    );
    let back = merged(&parts, &defaults());
    assert_eq!((order(&back.profiles), codes(&back.losses)), (order(&first), vec![]));
    let both = merged(&[first.clone(), second], &defaults());
    assert_eq!((order(&both.profiles), both.profiles.len()), (order(&first), 3));
    let (types, losses) = split(&first, &SplitBy::SampleType);
    assert_eq!((types.len(), codes(&losses)), (3, vec![]));
    let shown = first.default_sample_type().unwrap();
    let parts: Vec<Profiles> = types.into_iter().rev().map(|part| part.profiles).collect();
    let whole = merged(&parts, &defaults().canonical(true)).profiles;
    assert_eq!(whole.default_sample_type().unwrap(), shown, "in any order of the parts");
}

#[test]
fn changes_between_snapshots() {
    let snapshot = |time: u64, objects: i64, space: i64, inuse: i64| {
        let mut builder = Builder::new();
        let heap = builder.profile_of([
            ("alloc_objects", "count"),
            ("alloc_space", "bytes"),
            ("inuse_space", "bytes"),
        ]);
        builder.profile_mut(heap).time(time);
        builder.sample(heap, root_first(["main", "new_user"])).values([objects, space, inuse]);
        builder.sample(heap, root_first([&format!("at {time}")[..]])).values([1, 1, 1]);
        builder.finish().unwrap()
    };
    let second = 1_000_000_000;
    let [a, b, c] = [
        snapshot(second, 100, 4800, 9),
        snapshot(61 * second, 150, 7200, 8),
        snapshot(121 * second, 20, 1000, 7),
    ];
    let of = |earlier, later, options: &DeltaOptions| {
        let delta = delta(earlier, later, options).unwrap();
        let values = values(&delta.profiles);
        let of = |kind: &str| values[&format!("{kind} new_user;main")][0];
        (
            of("alloc_objects count"),
            of("alloc_space bytes"),
            of("inuse_space bytes"),
            codes(&delta.losses),
            delta,
        )
    };
    let (objects, space, inuse, losses, grown) = of(&a, &b, &DeltaOptions::default());
    // The sample of the first second is gone.
    assert_eq!((objects, space, inuse, losses), (50, 2400, 8, vec!["delta.reset"]));
    let (objects, space, inuse, losses, reset) =
        of(&b, &c, &DeltaOptions::default().growth_only(true));
    assert_eq!((objects, space, inuse, losses), (20, 1000, 7, vec!["delta.reset"]));
    let of = grown.profiles.iter().next().unwrap();
    assert_eq!((of.time_unix_nano(), of.duration_nanos()), (second.into(), 60_000_000_000));
    let none = delta(&profile(CPU, (0, 1), &[]), &a, &DeltaOptions::default()).unwrap();
    assert_eq!((none.profiles.len(), codes(&none.losses)), (0, vec!["delta.first"]));
    let mut rates = [grown.profiles, reset.profiles];
    let losses = rates.each_mut().map(|profiles| codes(&per_second(profiles, 1).unwrap()));
    assert_eq!(losses, [["value.rounded"]; 2]);
    let rates = rates.map(|profiles| values(&profiles)["alloc_space bytes/s new_user;main"][0]);
    assert_eq!(rates, [40, 17]);
    let mut timeless = a.clone();
    assert_eq!(codes(&per_second(&mut timeless, 1).unwrap()), ["rate.no_duration"]);
    assert_eq!(timeless, a);
}

#[test]
fn values_in_other_units() {
    let mut profiles =
        profile(("space", "bytes"), (0, 0), &[("f", 4096), ("g", 1536), ("h", -512)]);
    let losses = convert_units(&mut profiles, "KiB", |_, _| true).unwrap();
    assert_eq!(codes(&losses), ["value.rounded"]);
    let expected = [("space KiB f", 4), ("space KiB g", 2), ("space KiB h", -1)];
    let expected: BTreeMap<String, Vec<i64>> =
        expected.map(|(key, value)| (key.to_owned(), vec![value])).into();
    assert_eq!(values(&profiles), expected);
    let same = profiles.clone();
    assert!(convert_units(&mut profiles, "ns", |_, _| true).unwrap().is_empty());
    assert_eq!(profiles, same, "a size is no time");
    assert_eq!(
        convert_units(&mut profiles, "parsecs", |_, _| true).unwrap_err().kind(),
        ErrorKind::InvalidOption
    );
    let mut large = profile(("space", "TiB"), (0, 0), &[("f", i64::MAX)]);
    assert_eq!(
        convert_units(&mut large, "By", |_, _| true).unwrap_err().kind(),
        ErrorKind::Unrepresentable
    );
}

#[test]
fn totals_take_the_latest_snapshot_and_states_the_mean() {
    let at = |time: u64, total: i64, state: i64| {
        let mut builder = Builder::new();
        let heap = builder.profile_of([("alloc_space", "bytes"), ("inuse_space", "bytes")]);
        builder.profile_mut(heap).time(time);
        builder.sample(heap, root_first(["f"])).values([total, state]);
        builder.finish().unwrap()
    };
    let inputs = [at(1, 10, 4), at(3, 30, 8), at(2, 20, 7)];
    let options = defaults().combine(Combine::ByKind);
    let expected = [("alloc_space bytes f", 30), ("inuse_space bytes f", 6)];
    expect(&merged(&inputs, &options), &expected, &[]);
    for cut in 1..3 {
        let [mut first, second] = [&inputs[..cut], &inputs[cut..]].map(|inputs| {
            let mut merger = Merger::new(options.clone());
            inputs.iter().for_each(|input| merger.add(input).unwrap());
            merger
        });
        first.append(&second).unwrap();
        expect(&first.finish().unwrap(), &expected, &[]);
    }
}

#[test]
fn sample_types_computed_from_others() {
    let mut builder = Builder::new();
    let lock = builder.profile_of([("contentions", "count"), ("delay", "nanoseconds")]);
    for (frame, values) in [("f", [4, 100]), ("g", [3, 100]), ("never", [0, 100])] {
        builder.sample(lock, root_first([frame])).values(values).attr("size", 8);
    }
    let pprof = builder.finish().unwrap();
    let mean = Expression::parse("$(delay) / $(contentions)").unwrap();
    let mut message = pprof::Profile::decode(&*write("pprof", &pprof).0).unwrap();
    message.default_sample_type = message.sample_type[0].r#type;
    let of_first = read("pprof", &message.encode_to_vec());
    // One profile with both types, and a profile for each: the default first, which moves the second or no type.
    for mut profiles in [pprof.clone(), read("otlp", &otlp(&pprof)), read("otlp", &otlp(&of_first))]
    {
        let losses = derive(&mut profiles, "mean", "nanoseconds", &mean).unwrap();
        assert_eq!(codes(&losses), ["derive.undefined", "value.rounded"]);
        let values = values(&profiles);
        let of = |frame: &str| values.get(&format!("mean nanoseconds {frame}"));
        assert_eq!((of("f"), of("g"), of("never")), (Some(&vec![25]), Some(&vec![33]), None));
        let back = read("otlp", &otlp(&profiles));
        assert_eq!(back.len(), 3);
    }
    let mut profiles = pprof.clone();
    let size = Expression::parse("$(contentions) * $(contentions).attributes.size").unwrap();
    assert!(derive(&mut profiles, "size", "By", &size).unwrap().is_empty());
    assert_eq!(values(&profiles)["size By f"], [32]);
    let missing = Expression::parse("$(wall)").unwrap();
    assert_eq!(
        derive(&mut profiles, "x", "", &missing).unwrap_err().kind(),
        ErrorKind::Unrepresentable
    );
}

#[test]
fn names_of_two_builds_become_equal() {
    for (one, other, stripped) in [
        ("a::b::h0123456789abcdef.llvm.17", "a::b::hfedcba9876543210.llvm.9", "a::b"),
        ("f.isra.0.cold", "f.isra.3", "f"),
        ("f.part.0", "f.constprop.1.isra.2", "f"),
        ("main.main.func1.2", "main.main.func3", "main.main.func"),
        ("main.run.func1.gowrap2", "main.run.func4.gowrap1", "main.run.func.gowrap"),
        (
            "j.i.LambdaForm$MH/0x000000080144c000.invoke",
            "j.i.LambdaForm$MH.0x0000000801660000.invoke",
            "j.i.LambdaForm$MH.invoke",
        ),
        ("a.B$$Lambda/0x00007f0.run", "a.B$$Lambda$14/1247.run", "a.B$$Lambda.run"),
        (
            "r.GeneratedMethodAccessor12.invoke",
            "r.GeneratedMethodAccessor7.invoke",
            "r.GeneratedMethodAccessor.invoke",
        ),
        (
            "r.GeneratedSerializationConstructorAccessor1.x",
            "r.GeneratedSerializationConstructorAccessor9.x",
            "r.GeneratedSerializationConstructorAccessor.x",
        ),
        ("jdk.proxy2.$Proxy12.call", "jdk.proxy3.$Proxy15.call", "jdk.proxy.$Proxy.call"),
        (
            "a.B$$EnhancerBySpringCGLIB$$1a2b3c.f",
            "a.B$$EnhancerBySpringCGLIB$$ff00.f",
            "a.B$$EnhancerBySpringCGLIB$$.f",
        ),
        (
            "https://x/js/main.4f3c2b1a.chunk.js",
            "https://x/js/main.00ff00ff.chunk.js",
            "https://x/js/main.chunk.js",
        ),
        (
            "render (/assets/index-BfX3kz9a.js:1:22)",
            "render (/assets/index-D0Qw1aZ_.js:1:22)",
            "render (/assets/index.js:1:22)",
        ),
    ] {
        for name in [one, other] {
            assert_eq!(
                otlp_profiles::transform::strip_hash(name).as_deref(),
                Some(stripped),
                "{name}"
            );
        }
    }
    for same in [
        "main.func",
        "a::h",
        "malloc",
        "lib/component12.js",
        "node:internal/fs.js",
        "f.coldest",
        "0x1f",
        "Proxy",
        "std::part",
        "my.participant",
    ] {
        assert_eq!(otlp_profiles::transform::strip_hash(same), None, "{same}");
    }
}
