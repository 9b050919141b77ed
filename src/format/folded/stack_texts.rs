//! Deduplicates the texts of stacks. A text is stored as a list of frames: most stacks share frames with
//! others, and complete texts would take most of the memory of a long file.
//!
//! ```text
//! main;run;poll   ─► parts [0, 1, 2]         parts: 0 main, 1 run, 2 poll, 3 parse
//! main;run;parse  ─► parts [0, 1, 3]         four bytes a frame instead of its name
//! ```

use crate::error::Result;
use crate::limits::within;
use crate::model::ragged::Ragged;
use crate::model::row_index::RowIndex;
use crate::tables::rows::seed::Seed;

/// Texts of stacks, numbered in order of insertion, so the numbers are row numbers of the reader's columns.
///
/// Two hash tables of row numbers ([`RowIndex`]) store no text: they compare with the columns.
#[derive(Default)]
pub(super) struct StackTexts {
    seed: Seed,
    /// The distinct parts of texts: frames, and the pseudo-frames before them.
    parts: Vec<Box<[u8]>>,
    /// Part numbers by the hash of the part.
    by_part: RowIndex,
    /// The parts of each text, which are separated by `;`.
    stacks: Ragged<u32>,
    /// Text numbers by the hash of the whole text.
    by_stack: RowIndex,
}

impl StackTexts {
    /// Returns the number of a known text.
    ///
    /// Takes time linear in the text: hashes it once and compares it with parts.
    pub(super) fn find(&self, text: &[u8]) -> Option<usize> {
        let found = self.by_stack.find(self.seed.bytes(text), |row| self.is(row as usize, text));
        found.map(|row| row as usize)
    }

    /// Returns whether the text of a row equals `text`, compared part by part.
    fn is(&self, row: usize, text: &[u8]) -> bool {
        let mut rest = Some(text);
        for (at, part) in self.stacks.row(row).iter().enumerate() {
            let part = &self.parts[*part as usize];
            rest = rest.and_then(|rest| if at == 0 { Some(rest) } else { rest.strip_prefix(b";") });
            rest = rest.and_then(|rest| rest.strip_prefix(&part[..]));
        }
        rest == Some(b"")
    }

    /// Returns the number of a part, and adds it if it is new.
    ///
    /// Numbers follow the order of first use, because the reader stores data of parts in a column.
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

    /// Adds a new text by its parts.
    ///
    /// # Errors
    ///
    /// The total number of parts exceeds 32 bits.
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
        // If hashes are equal, the comparison of parts decides.
        for (row, text) in known.iter().enumerate() {
            for (other, _) in known.iter().enumerate() {
                assert_eq!(texts.is(other, text.as_bytes()), row == other, "{text:?}");
            }
        }
    }
}
