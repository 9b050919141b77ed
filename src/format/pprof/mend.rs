//! Repair or rejection of samples that break a rule.
//!
//! Both functions rebuild a whole column and run only for invalid files. The reader of samples only checks
//! the largest id and the numbers of values at the end.
//!
//! ```text
//! samples have   largest id 9, of 8 locations       ─►  mend_stacks: drops 9, or an error
//!                3 values, of 2 sample types        ─►  mend_values: drops the sample, or an error
//! ```

use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::format::losses;
use crate::model::id::StackId;
use crate::model::ragged::Ragged;
use crate::model::samples::Samples;

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
pub(super) fn mend_stacks(
    stacks: &mut Ragged<u32>,
    of_samples: &[StackId],
    holds: impl Fn(u32) -> bool,
    intake: &mut Intake,
) -> Result<()> {
    // The first sample of each stack.
    let mut first = vec![0; stacks.len()];
    for (sample, stack) in of_samples.iter().enumerate().rev() {
        first[stack.row()] = sample;
    }
    let mut mended = Ragged::default();
    for (row, &sample) in first.iter().enumerate() {
        for (at, &id) in stacks.row(row).iter().enumerate() {
            if holds(id) {
                mended.items.push(id);
                continue;
            }
            let id = crate::format::otlp::read::common::show(id).replace("index", "id");
            let error = Error::malformed(format!("no location has {id}"));
            intake.repair(
                losses::DANGLING_LOCATION,
                error.within_row("location_id", at).within_row("sample", sample),
            )?;
        }
        mended.end_row();
    }
    *stacks = mended;
    Ok(())
}

/// Drops samples with more or fewer values than sample types, or returns an error. The sample type of each
/// value is unknown in such a sample.
///
/// # Errors
///
/// The first sample with another number of values, unless the policy is to repair.
#[cold]
pub(super) fn mend_values(
    samples: &mut Samples,
    columns: usize,
    intake: &mut Intake,
) -> Result<()> {
    let mut keep = vec![true; samples.len()];
    for (row, keep) in keep.iter_mut().enumerate() {
        let found = samples.values.row(row).len();
        *keep = found == columns;
        if !*keep {
            let error =
                Error::malformed(format!("found {found} values for {columns} sample types"));
            intake.repair(losses::VALUE_COUNT, error.within("value").within_row("sample", row))?;
        }
    }
    samples.retain(&keep);
    Ok(())
}
