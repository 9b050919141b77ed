//! An allocator that counts the allocations of one thread.
#![allow(unsafe_code, reason = "an allocator is unsafe to implement")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

pub struct Counting;

#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Allocations and reallocations.
    pub count: u64,
    /// Peak of allocated bytes, relative to the start.
    pub peak: i64,
    /// Allocated bytes now, relative to the start.
    pub live: i64,
    /// Bytes allocated before a reallocation, all of which an allocator may move.
    pub moved: u64,
    /// All bytes that were requested, whether or not they were returned.
    pub bytes: u64,
}

thread_local! {
    static COST: Cell<Cost> = const { Cell::new(Cost { count: 0, peak: 0, live: 0, moved: 0, bytes: 0 }) };
}

fn note(count: u64, bytes: i64) {
    // A thread that is ending has no counter.
    let _ = COST.try_with(|cost| {
        let mut now = cost.get();
        now.count += count;
        now.live += bytes;
        now.bytes += bytes.max(0) as u64;
        now.peak = now.peak.max(now.live);
        cost.set(now);
    });
}

// SAFETY: passes all arguments unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size() as i64);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size() as i64);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(0, -(layout.size() as i64));
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(1, size as i64 - layout.size() as i64);
        let _ = COST.try_with(|cost| {
            let now = cost.get();
            cost.set(Cost { moved: now.moved + layout.size() as u64, ..now });
        });
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Measures the cost of `work` on this thread.
pub fn cost<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    COST.with(|cost| cost.set(Cost::default()));
    let done = work();
    (done, COST.with(Cell::get))
}
