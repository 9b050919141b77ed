//! A seeded generator of numbers.

/// A pseudorandom sequence. Equal seeds give equal sequences, on every platform and in every release.
///
/// ```
/// use otlp_profiles::fuzzing::Random;
///
/// let numbers = |seed| (0..4).map(|_| Random::new(seed).below(100)).collect::<Vec<_>>();
/// assert_eq!(numbers(7), numbers(7));
/// ```
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number. This is SplitMix64.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, or 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next_u64() % (end as u64).max(1)) as usize
    }

    /// Returns an element of a slice that is not empty.
    pub(crate) fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}
