//! The table of units.

/// The quantity that a unit measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Dimension {
    /// A number of things: an empty unit, `1`, `count` or an annotation such as `{sample}`.
    Count,
    /// Time, in nanoseconds.
    Time,
    /// Memory, in bytes.
    Bytes,
    /// Google compute units, in 10⁻⁹ GCU.
    Compute,
}

/// A unit that converts into others of its dimension.
///
/// ```
/// use otlp_profiles::units::{Dimension, Unit};
///
/// let unit = Unit::of("milliseconds").unwrap();
/// assert_eq!((unit.dimension(), unit.factor()), (Dimension::Time, 1_000_000));
/// assert_eq!(Unit::of("bytes"), Unit::of("By"));
/// assert_eq!(Unit::of("{sample}"), Unit::of("count"));
/// assert_eq!(Unit::of("KiBy").unwrap().per(Unit::of("kBy").unwrap()), Some((1024, 1000)));
/// assert_eq!(Unit::of("widgets"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unit {
    dimension: Dimension,
    factor: i128,
}

/// A row of the table of units.
pub(super) struct Row {
    pub(super) dimension: Dimension,
    pub(super) factor: i128,
    /// The name in reports, as pprof prints it.
    pub(super) shown: &'static str,
    /// Whether reports choose the unit for a value.
    pub(super) is_automatic: bool,
    /// In lower case and without a plural `s`; the last one is the word.
    names: &'static [&'static str],
}

const KIB: i128 = 1 << 10;

/// Finer units first. The first row with a factor has the name of that factor in reports.
pub(super) const UNITS: &[Row] = &[
    row(Dimension::Time, 1, "ns", true, &["ns", "nanosecond"]),
    row(Dimension::Time, 1_000, "us", true, &["us", "μs", "µs", "microsecond"]),
    row(Dimension::Time, 1_000_000, "ms", true, &["ms", "millisecond"]),
    row(Dimension::Time, 1_000_000_000, "s", true, &["s", "sec", "second"]),
    row(Dimension::Time, 60_000_000_000, "min", false, &["min", "minute"]),
    row(Dimension::Time, 3_600_000_000_000, "hrs", true, &["h", "hr", "hour"]),
    row(Dimension::Time, 86_400_000_000_000, "d", false, &["d", "day"]),
    row(Dimension::Bytes, 1, "B", true, &["b", "by", "byte"]),
    row(Dimension::Bytes, 1_000, "kBy", false, &["kby"]),
    row(Dimension::Bytes, KIB, "kB", true, &["kib", "kiby", "kibibyte"]),
    row(Dimension::Bytes, KIB, "kB", true, &["kb", "kbyte", "kilobyte"]),
    row(Dimension::Bytes, 1_000_000, "MBy", false, &["mby"]),
    row(Dimension::Bytes, KIB.pow(2), "MB", true, &["mib", "miby", "mebibyte"]),
    row(Dimension::Bytes, KIB.pow(2), "MB", true, &["mb", "mbyte", "megabyte"]),
    row(Dimension::Bytes, 1_000_000_000, "GBy", false, &["gby"]),
    row(Dimension::Bytes, KIB.pow(3), "GB", true, &["gib", "giby", "gibibyte"]),
    row(Dimension::Bytes, KIB.pow(3), "GB", true, &["gb", "gbyte", "gigabyte"]),
    row(Dimension::Bytes, 1_000_000_000_000, "TBy", false, &["tby"]),
    row(Dimension::Bytes, KIB.pow(4), "TB", true, &["tib", "tiby", "tebibyte"]),
    row(Dimension::Bytes, KIB.pow(4), "TB", true, &["tb", "tbyte", "terabyte"]),
    row(Dimension::Bytes, KIB.pow(5), "PB", true, &["pib", "piby", "pebibyte"]),
    row(Dimension::Bytes, KIB.pow(5), "PB", true, &["pb", "pbyte", "petabyte"]),
    row(Dimension::Compute, 1, "n*GCU", true, &["nanogcu"]),
    row(Dimension::Compute, 1_000, "u*GCU", true, &["microgcu"]),
    row(Dimension::Compute, 1_000_000, "m*GCU", true, &["milligcu"]),
    row(Dimension::Compute, 1_000_000_000, "GCU", true, &["gcu"]),
    row(Dimension::Compute, 1_000_000_000_000, "k*GCU", true, &["kilogcu"]),
    row(Dimension::Compute, 1_000_000_000_000_000, "M*GCU", true, &["megagcu"]),
    row(Dimension::Compute, 1_000_000_000_000_000_000, "G*GCU", true, &["gigagcu"]),
    row(Dimension::Compute, 1_000_000_000_000_000_000_000, "T*GCU", true, &["teragcu"]),
    row(Dimension::Compute, 1_000_000_000_000_000_000_000_000, "P*GCU", true, &["petagcu"]),
    row(Dimension::Count, 1, "", false, &["", "1", "sample", "unit", "count"]),
];

const fn row(
    dimension: Dimension,
    factor: i128,
    shown: &'static str,
    is_automatic: bool,
    names: &'static [&'static str],
) -> Row {
    Row { dimension, factor, shown, is_automatic, names }
}

/// The row of a unit: pprof compares names in any case, with or without a plural `s`. An annotation has no effect.
pub(super) fn find(unit: &str) -> Option<&'static Row> {
    let (unit, _note) = unit.split_once('{').unwrap_or((unit, ""));
    let is_long = unit.chars().nth(2).is_some();
    let singular = unit.strip_suffix(['s', 'S']).filter(|_| is_long).unwrap_or(unit);
    let is_name = |name: &&str| name.eq_ignore_ascii_case(singular);
    UNITS.iter().find(|row| row.names.iter().any(is_name))
}

impl Unit {
    /// Returns the unit of a name; `None` for one that converts into no other.
    pub fn of(name: &str) -> Option<Self> {
        find(name)
            .map(|Row { dimension, factor, .. }| Self { dimension: *dimension, factor: *factor })
    }

    /// Returns the quantity that the unit measures.
    pub fn dimension(self) -> Dimension {
        self.dimension
    }

    /// Returns the number of the smallest units of its dimension in one unit.
    pub fn factor(self) -> i128 {
        self.factor
    }

    /// Returns the fraction by which values in this unit are multiplied to be in `other`; `None` if `other` measures
    /// something else.
    pub fn per(self, other: Self) -> Option<(i128, i128)> {
        (self.dimension == other.dimension).then_some((self.factor, other.factor))
    }

    /// Returns the number of nanoseconds in one unit, if it is a unit of time.
    pub(crate) fn nanos(self) -> Option<u64> {
        (self.dimension == Dimension::Time).then(|| u64::try_from(self.factor).ok()).flatten()
    }
}

/// Returns the fraction that converts values from one unit to another: 1 for equal names; `None` if one has no
/// conversion or the units measure different things.
pub(crate) fn conversion(from: &str, to: &str) -> Option<(i128, i128)> {
    if from == to { Some((1, 1)) } else { Unit::of(from)?.per(Unit::of(to)?) }
}

/// Whether two names are of one unit: `bytes` and `By`, `ms` and `milliseconds`.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    conversion(one, other).is_some_and(|(one, other)| one == other)
}

/// Whether a name such as `kB` has two meanings, 1000 and 1024 bytes. pprof reads 1024.
pub(crate) fn is_ambiguous(unit: &str) -> bool {
    let row = find(unit).filter(|row| row.dimension == Dimension::Bytes && row.factor > 1);
    row.is_some_and(|row| row.names.first().is_some_and(|symbol| symbol.len() == 2))
}

/// Whether a unit is a word of the table in the plural, such as `nanoseconds`, as pprof's profiles have it.
pub(crate) fn is_plural_word(unit: &str) -> bool {
    let word = unit.strip_suffix('s');
    word.is_some_and(|word| {
        UNITS.iter().any(|row| row.names.last().is_some_and(|last| *last == word))
    })
}

/// The unit of numbers under a key: their own, or else the one that the key implies. As in pprof, `alignment` and
/// `request` are bytes, and other keys are their own unit.
pub(crate) fn of_key<'a>(key: &'a str, unit: &'a str) -> &'a str {
    match (unit, key) {
        ("", "alignment" | "request") => "bytes",
        ("", key) => key,
        (unit, _) => unit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_a_dimension_and_a_factor() {
        for (unit, expected) in [
            ("ns", Some((Dimension::Time, 1))),
            ("nanoseconds", Some((Dimension::Time, 1))),
            // Both micro signs: U+03BC, U+00B5.
            ("\u{3bc}s", Some((Dimension::Time, 1_000))),
            ("\u{b5}s", Some((Dimension::Time, 1_000))),
            ("ms", Some((Dimension::Time, 1_000_000))),
            ("s", Some((Dimension::Time, 1_000_000_000))),
            ("hours", Some((Dimension::Time, 3_600_000_000_000))),
            ("By", Some((Dimension::Bytes, 1))),
            ("By{used}", Some((Dimension::Bytes, 1))),
            ("kBy", Some((Dimension::Bytes, 1_000))),
            ("kilobytes", Some((Dimension::Bytes, 1_024))),
            ("KB", Some((Dimension::Bytes, 1_024))),
            ("KiB", Some((Dimension::Bytes, 1_024))),
            ("count", Some((Dimension::Count, 1))),
            ("", Some((Dimension::Count, 1))),
            ("1", Some((Dimension::Count, 1))),
            ("{samples}", Some((Dimension::Count, 1))),
            ("GCU", Some((Dimension::Compute, 1_000_000_000))),
            ("widgets", None),
            ("By/s", None),
            ("µ", None),
        ] {
            let found = Unit::of(unit).map(|unit| (unit.dimension(), unit.factor()));
            assert_eq!(found, expected, "{unit}");
        }
        let ambiguous = ["kB", "kb", "kilobytes", "MB", "gigabyte"];
        assert!(ambiguous.iter().all(|unit| is_ambiguous(unit)));
        let clear = ["KiB", "kBy", "By", "bytes", "kibibytes", "ms", "min", "count"];
        assert!(clear.iter().all(|unit| !is_ambiguous(unit)));
        assert!(["nanoseconds", "gigabytes"].iter().all(|unit| is_plural_word(unit)));
        assert!(["nanosecond", "kb", "KB", "widgets"].iter().all(|unit| !is_plural_word(unit)));
    }

    #[test]
    fn a_name_belongs_to_one_unit() {
        let mut names: Vec<_> = UNITS.iter().flat_map(|row| row.names).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
