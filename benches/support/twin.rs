//! The same work the obvious way: prost's structs, and hash maps to intern with. What the library
//! is measured against, in the same run.

use std::collections::HashMap;

use otlp_profiles::proto::prost::Message;
use otlp_profiles::proto::{pprof, v1_10 as otlp};

/// The current generation from pprof: every sample type a profile, tables deduplicated.
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
        self.attributes
            .insert((key, label.str, label.num, unit), index);
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
                    self.dictionary.stack_table.push(otlp::Stack {
                        location_indices: stack.clone(),
                    });
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
        let scope_profiles = vec![otlp::ScopeProfiles {
            profiles,
            ..Default::default()
        }];
        otlp::ProfilesData {
            resource_profiles: vec![otlp::ResourceProfiles {
                scope_profiles,
                ..Default::default()
            }],
            dictionary: Some(self.dictionary),
        }
    }
}

/// pprof from the current generation: the profiles of the first scope are its columns.
pub fn otlp_to_pprof(bytes: &[u8]) -> Vec<u8> {
    let source = otlp::ProfilesData::decode(bytes).expect("otlp");
    let dictionary = source.dictionary.as_ref().expect("dictionary");
    let scope = &source.resource_profiles[0].scope_profiles[0];
    let mut strings: HashMap<&str, i64> = HashMap::new();
    let mut out = pprof::Profile {
        string_table: vec![],
        ..Default::default()
    };
    for text in &dictionary.string_table {
        strings.entry(text).or_insert(out.string_table.len() as i64);
        out.string_table.push(text.clone());
    }
    let value_type = |v: &otlp::ValueType| pprof::ValueType {
        r#type: v.type_strindex.into(),
        unit: v.unit_strindex.into(),
    };
    for (id, function) in dictionary.function_table.iter().enumerate().skip(1) {
        out.function.push(pprof::Function {
            id: id as u64,
            name: function.name_strindex.into(),
            system_name: function.system_name_strindex.into(),
            filename: function.filename_strindex.into(),
            start_line: function.start_line,
        });
    }
    for (id, mapping) in dictionary.mapping_table.iter().enumerate().skip(1) {
        let mut row = pprof::Mapping {
            id: id as u64,
            memory_start: mapping.memory_start,
            memory_limit: mapping.memory_limit,
            file_offset: mapping.file_offset,
            filename: mapping.filename_strindex.into(),
            ..Default::default()
        };
        for &index in &mapping.attribute_indices {
            let attribute = &dictionary.attribute_table[index as usize];
            let key = &dictionary.string_table[attribute.key_strindex as usize];
            match attribute
                .value
                .as_ref()
                .and_then(|value| value.value.as_ref())
            {
                Some(otlp::any_value::Value::StringValue(text))
                    if key.starts_with("process.executable.build_id") =>
                {
                    out.string_table.push(text.clone());
                    row.build_id = out.string_table.len() as i64 - 1;
                }
                Some(otlp::any_value::Value::BoolValue(truth))
                    if key == "pprof.mapping.has_functions" =>
                {
                    row.has_functions = *truth;
                }
                _ => {}
            }
        }
        out.mapping.push(row);
    }
    for (id, location) in dictionary.location_table.iter().enumerate().skip(1) {
        let line = |line: &otlp::Line| pprof::Line {
            function_id: line.function_index as u64,
            line: line.line,
            column: line.column,
        };
        out.location.push(pprof::Location {
            id: id as u64,
            mapping_id: location.mapping_index as u64,
            address: location.address,
            line: location.lines.iter().map(line).collect(),
            is_folded: false,
        });
    }
    let first = &scope.profiles[0];
    out.time_nanos = first.time_unix_nano as i64;
    out.duration_nanos = first.duration_nano as i64;
    out.period = first.period;
    out.period_type = first.period_type.as_ref().map(value_type);
    out.sample_type = scope
        .profiles
        .iter()
        .filter_map(|profile| profile.sample_type.as_ref())
        .map(value_type)
        .collect();
    let mut made: HashMap<String, i64> = HashMap::new();
    for (row, sample) in first.samples.iter().enumerate() {
        let stack = &dictionary.stack_table[sample.stack_index as usize].location_indices;
        let mut label = Vec::new();
        for &index in &sample.attribute_indices {
            let attribute = &dictionary.attribute_table[index as usize];
            let mut row = pprof::Label {
                key: attribute.key_strindex.into(),
                ..Default::default()
            };
            match attribute
                .value
                .as_ref()
                .and_then(|value| value.value.as_ref())
            {
                Some(otlp::any_value::Value::StringValue(text)) => {
                    let next = out.string_table.len() as i64;
                    row.str = *made.entry(text.clone()).or_insert_with(|| {
                        out.string_table.push(text.clone());
                        next
                    });
                }
                Some(otlp::any_value::Value::IntValue(number)) => {
                    row.num = *number;
                    row.num_unit = attribute.unit_strindex.into();
                }
                _ => {}
            }
            label.push(row);
        }
        out.sample.push(pprof::Sample {
            location_id: stack.iter().map(|&index| index as u64).collect(),
            value: scope
                .profiles
                .iter()
                .map(|profile| profile.samples[row].values[0])
                .collect(),
            label,
        });
    }
    out.encode_to_vec()
}
