//! Reading pprof: once over the file to find where everything is, then table by table, then the
//! samples.
//!
//! Tables lie between one another in the files of many writers; read one after the other, each
//! needs the memory and the branches of one kind of row only.

use crate::error::{Error, Result};
use crate::format::fields::{fields, is, unknown};
use crate::format::intake::Intake;
use crate::format::losses;
use crate::format::otlp::lift;
use crate::format::otlp::schema::Rows;
use crate::format::otlp::schema::{Generation as _, Pprof};
use crate::format::otlp::tables::{MappingPprof, Tables};
use crate::format::pprof::ids::Ids;
use crate::format::pprof::samples::{SampleReader, Shape};
use crate::format::pprof::{equal, times};
use crate::format::texts::Texts;
use crate::limits::within;
use crate::model::dictionary::{Dictionary, Function, Line, Locations, Mapping, Mappings};
use crate::model::id::{AttributeId, FunctionId, LocationId, MappingId, StringId};
use crate::model::profile::{Profile, ValueType};
use crate::model::ragged::Ragged;
use crate::model::value::Value;
use crate::model::{Profiles, ResourceProfiles, ScopeProfiles};
use crate::schema::{self, Version};
use crate::semconv;
use crate::wire::read::Reader;
use crate::wire::{LEN, VARINT};

const SAMPLE_TYPE: usize = 1;
const SAMPLE: usize = 2;
const MAPPING: usize = 3;
const LOCATION: usize = 4;
const FUNCTION: usize = 5;
const STRING: usize = 6;

/// The string table, as places in the file; a string becomes the model's when it is used, so that
/// equal ones become one and unused ones none.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    payload: &'a [u8],
    rows: &'a [Place],
    /// The model's id of each; [`UNUSED`] until it is used.
    ids: Vec<u32>,
}

/// No string was given this id.
const UNUSED: u32 = u32::MAX;

impl Table<'_> {
    /// The model's id of a string.
    #[inline]
    pub(crate) fn text(
        &mut self,
        index: u32,
        texts: &mut Texts,
        intake: &mut Intake,
    ) -> Result<StringId> {
        match self.ids.get(index as usize) {
            Some(&id) if id != UNUSED => Ok(StringId(id)),
            _ => self.first_use(index, texts, intake),
        }
    }

    fn first_use(
        &mut self,
        index: u32,
        texts: &mut Texts,
        intake: &mut Intake,
    ) -> Result<StringId> {
        let Some(text) = self.get(index as usize) else {
            if index != 0 {
                let shown = crate::format::otlp::common::show(index);
                let error = Error::malformed(format!(
                    "{shown} is out of range: the table has {} strings",
                    self.rows.len()
                ));
                intake.repair(losses::BAD_STRING_INDEX, error)?;
            }
            return Ok(StringId::NONE);
        };
        let id = texts.intern(text, intake)?;
        self.ids[index as usize] = id.0;
        Ok(id)
    }
}

impl<'a> Table<'a> {
    fn of(payload: &'a [u8], rows: &'a [Place], intake: &mut Intake) -> Result<Self> {
        intake.budget.take::<u32>(rows.len())?;
        let mut table = Self { payload, rows, ids: vec![UNUSED; rows.len()] };
        table.check(intake)?;
        Ok(table)
    }

    /// The first string must be there and empty.
    fn check(&mut self, intake: &mut Intake) -> Result<()> {
        let error = match self.get(0) {
            Some([]) => return Ok(()),
            Some(first) => {
                format!("string 0 must be empty, found {:?}", String::from_utf8_lossy(first))
            }
            None => "the string table must begin with the empty string, found no string".to_owned(),
        };
        intake.repair(losses::ROW_0, Error::malformed(error).within_row("string_table", 0))?;
        if let Some(first) = self.ids.first_mut() {
            *first = 0;
        }
        Ok(())
    }

    fn get(&self, row: usize) -> Option<&'a [u8]> {
        let &(start, length) = self.rows.get(row)?;
        self.payload.get(start as usize..)?.get(..length as usize)
    }
}

/// What a first look at the file finds.
#[derive(Debug, Default)]
struct Layout {
    /// By field number: where the rows of a table are.
    rows: [Vec<Place>; STRING + 1],
    /// Where the fields begin that are not of a table.
    others: Vec<u32>,
}

/// Where a row begins in the file, and how long it is.
pub(crate) type Place = (u32, u32);

/// A row of the file.
pub(crate) fn row((start, length): Place, payload: &[u8]) -> Reader<'_> {
    Reader::within(payload, start as usize, start as usize + length as usize)
}

/// What is said once.
#[derive(Debug, Default)]
struct Header {
    sample_types: Vec<ValueType>,
    period_type: ValueType,
    period: i64,
    time: i64,
    duration: i64,
    comments: Vec<u32>,
    default_sample_type: u32,
    drop_frames: u32,
    keep_frames: u32,
    doc_url: u32,
}

/// Reads one pprof.
pub(crate) fn read(payload: &[u8], intake: &mut Intake) -> Result<Profiles> {
    let mut layout = Layout::of(payload, intake)?;
    let strings = &layout.rows[STRING];
    let mut tables = Tables::new(Rows::NullFirst);
    tables.counts.mapping = layout.rows[MAPPING].len();
    tables.counts.location = layout.rows[LOCATION].len();
    tables.counts.function = layout.rows[FUNCTION].len();
    tables.reserve::<Pprof>(intake)?;
    let text = strings.iter().map(|&(_, length)| length as usize).sum();
    // Only those with any text become the model's.
    let texts = strings.len().min(text);
    intake.budget.take::<[u64; 4]>(texts)?;
    intake.budget.take::<u8>(text)?;
    tables.texts.reserve(texts, text);
    let header = read_tables(payload, &layout, &mut tables, intake)?;
    let mappings = Ids::of(&tables.ids.mapping, "mapping", intake)?;
    let functions = Ids::of_functions(&tables, intake)?;
    let locations = Ids::of(&tables.ids.location, "location", intake)?;
    if !mappings.is_dense() || !functions.is_dense() {
        resolve_sparse(payload, &layout, &mut tables, &mappings, &functions, intake)?;
    }
    // The samples need memory of their own.
    layout.rows[LOCATION..=FUNCTION].fill(Vec::new());
    let [_, sample_types, samples, _, _, _, strings] = &layout.rows;
    let table = &mut Table::of(payload, strings, intake)?;
    let shape = Shape {
        samples: samples.len(),
        columns: sample_types.len(),
        bytes: samples.iter().map(|&(_, length)| length as usize).sum(),
    };
    let mut reader = SampleReader::new(payload, shape, &locations, &mut tables, intake)?;
    reader.read(samples, table, &mut tables, intake)?;
    let mut profile = Profile::default();
    profile.samples = reader.finish(&mut tables, intake)?;
    header.finish(&mut profile, table, &mut tables, intake)?;
    let links = std::mem::take(&mut tables.links);
    let mut dictionary = finish_tables(tables, links, table, &mappings, &functions, intake)?;
    equal::merge(&mut dictionary, &mut profile, intake)?;
    if let Some(label) = intake.timestamp_label.clone() {
        times::fold(&mut profile, &dictionary, &label);
    }
    let mut scope = ScopeProfiles::default();
    scope.profiles = vec![profile];
    let mut resource = ResourceProfiles::default();
    resource.scopes = vec![scope];
    Ok(Profiles { dictionary, resources: vec![resource] })
}

impl Layout {
    fn of(payload: &[u8], intake: &mut Intake) -> Result<Self> {
        let mut layout = Self::default();
        let mut reader = Reader::new(payload);
        let limits = *intake.limits();
        // Rarely more: what is too small moves all that is there.
        let most = (payload.len() / 96).min(intake.budget.left::<[Place; 4]>());
        for table in [SAMPLE, LOCATION, FUNCTION, STRING] {
            layout.rows[table].reserve(most);
        }
        loop {
            let start = reader.at();
            let (tag, row) = match reader.record() {
                Some(record) => record,
                None => match reader.tag()? {
                    None => break,
                    Some(tag) if tag & 7 == LEN => (tag, reader.message()?),
                    Some(tag) => {
                        reader.skip(tag, limits.max_nesting)?;
                        layout.others.push(start as u32);
                        continue;
                    }
                },
            };
            // Rows of all tables lie between one another: no branch on which this is of.
            match layout.rows.get_mut((tag >> 3) as usize) {
                Some(rows) => rows.push((row.at() as u32, row.left() as u32)),
                None => layout.others.push(start as u32),
            }
        }
        layout.rows.iter_mut().for_each(Vec::shrink_to_fit);
        let rows = layout.rows.iter().map(Vec::len).sum();
        intake.budget.take::<Place>(rows)?;
        intake.budget.take::<u32>(layout.others.len())?;
        let [_, _, samples, _, _, _, strings] = &layout.rows;
        within("max_samples", limits.max_samples, samples.len() as u64)?;
        within("max_strings", limits.max_strings, strings.len() as u64)?;
        Ok(layout)
    }
}

/// Everything but the samples.
fn read_tables(
    payload: &[u8],
    layout: &Layout,
    tables: &mut Tables,
    intake: &mut Intake,
) -> Result<Header> {
    for &place in &layout.rows[LOCATION] {
        tables
            .location::<Pprof>(row(place, payload), intake)
            .map_err(|e| e.within_row("location", tables.ids.location.len()))?;
    }
    for &place in &layout.rows[FUNCTION] {
        tables
            .function::<Pprof>(row(place, payload), intake)
            .map_err(|e| e.within_row("function", tables.ids.function.len()))?;
    }
    for &place in &layout.rows[MAPPING] {
        tables
            .mapping::<Pprof>(row(place, payload).rest(), intake)
            .map_err(|e| e.within_row("mapping", tables.ids.mapping.len()))?;
    }
    let mut header = Header::default();
    let sample_types = layout.rows[SAMPLE_TYPE].len();
    intake.budget.take::<[ValueType; 2]>(sample_types)?;
    header.sample_types.reserve_exact(sample_types);
    for (at, &place) in layout.rows[SAMPLE_TYPE].iter().enumerate() {
        let value_type = value_type(row(place, payload), ValueType::default(), intake);
        let value_type = value_type.map_err(|e| e.within_row("sample_type", at))?;
        header.sample_types.push(value_type);
    }
    for &start in &layout.others {
        let mut reader = Reader::within(payload, start as usize, payload.len());
        if let Some(tag) = reader.tag()? {
            header.field(tag, reader, intake)?;
        }
    }
    Ok(header)
}

impl Header {
    /// A field that is not of a table.
    fn field(&mut self, tag: u32, mut reader: Reader, intake: &mut Intake) -> Result<()> {
        if is!(tag, 7, VARINT) {
            self.drop_frames = reader.index()?;
        } else if is!(tag, 8, VARINT) {
            self.keep_frames = reader.index()?;
        } else if is!(tag, 9, VARINT) {
            let time = reader.varint()? as i64;
            if self.time != 0 && time != 0 {
                return Err(Error::malformed(
                    "set twice: the file is several profiles concatenated",
                )
                .within("time_nanos"));
            }
            self.time = if time == 0 { self.time } else { time };
        } else if is!(tag, 10, VARINT) {
            self.duration = reader.varint()? as i64;
        } else if is!(tag, 11, LEN) {
            self.period_type = value_type(reader.message()?, self.period_type, intake)
                .map_err(|e| e.within("period_type"))?;
        } else if is!(tag, 12, VARINT) {
            self.period = reader.varint()? as i64;
        } else if is!(tag, 13, LEN) || is!(tag, 13, VARINT) {
            crate::format::otlp::tables::indices(tag, &mut reader, &mut self.comments, intake)?;
        } else if is!(tag, 14, VARINT) {
            self.default_sample_type = reader.index()?;
        } else if is!(tag, Pprof::SCHEMA.profile.doc_url, VARINT) {
            self.doc_url = reader.index()?;
        } else {
            unknown(&mut reader, tag, &schema::PROFILE, Version::Pprof, intake)?;
        }
        Ok(())
    }

    /// What the header says, in the model's words.
    fn finish(
        self,
        profile: &mut Profile,
        table: &mut Table,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<()> {
        profile.time_unix_nano = self.time.into();
        profile.duration_nanos = self.duration.into();
        profile.period = self.period;
        let mut named = |value_type: ValueType,
                         tables: &mut Tables,
                         intake: &mut Intake|
         -> Result<ValueType> {
            let name = table.text(value_type.name.0, &mut tables.texts, intake)?;
            let unit = table.text(value_type.unit.0, &mut tables.texts, intake)?;
            Ok(ValueType { name, unit, temporality: None })
        };
        profile.sample_types.reserve_exact(self.sample_types.len());
        for (row, value_type) in self.sample_types.into_iter().enumerate() {
            let value_type =
                named(value_type, tables, intake).map_err(|e| e.within_row("sample_type", row))?;
            profile.sample_types.push(value_type);
        }
        profile.period_type =
            named(self.period_type, tables, intake).map_err(|e| e.within("period_type"))?;
        let mut text =
            |index: u32, field: &'static str, tables: &mut Tables, intake: &mut Intake| {
                table.text(index, &mut tables.texts, intake).map_err(|e| e.within(field))
            };
        profile.default_sample_type =
            text(self.default_sample_type, "default_sample_type", tables, intake)?;
        let default = profile.default_sample_type;
        if default != StringId::NONE
            && !profile.sample_types.iter().any(|value_type| value_type.name == default)
        {
            let message = || "names none of the sample types".to_owned();
            intake.note(losses::DEFAULT_NO_MATCH, || "default_sample_type".to_owned(), message);
        }
        let mut attributes = Vec::new();
        if !self.comments.is_empty() {
            intake.budget.take::<Value>(self.comments.len())?;
            let mut comments = Vec::with_capacity(self.comments.len());
            for index in self.comments {
                comments.push(Value::String(text(index, "comment", tables, intake)?));
            }
            attributes.push((semconv::PPROF_PROFILE_COMMENT, Value::Array(comments.into())));
        }
        for (index, key, field) in [
            (self.drop_frames, semconv::PPROF_PROFILE_DROP_FRAMES, "drop_frames"),
            (self.keep_frames, semconv::PPROF_PROFILE_KEEP_FRAMES, "keep_frames"),
            (self.doc_url, semconv::PPROF_PROFILE_DOC_URL, "doc_url"),
        ] {
            let text = text(index, field, tables, intake)?;
            if text != StringId::NONE {
                attributes.push((key, Value::String(text)));
            }
        }
        for (key, value) in attributes {
            profile.attributes.push(tables.new_attributes.named(
                key,
                value,
                &mut tables.texts,
                intake,
            )?);
        }
        Ok(())
    }
}

/// A value type, and what was said of it before.
fn value_type(
    mut reader: Reader,
    mut value_type: ValueType,
    intake: &mut Intake,
) -> Result<ValueType> {
    fields!(reader, VALUE_TYPE in Version::Pprof, intake; {
        (1, VARINT) => value_type.name = StringId(reader.index()?),
        (2, VARINT) => value_type.unit = StringId(reader.index()?),
    });
    Ok(value_type)
}

/// Reads the references of locations again, as the wide ids they are, and finds their rows.
fn resolve_sparse(
    payload: &[u8],
    layout: &Layout,
    tables: &mut Tables,
    mappings: &Ids,
    functions: &Ids,
    intake: &mut Intake,
) -> Result<()> {
    let mut line = 0;
    for (at, &place) in layout.rows[LOCATION].iter().enumerate() {
        let mut location = row(place, payload);
        while let Some(tag) = location.tag()? {
            if is!(tag, 2, VARINT) {
                tables.location_mappings[at + 1] = references(mappings, location.varint()?);
            } else if is!(tag, 4, LEN) {
                let mut fields = Reader::new(location.bytes()?);
                while let Some(tag) = fields.tag()? {
                    if is!(tag, 1, VARINT) {
                        tables.lines.items[line].function =
                            FunctionId(references(functions, fields.varint()?));
                    } else {
                        fields.skip(tag, intake.limits().max_nesting)?;
                    }
                }
                line += 1;
            } else {
                location.skip(tag, intake.limits().max_nesting)?;
            }
        }
    }
    Ok(())
}

/// The row an id refers to; 0 is none, and an unknown one past every table.
fn references(ids: &Ids, id: u64) -> u32 {
    if id == 0 { 0 } else { ids.row(id).unwrap_or(u32::MAX) }
}

/// Proves the tables, makes attributes of what the model has no fields for, and hands them over.
fn finish_tables(
    mut tables: Tables,
    links: Vec<crate::model::dictionary::Link>,
    table: &mut Table,
    mappings: &Ids,
    functions: &Ids,
    intake: &mut Intake,
) -> Result<Dictionary> {
    let rows = std::mem::take(&mut tables.functions);
    let functions_table = finish_functions(rows, table, &mut tables, intake)?;
    let mappings_table = finish_mappings(table, &mut tables, intake)?;
    let last = |ids: &Ids, rows: usize| {
        if ids.is_dense() { rows } else { u32::MAX as usize }
    };
    check_lines(&mut tables, last(functions, functions_table.len()), intake)?;
    check_mappings(&mut tables, last(mappings, mappings_table.rows.len()), intake)?;
    let attributes = finish_location_attributes(&mut tables, intake)?;
    let attribute_table = tables.new_attributes.behind(std::mem::take(&mut tables.attributes));
    let stacks = std::mem::take(&mut tables.stacks.rows);
    Ok(Dictionary {
        strings: tables.texts.raw.prove(false, &mut intake.budget)?,
        mappings: mappings_table,
        functions: functions_table,
        locations: Locations {
            mappings: tables.location_mappings.into_iter().map(MappingId).collect(),
            addresses: tables.addresses,
            lines: tables.lines,
            attributes,
        },
        links,
        attributes: attribute_table,
        stacks: Ragged {
            items: stacks.items.into_iter().map(LocationId).collect(),
            ends: stacks.ends,
        },
    })
}

fn finish_functions(
    mut rows: Vec<Function>,
    table: &mut Table,
    tables: &mut Tables,
    intake: &mut Intake,
) -> Result<Vec<Function>> {
    for (row, function) in rows.iter_mut().enumerate().skip(1) {
        let place =
            |field: &'static str| move |e: Error| e.within(field).within_row("function", row - 1);
        let texts = &mut tables.texts;
        function.name = table.text(function.name.0, texts, intake).map_err(place("name"))?;
        function.system_name =
            table.text(function.system_name.0, texts, intake).map_err(place("system_name"))?;
        function.filename =
            table.text(function.filename.0, texts, intake).map_err(place("filename"))?;
    }
    Ok(rows)
}

fn finish_mappings(
    table: &mut Table,
    tables: &mut Tables,
    intake: &mut Intake,
) -> Result<Mappings> {
    let mut rows: Vec<Mapping> = std::mem::take(&mut tables.mappings);
    for (row, mapping) in rows.iter_mut().enumerate().skip(1) {
        let place = |e: Error| e.within("filename").within_row("mapping", row - 1);
        mapping.filename =
            table.text(mapping.filename.0, &mut tables.texts, intake).map_err(place)?;
    }
    let mut attributes = Ragged::default();
    let mut pprof_rows = std::mem::take(&mut tables.mapping_pprof);
    let unset = pprof_rows.iter().all(|row| row.flags == 0) && rows.len() > 1;
    if unset {
        pprof_rows.resize(pprof_rows.len().max(2), MappingPprof::default());
    }
    for (row, pprof) in pprof_rows.into_iter().enumerate() {
        let place = |e: Error| e.within("build_id").within_row("mapping", row.saturating_sub(1));
        let build_id = table.text(pprof.build_id, &mut tables.texts, intake).map_err(place)?;
        lift::mapping(pprof, build_id, tables, &mut attributes.items, intake)?;
        if unset && row == 1 {
            attributes.items.extend(lift::unset_flag(tables, intake)?);
        }
        attributes.end_row_at(row);
    }
    Ok(Mappings { rows, attributes })
}

/// A line may name no function; one that names an unknown one is refused, or names none.
fn check_lines(tables: &mut Tables, rows: usize, intake: &mut Intake) -> Result<()> {
    let Ragged { items, ends } = &mut tables.lines;
    let largest = items.iter().map(|line| line.function.0).max().unwrap_or(0);
    let bad = |line: &Line| line.function.0 as usize >= rows || line.function.0 == u32::MAX;
    if (largest as usize) < rows && largest != u32::MAX {
        return Ok(());
    }
    for (at, line) in items.iter_mut().enumerate().filter(|(_, line)| bad(line)) {
        let row = ends.partition_point(|&end| end as usize <= at);
        let error = Error::malformed("the function does not exist").within("function_id");
        intake.repair(
            losses::DANGLING_FUNCTION,
            error.within("line").within_row("location", row.saturating_sub(1)),
        )?;
        line.function = FunctionId::NONE;
    }
    Ok(())
}

/// As all readers of pprof do, a location of an unknown mapping is taken for one of none.
fn check_mappings(tables: &mut Tables, rows: usize, intake: &mut Intake) -> Result<()> {
    for (row, mapping) in tables.location_mappings.iter_mut().enumerate() {
        if *mapping as usize >= rows || *mapping == u32::MAX {
            *mapping = 0;
            let place = || format!("location[{}].mapping_id", row.saturating_sub(1));
            intake
                .note(losses::DANGLING_MAPPING, place, || "the mapping does not exist".to_owned());
        }
    }
    Ok(())
}

fn finish_location_attributes(
    tables: &mut Tables,
    intake: &mut Intake,
) -> Result<Ragged<AttributeId>> {
    let mut attributes = Ragged::default();
    for (row, id) in lift::locations(tables, intake)? {
        attributes.push_at(row as usize, &[id]);
    }
    Ok(attributes)
}
