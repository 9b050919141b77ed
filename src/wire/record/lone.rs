//! Writes single list elements without packing, and zeros that must not be omitted.
//!
//! Protobuf readers accept an unpacked number as a list of one element, which `Layout::Compact` writes to save a
//! byte. An explicit 0 is needed for fields with presence (`optional`), and if 0 refers to the first row.

use crate::wire::codes::EncodedIndex;
use crate::wire::record::Fields;
use crate::wire::write::long_varint;
use crate::wire::{VARINT, tag};

impl Fields<'_> {
    /// Writes a varint field that is 0.
    pub(crate) fn zero(&mut self, number: u32) {
        self.lone(number);
        self.put(0, 1);
    }

    /// Writes a packed field of varints. Omits it if it is empty. If `unpacked`, a single element is not packed,
    /// which takes a byte less.
    // Always inlined. Without any in the library, encoding 1.10 takes up to 25 % more instructions.
    #[inline(always)]
    pub(crate) fn list(
        &mut self,
        number: u32,
        mut values: impl ExactSizeIterator<Item = u64>,
        unpacked: bool,
    ) {
        if !unpacked || values.len() != 1 {
            self.varints(number, values);
        } else if let Some(value) = values.next().filter(|_| number != 0) {
            self.lone(number);
            self.value(value);
        }
    }

    /// Writes a list of one index without packing, even if the index is 0.
    #[inline(always)]
    pub(crate) fn lone_code(&mut self, number: u32, code: EncodedIndex) {
        if number != 0 {
            self.lone(number);
            self.put(code.0, code.length());
        }
    }

    /// Writes the tag of a varint field.
    #[inline(always)]
    fn lone(&mut self, number: u32) {
        let tag = u64::from(tag(number, VARINT));
        if tag < 0x80 {
            self.put(tag, 1);
        } else {
            self.at = long_varint(self.window, self.at, tag);
        }
    }
}
