//! Parses the first line of an event, in which most fields are optional.
//!
//! ```text
//! busy  3105/3107 [001]  2121.621847:   20408163 cpu-clock: text of a tracepoint
//! comm  pid /tid   cpu        time        period  name       trace
//! ```
//!
//! Used by `read` to parse samples, and by detection ([`begins`](Event::begins)) to recognise the format.

use crate::error::{Error, Result};
use crate::format::lines::{int, is_int, shown};
use crate::format::perf::frame::Frame;

/// The fields in the first line of an event, as slices of the line. A missing field is `None` or empty, and
/// not an error.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Event<'a> {
    /// The command of the thread, without perf's padding.
    pub(crate) comm: &'a [u8],
    /// The process, or `None` if perf printed only the thread. It is -1 if the kernel did not provide it.
    pub(crate) pid: Option<i64>,
    /// The thread, or `None` if the line has only the command.
    pub(crate) tid: Option<i64>,
    /// The processor, from 0.
    pub(crate) cpu: Option<i64>,
    /// The time in nanoseconds since the start of the machine.
    pub(crate) time: Option<u64>,
    /// The period, or `None` if perf did not print it.
    pub(crate) period: Option<i64>,
    /// The event's name, or empty if perf did not print it.
    pub(crate) name: &'a [u8],
    /// The fields of a tracepoint, or the frame of an event without a stack.
    pub(crate) trace: &'a [u8],
}

/// The prefix of perf's records that are not samples, such as lost events and thread names.
const RECORD: &[u8] = b"PERF_RECORD_";

/// Returns whether a line is such a record. The fields of an event may precede its name.
pub(crate) fn is_record(line: &[u8]) -> bool {
    line.split(|byte| *byte == b' ').any(|word| word.starts_with(RECORD))
        && Event::of(line).map_or(true, |event| event.name.starts_with(RECORD))
}

impl<'a> Event<'a> {
    /// Parses a line. Names of commands may contain spaces, numbers and colons, so the parser searches for
    /// the time first, and otherwise for the thread.
    ///
    /// # Errors
    ///
    /// No form matches, or a number exceeds 64 bits.
    pub(crate) fn of(line: &'a [u8]) -> Result<Self> {
        Self::find(line).unwrap_or_else(|| {
            Err(Error::malformed(format!(
                "expected the first line of an event, `COMM PID SECONDS: EVENT:`, found {}",
                shown(line)
            )))
        })
    }

    /// Returns whether a line begins an event.
    pub(crate) fn begins(line: &'a [u8]) -> bool {
        matches!(Self::find(line), Some(Ok(_)))
    }

    /// Tries all forms of a line, those with more fields first.
    ///
    /// Returns `None` if no form matches, and an error if a form matches with an invalid number.
    fn find(line: &'a [u8]) -> Option<Result<Self>> {
        let found = timed(line, true).or_else(|| timed(line, false));
        found.or_else(|| untimed(line).map(Ok))
    }

    /// Parses the fields after the time, or after the processor if there is no time.
    ///
    /// Without a name, a frame must follow. Otherwise returns `Ok(None)`: the time was not one, and the
    /// search continues.
    fn after_time(mut self, rest: &'a [u8]) -> Result<Option<Self>> {
        let (period, rest) = period(rest.trim_ascii_start())?;
        self.period = period;
        match name(rest) {
            Some((name, trace)) => (self.name, self.trace) = (name, trace),
            None if rest.is_empty() || Frame::alone(rest).is_some() => self.trace = rest,
            None => return Ok(None),
        }
        Ok(Some(self))
    }
}

/// Returns whether a byte separates words: simpleperf prints tabs.
fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The number of bytes in which the beginning of an event is searched: the kernel limits the names of
/// commands.
const BEGINNING: usize = 256;

/// Parses a line with a time, after a thread or after only a command.
///
/// Any `: ` within the first bytes may follow the time. The parser takes the first one whose word is a valid
/// time after a thread. So it parses a command named `a: 1.5: b`.
fn timed(line: &[u8], with_thread: bool) -> Option<Result<Event<'_>>> {
    let mut from = 0;
    while from < BEGINNING {
        let rest = line.get(from..)?;
        let colon = rest
            .windows(2)
            .position(|pair| pair[0] == b':' && is_blank(&pair[1]))
            .or_else(|| rest.strip_suffix(b":").map(<[u8]>::len));
        let colon = from + colon?;
        let head = line.get(..colon)?;
        let start = head.iter().rposition(is_blank).map_or(0, |at| at + 1);
        let before = head.get(..start)?.trim_ascii();
        let event = head.get(start..).and_then(time).and_then(|time| {
            let origin = if with_thread { origin(before) } else { Some(without_thread(before)) };
            origin.map(|origin| Event { time: Some(time), ..origin })
        });
        if let Some(event) = event {
            match event.after_time(line.get(colon + 1..).unwrap_or_default()) {
                Ok(None) => {}
                Ok(Some(event)) => return Some(Ok(event)),
                Err(error) => return Some(Err(error)),
            }
        }
        from = colon + 1;
    }
    None
}

/// Parses a line without a time: the first thread that an event follows. A processor and a period may precede
/// the event, and only a frame may follow it.
///
/// This is stricter than with a time, because otherwise any line with a number could be an event.
fn untimed(line: &[u8]) -> Option<Event<'_>> {
    let mut from = 0;
    while from < BEGINNING {
        let rest = line.get(from..)?;
        let start = from + rest.iter().position(|byte| !is_blank(byte))?;
        let length = line.get(start..)?.iter().position(is_blank)?;
        let mut end = start + length;
        if ids(line.get(start..end)?).is_some() {
            let behind = line.get(end..)?.trim_ascii_start();
            if behind.starts_with(b"[") {
                end += line.get(end..)?.iter().position(|byte| *byte == b']')? + 1;
            }
            let event = origin(line.get(..end)?.trim_ascii());
            let event = event.and_then(|event| event.after_time(line.get(end..)?).ok()?);
            // A colon after the command belongs to an invalid time.
            if let Some(event) = event
                && !event.name.is_empty()
                && !event.comm.ends_with(b":")
                && (event.trace.is_empty() || Frame::alone(event.trace).is_some())
            {
                return Some(event);
            }
        }
        from = start + length;
    }
    None
}

/// Parses `2121.621847`, with up to nine decimals.
///
/// The kernel's clock has at most nine decimals; perf prints six by default.
fn time(word: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(word).ok()?;
    let (seconds, part) = text.split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(seconds) || !digits(part) || part.len() > 9 {
        return None;
    }
    let nanos = part.parse::<u64>().ok()? * 10u64.pow(9 - part.len() as u32);
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(nanos)
}

/// Parses `COMM PID/TID [CPU] MISC`, where only the thread is required.
fn origin(head: &[u8]) -> Option<Event<'_>> {
    let event = without_thread(without_misc(head));
    let start = event.comm.iter().rposition(is_blank).map_or(0, |at| at + 1);
    let (comm, thread) = event.comm.split_at_checked(start)?;
    let (pid, tid) = ids(thread)?;
    Some(Event { comm: comm.trim_ascii(), pid, tid: Some(tid), ..event })
}

/// Strips the letters of `-F misc`, such as `K` for the kernel, and the flags of ftrace, such as `d.h2.`.
fn without_misc(head: &[u8]) -> &[u8] {
    let mut left = head;
    while let Some(at) = left.iter().rposition(is_blank) {
        let (before, word) = (left.get(..at), left.get(at + 1..).unwrap_or_default());
        let is_misc = matches!(
            word,
            b"K" | b"U" | b"H" | b"G" | b"g" | b"M" | b"E" | b"F" | b"S" | b"Sp" | b"L"
        );
        let is_flags = before.is_some_and(|before| before.trim_ascii_end().ends_with(b"]"))
            && word.len() <= 6
            && ids(word).is_none()
            && !word.ends_with(b"]");
        if !(is_misc || is_flags) {
            break;
        }
        left = before.unwrap_or_default().trim_ascii_end();
    }
    left
}

/// Parses `COMM [CPU]`, where both are optional.
fn without_thread(head: &[u8]) -> Event<'_> {
    let processor = head.strip_suffix(b"]").and_then(|rest| {
        let at = rest.iter().rposition(|byte| *byte == b'[')?;
        Some((rest.get(..at)?.trim_ascii_end(), int(rest.get(at + 1..)?).ok()?))
    });
    match processor {
        Some((comm, cpu)) => Event { comm, cpu: Some(cpu), ..Event::default() },
        None => Event { comm: head, ..Event::default() },
    }
}

/// Parses `PID/TID`, or only a thread.
fn ids(word: &[u8]) -> Option<(Option<i64>, i64)> {
    let number = |id: &[u8]| is_int(id).then(|| int(id).ok()).flatten();
    match word.iter().position(|byte| *byte == b'/') {
        Some(at) => Some((Some(number(word.get(..at)?)?), number(word.get(at + 1..)?)?)),
        None => Some((None, number(word)?)),
    }
}

/// Parses the optional period before the name of the event.
///
/// # Errors
///
/// The number exceeds 64 bits with a sign.
fn period(rest: &[u8]) -> Result<(Option<i64>, &[u8])> {
    let end = rest.iter().position(is_blank).unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    match is_int(word) {
        true => Ok((Some(int(word)?), after.trim_ascii_start())),
        false => Ok((None, rest)),
    }
}

/// Splits off the name of an event, which ends with a colon before a space.
fn name(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = rest.iter().position(is_blank).unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    let name = word.strip_suffix(b":")?;
    (!name.is_empty()).then_some((name, after.trim_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_found_whatever_its_command_is_called() {
        for (line, comm, ids, rest) in [
            (
                "busy  3071  2119.408043:    5025125 cpu-clock: ",
                "busy",
                (None, Some(3071), None),
                (Some(5_025_125), "cpu-clock", ""),
            ),
            (
                "Web Content 2 77/78 [003] 1.5: cycles:u: ",
                "Web Content 2",
                (Some(77), Some(78), Some(3)),
                (None, "cycles:u", ""),
            ),
            (
                "a: 1.2: b 5 0.000001: 1 page-faults/period=64/:",
                "a: 1.2: b",
                (None, Some(5), None),
                (Some(1), "page-faults/period=64/", ""),
            ),
            (
                "b 28049 [000]  2603.410389: sched:sched_switch: prev_comm=b prev_pid=1",
                "b",
                (None, Some(28049), Some(0)),
                (None, "sched:sched_switch", "prev_comm=b prev_pid=1"),
            ),
            ("perf -1 1.0: 1 cycles:", "perf", (None, Some(-1), None), (Some(1), "cycles", "")),
            ("ls 10 [000] U     1.5: 10 c:", "ls", (None, Some(10), Some(0)), (Some(10), "c", "")),
            ("a 1/2 [3] K Sp 1.5: c:", "a", (Some(1), Some(2), Some(3)), (None, "c", "")),
            ("G 10 M E 1.5: c:", "G", (None, Some(10), None), (None, "c", "")),
            ("x 7 [000] d.h2. 1.5: c:", "x", (None, Some(7), Some(0)), (None, "c", "")),
            (
                "Gecko	25122 [007] 115539.936601:		1000000 task-clock:u:",
                "Gecko",
                (None, Some(25122), Some(7)),
                (Some(1_000_000), "task-clock:u", ""),
            ),
            // Fields that were not requested.
            ("busy 2.5: 1 c:", "busy", (None, None, None), (Some(1), "c", "")),
            ("busy [001] 2.5: c:", "busy", (None, None, Some(1)), (None, "c", "")),
            ("2.5: 1 c:", "", (None, None, None), (Some(1), "c", "")),
            ("busy 1 2.5: 1", "busy", (None, Some(1), None), (Some(1), "", "")),
            (
                "V8 Worker 2 5/6 [001] 7 c:u:",
                "V8 Worker 2",
                (Some(5), Some(6), Some(1)),
                (Some(7), "c:u", ""),
            ),
            ("a 5 7 100 cycles:", "a 5", (None, Some(7), None), (Some(100), "cycles", "")),
            ("java 19983 cycles:", "java", (None, Some(19983), None), (None, "cycles", "")),
            (
                "  false 39654 19115.489719:  1 cycles:  7fa68b1f2d84 f+0x4 (/usr/lib/ld.so)",
                "false",
                (None, Some(39654), None),
                (Some(1), "cycles", "7fa68b1f2d84 f+0x4 (/usr/lib/ld.so)"),
            ),
            (
                "a 1 2.5: 7fa68b1f2d84 f (b)",
                "a",
                (None, Some(1), None),
                (None, "", "7fa68b1f2d84 f (b)"),
            ),
        ] {
            let event = Event::of(line.as_bytes()).unwrap();
            assert_eq!(event.comm, comm.as_bytes(), "{line}");
            assert_eq!((event.pid, event.tid, event.cpu), ids, "{line}");
            assert_eq!(
                (event.period, event.name, event.trace),
                (rest.0, rest.1.as_bytes(), rest.2.as_bytes()),
                "{line}"
            );
        }
        let time = Event::of(b"a 5 2121.621847150: 1 c:").unwrap().time;
        assert_eq!(time, Some(2_121_621_847_150));
        for wrong in [
            "",
            "busy",
            "busy 1 2.5",
            "busy 1 x.y: 1 c:",
            "busy 1 2.5: 99999999999999999999 c:",
            "busy 1 2.5: 1 c",
            "busy x cycles:",
            "12 f 3 (b)",
        ] {
            assert!(Event::of(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_long_line_takes_linear_time() {
        for part in ["1 ", "1: ", "1.5: ", "[", "1 [", "1/2 3 4 "] {
            let line = part.repeat(50_000);
            drop(Event::of(line.as_bytes()));
        }
    }
}
