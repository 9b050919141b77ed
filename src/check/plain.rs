//! Short messages whose fields come once and in their shortest form, as nearly all do, in the one form that equal
//! messages have. Whatever is odd about others is not said here: they are not taken.

use super::cx::Cx;
use super::shape::{NO_CELL, Shape, Slot, Take};
use super::tables::again;
use crate::schema::{Label, Table};
use crate::wire::read::Reader;
use crate::wire::short::Short;
use crate::wire::varint::BEYOND;

/// What stands before and behind a message inside a message; no cell is that.
pub(crate) const OPEN: u8 = 254;
pub(crate) const CLOSE: u8 = 255;

/// More fields than these, or messages inside one, are not taken here.
const MOST: usize = 8;

/// Appends a message in its one form: fields in the order of the schema, defaults left out, references to the first
/// of equal rows.
pub(crate) fn canonical(
    cx: &Cx<'_>,
    shape: &'static Shape,
    body: (usize, usize),
    out: &mut Vec<u8>,
) -> Option<()> {
    let fields = Reader::within(cx.bytes, body.0, body.1).short().filter(|_| cx.fast)?;
    let before = out.len();
    let done = fields_of(cx, shape, fields, out);
    if done.is_none() {
        out.truncate(before);
    }
    done
}

/// The fields of a message.
struct Fields {
    /// By the place of a field's slot its number, or where its body begins and ends, eight bits each.
    numbers: [u64; MOST],
    /// Where the messages in one of the fields begin and end.
    messages: [(u8, u8); MOST],
    inner: usize,
}

impl Fields {
    #[inline(always)]
    fn of(shape: &'static Shape, mut fields: Short<'_>) -> Option<Self> {
        let mut found = Self { numbers: [0; MOST], messages: [(0, 0); MOST], inner: 0 };
        while !fields.is_over() {
            let (tag, value) = fields.exact()?;
            let (row, slot) = shape.coded(tag)?;
            let number = found.numbers.get_mut(row)?;
            match slot.take {
                _ if *number != 0 && slot.take != Take::Message => return None,
                Take::Varint if !slot.repeated => *number = value,
                Take::Text | Take::Bytes if !slot.repeated => {
                    let start = fields.at() as u64;
                    fields.body(value)?;
                    *number = start << 8 | fields.at() as u64;
                }
                // Messages of one field, if of any.
                Take::Message if *number == 0 && found.inner > 0 => return None,
                Take::Message => {
                    let start = fields.at() as u8;
                    fields.body(value)?;
                    *found.messages.get_mut(found.inner)? = (start, fields.at() as u8);
                    (*number, found.inner) = (1, found.inner + 1);
                }
                _ => return None,
            }
        }
        fields.is_done().then_some(found)
    }
}

fn fields_of(
    cx: &Cx<'_>,
    shape: &'static Shape,
    whole: Short<'_>,
    out: &mut Vec<u8>,
) -> Option<()> {
    let found = Fields::of(shape, whole)?;
    for (slot, number) in shape.slots.iter().zip(found.numbers) {
        if number == 0 || slot.field.key == "id" {
            continue;
        }
        let value = if slot.take == Take::Varint { cx.first_equal(slot, number) } else { number };
        // What equals row 0 may be left out.
        if value == 0 && slot.field.label != Label::Case {
            continue;
        }
        out.push(slot.cell as u8);
        match slot.take {
            Take::Varint => out.extend_from_slice(&value.to_le_bytes()),
            Take::Message => {
                for (start, end) in found.messages.into_iter().take(found.inner) {
                    out.push(OPEN);
                    let part = whole.between(usize::from(start), usize::from(end));
                    fields_of(cx, cx.shapes.get(slot.child), part, out)?;
                    out.push(CLOSE);
                }
            }
            _ => {
                let text =
                    whole.between((number >> 8) as usize, (number & 0xff) as usize).rest()?;
                out.extend_from_slice(&(text.len() as u64).to_le_bytes());
                out.extend_from_slice(text);
            }
        }
    }
    Some(())
}

/// Appends the one form of a stack.
pub(crate) fn stack(
    cx: &mut Cx<'_>,
    shape: &'static Shape,
    body: (usize, usize),
    out: &mut Vec<u8>,
) -> Option<()> {
    let tag = *cx.bytes.get(body.0).filter(|_| cx.fast)?;
    let cell = shape.codes[usize::from(tag)];
    let (start, end) = again(cx.bytes, body.0, body.1, tag)?;
    if cell == NO_CELL || start == end || end != body.1 {
        return None;
    }
    cx.indices.clear();
    cx.indices.append(Reader::within(cx.bytes, start, end)).ok()?;
    if cx.indices.most_less_one()? >= BEYOND - 1 {
        return None;
    }
    let indices = cx.indices.get(0, cx.indices.len());
    out.push(cell);
    out.extend_from_slice(&(indices.len() as u64).to_le_bytes());
    let equal = &cx.tables.equal[Table::Location as usize];
    let first = |index: &u32| u64::from(*equal.get(*index as usize).unwrap_or(index));
    let before = out.len();
    out.resize(before + 8 * indices.len(), 0);
    let words = out.get_mut(before..).unwrap_or_default().as_chunks_mut::<8>().0;
    match equal.is_empty() {
        true => words.iter_mut().zip(indices).for_each(|(word, index)| {
            *word = u64::from(*index).to_le_bytes();
        }),
        false => words.iter_mut().zip(indices).for_each(|(word, index)| {
            *word = first(index).to_le_bytes();
        }),
    }
    Some(())
}

impl Shape {
    /// The field that begins with a byte, and which of the slots it is.
    #[inline(always)]
    fn coded(&self, tag: u8) -> Option<(usize, &Slot)> {
        let row = self.slot_of_cell(usize::from(self.codes[usize::from(tag)]))?;
        Some((row, self.slots.get(row)?))
    }
}
