//! Packed indices by the vector instructions of the processor, if it has any for them.
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

    /// Reads the varints that begin in `ahead` but for its first byte, which ends what is before
    /// them, and for its last [`AHEAD`](crate::wire::indices::AHEAD) bytes, adds `plus` to each, and
    /// says how many there are: `Some(None)` if any is of more than four bytes, `None` if this
    /// processor has no instructions for it.
    #[inline(always)]
    pub(crate) fn read(self, ahead: &[u8], plus: u32, out: &mut [u32]) -> Option<Option<usize>> {
        self.0.map(|has| instructions::read(has, ahead, plus, out))
    }

    /// The largest index less one: 0 is larger than any other then.
    pub(crate) fn most_less_one(self, indices: &[u32]) -> Option<u32> {
        match self.0 {
            Some(has) => instructions::most(has, indices),
            None => most(indices),
        }
    }
}

/// The largest, each less one, so that 0 is the largest of all: none of none.
#[inline(always)]
fn most(indices: &[u32]) -> Option<u32> {
    let first = indices.first()?.wrapping_sub(1);
    let more = indices.iter().map(|index| index.wrapping_sub(1));
    Some(more.fold(first, u32::max))
}
