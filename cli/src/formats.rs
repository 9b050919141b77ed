//! Names of formats in arguments and help.
//!
//! Everything is made of `Format::ALL` when it is asked for, so a new format is in help, errors and
//! shell completions without a word here.
//!
//! ```text
//! Format::ALL ─► names and help of --from, --to ─► FormatParser ─► Format
//!             ─► --version, long form
//!             ─► tip: the sentence for a name that is none
//! ```

use std::ffi::OsStr;
use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser, StyledStr, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};
use otlp_profiles::Format;

/// Takes the name of a format; help and errors list what the registry has.
#[derive(Clone)]
pub(crate) enum FormatParser {
    /// A format that is read.
    Read,
    /// A format that is written.
    Write,
}

impl FormatParser {
    /// The formats that the argument takes: `--from` those that are read, `--to` those that are
    /// written.
    fn formats(&self) -> impl Iterator<Item = Format> + use<> {
        let can = match self {
            Self::Read => Format::can_read,
            Self::Write => Format::can_write,
        };
        Format::ALL.iter().copied().filter(move |format| can(*format))
    }
}

impl TypedValueParser for FormatParser {
    /// clap keeps the `Format` itself, so that no name is parsed twice.
    type Value = Format;

    /// A name that is one, but only of the other direction, gets a sentence that says so: `firefox
    /// is only written` helps more than a list without `firefox` in it.
    fn parse_ref(&self, cmd: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Format, Error> {
        let named = value.to_str().and_then(|name| name.parse::<Format>().ok());
        if let Some(format) = named.filter(|named| self.formats().any(|format| format == *named)) {
            return Ok(format);
        }
        let only = named.map(|format| match format.can_read() {
            true => format!("{format} is only read"),
            false => format!("{format} is only written"),
        });
        // The library of arguments words the error, and may suggest what is spelt alike.
        let known = PossibleValuesParser::new(possible_values(self.formats()));
        let mut error = match known.parse_ref(cmd, arg, value) {
            Err(error) => error,
            Ok(_) => Error::new(ErrorKind::InvalidValue).with_cmd(cmd),
        };
        if let Some(tip) = only.or_else(|| value.to_str().and_then(tip)) {
            // Generations look alike and are not.
            error.remove(ContextKind::SuggestedValue);
            let tip = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
            error.insert(ContextKind::Suggested, tip);
        }
        Err(error)
    }

    /// What completions and the long help list.
    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(possible_values(self.formats())))
    }
}

/// Aliases are hidden from clap's list and named in the help of the format, so that a list of
/// possible values has one name a format.
fn possible_values(formats: impl Iterator<Item = Format>) -> impl Iterator<Item = PossibleValue> {
    formats.map(|format| {
        let also = also(format);
        let help = match also[..] {
            [] => format.about().to_owned(),
            _ => format!("{} (also: {})", format.about(), also.join(", ")),
        };
        PossibleValue::new(format.name()).aliases(also).help(help)
    })
}

/// The other names that a format answers to.
///
/// A generation of OTLP answers to its bare number as well (`1.9`); the JSON of a generation does
/// not, as the number is taken.
fn also(format: Format) -> Vec<&'static str> {
    let number = format.name().strip_prefix("otlp-").filter(|_| !format.is_json());
    number.into_iter().chain(format.aliases().iter().copied()).collect()
}

/// What to take instead of a name that is none, where spelling is no guide.
///
/// Distance of letters suggests `otlp-1.9` for `otlp-1.19`; a number that is none of a generation
/// gets a sentence instead.
fn tip(wrong: &str) -> Option<String> {
    let lower = wrong.to_ascii_lowercase();
    if lower.parse::<Format>().is_ok() {
        return Some(format!("the name is '{lower}'"));
    }
    let number = lower.trim_start_matches("otlp").trim_start_matches(['-', '_', '/', 'v', ' ']);
    let is_generation = !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && number.bytes().any(|byte| byte.is_ascii_digit());
    is_generation.then(|| {
        if let Ok(format) = number.parse::<Format>() {
            return format!("the name is '{format}'");
        }
        let newest = Format::OTLP;
        format!(
            "'{newest}' is the newest generation known here, and 'otlp' always means the newest"
        )
    })
}

/// The version, and all formats.
///
/// Made once and kept: clap asks for a `&'static str`, at every start.
pub(crate) fn long_version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let mut text = format!("{}\n\nReads and writes:", env!("CARGO_PKG_VERSION"));
        for format in Format::ALL {
            let only = match (format.can_read(), format.can_write()) {
                (true, false) => " (read)",
                (false, true) => " (written)",
                _ => "",
            };
            text.push_str(&format!("\n  {format:10} {}{only}", format.about()));
        }
        text
    });
    &TEXT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generation_that_is_none_leads_to_the_newest() {
        for wrong in ["otlp-2", "2.0", "1.12", "otlp-9", "v1.99", "1.2"] {
            let tip = tip(wrong).unwrap_or_default();
            assert!(
                tip.starts_with(&format!("'{}' is the newest", Format::OTLP)),
                "{wrong}: {tip}"
            );
        }
        assert_eq!(tip("OTLP-1.9").as_deref(), Some("the name is 'otlp-1.9'"));
        assert_eq!(tip("v1.9").as_deref(), Some("the name is 'otlp-1.9'"));
        assert_eq!(tip("pproff"), None);
        assert_eq!(tip("foldet"), None);
        assert_eq!(tip("otlp-"), None);
    }
}
