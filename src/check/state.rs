//! What rules need to know of the payload and of the profile that is walked.
//!
//! The two states live as long as what they are of: a [`PayloadState`] for a whole walk, a [`ProfileState`] until the
//! next profile. Everything that grows with the payload is here or in [`Tables`](super::tables::Tables); a test holds
//! their memory to 24 bytes for each byte of the payload.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

use crate::model::row_index::RowIndex;
use crate::schema::Table;

/// A table of hashes that nobody outside can aim at, and that costs little where it is small.
pub(crate) type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// The same of keys alone.
pub(crate) type Set<K> = HashSet<K, foldhash::fast::RandomState>;

/// What an attribute of the tables is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attribute {
    /// The same for equal keys; [`Attribute::NO_KEY`] where the key cannot be found.
    pub(crate) key: u32,
    /// A bit that equal keys share, and hardly any others: proofs of lists tell keys apart by it. None of a row that a
    /// list should not refer to.
    pub(crate) bit: u64,
    pub(crate) class: Class,
    /// Whether [the receiver](super::rules::receivers) keeps it, once that was asked.
    pub(crate) kept: Option<bool>,
}

impl Attribute {
    pub(crate) const NO_KEY: u32 = u32::MAX;
}

/// The keys that rules ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Other,
    /// One that the conventions know, or none.
    Known,
    /// A build id that is no htlhash.
    BuildId,
    Htlhash,
}

/// The profile that is walked.
#[derive(Debug, Default)]
pub(crate) struct ProfileState {
    /// How many sample types it has.
    pub(crate) types: usize,
    /// When it begins and ends, where that is known.
    pub(crate) range: Option<(i128, i128)>,
    pub(crate) time: i128,
    /// Whether the first sample has values, and timestamps.
    pub(crate) shape: Option<(bool, bool)>,
    /// The sum of each column so far: 128 bits hold the sum of any number of values.
    pub(crate) sums: Vec<i128>,
    /// The samples that were met, by what they are samples of.
    pub(crate) identities: SeenKeys,
    /// How many samples earlier profiles have.
    pub(crate) samples_before: u32,
    /// Whether samples are compared with each other, of whichever generation.
    pub(crate) compares: bool,
    /// Whether the receiver takes samples of one value alone.
    pub(crate) one_value: bool,
    /// Whether every value is 1 and has a timestamp.
    pub(crate) ones: bool,
    /// The rows of `location_indices`, which samples have slices of.
    pub(crate) slice: u64,
}

/// The rows that were met, by keys of 128 bits.
#[derive(Debug, Default)]
pub(crate) struct SeenKeys {
    /// By row, up to the last that no other had the key of; any where that was not asked.
    keys: Vec<u128>,
    /// From a hash to a row.
    index: RowIndex,
    hasher: foldhash::fast::RandomState,
}

impl SeenKeys {
    /// The row that a key was met at, if it was; it is now, at a later row than any before.
    #[inline(always)]
    pub(crate) fn before(&mut self, key: u128, row: u32) -> Option<u32> {
        let hash = self.hasher.hash_one(key);
        let found = self.index.find(hash, |row| self.is(row, key));
        if found.is_none() {
            self.index.add(hash, row);
            self.keep(key, row);
        }
        found
    }

    /// Keeps the key of a row.
    #[inline(always)]
    pub(crate) fn keep(&mut self, key: u128, row: u32) {
        self.keys.resize(row as usize, 0);
        self.keys.push(key);
    }

    /// Whether a row was met with a key.
    #[inline(always)]
    pub(crate) fn is(&self, row: u32, key: u128) -> bool {
        self.keys.get(row as usize) == Some(&key)
    }
}

/// The payload that is walked.
#[derive(Debug, Default)]
pub(crate) struct PayloadState {
    pub(crate) profiles: u64,
    pub(crate) samples: u64,
    /// Of each stack the first sample in the last profile that has one, as a number from 1 on among all samples.
    pub(crate) first_samples: Vec<u32>,
    /// The ids of profiles, each with the fingerprint of the profile's bytes.
    pub(crate) ids: Map<[u8; 16], u128>,
    /// The resources that were met, and the scopes of the current one, by their forms.
    pub(crate) resources: Map<u128, u32>,
    pub(crate) scopes: Map<u128, u32>,
    /// How many profiles the current scope has.
    pub(crate) scope_profiles: usize,
    /// The time range of the container around the profile, in OTEP 0239.
    pub(crate) container: Option<(i128, i128)>,
    /// Whether a value that was walked has a text by reference; of those before the profiles, one of the tables.
    pub(crate) refers: bool,
    /// How deep arrays and lists of pairs lie in each other.
    pub(crate) value_depth: u64,
    /// Rows that earlier dictionaries had, by cell.
    pub(crate) rows_before: Vec<u32>,
    pub(crate) seed: u64,
    /// For tables of hashes that nobody can aim at.
    pub(crate) hasher: foldhash::fast::RandomState,
    /// The keys of the tables' attributes, by [`Attribute::key`].
    pub(crate) keys: Vec<KeyState>,
    /// The keys of the attributes of a resource that refers to entities, by their fingerprints.
    pub(crate) resource_keys: Set<u128>,
    pub(crate) mappings: Vec<MappingFact>,
    pub(crate) start_lines: Vec<i64>,
    /// The locations of which nothing is known, and where they are.
    pub(crate) empty_locations: Vec<(u32, u32)>,
    /// Bytes that decoded messages would take.
    pub(crate) owned: u64,
    /// Texts in place: their length, and how often they come.
    pub(crate) texts: Map<u128, (u64, u64)>,
    /// The ids of a pprof's rows.
    pub(crate) locations: Ids,
    pub(crate) mapping_ids: Ids,
    pub(crate) functions: Ids,
    /// The unit of each key of a pprof's numeric labels.
    pub(crate) units: Map<u64, u64>,
}

impl PayloadState {
    /// The ids of the rows of a table, in pprof.
    #[inline(always)]
    pub(crate) fn ids_of(&self, table: Table) -> Option<&Ids> {
        match table {
            Table::Location => Some(&self.locations),
            Table::Mapping => Some(&self.mapping_ids),
            Table::Function => Some(&self.functions),
            _ => None,
        }
    }
}

/// The ids of the rows of a table: 1, 2, 3 … or any.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    /// How many rows, from the first on, have the number of their row plus 1 as their id.
    counted: u64,
    /// The first row of each other id.
    others: Map<u64, u32>,
    /// Whether two rows have the same id.
    pub(crate) is_repeated: bool,
}

impl Ids {
    /// Ids by row, in order. Nearly all tables count from 1, and then nothing but how far is kept.
    pub(crate) fn new(ids: impl Iterator<Item = u64>) -> Self {
        let mut all = Self::default();
        for (row, id) in ids.enumerate() {
            if all.counted == row as u64 && id == row as u64 + 1 {
                all.counted = id;
            } else if id == 0 || id > all.counted {
                let first = *all.others.entry(id).or_insert(row as u32);
                all.is_repeated |= id != 0 && first != row as u32;
            } else {
                all.is_repeated = true;
            }
        }
        all
    }

    /// The end of the ids that count from 1, where those are all.
    pub(crate) fn end(&self) -> Option<u64> {
        self.others.is_empty().then_some(self.counted + 1)
    }

    /// The first row of an id.
    #[inline(always)]
    pub(crate) fn row(&self, id: u64) -> Option<u64> {
        match id {
            0 => None,
            _ if id <= self.counted => Some(id - 1),
            _ => self.others.get(&id).map(|row| u64::from(*row)),
        }
    }
}

/// What the attributes of one key have in common.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeyState {
    /// Where a text of the key lies.
    pub(crate) text: (u32, u32),
    pub(crate) kind: u64,
    pub(crate) unit: u64,
    pub(crate) rows: u64,
}

impl KeyState {
    /// Whether a row has the type and unit of its key, which the first row sets.
    #[inline(always)]
    pub(crate) fn agrees(&self, kind: u64, unit: u64) -> bool {
        self.rows == 0 || (self.kind, self.unit) == (kind, unit)
    }

    /// Counts a row.
    #[inline(always)]
    pub(crate) fn add(&mut self, kind: u64, unit: u64) {
        if self.rows == 0 {
            (self.kind, self.unit) = (kind, unit);
        }
        self.rows += 1;
    }
}

/// A line of a location.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineRow {
    /// The reference to its function.
    pub(crate) function: u64,
    pub(crate) line: i64,
    pub(crate) column: i64,
    /// The row of its function, where the line counts as a use of it.
    pub(crate) row: Option<u64>,
    /// Where it begins in the payload, if it was decoded into a record.
    pub(crate) start: u32,
    /// Where its number begins in its location, and how many bytes it has, if it is canonical.
    pub(crate) at: u32,
    pub(crate) length: u32,
}

impl LineRow {
    /// What equal lines have in common.
    pub(crate) fn key(&self) -> (u64, i64, i64) {
        (self.function, self.line, self.column)
    }
}

impl PartialEq for LineRow {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl MappingFact {
    /// Whether an address lies outside. 0 is unset, and a mapping without a range contains every address. Both ends
    /// count as inside: return addresses may point one past the last instruction.
    #[inline(always)]
    pub(crate) fn excludes(&self, address: u64) -> bool {
        let inside = address >= self.start && address <= self.limit;
        address != 0 && self.limit > self.start && !inside
    }
}

/// A mapping, as far as locations are held against it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MappingFact {
    pub(crate) start: u64,
    pub(crate) limit: u64,
    pub(crate) has_functions: bool,
    /// Whether it says that it has functions, file names, line numbers or inlined frames.
    pub(crate) has_any: bool,
    /// Whether a location is in it, and one with lines.
    pub(crate) located: bool,
    pub(crate) lined: bool,
}

impl PayloadState {
    /// A fingerprint that nobody can aim at.
    ///
    /// The seed is new for each walk: whoever makes a payload cannot look for collisions, at 128
    /// bits they do not happen.
    pub(crate) fn fingerprint(&mut self, bytes: &[u8]) -> u128 {
        if self.seed == 0 {
            self.seed = foldhash::fast::RandomState::default().hash_one(1u8) | 1;
        }
        xxhash_rust::xxh3::xxh3_128_with_seed(bytes, self.seed)
    }
}
