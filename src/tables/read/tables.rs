//! Reader of the lookup tables, which each generation stores in a different message.
//!
//! Rows are stored in the columns of the model's [`Dictionary`], with references as encoded. Fields that the
//! model lacks (`folded`, `frame_types`, `mapping_pprof`) are short lists beside the table.
//!
//! `count` processes all rows before `read` sees the first. So each `Vec` is allocated at its final size, and
//! `Limits::max_table_entries` applies before memory is allocated. Inline strings get ids after those of the
//! table, whose length is then known.

use crate::error::{Error, Result};
use crate::model::dictionary::{
    Attribute, Dictionary, Function, Line, Link, Locations, Mapping, Mappings,
};
use crate::model::ragged::Ragged;
use crate::model::strings::Strings;
use crate::read_context::{Policy, ReadContext};
use crate::schema::{Generation, Rows, Table};
use crate::tables::read::id_column::Ids;
use crate::tables::read::stacks::Stacks;
use crate::tables::read::string_interner::{NewAttributes, StringInterner};
use crate::wire::read::Reader;
use crate::wire::unchecked_reader::UncheckedReader;

/// The tables as encoded: rows and references have the numbers of the payload. [`Targets`](crate::tables::resolve::targets::Targets)
/// turns them into those of the model.
#[derive(Debug)]
pub(crate) struct Tables {
    /// Strings of the table, followed by inline strings.
    pub(crate) texts: StringInterner,
    /// The number of rows of each table, from the first pass. Strings are counted while they are collected, so
    /// theirs is also the number of the next string.
    pub(crate) counts: [usize; Table::COUNT],
    /// The size of all stacks in bytes.
    stack_bytes: usize,
    /// Whether the next string may be the first of another payload. Used by the first pass.
    pub(crate) begins: bool,
    /// The tables in the columns of the model. Ids are not validated yet. Strings and stacks are added last.
    pub(crate) dictionary: Dictionary,
    /// Up to the last mapping that has any of these fields.
    pub(crate) mapping_pprof: Vec<MappingPprof>,
    /// The rows of folded locations.
    ///
    /// Ascending, because rows are read in order. [`fields_to_attributes`](crate::tables::attributes::fields_to_attributes) converts them to attributes.
    pub(crate) folded: Vec<u32>,
    /// The rows of locations with a frame type, and the type.
    ///
    /// The type is a string index, not validated yet. Ascending by row.
    pub(crate) frame_types: Vec<(u32, u32)>,
    /// Attributes made of fields and labels, numbered after `attributes`.
    pub(crate) new_attributes: NewAttributes,
    /// Units by key, both as string indices.
    pub(crate) units: Vec<(u32, u32)>,
    /// Rows of the stack table since 1.8; before, the stacks of slices and of samples' own lists.
    pub(crate) stacks: Stacks,
    /// Whether samples reference stacks as slices of a list.
    ///
    /// It helps to distinguish payloads of 1.3; see [`otep_ids`](crate::tables::resolve::otep_ids).
    pub(crate) slices: bool,
    /// The ids of pprof's rows, in 1.3.
    pub(crate) ids: Ids,
}

/// The fields of a mapping in pprof that current OTLP lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MappingPprof {
    /// A string index as encoded; 0 means unset.
    pub(crate) build_id: u32,
    /// 1 is a hash of the head and tail of the file; 0 is an id written by the linker.
    pub(crate) build_id_kind: u32,
    /// The four `has_*` flags, from bit 0.
    ///
    /// A false flag equals an omitted one, as in proto3.
    pub(crate) flags: u8,
}

impl MappingPprof {
    /// Sets or clears a flag. The last occurrence of the field wins.
    pub(super) fn set_flag(&mut self, bit: u32, legacy: u64) {
        self.flags = self.flags & !(1 << bit) | u8::from(legacy != 0) << bit;
    }
}

/// Returns the error for a string table that starts again with the empty string. Protobuf would append its
/// rows, and references to them would resolve to rows of the payload before.
#[cold]
fn concatenated(text: &[u8], row: usize) -> Error {
    let message = "the table starts a second time: the file is several concatenated payloads: convert each one separately";
    Error::malformed(message).at(text).within_row("string_table", row)
}

impl Tables {
    /// Creates tables for a message of `bytes` bytes, which is used to estimate the memory for strings.
    pub(crate) fn new(rows: Rows, bytes: usize) -> Self {
        // The model inserts an empty row 0.
        let plus = u32::from(rows != Rows::NullFirst);
        Self {
            // An estimate that is seldom too large; the list grows if it is too small.
            texts: StringInterner::with_capacity(bytes / 128, bytes / 8),
            counts: [0; Table::COUNT],
            stack_bytes: 0,
            begins: false,
            dictionary: Dictionary {
                strings: Strings::NONE,
                mappings: Mappings { rows: Vec::new(), attributes: Ragged::default() },
                functions: Vec::new(),
                locations: Locations {
                    mappings: Vec::new(),
                    addresses: Vec::new(),
                    lines: Ragged::default(),
                    attributes: Ragged::default(),
                },
                links: Vec::new(),
                attributes: Vec::new(),
                stacks: Ragged::default(),
            },
            mapping_pprof: Vec::new(),
            folded: Vec::new(),
            frame_types: Vec::new(),
            new_attributes: NewAttributes::after(0),
            units: Vec::new(),
            stacks: Stacks::plus(plus),
            slices: false,
            ids: Ids::default(),
        }
    }

    /// Counts a row of the table that `tag` belongs to, or collects a string. This is the first of two
    /// passes, so that memory is allocated once and inline strings get ids after those of the table. Returns
    /// `false` if the field is not a table.
    // Always inlined. Without any in the library, decoding 1.10 takes up to 36 % more instructions.
    #[inline(always)]
    pub(crate) fn count<G: Generation>(
        &mut self,
        tag: u32,
        row: Reader,
        cx: &mut ReadContext,
    ) -> Result<bool> {
        let counts = &mut self.counts;
        if tag == const { G::VERSION.table_tag(Table::String) } {
            let number = counts[Table::String as usize];
            counts[Table::String as usize] += 1;
            let text = row.rest();
            let begins = std::mem::replace(&mut self.begins, false);
            if begins && number > 0 && text.is_empty() {
                return Err(concatenated(text, number));
            }
            if number == 0 && !text.is_empty() && cx.policy == Policy::Repair {
                self.texts.raw.push(b"");
                self.texts.own = 1;
            }
            self.texts
                .push_row(text, cx)
                .map_err(|e| e.at(text).within_row("string_table", number))?;
            return Ok(true);
        }
        if tag == const { G::VERSION.table_tag(Table::Location) } {
            counts[Table::Location as usize] += 1;
        } else if tag == const { G::VERSION.table_tag(Table::Function) } {
            counts[Table::Function as usize] += 1;
        } else if tag == const { G::VERSION.table_tag(Table::Stack) } {
            counts[Table::Stack as usize] += 1;
            self.stack_bytes += row.left();
        } else if tag == const { G::VERSION.table_tag(Table::Attribute) } {
            counts[Table::Attribute as usize] += 1;
        } else if tag == const { G::VERSION.table_tag(Table::Mapping) } {
            counts[Table::Mapping as usize] += 1;
        } else if tag == const { G::VERSION.table_tag(Table::Link) } {
            counts[Table::Link as usize] += 1;
        } else if tag == const { G::VERSION.table_tag(Table::AttributeUnit) } {
            counts[Table::AttributeUnit as usize] += 1;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Reserves memory for the counted rows.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) if a table has more rows than `max_table_entries`, or all tables
    /// exceed the budget. Both are checked before a row is read.
    pub(crate) fn reserve<G: Generation>(&mut self, cx: &mut ReadContext) -> Result<()> {
        // Strings have a separate limit, because they are read while the others are counted.
        for table in Table::ROWS {
            cx.check_rows(table, self.counts[table as usize] as u64)?;
        }
        // In the order of `Table`.
        let [mapping, location, function, link, string, attribute, unit, stack, ..] = self.counts;
        let budget = &mut cx.budget;
        // An estimate: some locations have inlined calls. A line takes more than 8 bytes of the payload.
        let lines =
            (location + location / 2).min(budget.payload() / 8) + <UncheckedReader>::MOST_MESSAGES;
        budget.charge::<[u32; 2]>(string)?;
        budget.charge::<u8>(self.texts.raw.byte_len())?;
        budget.charge::<(Mapping, MappingPprof)>(mapping)?;
        budget.charge::<(u64, [u32; 4])>(location)?;
        budget.charge::<Line>(lines)?;
        budget.charge::<Function>(function)?;
        budget.charge::<Link>(link)?;
        budget.charge::<Attribute>(attribute)?;
        budget.charge::<(u32, u32)>(unit)?;
        budget.charge::<u32>(stack)?;
        if G::CAPABILITIES.ids {
            self.ids.mapping.reserve(mapping, cx)?;
            self.ids.location.reserve(location, cx)?;
            self.ids.function.reserve(function, cx)?;
        }
        // One more for the empty row.
        let Dictionary { mappings, functions, locations, links, attributes, .. } =
            &mut self.dictionary;
        mappings.rows.reserve(mapping + 1);
        locations.mappings.reserve(location + 1);
        locations.addresses.reserve(location + 1);
        locations.lines.ends.reserve(location + 1);
        locations.lines.items.reserve_exact(lines);
        functions.reserve(function + 1);
        links.reserve(link + 1);
        attributes.reserve(attribute + 1);
        self.stacks.rows.ends.reserve(stack);
        // Most indices take at least two bytes.
        if self.stack_bytes > 0 {
            self.stacks.locations.reserve(self.stack_bytes / 2);
        }
        self.units.reserve_exact(unit);
        self.texts.table_rows = string as u32 + self.texts.own;
        // Attributes made of labels are numbered after the rows of the table.
        self.new_attributes.first = attribute as u32;
        if G::CAPABILITIES.stack_table {
            // The table of the payload has its own row 0.
            self.stacks.rows.ends.clear();
        }
        Ok(())
    }

    /// Reads a row of the table that `tag` belongs to. Returns `false` if the field is not a table.
    ///
    /// Locations, functions and stacks make up most rows, so they are tested first and inlined; others take a
    /// call. Tags are constants, and comparisons for tables that the generation lacks are constant `false`.
    #[inline(always)]
    pub(crate) fn read<G: Generation>(
        &mut self,
        tag: u32,
        reader: &mut Reader,
        cx: &mut ReadContext,
    ) -> Result<bool> {
        if tag == const { G::VERSION.table_tag(Table::String) } {
            // The first pass has collected the strings.
            reader.bytes()?;
        } else if tag == const { G::VERSION.table_tag(Table::Location) } {
            self.location::<G>(reader.message()?, cx).map_err(|e| {
                e.within_row("location_table", self.dictionary.locations.addresses.len())
            })?;
        } else if tag == const { G::VERSION.table_tag(Table::Function) } {
            self.function::<G>(reader.message()?, cx)
                .map_err(|e| e.within_row("function_table", self.dictionary.functions.len()))?;
        } else if tag == const { G::VERSION.table_tag(Table::Stack) } {
            self.stack::<G>(reader.message()?, cx)
                .map_err(|e| e.within_row("stack_table", self.stacks.rows.len()))?;
        } else if let Some(after) = self.read_uncommon_table::<G>(tag, *reader, cx)? {
            *reader = after;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Reads rows of the small tables. Passes the reader by value, so that the caller can keep its own in
    /// registers.
    #[inline(never)]
    fn read_uncommon_table<'a, G: Generation>(
        &mut self,
        tag: u32,
        mut reader: Reader<'a>,
        cx: &mut ReadContext,
    ) -> Result<Option<Reader<'a>>> {
        if tag == const { G::VERSION.table_tag(Table::Attribute) } {
            self.attribute::<G>(reader.bytes()?, cx)
                .map_err(|e| e.within_row("attribute_table", self.dictionary.attributes.len()))?;
        } else if tag == const { G::VERSION.table_tag(Table::Mapping) } {
            self.mapping::<G>(reader.bytes()?, cx)
                .map_err(|e| e.within_row("mapping_table", self.dictionary.mappings.rows.len()))?;
        } else if tag == const { G::VERSION.table_tag(Table::Link) } {
            self.link::<G>(reader.bytes()?, cx)
                .map_err(|e| e.within_row("link_table", self.dictionary.links.len()))?;
        } else if tag == const { G::VERSION.table_tag(Table::AttributeUnit) } {
            self.unit::<G>(reader.bytes()?, cx)
                .map_err(|e| e.within_row("attribute_units", self.units.len()))?;
        } else {
            return Ok(None);
        }
        Ok(Some(reader))
    }
}
