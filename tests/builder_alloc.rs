//! What the builder takes from the heap, counted.
//!
//! One test in a process of its own, because the counters are the process's.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use otlp_profiles::build::{Frame, Key};
use otlp_profiles::{Builder, Limits, Profile, StackId, build::WhenFull};

struct Counting;

static CALLS: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is left to the system's allocator; the counters touch no memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Relaxed);
        LIVE.fetch_add(layout.size(), Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        CALLS.fetch_add(1, Relaxed);
        LIVE.fetch_add(size, Relaxed);
        LIVE.fetch_sub(layout.size(), Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The allocations `f` makes.
fn allocations(f: impl FnOnce()) -> usize {
    let before = CALLS.load(Relaxed);
    f();
    CALLS.load(Relaxed) - before
}

const STACKS: u32 = if cfg!(debug_assertions) {
    10_000
} else {
    100_000
};
const SAMPLES: u32 = 100 * STACKS;

#[test]
fn memory_is_taken_for_what_is_new_only() {
    a_sample_that_was_seen_takes_none();
    an_interval_like_the_one_before_takes_next_to_none();
    memory_follows_the_distinct_stacks();
}

/// In both styles, and in every shape that has no timestamp of its own to keep.
fn a_sample_that_was_seen_takes_none() {
    let mut builder = Builder::new();
    let cpu = builder.profile_of(&[("samples", "count"), ("cpu", "nanoseconds")]);
    let locations = ["parse", "serve", "main"].map(|name| builder.frame(name, "main.rs", 7));
    let worker = builder.attribute("thread.name", "worker-1");
    let link = builder.link([1; 16], [2; 8]);
    let mut sample = || {
        let stack = builder.stack(&locations);
        builder
            .sample(cpu, stack)
            .values(&[1, 10])
            .attribute(worker)
            .link(link);
        builder
            .sample(cpu, ["main", "serve", "parse"])
            .values(&[1, 10])
            .attr("thread.name", "worker-1")
            .attr("n", 1);
        let frames = [
            Frame::new("main"),
            Frame::new("run").at("app.py", 3).kind("cpython"),
        ];
        builder.sample(cpu, frames).values(&[1, 10]);
        let mapping = builder.mapping(Default::default());
        let address = builder.address(mapping, 0x1234);
        let native = builder.stack(&[address]);
        builder.sample(cpu, native).values(&[1, 10]);
    };
    sample();
    assert_eq!(allocations(|| (0..1_000).for_each(|_| sample())), 0);
}

fn an_interval_like_the_one_before_takes_next_to_none() {
    let mut builder = Builder::new();
    let mut interval = || {
        let cpu = builder.profile("cpu", "nanoseconds");
        for row in 0..1_000 {
            let leaf = builder.frame("leaf", "main.rs", row);
            let stack = builder.stack(&[leaf]);
            builder.sample(cpu, stack).value(1).at(row.into());
        }
        assert_eq!(
            builder
                .seal()
                .unwrap()
                .iter()
                .next()
                .unwrap()
                .samples()
                .len(),
            1_000
        );
    };
    (0..3).for_each(|_| interval());
    let taken = allocations(interval);
    assert!(taken < 40, "{taken} allocations");
}

fn memory_follows_the_distinct_stacks() {
    let live = LIVE.load(Relaxed);
    let mut builder = Builder::with_limits(Limits::network(), WhenFull::Refuse);
    let cpu = builder.profile("cpu", "nanoseconds");
    let mut state = 1;
    let mut run = |builder: &mut Builder, from: u32, to: u32| {
        for sample in from..to {
            // Every stack once, then at random.
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            let which = if sample < STACKS {
                sample
            } else {
                state % STACKS
            };
            let stack = stack(builder, which);
            builder.sample(cpu, stack).value(1);
        }
    };
    run(&mut builder, 0, STACKS);
    let (once, counted) = (LIVE.load(Relaxed) - live, builder.owned_bytes());
    let taken = allocations(|| run(&mut builder, STACKS, SAMPLES));
    assert_eq!(
        (taken, LIVE.load(Relaxed) - live),
        (0, once),
        "{SAMPLES} samples need what {STACKS} need"
    );
    assert!(
        once as u64 <= 4 * counted && counted <= 2 * once as u64,
        "{once} bytes live, {counted} counted"
    );
    let total: i64 = builder.finish().unwrap().iter().flat_map(values).sum();
    assert_eq!(total, i64::from(SAMPLES));
}

/// A stack of ten frames that all differ by one digit of `which`.
fn stack(builder: &mut Builder, which: u32) -> Key<StackId> {
    let mut locations = [Key::NONE; 10];
    for (depth, location) in locations.iter_mut().enumerate() {
        let digit = which / 10u32.pow(depth as u32 / 2) % 10;
        *location = builder.frame("frame", "main.rs", 10 * depth as u32 + digit + 1);
    }
    builder.stack(&locations)
}

fn values(profile: &Profile) -> Vec<i64> {
    profile
        .samples()
        .iter()
        .flat_map(|sample| sample.values.to_vec())
        .collect()
}
