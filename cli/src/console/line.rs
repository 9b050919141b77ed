//! One message of a run, in each of the three forms of stderr.
//!
//! ```text
//! words   otlp-profiles: cpu.pb: this is no format … (for a problem, only its reason)
//! text    2026-11-20 10:15:36.597 417 ERROR otlp_profiles.read [-] Description failed: … in=cpu.pb
//! json    {"time": …, "level": "ERROR", "logger": "otlp_profiles.read", "message": …, "in": "cpu.pb", "pid": 417}
//! ```
//!
//! Names of files and texts of payloads are untrusted. The first two forms escape control
//! characters that a terminal would interpret; in JSON, the encoder escapes them.

use std::fmt::{self, Display};

use serde_json::{Map, Value};

use crate::style::{BAD, BOLD, WARN, styled};
use crate::text::{json, shown, word};
use crate::time;

/// The importance of a line, most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// The run cannot continue.
    Critical,
    /// An input failed.
    Error,
    /// Something that the user should look into.
    Warning,
    /// A default that the run applied, or something that it left out.
    Notice,
    /// A finished unit of work.
    Info,
    /// The beginning or the end of a step, and the reasons for a choice.
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

/// An event and the input that it concerns.
///
/// [`Line::new`] creates it, the other methods add to it, and [`Console::log`](super::Console::log)
/// prints it:
///
/// ```text
/// Line::new(level, component, "Conversion failed")     the event, in the same words each time
///     .because(reason)                            the reason
///     .about("cpu.pb")                            the input
///     .count("samples", 7).with("to", "pprof")    fields for programs that read the log
/// ```
#[derive(Debug)]
pub(crate) struct Line {
    pub(super) level: Level,
    /// The component that logs, written after `otlp_profiles.`: `read`, `convert`.
    component: &'static str,
    /// A unit of work, such as `Conversion failed`. The form for people omits it if a problem has a
    /// reason.
    message: String,
    reason: Option<String>,
    /// The name of the input that the line concerns.
    input: Option<String>,
    /// The id of the profile in hex digits; a log line shows only its first and last four.
    profile: Option<String>,
    /// In the order of the calls, which sentences and log lines keep. JSON sorts its keys.
    fields: Vec<(&'static str, Value)>,
}

impl Line {
    /// Creates a line that has only a message.
    pub(crate) fn new(level: Level, component: &'static str, message: impl Into<String>) -> Self {
        Self {
            level,
            component,
            message: message.into(),
            reason: None,
            input: None,
            profile: None,
            fields: Vec::new(),
        }
    }

    /// Adds the reason.
    pub(crate) fn because(mut self, reason: impl Display) -> Self {
        self.reason = Some(reason.to_string());
        self
    }

    /// Sets the input that the line concerns.
    pub(crate) fn about(mut self, input: &str) -> Self {
        self.input = Some(input.to_owned());
        self
    }

    /// Sets the profile that the line concerns, if there is exactly one.
    pub(crate) fn profile(mut self, id: Option<String>) -> Self {
        self.profile = id;
        self
    }

    /// Adds a text field.
    pub(crate) fn with(mut self, key: &'static str, value: impl Display) -> Self {
        self.fields.push((key, value.to_string().into()));
        self
    }

    /// Adds a number field, which is a number in JSON.
    pub(crate) fn count(mut self, key: &'static str, number: u64) -> Self {
        self.fields.push((key, number.into()));
        self
    }

    /// Formats the line for people: `otlp-profiles: java.jfr: this is a Java Flight Recorder file
    /// …`
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
        // A message that is not a problem must not read like one: it keeps its event.
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

    /// Formats the line for a log: `time pid LEVEL otlp_profiles.component [-] message: reason key=value
    /// …`
    pub(super) fn to_text(&self) -> String {
        let (time, pid) = (time::now(' '), std::process::id());
        let Self { level, component, .. } = self;
        let mut text = format!("{time} {pid} {level} otlp_profiles.{component} [-]");
        if let Some(id) = &self.profile {
            // The first and last four digits distinguish the ids of one run.
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

    /// Formats the line as JSON. A key has the same type in every line: counts are numbers, all
    /// else is text.
    pub(super) fn to_json(&self) -> String {
        let mut object = Map::new();
        let mut set = |key: &str, value: Value| object.insert(key.to_owned(), value);
        set("time", (time::now('T') + "Z").into());
        set("level", self.level.to_string().into());
        set("logger", format!("otlp_profiles.{}", self.component).into());
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
        json(&Value::Object(object), false)
    }

    /// Joins the message and the reason.
    fn explained(&self) -> String {
        match &self.reason {
            Some(reason) => format!("{}: {reason}", self.message),
            None => self.message.clone(),
        }
    }

    /// Appends ` key=value` for each field. Texts of several words are quoted, so that a log can be
    /// split at spaces.
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
