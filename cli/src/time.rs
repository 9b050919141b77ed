//! Times in RFC 3339, computed from `i128` nanoseconds since 1970.

use jiff::civil::DateTime;
use jiff::{SignedDuration, Timestamp};
use otlp_profiles::units::{Dimension, Unit};

const NANOS: i128 = 1_000_000_000;
const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// Formats a time as RFC 3339 in UTC, with as many digits of the second as needed:
/// `2026-11-20T10:15:36.5Z`. Returns `None` outside the years 0 to 9999, which RFC 3339 cannot
/// represent.
pub(crate) fn rfc3339(unix_nano: i128) -> Option<String> {
    civil(unix_nano).map(|time| format!("{time}Z"))
}

/// Date and time in UTC. `None` outside the years 0 to 9999.
pub(crate) fn civil(unix_nano: i128) -> Option<DateTime> {
    let seconds = i64::try_from(unix_nano.div_euclid(NANOS)).ok()?;
    let since = SignedDuration::new(seconds, unix_nano.rem_euclid(NANOS) as i32);
    EPOCH.checked_add(since).ok().filter(|time| time.year() >= 0)
}

/// The current time in nanoseconds since 1970.
pub(crate) fn unix_nanos() -> i128 {
    Timestamp::now().as_nanosecond()
}

/// The current time for log lines: `2026-11-20 10:15:36.597`, with `between` in place of the space.
pub(crate) fn now(between: char) -> String {
    let time = format!("{:.3}", Timestamp::now());
    time.trim_end_matches('Z').replace('T', between.encode_utf8(&mut [0; 4]))
}

/// Whether a time is before 1980, when no profiler existed. Programs with a wrong clock or unit
/// write such times.
pub(crate) fn is_implausible(unix_nano: i128) -> bool {
    unix_nano < 315_532_800 * NANOS
}

/// Formats a duration as exact seconds: `10.05 s`.
pub(crate) fn seconds(nanos: i128) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let (whole, part) =
        (nanos.unsigned_abs() / 1_000_000_000, nanos.unsigned_abs() % 1_000_000_000);
    let text = format!("{sign}{whole}.{part:09}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text} s")
}

/// Parses a time: RFC 3339, or nanoseconds since 1970.
///
/// # Errors
///
/// A sentence for clap: the text is neither, or the time is before 1970.
pub(crate) fn parse_time(text: &str) -> Result<u64, String> {
    let nanos = text.parse().ok().or_else(|| {
        let time: jiff::Timestamp = text.parse().ok()?;
        u64::try_from(time.as_nanosecond()).ok()
    });
    nanos.ok_or_else(|| {
        "expected a time such as 2026-11-20T10:00:00Z, or nanoseconds since 1970".to_owned()
    })
}

/// Parses a duration such as `500ms`, `10s`, `5m` or `1h` into nanoseconds.
///
/// # Errors
///
/// A sentence for clap: the number or the unit is missing, or the duration is 0 or exceeds 64 bits.
pub(crate) fn parse_duration(text: &str) -> Result<u64, String> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    // `m` is the metre of UCUM, but in a duration it means minutes.
    let unit = Unit::of(if unit.trim() == "m" { "min" } else { unit.trim() });
    let unit = unit.filter(|unit| unit.dimension() == Dimension::Time);
    let factor = unit.and_then(|unit| u64::try_from(unit.factor()).ok());
    let nanos = digits.parse::<u64>().ok().zip(factor);
    let nanos = nanos.and_then(|(number, factor)| number.checked_mul(factor));
    nanos
        .filter(|nanos| *nanos > 0)
        .ok_or_else(|| "expected a duration such as 500ms, 10s, 5m or 1h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rfc_3339() {
        let at = |seconds: i128| rfc3339(seconds * NANOS);
        assert_eq!(at(0).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(at(-1).as_deref(), Some("1969-12-31T23:59:59Z"));
        assert_eq!(at(951_782_400).as_deref(), Some("2000-02-29T00:00:00Z"));
        assert_eq!(at(4_107_542_400).as_deref(), Some("2100-03-01T00:00:00Z"));
        assert_eq!(at(253_402_300_799).as_deref(), Some("9999-12-31T23:59:59Z"));
        assert_eq!(at(253_402_300_800), None);
        assert_eq!(rfc3339(i128::MAX), None);
        assert_eq!(at(-62_167_219_200).as_deref(), Some("0000-01-01T00:00:00Z"));
        assert_eq!(at(-62_167_219_201), None);
        assert_eq!(rfc3339(1_500_000_000).as_deref(), Some("1970-01-01T00:00:01.5Z"));
    }

    #[test]
    fn times_before_1980_are_implausible() {
        assert_eq!(rfc3339(315_532_800 * NANOS).as_deref(), Some("1980-01-01T00:00:00Z"));
        assert!(!is_implausible(315_532_800 * NANOS));
        assert!(is_implausible(1_700_000_000), "seconds that were meant as nanoseconds");
    }

    #[test]
    fn durations_are_exact() {
        assert_eq!(seconds(10_050_000_000), "10.05 s");
        assert_eq!(seconds(0), "0 s");
        assert_eq!(seconds(-1), "-0.000000001 s");
        assert_eq!(seconds(20_000_000_000), "20 s");
    }
}
