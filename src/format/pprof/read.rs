//! Reader of pprof: it indexes the file, reads table by table, then reads the samples.
//!
//! Rows of different tables alternate in the files of many writers. Reading one table after the other needs
//! the memory and the branches of only one type of row at a time.
//!
//! ```text
//! layout ─► locations, functions, mappings ─► ids ─► samples ─► header ─► finish ─► equal ─► times
//! ```
//!
//! Strings are read last: a string is interned on first use. So the dictionary contains only referenced
//! strings, in the order of use.

use crate::error::{Error, Result};
use crate::format::pprof::finish::finish_tables;
use crate::format::pprof::header::{Header, value_type};
use crate::format::pprof::layout::{
    FUNCTION, LOCATION, Layout, MAPPING, RowSpan, SAMPLE_TYPE, STRING, row,
};
use crate::format::pprof::row_ids::{functions_by_id, rows_by_id};
use crate::format::pprof::samples::{
    LOCATION_ID, LOCATION_ID_UNPACKED, SampleCounts, SampleReader,
};
use crate::format::pprof::strings::{CONCATENATED, Table, second_table};
use crate::format::pprof::{equal, times};
use crate::model::id::{FunctionId, MappingId};
use crate::model::profile::{Profile, ValueType};
use crate::model::{Profiles, ResourceProfiles, ScopeProfiles};
use crate::read_context::ReadContext;
use crate::schema::{self, Pprof, Rows, Version};
use crate::tables::fields::is;
use crate::tables::read::id_column::RowsById;
use crate::tables::read::tables::Tables;
use crate::tables::resolve::null_row::Kept;
use crate::wire::packed::count_packed;
use crate::wire::read::Reader;

/// Reads one pprof.
///
/// The result is one profile in one unnamed scope of one unnamed resource. Equal stacks share a row; equal
/// samples stay separate.
///
/// # Errors
///
/// Input that is not protobuf, exceeds a limit, or breaks a rule of `profile.proto`
/// ([`Policy`](crate::Policy) decides).
pub(crate) fn read(payload: &[u8], cx: &mut ReadContext) -> Result<Profiles> {
    let layout = Layout::of(payload, cx)?;
    let strings = &layout.rows[STRING];
    let mut tables = Tables::new(Rows::NullFirst, 0);
    tables.counts[schema::Table::Mapping as usize] = layout.rows[MAPPING].len();
    tables.counts[schema::Table::Location as usize] = layout.rows[LOCATION].len();
    tables.counts[schema::Table::Function as usize] = layout.rows[FUNCTION].len();
    tables.reserve::<Pprof>(cx)?;
    // Ids are rows of the model, so its row 0 comes first.
    tables.put_empty_rows(Kept::default());
    let text = strings.iter().map(|&(_, length)| length as usize).sum();
    // Only nonempty strings are interned.
    let texts = strings.len().min(text);
    cx.budget.charge::<[u64; 4]>(texts)?;
    cx.budget.charge::<u8>(text)?;
    tables.texts.reserve(texts, text);
    let header = read_tables(payload, &layout, &mut tables, cx)?;
    check_alone(payload, &layout, &tables)?;
    let rows = |table: usize| (payload, &layout.rows[table][..]);
    let mappings = rows_by_id(&tables.ids.mapping, "mapping", rows(MAPPING), cx)?;
    let functions = functions_by_id(&tables, rows(FUNCTION), cx)?;
    let locations = rows_by_id(&tables.ids.location, "location", rows(LOCATION), cx)?;
    if !mappings.is_dense() || !functions.is_dense() {
        resolve_sparse(payload, &layout, &mut tables, &mappings, &functions, cx)?;
    }
    // Free this memory before the samples are read.
    let [_, sample_types, samples, _, locations_read, functions_read, strings] = layout.rows;
    drop((locations_read, functions_read, std::mem::take(&mut tables.ids)));
    tables.dictionary.locations.lines.trim();
    let table = &mut Table::of(payload, &strings, cx)?;
    let counts = SampleCounts {
        samples: samples.len(),
        columns: sample_types.len(),
        locations: locations_of(&samples, payload),
    };
    let mut reader = SampleReader::new(payload, counts, &locations, &mut tables, cx)?;
    reader.read(&samples, table, &mut tables, cx)?;
    drop(samples);
    let mut profile = Profile::default();
    profile.samples = reader.finish(&mut tables, cx)?;
    header.finish(&mut profile, table, &mut tables, cx)?;
    let mut dictionary = finish_tables(tables, table, &mappings, &functions, cx)?;
    equal::merge(&mut dictionary, &mut profile, cx)?;
    if let Some(label) = cx.timestamp_label.clone() {
        times::fold(&mut profile, &dictionary, &label, cx);
    }
    let mut scope = ScopeProfiles::default();
    scope.profiles = vec![profile];
    let mut resource = ResourceProfiles::default();
    resource.scopes = vec![scope];
    Ok(Profiles { dictionary, resources: vec![resource] })
}

/// Rejects a file of several concatenated profiles, in which the string table starts again. Protobuf would
/// read them as one profile whose references resolve to rows of the first.
fn check_alone(payload: &[u8], layout: &Layout, tables: &Tables) -> Result<()> {
    let strings = &layout.rows[STRING];
    let second = |is_repeated| {
        let rows = strings.iter().map(|&(start, length)| (start, start + length));
        second_table(rows, is_repeated)
    };
    // Files with one empty string, the usual case, need no look at ids and other fields.
    let Some(any) = second(true) else { return Ok(()) };
    let is_repeated = || {
        let ids = [&tables.ids.mapping, &tables.ids.location, &tables.ids.function];
        layout.has_repeated_singular(payload) || ids.iter().any(|ids| ids.is_repeated())
    };
    // Other empty strings are allowed in a table. Without a gap before one, only a field or an id that
    // occurs twice shows a second file.
    let Some(row) = second(false).or_else(|| is_repeated().then_some(any)) else { return Ok(()) };
    let at = payload.get(strings[row].0 as usize..).unwrap_or_default();
    let message = format!("the string table begins again: {CONCATENATED}");
    Err(Error::malformed(message).at(at).within_row("string_table", row))
}

/// Estimates the number of locations in all samples.
///
/// Counts at most 512 samples, evenly spaced, and scales up. The estimate determines reserved memory, which
/// affects speed only.
fn locations_of(samples: &[RowSpan], payload: &[u8]) -> usize {
    const SOME: usize = 1 << 9;
    let step = samples.len() / SOME + 1;
    let count = |span: &RowSpan| {
        let (mut sample, mut count) = (row(*span, payload), 0);
        while let Ok(Some(tag)) = sample.tag() {
            match tag {
                LOCATION_ID => count += sample.bytes().map_or(0, count_packed),
                // The reader reports malformed samples later.
                // The guard skips the value of every other field, and the arms below run after it.
                _ if sample.skip(tag, 0).is_err() => break,
                LOCATION_ID_UNPACKED => count += 1,
                _ => {}
            }
        }
        count
    };
    samples.iter().step_by(step).map(count).sum::<usize>() * step
}

/// Reads everything except the samples. Locations are the largest table, so they are read before other memory
/// is allocated.
///
/// # Errors
///
/// Input that is not protobuf, with the table and the row; the budget.
fn read_tables(
    payload: &[u8],
    layout: &Layout,
    tables: &mut Tables,
    cx: &mut ReadContext,
) -> Result<Header> {
    for &span in &layout.rows[LOCATION] {
        tables
            .location::<Pprof>(row(span, payload), cx)
            .map_err(|e| e.within_row("location", tables.ids.location.len()))?;
    }
    for &span in &layout.rows[FUNCTION] {
        tables
            .function::<Pprof>(row(span, payload), cx)
            .map_err(|e| e.within_row("function", tables.ids.function.len()))?;
    }
    for &span in &layout.rows[MAPPING] {
        tables
            .mapping::<Pprof>(row(span, payload).rest(), cx)
            .map_err(|e| e.within_row("mapping", tables.ids.mapping.len()))?;
    }
    let mut header = Header::default();
    let sample_types = layout.rows[SAMPLE_TYPE].len();
    cx.budget.charge::<[ValueType; 2]>(sample_types)?;
    header.sample_types.reserve_exact(sample_types);
    for (at, &span) in layout.rows[SAMPLE_TYPE].iter().enumerate() {
        let value_type = value_type(row(span, payload), ValueType::default(), cx);
        let value_type = value_type.map_err(|e| e.within_row("sample_type", at))?;
        header.sample_types.push(value_type);
    }
    for &start in &layout.others {
        // `Layout` has parsed this field once, so it ends within the payload.
        let mut reader = Reader::within(payload, start as usize, payload.len());
        if let Some(tag) = reader.tag()? {
            header.field(tag, reader, cx)?;
        }
    }
    Ok(header)
}

/// Reads the references of locations a second time, as wide ids, and resolves them to rows.
///
/// The first pass stored references as `u32`, which cannot hold wide ids. Files with such ids are rare, so a
/// second pass for these is cheaper than wider columns for all.
///
/// Lines are numbered across all locations, in the order of the first pass.
fn resolve_sparse(
    payload: &[u8],
    layout: &Layout,
    tables: &mut Tables,
    mappings: &RowsById,
    functions: &RowsById,
    cx: &mut ReadContext,
) -> Result<()> {
    let mut line = 0;
    for (at, &span) in layout.rows[LOCATION].iter().enumerate() {
        let mut location = row(span, payload);
        while let Some(tag) = location.tag()? {
            if is!(tag, LOCATION "mapping_index" in Version::Pprof) {
                let mapping = references(mappings, location.varint()?);
                tables.dictionary.locations.mappings[at + 1] = MappingId(mapping);
            } else if is!(tag, LOCATION "lines" in Version::Pprof) {
                let mut fields = Reader::new(location.bytes()?);
                while let Some(tag) = fields.tag()? {
                    if is!(tag, LINE "function_index" in Version::Pprof) {
                        tables.dictionary.locations.lines.items[line].function =
                            FunctionId(references(functions, fields.varint()?));
                    } else {
                        fields.skip(tag, cx.limits().max_nesting)?;
                    }
                }
                line += 1;
            } else {
                location.skip(tag, cx.limits().max_nesting)?;
            }
        }
    }
    Ok(())
}

/// Returns the row of an id: 0 for unset, `u32::MAX` for unknown.
fn references(ids: &RowsById, id: u64) -> u32 {
    if id == 0 { 0 } else { ids.row(id).unwrap_or(u32::MAX) }
}
