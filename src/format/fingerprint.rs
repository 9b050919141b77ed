//! The id of a profile that has none: a hash of what it means.
//!
//! Requirements: equal profiles have one id in every generation that requires one, whatever stands
//! beside them in the payload and however the rows of its dictionary are numbered; profiles that
//! differ in anything but their resource and scope have different ids. Each row of the dictionary is
//! hashed once a payload, when it is first reached; after that a sample costs a few words.

use std::convert::Infallible;

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::format::columns::Joined;
use crate::format::known::{Known, KnownAttributes};
use crate::format::spread;
use crate::format::temporality;
use crate::model::dictionary::Dictionary;
use crate::model::id::{
    AttributeId, FunctionId, Id, LinkId, LocationId, MappingId, StackId, StringId,
};
use crate::model::profile::{ProfileId, ValueType};
use crate::model::samples::SampleRef;
use crate::model::value::Value;

/// The hash of a row and of all it refers to.
type Hash = u128;

/// The hashes of the rows of a dictionary, as far as they were asked for.
pub(crate) struct Fingerprints<'a> {
    dictionary: &'a Dictionary,
    known: &'a KnownAttributes,
    strings: Memo,
    attributes: Memo,
    functions: Memo,
    mappings: Memo,
    locations: Memo,
    stacks: Memo,
    links: Memo,
    /// Memory of the row being hashed.
    row: Vec<u8>,
    /// The same of an attribute, a location and a stack, which are of other rows.
    attribute: Vec<u8>,
    location: Vec<u8>,
    stack: Vec<u8>,
}

/// By row: its hash; 0 where it is not known yet. No memory is taken before the first is.
#[derive(Debug, Default)]
struct Memo(Vec<Hash>);

impl Memo {
    #[inline]
    fn get(&self, id: impl Id) -> Option<Hash> {
        self.0.get(id.number() as usize).copied().filter(|hash| *hash != 0)
    }

    fn set(&mut self, id: impl Id, rows: usize, hash: Hash) -> Hash {
        self.0.resize(rows, 0);
        let hash = hash | 1;
        if let Some(row) = self.0.get_mut(id.number() as usize) {
            *row = hash;
        }
        hash
    }
}

/// Bytes to be hashed, of parts whose lengths are known or said.
trait Parts {
    fn hash(&mut self, hash: Hash);
    fn number(&mut self, number: u64);
}

impl Parts for Vec<u8> {
    #[inline]
    fn hash(&mut self, hash: Hash) {
        self.extend_from_slice(&hash.to_le_bytes());
    }

    #[inline]
    fn number(&mut self, number: u64) {
        self.extend_from_slice(&number.to_le_bytes());
    }
}

impl<'a> Fingerprints<'a> {
    pub(crate) fn of(dictionary: &'a Dictionary, known: &'a KnownAttributes) -> Self {
        Self {
            dictionary,
            known,
            strings: Memo::default(),
            attributes: Memo::default(),
            functions: Memo::default(),
            mappings: Memo::default(),
            locations: Memo::default(),
            stacks: Memo::default(),
            links: Memo::default(),
            row: Vec::new(),
            attribute: Vec::new(),
            location: Vec::new(),
            stack: Vec::new(),
        }
    }

    /// The id of a profile, which may be in columns, with its default sample type.
    pub(crate) fn id(&mut self, joined: &Joined, default: StringId) -> ProfileId {
        const BLOCK: usize = 1 << 12;
        let mut hash = Xxh3::new();
        let mut bytes = self.header(joined, default);
        let Ok(()) = spread::rows(joined, |row| {
            self.sample(&mut bytes, row.sample);
            bytes.number(row.values.len() as u64);
            bytes.number(row.times.len() as u64);
            row.values.iter().for_each(|&value| bytes.number(value as u64));
            row.times.iter().for_each(|&time| bytes.number(time));
            if bytes.len() >= BLOCK {
                hash.update(&bytes);
                bytes.clear();
            }
            Ok::<(), Infallible>(())
        });
        hash.update(&bytes);
        // Not all zero, which is no id.
        ProfileId((hash.digest128() | 1).to_be_bytes())
    }

    /// What is said of the profile as a whole.
    fn header(&mut self, joined: &Joined, default: StringId) -> Vec<u8> {
        let profile = joined.first();
        let mut bytes = Vec::new();
        let types = joined.written_types();
        bytes.number(types.len() as u64);
        for value_type in &types {
            let said = temporality::written(*value_type, profile.duration_nanos, self.dictionary);
            self.value_type(&mut bytes, ValueType { temporality: Some(said), ..*value_type });
        }
        self.value_type(&mut bytes, profile.period_type);
        bytes.number(profile.period as u64);
        bytes.extend_from_slice(&profile.time_unix_nano.to_le_bytes());
        bytes.extend_from_slice(&profile.duration_nanos.to_le_bytes());
        // The last is shown first where none is named.
        let last = types.last().map_or("", |last| self.dictionary.text(last.name));
        let named = Some(default).filter(|default| self.dictionary.text(*default) != last);
        bytes.hash(self.text(named.unwrap_or_default()));
        bytes.hash(self.set(&profile.attributes));
        bytes.number(profile.dropped_attributes_count.into());
        bytes.hash(self.text(profile.original_payload_format));
        bytes.hash(xxh3_128(&profile.original_payload));
        bytes
    }

    fn value_type(&mut self, bytes: &mut Vec<u8>, value_type: ValueType) {
        bytes.hash(self.text(value_type.name));
        bytes.hash(self.text(value_type.unit));
        bytes.number(value_type.temporality.unwrap_or_default().0 as u64);
    }

    #[inline]
    fn sample(&mut self, bytes: &mut Vec<u8>, sample: &SampleRef) {
        bytes.hash(self.stack(sample.stack));
        bytes.hash(self.set(sample.attributes));
        bytes.hash(self.link(sample.link));
        bytes.hash(self.text(sample.stacktrace_id));
    }

    #[inline]
    fn text(&mut self, id: StringId) -> Hash {
        if id == StringId::NONE {
            return 0;
        }
        self.strings.get(id).unwrap_or_else(|| self.new_text(id))
    }

    fn new_text(&mut self, id: StringId) -> Hash {
        let strings = &self.dictionary.strings;
        let text = strings.get(id).as_bytes();
        if text.is_empty() {
            return 0;
        }
        self.strings.set(id, strings.len(), xxh3_128(text))
    }

    #[inline]
    fn link(&mut self, id: LinkId) -> Hash {
        if id == LinkId::NONE {
            return 0;
        }
        self.links.get(id).unwrap_or_else(|| {
            let link = self.dictionary.link(id);
            let mut bytes = [0; 24];
            bytes[..16].copy_from_slice(&link.trace_id);
            bytes[16..].copy_from_slice(&link.span_id);
            self.links.set(id, self.dictionary.links.len(), xxh3_128(&bytes))
        })
    }

    /// Attributes in any order. A flag that is not set says no more than one that is not there.
    #[inline]
    fn set(&mut self, ids: &[AttributeId]) -> Hash {
        let mut sum: Hash = 0;
        for &id in ids {
            let hash = self.attributes.get(id).unwrap_or_else(|| self.new_attribute(id));
            sum = sum.wrapping_add(hash);
        }
        sum
    }

    #[inline(never)]
    fn new_attribute(&mut self, id: AttributeId) -> Hash {
        let Some(attribute) = self.dictionary.attribute(id) else {
            return 0;
        };
        match (self.known.get(id), &attribute.value) {
            (Known::MappingFlag(_) | Known::Folded, Value::Bool(false)) => return 0,
            // It is part of the profile's header.
            (Known::DefaultSampleType | Known::DefaultColumn, _) => return 0,
            _ => {}
        }
        let mut bytes = std::mem::take(&mut self.attribute);
        bytes.clear();
        bytes.hash(self.text(attribute.key));
        bytes.hash(self.text(attribute.unit));
        self.value(&mut bytes, &attribute.value);
        let hash = xxh3_128(&bytes);
        self.attribute = bytes;
        self.attributes.set(id, self.dictionary.attributes.len(), hash)
    }

    /// A value: its kind, and its content with its length.
    fn value(&mut self, bytes: &mut Vec<u8>, value: &Value) {
        match value {
            Value::Empty => bytes.push(0),
            Value::String(text) => {
                bytes.push(1);
                bytes.hash(self.text(*text));
            }
            Value::Bool(truth) => bytes.extend_from_slice(&[2, u8::from(*truth)]),
            Value::Int(number) => {
                bytes.push(3);
                bytes.number(*number as u64);
            }
            Value::Double(number) => {
                bytes.push(4);
                bytes.number(number.to_bits());
            }
            Value::Bytes(content) => {
                bytes.push(5);
                bytes.number(content.len() as u64);
                bytes.extend_from_slice(content);
            }
            Value::Array(values) => {
                bytes.push(6);
                bytes.number(values.len() as u64);
                values.iter().for_each(|value| self.value(bytes, value));
            }
            Value::KeyValues(pairs) => {
                bytes.push(7);
                bytes.number(pairs.len() as u64);
                for pair in pairs {
                    bytes.hash(self.text(pair.key));
                    self.value(bytes, &pair.value);
                }
            }
        }
    }

    #[inline]
    fn function(&mut self, id: FunctionId) -> Hash {
        self.functions.get(id).unwrap_or_else(|| self.new_function(id))
    }

    #[inline(never)]
    fn new_function(&mut self, id: FunctionId) -> Hash {
        let function = self.dictionary.function(id);
        let texts = [function.name, function.system_name, function.filename];
        let texts = texts.map(|text| self.text(text));
        let row = &mut self.row;
        row.clear();
        texts.into_iter().for_each(|text| row.hash(text));
        row.number(function.start_line as u64);
        self.functions.set(id, self.dictionary.functions.len(), xxh3_128(row))
    }

    #[inline]
    fn mapping(&mut self, id: MappingId) -> Hash {
        if id == MappingId::NONE {
            return 0;
        }
        self.mappings.get(id).unwrap_or_else(|| self.new_mapping(id))
    }

    #[inline(never)]
    fn new_mapping(&mut self, id: MappingId) -> Hash {
        let mappings = &self.dictionary.mappings;
        let mapping = mappings.get(id);
        let (filename, set) = (self.text(mapping.filename), self.set(mappings.attributes(id)));
        let row = &mut self.row;
        row.clear();
        row.number(mapping.memory_start);
        row.number(mapping.memory_limit);
        row.number(mapping.file_offset);
        row.hash(filename);
        row.hash(set);
        self.mappings.set(id, mappings.rows.len(), xxh3_128(row))
    }

    #[inline]
    fn location(&mut self, id: LocationId) -> Hash {
        self.locations.get(id).unwrap_or_else(|| self.new_location(id))
    }

    #[inline(never)]
    fn new_location(&mut self, id: LocationId) -> Hash {
        let locations = &self.dictionary.locations;
        let mut bytes = std::mem::take(&mut self.location);
        bytes.clear();
        bytes.hash(self.mapping(locations.mapping(id)));
        bytes.number(locations.address(id));
        bytes.hash(self.set(locations.attributes(id)));
        for line in locations.lines(id) {
            bytes.hash(self.function(line.function));
            bytes.number(line.line as u64);
            bytes.number(line.column as u64);
        }
        let hash = xxh3_128(&bytes);
        self.location = bytes;
        self.locations.set(id, locations.len(), hash)
    }

    #[inline]
    fn stack(&mut self, id: StackId) -> Hash {
        self.stacks.get(id).unwrap_or_else(|| self.new_stack(id))
    }

    #[inline(never)]
    fn new_stack(&mut self, id: StackId) -> Hash {
        let mut bytes = std::mem::take(&mut self.stack);
        bytes.clear();
        for &location in self.dictionary.stack(id) {
            bytes.hash(self.location(location));
        }
        let hash = xxh3_128(&bytes);
        self.stack = bytes;
        self.stacks.set(id, self.dictionary.stacks.len(), hash)
    }
}
