//! Messages on stderr: sentences, log lines or JSON objects; reports; a progress bar.
//!
//! A log line is `time pid LEVEL otlp_profiles.component [-] message key=value …`, or a JSON object.
//! Each finished unit of work gets one INFO line, in the past tense. Lines use words, never numeric
//! codes.
//!
//! stdout is for data and never gets any of this. `Form::of` chooses the form of stderr before the
//! first message, so a stream of JSON is JSON from its first byte.

mod line;
mod progress;

use std::ffi::OsStr;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

pub(crate) use crate::console::line::{Level, Line};
pub(crate) use crate::console::progress::Progress;

/// The form of everything on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Sentences for people.
    Words,
    /// Log lines.
    Log,
    /// JSON objects, one per line.
    Json,
}

impl Form {
    /// Chooses JSON for `--json`, else the form named by `asked` (the environment's
    /// OTLP_PROFILES_LOG), else sentences. Whether stderr is a terminal, a pipe or a file makes no
    /// difference.
    ///
    /// # Errors
    ///
    /// An unknown value.
    fn of(asked: &OsStr, json: bool) -> Result<Self, String> {
        match asked.to_str() {
            Some("" | "human" | "text" | "json") if json => Ok(Self::Json),
            Some("" | "human") => Ok(Self::Words),
            Some("text") => Ok(Self::Log),
            Some("json") => Ok(Self::Json),
            _ => Err(format!("OTLP_PROFILES_LOG is {asked:?}; it can be human, text or json")),
        }
    }
}

/// Access to stderr: which messages appear there, and in which form.
#[derive(Debug)]
pub(crate) struct Console {
    /// The least important level that is shown, set by `-q` and `-v`.
    level: Level,
    form: Form,
    progress: Progress,
    /// Lines held back for the caller; `None` prints each line at once.
    kept: Option<Mutex<Vec<String>>>,
}

impl Console {
    /// Creates a console. `json` is set if the arguments request JSON on stderr.
    ///
    /// # Errors
    ///
    /// The environment variable has an unknown value.
    pub(crate) fn new(verbose: u8, quiet: bool, json: bool) -> Result<Self, String> {
        let level = match verbose {
            _ if quiet => Level::Error,
            0 => Level::Notice,
            1 => Level::Info,
            2 => Level::Debug,
            _ => Level::Trace,
        };
        let asked = std::env::var_os("OTLP_PROFILES_LOG").unwrap_or_default();
        let form = Form::of(&asked, json)?;
        let progress = Progress::new(!quiet && form != Form::Json);
        Ok(Self { level, form, progress, kept: None })
    }

    /// Returns a console with the same settings that collects its lines.
    pub(crate) fn collecting(&self) -> Self {
        let Self { level, form, progress, .. } = self;
        Self {
            level: *level,
            form: *form,
            progress: progress.clone(),
            kept: Some(Mutex::default()),
        }
    }

    /// Returns the collected lines.
    pub(crate) fn into_lines(self) -> Vec<String> {
        let kept = self.kept.unwrap_or_default();
        kept.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether lines of this level appear. Callers check it before they build an expensive line,
    /// such as one for each row of a large table.
    pub(crate) fn shows(&self, level: Level) -> bool {
        level <= self.level
    }

    /// The form of everything on stderr.
    pub(crate) fn form(&self) -> Form {
        self.form
    }

    pub(crate) fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Prints one line in the form of stderr if its level is shown.
    pub(crate) fn log(&self, line: &Line) {
        if self.shows(line.level) {
            self.say(&match self.form {
                Form::Words => line.to_words(),
                Form::Log => line.to_text(),
                Form::Json => line.to_json(),
            });
        }
    }

    /// Logs that a step begins. The returned value logs its end when it is dropped.
    pub(crate) fn step(&self, component: &'static str, step: &'static str, of: &str) -> Step<'_> {
        self.progress.step(step);
        let of = of.to_owned();
        if self.shows(Level::Debug) {
            let message = format!("Starting {step} of {of}");
            self.log(&Line::new(Level::Debug, component, message));
        }
        let begun = Instant::now();
        Step { console: self, component, step, of, begun }
    }

    /// Prints or collects lines of a report. A write error is ignored: there is no place to report
    /// it.
    pub(crate) fn say(&self, lines: &str) {
        if let Some(kept) = &self.kept {
            kept.lock().unwrap_or_else(PoisonError::into_inner).push(lines.to_owned());
            return;
        }
        self.progress.suspend(|| {
            let _ = writeln!(anstream::stderr().lock(), "{lines}");
        });
    }
}

/// A running step.
///
/// Logs its duration when it is dropped, so a step that `?` ends is logged as well.
#[must_use = "it ends when it is dropped"]
pub(crate) struct Step<'a> {
    console: &'a Console,
    component: &'static str,
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
        self.console.log(&Line::new(Level::Debug, self.component, message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_written_where_it_is_asked_for() {
        let form = |asked: &str, json| Form::of(OsStr::new(asked), json);
        assert_eq!(form("", false), Ok(Form::Words));
        assert_eq!(form("", true), Ok(Form::Json));
        assert_eq!(form("human", false), Ok(Form::Words));
        assert_eq!(form("text", false), Ok(Form::Log));
        assert_eq!(form("text", true), Ok(Form::Json), "a report is among the lines");
        assert_eq!(form("json", false), Ok(Form::Json));
        assert!(form("xml", false).is_err());
    }
}
