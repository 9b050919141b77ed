//! Recognises perf's messages, which `perf script > out.txt 2>&1` mixes with the events.

/// Recognises messages of several lines. Only their first line has a mark.
#[derive(Default)]
pub(in crate::format) struct Messages {
    /// Whether the previous line was part of a warning, which lasts until the next event.
    is_warning: bool,
}

/// The beginnings of warnings with several lines.
const WARNINGS: [&[u8]; 3] = [b"Warning:", b"WARNING:", b"Error:"];

/// The beginnings of messages with one line.
const BEGINNINGS: [&[u8]; 9] = [
    b"[ perf ",
    b"addr2line: ",
    b"Check IO/CPU overload!",
    b"Failed to open ",
    b"failed to open ",
    b"no symbols found in ",
    b"perf: ",
    b"Processed ",
    b"Was the 'perf record' command",
];

/// The ends of messages with one line.
const ENDS: [&[u8]; 2] = [b"continuing without symbols", b"maybe install a debug package?"];

impl Messages {
    /// Returns whether a line that does not begin an event is part of a message.
    pub(in crate::format) fn has(&mut self, line: &[u8]) -> bool {
        let text = line.trim_ascii();
        self.is_warning |= WARNINGS.iter().any(|warning| text.starts_with(warning));
        self.is_warning
            || BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
            || ENDS.iter().any(|end| text.ends_with(end))
    }

    /// Ends the current warning before an event.
    pub(super) fn end(&mut self) {
        self.is_warning = false;
    }
}
