//! The texts of stacks that were met. A text is kept as the frames it is made of: most stacks have frames that others
//! have, and their texts would be most of what a long file takes.
//!
//! ```text
//! main;run;poll   ─► parts [0, 1, 2]         parts: 0 main, 1 run, 2 poll, 3 parse
//! main;run;parse  ─► parts [0, 1, 3]         four bytes a frame instead of its name
//! ```

use crate::builder::seed::Seed;
use crate::error::Result;
use crate::limits::within;
use crate::model::ragged::Ragged;
use crate::model::row_index::RowIndex;

/// Texts of stacks, by their numbers.
///
/// Numbers are given in the order in which texts are added, so they are rows of the reader's own
/// columns. Two tables of rows by hash ([`RowIndex`]) hold no text themselves: equality looks into
/// the columns.
#[derive(Default)]
pub(super) struct StackTexts {
    seed: Seed,
    /// What texts are made of, each once: frames, and what stands before these.
    parts: Vec<Box<[u8]>>,
    /// From the hash of a part to its number.
    by_part: RowIndex,
    /// The parts of each text, between which a `;` stands.
    stacks: Ragged<u32>,
    /// From the hash of a whole text to its number.
    by_stack: RowIndex,
}

impl StackTexts {
    /// The number of a text that was met.
    ///
    /// Linear in the text, whatever was met before: the text is hashed whole and compared with
    /// parts.
    pub(super) fn find(&self, text: &[u8]) -> Option<usize> {
        let found = self.by_stack.find(self.seed.bytes(text), |row| self.is(row as usize, text));
        found.map(|row| row as usize)
    }

    /// Whether the text of a row is this one: part by part, as parts are shared between texts.
    fn is(&self, row: usize, text: &[u8]) -> bool {
        let mut rest = Some(text);
        for (at, part) in self.stacks.row(row).iter().enumerate() {
            let part = &self.parts[*part as usize];
            rest = rest.and_then(|rest| if at == 0 { Some(rest) } else { rest.strip_prefix(b";") });
            rest = rest.and_then(|rest| rest.strip_prefix(&part[..]));
        }
        rest == Some(b"")
    }

    /// The number of a part of a text.
    ///
    /// Given in the order of first use, as the reader keeps what each part means beside it.
    pub(super) fn part(&mut self, text: &[u8]) -> u32 {
        let hash = self.seed.bytes(text);
        let found = self.by_part.find(hash, |row| *self.parts[row as usize] == *text);
        found.unwrap_or_else(|| {
            let row = self.parts.len() as u32;
            self.parts.push(text.into());
            self.by_part.add(hash, row);
            row
        })
    }

    /// Adds a text that was not met, by its parts.
    ///
    /// # Errors
    ///
    /// More parts in all than 32 bits count.
    pub(super) fn add(&mut self, text: &[u8], parts: &[u32]) -> Result<()> {
        let items = (self.stacks.items.len() + parts.len()) as u64;
        within("max_table_entries", u64::from(u32::MAX), items)?;
        self.by_stack.add(self.seed.bytes(text), self.stacks.len() as u32);
        self.stacks.push(parts);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_and_no_other() {
        let mut texts = StackTexts::default();
        let known = ["", ";", "a", "a;b", "a;bc", "ab;c", "a;b;", ";a", "a;b_[i];c"];
        for (row, text) in known.iter().enumerate() {
            assert_eq!(texts.find(text.as_bytes()), None, "{text:?}");
            let parts: Vec<u32> = text.split(';').map(|part| texts.part(part.as_bytes())).collect();
            texts.add(text.as_bytes(), &parts).unwrap();
            assert_eq!(texts.find(text.as_bytes()), Some(row), "{text:?}");
        }
        assert_eq!((texts.part(b"a"), texts.part(b"a")), (1, 1));
        // Where hashes are equal, the parts decide.
        for (row, text) in known.iter().enumerate() {
            for (other, _) in known.iter().enumerate() {
                assert_eq!(texts.is(other, text.as_bytes()), row == other, "{text:?}");
            }
        }
    }
}
