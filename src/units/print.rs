//! Values as pprof prints them.

use crate::units::table::{Dimension, Row, UNITS, find};

/// The unit that [`scale`] chooses by the value.
pub(crate) const AUTO: &str = "minimum";

/// Converts a value to a unit, or to the largest unit in which it is at least 1 ([`AUTO`]). A value of an unknown unit
/// stays as it is. The unit is empty if it is a mere count.
pub(crate) fn scale<'u>(value: i128, from: &str, to: &'u str) -> (f64, &'u str) {
    let magnitude = value.unsigned_abs() as f64;
    let sign = if value < 0 { -1.0 } else { 1.0 };
    let from = find(from).filter(|row| row.dimension != Dimension::Count);
    if let Some(from) = from {
        let base = magnitude * from.factor as f64;
        let chosen = match to {
            "minimum" | "auto" => best(from.dimension, base),
            to => find(to).filter(|row| row.dimension == from.dimension),
        };
        let row = chosen.unwrap_or_else(|| default(from));
        return (sign * (base / row.factor as f64), row.shown);
    }
    let to = match to {
        "count" | "sample" | "unit" | "minimum" | "auto" | "1" => "",
        annotation if annotation.starts_with('{') => "",
        other => other,
    };
    (sign * magnitude, to)
}

/// The largest unit in which a value is at least 1.
fn best(dimension: Dimension, value: f64) -> Option<&'static Row> {
    let mut rows = UNITS.iter().rev().filter(|row| row.is_automatic && row.dimension == dimension);
    rows.find(|row| value / row.factor as f64 >= 1.0)
}

/// pprof's unit for values below the smallest unit and for unknown target units.
fn default(from: &'static Row) -> &'static Row {
    let name = match from.dimension {
        Dimension::Time => "s",
        Dimension::Bytes => "b",
        Dimension::Compute => "gcu",
        Dimension::Count => "",
    };
    find(name).unwrap_or(from)
}

/// A value in a unit as pprof prints it: at most two decimals, and 0 without a unit.
pub(crate) fn label(value: i128, from: &str, to: &str) -> String {
    let (value, unit) = scale(value, from, to);
    let number = format!("{value:.2}");
    match number.strip_suffix(".00").unwrap_or(&number) {
        "0" | "-0" => "0".to_owned(),
        number => format!("{number}{unit}"),
    }
}

/// Groups the digits of a number by thousands.
///
/// ```
/// assert_eq!(otlp_profiles::units::grouped(-1_234_567), "-1,234,567");
/// ```
pub fn grouped(number: impl Into<i128>) -> String {
    let number = number.into();
    let digits = number.unsigned_abs().to_string();
    let mut text = String::from(if number < 0 { "-" } else { "" });
    for (at, digit) in digits.char_indices() {
        text.extend((at > 0 && (digits.len() - at).is_multiple_of(3)).then_some(','));
        text.push(digit);
    }
    text
}

/// A share as pprof prints it: without a sign, in at least two digits, six columns wide.
pub(crate) fn percentage(value: i128, total: i128) -> String {
    let ratio = if total == 0 { 0.0 } else { (value as f64 / total as f64).abs() * 100.0 };
    match ratio {
        99.95..=100.05 => "  100%".to_owned(),
        1.0.. => format!("{ratio:5.2}%"),
        _ => format!("{:>5}%", two_digits(ratio)),
    }
}

/// C's `%.2g` of a number from 0 to 1.
fn two_digits(number: f64) -> String {
    let scientific = format!("{number:.1e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 {
        let mantissa = mantissa.strip_suffix(".0").unwrap_or(mantissa);
        return format!("{mantissa}e-{:02}", exponent.unsigned_abs());
    }
    let fixed = format!("{number:.*}", (1 - exponent).max(0) as usize);
    if fixed.contains('.') {
        return fixed.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    fixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_printed_as_pprof_prints_them() {
        for (value, from, to, text) in [
            (1500, "nanoseconds", AUTO, "1.50us"),
            (1000, "nanoseconds", "ns", "1000ns"),
            (-10, "ns", AUTO, "-10ns"),
            (0, "ns", AUTO, "0"),
            (1_500_000, "ns", "fortnights", "0"),
            (3 << 20, "bytes", AUTO, "3MB"),
            (2048, "By", AUTO, "2kB"),
            (5, "count", "count", "5"),
            (5, "{sample}", "{sample}", "5"),
            (5, "widgets", "widgets", "5widgets"),
            (i128::from(i64::MAX), "ns", AUTO, "2562047.79hrs"),
        ] {
            assert_eq!(label(value, from, to), text);
        }
    }

    #[test]
    fn shares_are_printed_as_pprof_prints_them() {
        for (value, total, text) in [
            (1, 1, "  100%"),
            (-1, 4, "25.00%"),
            (0, 4, "    0%"),
            (1, 0, "    0%"),
            (1, 200, "  0.5%"),
            (999, 100_000, "    1%"),
            (1, 3000, "0.033%"),
            (1000, 10_000_000_000, "1e-05%"),
            (12, 1, "1200.00%"),
        ] {
            assert_eq!(percentage(value, total), text);
        }
    }
}
