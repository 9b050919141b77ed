//! Text: whether it is UTF-8, what it must not hold, how long it is.
//!
//! The bytes of `string` fields of OTLP have to be UTF-8; pprof never says so, and its readers keep what there is, so that
//! a warning is enough there.
//!
//! Most text is ASCII and short. So it is first asked, eight bytes at a time, whether there is
//! anything to say ([`needs_check`]); only what is odd comes to [`check`], which asks rule by rule.

use std::ops::Range;

use super::catalogue::{OP1018, OP1030, OP5015, OP9004, PP1027};
use super::context::{CheckContext, LONG, is_original};
use super::findings::{Position, Shown};
use super::layout::{Slot, Take};
use crate::schema::Version;
use crate::wire::varint::CONTINUES;

/// Whether there may be something to say of a text: it is not printable ASCII.
///
/// The last eight bytes are looked at as one word that may overlap the one before: no tail is left
/// over. DEL (0x7f) is not odd, and neither is it a control of C0.
#[inline(always)]
pub(crate) fn needs_check(text: &[u8]) -> bool {
    let Some(last) = text.last_chunk() else {
        return text.iter().any(|byte| *byte < 0x20 || *byte >= 0x80);
    };
    // A byte below a space takes one from the high bit of its own: where there is none, each is told by its own bits.
    let odd = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word);
        (word | word.wrapping_sub(each(b' '))) & CONTINUES
    };
    let words = text.as_chunks().0.iter();
    words.fold(odd(last), |found, word| found | odd(word)) != 0
}

/// Whether a byte occurs, with a high bit or without.
///
/// May say yes though the byte does not occur (0xa5 for 0x25): who asks looks again.
#[inline(always)]
pub(crate) fn has(bytes: &[u8], byte: u8) -> bool {
    let Some(last) = bytes.last_chunk() else {
        return bytes.iter().any(|other| other & 0x7f == byte);
    };
    // Seven bits and all of seven bits: a carry into the high bit, unless they are 0.
    let is_other =
        |word: &[u8; 8]| ((u64::from_le_bytes(*word) & !CONTINUES) ^ each(byte)) + !CONTINUES;
    let words = bytes.as_chunks().0.iter();
    words.fold(is_other(last), |all, word| all & is_other(word)) & CONTINUES != CONTINUES
}

/// A byte eight times.
///
/// For comparing eight bytes with one.
const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Says what there is to say of a text or of bytes.
///
/// Texts that are long are also looked through: the rules do not exclude each other. The original
/// payload may be long.
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
