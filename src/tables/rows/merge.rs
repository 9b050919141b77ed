//! Merges several dictionaries into one.
//!
//! ```text
//! other     strings ─► functions, attributes ─► mappings ─► locations ─► stacks
//! into      intern each row: the id of an equal row, or of a new one
//! Remap     by old row: the new one; renumbers every column of a profile
//! ```
//!
//! Tables are merged in the order of their references, so a row is interned with its references already renumbered,
//! and equal rows of both dictionaries become one. Readers of generations with tables in every profile, joined
//! builders and added `Profiles` all use this module.

use crate::model::dictionary::{Attribute, Dictionary, Function, Line, Mapping};
use crate::model::id::{AttributeId, Id, LocationId, MappingId, StringId, TABLES};
use crate::model::profile::{Profile, ValueType};
use crate::model::value::KeyValue;
use crate::model::{EntityRef, ResourceParts, ResourceProfiles, Scope, ScopeProfiles};
use crate::tables::rows::budget::Full;
use crate::tables::rows::interner::Interner;
use crate::tables::rows::row::BorrowedLocation;

/// A mapping from the rows of one dictionary to those of another: for each table, the new number of each row.
///
/// Ids beyond the end of their table become row 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Remap(pub(crate) [Vec<u32>; TABLES]);

/// Adds the rows of `other` that `into` lacks, and returns the new number of each row. Takes time proportional to
/// `other` alone.
///
/// # Errors
///
/// `Full` if the interner's limits are reached. The interner is then unchanged.
pub(crate) fn absorb(into: &mut Interner, other: &Dictionary) -> Result<Remap, Full> {
    // `absorb_relocated` leaves the rows that it added before an error.
    let mark = into.savepoint();
    let absorbed = absorb_relocated(into, other, &mut InPlace);
    if absorbed.is_err() {
        into.roll_back(mark);
    }
    absorbed
}

/// Chooses the row that a mapping is interned as, and the addresses of its locations.
pub(crate) trait Relocate {
    /// Interns mapping `row` of the other dictionary, its ids already renumbered.
    fn mapping(
        &mut self,
        into: &mut Interner,
        row: usize,
        mapping: Mapping,
        attributes: &[AttributeId],
    ) -> Result<MappingId, Full>;

    /// Returns the new address of a location in mapping `row` of the other dictionary.
    fn address(&self, row: MappingId, address: u64) -> u64;
}

/// Keeps mappings and addresses.
struct InPlace;

impl Relocate for InPlace {
    fn mapping(
        &mut self,
        into: &mut Interner,
        _row: usize,
        mapping: Mapping,
        attributes: &[AttributeId],
    ) -> Result<MappingId, Full> {
        into.intern((mapping, attributes))
    }

    fn address(&self, _row: MappingId, address: u64) -> u64 {
        address
    }
}

/// Adds the rows of `other` as [`absorb`] does, but lets `relocate` place mappings and addresses. On an error, rows
/// added so far remain.
///
/// Adds each table before those that refer to it.
pub(crate) fn absorb_relocated(
    into: &mut Interner,
    other: &Dictionary,
    relocate: &mut impl Relocate,
) -> Result<Remap, Full> {
    let mut remap = Remap::default();
    let Dictionary { strings, mappings, functions, links, attributes, stacks, .. } = other;
    remap.fill(strings.len(), |_, row| into.string(strings.bytes(StringId(row as u32))))?;
    remap.fill(links.len(), |_, row| into.intern(links[row]))?;
    remap.fill(functions.len(), |remap, row| into.intern(remap.function(&functions[row])))?;
    // Not `Interner::attribute`, because an empty row in a list is an attribute; only row 0 means no attribute.
    remap.fill(attributes.len(), |remap, row| into.intern(remap.attribute(&attributes[row])))?;
    let mut set = Vec::new();
    remap.fill(mappings.rows.len(), |remap, row| {
        remap.attribute_set(mappings.attributes.row(row), &mut set);
        relocate.mapping(into, row, remap.mapping(&mappings.rows[row]), &set)
    })?;
    let (table, mut lines) = (&other.locations, Vec::new());
    remap.fill(table.len(), |remap, row| {
        let id = LocationId(row as u32);
        remap.attribute_set(table.attributes(id), &mut set);
        lines.clear();
        lines.extend(table.lines(id).iter().map(|line| remap.line(line)));
        let address = relocate.address(table.mapping(id), table.address(id));
        let mapping = remap.id(table.mapping(id));
        into.intern(BorrowedLocation { mapping, address, lines: &lines, attributes: &set })
    })?;
    let mut stack = Vec::new();
    remap.fill(stacks.len(), |remap, row| {
        stack.clear();
        stack.extend(remap.ids(stacks.row(row)));
        into.intern(&stack[..])
    })?;
    Ok(remap)
}

impl Remap {
    /// Fills in the new rows of a table, after those of the tables that it refers to. Row 0 stays row 0, even for
    /// locations and attributes, whose empty rows an interner would add as new rows.
    fn fill<I: Id>(
        &mut self,
        rows: usize,
        mut intern: impl FnMut(&Self, usize) -> Result<I, Full>,
    ) -> Result<(), Full> {
        // A table of only row 0 needs no entries, because missing ids become row 0.
        if rows > 1 {
            let mut new = Vec::with_capacity(rows);
            new.push(0);
            for row in 1..rows {
                new.push(intern(self, row)?.number());
            }
            self.0[I::TABLE] = new;
        }
        Ok(())
    }

    /// Composes this mapping with `next`, which leads from the second dictionary to a third.
    ///
    /// For rows that are renumbered twice: one lookup per id instead of two.
    pub(crate) fn then(&self, next: &Self) -> Self {
        let mut then = self.clone();
        for (rows, next) in then.0.iter_mut().zip(&next.0) {
            rows.iter_mut().for_each(|row| *row = at(next, *row));
        }
        then
    }

    /// Returns the new id of an old one.
    #[inline]
    pub(crate) fn id<I: Id>(&self, old: I) -> I {
        I::from_row(at(&self.0[I::TABLE], old.number()))
    }

    /// Returns the new ids of old ones, in the same order.
    pub(crate) fn ids<I: Id>(&self, old: &[I]) -> impl Iterator<Item = I> {
        old.iter().map(|&id| self.id(id))
    }

    /// Replaces old ids with new ones.
    pub(crate) fn renumber<'i, I: Id + 'i>(&self, ids: impl IntoIterator<Item = &'i mut I>) {
        ids.into_iter().for_each(|id| *id = self.id(*id));
    }

    /// Returns a function with new ids.
    pub(crate) fn function(&self, function: &Function) -> Function {
        Function {
            name: self.id(function.name),
            system_name: self.id(function.system_name),
            filename: self.id(function.filename),
            start_line: function.start_line,
        }
    }

    /// Returns an attribute with new ids.
    pub(crate) fn attribute(&self, attribute: &Attribute) -> Attribute {
        Attribute {
            key: self.id(attribute.key),
            value: attribute.value.map_texts(&mut |id| self.id(id)),
            unit: self.id(attribute.unit),
        }
    }

    /// Returns a value type with new ids.
    pub(crate) fn value_type(&self, old: ValueType) -> ValueType {
        ValueType { name: self.id(old.name), unit: self.id(old.unit), ..old }
    }

    /// Returns a mapping with new ids.
    pub(crate) fn mapping(&self, mapping: &Mapping) -> Mapping {
        Mapping { filename: self.id(mapping.filename), ..*mapping }
    }

    /// Returns a line with new ids.
    #[inline]
    pub(crate) fn line(&self, line: &Line) -> Line {
        Line { function: self.id(line.function), ..*line }
    }

    /// Stores the new ids of a set of attributes in `new`, sorted.
    pub(crate) fn attribute_set(&self, old: &[AttributeId], new: &mut Vec<AttributeId>) {
        new.clear();
        new.extend(self.ids(old));
        // [`Row`](super::row::Row) requires sorted attributes. Two old rows may have become one, so remove
        // duplicates.
        new.sort_unstable();
        new.dedup();
    }

    /// Renumbers all ids in a resource, its scopes and their profiles.
    pub(crate) fn resource_profiles(&self, resource: &mut ResourceProfiles) {
        self.around_profiles(resource);
        let scopes = resource.parts_mut().map(|resource| &mut resource.scopes[..]);
        for scope in scopes.unwrap_or_default().iter_mut().filter_map(ScopeProfiles::parts_mut) {
            scope.profiles.iter_mut().for_each(|profile| self.profile(profile));
        }
    }

    /// Renumbers the strings of a resource and its scopes, but not those of profiles.
    pub(crate) fn around_profiles(&self, resource: &mut ResourceProfiles) {
        let Some(resource) = resource.parts_mut() else { return };
        let ResourceParts { resource, schema_url, scopes } = resource;
        self.renumber([schema_url]);
        self.pairs(&mut resource.attributes);
        for entity in &mut resource.entity_refs {
            let EntityRef { schema_url, entity_type, id_keys, description_keys } = entity;
            self.renumber(
                [schema_url, entity_type].into_iter().chain(id_keys).chain(description_keys),
            );
        }
        for scope in scopes.iter_mut().filter_map(ScopeProfiles::parts_mut) {
            let Scope { name, version, attributes, dropped_attributes_count: _ } = &mut scope.scope;
            self.renumber([&mut scope.schema_url, name, version]);
            self.pairs(attributes);
        }
    }

    /// Renumbers the strings of pairs.
    fn pairs(&self, pairs: &mut [KeyValue]) {
        pairs.iter_mut().for_each(|pair| *pair = pair.map_texts(&mut |id| self.id(id)));
    }

    /// Renumbers the ids of a profile and its samples.
    ///
    /// Takes time linear in the samples. Values and times stay unchanged.
    pub(crate) fn profile(&self, profile: &mut Profile) {
        // A profile that is not allocated has no ids, and must not be allocated for this.
        let Some(profile) = profile.parts_mut() else { return };
        self.renumber(profile.texts_mut());
        self.renumber(profile.attributes.get_mut().into_iter().flatten());
        let samples = &mut profile.samples;
        self.renumber(&mut samples.stacks);
        self.renumber(samples.links.get_mut().into_iter().flatten());
        self.renumber(&mut samples.attributes.items);
        self.renumber(samples.stacktrace_ids.get_mut().into_iter().flatten());
    }
}

/// Returns the new number of a row.
#[inline]
fn at(rows: &[u32], old: u32) -> u32 {
    rows.get(old as usize).copied().unwrap_or_default()
}
