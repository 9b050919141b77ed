//! The units of value types.

use super::ucum::is_ucum;
use crate::check::catalogue::OP8012;
use crate::check::cx::Cx;
use crate::check::findings::{Shown, Spot};
use crate::check::record::Record;
use crate::schema::{VALUE_TYPE, Version};

const UNIT: usize = VALUE_TYPE.cell("unit_strindex");

/// Units that are usual for values of profiles.
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
pub(crate) fn value_type(cx: &mut Cx<'_>, record: &Record) {
    let Some(unit) = cx.string(record.number(UNIT)) else { return };
    if !UNITS.contains(&unit) && !is_ucum(unit) {
        let name = match cx.version {
            Version::Pprof | Version::V1_3 => "unit",
            _ => "unit_strindex",
        };
        let spot = Spot::at(record.at(UNIT)).field(name);
        cx.findings.raise(&OP8012, spot, Shown(unit), "count, bytes, nanoseconds or a UCUM unit");
    }
}
