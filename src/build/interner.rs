//! A dictionary that holds every row once.
//!
//! One way in for every row that is made: by builders, by readers without tables, by merging. Cost
//! is a hash of the row and, where it is known, one comparison; no key is stored beside the
//! columns.

use std::hash::{Hash, Hasher};

use crate::build::room::{Full, Room, at_most, column, heap_bytes};
use crate::build::seed::{Seed, write_ids};
use crate::limits::Limits;
use crate::model::dictionary::{Attribute, Dictionary, Function, Line, Link, Locations, Mapping};
use crate::model::id::{
    AttributeId, FunctionId, LinkId, LocationId, MappingId, StackId, StringId, TABLES,
};
use crate::model::row_index::RowIndex;
use crate::model::strings::Strings;

/// A dictionary that holds every row once: a row that is already there is found, not added.
///
/// ```text
/// string("main") ─► hash ─► RowIndex: row 7? ─► dictionary.strings[7] == "main"? ─► StringId(7)
/// ```
///
/// Its methods trust the ids they are given to be rows of its own tables, and lists of attributes
/// to be sorted, so that equal sets are equal lists.
#[derive(Clone, Debug)]
pub(crate) struct Interner {
    /// Rows are only added, so an id stays the same until it is [reused](Self::reuse).
    pub(crate) dictionary: Dictionary,
    /// What the limits leave.
    pub(crate) room: Room,
    /// Of all hashes: what is interned comes from strangers.
    pub(crate) seed: Seed,
    /// By table, the rows by their hashes; row 0 among them, but for strings and locations.
    strings: RowIndex,
    mappings: RowIndex,
    functions: RowIndex,
    locations: RowIndex,
    links: RowIndex,
    attributes: RowIndex,
    stacks: RowIndex,
}

/// How many rows each table of an interner had at some time, and what its limits left.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    rows: [usize; TABLES],
    room: Room,
}

/// A location as it is looked up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spot<'a> {
    /// None where the binary is not known.
    pub(crate) mapping: MappingId,
    pub(crate) address: u64,
    pub(crate) lines: &'a [Line],
    pub(crate) attributes: &'a [AttributeId],
}

impl Spot<'_> {
    /// Whether row `id` is this location.
    fn is_at(&self, id: LocationId, table: &Locations) -> bool {
        table.addresses[id.row()] == self.address
            && table.mappings[id.row()] == self.mapping
            && table.lines(id) == self.lines
            && table.attributes(id) == self.attributes
    }
}

impl Default for Interner {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl Interner {
    pub(crate) fn new(limits: Limits) -> Self {
        let mut interner = Self {
            dictionary: Dictionary::default(),
            room: Room::new(limits),
            seed: Seed::default(),
            strings: RowIndex::default(),
            mappings: RowIndex::default(),
            functions: RowIndex::default(),
            locations: RowIndex::default(),
            links: RowIndex::default(),
            attributes: RowIndex::default(),
            stacks: RowIndex::default(),
        };
        interner.index_row_0();
        interner
    }

    /// Lets the empty rows be found like any other; but not that of the locations, because an empty
    /// location in a stack is a frame, if an odd one, and row 0 is none; nor that of the attributes, because one
    /// without key and value in a list is an attribute of its own, as it is told before 1.8.
    fn index_row_0(&mut self) {
        let seed = &self.seed;
        self.mappings.add(hash_mapping(seed, &Mapping::default(), &[]), 0);
        self.functions.add(hash_function(seed, &Function::default()), 0);
        self.links.add(seed.of(&Link::default()), 0);
        self.stacks.add(seed.ids::<LocationId>(&[]), 0);
    }

    /// Forgets everything, keeps the memory. `dictionary` is the one to go on with.
    pub(crate) fn reuse(&mut self, mut dictionary: Dictionary) {
        // Every row but the empty ones.
        dictionary.truncate([1; TABLES]);
        self.dictionary = dictionary;
        self.room.clear();
        self.indices().into_iter().for_each(RowIndex::clear);
        self.index_row_0();
    }

    /// Where it is now, to [return](Self::return_to) to.
    pub(crate) fn mark(&self) -> Mark {
        Mark { rows: self.dictionary.rows(), room: self.room.clone() }
    }

    /// Forgets the rows that came after a mark, and what they cost. Linear in what there is: it is for what was
    /// refused halfway.
    pub(crate) fn return_to(&mut self, mark: Mark) {
        self.dictionary.truncate(mark.rows);
        for (index, rows) in self.indices().into_iter().zip(mark.rows) {
            index.truncate(rows);
        }
        self.room = mark.room;
    }

    /// The indices of the tables, in the order of the dictionary.
    fn indices(&mut self) -> [&mut RowIndex; TABLES] {
        let Self { strings, mappings, functions, locations, links, attributes, stacks, .. } = self;
        [strings, mappings, functions, locations, links, attributes, stacks]
    }

    #[inline]
    pub(crate) fn string(&mut self, text: &str) -> Result<StringId, Full> {
        if text.is_empty() {
            return Ok(StringId::NONE);
        }
        let hash = self.seed.bytes(text.as_bytes());
        match self.find_string(hash, text.as_bytes()) {
            Some(id) => Ok(id),
            None => self.add_string(hash, text.len(), |strings| strings.push(text)),
        }
    }

    /// A string that need not be UTF-8.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<StringId, Full> {
        if bytes.is_empty() {
            return Ok(StringId::NONE);
        }
        let hash = self.seed.bytes(bytes);
        match self.find_string(hash, bytes) {
            Some(id) => Ok(id),
            None => self.add_string(hash, bytes.len(), |strings| strings.push_bytes(bytes)),
        }
    }

    /// By the bytes of the source, so that two broken texts that look the same stay two.
    #[inline]
    fn find_string(&self, hash: u64, bytes: &[u8]) -> Option<StringId> {
        let strings = &self.dictionary.strings;
        self.strings.find(hash, |row| strings.bytes(StringId(row)) == bytes).map(StringId)
    }

    /// Off the path of strings that are there, which are most.
    #[cold]
    fn add_string(
        &mut self,
        hash: u64,
        bytes: usize,
        push: impl FnOnce(&mut Strings) -> StringId,
    ) -> Result<StringId, Full> {
        let Self { dictionary, room, strings: index, .. } = self;
        let strings = &mut dictionary.strings;
        room.string(strings.len(), strings.text_len(), bytes)?;
        let id = push(strings);
        index.add(hash, id.0);
        Ok(id)
    }

    /// `attributes` are sorted, so that equal sets are one row.
    pub(crate) fn mapping(
        &mut self,
        mapping: Mapping,
        attributes: &[AttributeId],
    ) -> Result<MappingId, Full> {
        let Self { dictionary, room, seed, mappings: index, .. } = self;
        let table = &mut dictionary.mappings;
        let hash = hash_mapping(seed, &mapping, attributes);
        let is_it = |row| {
            table.rows[row as usize] == mapping && table.attributes.row(row as usize) == attributes
        };
        if let Some(row) = index.find(hash, is_it) {
            return Ok(MappingId(row));
        }
        room.row(table.rows.len(), size_of::<Mapping>() + size_of_val(attributes))?;
        column(table.attributes.items.len(), attributes.len())?;
        let id = MappingId(table.rows.len() as u32);
        table.rows.push(mapping);
        table.attributes.push_at(id.row(), attributes);
        index.add(hash, id.0);
        Ok(id)
    }

    /// The row of a function, whose texts are interned already.
    pub(crate) fn function(&mut self, function: Function) -> Result<FunctionId, Full> {
        let Self { dictionary, room, seed, functions: index, .. } = self;
        let hash = hash_function(seed, &function);
        intern_row(&mut dictionary.functions, index, hash, room, function, 0).map(FunctionId)
    }

    pub(crate) fn link(&mut self, link: Link) -> Result<LinkId, Full> {
        let Self { dictionary, room, seed, links: index, .. } = self;
        let hash = seed.of(&link);
        intern_row(&mut dictionary.links, index, hash, room, link, 0).map(LinkId)
    }

    /// The row of a key, a value and a unit; none for an attribute that has none of them.
    pub(crate) fn attribute(&mut self, attribute: Attribute) -> Result<AttributeId, Full> {
        if attribute == Attribute::default() {
            return Ok(AttributeId::NONE);
        }
        self.attribute_row(attribute)
    }

    /// The row of an attribute that is one even if it says nothing: such as are in tables that were read.
    pub(crate) fn attribute_row(&mut self, attribute: Attribute) -> Result<AttributeId, Full> {
        let Self { dictionary, room, seed, attributes: index, .. } = self;
        let table = &mut dictionary.attributes;
        let hash = seed.of(&attribute);
        let heap = heap_bytes(&attribute.value);
        intern_row(table, index, hash, room, attribute, heap).map(AttributeId)
    }

    /// The row of a location; lines and attributes are copied only into a new one.
    pub(crate) fn location(&mut self, spot: Spot<'_>) -> Result<LocationId, Full> {
        let Self { dictionary, room, seed, locations: index, .. } = self;
        let table = &mut dictionary.locations;
        let hash = hash_location(seed, spot);
        if let Some(row) = index.find(hash, |row| spot.is_at(LocationId(row), table)) {
            return Ok(LocationId(row));
        }
        let id = add_location(table, room, spot)?;
        index.add(hash, id.0);
        Ok(id)
    }

    /// A stack, leaf first.
    #[inline]
    pub(crate) fn stack(&mut self, locations: &[LocationId]) -> Result<StackId, Full> {
        let hash = self.seed.ids(locations);
        let stacks = &self.dictionary.stacks;
        let is_it = |row| same_ids(stacks.row(row as usize), locations);
        match self.stacks.find(hash, is_it) {
            Some(row) => Ok(StackId(row)),
            None => self.add_stack(hash, locations),
        }
    }

    /// Adds a stack that is not there.
    #[cold]
    fn add_stack(&mut self, hash: u64, locations: &[LocationId]) -> Result<StackId, Full> {
        let Self { dictionary, room, stacks: index, .. } = self;
        let stacks = &mut dictionary.stacks;
        room.stack(locations.len())?;
        column(stacks.items.len(), locations.len())?;
        room.row(stacks.len(), size_of_val(locations) + size_of::<u32>())?;
        let id = StackId(stacks.len() as u32);
        stacks.items.extend_from_slice(locations);
        stacks.end_row();
        index.add(hash, id.0);
        Ok(id)
    }
}

/// All limits are asked first, so that a location that does not fit leaves nothing behind.
fn add_location(
    table: &mut Locations,
    room: &mut Room,
    spot: Spot<'_>,
) -> Result<LocationId, Full> {
    let lines = spot.lines.len();
    at_most("max_lines_per_location", room.limits.max_lines_per_location, lines as u64)?;
    column(table.lines.items.len(), lines)?;
    column(table.attributes.items.len(), spot.attributes.len())?;
    room.row(table.len(), 20 + size_of_val(spot.lines) + size_of_val(spot.attributes))?;
    let id = LocationId(table.len() as u32);
    table.mappings.push(spot.mapping);
    table.addresses.push(spot.address);
    table.lines.items.extend_from_slice(spot.lines);
    table.lines.end_row_at(id.row());
    table.attributes.push_at(id.row(), spot.attributes);
    Ok(id)
}

/// Finds or adds a row of a table whose rows are all there is to it; `heap` is what it owns beside.
fn intern_row<T: Eq>(
    table: &mut Vec<T>,
    index: &mut RowIndex,
    hash: u64,
    room: &mut Room,
    row: T,
    heap: usize,
) -> Result<u32, Full> {
    if let Some(found) = index.find(hash, |at| table[at as usize] == row) {
        return Ok(found);
    }
    room.row(table.len(), size_of::<T>() + heap)?;
    let at = table.len() as u32;
    table.push(row);
    index.add(hash, at);
    Ok(at)
}

fn hash_mapping(seed: &Seed, mapping: &Mapping, attributes: &[AttributeId]) -> u64 {
    let mut hasher = seed.hasher();
    mapping.hash(&mut hasher);
    write_ids(&mut hasher, attributes);
    hasher.finish()
}

fn hash_function(seed: &Seed, function: &Function) -> u64 {
    let mut hasher = seed.hasher();
    let names = u128::from(function.name.0) | u128::from(function.system_name.0) << 32;
    hasher.write_u128(names | u128::from(function.filename.0) << 64);
    hasher.write_u64(function.start_line as u64);
    hasher.finish()
}

/// Words of 16 bytes at a time: the hash takes them as fast as words of eight.
fn hash_location(seed: &Seed, spot: Spot<'_>) -> u64 {
    let mut hasher = seed.hasher();
    hasher.write_u128(u128::from(spot.address) | u128::from(spot.mapping.0) << 64);
    for &Line { function, line, column } in spot.lines {
        let place = line as u64 ^ (column as u64).rotate_left(32);
        hasher.write_u128(u128::from(place) | u128::from(function.0) << 64);
    }
    write_ids(&mut hasher, spot.attributes);
    hasher.finish()
}

/// Equality without a branch per id: the compiler compares many at once.
#[inline]
fn same_ids(a: &[LocationId], b: &[LocationId]) -> bool {
    let differ = |differ, (a, b): (&LocationId, &LocationId)| differ | (a.0 ^ b.0);
    a.len() == b.len() && a.iter().zip(b).fold(0, differ) == 0
}
