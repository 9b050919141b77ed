//! One message of a run, in the three forms that stderr can have.
//!
//! ```text
//! words   otlp-profiles: cpu.pb: this is no format … (a problem: its reason alone)
//! text    2026-11-20 10:15:36.597 417 ERROR otlp_profiles.read [-] Description failed: … in=cpu.pb
//! json    {"time": …, "level": "ERROR", "room": "otlp_profiles.read", "message": …, "in": "cpu.pb", "pid": 417}
//! ```
//!
//! Names of files and texts of payloads are strangers' words: in the first two forms whatever a
//! terminal would act upon is escaped, in JSON the encoder does it.

use std::fmt::{self, Display};

use serde_json::{Map, Value};

use crate::style::{BAD, BOLD, WARN, styled};
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
    /// The run chose or left out something by default.
    Notice,
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
            Self::Notice => "NOTICE",
            Self::Info => "INFO",
            Self::Debug => "DEBUG",
            Self::Trace => "TRACE",
        })
    }
}

/// What happened, and to what.
///
/// Made by [`Line::new`] and the methods that add to it, told by
/// [`Console::log`](super::Console::log):
///
/// ```text
/// Line::new(level, room, "Conversion failed")     what happened, the same words each time
///     .because(reason)                            why, this time
///     .about("cpu.pb")                            to which input
///     .count("samples", 7).with("to", "pprof")    what a program may want to read
/// ```
#[derive(Debug)]
pub(crate) struct Line {
    pub(super) level: Level,
    /// The part of the command that speaks, as a log names it behind `otlp_profiles.`: `read`,
    /// `convert`.
    room: &'static str,
    /// A unit of work, such as `Conversion failed`; people are told the reason of a problem alone.
    message: String,
    reason: Option<String>,
    /// The input it is about.
    input: Option<String>,
    /// Its id as hex digits; a line of text has its ends only.
    profile: Option<String>,
    /// In the order they were added, which is that of words and text; JSON sorts its keys.
    fields: Vec<(&'static str, Value)>,
}

impl Line {
    /// A line that has a message and nothing else yet.
    pub(crate) fn new(level: Level, room: &'static str, message: impl Into<String>) -> Self {
        Self {
            level,
            room,
            message: message.into(),
            reason: None,
            input: None,
            profile: None,
            fields: Vec::new(),
        }
    }

    /// Why it happened.
    pub(crate) fn because(mut self, reason: impl Display) -> Self {
        self.reason = Some(reason.to_string());
        self
    }

    /// The input the line is about.
    pub(crate) fn about(mut self, input: &str) -> Self {
        self.input = Some(input.to_owned());
        self
    }

    /// The one profile the line is about.
    pub(crate) fn profile(mut self, id: Option<String>) -> Self {
        self.profile = id;
        self
    }

    /// More that the log has.
    pub(crate) fn with(mut self, key: &'static str, value: impl Display) -> Self {
        self.fields.push((key, value.to_string().into()));
        self
    }

    /// The same of a number, which is one in JSON.
    pub(crate) fn count(mut self, key: &'static str, number: u64) -> Self {
        self.fields.push((key, number.into()));
        self
    }

    /// `otlp-profiles: java.jfr: this is a Java Flight Recorder file …`
    pub(super) fn to_words(&self) -> String {
        const NAME: &str = "otlp-profiles:";
        let mut text = match self.level {
            Level::Critical | Level::Error => styled(NAME, BAD),
            Level::Warning => format!("{} {}", styled(NAME, BOLD), styled("warning:", WARN)),
            _ => styled(NAME, BOLD),
        };
        if let Some(input) = &self.input {
            text.extend([" ", &styled(&shown(input), BOLD), ":"]);
        }
        // What is no problem is not to read like one.
        let problem = self.reason.as_ref().filter(|_| self.level <= Level::Warning);
        text.extend([" ", &shown(problem.unwrap_or(&self.explained()))]);
        if self.level > Level::Warning && !self.fields.is_empty() {
            let text_of = |value: &Value| value.as_str().map_or_else(|| value.to_string(), shown);
            let field = |(key, value): &(&str, Value)| format!("{key} {}", text_of(value));
            let fields: Vec<_> = self.fields.iter().map(field).collect();
            text.push_str(&format!(" ({})", fields.join(", ")));
        }
        text
    }

    /// `time pid LEVEL otlp_profiles.room [-] message: reason key=value …`
    pub(super) fn to_text(&self) -> String {
        let (time, pid) = (time::now(' '), std::process::id());
        let Self { level, room, .. } = self;
        let mut text = format!("{time} {pid} {level} otlp_profiles.{room} [-]");
        if let Some(id) = &self.profile {
            // The ends of an id tell it from others in one run.
            let ends = id.get(..4).zip(id.get(id.len().saturating_sub(4)..));
            let (head, tail) = ends.unwrap_or((id, ""));
            text.push_str(&format!(" [profile: {head}..{tail}]"));
        }
        text.extend([" ", &shown(&self.explained())]);
        self.push_fields(&mut text);
        if let Some(input) = &self.input {
            text.push_str(&format!(" in={}", word(input)));
        }
        text
    }

    /// A key has one type in every line: what is counted is a number, all else a text.
    pub(super) fn to_json(&self) -> String {
        let mut object = Map::new();
        let mut set = |key: &str, value: Value| object.insert(key.to_owned(), value);
        set("time", (time::now('T') + "Z").into());
        set("level", self.level.to_string().into());
        set("room", format!("otlp_profiles.{}", self.room).into());
        if let Some(id) = &self.profile {
            set("profile", id.clone().into());
        }
        set("message", self.explained().into());
        for (key, value) in &self.fields {
            set(key, value.clone());
        }
        if let Some(input) = &self.input {
            set("in", input.clone().into());
        }
        set("pid", std::process::id().into());
        Value::Object(object).to_string()
    }

    /// The message and the reason.
    fn explained(&self) -> String {
        match &self.reason {
            Some(reason) => format!("{}: {reason}", self.message),
            None => self.message.clone(),
        }
    }

    /// `key=value` for each field; a text that is not one word is quoted, so that a log splits at
    /// spaces.
    fn push_fields(&self, text: &mut String) {
        for (key, value) in &self.fields {
            let value = value.as_str().map_or_else(|| value.to_string(), word);
            text.push_str(&format!(" {key}={value}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_in_every_form() {
        let line = Line::new(Level::Info, "convert", "Profile converted")
            .profile(Some("0102030405060708090a0b0c0d0e0f10".to_owned()))
            .with("in", "a\nb c")
            .count("samples", 7);
        let text = line.to_text();
        let from = text.find("INFO").unwrap_or_default();
        let wanted = "INFO otlp_profiles.convert [-] [profile: 0102..0f10] Profile converted in=\"a\\nb c\" samples=7";
        assert_eq!(&text[from..], wanted);
        let json: Value = serde_json::from_str(&line.to_json()).unwrap_or_default();
        assert_eq!(json["in"], "a\nb c");
        assert_eq!(json["samples"], 7);
    }

    #[test]
    fn people_are_told_the_reason_and_logs_the_event() {
        let failed = |level| {
            let line = Line::new(level, "info", "Description failed");
            line.because("no\nbytes").about("a\x1b.pb")
        };
        let plain = |line: &Line| anstream::adapter::strip_str(&line.to_words()).to_string();
        assert_eq!(plain(&failed(Level::Error)), "otlp-profiles: a\\u{1b}.pb: no\\nbytes");
        let warning = failed(Level::Warning).with("more", 1);
        assert_eq!(plain(&warning), "otlp-profiles: warning: a\\u{1b}.pb: no\\nbytes");
        let text = failed(Level::Error).to_text();
        assert!(text.ends_with("Description failed: no\\nbytes in=a\\u{1b}.pb"), "{text}");
    }
}
