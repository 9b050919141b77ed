//! Publishers: where the profiles of a sink go.
//!
//! ```text
//! file:///var/profiles/heap-%Y%m%dT%H%M%S.otlp.gz?max_bytes=10000000&backup_count=5&ttl=86400
//! stdout?format=folded
//! ```
//!
//! Payloads wait in memory until their file is complete: when the next payload does not fit or belongs to another time,
//! or at the end. Files appear under their names when they are complete (`output`).

use std::path::{Component, Path, PathBuf};

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
    /// Older files that were removed.
    pub(super) expired: Vec<String>,
}

/// Times for which the names of two publishers are compared: no field of a date has the same value twice.
const PROBES: [i128; 2] = [1_709_217_296, 1_767_323_045];

/// The absolute path of a folder without links, `.` and `..`, as far as it exists.
fn resolved(folder: &Path) -> PathBuf {
    let folder = if folder == Path::new("") { Path::new(".") } else { folder };
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let mut resolved = PathBuf::new();
    for part in folder.components() {
        match part {
            Component::ParentDir => _ = resolved.pop(),
            part => resolved.push(part),
        }
        resolved = resolved.canonicalize().unwrap_or(resolved);
    }
    resolved
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

    /// The files that are written for profiles of some times, backups included, whatever the spelling of the path; or
    /// stdout.
    pub(super) fn targets(&self) -> Vec<PathBuf> {
        let Some(path) = &self.path else { return vec![PathBuf::from("stdout")] };
        let folder = resolved(path.parent().unwrap_or(Path::new("")));
        let mut targets = Vec::new();
        for seconds in PROBES {
            let name = self.name_at(seconds * 1_000_000_000).unwrap_or_default();
            let target = folder.join(name.file_name().unwrap_or_default());
            // A link leads to another file. Times differ between runs, so files with times are not there yet.
            targets.push(target.canonicalize().unwrap_or(target));
        }
        targets.dedup();
        let backups = self.rotation().filter(|_| !self.has_time()).map_or(0, |(_, count)| count);
        for number in 1..=backups {
            let mut name = targets[0].as_os_str().to_owned();
            name.push(format!(".{number}"));
            targets.push(name.into());
        }
        targets
    }

    /// Whether an input is a file that this publisher writes.
    pub(super) fn owns(&self, input: &Path) -> bool {
        let Some(path) = &self.path else { return false };
        let name = input.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let here = |path: &Path| resolved(path.parent().unwrap_or(Path::new("")));
        let is_named = if self.has_time() {
            strtime::parse(self.file_name(), name).is_ok()
        } else {
            let rest = name.strip_prefix(self.file_name());
            let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            rest.is_some_and(|rest| {
                rest.is_empty() || rest.strip_prefix('.').is_some_and(is_number)
            })
        };
        is_named && here(input) == here(path)
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
        let blobs = converted.blobs(self.format, self.packing, Level::DEFAULT, false)?;
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
            let (names, expired) = (vec!["-".to_owned()], Vec::new());
            return Ok(Some(Written { names, converted, expired }));
        }
        let names = labelled(&name, &labels);
        let blobs = blobs.into_iter().map(|(_, blob)| blob);
        let files: Vec<(PathBuf, Vec<u8>)> = names.into_iter().zip(blobs).collect();
        match self.rotation().filter(|_| !self.has_time()) {
            Some((_, count)) => output::rotate(&files, count)?,
            None => output::sync(&output::to_files(&files, None, force, Sync::Deferred)?),
        }
        let expired = self.expire(end)?;
        let names = files.iter().map(|(path, _)| path.to_string_lossy().into_owned()).collect();
        Ok(Some(Written { names, converted, expired }))
    }

    /// Removes own files that are too old or too many, by the times in their names, and returns their paths. `end` is
    /// the end of the last profile. One that is later than the clock of this machine expires nothing: otherwise a profile
    /// with a wrong time would expire all others.
    fn expire(&self, end: i128) -> Result<Vec<String>, Failure> {
        let clock = crate::time::unix_nanos();
        if end > clock {
            return Ok(Vec::new());
        }
        let now = end;
        let count = self.rotation().map_or(usize::MAX, |(_, count)| count);
        let Some(path) = self.path.as_deref().filter(|_| self.has_time()) else {
            return Ok(Vec::new());
        };
        if self.ttl <= 0 && count == usize::MAX {
            return Ok(Vec::new());
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let unreadable = |error| output::unwritable(folder, &error);
        let mut own: Vec<(DateTime, PathBuf)> = Vec::new();
        let latest = civil(clock);
        for file in std::fs::read_dir(folder).map_err(unreadable)? {
            let file = file.map_err(unreadable)?;
            let name = file.file_name();
            let time = name.to_str().and_then(|name| self.time_of(name));
            // Files from the future stay, and displace no others.
            let time = time.filter(|time| latest.is_none_or(|latest| *time <= latest));
            own.extend(time.map(|time| (time, file.path())));
        }
        own.sort();
        let oldest = civil(now - self.ttl.max(0)).filter(|_| self.ttl > 0);
        // The newest file and `count` older ones stay.
        let many = own.len().saturating_sub(count.saturating_add(1));
        let mut expired = Vec::new();
        for (row, (time, path)) in own.iter().enumerate() {
            if row < many || oldest.is_some_and(|oldest| *time <= oldest) {
                std::fs::remove_file(path).map_err(|error| {
                    let path = shown_path(path);
                    Failure::new(Exit::Output, format!("{path} cannot be removed: {error}"))
                })?;
                expired.push(shown_path(path));
            }
        }
        Ok(expired)
    }
}
