//! The files of a segment: their names, and how they appear together.
//!
//! ```text
//! DIR/samples/service=checkout/date=2026-01-03/.5c1f….parquet.4711.tmp ─► 5c1f….parquet
//! ```
//!
//! Files have temporary names until all are complete. They are renamed in the order of their references: mappings,
//! stacks, profiles, samples. So a reader never finds a sample without its stack. Signals wait for the renaming, and
//! otherwise remove all temporary files; the next run removes those of a run that was killed.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use otlp_profiles::columns::{Part, Table};

use crate::exit::Failure;
use crate::output::{self, Staged, unwritable};
use crate::stale;

/// The most bytes of a service in the name of a folder, of the 255 that file systems allow.
const LONGEST: usize = 200;

/// A directory of tables that receives a segment.
pub(super) struct Staging {
    root: PathBuf,
    staged: Staged,
    /// The temporary file of the samples, which is never renamed.
    scratch: Staged,
}

impl Staging {
    /// Opens or creates a directory, and removes the temporary files of runs that were killed.
    pub(super) fn new(root: &Path) -> Result<Self, Failure> {
        output::make_directory(root)?;
        let root = root.to_owned();
        each_directory(&root, &mut stale::remove_all);
        Ok(Self { root, staged: Staged::default(), scratch: Staged::default() })
    }

    /// Creates the temporary file of the samples.
    pub(super) fn scratch(&mut self) -> Result<File, Failure> {
        let path = self.root.join("samples.scratch");
        self.scratch.create(&path).map_err(|error| unwritable(&path, &error))
    }

    /// Lists the files of a segment that exist, samples first.
    pub(super) fn files_of(&self, segment: &str) -> Result<Vec<PathBuf>, Failure> {
        let mut files = Vec::new();
        for table in Table::ALL.iter().rev() {
            each_file(&self.root.join(table.name()), &mut |path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if name.split('.').next() == Some(segment) {
                    files.push(path.to_owned());
                }
            });
        }
        Ok(files)
    }

    /// Creates a file under its temporary name. `path` is relative to the directory.
    pub(super) fn create(&mut self, path: &Path) -> Result<File, Failure> {
        let path = self.root.join(path);
        output::make_directory(path.parent().unwrap_or(&self.root))?;
        self.staged.create(&path).map_err(|error| unwritable(&path, &error))
    }

    /// Replaces `existing` files by those created, in the order of their creation.
    pub(super) fn publish(self, existing: &[PathBuf]) -> Result<(), Failure> {
        let directories = self.staged.publish(existing)?;
        output::sync(&directories);
        Ok(())
    }
}

/// Calls `f` with each file in a directory and the directories in it.
pub(super) fn each_file(directory: &Path, f: &mut dyn FnMut(&Path)) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        // A link to a directory may form a cycle.
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => each_file(&path, f),
            _ => f(&path),
        }
    }
}

/// Calls `f` with a directory, and with each directory in it.
fn each_directory(directory: &Path, f: &mut dyn FnMut(&Path)) {
    f(directory);
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            each_directory(&entry.path(), f);
        }
    }
}

/// The folders of services, each with a different name.
pub(super) struct Folders<'a>(HashMap<&'a str, String>);

impl<'a> Folders<'a> {
    pub(super) fn of(parts: &'a [Part]) -> Self {
        // File systems may ignore case.
        let (mut folders, mut taken) = (HashMap::new(), HashMap::new());
        for service in parts.iter().filter_map(|part| part.service.as_deref()) {
            folders.entry(service).or_insert_with(|| {
                let folder = folder(service);
                let times: &mut u32 = taken.entry(folder.to_lowercase()).or_default();
                *times += 1;
                if *times == 1 { folder } else { format!("{folder}~{times}") }
            });
        }
        Self(folders)
    }

    /// Returns the path of a part in the directory.
    pub(super) fn path(&self, part: &Part, segment: &str, extension: &str) -> PathBuf {
        let mut path = PathBuf::from(part.table.name());
        if let Some(folder) = part.service.as_deref().and_then(|service| self.0.get(service)) {
            path.push(format!("service={folder}"));
        }
        if let Some(date) = &part.date {
            path.push(format!("date={date}"));
        }
        path.join(format!("{segment}.{extension}"))
    }
}

/// Returns the name of a service as a part of a path: percent-encoded, shortened if it is long.
fn folder(service: &str) -> String {
    if matches!(service, "" | "." | "..") {
        return "unknown_service".to_owned();
    }
    let mut folder = String::new();
    for byte in service.bytes() {
        if folder.len() > LONGEST {
            // Long names with equal beginnings get different folders.
            return format!("{folder}~{:016x}", xxhash_rust::xxh3::xxh3_64(service.as_bytes()));
        }
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'_' | b'.' => {
                folder.push(char::from(byte));
            }
            byte => folder.push_str(&format!("%{byte:02X}")),
        }
    }
    folder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_services_stay_in_the_directory() {
        for (service, expected) in [
            ("checkout", "checkout"),
            ("a/b c", "a%2Fb%20c"),
            ("", "unknown_service"),
            (".", "unknown_service"),
            ("..", "unknown_service"),
            ("../x", "..%2Fx"),
            ("größe", "gr%C3%B6%C3%9Fe"),
            ("a\\b:c\0", "a%5Cb%3Ac%00"),
            ("~", "%7E"),
        ] {
            assert_eq!(folder(service), expected);
        }
        let [one, other] = ["x", "y"].map(|last| folder(&("é".repeat(150) + last)));
        assert!(one.len() < 230 && one != other, "{one}");
    }
}
