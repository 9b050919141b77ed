//! Finds the rows of a dictionary that some profiles reach, and extracts the dictionary of these rows.
//!
//! Requirement: time depends on the reached rows and not on the tables, so that splitting off 100,000 profiles of
//! one payload costs no more than their content. Clearing visits only reached rows, and the memory is reused.
//!
//! ```text
//! profile ─► stacks ─► locations ─► mappings ─► attributes ─► strings
//!    ├─────► attributes      └────► functions ──────────────────┘
//!    └─────► links
//! new      by row: 0, or reached; after `finish` the new row
//! rows     the reached rows, ascending
//! ```
//!
//! Each table is walked only after everything that refers to it was marked, so one pass over each suffices.

use std::mem::take;

use crate::model::dictionary::{Dictionary, Mappings};
use crate::model::id::{
    AttributeId, FunctionId, Id, LinkId, LocationId, MappingId, StackId, StringId, TABLES,
};
use crate::model::profile::Profile;
use crate::model::{Profiles, ResourceProfiles};
use crate::tables::rows::merge::Remap;

/// The reached rows of every table.
#[derive(Debug)]
pub(crate) struct Reach {
    /// For each row 0 if it is not reached. Otherwise a nonzero number, which is the new row after
    /// [`finish`](Self::finish).
    pub(crate) new: Remap,
    pub(crate) rows: Rows,
}

/// The reached rows of every table without row 0, ascending after [`Reach::finish`].
#[derive(Debug)]
pub(crate) struct Rows([Vec<u32>; TABLES]);

impl Rows {
    /// Returns the reached rows of one table.
    pub(crate) fn of<I: Id>(&self) -> &[u32] {
        &self.0[I::TABLE]
    }
}

impl Reach {
    /// Creates an empty set of reached rows. Allocates all memory that is needed.
    pub(crate) fn of(dictionary: &Dictionary) -> Self {
        // Row 0 is always kept, so a table without other rows needs no memory.
        let none = |rows: usize| if rows < 2 { Vec::new() } else { vec![0; rows] };
        let list = |rows: usize| Vec::with_capacity(rows.saturating_sub(1));
        Self { new: Remap(dictionary.rows().map(none)), rows: Rows(dictionary.rows().map(list)) }
    }

    /// Finds all rows that some profiles reach.
    pub(crate) fn by<'p>(
        dictionary: &Dictionary,
        profiles: impl IntoIterator<Item = &'p Profile>,
    ) -> Self {
        let mut reach = Self::of(dictionary);
        profiles.into_iter().for_each(|profile| reach.profile(profile));
        reach.finish(dictionary);
        reach
    }

    /// Finds the rows that a payload reaches, without strings, and with all mappings, because pprof represents
    /// mappings even if unreferenced. `uses` counts the uses of each location in the stacks, which saves another
    /// walk over the stacks.
    pub(crate) fn rows_of_payload(profiles: &Profiles, uses: &[u32]) -> Rows {
        let dictionary = &profiles.dictionary;
        let mut reach = Self::of(dictionary);
        profiles.iter().for_each(|profile| reach.profile(profile));
        (1..dictionary.mappings.rows.len() as u32).for_each(|row| reach.mark(MappingId(row)));
        let used = (0..).zip(uses).filter(|(_, uses)| **uses > 0);
        used.for_each(|(row, _)| reach.mark(LocationId(row)));
        reach.locations(dictionary);
        reach.number();
        reach.rows
    }

    /// Returns whether a row is marked.
    #[cfg(feature = "columns")]
    pub(crate) fn reaches<I: Id>(&self, id: I) -> bool {
        self.new.0[I::TABLE].get(id.number() as usize).is_some_and(|new| *new != 0)
    }

    /// Marks a row.
    #[inline]
    pub(crate) fn mark<I: Id>(&mut self, id: I) {
        self.mark_row(I::TABLE, id.number());
    }

    /// Marks a row of a table, except row 0.
    #[inline]
    fn mark_row(&mut self, table: usize, row: u32) {
        // A table of only row 0 has no entries here.
        if let Some(new) = self.new.0[table].get_mut(row as usize)
            && *new == 0
            && row != 0
        {
            // Any nonzero number is a mark; `number` replaces it.
            *new = row;
            self.rows.0[table].push(row);
        }
    }

    /// Marks every row that `other` does not reach.
    pub(crate) fn mark_unreached(&mut self, other: &Self) {
        for (table, rows) in other.new.0.iter().enumerate() {
            let unreached = (0..).zip(rows).filter(|(_, new)| **new == 0);
            unreached.for_each(|(row, _)| self.mark_row(table, row));
        }
    }

    /// Marks several rows.
    fn mark_all<I: Id>(&mut self, ids: &[I]) {
        ids.iter().for_each(|&id| self.mark(id));
    }

    /// Marks the rows that a profile refers to directly.
    pub(crate) fn profile(&mut self, profile: &Profile) {
        profile.texts().for_each(|id| self.mark(id));
        let samples = &profile.samples;
        self.mark_all(&profile.attributes);
        self.mark_all(&samples.attributes.items);
        self.mark_all(&samples.stacks);
        self.mark_all(&samples.links);
        self.mark_all(&samples.stacktrace_ids);
    }

    /// Marks the strings of resources and scopes.
    pub(crate) fn tree(&mut self, resources: &[ResourceProfiles]) {
        let text = &mut |id| self.mark(id);
        for resource in resources {
            text(resource.schema_url);
            resource.resource.attributes.iter().for_each(|pair| pair.for_each_text(text));
            for entity in &resource.resource.entity_refs {
                text(entity.schema_url);
                text(entity.entity_type);
                entity.id_keys.iter().chain(&entity.description_keys).for_each(|&key| text(key));
            }
            for scope in &resource.scopes {
                text(scope.schema_url);
                text(scope.scope.name);
                text(scope.scope.version);
                scope.scope.attributes.iter().for_each(|pair| pair.for_each_text(text));
            }
        }
    }

    /// Marks the new rows of another dictionary.
    pub(crate) fn rows_of(&mut self, remap: &Remap) {
        for (table, rows) in remap.0.iter().enumerate() {
            rows.iter().for_each(|&row| self.mark_row(table, row));
        }
    }

    /// Marks the rows that marked rows refer to, then numbers all marked rows.
    pub(crate) fn finish(&mut self, dictionary: &Dictionary) {
        self.each::<StackId>(|reach, row| reach.mark_all(dictionary.stacks.row(row)));
        self.locations(dictionary);
        self.texts(dictionary);
        self.number();
    }

    /// Sorts the marked rows and numbers them. If they are many, walking the whole table is faster than sorting
    /// them.
    fn number(&mut self) {
        for (new, rows) in self.new.0.iter_mut().zip(&mut self.rows.0) {
            if rows.len() > new.len() / 16 {
                rows.clear();
                for (row, new) in (0..).zip(new).filter(|(_, new)| **new != 0) {
                    rows.push(row);
                    // Counts from 1, because row 0 of the new table is the empty row.
                    *new = rows.len() as u32;
                }
            } else {
                rows.sort_unstable();
                name(new, rows);
            }
        }
    }

    /// Marks the references of locations and mappings. Each table is walked after the tables that refer to it.
    fn locations(&mut self, dictionary: &Dictionary) {
        let Dictionary { locations, mappings, .. } = dictionary;
        self.each::<LocationId>(|reach, row| {
            reach.mark(locations.mappings[row]);
            reach.mark_all(locations.attributes.row(row));
            locations.lines.row(row).iter().for_each(|line| reach.mark(line.function));
        });
        self.each::<MappingId>(|reach, row| reach.mark_all(mappings.attributes.row(row)));
    }

    /// Marks the strings of all tables. Runs last, because nearly every table refers to strings.
    fn texts(&mut self, dictionary: &Dictionary) {
        self.each::<MappingId>(|reach, row| reach.mark(dictionary.mappings.rows[row].filename));
        self.each::<FunctionId>(|reach, row| reach.mark_all(&dictionary.functions[row].texts()));
        self.each::<AttributeId>(|reach, row| {
            dictionary.attributes[row].for_each_text(&mut |id| reach.mark(id));
        });
    }

    /// Calls `f` for every marked row of a table. The list is taken out meanwhile; a row never refers to another
    /// row of its table.
    fn each<I: Id>(&mut self, mut f: impl FnMut(&mut Self, usize)) {
        let rows = take(&mut self.rows.0[I::TABLE]);
        rows.iter().for_each(|&row| f(self, row as usize));
        self.rows.0[I::TABLE] = rows;
    }

    /// Returns whether every row of every table is reached.
    ///
    /// If so, the dictionary needs no copy. New numbers ascend, so the last one shows whether all rows have one.
    pub(crate) fn is_all(&self) -> bool {
        let is_all = |new: &Vec<u32>| new.last().is_none_or(|&last| last as usize + 1 == new.len());
        self.new.0.iter().all(is_all)
    }

    /// Moves one of the mappings before the others.
    ///
    /// The other mappings keep their order. Ids are renumbered.
    pub(crate) fn put_first(&mut self, mapping: MappingId) {
        let mut rows = take(&mut self.rows.0[MappingId::TABLE]);
        if let Some(at) = rows.iter().position(|row| *row == mapping.0) {
            rows[..=at].rotate_right(1);
        }
        self.order::<MappingId>(rows);
    }

    /// Sets another order for the reached rows of a table.
    pub(crate) fn order<I: Id>(&mut self, rows: Vec<u32>) {
        name(&mut self.new.0[I::TABLE], &rows);
        self.rows.0[I::TABLE] = rows;
    }

    /// Returns copies of profiles with new ids, and the dictionary of the reached rows.
    pub(crate) fn apart(
        &self,
        old: &Dictionary,
        profiles: &[&Profile],
    ) -> (Dictionary, Vec<Profile>) {
        let renumbered = profiles.iter().map(|profile| {
            let mut profile = (*profile).clone();
            self.new.profile(&mut profile);
            profile
        });
        (self.keep(old), renumbered.collect())
    }

    /// Returns the dictionary of the reached rows, in their order.
    ///
    /// New rows have the order of `rows`, which callers may have changed, after row 0.
    pub(crate) fn keep(&self, old: &Dictionary) -> Dictionary {
        let Self { new: remap, rows, .. } = self;
        let mut new = Dictionary::default();
        let texts = rows.of::<StringId>().iter().map(|&row| StringId(row));
        let bytes = texts.clone().filter_map(|id| old.strings.range(id)).map(|range| range.len());
        new.strings.reserve(texts.len(), bytes.sum());
        texts.for_each(|id| _ = new.strings.push_from(&old.strings, id));
        new.links.extend(picked(rows.of::<LinkId>(), &old.links).copied());
        let functions = picked(rows.of::<FunctionId>(), &old.functions);
        new.functions.reserve(rows.of::<FunctionId>().len());
        new.functions.extend(functions.map(|row| remap.function(row)));
        let attributes = picked(rows.of::<AttributeId>(), &old.attributes);
        new.attributes.reserve(rows.of::<AttributeId>().len());
        new.attributes.extend(attributes.map(|row| remap.attribute(row)));
        for &row in rows.of::<MappingId>() {
            let (Mappings { rows, attributes }, row) = (&mut new.mappings, row as usize);
            attributes.items.extend(remap.ids(old.mappings.attributes.row(row)));
            // The mapping is pushed below, so the length is its row.
            attributes.end_row_at(rows.len());
            rows.push(remap.mapping(&old.mappings.rows[row]));
        }
        self.keep_locations(old, &mut new);
        new
    }

    /// Copies locations and stacks by column, with one reservation for each column.
    fn keep_locations(&self, old: &Dictionary, new: &mut Dictionary) {
        let Self { new: remap, rows, .. } = self;
        let (table, locations) = (&mut new.locations, &old.locations);
        let ids = rows.of::<LocationId>().iter().map(|&row| LocationId(row));
        table.mappings.reserve(ids.len());
        table.addresses.reserve(ids.len());
        for id in ids {
            let row = table.len();
            table.attributes.items.extend(remap.ids(locations.attributes(id)));
            table.attributes.end_row_at(row);
            table.lines.items.extend(locations.lines(id).iter().map(|line| remap.line(line)));
            table.lines.end_row_at(row);
            table.addresses.push(locations.address(id));
            table.mappings.push(remap.id(locations.mapping(id)));
        }
        let stacks = rows.of::<StackId>().iter().map(|&row| old.stacks.row(row as usize));
        new.stacks.ends.reserve(stacks.len());
        new.stacks.items.reserve(stacks.clone().map(<[_]>::len).sum());
        for stack in stacks {
            new.stacks.items.extend(remap.ids(stack));
            new.stacks.end_row();
        }
    }

    /// Clears the set of reached rows.
    pub(crate) fn clear(&mut self) {
        for (new, rows) in self.new.0.iter_mut().zip(&mut self.rows.0) {
            for row in rows.drain(..) {
                if let Some(new) = new.get_mut(row as usize) {
                    *new = 0;
                }
            }
        }
    }
}

/// Iterates over the given rows of a table.
fn picked<'t, T>(rows: &[u32], table: &'t [T]) -> impl Iterator<Item = &'t T> {
    rows.iter().filter_map(|&row| table.get(row as usize))
}

/// Numbers rows from 1 in the order of `rows`.
fn name(new: &mut [u32], rows: &[u32]) {
    for (&row, number) in rows.iter().zip(1..) {
        if let Some(new) = new.get_mut(row as usize) {
            *new = number;
        }
    }
}
