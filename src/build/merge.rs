//! Making one dictionary of several.
//!
//! ```text
//! other     strings ─► functions, attributes ─► mappings ─► locations ─► stacks
//! into      each row is interned: the id of an equal row, or of a new one
//! Remap     by old row: the new id; then every column of a profile is renumbered by it
//! ```
//!
//! Tables come in the order in which they refer to each other, so a row is interned with its
//! references already renumbered, and equal rows of both dictionaries become one. Readers of
//! generations with tables in every profile, joined builders and `Profiles` that are added all go
//! through here.

use crate::build::interner::{Interner, Spot};
use crate::build::room::Full;
use crate::model::dictionary::{Attribute, Dictionary, Function, Line, Mapping};
use crate::model::id::{
    AttributeId, FunctionId, Id, LinkId, LocationId, MappingId, StackId, StringId,
};
use crate::model::profile::{Profile, ProfileParts};
use crate::model::{EntityRef, Resource, ResourceProfiles, Scope, ScopeProfiles};

/// Where the rows of one dictionary are in another: for each table, the new id of each row.
///
/// Ids past the end of the table they were of become "none".
#[derive(Clone, Debug, Default)]
pub(crate) struct Remap {
    pub(crate) strings: Vec<StringId>,
    pub(crate) mappings: Vec<MappingId>,
    pub(crate) functions: Vec<FunctionId>,
    pub(crate) locations: Vec<LocationId>,
    pub(crate) links: Vec<LinkId>,
    pub(crate) attributes: Vec<AttributeId>,
    pub(crate) stacks: Vec<StackId>,
}

/// Adds the rows of `other` that `into` has not, and tells where all of them are. Takes time in
/// proportion to `other` alone.
///
/// # Errors
///
/// `Full`, when the interner's limits are reached: then nothing of it is there.
pub(crate) fn absorb(into: &mut Interner, other: &Dictionary) -> Result<Remap, Full> {
    let mark = into.mark();
    let absorbed = absorb_tables(into, other);
    if absorbed.is_err() {
        into.return_to(mark);
    }
    absorbed
}

/// Table after table, each before those that refer to it.
fn absorb_tables(into: &mut Interner, other: &Dictionary) -> Result<Remap, Full> {
    let mut remap = Remap::default();
    remap.strings = other
        .strings()
        .iter()
        .enumerate()
        .map(|(row, _)| StringId(row as u32))
        .map(|id| into.bytes(other.strings().bytes(id)))
        .collect::<Result<_, _>>()?;
    remap.links = other.links().iter().map(|&link| into.link(link)).collect::<Result<_, _>>()?;
    remap.functions = other
        .functions()
        .iter()
        .map(|function| into.function(remap.function(function)))
        .collect::<Result<_, _>>()?;
    absorb_attributes(into, other, &mut remap)?;
    absorb_mappings(into, other, &mut remap)?;
    absorb_locations(into, other, &mut remap)?;
    absorb_stacks(into, other, &mut remap)?;
    Ok(remap)
}

/// Row 0 alone is none: what refers to another row has that attribute, though it may say nothing.
fn absorb_attributes(
    into: &mut Interner,
    other: &Dictionary,
    remap: &mut Remap,
) -> Result<(), Full> {
    remap.attributes.push(AttributeId::NONE);
    for attribute in other.attributes().iter().skip(1) {
        let attribute = remap.attribute(attribute);
        remap.attributes.push(into.attribute_row(attribute)?);
    }
    Ok(())
}

/// Attributes are a set here: sorted, each once, so that mappings equal but for their order are
/// one.
fn absorb_mappings(into: &mut Interner, other: &Dictionary, remap: &mut Remap) -> Result<(), Full> {
    let mut attributes = Vec::new();
    for (row, &mapping) in other.mappings().rows().iter().enumerate() {
        remap.attribute_set(other.mappings().attributes.row(row), &mut attributes);
        let mapping = Mapping { filename: remap.string(mapping.filename), ..mapping };
        remap.mappings.push(into.mapping(mapping, &attributes)?);
    }
    Ok(())
}

/// Row 0 stays row 0: an interner would make an empty location a row of its own.
fn absorb_locations(
    into: &mut Interner,
    other: &Dictionary,
    remap: &mut Remap,
) -> Result<(), Full> {
    let table = other.locations();
    let (mut lines, mut attributes) = (Vec::new(), Vec::new());
    remap.locations.push(LocationId::NONE);
    for id in (1..table.len() as u32).map(LocationId) {
        remap.attribute_set(table.attributes(id), &mut attributes);
        lines.clear();
        lines.extend(table.lines(id).iter().map(|line| remap.line(line)));
        let mapping = remap.mapping(table.mapping(id));
        let spot =
            Spot { mapping, address: table.address(id), lines: &lines, attributes: &attributes };
        remap.locations.push(into.location(spot)?);
    }
    Ok(())
}

fn absorb_stacks(into: &mut Interner, other: &Dictionary, remap: &mut Remap) -> Result<(), Full> {
    let mut locations = Vec::new();
    for stack in other.stacks().rows() {
        locations.clear();
        locations.extend(stack.iter().map(|&id| remap.location(id)));
        remap.stacks.push(into.stack(&locations)?);
    }
    Ok(())
}

/// The ids of one table led on by another remap; what neither has is "none".
fn follow<I: Id>(ids: &[I], next: &[I]) -> Vec<I> {
    ids.iter().map(|&id| at(next, id)).collect()
}

/// The new id of an old one.
#[inline]
fn at<I: Id>(ids: &[I], old: I) -> I {
    ids.get(old.number() as usize).copied().unwrap_or_default()
}

impl Remap {
    /// Where the rows are in a third dictionary, to which `next` leads from the second.
    ///
    /// For what is renumbered twice: one look-up an id instead of two.
    pub(crate) fn then(&self, next: &Self) -> Self {
        Self {
            strings: follow(&self.strings, &next.strings),
            mappings: follow(&self.mappings, &next.mappings),
            functions: follow(&self.functions, &next.functions),
            locations: follow(&self.locations, &next.locations),
            links: follow(&self.links, &next.links),
            attributes: follow(&self.attributes, &next.attributes),
            stacks: follow(&self.stacks, &next.stacks),
        }
    }

    #[inline]
    pub(crate) fn string(&self, id: StringId) -> StringId {
        at(&self.strings, id)
    }

    #[inline]
    pub(crate) fn stack(&self, id: StackId) -> StackId {
        at(&self.stacks, id)
    }

    #[inline]
    pub(crate) fn link(&self, id: LinkId) -> LinkId {
        at(&self.links, id)
    }

    pub(crate) fn function(&self, function: &Function) -> Function {
        Function {
            name: self.string(function.name),
            system_name: self.string(function.system_name),
            filename: self.string(function.filename),
            start_line: function.start_line,
        }
    }

    pub(crate) fn attribute(&self, attribute: &Attribute) -> Attribute {
        Attribute {
            key: self.string(attribute.key),
            value: attribute.value.map_texts(&mut |id| self.string(id)),
            unit: self.string(attribute.unit),
        }
    }

    #[inline]
    pub(crate) fn mapping(&self, id: MappingId) -> MappingId {
        at(&self.mappings, id)
    }

    #[inline]
    pub(crate) fn location(&self, id: LocationId) -> LocationId {
        at(&self.locations, id)
    }

    #[inline]
    pub(crate) fn line(&self, line: &Line) -> Line {
        Line { function: at(&self.functions, line.function), ..*line }
    }

    /// The new ids of some attributes, in their order.
    pub(crate) fn attributes(&self, old: &[AttributeId]) -> impl Iterator<Item = AttributeId> {
        old.iter().map(|&id| at(&self.attributes, id))
    }

    /// The new ids of a set of attributes, sorted.
    pub(crate) fn attribute_set(&self, old: &[AttributeId], new: &mut Vec<AttributeId>) {
        new.clear();
        new.extend(self.attributes(old));
        new.sort_unstable();
        new.dedup();
    }

    /// Renumbers the ids of everything a payload has beside its dictionary.
    pub(crate) fn resource_profiles(&self, resource: &mut ResourceProfiles) {
        let Some(resource) = resource.parts_mut() else { return };
        self.resource(&mut resource.resource);
        self.renumber(&mut resource.schema_url);
        for scope in resource.scopes.iter_mut().filter_map(ScopeProfiles::parts_mut) {
            self.scope(&mut scope.scope);
            self.renumber(&mut scope.schema_url);
            scope.profiles.iter_mut().for_each(|profile| self.profile(profile));
        }
    }

    /// Renumbers the ids of a resource.
    pub(crate) fn resource(&self, resource: &mut Resource) {
        map_resource(resource, &mut |id| self.string(id));
    }

    /// Renumbers the ids of a scope.
    pub(crate) fn scope(&self, scope: &mut Scope) {
        map_scope(scope, &mut |id| self.string(id));
    }

    /// Renumbers the ids of a profile and its samples.
    ///
    /// Linear in the samples. The values and times stay where they are.
    pub(crate) fn profile(&self, profile: &mut Profile) {
        let Some(profile) = profile.parts_mut() else { return };
        map_profile(profile, &mut |id| self.string(id));
        profile.attributes.iter_mut().for_each(|id| *id = at(&self.attributes, *id));
        let samples = &mut profile.samples;
        samples.stacks.iter_mut().for_each(|id| *id = self.stack(*id));
        samples.links.get_mut().into_iter().flatten().for_each(|id| *id = self.link(*id));
        samples.attributes.items.iter_mut().for_each(|id| *id = at(&self.attributes, *id));
        samples.stacktrace_ids.get_mut().into_iter().flatten().for_each(|id| self.renumber(id));
    }

    pub(crate) fn renumber(&self, id: &mut StringId) {
        *id = self.string(*id);
    }
}

/// Replaces every text of a resource.
pub(crate) fn map_resource(resource: &mut Resource, f: &mut impl FnMut(StringId) -> StringId) {
    resource.attributes.iter_mut().for_each(|pair| *pair = pair.map_texts(f));
    for entity in &mut resource.entity_refs {
        let EntityRef { schema_url, entity_type, id_keys, description_keys } = entity;
        let keys = id_keys.iter_mut().chain(description_keys);
        [schema_url, entity_type].into_iter().chain(keys).for_each(|id| *id = f(*id));
    }
}

/// Replaces every text of a scope.
pub(crate) fn map_scope(scope: &mut Scope, f: &mut impl FnMut(StringId) -> StringId) {
    let Scope { name, version, attributes, dropped_attributes_count: _ } = scope;
    [name, version].into_iter().for_each(|id| *id = f(*id));
    attributes.iter_mut().for_each(|pair| *pair = pair.map_texts(f));
}

/// Replaces every text of a profile, but for those of its samples and its attributes.
pub(crate) fn map_profile(profile: &mut ProfileParts, f: &mut impl FnMut(StringId) -> StringId) {
    profile.texts_mut().for_each(|id| *id = f(*id));
}
