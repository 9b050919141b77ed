//! Validation of the number of values and timestamps of samples.
//!
//! Since 1.8 a sample has values, timestamps, or one value for each timestamp. Before 1.8 it has one value
//! for each sample type.
//!
//! ```text
//!                    values  timestamps
//! 1.8 and later      n       0           aggregated; n is usually 1
//!                    0       n           each timestamp counts 1
//!                    n       n           one value for each timestamp
//! 1.3 to 1.7         types   any         one value for each sample type
//! ```
//!
//! The first three follow the comment on `Sample.values` in `profiles.proto`.
//! [`Profile::totals`](crate::model::Profile::totals) and all writers rely on it.

use crate::error::{Error, Result};
use crate::losses;
use crate::model::samples::Samples;
use crate::read_context::ReadContext;
use crate::schema::Generation;

/// Rejects samples whose number of values fits neither the sample types nor the timestamps. A repair drops
/// these samples.
///
/// # Errors
///
/// The first invalid sample, unless the policy is to repair.
pub(crate) fn check<G: Generation>(
    samples: &mut Samples,
    types: usize,
    cx: &mut ReadContext,
) -> Result<()> {
    let Samples { stacks, values, timestamps, .. } = &*samples;
    let expected = |row: usize, found: usize| match (timestamps.row(row).len(), found) {
        _ if G::CAPABILITIES.several_sample_types => types,
        (0, _) | (_, 0) => found,
        (times, _) => times,
    };
    // Rows after the last one with timestamps may have any number of values.
    let rows = if !G::CAPABILITIES.several_sample_types { timestamps.len() } else { stacks.len() };
    let found = |row: usize| values.row(row).len();
    let is_bad = |row: &usize| found(*row) != expected(*row, found(*row));
    let bad: Vec<usize> = (0..rows).filter(is_bad).collect();
    if bad.is_empty() {
        return Ok(());
    }
    let mut keep = vec![true; stacks.len()];
    for row in bad {
        let message =
            format!("found {} values, expected {}", found(row), expected(row, found(row)));
        let error = Error::malformed(message).within("values").within_row("samples", row);
        cx.repair(losses::VALUE_COUNT, error)?;
        keep[row] = false;
    }
    samples.retain(&keep);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::model::id::StackId;
    use crate::read_context::Policy;
    use crate::schema::V1_7;

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
        let bad = |values: &[&[i64]], types: usize| {
            let mut cx = ReadContext::new(Limits::file(), Policy::Refuse, 0);
            check::<V1_7>(&mut samples(values), types, &mut cx).err().map(|e| e.place())
        };
        assert_eq!(bad(&[&[1, 2], &[3, 4]], 2), None);
        assert_eq!(bad(&[&[1, 2], &[3], &[4, 5]], 2).unwrap(), "samples[1].values");
        assert_eq!(bad(&[&[1, 2], &[]], 2).unwrap(), "samples[1].values");
        assert_eq!(bad(&[&[], &[]], 1).unwrap(), "samples[0].values");
        assert_eq!(bad(&[&[], &[]], 0), None);
        assert_eq!(bad(&[], 3), None);
    }
}
