//! The baseline: the same conversions in straightforward code, with prost's structs and hash maps for
//! interning.

use std::collections::HashMap;

use otlp_profiles::proto::prost::Message;
use otlp_profiles::proto::{pprof, v1_10 as otlp};

/// Converts pprof to the current generation: one profile per sample type, deduplicated tables.
pub fn pprof_to_otlp(bytes: &[u8]) -> Vec<u8> {
    let source = pprof::Profile::decode(bytes).expect("pprof");
    Interner::new(&source).convert(&source).encode_to_vec()
}

struct Interner<'a> {
    texts: &'a [String],
    strings: HashMap<String, i32>,
    stacks: HashMap<Vec<i32>, i32>,
    attributes: HashMap<(i32, i64, i64, i32), i32>,
    dictionary: otlp::ProfilesDictionary,
}

impl<'a> Interner<'a> {
    fn new(source: &'a pprof::Profile) -> Self {
        let dictionary = otlp::ProfilesDictionary {
            mapping_table: vec![Default::default()],
            location_table: vec![Default::default()],
            function_table: vec![Default::default()],
            link_table: vec![Default::default()],
            string_table: vec![String::new()],
            attribute_table: vec![Default::default()],
            stack_table: vec![Default::default()],
        };
        Self {
            texts: &source.string_table,
            strings: HashMap::from([(String::new(), 0)]),
            stacks: HashMap::from([(Vec::new(), 0)]),
            attributes: HashMap::new(),
            dictionary,
        }
    }

    fn text(&mut self, text: &str) -> i32 {
        if let Some(&index) = self.strings.get(text) {
            return index;
        }
        let index = self.dictionary.string_table.len() as i32;
        self.dictionary.string_table.push(text.to_owned());
        self.strings.insert(text.to_owned(), index);
        index
    }

    fn string(&mut self, index: i64) -> i32 {
        let texts = self.texts;
        self.text(&texts[index as usize])
    }

    fn attribute(&mut self, key: i32, value: otlp::any_value::Value, unit: i32) -> i32 {
        let index = self.dictionary.attribute_table.len() as i32;
        let value = Some(otlp::AnyValue { value: Some(value) });
        self.dictionary.attribute_table.push(otlp::KeyValueAndUnit {
            key_strindex: key,
            value,
            unit_strindex: unit,
        });
        index
    }

    fn label(&mut self, label: &pprof::Label) -> i32 {
        let key = self.string(label.key);
        let unit = self.string(label.num_unit);
        if let Some(&index) = self.attributes.get(&(key, label.str, label.num, unit)) {
            return index;
        }
        let value = if label.str != 0 {
            otlp::any_value::Value::StringValue(self.texts[label.str as usize].clone())
        } else {
            otlp::any_value::Value::IntValue(label.num)
        };
        let index = self.attribute(key, value, unit);
        self.attributes.insert((key, label.str, label.num, unit), index);
        index
    }

    fn value_type(&mut self, value_type: &pprof::ValueType) -> otlp::ValueType {
        otlp::ValueType {
            type_strindex: self.string(value_type.r#type),
            unit_strindex: self.string(value_type.unit),
        }
    }

    fn tables(&mut self, source: &pprof::Profile) -> HashMap<u64, i32> {
        let mut functions = HashMap::from([(0, 0)]);
        for function in &source.function {
            functions.insert(function.id, self.dictionary.function_table.len() as i32);
            let row = otlp::Function {
                name_strindex: self.string(function.name),
                system_name_strindex: self.string(function.system_name),
                filename_strindex: self.string(function.filename),
                start_line: function.start_line,
            };
            self.dictionary.function_table.push(row);
        }
        let mut mappings = HashMap::from([(0, 0)]);
        for mapping in &source.mapping {
            mappings.insert(mapping.id, self.dictionary.mapping_table.len() as i32);
            let row = self.mapping(mapping);
            self.dictionary.mapping_table.push(row);
        }
        let mut locations = HashMap::new();
        for location in &source.location {
            locations.insert(location.id, self.dictionary.location_table.len() as i32);
            let line = |line: &pprof::Line| otlp::Line {
                function_index: functions[&line.function_id],
                line: line.line,
                column: line.column,
            };
            self.dictionary.location_table.push(otlp::Location {
                mapping_index: mappings[&location.mapping_id],
                address: location.address,
                lines: location.line.iter().map(line).collect(),
                attribute_indices: Vec::new(),
            });
        }
        locations
    }

    fn mapping(&mut self, mapping: &pprof::Mapping) -> otlp::Mapping {
        let mut attribute_indices = Vec::new();
        if mapping.build_id != 0 {
            let key = self.text("process.executable.build_id.gnu");
            let id = self.texts[mapping.build_id as usize].clone();
            attribute_indices.push(self.attribute(key, otlp::any_value::Value::StringValue(id), 0));
        }
        if mapping.has_functions {
            let key = self.text("pprof.mapping.has_functions");
            attribute_indices.push(self.attribute(key, otlp::any_value::Value::BoolValue(true), 0));
        }
        otlp::Mapping {
            memory_start: mapping.memory_start,
            memory_limit: mapping.memory_limit,
            file_offset: mapping.file_offset,
            filename_strindex: self.string(mapping.filename),
            attribute_indices,
        }
    }

    fn convert(mut self, source: &pprof::Profile) -> otlp::ProfilesData {
        let locations = self.tables(source);
        let mut profiles: Vec<otlp::Profile> = source
            .sample_type
            .iter()
            .map(|value_type| otlp::Profile {
                sample_type: Some(self.value_type(value_type)),
                time_unix_nano: source.time_nanos as u64,
                duration_nano: source.duration_nanos as u64,
                period_type: source
                    .period_type
                    .as_ref()
                    .map(|value_type| self.value_type(value_type)),
                period: source.period,
                samples: Vec::with_capacity(source.sample.len()),
                ..Default::default()
            })
            .collect();
        for sample in &source.sample {
            let stack: Vec<i32> = sample.location_id.iter().map(|id| locations[id]).collect();
            let stack_index = match self.stacks.get(&stack) {
                Some(&index) => index,
                None => {
                    let index = self.dictionary.stack_table.len() as i32;
                    self.dictionary
                        .stack_table
                        .push(otlp::Stack { location_indices: stack.clone() });
                    self.stacks.insert(stack, index);
                    index
                }
            };
            let attribute_indices: Vec<i32> =
                sample.label.iter().map(|label| self.label(label)).collect();
            for (profile, &value) in profiles.iter_mut().zip(&sample.value) {
                profile.samples.push(otlp::Sample {
                    stack_index,
                    attribute_indices: attribute_indices.clone(),
                    values: vec![value],
                    ..Default::default()
                });
            }
        }
        let scope_profiles = vec![otlp::ScopeProfiles { profiles, ..Default::default() }];
        otlp::ProfilesData {
            resource_profiles: vec![otlp::ResourceProfiles {
                scope_profiles,
                ..Default::default()
            }],
            dictionary: Some(self.dictionary),
        }
    }
}

/// Converts the current generation to pprof: the profiles of the first scope become columns. The
/// dictionary serves all profiles of a payload, so the rows in use are interned, as receivers do.
pub fn otlp_to_pprof(bytes: &[u8]) -> Vec<u8> {
    let source = otlp::ProfilesData::decode(bytes).expect("otlp");
    let dictionary = source.dictionary.as_ref().expect("dictionary");
    let scope = &source.resource_profiles[0].scope_profiles[0];
    Collected::new(dictionary).convert(&scope.profiles).encode_to_vec()
}

/// The part of a dictionary that one pprof uses.
struct Collected<'a> {
    dictionary: &'a otlp::ProfilesDictionary,
    strings: HashMap<&'a str, i64>,
    functions: HashMap<i32, u64>,
    mappings: HashMap<i32, u64>,
    locations: HashMap<i32, u64>,
    out: pprof::Profile,
}

impl<'a> Collected<'a> {
    fn new(dictionary: &'a otlp::ProfilesDictionary) -> Self {
        Self {
            dictionary,
            strings: HashMap::from([("", 0)]),
            functions: HashMap::from([(0, 0)]),
            mappings: HashMap::from([(0, 0)]),
            locations: HashMap::from([(0, 0)]),
            out: pprof::Profile { string_table: vec![String::new()], ..Default::default() },
        }
    }

    fn text(&mut self, text: &'a str) -> i64 {
        let Self { strings, out, .. } = self;
        *strings.entry(text).or_insert_with(|| {
            out.string_table.push(text.to_owned());
            out.string_table.len() as i64 - 1
        })
    }

    fn string(&mut self, index: i32) -> i64 {
        let dictionary = self.dictionary;
        self.text(&dictionary.string_table[index as usize])
    }

    fn value_type(&mut self, value_type: &otlp::ValueType) -> pprof::ValueType {
        pprof::ValueType {
            r#type: self.string(value_type.type_strindex),
            unit: self.string(value_type.unit_strindex),
        }
    }

    fn function(&mut self, index: i32) -> u64 {
        if let Some(&id) = self.functions.get(&index) {
            return id;
        }
        let function = &self.dictionary.function_table[index as usize];
        let id = self.out.function.len() as u64 + 1;
        let row = pprof::Function {
            id,
            name: self.string(function.name_strindex),
            system_name: self.string(function.system_name_strindex),
            filename: self.string(function.filename_strindex),
            start_line: function.start_line,
        };
        self.out.function.push(row);
        self.functions.insert(index, id);
        id
    }

    fn mapping(&mut self, index: i32) -> u64 {
        if let Some(&id) = self.mappings.get(&index) {
            return id;
        }
        let dictionary = self.dictionary;
        let mapping = &dictionary.mapping_table[index as usize];
        let id = self.out.mapping.len() as u64 + 1;
        let mut row = pprof::Mapping {
            id,
            memory_start: mapping.memory_start,
            memory_limit: mapping.memory_limit,
            file_offset: mapping.file_offset,
            filename: self.string(mapping.filename_strindex),
            ..Default::default()
        };
        for &index in &mapping.attribute_indices {
            let attribute = &dictionary.attribute_table[index as usize];
            let key = &dictionary.string_table[attribute.key_strindex as usize];
            match value(attribute) {
                Some(otlp::any_value::Value::StringValue(text))
                    if key.starts_with("process.executable.build_id") =>
                {
                    row.build_id = self.text(text);
                }
                Some(otlp::any_value::Value::BoolValue(truth))
                    if key == "pprof.mapping.has_functions" =>
                {
                    row.has_functions = *truth;
                }
                _ => {}
            }
        }
        self.out.mapping.push(row);
        self.mappings.insert(index, id);
        id
    }

    fn location(&mut self, index: i32) -> u64 {
        if let Some(&id) = self.locations.get(&index) {
            return id;
        }
        let location = &self.dictionary.location_table[index as usize];
        let id = self.out.location.len() as u64 + 1;
        let mut line = Vec::with_capacity(location.lines.len());
        for row in &location.lines {
            line.push(pprof::Line {
                function_id: self.function(row.function_index),
                line: row.line,
                column: row.column,
            });
        }
        let row = pprof::Location {
            id,
            mapping_id: self.mapping(location.mapping_index),
            address: location.address,
            line,
            is_folded: false,
        };
        self.out.location.push(row);
        self.locations.insert(index, id);
        id
    }

    fn label(&mut self, index: i32) -> pprof::Label {
        let attribute = &self.dictionary.attribute_table[index as usize];
        let mut row =
            pprof::Label { key: self.string(attribute.key_strindex), ..Default::default() };
        match value(attribute) {
            Some(otlp::any_value::Value::StringValue(text)) => row.str = self.text(text),
            Some(otlp::any_value::Value::IntValue(number)) => {
                row.num = *number;
                row.num_unit = self.string(attribute.unit_strindex);
            }
            _ => {}
        }
        row
    }

    fn convert(mut self, profiles: &[otlp::Profile]) -> pprof::Profile {
        let first = &profiles[0];
        self.out.time_nanos = first.time_unix_nano as i64;
        self.out.duration_nanos = first.duration_nano as i64;
        self.out.period = first.period;
        let period_type = first.period_type.as_ref();
        self.out.period_type = period_type.map(|period_type| self.value_type(period_type));
        for sample_type in profiles.iter().filter_map(|p| p.sample_type.as_ref()) {
            let sample_type = self.value_type(sample_type);
            self.out.sample_type.push(sample_type);
        }
        for (row, sample) in first.samples.iter().enumerate() {
            let stack = &self.dictionary.stack_table[sample.stack_index as usize];
            let stack = stack.location_indices.iter();
            let attributes = sample.attribute_indices.iter();
            let sample = pprof::Sample {
                location_id: stack.map(|&index| self.location(index)).collect(),
                value: profiles.iter().map(|p| p.samples[row].values[0]).collect(),
                label: attributes.map(|&index| self.label(index)).collect(),
            };
            self.out.sample.push(sample);
        }
        self.out
    }
}

fn value(attribute: &otlp::KeyValueAndUnit) -> Option<&otlp::any_value::Value> {
    attribute.value.as_ref()?.value.as_ref()
}
