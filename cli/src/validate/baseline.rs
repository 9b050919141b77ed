//! `validate --baseline`: reads known findings from a file, or writes them to it.

use std::path::{Path, PathBuf};

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
    /// The directory of the baseline, to which its paths are relative.
    directory: PathBuf,
    /// Whether an input was not read, so that its known findings would be lost.
    is_partial: bool,
}

impl<'a> Baselined<'a> {
    /// Reads the baseline, unless it is to be written.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a baseline.
    pub(super) fn new(path: &'a Path, updates: bool) -> Result<Self, Failure> {
        let baseline = if updates { Baseline::default() } else { read(path)? };
        let directory = absolute(path).parent().map(Path::to_owned).unwrap_or_default();
        Ok(Self { path, baseline, updates, found: Known::default(), directory, is_partial: false })
    }

    /// Removes known findings from the report of a file.
    pub(super) fn apply(&mut self, file: &mut Checked) {
        let Ok(report) = &mut file.report else {
            self.is_partial = true;
            return;
        };
        let name = relative(&file.name, &self.directory);
        let found = if self.updates {
            let mut own = Baseline::default();
            own.add(&name, report);
            self.baseline.add(&name, report);
            own.apply(&name, report)
        } else {
            match self.baseline.apply(&name, report) {
                // Baselines of earlier releases have the names as they were given.
                Known { known: 0, gone: 0, .. } => self.baseline.apply(&file.name, report),
                found => found,
            }
        };
        self.found.known += found.known;
        self.found.gone += found.gone;
    }

    /// Writes the baseline if it is to be updated, and returns how many findings were known.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or an input was not read: the file then stays as it is.
    pub(super) fn finish(self) -> Result<Known, Failure> {
        if self.updates && self.is_partial {
            let message = format!(
                "the baseline {} was not updated, because an input could not be read",
                shown_path(self.path)
            );
            return Err(Failure::new(Exit::Input, message));
        }
        if self.updates {
            let files = [(self.path.to_owned(), self.baseline.to_string().into_bytes())];
            output::to_files(&files, None, true, output::Sync::Now)?;
        }
        Ok(self.found)
    }
}

/// The path of an input relative to a directory, with `/` between names, so that it is the same from everywhere.
fn relative(name: &str, directory: &Path) -> String {
    if name == "-" {
        return name.to_owned();
    }
    let path = absolute(Path::new(name));
    let shared = path.iter().zip(directory).take_while(|(one, other)| one == other).count();
    let up = directory.iter().skip(shared).map(|_| "..".into());
    let names = up.chain(path.iter().skip(shared).map(|name| name.to_string_lossy().into_owned()));
    match shared {
        // Another drive.
        0 => path.to_string_lossy().into_owned(),
        _ => names.collect::<Vec<String>>().join("/"),
    }
}

/// An absolute path without links in its directory. The last name stays, as links to files are inputs of their own.
fn absolute(path: &Path) -> PathBuf {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new(".")).canonicalize();
    match (directory, path.file_name()) {
        (Ok(directory), Some(name)) => directory.join(name),
        _ => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
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
