//! `validate --baseline`: reads known findings from a file, or writes them to it.

use std::path::Path;

use otlp_profiles::check::output::Checked;
use otlp_profiles::check::{Baseline, Known};

use crate::exit::{Exit, Failure};
use crate::output;
use crate::text::shown_path;

/// The baseline of a run.
pub(super) struct Baselined<'a> {
    path: &'a Path,
    baseline: Baseline,
    /// Whether the baseline is written: then it has all findings of this run.
    pub(super) updates: bool,
    found: Known,
}

impl<'a> Baselined<'a> {
    /// Reads the baseline, unless it is to be written.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a baseline.
    pub(super) fn new(path: &'a Path, updates: bool) -> Result<Self, Failure> {
        let baseline = if updates { Baseline::default() } else { read(path)? };
        Ok(Self { path, baseline, updates, found: Known::default() })
    }

    /// Removes known findings from the report of a file.
    pub(super) fn apply(&mut self, file: &mut Checked) {
        let Ok(report) = &mut file.report else { return };
        let found = if self.updates {
            let mut own = Baseline::default();
            own.add(&file.name, report);
            self.baseline.add(&file.name, report);
            own.apply(&file.name, report)
        } else {
            self.baseline.apply(&file.name, report)
        };
        self.found.known += found.known;
        self.found.gone += found.gone;
    }

    /// Writes the baseline if it is to be updated, and returns how many findings were known.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(super) fn finish(self) -> Result<Known, Failure> {
        if self.updates {
            let files = [(self.path.to_owned(), self.baseline.to_string().into_bytes())];
            output::to_files(&files, None, true, output::Sync::Now)?;
        }
        Ok(self.found)
    }
}

fn read(path: &Path) -> Result<Baseline, Failure> {
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
