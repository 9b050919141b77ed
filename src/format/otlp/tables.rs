//! Reading the lookup tables, wherever a generation keeps them.

use crate::error::Result;
use crate::format::fields::{fields, is, unknown};
use crate::format::intake::Intake;
use crate::format::losses;
use crate::format::otlp::common;
use crate::format::otlp::schema::{Generation, Rows};
use crate::format::stacks::Stacks;
use crate::format::texts::{NewAttributes, Texts};
use crate::limits::within;
use crate::model::dictionary::{Attribute, Function, Line, Link, Mapping};
use crate::model::id::{FunctionId, StringId};
use crate::model::ragged::Ragged;
use crate::schema;
use crate::wire::read::{Reader, Short, index};
use crate::wire::{LEN, VARINT, tag};

/// The tables as they are on the wire: ids are numbers, not yet proved.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) texts: Texts,
    pub(crate) counts: Counts,
    pub(crate) mappings: Vec<Mapping>,
    pub(crate) mapping_attributes: Ragged<u32>,
    pub(crate) mapping_pprof: Vec<MappingPprof>,
    pub(crate) location_mappings: Vec<u32>,
    /// The same as they were on the wire, where they may yet turn out to be ids.
    pub(crate) raw_mappings: Vec<u32>,
    pub(crate) addresses: Vec<u64>,
    pub(crate) lines: Ragged<Line>,
    pub(crate) location_attributes: Ragged<u32>,
    /// The rows of folded locations.
    pub(crate) folded: Vec<u32>,
    /// The rows of locations with a frame type, and the type.
    pub(crate) frame_types: Vec<(u32, u32)>,
    pub(crate) functions: Vec<Function>,
    pub(crate) links: Vec<Link>,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) new_attributes: NewAttributes,
    /// Units by key, both as string indices.
    pub(crate) units: Vec<(u32, u32)>,
    pub(crate) stacks: Stacks,
    /// Whether samples name their stacks by slices of a list.
    pub(crate) slices: bool,
    pub(crate) ids: Ids,
}

/// How many rows each table has on the wire.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) mapping: usize,
    pub(crate) location: usize,
    pub(crate) function: usize,
    pub(crate) link: usize,
    pub(crate) attribute: usize,
    pub(crate) unit: usize,
    pub(crate) stack: usize,
    pub(crate) string: usize,
}

/// pprof's own ids of rows, where a schema has them.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    pub(crate) mapping: IdColumn,
    pub(crate) location: IdColumn,
    pub(crate) function: IdColumn,
}

/// The ids of a table's rows. As long as they are 1, 2, 3 … or left out, they are only counted.
#[derive(Debug)]
pub(crate) struct IdColumn {
    rows: usize,
    /// The next id, as long as they are counted.
    next: u64,
    /// 1: the ids counted so far are 1, 2, 3 …; 0: they are left out.
    step: u64,
    listed: Vec<u64>,
}

impl Default for IdColumn {
    fn default() -> Self {
        Self { rows: 0, next: 1, step: 1, listed: Vec::new() }
    }
}

impl IdColumn {
    #[inline(always)]
    pub(crate) fn push(&mut self, id: u64, intake: &mut Intake) -> Result<()> {
        if id != self.next || !self.listed.is_empty() {
            return self.push_unusual(id, intake);
        }
        self.rows += 1;
        self.next += self.step;
        Ok(())
    }

    #[cold]
    fn push_unusual(&mut self, id: u64, intake: &mut Intake) -> Result<()> {
        if self.rows == 0 && id == 0 {
            (self.next, self.step) = (0, 0);
        } else {
            if self.listed.is_empty() {
                intake.budget.take::<u64>(self.rows)?;
                self.listed = self.to_vec();
            }
            intake.budget.push(&mut self.listed, id)?;
        }
        self.rows += 1;
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Whether the ids are 1, 2, 3 ….
    pub(crate) fn is_counted(&self) -> bool {
        self.rows == 0 || self.listed.is_empty() && self.step == 1
    }

    /// Whether any row has an id.
    pub(crate) fn is_said(&self) -> bool {
        self.rows > 0 && self.step == 1 || self.listed.iter().any(|&id| id != 0)
    }

    /// The ids.
    pub(crate) fn to_vec(&self) -> Vec<u64> {
        if self.listed.is_empty() {
            (1..=self.rows as u64).map(|row| row * self.step).collect()
        } else {
            self.listed.clone()
        }
    }
}

/// What pprof says of a mapping beyond OTLP's current fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MappingPprof {
    pub(crate) build_id: u32,
    pub(crate) build_id_kind: u32,
    /// The four `has_*`, from bit 0.
    pub(crate) flags: u8,
}

impl Tables {
    pub(crate) fn new(rows: Rows) -> Self {
        // The model's own row 0 comes before those on the wire.
        let plus = u32::from(rows != Rows::NullFirst);
        Self {
            texts: Texts::new(),
            counts: Counts::default(),
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
        if is!(tag, G::SCHEMA.tables.string, LEN) {
            let number = counts.string;
            counts.string += 1;
            let text = row.rest();
            self.texts
                .push_row(text, intake)
                .map_err(|e| e.at(text).within_row("string_table", number))?;
            return Ok(true);
        }
        if is!(tag, G::SCHEMA.tables.location, LEN) {
            counts.location += 1;
        } else if is!(tag, G::SCHEMA.tables.function, LEN) {
            counts.function += 1;
        } else if is!(tag, G::SCHEMA.tables.stack, LEN) {
            counts.stack += 1;
        } else if is!(tag, G::SCHEMA.tables.attribute, LEN) {
            counts.attribute += 1;
        } else if is!(tag, G::SCHEMA.tables.mapping, LEN) {
            counts.mapping += 1;
        } else if is!(tag, G::SCHEMA.tables.link, LEN) {
            counts.link += 1;
        } else if is!(tag, G::SCHEMA.tables.attribute_units, LEN) {
            counts.unit += 1;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Takes the memory the counted rows need.
    pub(crate) fn reserve<G: Generation>(&mut self, intake: &mut Intake) -> Result<()> {
        let Counts { mapping, location, function, link, attribute, unit, stack, string } =
            self.counts;
        let largest = [mapping, location, function, link, attribute, unit, stack]
            .into_iter()
            .max()
            .unwrap_or(0);
        within("max_table_entries", intake.limits().max_table_entries, largest as u64)?;
        let budget = &mut intake.budget;
        // A guess: some are inlined. A line takes more than that many bytes.
        let lines = (location + location / 2).min(budget.payload() / 8) + Short::MOST_MESSAGES;
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
        let extra = usize::from(G::SCHEMA.rows != Rows::NullFirst);
        self.mappings.reserve(mapping + extra);
        self.location_mappings.reserve(location + extra);
        self.addresses.reserve(location + extra);
        self.lines.ends.reserve(location + extra);
        self.lines.items.reserve_exact(lines);
        self.functions.reserve(function + extra);
        self.links.reserve(link + extra);
        self.attributes.reserve(attribute + extra);
        self.stacks.rows.ends.reserve(stack);
        self.units.reserve_exact(unit);
        // What is made of labels is numbered after the rows of the tables.
        self.texts.table_rows = string as u32;
        self.new_attributes.first = (attribute + own_rows::<G>()).max(1) as u32;
        if G::SCHEMA.rows == Rows::NullFirst {
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
    #[inline(always)]
    pub(crate) fn read<G: Generation>(
        &mut self,
        tag: u32,
        reader: &mut Reader,
        intake: &mut Intake,
    ) -> Result<bool> {
        if is!(tag, G::SCHEMA.tables.string, LEN) {
            reader.bytes()?;
        } else if is!(tag, G::SCHEMA.tables.location, LEN) {
            self.location::<G>(reader.message()?, intake).map_err(|e| {
                e.within_row("location_table", self.addresses.len().saturating_sub(own_rows::<G>()))
            })?;
        } else if is!(tag, G::SCHEMA.tables.function, LEN) {
            self.function::<G>(reader.message()?, intake).map_err(|e| {
                e.within_row("function_table", self.functions.len().saturating_sub(own_rows::<G>()))
            })?;
        } else if is!(tag, G::SCHEMA.tables.stack, LEN) {
            self.stack::<G>(reader.message()?, intake)
                .map_err(|e| e.within_row("stack_table", self.stacks.rows.len()))?;
        } else if let Some(after) = self.read_rare::<G>(tag, *reader, intake)? {
            *reader = after;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    #[inline(never)]
    fn read_rare<'a, G: Generation>(
        &mut self,
        tag: u32,
        mut reader: Reader<'a>,
        intake: &mut Intake,
    ) -> Result<Option<Reader<'a>>> {
        let own = own_rows::<G>();
        if is!(tag, G::SCHEMA.tables.attribute, LEN) {
            self.attribute::<G>(reader.bytes()?, intake).map_err(|e| {
                e.within_row("attribute_table", self.attributes.len().saturating_sub(own))
            })?;
        } else if is!(tag, G::SCHEMA.tables.mapping, LEN) {
            self.mapping::<G>(reader.bytes()?, intake).map_err(|e| {
                e.within_row("mapping_table", self.mappings.len().saturating_sub(own))
            })?;
        } else if is!(tag, G::SCHEMA.tables.link, LEN) {
            self.link::<G>(reader.bytes()?, intake)
                .map_err(|e| e.within_row("link_table", self.links.len().saturating_sub(own)))?;
        } else if is!(tag, G::SCHEMA.tables.attribute_units, LEN) {
            self.unit::<G>(reader.bytes()?, intake)
                .map_err(|e| e.within_row("attribute_units", self.units.len()))?;
        } else {
            return Ok(None);
        }
        Ok(Some(reader))
    }

    #[inline]
    pub(crate) fn location<G: Generation>(
        &mut self,
        reader: Reader,
        intake: &mut Intake,
    ) -> Result<()> {
        if let Some(short) = reader.short()
            && self.short_location::<G>(short, intake)?
        {
            return Ok(());
        }
        self.any_location::<G>(reader, intake)
    }

    /// A location with its fields in the usual order, if it is; Go writes the mapping last.
    #[inline(always)]
    fn short_location<G: Generation>(
        &mut self,
        mut row: Short,
        intake: &mut Intake,
    ) -> Result<bool> {
        let schema = const { &G::SCHEMA.location };
        let before = self.lines.items.len();
        let id = match schema.id {
            0 => 0,
            id => row.number(tag(id, VARINT)),
        };
        let mut mapping = row.optional(tag(schema.mapping, VARINT));
        let address = row.number(tag(schema.address, VARINT));
        let mut usual = true;
        // Not past the end, where the next location looks like a line.
        while !row.is_done()
            && let Some(mut line) = row.message(tag(schema.lines, LEN))
        {
            self.lines.items.push(Line {
                function: FunctionId(index(line.number(tag(1, VARINT)))),
                line: line.number_mixed(tag(2, VARINT)) as i64,
                column: line.number(tag(3, VARINT)) as i64,
            });
            usual &= line.is_done();
        }
        if mapping.is_none() {
            mapping = row.optional(tag(schema.mapping, VARINT));
        }
        if !usual || !row.is_done() {
            self.lines.items.truncate(before);
            return Ok(false);
        }
        self.end_location::<G>(mapping.map(index), address, id, before, intake)?;
        Ok(true)
    }

    #[inline(always)]
    fn end_location<G: Generation>(
        &mut self,
        mapping: Option<u32>,
        address: u64,
        id: u64,
        first_line: usize,
        intake: &mut Intake,
    ) -> Result<()> {
        let lines = self.lines.items.len() - first_line;
        if lines > 1 {
            within("max_lines_per_location", intake.limits().max_lines_per_location, lines as u64)?;
        }
        // Room for those of the next short location.
        let items = &mut self.lines.items;
        if items.capacity() - items.len() < Short::MOST_MESSAGES {
            intake.budget.grow(items, Short::MOST_MESSAGES)?;
        }
        self.lines.end_row();
        if !self.location_attributes.items.is_empty() {
            self.location_attributes.end_row_at(self.addresses.len());
        }
        self.location_mappings.push(reference::<G>(mapping));
        self.addresses.push(address);
        if G::SCHEMA.location.id != 0 {
            self.ids.location.push(id, intake)?;
        }
        Ok(())
    }

    #[inline(never)]
    fn any_location<G: Generation>(
        &mut self,
        mut reader: Reader,
        intake: &mut Intake,
    ) -> Result<()> {
        let row = self.addresses.len();
        let before = self.lines.items.len();
        let (mut mapping, mut address, mut id) = (None, 0, 0);
        while let Some(tag) = reader.tag()? {
            if is!(tag, G::SCHEMA.location.address, VARINT) {
                address = reader.varint()?;
            } else if is!(tag, G::SCHEMA.location.mapping, VARINT) {
                mapping = Some(reader.index()?);
            } else if is!(tag, G::SCHEMA.location.lines, LEN) {
                let line = line::<G>(reader.message()?, intake)?;
                intake.budget.push(&mut self.lines.items, line)?;
            } else if is!(tag, G::SCHEMA.location.id, VARINT) {
                id = reader.varint()?;
            } else {
                reader = self.location_rare::<G>(tag, row as u32, reader, intake)?;
            }
        }
        self.end_location::<G>(mapping, address, id, before, intake)
    }

    #[inline(never)]
    fn location_rare<'a, G: Generation>(
        &mut self,
        tag: u32,
        row: u32,
        mut reader: Reader<'a>,
        intake: &mut Intake,
    ) -> Result<Reader<'a>> {
        if is!(tag, G::SCHEMA.location.attributes, LEN)
            || is!(tag, G::SCHEMA.location.attributes, VARINT)
        {
            indices(tag, &mut reader, &mut self.location_attributes.items, intake)?;
        } else if is!(tag, G::SCHEMA.location.is_folded, VARINT) {
            self.folded.pop_if(|folded| *folded == row);
            if reader.varint()? != 0 {
                intake.budget.push(&mut self.folded, row)?;
            }
        } else if is!(tag, G::SCHEMA.location.frame_type, VARINT) {
            let frame_type = reader.index()?;
            self.frame_types.pop_if(|(location, _)| *location == row);
            if frame_type != 0 {
                intake.budget.push(&mut self.frame_types, (row, frame_type))?;
            }
        } else {
            unknown(&mut reader, tag, &schema::LOCATION, G::SCHEMA.version, intake)?;
        }
        Ok(reader)
    }

    #[inline]
    pub(crate) fn function<G: Generation>(
        &mut self,
        reader: Reader,
        intake: &mut Intake,
    ) -> Result<()> {
        let (function, id) = match reader.short().and_then(short_function::<G>) {
            Some(function) => function,
            None => any_function::<G>(reader, intake)?,
        };
        self.functions.push(function);
        if G::SCHEMA.function.id != 0 {
            self.ids.function.push(id, intake)?;
        }
        Ok(())
    }

    #[inline]
    fn stack<G: Generation>(&mut self, mut reader: Reader, intake: &mut Intake) -> Result<()> {
        let first = self.stacks.locations.len();
        fields!(reader, STACK in G::SCHEMA.version, intake; {
            (1, LEN) => self.stacks.read(reader.message()?, intake)?,
            (1, VARINT) => self.stacks.locations.push(reader.index()?),
        });
        self.stacks.end(first, 0, intake)
    }

    pub(crate) fn mapping<G: Generation>(
        &mut self,
        body: &[u8],
        intake: &mut Intake,
    ) -> Result<()> {
        let mut reader = Reader::new(body);
        let row = self.mappings.len();
        let (mut mapping, mut pprof, mut id) = (Mapping::default(), MappingPprof::default(), 0);
        while let Some(tag) = reader.tag()? {
            if is!(tag, G::SCHEMA.mapping.memory_start, VARINT) {
                mapping.memory_start = reader.varint()?;
            } else if is!(tag, G::SCHEMA.mapping.memory_limit, VARINT) {
                mapping.memory_limit = reader.varint()?;
            } else if is!(tag, G::SCHEMA.mapping.file_offset, VARINT) {
                mapping.file_offset = reader.varint()?;
            } else if is!(tag, G::SCHEMA.mapping.filename, VARINT) {
                mapping.filename = StringId(reader.index()?);
            } else if is!(tag, G::SCHEMA.mapping.attributes, LEN)
                || is!(tag, G::SCHEMA.mapping.attributes, VARINT)
            {
                indices(tag, &mut reader, &mut self.mapping_attributes.items, intake)?;
            } else if is!(tag, G::SCHEMA.mapping.id, VARINT) {
                id = reader.varint()?;
            } else {
                mapping_rare::<G>(tag, &mut pprof, &mut reader, intake)?;
            }
        }
        self.mapping_attributes.end_row_at(row);
        self.mappings.push(mapping);
        if pprof != MappingPprof::default() {
            self.mapping_pprof.resize(row, MappingPprof::default());
            self.mapping_pprof.push(pprof);
        }
        if G::SCHEMA.mapping.id != 0 {
            self.ids.mapping.push(id, intake)?;
        }
        Ok(())
    }

    fn link<G: Generation>(&mut self, body: &[u8], intake: &mut Intake) -> Result<()> {
        let mut reader = Reader::new(body);
        let mut link = Link::default();
        let (mut has_trace, mut has_span) = (false, false);
        fields!(reader, LINK in G::SCHEMA.version, intake; {
            (1, LEN) => {
                let id = reader.bytes()?;
                has_trace = !id.is_empty();
                common::fixed_id(id, &mut link.trace_id, losses::LINK_INVALID, intake)
                    .map_err(|e| e.within("trace_id"))?;
            },
            (2, LEN) => {
                let id = reader.bytes()?;
                has_span = !id.is_empty();
                common::fixed_id(id, &mut link.span_id, losses::LINK_INVALID, intake)
                    .map_err(|e| e.within("span_id"))?;
            },
        });
        if has_trace != has_span {
            let row = self.links.len() - own_rows::<G>();
            let (has, lacks) = if has_trace { ("trace", "span") } else { ("span", "trace") };
            let said = || format!("the link has a {has} id alone; the {lacks} id became zero");
            intake.note(losses::LINK_HALF, || format!("link_table[{row}]"), said);
        }
        self.links.push(link);
        Ok(())
    }

    fn attribute<G: Generation>(&mut self, body: &[u8], intake: &mut Intake) -> Result<()> {
        let attribute = if G::SCHEMA.tables.attribute_units == 0 {
            common::key_value_and_unit::<G>(body, &mut self.texts, intake)?
        } else {
            let pair = common::key_value::<G>(body, &mut self.texts, intake, 0)?;
            Attribute { key: pair.key, value: pair.value, unit: StringId::NONE }
        };
        self.attributes.push(attribute);
        Ok(())
    }

    fn unit<G: Generation>(&mut self, body: &[u8], intake: &mut Intake) -> Result<()> {
        let mut reader = Reader::new(body);
        let (mut key, mut unit) = (0, 0);
        fields!(reader, ATTRIBUTE_UNIT in G::SCHEMA.version, intake; {
            (1, VARINT) => key = reader.index()?,
            (2, VARINT) => unit = reader.index()?,
        });
        self.units.push((key, unit));
        Ok(())
    }
}

/// The fields of a function in their usual order, and its id.
#[inline(always)]
fn short_function<G: Generation>(mut row: Short) -> Option<(Function, u64)> {
    let schema = const { &G::SCHEMA.function };
    let id = match schema.id {
        0 => 0,
        id => row.number(tag(id, VARINT)),
    };
    let function = Function {
        name: StringId(index(row.number(tag(schema.name, VARINT)))),
        system_name: StringId(index(row.number(tag(schema.system_name, VARINT)))),
        filename: StringId(index(row.number(tag(schema.filename, VARINT)))),
        start_line: row.number(tag(schema.start_line, VARINT)) as i64,
    };
    row.is_done().then_some((function, id))
}

#[inline(never)]
fn any_function<G: Generation>(mut reader: Reader, intake: &mut Intake) -> Result<(Function, u64)> {
    let (mut function, mut id) = (Function::default(), 0);
    fields!(reader, FUNCTION in G::SCHEMA.version, intake; {
        (G::SCHEMA.function.name, VARINT) => function.name = StringId(reader.index()?),
        (G::SCHEMA.function.system_name, VARINT) => function.system_name = StringId(reader.index()?),
        (G::SCHEMA.function.filename, VARINT) => function.filename = StringId(reader.index()?),
        (G::SCHEMA.function.start_line, VARINT) => function.start_line = reader.varint()? as i64,
        (G::SCHEMA.function.id, VARINT) => id = reader.varint()?,
    });
    Ok((function, id))
}

/// The rows a table has before those of the wire.
const fn own_rows<G: Generation>() -> usize {
    match G::SCHEMA.rows {
        Rows::NullFirst => 0,
        Rows::FromZero | Rows::Presence => 1,
    }
}

/// A mapping or link reference, in the form [`prove`](crate::format::otlp::prove) expects.
#[inline]
pub(crate) fn reference<G: Generation>(index: Option<u32>) -> u32 {
    match G::SCHEMA.rows {
        Rows::NullFirst | Rows::FromZero => index.unwrap_or(0),
        Rows::Presence => index.map_or(0, |index| index.saturating_add(1)),
    }
}

fn mapping_rare<G: Generation>(
    tag: u32,
    pprof: &mut MappingPprof,
    reader: &mut Reader,
    intake: &mut Intake,
) -> Result<()> {
    let schema = const { &G::SCHEMA.mapping };
    if is!(tag, G::SCHEMA.mapping.build_id, VARINT) {
        pprof.build_id = reader.index()?;
    } else if is!(tag, G::SCHEMA.mapping.build_id_kind, VARINT) {
        pprof.build_id_kind = index(reader.varint()?);
    } else if let Some(bit) = (0..4).find(|bit| {
        schema.has_functions != 0 && tag == crate::wire::tag(schema.has_functions + bit, VARINT)
    }) {
        let flag = u8::from(reader.varint()? != 0) << bit;
        pprof.flags = pprof.flags & !(1 << bit) | flag;
    } else {
        unknown(reader, tag, &schema::MAPPING, G::SCHEMA.version, intake)?;
    }
    Ok(())
}

#[inline]
fn line<G: Generation>(mut reader: Reader, intake: &mut Intake) -> Result<Line> {
    let mut line = Line::default();
    fields!(reader, LINE in G::SCHEMA.version, intake; {
        (1, VARINT) => line.function = FunctionId(reader.index()?),
        (2, VARINT) => line.line = reader.varint()? as i64,
        (3, VARINT) => line.column = reader.varint()? as i64,
    });
    Ok(line)
}

/// Indices of attributes, packed or not.
#[inline(always)]
pub(crate) fn indices(
    tag: u32,
    reader: &mut Reader,
    out: &mut Vec<u32>,
    intake: &mut Intake,
) -> Result<()> {
    let before = out.len();
    if tag & 7 == LEN {
        let mut packed = reader.message()?;
        while !packed.is_empty() {
            out.push(packed.index()?);
        }
    } else {
        out.push(reader.index()?);
    }
    let count = out.len() - before;
    intake.take_attributes(count)
}
