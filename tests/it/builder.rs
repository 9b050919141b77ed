//! Tests the guarantees of the builder, one per test.

use std::time::{Duration, SystemTime};

use otlp_profiles::builder::{
    Frame, Key, NewEntity, NewFunction, NewLine, NewLocation, NewMapping, NewValue, ResourceMut,
    WhenFull, leaf_first, root_first,
};
use otlp_profiles::model::{ProfileId, Value};
use otlp_profiles::{
    Builder, ErrorKind, Format, Limits, Profile, Profiles, ReadOptions, WriteOptions, read,
    semconv, write, write_into,
};

const NOW: u64 = 1_763_640_000_000_000_000;

fn only(profiles: &Profiles) -> &Profile {
    assert_eq!(profiles.iter().count(), 1);
    profiles.iter().next().unwrap()
}

fn names(profiles: &Profiles, sample: usize) -> Vec<&str> {
    let dictionary = profiles.dictionary();
    let stack = dictionary.stack(only(profiles).samples().get(sample).unwrap().stack);
    let lines = stack.iter().flat_map(|&location| dictionary.locations().lines(location));
    lines.map(|line| dictionary.text(dictionary.function(line.function).name)).collect()
}

#[test]
fn names_go_from_the_root_to_the_leaf_and_come_out_leaf_first() {
    let mut builder = Builder::new();
    let cpu = builder.profile("cpu", "nanoseconds");
    builder.sample(cpu, root_first(["main", "serve", "parse"])).value(1);
    assert_eq!(names(&builder.finish().unwrap(), 0), ["parse", "serve", "main"]);
}

#[test]
fn locations_go_from_the_leaf_to_the_root() {
    let mut builder = Builder::new();
    let cpu = builder.profile("cpu", "nanoseconds");
    let [main, parse] = ["main", "parse"].map(|name| builder.frame(name));
    let stack = builder.stack(leaf_first([parse, main]));
    assert_eq!(stack, builder.stack(root_first(["main", "parse"])));
    builder.sample(cpu, stack).value(1);
    assert_eq!(names(&builder.finish().unwrap(), 0), ["parse", "main"]);
}

#[test]
fn equal_samples_are_added_up_whatever_the_order_of_their_attributes() {
    let mut builder = Builder::new();
    let cpu = builder.profile("cpu", "nanoseconds");
    let a = builder.attribute("a", 1);
    let b = builder.attribute("b", 2);
    builder.sample(cpu, root_first(["main"])).value(3).attribute(a).attribute(b);
    builder.sample(cpu, root_first(["main"])).value(4).attribute(b).attribute(a);
    builder.sample(cpu, root_first(["main"])).value(5).attribute(a);
    let profiles = builder.finish().unwrap();
    let values: Vec<_> =
        only(&profiles).samples().iter().map(|sample| sample.values.to_vec()).collect();
    assert_eq!(values, [[7], [5]]);
}

#[test]
fn the_later_of_two_attributes_with_one_key_counts() {
    let mut builder = Builder::new();
    let cpu = builder.profile("cpu", "nanoseconds");
    builder.sample(cpu, root_first(["main"])).value(1).attr("k", 1).attr("k", 2).attr("", 3);
    let profiles = builder.finish().unwrap();
    let [id] = only(&profiles).samples().get(0).unwrap().attributes else { panic!() };
    assert_eq!(profiles.dictionary().attribute(*id).unwrap().value, Value::Int(2));
}

#[test]
fn attributes_of_mappings_and_locations_are_sets() {
    let mut builder = Builder::new();
    let [a, b] = ["a", "b"].map(|key| builder.attribute(key, 1));
    let mapping = builder.mapping(NewMapping::new("x").attributes(&[a, b]));
    assert_eq!(mapping, builder.mapping(NewMapping::new("x").attributes(&[b, a, a, Key::NONE])));
    let location = builder.location(NewLocation::new().address(Key::NONE, 1).attributes(&[b, a]));
    assert_eq!(
        location,
        builder.location(NewLocation::new().address(Key::NONE, 1).attributes(&[a, b]))
    );
}

#[test]
fn nothing_said_is_one() {
    let mut builder = Builder::new();
    let heap = builder.profile_of([("objects", "count"), ("space", "bytes")]);
    builder.sample(heap, root_first(["main"]));
    builder.sample(heap, root_first(["main"])).value(4);
    builder.sample(heap, root_first(["main"])).values([1, 2, 3]);
    assert_eq!(builder.dropped().values, 1);
    assert_eq!(only(&builder.finish().unwrap()).samples().get(0).unwrap().values, [6, 3]);
}

#[test]
fn each_shape_is_a_profile_of_its_own() {
    let mut builder = Builder::new();
    let cpu = builder.profile("cpu", "nanoseconds");
    builder.profile_mut(cpu).id(ProfileId([1; 16]));
    builder.sample(cpu, root_first(["main"])).value(5).timestamp(NOW + 2);
    builder.sample(cpu, root_first(["main"])).timestamp(NOW);
    builder.sample(cpu, root_first(["main"])).value(1);
    builder.sample(cpu, root_first(["main"])).value(7).timestamp(NOW + 1);
    builder.sample(cpu, root_first(["serve"])).timestamp(NOW);
    let profiles = builder.finish().unwrap();
    let [totals, events, series] = &profiles.iter().collect::<Vec<_>>()[..] else { panic!() };
    let first = |profile: &Profile| {
        let sample = profile.samples().get(0).unwrap();
        (sample.values.to_vec(), sample.timestamps_unix_nano.to_vec())
    };
    assert_eq!(first(totals), (vec![1], vec![]));
    assert_eq!(first(events), (vec![], vec![NOW]));
    assert_eq!(events.samples().len(), 2);
    assert_eq!(first(series), (vec![7, 5], vec![NOW + 1, NOW + 2]));
    let ids: Vec<_> = profiles.iter().map(Profile::profile_id).collect();
    assert_eq!(ids, [ProfileId([1; 16]), ProfileId::NONE, ProfileId::NONE], "an id is said once");
}

#[test]
fn timestamps_of_several_columns_become_a_profile_each() {
    let mut builder = Builder::new();
    let profile = builder.profile_of([("samples", "count"), ("cpu", "nanoseconds")]);
    builder.sample(profile, root_first(["main"])).values([1, 10]).timestamp(NOW).timestamp(NOW + 1);
    let profiles = builder.finish().unwrap();
    let columns: Vec<_> =
        profiles.iter().map(|profile| profile.samples().get(0).unwrap().values.to_vec()).collect();
    assert_eq!(columns, [[1, 1], [10, 10]]);
}

#[test]
fn the_window_holds_every_timestamp() {
    let mut builder = Builder::new();
    let cpu = builder.profile("cpu", "nanoseconds");
    builder.profile_mut(cpu).time(NOW).duration(10);
    builder.sample(cpu, root_first(["main"])).timestamp(NOW - 5).timestamp(NOW + 10);
    let profiles = builder.finish().unwrap();
    let profile = only(&profiles);
    assert_eq!((profile.time_unix_nano(), profile.duration_nanos()), (i128::from(NOW - 5), 16));
}

#[test]
fn profiles_without_samples_are_left_out_with_all_that_is_theirs() {
    let mut builder = Builder::new();
    builder.resource().attr("service.name", "nobody");
    let empty = builder.profile("empty", "count");
    builder.profile_mut(empty).attr("k", "v");
    builder.frame(("nowhere", "nowhere.rs", 1));
    let profiles = builder.finish().unwrap();
    assert_eq!(profiles, Profiles::default());
}

#[test]
fn what_says_nothing_is_none() {
    let mut builder = Builder::new();
    assert_eq!(builder.string(""), Key::NONE);
    assert_eq!(builder.function(NewFunction::default().start_line(3)), Key::NONE);
    assert_eq!(builder.mapping(NewMapping::default().memory(5, 5)), Key::NONE);
    let line = NewLine::new(Key::NONE).line(3).column(1);
    assert_eq!(builder.location(NewLocation::new().lines(&[line])), Key::NONE);
    assert_eq!(builder.frame(Frame::new("").frame_type("native")), Key::NONE);
    assert_eq!(builder.stack(leaf_first([Key::NONE])), Key::NONE);
    assert_eq!(builder.attribute("", 1), Key::NONE);
    builder.resource().attr("", 1);
    let cpu = builder.profile("cpu", "nanoseconds");
    builder.profile_mut(cpu).attr("", 1);
    builder.sample(cpu, leaf_first(["main"])).attr("", 1);
    assert_eq!(builder.dropped().attributes, 3, "an attribute without a name is counted");
    assert_eq!(builder.link([0; 16], [1; 8]), Key::NONE);
    assert_eq!(builder.link([1; 16], [0; 8]), Key::NONE);
}

#[test]
fn a_resource_leaves_out_attributes_with_a_unit() {
    let mut builder = Builder::new();
    let [plain, size] = [builder.attribute("k", 1), builder.attribute("size", (1, "By"))];
    builder.resource().attribute(plain).attribute(size);
    assert_eq!(builder.dropped().attributes, 1);
    let cpu = builder.profile("cpu", "nanoseconds");
    builder.sample(cpu, root_first(["main"])).value(1);
    let profiles = builder.finish().unwrap();
    assert_eq!(profiles.resource_profiles()[0].resource().attributes().len(), 1);
}

#[test]
fn frames_are_found_by_content_wherever_their_names_are() {
    let mut builder = Builder::new();
    let first = builder.frame(("main", "a.rs", 1));
    let mut moved = String::from("main");
    assert_eq!(builder.frame((moved.as_str(), "a.rs", 1)), first);
    // The same memory with another name: a cache must not rely on the address.
    moved.replace_range(.., "niam");
    let second = builder.frame((moved.as_str(), "a.rs", 1));
    assert_ne!(second, first);
    moved.replace_range(.., "main");
    assert_eq!(builder.frame((moved.as_str(), "a.rs", 1)), first);
    assert_ne!(builder.frame(("main", "a.rs", 2)), first);
    assert_ne!(builder.frame(("main", "b.rs", 1)), first);
    assert_ne!(builder.frame(Frame::new("main").at("a.rs", 1).frame_type("native")), first);
}

#[test]
fn frames_that_look_alike_from_afar_are_told_apart() {
    // Frames of equal lengths and lines with equal beginnings and ends, in every file and of every type.
    let mut builder = Builder::new();
    let profile = builder.profile("cpu", "nanoseconds");
    let mut expected = Vec::new();
    for round in 0..3 {
        for stack in 0..60 {
            let (file, kind) = (["a.rs", "b.rs"][stack % 2], ["", "native", "kernel"][stack % 3]);
            let names: Vec<String> = (0..20)
                .map(|depth| match depth % 16 {
                    0 | 15 => "same".to_owned(),
                    _ => format!("f{:02}-{depth:02}", stack / 6),
                })
                .collect();
            let frames = names.iter().map(|name| Frame::new(name).at(file, 1).frame_type(kind));
            let path = builder.stack(root_first(frames));
            builder.sample(profile, path).values([1]);
            if round == 0 {
                expected.push((names, file, kind));
            }
        }
    }
    let profiles = builder.finish().unwrap();
    let dictionary = profiles.dictionary();
    let samples = only(&profiles).samples();
    assert_eq!(samples.len(), expected.len());
    for (sample, (names, file, kind)) in samples.iter().zip(&expected) {
        let mut locations = dictionary.stack(sample.stack).iter().rev();
        for name in names {
            let location = *locations.next().unwrap();
            let function = dictionary.function(dictionary.locations().lines(location)[0].function);
            let said = (dictionary.text(function.name), dictionary.text(function.filename));
            assert_eq!(said, (name.as_str(), *file));
            let attributes = dictionary.locations().attributes(location);
            let kinds: Vec<_> =
                attributes.iter().map(|id| &dictionary.attribute(*id).unwrap().value).collect();
            match (*kind, &kinds[..]) {
                ("", []) => {}
                (kind, [Value::String(text)]) => assert_eq!(dictionary.text(*text), kind),
                other => panic!("{other:?}"),
            }
        }
        assert!(locations.next().is_none());
    }
}

#[test]
fn a_path_is_the_stack_of_its_frames_whatever_other_paths_begin_like_it() {
    let long = "name::".repeat(80);
    let frame = |depth: usize, turn: usize| match (depth + turn) % 23 {
        0 => Frame::new(""),
        1 => Frame::new("").at("only/a/file.rs", 1),
        2 => Frame::new(&long[..long.len() - turn]).at("long.rs", 1),
        3 => Frame::new("parse").at("parse.rs", depth as u32).frame_type("native"),
        _ => Frame::new("same").at("same.rs", depth as u32 / 2),
    };
    // The depth of each path, and where it leaves the common path: long paths first, then their prefixes.
    let depths = [70, 48, 33, 32, 31, 17, 16, 15, 1, 0, 5, 40];
    let turns = [0, 69, 47, 32, 31, 16, 15, 1];
    let mut builder = Builder::new();
    for round in 0..4 {
        for (&depth, &turn) in
            depths.iter().flat_map(|depth| turns.iter().map(move |at| (depth, at)))
        {
            let path: Vec<_> = (0..depth).map(|at| frame(at, usize::from(at >= turn))).collect();
            let stack = builder.stack(root_first(&path));
            let locations: Vec<_> = path.iter().rev().map(|&frame| builder.frame(frame)).collect();
            assert_eq!(
                stack,
                builder.stack(leaf_first(&locations)),
                "{depth} frames, another way at {turn}"
            );
            assert_eq!(stack, builder.stack(root_first(path)));
        }
        if round == 1 {
            builder.reset();
        }
    }
}

#[test]
fn a_limit_is_an_error_that_names_it() {
    let full: [(Limits, &str); 8] = [
        (Limits::network().max_strings(4), "max_strings"),
        (Limits::network().max_string_bytes(2), "max_string_bytes"),
        (Limits::network().max_table_entries(3), "max_table_entries"),
        (Limits::network().max_samples(2), "max_samples"),
        (Limits::network().max_stack_depth(1), "max_stack_depth"),
        (Limits::network().max_attributes_per_item(1), "max_attributes_per_item"),
        (Limits::network().max_owned_bytes(200), "max_owned_bytes"),
        (Limits::network().max_nesting(8), "max_nesting"),
    ];
    for (limits, name) in full {
        for when_full in [WhenFull::Refuse, WhenFull::Drop] {
            let mut builder = Builder::with_limits(limits, when_full);
            let cpu = builder.profile("cpu", "ns");
            for sample in 0..100 {
                let name = format!("f{sample}");
                let list = NewValue::array([NewValue::array([1])]);
                builder
                    .sample(cpu, root_first(["m", &name]))
                    .value(1)
                    .attr("a", 1)
                    .attr("b", list)
                    .timestamp(NOW);
            }
            let dropped = builder.dropped();
            assert!(dropped.samples + dropped.attributes > 0, "{name}");
            assert!(builder.owned_bytes() <= limits.max_owned_bytes);
            match when_full {
                WhenFull::Drop => {
                    let profiles = builder.finish().unwrap();
                    let counts = profiles
                        .iter()
                        .map(|profile| u64::from(profile.dropped_attributes_count()));
                    assert!(counts.sum::<u64>() <= dropped.attributes, "{name}");
                }
                _ => {
                    let error = builder.finish().unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::Limit);
                    assert_eq!(error.limit(), Some(name), "{error}");
                    builder.reset();
                    assert_eq!(builder.finish().unwrap(), Profiles::default());
                }
            }
        }
    }
}

#[test]
fn a_path_without_an_end_is_an_error() {
    let limits = Limits::network().max_stack_depth(40);
    let frame = |depth| Frame::new("walk").at("walk.rs", depth);
    let mut builder = Builder::with_limits(limits, WhenFull::Drop);
    let cpu = builder.profile("cpu", "nanoseconds");
    for _ in 0..2 {
        let endless = builder.stack(root_first((1..).map(frame)));
        builder.sample(cpu, endless).value(1);
        let stack = builder.stack(root_first((1..=40).map(frame)));
        builder.sample(cpu, stack).value(1);
    }
    assert_eq!(builder.dropped().samples, 2);
    let profiles = builder.finish().unwrap();
    assert_eq!(only(&profiles).samples().len(), 1);
    let stack = only(&profiles).samples().iter().next().unwrap().stack;
    assert_eq!(profiles.dictionary().stack(stack).len(), 40);

    let mut builder = Builder::with_limits(limits, WhenFull::Drop);
    let key = builder.frame("walk");
    for endless in [std::iter::repeat(key), std::iter::repeat(Key::NONE)] {
        builder.check().unwrap();
        builder.stack(leaf_first(endless));
    }
    let mut builder = Builder::with_limits(limits, WhenFull::Refuse);
    builder.stack(root_first((1..).map(frame)));
    let error = builder.check().unwrap_err().to_string();
    assert!(error.contains("41 locations of one stack exceed the limit of 40"), "{error}");
}

/// If the stack were truncated at the limit, it would silently become another stack.
#[test]
fn frames_without_a_name_count_against_the_depth() {
    let limits = Limits::network().max_stack_depth(2);
    let mut builder = Builder::with_limits(limits, WhenFull::Refuse);
    let fits = builder.stack(leaf_first(["", "a"]));
    assert_eq!(fits, builder.stack(leaf_first(["a"])));
    builder.check().unwrap();
    builder.stack(leaf_first(["", "", "a", "b"]));
    let error = builder.check().unwrap_err().to_string();
    assert!(error.contains("locations of one stack exceed the limit of 2"), "{error}");
}

#[test]
fn dropped_attributes_are_counted_where_the_format_counts_them() {
    let limits = Limits::network().max_attributes_per_item(1);
    let mut builder = Builder::with_limits(limits, WhenFull::Drop);
    builder.resource().attr("a", 1).attr("b", 2);
    builder.scope("s").attr("a", 1).attr("b", 2).attr("c", 3);
    let cpu = builder.profile("cpu", "nanoseconds");
    builder.profile_mut(cpu).attr("a", 1).attr("b", 2);
    builder.sample(cpu, root_first(["main"])).attr("a", 1).attr("b", 2).attr("c", 3);
    assert_eq!(builder.dropped().attributes, 6);
    let profiles = builder.finish().unwrap();
    let resource = &profiles.resource_profiles()[0];
    assert_eq!(resource.resource().dropped_attributes_count(), 1);
    assert_eq!(resource.scope_profiles()[0].scope().dropped_attributes_count(), 2);
    assert_eq!(only(&profiles).dropped_attributes_count(), 3);
}

#[test]
fn no_attribute_fits_where_none_is_allowed() {
    let limits = Limits::network().max_attributes_per_item(0);
    for when_full in [WhenFull::Refuse, WhenFull::Drop] {
        let mut builder = Builder::with_limits(limits, when_full);
        let a = builder.attribute("a", 1);
        builder.resource().attr("a", 1);
        builder.scope("s").attribute(a);
        let cpu = builder.profile("cpu", "nanoseconds");
        builder.profile_mut(cpu).attr("a", 1).attribute(a);
        let native = Frame::new("main").frame_type("native");
        let mapping = builder.mapping(NewMapping::new("/bin/a").attributes(&[a]));
        let attributes = [a];
        let location = NewLocation::new().address(mapping, 1).attributes(&attributes);
        let locations = [builder.frame(native), builder.location(location.frame_type("native"))];
        builder.sample(cpu, leaf_first(locations)).attr("a", 1).attribute(a);
        assert_eq!(builder.dropped().attributes, 10);
        match when_full {
            WhenFull::Drop => {
                let profiles = builder.finish().unwrap();
                assert_eq!(profiles.dictionary().attributes().len(), 1, "the empty row");
                assert_eq!(only(&profiles).samples().len(), 1);
                assert_eq!(only(&profiles).dropped_attributes_count(), 4);
            }
            _ => {
                let error = builder.finish().unwrap_err();
                assert_eq!(error.limit(), Some("max_attributes_per_item"));
            }
        }
    }
}

#[test]
fn what_is_declared_keeps_its_order_in_every_interval() {
    let mut builder = Builder::new();
    builder.string("x");
    builder.resource().attr("y", 1);
    builder.resource().attr("x", 1).attr("y", 1);
    let cpu = builder.profile("cpu", "nanoseconds");
    for interval in 0..3 {
        builder.sample(cpu, root_first(["main"])).value(1);
        let profiles = builder.finish_interval().unwrap();
        let attributes = profiles.resource_profiles()[0].resource().attributes().iter();
        let keys: Vec<_> = attributes.map(|pair| profiles.dictionary().text(pair.key)).collect();
        assert_eq!(keys, ["x", "y"], "interval {interval}");
    }
}

#[test]
fn an_original_payload_is_of_one_interval_and_said_once() {
    let mut builder = Builder::new();
    let cpu = builder.profile("cpu", "nanoseconds");
    let said = |builder: &mut Builder| -> Vec<(String, Vec<u8>)> {
        builder.sample(cpu, root_first(["main"])).value(1);
        builder.sample(cpu, root_first(["main"])).timestamp(NOW);
        let profiles = builder.finish_interval().unwrap();
        let payloads = profiles.iter().map(Profile::original_payload);
        payloads.map(|(id, bytes)| (profiles.dictionary().text(id).into(), bytes.into())).collect()
    };
    let none = (String::new(), Vec::new());
    builder.profile_mut(cpu).original_payload("jfr", b"FLR\0");
    let jfr = ("jfr".to_owned(), b"FLR\0".to_vec());
    assert_eq!(said(&mut builder), [jfr.clone(), none.clone()]);
    assert_eq!(said(&mut builder), [none.clone(), none.clone()]);
    for (format, payload) in [("", &b"FLR\0"[..]), ("jfr", b"")] {
        builder.profile_mut(cpu).original_payload("jfr", b"1").original_payload(format, payload);
        assert_eq!(said(&mut builder), [none.clone(), none.clone()]);
    }
    let mut other = builder.clone();
    let theirs = other.profile("cpu", "nanoseconds");
    other.profile_mut(theirs).original_payload("jfr", b"FLR\0");
    builder.merge(&other);
    assert_eq!(said(&mut builder), [jfr, none]);

    let limits = Limits::network().max_owned_bytes(10_000);
    let mut builder = Builder::with_limits(limits, WhenFull::Refuse);
    let cpu = builder.profile("cpu", "nanoseconds");
    builder.profile_mut(cpu).original_payload("jfr", vec![0; 10_001]);
    assert_eq!(builder.check().unwrap_err().limit(), Some("max_owned_bytes"));
}

#[test]
fn a_builder_can_be_sent() {
    fn sent<T: Send + Sync>() {}
    sent::<Builder>();
    sent::<Key<Profile>>();
}

/// Profiles with every kind of data.
fn everything() -> Profiles {
    let mut builder = Builder::new();
    builder.resource().attr("service.name", "checkout").attr("process.pid", 4711);
    builder.scope("my-profiler").version("1.2.3");
    let build_id =
        builder.attribute(semconv::BUILD_ID_GNU, "c89b11207f6479603b0d49bf291c092c2b719293");
    let libc = builder
        .mapping(NewMapping::new("/lib/libc.so.6").memory(0x1000, 0x9000).attributes(&[build_id]));
    let read = builder.address(libc, 0x1234);
    let inner = builder
        .function(NewFunction::new("inner").system_name("_inner").filename("a.c").start_line(3));
    let outer = builder.function(NewFunction::new("outer"));
    let lines = [NewLine::new(inner).line(4).column(2), NewLine::new(outer).line(40)];
    let inlined = builder.location(NewLocation::new().address(libc, 0x4321).lines(&lines));
    let module = builder.frame(Frame::new("<module>").at("app.py", 3).frame_type("cpython"));
    let native = builder.stack(leaf_first([read, inlined]));
    let python = builder.stack(leaf_first([module, inlined]));
    let worker = builder.attribute("thread.name", "worker-1");
    let size = builder.attribute("request.size", (512, "By"));
    let link = builder.link([7; 16], [9; 8]);

    let cpu = builder.profile("cpu", "nanoseconds");
    builder
        .profile_mut(cpu)
        .time(NOW)
        .duration(60_000_000_000)
        .period("cpu", "nanoseconds", 10_000_000)
        .id(ProfileId([3; 16]));
    builder.sample(cpu, native).value(10_000_000).attribute(worker).link(link);
    builder.sample(cpu, python).value(20_000_000).attribute(worker).attribute(size);
    let heap = builder.profile_of([("objects", "count"), ("space", "bytes")]);
    builder.sample(heap, python).values([1, 4096]);
    let wall = builder.profile("wall", "nanoseconds");
    builder.sample(wall, native).timestamp(NOW + 1).timestamp(NOW + 2);
    let off_cpu = builder.profile("off_cpu", "nanoseconds");
    builder.sample(off_cpu, root_first(["main", "read"])).value(1_500).timestamp(NOW + 5);
    builder.finish().unwrap()
}

#[test]
fn what_is_built_can_be_written_in_every_format_and_read_without_a_finding() {
    let profiles = everything();
    for format in Format::ALL.iter().filter(|format| format.is_whole()) {
        // Formats without timestamps, or with one column per profile, represent them differently.
        let Ok((payloads, _)) =
            otlp_profiles::write_all(&profiles, *format, &WriteOptions::default())
        else {
            panic!("{}", format.name());
        };
        let options = ReadOptions::default().format(*format);
        for payload in payloads {
            let reading = read(&payload, &options).unwrap();
            assert!(reading.profiles.iter().count() > 0, "{}", format.name());
        }
    }
}

#[test]
fn what_is_built_comes_back_from_otlp_as_it_was() {
    let profiles = everything();
    let otlp = write(&profiles, Format::OTLP, &WriteOptions::default()).unwrap();
    let options = ReadOptions::default().format(Format::OTLP);
    let again = read(&otlp.payload, &options).unwrap();
    assert!(
        again.findings.iter().all(|finding| finding.severity < otlp_profiles::Severity::Warning)
    );
    let rewritten = write(&again.profiles, Format::OTLP, &WriteOptions::default()).unwrap();
    assert_eq!(rewritten.payload, otlp.payload);
}

/// Declares a resource with a schema and two entities.
fn web(builder: &mut Builder) -> ResourceMut<'_> {
    let host = NewEntity::new("host", &["host.id"]).description_keys(&["host.name"]);
    builder
        .resource()
        .entity(host.schema_url("https://example.com/entity/1.0.0"))
        .entity(NewEntity::new("service", &["service.name"]))
        .attr("service.name", "web")
        .attr("host.id", "7f3c")
        .attr("host.name", "a")
        .schema_url("https://example.com/resource/1.0.0")
}

/// A builder with this resource, and a scope with a schema.
fn with_entities() -> Builder {
    let mut builder = Builder::new();
    web(&mut builder);
    builder.scope("profiler").version("1").schema_url("https://example.com/scope/1.0.0");
    let cpu = builder.profile("cpu", "nanoseconds");
    builder.profile_mut(cpu).time(NOW).duration(1_000);
    builder.sample(cpu, root_first(["main"])).value(1);
    builder
}

/// The schemas and entities as strings.
fn entities(profiles: &Profiles) -> Vec<String> {
    let text = |id| profiles.dictionary().text(id);
    let texts = |ids: &[_]| ids.iter().map(|&id| text(id)).collect::<Vec<_>>().join(",");
    let resource = &profiles.resource_profiles()[0];
    let mut words = vec![
        text(resource.schema_url()).to_owned(),
        text(resource.scope_profiles()[0].schema_url()).to_owned(),
    ];
    words.extend(resource.resource().entity_refs().iter().map(|entity| {
        let keys = [&entity.id_keys, &entity.description_keys].map(|keys| texts(keys));
        let [kind, url] = [entity.entity_type, entity.schema_url].map(text);
        format!("{kind} {keys:?} {url}")
    }));
    words
}

#[test]
fn schemas_and_entities_are_read_as_they_were_said() {
    let profiles = with_entities().finish().unwrap();
    let said = entities(&profiles);
    assert_eq!(
        said,
        [
            "https://example.com/resource/1.0.0",
            "https://example.com/scope/1.0.0",
            "host [\"host.id\", \"host.name\"] https://example.com/entity/1.0.0",
            "service [\"service.name\", \"\"] ",
        ]
    );
    for format in Format::ALL.iter().filter(|format| format.is_whole()) {
        let written = write(&profiles, *format, &WriteOptions::default()).unwrap();
        let options = ReadOptions::default().format(*format);
        let read = entities(&read(&written.payload, &options).unwrap().profiles);
        let lost = |code| written.losses.get(code).is_some();
        let schemas: Vec<_> =
            said[..2].iter().map(|url| if lost("schema_url.dropped") { "" } else { url }).collect();
        assert_eq!(read[..2], *schemas, "{}", format.name());
        let refs = if lost("entity_refs.dropped") { &[][..] } else { &said[2..] };
        assert_eq!(read[2..], *refs, "{}", format.name());
    }
}

#[test]
fn an_entity_has_keys_its_resource_has() {
    let mut builder = Builder::new();
    let odd = ["host.name", "host.name", "k8s.pod.uid"];
    web(&mut builder)
        .entity(NewEntity::new("", &["host.id"]))
        .entity(NewEntity::new("pod", &["k8s.pod.uid"]))
        .entity(NewEntity::new("service", &["service.name"]))
        .entity(NewEntity::new("odd", &odd).description_keys(&["host.name", "host.id"]));
    let cpu = builder.profile("cpu", "nanoseconds");
    builder.sample(cpu, root_first(["main"])).value(1);
    let said = entities(&builder.finish().unwrap());
    assert_eq!(said.len(), 5, "{said:?}");
    assert_eq!(said[4], "odd [\"host.name\", \"host.id\"] ");
}

#[test]
fn merging_joins_what_is_equal_with_its_schemas_and_entities() {
    let mut all = with_entities();
    let said = entities(&with_entities().finish().unwrap());
    all.merge(&with_entities());
    let profiles = all.finish().unwrap();
    assert_eq!(entities(&profiles), said);
    assert_eq!(only(&profiles).samples().get(0).unwrap().values, [2]);
}

#[test]
fn resources_of_other_schemas_or_entities_are_other_resources() {
    let mut builder = with_entities();
    let attributes = |resource: ResourceMut<'_>| {
        resource.attr("host.name", "a").attr("host.id", "7f3c").attr("service.name", "web").key()
    };
    let same = web(&mut builder).key();
    let plain = attributes(builder.resource());
    let other = attributes(builder.resource().schema_url("https://example.com/resource/1.0.0"));
    assert_eq!(same, web(&mut builder).key());
    assert_eq!(plain, attributes(builder.resource()));
    assert!(plain != same && other != same && plain != other);
}

#[test]
fn a_buffer_takes_what_write_writes() {
    let profiles = with_entities().finish().unwrap();
    for format in Format::ALL.iter().filter(|format| format.is_whole()) {
        let options = WriteOptions::default();
        let written = write(&profiles, *format, &options).unwrap();
        let mut buffer = vec![7; 100_000];
        let memory = buffer.as_ptr();
        let losses = write_into(&profiles, *format, &options, &mut buffer).unwrap();
        assert_eq!(buffer, written.payload, "{}", format.name());
        assert_eq!(buffer.as_ptr(), memory, "{}: the memory is used again", format.name());
        let codes = |losses: &otlp_profiles::Losses| {
            losses.iter().map(|loss| loss.code).collect::<Vec<_>>()
        };
        assert_eq!(codes(&losses), codes(&written.losses));

        let exact = |max_output_bytes| WriteOptions::default().max_output_bytes(max_output_bytes);
        let length = written.payload.len() as u64;
        assert!(write_into(&profiles, *format, &exact(length), &mut buffer).is_ok());
        let error = write_into(&profiles, *format, &exact(length - 1), &mut buffer).unwrap_err();
        assert_eq!((error.kind(), buffer.len()), (ErrorKind::Limit, 0), "{}", format.name());
    }
}

/// An item whose name does not fit must not become another item without a name.
#[test]
fn what_its_name_does_not_fit_is_none_and_counted() {
    let limits = Limits::network().max_strings(6);
    let mut builder = Builder::with_limits(limits, WhenFull::Drop);
    let cpu = builder.profile("cpu", "nanoseconds");
    builder.sample(cpu, root_first(["main", "work", "wait"])).value(10);
    let [heap, locks] = [("inuse_space", "bytes"), ("contentions", "count")]
        .map(|(name, unit)| builder.profile(name, unit));
    builder.sample(heap, root_first(["main"])).value(1_000_000);
    builder.sample(locks, root_first(["main"])).value(3);
    assert_eq!((builder.dropped().samples, builder.dropped().others), (2, 0));
    builder.profile_mut(cpu).period("wall", "nanoseconds", 99).original_payload("jfr", b"FLR");
    assert_eq!(builder.dropped().others, 2);
    for (name, version) in [("main", "1.0"), ("profiler-a", ""), ("work", "2.0")] {
        builder.resource();
        builder.scope(name).version(version);
        let of_scope = builder.profile("cpu", "nanoseconds");
        builder.sample(of_scope, root_first(["main"])).value(1);
    }
    assert_eq!((builder.dropped().samples, builder.dropped().others), (5, 5));
    let profiles = builder.finish().unwrap();
    let profile = profiles.iter().next().unwrap();
    assert_eq!((profiles.iter().count(), profile.sums(), profile.period()), (1, vec![10], 0));
}

#[test]
fn a_payload_that_is_too_large_is_counted() {
    let limits = Limits::network().max_owned_bytes(100_000);
    let mut builder = Builder::with_limits(limits, WhenFull::Drop);
    let cpu = builder.profile("cpu", "nanoseconds");
    builder.sample(cpu, root_first(["main"])).value(1);
    builder.profile_mut(cpu).original_payload("jfr", vec![0; 200_000]);
    assert_eq!(builder.dropped().others, 1);
    let profiles = builder.finish().unwrap();
    assert!(profiles.iter().next().unwrap().original_payload().1.is_empty());
}

/// A time before 1970 becomes 0, which means unknown, so the window does not extend back to it.
#[test]
fn a_time_that_is_unknown_is_in_no_window() {
    let start = 1_763_640_000_000_000_000;
    for said in [true, false] {
        let mut builder = Builder::new();
        let wall = builder.profile("wall", "nanoseconds");
        if said {
            builder.profile_mut(wall).time(start).duration(Duration::from_secs(60));
        }
        builder.sample(wall, root_first(["main"])).timestamp(start + 5);
        let before = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        builder.sample(wall, root_first(["main"])).timestamp(before);
        let profiles = builder.finish().unwrap();
        let profile = profiles.iter().next().unwrap();
        let (time, took) = if said { (start, 60_000_000_000) } else { (start + 5, 1) };
        assert_eq!((profile.time_unix_nano(), profile.duration_nanos()), (time.into(), took));
    }
}
