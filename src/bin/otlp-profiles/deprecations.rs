//! Deprecated formats that a run met: said once, however many inputs they are in.

use otlp_profiles::Format;

use crate::console::{Console, Level, Line};

/// The deprecated formats of a run.
#[derive(Debug, Default)]
pub(crate) struct Deprecations {
    met: Vec<Met>,
}

/// A format that should not be used any more, and was.
#[derive(Debug)]
struct Met {
    format: &'static str,
    /// What happened first, and what to do.
    message: String,
    /// The input that it was met in last, and in how many after the first.
    last: String,
    more: u64,
}

impl Deprecations {
    /// `format` was read from `input`.
    pub(crate) fn read(&mut self, input: &str, format: Format) {
        self.add(input, format, |_| {
            let advice =
                "rewrite it with \"otlp-profiles convert --to otlp\" and update what wrote it";
            format!("read from {input}; {advice}")
        });
    }

    /// `format` was written for `input`.
    pub(crate) fn written(&mut self, input: &str, format: Format) {
        self.add(input, format, |why| format!("written for {input}; {why}"));
    }

    fn add(&mut self, input: &str, format: Format, happened: impl FnOnce(&str) -> String) {
        let Some(why) = format.deprecated() else {
            return;
        };
        match self.met.iter_mut().find(|known| known.format == format.name()) {
            Some(known) if known.last == input => {}
            Some(known) => {
                known.more += 1;
                known.last = input.to_owned();
            }
            None => self.met.push(Met {
                format: format.name(),
                message: format!("{} is deprecated and was {}", format.name(), happened(why)),
                last: input.to_owned(),
                more: 0,
            }),
        }
    }

    /// Logs each once.
    pub(crate) fn tell(&self, room: &'static str, console: &Console) {
        for met in &self.met {
            let message = format!("{}{}", met.message, and_more(met.more));
            console.log(&Line::new(Level::Warning, room, message));
        }
    }
}

/// ` (2 more)`: so many inputs besides the one that is named.
pub(crate) fn and_more(inputs: u64) -> String {
    match inputs {
        0 => String::new(),
        more => format!(" ({more} more)"),
    }
}
