//! The schema of one version, prepared for walks: the fields of each message by number.
//!
//! A [`MessageLayout`] is a message of one version, and a [`Slot`] one of its fields. A cell identifies a field
//! across versions: `Sample.values` is field 2 of 1.8 and field 4 of 1.10, but one cell. So rules address fields by
//! cell, whatever the generation; a cell without a field in this generation is never set.
//!
//! The layouts of a version are built once in a process, when a payload of it is first checked.
//!
//! The schema finds the field of a number as fast. A layout also precomputes what a walk needs of each field: its
//! cell, its decoding, its largest number, the rule of its reference.
//!
//! ```text
//! tag 22 ─► number 4 ─► numbers[4] = slot 3 ─► Slot { cell of "values", Varint, repeated, … } ─► record
//! ```

use std::sync::OnceLock;

use super::catalogue;
use super::fields::{Body, Fields};
use super::rule::Rule;
use crate::schema::{
    self, Field, Kind, Label, MessageKind, MessageType, NUMBERS, Role, Table, Version,
};
use crate::wire::unchecked_reader::NO_TAG;
use crate::wire::{FIXED64, LEN, VARINT};

/// How the value of a field is decoded: the field types of the schema, grouped by encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Take {
    /// All integers except fixed ones, bools and enums; packed if repeated.
    Varint,
    /// `fixed64` and `double`.
    Fixed,
    /// `string`, which must be UTF-8.
    Text,
    /// Length-delimited bytes, without further checks.
    Bytes,
    /// A message, entered later; [`Slot::child`] is its layout.
    Message,
}

/// A field of a message, with everything that a walk needs to know about it.
#[derive(Debug)]
pub(crate) struct Slot {
    /// The message that contains the field.
    pub(crate) kind: MessageKind,
    pub(crate) field: &'static Field,
    /// The row of its key in the schema of its message, the same in all versions.
    pub(crate) cell: usize,
    pub(crate) take: Take,
    /// Whether the field is repeated.
    pub(crate) repeated: bool,
    /// Whether an absent field means 0.
    pub(crate) plain: bool,
    /// The largest valid varint.
    pub(crate) most: u64,
    /// The table that the field refers to, with the rule about it.
    pub(crate) table: Option<(Table, &'static Rule)>,
    /// The layout of the nested message, a row of [`Layouts`]. Meaningless unless `take` is [`Take::Message`].
    pub(crate) child: usize,
    /// Whether the field is the id of its row, which is no part of the row's value.
    pub(crate) is_id: bool,
    /// Whether the order of the elements has no meaning.
    pub(crate) is_set: bool,
}

impl Slot {
    /// The key that folds findings about this field.
    pub(crate) fn fold_key(&self) -> u64 {
        fold_key(self.kind, self.field.number)
    }
}

/// The key that folds findings about a field of a message, known to the schema or not.
pub(crate) fn fold_key(kind: MessageKind, number: u32) -> u64 {
    (kind as u64) << 32 | u64::from(number)
}

/// A message: its fields by number.
#[derive(Debug)]
pub(crate) struct MessageLayout {
    pub(crate) kind: MessageKind,
    /// The name in the proto of the newest version.
    pub(crate) name: &'static str,
    /// Sorted by number.
    pub(crate) slots: Vec<Slot>,
    /// The slot of each number; past the end of `slots` if there is no field.
    numbers: [u8; NUMBERS],
    /// The first byte of each cell's field; [`NO_TAG`] if the version has no field with a tag of one byte.
    pub(crate) tags: [u16; CELLS],
    /// Whether many fields of one kind follow one another.
    pub(crate) runs: bool,
    /// The cells of the fields that hold messages.
    pub(crate) children: u64,
    /// The cells among them that hold rows of tables.
    pub(crate) tables: u64,
    /// The slot of each cell.
    cells: Vec<Option<usize>>,
}

/// An upper bound of the keys in a message, whose cells are numbered by the row of their key in the schema.
///
/// A test checks the schema against it. A set of cells fits into 64 bits.
pub(crate) const CELLS: usize = 30;

impl MessageLayout {
    /// A message without fields.
    pub(crate) const EMPTY: &Self = &Self {
        kind: MessageKind::Other,
        name: "",
        slots: Vec::new(),
        numbers: [u8::MAX; NUMBERS],
        tags: [NO_TAG; CELLS],
        runs: false,
        children: 0,
        tables: 0,
        cells: Vec::new(),
    };

    /// The field with a number; `None` if this version has no such field, even if others do.
    #[inline]
    pub(crate) fn slot(&self, number: u32) -> Option<&Slot> {
        let slot = *self.numbers.get(number as usize)?;
        self.slots.get(usize::from(slot))
    }

    /// The field of a cell; `None` if this version has no field for the key.
    #[inline]
    pub(crate) fn of_cell(&self, cell: usize) -> Option<&Slot> {
        self.cells.get(cell).copied().flatten().and_then(|slot| self.slots.get(slot))
    }

    /// Walks the known fields of a message, up to the first broken one.
    ///
    /// Leaves out unknown fields, and those of another wire type than the schema's.
    pub(crate) fn fields<'a>(&'static self, bytes: &'a [u8], (start, end): Body) -> Known<'a> {
        Known { shape: self, fields: Fields::new(bytes, start, end) }
    }

    /// The name of a cell's field in this version, for paths of findings.
    pub(crate) fn name_of(&self, cell: usize) -> &'static str {
        self.of_cell(cell).map_or("", |slot| slot.field.name)
    }
}

/// A field of a payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) slot: &'static Slot,
    /// Where it begins, with its tag, and ends.
    pub(crate) at: usize,
    pub(crate) end: usize,
    /// `None` of a single number.
    pub(crate) body: Option<Body>,
    /// A single number; stale beside a body.
    pub(crate) number: u64,
}

/// The fields of a payload that a message [knows](MessageLayout::fields).
pub(crate) struct Known<'a> {
    shape: &'static MessageLayout,
    fields: Fields<'a>,
}

impl Iterator for Known<'_> {
    type Item = Found;

    // Always inlined. Without any in the library, validating takes up to 28 % more instructions.
    #[inline(always)]
    fn next(&mut self) -> Option<Found> {
        loop {
            let at = self.fields.at();
            let (number, body) = self.fields.next()?;
            let Some(slot) = self.shape.slot(number) else { continue };
            let wants_body = !matches!(slot.take, Take::Varint | Take::Fixed);
            // A list of numbers may be packed or not. Any other field has one wire type.
            if slot.repeated || wants_body == body.is_some() {
                let (end, number) = (self.fields.at(), self.fields.number());
                return Some(Found { slot, at, end, body, number });
            }
        }
    }
}

/// All messages of a version.
#[derive(Debug)]
pub(crate) struct Layouts {
    /// The payload first. Fields refer to messages by their row here.
    shapes: Vec<MessageLayout>,
}

/// The row of the payload's message.
pub(crate) const ROOT: usize = 0;

impl Layouts {
    /// The layouts of a version: a few dozen messages, built once in a process and kept.
    pub(crate) fn of(version: Version) -> &'static Self {
        static SHAPES: [OnceLock<Layouts>; Version::ALL.len()] =
            [const { OnceLock::new() }; Version::ALL.len()];
        SHAPES[version as usize].get_or_init(|| Self::new(version))
    }

    /// Builds the layouts of all messages reachable from the payload, each once.
    fn new(version: Version) -> Self {
        let root: &'static MessageType = match version {
            Version::Pprof => &schema::PROFILE,
            _ => &schema::PROFILES_DATA,
        };
        let mut messages = vec![root];
        let mut shapes = Vec::new();
        // Layouts follow in the order of `messages`, so the position of a message there is its row here.
        while let Some(&message) = messages.get(shapes.len()) {
            let shape = shape(message, version, &mut messages);
            shapes.push(shape);
        }
        Self { shapes }
    }

    /// A message by its row, taken from a slot of the same layouts.
    #[inline]
    pub(crate) fn get(&'static self, row: usize) -> &'static MessageLayout {
        &self.shapes[row]
    }

    /// The layout and the body of a field that holds a message.
    pub(crate) fn inner(&'static self, found: &Found) -> Option<(&'static MessageLayout, Body)> {
        // Without this test, a string would pass for a message: its slot has child 0.
        let is_message = found.slot.take == Take::Message;
        is_message.then(|| self.get(found.slot.child)).zip(found.body)
    }

    /// The nested messages of a message. Skips unknown fields.
    pub(crate) fn messages<'a>(
        &'static self,
        bytes: &'a [u8],
        shape: &'static MessageLayout,
        body: Body,
    ) -> impl Iterator<Item = (&'static MessageLayout, Body)> + use<'a> {
        shape.fields(bytes, body).filter_map(|found| self.inner(&found))
    }

    /// A message by its kind; `None` if the version lacks it.
    pub(crate) fn find(&'static self, kind: MessageKind) -> Option<&'static MessageLayout> {
        self.shapes.iter().find(|shape| shape.kind == kind)
    }
}

/// Builds the layout of a message, with fields sorted by number. Appends new nested messages to `messages`.
fn shape(
    message: &'static MessageType,
    version: Version,
    messages: &mut Vec<&'static MessageType>,
) -> MessageLayout {
    let kind = message.kind;
    let (mut slots, mut numbers) = (Vec::new(), [u8::MAX; NUMBERS]);
    let (mut children, mut tables, mut cells) = (0, 0, Vec::new());
    let mut tags = [NO_TAG; CELLS];
    let mut fields: Vec<_> = message.fields_in(version).collect();
    fields.sort_by_key(|field| field.number);
    for field in fields {
        // Appends the message of the field to `messages`, if it is new.
        let slot = slot(message, field, version, messages);
        let wire = match slot.take {
            // Lists of numbers are packed in canonical form.
            Take::Varint if !slot.repeated => VARINT,
            Take::Fixed if !slot.repeated => FIXED64,
            _ => LEN,
        };
        // The tag of a larger number has two bytes, so `NO_TAG` stays.
        if field.number < 16 {
            tags[slot.cell % CELLS] = (field.number << 3 | wire) as u16;
        }
        if slot.take == Take::Message {
            children |= 1 << slot.cell;
            // The dictionary is no table, but its rows must be known before references to them.
            if matches!(field.role, Role::Row(_)) || field.key == "dictionary" {
                tables |= 1 << slot.cell;
            }
        }
        // A test keeps numbers below `NUMBERS`. A message has at most `CELLS` fields, which fit a byte.
        numbers[field.number as usize % NUMBERS] = slots.len() as u8;
        if cells.len() <= slot.cell {
            cells.resize(slot.cell + 1, None);
        }
        cells[slot.cell] = Some(slots.len());
        slots.push(slot);
    }
    let runs =
        matches!(kind, MessageKind::ProfilesData | MessageKind::Dictionary | MessageKind::Profile);
    MessageLayout { kind, name: message.name, slots, numbers, tags, runs, children, tables, cells }
}

/// Builds the layout of a field: looks up in the schema once what every message would need.
fn slot(
    message: &'static MessageType,
    field: &'static Field,
    version: Version,
    messages: &mut Vec<&'static MessageType>,
) -> Slot {
    let mut child = 0;
    let take = match field.kind {
        Kind::String => Take::Text,
        Kind::Bytes => Take::Bytes,
        Kind::Fixed64 | Kind::Double => Take::Fixed,
        Kind::Message(inner) => {
            // AnyValue contains itself, through its lists. A message that is known gets no second layout.
            let known = messages.iter().position(|known| std::ptr::eq(*known, inner));
            child = known.unwrap_or(messages.len());
            if known.is_none() {
                messages.push(inner);
            }
            Take::Message
        }
        _ => Take::Varint,
    };
    let most = match field.kind {
        Kind::Bool => 1,
        Kind::Int32 => i32::MAX as u64,
        Kind::Uint32 => u64::from(u32::MAX),
        Kind::Enum(of) => of.values.len() as u64 - 1,
        _ => u64::MAX,
    };
    let table = match field.role {
        Role::Ref(Table::SampleType) => None,
        Role::Ref(table) | Role::Sliced(table) => Some(table),
        Role::RefById if version != Version::Pprof => Some(Table::Location),
        _ => None,
    };
    let table = table.map(|table| (table, catalogue::rule_of(message.name, field.key, version)));
    Slot {
        kind: message.kind,
        field,
        cell: message.cell(field.key),
        take,
        repeated: field.is_repeated(),
        plain: matches!(field.label, Label::One),
        most,
        table,
        child,
        is_id: field.key == "id",
        is_set: matches!(field.key, "attribute_indices" | "attributes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_has_shapes_whose_fields_fit() {
        for version in Version::ALL {
            let shapes = Layouts::of(version);
            for shape in &shapes.shapes {
                assert!(shape.slots.iter().all(|slot| slot.field.number < NUMBERS as u32));
                let cells = shape.slots.iter().map(|slot| slot.cell + 1).max().unwrap_or(0);
                assert!(cells <= CELLS, "{}: raise CELLS to {cells}", shape.name);
            }
        }
    }
}
