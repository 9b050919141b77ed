//! Tests keys of other builders and of past intervals, and the data that survives the end of an interval.

use otlp_profiles::builder::{
    Dropped, Key, NewFunction, NewLine, NewLocation, NewMapping, WhenFull, root_first,
};
use otlp_profiles::builder::{Frame, leaf_first};
use otlp_profiles::model::{AggregationTemporality, ProfileId};
use otlp_profiles::{Builder, Limits, Profile, Profiles};

const NOW: u64 = 1_763_640_000_000_000_000;

/// Regression: it panicked, because declared profiles lost their types and ids referred to the empty dictionary.
#[test]
fn a_loan_that_is_forgotten_leaves_a_new_builder() {
    let mut builder = Builder::with_limits(Limits::network().max_samples(2), WhenFull::Drop);
    builder.resource().attr("service.name", "checkout");
    let cpu = builder.profile("cpu", "nanoseconds");
    let main = builder.frame("main");
    builder.sample(cpu, root_first(["main"])).value(1).attr("thread.name", "worker-1");
    std::mem::forget(builder.finish_interval().unwrap());
    builder.sample(cpu, root_first(["main"])).value(1).attr("thread.name", "worker-1");
    assert_eq!(dropped(&builder), [1, 0, 0, 0], "the key is another builder's");
    let cpu = builder.profile("cpu", "nanoseconds");
    builder.sample(cpu, root_first([main])).value(1);
    for name in ["main", "run", "parse"] {
        builder.sample(cpu, root_first([name])).value(1);
    }
    assert_eq!(dropped(&builder), [3, 0, 0, 0], "its limits and what is past them stay");
    assert!(resource(&builder.finish().unwrap()).is_empty());
}

/// Each sample of each profile: the names from root to leaf, and the values.
fn samples(profiles: &Profiles) -> Vec<(String, Vec<i64>)> {
    let dictionary = profiles.dictionary();
    let name = |location| {
        let line = dictionary.locations().lines(location).first();
        line.map_or("", |line| dictionary.text(dictionary.function(line.function).name))
    };
    let samples = profiles.iter().flat_map(|profile| profile.samples().iter());
    samples
        .map(|sample| {
            let names = dictionary.stack(sample.stack).iter().rev().map(|&location| name(location));
            (names.collect::<Vec<_>>().join(";"), sample.values.to_vec())
        })
        .collect()
}

fn resource(profiles: &Profiles) -> Vec<String> {
    let resource = profiles.resource_profiles()[0].resource();
    let keys = resource.attributes().iter().map(|pair| profiles.dictionary().text(pair.key));
    keys.map(str::to_owned).collect()
}

fn dropped(builder: &Builder) -> [u64; 4] {
    let Dropped { samples, attributes, values, links, .. } = builder.dropped();
    [samples, attributes, values, links]
}

/// Regression: the sample was added to whatever stack had that row in the next interval.
#[test]
fn a_key_kept_over_seal_is_counted_and_never_booked_on_another_row() {
    let mut builder = Builder::new();
    let cpu = builder.profile("cpu", "nanoseconds");
    let hot = builder.stack(root_first(["main", "hot"]));
    builder.sample(cpu, hot).value(1);
    drop(builder.finish_interval().unwrap());
    let cold = builder.stack(root_first(["main", "cold"]));
    builder.sample(cpu, cold).value(1);
    builder.sample(cpu, hot).value(1_000_000);
    assert_eq!(builder.dropped().samples, 1);
    let sealed = builder.finish_interval().unwrap();
    assert_eq!(samples(&sealed), [("main;cold".to_owned(), vec![1])]);
    assert_eq!(sealed.dropped().samples, 1);
    drop(sealed);
    assert_eq!(builder.dropped(), Dropped::default());
}

/// A key of each kind.
type Keys =
    (Key<Profile>, Key<otlp_profiles::model::StackId>, Key<otlp_profiles::model::AttributeId>);

fn keys(builder: &mut Builder) -> Keys {
    let cpu = builder.profile("cpu", "nanoseconds");
    let stack = builder.stack(root_first(["main"]));
    (cpu, stack, builder.attribute("thread.name", "worker-1"))
}

#[test]
fn keys_are_void_after_reset_and_finish_and_elsewhere() {
    let ends: [fn(&mut Builder) -> Builder; 4] = [
        |builder| {
            builder.reset();
            std::mem::take(builder)
        },
        |builder| {
            builder.finish().unwrap();
            std::mem::take(builder)
        },
        |builder| builder.clone(),
        |_| Builder::new(),
    ];
    for end in ends {
        let mut before = Builder::new();
        let (cpu, stack, attribute) = keys(&mut before);
        let mut builder = end(&mut before);
        let own = keys(&mut builder);
        builder.sample(cpu, own.1).value(1);
        builder.sample(own.0, stack).value(1);
        builder.sample(own.0, own.1).value(7).attribute(attribute);
        assert_eq!(dropped(&builder), [2, 1, 0, 0]);
        assert_eq!(samples(&builder.finish().unwrap()), [("main".to_owned(), vec![7])]);
    }
}

#[test]
fn what_is_made_of_a_foreign_key_is_left_out_and_counted() {
    let mut other = Builder::new();
    let location = other.frame("a");
    let function = other.function(NewFunction::new("f"));
    let mapping = other.mapping(NewMapping::new("m"));
    let text = other.string("text");
    let link = other.link([1; 16], [2; 8]);
    let attribute = other.attribute("k", "v");
    let resource = other.resource().attr("k", "v").key();
    let scope = other.scope("s").key();

    let mut builder = Builder::new();
    let cpu = builder.profile("cpu", "nanoseconds");
    let own = builder.frame("own");
    let lines = [NewLine::new(function)];
    for bad in [
        location,
        builder.location(NewLocation::new().lines(&lines)),
        builder.address(mapping, 1),
        builder.location(NewLocation::new().lines(&[NewLine::new(function)])),
    ] {
        builder.sample(cpu, leaf_first([own, bad])).value(1);
        builder.sample(cpu, root_first([bad, own])).value(1);
    }
    assert_eq!(dropped(&builder), [8, 0, 0, 0]);
    builder.sample(cpu, root_first(["main"])).value(1).link(link).attr(text, 1).attr("x", text);
    assert_eq!(dropped(&builder), [8, 2, 0, 1]);
    builder.mapping(NewMapping::new("n").attributes(&[attribute]));
    builder.resource().attribute(attribute).attr(text, 1);
    builder.profile_mut(cpu).attribute(attribute);
    assert_eq!(dropped(&builder), [8, 6, 0, 1]);
    builder.enter(resource);
    let lost = builder.profile("cpu", "nanoseconds");
    builder.sample(lost, root_first(["main"])).value(1);
    builder.enter(scope);
    let lost = builder.profile("cpu", "nanoseconds");
    builder.sample(lost, root_first(["main"])).value(1);
    builder.scope("s").attr("k", "v");
    assert_eq!(dropped(&builder), [10, 7, 0, 1]);
    assert_eq!(samples(&builder.finish().unwrap()), [("main".to_owned(), vec![1])]);
}

#[test]
fn no_key_is_a_profile() {
    let mut builder = Builder::new();
    builder.sample(Key::NONE, root_first(["main"])).value(1);
    builder.profile_mut(Key::NONE).time(NOW);
    assert_eq!(builder.dropped().samples, 1);
}

/// Regression: the second interval had neither resource nor scope, which a backend shows as `unknown_service`.
#[test]
fn sealing_keeps_what_was_declared_but_for_what_is_of_one_interval() {
    let mut builder = Builder::new();
    let kernel = builder.attribute("kind", "on-cpu");
    builder.resource().attr("service.name", "checkout").attr("process.pid", 7);
    builder.scope("my-profiler").version("1.0.0").attr("hz", 99);
    let cpu = builder.profile("cpu", "nanoseconds");
    let unused = builder.profile("unused", "count");
    builder
        .profile_mut(cpu)
        .time(NOW)
        .duration(10)
        .id(ProfileId([1; 16]))
        .period("cpu", "nanoseconds", 10_000_000)
        .temporality(AggregationTemporality::DELTA)
        .attribute(kernel);
    for interval in 0..3 {
        let sample = builder.sample(cpu, root_first(["main", "serve"])).value(interval);
        sample.attr("interval", interval);
        // The same declaration returns the same key, even after others.
        assert_eq!(cpu, builder.profile("cpu", "nanoseconds"));
        assert_eq!(unused, builder.profile("unused", "count"));
        let spent = builder.owned_bytes();

        let profiles = builder.finish_interval().unwrap();
        let dictionary = profiles.dictionary();
        let text = |id| dictionary.text(id);
        assert_eq!(resource(&profiles), ["service.name", "process.pid"]);
        let scope = profiles.resource_profiles()[0].scope_profiles()[0].scope();
        assert_eq!((text(scope.name()), text(scope.version())), ("my-profiler", "1.0.0"));
        assert_eq!(scope.attributes().len(), 1);
        let profile = profiles.iter().next().unwrap();
        let attribute = dictionary.attribute(profile.attributes()[0]).unwrap();
        assert_eq!((text(profile.period_type().name), text(attribute.key)), ("cpu", "kind"));
        let temporality = profile.sample_types()[0].temporality;
        assert_eq!(temporality, Some(AggregationTemporality::DELTA));
        let of_interval =
            (profile.time_unix_nano(), profile.duration_nanos(), profile.profile_id());
        match interval {
            0 => assert_eq!(of_interval, (NOW.into(), 10, ProfileId([1; 16]))),
            _ => assert_eq!(of_interval, (0, 0, ProfileId::NONE)),
        }
        assert_eq!(samples(&profiles), [("main;serve".to_owned(), vec![interval])]);
        // The dictionary contains no strings of earlier intervals.
        assert_eq!(dictionary.strings().len(), 14);
        drop(profiles);
        assert!(builder.owned_bytes() < spent);
    }
}

#[test]
fn scopes_and_resources_can_be_entered_after_seal() {
    let mut builder = Builder::new();
    let web = builder.resource().attr("service.name", "web").key();
    let scope = builder.scope("profiler").key();
    builder.resource().attr("service.name", "db").attr("a", 1);
    drop(builder.finish_interval().unwrap());
    // Independent of the order of strings in the new dictionary.
    builder.string("a");
    assert_eq!(builder.resource().attr("service.name", "web").key(), web);
    assert_eq!(builder.scope("profiler").key(), scope);
    for by_scope in [true, false] {
        match by_scope {
            true => builder.enter(scope),
            false => builder.enter(web),
        }
        let cpu = builder.profile("cpu", "nanoseconds");
        builder.sample(cpu, root_first(["main"])).value(1);
        assert_eq!(resource(&builder.finish_interval().unwrap()), ["service.name"]);
    }
    builder.reset();
    let cpu = builder.profile("cpu", "nanoseconds");
    builder.sample(cpu, root_first(["main"])).value(1);
    assert!(resource(&builder.finish().unwrap()).is_empty());
}

#[test]
fn a_builder_that_is_full_keeps_its_declarations_over_seal() {
    use otlp_profiles::builder::WhenFull;

    let limits = Limits::network().max_strings(6);
    let mut builder = Builder::with_limits(limits, WhenFull::Drop);
    builder.resource().attr("service.name", "checkout");
    let cpu = builder.profile("cpu", "nanoseconds");
    for _ in 0..3 {
        builder.sample(cpu, root_first(["main"])).value(1);
        builder.sample(cpu, root_first(["too", "much"])).value(1);
        assert_eq!(builder.dropped().samples, 1);
        let profiles = builder.finish_interval().unwrap();
        assert_eq!(resource(&profiles), ["service.name"]);
        assert_eq!(samples(&profiles), [("main".to_owned(), vec![1])]);
    }
}

#[test]
fn a_sample_that_a_panic_interrupts_is_left_out() {
    let mut builder = Builder::new();
    let cpu = builder.profile("cpu", "nanoseconds");
    let measure = || -> i64 { panic!("the clock is gone") };
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        builder.sample(cpu, root_first(["main"])).value(measure());
    }));
    assert!(caught.is_err());
    assert_eq!(builder.dropped().samples, 1);

    /// Adds a sample when it is dropped, as a tracing span does.
    struct Span<'a>(&'a mut Builder, Key<Profile>);
    impl Drop for Span<'_> {
        fn drop(&mut self) {
            self.0.resource().attr("service.name", "web");
            self.0.sample(self.1, root_first([Frame::new("span")])).value(7);
        }
    }
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _span = Span(&mut builder, cpu);
        measure();
    }));
    assert!(caught.is_err());
    assert_eq!(samples(&builder.finish().unwrap()), [("span".to_owned(), vec![7])]);
}
