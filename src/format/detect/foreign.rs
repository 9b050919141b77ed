//! Kinds of files that no grammar describes: their names, their signs, and advice for the user.

use super::decide::unrecognised;
use super::{Certainty, Detected};
use crate::error::{Error, Result, Shown};
use crate::format::Format;

/// A kind of file that is recognised by its beginning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Foreign {
    /// Its name within a sentence: `a perf.data file`.
    pub(super) what: &'static str,
    /// A command in backquotes that converts `FILE` to a readable format, or the reason why there is no such
    /// command. For a readable kind, how it was recognised.
    pub(super) hint: &'static str,
    /// The format that reads it, if any.
    pub(super) format: Option<Format>,
    /// Whether the file holds a profile, readable or not.
    pub(super) is_profile: bool,
    pub(super) signature: Signature,
}

impl Foreign {
    /// Returns the format that reads this kind. Returns an error that names the kind if no format reads it, or
    /// if the hint is another format.
    ///
    /// If the payload is text without a profile, the error quotes a line of it.
    pub(super) fn answer(self, hint: Option<Format>, payload: &[u8]) -> Result<Detected> {
        let what = match self.signature {
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

/// Quotes the title of a page, or else the first line longer than a bracket, truncated: the message of a server explains
/// what failed.
fn quote(payload: &[u8]) -> String {
    if let Some(title) = title(payload) {
        return format!("; its title is {}", Shown(title.as_bytes()));
    }
    let start = payload.get(..1024).unwrap_or(payload);
    let mut lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let line = lines.find(|line| line.len() > 2).unwrap_or_default();
    let cut = line.get(..120).unwrap_or(line);
    let is_text = !cut.is_empty() && !cut.contains(&0) && std::str::from_utf8(line).is_ok();
    if is_text { format!("; it begins with {}", Shown(cut)) } else { String::new() }
}

/// Returns the title of an HTML page, if it is in the first kilobytes.
fn title(payload: &[u8]) -> Option<String> {
    let start = String::from_utf8_lossy(payload.get(..8192).unwrap_or(payload));
    // ASCII letters keep their positions in lower case.
    let lower = start.to_ascii_lowercase();
    let open = lower.find("<title")?;
    let from = open + lower.get(open..)?.find('>')? + 1;
    let end = from + lower.get(from..)?.find("</title")?;
    let words: Vec<_> = start.get(from..end)?.split_whitespace().collect();
    let title: String = words.join(" ").chars().take(120).collect();
    (!title.is_empty()).then_some(title)
}

/// How a kind is recognised.
#[derive(Clone, Copy, Debug)]
pub(super) enum Signature {
    /// The magic bytes of a [compression](crate::compression).
    Compression,
    /// One of these first bytes, which never begin a message of profiles.
    Magic(&'static [&'static [u8]]),
    /// A check of the bytes, which need not be text.
    Bytes(fn(&[u8]) -> bool),
    /// JSON whose first kilobytes contain all of these strings.
    Json(&'static [&'static str]),
    /// Text whose first line begins with one of these strings.
    Line(&'static [&'static str]),
    /// A check of the beginning of a text.
    Text(fn(&str) -> bool),
}
use Signature::Compression;

/// Declares a profile that this crate does not read. The hint names a command that converts it.
pub(super) const fn profile(
    what: &'static str,
    signature: Signature,
    hint: &'static str,
) -> Foreign {
    Foreign { what, hint, format: None, is_profile: true, signature }
}

/// Declares a kind that this crate reads. The hint states how it was recognised.
pub(super) const fn read(
    format: Format,
    what: &'static str,
    signature: Signature,
    hint: &'static str,
) -> Foreign {
    Foreign { what, hint, format: Some(format), is_profile: true, signature }
}

/// Declares a kind without a profile, which a directory of profiles may also contain.
pub(super) const fn no_profile(
    what: &'static str,
    signature: Signature,
    hint: &'static str,
) -> Foreign {
    Foreign { what, hint, format: None, is_profile: false, signature }
}

/// Declares a profile that pprof calls legacy, recognised by its first line.
#[cfg(feature = "formats")]
pub(super) const fn legacy(what: &'static str, signature: Signature) -> Foreign {
    read(Format::PPROF_LEGACY, what, signature, "its first line names the type")
}
