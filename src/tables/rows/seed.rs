//! The hash function of the interner.
//!
//! All hashes of a builder use one seed, so a hash computed for a lookup also serves the insertion. Hashes never
//! leave memory, so the ids and bytes of a payload do not depend on the seed.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::{FoldHasher, RandomState};

use crate::model::id::Id;

/// The seed of the interner's hashes. It is random, so that an attacker cannot construct colliding keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seed(RandomState);

impl Seed {
    /// Creates a hasher.
    #[inline]
    pub(crate) fn hasher(&self) -> FoldHasher<'static> {
        self.0.build_hasher()
    }

    /// Returns the hash of a string, as bytes, because it may not be UTF-8.
    #[inline]
    pub(crate) fn bytes(&self, bytes: &[u8]) -> u64 {
        let mut hasher = self.hasher();
        hasher.write(bytes);
        hasher.finish()
    }

    /// Returns the hash of a row.
    #[inline]
    pub(crate) fn of(&self, row: &impl std::hash::Hash) -> u64 {
        self.0.hash_one(row)
    }

    /// Returns the hash of a stack or a set of attributes.
    #[inline]
    pub(crate) fn ids<I: Id>(&self, ids: &[I]) -> u64 {
        let mut hasher = self.hasher();
        write_ids(&mut hasher, ids);
        hasher.finish()
    }
}

/// Hashes ids, four at a time, and their number.
///
/// The number is part of the last word, so that lists differ from those with trailing zeros.
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
