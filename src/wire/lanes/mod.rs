//! Packed indices, and sums over them, by the vector instructions of the processor, if it has any
//! for them.

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
    /// them, and for its last [`AHEAD`](crate::wire::indices::AHEAD) bytes, adds `plus` to each, and
    /// says how many there are: `Some(None)` if any is of more than four bytes, `None` if this
    /// processor has no instructions for it.
    #[inline(always)]
    pub(crate) fn read(self, ahead: &[u8], plus: u32, out: &mut [u32]) -> Option<Option<usize>> {
        self.0.map(|has| instructions::read(has, ahead, plus, out))
    }

    /// By row of a table of numbers that end there: the sum of the squares of how far they are
    /// `of` a number, bit by bit.
    pub(crate) fn square_sums(self, items: &[u32], ends: &[u32], of: u32) -> Vec<u64> {
        match self.0 {
            Some(has) => instructions::square_sums(has, items, ends, of),
            None => square_sums(items, ends, of),
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

/// How many numbers are squared at once.
const SQUARES: usize = 8;

/// Which numbers of so many there are.
static FIRST: [[u32; SQUARES]; SQUARES] = {
    let mut first = [[0; SQUARES]; SQUARES];
    let mut at = 0;
    while at < SQUARES * SQUARES {
        if at % SQUARES < at / SQUARES {
            first[at / SQUARES][at % SQUARES] = u32::MAX;
        }
        at += 1;
    }
    first
};

fn square_sums(items: &[u32], ends: &[u32], of: u32) -> Vec<u64> {
    let square = |number: &u32| u64::from(number ^ of) * u64::from(number ^ of);
    let mut start = 0;
    let sum = |&end: &u32| {
        let row = items.get(start..end as usize).unwrap_or_default();
        start = end as usize;
        row.iter().map(square).fold(0, u64::wrapping_add)
    };
    ends.iter().map(sum).collect()
}

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
    fn sums_are_the_same_with_and_without() {
        let items: Vec<u32> = (0..500u32).map(|at| at.wrapping_mul(0x9e37_79b9)).collect();
        let mut end = 0;
        let ends: Vec<u32> = (0..60)
            .map(|row| {
                end += row % 20;
                end.min(500)
            })
            .collect();
        for of in [0, 1, u32::MAX, 0xdead_beef] {
            let sums = Lanes::default().square_sums(&items, &ends, of);
            assert_eq!(sums, Lanes::NONE.square_sums(&items, &ends, of));
            assert_eq!(sums.len(), ends.len());
            let first = (items[0] ^ of) as u64;
            assert_eq!(sums[..2], [0, first.wrapping_mul(first)]);
        }
    }
}
