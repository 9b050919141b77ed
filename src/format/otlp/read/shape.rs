//! How many values and timestamps a sample may have.
//!
//! Since 1.8 a sample has values, timestamps, or one value for each timestamp. Before, it has one value for each
//! sample type. Both are checked by whole columns; only a column that fails is looked at row by row.
//!
//! ```text
//!                    values  timestamps
//! 1.8 and later      n       0           aggregated; n is usually 1
//!                    0       n           each timestamp counts 1
//!                    n       n           one value for each timestamp
//! 1.3 to 1.7         types   any         one value for each sample type
//! ```
//!
//! The first three are what the comment on `Sample.values` in `profiles.proto` allows.
//! [`Profile::totals`](crate::model::Profile::totals) and all writers rely on it.

use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::format::losses;
use crate::format::otlp::schema::Generation;
use crate::model::ragged::Ragged;
use crate::model::samples::Samples;

/// Refuses or repairs samples whose values fit neither the sample types nor the timestamps.
///
/// One sample is enough to rebuild the column, so a repair costs one pass over all values; the
/// finding names the first bad sample only.
///
/// # Errors
///
/// The first sample of another shape, unless repairs are asked for.
pub(crate) fn check<G: Generation>(
    samples: &mut Samples,
    types: usize,
    intake: &mut Intake,
) -> Result<()> {
    let rows = samples.stacks.len();
    let Some(bad) = (if G::SCHEMA.has_one_sample_type() {
        uneven(samples)
    } else {
        miscounted(samples, types)
    }) else {
        return Ok(());
    };
    let (values, times) = (samples.values.row(bad).len(), samples.timestamps.row(bad).len());
    let wanted = if G::SCHEMA.has_one_sample_type() { times } else { types };
    let error = Error::malformed(format!("found {values} values, expected {wanted}"));
    intake.repair(losses::VALUE_COUNT, error.within("values").within_row("samples", bad))?;
    let mut values = Ragged::default();
    for row in 0..rows {
        let times = samples.timestamps.row(row).len();
        let (had, has) = (
            samples.values.row(row),
            values_wanted(
                G::SCHEMA.has_one_sample_type(),
                types,
                times,
                samples.values.row(row).len(),
            ),
        );
        values.items.extend(had.iter().copied().chain(std::iter::repeat(0)).take(has));
        values.end_row_at(row);
    }
    samples.values = values;
    Ok(())
}

/// How many values a sample has once it is repaired: too many are cut, too few filled up with 0.
///
/// In 1.8 and later a sample without values or without timestamps is right as it is, so only one
/// that has both is brought to as many values as timestamps.
fn values_wanted(single: bool, types: usize, times: usize, had: usize) -> usize {
    match (single, times, had) {
        (false, _, _) => types,
        (true, 0, _) | (true, _, 0) => had,
        (true, _, _) => times,
    }
}

/// The first sample that has values and timestamps, but not as many of each.
/// Rows behind the last with timestamps have none.
fn uneven(samples: &Samples) -> Option<usize> {
    (0..samples.timestamps.len()).find(|&row| {
        let (values, times) = (samples.values.row(row).len(), samples.timestamps.row(row).len());
        values != 0 && times != 0 && values != times
    })
}

/// The first sample that has not as many values as there are sample types.
/// With so many values each, the ends of the rows are the multiples of that number.
///
/// A column without any values has no ends at all; then the first row, 0, is the bad one, unless
/// there are no sample types either.
fn miscounted(samples: &Samples, types: usize) -> Option<usize> {
    let rows = samples.stacks.len();
    let regular = samples.values.ends.len() == rows || types == 0;
    let mut wanted = 0;
    let first = samples.values.ends.iter().position(|&end| {
        wanted += types;
        end as usize != wanted
    });
    first.or((!regular).then_some(samples.values.ends.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::StackId;

    #[test]
    fn miscounted_values_are_found_wherever_they_are() {
        let samples = |values: &[&[i64]]| {
            let mut samples = Samples::default();
            for (row, values) in values.iter().enumerate() {
                samples.stacks.push(StackId::NONE);
                samples.values.items.extend_from_slice(values);
                samples.values.end_row_at(row);
            }
            samples
        };
        assert_eq!(miscounted(&samples(&[&[1, 2], &[3, 4]]), 2), None);
        assert_eq!(miscounted(&samples(&[&[1, 2], &[3], &[4, 5]]), 2), Some(1));
        assert_eq!(miscounted(&samples(&[&[1, 2], &[]]), 2), Some(1));
        assert_eq!(miscounted(&samples(&[&[], &[]]), 1), Some(0));
        assert_eq!(miscounted(&samples(&[&[], &[]]), 0), None);
        assert_eq!(miscounted(&samples(&[]), 3), None);
    }
}
