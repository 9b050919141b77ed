//! Leaving out rows that nothing refers to.

use crate::build::merge::Remap;
use crate::model::dictionary::{Dictionary, Line, Mapping};
use crate::model::id::{Id, LocationId, StringId};
use crate::model::profile::{Profile, ValueType};
use crate::model::{Profiles, Resource, Scope};

/// Leaves out the rows of the dictionary that no profile refers to, directly or by way of others.
/// The rest keeps its order. Moves nothing when there are none. `used` are rows that stay anyway, with
/// all they refer to.
pub(crate) fn compact(profiles: &mut Profiles, mut used: Used) {
    used.mark(profiles);
    if used.all() {
        return;
    }
    let (dictionary, remap) = used.keep(&profiles.dictionary);
    profiles.dictionary = dictionary;
    profiles.resources.iter_mut().for_each(|resource| remap.resource_profiles(resource));
}

impl Profiles {
    /// Leaves out the rows of the dictionary that no profile refers to, directly or by way of
    /// others: the orphans that the specification asks writers not to send. The rest keeps its
    /// order. What a [`Builder`](crate::Builder) gives has none.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// # let file = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    /// let mut profiles = otlp_profiles::read(&file, &Default::default())?.profiles;
    /// let before = profiles.dictionary().strings().len();
    /// profiles.compact();
    /// assert!(profiles.dictionary().strings().len() <= before);
    /// # Ok(()) }
    /// ```
    pub fn compact(&mut self) {
        compact(self, Used::default());
    }
}

/// For each table, which of its rows are in use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Used {
    strings: Vec<bool>,
    mappings: Vec<bool>,
    functions: Vec<bool>,
    locations: Vec<bool>,
    links: Vec<bool>,
    attributes: Vec<bool>,
    stacks: Vec<bool>,
}

impl Used {
    /// Marks from the profiles inwards: what refers to a table is marked before the table is walked.
    fn mark(&mut self, profiles: &Profiles) {
        let dictionary = &profiles.dictionary;
        self.cover(dictionary);
        for resource in &profiles.resources {
            self.mark_resource(&resource.resource, resource.schema_url);
            for scope in &resource.scopes {
                self.mark_scope(&scope.scope, scope.schema_url);
                scope.profiles.iter().for_each(|profile| self.mark_profile(profile));
            }
        }
        self.mark_locations(dictionary);
        self.mark_texts(dictionary);
    }

    /// Makes room for a mark for every row. Row 0 of each table is in use.
    fn cover(&mut self, dictionary: &Dictionary) {
        let Self { strings, mappings, functions, locations, links, attributes, stacks } = self;
        for (marks, rows) in [
            (strings, dictionary.strings.len()),
            (mappings, dictionary.mappings.rows.len()),
            (functions, dictionary.functions.len()),
            (locations, dictionary.locations.len()),
            (links, dictionary.links.len()),
            (attributes, dictionary.attributes.len()),
            (stacks, dictionary.stacks.len()),
        ] {
            marks.resize(rows, false);
            marks[0] = true;
        }
    }

    /// All rows of a dictionary.
    pub(crate) fn all_of(dictionary: &Dictionary) -> Self {
        let mut used = Self::default();
        used.cover(dictionary);
        let Self { strings, mappings, functions, locations, links, attributes, stacks } = &mut used;
        for marks in [strings, mappings, functions, locations, links, attributes, stacks] {
            marks.fill(true);
        }
        used
    }

    /// Marks, in the dictionary that another was added to, the rows that are `used` in the other.
    pub(crate) fn mark_added(&mut self, dictionary: &Dictionary, used: &Self, remap: &Remap) {
        self.cover(dictionary);
        mark_some(&mut self.strings, &remap.strings, &used.strings);
        mark_some(&mut self.mappings, &remap.mappings, &used.mappings);
        mark_some(&mut self.functions, &remap.functions, &used.functions);
        mark_some(&mut self.locations, &remap.locations, &used.locations);
        mark_some(&mut self.links, &remap.links, &used.links);
        mark_some(&mut self.attributes, &remap.attributes, &used.attributes);
        mark_some(&mut self.stacks, &remap.stacks, &used.stacks);
    }

    fn mark_resource(&mut self, resource: &Resource, schema_url: StringId) {
        let text = &mut |id| mark(&mut self.strings, id);
        text(schema_url);
        resource.attributes.iter().for_each(|pair| pair.for_each_text(text));
        for entity in &resource.entity_refs {
            text(entity.schema_url);
            text(entity.entity_type);
            entity.id_keys.iter().chain(&entity.description_keys).for_each(|&key| text(key));
        }
    }

    fn mark_scope(&mut self, scope: &Scope, schema_url: StringId) {
        let text = &mut |id| mark(&mut self.strings, id);
        [schema_url, scope.name, scope.version].into_iter().for_each(&mut *text);
        scope.attributes.iter().for_each(|pair| pair.for_each_text(text));
    }

    fn mark_profile(&mut self, profile: &Profile) {
        for &ValueType { name, unit, .. } in
            profile.sample_types.iter().chain([&profile.period_type])
        {
            mark(&mut self.strings, name);
            mark(&mut self.strings, unit);
        }
        mark(&mut self.strings, profile.default_sample_type);
        mark(&mut self.strings, profile.original_payload_format);
        let samples = &profile.samples;
        mark_all(&mut self.attributes, &profile.attributes);
        mark_all(&mut self.attributes, &samples.attributes.items);
        mark_all(&mut self.stacks, &samples.stacks);
        mark_all(&mut self.links, &samples.links);
        mark_all(&mut self.strings, &samples.stacktrace_ids);
    }

    fn mark_locations(&mut self, dictionary: &Dictionary) {
        for row in rows(&self.stacks) {
            mark_all(&mut self.locations, dictionary.stacks.row(row));
        }
        for row in rows(&self.locations) {
            let id = LocationId(row as u32);
            mark(&mut self.mappings, dictionary.locations.mapping(id));
            mark_all(&mut self.attributes, dictionary.locations.attributes(id));
            dictionary
                .locations
                .lines(id)
                .iter()
                .for_each(|line| mark(&mut self.functions, line.function));
        }
        for row in rows(&self.mappings) {
            mark_all(&mut self.attributes, dictionary.mappings.attributes.row(row));
        }
    }

    fn mark_texts(&mut self, dictionary: &Dictionary) {
        let text = &mut |id| mark(&mut self.strings, id);
        for row in rows(&self.mappings) {
            text(dictionary.mappings.rows[row].filename);
        }
        for row in rows(&self.functions) {
            let function = &dictionary.functions[row];
            [function.name, function.system_name, function.filename]
                .into_iter()
                .for_each(&mut *text);
        }
        for row in rows(&self.attributes) {
            let attribute = &dictionary.attributes[row];
            text(attribute.key);
            text(attribute.unit);
            attribute.value.for_each_text(text);
        }
    }

    fn all(&self) -> bool {
        let Self { strings, mappings, functions, locations, links, attributes, stacks } = self;
        let tables = [strings, mappings, functions, locations, links, attributes, stacks];
        tables.into_iter().all(|table| table.iter().all(|&used| used))
    }

    /// The used rows of `old`, and where they are now.
    fn keep(&self, old: &Dictionary) -> (Dictionary, Remap) {
        let remap = Remap {
            strings: renumber(&self.strings),
            mappings: renumber(&self.mappings),
            functions: renumber(&self.functions),
            locations: renumber(&self.locations),
            links: renumber(&self.links),
            attributes: renumber(&self.attributes),
            stacks: renumber(&self.stacks),
        };
        let mut new = Dictionary::default();
        for row in rows(&self.strings).skip(1) {
            new.strings.push_bytes(old.strings.bytes(StringId(row as u32)));
        }
        new.links = rows(&self.links).map(|row| old.links[row]).collect();
        new.functions =
            rows(&self.functions).map(|row| remap.function(&old.functions[row])).collect();
        new.attributes =
            rows(&self.attributes).map(|row| remap.attribute(&old.attributes[row])).collect();
        self.keep_locations(old, &mut new, &remap);
        (new, remap)
    }

    fn keep_locations(&self, old: &Dictionary, new: &mut Dictionary, remap: &Remap) {
        let mut attributes = Vec::new();
        for row in rows(&self.mappings).skip(1) {
            let mapping = old.mappings.rows[row];
            remap.attribute_set(old.mappings.attributes.row(row), &mut attributes);
            new.mappings.attributes.push_at(new.mappings.rows.len(), &attributes);
            new.mappings.rows.push(Mapping { filename: remap.string(mapping.filename), ..mapping });
        }
        for id in rows(&self.locations).skip(1).map(|row| LocationId(row as u32)) {
            let table = &mut new.locations;
            let row = table.len();
            remap.attribute_set(old.locations.attributes(id), &mut attributes);
            table.attributes.push_at(row, &attributes);
            let lines = old.locations.lines(id).iter();
            table.lines.items.extend(
                lines.map(|line| Line { function: remap.functions[line.function.row()], ..*line }),
            );
            table.lines.end_row_at(row);
            table.addresses.push(old.locations.address(id));
            table.mappings.push(remap.mappings[old.locations.mapping(id).row()]);
        }
        for row in rows(&self.stacks).skip(1) {
            new.stacks.items.extend(old.stacks.row(row).iter().map(|id| remap.locations[id.row()]));
            new.stacks.end_row();
        }
    }
}

#[inline]
fn mark<I: Id>(used: &mut [bool], id: I) {
    used[id.number() as usize] = true;
}

fn mark_all<I: Id>(used: &mut [bool], ids: &[I]) {
    ids.iter().for_each(|&id| mark(used, id));
}

fn mark_some<I: Id>(marks: &mut [bool], ids: &[I], used: &[bool]) {
    ids.iter().zip(used).filter(|(_, used)| **used).for_each(|(&id, _)| mark(marks, id));
}

/// The rows in use.
fn rows(used: &[bool]) -> impl Iterator<Item = usize> {
    used.iter().enumerate().filter_map(|(row, &used)| used.then_some(row))
}

/// The new id of each row; none for those not in use.
fn renumber<I: Id>(used: &[bool]) -> Vec<I> {
    let mut next = 0;
    let number = |&used: &bool| {
        let row = if used { next } else { 0 };
        next += u32::from(used);
        I::from_row(row)
    };
    used.iter().map(number).collect()
}
