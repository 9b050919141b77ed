//! The locations that the samples of a profile refer to by slices.
//!
//! Requirements: every number is decoded once, into memory that is as large as they are many;
//! samples that share a stack nearly always share its slice too, and are spared a look at it.

use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::format::losses;
use crate::format::otlp::common::show;
use crate::format::texts::Stacks;
use crate::wire::indices::Indices;
use crate::wire::read::{BEYOND, Reader, count_packed};

/// `Profile.location_indices`, and the rows of slices met lately.
#[derive(Debug, Default)]
pub(crate) struct LocationList {
    /// While they are read.
    read: Indices,
    /// When all are.
    locations: Vec<u32>,
    /// By the low bits of where they start: the last slice met, and the row of its stack.
    met: Vec<Met>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Met {
    start: u32,
    length: u32,
    row: u32,
}

impl LocationList {
    /// The bytes decoded at once: room for that many numbers is filled with zeros first.
    const PART: usize = 1024;
    /// The most slices remembered: 12 KiB of them stay in the nearest cache.
    const MET: usize = 1024;

    pub(crate) fn is_empty(&self) -> bool {
        self.locations.is_empty()
    }

    /// Appends the numbers of a packed field.
    pub(crate) fn extend(&mut self, mut packed: Reader, intake: &mut Intake) -> Result<()> {
        intake.budget.take::<u32>(packed.left())?;
        let numbers = count_packed(packed.rest());
        self.read.reserve(numbers + 2 * Self::PART);
        while packed.left() > 2 * Self::PART {
            let bytes = packed.rest();
            let last = bytes[Self::PART..].iter().position(|&byte| byte < 0x80);
            let Some(last) = last.filter(|&last| last < Self::PART - 64) else {
                break;
            };
            let part = Self::PART + last + 1;
            self.read.append(packed.part(part))?;
            packed.pass(part);
        }
        self.read.append(packed)
    }

    /// Appends one number.
    pub(crate) fn push(&mut self, location: u32, intake: &mut Intake) -> Result<()> {
        intake.budget.take::<u32>(2)?;
        self.read.push(location);
        Ok(())
    }

    /// Makes ready for so many samples, once all locations are here.
    pub(crate) fn reserve(
        &mut self,
        samples: usize,
        stacks: &mut Stacks,
        intake: &mut Intake,
    ) -> Result<()> {
        self.locations = std::mem::take(&mut self.read).into_vec();
        self.locations.shrink_to_fit();
        let locations = self.locations.len();
        if locations == 0 {
            return Ok(());
        }
        // Where stacks are told apart at all they have locations of their own, or nearly so.
        let different = samples.min(locations);
        stacks.reserve(different, locations, intake)?;
        let met = different.next_power_of_two().min(Self::MET);
        intake.budget.take::<Met>(met)?;
        self.met = vec![Met::default(); met];
        Ok(())
    }

    /// The row of the stack that a slice which is not empty holds.
    #[inline]
    pub(crate) fn stack(
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
        let slice = (start as usize)
            .checked_add(length as usize)
            .and_then(|end| self.locations.get(start as usize..end));
        let Some(slice) = slice else {
            self.refuse(start, length, intake)?;
            return Ok(0);
        };
        let row = stacks.intern(slice, intake)?;
        if let Some(met) = self.met.get_mut(at) {
            *met = Met { start, length, row };
        }
        Ok(row)
    }

    #[cold]
    fn refuse(&self, start: u32, length: u32, intake: &mut Intake) -> Result<()> {
        let end = match (start < BEYOND, length < BEYOND) {
            (true, true) => format!("{start} + {length}"),
            _ => format!("{} + {}", show(start), show(length)),
        };
        let indices = self.locations.len();
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
            let mut list = LocationList::default();
            list.extend(Reader::new(&body), &mut intake()).unwrap();
            assert!(list.read.into_vec().into_iter().eq((0..count).map(numbers)));
        }
        let unended = [[0x80; 20_000].as_slice(), &[0; 20_000]].concat();
        let read = LocationList::default().extend(Reader::new(&unended), &mut intake());
        assert!(read.is_err());
    }

    #[test]
    fn equal_slices_are_one_stack_wherever_they_are() {
        let (mut list, mut stacks, mut intake) = (LocationList::default(), Stacks::new(), intake());
        for location in [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 9] {
            list.push(location, &mut intake).unwrap();
        }
        list.reserve(3, &mut stacks, &mut intake).unwrap();
        let slices = [
            (0, 5),
            (5, 5),
            (0, 4),
            (4, 1),
            (9, 1),
            (4, 1),
            (0, 5),
            (1, 4),
        ];
        let rows = slices
            .map(|(start, length)| list.stack(start, length, &mut stacks, &mut intake).unwrap());
        assert_eq!(rows, [1, 1, 2, 3, 3, 3, 1, 4]);
        assert_eq!(stacks.rows.row(4), [2, 3, 4, 5]);
        let error = list.stack(8, 4, &mut stacks, &mut intake).unwrap_err();
        assert_eq!(
            error.to_string(),
            "locations_length: the slice ends at 8 + 4, past the last of 11 location_indices"
        );
    }
}
