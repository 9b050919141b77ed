//! Samples that break a rule, refused or mended.
//!
//! Both rebuild a whole column and are never called for a file that keeps the rules; the readers of
//! samples only ask, at the end, whether the largest id and the number of values are right.
//!
//! ```text
//! samples say    largest id 9, of 8 locations       ─►  mend_stacks: leaves out 9, or refuses
//!                3 values, of 2 sample types        ─►  mend_values: drops the sample, or refuses
//! ```

use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::format::losses;
use crate::model::id::StackId;
use crate::model::ragged::Ragged;
use crate::model::samples::Samples;

/// Leaves out, or refuses, the frames of locations that do not exist.
///
/// `holds` says whether an id is a location of the file. Linear in the samples and in the stacks.
///
/// A stack is named by the first sample that has it, as a file has no table of stacks.
///
/// # Errors
///
/// Unless repairs are asked for, the first frame whose location does not exist.
#[cold]
pub(super) fn mend_stacks(
    stacks: &mut Ragged<u32>,
    of_samples: &[StackId],
    holds: impl Fn(u32) -> bool,
    intake: &mut Intake,
) -> Result<()> {
    // By stack: the first sample that has it.
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

/// Drops, or refuses, the samples that have more or fewer values than there are sample types: nobody knows which of
/// their values is of which type.
///
/// # Errors
///
/// Unless repairs are asked for, the first sample of another number of values.
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
