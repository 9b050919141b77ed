//! The state of a walk, and access to messages that were walked or will be.
//!
//! `peek` decodes a message once more without reporting defects, for rules that follow a reference to a row. The
//! number of such calls is bounded by the rows and references of the payload, so a walk stays linear.
//!
//! There is one context for each walk. State of the profile or the payload is in [`state`](super::state), the
//! positions of rows are in [`tables`](super::tables), and the findings in [`findings`](super::findings). The
//! methods that decode bytes are on `CheckContext` as well, in `decode`, `packed` and `anomalies`.

use std::fmt::Display;

use super::fields::Fields;
use super::findings::{Findings, Position};
use super::layout::{Found, Layouts, MessageLayout, Slot, Take};
use super::memo::Memo;
use super::numbers::Numbers;
use super::record::{Pool, PooledRecord, Record};
use super::rule::Rule;
use super::state::{Attribute, LineRow, PayloadState, ProfileState};
use super::tables::Tables;
use super::varint::Packed;
use crate::format::Receiver;
use crate::limits::Limits;
use crate::schema::{MessageKind, Role, Table, Version};
use crate::wire::indices::Indices;

/// The longest value, in bytes, that Pyroscope does not truncate.
///
/// `OP5015` reports longer ones.
pub(crate) const LONG: usize = 65_535;

/// Lists up to this long are compared element by element.
///
/// Comparing eight numbers costs less than hashing one. [`canonical`](super::canonical) accepts no longer lists.
pub(super) const FEW: usize = 8;

/// The state of one walk.
pub(crate) struct CheckContext<'a> {
    /// The decompressed payload. Every position is an offset in it, of 32 bits.
    pub(crate) bytes: &'a [u8],
    pub(crate) version: Version,
    /// The layouts of the version's messages.
    pub(crate) shapes: &'static Layouts,
    pub(crate) limits: Limits,
    /// The findings, with the path to the current message.
    pub(crate) findings: Findings,
    /// Records for messages other than the current one.
    pub(crate) pool: Pool,
    pub(crate) memo: Memo,
    pub(crate) tables: Tables,
    /// The number of messages around the current one, and the innermost of them.
    pub(crate) depth: u64,
    pub(crate) parent: MessageKind,
    /// Strings and bytes longer than this break a rule.
    pub(super) long: usize,
    /// Whether a singular field repeats: then the rules check the [merged](super::merged) payload.
    pub(crate) has_repeated_singular: bool,
    /// Whether canonical decoding is enabled.
    pub(crate) canonical: bool,
    /// The receiver of the payload, if named and if the payload is of the generation that receivers read.
    pub(crate) receiver: Option<Receiver>,
    /// Looked up once, because [`canonical`](super::canonical) needs them for every row.
    pub(crate) line_shape: Option<&'static MessageLayout>,
    pub(crate) value_shape: Option<&'static MessageLayout>,
    pub(crate) label_shape: Option<&'static MessageLayout>,
    /// Whether the rules about the style of keys, and about samples whose values are all 0, are enabled.
    pub(crate) check_key_style: bool,
    pub(crate) check_zero_values: bool,
    /// Reusable buffers for numbers and for bytes.
    pub(crate) set: Vec<u64>,
    pub(crate) scratch: Vec<u8>,
    /// The lines of the current location.
    pub(crate) lines: Vec<LineRow>,
    /// The unit checked last, and whether it is a UCUM unit.
    pub(crate) unit: (u64, bool),
    /// A reusable buffer for the references of the current list, each plus 1.
    pub(super) indices: Indices,
    /// The rows of the attribute tables.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) profile: ProfileState,
    pub(crate) payload: PayloadState,
}

/// The message cannot be decoded further. The reason is among the findings.
///
/// Carries no data, so that the `Result` of the hottest functions fits into registers.
pub(crate) struct Broken;

impl<'a> CheckContext<'a> {
    /// Creates the state before a walk, without tables.
    ///
    /// The walk adds the tables before it checks a reference. Disables canonical decoding if a receiver's rules
    /// need every message, or if a limit is below the numbers that it assumes.
    pub(crate) fn new(
        bytes: &'a [u8],
        version: Version,
        limits: Limits,
        findings: Findings,
    ) -> Self {
        let shapes = Layouts::of(version);
        let long = LONG.min(usize::try_from(limits.max_string_bytes).unwrap_or(usize::MAX));
        let tables = Tables::default();
        let receiver = findings.receiver().filter(|_| version == Version::V1_10);
        let bounded =
            limits.max_attributes_per_item >= FEW as u64 && limits.max_lines_per_location > 0;
        let (attributes, depth, parent) = (Vec::new(), 0, MessageKind::ProfilesData);
        let (profile, payload) = Default::default();
        Self {
            pool: Pool::default(),
            memo: Memo::default(),
            canonical: receiver.is_none() && bounded,
            receiver,
            line_shape: shapes.find(MessageKind::Line),
            value_shape: shapes.find(MessageKind::AnyValue),
            label_shape: shapes.find(MessageKind::Label),
            check_key_style: false,
            check_zero_values: false,
            has_repeated_singular: false,
            set: Vec::new(),
            scratch: Vec::new(),
            lines: Vec::new(),
            unit: (0, true),
            indices: Indices::plus(1),
            bytes,
            version,
            shapes,
            limits,
            findings,
            tables,
            depth,
            parent,
            long,
            attributes,
            profile,
            payload,
        }
    }

    /// The numbers of a repeated field, in any encoding.
    pub(crate) fn numbers(
        &self,
        record: &Record,
        cell: usize,
    ) -> impl Iterator<Item = u64> + use<'a> {
        Numbers::new(self.bytes, record, cell).map(|(_, number)| number)
    }

    /// Reports a violation ([`Findings::report`]).
    #[inline]
    pub(crate) fn report(
        &mut self,
        rule: &'static Rule,
        spot: Position,
        value: impl Display,
        bound: impl Display,
    ) {
        self.findings.report(rule, spot, value, bound);
    }

    /// The position of an element of a list. Its byte is determined only for the first findings of the rule,
    /// because that takes a scan; later ones have the byte of the list.
    #[cold]
    pub(crate) fn element(
        &mut self,
        rule: &'static Rule,
        record: &Record,
        cell: usize,
        row: usize,
    ) -> Position {
        let list = record.field(cell).row(row);
        let byte = match self.findings.lists(rule) {
            true => Numbers::new(self.bytes, record, cell).nth(row).map(|(at, _)| at as u64),
            false => None,
        };
        Position { byte: byte.or(list.byte), ..list }
    }

    /// Decodes a message again, without reporting defects.
    ///
    /// Unlike [`decode`](Self::decode), it counts no references and stops at malformed bytes. The cost is linear in
    /// the message, excluding the contents of nested messages.
    pub(crate) fn peek(
        &self,
        shape: &'static MessageLayout,
        start: usize,
        end: usize,
    ) -> PooledRecord {
        let mut record = self.pool.get();
        self.peek_into(shape, start, end, &mut record);
        record
    }

    /// Decodes a message into an existing record, for loops over rows, which then borrow from the pool once.
    pub(crate) fn peek_into(
        &self,
        shape: &'static MessageLayout,
        start: usize,
        end: usize,
        record: &mut Record,
    ) {
        record.begin(shape, start, end);
        for Found { slot, at, body, number, .. } in shape.fields(self.bytes, (start, end)) {
            let cell = record.cell_mut(slot.cell);
            match body {
                Some((start, end)) => {
                    let elements = match slot.take {
                        Take::Varint => Packed::new(self.bytes, start..end).count(),
                        Take::Fixed => (end - start) / 8,
                        _ => 1,
                    };
                    cell.add_body(at, elements, &(start..end));
                }
                None => {
                    cell.value = number;
                    cell.add(at, 1);
                }
            }
        }
    }

    /// Peeks at the message in a field: at an empty one if the field does not occur.
    pub(crate) fn peek_field(&self, record: &Record, cell: usize) -> PooledRecord {
        let slot = record.shape.of_cell(cell);
        let shape = slot.map_or(MessageLayout::EMPTY, |slot| self.shapes.get(slot.child));
        let body = record.body(cell);
        self.peek(shape, body.start, body.end)
    }

    /// The layout of a table's rows; `None` for strings, which are not messages, and for tables that the version
    /// lacks.
    pub(crate) fn table_shape(&self, table: Table) -> Option<&'static MessageLayout> {
        let holder = self.tables_holder();
        let slots = &self.shapes.find(holder)?.slots;
        let row = slots.iter().find(|slot| slot.field.role == Role::Row(table))?;
        (row.take == Take::Message).then(|| self.shapes.get(row.child))
    }

    /// The first row that equals the one a field refers to; other numbers are returned unchanged.
    ///
    /// Before tables are compared, and in tables without equal rows, every row is its own first.
    pub(crate) fn first_equal(&self, slot: &Slot, value: u64) -> u64 {
        match slot.table {
            Some((table, _)) => self.tables.first_equal(table, value),
            None => value,
        }
    }

    /// The number of the field at `at`. A record has the last value of a repeated field; rules may need the first.
    ///
    /// For `time_nanos` of two concatenated pprof files, it matters whether the first was set.
    pub(crate) fn first_number(&self, at: usize, end: usize) -> u64 {
        let mut fields = Fields::new(self.bytes, at, end);
        fields.next().map_or(0, |_| fields.number())
    }

    /// The message that contains the tables: the profile up to 1.5, the payload in 1.6, and a separate message
    /// since 1.7.
    pub(crate) fn tables_holder(&self) -> MessageKind {
        match self.version {
            Version::Pprof | Version::V1_3 | Version::V1_4 | Version::V1_5 => MessageKind::Profile,
            Version::V1_6 => MessageKind::ProfilesData,
            _ => MessageKind::Dictionary,
        }
    }

    /// The name of the field that holds the rows of a table.
    ///
    /// `location_table` since 1.4, `location` before and in pprof: findings use the names of the payload's
    /// generation.
    pub(crate) fn table_name(&self, table: Table) -> &'static str {
        let holder = self.tables_holder();
        let slots = self.shapes.find(holder).map_or(&[][..], |shape| &shape.slots);
        let row = slots.iter().find(|slot| slot.field.role == Role::Row(table));
        row.map_or("", |slot| slot.field.name)
    }

    /// The position of a row of a table, relative to the message that holds the tables.
    pub(crate) fn of_row(&self, table: Table, row: usize) -> Position {
        let spot = Position::nowhere().field(self.table_name(table)).row(row);
        let byte = self.tables.row(table, row as u64).map(|(start, _)| start as u64);
        Position { byte, ..spot }
    }

    /// The row of the current message in its list; 0 if it is not in a list.
    pub(crate) fn row(&self) -> usize {
        self.findings.path.last().and_then(|step| step.row).unwrap_or(0) as usize
    }

    /// The bytes of a row of the string table, not necessarily UTF-8; `None` if the row does not exist.
    pub(crate) fn string(&self, row: u64) -> Option<&'a [u8]> {
        let (start, end) = self.tables.row(Table::String, row)?;
        self.bytes.get(start..end)
    }

    /// The bytes of a field's last occurrence; empty if it is absent.
    pub(crate) fn body(&self, record: &Record, cell: usize) -> &'a [u8] {
        self.bytes.get(record.body(cell)).unwrap_or_default()
    }
}

/// Whether a field is the original payload, which may be long: a file within the file has its own limits.
pub(crate) fn is_original(slot: &Slot) -> bool {
    slot.field.key == "original_payload"
}
