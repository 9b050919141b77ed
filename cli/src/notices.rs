//! Messages that are printed once per run, whatever the number of inputs.
//!
//! Otherwise, a directory of a thousand old files would cause a thousand warnings. Messages are
//! grouped by key. The printed one names the first input and counts the others.

use otlp_profiles::Format;

use crate::console::{Console, Level, Line};

/// The notices of a run, in the order of their first input.
///
/// A linear search is fast, because there are few keys: codes and names of formats.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    grouped: Vec<Notice>,
    /// Warnings that name their input, and are printed for each.
    each: Vec<String>,
}

#[derive(Debug)]
struct Notice {
    level: Level,
    key: String,
    /// The message about the first input.
    message: String,
    /// The last input that it concerns, and the number of inputs after the first.
    last: String,
    more: u64,
}

impl Notices {
    /// Adds a warning about `input`.
    ///
    /// Calls `message` for the first input of a key only. Equal warnings about one input in a row count once.
    pub(crate) fn warn(&mut self, key: &str, input: &str, message: impl FnOnce() -> String) {
        self.add(Level::Warning, key, input, message);
    }

    /// Adds a warning that names its input, and is not grouped with those about other inputs.
    pub(crate) fn warn_of_each(&mut self, message: String) {
        self.each.push(message);
    }

    /// Adds a message that needs no action.
    pub(crate) fn note(&mut self, key: &str, input: &str, message: impl FnOnce() -> String) {
        self.add(Level::Notice, key, input, message);
    }

    /// Drops the notices of a key, which do not concern the subcommand.
    pub(crate) fn forget(&mut self, key: &str) {
        self.grouped.retain(|notice| notice.key != key);
    }

    /// Adds the notices of a further input.
    pub(crate) fn merge(&mut self, of_one: Self) {
        self.each.extend(of_one.each);
        for Notice { level, key, message, last, .. } in of_one.grouped {
            self.add(level, &key, &last, || message);
        }
    }

    fn add(&mut self, level: Level, key: &str, input: &str, message: impl FnOnce() -> String) {
        match self.grouped.iter_mut().find(|notice| notice.key == key) {
            Some(notice) if notice.last == input => {}
            Some(notice) => {
                notice.more += 1;
                notice.last = input.to_owned();
            }
            None => self.grouped.push(Notice {
                level,
                key: key.to_owned(),
                message: message(),
                last: input.to_owned(),
                more: 0,
            }),
        }
    }

    /// Warns that `input` has a deprecated format.
    pub(crate) fn deprecated_read(&mut self, input: &str, format: Format) {
        if format.deprecated().is_some() {
            self.warn(&format!("{format} deprecated"), input, || {
                format!(
                    "{format} is deprecated and was read from {input}; rewrite it with \"otlp-profiles convert --to otlp\" and update what wrote it"
                )
            });
        }
    }

    /// Warns that a deprecated format was written for `input`.
    ///
    /// The key is that of [`deprecated_read`](Self::deprecated_read): a conversion between deprecated files warns once.
    pub(crate) fn deprecated_written(&mut self, input: &str, format: Format) {
        if let Some(why) = format.deprecated() {
            self.warn(&format!("{format} deprecated"), input, || {
                format!("{format} is deprecated and was written for {input}; {why}")
            });
        }
    }

    /// Logs each notice.
    pub(crate) fn print(&self, subcommand: &'static str, console: &Console) {
        for message in &self.each {
            console.log(&Line::new(Level::Warning, subcommand, message));
        }
        for notice in &self.grouped {
            let message = format!("{}{}", notice.message, and_more(notice.more));
            console.log(&Line::new(notice.level, subcommand, message));
        }
    }
}

/// Formats the number of inputs besides the named one: ` (2 more)`.
pub(crate) fn and_more(inputs: u64) -> String {
    match inputs {
        0 => String::new(),
        more => format!(" ({more} more)"),
    }
}
