//! Packed indices, and keys of rows of them, by the vector instructions of the processor, if it has
//! any for them.
//!
//! One interface over two files of which one is compiled; where nothing is to be had at run time, callers go on
//! without. No `unsafe` is needed: [`fearless_simd`] proves by a token that the processor has the instructions.
//!
//! What instructions there are is asked when the program runs, once for each [`Lanes`], so one
//! binary runs on every x86-64. Tests run both ways and compare; no result depends on the
//! processor.

// `--cfg otlp_profiles_scalar` leaves the instructions out, for tests of what is without them.
#[cfg(all(target_arch = "x86_64", not(otlp_profiles_scalar)))]
#[path = "avx2.rs"]
mod instructions;
#[cfg(not(all(target_arch = "x86_64", not(otlp_profiles_scalar))))]
#[path = "none.rs"]
mod instructions;

use instructions::Instructions;

/// The vector instructions there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes(Option<Instructions>);

impl Default for Lanes {
    fn default() -> Self {
        Self(instructions::instructions())
    }
}

impl Lanes {
    #[cfg(test)]
    pub(crate) const NONE: Self = Self(None);

    /// Runs `work` compiled with AVX2 and POPCNT where the processor has them. All that `work` calls
    /// must be `inline(always)`: what is not inlined is compiled without them.
    #[inline(always)]
    pub(crate) fn with<R>(self, work: impl FnOnce() -> R) -> R {
        match self.0 {
            Some(has) => instructions::with(has, work),
            None => work(),
        }
    }

    /// Reads the varints that begin in `ahead` but for its first byte, which ends what is before
    /// them, and for its last [`AHEAD`](crate::wire::indices::AHEAD) bytes, adds `plus` to each, and
    /// says how many there are: `Some(None)` if any is of more than four bytes, `None` if this
    /// processor has no instructions for it.
    #[inline(always)]
    pub(crate) fn read(self, ahead: &[u8], plus: u32, out: &mut [u32]) -> Option<Option<usize>> {
        self.0.map(|has| instructions::read(has, ahead, plus, out))
    }

    /// By row of a table of numbers that end there: a key that equal rows have in common and nearly
    /// no others do, made of how long the row is, the first 24 numbers and the last eight.
    pub(crate) fn row_keys(self, items: &[u32], ends: &[u32]) -> Vec<u64> {
        match self.0 {
            Some(has) => instructions::row_keys(has, items, ends),
            None => row_keys(items, ends),
        }
    }

    /// The largest index less one: 0 is larger than any other then.
    pub(crate) fn most_less_one(self, indices: &[u32]) -> Option<u32> {
        match self.0 {
            Some(has) => instructions::most(has, indices),
            None => most(indices),
        }
    }
}

/// How many numbers there are to a vector.
const LANES: usize = 8;

/// What numbers are mixed with before those beside each other are multiplied: for the first three
/// vectors of a row, and for its last.
///
/// Made by xorshift from a fixed seed: keys decide only which rows are compared, never what is
/// equal, so nothing secret is needed.
static FACTORS: [[u32; LANES]; 4] = {
    let mut factors = [[0; LANES]; 4];
    let (mut at, mut state) = (0, 0x9e37_79b9_7f4a_7c15_u64);
    while at < 4 * LANES {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        factors[at / LANES][at % LANES] = (state >> 32) as u32;
        at += 1;
    }
    factors
};

/// A key for each row: equal rows have equal keys, and others mostly not. The same by any instructions.
fn row_keys(items: &[u32], ends: &[u32]) -> Vec<u64> {
    let mut start = 0;
    let key = |&end: &u32| {
        let row = items.get(start..end as usize).unwrap_or_default();
        start = end as usize;
        row_key(row)
    };
    ends.iter().map(key).collect()
}

/// Of a row's first 24 numbers, its last eight and its length: more of it costs more than comparing rows that agree.
fn row_key(row: &[u32]) -> u64 {
    let last = row.len().saturating_sub(LANES);
    let mut key = length_key(row.len());
    for (first, factors) in [0, LANES, 2 * LANES, last].into_iter().zip(&FACTORS) {
        for (pair, factors) in factors.as_chunks::<2>().0.iter().enumerate() {
            let [even, odd] = [0, 1].map(|lane| {
                let number = row.get(first + 2 * pair + lane).copied().unwrap_or(0);
                u64::from(number ^ factors[lane])
            });
            key = even.wrapping_mul(odd).wrapping_add(key);
        }
    }
    key
}

/// So that rows that one longer begins with have other keys.
fn length_key(length: usize) -> u64 {
    (length as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The largest, each less one, so that 0 is the largest of all: none of none.
#[inline(always)]
fn most(indices: &[u32]) -> Option<u32> {
    let first = indices.first()?.wrapping_sub(1);
    let more = indices.iter().map(|index| index.wrapping_sub(1));
    Some(more.fold(first, u32::max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_the_same_with_and_without() {
        let items: Vec<u32> = (0..900u32).map(|at| at.wrapping_mul(0x9e37_79b9)).collect();
        let mut ends: Vec<u32> = (0..40).map(|row| row * (row + 1) / 2).collect();
        ends.extend([820, 860, 860, 862, 895, 899, 900, 900]);
        let keys = Lanes::default().row_keys(&items, &ends);
        assert_eq!(keys, Lanes::NONE.row_keys(&items, &ends));
        assert_eq!(keys.len(), ends.len());
        assert_eq!(keys[0], row_key(&[]));
        assert_eq!(keys[3], row_key(&items[3..6]));
        assert_eq!(Lanes::default().row_keys(&[], &[]), [0; 0]);
    }

    #[test]
    fn a_key_says_what_is_at_either_end() {
        let row: Vec<u32> = (1..=40).collect();
        let key = row_key(&row);
        assert_ne!(row_key(&row[1..]), key);
        for (at, seen) in [(0, true), (23, true), (24, false), (31, false), (32, true), (39, true)]
        {
            let mut other = row.clone();
            other[at] += 1;
            assert_eq!(row_key(&other) != key, seen, "{at}");
        }
    }
}
