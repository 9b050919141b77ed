//! The units of value types.
//!
//! Attributes have units too, for which 1.11 wants UCUM (`OP5013`). Value types are inherited from pprof, which
//! spells out `nanoseconds` and `count`, so both vocabularies are accepted here.

use super::ucum::is_ucum;
use super::*;

/// Cell of the unit: the field `unit` in pprof and 1.3, `unit_strindex` later.
const UNIT: usize = VALUE_TYPE.cell("unit_strindex");

/// Usual units for the values of profiles.
///
/// The empty unit is left to `OP2010`. Compared case-sensitively, as viewers do.
const UNITS: &[&[u8]] = &[
    b"",
    b"count",
    b"bytes",
    b"nanoseconds",
    b"microseconds",
    b"milliseconds",
    b"seconds",
    b"minutes",
    b"hours",
    b"kilobytes",
    b"megabytes",
    b"gigabytes",
    b"percent",
    b"objects",
    b"samples",
    b"cycles",
    b"instructions",
    b"events",
];

/// Checks the unit of a value type, whether of a sample type or of the period. A reference out of range has its own
/// finding.
pub(crate) fn value_type(cx: &mut CheckContext<'_>, record: &Record) {
    let Some(unit) = cx.string(record.number(UNIT)) else { return };
    if !UNITS.contains(&unit) && !cx.memo.is(unit, is_ucum) {
        cx.report(
            &OP8012,
            record.field(UNIT),
            Shown(unit),
            "count, bytes, nanoseconds or a UCUM unit",
        );
    }
}
