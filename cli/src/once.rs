//! What is said once a run, however many inputs it is true of.
//!
//! A directory of a thousand old files would otherwise warn a thousand times. The key decides what
//! is the same; the sentence names the first input and counts the others.

use otlp_profiles::Format;

use crate::console::{Console, Level, Line};
use crate::exit::{Exit, Failure};

/// The notes of a run, in the order they were met first.
///
/// Looked through from the start for each note: keys are codes and names of formats, so there are a
/// handful, whatever the number of inputs.
#[derive(Debug, Default)]
pub(crate) struct Once {
    notes: Vec<Note>,
}

#[derive(Debug)]
struct Note {
    level: Level,
    /// What is the same of all inputs it is true of.
    key: String,
    /// What is said, of the first of them.
    message: String,
    /// The input that it was met in last, and in how many after the first.
    last: String,
    more: u64,
}

impl Once {
    /// Notes what `key` stands for of `input`.
    ///
    /// `message` is made for the first only. Said twice of one input in a row, it counts once.
    pub(crate) fn note(&mut self, key: &str, input: &str, message: impl FnOnce() -> String) {
        self.add(Level::Warning, key, input, message);
    }

    /// The same of what is no reason to look into anything.
    pub(crate) fn notice(&mut self, key: &str, input: &str, message: impl FnOnce() -> String) {
        self.add(Level::Notice, key, input, message);
    }

    /// Adds the notes on one further input.
    pub(crate) fn merge(&mut self, of_one: Self) {
        for Note { level, key, message, last, .. } in of_one.notes {
            self.add(level, &key, &last, || message);
        }
    }

    fn add(&mut self, level: Level, key: &str, input: &str, message: impl FnOnce() -> String) {
        match self.notes.iter_mut().find(|known| known.key == key) {
            Some(known) if known.last == input => {}
            Some(known) => {
                known.more += 1;
                known.last = input.to_owned();
            }
            None => self.notes.push(Note {
                level,
                key: key.to_owned(),
                message: message(),
                last: input.to_owned(),
                more: 0,
            }),
        }
    }

    /// Logs each note once.
    pub(crate) fn tell(&self, room: &'static str, console: &Console) {
        for note in &self.notes {
            let message = format!("{}{}", note.message, and_more(note.more));
            console.log(&Line::new(note.level, room, message));
        }
    }
}

/// Notes that `input`, found in a directory, was passed over because of `failure`.
pub(crate) fn skipped(
    once: &mut Once,
    console: &Console,
    room: &'static str,
    input: &str,
    failure: &Failure,
) {
    let line = Line::new(Level::Info, room, "File skipped").because(failure);
    console.log(&line.about(input));
    once.note("skipped", input, || format!("{input} holds no profile and was skipped"));
}

/// Says that directories hold nothing but what is skipped.
///
/// Without it a run over the wrong directory would end with 0 and no word.
pub(crate) fn nothing_found(room: &'static str, console: &Console) -> Exit {
    console.log(&Line::new(Level::Error, room, "No profile was found: every file was skipped"));
    Exit::Input
}

/// Notes that `format` was read from `input`, if it is deprecated.
pub(crate) fn deprecated_read(once: &mut Once, input: &str, format: Format) {
    if format.deprecated().is_some() {
        once.note(&format!("{format} deprecated"), input, || {
            format!(
                "{format} is deprecated and was read from {input}; rewrite it with \"otlp-profiles convert --to otlp\" and update what wrote it"
            )
        });
    }
}

/// Notes that `format` was written for `input`, if it is deprecated.
///
/// The same key as of what was read, so that a conversion between deprecated files warns once.
pub(crate) fn deprecated_written(once: &mut Once, input: &str, format: Format) {
    if let Some(why) = format.deprecated() {
        once.note(&format!("{format} deprecated"), input, || {
            format!("{format} is deprecated and was written for {input}; {why}")
        });
    }
}

/// ` (2 more)`: so many inputs besides the one that is named.
pub(crate) fn and_more(inputs: u64) -> String {
    match inputs {
        0 => String::new(),
        more => format!(" ({more} more)"),
    }
}
