//! Publishers: where the profiles of a sink go.
//!
//! ```text
//! file:///var/profiles/heap-%Y%m%dT%H%M%S.otlp.gz?max_bytes=10000000&backup_count=5&ttl=86400
//! stdout?format=folded
//! ```
//!
//! Payloads wait in memory until their file is complete: when the next payload does not fit or belongs to another time,
//! or at the end. Files appear under their names when they are complete (`output`).

use std::path::{Path, PathBuf};

use jiff::civil::DateTime;
use jiff::fmt::strtime;
use otlp_profiles::compression::Level;
use otlp_profiles::{Format, Profiles, WriteOptions};

use crate::convert::encode::Converted;
use crate::exit::{Exit, Failure};
use crate::files::{Packing, labelled};
use crate::output::{self, Sync};
use crate::text::shown_path;
use crate::time::civil;

/// A publisher with what it holds.
pub(super) struct Publisher {
    pub(super) url: String,
    /// The name of the file, with fields such as `%Y`; `None` is stdout.
    path: Option<PathBuf>,
    format: Format,
    packing: Packing,
    max_bytes: Option<u64>,
    backup_count: Option<usize>,
    /// In nanoseconds; not positive, files stay.
    ttl: i128,
    /// The payloads of the next file, and their bytes.
    held: Converted,
    bytes: u64,
    /// The name of the next file, and the end of its last profile.
    next: Option<(PathBuf, i128)>,
    /// Something was published.
    is_used: bool,
}

/// The files that were written.
pub(super) struct Written {
    pub(super) names: Vec<String>,
    pub(super) converted: Converted,
}

impl Publisher {
    /// Parses the URL of a publisher.
    ///
    /// # Errors
    ///
    /// A sentence about what is wrong with it.
    pub(super) fn parse(url: &str) -> Result<Self, String> {
        let (target, query) = url.split_once('?').unwrap_or((url, ""));
        let path = match target.strip_prefix("file://") {
            Some("") => return Err("the path is missing".to_owned()),
            Some(path) => Some(PathBuf::from(path)),
            None if ["stdout", "-"].contains(&target) => None,
            None if !target.contains(':') => {
                return Err(format!("to publish a file, write file://{url}"));
            }
            None => {
                let scheme = target.split(':').next().unwrap_or_default();
                return Err(format!(
                    "{scheme} is not supported: publish a file and send it, such as with curl --data-binary @FILE URL"
                ));
            }
        };
        let by_name = path.as_deref().and_then(Format::of_path).filter(|format| format.can_write());
        let packing = path.as_deref().map_or(Packing::None, Packing::of_path);
        let mut publisher = Self {
            url: url.to_owned(),
            format: by_name.unwrap_or(Format::OTLP),
            packing,
            path,
            max_bytes: None,
            backup_count: None,
            ttl: -1,
            held: Converted::default(),
            bytes: 0,
            next: None,
            is_used: false,
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            publisher.set(pair)?;
        }
        publisher.check()?;
        Ok(publisher)
    }

    fn set(&mut self, pair: &str) -> Result<(), String> {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let wrong = |what: &str| format!("{key} is {value:?}, and {what} is expected");
        match key {
            "format" => {
                let format = value.parse().ok().filter(|format: &Format| format.can_write());
                self.format =
                    format.ok_or_else(|| wrong("a format that is written, such as otlp"))?;
            }
            "max_bytes" if self.path.is_some() => {
                let bytes = value.parse().ok().filter(|bytes| *bytes > 0);
                self.max_bytes = Some(bytes.ok_or_else(|| wrong("a number of bytes"))?);
            }
            "backup_count" if self.path.is_some() => {
                let count = value.parse().ok().filter(|count| (1..=10_000).contains(count));
                self.backup_count = Some(count.ok_or_else(|| wrong("a number of files"))?);
            }
            "ttl" if self.path.is_some() => {
                let seconds: i64 = value.parse().map_err(|_| wrong("a number of seconds"))?;
                self.ttl = i128::from(seconds) * 1_000_000_000;
            }
            _ => {
                let known = if self.path.is_some() {
                    "max_bytes, backup_count, ttl, format"
                } else {
                    "format"
                };
                return Err(format!("unknown parameter {key:?}: the parameters are {known}"));
            }
        }
        Ok(())
    }

    /// Checks parameters that depend on each other.
    fn check(&self) -> Result<(), String> {
        if !self.packing.is_built() {
            return Err("this build writes no zstd: write .gz".to_owned());
        }
        let Some(path) = &self.path else { return Ok(()) };
        if path.parent().is_some_and(|parent| parent.to_string_lossy().contains('%')) {
            return Err(
                "only the name of the file may contain times, not that of a folder".to_owned()
            );
        }
        let name = self.name_at(0).map_err(|failure| failure.message)?;
        let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let has_date = self.time_of(&name).is_some();
        if self.ttl > 0 && !has_date || self.rotation().is_some() && self.has_time() && !has_date {
            let message =
                "files expire by the date and time in their names, such as heap-%Y%m%dT%H%M%S.otlp";
            return Err(message.to_owned());
        }
        Ok(())
    }

    /// A parameter without effect.
    pub(super) fn warning(&self) -> Option<String> {
        let (lone, other) = match (self.max_bytes, self.backup_count) {
            (Some(_), None) => ("max_bytes", "backup_count"),
            (None, Some(_)) => ("backup_count", "max_bytes"),
            _ => return None,
        };
        Some(format!("{}: {lone} has no effect without {other}", self.url))
    }

    pub(super) fn is_unused(&self) -> bool {
        !self.is_used
    }

    /// The file that is written, or stdout.
    pub(super) fn target(&self) -> String {
        self.path.as_deref().map_or("stdout".to_owned(), |path| path.to_string_lossy().into_owned())
    }

    /// The number of bytes after which a file is complete, and of older files that stay.
    fn rotation(&self) -> Option<(u64, usize)> {
        self.max_bytes.zip(self.backup_count)
    }

    fn file_name(&self) -> &str {
        let name = self.path.as_deref().and_then(Path::file_name);
        name.and_then(|name| name.to_str()).unwrap_or_default()
    }

    fn has_time(&self) -> bool {
        self.file_name().contains('%')
    }

    /// The name of the file for profiles that end at a time.
    fn name_at(&self, end: i128) -> Result<PathBuf, Failure> {
        let path = self.path.clone().unwrap_or_default();
        let wrong = |message: String| Failure::new(Exit::Output, message);
        let time = civil(end)
            .ok_or_else(|| wrong(format!("the time {end} ns is outside the years 0 to 9999")))?;
        let name = strtime::format(self.file_name(), time)
            .map_err(|error| wrong(format!("the name of the file is wrong: {error}")))?;
        Ok(path.with_file_name(name))
    }

    /// The date and time in the name of an own file.
    fn time_of(&self, name: &str) -> Option<DateTime> {
        strtime::parse(self.file_name(), name).ok()?.to_datetime().ok()
    }

    /// Adds profiles that end at a time. Returns a file that is complete now.
    pub(super) fn publish(
        &mut self,
        profiles: &Profiles,
        end: i128,
        options: &WriteOptions,
        force: bool,
    ) -> Result<Option<Written>, Failure> {
        self.is_used = true;
        let mut next = Converted::default();
        next.encode((String::new(), profiles.clone()), self.format, options)?;
        let name = self.name_at(end)?;
        let written = match (&self.next, self.rotation()) {
            (Some((of, _)), None) if *of != name => self.write(force)?,
            (Some(_), Some((most, _))) if self.bytes + next.payload_bytes() > most => {
                // Files of the same time have the same name.
                let is_same =
                    self.has_time() && self.next.as_ref().is_some_and(|(of, _)| *of == name);
                if is_same { None } else { self.write(force)? }
            }
            _ => None,
        };
        self.bytes += next.payload_bytes();
        self.held.append(next);
        let (_, last) = self.next.get_or_insert((name, end));
        *last = end.max(*last);
        Ok(written)
    }

    /// Writes the payloads that are held.
    pub(super) fn write(&mut self, force: bool) -> Result<Option<Written>, Failure> {
        let Some((name, end)) = self.next.take() else { return Ok(None) };
        let mut converted = std::mem::take(&mut self.held);
        self.bytes = 0;
        let blobs = converted.blobs(self.format, self.packing, Level::DEFAULT)?;
        let labels: Vec<&str> = blobs.iter().map(|(label, _)| &**label).collect();
        if self.path.is_none() {
            let [(_, blob)] = &blobs[..] else {
                let message = format!(
                    "{} needs {} files: choose one sample type in meters, or publish to file://",
                    self.format,
                    blobs.len()
                );
                return Err(Failure::new(Exit::Output, message));
            };
            output::to_stdout(blob, force)?;
            return Ok(Some(Written { names: vec!["-".to_owned()], converted }));
        }
        let names = labelled(&name, &labels);
        if let Some((_, count)) = self.rotation().filter(|_| !self.has_time()) {
            names.iter().try_for_each(|name| shift(name, count))?;
        }
        let blobs = blobs.into_iter().map(|(_, blob)| blob);
        let files: Vec<(PathBuf, Vec<u8>)> = names.into_iter().zip(blobs).collect();
        let directories = output::to_files(&files, None, force, Sync::Deferred)?;
        output::sync(&directories);
        self.expire(end)?;
        let names = files.iter().map(|(path, _)| path.to_string_lossy().into_owned()).collect();
        Ok(Some(Written { names, converted }))
    }

    /// Removes own files that are too old or too many, by the times in their names.
    fn expire(&self, now: i128) -> Result<(), Failure> {
        let count = self.rotation().map_or(usize::MAX, |(_, count)| count);
        let Some(path) = self.path.as_deref().filter(|_| self.has_time()) else { return Ok(()) };
        if self.ttl <= 0 && count == usize::MAX {
            return Ok(());
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let unreadable = |error| output::unwritable(folder, &error);
        let mut own: Vec<(DateTime, PathBuf)> = Vec::new();
        for file in std::fs::read_dir(folder).map_err(unreadable)? {
            let file = file.map_err(unreadable)?;
            let name = file.file_name();
            let time = name.to_str().and_then(|name| self.time_of(name));
            own.extend(time.map(|time| (time, file.path())));
        }
        own.sort();
        let oldest = civil(now - self.ttl.max(0)).filter(|_| self.ttl > 0);
        // The newest file and `count` older ones stay.
        let many = own.len().saturating_sub(count.saturating_add(1));
        for (row, (time, path)) in own.iter().enumerate() {
            if row < many || oldest.is_some_and(|oldest| *time <= oldest) {
                std::fs::remove_file(path).map_err(|error| {
                    let path = shown_path(path);
                    Failure::new(Exit::Output, format!("{path} cannot be removed: {error}"))
                })?;
            }
        }
        Ok(())
    }
}

/// Renames a file to its first backup, and each backup to the next; the last is replaced.
fn shift(path: &Path, count: usize) -> Result<(), Failure> {
    let backup = |number: usize| match number {
        0 => path.to_owned(),
        number => {
            let mut name = path.as_os_str().to_owned();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        }
    };
    // As far as files are there; a gap ends the row.
    let there = (0..count).take_while(|number| backup(*number).exists()).count();
    // From the last, so that no rename replaces a backup that must still move.
    for number in (0..there).rev() {
        let (from, to) = (backup(number), backup(number + 1));
        std::fs::rename(&from, &to).map_err(|error| output::unwritable(&to, &error))?;
    }
    Ok(())
}
