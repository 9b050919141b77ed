//! Writes to stdout or to files, completely or not at all.
//!
//! ```text
//! bytes ─► .NAME.PID.tmp beside each output ─► sync, if requested ─► all renamed ─► directories synced
//! ```
//!
//! To sync each of thousands of files would take as long as the disk needs. So a run that creates
//! files syncs their directories once, at its end ([`sync`]). A run that replaces its inputs syncs
//! each file first.
//!
//! So a file under its name is complete, whatever ends the run. Several files of one input appear
//! together or not at all, except for a crash between two renames. Temporary files are removed when
//! `Staged` is dropped and when a signal ends the run (`interrupt`). Those of a killed run are
//! removed by the next run that writes the same file (`stale`). Pipes and devices cannot be staged
//! and are written directly.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use crate::exit::{Exit, Failure};
use crate::input::same_file;
use crate::interrupt::Temporary;
use crate::stale;
use crate::text::shown_path;

/// Writes `bytes` to stdout. Returns `false` if the reader has closed it, which is not a failure.
///
/// # Errors
///
/// The output is binary, stdout is a terminal, and `force` is not set. Or writing fails for any
/// reason but a broken pipe; this is fatal, because further writes would fail too.
pub(crate) fn to_stdout(bytes: &[u8], force: bool) -> Result<bool, Failure> {
    let mut stdout = io::stdout().lock();
    if !force && stdout.is_terminal() && !is_text(bytes) {
        let message =
            "stdout is a terminal and the output is binary: give -o OUT, a pipe, or --force";
        return Err(Failure::new(Exit::Output, message));
    }
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => {
            let message = format!("stdout cannot be written: {error}");
            let failure = Failure::new(Exit::Output, message);
            Err(Failure { fatal: true, ..failure })
        }
    }
}

/// Prints text for people, with colours if they are enabled. Returns `false` if the reader has
/// closed stdout.
pub(crate) fn text_to_stdout(text: &str) -> Result<bool, Failure> {
    let choice = anstream::AutoStream::choice(&io::stdout());
    if choice == anstream::ColorChoice::Never {
        to_stdout(anstream::adapter::strip_str(text).to_string().as_bytes(), true)
    } else {
        to_stdout(text.as_bytes(), true)
    }
}

/// Whether bytes are UTF-8 without control characters except line feeds and tabs. Escape sequences
/// contain control characters, so none of an input reaches a terminal this way.
fn is_text(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes);
    text.is_ok_and(|text| text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t')))
}

/// Writes files under temporary names next to their final ones, then renames all of them.
///
/// Returns their directories.
///
/// # Errors
///
/// A file exists and `force` is not set, or a file cannot be written. All temporary files are
/// removed.
pub(crate) fn to_files(
    files: &[(PathBuf, Vec<u8>)],
    input: Option<&Path>,
    force: bool,
    when: Sync,
) -> Result<BTreeSet<PathBuf>, Failure> {
    // Before the first byte is written; `commit` checks again.
    for (path, _) in files.iter().filter(|_| !force) {
        may_create(path, input)?;
    }
    let directories = stage(files, when)?.commit(force, 0)?;
    if when == Sync::Now {
        sync(&directories);
    }
    Ok(directories)
}

/// Writes files, and keeps so many of their predecessors as `NAME.1`, `NAME.2` and so on. A predecessor moves when its
/// successor is complete.
///
/// # Errors
///
/// As [`to_files`], or a predecessor cannot be renamed.
pub(crate) fn rotate(files: &[(PathBuf, Vec<u8>)], backups: usize) -> Result<(), Failure> {
    sync(&stage(files, Sync::Deferred)?.commit(true, backups)?);
    Ok(())
}

/// Writes files under temporary names. Pipes and devices are written at once.
fn stage(files: &[(PathBuf, Vec<u8>)], when: Sync) -> Result<Staged, Failure> {
    let mut staged = Staged::default();
    for (path, bytes) in files {
        if is_stream(path) {
            write_stream(path, bytes).map_err(|error| unwritable(path, &error))?;
        } else {
            staged.write(path, bytes, when).map_err(|error| unwritable(path, &error))?;
        }
    }
    Ok(staged)
}

/// Copies a file to its first backup, and renames each backup to the next; the last is replaced.
fn shift(path: &Path, backups: usize) -> Result<(), Failure> {
    let backup = |number: usize| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    };
    let first = backup(1);
    // A run was killed before it replaced the file.
    if !path.exists() || same_file(path, &first) {
        return Ok(());
    }
    // As far as files are there; a gap ends the row.
    let there = (1..backups).take_while(|number| backup(*number).exists()).count();
    let failed = |to: &Path, error| unwritable(to, &error);
    // From the last, so that no rename replaces a backup that must still move.
    for number in (1..=there).rev() {
        let to = backup(number + 1);
        fs::rename(backup(number), &to).map_err(|error| failed(&to, error))?;
    }
    let _ = fs::remove_file(&first);
    // A link, so that the file keeps its name until its successor has it. Not all file systems have links.
    let moved = fs::hard_link(path, &first).or_else(|_| fs::rename(path, &first));
    moved.map_err(|error| failed(&first, error))
}

/// When to sync files to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sync {
    /// Each file before it is renamed, and then its directory.
    Now,
    /// When the system does so, or the caller calls [`sync`].
    Deferred,
}

/// Syncs directories, so that the names of new files survive a crash.
pub(crate) fn sync(directories: &BTreeSet<PathBuf>) {
    for directory in directories {
        // Not all systems can sync a directory.
        let _ = File::open(directory).and_then(|directory| directory.sync_all());
    }
}

/// Whether `path` exists and is neither a file nor a directory, so it cannot be replaced.
pub(crate) fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Whether `path` is the null device.
pub(crate) fn is_null(path: &Path) -> bool {
    same_file(path, Path::new("/dev/null"))
}

/// Writes to a pipe or a device. A broken pipe is not a failure: the reader has what it needs.
fn write_stream(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    match file.write_all(bytes).and_then(|()| file.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Checks that a file may be created.
///
/// # Errors
///
/// The path is the input itself, or an existing file.
fn may_create(path: &Path, input: Option<&Path>) -> Result<(), Failure> {
    let why = match input {
        Some(input) if same_file(input, path) => "is the input itself",
        // A link that leads nowhere exists, too: to write through it would create a file elsewhere.
        _ if is_stream(path) || fs::symlink_metadata(path).is_err() => return Ok(()),
        _ => "exists",
    };
    let message = format!("{} {why}; --force replaces it", shown_path(path));
    Err(Failure::new(Exit::Output, message))
}

/// Files with temporary names. Dropping it removes them.
#[derive(Debug, Default)]
pub(crate) struct Staged {
    /// The temporary name and the final one.
    files: Vec<(PathBuf, PathBuf)>,
}

impl Staged {
    /// Writes one file under its temporary name. It gets the permissions of the file that it
    /// replaces, so that a private file does not become public.
    fn write(&mut self, path: &Path, bytes: &[u8], when: Sync) -> io::Result<()> {
        let path = led_to(path)?;
        if path.is_dir() {
            return Err(io::Error::from(ErrorKind::IsADirectory));
        }
        let (mut file, temporary) = create_beside(&path)?;
        // From here on, dropping removes the file.
        self.files.push((temporary, path.clone()));
        // Before the contents, which others must not read meanwhile.
        if let Ok(replaced) = fs::metadata(&path) {
            file.set_permissions(replaced.permissions())?;
        }
        file.write_all(bytes)?;
        if when == Sync::Now { file.sync_all() } else { Ok(()) }
    }

    /// Renames all files and returns their directories. Keeps so many backups of each.
    ///
    /// # Errors
    ///
    /// A file was created meanwhile and may not be replaced, or a file cannot be renamed. Files
    /// that were renamed before stay; the rest are removed.
    fn commit(mut self, force: bool, backups: usize) -> Result<BTreeSet<PathBuf>, Failure> {
        let mut directories = BTreeSet::new();
        while let Some((temporary, path)) = self.files.last() {
            if !force {
                // Another process may have created it meanwhile.
                may_create(path, None)?;
            }
            if backups > 0 {
                shift(path, backups)?;
            }
            let mut known = Temporary::lock();
            // Under the lock, so that a signal finds the file under the name that the set has.
            fs::rename(temporary, path).map_err(|error| unwritable(path, &error))?;
            known.forget(temporary);
            drop(known);
            directories.insert(directory(path).to_owned());
            // Only now, so that dropping removes a file that was not renamed.
            self.files.pop();
        }
        Ok(directories)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        for (temporary, _) in &self.files {
            let mut known = Temporary::lock();
            let _ = fs::remove_file(temporary);
            known.forget(temporary);
        }
    }
}

/// The directory of `path`.
///
/// The parent of a bare file name is empty, which system calls reject.
fn directory(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Follows symbolic links at `path` to the file to write, which need not exist.
fn led_to(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    // The limit of Linux.
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(target) => path = directory(&path).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links lead from one to the next"))
}

/// Creates a file `.<name>.<pid>.tmp` in the directory of `path`. Keeps only the last 50 characters
/// of a long name, because the length of names is limited; the end has the numbers of numbered
/// files.
///
/// Adds a number if the file exists: process ids are reused, and equal in several containers.
fn create_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    let pid = std::process::id();
    let full = path.file_name().unwrap_or_default().to_string_lossy();
    let from = full.char_indices().rev().nth(49).map_or(0, |(at, _)| at);
    let prefix = format!(".{}.", full.get(from..).unwrap_or_default());
    stale::remove(directory(path), &prefix);
    for again in 0..100 {
        let name = match again {
            0 => format!("{prefix}{pid}.tmp"),
            _ => format!("{prefix}{pid}-{again}.tmp"),
        };
        let temporary = path.with_file_name(name);
        let mut known = Temporary::lock();
        // Under the lock: a signal between creating and adding would leave the file behind.
        match OpenOptions::new().read(true).write(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => {
                known.add(&temporary);
                return Ok((file, temporary));
            }
        }
    }
    Err(io::Error::other("files of interrupted runs, .*.tmp, are in the way"))
}

/// Creates a directory and its parents, if they do not exist.
///
/// # Errors
///
/// A file is in the way, or the system reports an error.
pub(crate) fn make_directory(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
            let message =
                format!("{} is not a directory, and one is needed here", shown_path(path));
            Failure::new(Exit::Output, message)
        }
        _ => unwritable(path, &error),
    })
}

/// The failure of an output that cannot be written.
pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Failure {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.exists());
    let path = shown_path(path);
    let message = match parent.filter(|_| error.kind() == ErrorKind::NotFound) {
        Some(parent) => {
            let parent = crate::input::quoted(&parent.to_string_lossy());
            format!(
                "{path} cannot be written: its folder does not exist; make it with `mkdir -p {parent}`"
            )
        }
        None => format!("{path} cannot be written: {error}"),
    };
    Failure::new(Exit::Output, message)
}
