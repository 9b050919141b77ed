//! Merging, splitting and comparing profiles.
#![cfg(feature = "proto-all")]

use std::collections::BTreeMap;

use crate::support::forms::form;
use crate::support::generate::{Room, config, docs};
use crate::support::{codes, read, testdata, write};
use otlp_profiles::builder::{NewMapping, leaf_first, root_first};
use otlp_profiles::transform::{
    Columns, Combine, MaxBytes, MergeOptions, Merged, Merger, ResourceKeys, SplitBy, split,
    split_max,
};
use otlp_profiles::{Builder, ErrorKind, Format, Profiles, WriteOptions};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

fn merged(inputs: &[Profiles], options: &MergeOptions) -> Merged {
    try_merge(inputs, options).unwrap()
}

fn try_merge(inputs: &[Profiles], options: &MergeOptions) -> otlp_profiles::Result<Merged> {
    let mut merger = Merger::new(options.clone());
    inputs.iter().try_for_each(|input| merger.add(input))?;
    merger.finish()
}

fn defaults() -> MergeOptions {
    MergeOptions::default()
}

/// A profile of one type: its start and duration in seconds, and samples of one frame.
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
    assert_eq!((of(&both), &both.covered_nanos[..]), ((100, 80), &[30_000_000_000][..]));
    assert_eq!(of(&merged(&[b, a.clone()], &defaults().sum_durations(true))), (100, 30));
    let overlap = merged(&[a.clone(), profile(CPU, (105, 10), &[("f", 1)])], &defaults());
    assert_eq!(overlap.covered_nanos, [15_000_000_000]);
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
    let cases: [(_, &[(&str, i64)], &[&str]); 4] = [
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
        // In two parts, of which the later has the older snapshot.
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
    expect(&filled, &each, &["columns.zero_filled", "unit.converted"]);
    assert_eq!(filled.profiles.len(), 1);
    let common = merged(&inputs, &defaults().columns(Columns::Intersect));
    expect(&common, &each[1..2], &["columns.dropped", "unit.converted"]);
    assert_eq!(
        common.losses.get("columns.dropped").unwrap().first,
        ["alloc: 1 count", "inuse: 4 bytes"]
    );
    let unlike = [of(&[objects], &[1]), of(&[inuse], &[1])];
    let error = try_merge(&unlike, &defaults().columns(Columns::Intersect)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOption);
    // One heap with all types in one profile, and one with a profile each.
    let whole = of(&[objects, inuse], &[1, 2]);
    let divided = split(&whole, SplitBy::SampleType).0.remove(0).profiles;
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
    assert_eq!(first.append(second).unwrap_err().kind(), ErrorKind::InvalidOption);
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
        &["value.zero_dropped", "timestamps.dropped", "time.unknown"],
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

/// Random profiles, as OTLP 1.10 has them.
fn random() -> impl Strategy<Value = Profiles> {
    let form = form("otlp");
    docs(Room { caps: form.caps, portable: false })
        .prop_map(|doc| read("otlp", &(form.lower)(&doc)))
}

/// The sums of all values by sample type, in the smallest unit of a family; none if units overflow 64 bits.
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

/// Losses that depend on how inputs were divided into profiles and payloads, not on their contents.
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
        prop_assert_eq!(all.covered_nanos, appended.covered_nanos);
    }

    #[test]
    fn a_canonical_merge_does_not_depend_on_the_order(inputs in prop::collection::vec(random(), 1..5)) {
        let options = defaults().canonical(true).add_repeats(true);
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
        let by = [SplitBy::Resource, SplitBy::Scope, SplitBy::SampleType, SplitBy::Thread, SplitBy::Attribute("k"), SplitBy::Window(7)][by];
        let parts: Vec<_> = split(&whole, by).0.into_iter().map(|part| part.profiles).collect();
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

/// Merging parts gives what merging the whole gives, but for what depends on the division itself.
fn check_parts(
    whole: &Profiles,
    parts: &[Profiles],
    options: &MergeOptions,
) -> Result<(), TestCaseError> {
    let strip = |profiles: &Profiles| {
        let mut profiles = profiles.clone();
        profiles.drop_original_payloads();
        profiles
            .edit_attributes(otlp_profiles::model::AttributeOwner::Scope, |scope| {
                scope.remove("pprof.scope.sample_type_order");
            })
            .unwrap();
        profiles
    };
    let parts: Vec<_> = parts.iter().map(strip).collect();
    let (Ok(expected), Ok(got)) = (try_merge(&[strip(whole)], options), try_merge(&parts, options))
    else {
        return Ok(());
    };
    same_bytes(&expected.profiles, &got.profiles)
}

#[test]
fn parts_of_real_profiles_fit_and_merge_into_the_whole() {
    for (name, bytes) in testdata(&[".pb.gz", ".pb", ".binpb"]) {
        let whole = otlp_profiles::read(&bytes, &Default::default()).unwrap().profiles;
        let size = otlp_profiles::write(&whole, Format::OTLP, &WriteOptions::default())
            .unwrap()
            .payload
            .len() as u64;
        let max = (size / 3).max(2_000);
        let parts = split_max(&whole, &MaxBytes::new(max)).unwrap();
        for part in &parts {
            assert!(otlp(part).len() as u64 <= max, "{name}");
        }
        assert!(parts.len() >= (size / max) as usize, "{name}");
        check_parts(&whole, &parts, &defaults().canonical(true)).unwrap();
    }
    let heap = read(
        "pprof",
        &std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/go-heap.pb.gz")).unwrap(),
    );
    let error = split_max(&heap, &MaxBytes::new(100)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.message().starts_with("sample 0 of profile 0 takes "), "{error}");
}
