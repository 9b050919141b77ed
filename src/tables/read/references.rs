//! References while they are read. They are stored as encoded. After all tables are read, they become rows of the
//! model ([`resolve`](crate::tables::resolve)).

use crate::error::Result;
use crate::model::id::AttributeId;
use crate::read_context::ReadContext;
use crate::schema::{Generation, Rows};
use crate::wire::LEN;
use crate::wire::read::Reader;
use crate::wire::varint::OVERSIZED_INDEX;

/// Returns what is stored for a mapping or link reference: its index, or 0 if unset.
///
/// In the proto of 1.4 to 1.7, `optional` distinguishes an omitted field from index 0, so the index is stored
/// plus one.
#[inline]
pub(crate) fn optional_index<G: Generation>(index: Option<u32>) -> u32 {
    match G::CAPABILITIES.rows {
        Rows::NullFirst | Rows::FromZero => index.unwrap_or(0),
        Rows::Presence => index.map_or(0, |index| moved(index, 1)),
    }
}

/// Adjusts a reference to a table that `own` rows were put before. `NEGATIVE_INDEX` and `OVERSIZED_INDEX` stay
/// unchanged.
#[inline]
pub(crate) fn moved(index: u32, own: u32) -> u32 {
    // `own` is 0 or 1, so the sum does not overflow.
    if index < OVERSIZED_INDEX { index + own } else { index }
}

/// Reads indices of attributes, packed or not, as numbers. `out` holds a single list.
///
/// # Errors
///
/// Those of [`attribute_ids`].
// Always inlined. Without any in the library, decoding 1.10 takes up to 36 % more instructions.
#[inline(always)]
pub(crate) fn indices(
    tag: u32,
    reader: &mut Reader,
    out: &mut Vec<u32>,
    cx: &mut ReadContext,
) -> Result<()> {
    list(tag, reader, (out, 0), |index| index, cx)
}

/// Reads indices of attributes, packed or not. `out` holds the lists of many items; that of this item begins
/// at `first`.
///
/// Protobuf allows a writer to pack a repeated number or not, and to repeat the field. A reader must accept
/// every form.
///
/// # Errors
///
/// [`Limit`](crate::ErrorKind::Limit) if `max_attributes_per_item` is exceeded; malformed varints.
#[inline(always)]
pub(crate) fn attribute_ids(
    tag: u32,
    reader: &mut Reader,
    out: &mut Vec<AttributeId>,
    first: usize,
    cx: &mut ReadContext,
) -> Result<()> {
    list(tag, reader, (out, first), AttributeId, cx)
}

#[inline(always)]
fn list<T>(
    tag: u32,
    reader: &mut Reader,
    (out, first): (&mut Vec<T>, usize),
    id: impl Fn(u32) -> T,
    cx: &mut ReadContext,
) -> Result<()> {
    let before = out.len();
    if tag & 7 == LEN {
        let mut packed = reader.message()?;
        while !packed.is_empty() {
            out.push(id(packed.index()?));
        }
    } else {
        out.push(id(reader.index()?));
    }
    // Charged only now, because each number took at least a byte of the payload, which bounds the excess.
    cx.charge_more_attributes(before - first, out.len() - before)
}
