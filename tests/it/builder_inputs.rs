//! Tests the input types of the builder: stacks, values, attributes and times in every form.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::support::sized;
use otlp_profiles::builder::{
    Frame, Key, NewEntity, NewLocation, NewValue, ProcessMappings, Upscaling, WhenFull, leaf_first,
    root_first,
};
use otlp_profiles::model::{AggregationTemporality, KeyValue, Value};
use otlp_profiles::{Builder, Format, Limits, Profile, Profiles, WriteOptions, read, write};

const NOW: u64 = 1_763_640_000_000_000_000;

fn only(profiles: &Profiles) -> &Profile {
    assert_eq!(profiles.iter().count(), 1);
    profiles.iter().next().unwrap()
}

/// The values of each sample.
fn values(profiles: &Profiles) -> Vec<Vec<i64>> {
    only(profiles).samples().iter().map(|sample| sample.values.to_vec()).collect()
}

#[test]
fn a_stack_is_the_same_in_both_orders_and_from_whatever_it_is_made() {
    let mut builder = Builder::new();
    let names = ["main", "serve", "parse"];
    let back = ["parse", "serve", "main"];
    let owned: Vec<String> = names.iter().map(|name| name.to_string()).collect();
    let cows: Vec<Cow<'_, str>> = vec!["main".into(), String::from("serve").into(), "parse".into()];
    let frames = names.map(Frame::new);
    let tuples = names.map(|name| (name, "", 0));
    let shared = names.map(Arc::<str>::from);
    let places = names.map(|name| (name.to_owned(), String::new(), 0_usize));
    let keys = names.map(|name| builder.frame(name));
    let expected = builder.stack(root_first(names));
    let stacks = [
        builder.stack(expected),
        builder.stack(leaf_first(back)),
        builder.stack(root_first(&names)),
        builder.stack(leaf_first(&back[..])),
        builder.stack(root_first(names.to_vec())),
        builder.stack(root_first(&names.to_vec())),
        builder.stack(root_first("main;serve;parse".split(';'))),
        builder.stack(leaf_first(names.iter().rev())),
        builder.stack(root_first(&owned)),
        builder.stack(root_first(&owned[..])),
        builder.stack(leaf_first(owned.iter().rev())),
        builder.stack(leaf_first(owned.iter().rev().cloned())),
        builder.stack(root_first(owned)),
        builder.stack(root_first(&cows)),
        builder.stack(leaf_first(cows.iter().rev().cloned())),
        builder.stack(root_first(cows)),
        builder.stack(root_first(frames)),
        builder.stack(root_first(&frames)),
        builder.stack(leaf_first(frames.iter().rev())),
        builder.stack(root_first(shared.clone())),
        builder.stack(root_first(&shared)),
        builder.stack(root_first(&places)),
        builder.stack(leaf_first(places.iter().rev())),
        builder.stack(root_first(places)),
        builder.stack(root_first(names.map(|name| (name, "", 0_u64)))),
        builder.stack(root_first(names.map(|name| (name, "", -1_i64)))),
        builder.stack(root_first(tuples)),
        builder.stack(leaf_first(tuples.iter().rev())),
        builder.stack(root_first(keys)),
        builder.stack(leaf_first(keys.iter().rev())),
        builder.stack(leaf_first(keys.iter().rev().copied().collect::<Vec<_>>())),
        builder.stack(root_first(keys.into_iter().filter(|key| *key != Key::NONE))),
    ];
    assert_eq!(stacks, [expected; 32]);
    assert_ne!(expected, builder.stack(root_first(back)));
    assert_eq!(builder.stack(root_first([""; 0])), Key::NONE);
}

#[test]
fn a_profile_is_declared_with_whatever_texts_and_numbers_there_are() {
    let mut builder = Builder::new();
    let types = [("objects", "count"), ("space", "bytes")];
    let owned = types.map(|(name, unit)| (name.to_owned(), Arc::<str>::from(unit)));
    let heap = builder.profile_of(types);
    assert_eq!(heap, builder.profile_of(&types[..]));
    assert_eq!(heap, builder.profile_of(&owned));
    assert_eq!(heap, builder.profile_of(owned));
    builder.profile_mut(heap).period("space", "bytes", 512_usize * 1024).id([7; 16]);
    builder.sample(heap, root_first(["main"])).attr("tags", vec!["canary", "eu"]);
    builder.sample(heap, root_first(["main"])).attr("tags", NewValue::array(["canary", "eu"]));
    let profiles = builder.finish().unwrap();
    let profile = only(&profiles);
    assert_eq!((profile.period(), profile.profile_id().0), (524_288, [7; 16]));
    assert_eq!(values(&profiles), [[2, 2]]);
}

/// Uses many depths, so that paths are followed and truncated at every position.
#[test]
fn both_orders_agree_at_every_depth() {
    let mut builder = Builder::new();
    for depth in (0..70).chain((0..70).rev()) {
        let names: Vec<String> = (0..depth).map(|at| format!("f{}", at % 50)).collect();
        let keys: Vec<_> = names.iter().map(|name| builder.frame(name)).collect();
        let expected = builder.stack(root_first(&keys));
        assert_eq!(builder.stack(leaf_first(keys.iter().rev())), expected);
        assert_eq!(builder.stack(leaf_first(names.iter().rev())), expected);
        assert_eq!(builder.stack(root_first(&names)), expected);
    }
}

#[test]
fn values_of_every_integer_are_taken_and_none_wraps() {
    let mut builder = Builder::new();
    let types = ["a", "b", "c", "d"].map(|name| (name, "count"));
    let profile = builder.profile_of(types);
    builder
        .sample(profile, root_first(["small"]))
        .value(-1_i8)
        .value(2_u8)
        .value(-3_i16)
        .value(4_u16);
    builder
        .sample(profile, root_first(["small"]))
        .value(-1)
        .value(2_u32)
        .value(3_usize)
        .value(4_i64);
    builder.sample(profile, root_first(["large"])).values([u64::MAX, 1 << 63, i64::MAX as u64, 7]);
    let large = vec![u128::MAX; 4];
    builder.sample(profile, root_first(["large"])).values(&large).values(&large[..0]);
    let expected = [vec![-2, 4, 0, 8], vec![i64::MAX; 4]];
    assert_eq!(values(&builder.finish().unwrap()), expected);
}

#[test]
fn attribute_values_of_every_kind_are_taken() {
    let mut builder = Builder::new();
    let cpu = builder.profile("cpu", "nanoseconds");
    let text = builder.string("text");
    let owned = String::from("owned");
    let sample = builder.sample(cpu, root_first(["main"])).value(1);
    sample
        .attr("str", "text")
        .attr("string", String::from("text"))
        .attr("borrowed", &owned)
        .attr(Cow::Borrowed("cow"), Cow::Owned::<str>("text".into()))
        .attr(String::from("key"), text)
        .attr("bool", true)
        .attr("u64", 7_u64)
        .attr("usize", 7_usize)
        .attr("u32", 7_u32)
        .attr("i16", -7_i16)
        .attr("too large", u64::MAX)
        .attr("f32", 0.5_f32)
        .attr("f64", 0.5)
        .attr("bytes", &b"bytes"[..])
        .attr("unit", (7_u64, "By"))
        .attr("array", NewValue::array([1, 2]));
    let profiles = builder.finish().unwrap();
    let dictionary = profiles.dictionary();
    let said = |value: &Value| match value {
        Value::String(text) => format!("{:?}", dictionary.text(*text)),
        Value::Bool(boolean) => boolean.to_string(),
        Value::Int(integer) => integer.to_string(),
        Value::Double(double) => format!("{double:?}"),
        Value::Bytes(bytes) => format!("{} bytes", bytes.len()),
        Value::Array(values) => format!("{} values", values.len()),
        other => panic!("{other:?}"),
    };
    let mut attributes: Vec<_> = only(&profiles).samples().get(0).unwrap().attributes.to_vec();
    attributes.sort();
    let attributes = attributes.iter().map(|id| dictionary.attribute(*id).unwrap());
    let attributes: Vec<_> = attributes
        .map(|a| {
            format!("{} {}{}", dictionary.text(a.key), said(&a.value), dictionary.text(a.unit))
        })
        .collect();
    let expected = [
        "str \"text\"",
        "string \"text\"",
        "borrowed \"owned\"",
        "cow \"text\"",
        "key \"text\"",
        "bool true",
        "u64 7",
        "usize 7",
        "u32 7",
        "i16 -7",
        "too large \"18446744073709551615\"",
        "f32 0.5",
        "f64 0.5",
        "bytes 5 bytes",
        "unit 7By",
        "array 2 values",
    ];
    assert_eq!(attributes, expected);
}

#[test]
fn named_values_without_a_name_are_left_out_and_counted() {
    let mut builder = Builder::new();
    let cpu = builder.profile("cpu", "nanoseconds");
    let labels = NewValue::key_values([("tier", "web"), ("", "lost"), ("tier", "batch")]);
    builder.sample(cpu, root_first(["main"])).attr("labels", labels);
    assert_eq!(builder.dropped().attributes, 1);

    let profiles = builder.finish().unwrap();
    let dictionary = profiles.dictionary();
    let attribute = dictionary.attributes().iter().find(|row| row.value != Value::Empty).unwrap();
    let Value::KeyValues(pairs) = &attribute.value else { panic!("{attribute:?}") };
    let text = |id| dictionary.text(id);
    let pairs: Vec<_> = pairs.iter().map(|pair| (text(pair.key), pair.value.clone())).collect();
    assert_eq!(pairs.len(), 1);
    assert_eq!(pairs[0].0, "tier");
    assert!(matches!(pairs[0].1, Value::String(id) if text(id) == "batch"));
}

/// Sets each key twice; the later value replaces the earlier one in its position.
#[test]
fn a_hundred_thousand_attributes_of_everything_take_time_in_proportion() {
    let many = sized(100_000);
    let names: Vec<String> = (0..many).map(|at| format!("key {at}")).collect();
    let all = || names.iter().map(|name| (name, 1)).chain(names.iter().map(|name| (name, 2)));

    let mut builder = Builder::with_limits(Limits::unlimited(), WhenFull::Refuse);
    let id_keys: Vec<&str> = names.iter().map(String::as_str).chain(["key 7"]).collect();
    let entity = NewEntity::new("host", &id_keys);
    let entities = (0..3).fold(builder.resource(), |resource, _| resource.entity(entity));
    drop(all().fold(entities, |resource, (name, value)| resource.attr(name, value)));
    drop(all().fold(builder.scope("s"), |scope, (name, value)| scope.attr(name, value)));
    let cpu = builder.profile("cpu", "nanoseconds");
    drop(all().fold(builder.profile_mut(cpu), |profile, (name, value)| profile.attr(name, value)));
    let keys: Vec<_> = all().map(|(name, value)| builder.attribute(name, value)).collect();
    let location = builder.location(NewLocation::new().address(Key::NONE, 1).attributes(&keys));
    let sample = builder.sample(cpu, root_first([location])).value(1);
    let sample = all().fold(sample, |sample, (name, value)| sample.attr(name, value));
    drop(sample.attr("", 0).attr("all", NewValue::key_values(all())));

    let profiles = builder.finish().unwrap();
    let dictionary = profiles.dictionary();
    let is_later = |key: &str, value: &Value| key == "all" || *value == Value::Int(2);
    let later = |ids: &[_]| {
        let rows = ids.iter().map(|id| dictionary.attribute(*id).unwrap());
        rows.filter(|row| is_later(dictionary.text(row.key), &row.value)).count()
    };
    let pairs = |pairs: &[KeyValue]| {
        let right = pairs
            .iter()
            .zip(&names)
            .all(|(pair, name)| dictionary.text(pair.key) == name && pair.value == Value::Int(2));
        assert!(right);
        pairs.len()
    };
    let place = &profiles.resource_profiles()[0];
    assert_eq!(pairs(place.resource().attributes()), many);
    let [entity] = place.resource().entity_refs() else { panic!("equal entities are one") };
    assert_eq!(entity.id_keys.len(), many);
    assert_eq!(pairs(place.scope_profiles()[0].scope().attributes()), many);
    let profile = only(&profiles);
    assert_eq!(later(profile.attributes()), many);
    let sample = profile.samples().get(0).unwrap();
    assert_eq!((sample.attributes.len(), later(sample.attributes)), (many + 1, many + 1));
    let location = dictionary.stack(sample.stack)[0];
    assert_eq!(later(dictionary.locations().attributes(location)), many);
    let nested = sample.attributes.iter().map(|id| &dictionary.attribute(*id).unwrap().value);
    let mut nested = nested.filter_map(|value| match value {
        Value::KeyValues(list) => Some(list),
        _ => None,
    });
    assert_eq!(pairs(nested.next().unwrap()), many);
}

#[test]
fn times_are_taken_as_numbers_and_as_std_has_them() {
    let system_time = SystemTime::UNIX_EPOCH + Duration::from_nanos(NOW);
    let profiles = [true, false].map(|numbers| {
        let mut builder = Builder::new();
        let wall = builder.profile("wall", "nanoseconds");
        match numbers {
            true => {
                builder.profile_mut(wall).time(NOW).duration(60_000_000_000);
                builder.sample(wall, root_first(["main"])).timestamp(NOW + 1);
            }
            false => {
                builder.profile_mut(wall).time(system_time).duration(Duration::from_secs(60));
                let later = system_time + Duration::from_nanos(1);
                builder.sample(wall, root_first(["main"])).timestamp(later);
            }
        }
        builder.finish().unwrap()
    });
    assert_eq!(profiles[0], profiles[1]);
    let mut builder = Builder::new();
    let wall = builder.profile("wall", "nanoseconds");
    let before_1970 = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
    builder.profile_mut(wall).duration(u64::MAX).time(NOW).time(before_1970).time(NOW);
    builder.sample(wall, root_first(["main"])).value(1);
    let profiles = builder.finish().unwrap();
    let profile = only(&profiles);
    assert_eq!(profile.time_unix_nano() + profile.duration_nanos(), u64::MAX.into());
}

/// Rates are computed from the duration; the time between two samples does not replace it.
#[test]
fn a_duration_without_a_time_is_kept() {
    let built = |duration: u64, stamp: Option<u64>| {
        let mut builder = Builder::new();
        let wall = builder.profile("wall", "nanoseconds");
        builder.profile_mut(wall).duration(duration);
        let sample = builder.sample(wall, root_first(["main"]));
        match stamp {
            Some(stamp) => sample.timestamp(stamp),
            None => sample.value(1),
        };
        builder
    };
    let window = |mut builder: Builder| {
        let profiles = builder.finish().unwrap();
        (only(&profiles).time_unix_nano(), only(&profiles).duration_nanos())
    };
    assert_eq!(window(built(60, Some(NOW))), (NOW.into(), 60));
    assert_eq!(window(built(0, Some(NOW))), (NOW.into(), 1));
    for (one, other) in [(60, 0), (0, 60), (60, 50)] {
        let mut joined = built(one, None);
        joined.merge(&built(other, None));
        assert_eq!(window(joined), (0, 60));
        let mut joined = built(one, Some(NOW));
        joined.merge(&built(other, Some(NOW)));
        assert_eq!(window(joined), (NOW.into(), 60));
    }
}

/// Regression: a heap profiler's running totals became changes.
#[test]
fn a_temporality_that_is_said_is_written_and_nothing_is_assumed() {
    for temporality in [AggregationTemporality::CUMULATIVE, AggregationTemporality::DELTA] {
        let mut builder = Builder::new();
        let wall = builder.profile_of([("wall", "nanoseconds"), ("made_up", "count")]);
        builder.profile_mut(wall).time(NOW).duration(1_000).temporality(temporality);
        builder.sample(wall, root_first(["main"])).values([1, 2]);
        let profiles = builder.finish().unwrap();
        for name in ["otlp-1.3", "otlp-1.4", "otlp-1.5", "otlp-1.6", "otlp-1.7", "otlp-1.8"] {
            let format: otlp_profiles::Format = name.parse().unwrap();
            let written = write(&profiles, format, &WriteOptions::default()).unwrap();
            assert!(written.losses.get("temporality.assumed").is_none(), "{name}");
            let options = otlp_profiles::ReadOptions::default().format(format);
            let again = read(&written.payload, &options).unwrap().profiles;
            for kind in again.iter().flat_map(|profile| profile.sample_types()) {
                assert_eq!(kind.temporality, Some(temporality), "{name}");
            }
        }
        let written = write(&profiles, Format::OTLP, &WriteOptions::default()).unwrap();
        // A temporality that the reader assumes again is not lost.
        let assumed = temporality == AggregationTemporality::DELTA;
        assert_eq!(written.losses.get("temporality.dropped").is_none(), assumed);
    }
}

#[test]
fn merging_never_sums_changes_and_totals() {
    let of = |temporality: Option<AggregationTemporality>| {
        let mut builder = Builder::new();
        let heap = builder.profile("alloc_space", "bytes");
        temporality.map(|temporality| builder.profile_mut(heap).temporality(temporality));
        builder.sample(heap, root_first(["main"])).value(1);
        builder
    };
    let [delta, cumulative] = [AggregationTemporality::DELTA, AggregationTemporality::CUMULATIVE];
    let mut all = of(None);
    all.merge(&of(Some(delta)));
    all.merge(&of(Some(cumulative)));
    all.merge(&of(None));
    let profiles = all.finish().unwrap();
    let found: Vec<_> = profiles
        .iter()
        .map(|profile| {
            let values = profile.samples().get(0).unwrap().values;
            (profile.sample_types()[0].temporality, values[0])
        })
        .collect();
    assert_eq!(found, [(Some(delta), 3), (Some(cumulative), 1)]);
}

const HEAP: Upscaling = Upscaling::Poisson { sum: 1, count: 0, sampling_distance: 512 * 1024 };

#[test]
fn upscaling_follows_the_formulas() {
    let poisson = |values: [i64; 2], distance: f64| {
        let average = values[1] as f64 / values[0] as f64;
        1.0 / (1.0 - (-average / distance).exp())
    };
    for values in [[1, 64], [3, 100_000], [10, 10_000_000], [7, 7], [-2, -4096]] {
        let expected = poisson(values, 524_288.0);
        assert!((HEAP.scale(&values) / expected - 1.0).abs() < 1e-9, "{values:?}");
        let mut scaled = values;
        HEAP.apply(&mut scaled);
        assert_eq!(scaled, values.map(|value| (value as f64 * HEAP.scale(&values)).round() as i64));
    }
    let tenth = Upscaling::Proportional { value: 1, scale: 10.0 };
    let mut values = [3, 4, 5];
    tenth.apply(&mut values);
    assert_eq!(values, [3, 40, 5]);
}

#[test]
fn there_is_nothing_to_go_by_without_a_positive_average() {
    for values in [[0, 0], [0, 5], [5, 0], [-1, 5], [5, -1]] {
        assert_eq!(HEAP.scale(&values), 1.0, "{values:?}");
    }
    assert_eq!(HEAP.scale(&[1]), 1.0);
    let exact = Upscaling::Poisson { sum: 1, count: 0, sampling_distance: 0 };
    assert_eq!(exact.scale(&[1, 100]), 1.0, "every byte is sampled");
    for scale in [f64::NAN, f64::INFINITY, -2.0, 0.0] {
        assert_eq!(Upscaling::Proportional { value: 0, scale }.scale(&[1]), 1.0);
        let mut large = [(1 << 60) + 1];
        Upscaling::Proportional { value: 0, scale }.apply(&mut large);
        assert_eq!(large, [(1 << 60) + 1], "which no f64 is");
    }
}

/// A value of 1.3 rounds to 1 each time, a thousand times; the sum of all is 1,300.
#[test]
fn totals_are_rounded_once_whoever_counts_them() {
    let seen = Upscaling::Proportional { value: 0, scale: 1.3 };
    let count = |times: usize| {
        let mut builder = Builder::new();
        let heap = builder.profile_of([("objects", "count"), ("space", "bytes")]);
        for _ in 0..times {
            builder.sample(heap, root_first(["main"])).upscaled(seen).values([1, 10]);
            builder.sample(heap, root_first(["exact"])).values([1, 10]);
            builder.sample(heap, root_first(["both"])).values([1, 64]).upscaled(HEAP);
        }
        builder
    };
    let both = 1_000.0 * HEAP.scale(&[1, 64]);
    let both = [both, both * 64.0].map(|value| value.round() as i64);
    let expected = [vec![1_300, 10_000], vec![1_000, 10_000], both.to_vec()];
    assert_eq!(values(&count(1_000).finish().unwrap()), expected);
    let mut all = Builder::new();
    (0..1_000).for_each(|_| all.merge(&count(1)));
    // A thousand additions of a double are not exact.
    for (sum, expected) in values(&all.finish().unwrap()).concat().iter().zip(expected.concat()) {
        assert!(sum.abs_diff(expected) <= 1, "{sum} {expected}");
    }
}

#[test]
fn what_is_upscaled_is_of_one_interval_and_one_sample() {
    let mut builder = Builder::new();
    let events = builder.profile("events", "count");
    let tenth = Upscaling::Proportional { value: 0, scale: 10.0 };
    for _ in 0..2 {
        builder.sample(events, root_first(["a"])).value(1);
        builder.sample(events, root_first(["b"])).upscaled(tenth);
        builder.sample(events, root_first(["c"])).value(3);
        let sealed = builder.finish_interval().unwrap();
        assert_eq!(values(&sealed), [[1], [10], [3]]);
    }
}

#[test]
fn occurrences_with_timestamps_are_upscaled_one_by_one() {
    let mut builder = Builder::new();
    let events = builder.profile("events", "count");
    let tenth = Upscaling::Proportional { value: 0, scale: 10.0 };
    builder.sample(events, root_first(["a"])).timestamp(NOW).timestamp(NOW + 1).upscaled(tenth);
    builder.sample(events, root_first(["a"])).value(2).timestamp(NOW + 2).upscaled(tenth);
    builder.sample(events, root_first(["a"])).value(2).timestamp(NOW + 3);
    assert_eq!(values(&builder.finish().unwrap()), [[10, 10, 20, 2]]);
}

#[test]
fn upscaling_is_within_the_limits() {
    use otlp_profiles::{Limits, builder::WhenFull};

    let limits = Limits::network().max_owned_bytes(20_000);
    let mut builder = Builder::with_limits(limits, WhenFull::Drop);
    let cpu = builder.profile("cpu", "nanoseconds");
    let once = |builder: &mut Builder, line: u32| {
        let stack = builder.stack(root_first([("f", "f.rs", line)]));
        builder.sample(cpu, stack).value(1).upscaled(HEAP);
    };
    (0..1_000).for_each(|line| once(&mut builder, line));
    let spent = builder.owned_bytes();
    assert!(builder.dropped().samples > 0 && spent <= 20_000);
    (0..10).for_each(|line| once(&mut builder, line));
    assert_eq!(builder.owned_bytes(), spent, "what was seen costs nothing");
}

const MAPS: &str = "\
00400000-00500000 r-xp 00000000 08:02 1313 /usr/bin/server
7f0000000000-7f0000100000 r-xp 00028000 08:02 2407 /usr/lib/libc.so.6
7ffff0000000-7ffff0001000 rw-p 00000000 00:00 0 [stack]
";

/// The address of each location of the only sample, leaf first, and the file of its mapping.
fn addresses(profiles: &Profiles) -> Vec<(u64, &str)> {
    let dictionary = profiles.dictionary();
    let (locations, mappings) = (dictionary.locations(), dictionary.mappings());
    let stack = dictionary.stack(only(profiles).samples().get(0).unwrap().stack);
    let file = |id| dictionary.text(mappings.get(locations.mapping(id)).filename);
    stack.iter().map(|&id| (locations.address(id), file(id))).collect()
}

#[test]
fn return_addresses_are_brought_back_into_their_calls() {
    let mut mappings = ProcessMappings::parse(MAPS).unwrap();
    let mut builder = Builder::new();
    let cpu = builder.profile("cpu", "nanoseconds");
    // The last one is the first byte after a call that ends its mapping.
    let unwound = [0x7f00_0000_1000, 0x40_1000, 0x50_0000];
    let expected = [
        (0x7f00_0000_1000, "/usr/lib/libc.so.6"),
        (0x40_0fff, "/usr/bin/server"),
        (0x4f_ffff, "/usr/bin/server"),
    ];
    for _ in 0..3 {
        let stack = mappings.stack(&mut builder, leaf_first(unwound));
        assert_eq!(stack, mappings.stack(&mut builder, root_first(unwound.iter().rev())));
        builder.sample(cpu, stack).value(1);
        // Mappings become new rows in each interval.
        assert_eq!(addresses(&builder.finish_interval().unwrap()), expected);
        assert_eq!(builder.dropped(), Default::default());
    }
    let unknown = mappings.stack(&mut builder, leaf_first([1, 0]));
    builder.sample(cpu, unknown).value(1);
    assert_eq!(addresses(&builder.finish().unwrap()), [(1, "")]);
}

#[test]
fn mappings_are_rows_of_every_builder_they_are_used_with() {
    let mut mappings = ProcessMappings::parse(MAPS).unwrap();
    let mut builders = [Builder::new(), Builder::new()];
    for _ in 0..2 {
        for builder in &mut builders {
            let cpu = builder.profile("cpu", "nanoseconds");
            let stack = mappings.stack(builder, leaf_first([0x40_1000]));
            builder.sample(cpu, stack).value(1);
        }
    }
    for mut builder in builders {
        assert_eq!(addresses(&builder.finish().unwrap()), [(0x40_1000, "/usr/bin/server")]);
    }
}

#[test]
fn an_address_can_have_a_frame_type() {
    let mut builder = Builder::new();
    let cpu = builder.profile("cpu", "nanoseconds");
    let own = builder.attribute("profile.frame.type", "go");
    let at = |address| NewLocation::new().address(Key::NONE, address).frame_type("kernel");
    let [kernel, other] = [at(1), at(1).attributes(&[own])].map(|at| builder.location(at));
    let by_attribute = builder.attribute("profile.frame.type", "kernel");
    let same =
        NewLocation::new().address(Key::NONE, 1).attributes(std::slice::from_ref(&by_attribute));
    assert_eq!(kernel, builder.location(same));
    assert_ne!(kernel, other, "an attribute said later counts");
    assert_ne!(kernel, builder.address(Key::NONE, 1));
    builder.sample(cpu, leaf_first([kernel])).value(1);
    let written = write(&builder.finish().unwrap(), Format::OTLP_1_3, &WriteOptions::default());
    assert!(written.is_ok());
}
