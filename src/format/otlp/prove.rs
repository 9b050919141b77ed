//! Ids are proved by the column when their table is complete: one pass over all, and only
//! when one is out of range a search for the first.

use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::format::losses;
use crate::format::otlp::common::show;
use crate::model::id::Id;
use crate::model::ragged::Ragged;

/// What a column of references points into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// The rows on the wire.
    pub(crate) rows: usize,
    /// What is added to an index on the wire to make it a row of the model.
    pub(crate) shift: u32,
}

impl Target {
    #[inline]
    fn holds(self, largest: u32) -> bool {
        (largest as usize) < self.rows
    }

    /// Whether all of some indices are rows of the model once they are shifted, the largest being
    /// `most` and one; then none is 0.
    pub(crate) fn holds_all(self, most: u32) -> bool {
        let rows = self.rows + self.shift as usize;
        (most as usize).saturating_add(1) < rows
    }
}

/// Proves a column: every index is within its table, or the error says where it is not.
pub(crate) fn column<I: Id>(
    mut indices: Vec<u32>,
    target: Target,
    intake: &mut Intake,
    place: impl Fn(Error, usize) -> Error,
) -> Result<Vec<I>> {
    let shift = target.shift;
    let rows = u32::try_from(target.rows).unwrap_or(u32::MAX);
    let out = match shift {
        0 => indices.iter().fold(false, |out, &index| out | (index >= rows)),
        _ => shift_all(&mut indices, shift, rows),
    };
    if out {
        indices.iter_mut().for_each(|index| *index = index.wrapping_sub(shift));
        repair(&mut indices, target, intake, place)?;
        indices.iter_mut().for_each(|index| *index = shifted(*index, shift));
    }
    Ok(indices.into_iter().map(I::from_row).collect())
}

/// Shifts all indices in the same pass that says whether one was out of range.
fn shift_all(indices: &mut [u32], shift: u32, rows: u32) -> bool {
    indices.iter_mut().fold(false, |out, index| {
        let wire = *index;
        *index = wire.wrapping_add(shift);
        out | (wire >= rows)
    })
}

/// [`column`] for rows of unequal length; `place` gets the row and the position in it.
pub(crate) fn ragged<I: Id>(
    indices: Ragged<u32>,
    target: Target,
    intake: &mut Intake,
    place: impl Fn(Error, usize, usize) -> Error,
) -> Result<Ragged<I>> {
    let Ragged { items, ends } = indices;
    let items = column(items, target, intake, |error, at| {
        let row = ends.partition_point(|&end| end as usize <= at);
        let start = if row == 0 { 0 } else { ends[row - 1] as usize };
        place(error, row, at - start)
    })?;
    Ok(Ragged { items, ends })
}

/// Rows whose indices are known to be within their table.
pub(crate) fn proved<I: Id>(indices: Ragged<u32>) -> Ragged<I> {
    Ragged { items: indices.items.into_iter().map(I::from_row).collect(), ends: indices.ends }
}

/// Proves one index. 0 of an empty table is none.
#[inline]
pub(crate) fn one<I: Id>(
    index: u32,
    target: Target,
    intake: &mut Intake,
    field: &'static str,
) -> Result<I> {
    if target.holds(index) {
        return Ok(I::from_row(index + target.shift));
    }
    if index != 0 {
        refuse(index, target, intake, |error| error.within(field))?;
    }
    Ok(I::default())
}

/// Marks what could not be repaired to anything but "none", before it is shifted.
const NONE: u32 = u32::MAX;

#[inline]
fn shifted(index: u32, shift: u32) -> u32 {
    if index == NONE { 0 } else { index + shift }
}

#[cold]
#[inline(never)]
fn repair(
    indices: &mut [u32],
    target: Target,
    intake: &mut Intake,
    place: impl Fn(Error, usize) -> Error,
) -> Result<()> {
    for (row, index) in indices.iter_mut().enumerate() {
        if !target.holds(*index) {
            if *index != 0 {
                refuse(*index, target, intake, |error| place(error, row))?;
            }
            *index = NONE;
        }
    }
    Ok(())
}

#[cold]
fn refuse(
    index: u32,
    target: Target,
    intake: &mut Intake,
    place: impl FnOnce(Error) -> Error,
) -> Result<()> {
    let error =
        Error::malformed(format!("{} is past the last of {} rows", show(index), target.rows));
    intake.repair(losses::INDEX_OUT_OF_RANGE, place(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::intake::Policy;
    use crate::limits::Limits;
    use crate::model::id::StackId;

    #[test]
    fn an_index_past_its_table_is_refused_or_repaired() {
        let target = Target { rows: 3, shift: 1 };
        let place =
            |error: Error, row: usize| error.within("stack_index").within_row("samples", row);
        let mut intake = Intake::new(Limits::network(), Policy::Refuse);
        let proved: Vec<StackId> = column(vec![0, 2, 1], target, &mut intake, place).unwrap();
        assert_eq!(proved, [StackId(1), StackId(3), StackId(2)]);
        let error = column::<StackId>(vec![0, 4096], target, &mut intake, place).unwrap_err();
        assert_eq!(error.to_string(), "samples[1].stack_index: 4096 is past the last of 3 rows");
        let mut intake = Intake::new(Limits::network(), Policy::Repair);
        let proved: Vec<StackId> =
            column(vec![0, u32::MAX, 2], target, &mut intake, place).unwrap();
        assert_eq!(proved, [StackId(1), StackId(0), StackId(3)]);
        assert_eq!(intake.findings[0].code, "index.out_of_range");
    }
}
