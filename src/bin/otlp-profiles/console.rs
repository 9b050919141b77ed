//! What is said on stderr: log lines, reports, a progress bar on a terminal.
//!
//! A line is `time pid LEVEL otlp_profiles.room [-] message key=value …`, or a JSON object when
//! the environment says `OTLP_PROFILES_LOG=json`. One INFO line for each unit of work that is
//! done, in the past tense; everything a line says is words, never a number that stands for one.

use std::fmt::{self, Display};
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Map, Value};

use crate::text::{shown, word};
use crate::time;

/// How much a line matters, from the most to the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// The run cannot go on.
    Critical,
    /// An input failed.
    Error,
    /// Something should be looked into.
    Warning,
    /// A unit of work is done.
    Info,
    /// A step begins or has ended, and on what grounds.
    Debug,
    /// An entry of a table.
    Trace,
}

impl Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Critical => "CRITICAL",
            Self::Error => "ERROR",
            Self::Warning => "WARNING",
            Self::Info => "INFO",
            Self::Debug => "DEBUG",
            Self::Trace => "TRACE",
        })
    }
}

/// One line of the log.
#[derive(Debug)]
pub(crate) struct Line {
    level: Level,
    room: &'static str,
    message: String,
    profile: Option<String>,
    fields: Vec<(&'static str, String)>,
}

impl Line {
    pub(crate) fn new(level: Level, room: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { level, room, message, profile: None, fields: Vec::new() }
    }

    /// The one profile the line is about.
    pub(crate) fn profile(mut self, id: Option<String>) -> Self {
        self.profile = id;
        self
    }

    pub(crate) fn with(mut self, key: &'static str, value: impl Display) -> Self {
        self.fields.push((key, value.to_string()));
        self
    }

    fn to_text(&self) -> String {
        let (time, pid) = (time::now(' '), std::process::id());
        let Self { level, room, .. } = self;
        let mut text = format!("{time} {pid} {level} otlp_profiles.{room} [-]");
        if let Some(id) = &self.profile {
            // The ends of an id tell it from others in one run.
            let ends = id.get(..4).zip(id.get(id.len().saturating_sub(4)..));
            let (head, tail) = ends.unwrap_or((id, ""));
            text.push_str(&format!(" [profile: {head}..{tail}]"));
        }
        text.extend([" ", &shown(&self.message)]);
        for (key, value) in &self.fields {
            text.push_str(&format!(" {key}={}", word(value)));
        }
        text
    }

    fn to_json(&self) -> String {
        let mut object = Map::new();
        let mut set =
            |key: &str, value: String| object.insert(key.to_owned(), Value::String(value));
        set("time", time::now('T') + "Z");
        set("level", self.level.to_string());
        set("room", format!("otlp_profiles.{}", self.room));
        if let Some(id) = &self.profile {
            set("profile", id.clone());
        }
        set("message", self.message.clone());
        for (key, value) in &self.fields {
            set(key, value.clone());
        }
        object.insert("pid".to_owned(), std::process::id().into());
        Value::Object(object).to_string()
    }
}

/// stderr, and who may say what on it.
#[derive(Debug)]
pub(crate) struct Console {
    level: Level,
    json: bool,
    bar: ProgressBar,
    begun: Instant,
}

/// Work that takes less is done before a bar would help.
const PATIENCE: Duration = Duration::from_secs(1);
/// So many bytes of input take longer than that.
const LARGE: u64 = 128 << 20;

impl Console {
    pub(crate) fn new(verbose: u8) -> Self {
        let level = match verbose {
            0 => Level::Warning,
            1 => Level::Info,
            2 => Level::Debug,
            _ => Level::Trace,
        };
        let json = std::env::var_os("OTLP_PROFILES_LOG").is_some_and(|form| form == "json");
        let begun = Instant::now();
        Self { level, json, bar: ProgressBar::hidden(), begun }
    }

    pub(crate) fn shows(&self, level: Level) -> bool {
        level <= self.level
    }

    /// Whether every line on stderr has to be JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    pub(crate) fn log(&self, line: &Line) {
        if self.shows(line.level) {
            self.say(&if self.json { line.to_json() } else { line.to_text() });
        }
    }

    /// Logs that a step begins, and when what is returned goes, that it has ended.
    pub(crate) fn step(&self, room: &'static str, step: &'static str, of: &str) -> Step<'_> {
        let of = of.to_owned();
        if self.shows(Level::Debug) {
            let message = format!("Starting {step} of {of}");
            self.log(&Line::new(Level::Debug, room, message));
        }
        let begun = Instant::now();
        Step { console: self, room, step, of, begun }
    }

    /// Prints lines of a report. Nobody can be told that stderr is gone.
    pub(crate) fn say(&self, lines: &str) {
        self.bar.suspend(|| {
            let _ = writeln!(io::stderr().lock(), "{lines}");
        });
    }

    /// Makes ready for `total` bytes of input in `files` files.
    pub(crate) fn expect(&self, files: u64, total: u64) {
        let style = "{spinner} {bar:24} {percent:>3}%  {pos}/{len} files  {wide_msg}";
        if let Ok(style) = ProgressStyle::with_template(style) {
            self.bar.set_style(style);
        }
        self.bar.set_length(files);
        if total >= LARGE {
            self.show_bar();
        }
    }

    /// An input is next; the bar appears when there was enough to do.
    pub(crate) fn next(&self, name: &str) {
        self.bar.set_message(shown(name));
        if self.begun.elapsed() >= PATIENCE && self.bar.length().is_some_and(|files| files > 1) {
            self.show_bar();
        }
    }

    pub(crate) fn done(&self) {
        self.bar.inc(1);
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn show_bar(&self) {
        if self.bar.is_hidden() && !self.json && io::stderr().is_terminal() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }
}

/// A step on its way.
#[must_use = "it ends when it is dropped"]
pub(crate) struct Step<'a> {
    console: &'a Console,
    room: &'static str,
    step: &'static str,
    of: String,
    begun: Instant,
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        if !self.console.shows(Level::Debug) {
            return;
        }
        let (millis, step) = (self.begun.elapsed().as_millis(), self.step);
        let mut step = step.to_owned();
        if let Some(first) = step.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        let message = format!("{step} of {} ended after {millis} ms", self.of);
        self.console.log(&Line::new(Level::Debug, self.room, message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line() {
        let line = Line::new(Level::Info, "convert", "Profile converted")
            .profile(Some("0102030405060708090a0b0c0d0e0f10".to_owned()))
            .with("in", "a\nb c");
        let text = line.to_text();
        let from = text.find("INFO").unwrap_or_default();
        let wanted =
            "INFO otlp_profiles.convert [-] [profile: 0102..0f10] Profile converted in=\"a\\nb c\"";
        assert_eq!(&text[from..], wanted);
        let json: Value = serde_json::from_str(&line.to_json()).unwrap_or_default();
        assert_eq!(json["in"], "a\nb c");
    }
}
