//! The state of the payload and of the current profile, which rules share.
//!
//! A [`PayloadState`] lives for a whole walk, a [`ProfileState`] until the next profile. All memory that grows with
//! the payload is here or in [`Tables`](super::tables::Tables); a test limits it to 24 bytes for each byte of the
//! payload.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

use crate::model::row_index::RowIndex;
use crate::schema::Table;

/// A hash map whose random seed prevents collision attacks, and which is fast for short keys.
pub(crate) type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// The corresponding set.
pub(crate) type Set<K> = HashSet<K, foldhash::fast::RandomState>;

/// A row of the attribute table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attribute {
    /// The number of the key, the same for equal keys; [`Attribute::NO_KEY`] if the key does not resolve.
    pub(crate) key: u32,
    /// A bit for the key, rarely shared with other keys, by which lists detect duplicate keys. 0 for a row that a
    /// list should not refer to.
    pub(crate) bit: u64,
    pub(crate) class: Class,
    /// Whether [the receiver](super::rules::receivers) keeps it; `None` until first needed.
    pub(crate) kept: Option<bool>,
}

impl Attribute {
    pub(crate) const NO_KEY: u32 = u32::MAX;
}

/// The classes of keys that rules distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Other,
    /// A key that a convention defines, or an empty one.
    Known,
    /// A build id other than htlhash.
    BuildId,
    Htlhash,
}

/// The state of the current profile.
#[derive(Debug, Default)]
pub(crate) struct ProfileState {
    /// The number of sample types.
    pub(crate) types: usize,
    /// The start and the end, if known.
    pub(crate) range: Option<(i128, i128)>,
    pub(crate) time: i128,
    /// Whether the first sample has values, and whether it has timestamps.
    pub(crate) shape: Option<(bool, bool)>,
    /// The sum of each column so far. 128 bits hold the sum of any number of values.
    pub(crate) sums: Vec<i128>,
    /// The keys of the samples so far.
    pub(crate) identities: SeenKeys,
    /// The number of samples in earlier profiles.
    pub(crate) samples_before: u32,
    /// Whether samples are compared with each other, in any generation.
    pub(crate) compares: bool,
    /// Whether the receiver accepts only samples with one value.
    pub(crate) one_value: bool,
    /// Whether every value so far is 1 and has a timestamp.
    pub(crate) ones: bool,
    /// The number of dangling references to attributes that samples before the profile have.
    pub(crate) dangling_before: u64,
    /// The number of rows in `location_indices`, of which samples have slices.
    pub(crate) slice: u64,
}

/// The rows seen so far, by keys of 128 bits.
#[derive(Debug, Default)]
pub(crate) struct SeenKeys {
    /// The key of each row, up to the last row with a new key. Values of rows that were not added are arbitrary.
    keys: Vec<u128>,
    /// Maps hashes to rows.
    index: RowIndex,
    hasher: foldhash::fast::RandomState,
}

impl SeenKeys {
    /// Returns the earlier row with this key, if any; otherwise records the key. Rows must ascend.
    // Always inlined. Without any in the library, validating takes up to 28 % more instructions.
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

    /// Records the key of a row.
    #[inline(always)]
    pub(crate) fn keep(&mut self, key: u128, row: u32) {
        // Rows ascend, so this only fills a gap.
        self.keys.resize(row as usize, 0);
        self.keys.push(key);
    }

    /// Whether a row was recorded with this key.
    #[inline(always)]
    pub(crate) fn is(&self, row: u32, key: u128) -> bool {
        self.keys.get(row as usize) == Some(&key)
    }
}

/// The state of the current payload.
#[derive(Debug, Default)]
pub(crate) struct PayloadState {
    pub(crate) profiles: u64,
    pub(crate) samples: u64,
    /// For each stack, its first sample in the last profile that uses it, numbered from 1 across all samples.
    pub(crate) first_samples: Vec<u32>,
    /// The ids of profiles, each with the fingerprint of the profile's bytes.
    pub(crate) ids: Map<[u8; 16], u128>,
    /// The resources so far, and the scopes of the current one, by fingerprints of their forms.
    pub(crate) resources: Map<u128, u32>,
    pub(crate) scopes: Map<u128, u32>,
    /// The number of profiles in the current scope.
    pub(crate) scope_profiles: usize,
    /// The time range of the container around the profile, in OTEP 0239.
    pub(crate) container: Option<(i128, i128)>,
    /// Whether a walked value has a string by reference. Before the profiles are walked, this covers the tables.
    pub(crate) refers: bool,
    /// The current nesting depth of arrays and lists of pairs.
    pub(crate) value_depth: u64,
    /// The number of rows in earlier dictionaries, by cell.
    pub(crate) rows_before: Vec<u32>,
    pub(crate) seed: u64,
    /// Randomly seeded, against collision attacks.
    pub(crate) hasher: foldhash::fast::RandomState,
    /// The keys of the tables' attributes, by [`Attribute::key`].
    pub(crate) keys: Vec<KeyState>,
    /// The keys of the attributes of a resource that refers to entities, by their fingerprints.
    pub(crate) resource_keys: Set<u128>,
    pub(crate) mappings: Vec<MappingFact>,
    pub(crate) start_lines: Vec<i64>,
    /// Locations without any data, and their positions.
    pub(crate) empty_locations: Vec<(u32, u32)>,
    /// The bytes that decoded messages would take.
    pub(crate) owned: u64,
    /// Strings in place: their length, and how often they occur.
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

/// The ids of the rows of a table: 1, 2, 3 … or arbitrary.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    /// The number of leading rows whose id is their row plus 1.
    counted: u64,
    /// The first row of each other id.
    others: Map<u64, u32>,
    /// Whether two rows have the same id.
    pub(crate) is_repeated: bool,
}

impl Ids {
    /// Indexes ids, given in the order of rows. Nearly all tables count from 1, and then only the count is stored.
    pub(crate) fn new(ids: impl Iterator<Item = u64>) -> Self {
        let mut all = Self::default();
        for (row, id) in ids.enumerate() {
            // The ids still count from 1 without a gap.
            if all.counted == row as u64 && id == row as u64 + 1 {
                all.counted = id;
            } else if id == 0 || id > all.counted {
                // From here on rows are ahead of `counted`, so no id in `others` is counted later.
                let first = *all.others.entry(id).or_insert(row as u32);
                // Several rows may lack an id.
                all.is_repeated |= id != 0 && first != row as u32;
            } else {
                all.is_repeated = true;
            }
        }
        all
    }

    /// The end of the ids that count from 1, if all ids do.
    pub(crate) fn end(&self) -> Option<u64> {
        self.others.is_empty().then_some(self.counted + 1)
    }

    /// The first row with an id.
    #[inline(always)]
    pub(crate) fn row(&self, id: u64) -> Option<u64> {
        match id {
            0 => None,
            _ if id <= self.counted => Some(id - 1),
            _ => self.others.get(&id).map(|row| u64::from(*row)),
        }
    }
}

/// The type and unit that the attributes of one key share.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeyState {
    /// The position of a text of the key.
    pub(crate) text: (u32, u32),
    pub(crate) kind: u64,
    pub(crate) unit: u64,
    pub(crate) rows: u64,
}

impl KeyState {
    /// Whether a row has the type and unit of its key, as set by the first row.
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
    /// The reference to the function.
    pub(crate) function: u64,
    pub(crate) line: i64,
    pub(crate) column: i64,
    /// The row of the function, if the line counts as a use of it.
    pub(crate) row: Option<u64>,
    /// The position in the payload, if the line was decoded into a record.
    pub(crate) start: u32,
    /// The position of the line number in the location, and the length of the line, if it is canonical.
    pub(crate) at: u32,
    pub(crate) length: u32,
}

impl LineRow {
    /// The values by which lines are compared.
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
    /// Whether an address is outside the mapping. Address 0 is unset, and a mapping without a range contains every
    /// address. Both ends count as inside: return addresses may point one past the last instruction.
    #[inline(always)]
    pub(crate) fn excludes(&self, address: u64) -> bool {
        let inside = address >= self.start && address <= self.limit;
        address != 0 && self.limit > self.start && !inside
    }
}

/// The facts of a mapping against which locations are checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MappingFact {
    pub(crate) start: u64,
    pub(crate) limit: u64,
    pub(crate) has_functions: bool,
    /// Whether any flag claims functions, file names, line numbers or inlined frames.
    pub(crate) has_any: bool,
    /// Whether the mapping has locations, and whether any of them has lines.
    pub(crate) located: bool,
    pub(crate) lined: bool,
}

impl PayloadState {
    /// A fingerprint of 128 bits that resists collision attacks.
    ///
    /// Each walk has a new random seed, so an attacker cannot search for collisions, and accidental ones do not
    /// occur at 128 bits.
    pub(crate) fn fingerprint(&mut self, bytes: &[u8]) -> u128 {
        if self.seed == 0 {
            // 0 means that there is no seed yet.
            self.seed = foldhash::fast::RandomState::default().hash_one(1u8) | 1;
        }
        xxhash_rust::xxh3::xxh3_128_with_seed(bytes, self.seed)
    }
}
