//! Text: whether it is UTF-8, what it must not hold, how long it is.
//!
//! The bytes of `string` fields of OTLP have to be UTF-8; pprof never says so, and its readers keep what there is, so that
//! a warning is enough there.

use std::ops::Range;

use super::catalogue::{OP1018, OP1030, OP5015, OP9004, PP1027};
use super::cx::{Cx, LONG, is_original};
use super::findings::{Shown, Spot};
use super::shape::{Slot, Take};
use crate::schema::Version;

/// Whether there may be something to say of a text: it is not printable ASCII.
#[inline(always)]
pub(crate) fn is_odd(text: &[u8]) -> bool {
    let (mut high, mut low) = (0, false);
    for byte in text {
        high |= byte;
        low |= *byte < 0x20;
    }
    high >= 0x80 || low
}

/// Says what there is to say of a text or of bytes.
#[cold]
#[inline(never)]
pub(crate) fn check(cx: &mut Cx<'_>, slot: &Slot, spot: Spot, body: Range<usize>) {
    let bytes = cx.bytes.get(body).unwrap_or_default();
    let (length, most) = (bytes.len(), cx.limits.max_string_bytes);
    if length > LONG && !is_original(slot) {
        cx.findings.raise(&OP5015, spot, format_args!("{length} bytes"), LONG);
    }
    if length as u64 > most && !is_original(slot) {
        cx.findings.raise(&OP9004, spot, format_args!("{length} bytes"), most);
    }
    if slot.take != Take::Text {
        return;
    }
    if std::str::from_utf8(bytes).is_err() {
        let rule = if cx.version == Version::Pprof { &PP1027 } else { &OP1018 };
        cx.findings.raise(rule, spot, Shown(bytes), "UTF-8");
    }
    if bytes.iter().any(|byte| *byte < 0x20 && !matches!(byte, b'\t' | b'\n')) {
        cx.findings.raise(&OP1030, spot, Shown(bytes), "");
    }
}
