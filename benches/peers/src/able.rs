//! Converts with prost, tuned for common files: ids that count from 1 are rows, tables are copied whole,
//! and only stacks and labels are interned, with a cheap hash. It rejects other files, which the library
//! must support.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use otlp::any_value::Value;
use otlp_profiles::proto::prost::Message;
use otlp_profiles::proto::{pprof, v1_10 as otlp};

/// A hasher with one multiplication per word.
#[derive(Default)]
struct Cheap(u64);

impl Hasher for Cheap {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn write_i64(&mut self, word: i64) {
        self.write_u64(word as u64);
    }

    fn write_i32(&mut self, word: i32) {
        self.write_u64(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

type Map<K, V> = HashMap<K, V, BuildHasherDefault<Cheap>>;

pub fn pprof_to_otlp(bytes: &[u8]) -> Vec<u8> {
    let mut source = pprof::Profile::decode(bytes).expect("pprof");
    let mut dictionary = tables(&mut source);
    let value_type = |value_type: &pprof::ValueType| otlp::ValueType {
        type_strindex: value_type.r#type as i32,
        unit_strindex: value_type.unit as i32,
    };
    let profile = |sample_type: &pprof::ValueType| otlp::Profile {
        sample_type: Some(value_type(sample_type)),
        time_unix_nano: source.time_nanos as u64,
        duration_nano: source.duration_nanos as u64,
        period_type: source.period_type.as_ref().map(value_type),
        period: source.period,
        samples: Vec::with_capacity(source.sample.len()),
        ..Default::default()
    };
    let mut profiles: Vec<_> = source.sample_type.iter().map(profile).collect();
    let mut stacks: Map<Vec<u64>, i32> = Map::default();
    let mut labels: Map<(i64, i64, i64, i64), i32> = Map::default();
    for sample in source.sample {
        let attributes: Vec<i32> = sample
            .label
            .iter()
            .map(|label| attribute(label, &mut labels, &mut dictionary))
            .collect();
        let table = &mut dictionary.stack_table;
        let stack_index = match stacks.get(&sample.location_id) {
            Some(&row) => row,
            None => {
                let rows = sample.location_id.iter().map(|&id| id as i32).collect();
                table.push(otlp::Stack { location_indices: rows });
                let row = table.len() as i32 - 1;
                stacks.insert(sample.location_id, row);
                row
            }
        };
        for (profile, value) in profiles.iter_mut().zip(sample.value) {
            profile.samples.push(otlp::Sample {
                stack_index,
                attribute_indices: attributes.clone(),
                values: vec![value],
                ..Default::default()
            });
        }
    }
    let scope_profiles = vec![otlp::ScopeProfiles { profiles, ..Default::default() }];
    let resource = otlp::ResourceProfiles { scope_profiles, ..Default::default() };
    otlp::ProfilesData { resource_profiles: vec![resource], dictionary: Some(dictionary) }
        .encode_to_vec()
}

/// The attribute for a label.
fn attribute(
    label: &pprof::Label,
    labels: &mut Map<(i64, i64, i64, i64), i32>,
    dictionary: &mut otlp::ProfilesDictionary,
) -> i32 {
    *labels.entry((label.key, label.str, label.num, label.num_unit)).or_insert_with(|| {
        let value = match label.str {
            0 => Value::IntValue(label.num),
            text => Value::StringValue(dictionary.string_table[text as usize].clone()),
        };
        dictionary.attribute_table.push(otlp::KeyValueAndUnit {
            key_strindex: label.key as i32,
            value: Some(otlp::AnyValue { value: Some(value) }),
            unit_strindex: label.num_unit as i32,
        });
        dictionary.attribute_table.len() as i32 - 1
    })
}

/// The tables. Their ids must count from 1.
fn tables(source: &mut pprof::Profile) -> otlp::ProfilesDictionary {
    let mut strings = std::mem::take(&mut source.string_table);
    let names = strings.len() as i32;
    strings.extend(
        ["process.executable.build_id.gnu", "pprof.mapping.has_functions"].map(String::from),
    );
    let mut attributes = vec![otlp::KeyValueAndUnit::default()];
    let mut add = |key_strindex: i32, value: Value| {
        let value = Some(otlp::AnyValue { value: Some(value) });
        attributes.push(otlp::KeyValueAndUnit { key_strindex, value, unit_strindex: 0 });
        attributes.len() as i32 - 1
    };
    let mut mappings = vec![otlp::Mapping::default()];
    for (mapping, id) in source.mapping.iter().zip(1..) {
        assert_eq!(mapping.id, id, "mappings count from 1");
        let mut attribute_indices = Vec::new();
        if mapping.build_id != 0 {
            let build_id = strings[mapping.build_id as usize].clone();
            attribute_indices.push(add(names, Value::StringValue(build_id)));
        }
        if mapping.has_functions {
            attribute_indices.push(add(names + 1, Value::BoolValue(true)));
        }
        mappings.push(otlp::Mapping {
            memory_start: mapping.memory_start,
            memory_limit: mapping.memory_limit,
            file_offset: mapping.file_offset,
            filename_strindex: mapping.filename as i32,
            attribute_indices,
        });
    }
    let mut functions = vec![otlp::Function::default()];
    functions.extend(source.function.iter().zip(1..).map(|(function, id)| {
        assert_eq!(function.id, id, "functions count from 1");
        otlp::Function {
            name_strindex: function.name as i32,
            system_name_strindex: function.system_name as i32,
            filename_strindex: function.filename as i32,
            start_line: function.start_line,
        }
    }));
    let mut locations = vec![otlp::Location::default()];
    locations.extend(source.location.iter().zip(1..).map(|(location, id)| {
        assert_eq!(location.id, id, "locations count from 1");
        let line = |line: &pprof::Line| otlp::Line {
            function_index: line.function_id as i32,
            line: line.line,
            column: line.column,
        };
        otlp::Location {
            mapping_index: location.mapping_id as i32,
            address: location.address,
            lines: location.line.iter().map(line).collect(),
            attribute_indices: Vec::new(),
        }
    }));
    otlp::ProfilesDictionary {
        mapping_table: mappings,
        location_table: locations,
        function_table: functions,
        link_table: vec![Default::default()],
        string_table: strings,
        attribute_table: attributes,
        stack_table: vec![Default::default()],
    }
}

pub fn otlp_to_pprof(bytes: &[u8]) -> Vec<u8> {
    let mut source = otlp::ProfilesData::decode(bytes).expect("otlp");
    let dictionary = source.dictionary.take().expect("a dictionary");
    let profiles = &source.resource_profiles[0].scope_profiles[0].profiles;
    let value_type = |value_type: &otlp::ValueType| pprof::ValueType {
        r#type: value_type.type_strindex.into(),
        unit: value_type.unit_strindex.into(),
    };
    let first = &profiles[0];
    let mut out = pprof::Profile {
        sample_type: profiles
            .iter()
            .filter_map(|p| p.sample_type.as_ref())
            .map(value_type)
            .collect(),
        time_nanos: first.time_unix_nano as i64,
        duration_nanos: first.duration_nano as i64,
        period_type: first.period_type.as_ref().map(value_type),
        period: first.period,
        string_table: dictionary.string_table,
        ..Default::default()
    };
    let mut texts: Map<String, i64> = Map::default();
    let mut text = |strings: &mut Vec<String>, text: &str| match texts.get(text) {
        Some(&row) => row,
        None => {
            strings.push(text.to_owned());
            texts.insert(text.to_owned(), strings.len() as i64 - 1);
            strings.len() as i64 - 1
        }
    };
    let labels: Vec<pprof::Label> = dictionary
        .attribute_table
        .iter()
        .map(|attribute| {
            let key = attribute.key_strindex.into();
            match attribute.value.as_ref().and_then(|value| value.value.as_ref()) {
                Some(Value::StringValue(value)) => pprof::Label {
                    key,
                    str: text(&mut out.string_table, value),
                    ..Default::default()
                },
                Some(Value::IntValue(num)) => {
                    let num_unit = attribute.unit_strindex.into();
                    pprof::Label { key, num: *num, num_unit, str: 0 }
                }
                Some(Value::BoolValue(truth)) => {
                    pprof::Label { key, num: i64::from(*truth), ..Default::default() }
                }
                _ => pprof::Label { key, ..Default::default() },
            }
        })
        .collect();
    rows(&mut out, &dictionary.mapping_table, &dictionary.function_table, &labels);
    out.location = dictionary.location_table.iter().zip(0..).skip(1).map(location).collect();
    out.sample = first
        .samples
        .iter()
        .enumerate()
        .map(|(row, sample)| {
            let stack = &dictionary.stack_table[sample.stack_index as usize].location_indices;
            let attributes = sample.attribute_indices.iter();
            pprof::Sample {
                location_id: stack.iter().map(|&row| row as u64).collect(),
                value: profiles.iter().map(|profile| profile.samples[row].values[0]).collect(),
                label: attributes.map(|&row| labels[row as usize].clone()).collect(),
            }
        })
        .collect();
    out.encode_to_vec()
}

fn location((location, id): (&otlp::Location, u64)) -> pprof::Location {
    let line = |line: &otlp::Line| pprof::Line {
        function_id: line.function_index as u64,
        line: line.line,
        column: line.column,
    };
    pprof::Location {
        id,
        mapping_id: location.mapping_index as u64,
        address: location.address,
        line: location.lines.iter().map(line).collect(),
        is_folded: false,
    }
}

/// Mappings and functions.
fn rows(
    out: &mut pprof::Profile,
    mappings: &[otlp::Mapping],
    functions: &[otlp::Function],
    labels: &[pprof::Label],
) {
    for (mapping, id) in mappings.iter().zip(0..).skip(1) {
        let mut row = pprof::Mapping {
            id,
            memory_start: mapping.memory_start,
            memory_limit: mapping.memory_limit,
            file_offset: mapping.file_offset,
            filename: mapping.filename_strindex.into(),
            ..Default::default()
        };
        for &index in &mapping.attribute_indices {
            let label = &labels[index as usize];
            let key = &out.string_table[label.key as usize];
            if key.starts_with("process.executable.build_id") {
                row.build_id = label.str;
            } else if key == "pprof.mapping.has_functions" {
                row.has_functions = label.num == 1;
            }
        }
        out.mapping.push(row);
    }
    out.function = functions
        .iter()
        .zip(0..)
        .skip(1)
        .map(|(function, id)| pprof::Function {
            id,
            name: function.name_strindex.into(),
            system_name: function.system_name_strindex.into(),
            filename: function.filename_strindex.into(),
            start_line: function.start_line,
        })
        .collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{inputs, twin};

    fn sums(bytes: &[u8]) -> (usize, Vec<i64>, usize) {
        let profile = pprof::Profile::decode(bytes).expect("pprof");
        let columns = profile.sample_type.len();
        let sum = |at: usize| profile.sample.iter().map(|sample| sample.value[at]).sum();
        let labels = profile.sample.iter().map(|sample| sample.label.len()).sum();
        (profile.sample.len(), (0..columns).map(sum).collect(), labels)
    }

    #[test]
    fn both_converters_say_what_the_file_says() {
        for input in ["generated×1", "deep×100"] {
            let source = inputs::pprof(input);
            let ways = [
                otlp_to_pprof(&pprof_to_otlp(&source)),
                twin::otlp_to_pprof(&twin::pprof_to_otlp(&source)),
            ];
            for back in ways {
                assert_eq!(sums(&back), sums(&source), "{input}");
            }
        }
    }
}
