//! Validation of ids, column by column, after their table is complete.
//!
//! One loop without branches checks whether any reference of a column is out of range. Valid references, as
//! nearly all are, cost one comparison each and no `Result`. Only for an invalid column, a second pass finds
//! the first invalid reference. Afterwards accessors of the model need no checks.
//!
//! ```text
//! column    3 0 7 2    the payload has 5 rows: is any index ≥ 5?  yes
//! repair    4 1 0 3    the model inserts row 0 before them; or the error for index 7
//! ```
//!
//! A check at each index would add a branch for each, and a `Result` to the hottest loops. So rows store raw
//! `u32`s in the type of the id, and only this module validates them.

use crate::error::{Error, Result};
use crate::losses;
use crate::model::dictionary::Line;
use crate::model::id::{AttributeId, Id};
use crate::model::ragged::Ragged;
use crate::read_context::ReadContext;
use crate::tables::read::common::show;
use crate::tables::resolve::targets::Target;
use crate::wire::varint::OVERSIZED_INDEX;

/// A value that contains a reference.
pub(crate) trait Reference {
    /// Returns the reference.
    fn index(&mut self) -> &mut u32;
}

impl<I: Id> Reference for I {
    // Always inlined. Without any in the library, decoding 1.10 takes up to 36 % more instructions.
    #[inline(always)]
    fn index(&mut self) -> &mut u32 {
        self.number_mut()
    }
}

impl Reference for Line {
    #[inline(always)]
    fn index(&mut self) -> &mut u32 {
        &mut self.function.0
    }
}

/// Validates a column, and turns its references into rows of the model.
///
/// # Errors
///
/// The first index out of range, to which `place` adds its row. With
/// [`Policy::Repair`](crate::Policy::Repair) the reference becomes unset instead.
pub(crate) fn column<R: Reference>(
    references: &mut [R],
    target: Target,
    cx: &mut ReadContext,
    place: impl Fn(Error, usize) -> Error,
) -> Result<()> {
    // No early exit, so that the loop uses vector instructions.
    if references.iter_mut().fold(false, |out, index| out | !target.holds(*index.index())) {
        return repair(references, target, cx, place);
    }
    if target.add > 0 {
        // All references are below `rows`, so the sum does not overflow.
        references.iter_mut().for_each(|index| *index.index() += target.add);
    }
    Ok(())
}

/// Validates rows of variable length, like [`column`](fn@column). `place` gets the row and the position in
/// it.
///
/// Finds the row of an invalid index by binary search in the ends.
pub(crate) fn ragged<R: Reference>(
    indices: &mut Ragged<R>,
    target: Target,
    cx: &mut ReadContext,
    place: impl Fn(Error, usize, usize) -> Error,
) -> Result<()> {
    let Ragged { items, ends } = indices;
    column(items, target, cx, |error, at| {
        // Skips empty rows, which end at or before the item.
        let row = ends.partition_point(|&end| end as usize <= at);
        let start = if row == 0 { 0 } else { ends[row - 1] as usize };
        place(error, row, at - start)
    })
}

/// Validates lists of attributes, like [`ragged`], and drops unset references.
///
/// If the payload has the empty row, as since 1.8, attribute 0 means no attribute and is not allowed in a list.
/// It is dropped and reported under either policy. References that a repair unset are dropped as well.
pub(crate) fn attributes(
    attributes: &mut Ragged<AttributeId>,
    target: Target,
    cx: &mut ReadContext,
    place: impl Fn(Error, usize, usize) -> Error,
) -> Result<()> {
    if target.add == 0 && attributes.items.contains(&AttributeId::NONE) {
        for (row, list) in attributes.rows().enumerate() {
            note_row_0(list, cx, |error, at| place(error, row, at));
        }
    }
    ragged(attributes, target, cx, place)?;
    if attributes.items.contains(&AttributeId::NONE) {
        attributes.retain(|id| id.some().is_some());
        attributes.truncate_at(attributes.len());
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
    if target.add == 0 {
        note_row_0(attributes, cx, &place);
    }
    column(attributes, target, cx, place)?;
    attributes.retain(|id| id.some().is_some());
    Ok(())
}

/// Validates the attributes of a sample, from `first`, before those made of its labels are added. The latter
/// follow the `rows` rows of the payload's table, so an index past the table could refer to them.
///
/// # Errors
///
/// As for [`column`](fn@column). Repaired references are dropped.
pub(crate) fn attributes_beside_labels(
    attributes: &mut Vec<AttributeId>,
    first: usize,
    rows: u32,
    cx: &mut ReadContext,
) -> Result<()> {
    if attributes[first..].iter().all(|index| index.0 < rows) {
        return Ok(());
    }
    let target = Target { rows, own: 0, none: 0, add: 0 };
    for (at, index) in attributes.split_off(first).into_iter().enumerate() {
        if target.holds(index.0) {
            attributes.push(index);
        } else if index.0 != target.none {
            refuse(index.0, target, cx, |error| error.element(at).within("attribute_indices"))?;
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

/// Validates one index.
///
/// Used for single fields, such as the file name of a mapping.
#[inline]
pub(crate) fn one<R: Reference>(
    reference: &mut R,
    target: Target,
    cx: &mut ReadContext,
    field: &'static str,
) -> Result<()> {
    column(std::slice::from_mut(reference), target, cx, |error, _| error.within(field))
}

/// Reports every index that is out of range and unsets it. An omitted reference into an empty table is valid
/// and becomes unset.
#[cold]
#[inline(never)]
fn repair<R: Reference>(
    references: &mut [R],
    target: Target,
    cx: &mut ReadContext,
    place: impl Fn(Error, usize) -> Error,
) -> Result<()> {
    for (row, reference) in references.iter_mut().enumerate() {
        let index = reference.index();
        if target.holds(*index) {
            *index += target.add;
            continue;
        }
        if *index != target.none {
            refuse(*index, target, cx, |error| place(error, row))?;
        }
        *index = 0;
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
    // The index is out of range, so it is at least `rows`, which includes `own`.
    let index = if index < OVERSIZED_INDEX { index - target.own } else { index };
    let error = Error::malformed(format!(
        "{} is out of range: the table has {} rows",
        show(index),
        target.rows - target.own
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
        let target = Target { rows: 3, own: 0, none: 0, add: 1 };
        let place =
            |error: Error, row: usize| error.within("stack_index").within_row("samples", row);
        let mut cx = ReadContext::new(Limits::network(), Policy::Refuse, 0);
        let column_of = |rows: &[u32], cx: &mut ReadContext| {
            let mut column: Vec<StackId> = rows.iter().copied().map(StackId).collect();
            super::column(&mut column, target, cx, place).map(|()| column)
        };
        let validated = column_of(&[0, 2, 1], &mut cx).unwrap();
        assert_eq!(validated, [StackId(1), StackId(3), StackId(2)]);
        let error = column_of(&[0, 4096], &mut cx).unwrap_err();
        assert_eq!(
            error.to_string(),
            "samples[1].stack_index: index 4096 is out of range: the table has 3 rows"
        );
        let mut cx = ReadContext::new(Limits::network(), Policy::Repair, 0);
        let validated = column_of(&[0, u32::MAX, 2], &mut cx).unwrap();
        assert_eq!(validated, [StackId(1), StackId(0), StackId(3)]);
        assert_eq!(cx.findings[0].code, "index.out_of_range");
    }
}
