//! Reading the lookup tables, wherever a generation keeps them.
//!
//! Where row 0 is a row like any other on the wire, the model's own comes before it, and every reference is made to
//! lead to the model's row when it is read ([`row_of`](super::references::row_of)); `prove` says later whether that row is there.
//!
//! A table is read as columns (`location_mappings`, `addresses`, `lines` …), not as structs: ids
//! are proved by the column, and the model keeps them that way. A field that few rows have
//! (`folded`, `frame_types`, `mapping_pprof`) is a short list beside the table.
//!
//! `count` runs over all rows before `read` sees the first. That makes every `Vec` its final size
//! at once, lets `Limits::max_table_entries` refuse before memory is taken, and gives the ids of
//! texts met in place their place: behind the table's, whose number is known by then.

use crate::error::{Error, Result};
use crate::format::intake::{Intake, Policy};
use crate::format::otlp::read::id_column::Ids;
use crate::format::otlp::read::references::own_rows;
use crate::format::stacks::Stacks;
use crate::format::texts::{NewAttributes, Texts};
use crate::model::dictionary::{Attribute, Function, Line, Link, Mapping};
use crate::model::ragged::Ragged;
use crate::schema::{Generation, Rows, Table};
use crate::wire::read::Reader;
use crate::wire::short::Short;

/// The tables as they are on the wire: ids are numbers, not yet proved.
///
/// In generations without an empty row 0, one is put before those of the wire when room is made for them, so
/// that rows have the model's numbers from the start. So have references, but for those that
/// [`settle`](super::settle) has to tell from none.
#[derive(Debug)]
pub(crate) struct Tables {
    /// Strings of the table, then those met in place.
    pub(crate) texts: Texts,
    /// Of the first pass.
    pub(crate) counts: Counts,
    /// While rows are counted: the next string may be the first of another payload.
    pub(crate) begins: bool,
    pub(crate) mappings: Vec<Mapping>,
    /// As indices on the wire. As long as to the last mapping that has any.
    pub(crate) mapping_attributes: Ragged<u32>,
    /// As long as to the last mapping that says any of it.
    pub(crate) mapping_pprof: Vec<MappingPprof>,
    /// By location: a mapping, as [`reference`](super::references::reference) has it.
    pub(crate) location_mappings: Vec<u32>,
    /// The same as they were on the wire, where they may yet turn out to be ids.
    pub(crate) raw_mappings: Vec<u32>,
    /// Its length is that of the location table.
    pub(crate) addresses: Vec<u64>,
    /// Their functions as on the wire until they are proved.
    pub(crate) lines: Ragged<Line>,
    /// Ends are noted only from the first location on that has any: most payloads have none at all.
    pub(crate) location_attributes: Ragged<u32>,
    /// The rows of folded locations.
    ///
    /// Ascending: rows are read in order. [`lift`](super::lift) makes attributes of them.
    pub(crate) folded: Vec<u32>,
    /// The rows of locations with a frame type, and the type.
    ///
    /// A string index, not yet proved. Ascending by row.
    pub(crate) frame_types: Vec<(u32, u32)>,
    /// Their texts as string indices until they are proved.
    pub(crate) functions: Vec<Function>,
    /// Read to their final form: a link holds no reference.
    pub(crate) links: Vec<Link>,
    /// Their keys, units and texts are proved as they are read, since the strings are known by
    /// then.
    pub(crate) attributes: Vec<Attribute>,
    /// Made of fields and labels, numbered behind `attributes`.
    pub(crate) new_attributes: NewAttributes,
    /// Units by key, both as string indices.
    pub(crate) units: Vec<(u32, u32)>,
    /// Rows of the stack table since 1.8; before, what slices and lists of samples became.
    pub(crate) stacks: Stacks,
    /// Whether samples name their stacks by slices of a list.
    ///
    /// It helps to tell 1.3's payloads apart; see [`ids`](super::ids).
    pub(crate) slices: bool,
    /// Of pprof's rows, in 1.3.
    pub(crate) ids: Ids,
}

/// How many rows each table has on the wire.
/// Room is made for so many; the limit on rows is checked against the largest.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) mapping: usize,
    pub(crate) location: usize,
    pub(crate) function: usize,
    pub(crate) link: usize,
    pub(crate) attribute: usize,
    pub(crate) unit: usize,
    pub(crate) stack: usize,
    /// The bytes of all stacks.
    pub(crate) stack_bytes: usize,
    /// It counts while strings are taken, so it is also the number of the next one.
    pub(crate) string: usize,
}

impl Counts {
    /// Whether each table may have so many rows. Strings, which are read while the rest is counted, have
    /// a limit of their own.
    fn check(&self, intake: &Intake) -> Result<()> {
        let tables = [
            (Table::Mapping, self.mapping),
            (Table::Location, self.location),
            (Table::Function, self.function),
            (Table::Link, self.link),
            (Table::Attribute, self.attribute),
            (Table::AttributeUnit, self.unit),
            (Table::Stack, self.stack),
        ];
        tables.into_iter().try_for_each(|(table, rows)| intake.check_rows(table, rows as u64))
    }
}

/// What pprof says of a mapping beyond OTLP's current fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MappingPprof {
    /// A string.
    ///
    /// Its index, as on the wire. 0: none.
    pub(crate) build_id: u32,
    /// 1 is a hash of head and tail; 0 is the linker's.
    pub(crate) build_id_kind: u32,
    /// The four `has_*`, from bit 0.
    ///
    /// A flag that is false and one that is left out are the same here, as proto3 has it.
    pub(crate) flags: u8,
}

impl MappingPprof {
    /// A flag may be said again and taken back, so its bit is set anew each time.
    pub(super) fn set_flag(&mut self, bit: u32, said: u64) {
        self.flags = self.flags & !(1 << bit) | u8::from(said != 0) << bit;
    }
}

/// The error of a string table that begins again, at the empty row that every one begins with: protobuf appends
/// its rows, and what refers to them would mean those of the payload before.
#[cold]
fn concatenated(text: &[u8], row: usize) -> Error {
    let message = "the table starts a second time: the file is several concatenated payloads: convert each one separately";
    Error::malformed(message).at(text).within_row("string_table", row)
}

impl Tables {
    /// The tables of a message of so many bytes.
    ///
    /// `bytes` is that of the message the tables are in; the room for texts is guessed from it.
    pub(crate) fn new(rows: Rows, bytes: usize) -> Self {
        // The model's own row 0 comes before those on the wire.
        let plus = u32::from(rows != Rows::NullFirst);
        Self {
            // There is seldom less text, and a list that is too short only grows.
            texts: Texts::with_room(bytes / 128, bytes / 8),
            counts: Counts::default(),
            begins: false,
            mappings: Vec::new(),
            mapping_attributes: Ragged::default(),
            mapping_pprof: Vec::new(),
            location_mappings: Vec::new(),
            raw_mappings: Vec::new(),
            addresses: Vec::new(),
            lines: Ragged::default(),
            location_attributes: Ragged::default(),
            folded: Vec::new(),
            frame_types: Vec::new(),
            functions: Vec::new(),
            links: Vec::new(),
            attributes: Vec::new(),
            new_attributes: NewAttributes::after(0),
            units: Vec::new(),
            stacks: Stacks::plus(plus),
            slices: false,
            ids: Ids::default(),
        }
    }

    /// Counts a row of the table that `tag` belongs to, or takes a string: the first of two passes,
    /// so that memory is asked for once and texts met in place get ids after those of the table.
    /// `false`: the field is not of a table.
    #[inline(always)]
    pub(crate) fn count<G: Generation>(
        &mut self,
        tag: u32,
        row: Reader,
        intake: &mut Intake,
    ) -> Result<bool> {
        let counts = &mut self.counts;
        if tag == const { G::VERSION.table_tag(Table::String) } {
            let number = counts.string;
            counts.string += 1;
            let text = row.rest();
            let begins = std::mem::replace(&mut self.begins, false);
            if begins && number > 0 && text.is_empty() {
                return Err(concatenated(text, number));
            }
            if number == 0 && !text.is_empty() && intake.policy == Policy::Repair {
                self.texts.raw.push(b"");
                self.texts.own = 1;
            }
            self.texts
                .push_row(text, intake)
                .map_err(|e| e.at(text).within_row("string_table", number))?;
            return Ok(true);
        }
        if tag == const { G::VERSION.table_tag(Table::Location) } {
            counts.location += 1;
        } else if tag == const { G::VERSION.table_tag(Table::Function) } {
            counts.function += 1;
        } else if tag == const { G::VERSION.table_tag(Table::Stack) } {
            counts.stack += 1;
            counts.stack_bytes += row.left();
        } else if tag == const { G::VERSION.table_tag(Table::Attribute) } {
            counts.attribute += 1;
        } else if tag == const { G::VERSION.table_tag(Table::Mapping) } {
            counts.mapping += 1;
        } else if tag == const { G::VERSION.table_tag(Table::Link) } {
            counts.link += 1;
        } else if tag == const { G::VERSION.table_tag(Table::AttributeUnit) } {
            counts.unit += 1;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Takes the memory the counted rows need.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) if a table has more rows than `max_table_entries`, or all
    /// of them take more than the budget has left. Both before a row is read.
    pub(crate) fn reserve<G: Generation>(&mut self, intake: &mut Intake) -> Result<()> {
        let Counts {
            mapping,
            location,
            function,
            link,
            attribute,
            unit,
            stack,
            stack_bytes,
            string,
        } = self.counts;
        self.counts.check(intake)?;
        let budget = &mut intake.budget;
        // A guess: some are inlined. A line takes more than that many bytes.
        let lines = (location + location / 2).min(budget.payload() / 8) + <Short>::MOST_MESSAGES;
        budget.take::<[u32; 2]>(string)?;
        budget.take::<u8>(self.texts.raw.byte_len())?;
        budget.take::<(Mapping, MappingPprof)>(mapping)?;
        budget.take::<(u64, [u32; 4])>(location)?;
        budget.take::<Line>(lines)?;
        budget.take::<Function>(function)?;
        budget.take::<Link>(link)?;
        budget.take::<Attribute>(attribute)?;
        budget.take::<(u32, u32)>(unit)?;
        budget.take::<u32>(stack)?;
        if G::CAPABILITIES.ids {
            self.ids.mapping.reserve(mapping, intake)?;
            self.ids.location.reserve(location, intake)?;
            self.ids.function.reserve(function, intake)?;
        }
        let extra = own_rows::<G>();
        self.mappings.reserve(mapping + extra);
        self.location_mappings.reserve(location + extra);
        self.addresses.reserve(location + extra);
        self.lines.ends.reserve(location + extra);
        self.lines.items.reserve_exact(lines);
        self.functions.reserve(function + extra);
        self.links.reserve(link + extra);
        self.attributes.reserve(attribute + extra);
        self.stacks.rows.ends.reserve(stack);
        // Most indices take two bytes or more.
        if stack_bytes > 0 {
            self.stacks.locations.reserve(stack_bytes / 2);
        }
        self.units.reserve_exact(unit);
        // What is made of labels is numbered after the rows of the tables.
        self.texts.table_rows = string as u32 + self.texts.own;
        self.new_attributes.first = (attribute + own_rows::<G>()).max(1) as u32;
        if G::CAPABILITIES.rows == Rows::NullFirst {
            self.stacks.rows.ends.clear();
        } else {
            self.push_empty_rows();
        }
        Ok(())
    }

    /// Where row 0 is a row like any other, the model's own comes before it.
    fn push_empty_rows(&mut self) {
        self.mappings.push(Mapping::default());
        self.location_mappings.push(0);
        self.addresses.push(0);
        self.lines.end_row();
        self.functions.push(Function::default());
        self.links.push(Link::default());
        self.attributes.push(Attribute::default());
    }

    /// Reads a row of the table that `tag` belongs to. `false`: the field is not of a table.
    ///
    /// Locations, functions and stacks are most rows, so they are asked for first and inlined; the
    /// rest is behind a call. The comparisons are with constants, and those of tables that the
    /// generation lacks are never true.
    #[inline(always)]
    pub(crate) fn read<G: Generation>(
        &mut self,
        tag: u32,
        reader: &mut Reader,
        intake: &mut Intake,
    ) -> Result<bool> {
        if tag == const { G::VERSION.table_tag(Table::String) } {
            reader.bytes()?;
        } else if tag == const { G::VERSION.table_tag(Table::Location) } {
            self.location::<G>(reader.message()?, intake).map_err(|e| {
                e.within_row("location_table", self.addresses.len().saturating_sub(own_rows::<G>()))
            })?;
        } else if tag == const { G::VERSION.table_tag(Table::Function) } {
            self.function::<G>(reader.message()?, intake).map_err(|e| {
                e.within_row("function_table", self.functions.len().saturating_sub(own_rows::<G>()))
            })?;
        } else if tag == const { G::VERSION.table_tag(Table::Stack) } {
            self.stack::<G>(reader.message()?, intake)
                .map_err(|e| e.within_row("stack_table", self.stacks.rows.len()))?;
        } else if let Some(after) = self.read_rare::<G>(tag, *reader, intake)? {
            *reader = after;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// The tables with few rows. The reader goes in and out by value, so that the caller keeps its own in
    /// registers.
    #[inline(never)]
    fn read_rare<'a, G: Generation>(
        &mut self,
        tag: u32,
        mut reader: Reader<'a>,
        intake: &mut Intake,
    ) -> Result<Option<Reader<'a>>> {
        let own = own_rows::<G>();
        if tag == const { G::VERSION.table_tag(Table::Attribute) } {
            self.attribute::<G>(reader.bytes()?, intake).map_err(|e| {
                e.within_row("attribute_table", self.attributes.len().saturating_sub(own))
            })?;
        } else if tag == const { G::VERSION.table_tag(Table::Mapping) } {
            self.mapping::<G>(reader.bytes()?, intake).map_err(|e| {
                e.within_row("mapping_table", self.mappings.len().saturating_sub(own))
            })?;
        } else if tag == const { G::VERSION.table_tag(Table::Link) } {
            self.link::<G>(reader.bytes()?, intake)
                .map_err(|e| e.within_row("link_table", self.links.len().saturating_sub(own)))?;
        } else if tag == const { G::VERSION.table_tag(Table::AttributeUnit) } {
            self.unit::<G>(reader.bytes()?, intake)
                .map_err(|e| e.within_row("attribute_units", self.units.len()))?;
        } else {
            return Ok(None);
        }
        Ok(Some(reader))
    }
}
