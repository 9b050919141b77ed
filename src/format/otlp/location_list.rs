//! The stacks that the samples of a profile refer to by slices of one list of locations.
//!
//! Requirements: every number is decoded once, to where stacks are kept; slices that follow one
//! another, as nearly all do, become stacks where they are; one that was met before is known by
//! where it is, and samples that share a stack nearly always share its slice too.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::format::losses;
use crate::format::otlp::common::show;
use crate::format::stacks::Stacks;
use crate::model::ragged::Ragged;
use crate::wire::read::{BEYOND, Reader, count_packed};

/// `Profile.location_indices` among the locations of all stacks, and which parts of it are stacks.
#[derive(Debug, Default)]
pub(crate) struct LocationList {
    /// Where it begins and ends there.
    begin: usize,
    end: usize,
    /// What of it are stacks, one after the other: the row of the first of them, where it begins,
    /// and where the last ends.
    row: usize,
    first: usize,
    next: usize,
    /// The other stacks, and which of them a slice is.
    others: Ragged<u32>,
    slices: HashMap<(u32, u32), u32, RandomState>,
    /// By the low bits of where they start: the last slice met, and its stack.
    met: Vec<Met>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Met {
    start: u32,
    length: u32,
    row: u32,
}

/// Marks the number of one of the other stacks, whose row is known when all are.
const OTHER: u32 = 1 << 31;

/// The bytes decoded at once: room for that many numbers is filled with zeros first.
const PART: usize = 1024;

/// The most slices remembered: 12 KiB of them stay in the nearest cache.
const MET: usize = 1024;

impl LocationList {
    /// A list behind the locations there are.
    pub(crate) fn after(stacks: &Stacks) -> Self {
        let begin = stacks.locations.len();
        Self {
            begin,
            end: begin,
            ..Self::default()
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.begin == self.end
    }

    /// Appends the numbers of a packed field.
    pub(crate) fn extend(
        &mut self,
        mut packed: Reader,
        stacks: &mut Stacks,
        intake: &mut Intake,
    ) -> Result<()> {
        let count = count_packed(packed.rest());
        intake.budget.take::<u32>(count)?;
        let locations = &mut stacks.locations;
        // With some room for those that are in two stacks.
        locations.reserve(count + count / 16 + 2 * PART);
        while !packed.is_empty() {
            let bytes = packed.rest();
            let rest = bytes.get(PART..).unwrap_or_default();
            let last = rest.iter().position(|&byte| byte < 0x80);
            let part = last.map_or(bytes.len(), |last| PART + last + 1);
            locations.append(packed.part(part))?;
            packed.pass(part);
        }
        self.end = locations.len();
        Ok(())
    }

    /// Appends one number.
    pub(crate) fn push(
        &mut self,
        location: u32,
        stacks: &mut Stacks,
        intake: &mut Intake,
    ) -> Result<()> {
        intake.budget.take::<u32>(2)?;
        stacks.locations.push(location);
        self.end = stacks.locations.len();
        Ok(())
    }

    /// Makes ready for so many samples, once all locations are here.
    pub(crate) fn begin(
        &mut self,
        samples: usize,
        stacks: &mut Stacks,
        intake: &mut Intake,
    ) -> Result<()> {
        self.row = stacks.rows.len();
        // Where stacks are told apart at all they have locations of their own, or nearly so.
        let different = samples.min(self.end - self.begin);
        if different > 0 {
            intake.budget.take::<u32>(different)?;
            stacks.rows.ends.reserve(different);
            let met = different.next_power_of_two().min(MET);
            intake.budget.take::<Met>(met)?;
            self.met = vec![Met::default(); met];
        }
        Ok(())
    }

    /// The stack that a slice which is not empty holds.
    #[inline]
    pub(crate) fn stack(
        &mut self,
        start: u32,
        length: u32,
        stacks: &mut Stacks,
        intake: &mut Intake,
    ) -> Result<u32> {
        let from = self.begin.saturating_add(start as usize);
        let to = from.saturating_add(length as usize);
        if from == self.next && to <= self.end {
            return self.append(to, stacks, intake);
        }
        self.other(start, length, stacks, intake)
    }

    /// The stack from where the last ends to `to`.
    #[inline]
    fn append(&mut self, to: usize, stacks: &mut Stacks, intake: &mut Intake) -> Result<u32> {
        intake.check_depth(to - self.next)?;
        self.next = to;
        let row = stacks.rows.len();
        stacks.rows.ends.push((to - self.first + self.begin) as u32);
        Ok(row as u32)
    }

    /// The stack of a slice that does not begin where the last ends.
    #[inline(never)]
    fn other(
        &mut self,
        start: u32,
        length: u32,
        stacks: &mut Stacks,
        intake: &mut Intake,
    ) -> Result<u32> {
        let at = start as usize & self.met.len().wrapping_sub(1);
        if let Some(met) = self.met.get(at)
            && (met.start, met.length) == (start, length)
        {
            return Ok(met.row);
        }
        let from = self.begin.saturating_add(start as usize);
        let to = from.saturating_add(length as usize);
        if to > self.end {
            self.refuse(start, length, intake)?;
            return Ok(0);
        }
        if self.next == 0 {
            // The first one.
            (self.first, self.next) = (from, from);
            return self.append(to, stacks, intake);
        }
        let row = match self.among_rows(from, to, stacks) {
            Some(row) => row,
            None => self.among_others((start, length), from, stacks, intake)?,
        };
        if let Some(met) = self.met.get_mut(at) {
            *met = Met { start, length, row };
        }
        Ok(row)
    }

    /// The row of a slice that is one of those which follow one another.
    fn among_rows(&self, from: usize, to: usize, stacks: &Stacks) -> Option<u32> {
        let kept = |at: usize| Some((at.checked_sub(self.first)? + self.begin) as u32);
        let (start, end) = (kept(from)?, kept(to)?);
        let ends = stacks.rows.ends.get(self.row..)?;
        let at = ends.partition_point(|&end| end <= start);
        let before = match at.checked_sub(1) {
            Some(before) => ends[before],
            None => self.begin as u32,
        };
        (ends.get(at) == Some(&end) && before == start).then_some((self.row + at) as u32)
    }

    fn among_others(
        &mut self,
        slice: (u32, u32),
        from: usize,
        stacks: &mut Stacks,
        intake: &mut Intake,
    ) -> Result<u32> {
        if let Some(&other) = self.slices.get(&slice) {
            return Ok(other);
        }
        intake.budget.take::<[u32; 6]>(1)?;
        let to = from + slice.1 as usize;
        let stack = stacks.locations.get(from, to);
        let other = self.own(stack, intake)?;
        self.slices.insert(slice, other);
        Ok(other)
    }

    /// A stack that may be no slice of the list.
    pub(crate) fn own(&mut self, stack: &[u32], intake: &mut Intake) -> Result<u32> {
        if stack.is_empty() {
            return Ok(0);
        }
        intake.check_depth(stack.len())?;
        intake.budget.take::<u32>(2 * stack.len() + 2)?;
        self.others.push(stack);
        Ok(OTHER | (self.others.len() as u32 - 1))
    }

    /// Has all stacks be rows, and nothing else of the list; `of_samples` get to know where.
    pub(crate) fn finish(self, stacks: &mut Stacks, of_samples: &mut [u32]) {
        let Stacks {
            rows, locations, ..
        } = stacks;
        locations.keep(self.begin, self.first..self.next);
        if self.others.is_empty() {
            return;
        }
        let row = rows.len() as u32;
        let kept = locations.len() as u32;
        locations.extend(&self.others.items);
        rows.ends
            .extend(self.others.ends.iter().map(|end| kept + end));
        for stack in of_samples.iter_mut().filter(|stack| **stack & OTHER != 0) {
            *stack = row + (*stack & !OTHER);
        }
    }

    #[cold]
    fn refuse(&self, start: u32, length: u32, intake: &mut Intake) -> Result<()> {
        let end = match (start < BEYOND, length < BEYOND) {
            (true, true) => format!("{start} + {length}"),
            _ => format!("{} + {}", show(start), show(length)),
        };
        let indices = self.end - self.begin;
        let error = Error::malformed(format!(
            "the slice ends at {end}, past the last of {indices} location_indices"
        ));
        intake.repair(losses::INDEX_OUT_OF_RANGE, error.within("locations_length"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::intake::Policy;
    use crate::limits::Limits;
    use crate::wire::write::varint;

    fn intake() -> Intake {
        Intake::new(Limits::network(), Policy::Refuse)
    }

    #[test]
    fn a_long_list_is_read_part_by_part_as_it_is_in_one() {
        let numbers = |index: u32| index.wrapping_mul(2_654_435_761) >> (index % 29);
        for count in [0, 1, 5_000, 30_000] {
            let mut body = Vec::new();
            (0..count).for_each(|index| varint(&mut body, numbers(index).into()));
            let (mut stacks, mut intake) = (Stacks::plus(0), intake());
            let mut list = LocationList::after(&stacks);
            list.extend(Reader::new(&body), &mut stacks, &mut intake)
                .unwrap();
            assert_eq!(list.end, count as usize);
            let read = stacks.locations.into_vec();
            assert!(read.into_iter().eq((0..count).map(numbers)));
        }
    }

    #[test]
    fn what_is_no_varint_is_refused_though_nothing_refers_to_it() {
        let read = |bytes: &[u8]| {
            let mut stacks = Stacks::plus(1);
            let mut list = LocationList::after(&stacks);
            list.extend(Reader::new(bytes), &mut stacks, &mut intake())
                .map(|()| list.end)
        };
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

    /// The stacks of some slices of two lists of 1,000 numbers, each with a stack of its own too.
    fn check(lists: [&[(u32, u32)]; 2]) {
        let (mut stacks, mut intake) = (Stacks::plus(1), intake());
        let (mut read, mut expected) = (Vec::new(), Vec::new());
        for (slices, from) in lists.into_iter().zip([0, 5_000]) {
            let mut list = LocationList::after(&stacks);
            (from..from + 1_000).for_each(|at| list.push(at, &mut stacks, &mut intake).unwrap());
            list.begin(slices.len(), &mut stacks, &mut intake).unwrap();
            let mut of_samples = Vec::new();
            for &(start, length) in slices {
                of_samples.push(list.stack(start, length, &mut stacks, &mut intake).unwrap());
                let stack = start + from + 1..start + from + length + 1;
                expected.push(stack.collect::<Vec<u32>>());
            }
            of_samples.push(list.own(&[7, 8], &mut intake).unwrap());
            expected.push(vec![7, 8]);
            list.finish(&mut stacks, &mut of_samples);
            read.extend(of_samples);
        }
        stacks.settle();
        for (at, (row, stack)) in read.iter().zip(&expected).enumerate() {
            assert_eq!(stacks.rows.row(*row as usize), stack, "{at} of {lists:?}");
        }
        let mut rows: Vec<&[u32]> = stacks.rows.rows().collect();
        rows.sort_unstable();
        rows.dedup();
        expected.push(vec![]);
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(rows, expected);
        let distinct = |slices: &[(u32, u32)]| {
            slices
                .iter()
                .collect::<std::collections::HashSet<_>>()
                .len()
                + 1
        };
        assert_eq!(
            stacks.rows.len(),
            1 + distinct(lists[0]) + distinct(lists[1])
        );
        assert_eq!(
            stacks.rows.items.len(),
            stacks.rows.rows().map(<[u32]>::len).sum::<usize>()
        );
    }

    #[test]
    fn slices_are_stacks_whatever_their_order() {
        check([&[], &[]]);
        check([&[(0, 5), (5, 5), (10, 1)], &[(0, 5), (5, 990)]]);
        // From the middle on; with gaps; again and again; one in another, before it and behind it.
        check([&[(100, 5), (105, 7)], &[(100, 5), (105, 7)]]);
        check([&[(3, 5), (10, 7), (8, 2), (17, 3)], &[(0, 1), (999, 1)]]);
        check([
            &[(3, 5), (8, 2), (3, 5), (8, 2), (3, 5), (10, 1)],
            &[(0, 9), (0, 9)],
        ]);
        check([
            &[(0, 9), (4, 5), (9, 9), (4, 5)],
            &[(0, 9), (14, 4), (9, 9), (18, 1), (0, 8)],
        ]);
        check([
            &[(900, 100), (800, 100), (0, 800), (0, 1000)],
            &[(0, 1000), (0, 1000)],
        ]);
        let mut state = 1u64;
        let mut next = |below: u32| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
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
        let (mut stacks, mut intake) = (Stacks::plus(1), intake());
        let mut list = LocationList::after(&stacks);
        (0..11).for_each(|at| list.push(at, &mut stacks, &mut intake).unwrap());
        list.begin(1, &mut stacks, &mut intake).unwrap();
        for (start, said) in [(8, "8 + 4"), (20, "20 + 4")] {
            let error = list.stack(start, 4, &mut stacks, &mut intake).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "locations_length: the slice ends at {said}, past the last of 11 location_indices"
                )
            );
        }
    }
}
