//! References while they are read: each index of the payload becomes a row of the model at once, and is
//! validated later.
//!
//! ```text
//! 1.8 and later         index 0 is row 0, the empty row
//! 1.4 to 1.7            index 0 is row 1; an omitted mapping or link is row 0, the empty row
//! 1.3                   the same, except that index 0 and omitted are encoded alike
//! ```

use crate::error::Result;
use crate::read_context::ReadContext;
use crate::schema::{Generation, Rows, Version};
use crate::wire::LEN;
use crate::wire::read::Reader;
use crate::wire::varint::OVERSIZED_INDEX;

/// Returns the number of rows of the model before those of the payload.
///
/// Errors subtract it from the row in a column to get the index in the payload.
pub(super) const fn own_rows<G: Generation>() -> usize {
    match G::CAPABILITIES.rows {
        Rows::NullFirst => 0,
        Rows::FromZero | Rows::Presence => 1,
    }
}

/// Returns the row of the model for an index of the payload, in range or not. Invalid indices stay unchanged.
///
/// pprof has ids, which equal rows of the model.
#[inline(always)]
pub(crate) fn index_to_row<G: Generation>(index: u32) -> u32 {
    let own = match G::VERSION {
        Version::Pprof => 0,
        _ => own_rows::<G>() as u32,
    };
    if index < OVERSIZED_INDEX { index + own } else { index }
}

/// Returns the row of the model for a mapping or link reference, or 0 if unset.
///
/// In the proto of 1.4 to 1.7, `optional` distinguishes an omitted field from the first row. In 1.3 they are
/// encoded alike, so the index is kept for [`normalize`](crate::tables::resolve::normalize) to decide.
#[inline]
pub(crate) fn optional_index_to_row<G: Generation>(index: Option<u32>) -> u32 {
    match G::CAPABILITIES.rows {
        Rows::NullFirst | Rows::FromZero => index.unwrap_or(0),
        Rows::Presence => index.map_or(0, index_to_row::<G>),
    }
}

/// Reads indices of attributes, packed or not, without conversion. `out` holds a single list.
///
/// Protobuf allows a writer to pack a repeated number or not, and to repeat the field. A reader must accept
/// every form.
///
/// # Errors
///
/// [`Limit`](crate::ErrorKind::Limit) if `max_attributes_per_item` is exceeded; malformed varints.
#[inline(always)]
pub(crate) fn indices(
    tag: u32,
    reader: &mut Reader,
    out: &mut Vec<u32>,
    cx: &mut ReadContext,
) -> Result<()> {
    rows_from(tag, reader, (out, 0), |index| index, cx)
}

/// Reads indices of attributes as rows of the model. `out` holds the lists of many items; that of this item
/// begins at `first`.
#[inline(always)]
pub(crate) fn attribute_rows<G: Generation>(
    tag: u32,
    reader: &mut Reader,
    out: &mut Vec<u32>,
    first: usize,
    cx: &mut ReadContext,
) -> Result<()> {
    rows_from(tag, reader, (out, first), index_to_row::<G>, cx)
}

#[inline(always)]
fn rows_from(
    tag: u32,
    reader: &mut Reader,
    (out, first): (&mut Vec<u32>, usize),
    row: impl Fn(u32) -> u32,
    cx: &mut ReadContext,
) -> Result<()> {
    let before = out.len();
    if tag & 7 == LEN {
        let mut packed = reader.message()?;
        while !packed.is_empty() {
            out.push(row(packed.index()?));
        }
    } else {
        out.push(row(reader.index()?));
    }
    cx.charge_more_attributes(before - first, out.len() - before)
}
