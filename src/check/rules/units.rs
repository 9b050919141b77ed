//! The units of value types.
//!
//! Attributes have units too, for which 1.11 wants UCUM (`OP5013`). Value types are inherited from pprof, which
//! spells out `nanoseconds` and `count`, so both vocabularies are accepted here.

use super::*;
use crate::units::is_plural_word;
use crate::units::ucum::is_ucum;

/// Cell of the unit: the field `unit` in pprof and 1.3, `unit_strindex` later.
const UNIT: usize = VALUE_TYPE.cell("unit_strindex");

/// Whether a unit is usual for the values of profiles: a plural such as `nanoseconds`, or a unit of UCUM.
///
/// The empty unit is left to `OP2010`. Compared case-sensitively, as viewers do.
fn is_usual(unit: &[u8]) -> bool {
    const NOUNS: [&[u8]; 8] =
        [b"", b"count", b"percent", b"objects", b"cycles", b"instructions", b"events", b"samples"];
    let is_plural = || std::str::from_utf8(unit).is_ok_and(is_plural_word);
    NOUNS.contains(&unit) || is_plural() || is_ucum(unit)
}

/// Checks the unit of a value type, whether of a sample type or of the period. A reference out of range has its own
/// finding.
pub(crate) fn value_type(cx: &mut CheckContext<'_>, record: &Record) {
    let Some(unit) = cx.string(record.number(UNIT)) else { return };
    if !cx.memo.is(unit, is_usual) {
        cx.report(
            &OP8012,
            record.field(UNIT),
            Shown(unit),
            "count, bytes, nanoseconds or a UCUM unit",
        );
    }
}
