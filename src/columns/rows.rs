//! Writes the rows of the tables, column by column in the order of the declaration.

use std::io::{Read, Seek, Write};

use hashbrown::HashMap;

use crate::columns::batch::{Batch, Item, Row};
use crate::columns::exact;
use crate::columns::schema::Table;
use crate::columns::segment_rows::{Group, Head, Keys, Label, Rows, SegmentRows};
use crate::columns::spill::{Spill, Spilled};
use crate::error::Result;
use crate::model::dictionary::{Dictionary, Line};
use crate::model::measures;
use crate::model::ragged::Ragged;
use crate::model::{AttributeId, LocationId, MappingId, StackId, StringId};

/// The rows of a finished segment.
pub(super) struct Source {
    pub(super) id: [u8; 12],
    dictionary: Dictionary,
    keys: Keys,
    labels: Vec<Label>,
    links: Vec<(StringId, StringId)>,
    pairs: Ragged<(StringId, StringId)>,
    pub(super) heads: Vec<Head>,
    pub(super) groups: Vec<Group>,
    mapping_rows: Rows<(u32, MappingId)>,
    /// By mapping.
    build_ids: Vec<Option<StringId>>,
}

/// Lists of attributes as OTLP, each encoded once as long as they fit in [`CACHE`].
#[derive(Default)]
pub(super) struct Exact {
    encoded: HashMap<Box<[AttributeId]>, Vec<u8>, foldhash::fast::FixedState>,
    bytes: usize,
}

/// Bytes of encoded attributes that are kept, in case they repeat.
const CACHE: usize = 16 << 20;

impl Exact {
    fn of(&mut self, dictionary: &Dictionary, attributes: &[AttributeId]) -> Result<&[u8]> {
        if !self.encoded.contains_key(attributes) {
            if self.bytes > CACHE {
                self.encoded.clear();
                self.bytes = 0;
            }
            let bytes = exact::attributes(dictionary, attributes)?;
            self.bytes += size_of_val(attributes) + bytes.len() + 64;
            self.encoded.insert(attributes.into(), bytes);
        }
        Ok(self.encoded.get(attributes).map_or(&[], |bytes| bytes))
    }
}

impl Source {
    pub(super) fn new(rows: SegmentRows, id: [u8; 12]) -> Self {
        let SegmentRows { interner, keys, labels, links, pairs, heads, groups, mapping_rows } =
            rows;
        let dictionary = interner.dictionary;
        let mut source = Self {
            id,
            dictionary,
            keys,
            labels,
            links,
            pairs,
            heads,
            groups,
            mapping_rows,
            build_ids: Vec::new(),
        };
        let mappings = (0..source.dictionary.mappings.rows.len() as u32).map(MappingId);
        source.build_ids = mappings.map(|mapping| source.find_build_id(mapping)).collect();
        source
    }

    pub(super) fn batch(&self, table: Table) -> Batch<'_> {
        Batch::new(table, &self.dictionary.strings)
    }

    /// Returns the id of a row of the segment.
    #[inline]
    pub(super) fn key(&self, row: u32) -> [u8; 16] {
        let mut key = [0; 16];
        key[..12].copy_from_slice(&self.id);
        key[12..].copy_from_slice(&row.to_be_bytes());
        key
    }

    fn find_build_id(&self, mapping: MappingId) -> Option<StringId> {
        let attributes = self.dictionary.mappings.attributes(mapping);
        self.keys.build_ids.iter().find_map(|key| {
            let of = |id: &&AttributeId| self.key_of(**id) == *key && self.labels[id.row()].is_text;
            attributes.iter().find(of).map(|id| self.labels[id.row()].text)
        })
    }

    fn key_of(&self, attribute: AttributeId) -> StringId {
        self.dictionary.attribute(attribute).map_or(StringId::NONE, |attribute| attribute.key)
    }

    /// Puts a map of attributes, and their exact form if texts do not say all.
    fn put_attributes(
        &self,
        row: &mut Row<'_>,
        attributes: &[AttributeId],
        exact: &mut Exact,
    ) -> Result<()> {
        row.put_list(attributes.iter().map(|id| (self.key_of(*id), self.labels[id.row()].text)));
        let is_plain = attributes.iter().all(|id| self.labels[id.row()].is_plain);
        let bytes = if is_plain { None } else { Some(exact.of(&self.dictionary, attributes)?) };
        row.put_some(bytes);
        Ok(())
    }

    pub(super) fn put_mapping(
        &self,
        mut row: Row<'_>,
        number: u32,
        id: MappingId,
        exact: &mut Exact,
    ) -> Result<()> {
        let mapping = self.dictionary.mappings.get(id);
        row.put(self.key(number));
        row.put(mapping.memory_start);
        row.put(mapping.memory_limit);
        row.put(mapping.file_offset);
        row.put(mapping.filename);
        row.put_some(self.build_ids[id.row()]);
        self.put_attributes(&mut row, self.dictionary.mappings.attributes(id), exact)
    }

    pub(super) fn put_head<S: Read + Write + Seek>(
        &self,
        mut row: Row<'_>,
        number: u32,
        spill: &mut Spill<S>,
    ) -> Result<()> {
        let head = &self.heads[number as usize];
        let pairs = |row: u32| self.pairs.row(row as usize).iter().copied();
        let (period_type, period_unit, period) = head.period;
        row.put(self.key(number));
        row.put(head.type_index as i32);
        row.put_some(head.profile_id);
        row.put_some(head.micros());
        row.put(head.time);
        row.put(head.duration);
        row.put(head.name);
        row.put(head.unit);
        row.put_some(head.temporality);
        row.put_some(head.default_sample_type);
        row.put(period_type);
        row.put(period_unit);
        row.put(period);
        row.put(head.origin.service);
        row.put_some(head.origin.version);
        row.put_some(head.origin.host);
        row.put_list(pairs(head.origin.resource));
        row.put_list(pairs(head.origin.scope));
        row.put_list(pairs(head.attributes));
        row.put(head.origin.scope_name);
        row.put(head.origin.scope_version);
        row.put(head.samples);
        row.put(head.sum);
        row.put(head.input);
        row.put(head.format);
        // The header is that of all types, so the row of the first has it.
        let is_needed = head.type_index == 0 && !head.exact.is_empty();
        row.put_some(if is_needed { Some(spill.get(head.exact)?) } else { None });
        Ok(())
    }

    #[inline]
    pub(super) fn put_sample(
        &self,
        mut row: Row<'_>,
        number: u32,
        (samples, at): (&Spilled, usize),
        exact: &mut Exact,
    ) -> Result<()> {
        let head = &self.heads[number as usize];
        let times = samples.timestamps.row(at);
        let values = samples.values.row(at);
        let value = match head.types {
            1 => measures::total(values, times),
            _ => values.first().copied().unwrap_or(0),
        };
        let has_list = values.len() != 1 || !times.is_empty();
        let link = samples.links[at].some().map(|link| self.links[link.row()]);
        row.put(head.origin.service);
        row.put_some(head.origin.version);
        row.put(head.name);
        row.put(head.unit);
        row.put_some(head.micros());
        row.put(head.time);
        row.put(self.key(number));
        row.put(at as i32);
        row.put(head.type_index as i32);
        row.put(self.key(samples.stacks[at]));
        row.put(value);
        row.put_list_if(has_list, values.iter().copied());
        row.put_list_if(!times.is_empty(), times.iter().map(|time| *time as i64));
        row.put_some(link.map(|link| link.0));
        row.put_some(link.map(|link| link.1));
        self.put_attributes(&mut row, samples.attributes.row(at), exact)
    }
}

/// The frames of a stack, by column.
#[derive(Default)]
pub(super) struct Frames {
    names: Vec<Option<StringId>>,
    system_names: Vec<StringId>,
    filenames: Vec<StringId>,
    frame_types: Vec<StringId>,
    lines: Vec<i64>,
    columns: Vec<i64>,
    start_lines: Vec<i64>,
    inlined: Vec<bool>,
    addresses: Vec<u64>,
    mapping_filenames: Vec<StringId>,
    build_ids: Vec<StringId>,
    mapping_ids: Vec<Option<[u8; 16]>>,
    /// Other attributes of the location; may be empty.
    attributes: Vec<Vec<u8>>,
}

/// The columns that all frames of a location share.
struct Place {
    address: u64,
    frame_type: StringId,
    mapping: MappingId,
    mapping_id: Option<[u8; 16]>,
    attributes: Vec<u8>,
}

impl Frames {
    fn clear(&mut self) {
        // Keeps the memory of the columns.
        self.names.clear();
        self.system_names.clear();
        self.filenames.clear();
        self.frame_types.clear();
        self.lines.clear();
        self.columns.clear();
        self.start_lines.clear();
        self.inlined.clear();
        self.addresses.clear();
        self.mapping_filenames.clear();
        self.build_ids.clear();
        self.mapping_ids.clear();
        self.attributes.clear();
    }

    /// Collects the frames of a stack, inlined ones included.
    pub(super) fn fill(
        &mut self,
        source: &Source,
        group: u32,
        stack: StackId,
        exact: &mut Exact,
    ) -> Result<()> {
        self.clear();
        for location in source.dictionary.stack(stack) {
            let place = Place::of(source, group, *location, exact)?;
            let lines = source.dictionary.locations.lines(*location);
            for (at, line) in lines.iter().enumerate() {
                self.push(source, &place, Some(*line), at + 1 < lines.len());
            }
            if lines.is_empty() {
                self.push(source, &place, None, false);
            }
        }
        Ok(())
    }

    fn push(&mut self, source: &Source, place: &Place, line: Option<Line>, is_inlined: bool) {
        let function = line.map(|line| source.dictionary.function(line.function));
        let Line { line, column, .. } = line.unwrap_or_default();
        self.names.push(function.map(|function| function.name));
        let function = function.unwrap_or_default();
        self.system_names.push(function.system_name);
        self.filenames.push(function.filename);
        self.frame_types.push(place.frame_type);
        self.lines.push(line);
        self.columns.push(column);
        self.start_lines.push(function.start_line);
        self.inlined.push(is_inlined);
        self.addresses.push(place.address);
        self.mapping_filenames.push(source.dictionary.mappings.get(place.mapping).filename);
        self.build_ids.push(source.build_ids[place.mapping.row()].unwrap_or_default());
        self.mapping_ids.push(place.mapping_id);
        self.attributes.push(place.attributes.clone());
    }

    /// Puts the row. A list without information is null.
    pub(super) fn put(&self, mut row: Row<'_>, key: [u8; 16]) {
        fn put<I: Item + Copy + Default + PartialEq>(row: &mut Row<'_>, items: &[I]) {
            let has_items = items.iter().any(|item| *item != I::default());
            row.put_list_if(has_items, items.iter().copied());
        }
        let names = self.names.iter().map(|name| name.unwrap_or_default());
        let is_named_twice = names.eq(self.system_names.iter().copied());
        row.put(key);
        row.put_list_of_some(self.names.iter().copied());
        row.put_list_if(!is_named_twice, self.system_names.iter().copied());
        put(&mut row, &self.filenames);
        put(&mut row, &self.frame_types);
        put(&mut row, &self.lines);
        put(&mut row, &self.columns);
        put(&mut row, &self.start_lines);
        put(&mut row, &self.inlined);
        put(&mut row, &self.addresses);
        put(&mut row, &self.mapping_filenames);
        put(&mut row, &self.build_ids);
        row.put_list_of_some(self.mapping_ids.iter().copied());
        let has_attributes = self.attributes.iter().any(|bytes| !bytes.is_empty());
        row.put_list_if(has_attributes, self.attributes.iter().map(|bytes| &bytes[..]));
    }
}

impl Place {
    fn of(source: &Source, group: u32, id: LocationId, exact: &mut Exact) -> Result<Self> {
        let locations = &source.dictionary.locations;
        let (mut frame_type, mut others) = (StringId::NONE, Vec::new());
        for attribute in locations.attributes(id) {
            let label = source.labels[attribute.row()];
            let is_type = source.key_of(*attribute) == source.keys.frame_type && label.is_plain;
            match is_type && label.text != StringId::NONE {
                true => frame_type = label.text,
                false => others.push(*attribute),
            }
        }
        let mapping = locations.mapping(id);
        let row = source.mapping_rows.get(&(group, mapping));
        let attributes = match &others[..] {
            [] => Vec::new(),
            others => exact.of(&source.dictionary, others)?.to_vec(),
        };
        Ok(Self {
            address: locations.address(id),
            frame_type,
            mapping,
            mapping_id: row.map(|row| source.key(*row)),
            attributes,
        })
    }
}
