//! The baseline for `check`: decodes with prost, then performs the same checks on its structs.

use std::collections::HashSet;
use std::hash::Hash;

use otlp_profiles::proto::prost::Message;
use otlp_profiles::proto::v1_10::{Profile, ProfilesData, ProfilesDictionary, Sample};

/// Counts findings on the wire format, UTF-8, every reference, first rows, shapes, ranges and keys.
pub fn basic(payload: &[u8]) -> usize {
    let Ok(data) = ProfilesData::decode(payload) else { return 1 };
    let Some(tables) = &data.dictionary else { return 1 };
    dictionary(tables) + profiles(&data).map(|one| profile(one, tables)).sum::<usize>()
}

/// The same, plus duplicate rows, unused rows and duplicate samples.
pub fn with_duplicates_and_orphans(payload: &[u8]) -> usize {
    let Ok(data) = ProfilesData::decode(payload) else { return 1 };
    let Some(tables) = &data.dictionary else { return 1 };
    let found = dictionary(tables) + profiles(&data).map(|one| profile(one, tables)).sum::<usize>();
    found + duplicates(tables) + profiles(&data).map(equal_samples).sum::<usize>() + orphans(&data)
}

fn profiles(data: &ProfilesData) -> impl Iterator<Item = &Profile> {
    let scopes = data.resource_profiles.iter().flat_map(|resource| &resource.scope_profiles);
    scopes.flat_map(|scope| &scope.profiles)
}

fn out(index: i32, len: usize) -> usize {
    usize::from(usize::try_from(index).map_or(true, |index| index >= len))
}

fn attributes(list: &[i32], tables: &ProfilesDictionary) -> usize {
    let mut keys = HashSet::new();
    let mut found = 0;
    for index in list {
        let row = usize::try_from(*index).ok().and_then(|row| tables.attribute_table.get(row));
        match row {
            None => found += 1,
            Some(row) => found += usize::from(!keys.insert(row.key_strindex)),
        }
    }
    found
}

fn dictionary(tables: &ProfilesDictionary) -> usize {
    let strings = tables.string_table.len();
    let mut found = usize::from(tables.string_table.first().is_none_or(|text| !text.is_empty()));
    for mapping in &tables.mapping_table {
        found += out(mapping.filename_strindex, strings);
        found += usize::from(mapping.memory_start > mapping.memory_limit);
        found += attributes(&mapping.attribute_indices, tables);
    }
    for location in &tables.location_table {
        found += out(location.mapping_index, tables.mapping_table.len());
        found += attributes(&location.attribute_indices, tables);
        for line in &location.lines {
            found += out(line.function_index, tables.function_table.len());
            found += usize::from(line.line < 0 || line.column < 0);
        }
    }
    for function in &tables.function_table {
        found += out(function.name_strindex, strings);
        found += out(function.system_name_strindex, strings);
        found += out(function.filename_strindex, strings);
        found += usize::from(function.start_line < 0);
    }
    for link in tables.link_table.iter().skip(1) {
        found += usize::from(link.trace_id.len() != 16 || link.span_id.len() != 8);
    }
    for attribute in &tables.attribute_table {
        found += out(attribute.key_strindex, strings) + out(attribute.unit_strindex, strings);
    }
    for stack in &tables.stack_table {
        let locations = tables.location_table.len();
        found += stack.location_indices.iter().map(|row| out(*row, locations)).sum::<usize>();
    }
    found
}

fn profile(profile: &Profile, tables: &ProfilesDictionary) -> usize {
    let mut found = attributes(&profile.attribute_indices, tables);
    for of in profile.sample_type.iter().chain(&profile.period_type) {
        let strings = tables.string_table.len();
        found += out(of.type_strindex, strings) + out(of.unit_strindex, strings);
    }
    let range =
        profile.time_unix_nano..profile.time_unix_nano.saturating_add(profile.duration_nano);
    let shape =
        |sample: &Sample| (sample.values.is_empty(), sample.timestamps_unix_nano.is_empty());
    let first = profile.samples.first().map(shape);
    for sample in &profile.samples {
        found += out(sample.stack_index, tables.stack_table.len());
        found += out(sample.link_index, tables.link_table.len());
        found += attributes(&sample.attribute_indices, tables);
        found += usize::from(Some(shape(sample)) != first);
        let (values, times) = (sample.values.len(), sample.timestamps_unix_nano.len());
        found += usize::from(values + times == 0 || (values > 0 && times > 0 && values != times));
        found += sample.timestamps_unix_nano.iter().filter(|time| !range.contains(time)).count();
    }
    found
}

fn equal<K: Hash + Eq>(rows: impl ExactSizeIterator<Item = K>) -> usize {
    let mut met = HashSet::with_capacity(rows.len());
    rows.map(|row| usize::from(!met.insert(row))).sum()
}

fn set(indices: &[i32]) -> Vec<i32> {
    let mut set = indices.to_vec();
    set.sort_unstable();
    set
}

/// Duplicate rows, compared as stored: rows that refer to two equal rows differ.
fn duplicates(tables: &ProfilesDictionary) -> usize {
    let mappings = tables.mapping_table.iter().map(|row| {
        (
            (row.memory_start, row.memory_limit, row.file_offset, row.filename_strindex),
            set(&row.attribute_indices),
        )
    });
    let locations = tables
        .location_table
        .iter()
        .map(|row| (row.mapping_index, row.address, &row.lines, set(&row.attribute_indices)));
    // A value may contain a float, which has no hash.
    let attributes = tables.attribute_table.iter().map(Message::encode_to_vec);
    equal(tables.string_table.iter())
        + equal(tables.function_table.iter())
        + equal(tables.link_table.iter())
        + equal(tables.stack_table.iter())
        + equal(mappings)
        + equal(locations)
        + equal(attributes)
}

fn equal_samples(profile: &Profile) -> usize {
    equal(
        profile
            .samples
            .iter()
            .map(|sample| (sample.stack_index, sample.link_index, set(&sample.attribute_indices))),
    )
}

/// The rows of a table that were visited.
struct Used(Vec<bool>);

impl Used {
    fn of(rows: usize) -> Self {
        Self(vec![false; rows])
    }

    fn mark(&mut self, index: i32) {
        if let Some(used) = usize::try_from(index).ok().and_then(|row| self.0.get_mut(row)) {
            *used = true;
        }
    }

    fn orphans(&self) -> usize {
        self.0.iter().skip(1).filter(|used| !**used).count()
    }
}

fn orphans(data: &ProfilesData) -> usize {
    let Some(tables) = &data.dictionary else { return 0 };
    let [mut strings, mut functions, mut mappings, mut locations, mut links, mut keys, mut stacks] =
        [
            tables.string_table.len(),
            tables.function_table.len(),
            tables.mapping_table.len(),
            tables.location_table.len(),
            tables.link_table.len(),
            tables.attribute_table.len(),
            tables.stack_table.len(),
        ]
        .map(Used::of);
    for profile in profiles(data) {
        for of in profile.sample_type.iter().chain(&profile.period_type) {
            strings.mark(of.type_strindex);
            strings.mark(of.unit_strindex);
        }
        profile.attribute_indices.iter().for_each(|row| keys.mark(*row));
        for sample in &profile.samples {
            stacks.mark(sample.stack_index);
            links.mark(sample.link_index);
            sample.attribute_indices.iter().for_each(|row| keys.mark(*row));
        }
    }
    let rows = tables.stack_table.iter().flat_map(|row| &row.location_indices);
    rows.for_each(|row| locations.mark(*row));
    for row in &tables.location_table {
        mappings.mark(row.mapping_index);
        row.lines.iter().for_each(|line| functions.mark(line.function_index));
        row.attribute_indices.iter().for_each(|row| keys.mark(*row));
    }
    for row in &tables.mapping_table {
        strings.mark(row.filename_strindex);
        row.attribute_indices.iter().for_each(|row| keys.mark(*row));
    }
    for row in &tables.function_table {
        [row.name_strindex, row.system_name_strindex, row.filename_strindex]
            .into_iter()
            .for_each(|text| strings.mark(text));
    }
    for row in &tables.attribute_table {
        strings.mark(row.key_strindex);
        strings.mark(row.unit_strindex);
    }
    let all = [strings, functions, mappings, locations, links, keys, stacks];
    all.iter().map(Used::orphans).sum()
}
