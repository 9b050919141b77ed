//! Removal of temporary files that killed runs left behind.
//!
//! SIGKILL and power failures end a run before it can remove its temporary files. The next run that
//! writes the same file removes them. A file is removed only if all of this holds:
//!
//! * It is a regular file in the directory of the output, and its owner is the user of this run.
//! * Its name is the temporary name of that output, with the id of a process.
//! * That process no longer exists, by Linux's `/proc`. Other systems keep the files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The files to remove, by the part of their names before the process id.
type ByPrefix = HashMap<String, Vec<PathBuf>>;

/// Directories that were listed. A run lists each directory once, however many files it writes there.
static LISTED: Mutex<Option<HashMap<PathBuf, ByPrefix>>> = Mutex::new(None);

/// Removes the temporary files in `directory` whose names are `prefix`, the id of a dead process,
/// and `.tmp`. Ignores errors: the files are only in the way of people.
pub(crate) fn remove(directory: &Path, prefix: &str) {
    let mut listed = LISTED.lock().unwrap_or_else(PoisonError::into_inner);
    let listed = listed.get_or_insert_default();
    let files = match listed.get_mut(directory) {
        Some(files) => files,
        None => listed.entry(directory.to_owned()).or_insert_with(|| list(directory)),
    };
    for path in files.remove(prefix).unwrap_or_default() {
        let _ = std::fs::remove_file(path);
    }
}

/// Lists the temporary files of dead processes in a directory.
#[cfg(target_os = "linux")]
fn list(directory: &Path) -> ByPrefix {
    use std::os::unix::fs::MetadataExt;
    let mut stale = ByPrefix::new();
    // `/proc` may hide the processes of other users, so their files are kept.
    let Ok(own) = std::fs::metadata("/proc/self") else { return stale };
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some((prefix, pid)) = name.to_str().and_then(parse) else { continue };
        // Does not follow links, so a link is no regular file.
        let metadata = entry.metadata();
        if metadata.is_ok_and(|metadata| metadata.is_file() && metadata.uid() == own.uid())
            && !Path::new("/proc").join(pid).exists()
        {
            stale.entry(prefix.to_owned()).or_default().push(entry.path());
        }
    }
    stale
}

/// Without `/proc`, it is unknown which processes exist.
#[cfg(not(target_os = "linux"))]
fn list(_: &Path) -> ByPrefix {
    ByPrefix::new()
}

/// Splits a temporary name, `.NAME.PID.tmp` or `.NAME.PID-NUMBER.tmp`, into `.NAME.` and the
/// process id.
#[cfg(target_os = "linux")]
fn parse(name: &str) -> Option<(&str, &str)> {
    let stem = name.strip_suffix(".tmp").filter(|stem| stem.starts_with('.'))?;
    let (prefix, number) = stem.split_at(stem.rfind('.')? + 1);
    let (pid, again) = number.split_once('-').unwrap_or((number, "1"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // A prefix is a name between two dots.
    (prefix.len() > 2 && is_number(pid) && is_number(again)).then_some((prefix, pid))
}
