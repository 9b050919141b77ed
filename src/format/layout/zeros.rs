//! Which samples a column is written with, where every column of a profile becomes a profile of its
//! own: a sample whose value is 0 need not be said again.
//!
//! What is left out can be put back: among samples that say the same, which stand together, only the
//! last are left out of a column, and the column that is written first has all of them if no other has.
//!
//! ```text
//! values of equal samples    cpu 5 0 0   wall 0 0 3    first written: cpu
//! written                    cpu 5       wall 0 0 3    wall has all three, so rejoining finds them
//! ```

use crate::model::profile::Profile;
use crate::model::samples::Samples;

/// By sample: whether a column has it; none where it has all. `first` is the column that is written
/// first.
pub(crate) fn written_rows(profile: &Profile, column: usize, first: usize) -> Vec<bool> {
    let (samples, columns) = (&profile.samples, profile.sample_types.len());
    // Each column is asked for: of the others only the first looks at all.
    let is_zero = |row: usize| samples.values.row(row).get(column) == Some(&0);
    if column != first && !(0..samples.len()).any(is_zero) {
        return Vec::new();
    }
    let mut written = Vec::with_capacity(samples.len());
    let mut begin = 0;
    while begin < samples.len() {
        let alike = (begin + 1..samples.len()).take_while(|row| say_the_same(samples, begin, *row));
        let end = begin + 1 + alike.count();
        let kept = match is_plain(samples, begin..end, columns) {
            true => {
                let kept = |column: usize| {
                    let value = |row: usize| samples.values.row(row).get(column);
                    let last = (begin..end).rev().find(|row| value(*row) != Some(&0));
                    last.map_or(0, |last| last + 1 - begin)
                };
                let has_all = |column| kept(column) == end - begin;
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

/// Whether two samples have the same stack, attributes, link and stack trace id.
fn say_the_same(samples: &Samples, a: usize, b: usize) -> bool {
    let id = |row: usize| samples.stacktrace_ids.get(row).copied().unwrap_or_default();
    samples.stacks[a] == samples.stacks[b]
        && samples.attributes.row(a) == samples.attributes.row(b)
        && samples.link(a) == samples.link(b)
        && id(a) == id(b)
}

/// Whether some samples have a value for each column and no timestamps.
fn is_plain(samples: &Samples, mut rows: std::ops::Range<usize>, columns: usize) -> bool {
    rows.all(|row| {
        samples.values.row(row).len() == columns && samples.timestamps.row(row).is_empty()
    })
}
