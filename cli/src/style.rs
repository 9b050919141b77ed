//! Colours, for people only: words of reports and messages, never of log lines or data.
//!
//! Text is made with its colours throughout; the streams of `anstream` take them out where they do
//! not belong. So nobody asks whether there are colours.

use std::ffi::OsStr;

use anstream::ColorChoice;
use anstyle::{AnsiColor, Style};
use clap::ValueEnum;

/// When there are colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set; elsewhere where CLICOLOR_FORCE is
    #[default]
    Auto,
    Always,
    Never,
}

/// A heading, a name.
pub(crate) const BOLD: Style = Style::new().bold();
/// What failed or is lost.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// What should be looked into.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default().bold();

/// `text` in a style; streams that shall have none take it out again.
pub(crate) fn styled(text: &str, style: Style) -> String {
    format!("{style}{text}{style:#}")
}

/// Has all streams follow what the arguments say. They are looked at before they are parsed, since
/// help and errors of parsing have colours too.
pub(crate) fn choose(mut arguments: impl Iterator<Item = impl AsRef<OsStr>>) {
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
        // The streams themselves know terminals and the environment.
        Color::Auto => {}
        Color::Always => ColorChoice::Always.write_global(),
        Color::Never => ColorChoice::Never.write_global(),
    }
}

/// None of a word that is none: clap refuses it a moment later, in the colours of the default.
fn parse(when: &OsStr) -> Option<Color> {
    Color::from_str(when.to_str()?, false).ok()
}
