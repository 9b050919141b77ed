//! References as they are read: indices on the wire become rows of the model at once, which are proved later.
//!
//! ```text
//! 1.8 on                index 0 is row 0, the empty one
//! 1.4 to 1.7            index 0 is row 1; a mapping or a link that is left out is row 0, none
//! 1.3                   the same, but that 0 and left out look alike
//! ```

use crate::error::Result;
use crate::format::intake::Intake;
use crate::schema::{Generation, Rows, Version};
use crate::wire::LEN;
use crate::wire::read::Reader;
use crate::wire::varint::BEYOND;

/// The rows a table has before those of the wire.
///
/// It is what a row's place in a column exceeds its index on the wire by, which errors must name.
pub(super) const fn own_rows<G: Generation>() -> usize {
    match G::CAPABILITIES.rows {
        Rows::NullFirst => 0,
        Rows::FromZero | Rows::Presence => 1,
    }
}

/// The row of the model that an index on the wire leads to, whether or not it is there. What is no index stays so.
///
/// pprof has ids, which lead to rows of the model as they are.
#[inline(always)]
pub(crate) fn row_of<G: Generation>(index: u32) -> u32 {
    let own = match G::VERSION {
        Version::Pprof => 0,
        _ => own_rows::<G>() as u32,
    };
    if index < BEYOND { index + own } else { index }
}

/// A mapping or link reference: the row of the model it leads to, or none.
///
/// `optional` in the proto of 1.4 to 1.7 makes "left out" and "the first row" differ. In 1.3 they look alike, so the
/// index is kept as it is, for [`settle`](super::settle) to tell.
#[inline]
pub(crate) fn reference<G: Generation>(index: Option<u32>) -> u32 {
    match G::CAPABILITIES.rows {
        Rows::NullFirst | Rows::FromZero => index.unwrap_or(0),
        Rows::Presence => index.map_or(0, row_of::<G>),
    }
}

/// Indices of attributes, packed or not, as they are.
///
/// Protobuf lets a writer pack a repeated number or not, and several times in one message; a reader
/// has to take all of that. The list is of one thing alone.
///
/// # Errors
///
/// [`Limit`](crate::ErrorKind::Limit) past `max_attributes_per_item`, besides malformed varints.
#[inline(always)]
pub(crate) fn indices(
    tag: u32,
    reader: &mut Reader,
    out: &mut Vec<u32>,
    intake: &mut Intake,
) -> Result<()> {
    rows_from(tag, reader, (out, 0), |index| index, intake)
}

/// The same as rows of the model, in a list of many things: those of this one are from `first` on.
#[inline(always)]
pub(crate) fn attribute_rows<G: Generation>(
    tag: u32,
    reader: &mut Reader,
    out: &mut Vec<u32>,
    first: usize,
    intake: &mut Intake,
) -> Result<()> {
    rows_from(tag, reader, (out, first), row_of::<G>, intake)
}

#[inline(always)]
fn rows_from(
    tag: u32,
    reader: &mut Reader,
    (out, first): (&mut Vec<u32>, usize),
    row: impl Fn(u32) -> u32,
    intake: &mut Intake,
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
    intake.take_more_attributes(before - first, out.len() - before)
}
