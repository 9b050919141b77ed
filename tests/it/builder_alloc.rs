//! Counts the builder's allocations.

use otlp_profiles::builder::{
    Frame, Key, NewLocation, ProcessMappings, Upscaling, WhenFull, leaf_first, root_first,
};
use otlp_profiles::model::StackId;
use otlp_profiles::{Builder, Limits, Profile};

use crate::support::alloc::{Cost, cost};

const STACKS: u32 = if cfg!(debug_assertions) { 10_000 } else { 100_000 };

#[test]
fn memory_is_taken_for_what_is_new_only() {
    a_sample_that_was_seen_takes_none();
    an_interval_like_the_one_before_takes_next_to_none();
    memory_follows_the_distinct_stacks();
    memory_of_many_types_is_counted();
}

/// A profile with timestamps becomes one profile per type. The memory of these profiles is charged in advance, and
/// they do not copy the list of types.
fn memory_of_many_types_is_counted() {
    for (types, times) in [(4_000, 1), (50, 2_000)] {
        let mut builder = Builder::new();
        let names = (0..types).map(|at| (format!("type-{at}"), "count"));
        let profile = builder.profile_of(names.collect::<Vec<_>>());
        for time in 1..=times {
            builder.sample(profile, root_first(["main"])).values(vec![1; types]).timestamp(time);
        }
        let owned = builder.owned_bytes();
        let (profiles, cost) = cost(|| builder.finish().unwrap());
        assert_eq!(profiles.iter().count(), types);
        let most = 2 * owned as i64 + types as i64 * 1_000;
        assert!(cost.peak < most, "{types} types: {owned} are owned, {cost:?}");
    }
}

/// A repeated sample allocates nothing, in either order of frames, and in every shape without timestamps.
fn a_sample_that_was_seen_takes_none() {
    let mut builder = Builder::new();
    let cpu = builder.profile_of([("samples", "count"), ("cpu", "nanoseconds")]);
    let locations = ["parse", "serve", "main"].map(|name| builder.frame((name, "main.rs", 7)));
    let worker = builder.attribute("thread.name", "worker-1");
    let link = builder.link([1; 16], [2; 8]);
    let mut mappings = ProcessMappings::parse("1000-9000 r-xp 00000000 08:02 1313 /bin/a").unwrap();
    let owned = ["main".to_owned(), "run".to_owned()];
    let mut sample = || {
        let stack = builder.stack(leaf_first(&locations));
        builder.sample(cpu, stack).values([1, 10]).attribute(worker).link(link);
        builder
            .sample(cpu, root_first(["main", "serve", "parse"]))
            .values([1, 10])
            .attr("thread.name", "worker-1")
            .attr("n", 1);
        builder.sample(cpu, leaf_first(&owned)).value(1_u64).attr("size", (512, "By"));
        builder.sample(cpu, root_first("main;run".split(';'))).values([1, 10].iter());
        let frames = [Frame::new("main"), Frame::new("run").at("app.py", 3).frame_type("cpython")];
        builder.sample(cpu, leaf_first(frames)).values([1, 10]);
        let native = mappings.stack(&mut builder, leaf_first([0x1234, 0x5678]));
        let heap = Upscaling::Poisson { sum: 1, count: 0, sampling_distance: 100 };
        builder.sample(cpu, native).values([1, 10]).upscaled(heap);
        let mapping = mappings.mapping(&mut builder, 0x1234);
        let kernel = NewLocation::new().address(mapping, 0x1234).frame_type("kernel");
        let kernel = builder.location(kernel);
        builder.sample(cpu, root_first([kernel])).values([1, 10]);
    };
    sample();
    assert_eq!(cost(|| (0..1_000).for_each(|_| sample())).1.count, 0);
}

fn an_interval_like_the_one_before_takes_next_to_none() {
    let mut builder = Builder::new();
    let mut interval = || {
        let cpu = builder.profile("cpu", "nanoseconds");
        for row in 0..1_000_u32 {
            let leaf = builder.frame(("leaf", "main.rs", row));
            let stack = builder.stack(leaf_first([leaf]));
            builder.sample(cpu, stack).value(1).timestamp(u64::from(row));
        }
        assert_eq!(
            builder.finish_interval().unwrap().iter().next().unwrap().samples().len(),
            1_000
        );
    };
    (0..3).for_each(|_| interval());
    let taken = cost(interval).1.count;
    // Half of them belong to the empty builder that replaces the lent one.
    assert!(taken < 70, "{taken} allocations");
}

/// A hundred samples of each stack take as much memory as one of each. A quarter of the stacks takes a quarter of
/// the memory, apart from tables that double their capacity.
fn memory_follows_the_distinct_stacks() {
    let all = memory_of(STACKS, 100);
    let [quarter, tenth] = [4, 10].map(|part| memory_of(STACKS / part, 2));
    assert!((all / 8..all / 2).contains(&quarter), "{quarter} of {all}");
    assert!((all / 20..all / 5).contains(&tenth), "{tenth} of {all}");
}

/// Returns the bytes for `times` samples of each stack. They must not depend on `times`.
fn memory_of(stacks: u32, times: u32) -> u64 {
    let mut builder = Builder::with_limits(Limits::network(), WhenFull::Refuse);
    let cpu = builder.profile("cpu", "nanoseconds");
    let mut state = 1;
    let mut run = |builder: &mut Builder, from: u32, to: u32| {
        for sample in from..to {
            // Every stack once, then at random.
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            let which = if sample < stacks { sample } else { state % stacks };
            let stack = stack(builder, which);
            builder.sample(cpu, stack).value(1);
        }
    };
    let once = cost(|| run(&mut builder, 0, stacks)).1.live as u64;
    let counted = builder.owned_bytes();
    let samples = times * stacks;
    let Cost { count, live, .. } = cost(|| run(&mut builder, stacks, samples)).1;
    assert_eq!((count, live), (0, 0), "{samples} samples need what {stacks} need");
    assert!(once <= 4 * counted && counted <= 2 * once, "{once} bytes live, {counted} counted");
    let total: i64 = builder.finish().unwrap().iter().flat_map(values).sum();
    assert_eq!(total, i64::from(samples));
    once
}

/// A stack of ten frames that differ in one digit of `which`.
fn stack(builder: &mut Builder, which: u32) -> Key<StackId> {
    let mut locations = [Key::NONE; 10];
    for (depth, location) in locations.iter_mut().enumerate() {
        let digit = which / 10u32.pow(depth as u32 / 2) % 10;
        *location = builder.frame(("frame", "main.rs", 10 * depth as u32 + digit + 1));
    }
    builder.stack(leaf_first(&locations))
}

fn values(profile: &Profile) -> Vec<i64> {
    profile.samples().iter().flat_map(|sample| sample.values.to_vec()).collect()
}
