//! Profiles from tables: the reverse of [`Segment`](super::Segment).
//!
//! ```text
//! mappings ─► stacks ─► Dictionary ┐
//! profiles ─► headers ─────────────┼─► samples, by profile and type ─► Profiles
//! ```

use std::ops::Range;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::columns::batch::Array;
use crate::columns::get::by_name;
use crate::columns::headers::Headers;
use crate::columns::read::each_row_group;
use crate::columns::restored::{Columns, ProfileRow, Restored};
use crate::columns::schema::Table;
use crate::columns::texts::Texts;
use crate::error::{Error, Result};
use crate::limits::{Limits, within};
use crate::model::dictionary::{Attribute, Function, Line, Link, Mapping};
use crate::model::ragged::Ragged;
use crate::model::value::Value;
use crate::model::{LinkId, MappingId, StackId, StringId};
use crate::tables::rows::interner::Interner;
use crate::tables::rows::row::BorrowedLocation;
use crate::wire::hex::hex_bytes;

/// The files of a segment, or of one service of it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SegmentFiles {
    /// The bytes of each file, by table in the order of [`Table::ALL`].
    pub files: [Vec<Vec<u8>>; 4],
}

/// Reads the profiles of a segment, or of one service of it, that `select` chooses. Memory holds these profiles, the
/// dictionary of the segment, and one row group.
///
/// # Errors
///
/// A file is not one that [`ParquetWriter`](super::ParquetWriter) wrote, is malformed, or refers to rows of other files
/// that are missing; or the profiles exceed `limits`.
pub fn restore(
    files: SegmentFiles,
    limits: &Limits,
    select: impl Fn(&ProfileRow<'_>) -> bool,
) -> Result<Restored> {
    let mut restore = Restore::new(limits);
    for (table, files) in Table::ALL.into_iter().zip(files.files) {
        for file in files {
            let Restore { rows, interner, .. } = &mut restore;
            let each = |arrays: &[Array], interner: &mut Interner| match table {
                Table::Mappings => rows.mappings(arrays, interner),
                Table::Stacks => rows.stacks(arrays, interner),
                Table::Profiles => rows.headers.add(arrays, interner, &mut rows.texts, &select),
                Table::Samples => rows.samples(arrays, interner),
            };
            each_row_group(file, table, interner, each)?;
        }
    }
    let Restore { rows, interner } = restore;
    rows.headers.finish(interner, rows.columns)
}

struct Restore {
    interner: Interner,
    rows: Rows,
}

/// What tables refer to, by id.
#[derive(Default)]
struct Rows {
    mappings: HashMap<[u8; 16], MappingId, FixedState>,
    stacks: HashMap<[u8; 16], StackId, FixedState>,
    links: HashMap<(StringId, StringId), LinkId, FixedState>,
    texts: Texts,
    headers: Headers,
    /// By profile.
    columns: Vec<Columns>,
    samples: u64,
}

impl Restore {
    fn new(limits: &Limits) -> Self {
        Self { interner: Interner::new(*limits), rows: Rows::default() }
    }
}

fn missing(what: &str) -> Error {
    Error::malformed(format!(
        "a row refers to {what} that is missing: files of the segment are missing"
    ))
}

impl Rows {
    fn mappings(&mut self, arrays: &[Array], interner: &mut Interner) -> Result<()> {
        by_name!(
            arrays,
            Mappings: id = "mapping_id",
            start = "memory_start",
            limit = "memory_limit",
            offset = "file_offset",
            filename = "filename",
            attributes = "attributes",
            exact = "attributes_exact",
        );
        for row in 0..id.len() {
            let mapping = Mapping {
                memory_start: start.unsigned(row),
                memory_limit: limit.unsigned(row),
                file_offset: offset.unsigned(row),
                filename: filename.text(row),
            };
            let mut set = self.texts.attributes(attributes, exact, row, interner)?.to_vec();
            set.sort_unstable();
            set.dedup();
            let mapping = interner.intern((mapping, &set[..]))?;
            interner.budget.bytes(24)?;
            self.mappings.insert(id.key(row), mapping);
        }
        Ok(())
    }

    fn stacks(&mut self, arrays: &[Array], interner: &mut Interner) -> Result<()> {
        let frames = Frames(arrays);
        by_name!(arrays, Stacks: id = "stack_id", inlined = "inlined");
        if self.texts.frame_type == StringId::NONE {
            let key = crate::semconv::PROFILE_FRAME_TYPE;
            self.texts.frame_type = interner.string(key.as_bytes())?;
        }
        let (mut locations, depth) = (Vec::new(), interner.budget.limits.max_stack_depth);
        for row in 0..id.len() {
            let items = frames.items(row)?;
            within("max_stack_depth", depth, items.len() as u64)?;
            locations.clear();
            let mut first = 0;
            for at in 0..items.len() {
                if inlined.bool_at(row, at) && at + 1 < items.len() {
                    continue;
                }
                let location = frames.location(row, first..at + 1, self, interner)?;
                locations.push(location);
                first = at + 1;
            }
            let stack = interner.intern(&locations[..])?;
            interner.budget.bytes(24)?;
            self.stacks.insert(id.key(row), stack);
        }
        Ok(())
    }

    fn samples(&mut self, arrays: &[Array], interner: &mut Interner) -> Result<()> {
        by_name!(
            arrays,
            Samples: key = "profile_key",
            index = "sample_index",
            stack_id = "stack_id",
            value = "value",
            values = "values",
            times = "timestamps",
            trace = "trace_id",
            span = "span_id",
            map = "attributes",
            exact = "attributes_exact",
        );
        let mut one = [0];
        for row in 0..key.len() {
            let found = self.headers.find(key.key(row)).ok_or_else(|| missing("a profile"))?;
            let Some((profile, sample_type)) = found else { continue };
            let columns = columns_of(&mut self.columns, profile, sample_type);
            let at = columns.counts[sample_type];
            if index.int(row) != at as i64 {
                return Err(Error::malformed("samples are missing, or not in order"));
            }
            columns.counts[sample_type] += 1;
            one[0] = value.int(row);
            let list = values.ints_of(row).unwrap_or(&one);
            columns.values[sample_type].push_at(at, list);
            interner.budget.bytes(16 + size_of_val(list))?;
            if sample_type > 0 {
                continue;
            }
            self.samples += 1;
            within("max_samples", interner.budget.limits.max_samples, self.samples)?;
            let stack = self.stacks.get(&stack_id.key(row)).ok_or_else(|| missing("a stack"))?;
            let link =
                link((trace.some_text(row), span.some_text(row)), &mut self.links, interner)?;
            let attributes = self.texts.attributes(map, exact, row, interner)?;
            columns.samples.push(*stack, attributes, link);
            let times: Vec<u64> =
                times.ints_of(row).unwrap_or(&[]).iter().map(|time| *time as u64).collect();
            interner.budget.bytes(16 + size_of_val(attributes) + size_of_val(&times[..]))?;
            if !times.is_empty() {
                columns.samples.timestamps.push_at(at, &times);
            }
        }
        Ok(())
    }
}

/// Returns the samples of a profile, with a place for a sample type.
fn columns_of(all: &mut Vec<Columns>, profile: usize, sample_type: usize) -> &mut Columns {
    if all.len() <= profile {
        all.resize_with(profile + 1, Columns::default);
    }
    let columns = &mut all[profile];
    if columns.values.len() <= sample_type {
        columns.values.resize_with(sample_type + 1, Ragged::default);
        columns.counts.resize(sample_type + 1, 0);
    }
    columns
}

/// Interns a link from hex digits.
fn link(
    (trace, span): (Option<StringId>, Option<StringId>),
    links: &mut HashMap<(StringId, StringId), LinkId, FixedState>,
    interner: &mut Interner,
) -> Result<LinkId> {
    if trace.is_none() && span.is_none() {
        return Ok(LinkId::NONE);
    }
    let ids = (trace.unwrap_or_default(), span.unwrap_or_default());
    if let Some(link) = links.get(&ids) {
        return Ok(*link);
    }
    let malformed = || Error::malformed("a trace_id or span_id is not in hex digits");
    let bytes = |id| hex_bytes(interner.dictionary.text(id));
    let trace_id = bytes(ids.0).and_then(|id| id.try_into().ok()).ok_or_else(malformed)?;
    let span_id = bytes(ids.1).and_then(|id| id.try_into().ok()).ok_or_else(malformed)?;
    let link = interner.intern(Link { trace_id, span_id })?;
    links.insert(ids, link);
    Ok(link)
}

/// The columns of stacks.
struct Frames<'a>(&'a [Array]);

impl Frames<'_> {
    /// Returns the items of a row, after checking that all lists have as many or are null.
    fn items(&self, row: usize) -> Result<Range<usize>> {
        by_name!(self.0, Stacks: names = "function_names");
        let items = names.items_of(row).unwrap_or_default();
        let lists = Table::Stacks.columns().iter().zip(self.0).filter(|(column, _)| column.is_list);
        let same = |list: &Array| list.items_of(row).is_none_or(|of| of.len() == items.len());
        match lists.map(|(_, list)| list).all(same) {
            true => Ok(items),
            false => Err(Error::malformed("the lists of a stack differ in length")),
        }
    }

    /// Interns the location of some frames.
    fn location(
        &self,
        row: usize,
        frames: Range<usize>,
        rows: &mut Rows,
        interner: &mut Interner,
    ) -> Result<crate::model::LocationId> {
        by_name!(
            self.0,
            Stacks: names = "function_names",
            system = "system_names",
            files = "filenames",
            types = "frame_types",
            lines = "lines",
            columns = "columns",
            starts = "start_lines",
            addresses = "addresses",
            mappings = "mapping_ids",
            others = "location_attributes",
        );
        let last = frames.end - 1;
        let mut of = Vec::new();
        for at in frames {
            let Some(name) = names.some_text_at(row, at) else { continue };
            let function = Function {
                name,
                system_name: system.items_of(row).map_or(name, |_| system.text_at(row, at)),
                filename: files.text_at(row, at),
                start_line: starts.int_at(row, at),
            };
            let function = interner.intern(function)?;
            let (line, column) = (lines.int_at(row, at), columns.int_at(row, at));
            of.push(Line { function, line, column });
        }
        let mut attributes = match others.bytes_at(row, last) {
            Some(bytes) if !bytes.is_empty() => rows.texts.exact(bytes, interner)?.to_vec(),
            _ => Vec::new(),
        };
        if let Some(text) = types.text_at(row, last).some() {
            let (key, value, unit) = (rows.texts.frame_type, Value::String(text), StringId::NONE);
            attributes.push(interner.intern(Attribute { key, value, unit })?);
        }
        attributes.sort_unstable();
        attributes.dedup();
        let mapping = match mappings.some_key_at(row, last) {
            None => MappingId::NONE,
            Some(id) => *rows.mappings.get(&id).ok_or_else(|| missing("a mapping"))?,
        };
        let address = addresses.unsigned_at(row, last);
        let location = BorrowedLocation { mapping, address, lines: &of, attributes: &attributes };
        Ok(interner.intern(location)?)
    }
}
