//! Decodes messages as Go's protobuf does: a field with another wire type than the schema's is unknown, numbers are
//! truncated to their width, occurrences of a singular message are merged, and any other fault ends decoding.
//!
//! Go's `proto.Unmarshal` is stricter than the walk in some ways and laxer in others, and the verdict depends on
//! both. It accepts tags of up to ten bytes and lengths in any form, rejects invalid UTF-8 in any `string` and
//! groups that end with another number, and keeps a field of the wrong wire type as unknown. So this module decodes
//! the bytes separately from [`decode`](crate::check::decode).

use std::ops::Range;

use crate::check::catalogue::{
    OP1001, OP1002, OP1005, OP1006, OP1007, OP1009, OP1011, OP1012, OP1014, OP1015, OP1017, OP1018,
};
use crate::check::fields::Fields;
use crate::check::findings::{Findings, Position, Step};
use crate::check::layout::{Found, Layouts, MessageLayout, ROOT, Slot, Take};
use crate::check::rule::Rule;
use crate::check::varint::{Fault, Packed, varint};
use crate::schema::Kind as Type;
use crate::wire::{END_GROUP, FIXED32, FIXED64, LEN, START_GROUP, VARINT};

/// The nesting limit of messages.
///
/// `protowire.DefaultRecursionLimit` of google.golang.org/protobuf.
const DEEPEST: usize = 10_000;

/// The largest field number, and the largest inside a group.
///
/// Inside a group Go checks only that the number is positive as an `int32`.
const LAST: u64 = (1 << 29) - 1;
const LAST_IN_GROUP: u64 = i32::MAX as u64;

/// The rule that malformed bytes break, and their position.
type Faulty = (&'static Rule, usize);

/// A message that is being decoded, one for each open message.
///
/// Kept in a list, because 10,000 levels would overflow the stack.
struct Level {
    shape: &'static MessageLayout,
    start: usize,
    /// The start of the current field, and of the next one.
    field: usize,
    at: usize,
    end: usize,
}

/// Whether Go decodes the bytes as a message; if not, reports the reason.
///
/// Stops at the first fault, as Go does, so it reports at most one finding. Linear in the payload.
pub(super) fn decodes(bytes: &[u8], shapes: &'static Layouts, findings: &mut Findings) -> bool {
    let level = |shape, body: Range<usize>| {
        let (start, end) = (body.start, body.end);
        Level { shape, start, field: start, at: start, end }
    };
    let mut levels = vec![level(shapes.get(ROOT), 0..bytes.len())];
    while let Some(last) = levels.last_mut() {
        if last.at >= last.end {
            levels.pop();
            continue;
        }
        last.field = last.at;
        match field(bytes, last) {
            Ok(None) => {}
            Ok(Some(_)) if levels.len() == DEEPEST => {
                refuse(bytes, &levels, (&OP1017, levels[DEEPEST - 1].field), findings);
                return false;
            }
            Ok(Some((child, body))) => levels.push(level(shapes.get(child), body)),
            Err(fault) => {
                refuse(bytes, &levels, fault, findings);
                return false;
            }
        }
    }
    true
}

/// Decodes a field. For a message, returns its layout and its body.
///
/// Enters only fields that the schema declares as messages. Checks strings for UTF-8 and packed lists for whole
/// elements, and skips the rest.
fn field(bytes: &[u8], level: &mut Level) -> Result<Option<(usize, Range<usize>)>, Faulty> {
    let at = level.at;
    let (number, wire, body) = tag(bytes, at, level.end, LAST)?;
    if wire == END_GROUP {
        return Err((&OP1014, at));
    }
    level.at = match wire {
        START_GROUP => group(bytes, number, body, level.end)?,
        _ => value(bytes, wire, at, body, level.end)?,
    };
    let Some(slot) = level.shape.slot(number) else { return Ok(None) };
    if wire != LEN {
        return Ok(None);
    }
    let (_, start) = varint(bytes, body, level.end).map_err(|fault| faulty(fault, at))?;
    let body = start..level.at;
    match slot.take {
        Take::Message => return Ok(Some((slot.child, body))),
        Take::Text if std::str::from_utf8(bytes.get(body.clone()).unwrap_or_default()).is_err() => {
            return Err((&OP1018, at));
        }
        // A packed list must contain whole elements.
        Take::Fixed if slot.repeated && body.len() % 8 != 0 => return Err((&OP1012, at)),
        Take::Varint if slot.repeated => {
            let mut next = body.start;
            while next < body.end {
                (_, next) = varint(bytes, next, body.end).map_err(|fault| match fault {
                    Fault::Truncated => (&OP1012, at),
                    Fault::Overflow => faulty(fault, next),
                })?;
            }
        }
        _ => {}
    }
    Ok(None)
}

/// The rule for a malformed varint, with its position.
///
/// These are the two rules that the walk uses as well.
fn faulty(fault: Fault, at: usize) -> Faulty {
    match fault {
        Fault::Truncated => (&OP1002, at),
        Fault::Overflow => (&OP1001, at),
    }
}

/// Decodes a tag as Go does: its number, its wire type and the start of its value. Numbers above `last` are
/// rejected.
///
/// Go accepts tags that are longer than necessary.
fn tag(bytes: &[u8], at: usize, end: usize, last: u64) -> Result<(u32, u32, usize), Faulty> {
    let (tag, body) = varint(bytes, at, end).map_err(|fault| faulty(fault, at))?;
    match tag >> 3 {
        0 => Err((&OP1005, at)),
        number if number > last => Err((&OP1006, at)),
        number => Ok((number as u32, tag as u32 & 7, body)),
    }
}

/// The end of a field's value, by its wire type alone, whatever type the schema declares.
fn value(bytes: &[u8], wire: u32, at: usize, body: usize, end: usize) -> Result<usize, Faulty> {
    let fixed = |width: usize| match end - body < width {
        true => Err((&OP1011, at)),
        false => Ok(body + width),
    };
    match wire {
        VARINT => Ok(varint(bytes, body, end).map_err(|fault| faulty(fault, at))?.1),
        FIXED64 => fixed(8),
        FIXED32 => fixed(4),
        LEN => {
            let (length, start) = varint(bytes, body, end).map_err(|fault| faulty(fault, at))?;
            match length > (end - start) as u64 {
                true => Err((&OP1009, at)),
                false => Ok(start + length as usize),
            }
        }
        _ => Err((&OP1007, at)),
    }
}

/// The end of a group.
///
/// Keeps the numbers of open groups, because each must end with the same number.
fn group(bytes: &[u8], number: u32, mut at: usize, end: usize) -> Result<usize, Faulty> {
    let mut open = vec![number];
    while let Some(innermost) = open.last().copied() {
        if at >= end {
            return Err((&OP1015, at));
        }
        let (number, wire, body) = tag(bytes, at, end, LAST_IN_GROUP)?;
        at = match wire {
            START_GROUP if open.len() > DEEPEST => return Err((&OP1017, at)),
            START_GROUP => {
                open.push(number);
                body
            }
            END_GROUP if number == innermost => {
                open.pop();
                body
            }
            END_GROUP => return Err((&OP1015, at)),
            wire => value(bytes, wire, at, body, end)?,
        };
    }
    Ok(at)
}

/// Reports a fault at its position.
///
/// Builds the path only now, from the open fields; rows are counted among the preceding fields.
fn refuse(bytes: &[u8], levels: &[Level], (rule, byte): Faulty, findings: &mut Findings) {
    for level in levels {
        let found = Fields::new(bytes, level.field, level.end).next().map(|(number, _)| number);
        let tag = tag(bytes, level.field, level.end, LAST).ok().map(|(number, ..)| number);
        let slot = found.or(tag).and_then(|number| level.shape.slot(number));
        let Some(slot) = slot else { break };
        let before = Fields::new(bytes, level.start, level.field);
        let row = before.filter(|(number, _)| *number == slot.field.number).count();
        findings.path.push(Step {
            name: slot.field.name,
            row: (slot.repeated && slot.take != Take::Varint).then_some(row as u32),
        });
    }
    findings.report(rule, Position::at(byte), "", "");
    findings.path.clear();
}

/// A field with the wire type that the schema declares.
pub(super) struct Field<'a> {
    /// The schema of the field in 1.10.
    pub(super) slot: &'static Slot,
    /// The schema key of the field, by which checks select it.
    pub(super) key: &'static str,
    /// The position of the tag.
    pub(super) at: usize,
    /// The value, of the kind that the schema declares.
    pub(super) value: Value<'a>,
}

/// The value of a field as Go decodes it.
pub(super) enum Value<'a> {
    /// A varint or a `fixed64`, not truncated to its width yet.
    Number(u64),
    /// A packed list of varints.
    Packed(Packed<'a>),
    /// A packed list of `fixed64`.
    Words(&'a [u8]),
    /// The body of a message, a string or bytes.
    Body(Range<usize>),
}

impl Value<'_> {
    /// The number, or 0 for other values.
    pub(super) fn number(&self) -> u64 {
        match self {
            Self::Number(value) => *value,
            _ => 0,
        }
    }

    /// The number as an `int32`, truncated to 32 bits as protobuf does, so 2^32 is row 0.
    pub(super) fn index(&self) -> i32 {
        self.number() as i32
    }

    /// The body, or an empty range for other values.
    pub(super) fn body(&self) -> Range<usize> {
        match self {
            Self::Body(body) => body.clone(),
            _ => 0..0,
        }
    }

    /// Appends the numbers of a repeated field.
    ///
    /// Accepts one number or a packed list: Go appends both to one slice.
    pub(super) fn extend<T>(self, list: &mut Vec<T>, of: impl Fn(u64) -> T) {
        match self {
            Self::Number(value) => list.push(of(value)),
            Self::Packed(packed) => list.extend(packed.map(of)),
            Self::Words(bytes) => {
                list.extend(
                    bytes.as_chunks::<8>().0.iter().map(|word| of(u64::from_le_bytes(*word))),
                );
            }
            Self::Body(_) => {}
        }
    }

    /// Whether the value differs from the default, after truncation to its type.
    fn is_set(&self, slot: &Slot) -> bool {
        match self {
            Self::Number(value) if matches!(slot.field.kind, Type::Int32) => *value as i32 != 0,
            Self::Number(value) => *value != 0,
            Self::Packed(_) | Self::Words(_) => true,
            Self::Body(body) => slot.repeated || !body.is_empty(),
        }
    }
}

/// The fields of a message that passed [`decodes`], without those unknown to Go.
///
/// Fields with the wrong wire type are omitted too, because Go keeps their bytes as unknown.
pub(super) fn fields<'a>(
    bytes: &'a [u8],
    shape: &'static MessageLayout,
    body: Range<usize>,
) -> impl Iterator<Item = Field<'a>> + use<'a> {
    let found = shape.fields(bytes, (body.start, body.end));
    found.filter_map(move |Found { slot, at, body: chunk, .. }| {
        let value = value_of(bytes, slot, at, body.end, chunk)?;
        Some(Field { slot, key: slot.field.key, at, value })
    })
}

/// The value of a field, if it has the kind that the schema declares. `None` means unknown to Go.
///
/// Decodes the tag again, because the headers do not keep the wire type.
fn value_of<'a>(
    bytes: &'a [u8],
    slot: &Slot,
    at: usize,
    end: usize,
    chunk: Option<(usize, usize)>,
) -> Option<Value<'a>> {
    let (tag, after) = varint(bytes, at, end).ok()?;
    Some(match (tag as u32 & 7, slot.take, chunk) {
        (VARINT, Take::Varint, _) => Value::Number(varint(bytes, after, end).ok()?.0),
        (FIXED64, Take::Fixed, _) => {
            Value::Number(u64::from_le_bytes(*bytes.get(after..)?.first_chunk()?))
        }
        (LEN, Take::Varint, Some((start, end))) if slot.repeated => {
            Value::Packed(Packed::new(bytes, start..end))
        }
        (LEN, Take::Fixed, Some((start, end))) if slot.repeated => {
            Value::Words(bytes.get(start..end)?)
        }
        (LEN, Take::Text | Take::Bytes | Take::Message, Some((start, end))) => {
            Value::Body(start..end)
        }
        _ => return None,
    })
}

/// Whether a message equals an empty one, fields unknown to Go included.
///
/// Like `proto.Equal` with an empty message: unknown fields make a message unequal, a scalar that was set and then
/// set to 0 does not.
pub(super) fn is_zero(bytes: &[u8], shape: &'static MessageLayout, body: Range<usize>) -> bool {
    let (mut known, mut set) = (0, 0u64);
    for field in fields(bytes, shape, body.clone()) {
        known += 1;
        let bit = 1 << field.slot.cell;
        let empty = matches!(&field.value, Value::Words([]))
            || matches!(&field.value, Value::Packed(packed) if packed.is_empty());
        match (field.slot.repeated, field.value.is_set(field.slot)) {
            (true, _) if empty => {}
            // Elements accumulate; the last occurrence of a singular field counts.
            (true, _) | (false, true) => set |= bit,
            (false, false) => set &= !bit,
        }
    }
    set == 0 && known == Fields::new(bytes, body.start, body.end).count()
}
