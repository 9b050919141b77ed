//! Repair or rejection of samples that break a rule.
//!
//! Both functions rebuild a whole column and run only for invalid files. The reader of samples only checks
//! the largest id and the numbers of values at the end.
//!
//! ```text
//! samples have   largest id 9, of 8 locations       ─►  repair_stacks: drops 9, or an error
//!                3 values, of 2 sample types        ─►  repair_values: drops the sample, or an error
//! ```

use crate::error::{Error, Result};
use crate::losses;
use crate::model::id::StackId;
use crate::model::ragged::Ragged;
use crate::model::samples::Samples;
use crate::read_context::ReadContext;

/// Drops frames whose location does not exist, or returns an error.
///
/// `holds` is whether an id is that of a location. Takes time linear in the samples and in the stacks.
///
/// Errors name the first sample with the stack, because a file has no table of stacks.
///
/// # Errors
///
/// The first frame whose location does not exist, unless the policy is to repair.
#[cold]
pub(super) fn repair_stacks(
    stacks: &mut Ragged<u32>,
    of_samples: &[StackId],
    holds: impl Fn(u32) -> bool,
    cx: &mut ReadContext,
) -> Result<()> {
    // The first sample of each stack.
    let mut first = vec![0; stacks.len()];
    // Backwards, so that the first sample of a stack overwrites the later ones.
    for (sample, stack) in of_samples.iter().enumerate().rev() {
        first[stack.row()] = sample;
    }
    let mut repaired = Ragged::default();
    for (row, &sample) in first.iter().enumerate() {
        for (at, &id) in stacks.row(row).iter().enumerate() {
            if holds(id) {
                repaired.items.push(id);
                continue;
            }
            let id = crate::tables::read::common::show(id).replace("index", "id");
            let error = Error::malformed(format!("no location has {id}"));
            cx.repair(
                losses::DANGLING_LOCATION,
                error.within_row("location_id", at).within_row("sample", sample),
            )?;
        }
        repaired.end_row();
    }
    *stacks = repaired;
    Ok(())
}

/// Drops samples with more or fewer values than sample types, or returns an error. The sample type of each
/// value is unknown in such a sample.
///
/// # Errors
///
/// The first sample with another number of values, unless the policy is to repair.
#[cold]
pub(super) fn repair_values(
    samples: &mut Samples,
    columns: usize,
    cx: &mut ReadContext,
) -> Result<()> {
    let mut keep = vec![true; samples.len()];
    for (row, keep) in keep.iter_mut().enumerate() {
        let found = samples.values.row(row).len();
        *keep = found == columns;
        if !*keep {
            let error =
                Error::malformed(format!("found {found} values for {columns} sample types"));
            cx.repair(losses::VALUE_COUNT, error.within("value").within_row("sample", row))?;
        }
    }
    samples.retain(&keep);
    Ok(())
}
