//! Numbers formatted for people. JSON contains the plain numbers.
//!
//! The exact number comes first and the rounded one in brackets, so that readers see which is
//! rounded.

pub(crate) use otlp_profiles::units::grouped;
use otlp_profiles::units::{Dimension, Unit};

/// Formats a count and a noun: `1 profile`, `2,000 profiles`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{} {noun}{s}", grouped(count))
}

/// Formats a size: `300,005,368 bytes (286.1 MiB)`.
pub(crate) fn bytes(count: u64) -> String {
    with_unit(&counted(count, "byte"), in_units(i128::from(count), BYTES))
}

/// Formats a value in the unit of its profile: `79,966,170,000,000 nanoseconds (22.2 h)`.
pub(crate) fn value(number: i128, unit: &str) -> String {
    with_unit(&exact(number, unit), rounded(number, unit))
}

/// Formats a value in the largest unit that fits, if there is one: `22.2 h`, else `163 count`.
pub(crate) fn short(number: i128, unit: &str) -> String {
    rounded(number, unit).unwrap_or_else(|| exact(number, unit))
}

fn exact(number: i128, unit: &str) -> String {
    let number = grouped(number);
    if unit.is_empty() { number } else { format!("{number} {unit}") }
}

/// The value in a larger unit.
fn rounded(number: i128, unit: &str) -> Option<String> {
    let unit = Unit::of(unit)?;
    match unit.dimension() {
        Dimension::Bytes => larger(number, unit, BYTES),
        Dimension::Time => larger(number, unit, TIME),
        _ => None,
    }
}

/// Appends the rounded number in brackets, if there is one.
fn with_unit(exact: &str, short: Option<String>) -> String {
    match short {
        Some(short) => format!("{exact} ({short})"),
        None => exact.to_owned(),
    }
}

/// Names of units and their size in the smallest unit, the largest first.
type Units = [(&'static str, i128)];

/// Smaller units would not shorten a number of bytes.
const BYTES: &Units = &[("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20)];
/// The number of nanoseconds in a second.
const SECOND: i128 = 1_000_000_000;
/// Units of time. Microseconds are no easier to read than nanoseconds.
const TIME: &Units =
    &[("h", 3600 * SECOND), ("min", 60 * SECOND), ("s", SECOND), ("ms", SECOND / 1000)];

/// Formats a number in another unit of its dimension, if a larger one makes it shorter.
///
/// Returns `None` on overflow of 128 bits, so that only the exact number appears.
fn larger(number: i128, unit: Unit, units: &Units) -> Option<String> {
    let total = number.checked_mul(unit.factor())?;
    let is_larger = units
        .iter()
        .any(|(_, one)| *one > unit.factor() && total.unsigned_abs() >= one.unsigned_abs());
    is_larger.then(|| in_units(total, units)).flatten()
}

/// Formats a number in the largest unit that it reaches, to one decimal.
fn in_units(number: i128, units: &Units) -> Option<String> {
    let (name, unit) = units.iter().find(|(_, unit)| number.abs() >= *unit)?;
    // Round half away from zero.
    let tenths = (number.checked_abs()?.checked_mul(10)? + unit / 2) / unit;
    let sign = if number < 0 { "-" } else { "" };
    let whole = grouped(tenths / 10);
    Some(match tenths % 10 {
        0 => format!("{sign}{whole} {name}"),
        tenth => format!("{sign}{whole}.{tenth} {name}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (-1_234_567, "-1,234,567"),
            (i128::MIN, "-170,141,183,460,469,231,731,687,303,715,884,105,728"),
        ] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(counted(1, "byte"), "1 byte");
        assert_eq!(counted(7001, "sample"), "7,001 samples");
    }

    #[test]
    fn large_numbers_are_said_twice_and_exactly_once() {
        assert_eq!(bytes(300_005_368), "300,005,368 bytes (286.1 MiB)");
        assert_eq!(bytes(5_695), "5,695 bytes");
        for (number, unit, text) in [
            (79_966_170_000_000, "nanoseconds", "79,966,170,000,000 nanoseconds (22.2 h)"),
            (1_630_000_000, "nanoseconds", "1,630,000,000 nanoseconds (1.6 s)"),
            (999_999, "ns", "999,999 ns"),
            (90, "s", "90 s (1.5 min)"),
            (59, "s", "59 s"),
            (2_000_000, "μs", "2,000,000 μs (2 s)"),
            (-3 << 20, "bytes", "-3,145,728 bytes (-3 MiB)"),
            (163, "count", "163 count"),
            (5000, "", "5,000"),
            (i128::MAX, "bytes", "170,141,183,460,469,231,731,687,303,715,884,105,727 bytes"),
        ] {
            assert_eq!(value(number, unit), text);
        }
    }
}
