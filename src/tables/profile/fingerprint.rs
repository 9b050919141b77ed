//! Ids for profiles that lack one: a hash of the contents.
//!
//! Requirements:
//!
//! * Equal profiles get equal ids in every generation that requires ids. The rest of the payload, the
//!   numbering of dictionary rows and the order of samples have no influence.
//! * Profiles that differ in anything but resource and scope get different ids.
//! * Payloads that need no id cost nothing. The first id hashes each row of the dictionary once; after that,
//!   a sample costs a few words.
//!
//! ```text
//! id = [ header ┬ sum of h(sample)  ]    samples in any order: a sum
//!      [ !header ┴ sum of h(!sample) ] | 1
//! sample = stack, set of attributes, link, stacktrace id, lengths, values, times
//! ```
//!
//! Strings are hashed by XXH3-64, words by folded multiplication (decision 9 lists the slower alternatives).
//! The hash is not cryptographic: an attacker can construct two profiles with equal ids.

use std::convert::Infallible;

use xxhash_rust::xxh3::xxh3_64;

use crate::model::dictionary::{Attribute, Dictionary, Function, Line, Link};
use crate::model::id::{AttributeId, Id, LocationId, MappingId, StringId};
use crate::model::profile::{ProfileId, ProfileParts, ValueType};
use crate::model::value::Value;
use crate::tables::attributes::semantic_attributes::{AttributeRole, AttributeRoles};
use crate::tables::profile::columns::Joined;
use crate::tables::profile::expand_samples;
use crate::tables::profile::temporality;

/// Computes the ids of the profiles of a payload.
pub(crate) struct Fingerprints<'a> {
    dictionary: &'a Dictionary,
    roles: &'a AttributeRoles,
    /// Hashes of all dictionary rows, kept from the first id to the last.
    rows: Option<RowHashes>,
    /// The number of ids that are still needed.
    left: usize,
}

impl<'a> Fingerprints<'a> {
    /// Prepares for at most `ids` ids. Costs nothing until the first.
    pub(crate) fn of(dictionary: &'a Dictionary, roles: &'a AttributeRoles, ids: usize) -> Self {
        Self { dictionary, roles, rows: None, left: ids }
    }

    /// Computes the id of a profile with its default sample type. The profile may consist of several columns.
    pub(crate) fn id(&mut self, joined: &Joined, default: StringId) -> ProfileId {
        let rows = self.rows.take();
        let rows = rows.unwrap_or_else(|| RowHashes::of(self.dictionary, self.roles));
        let header = self.header(&rows, joined, default).0;
        // A sum, because samples may be in any order.
        let mut sums = [0u64; 2];
        let Ok(()) = expand_samples::rows(joined, |row| {
            let lengths = (row.values.len() as u64) << 32 | row.times.len() as u64;
            let sample = Hash::new()
                .word(of(&rows.stacks, row.sample.stack))
                .word(rows.set(row.sample.attributes))
                .word(of(&rows.links, row.sample.link))
                .word(of(&rows.strings, row.sample.stacktrace_id))
                .word(lengths)
                .words(row.values.iter().map(|&value| value as u64))
                .words(row.times.iter().copied());
            // Two different hashes of the sample, for an id of 128 bits.
            let halves = [Hash::new().word(sample.0), Hash::new().word(!sample.0)];
            sums = [0, 1].map(|half| sums[half].wrapping_add(halves[half].0));
            Ok::<(), Infallible>(())
        });
        self.left = self.left.saturating_sub(1);
        self.rows = (self.left > 0).then_some(rows);
        let id = [Hash::new().word(header).word(sums[0]), Hash::new().word(!header).word(sums[1])];
        let [high, low] = id.map(|half| u128::from(half.0));
        // Bit 0 is always set, because an id of zeros is invalid.
        ProfileId((high << 64 | low | 1).to_be_bytes())
    }

    /// Hashes the fields of the profile that are outside its samples.
    ///
    /// A default sample type that names the last column counts as unset, because readers show the last column
    /// by default.
    fn header(&self, rows: &RowHashes, joined: &Joined, default: StringId) -> Hash {
        // Destructure all fields, so that the compiler reports a new one. `_` marks fields that ids ignore.
        let ProfileParts {
            profile_id: _,
            time_unix_nano,
            duration_nanos,
            // Handled below: types for all columns, samples later.
            sample_types: _,
            samples: _,
            default_sample_type: _,
            period_type,
            period,
            attributes,
            dropped_attributes_count,
            original_payload_format,
            original_payload,
            // They affect how the profile is written, not its contents.
            in_order: _,
            event_form: _,
        } = &**joined.first();
        let types = joined.written_types();
        let mut hash = Hash::new().word(types.len() as u64);
        for value_type in &types {
            let temporality = temporality::written(*value_type, *duration_nanos, self.dictionary);
            let value_type = ValueType { temporality: Some(temporality), ..*value_type };
            hash = hash.words(rows.value_type(value_type));
        }
        // Readers show the last type if the default is unset.
        let last = types.last().map_or("", |last| self.dictionary.text(last.name));
        let named = Some(default).filter(|default| self.dictionary.text(*default) != last);
        hash.words(rows.value_type(*period_type))
            .word(*period as u64)
            .wide(*time_unix_nano as u128)
            .wide(*duration_nanos as u128)
            .word(of(&rows.strings, named.unwrap_or_default()))
            .word(rows.set(attributes))
            .word((*dropped_attributes_count).into())
            .word(of(&rows.strings, *original_payload_format))
            .word(xxh3_64(original_payload))
    }
}

/// Hashes of the rows of each table, by row. Empty rows have hash 0.
///
/// A hash covers the contents of a row and never its number. A reference contributes the hash of its row, or
/// 0 if unset.
#[derive(Debug, Default)]
struct RowHashes {
    /// 0 for the empty string.
    strings: Vec<u64>,
    attributes: Vec<u64>,
    mappings: Vec<u64>,
    functions: Vec<u64>,
    locations: Vec<u64>,
    stacks: Vec<u64>,
    links: Vec<u64>,
}

/// Returns the hash of a row.
#[inline]
fn of(hashes: &[u64], id: impl Id) -> u64 {
    hashes.get(id.number() as usize).copied().unwrap_or(0)
}

impl RowHashes {
    /// Hashes all tables. Each table is hashed before those that refer to it.
    fn of(dictionary: &Dictionary, roles: &AttributeRoles) -> Self {
        let mut rows = Self::default();
        let text = |text: &str| if text.is_empty() { 0 } else { xxh3_64(text.as_bytes()) };
        rows.strings = dictionary.strings.iter().map(text).collect();
        let attributes = (0..).map(AttributeId).zip(&dictionary.attributes);
        let attributes = attributes.map(|(id, row)| rows.attribute(roles.get(id), row));
        rows.attributes = attributes.collect();
        let ids = 1..dictionary.mappings.rows.len() as u32;
        let mappings = ids.map(|row| rows.mapping(dictionary, MappingId(row)));
        rows.mappings = std::iter::once(0).chain(mappings).collect();
        rows.functions = dictionary.functions.iter().map(|row| rows.function(row)).collect();
        let ids = 0..dictionary.locations.len() as u32;
        let locations = ids.map(|row| rows.location(dictionary, LocationId(row)));
        rows.locations = locations.collect();
        let depth = dictionary.stacks.rows().map(<[_]>::len).max().unwrap_or(0) as u64;
        // Odd weights: multiplication by them is invertible, so distinct hashes stay distinct.
        let weights: Vec<u64> = (1..=depth).map(|at| Hash::new().word(at).0 | 1).collect();
        let stacks = dictionary.stacks.rows().map(|stack| rows.stack(stack, &weights));
        rows.stacks = stacks.collect();
        let link = |link: &Link| match *link == Link::default() {
            true => 0,
            false => Hash::new().word(xxh3_64(&link.trace_id)).word(xxh3_64(&link.span_id)).0,
        };
        rows.links = dictionary.links.iter().map(link).collect();
        rows
    }

    /// Hashes a stack as the sum of its locations, each multiplied by the weight of its position. The
    /// products are independent, so the processor computes them in parallel.
    #[inline]
    fn stack(&self, stack: &[LocationId], weights: &[u64]) -> u64 {
        let frame = |(location, weight): (&LocationId, &u64)| {
            self.locations[location.row()].wrapping_mul(*weight)
        };
        stack.iter().zip(weights).map(frame).fold(0, u64::wrapping_add)
    }

    /// Returns the words of a type, a unit and a temporality.
    fn value_type(&self, value_type: ValueType) -> [u64; 3] {
        let temporality = value_type.temporality.unwrap_or_default();
        let [name, unit] = [value_type.name, value_type.unit].map(|id| of(&self.strings, id));
        [name, unit, temporality.0 as u64]
    }

    /// Hashes attributes in any order.
    #[inline]
    fn set(&self, ids: &[AttributeId]) -> u64 {
        ids.iter().fold(0, |sum: u64, id| sum.wrapping_add(of(&self.attributes, *id)))
    }

    /// Hashes an attribute. A flag that is false counts as absent. The header covers the default sample type.
    fn attribute(&self, role: AttributeRole, attribute: &Attribute) -> u64 {
        match (role, &attribute.value) {
            (AttributeRole::MappingFlag(_) | AttributeRole::Folded, Value::Bool(false)) => {
                return 0;
            }
            (AttributeRole::DefaultSampleType | AttributeRole::DefaultColumn, _) => return 0,
            _ => {}
        }
        let names = [attribute.key, attribute.unit].map(|id| of(&self.strings, id));
        self.value(Hash::new().words(names), &attribute.value).0
    }

    /// Hashes the kind of a value, its length and its contents.
    fn value(&self, hash: Hash, value: &Value) -> Hash {
        match value {
            Value::Empty => hash.word(0),
            Value::String(text) => hash.word(1).word(of(&self.strings, *text)),
            Value::Bool(truth) => hash.word(2).word((*truth).into()),
            Value::Int(number) => hash.word(3).word(*number as u64),
            Value::Double(number) => hash.word(4).word(number.to_bits()),
            Value::Bytes(content) => hash.word(5).word(xxh3_64(content)),
            Value::Array(values) => {
                let hash = hash.word(6).word(values.len() as u64);
                values.iter().fold(hash, |hash, value| self.value(hash, value))
            }
            Value::KeyValues(pairs) => {
                let hash = hash.word(7).word(pairs.len() as u64);
                pairs.iter().fold(hash, |hash, pair| {
                    self.value(hash.word(of(&self.strings, pair.key)), &pair.value)
                })
            }
        }
    }

    /// Hashes a mapping with its attributes in any order.
    fn mapping(&self, dictionary: &Dictionary, id: MappingId) -> u64 {
        let mapping = dictionary.mappings.get(id);
        Hash::new()
            .word(mapping.memory_start)
            .word(mapping.memory_limit)
            .word(mapping.file_offset)
            .word(of(&self.strings, mapping.filename))
            .word(self.set(dictionary.mappings.attributes(id)))
            .0
    }

    fn function(&self, function: &Function) -> u64 {
        let texts = function.texts().map(|id| of(&self.strings, id));
        Hash::new().words(texts).word(function.start_line as u64).0
    }

    #[inline]
    fn location(&self, dictionary: &Dictionary, id: LocationId) -> u64 {
        let locations = &dictionary.locations;
        let line = |hash: Hash, line: &Line| {
            hash.word(of(&self.functions, line.function))
                .word(line.line as u64)
                .word(line.column as u64)
        };
        let hash = Hash::new()
            .word(of(&self.mappings, locations.mapping(id)))
            .word(locations.address(id))
            .word(self.set(locations.attributes(id)));
        locations.lines(id).iter().fold(hash, line).0
    }
}

/// A hash of a sequence of words. Each word is folded in by a 64 by 64 bit multiplication whose halves are
/// combined, as in wyhash.
#[derive(Clone, Copy)]
struct Hash(u64);

/// The initial state: an odd number without a pattern.
const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hash {
    fn new() -> Self {
        Self(FIRST)
    }

    /// Folds in one word.
    #[inline]
    fn word(self, word: u64) -> Self {
        let product = u128::from(self.0 ^ word) * 0xe703_7ed1_a0b4_28db;
        // Keep the old state: if it equals the word, the product is 0 and all previous words would be lost.
        Self((product >> 64) as u64 ^ product as u64 ^ self.0.rotate_left(23))
    }

    #[inline]
    fn words(self, words: impl IntoIterator<Item = u64>) -> Self {
        words.into_iter().fold(self, Self::word)
    }

    /// Folds in a time, which has 128 bits.
    fn wide(self, word: u128) -> Self {
        self.word(word as u64).word((word >> 64) as u64)
    }
}
