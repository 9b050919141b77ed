//! Validation of ids, column by column, after their table is complete.
//!
//! One loop without branches checks whether any reference of a column is out of range. Valid references, as
//! nearly all are, cost one comparison each and no `Result`. Only for an invalid column, a second pass finds
//! the first invalid reference. Afterwards accessors of the model need no checks.
//!
//! ```text
//! payload   3 0 7 2    the payload has 5 rows, the model inserts row 0 before them
//! column    4 1 8 3    the model has 6 rows: is any ≥ 6?  yes
//! repair    4 1 0 3    or the error for index 7
//! ```
//!
//! A check at each index would add a branch for each, and a `Result` to the hottest loops. So rows store raw
//! `u32`s in the type of the id, and only this module validates them.

use crate::error::{Error, Result};
use crate::losses;
use crate::model::id::{AttributeId, Id};
use crate::model::ragged::Ragged;
use crate::read_context::ReadContext;
use crate::tables::read::common::show;
use crate::wire::varint::OVERSIZED_INDEX;

/// The table that a column of references points into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// The number of rows of the model's table.
    pub(crate) rows: usize,
    /// The number of rows that the payload lacks. Errors subtract it from indices.
    pub(crate) own: u32,
    /// The value of an omitted reference, which is valid even if the table lacks that row.
    pub(crate) none: u32,
}

impl Target {
    /// Returns whether a reference is in range.
    #[inline]
    fn holds(self, index: u32) -> bool {
        (index as usize) < self.rows
    }

    /// Returns whether all references are in range and nonzero if the largest is `most + 1`.
    ///
    /// [`Indices`](crate::wire::indices::Indices) records `most` while it decodes: the largest index less
    /// one, which wraps for 0. It validates a table of stacks without another pass.
    pub(crate) fn holds_all(self, most: u32) -> bool {
        (most as usize).saturating_add(1) < self.rows
    }
}

/// Validates a column: every index is in range.
///
/// # Errors
///
/// The first index out of range, to which `place` adds its row. With
/// [`Policy::Repair`](crate::Policy::Repair) the reference becomes unset instead.
pub(crate) fn column<I: Id>(
    indices: &mut [I],
    target: Target,
    cx: &mut ReadContext,
    place: impl Fn(Error, usize) -> Error,
) -> Result<()> {
    let rows = u32::try_from(target.rows).unwrap_or(u32::MAX);
    // No early exit, so that the loop uses vector instructions.
    match indices.iter().fold(false, |out, index| out | (index.number() >= rows)) {
        true => repair(indices, target, cx, place),
        false => Ok(()),
    }
}

/// Validates rows of variable length, like [`column`](fn@column). `place` gets the row and the position in
/// it.
///
/// Finds the row of an invalid index by binary search in the ends.
pub(crate) fn ragged<I: Id>(
    indices: &mut Ragged<I>,
    target: Target,
    cx: &mut ReadContext,
    place: impl Fn(Error, usize, usize) -> Error,
) -> Result<()> {
    let Ragged { items, ends } = indices;
    column(items, target, cx, |error, at| {
        let row = ends.partition_point(|&end| end as usize <= at);
        let start = if row == 0 { 0 } else { ends[row - 1] as usize };
        place(error, row, at - start)
    })
}

/// Validates lists of attributes, like [`ragged`], and drops unset references.
///
/// Since 1.8 attribute 0 means no attribute and is not allowed in a list. It is dropped and reported under
/// either policy. References that a repair unset are dropped as well.
pub(crate) fn attributes(
    attributes: &mut Ragged<AttributeId>,
    target: Target,
    cx: &mut ReadContext,
    place: impl Fn(Error, usize, usize) -> Error,
) -> Result<()> {
    if attributes.items.contains(&AttributeId::NONE) {
        for (row, list) in attributes.rows().enumerate() {
            note_row_0(list, cx, |error, at| place(error, row, at));
        }
    }
    ragged(attributes, target, cx, place)?;
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

/// Does the same for a single list of attributes.
pub(crate) fn attribute_list(
    attributes: &mut Vec<AttributeId>,
    target: Target,
    cx: &mut ReadContext,
    place: impl Fn(Error, usize) -> Error,
) -> Result<()> {
    note_row_0(attributes, cx, &place);
    column(attributes, target, cx, place)?;
    attributes.retain(|id| id.some().is_some());
    Ok(())
}

/// Validates the attributes of a sample, from `first`, before those made of its labels are added. Rows of the
/// latter follow those of the table, so an index past the table could refer to them. `target` is the table of
/// the payload.
///
/// # Errors
///
/// As for [`column`](fn@column). Repaired references are dropped.
pub(crate) fn attributes_beside_labels(
    attributes: &mut Vec<u32>,
    first: usize,
    target: Target,
    cx: &mut ReadContext,
) -> Result<()> {
    if attributes[first..].iter().all(|index| target.holds(*index)) {
        return Ok(());
    }
    for (at, index) in attributes.split_off(first).into_iter().enumerate() {
        if target.holds(index) {
            attributes.push(index);
        } else if index != target.none {
            refuse(index, target, cx, |error| error.element(at).within("attribute_indices"))?;
        }
    }
    Ok(())
}

/// Reports references to attribute 0, which means no attribute.
fn note_row_0(
    attributes: &[AttributeId],
    cx: &mut ReadContext,
    place: impl Fn(Error, usize) -> Error,
) {
    for (at, _) in attributes.iter().enumerate().filter(|(_, id)| id.some().is_none()) {
        let place = || place(Error::malformed(""), at).place();
        let message =
            "the list refers to attribute 0, which means no attribute: the reference was dropped";
        cx.note(losses::ATTR_ROW_0, place, || message.to_owned());
    }
}

/// Converts indices to ids without validation. The caller validates them in place, or knows that they are in
/// range.
pub(crate) fn ids<I: Id>(indices: Vec<u32>) -> Vec<I> {
    indices.into_iter().map(I::from_row).collect()
}

/// Does the same for rows of variable length.
pub(crate) fn ragged_ids<I: Id>(indices: Ragged<u32>) -> Ragged<I> {
    Ragged { items: ids(indices.items), ends: indices.ends }
}

/// Validates one index.
///
/// Used for single fields, such as the file name of a mapping, and to find the invalid row of a column.
#[inline]
pub(crate) fn one<I: Id>(
    index: u32,
    target: Target,
    cx: &mut ReadContext,
    field: &'static str,
) -> Result<I> {
    if target.holds(index) {
        return Ok(I::from_row(index));
    }
    if index != target.none {
        refuse(index, target, cx, |error| error.within(field))?;
    }
    Ok(I::default())
}

/// Reports every index that is out of range and unsets it. An omitted reference into an empty table is valid
/// and becomes unset.
#[cold]
#[inline(never)]
fn repair<I: Id>(
    indices: &mut [I],
    target: Target,
    cx: &mut ReadContext,
    place: impl Fn(Error, usize) -> Error,
) -> Result<()> {
    for (row, index) in indices.iter_mut().enumerate().filter(|(_, id)| !target.holds(id.number()))
    {
        if index.number() != target.none {
            refuse(index.number(), target, cx, |error| place(error, row))?;
        }
        *index = I::default();
    }
    Ok(())
}

/// Returns the error for an index out of range, or reports a finding if the policy is to repair.
#[cold]
fn refuse(
    index: u32,
    target: Target,
    cx: &mut ReadContext,
    place: impl FnOnce(Error) -> Error,
) -> Result<()> {
    let index = if index < OVERSIZED_INDEX { index - target.own } else { index };
    let error = Error::malformed(format!(
        "{} is out of range: the table has {} rows",
        show(index),
        target.rows - target.own as usize
    ));
    cx.repair(losses::INDEX_OUT_OF_RANGE, place(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::model::id::StackId;
    use crate::read_context::Policy;

    #[test]
    fn an_index_past_its_table_is_refused_or_repaired() {
        let target = Target { rows: 4, own: 1, none: 1 };
        let place =
            |error: Error, row: usize| error.within("stack_index").within_row("samples", row);
        let mut cx = ReadContext::new(Limits::network(), Policy::Refuse, 0);
        let column_of = |rows: &[u32], cx: &mut ReadContext| {
            let mut column = ids::<StackId>(rows.to_vec());
            super::column(&mut column, target, cx, place).map(|()| column)
        };
        let validated = column_of(&[1, 3, 2], &mut cx).unwrap();
        assert_eq!(validated, [StackId(1), StackId(3), StackId(2)]);
        let error = column_of(&[1, 4097], &mut cx).unwrap_err();
        assert_eq!(
            error.to_string(),
            "samples[1].stack_index: index 4096 is out of range: the table has 3 rows"
        );
        let mut cx = ReadContext::new(Limits::network(), Policy::Repair, 0);
        let validated = column_of(&[1, u32::MAX, 3], &mut cx).unwrap();
        assert_eq!(validated, [StackId(1), StackId(0), StackId(3)]);
        assert_eq!(cx.findings[0].code, "index.out_of_range");
    }
}
