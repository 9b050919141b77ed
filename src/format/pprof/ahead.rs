//! Looking up the stacks and labels of many samples at once, before they are read.
//!
//! Once the tables of what was met are larger than the caches, each look-up waits for memory three or four
//! times, one after the other: the slot, the row, the bytes that it says are equal. Asked for one step at a time
//! for many samples, those waits are at the same time, and reading finds all of it near. Nothing is decided
//! here: what is read, and in which order, is the same without.

use std::hint::black_box;

use crate::format::pprof::layout::{Place, row};
use crate::format::pprof::samples::{LABEL, LOCATION_ID, SampleReader};
use crate::format::texts::hash_bytes;

/// As many stacks and labels as no near cache holds.
const FAR: usize = 1 << 16;

impl SampleReader<'_> {
    /// Whether look-ups wait for memory.
    pub(super) fn is_far(&self) -> bool {
        self.stacks.len() + self.labels.len() >= FAR
    }

    /// Fetches what the look-ups of some samples will ask for.
    ///
    /// Costs a hash of each stack and label twice, which is less than one wait for memory.
    pub(super) fn fetch(&mut self, samples: &[Place]) {
        let [stacks, labels] = &mut self.ahead;
        stacks.clear();
        labels.clear();
        for &place in samples {
            let mut sample = row(place, self.payload);
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
        let single = |at: &(u32, u32)| self.singles.get(at.0.wrapping_sub(1) as usize);
        black_box(labels.iter().filter_map(single).fold(0, |all, single| all ^ single.half));
        self.stacks.fetch(stacks);
        self.labels.fetch(labels);
    }
}
