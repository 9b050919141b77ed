//! Messages as Go's protobuf takes them: a field of another wire type than the schema's is a field that nobody
//! knows, numbers are cut to their width, what comes once is merged, and any other fault ends it.
//!
//! Go's `proto.Unmarshal` is stricter than a walk in some ways and laxer in others, and a verdict
//! needs both: it takes tags of up to ten bytes and lengths in any form, refuses invalid UTF-8 in
//! any `string` and groups that end by another number, and keeps a field of the wrong wire type as
//! unknown. So bytes are judged here once more, apart from [`decode`](crate::check::decode).

use std::ops::Range;

use crate::check::catalogue::{
    OP1001, OP1002, OP1005, OP1006, OP1007, OP1009, OP1011, OP1012, OP1014, OP1015, OP1017, OP1018,
};
use crate::check::fields::Fields;
use crate::check::findings::{Findings, Position, Step};
use crate::check::layout::{Layouts, MessageLayout, ROOT, Slot, Take};
use crate::check::rule::Rule;
use crate::check::varint::{Fault, Packed, varint};
use crate::schema::Kind as Type;
use crate::wire::{END_GROUP, FIXED32, FIXED64, LEN, START_GROUP, VARINT};

/// How many messages may lie in each other.
///
/// `protowire.DefaultRecursionLimit` of google.golang.org/protobuf.
const DEEPEST: usize = 10_000;

/// The largest number of a field, and of one inside a group.
///
/// Inside a group Go checks only that the number is positive as an `int32`.
const LAST: u64 = (1 << 29) - 1;
const LAST_IN_GROUP: u64 = i32::MAX as u64;

/// Why bytes are no message, and where.
type Faulty = (&'static Rule, usize);

/// A message that is being read.
///
/// One for each message that is open. They are kept in a list, as 10,000 levels would be too many
/// for the stack.
struct Level {
    shape: &'static MessageLayout,
    start: usize,
    /// Where the field begins that is read, and the next one.
    field: usize,
    at: usize,
    end: usize,
}

/// Whether Go takes the bytes for a message; if not, why is among the findings.
///
/// Stops at the first fault, as Go does: its findings are one or none. Linear in the payload.
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

/// Reads a field; of a message, which one and where.
///
/// Only bodies of fields that the schema knows as messages are entered. Strings are held to UTF-8,
/// packed lists to whole elements, and all else is passed over.
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

/// The rule that a varint breaks, at its place.
///
/// The two rules of varints, as the walk has them.
fn faulty(fault: Fault, at: usize) -> Faulty {
    match fault {
        Fault::Truncated => (&OP1002, at),
        Fault::Overflow => (&OP1001, at),
    }
}

/// A tag as Go takes it: its number, its wire type and where its value begins. Numbers end at `last`.
///
/// Go's tags may be longer than they have to be.
fn tag(bytes: &[u8], at: usize, end: usize, last: u64) -> Result<(u32, u32, usize), Faulty> {
    let (tag, body) = varint(bytes, at, end).map_err(|fault| faulty(fault, at))?;
    match tag >> 3 {
        0 => Err((&OP1005, at)),
        number if number > last => Err((&OP1006, at)),
        number => Ok((number as u32, tag as u32 & 7, body)),
    }
}

/// Where the value of a field ends.
///
/// By wire type alone, whatever the schema says of the number.
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

/// Where a group ends.
///
/// The numbers of open groups are kept: each has to end by its own.
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

/// Raises a fault at its place.
///
/// The path is made only now, from the fields that were open: rows are counted among the fields
/// before.
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

/// A field whose wire type is the schema's.
pub(super) struct Field<'a> {
    /// What the schema of 1.10 says of it.
    pub(super) slot: &'static Slot,
    /// Its key in the schema, by which checks choose.
    pub(super) key: &'static str,
    /// Where its tag is.
    pub(super) at: usize,
    /// Already of the kind that the schema says.
    pub(super) value: Value<'a>,
}

/// What Go makes of a field.
pub(super) enum Value<'a> {
    /// A varint or a `fixed64`, not cut to its width yet.
    Number(u64),
    /// Numbers of a repeated field.
    Packed(Packed<'a>),
    /// `fixed64` in a chunk.
    Words(&'a [u8]),
    /// A message, a text or bytes.
    Body(Range<usize>),
}

impl Value<'_> {
    /// The number; 0 of anything else.
    pub(super) fn number(&self) -> u64 {
        match self {
            Self::Number(value) => *value,
            _ => 0,
        }
    }

    /// An `int32`.
    ///
    /// Cut to 32 bits as protobuf does, so 2^32 is row 0.
    pub(super) fn index(&self) -> i32 {
        self.number() as i32
    }

    /// Where the body is; nowhere of anything else.
    pub(super) fn body(&self) -> Range<usize> {
        match self {
            Self::Body(body) => body.clone(),
            _ => 0..0,
        }
    }

    /// The numbers of a repeated field, appended.
    ///
    /// From one number or a chunk of them: Go appends both to one slice.
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

    /// Whether it says anything.
    ///
    /// By the value that is left after it was cut to its type.
    fn is_set(&self, slot: &Slot) -> bool {
        match self {
            Self::Number(value) if matches!(slot.field.kind, Type::Int32) => *value as i32 != 0,
            Self::Number(value) => *value != 0,
            Self::Packed(_) | Self::Words(_) => true,
            Self::Body(body) => slot.repeated || !body.is_empty(),
        }
    }
}

/// The fields of a message that [`decodes`], but for those that Go does not know.
///
/// Those of a wire type that the schema does not want are left out too, as Go keeps their bytes as
/// unknown.
pub(super) fn fields<'a>(
    bytes: &'a [u8],
    shape: &'static MessageLayout,
    body: Range<usize>,
) -> impl Iterator<Item = Field<'a>> + use<'a> {
    let mut rest = Fields::new(bytes, body.start, body.end);
    std::iter::from_fn(move || {
        loop {
            let at = rest.at();
            let (number, chunk) = rest.next()?;
            let Some(slot) = shape.slot(number) else { continue };
            if let Some(value) = value_of(bytes, slot, at, body.end, chunk) {
                return Some(Field { slot, key: slot.field.key, at, value });
            }
        }
    })
}

/// The value of a field, if it is of the kind that the schema says: of others Go keeps the bytes as unknown.
///
/// `None` is "unknown to Go". The tag is read again, as the headers do not keep the wire type.
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

/// Whether a message equals one without fields, those that Go does not know included.
///
/// As `proto.Equal` with an empty message: unknown fields make a message unequal, a scalar that was
/// set and then set to 0 does not.
pub(super) fn is_zero(bytes: &[u8], shape: &'static MessageLayout, body: Range<usize>) -> bool {
    let (mut known, mut set) = (0, 0u64);
    for field in fields(bytes, shape, body.clone()) {
        known += 1;
        let bit = 1 << field.slot.cell;
        let empty = matches!(&field.value, Value::Words([]))
            || matches!(&field.value, Value::Packed(packed) if packed.is_empty());
        match (field.slot.repeated, field.value.is_set(field.slot)) {
            (true, _) if empty => {}
            // Elements are added; of what comes once the last counts.
            (true, _) | (false, true) => set |= bit,
            (false, false) => set &= !bit,
        }
    }
    set == 0 && known == Fields::new(bytes, body.start, body.end).count()
}
