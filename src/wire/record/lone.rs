//! Numbers that are alone in their list, and zeros that are written.
//!
//! Protobuf's readers take an unpacked number for a list of one. `Layout::Compact` writes it so. A
//! 0 is written where a field has presence (`optional`), and 0 refers to the first row.

use crate::wire::codes::Code;
use crate::wire::record::Fields;
use crate::wire::write::long_varint;
use crate::wire::{VARINT, tag};

impl Fields<'_> {
    /// A varint field that is 0 and says so.
    pub(crate) fn zero(&mut self, number: u32) {
        self.lone(number);
        self.put(0, 1);
    }

    /// A packed field of varints, left out when there is none; one alone is not packed where `unpacked`
    /// says so: that is a byte less.
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

    /// An index in a list of its own, not packed, even where it is 0.
    #[inline(always)]
    pub(crate) fn lone_code(&mut self, number: u32, code: Code) {
        if number != 0 {
            self.lone(number);
            self.put(code.0, code.length());
        }
    }

    /// Begins a varint field that is written even where it is 0.
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
