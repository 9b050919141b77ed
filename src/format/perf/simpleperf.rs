//! Reads the output of Android's `simpleperf report-sample`, with or without `--show-callchain`.
//!
//! ```text
//! sample:
//!   event_type: cpu-clock:u
//!   time: 123216683338189            in nanoseconds
//!   event_count: 250000
//!   thread_id: 28287
//!   thread_name: render
//!   vaddr_in_file: 1644a0            the leaf
//!   file: /system/lib64/libc.so
//!   symbol: read
//!   callchain:
//!     vaddr_in_file: c6cae           the callers
//! ```

use super::block::Framed;
use super::event::Event;
use crate::error::{Error, Result};
use crate::format::lines::{Lines, first_line, hex, int, kept, lines, shown};
use crate::losses::LEFT_OUT;
use crate::read_context::ReadContext;

/// The headings of records.
const SAMPLE: &str = "sample:";
const RECORDS: [&str; 4] = [SAMPLE, "context_switch:", "lost_situation:", "meta_info:"];

/// Returns whether a text begins with a record that has fields.
pub(in crate::format) fn begins(text: &str) -> bool {
    let mut lines = text.lines();
    let is_record = lines.next().is_some_and(|line| RECORDS.contains(&line.trim_end()));
    let has_field = |line: &str| line.starts_with("  ") && line.contains(": ");
    is_record && (text.contains("\n  event_type: ") || lines.next().is_some_and(has_field))
}

/// A record: a heading and the indented lines after it.
pub(super) struct Record<'a> {
    pub(super) is_sample: bool,
    fields: &'a [u8],
    /// The number of the line with the first field.
    pub(super) number: usize,
}

impl<'a> Record<'a> {
    /// Reads the record that begins with `heading`. Its fields are the next lines.
    pub(super) fn of(heading: &[u8], lines: &mut Lines<'a>) -> Option<Self> {
        let heading = heading.trim_ascii_end();
        let name = RECORDS.iter().find(|name| name.as_bytes() == heading)?;
        let (text, number) = (lines.rest, lines.number);
        while let Some((line, after)) = first_line(lines.rest)
            && line.starts_with(b"  ")
        {
            (lines.rest, lines.number) = (after, lines.number + 1);
        }
        let fields = text.get(..text.len() - lines.rest.len()).unwrap_or_default();
        Some(Self { is_sample: *name == SAMPLE, fields, number })
    }

    /// Returns the event and the frames of a sample, leaf first.
    ///
    /// # Errors
    ///
    /// A line is not a field, or the stack exceeds `max_stack_depth`. The error has the number of the line.
    pub(super) fn sample(&self, cx: &mut ReadContext) -> Result<(Event<'a>, Vec<Framed<'a>>)> {
        let (mut event, mut frames) = (Event::default(), Vec::new());
        for (number, line) in lines(self.fields) {
            let taken = field(line, &mut event, &mut frames, cx);
            kept(taken, self.number + number - 1, cx)?;
        }
        Ok((event, frames))
    }
}

/// Parses a field of a sample or of its last frame.
fn field<'a>(
    line: &'a [u8],
    event: &mut Event<'a>,
    frames: &mut Vec<Framed<'a>>,
    cx: &mut ReadContext,
) -> Result<()> {
    let line = line.trim_ascii();
    let wrong = || Error::malformed(format!("expected `KEY: VALUE`, found {}", shown(line)));
    let colon = line.iter().position(|byte| *byte == b':').ok_or_else(wrong)?;
    let (key, value) = line.split_at(colon);
    let value = value.get(1..).unwrap_or_default().trim_ascii();
    let known = if value == b"unknown" { b"" } else { value };
    match (key, frames.last_mut()) {
        (b"event_type", _) => event.name = value,
        (b"time", _) => event.time = Some(u64::try_from(int(value)?).map_err(|_| wrong())?),
        (b"event_count", _) => event.period = Some(int(value)?),
        (b"thread_id", _) => event.tid = Some(int(value)?),
        (b"thread_name", _) => event.comm = value,
        (b"vaddr_in_file", _) => {
            cx.check_depth(frames.len() + 1)?;
            frames.push(Framed::at(hex(value).ok_or_else(wrong)?));
        }
        (b"file", Some(frame)) => frame.binary = known,
        (b"symbol", Some(frame)) => frame.name(known),
        (b"callchain", _) => {}
        (b"execution_type", _) => {
            cx.note(LEFT_OUT, String::new, || {
                format!("dropped how a frame runs: {}", shown(value))
            });
        }
        _ => {
            return Err(Error::malformed(format!(
                "expected a field of a simpleperf sample, found {}",
                shown(line)
            )));
        }
    }
    Ok(())
}
