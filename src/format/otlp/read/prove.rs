//! Ids are proved by the column when their table is complete: one pass over all, and only
//! when one is out of range a search for the first.
//!
//! A column of references is proved by one loop without a branch: it ors together whether any is out of range.
//! References that are in range, as nearly all are, cost one comparison each and no `Result`. After it no accessor of
//! the model needs to check.
//!
//! ```text
//! wire      3 0 7 2    rows 5 on the wire, the model's own before them
//! column    4 1 8 3    of 6 rows: was any ≥ 6?  yes
//! repair    4 1 0 3    or the error of index 7
//! ```
//!
//! A reader that asked at each index would take a branch for each and a `Result` through its
//! hottest loops. So rows hold raw `u32`s of the newtype they will be, and this module is the one
//! place that makes that true.

use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::format::losses;
use crate::format::otlp::read::common::show;
use crate::model::id::{AttributeId, Id};
use crate::model::ragged::Ragged;
use crate::wire::varint::BEYOND;

/// What a column of references points into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// The rows of the model's table.
    pub(crate) rows: usize,
    /// Those of them that are not on the wire: errors take them away.
    pub(crate) own: u32,
    /// What is none and no mistake, even where the table has no such row: what a reference that is left out is read as.
    pub(crate) none: u32,
}

impl Target {
    /// Whether a reference leads to a row.
    #[inline]
    fn holds(self, index: u32) -> bool {
        (index as usize) < self.rows
    }

    /// Whether all of some references lead to rows, the largest being `most` and one; then none is 0.
    ///
    /// `most` is what [`Indices`](crate::wire::indices::Indices) noted while it decoded: the
    /// largest index less one. With it a table of stacks is proved without being read again.
    pub(crate) fn holds_all(self, most: u32) -> bool {
        (most as usize).saturating_add(1) < self.rows
    }
}

/// Proves a column: every index is within its table, or the error says where it is not.
///
/// # Errors
///
/// The first that is out of range, with what `place` says of its row; with
/// [`Policy::Repair`](crate::Policy::Repair) it becomes none instead.
pub(crate) fn column<I: Id>(
    indices: &mut [I],
    target: Target,
    intake: &mut Intake,
    place: impl Fn(Error, usize) -> Error,
) -> Result<()> {
    let rows = u32::try_from(target.rows).unwrap_or(u32::MAX);
    match indices.iter().fold(false, |out, index| out | (index.number() >= rows)) {
        true => repair(indices, target, intake, place),
        false => Ok(()),
    }
}

/// [`column`](fn@column) for rows of unequal length; `place` gets the row and the position in it.
///
/// The row of a bad index is found by binary search in the ends, only once one is bad.
pub(crate) fn ragged<I: Id>(
    indices: &mut Ragged<I>,
    target: Target,
    intake: &mut Intake,
    place: impl Fn(Error, usize, usize) -> Error,
) -> Result<()> {
    let Ragged { items, ends } = indices;
    column(items, target, intake, |error, at| {
        let row = ends.partition_point(|&end| end as usize <= at);
        let start = if row == 0 { 0 } else { ends[row - 1] as usize };
        place(error, row, at - start)
    })
}

/// [`ragged`] for attributes, of which those that are none are left out.
///
/// Attribute 0 stands for none since 1.8 and has no place in a list. It is left out and reported,
/// under either policy; so is what a repair turned to none.
pub(crate) fn attributes(
    attributes: &mut Ragged<AttributeId>,
    target: Target,
    intake: &mut Intake,
    place: impl Fn(Error, usize, usize) -> Error,
) -> Result<()> {
    if attributes.items.contains(&AttributeId::NONE) {
        for (row, list) in attributes.rows().enumerate() {
            note_row_0(list, intake, |error, at| place(error, row, at));
        }
    }
    ragged(attributes, target, intake, place)?;
    if attributes.items.contains(&AttributeId::NONE) {
        let mut kept = Ragged::default();
        for (row, list) in attributes.rows().enumerate() {
            kept.items.extend(list.iter().filter(|id| id.some().is_some()));
            kept.end_row_at(row);
        }
        *attributes = kept;
    }
    Ok(())
}

/// The same for the attributes of one thing.
pub(crate) fn attribute_list(
    attributes: &mut Vec<AttributeId>,
    target: Target,
    intake: &mut Intake,
    place: impl Fn(Error, usize) -> Error,
) -> Result<()> {
    note_row_0(attributes, intake, &place);
    column(attributes, target, intake, place)?;
    attributes.retain(|id| id.some().is_some());
    Ok(())
}

/// Proves the attributes of a sample, from `first` on, before those made of its labels join them: their rows are
/// behind those of the table, where an index past it would lead. `target` is that table.
///
/// # Errors
///
/// As of [`column`](fn@column); what is repaired is left out.
pub(crate) fn attributes_beside_labels(
    attributes: &mut Vec<u32>,
    first: usize,
    target: Target,
    intake: &mut Intake,
) -> Result<()> {
    if attributes[first..].iter().all(|index| target.holds(*index)) {
        return Ok(());
    }
    for (at, index) in attributes.split_off(first).into_iter().enumerate() {
        if target.holds(index) {
            attributes.push(index);
        } else if index != target.none {
            refuse(index, target, intake, |error| error.element(at).within("attribute_indices"))?;
        }
    }
    Ok(())
}

/// Notes which attributes are row 0, which stands for none.
fn note_row_0(
    attributes: &[AttributeId],
    intake: &mut Intake,
    place: impl Fn(Error, usize) -> Error,
) {
    for (at, _) in attributes.iter().enumerate().filter(|(_, id)| id.some().is_none()) {
        let place = || place(Error::malformed(""), at).place();
        let message =
            "the list refers to attribute 0, which means no attribute: the reference was dropped";
        intake.note(losses::ATTR_ROW_0, place, || message.to_owned());
    }
}

/// Indices as ids, to be proved in place or known to be within their table.
///
/// The ids are typed before they are proved: `from_row` wraps the number and checks nothing.
pub(crate) fn ids<I: Id>(indices: Vec<u32>) -> Vec<I> {
    indices.into_iter().map(I::from_row).collect()
}

/// The same for rows of unequal length.
pub(crate) fn ragged_ids<I: Id>(indices: Ragged<u32>) -> Ragged<I> {
    Ragged { items: ids(indices.items), ends: indices.ends }
}

/// Proves one index.
///
/// For a mapping's file name, and for finding the bad row of a column whose largest index is out of range.
#[inline]
pub(crate) fn one<I: Id>(
    index: u32,
    target: Target,
    intake: &mut Intake,
    field: &'static str,
) -> Result<I> {
    if target.holds(index) {
        return Ok(I::from_row(index));
    }
    if index != target.none {
        refuse(index, target, intake, |error| error.within(field))?;
    }
    Ok(I::default())
}

/// Refuses every index that is out of range, or makes it none. One left out is no mistake where the table is empty: it is
/// none.
#[cold]
#[inline(never)]
fn repair<I: Id>(
    indices: &mut [I],
    target: Target,
    intake: &mut Intake,
    place: impl Fn(Error, usize) -> Error,
) -> Result<()> {
    for (row, index) in indices.iter_mut().enumerate().filter(|(_, id)| !target.holds(id.number()))
    {
        if index.number() != target.none {
            refuse(index.number(), target, intake, |error| place(error, row))?;
        }
        *index = I::default();
    }
    Ok(())
}

/// An index out of range: the error, or a finding where repairs are asked for.
#[cold]
fn refuse(
    index: u32,
    target: Target,
    intake: &mut Intake,
    place: impl FnOnce(Error) -> Error,
) -> Result<()> {
    let index = if index < BEYOND { index - target.own } else { index };
    let error = Error::malformed(format!(
        "{} is out of range: the table has {} rows",
        show(index),
        target.rows - target.own as usize
    ));
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
        let target = Target { rows: 4, own: 1, none: 1 };
        let place =
            |error: Error, row: usize| error.within("stack_index").within_row("samples", row);
        let mut intake = Intake::new(Limits::network(), Policy::Refuse, 0);
        let column_of = |rows: &[u32], intake: &mut Intake| {
            let mut column = ids::<StackId>(rows.to_vec());
            super::column(&mut column, target, intake, place).map(|()| column)
        };
        let proved = column_of(&[1, 3, 2], &mut intake).unwrap();
        assert_eq!(proved, [StackId(1), StackId(3), StackId(2)]);
        let error = column_of(&[1, 4097], &mut intake).unwrap_err();
        assert_eq!(
            error.to_string(),
            "samples[1].stack_index: index 4096 is out of range: the table has 3 rows"
        );
        let mut intake = Intake::new(Limits::network(), Policy::Repair, 0);
        let proved = column_of(&[1, u32::MAX, 3], &mut intake).unwrap();
        assert_eq!(proved, [StackId(1), StackId(0), StackId(3)]);
        assert_eq!(intake.findings[0].code, "index.out_of_range");
    }
}
