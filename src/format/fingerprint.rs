//! The id of a profile that has none: a hash of what it means.
//!
//! Requirements: equal profiles have one id in every generation that requires one, whatever stands
//! beside them in the payload and however the rows of its dictionary are numbered; profiles that
//! differ in anything but their resource and scope have different ids. No id, no work: the rows of
//! the dictionary are hashed when the first is asked for, each once, and then a sample costs a few
//! words.

use std::cell::OnceCell;
use std::convert::Infallible;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::format::columns::Joined;
use crate::format::known::{Known, KnownAttributes};
use crate::format::spread;
use crate::format::temporality;
use crate::model::dictionary::{Attribute, Dictionary, Function, Line, Link};
use crate::model::id::{AttributeId, Id, LocationId, MappingId, StringId};
use crate::model::profile::{ProfileId, ValueType};
use crate::model::value::Value;

/// Makes the ids of the profiles of a payload.
pub(crate) struct Fingerprints<'a> {
    dictionary: &'a Dictionary,
    known: &'a KnownAttributes,
    rows: OnceCell<RowHashes>,
}

impl<'a> Fingerprints<'a> {
    pub(crate) fn of(dictionary: &'a Dictionary, known: &'a KnownAttributes) -> Self {
        Self { dictionary, known, rows: OnceCell::new() }
    }

    /// The id of a profile, which may be in columns, with its default sample type.
    pub(crate) fn id(&self, joined: &Joined, default: StringId) -> ProfileId {
        const BLOCK: usize = 1 << 12;
        let rows = self.rows.get_or_init(|| RowHashes::of(self.dictionary, self.known));
        let mut hash = Xxh3::new();
        let mut bytes = self.header(rows, joined, default);
        let Ok(()) = spread::rows(joined, |row| {
            let lengths = (row.values.len() as u64) << 32 | row.times.len() as u64;
            let sample = [
                of(&rows.stacks, row.sample.stack),
                rows.set(row.sample.attributes),
                of(&rows.links, row.sample.link),
                of(&rows.strings, row.sample.stacktrace_id),
                lengths,
            ];
            bytes.words(sample.into_iter());
            bytes.words(row.values.iter().map(|&value| value as u64));
            bytes.words(row.times.iter().copied());
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
    fn header(&self, rows: &RowHashes, joined: &Joined, default: StringId) -> Vec<u8> {
        let profile = joined.first();
        let types = joined.written_types();
        let mut bytes = Vec::new();
        bytes.word(types.len() as u64);
        for value_type in &types {
            let said = temporality::written(*value_type, profile.duration_nanos, self.dictionary);
            let value_type = ValueType { temporality: Some(said), ..*value_type };
            bytes.words(rows.value_type(value_type).into_iter());
        }
        bytes.words(rows.value_type(profile.period_type).into_iter());
        bytes.word(profile.period as u64);
        for nanos in [profile.time_unix_nano, profile.duration_nanos] {
            bytes.extend_from_slice(&nanos.to_le_bytes());
        }
        // The last type is shown first where none is named.
        let last = types.last().map_or("", |last| self.dictionary.text(last.name));
        let named = Some(default).filter(|default| self.dictionary.text(*default) != last);
        bytes.word(of(&rows.strings, named.unwrap_or_default()));
        bytes.word(rows.set(&profile.attributes));
        bytes.word(profile.dropped_attributes_count.into());
        bytes.word(of(&rows.strings, profile.original_payload_format));
        bytes.word(xxh3_64(&profile.original_payload));
        bytes
    }
}

/// By row of each table: a hash of the row and of all it refers to. What is none is 0.
#[derive(Debug, Default)]
struct RowHashes {
    strings: Vec<u64>,
    attributes: Vec<u64>,
    mappings: Vec<u64>,
    functions: Vec<u64>,
    locations: Vec<u64>,
    stacks: Vec<u64>,
    links: Vec<u64>,
}

/// The hash of a row.
#[inline]
fn of(hashes: &[u64], id: impl Id) -> u64 {
    hashes.get(id.number() as usize).copied().unwrap_or(0)
}

impl RowHashes {
    /// What refers to a table is hashed after it.
    fn of(dictionary: &Dictionary, known: &KnownAttributes) -> Self {
        let mut rows = Self::default();
        let text = |text: &str| if text.is_empty() { 0 } else { xxh3_64(text.as_bytes()) };
        rows.strings = dictionary.strings.iter().map(text).collect();
        let attributes = (0..).map(AttributeId).zip(&dictionary.attributes);
        let mut bytes = Vec::new();
        let attributes = attributes.map(|(id, row)| rows.attribute(known.get(id), row, &mut bytes));
        rows.attributes = attributes.collect();
        let ids = 1..dictionary.mappings.rows.len() as u32;
        let mappings = ids.map(|row| rows.mapping(dictionary, MappingId(row)));
        rows.mappings = std::iter::once(0).chain(mappings).collect();
        rows.functions = dictionary.functions.iter().map(|row| rows.function(row)).collect();
        let ids = 0..dictionary.locations.len() as u32;
        let locations = ids.map(|row| rows.location(dictionary, LocationId(row), &mut bytes));
        rows.locations = locations.collect();
        let stacks = dictionary.stacks.rows().map(|stack| {
            bytes.clear();
            bytes.words(stack.iter().map(|id| of(&rows.locations, *id)));
            xxh3_64(&bytes)
        });
        rows.stacks = stacks.collect();
        let link = |link: &Link| match *link == Link::default() {
            true => 0,
            false => hash_of([xxh3_64(&link.trace_id), xxh3_64(&link.span_id)]),
        };
        rows.links = dictionary.links.iter().map(link).collect();
        rows
    }

    fn value_type(&self, value_type: ValueType) -> [u64; 3] {
        let temporality = value_type.temporality.unwrap_or_default();
        let [name, unit] = [value_type.name, value_type.unit].map(|id| of(&self.strings, id));
        [name, unit, temporality.0 as u64]
    }

    /// Attributes in any order.
    #[inline]
    fn set(&self, ids: &[AttributeId]) -> u64 {
        ids.iter().fold(0, |sum: u64, id| sum.wrapping_add(of(&self.attributes, *id)))
    }

    /// An attribute. A flag that is not set says no more than one that is not there, and a default
    /// sample type is part of the header.
    fn attribute(&self, known: Known, attribute: &Attribute, bytes: &mut Vec<u8>) -> u64 {
        match (known, &attribute.value) {
            (Known::MappingFlag(_) | Known::Folded, Value::Bool(false)) => return 0,
            (Known::DefaultSampleType | Known::DefaultColumn, _) => return 0,
            _ => {}
        }
        bytes.clear();
        bytes.word(of(&self.strings, attribute.key));
        bytes.word(of(&self.strings, attribute.unit));
        self.value(bytes, &attribute.value);
        xxh3_64(bytes)
    }

    /// A value: its kind, and its content with its length.
    fn value(&self, bytes: &mut Vec<u8>, value: &Value) {
        match value {
            Value::Empty => bytes.word(0),
            Value::String(text) => bytes.words([1, of(&self.strings, *text)].into_iter()),
            Value::Bool(truth) => bytes.words([2, u64::from(*truth)].into_iter()),
            Value::Int(number) => bytes.words([3, *number as u64].into_iter()),
            Value::Double(number) => bytes.words([4, number.to_bits()].into_iter()),
            Value::Bytes(content) => bytes.words([5, xxh3_64(content)].into_iter()),
            Value::Array(values) => {
                bytes.words([6, values.len() as u64].into_iter());
                values.iter().for_each(|value| self.value(bytes, value));
            }
            Value::KeyValues(pairs) => {
                bytes.words([7, pairs.len() as u64].into_iter());
                for pair in pairs {
                    bytes.word(of(&self.strings, pair.key));
                    self.value(bytes, &pair.value);
                }
            }
        }
    }

    fn mapping(&self, dictionary: &Dictionary, id: MappingId) -> u64 {
        let mapping = dictionary.mappings.get(id);
        hash_of([
            mapping.memory_start,
            mapping.memory_limit,
            mapping.file_offset,
            of(&self.strings, mapping.filename),
            self.set(dictionary.mappings.attributes(id)),
        ])
    }

    fn function(&self, function: &Function) -> u64 {
        let texts = [function.name, function.system_name, function.filename];
        let [name, system_name, filename] = texts.map(|id| of(&self.strings, id));
        hash_of([name, system_name, filename, function.start_line as u64])
    }

    #[inline]
    fn location(&self, dictionary: &Dictionary, id: LocationId, bytes: &mut Vec<u8>) -> u64 {
        let locations = &dictionary.locations;
        let line = |line: &Line| {
            [of(&self.functions, line.function), line.line as u64, line.column as u64]
        };
        let [mapping, address, set] = [
            of(&self.mappings, locations.mapping(id)),
            locations.address(id),
            self.set(locations.attributes(id)),
        ];
        match locations.lines(id) {
            [] => hash_of([mapping, address, set]),
            [only] => {
                let [function, line, column] = line(only);
                hash_of([mapping, address, set, function, line, column])
            }
            lines => {
                bytes.clear();
                bytes.words([mapping, address, set].into_iter());
                lines.iter().for_each(|row| bytes.words(line(row).into_iter()));
                xxh3_64(bytes)
            }
        }
    }
}

/// The hash of some words.
#[inline]
fn hash_of<const N: usize>(words: [u64; N]) -> u64 {
    let bytes = words.map(u64::to_le_bytes);
    xxh3_64(bytes.as_flattened())
}

/// Bytes to be hashed, by words.
trait Words {
    fn words(&mut self, words: impl ExactSizeIterator<Item = u64>);

    #[inline]
    fn word(&mut self, word: u64) {
        self.words(std::iter::once(word));
    }
}

impl Words for Vec<u8> {
    #[inline]
    fn words(&mut self, words: impl ExactSizeIterator<Item = u64>) {
        let begin = self.len();
        self.resize(begin + 8 * words.len(), 0);
        let (chunks, _) = self[begin..].as_chunks_mut();
        chunks.iter_mut().zip(words).for_each(|(chunk, word)| *chunk = word.to_le_bytes());
    }
}
