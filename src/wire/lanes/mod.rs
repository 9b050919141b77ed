//! Decodes packed indices with the processor's vector instructions, if it has suitable ones.
//!
//! One interface over two files, of which one is compiled. If the processor lacks the instructions at run time,
//! callers use a scalar path. No `unsafe` is needed: [`fearless_simd`] proves with a token that the processor has
//! the instructions.
//!
//! Each [`Lanes`] detects the processor once, at run time, so one binary runs on every x86-64. Results do not
//! depend on the processor; tests compare both paths.

#[cfg(all(target_arch = "x86_64", feature = "simd"))]
#[path = "avx2.rs"]
mod instructions;
#[cfg(not(all(target_arch = "x86_64", feature = "simd")))]
#[path = "none.rs"]
mod instructions;

use instructions::Instructions;

/// The vector instructions that the processor has.
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

    /// Decodes varints, adds `plus` to each, and returns how many there are. The varints begin after the first byte
    /// of `ahead`, which ends whatever precedes them, and before its last [`AHEAD`](crate::wire::indices::AHEAD)
    /// bytes. Returns `Some(None)` if a varint has more than four bytes, and `None` if this processor lacks the
    /// instructions.
    // Always inlined. Without any in the library, decoding 1.10 takes up to 36 % more instructions.
    #[inline(always)]
    pub(crate) fn read(self, ahead: &[u8], plus: u32, out: &mut [u32]) -> Option<Option<usize>> {
        self.0.map(|has| instructions::read(has, ahead, plus, out))
    }

    /// Returns the maximum of the indices after subtracting 1, so that 0 wraps around and exceeds all others.
    pub(crate) fn most_less_one(self, indices: &[u32]) -> Option<u32> {
        match self.0 {
            Some(has) => instructions::most(has, indices),
            None => most(indices),
        }
    }
}

/// Returns the maximum of the indices after subtracting 1 with wrap-around. `None` if there are no indices.
#[inline(always)]
fn most(indices: &[u32]) -> Option<u32> {
    let first = indices.first()?.wrapping_sub(1);
    let more = indices.iter().map(|index| index.wrapping_sub(1));
    Some(more.fold(first, u32::max))
}
