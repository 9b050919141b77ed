//! Packed indices by the vector instructions of the processor, if it has any for them.

#[cfg(target_arch = "x86_64")]
#[path = "avx2.rs"]
mod instructions;
#[cfg(not(target_arch = "x86_64"))]
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
    /// them, and for its last [`AHEAD`](crate::wire::indices::AHEAD) bytes, and says how many there
    /// are: `Some(None)` if any is of more than four bytes, `None` if this processor has no
    /// instructions for it.
    #[inline(always)]
    pub(crate) fn read(self, ahead: &[u8], out: &mut [u32]) -> Option<Option<usize>> {
        self.0.map(|has| instructions::read(has, ahead, out))
    }

    /// The largest index less one: 0 is larger than any other then.
    pub(crate) fn most_less_one(self, indices: &[u32]) -> Option<u32> {
        match self.0 {
            Some(has) => instructions::most(has, indices),
            None => most(indices),
        }
    }
}

#[inline(always)]
fn most(indices: &[u32]) -> Option<u32> {
    let first = indices.first()?.wrapping_sub(1);
    let more = indices.iter().map(|index| index.wrapping_sub(1));
    Some(more.fold(first, u32::max))
}
