//! The directory of a dataset, and how the files of a segment appear in it together.
//!
//! ```text
//! DIR/.export.4711.tmp/samples/service=checkout/…   a run writes files
//!  ─► DIR/.5c1f….4711.replace                       all are complete; files of the same segment are removed
//!  ─► DIR/.5c1f….4711.publish                       files move to DIR: mappings, stacks, profiles, then samples
//! ```
//!
//! So a sample appears after its stack. If a run is killed, the next one removes `.tmp`, and publishes the others.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

#[cfg(feature = "arrow")]
use crate::columns::arrow::ArrowWriter;
use crate::columns::batch::Batch;
use crate::columns::schema::Table;
use crate::columns::tables::{Part, Tables};
#[cfg(feature = "parquet")]
use crate::columns::write::{PageCompression, ParquetWriter};
use crate::error::{Error, Result};
use crate::reader::ReadOptions;
use crate::wire::hex::hex;

/// A directory of tables while a run adds a segment to it. Dropping it removes the files of the run.
///
/// ```
/// use otlp_profiles::ReadOptions;
/// use otlp_profiles::columns::{
///     Dataset, PageCompression, Segment, SegmentOptions, Table, TableFormat, hash_of, segment_id,
///     write_part,
/// };
///
/// # let root = std::env::temp_dir().join(format!("otlp-profiles-dataset-{}", std::process::id()));
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let dataset = Dataset::open(&root)?;
/// let mut segment = Segment::new(SegmentOptions::default(), dataset.scratch()?)?;
/// let heap = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let losses = segment.add(&heap, "heap.pb.gz", "pprof")?;
/// losses.iter().for_each(|loss| println!("{loss}"));
/// let id = segment_id(vec![hash_of(&bytes[..]).unwrap()], &ReadOptions::default(), None);
/// let mut tables = segment.finish(id)?;
/// let format = TableFormat::Parquet(PageCompression::default());
/// for part in tables.parts().to_vec() {
///     let file = dataset.create(&part, id, format.extension())?;
///     assert!(write_part(&mut tables, &part, file, format)? > 0);
/// }
/// drop(tables);
/// assert!(dataset.publish(id, false)?.is_none());
/// assert_eq!(Dataset::files(&root, Table::Samples).len(), 1);
/// # std::fs::remove_dir_all(&root).unwrap();
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Debug)]
pub struct Dataset {
    root: PathBuf,
    staging: PathBuf,
}

/// A format of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableFormat {
    /// Parquet.
    #[cfg(feature = "parquet")]
    Parquet(PageCompression),
    /// Arrow IPC files.
    #[cfg(feature = "arrow")]
    Arrow,
}

impl TableFormat {
    /// Returns the extension of files, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            #[cfg(feature = "parquet")]
            Self::Parquet(_) => "parquet",
            #[cfg(feature = "arrow")]
            Self::Arrow => "arrow",
        }
    }
}

impl Dataset {
    /// Opens or creates a directory, and cleans up after runs that were killed.
    ///
    /// # Errors
    ///
    /// The directory cannot be created or written, or a link is in the place of a table.
    pub fn open(root: &Path) -> Result<Self> {
        fs::create_dir_all(root).map_err(|error| unwritable(root, error))?;
        Table::ALL.into_iter().try_for_each(|table| refuse_link(&root.join(table.name())))?;
        let lock = lock(root)?;
        recover(root);
        drop(lock);
        let pid = std::process::id();
        let mut number = 0;
        loop {
            let staging = match number {
                0 => root.join(format!(".export.{pid}.tmp")),
                _ => root.join(format!(".export.{pid}-{number}.tmp")),
            };
            match fs::create_dir(&staging) {
                Ok(()) => return Ok(Self { root: root.to_owned(), staging }),
                // Another thread exports, or a process of another container has the same id.
                Err(error) if error.kind() == ErrorKind::AlreadyExists && number < 1_000 => {
                    number += 1;
                }
                Err(error) => return Err(unwritable(&staging, error)),
            }
        }
    }

    /// Returns the directory of the files of this run, until [`publish`](Self::publish). A signal handler may remove it.
    pub fn staging(&self) -> &Path {
        &self.staging
    }

    /// Creates the temporary file of a [`Segment`](super::Segment).
    ///
    /// # Errors
    ///
    /// The file cannot be created.
    pub fn scratch(&self) -> Result<File> {
        let path = self.staging.join("scratch");
        let file = File::options().read(true).write(true).create_new(true).open(&path);
        file.map_err(|error| unwritable(&path, error))
    }

    /// Creates the file of a part. `segment` is [`Tables::id`].
    ///
    /// # Errors
    ///
    /// The file cannot be created.
    pub fn create(&self, part: &Part, segment: [u8; 12], extension: &str) -> Result<File> {
        let path = self.staging.join(part.path(segment, extension));
        let directory = path.parent().unwrap_or(&self.staging);
        let file = fs::create_dir_all(directory).and_then(|()| File::create_new(&path));
        file.map_err(|error| unwritable(&path, error))
    }

    /// Lists the files of a segment that exist, samples first.
    pub fn existing(&self, segment: [u8; 12]) -> Vec<PathBuf> {
        files_of(&self.root, &hex(&segment))
    }

    /// Replaces the existing files of the segment by those of this run. No file of `Tables` may be open any more.
    ///
    /// Without `force`, publishes nothing if the segment has files, of which it returns one. Runs publish one after the
    /// other, so of several runs that add the same segment at once, one succeeds.
    ///
    /// # Errors
    ///
    /// A file cannot be removed or renamed. The next [`open`](Self::open) tries again when this process has ended.
    pub fn publish(self, segment: [u8; 12], force: bool) -> Result<Option<PathBuf>> {
        let _lock = lock(&self.root)?;
        if let Some(path) = self.existing(segment).into_iter().next().filter(|_| !force) {
            return Ok(Some(path));
        }
        for path in Table::ALL.into_iter().flat_map(|table| Self::files(&self.staging, table)) {
            let relative = path.strip_prefix(&self.staging).unwrap_or(&path);
            let folders = relative.ancestors().skip(1).filter(|folder| *folder != Path::new(""));
            folders.into_iter().try_for_each(|folder| refuse_link(&self.root.join(folder)))?;
        }
        let name = self.staging.file_name().unwrap_or_default().to_string_lossy();
        let segment = hex(&segment);
        let complete = name.replacen("export", &segment, 1).replacen(".tmp", ".replace", 1);
        let complete = self.root.join(complete);
        let _ = fs::remove_file(self.staging.join("scratch"));
        rename(&self.staging, &complete)?;
        finish(&self.root, &complete, &segment).map(|()| None)
    }

    /// Lists the files of a table in a directory and the directories in it, in order.
    pub fn files(root: &Path, table: Table) -> Vec<PathBuf> {
        let mut files = Vec::new();
        list(&root.join(table.name()), &mut files);
        files
    }
}

impl Drop for Dataset {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.staging);
    }
}

/// Writes a part to a file, and returns the number of rows.
///
/// # Errors
///
/// The output cannot be written, or the format cannot represent a row.
pub fn write_part<S: Read + Write + Seek>(
    tables: &mut Tables<S>,
    part: &Part,
    output: impl Write + Send,
    format: TableFormat,
) -> Result<u64> {
    let (table, segment, mut rows) = (part.table, tables.id(), 0);
    let mut each = |write: &mut dyn FnMut(&Batch<'_>) -> Result<()>| {
        tables.each(part, |batch| {
            rows += batch.len() as u64;
            write(batch)
        })
    };
    match format {
        #[cfg(feature = "parquet")]
        TableFormat::Parquet(compression) => {
            let mut writer = ParquetWriter::new(output, table, segment, compression)?;
            each(&mut |batch| writer.write(batch))?;
            writer.finish()?.flush()
        }
        #[cfg(feature = "arrow")]
        TableFormat::Arrow => {
            let mut writer = ArrowWriter::new(output, table, segment)?;
            each(&mut |batch| writer.write(batch))?;
            writer.finish()?.flush()
        }
    }
    .map_err(|error| Error::io("the table cannot be written", error))?;
    Ok(rows)
}

/// Returns the id of a segment: a hash of the inputs, whatever their order, and of the options that change rows.
/// `inputs` are hashes by [`hash_of`]; `others` are further options unless all have their defaults.
pub fn segment_id(
    mut inputs: Vec<u128>,
    options: &ReadOptions,
    others: Option<&dyn Debug>,
) -> [u8; 12] {
    inputs.sort_unstable();
    let mut bytes: Vec<u8> = inputs.iter().flat_map(|hash| hash.to_be_bytes()).collect();
    let options = (options.format, options.policy, &options.source);
    bytes.extend_from_slice(format!("{options:?}").as_bytes());
    if let Some(others) = others {
        bytes.extend_from_slice(format!("{others:?}").as_bytes());
    }
    let [id @ .., _, _, _, _] = xxh3_128(&bytes).to_be_bytes();
    id
}

/// Returns the hash of an input, for [`segment_id`].
///
/// # Errors
///
/// The input cannot be read.
pub fn hash_of(mut input: impl Read) -> io::Result<u128> {
    let (mut hash, mut buffer) = (Xxh3::new(), vec![0; 1 << 16]);
    loop {
        match input.read(&mut buffer)? {
            0 => return Ok(hash.digest128()),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// Locks a dataset, until the file is dropped or the process ends. Some network file systems have no locks.
#[cfg(unix)]
fn lock(root: &Path) -> Result<File> {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::retry_on_intr;
    let file = File::open(root).map_err(|error| unwritable(root, error))?;
    let _ = retry_on_intr(|| flock(&file, FlockOperation::LockExclusive));
    Ok(file)
}

/// Other systems cannot lock a directory.
#[cfg(not(unix))]
fn lock(_: &Path) -> Result<()> {
    Ok(())
}

/// Rejects a link in the place of a folder: files would appear outside the dataset.
fn refuse_link(path: &Path) -> Result<()> {
    if fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()) {
        let error = io::Error::other("it is a link, which leads out of the dataset; remove it");
        return Err(unwritable(path, error));
    }
    Ok(())
}

fn unwritable(path: &Path, error: io::Error) -> Error {
    Error::io(&format!("{} cannot be written", path.display()), error)
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|error| unwritable(to, error))
}

/// Publishes the files in `complete`, a directory that ends in `.replace` or `.publish`.
fn finish(root: &Path, complete: &Path, segment: &str) -> Result<()> {
    let publish = complete.with_extension("publish");
    if complete != publish {
        for path in files_of(root, segment) {
            fs::remove_file(&path).map_err(|error| unwritable(&path, error))?;
        }
        rename(complete, &publish)?;
    }
    let mut directories = BTreeSet::new();
    for path in Table::ALL.into_iter().flat_map(|table| Dataset::files(&publish, table)) {
        let to = root.join(path.strip_prefix(&publish).unwrap_or(&path));
        let directory = to.parent().unwrap_or(root);
        fs::create_dir_all(directory).map_err(|error| unwritable(directory, error))?;
        rename(&path, &to)?;
        directories.insert(directory.to_owned());
    }
    for directory in directories {
        // The names survive a crash then. Not all systems can sync a directory.
        let _ = File::open(directory).and_then(|directory| directory.sync_all());
    }
    let _ = fs::remove_dir_all(publish);
    Ok(())
}

/// Lists the files of a segment, samples first.
fn files_of(root: &Path, segment: &str) -> Vec<PathBuf> {
    let files = Table::ALL.into_iter().rev().flat_map(|table| Dataset::files(root, table));
    let name = |path: &PathBuf| path.file_name()?.to_str()?.split('.').next().map(str::to_owned);
    files.filter(|path| name(path).is_some_and(|name| name == segment)).collect()
}

fn list(directory: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        // A link to a directory may form a cycle.
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => list(&path, files),
            _ => files.push(path),
        }
    }
}

/// Cleans up after processes that ended without doing so.
fn recover(root: &Path) {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let parts: Vec<&str> = name.split('.').collect();
        let ["", what, pid, state] = parts[..] else { continue };
        if !is_abandoned(&path, pid.split('-').next().unwrap_or_default()) {
            continue;
        }
        // Failures show when this run writes.
        let _ = match (what, state) {
            ("export", "tmp") => fs::remove_dir_all(&path).is_ok(),
            (segment, "replace" | "publish") => finish(root, &path, segment).is_ok(),
            _ => continue,
        };
    }
}

/// Whether a directory is of a process of the same user that has ended. `/proc` may hide the processes of others.
#[cfg(target_os = "linux")]
fn is_abandoned(path: &Path, pid: &str) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(own), Ok(of)) = (fs::metadata("/proc/self"), fs::symlink_metadata(path)) else {
        return false;
    };
    let is_number = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
    is_number && of.is_dir() && of.uid() == own.uid() && !Path::new("/proc").join(pid).exists()
}

/// Without `/proc`, it is unknown which processes exist.
#[cfg(not(target_os = "linux"))]
fn is_abandoned(_: &Path, _: &str) -> bool {
    false
}
