//! Converts pprof to OTLP 1.10 like the Collector's contrib translator: one profile per sample type with
//! all samples, rows in order of first use, and attributes without information.
//!
//! The translator numbers function names in the random order of a Go map; here they have the order of the
//! functions. It sorts the inlined lines of a location; here they keep their order.

use std::collections::HashMap;
use std::hash::Hash;

use otlp_profiles::proto::pprof::{Location, Mapping, Profile, Sample};

use crate::message::Message;

const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/1.39.0";

/// A table with rows numbered from 1 in order of first use. Row 0 is the empty row.
struct Table<K, R> {
    index: HashMap<K, u64>,
    rows: Vec<R>,
}

impl<K: Hash + Eq, R> Table<K, R> {
    fn with_row_0(row: R) -> Self {
        Self { index: HashMap::new(), rows: vec![row] }
    }

    fn index(&mut self, key: K, row: impl FnOnce() -> R) -> u64 {
        *self.index.entry(key).or_insert_with(|| {
            self.rows.push(row());
            self.rows.len() as u64 - 1
        })
    }
}

/// The value of an attribute.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Value<'a> {
    Text(&'a str),
    Number(i64),
    True,
}

impl Value<'_> {
    fn message(&self) -> Message {
        match self {
            Self::Text(text) => Message::default().bytes(1, text.as_bytes()),
            Self::Number(0) => Message(vec![0x18, 0]),
            Self::Number(number) => Message::default().int(3, *number as u64),
            Self::True => Message::default().int(2, 1),
        }
    }
}

/// A location: mapping, address, lines, and whether it is folded.
type Spot = (u64, u64, Vec<(u64, i64, i64)>, bool);

struct Translator<'a> {
    source: &'a Profile,
    strings: Table<String, String>,
    mappings: Table<(u64, u64, u64, u64, Vec<u64>), Message>,
    functions: Table<(i64, i64, i64, i64), [i64; 4]>,
    locations: Table<Spot, Message>,
    attributes: Table<(u64, Value<'a>, u64), Message>,
    stacks: Table<Vec<u64>, Message>,
    mapping_of: HashMap<u64, &'a Mapping>,
    location_of: HashMap<u64, &'a Location>,
    function_of: HashMap<u64, usize>,
}

/// The payload.
pub fn payload(source: &Profile) -> Vec<u8> {
    let mut translator = Translator {
        source,
        strings: Table::with_row_0(String::new()),
        mappings: Table::with_row_0(Message::default()),
        functions: Table::with_row_0([0; 4]),
        locations: Table::with_row_0(Message::default()),
        attributes: Table::with_row_0(Message::default()),
        stacks: Table::with_row_0(Message::default()),
        mapping_of: source.mapping.iter().map(|row| (row.id, row)).collect(),
        location_of: source.location.iter().map(|row| (row.id, row)).collect(),
        function_of: source.function.iter().map(|row| row.id).zip(0..).collect(),
    };
    translator.strings.index.insert(String::new(), 0);
    translator.stacks.index.insert(Vec::new(), 0);
    source.mapping.iter().for_each(|row| _ = translator.mapping(row));
    let profiles: Vec<Message> =
        (0..source.sample_type.len()).map(|column| translator.profile(column)).collect();
    let scope = Message::default().bytes(1, &[]).rows(2, &profiles, Message::clone);
    let resource = Message::default().bytes(1, &[]).message(2, &scope.text(3, SCHEMA_URL));
    let data = Message::default().message(1, &resource.text(3, SCHEMA_URL));
    data.message(2, &translator.dictionary()).0
}

impl<'a> Translator<'a> {
    fn text(&self, index: i64) -> &'a str {
        &self.source.string_table[index as usize]
    }

    fn string(&mut self, text: &str) -> u64 {
        self.strings.index(text.to_owned(), || text.to_owned())
    }

    fn attribute(&mut self, key: &str, value: Value<'a>, unit: &str) -> u64 {
        let (key, unit) = (self.string(key), self.string(unit));
        let row = || Message::default().int(1, key).message(2, &value.message()).int(3, unit);
        self.attributes.index((key, value.clone(), unit), row)
    }

    fn mapping(&mut self, row: &Mapping) -> u64 {
        let filename = self.string(self.text(row.filename));
        let build_id = Value::Text(self.text(row.build_id));
        let mut attributes = vec![self.attribute("process.executable.build_id.gnu", build_id, "")];
        for (flag, name) in [
            (row.has_functions, "pprof.mapping.has_functions"),
            (row.has_filenames, "pprof.mapping.has_filenames"),
            (row.has_line_numbers, "pprof.mapping.has_line_numbers"),
            (row.has_inline_frames, "pprof.mapping.has_inline_frames"),
        ] {
            if flag {
                attributes.push(self.attribute(name, Value::True, ""));
            }
        }
        let message = || {
            let mapping = Message::default().int(1, row.memory_start).int(2, row.memory_limit);
            mapping.int(3, row.file_offset).int(4, filename).packed(5, attributes.iter().copied())
        };
        let [start, limit, offset] = [row.memory_start, row.memory_limit, row.file_offset];
        self.mappings.index((start, limit, offset, filename, attributes.clone()), message)
    }

    fn location(&mut self, id: u64) -> u64 {
        let Some(&row) = self.location_of.get(&id) else { return 0 };
        let folded =
            row.is_folded.then(|| self.attribute("pprof.location.is_folded", Value::True, ""));
        let mut lines = Vec::new();
        for line in &row.line {
            let function = self.function_of.get(&line.function_id).map_or(0, |&at| {
                let row = &self.source.function[at];
                let row = [row.name, row.system_name, row.filename, row.start_line];
                self.functions.index(row.into(), || row)
            });
            lines.push((function, line.line, line.column));
        }
        let mapping = self.mapping_of.get(&row.mapping_id).copied();
        let mapping = mapping.map_or(0, |mapping| self.mapping(mapping));
        let message = || {
            let location = Message::default().int(1, mapping).int(2, row.address);
            let location = location.rows(3, &lines, |&(function, line, column)| {
                Message::default().int(1, function).int(2, line as u64).int(3, column as u64)
            });
            location.packed(4, folded)
        };
        self.locations.index((mapping, row.address, lines.clone(), row.is_folded), message)
    }

    fn sample(&mut self, row: &'a Sample, column: usize) -> Message {
        let stack: Vec<u64> = row.location_id.iter().map(|id| self.location(*id)).collect();
        let message = || Message::default().packed(1, stack.iter().copied());
        let stack = self.stacks.index(stack.clone(), message);
        let mut attributes = Vec::new();
        for label in &row.label {
            let (key, unit) = (self.text(label.key), self.text(label.num_unit));
            let value = match label.str {
                0 => Value::Number(label.num),
                text => Value::Text(self.text(text)),
            };
            attributes.push(self.attribute(key, value, unit));
        }
        let value = row.value.get(column).map(|value| *value as u64);
        Message::default().int(1, stack).packed(2, attributes).packed(4, value)
    }

    fn profile(&mut self, column: usize) -> Message {
        let source = self.source;
        let value_type = |own: &mut Self, row: Option<&otlp_profiles::proto::pprof::ValueType>| {
            let (name, unit) = row.map_or((0, 0), |row| (row.r#type, row.unit));
            let (name, unit) = (own.string(own.text(name)), own.string(own.text(unit)));
            Message::default().int(1, name).int(2, unit)
        };
        let sample_type = value_type(self, source.sample_type.get(column));
        let samples: Vec<Message> =
            source.sample.iter().map(|row| self.sample(row, column)).collect();
        let period_type = value_type(self, source.period_type.as_ref());
        let said = [("drop", source.drop_frames), ("keep", source.keep_frames)];
        let mut attributes = Vec::new();
        for (name, text) in said {
            let name = format!("pprof.profile.{name}_frames");
            attributes.push(self.attribute(&name, Value::Text(self.text(text)), ""));
        }
        for (at, comment) in source.comment.iter().enumerate() {
            let name = format!("pprof.profile.comment.{at}");
            attributes.push(self.attribute(&name, Value::Text(self.text(*comment)), ""));
        }
        let doc_url = Value::Text(self.text(source.doc_url));
        attributes.push(self.attribute("pprof.profile.doc_url", doc_url, ""));
        let profile = Message::default().message(1, &sample_type).rows(2, &samples, Message::clone);
        let profile =
            profile.fixed(3, source.time_nanos as u64).int(4, source.duration_nanos as u64);
        let profile = profile.message(5, &period_type).int(6, source.period as u64);
        profile.bytes(7, &[]).packed(11, attributes)
    }

    fn dictionary(mut self) -> Message {
        let functions = std::mem::take(&mut self.functions.rows);
        let functions: Vec<Message> = functions
            .iter()
            .map(|&[name, system_name, filename, start_line]| {
                let [name, system_name, filename] =
                    [name, system_name, filename].map(|text| self.string(self.text(text)));
                let function = Message::default().int(1, name).int(2, system_name);
                function.int(3, filename).int(4, start_line as u64)
            })
            .collect();
        let tables = Message::default().rows(1, &self.mappings.rows, Message::clone);
        let tables = tables.rows(2, &self.locations.rows, Message::clone);
        let tables = tables.rows(3, &functions, Message::clone);
        let strings = self.strings.rows.iter();
        let tables = strings.fold(tables, |tables, text| tables.bytes(5, text.as_bytes()));
        let tables = tables.rows(6, &self.attributes.rows, Message::clone);
        tables.rows(7, &self.stacks.rows, Message::clone)
    }
}
