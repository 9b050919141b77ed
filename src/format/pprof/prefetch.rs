//! Prefetching of the hash table entries for the stacks and labels of many samples.
//!
//! Once the hash tables outgrow the caches, each lookup waits for memory three or four times in sequence: for
//! the slot, the row, and the bytes to compare. If each step runs for many samples at once, these waits
//! overlap, and the reader then finds the entries in the cache. Prefetching does not affect the result.

use std::hint::black_box;

use crate::format::pprof::layout::{RowSpan, row};
use crate::format::pprof::samples::{LABEL, LOCATION_ID, SampleReader};
use crate::tables::read::string_interner::hash_bytes;

/// The number of stacks and labels from which the tables exceed the near caches.
const CACHED_ROWS: usize = 1 << 16;

impl SampleReader<'_> {
    /// Returns whether lookups are likely to wait for memory.
    pub(super) fn exceeds_cache(&self) -> bool {
        self.stacks.len() + self.labels.len() >= CACHED_ROWS
    }

    /// Prefetches the entries that the lookups of the given samples need.
    ///
    /// It hashes each stack and label a second time, which costs less than one wait for memory.
    pub(super) fn prefetch(&mut self, samples: &[RowSpan]) {
        let [stacks, labels] = &mut self.ahead;
        stacks.clear();
        labels.clear();
        for &span in samples {
            let mut sample = row(span, self.payload);
            // Stops at the first field in a rarer form. Its lookup then waits for memory.
            while let Some((tag, body)) = sample.record() {
                let lists = match tag {
                    LOCATION_ID => &mut *stacks,
                    LABEL => &mut *labels,
                    _ => continue,
                };
                lists.push((hash_bytes(&self.hasher, body.rest()) as u32, 0));
            }
        }
        self.stacks.look(stacks);
        self.labels.look(labels);
        // An empty slot gives row 0, which wraps out of range.
        let single = |at: &(u32, u32)| self.singles.get(at.0.wrapping_sub(1) as usize);
        // The result is unused: `black_box` keeps the loads.
        black_box(labels.iter().filter_map(single).fold(0, |all, single| all ^ single.half));
        self.stacks.prefetch(stacks);
        self.labels.prefetch(labels);
    }
}
