//! The line that begins an event, and those of its frames.

use crate::error::{Error, Result};
use crate::format::lines::{int, is_int, shown};

/// What the first line of an event says.
#[derive(Debug, PartialEq)]
pub(crate) struct Event<'a> {
    pub(crate) comm: &'a [u8],
    pub(crate) pid: Option<i64>,
    pub(crate) tid: i64,
    pub(crate) cpu: Option<i64>,
    /// In nanoseconds since the machine was started.
    pub(crate) time: u64,
    /// None where perf does not say it.
    pub(crate) period: Option<i64>,
    pub(crate) name: &'a [u8],
    /// What a tracepoint says.
    pub(crate) trace: &'a [u8],
}

impl<'a> Event<'a> {
    /// The names of commands may hold blanks and numbers, so the parts before the time are found from
    /// there.
    pub(crate) fn of(line: &'a [u8]) -> Result<Self> {
        let wrong = || {
            Error::malformed(format!("{} begins no event: COMM PID SECONDS: EVENT:", shown(line)))
        };
        let mut from = 0;
        loop {
            let rest = line.get(from..).unwrap_or_default();
            let colon = rest
                .windows(2)
                .position(|pair| pair == b": ")
                .or_else(|| rest.strip_suffix(b":").map(<[u8]>::len));
            let colon = from + colon.ok_or_else(wrong)?;
            let head = line.get(..colon).unwrap_or_default();
            let start = head.iter().rposition(|byte| *byte == b' ').map_or(0, |at| at + 1);
            let time = head.get(start..).and_then(time);
            if let Some(time) = time
                && let Some((comm, pid, tid, cpu)) = origin(head.get(..start).unwrap_or_default())
            {
                let rest = line.get(colon + 1..).unwrap_or_default().trim_ascii_start();
                let (period, rest) = period(rest)?;
                let (name, trace) = name(rest).ok_or_else(wrong)?;
                return Ok(Self { comm, pid, tid, cpu, time, period, name, trace });
            }
            from = colon + 1;
        }
    }
}

/// `2121.621847`, with any number of digits up to nine behind the point.
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

type Origin<'a> = (&'a [u8], Option<i64>, i64, Option<i64>);

/// `COMM PID/TID [CPU]`, of which all but the thread may be missing.
fn origin(head: &[u8]) -> Option<Origin<'_>> {
    let mut head = head.trim_ascii();
    let mut cpu = None;
    if let Some(rest) = head.strip_suffix(b"]")
        && let Some(at) = rest.iter().rposition(|byte| *byte == b'[')
    {
        cpu = Some(int(rest.get(at + 1..)?).ok()?);
        head = rest.get(..at)?.trim_ascii_end();
    }
    let start = head.iter().rposition(|byte| *byte == b' ').map_or(0, |at| at + 1);
    let (comm, ids) = head.split_at_checked(start)?;
    let mut ids = ids.split(|byte| *byte == b'/');
    let (first, second) = (ids.next()?, ids.next());
    let number = |id: &[u8]| is_int(id).then(|| int(id).ok()).flatten();
    let (pid, tid) = match second {
        Some(tid) => (Some(number(first)?), number(tid)?),
        None => (None, number(first)?),
    };
    ids.next().is_none().then_some((comm.trim_ascii(), pid, tid, cpu))
}

/// The number that may stand before the name of the event.
fn period(rest: &[u8]) -> Result<(Option<i64>, &[u8])> {
    let end = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    match is_int(word) {
        true => Ok((Some(int(word)?), after.trim_ascii_start())),
        false => Ok((None, rest)),
    }
}

/// The name of an event, which ends with a colon before a blank, and the text behind it.
fn name(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    let name = word.strip_suffix(b":")?;
    (!name.is_empty()).then_some((name, after.trim_ascii()))
}

/// A line of a frame.
#[derive(Debug, PartialEq)]
pub(crate) struct Frame<'a> {
    pub(crate) address: u64,
    /// Empty where it is unknown.
    pub(crate) symbol: &'a [u8],
    /// The binary; none of a function inlined into that of the next line.
    pub(crate) binary: Option<&'a [u8]>,
}

impl<'a> Frame<'a> {
    /// `123a sort_work+0x5e (/home/build/busy)`
    pub(crate) fn of(line: &'a [u8]) -> Result<Self> {
        let wrong =
            || Error::malformed(format!("{} is no frame: ADDRESS SYMBOL (BINARY)", shown(line)));
        let line = line.trim_ascii();
        let end = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
        let (word, rest) = line.split_at(end);
        let word = word.strip_prefix(b"0x").unwrap_or(word);
        let digits = std::str::from_utf8(word)
            .ok()
            .filter(|word| word.bytes().all(|b| b.is_ascii_hexdigit()));
        let address =
            digits.and_then(|word| u64::from_str_radix(word, 16).ok()).ok_or_else(wrong)?;
        let rest = rest.trim_ascii();
        let (symbol, binary) = match rest.strip_suffix(b")").and_then(open) {
            Some((symbol, b"inlined")) => (symbol, None),
            Some((symbol, binary)) => (symbol, Some(binary)),
            None => (rest, None),
        };
        let symbol = without_offset(symbol.trim_ascii());
        let symbol = if symbol == b"[unknown]" { b"" } else { symbol };
        Ok(Self { address, symbol, binary })
    }
}

/// What stands before the last ` (`, or the parenthesis that begins the text, and behind it.
fn open(text: &[u8]) -> Option<(&[u8], &[u8])> {
    if let Some(binary) = text.strip_prefix(b"(") {
        return Some((&[], binary));
    }
    let at = text.windows(2).rposition(|pair| pair == b" (")?;
    Some((text.get(..at)?, text.get(at + 2..)?))
}

/// A symbol without the `+0x5e` behind it.
fn without_offset(symbol: &[u8]) -> &[u8] {
    let at = symbol.windows(3).rposition(|window| window == b"+0x");
    let offset = at.and_then(|at| Some((symbol.get(..at)?, symbol.get(at + 3..)?)));
    match offset {
        Some((name, digits)) if !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit) => {
            name
        }
        _ => symbol,
    }
}

/// `busy.c:15`: a file and a line, which may be `(inlined)`.
pub(crate) fn source(line: &[u8]) -> Option<(&[u8], i64)> {
    let line = line.trim_ascii();
    let line = line.strip_suffix(b" (inlined)").unwrap_or(line);
    let at = line.iter().rposition(|byte| *byte == b':')?;
    let (file, number) = (line.get(..at)?, line.get(at + 1..)?);
    (is_int(number) && !file.is_empty()).then(|| Some((file, int(number).ok()?))).flatten()
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
                (None, 3071, None),
                (Some(5_025_125), "cpu-clock", ""),
            ),
            (
                "Web Content 2 77/78 [003] 1.5: cycles:u: ",
                "Web Content 2",
                (Some(77), 78, Some(3)),
                (None, "cycles:u", ""),
            ),
            (
                "a: 1.2: b 5 0.000001: 1 page-faults/period=64/:",
                "a: 1.2: b",
                (None, 5, None),
                (Some(1), "page-faults/period=64/", ""),
            ),
            (
                "b 28049 [000]  2603.410389: sched:sched_switch: prev_comm=b prev_pid=1",
                "b",
                (None, 28049, Some(0)),
                (None, "sched:sched_switch", "prev_comm=b prev_pid=1"),
            ),
            ("perf -1 1.0: 1 cycles:", "perf", (None, -1, None), (Some(1), "cycles", "")),
        ] {
            let event = Event::of(line.as_bytes()).unwrap();
            assert_eq!(event.comm, comm.as_bytes());
            assert_eq!((event.pid, event.tid, event.cpu), ids, "{line}");
            assert_eq!(
                (event.period, event.name, event.trace),
                (rest.0, rest.1.as_bytes(), rest.2.as_bytes())
            );
        }
        assert_eq!(Event::of(b"a 5 2121.621847150: 1 c:").unwrap().time, 2_121_621_847_150);
        for wrong in [
            "",
            "busy",
            "busy 1 2.5",
            "busy 2.5: 1 c:",
            "busy 1 2.5: 1",
            "busy 1 x.y: 1 c:",
            "busy 1 2.5: 99999999999999999999 c:",
        ] {
            assert!(Event::of(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_frame_is_taken_apart() {
        for (line, address, symbol, binary) in [
            (
                "\t 123a sort_work+0x5e (/home/a (b)/busy)",
                0x123a,
                "sort_work+0x5e (/home/a",
                Some("b)/busy"),
            ),
            ("3fb43 f(int, char)+0x1 (libc.so.6)", 0x3fb43, "f(int, char)", Some("libc.so.6")),
            (
                "ffffffff8161f520 a ([kernel.kallsyms])",
                0xffff_ffff_8161_f520,
                "a",
                Some("[kernel.kallsyms]"),
            ),
            ("989c8 malloc+0x98", 0x989c8, "malloc", None),
            ("989c8 malloc (inlined)", 0x989c8, "malloc", None),
            ("5607a9ccc2b0 [unknown] ([unknown])", 0x5607_a9cc_c2b0, "", Some("[unknown]")),
            ("1 (a.out)", 1, "", Some("a.out")),
            ("0x10 x", 16, "x", None),
        ] {
            let frame = Frame::of(line.as_bytes()).unwrap();
            assert_eq!(
                (frame.address, frame.symbol, frame.binary),
                (address, symbol.as_bytes(), binary.map(str::as_bytes))
            );
        }
        assert!(Frame::of(b"xyz").is_err() && Frame::of(b"12345678901234567 a").is_err());
        assert_eq!(source(b"  busy.c:15"), Some((&b"busy.c"[..], 15)));
        assert_eq!(source(b"  msort.c:64 (inlined)"), Some((&b"msort.c"[..], 64)));
        assert_eq!(source(b"  [kernel.kallsyms][ffffffff8161f520]"), None);
    }
}
