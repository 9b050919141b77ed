//! The stacks that the samples of a profile refer to by slices of one list of locations.
//!
//! Requirements: every number is decoded once, to where stacks are kept, and stays there if it can;
//! slices may come in any order, and are found without comparing what they hold.
//!
//! Where slices begin is noted by a bit for every location. When all are known they are gone
//! through in the order of the list: those that follow one another become stacks where they are,
//! any others are copied behind them.
//!
//! ```text
//! list    a b c d e f g h          location_indices, already in Stacks.locations
//! slices  [0,3) [3,5) [1,3) [6,8)
//! starts  1 1 0 1 0 0 1 0          a bit for each location
//! rows    a b c │ d e │ g h │ b c  [1,3) begins inside [0,3): copied behind; f belongs to no slice
//! ```
//!
//! Time is linear in the list and in the locations of the copied slices, each of which is copied
//! once. Equal slices from different places stay different rows here; `merge_stacks` joins them
//! later.

use std::ops::Range;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::format::losses;
use crate::format::otlp::read::common::show;
use crate::format::stacks::Stacks;
use crate::model::ragged::Ragged;
use crate::wire::lanes::Lanes;
use crate::wire::packed::count_packed;
use crate::wire::read::Reader;
use crate::wire::varint::{BELOW, BEYOND};

/// `Profile.location_indices` among the locations of all stacks, and the slices of it.
#[derive(Debug, Default)]
pub(crate) struct LocationList {
    /// Where it begins and ends there.
    /// The first location of this profile's list; those before are of other profiles.
    begin: usize,
    /// Behind the last; equal to `begin` where the profile has no list.
    end: usize,
    /// By sample: how long its slice is, which begins where its stack is said to be; or [`OWN`].
    /// Shorter than the samples where the last of them have no stack.
    lengths: Vec<u32>,
    /// Empty where there is no list.
    starts: Starts,
    /// Stacks that are not part of the list.
    /// They become rows behind those of the list.
    others: Ragged<u32>,
}

/// Instead of the length of a slice: the sample's stack is one of the others.
const OWN: u32 = u32::MAX;

/// The bytes decoded at once: room for that many numbers is filled with zeros first.
const PART: usize = 1024;

impl LocationList {
    /// A list behind the locations there are.
    pub(crate) fn after(stacks: &Stacks) -> Self {
        let begin = stacks.locations.len();
        Self { begin, end: begin, ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.begin == self.end
    }

    /// Appends the numbers of a packed field.
    ///
    /// By parts of a kilobyte that end with a varint, so that no more room than that is
    /// filled with zeros before it is known how many numbers there are.
    ///
    /// # Errors
    ///
    /// What is no varint; [`Limit`](crate::ErrorKind::Limit) where the budget ends.
    pub(crate) fn extend(
        &mut self,
        mut packed: Reader,
        stacks: &mut Stacks,
        intake: &mut Intake,
    ) -> Result<()> {
        let bytes = packed.rest();
        let count = Lanes::default().with(
            #[inline(always)]
            || count_packed(bytes),
        );
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
    pub(crate) fn reserve(&mut self, samples: usize, intake: &mut Intake) -> Result<()> {
        intake.budget.take::<u32>(samples)?;
        if !self.is_empty() {
            self.lengths.reserve(samples);
            self.starts = Starts::of(self.end - self.begin, intake)?;
        }
        Ok(())
    }

    /// The slice of a sample, which is not empty; what to keep as its stack until all are known.
    ///
    /// # Errors
    ///
    /// A slice that ends past the list, unless repairs are asked for: then the sample has no stack.
    /// And one that is deeper than `max_stack_depth`.
    #[inline(always)]
    pub(crate) fn slice(
        &mut self,
        sample: usize,
        start: u32,
        length: u32,
        intake: &mut Intake,
    ) -> Result<u32> {
        if u64::from(start) + u64::from(length) > (self.end - self.begin) as u64 {
            self.refuse(start, length, intake)?;
            return Ok(0);
        }
        intake.check_depth(length as usize)?;
        self.note(sample, length);
        self.starts.mark(start);
        Ok(start)
    }

    /// The same for a stack of the sample's own.
    pub(crate) fn own(&mut self, sample: usize, stack: &[u32], intake: &mut Intake) -> Result<u32> {
        if stack.is_empty() {
            return Ok(0);
        }
        intake.check_depth(stack.len())?;
        self.note(sample, OWN);
        intake.budget.take::<[u32; 3]>(stack.len() + 1)?;
        Ok(self.other(stack))
    }

    /// Notes the length of a slice; most samples have one, or none has.
    #[inline(always)]
    fn note(&mut self, sample: usize, length: u32) {
        if self.lengths.len() != sample {
            self.lengths.resize(sample, 0);
        }
        self.lengths.push(length);
    }

    /// Keeps a stack of its own; its number among the others.
    fn other(&mut self, stack: &[u32]) -> u32 {
        self.others.push(stack);
        self.others.len() as u32 - 1
    }

    /// Has all slices be stacks, and nothing else of the list; `of_samples` get to know their rows.
    ///
    /// 1. Starts are numbered in the order of the list; each sample's start becomes that number.
    /// 2. The first slice of each start is placed as a row, where it is or copied.
    /// 3. Numbers become rows; slices with another length than the first of their start are copied,
    ///    each once.
    /// 4. What no row has is closed up, and the copies go behind.
    pub(crate) fn finish(
        mut self,
        stacks: &mut Stacks,
        of_samples: &mut [u32],
        intake: &mut Intake,
    ) -> Result<()> {
        let lengths = std::mem::take(&mut self.lengths);
        let mut starts = std::mem::take(&mut self.starts);
        // By the number of a start: the first slice met. By sample: the number of its start, or
        // `none`, or behind that the number of one of the others.
        let mut firsts = vec![(0, 0); starts.number_all(intake)?];
        let none = firsts.len() as u32;
        let mut rest = Vec::new();
        let mut number_of = |sample: usize, start: u32, length: u32| match length {
            0 => none,
            OWN => none + 1 + start,
            _ => {
                let number = starts.number(start);
                let first = &mut firsts[number as usize];
                if first.1 == 0 {
                    *first = (start, length);
                }
                if first.1 != length {
                    rest.push((sample, start, length));
                }
                number
            }
        };
        Lanes::default().with(
            #[inline(always)]
            || {
                for (sample, (stack, &length)) in of_samples.iter_mut().zip(&lengths).enumerate() {
                    *stack = number_of(sample, *stack, length);
                }
            },
        );
        intake.budget.take::<[[u32; 4]; 3]>(rest.len())?;
        drop(starts);
        let (places, parts) = self.place(&firsts, stacks, intake)?;
        let others = stacks.rows.len() as u32;
        for (stack, _) in of_samples.iter_mut().zip(&lengths) {
            *stack = match places.get(*stack as usize) {
                Some(&place) => place,
                None => stack.checked_sub(none + 1).map_or(0, |other| others + other),
            };
        }
        self.copy_rest(rest, others, of_samples, stacks, intake)?;
        stacks.locations.keep(self.begin, parts.into_iter());
        self.append_others(stacks);
        Ok(())
    }

    /// Copies slices that begin where another one does, each once.
    fn copy_rest(
        &mut self,
        rest: Vec<(usize, u32, u32)>,
        others: u32,
        of_samples: &mut [u32],
        stacks: &mut Stacks,
        intake: &mut Intake,
    ) -> Result<()> {
        let mut slices = HashMap::<(u32, u32), u32, RandomState>::default();
        for (sample, start, length) in rest {
            let other = match slices.get(&(start, length)) {
                Some(&other) => other,
                None => {
                    let other = self.copy(start, length, stacks, intake)?;
                    slices.insert((start, length), other);
                    other
                }
            };
            of_samples[sample] = others + other;
        }
        Ok(())
    }

    /// Where slices become rows, by number: in the order of the list where they are, if they begin
    /// where the last ended or behind it; or else copied, behind all those. And the parts of the list
    /// that are rows.
    ///
    /// A slice stays where it is if it begins at or behind the end of the last row that stayed.
    /// Going by ascending starts, this keeps the first of any that overlap.
    fn place(
        &mut self,
        slices: &[(u32, u32)],
        stacks: &mut Stacks,
        intake: &mut Intake,
    ) -> Result<(Vec<u32>, Vec<Range<usize>>)> {
        intake.budget.take::<[u32; 2]>(slices.len())?;
        let mut ends = std::mem::take(&mut stacks.rows.ends);
        ends.reserve(slices.len());
        let mut places = Vec::with_capacity(slices.len());
        let (mut parts, mut copied) = (Vec::new(), Vec::new());
        let mut part = self.begin..self.begin;
        let mut end = self.begin as u32;
        for &(start, length) in slices {
            let begin = self.begin + start as usize;
            if begin >= part.end {
                if begin > part.end {
                    intake.budget.take::<Range<usize>>(2)?;
                    parts.push(std::mem::replace(&mut part, begin..begin));
                }
                part.end = begin + length as usize;
                end += length;
                places.push(ends.len() as u32);
                ends.push(end);
            } else {
                copied.push((places.len(), self.copy(start, length, stacks, intake)?));
                places.push(0);
            }
        }
        for (number, other) in copied {
            places[number] = ends.len() as u32 + other;
        }
        stacks.rows.ends = ends;
        parts.push(part);
        Ok((places, parts))
    }

    /// Has a slice be one of the other stacks.
    #[inline(never)]
    fn copy(
        &mut self,
        start: u32,
        length: u32,
        stacks: &Stacks,
        intake: &mut Intake,
    ) -> Result<u32> {
        let start = self.begin + start as usize;
        let stack = stacks.locations.get(start, start + length as usize);
        intake.budget.take_shared::<[u32; 3]>(stack.len() + 1)?;
        Ok(self.other(stack))
    }

    /// Puts the others behind the slices, as rows like any other.
    fn append_others(self, stacks: &mut Stacks) {
        let kept = stacks.locations.len() as u32;
        stacks.locations.extend(&self.others.items);
        let ends = self.others.ends.iter().map(|end| kept + end);
        stacks.rows.ends.extend(ends);
    }

    /// A slice past the end of the list, or one that has no place in any.
    #[cold]
    fn refuse(&self, start: u32, length: u32, intake: &mut Intake) -> Result<()> {
        let (field, message) = match length {
            _ if start >= BEYOND => {
                ("locations_start_index", format!("slice begins at {}", show(start)))
            }
            BELOW => ("locations_length", "slice has a negative length".to_owned()),
            BEYOND => ("locations_length", "slice has a length of more than 32 bits".to_owned()),
            _ => {
                let past = format!("past the {} location_indices", self.end - self.begin);
                ("locations_length", format!("slice ends at {start} + {length}, {past}"))
            }
        };
        intake.repair(losses::INDEX_OUT_OF_RANGE, Error::malformed(message).within(field))
    }
}

/// The locations of a list at which slices begin.
///
/// A start found twice has one number, so numbers are dense: they index `firsts` in
/// [`finish`](LocationList::finish).
#[derive(Debug, Default)]
struct Starts {
    /// For every 64 locations: a bit for each, and how many are set before them.
    /// A rank index: the number of a start is a lookup and a count of bits.
    words: Vec<(u64, u32)>,
}

impl Starts {
    /// One bit for each location of the list: an eighth of a byte, however slices lie.
    fn of(locations: usize, intake: &mut Intake) -> Result<Self> {
        let words = locations.div_ceil(64);
        intake.budget.take::<(u64, u32)>(words)?;
        let words = vec![(0, 0); words];
        Ok(Self { words })
    }

    /// Marking twice is marking once; slices of one start and several lengths are told apart later.
    #[inline]
    fn mark(&mut self, start: u32) {
        if let Some((bits, _)) = self.words.get_mut(start as usize / 64) {
            *bits |= 1 << (start % 64);
        }
    }

    /// Numbers all that are marked; says how many they are.
    fn number_all(&mut self, intake: &mut Intake) -> Result<usize> {
        let mut all = 0;
        Lanes::default().with(
            #[inline(always)]
            || {
                for (bits, before) in &mut self.words {
                    *before = all;
                    all += bits.count_ones();
                }
            },
        );
        intake.budget.take::<(u32, u32)>(all as usize)?;
        Ok(all as usize)
    }

    /// The number of one that is marked, in the order of the list.
    #[inline(always)]
    fn number(&self, start: u32) -> u32 {
        let word = self.words.get(start as usize / 64);
        let (bits, before) = word.copied().unwrap_or_default();
        before + (bits & ((1 << (start % 64)) - 1)).count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::intake::Policy;
    use crate::limits::Limits;
    use crate::wire::write::varint;

    fn intake() -> Intake {
        Intake::new(Limits::network(), Policy::Refuse, 0)
    }

    #[test]
    fn a_long_list_is_read_part_by_part_as_it_is_in_one() {
        let numbers = |index: u32| index.wrapping_mul(2_654_435_761) >> (index % 29);
        for count in [0, 1, 5_000, 30_000] {
            let mut body = Vec::new();
            (0..count).for_each(|index| varint(&mut body, numbers(index).into()));
            let (mut stacks, mut intake) = (Stacks::plus(0), intake());
            let mut list = LocationList::after(&stacks);
            list.extend(Reader::new(&body), &mut stacks, &mut intake).unwrap();
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
            list.extend(Reader::new(bytes), &mut stacks, &mut intake()).map(|()| list.end)
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
            list.reserve(slices.len(), &mut intake).unwrap();
            let mut of_samples = Vec::new();
            for &(start, length) in slices {
                let sample = of_samples.len();
                of_samples.push(list.slice(sample, start, length, &mut intake).unwrap());
                let stack = start + from + 1..start + from + length + 1;
                expected.push(stack.collect::<Vec<u32>>());
            }
            of_samples.push(list.own(of_samples.len(), &[7, 8], &mut intake).unwrap());
            expected.push(vec![7, 8]);
            list.finish(&mut stacks, &mut of_samples, &mut intake).unwrap();
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
            slices.iter().collect::<std::collections::HashSet<_>>().len() + 1
        };
        assert_eq!(stacks.rows.len(), 1 + distinct(lists[0]) + distinct(lists[1]));
        assert_eq!(stacks.rows.items.len(), stacks.rows.rows().map(<[u32]>::len).sum::<usize>());
    }

    #[test]
    fn slices_are_stacks_whatever_their_order() {
        check([&[], &[]]);
        check([&[(0, 5), (5, 5), (10, 1)], &[(0, 5), (5, 990)]]);
        // From the middle on; with gaps; again and again; one in another, before it and behind it.
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
        let (mut stacks, mut intake) = (Stacks::plus(1), intake());
        let mut list = LocationList::after(&stacks);
        (0..11).for_each(|at| list.push(at, &mut stacks, &mut intake).unwrap());

        for (start, said) in [(8, "8 + 4"), (20, "20 + 4")] {
            let error = list.slice(0, start, 4, &mut intake).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("locations_length: slice ends at {said}, past the 11 location_indices")
            );
        }
    }
}
