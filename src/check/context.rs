//! What is known while a payload is walked, and looks at what was walked or is still to be.
//!
//! `peek` takes a message apart once more and says nothing about it: for rules that look at a row through a reference.
//! How often that happens is bounded by the rows and references of the payload, so all of a walk stays linear.
//!
//! There is one for each walk. What belongs to the profile or the payload and to no message is in
//! [`state`](super::state); where rows are is in [`tables`](super::tables); what was found is in
//! [`findings`](super::findings). The methods that decode bytes are on `CheckContext` as well, in `decode`,
//! `packed` and `anomalies`.

use std::fmt::Display;

use super::fields::Fields;
use super::findings::{Findings, Position};
use super::layout::{Layouts, MessageLayout, Slot, Take};
use super::memo::Memo;
use super::numbers::Numbers;
use super::record::{Lent, Pool, Record};
use super::rule::Rule;
use super::state::{Attribute, LineRow, PayloadState, ProfileState};
use super::tables::Tables;
use super::varint::Packed;
use crate::format::Receiver;
use crate::limits::Limits;
use crate::schema::{Noun, Role, Table, Version};
use crate::wire::indices::Indices;

/// Longer values are cut by Pyroscope.
///
/// In bytes; `OP5015` tells of longer ones.
pub(crate) const LONG: usize = 65_535;

/// Lists up to this long are compared one by one.
///
/// A comparison of eight numbers costs less than a hash of one. [`canonical`](super::canonical) proves no
/// longer lists.
pub(super) const FEW: usize = 8;

/// The state of one walk.
pub(crate) struct CheckContext<'a> {
    /// The payload, inflated. Every place is an offset in it, of 32 bits.
    pub(crate) bytes: &'a [u8],
    pub(crate) version: Version,
    /// The messages of the version.
    pub(crate) shapes: &'static Layouts,
    pub(crate) limits: Limits,
    /// With the path to the message that is walked.
    pub(crate) findings: Findings,
    /// Records for messages that are looked at besides the one that is walked.
    pub(crate) pool: Pool,
    pub(crate) memo: Memo,
    pub(crate) tables: Tables,
    /// How many messages lie around the one that is walked, and the nearest of them.
    pub(crate) depth: u64,
    pub(crate) parent: Noun,
    /// Texts and bytes longer than this have something to be said of.
    pub(super) long: usize,
    /// Whether a message has twice what it has once: rules ask what is [left](super::merged) of it then.
    pub(crate) has_repeated_singular: bool,
    /// Whether messages that are fine as a whole are shown to be so.
    pub(crate) canonical: bool,
    /// Whom the payload is for, if that is known and it is of the generation that receivers read.
    pub(crate) receiver: Option<Receiver>,
    /// Looked up once, as [`canonical`](super::canonical) needs them for every row.
    pub(crate) line_shape: Option<&'static MessageLayout>,
    pub(crate) value_shape: Option<&'static MessageLayout>,
    pub(crate) label_shape: Option<&'static MessageLayout>,
    /// Whether it is asked how keys are written, and of samples whose values are all 0.
    pub(crate) check_key_style: bool,
    pub(crate) check_zero_values: bool,
    /// Room for numbers, and for bytes, that are made and forgotten.
    pub(crate) set: Vec<u64>,
    pub(crate) scratch: Vec<u8>,
    /// The lines of the location that is walked.
    pub(crate) lines: Vec<LineRow>,
    /// The unit that was met last, and whether it is one of UCUM.
    pub(crate) unit: (u64, bool),
    /// The references of the list that is walked, each plus 1, for their memory.
    pub(super) indices: Indices,
    /// What the attributes of the tables are.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) profile: ProfileState,
    pub(crate) payload: PayloadState,
}

/// A message cannot be taken apart; why is among the findings.
///
/// It carries nothing, so that the `Result` of the hottest functions fits into registers.
pub(crate) struct Broken;

impl<'a> CheckContext<'a> {
    /// The state before anything was walked: nothing is known of any table.
    ///
    /// The walk fills in the tables next: no reference can be asked before. Proving messages fine
    /// is left out where a receiver demands more of each, or where a limit is below what the proof
    /// counts.
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
        let (attributes, depth, parent) = (Vec::new(), 0, Noun::ProfilesData);
        let (profile, payload) = Default::default();
        Self {
            pool: Pool::default(),
            memo: Memo::default(),
            canonical: receiver.is_none() && bounded,
            receiver,
            line_shape: shapes.find(Noun::Line),
            value_shape: shapes.find(Noun::AnyValue),
            label_shape: shapes.find(Noun::Label),
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

    /// The numbers of a repeated field, however they are written.
    pub(crate) fn numbers(
        &self,
        record: &Record,
        cell: usize,
    ) -> impl Iterator<Item = u64> + use<'a> {
        Numbers::new(self.bytes, record, cell).map(|(_, number)| number)
    }

    /// Reports a violation ([`Findings::report`]).
    #[inline(always)]
    pub(crate) fn report(
        &mut self,
        rule: &'static Rule,
        spot: Position,
        value: impl Display,
        bound: impl Display,
    ) {
        self.findings.report(rule, spot, value, bound);
    }

    /// A number of a list: its own byte, which is looked for only where a finding of the rule will be among the first that
    /// are listed; else that of the list.
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

    /// Takes a message apart again, without a word.
    ///
    /// Unlike [`decode`](Self::decode) it raises nothing, counts no reference and stops where the bytes
    /// cannot be followed. Costs the bytes of the message, but not those of the messages in it.
    pub(crate) fn peek(&self, shape: &'static MessageLayout, start: usize, end: usize) -> Lent {
        let mut record = self.pool.lend();
        self.peek_into(shape, start, end, &mut record);
        record
    }

    /// The same into a record that is there already.
    ///
    /// For loops over rows, which then borrow from the pool once.
    pub(crate) fn peek_into(
        &self,
        shape: &'static MessageLayout,
        start: usize,
        end: usize,
        record: &mut Record,
    ) {
        record.begin(shape, start, end);
        let mut fields = Fields::new(self.bytes, start, end);
        loop {
            let at = fields.at();
            let Some((number, body)) = fields.next() else { return };
            let Some(slot) = shape.slot(number) else { continue };
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
                    cell.value = fields.number();
                    cell.add(at, 1);
                }
            }
        }
    }

    /// The message that the rows of a table are.
    ///
    /// `None` for strings, which are no messages, and for tables that the version has not.
    pub(crate) fn table_shape(&self, table: Table) -> Option<&'static MessageLayout> {
        let holder = self.tables_holder();
        let slots = &self.shapes.find(holder)?.slots;
        let row = slots.iter().find(|slot| slot.field.role == Role::Row(table))?;
        (row.take == Take::Message).then(|| self.shapes.get(row.child))
    }

    /// The first row that equals the one that a field refers to; any other number as it is.
    ///
    /// Before tables were compared, and where no two rows are equal, every number is its own first.
    pub(crate) fn first_equal(&self, slot: &Slot, value: u64) -> u64 {
        match slot.table {
            Some((table, _)) => self.tables.first_equal(table, value),
            None => value,
        }
    }

    /// The number of the field at `at`: of a field that came twice a record has the last, and rules may ask for the first.
    ///
    /// As with `time_nanos` of two pprof files in a row: what counts is whether the first was set.
    pub(crate) fn first_number(&self, at: usize, end: usize) -> u64 {
        let mut fields = Fields::new(self.bytes, at, end);
        fields.next().map_or(0, |_| fields.number())
    }

    /// The message that has the tables: they moved from the profile to the payload in 1.6, and to a message of their own in
    /// 1.7.
    pub(crate) fn tables_holder(&self) -> Noun {
        match self.version {
            Version::Pprof | Version::V1_3 | Version::V1_4 | Version::V1_5 => Noun::Profile,
            Version::V1_6 => Noun::ProfilesData,
            _ => Noun::Dictionary,
        }
    }

    /// What the field is called whose occurrences are the rows of a table.
    ///
    /// `location_table` since 1.4, `location` before and in pprof: findings speak the language of
    /// the payload.
    pub(crate) fn table_name(&self, table: Table) -> &'static str {
        let holder = self.tables_holder();
        let slots = self.shapes.find(holder).map_or(&[][..], |shape| &shape.slots);
        let row = slots.iter().find(|slot| slot.field.role == Role::Row(table));
        row.map_or("", |slot| slot.field.name)
    }

    /// The place of a row of a table, seen from the message that holds the tables.
    pub(crate) fn of_row(&self, table: Table, row: usize) -> Position {
        let spot = Position::nowhere().field(self.table_name(table)).row(row);
        let byte = self.tables.row(table, row as u64).map(|(start, _)| start as u64);
        Position { byte, ..spot }
    }

    /// The row of the list that the message is in.
    ///
    /// 0 where the message is in no list.
    pub(crate) fn row(&self) -> usize {
        self.findings.path.last().and_then(|step| step.row).unwrap_or(0) as usize
    }

    /// The text of a row of the string table.
    ///
    /// `None` where there is no such row. Not necessarily UTF-8.
    pub(crate) fn string(&self, row: u64) -> Option<&'a [u8]> {
        let (start, end) = self.tables.row(Table::String, row)?;
        self.bytes.get(start..end)
    }

    /// The bytes of a field's last occurrence; none where it does not occur.
    pub(crate) fn body(&self, record: &Record, cell: usize) -> &'a [u8] {
        self.bytes.get(record.body(cell)).unwrap_or_default()
    }
}

/// Whether a field is what the payload was made from, which may be long.
///
/// By its key in the schema; a file in a file has its own limits.
pub(crate) fn is_original(slot: &Slot) -> bool {
    slot.field.key == "original_payload"
}
