//! Datasets: directories that `export` wrote, as inputs.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use otlp_profiles::Limits;
use otlp_profiles::columns::{Dataset, ProfileRow, Restored, SegmentFiles, Table, restore};

use crate::exit::{Exit, Failure};
use crate::input::unreadable;
use crate::text::shown_path;

/// Whether a path is a directory that `export` wrote.
pub(crate) fn is_dataset(path: &Path) -> bool {
    path.join(Table::Samples.name()).is_dir() && path.join(Table::Profiles.name()).is_dir()
}

/// A segment, or one service of it.
#[derive(Default)]
pub(crate) struct Unit {
    /// The paths of the files, by table in the order of [`Table::ALL`].
    files: [Vec<PathBuf>; 4],
}

/// Lists the units of a dataset: by segment, then by the folder of the service.
///
/// # Errors
///
/// The dataset has no Parquet file.
pub(crate) fn units(root: &Path) -> Result<Vec<Unit>, Failure> {
    let mut units: BTreeMap<(String, PathBuf), Unit> = BTreeMap::new();
    for (at, table) in Table::ALL.into_iter().enumerate() {
        let (paths, root) = (Dataset::files(root, table), root.join(table.name()));
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let Some(segment) = name.strip_suffix(".parquet").filter(|name| !name.starts_with('.'))
            else {
                continue;
            };
            let folder = path.strip_prefix(&root).unwrap_or(&path).parent().unwrap_or(&path);
            let is_service =
                |part: &&std::ffi::OsStr| part.to_string_lossy().starts_with("service=");
            let service: PathBuf = folder.iter().take_while(is_service).collect();
            let unit = units.entry((segment.to_owned(), service)).or_default();
            unit.files[at].push(path);
        }
    }
    if units.is_empty() {
        let root = shown_path(root);
        let message = format!(
            "{root} has no Parquet file of otlp-profiles export; Arrow, NDJSON and CSV are for other programs"
        );
        return Err(Failure::new(Exit::Input, message));
    }
    Ok(units.into_values().collect())
}

impl Unit {
    /// The name for messages: that of the table of profiles.
    pub(crate) fn name(&self) -> String {
        let path = self.files[2].first().or_else(|| self.files.iter().flatten().next());
        path.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Reads all files into memory.
    pub(crate) fn load(&self) -> Result<SegmentFiles, Failure> {
        let read = |path: &PathBuf| fs::read(path).map_err(|error| unreadable(&error));
        let mut files = SegmentFiles::default();
        for (bytes, paths) in files.files.iter_mut().zip(&self.files) {
            *bytes = paths.iter().map(read).collect::<Result<_, _>>()?;
        }
        Ok(files)
    }
}

/// Restores the profiles that `select` chooses.
pub(crate) fn restored(
    files: SegmentFiles,
    limits: &Limits,
    select: impl Fn(&ProfileRow<'_>) -> bool,
) -> Result<Restored, Failure> {
    restore(files, limits, select).map_err(|error| Failure::of(&error, Exit::Input))
}

/// The most segments that are read for the default sample type.
const MOST_SEGMENTS: usize = 100;

/// Returns the default sample type of a dataset: the most common one of its segments, or the first by name of those.
/// Segments whose type is not `wanted` do not count. Returns `None` for other paths.
pub(crate) fn default_type(root: &Path, wanted: impl Fn(&str) -> bool) -> Option<String> {
    let units = is_dataset(root).then(|| units(root).ok())??;
    let mut counts = BTreeMap::new();
    let names = units.iter().take(MOST_SEGMENTS).filter_map(Unit::default_type);
    for name in names.filter(|name| wanted(name)) {
        *counts.entry(name).or_insert(0_u32) += 1;
    }
    let most = counts.into_iter().min_by_key(|(_, count)| Reverse(*count));
    most.map(|(name, _)| name)
}

impl Unit {
    /// The default sample type: that of the first profile, unless this has no samples.
    fn default_type(&self) -> Option<String> {
        let first = Cell::new(None);
        let is_first = |row: &ProfileRow<'_>| {
            first.set(first.get().or(Some(row.profile_key)));
            first.get() == Some(row.profile_key)
        };
        let (files, limits) = (self.load().ok()?, Limits::file());
        let mut restored = restored(files, &limits, is_first).ok()?;
        if restored.profiles.iter().all(|profile| profile.samples().is_empty()) {
            restored = self::restored(self.load().ok()?, &limits, |_| true).ok()?;
        }
        restored.profiles.default_sample_type().map(|of| of.name.to_owned())
    }
}
