//! What was found out about long texts, remembered by place.
//!
//! Any number of rows may refer to one text. A rule that reads all of it at each reference takes time that grows with
//! the product of both, so long texts are read once for each question, and compared by their fingerprints. Short ones
//! are read each time, which is bounded and costs less than looking up an answer.

use std::cell::RefCell;
use std::hash::BuildHasher;

use super::state::Map;

/// The longest text, in bytes, that is read at each reference.
const SHORT: usize = 64;

/// Answers about the texts of one payload, which must live as long as this: a text is known by where it is.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    /// By question, place and length; 64 bytes or so for each text of more than 64.
    answers: RefCell<Map<(usize, usize, usize), u128>>,
    /// Seeds fingerprints: nobody outside can look for two texts of one.
    hasher: foldhash::fast::RandomState,
}

impl Memo {
    /// The answer to a question about a text.
    #[inline]
    pub(crate) fn is(&self, text: &[u8], question: fn(&[u8]) -> bool) -> bool {
        match text.len() <= SHORT {
            true => question(text),
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

    /// The same number for equal texts, another one for others.
    pub(crate) fn fingerprint(&self, text: &[u8]) -> u128 {
        let made =
            |text: &[u8]| xxhash_rust::xxh3::xxh3_128_with_seed(text, self.hasher.hash_one(1u8));
        match text.len() <= SHORT {
            true => made(text),
            // No function is at address 0.
            false => self.answer(0, text, made),
        }
    }

    /// The answer that is remembered, or is found now.
    #[cold]
    fn answer(&self, question: usize, text: &[u8], find: impl Fn(&[u8]) -> u128) -> u128 {
        let place = (question, text.as_ptr() as usize, text.len());
        *self.answers.borrow_mut().entry(place).or_insert_with(|| find(text))
    }
}
