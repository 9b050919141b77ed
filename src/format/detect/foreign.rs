//! A file of another tool: what it is called, how it is recognised, and what to do with it.

use super::decide::unrecognised;
use super::{Certainty, Detected};
use crate::error::{Error, Result, Shown};
use crate::format::Format;

/// A kind of file that is told by how it begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Foreign {
    /// `a perf.data file`.
    pub(super) what: &'static str,
    /// The command that makes something of `FILE` that is read here, in backquotes, or why there is
    /// none; of what is read, how it is known.
    pub(super) hint: &'static str,
    /// The format that reads it.
    pub(super) format: Option<Format>,
    /// Whether it holds a profile, though one that is not read.
    pub(super) is_profile: bool,
    pub(super) sign: Sign,
}

impl Foreign {
    /// The format that reads it, unless another was asked for, or the error that names it.
    ///
    /// Of text that is not a profile, the error quotes a line of `payload`.
    pub(super) fn answer(self, hint: Option<Format>, payload: &[u8]) -> Result<Detected> {
        let what = match self.sign {
            Compression => format!("compressed with {}", self.what),
            _ => self.what.to_owned(),
        };
        let Some(format) = self.format else {
            let error = unrecognised(&what, self.hint);
            return Err(match self.is_profile {
                true => error,
                false => error.explained(&quote(payload)).no_profile(),
            });
        };
        if let Some(hint) = hint.filter(|hint| *hint != format) {
            return Err(Error::malformed(format!(
                "the payload is {what}, not {hint}: omit the format, or choose {format}"
            )));
        }
        let evidence = vec![match self.hint {
            "" => format!("its first bytes are those of {what}"),
            hint => format!("it is {what}: {hint}"),
        }];
        Ok(Detected { format, certainty: Certainty::Certain, evidence })
    }
}

/// The first line with more than a bracket, cut: what a server wrote tells what went wrong.
fn quote(payload: &[u8]) -> String {
    let start = payload.get(..1024).unwrap_or(payload);
    let mut lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let line = lines.find(|line| line.len() > 2).unwrap_or_default();
    let cut = line.get(..120).unwrap_or(line);
    let is_text = !cut.is_empty() && !cut.contains(&0) && std::str::from_utf8(line).is_ok();
    if is_text { format!("; it begins with {}", Shown(cut)) } else { String::new() }
}

/// What a kind is known by.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sign {
    /// What a [compression](crate::compression) begins with.
    Compression,
    /// One of these first bytes, which no message of profiles begins with.
    Magic(&'static [&'static [u8]]),
    /// More than the first bytes, of what need not be text.
    Bytes(fn(&[u8]) -> bool),
    /// JSON that has all of these in its first kilobytes.
    Json(&'static [&'static str]),
    /// Text whose first line begins with one of these.
    Line(&'static [&'static str]),
    /// Text by more than its beginning.
    Text(fn(&str) -> bool),
}
use Sign::Compression;

/// A profile that is not read; the hint says what makes one of it that is.
pub(super) const fn profile(what: &'static str, sign: Sign, hint: &'static str) -> Foreign {
    Foreign { what, hint, format: None, is_profile: true, sign }
}

/// What is read, and how it is known.
pub(super) const fn read(
    format: Format,
    what: &'static str,
    sign: Sign,
    hint: &'static str,
) -> Foreign {
    Foreign { what, hint, format: Some(format), is_profile: true, sign }
}

/// Nothing that profiles anything: a directory of profiles may hold it all the same.
pub(super) const fn no_profile(what: &'static str, sign: Sign, hint: &'static str) -> Foreign {
    Foreign { what, hint, format: None, is_profile: false, sign }
}

/// A profile that pprof calls legacy, recognised by its first line.
#[cfg(feature = "formats")]
pub(super) const fn legacy(what: &'static str, sign: Sign) -> Foreign {
    read(Format::PPROF_LEGACY, what, sign, "its first line names the type")
}
