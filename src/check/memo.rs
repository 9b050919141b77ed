//! Caches answers about long strings, by position.
//!
//! Any number of rows may refer to one string. A rule that reads all of it for each reference takes time that grows
//! with the product of both. So long strings are read once for each question, and compared by their fingerprints.
//! Short strings are read each time, which is bounded and cheaper than a lookup.

use std::cell::RefCell;
use std::hash::BuildHasher;

use super::state::Map;

/// The longest string, in bytes, that is read for each reference.
const SHORT: usize = 64;

/// Answers about the strings of one payload. The payload must outlive the cache, which identifies strings by their
/// address.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    /// Keyed by question, address and length; about 64 bytes for each string longer than 64.
    answers: RefCell<Map<(usize, usize, usize), u128>>,
    /// Seeds fingerprints, so that an attacker cannot search for collisions.
    hasher: foldhash::fast::RandomState,
}

impl Memo {
    /// Answers a question about a string.
    #[inline]
    pub(crate) fn is(&self, text: &[u8], question: fn(&[u8]) -> bool) -> bool {
        match text.len() <= SHORT {
            true => question(text),
            // The compiler may merge equal functions into one address; their answers are equal, too.
            false => self.answer(question as usize, text, |text| question(text).into()) != 0,
        }
    }

    /// Whether two texts are equal.
    #[inline]
    pub(crate) fn same(&self, one: &[u8], other: &[u8]) -> bool {
        match one.len() != other.len() || one.len() <= SHORT {
            true => one == other,
            false => self.fingerprint(one) == self.fingerprint(other),
        }
    }

    /// A fingerprint of 128 bits: equal for equal strings, different for others.
    pub(crate) fn fingerprint(&self, text: &[u8]) -> u128 {
        let made =
            |text: &[u8]| xxhash_rust::xxh3::xxh3_128_with_seed(text, self.hasher.hash_one(1u8));
        match text.len() <= SHORT {
            true => made(text),
            // No function is at address 0.
            false => self.answer(0, text, made),
        }
    }

    /// Returns the cached answer, or computes it.
    #[cold]
    fn answer(&self, question: usize, text: &[u8], find: impl Fn(&[u8]) -> u128) -> u128 {
        let place = (question, text.as_ptr() as usize, text.len());
        *self.answers.borrow_mut().entry(place).or_insert_with(|| find(text))
    }
}
