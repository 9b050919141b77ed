//! Leaving out rows that nothing refers to.

use crate::build::merge::Remap;
use crate::model::Profiles;
use crate::model::dictionary::{Dictionary, Line, Mapping};
use crate::model::id::{Id, LocationId, StringId};
use crate::model::profile::{Profile, ValueType};

/// Leaves out the rows of the dictionary that no profile refers to, directly or by way of others.
/// The rest keeps its order. Moves nothing when there are none.
pub(crate) fn compact(profiles: &mut Profiles) {
    let used = Used::by(profiles);
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
        compact(self);
    }
}

/// For each table, which of its rows are in use.
struct Used {
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
    fn by(profiles: &Profiles) -> Self {
        let dictionary = &profiles.dictionary;
        let mut used = Self {
            strings: row_0_of(dictionary.strings.len()),
            mappings: row_0_of(dictionary.mappings.rows.len()),
            functions: row_0_of(dictionary.functions.len()),
            locations: row_0_of(dictionary.locations.len()),
            links: row_0_of(dictionary.links.len()),
            attributes: row_0_of(dictionary.attributes.len()),
            stacks: row_0_of(dictionary.stacks.len()),
        };
        used.mark_tree(profiles);
        profiles.iter().for_each(|profile| used.mark_profile(profile));
        used.mark_locations(dictionary);
        used.mark_texts(dictionary);
        used
    }

    fn mark_tree(&mut self, profiles: &Profiles) {
        let text = &mut |id| mark(&mut self.strings, id);
        for resource in &profiles.resources {
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

/// Marks for a table of this many rows, row 0 in use.
fn row_0_of(rows: usize) -> Vec<bool> {
    let mut used = vec![false; rows];
    used[0] = true;
    used
}

#[inline]
fn mark<I: Id>(used: &mut [bool], id: I) {
    used[id.number() as usize] = true;
}

fn mark_all<I: Id>(used: &mut [bool], ids: &[I]) {
    ids.iter().for_each(|&id| mark(used, id));
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
