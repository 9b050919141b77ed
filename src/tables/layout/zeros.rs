//! Dropping of zeros when every column of a profile becomes a separate profile.
//!
//! The dropped samples can be restored: among samples with the same identity, which are adjacent, a column
//! drops only the last ones. If no column keeps all of them, the column that is written first does.
//!
//! ```text
//! values of equal samples    cpu 5 0 0   wall 0 0 3    first written: cpu
//! written                    cpu 5       wall 0 0 3    wall has all three, so rejoining finds them
//! ```

use crate::model::profile::Profile;
use crate::model::samples::Samples;

/// Returns whether a column contains each sample; empty if it contains all. `first` is the column that is
/// written first.
pub(crate) fn written_rows(profile: &Profile, column: usize, first: usize) -> Vec<bool> {
    let (samples, columns) = (&profile.samples, profile.sample_types.len());
    // Fast path for a column without zeros, as this function runs once per column.
    let is_zero = |row: usize| samples.values.row(row).get(column) == Some(&0);
    if column != first && !(0..samples.len()).any(is_zero) {
        return Vec::new();
    }
    let mut written = Vec::with_capacity(samples.len());
    let mut begin = 0;
    while begin < samples.len() {
        let duplicates =
            (begin + 1..samples.len()).take_while(|row| are_duplicates(samples, begin, *row));
        let end = begin + 1 + duplicates.count();
        let kept = match is_plain(samples, begin..end, columns) {
            true => {
                let kept = |column: usize| {
                    let value = |row: usize| samples.values.row(row).get(column);
                    let last = (begin..end).rev().find(|row| value(*row) != Some(&0));
                    last.map_or(0, |last| last + 1 - begin)
                };
                let has_all = |column| kept(column) == end - begin;
                // If no column keeps the whole group, the first one does.
                let all = column == first && !(0..columns).any(has_all);
                if all { end - begin } else { kept(column) }
            }
            false => end - begin,
        };
        written.extend((begin..end).map(|row| row - begin < kept));
        begin = end;
    }
    written
}

/// Returns whether two samples have the same stack, attributes, link and stack trace id.
fn are_duplicates(samples: &Samples, a: usize, b: usize) -> bool {
    let id = |row: usize| samples.stacktrace_ids.get(row).copied().unwrap_or_default();
    samples.stacks[a] == samples.stacks[b]
        && samples.attributes.row(a) == samples.attributes.row(b)
        && samples.link(a) == samples.link(b)
        && id(a) == id(b)
}

/// Returns whether all samples have a value for each column and no timestamps.
fn is_plain(samples: &Samples, mut rows: std::ops::Range<usize>, columns: usize) -> bool {
    rows.all(|row| {
        samples.values.row(row).len() == columns && samples.timestamps.row(row).is_empty()
    })
}
