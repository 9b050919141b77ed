//! Units of values: families with exact factors.

/// A family of units that convert into each other by whole factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Family {
    /// Counted in nanoseconds.
    Time,
    /// Counted in bytes.
    Bytes,
}

/// Names without a plural `s`, and how many of the smallest unit of the family each is.
const UNITS: &[(Family, i64, &[&str])] = &[
    (Family::Time, 1, &["ns", "nanosecond"]),
    (Family::Time, 1_000, &["us", "μs", "µs", "microsecond"]),
    (Family::Time, 1_000_000, &["ms", "millisecond"]),
    (Family::Time, 1_000_000_000, &["s", "second"]),
    (Family::Time, 60_000_000_000, &["min", "minute"]),
    (Family::Time, 3_600_000_000_000, &["h", "hour"]),
    (Family::Bytes, 1, &["B", "By", "byte"]),
    (Family::Bytes, 1 << 10, &["KiB", "KiBy", "kibibyte"]),
    (Family::Bytes, 1 << 20, &["MiB", "MiBy", "mebibyte"]),
    (Family::Bytes, 1 << 30, &["GiB", "GiBy", "gibibyte"]),
    (Family::Bytes, 1 << 40, &["TiB", "TiBy", "tebibyte"]),
    (Family::Bytes, 1_000, &["kBy"]),
    (Family::Bytes, 1_000_000, &["MBy"]),
    (Family::Bytes, 1_000_000_000, &["GBy"]),
    (Family::Bytes, 1_000_000_000_000, &["TBy"]),
    (Family::Bytes, 1 << 10, &["kB", "kb", "KB", "kilobyte", "kbyte"]),
    (Family::Bytes, 1 << 20, &["MB", "mb", "megabyte", "mbyte"]),
    (Family::Bytes, 1 << 30, &["GB", "gb", "gigabyte", "gbyte"]),
    (Family::Bytes, 1 << 40, &["TB", "tb", "terabyte", "tbyte"]),
];

/// Returns the family of a unit and its factor; `None` for a unit that converts into no other.
pub(super) fn family(unit: &str) -> Option<(Family, i64)> {
    let singular = unit.strip_suffix('s').filter(|word| word.len() > 2).unwrap_or(unit);
    let found =
        UNITS.iter().find(|(_, _, names)| names.contains(&unit) || names.contains(&singular));
    found.map(|(family, factor, _)| (*family, *factor))
}

/// Whether a name such as `kB` has two meanings, 1000 and 1024. Both pprof and this crate read 1024.
pub(super) fn is_ambiguous(unit: &str) -> bool {
    let prefixed =
        family(unit).is_some_and(|(family, factor)| family == Family::Bytes && factor > 1);
    prefixed && !unit.contains('i') && !unit.ends_with("By")
        || ["kilobyte", "kilobytes", "gigabyte", "gigabytes"].contains(&unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_families_and_factors() {
        for (unit, expected) in [
            ("ns", Some((Family::Time, 1))),
            ("nanoseconds", Some((Family::Time, 1))),
            ("ms", Some((Family::Time, 1_000_000))),
            ("hours", Some((Family::Time, 3_600_000_000_000))),
            ("By", Some((Family::Bytes, 1))),
            ("kBy", Some((Family::Bytes, 1_000))),
            ("kilobytes", Some((Family::Bytes, 1_024))),
            ("KiB", Some((Family::Bytes, 1_024))),
            ("count", None),
            ("", None),
            ("s", Some((Family::Time, 1_000_000_000))),
        ] {
            assert_eq!(family(unit), expected, "{unit}");
        }
        let ambiguous = ["kB", "kb", "kilobytes", "MB", "gigabyte"];
        assert!(ambiguous.iter().all(|unit| is_ambiguous(unit)));
        let clear = ["KiB", "kBy", "By", "bytes", "kibibytes", "ms", "min"];
        assert!(clear.iter().all(|unit| !is_ambiguous(unit)));
    }
}
