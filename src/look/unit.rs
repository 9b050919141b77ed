//! Units of values, and values as text.

/// A family of units: the names and the factor of each, smallest first, and the one that values below the smallest and
/// unknown target units fall back to.
struct Family {
    units: &'static [(&'static str, &'static [&'static str], f64)],
    default: (&'static str, f64),
}

const KIB: f64 = 1024.0;

/// pprof's units. The aliases that begin with `by` or end with `iby` are UCUM's, which OTLP uses.
const FAMILIES: [Family; 3] = [
    Family {
        units: &[
            ("B", &["b", "byte", "by"], 1.0),
            ("kB", &["kb", "kbyte", "kilobyte", "kiby"], KIB),
            ("MB", &["mb", "mbyte", "megabyte", "miby"], KIB * KIB),
            ("GB", &["gb", "gbyte", "gigabyte", "giby"], KIB * KIB * KIB),
            ("TB", &["tb", "tbyte", "terabyte", "tiby"], KIB * KIB * KIB * KIB),
            ("PB", &["pb", "pbyte", "petabyte"], KIB * KIB * KIB * KIB * KIB),
        ],
        default: ("B", 1.0),
    },
    Family {
        units: &[
            ("ns", &["ns", "nanosecond"], 1.0),
            ("us", &["μs", "us", "microsecond"], 1e3),
            ("ms", &["ms", "millisecond"], 1e6),
            ("s", &["s", "sec", "second"], 1e9),
            ("hrs", &["hour", "hr"], 3600e9),
        ],
        default: ("s", 1e9),
    },
    Family {
        units: &[
            ("n*GCU", &["nanogcu"], 1e-9),
            ("u*GCU", &["microgcu"], 1e-6),
            ("m*GCU", &["milligcu"], 1e-3),
            ("GCU", &["gcu"], 1.0),
            ("k*GCU", &["kilogcu"], 1e3),
            ("M*GCU", &["megagcu"], 1e6),
            ("G*GCU", &["gigagcu"], 1e9),
            ("T*GCU", &["teragcu"], 1e12),
            ("P*GCU", &["petagcu"], 1e15),
        ],
        default: ("GCU", 1.0),
    },
];

impl Family {
    /// The canonical name and the factor of a unit of the family.
    fn find(&self, unit: &str) -> Option<(&'static str, f64)> {
        let lower = unit.to_lowercase();
        let singular = lower.strip_suffix('s').filter(|_| lower.len() > 2).unwrap_or(&lower);
        let named = self.units.iter().find(|(_, aliases, _)| aliases.contains(&singular));
        named.map(|(name, _, factor)| (*name, *factor))
    }

    /// The largest unit in which a value is at least 1.
    fn best(&self, value: f64) -> (&'static str, f64) {
        let fitting = self.units.iter().rev().find(|(_, _, factor)| value / factor >= 1.0);
        fitting.map_or(self.default, |(name, _, factor)| (*name, *factor))
    }
}

/// The unit that [`scale`] chooses by the value.
pub(super) const AUTO: &str = "minimum";

/// Converts a value to a unit, or to the largest unit in which it is at least 1 ([`AUTO`]). A value of an unknown unit
/// stays as it is. The unit is empty if it is a mere count.
pub(super) fn scale<'u>(value: i128, from: &str, to: &'u str) -> (f64, &'u str) {
    let magnitude = value.unsigned_abs() as f64;
    let sign = if value < 0 { -1.0 } else { 1.0 };
    for family in &FAMILIES {
        let Some((_, factor)) = family.find(from) else { continue };
        let base = magnitude * factor;
        let chosen = if matches!(to, "minimum" | "auto") { None } else { Some(family.find(to)) };
        let (name, factor) = match chosen {
            None => family.best(base),
            Some(unit) => unit.unwrap_or(family.default),
        };
        return (sign * (base / factor), name);
    }
    let to = match to {
        "count" | "sample" | "unit" | "minimum" | "auto" | "1" => "",
        annotation if annotation.starts_with('{') => "",
        other => other,
    };
    (sign * magnitude, to)
}

/// A value in a unit as pprof prints it: at most two decimals, and 0 without a unit.
pub(super) fn label(value: i128, from: &str, to: &str) -> String {
    let (value, unit) = scale(value, from, to);
    let number = format!("{value:.2}");
    match number.strip_suffix(".00").unwrap_or(&number) {
        "0" | "-0" => "0".to_owned(),
        number => format!("{number}{unit}"),
    }
}

/// A share as pprof prints it: without a sign, in at least two digits, six columns wide.
pub(super) fn percentage(value: i128, total: i128) -> String {
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
