//! Stacks that samples reference as slices of one list of locations.
//!
//! Requirements:
//!
//! * The list may follow the samples in the payload, so it is read first.
//! * Slices may be in any order.
//! * Each slice is processed once, however many samples reference it.
//!
//! Slices are numbered in the order of their first occurrence. After all samples are read, the slices become
//! rows of the table of stacks, in the order of the list. Slices with equal locations share a row.
//!
//! ```text
//! list     a b c d e f g h          location_indices
//! slices   [3,5) [0,3) [1,3) [6,8)  numbers 1 2 3 4
//! firsts   2 3 0 1 0 0 4 0          by location: the first slice seen that begins there
//! rows     a b c │ d e │ g h │ b c  [1,3) begins inside [0,3), so it follows; f belongs to no slice
//! ```

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::losses;
use crate::model::id::StackId;
use crate::read_context::ReadContext;
use crate::tables::read::common::show;
use crate::tables::read::stacks::Stacks;
use crate::wire::LEN;
use crate::wire::indices::Indices;
use crate::wire::packed::count_packed;
use crate::wire::read::Reader;
use crate::wire::varint::{NEGATIVE_INDEX, OVERSIZED_INDEX};

/// `Profile.location_indices` and its slices.
#[derive(Debug, Default)]
pub(crate) struct LocationList {
    /// The list, followed by the stacks of samples with separate locations.
    locations: Indices,
    /// The number of the first slice seen that begins at a location of the list, or 0.
    firsts: Vec<u32>,
    /// The start and length of each slice, by its number less one.
    slices: Vec<(u32, u32)>,
    /// The numbers of slices that share their start with an earlier slice.
    others: HashMap<(u32, u32), u32, RandomState>,
}

/// The number of bytes of a list that are decoded at a time.
const PART: usize = 1024;

impl LocationList {
    /// Creates an empty list with the same offset of locations as `stacks`: 0 or 1.
    pub(crate) fn of(stacks: &Stacks) -> Self {
        Self { locations: stacks.locations.none(), ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.locations.len() == 0
    }

    /// Returns the number of locations, including separate locations of samples.
    pub(crate) fn len(&self) -> usize {
        self.locations.len()
    }

    /// Appends locations, packed or not: to the list, or after its end to the separate stack of a sample.
    ///
    /// # Errors
    ///
    /// An invalid varint; [`Limit`](crate::ErrorKind::Limit) if the budget is exceeded.
    pub(crate) fn read(
        &mut self,
        tag: u32,
        reader: &mut Reader,
        cx: &mut ReadContext,
    ) -> Result<()> {
        if tag & 7 != LEN {
            cx.budget.charge::<u32>(2)?;
            self.locations.push(reader.index()?);
            return Ok(());
        }
        let mut packed = reader.message()?;
        let count = count_packed(packed.rest());
        cx.budget.charge::<u32>(count)?;
        // While a part is decoded, it takes a slot per byte, more than it has locations.
        self.locations.reserve(count + 2 * PART);
        while !packed.is_empty() {
            // Parts end with a complete varint. Before a part is decoded, its memory is filled with zeros.
            let rest = packed.rest().get(PART..).unwrap_or_default();
            let last = rest.iter().position(|&byte| byte < 0x80);
            let part = last.map_or(packed.left(), |last| PART + last + 1);
            self.locations.append(packed.part(part))?;
            packed.pass(part);
        }
        Ok(())
    }

    /// Reserves memory for `samples` samples after the list is complete. Most samples have a unique slice.
    pub(crate) fn end(&mut self, samples: usize, cx: &mut ReadContext) -> Result<()> {
        let slices = samples.min(self.locations.len());
        cx.budget.charge::<(u32, u32)>(slices)?;
        cx.budget.charge::<u32>(self.locations.len())?;
        self.slices.reserve_exact(slices);
        // From here on only separate stacks are appended, so `firsts` ends where the list ends.
        self.firsts = vec![0; self.locations.len()];
        Ok(())
    }

    /// Returns the number of a nonempty slice.
    ///
    /// # Errors
    ///
    /// A slice that ends past the list, unless the policy is to repair; then its number is 0, the empty
    /// stack. A slice deeper than `max_stack_depth`.
    // Always inlined. Without any in the library, decoding 1.10 takes up to 36 % more instructions.
    #[inline(always)]
    pub(crate) fn slice(&mut self, start: u32, length: u32, cx: &mut ReadContext) -> Result<u32> {
        let Self { firsts, slices, .. } = self;
        // The sum of two `u32` may need 33 bits. `firsts` excludes the separate stacks behind the list.
        let past = u64::from(start) + u64::from(length) > firsts.len() as u64;
        let Some(first) = firsts.get_mut(start as usize).filter(|_| !past) else {
            self.refuse(start, length, cx)?;
            return Ok(0);
        };
        cx.check_depth(length as usize)?;
        // 0, no slice yet, wraps to an index out of range.
        match slices.get((*first as usize).wrapping_sub(1)) {
            Some((_, known)) if *known == length => Ok(*first),
            Some(_) => self.other(start, length, cx),
            None => {
                cx.budget.push(slices, (start, length))?;
                // Each slice is that of a sample, and `addressable` limits a payload to less than 2³²
                // bytes.
                *first = slices.len() as u32;
                Ok(*first)
            }
        }
    }

    /// Returns the number of a slice that shares its start with another.
    #[inline(never)]
    fn other(&mut self, start: u32, length: u32, cx: &mut ReadContext) -> Result<u32> {
        if let Some(number) = self.others.get(&(start, length)) {
            return Ok(*number);
        }
        cx.budget.charge::<[u32; 6]>(1)?;
        cx.budget.push(&mut self.slices, (start, length))?;
        let number = self.slices.len() as u32;
        self.others.insert((start, length), number);
        Ok(number)
    }

    /// Returns the number of the separate stack of a sample, which consists of the locations from `start`; 0
    /// if there are no such locations.
    #[inline(always)]
    pub(crate) fn own(&mut self, start: usize, cx: &mut ReadContext) -> Result<u32> {
        let length = self.locations.len() - start;
        if length == 0 {
            return Ok(0);
        }
        cx.check_depth(length)?;
        // Added without a lookup: `Stacks::intern` gives equal stacks one row in the end.
        cx.budget.push(&mut self.slices, (start as u32, length as u32))?;
        Ok(self.slices.len() as u32)
    }

    /// Converts all slices to stacks. Replaces the numbers in `of_samples` by rows of the stack table.
    pub(crate) fn finish(
        mut self,
        stacks: &mut Stacks,
        of_samples: &mut [StackId],
        cx: &mut ReadContext,
    ) -> Result<()> {
        cx.budget.charge::<[u32; 3]>(self.slices.len())?;
        let in_order = self.in_order();
        // Free this memory before the locations are copied.
        (self.firsts, self.others) = Default::default();
        stacks.reserve(self.slices.len(), self.locations.len());
        // Number 0 is the empty stack, which is row 0 of the table.
        let mut rows = vec![0; self.slices.len() + 1];
        for number in in_order {
            let (start, length) = self.slices[number - 1];
            let end = start as usize + length as usize;
            rows[number] = stacks.intern(self.locations.get(start as usize, end), cx)?;
        }
        of_samples.iter_mut().for_each(|stack| stack.0 = rows[stack.row()]);
        Ok(())
    }

    /// Returns the numbers of all slices in the order of their rows: slices that begin after the previous one
    /// ends; slices that begin inside another; slices that share their start with another, and separate
    /// stacks of samples.
    fn in_order(&self) -> Vec<usize> {
        let begins =
            self.firsts.iter().map(|number| *number as usize).filter(|number| *number != 0);
        let mut last_end = 0;
        let (mut numbers, inside): (Vec<usize>, Vec<usize>) = begins.partition(|number| {
            let (start, length) = self.slices[number - 1];
            let is_behind = start >= last_end;
            if is_behind {
                // No overflow: `slice` checked that the end is within the list.
                last_end = start + length;
            }
            is_behind
        });
        numbers.extend(inside);
        let is_first = |number: usize| {
            let (start, _) = self.slices[number - 1];
            // Separate stacks start behind `firsts`, so they are never the first.
            self.firsts.get(start as usize).is_some_and(|first| *first as usize == number)
        };
        numbers.extend((1..=self.slices.len()).filter(|number| !is_first(*number)));
        numbers
    }

    /// Reports a slice that ends past the list, or has an invalid start or length.
    #[cold]
    fn refuse(&self, start: u32, length: u32, cx: &mut ReadContext) -> Result<()> {
        let (field, message) = match length {
            _ if start >= OVERSIZED_INDEX => {
                ("locations_start_index", format!("the slice starts at {}", show(start)))
            }
            NEGATIVE_INDEX => {
                ("locations_length", "the length of the slice is negative".to_owned())
            }
            OVERSIZED_INDEX => {
                ("locations_length", "the length of the slice exceeds 32 bits".to_owned())
            }
            _ => {
                let past = format!("past the end of the {} location_indices", self.firsts.len());
                ("locations_length", format!("the slice ends at {start} + {length}, {past}"))
            }
        };
        cx.repair(losses::INDEX_OUT_OF_RANGE, Error::malformed(message).within(field))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::read_context::Policy;
    use crate::wire::tag;
    use crate::wire::write::varint;

    fn cx() -> ReadContext {
        ReadContext::new(Limits::network(), Policy::Refuse, 0)
    }

    /// Reads a list from the body of one packed field.
    fn packed(body: &[u8]) -> Result<LocationList> {
        let (mut field, mut list) = (Vec::new(), LocationList::default());
        varint(&mut field, body.len() as u64);
        field.extend_from_slice(body);
        list.read(tag(1, LEN), &mut Reader::new(&field), &mut cx()).map(|()| list)
    }

    #[test]
    fn a_long_list_is_read_part_by_part_as_it_is_in_one() {
        let numbers = |index: u32| index.wrapping_mul(2_654_435_761) >> (index % 29);
        for count in [0, 1, 5_000, 30_000] {
            let mut body = Vec::new();
            (0..count).for_each(|index| varint(&mut body, numbers(index).into()));
            let list = packed(&body).unwrap();
            assert_eq!(list.len(), count as usize);
            let read = list.locations.into_vec();
            assert!(read.into_iter().eq((0..count).map(numbers)));
        }
    }

    #[test]
    fn what_is_no_varint_is_refused_though_nothing_refers_to_it() {
        let read = |bytes: &[u8]| packed(bytes).map(|list| list.len());
        for before in 0..9 {
            let mut body = vec![1; before];
            body.extend([0x80; 10]);
            body.extend([0; 20]);
            assert!(read(&body).is_err());
            body.remove(before);
            assert_eq!(read(&body).unwrap(), before + 20);
        }
        assert!(read(&[1, 0x80]).is_err());
        assert!(read(&[[0x80; 20_000].as_slice(), &[0; 20_000]].concat()).is_err());
    }

    /// Checks the stacks of slices of two lists of 1,000 numbers. Each sample also has a separate stack.
    fn check(lists: [&[(u32, u32)]; 2]) {
        let (mut stacks, mut cx) = (Stacks::plus(1), cx());
        let (mut read, mut expected) = (Vec::new(), Vec::new());
        for (slices, from) in lists.into_iter().zip([0, 5_000]) {
            let mut list = LocationList::of(&stacks);
            (from..from + 1_000).for_each(|at| list.locations.push(at));
            list.end(slices.len(), &mut cx).unwrap();
            let mut of_samples = Vec::new();
            for &(start, length) in slices {
                of_samples.push(StackId(list.slice(start, length, &mut cx).unwrap()));
                let stack = start + from + 1..start + from + length + 1;
                expected.push(stack.collect::<Vec<u32>>());
            }
            let own = list.len();
            list.locations.extend(&[9_007, 9_008]);
            of_samples.push(StackId(list.own(own, &mut cx).unwrap()));
            expected.push(vec![9_007, 9_008]);
            list.finish(&mut stacks, &mut of_samples, &mut cx).unwrap();
            read.extend(of_samples);
        }
        stacks.finish_rows();
        for (at, (row, stack)) in read.iter().zip(&expected).enumerate() {
            assert_eq!(stacks.rows.row(row.row()), stack, "{at} of {lists:?}");
        }
        let mut rows: Vec<&[u32]> = stacks.rows.rows().collect();
        rows.sort_unstable();
        rows.dedup();
        expected.push(vec![]);
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(rows, expected);
        let distinct =
            |slices: &[(u32, u32)]| slices.iter().collect::<std::collections::HashSet<_>>().len();
        assert_eq!(stacks.rows.len(), 2 + distinct(lists[0]) + distinct(lists[1]));
        assert_eq!(stacks.rows.items.len(), stacks.rows.rows().map(<[u32]>::len).sum::<usize>());
    }

    #[test]
    fn slices_are_stacks_whatever_their_order() {
        check([&[], &[]]);
        check([&[(0, 5), (5, 5), (10, 1)], &[(0, 5), (5, 990)]]);
        // Slices from the middle; with gaps; repeated; nested in another slice, seen before or after it.
        check([&[(100, 5), (105, 7)], &[(100, 5), (105, 7)]]);
        check([&[(3, 5), (10, 7), (8, 2), (17, 3)], &[(0, 1), (999, 1)]]);
        check([&[(3, 5), (8, 2), (3, 5), (8, 2), (3, 5), (10, 1)], &[(0, 9), (0, 9)]]);
        check([&[(0, 9), (4, 5), (9, 9), (4, 5)], &[(0, 9), (14, 4), (9, 9), (18, 1), (0, 8)]]);
        check([&[(900, 100), (800, 100), (0, 800), (0, 1000)], &[(0, 1000), (0, 1000)]]);
        let mut state = 1u64;
        let mut next = |below: u32| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as u32 % below
        };
        for case in 0..50 {
            let mut at = 0;
            let slices: Vec<(u32, u32)> = (0..200)
                .map(|_| {
                    let length = 1 + next(8);
                    let start = if next(50) < case { next(900) } else { at % 900 };
                    at = start + length;
                    (start, length)
                })
                .collect();
            check([&slices, &slices[..100]]);
        }
    }

    #[test]
    fn a_slice_past_the_list_is_refused() {
        let mut cx = cx();
        let mut list = LocationList::of(&Stacks::plus(1));
        (0..11).for_each(|at| list.locations.push(at));
        list.end(2, &mut cx).unwrap();
        for (start, sum) in [(8, "8 + 4"), (20, "20 + 4")] {
            let error = list.slice(start, 4, &mut cx).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "locations_length: the slice ends at {sum}, past the end of the 11 location_indices"
                )
            );
        }
    }
}
