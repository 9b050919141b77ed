//! Finding a row by what is in it, without a second copy of what is in it.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::{FoldHasher, RandomState};
use hashbrown::HashTable;

use crate::model::id::Id;

/// Row numbers of a table, found by a hash of the row. Whether a row is the one looked for is asked
/// of the table itself. Half of each hash is kept: rows are asked only where it is equal, and a
/// table that grows hashes nothing again. Nothing ever walks the index, so its order, which is
/// random, shows nowhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index(HashTable<Entry>);

#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: u32,
    row: u32,
}

/// How many times as large a full table of rows becomes. Each time it grows all rows are put into it
/// again, so it does so seldom while it is small, and takes no more than it needs once it is large.
pub(crate) fn growth(rows: usize) -> usize {
    if rows < 1 << 13 { 4 } else { 2 }
}

impl Entry {
    /// The half of a hash that is kept.
    #[inline]
    fn half(hash: u64) -> u32 {
        (hash >> 32) as u32
    }

    /// What the table goes by: its buckets by the low bits, its tags by the high ones.
    #[inline]
    fn whole(half: u32) -> u64 {
        u64::from(half) << 32 | u64::from(half)
    }
}

impl Index {
    #[inline]
    pub(crate) fn find(&self, hash: u64, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        let hash = Entry::half(hash);
        let is_it = |entry: &Entry| entry.hash == hash && is_it(entry.row);
        self.0.find(Entry::whole(hash), is_it).map(|entry| entry.row)
    }

    /// Adds a row that is not there.
    #[inline]
    pub(crate) fn add(&mut self, hash: u64, row: u32) {
        let hash = Entry::half(hash);
        let rehash = |entry: &Entry| Entry::whole(entry.hash);
        if self.0.len() == self.0.capacity() {
            let rows = self.0.len();
            self.0.reserve((growth(rows) - 1) * rows, rehash);
        }
        let entry = Entry { hash, row };
        self.0.insert_unique(Entry::whole(hash), entry, rehash);
    }

    /// Forgets all rows, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Of the rows that begin with the same row of another table, the first: the first function of a
/// name, the first location in a function. What begins with a row that is new is new as well: this
/// says so without a hash, and keeps the rows that nothing else begins like out of the [`Index`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Firsts(Vec<u32>);

impl Firsts {
    const NONE: u32 = u32::MAX;

    /// The first row that begins with row `of`.
    #[inline]
    pub(crate) fn of(&self, of: u32) -> Option<u32> {
        let first = self.0.get(of as usize).copied();
        first.filter(|row| *row != Self::NONE)
    }

    /// Notes the first row that begins with row `of`.
    #[inline]
    pub(crate) fn add(&mut self, of: u32, row: u32) {
        let of = of as usize;
        if self.0.len() <= of {
            self.0.resize(of, Self::NONE);
            self.0.push(row);
        } else {
            self.0[of] = row;
        }
    }

    /// Forgets all rows, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The hash of the interner: seeded anew each time, so nobody can prepare keys that collide.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seed(RandomState);

impl Seed {
    #[inline]
    pub(crate) fn hasher(&self) -> FoldHasher<'static> {
        self.0.build_hasher()
    }

    #[inline]
    pub(crate) fn bytes(&self, bytes: &[u8]) -> u64 {
        let mut hasher = self.hasher();
        hasher.write(bytes);
        hasher.finish()
    }

    #[inline]
    pub(crate) fn of(&self, row: &impl std::hash::Hash) -> u64 {
        self.0.hash_one(row)
    }

    #[inline]
    pub(crate) fn ids<I: Id>(&self, ids: &[I]) -> u64 {
        let mut hasher = self.hasher();
        write_ids(&mut hasher, ids);
        hasher.finish()
    }
}

/// Hashes ids four at a time, and how many there were.
#[inline]
pub(crate) fn write_ids<I: Id>(hasher: &mut FoldHasher<'_>, ids: &[I]) {
    let (fours, rest) = ids.as_chunks::<4>();
    for &[a, b, c, d] in fours {
        let low = u64::from(a.number()) | u64::from(b.number()) << 32;
        let high = u64::from(c.number()) | u64::from(d.number()) << 32;
        hasher.write_u128(u128::from(high) << 64 | u128::from(low));
    }
    let mut last = (ids.len() as u128) << 96;
    for (place, id) in rest.iter().enumerate() {
        last |= u128::from(id.number()) << (32 * place);
    }
    hasher.write_u128(last);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::LocationId;

    #[test]
    fn the_first_is_of_its_own_row_only() {
        let mut firsts = Firsts::default();
        firsts.add(5, 1);
        firsts.add(2, 7);
        let all: Vec<_> = (0..7).map(|of| firsts.of(of)).collect();
        assert_eq!(all, [None, None, Some(7), None, None, Some(1), None]);
        firsts.clear();
        assert_eq!(firsts.of(5), None);
    }

    #[test]
    fn every_id_and_the_length_count() {
        let seed = Seed::default();
        let row: Vec<_> = (0..9).map(LocationId).collect();
        let mut hashes: Vec<_> = (0..=9).map(|n| seed.ids(&row[..n])).collect();
        for changed in 0..9 {
            let mut other = row.clone();
            other[changed] = LocationId(77);
            hashes.push(seed.ids(&other));
        }
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 19);
    }
}
