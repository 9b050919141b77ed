//! The units of value types.
//!
//! Attributes have units too, for which 1.11 wants UCUM (`OP5013`). The types of values came from
//! pprof, where `nanoseconds` and `count` are written out, so both vocabularies are taken here.

use super::ucum::is_ucum;
use super::*;

/// Cell of the unit; a field `unit` in pprof and 1.3, `unit_strindex` later.
const UNIT: usize = VALUE_TYPE.cell("unit_strindex");

/// Units that are usual for values of profiles.
///
/// The empty one is no unit, which `OP2010` asks. Matched as they are written, as viewers do.
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

/// The unit of a value type.
///
/// Asked of sample types and of the period alike. A reference that leads nowhere was told by its
/// index.
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
