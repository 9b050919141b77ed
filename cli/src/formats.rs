//! Names of formats in arguments and help.
//!
//! All texts derive from `Format::ALL`, so a new format appears in help, errors and shell
//! completions without a change here.
//!
//! ```text
//! Format::ALL ─► names and help of --from, --to ─► FormatParser ─► Format
//!             ─► --version, long form
//!             ─► tip: the suggestion for an unknown name
//! ```

use std::ffi::OsStr;
use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser, StyledStr, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};
use otlp_profiles::Format;

/// Parses the name of a format. Help and errors list the registered formats.
#[derive(Clone)]
pub(crate) enum FormatParser {
    /// Accepts formats that can be read.
    Read,
    /// Accepts formats that can be written.
    Write,
}

impl FormatParser {
    /// The formats that the argument accepts: readable ones for `--from`, writable ones for `--to`.
    fn formats(&self) -> impl Iterator<Item = Format> + use<> {
        let can = match self {
            Self::Read => Format::can_read,
            Self::Write => Format::can_write,
        };
        Format::ALL.iter().copied().filter(move |format| can(*format))
    }
}

impl TypedValueParser for FormatParser {
    /// The `Format` itself, so that no name is parsed twice.
    type Value = Format;

    /// A format of the other direction gets a specific message: `firefox is only written` helps
    /// more than a list without `firefox`.
    fn parse_ref(&self, cmd: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Format, Error> {
        let named = value.to_str().and_then(|name| name.parse::<Format>().ok());
        if let Some(format) = named.filter(|named| self.formats().any(|format| format == *named)) {
            return Ok(format);
        }
        let only = named.map(|format| match format.can_read() {
            true => format!("{format} is only read"),
            false => format!("{format} is only written"),
        });
        // clap formats the error, and may suggest a similarly spelt name.
        let known = PossibleValuesParser::new(possible_values(self.formats()));
        let mut error = match known.parse_ref(cmd, arg, value) {
            Err(error) => error,
            Ok(_) => Error::new(ErrorKind::InvalidValue).with_cmd(cmd),
        };
        if let Some(tip) = only.or_else(|| value.to_str().and_then(tip)) {
            // A similar spelling is misleading here: generations have similar names.
            error.remove(ContextKind::SuggestedValue);
            let tip = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
            error.insert(ContextKind::Suggested, tip);
        }
        Err(error)
    }

    /// The values that completions and the long help list.
    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(possible_values(self.formats())))
    }
}

/// The values for clap. Aliases appear in the help of the format and not as values, so the list has
/// one name per format.
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

/// The other names of a format.
///
/// A generation of OTLP also has its bare number as a name (`1.9`). Its JSON form does not, because
/// the name is taken.
fn also(format: Format) -> Vec<&'static str> {
    let number = format.name().strip_prefix("otlp-").filter(|_| !format.is_json());
    number.into_iter().chain(format.aliases().iter().copied()).collect()
}

/// Suggests a name in place of an unknown one, if edit distance would mislead.
///
/// Edit distance suggests `otlp-1.9` for `otlp-1.19`. A number of no known generation gets a
/// sentence instead.
fn tip(wrong: &str) -> Option<String> {
    let lower = wrong.to_ascii_lowercase();
    if lower == "firefox" && !cfg!(feature = "firefox") {
        return Some(
            "this build lacks the feature firefox: build it with --features firefox".to_owned(),
        );
    }
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
/// Computed once and kept, because clap needs a `&'static str`.
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
