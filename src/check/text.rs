//! Strings: UTF-8, control characters and length.
//!
//! OTLP's `string` fields must be UTF-8. pprof does not require it, and its readers keep any bytes, so a warning
//! suffices there.
//!
//! Most strings are short ASCII. [`needs_check`] tests eight bytes at a time whether a string may break a rule;
//! only then [`check`] applies the rules one by one.

use std::ops::Range;

use super::catalogue::{OP1018, OP1030, OP5015, OP9004, PP1027};
use super::context::{CheckContext, LONG, is_original};
use super::findings::{Position, Shown};
use super::layout::{Slot, Take};
use crate::schema::Version;
use crate::wire::varint::CONTINUES;

/// Whether a string may break a rule, because it is not printable ASCII.
///
/// The last eight bytes are one word that may overlap the one before, so no tail is left over. DEL (0x7f) passes:
/// it is not a C0 control character.
#[inline]
pub(crate) fn needs_check(text: &[u8]) -> bool {
    let Some(last) = text.last_chunk() else {
        return text.iter().any(|byte| *byte < 0x20 || *byte >= 0x80);
    };
    // Subtracting a space from a byte below it sets its high bit. Borrows between bytes do not matter: only bytes
    // that fail themselves start one.
    let odd = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word);
        (word | word.wrapping_sub(each(b' '))) & CONTINUES
    };
    let words = text.as_chunks().0.iter();
    words.fold(odd(last), |found, word| found | odd(word)) != 0
}

/// Whether a byte occurs, with or without its high bit.
///
/// May return a false positive (0xa5 for 0x25), so callers check again.
#[inline]
pub(crate) fn has(bytes: &[u8], byte: u8) -> bool {
    let Some(last) = bytes.last_chunk() else {
        return bytes.iter().any(|other| other & 0x7f == byte);
    };
    // Adding 0x7f to seven bits carries into the high bit, unless they are 0.
    let is_other =
        |word: &[u8; 8]| ((u64::from_le_bytes(*word) & !CONTINUES) ^ each(byte)) + !CONTINUES;
    let words = bytes.as_chunks().0.iter();
    words.fold(is_other(last), |all, word| all & is_other(word)) & CONTINUES != CONTINUES
}

/// Repeats a byte eight times, for comparisons with eight bytes.
const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Checks a string or bytes against all rules.
///
/// The rules do not exclude each other, so long strings are also checked for their contents. The original payload
/// may have any length.
#[cold]
#[inline(never)]
pub(crate) fn check(cx: &mut CheckContext<'_>, slot: &Slot, spot: Position, body: Range<usize>) {
    let bytes = cx.bytes.get(body).unwrap_or_default();
    let (length, most) = (bytes.len(), cx.limits.max_string_bytes);
    if length > LONG && !is_original(slot) {
        cx.report(&OP5015, spot, format_args!("{length} bytes"), LONG);
    }
    if length as u64 > most && !is_original(slot) {
        cx.report(&OP9004, spot, format_args!("{length} bytes"), most);
    }
    if slot.take != Take::Text {
        return;
    }
    if std::str::from_utf8(bytes).is_err() {
        let rule = if cx.version == Version::Pprof { &PP1027 } else { &OP1018 };
        cx.report(rule, spot, Shown(bytes), "");
    }
    if bytes.iter().any(|byte| *byte < 0x20 && !matches!(byte, b'\t' | b'\n')) {
        cx.report(&OP1030, spot, Shown(bytes), "");
    }
}

#[cfg(test)]
mod tests {
    use super::{has, needs_check};

    #[test]
    fn a_byte_that_is_not_printable_is_found_wherever_it_is() {
        for length in 0..40 {
            for at in 0..length {
                for byte in 0..=u8::MAX {
                    let mut text = vec![b' ' + (length as u8).wrapping_add(byte) % 95; length];
                    text[at] = byte;
                    let odd = |byte: &u8| *byte < 0x20 || *byte >= 0x80;
                    assert_eq!(needs_check(&text), text.iter().any(odd), "{text:?}");
                    let same = |other: &u8| other & 0x7f == 0x20;
                    assert_eq!(has(&text, 0x20), text.iter().any(same), "{text:?}");
                }
            }
        }
    }
}
