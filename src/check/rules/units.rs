//! Units: of value types, and what looks like one of UCUM.

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

/// Units that are usual, or look like UCUM.
pub(crate) fn is_ucum(unit: &[u8]) -> bool {
    const KNOWN: &[&str] = &[
        "", "1", "%", "s", "ms", "us", "ns", "ps", "min", "h", "d", "wk", "mo", "a", "By", "kBy",
        "MBy", "GBy", "TBy", "KiBy", "MiBy", "GiBy", "TiBy", "bit", "kbit", "Mbit", "Kibit",
        "Mibit", "Hz", "kHz", "MHz", "GHz", "m", "km", "cm", "mm", "g", "kg", "K", "Cel", "W",
        "kW", "J", "kJ", "V", "mV", "A", "mA", "Pa", "kPa",
    ];
    let Ok(text) = std::str::from_utf8(unit) else { return false };
    text.split(['/', '.'])
        .all(|part| KNOWN.contains(&part) || (part.ends_with('}') && part.contains('{')))
}
