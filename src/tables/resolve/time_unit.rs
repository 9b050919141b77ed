//! Check of the unit of timestamps. The text of OTEP 0239 specifies milliseconds, its field name nanoseconds,
//! and its example has microseconds. The reader reads nanoseconds, and reports timestamps that seem to have
//! another unit.
//!
//! The check compares timestamps with the time range of the container or of the profile. Without a range
//! (`start` is 0), it reports nothing.

use crate::losses;
use crate::model::ragged::Ragged;
use crate::read_context::ReadContext;

/// Reports timestamps that are outside `start..=end` as nanoseconds, but inside as micro- or milliseconds.
/// The range is in nanoseconds. Changes no timestamps, because the caller may know their unit.
///
/// One factor must fit all timestamps; a mixture is not reported.
pub(crate) fn check(timestamps: &Ragged<u64>, start: i128, end: i128, cx: &mut ReadContext) {
    let times = &timestamps.items;
    let inside = |factor: i128| {
        let scaled = |time: &u64| i128::from(*time) * factor;
        times.iter().all(|time| (start..=end).contains(&scaled(time)))
    };
    if times.is_empty() || start <= 0 || inside(1) {
        return;
    }
    let units = [(1_000, "microseconds"), (1_000_000, "milliseconds")];
    if let Some((_, unit)) = units.into_iter().find(|(factor, _)| inside(*factor)) {
        cx.note(
            losses::G1_TIMESTAMP_UNIT,
            || "timestamps_unix_nano".to_owned(),
            || format!("timestamps fall inside the profile's time range only as {unit}: they were read as nanoseconds"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::read_context::Policy;

    #[test]
    fn only_times_that_another_unit_explains_are_noted() {
        let noted = |times: &[u64], start, end| {
            let mut timestamps = Ragged::default();
            timestamps.push(times);
            let mut cx = ReadContext::new(Limits::file(), Policy::Refuse, 0);
            check(&timestamps, start, end, &mut cx);
            !cx.findings.is_empty()
        };
        let (start, end) = (5_000_000_000, 6_000_000_000);
        assert!(noted(&[5_100_000, 6_000_000], start, end));
        assert!(noted(&[5_100, 5_000], start, end));
        assert!(!noted(&[5_000_000_000, 6_000_000_000], start, end));
        assert!(!noted(&[5_100, 5_100_000], start, end), "no one unit");
        assert!(!noted(&[7_000_000], start, end), "outside in any unit");
        assert!(!noted(&[], start, end));
        assert!(!noted(&[1], 0, 0), "the profile has no time");
    }
}
