//! Dates of the Gregorian calendar, and timestamps that other tools write.
//!
//! All times are UTC unless a timestamp has an offset. Years are counted from March, so that the leap day is the last
//! day of its year: see [Howard Hinnant](https://howardhinnant.github.io/date_algorithms.html).

/// Parses `2026-01-02T03:04:05.000000` to nanoseconds since 1970.
pub(crate) fn unix_nanos(text: &str) -> Option<i64> {
    let (date, rest) = text.split_at_checked(10)?;
    let rest = rest.strip_prefix(['T', ' '])?;
    let mut date = date.splitn(3, '-').map(digits);
    let date = [date.next()??, date.next()??, date.next()??];
    let (rest, offset) = zone(rest)?;
    let (clock, fraction) = rest.split_once('.').unwrap_or((rest, ""));
    let nanos = match fraction {
        "" => 0,
        fraction => {
            digits(fraction)?.checked_mul(10_i64.pow(9_u32.checked_sub(fraction.len() as u32)?))?
        }
    };
    (seconds(date, clock)? - offset).checked_mul(1_000_000_000)?.checked_add(nanos)
}

/// Parses `Fri Nov 20 10:25:30 2026`, the format of C's `ctime`, to nanoseconds since 1970.
pub(crate) fn of_ctime(text: &str) -> Option<i64> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let mut words = text.split_ascii_whitespace().skip(1);
    let [month, day, clock, year] = [words.next()?, words.next()?, words.next()?, words.next()?];
    let at = MONTHS.find(month).filter(|at| month.len() == 3 && at % 3 == 0)?;
    let date = [digits(year)?, at as i64 / 3 + 1, digits(day)?];
    seconds(date, clock)?.checked_mul(1_000_000_000)
}

/// Returns the seconds from 1970 to a date and a time of day such as `03:04:05`.
fn seconds([year, month, day]: [i64; 3], clock: &str) -> Option<i64> {
    let mut clock = clock.splitn(3, ':').map(digits);
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let is_valid = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 61;
    is_valid.then(|| (days(year, month, day) * 24 + hour) * 3600 + minute * 60 + second)
}

/// Splits off the time zone. Returns the text before it, and its offset from UTC in seconds, positive east of
/// Greenwich.
fn zone(text: &str) -> Option<(&str, i64)> {
    if let Some(text) = text.strip_suffix('Z') {
        return Some((text, 0));
    }
    let Some(at) = text.rfind(['+', '-']) else { return Some((text, 0)) };
    let (text, zone) = text.split_at_checked(at)?;
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let seconds = digits(hours)? * 3600 + digits(minutes)? * 60;
    Some((text, if zone.starts_with('-') { -seconds } else { seconds }))
}

fn digits(text: &str) -> Option<i64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number && text.len() <= 9)
}

/// Returns the days from 1970-01-01 to a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    // Days before the month, counted from March.
    let of_year = (153 * month + 2) / 5 + day - 1;
    // 719,468 days from 0000-03-01 to 1970-01-01.
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Returns the year, the month and the day of a number of days since 1970-01-01, the reverse of [`days`].
pub(crate) fn date(days: i64) -> [i64; 3] {
    let day = days + 719_468;
    let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    // From March on, every five months have 153 days.
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    [year + era * 400 + next, month, day]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        for (day, [year, month, day_of_month]) in [
            (0, [1970, 1, 1]),
            (-1, [1969, 12, 31]),
            (58, [1970, 2, 28]),
            (59, [1970, 3, 1]),
            (11_016, [2000, 2, 29]),
            (20_456, [2026, 1, 3]),
            (i64::MAX / 86_400_000_000_000, [2262, 4, 11]),
            (i64::MIN / 86_400_000_000_000 - 1, [1677, 9, 21]),
        ] {
            assert_eq!(date(day), [year, month, day_of_month]);
            assert_eq!(days(year, month, day_of_month), day);
        }
    }

    #[test]
    fn times_are_utc_in_every_form() {
        for (text, nanos) in [
            ("1970-01-01T00:00:00.000000", 0),
            ("2026-01-02T03:04:05.000000", 1_767_323_045_000_000_000),
            ("2026-01-02 03:04:05", 1_767_323_045_000_000_000),
            ("2026-01-02T03:04:05.25Z", 1_767_323_045_250_000_000),
            ("2026-01-02T05:04:05.1+02:00", 1_767_323_045_100_000_000),
            ("2026-01-01T22:04:05-05:00", 1_767_323_045_000_000_000),
            ("2024-02-29T00:00:00.000001", 1_709_164_800_000_001_000),
            ("1969-12-31T23:59:59", -1_000_000_000),
        ] {
            assert_eq!(unix_nanos(text), Some(nanos), "{text}");
        }
        assert_eq!(of_ctime("Fri Nov 20 10:25:30 2026"), Some(1_795_170_330_000_000_000));
        assert_eq!(of_ctime("Thu Jan  1 00:00:01 1970"), Some(1_000_000_000));
        for wrong in
            ["", "Fri Nov 20 10:25:30", "Fri ovD 20 10:25:30 2026", "Fri Nov 20 10:25 2026"]
        {
            assert_eq!(of_ctime(wrong), None, "{wrong}");
        }
        for wrong in [
            "",
            "now",
            "2026-01-02",
            "2026-01-02T03:04",
            "2026-13-02T03:04:05",
            "2026-01-02T25:04:05",
            "2026-01-02T03:04:05.",
            "2026-01-02T03:04:05.x",
            "2026-01-02T03:04:05.1234567890",
            "9999999999-01-02T03:04:05",
            "2026-é1-02T03:04:05",
        ] {
            assert_eq!(unix_nanos(wrong).filter(|_| !wrong.ends_with('.')), None, "{wrong}");
        }
    }
}
