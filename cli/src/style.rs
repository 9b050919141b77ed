//! Colours for text that people read: reports and messages, but not log lines or data.
//!
//! All such text contains colour codes. The streams of `anstream` remove them where colours are
//! disabled, so callers need not check.

use std::ffi::OsStr;

use anstream::ColorChoice;
use anstyle::{AnsiColor, Style};
use clap::ValueEnum;

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set; elsewhere if CLICOLOR_FORCE is set
    #[default]
    Auto,
    Always,
    Never,
}

/// Headings and names.
pub(crate) const BOLD: Style = Style::new().bold();
/// Failures and losses.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// Warnings.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default().bold();

/// Formats `text` in a style. Streams without colours remove the codes.
pub(crate) fn styled(text: &str, style: Style) -> String {
    format!("{style}{text}{style:#}")
}

/// Sets the choice of colours for all streams. It scans the arguments before clap parses them,
/// because clap's help and errors have colours too.
pub(crate) fn choose(mut arguments: impl Iterator<Item = impl AsRef<OsStr>>) {
    // The last --color wins; arguments after `--` are files.
    let mut asked = None;
    while let Some(argument) = arguments.next() {
        match argument.as_ref().to_str() {
            Some("--") => break,
            Some("--color") => asked = arguments.next().and_then(|when| parse(when.as_ref())),
            Some(other) => {
                let when = other.strip_prefix("--color=");
                asked = when.map_or(asked, |when| parse(OsStr::new(when)));
            }
            None => {}
        }
    }
    match asked.unwrap_or_default() {
        // The streams check for a terminal and the environment variables.
        Color::Auto => {}
        Color::Always => ColorChoice::Always.write_global(),
        Color::Never => ColorChoice::Never.write_global(),
    }
}

/// Parses the value of `--color`. Returns `None` for an unknown one, which clap rejects later.
fn parse(when: &OsStr) -> Option<Color> {
    Color::from_str(when.to_str()?, false).ok()
}
