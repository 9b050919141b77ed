//! `validate --baseline`: reads known findings from a file, or writes them to it.

use std::path::Path;

use otlp_profiles::check::output::Checked;
use otlp_profiles::check::{Baseline, Known};

use crate::exit::{Exit, Failure};
use crate::output;
use crate::text::shown_path;

/// Reads a baseline.
///
/// # Errors
///
/// The file cannot be read, or is not a baseline.
pub(super) fn read(path: &Path) -> Result<Baseline, Failure> {
    let name = shown_path(path);
    let bytes = std::fs::read(path).map_err(|error| {
        let message =
            format!("the baseline {name} cannot be read: {error}; --update-baseline writes it");
        Failure::new(Exit::Input, message)
    })?;
    Baseline::parse(&bytes).map_err(|error| {
        Failure::new(Exit::Input, format!("the baseline {name} cannot be read: {error}"))
    })
}

/// Writes all findings of the files as the new baseline.
///
/// # Errors
///
/// The file cannot be written.
pub(super) fn write(path: &Path, files: &[Checked]) -> Result<Baseline, Failure> {
    let mut baseline = Baseline::default();
    for file in files {
        file.report.iter().for_each(|report| baseline.add(&file.name, report));
    }
    let files = [(path.to_owned(), baseline.to_string().into_bytes())];
    output::to_files(&files, None, true, output::Sync::Now)?;
    Ok(baseline)
}

/// Removes known findings from all reports.
pub(super) fn apply(baseline: &Baseline, files: &mut [Checked]) -> Known {
    let mut sum = Known::default();
    for file in files {
        if let Ok(report) = &mut file.report {
            let found = baseline.apply(&file.name, report);
            sum.known += found.known;
            sum.gone += found.gone;
        }
    }
    sum
}
