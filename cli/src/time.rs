//! Times as people read them.
//!
//! The library's own calendar reads dates; this one writes them, from `i128` nanoseconds, and says
//! nothing of years that RFC 3339 cannot.

use std::time::{SystemTime, UNIX_EPOCH};

const NANOS: i128 = 1_000_000_000;
/// Seconds; leap seconds have no place in Unix time.
const DAY: i64 = 86_400;

/// The time of day in UTC with its date, in the form of RFC 3339 except for `between`, with as
/// many digits of a second as asked for; `None` outside the years 0 to 9999, which it cannot say.
fn civil(unix_nano: i128, between: char, digits: usize) -> Option<String> {
    let seconds = i64::try_from(unix_nano.div_euclid(NANOS)).ok()?;
    let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let (year, month, day) = date(days)?;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let mut text =
        format!("{year:04}-{month:02}-{day:02}{between}{hour:02}:{minute:02}:{second:02}");
    if digits > 0 {
        let nanos = format!("{:09}", unix_nano.rem_euclid(NANOS));
        text.extend([".", nanos.get(..digits).unwrap_or(&nanos)]);
    }
    Some(text)
}

/// Year, month and day of a day counted from 1970-01-01, in the years 0 to 9999.
///
/// Years are counted from March, so that the odd day of a leap year is the last.
///
/// Gregorian for all years: 146,097 days are 400 years.
fn date(days: i64) -> Option<(i64, i64, i64)> {
    let days = days.checked_add(719_468)?; // from 0000-03-01
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let leap_days = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (0..=9999).contains(&year).then_some((year, month, day))
}

/// RFC 3339 in UTC, with the digits of a second that are not zero: `2026-11-20T10:15:36.5Z`.
pub(crate) fn rfc3339(unix_nano: i128) -> Option<String> {
    let nanos = format!("{:09}", unix_nano.rem_euclid(NANOS));
    let digits = nanos.trim_end_matches('0').len();
    Some(civil(unix_nano, 'T', digits)? + "Z")
}

/// The time now, for log lines only: `2026-11-20 10:15:36.597`, or with `T` between.
pub(crate) fn now(between: char) -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    civil(i128::try_from(nanos).unwrap_or(0), between, 3).unwrap_or_default()
}

/// Whether a profile cannot have been taken then: nobody wrote profiles before 1980, but programs
/// whose clock or unit is wrong do.
pub(crate) fn is_implausible(unix_nano: i128) -> bool {
    unix_nano < 315_532_800 * NANOS
}

/// A duration in seconds, exactly: `10.05 s`.
pub(crate) fn seconds(nanos: i128) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let (whole, part) =
        (nanos.unsigned_abs() / 1_000_000_000, nanos.unsigned_abs() % 1_000_000_000);
    let text = format!("{sign}{whole}.{part:09}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text} s")
}

/// Parses a duration such as `500ms`, `10s`, `5m` or `1h` into nanoseconds.
///
/// # Errors
///
/// A sentence for clap: there is no number or no unit, or the duration is 0 or exceeds 64 bits.
pub(crate) fn parse_duration(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 7] = [
        ("ns", 1),
        ("us", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000),
    ];
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let factor = UNITS.iter().find(|(name, _)| *name == unit.trim()).map(|(_, factor)| *factor);
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
