//! Signs of texts and old binary forms that a fixed beginning cannot identify.
//!
//! Each function recognises one kind of file. Detection calls them in the order of the table in `kinds`.
//!
//! A text is cut after some kilobytes ([`magic`](super::magic)), so its last line may be incomplete. A sign
//! must be precise rather than complete: an unrecognised file gives an error that asks for its format, but a
//! wrongly recognised file is misread.

pub(super) use crate::compression::is_memray;
#[cfg(feature = "formats")]
pub(super) use crate::format::perf::simpleperf::begins as is_simpleperf;

#[cfg(feature = "formats")]
use crate::format::folded::line::{is_comment, is_extended};
#[cfg(feature = "formats")]
use crate::format::perf::event::{Event, is_record};
#[cfg(feature = "formats")]
use crate::format::perf::frame::Frame;
#[cfg(feature = "formats")]
use crate::format::perf::messages::Messages;

/// Matches the five words that begin gperftools' CPU profiles: 0, 3, 0, the period, 0.
pub(crate) fn is_legacy_cpu(payload: &[u8]) -> bool {
    has_header(payload, 0)
}

/// Matches the words of [`is_legacy_cpu`] with a 1 for Java.
pub(crate) fn is_legacy_java_cpu(payload: &[u8]) -> bool {
    has_header(payload, 1)
}

/// Tests words of 32 and 64 bits in both byte orders.
fn has_header(payload: &[u8], version: u64) -> bool {
    let word = |at: usize, size: usize, is_big: bool| {
        let bytes = payload.get(at * size..(at + 1) * size)?.iter();
        let join = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        Some(if is_big { bytes.fold(0, join) } else { bytes.rfold(0, join) })
    };
    [(4, false), (4, true), (8, false), (8, true)].into_iter().any(|(size, is_big)| {
        let words = [0, 1, 2, 3, 4].map(|at| word(at, size, is_big));
        matches!(words, [Some(0), Some(3), Some(is), Some(1..), Some(0)] if is == version)
    })
}

/// Matches `go 1.22 trace\0\0\0`.
pub(super) fn is_go_trace(payload: &[u8]) -> bool {
    payload.starts_with(b"go 1.")
        && payload.get(..16).is_some_and(|start| start.windows(6).any(|part| part == b" trace"))
}

/// Matches the header of the first buffer: its size, and the system header of 32 or 64 bits.
pub(super) fn is_etl(payload: &[u8]) -> bool {
    let size = payload.first_chunk().map_or(0, |size| u32::from_le_bytes(*size));
    let header = payload.get(0x48..0x4c);
    size >= 1024 && size.is_multiple_of(512) && matches!(header, Some([2, 0, 1 | 2, 0xc0]))
}

/// Matches a boundary followed by the headers of a part.
pub(super) fn is_multipart(payload: &[u8]) -> bool {
    let start = payload.get(..1024).unwrap_or(payload).to_ascii_lowercase();
    start.starts_with(b"--") && start.windows(10).any(|part| part == b"\r\ncontent-")
}

/// Matches `v 10500 2`, the version line before lines of one letter each.
pub(super) fn is_heaptrack(text: &str) -> bool {
    let mut words = text.lines().next().unwrap_or_default().split(' ');
    let is_hex = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    words.next() == Some("v") && words.clone().count() >= 2 && words.all(is_hex)
}

/// Matches a doctype or a tag of HTML in either case.
pub(super) fn is_html(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(512).collect();
    let start = start.to_ascii_lowercase();
    let begins = ["<!doctype html", "<html", "<head", "<body", "<title", "<h1"];
    begins.iter().any(|begin| start.starts_with(begin)) || start.contains("<html")
}

/// Matches the element, after declarations and comments.
pub(super) fn is_svg(text: &str) -> bool {
    text.trim_start().starts_with('<') && text.contains("<svg")
}

/// Matches long lines that contain only base64 digits.
pub(super) fn is_base64(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_=".contains(&byte);
    let text = text.trim();
    let first = text.lines().next().unwrap_or_default().trim_end();
    let has = |is: fn(&u8) -> bool| first.bytes().any(|byte| is(&byte));
    first.len() >= 24
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && text.lines().all(|line| line.trim_end().bytes().all(is_digit))
}

/// Matches `goroutine profile: total 9`.
pub(super) fn is_go_count(text: &str) -> bool {
    text.lines().next().is_some_and(|line| line.contains(" profile: total "))
}

/// Matches `busy  3071 [000]  2119.408043:    5025125 cpu-clock:`. Without a thread or a time, a frame must
/// follow. Messages of perf may precede the event.
#[cfg(feature = "formats")]
pub(super) fn is_perf_script(text: &str) -> bool {
    let lines = lines(text).filter(|line| !line.starts_with('#')).map(str::as_bytes);
    let mut messages = Messages::default();
    let mut lines = lines.skip_while(|line| !Event::begins(line) && messages.has(line)).peekable();
    let is_first_record = lines.peek().is_some_and(|line| is_record(line));
    let mut lines = lines.filter(|line| !is_record(line));
    let event = lines.next().and_then(|line| Event::of(line).ok());
    let is_event = event.is_some_and(|event| {
        let mut has_frame = || lines.next().is_some_and(|line| Frame::parse(line).is_some());
        event.tid.is_some() && event.time.is_some() && !event.name.is_empty()
            || Frame::alone(event.trace).is_some()
            || has_frame()
    });
    is_event
        || is_first_record
        || text.starts_with("# ========") && text.contains("\n# captured on")
}

/// Matches `@[` or `@stacks[`, after messages about probes.
pub(super) fn is_bpftrace(text: &str) -> bool {
    let is_map = |line: &str| {
        let name = line.strip_prefix('@').and_then(|line| line.split_once('['));
        name.is_some_and(|(name, _)| {
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
    };
    text.starts_with("Attaching ")
        && text.lines().next().is_some_and(|line| line.contains(" probe"))
        || lines(text).next().is_some_and(is_map)
}

/// Matches `@ inst_retired.any [35705 samples]`.
pub(super) fn is_pmcstat(text: &str) -> bool {
    let is_event = |line: &str| line.starts_with("@ ") && line.trim_end().ends_with(" samples]");
    lines(text).next().is_some_and(is_event)
}

/// Matches ``              libc.so.1`mutex_lock_impl+0x45``.
pub(super) fn is_dtrace(text: &str) -> bool {
    let is_frame = |line: &str| {
        let is_indented = line.starts_with([' ', '\t']);
        is_indented && line.contains('`') && line.contains("+0x")
    };
    text.starts_with("CPU ") && text.contains("FUNCTION:NAME") || lines(text).take(20).any(is_frame)
}

/// Matches the lines `desc:` and `time_unit:`.
pub(super) fn is_massif(text: &str) -> bool {
    text.starts_with("desc:") && text.contains("\ntime_unit:")
}

/// Matches the header or the first lines of the body, because the header is optional. Excludes `events: {`,
/// which is protobuf in text form: the events of callgrind are names.
pub(super) fn is_callgrind(text: &str) -> bool {
    let begins = ["# callgrind format", "events:", "fl=", "fn="];
    let is_of_it = |line: &str| {
        begins.iter().any(|begin| line.starts_with(begin)) && !line.trim_end().ends_with('{')
    };
    text.lines().take(20).any(is_of_it)
}

/// Matches a file of another tool in callgrind's format.
pub(super) fn is_yappi(text: &str) -> bool {
    is_callgrind(text) && text.contains("\ncreator: yappi")
}

/// Matches `# austin: 3.7.0` or `P28939;T0:28939;…`.
#[cfg(feature = "formats")]
pub(super) fn is_austin(text: &str) -> bool {
    let is_process = |line: &str| {
        let process = line.strip_prefix('P').and_then(|line| line.split_once(";T"));
        process.is_some_and(|(process, _)| is_digits(process))
    };
    text.starts_with("# austin:") || lines(text).next().is_some_and(is_process)
}

/// Matches the output of `-top`, `-traces` and `-tags`.
pub(super) fn is_pprof_report(text: &str) -> bool {
    let is_part = |line: &str| {
        line.starts_with("Showing nodes accounting for")
            || line.starts_with("-----------+---")
            || line.contains("%): ") && line.trim_start().starts_with(|c: char| c.is_ascii_digit())
    };
    lines(text).take(10).any(is_part)
}

/// Matches `main;run;poll 42` on most lines, because some tools omit a number. If there are lines that are
/// not stacks, 90 % of the stacks must have several frames.
#[cfg(feature = "formats")]
pub(super) fn is_folded(text: &str) -> bool {
    let (mut folded, mut with_frames, mut others, mut strange) = (0, 0, 0, 0);
    for line in stacks(text) {
        match counted(line) {
            Some(stack) => {
                folded += 1;
                with_frames += usize::from(stack.contains(';'));
            }
            None if line.contains(';') && !line.contains(' ') => others += 1,
            None => strange += 1,
        }
    }
    folded > others + strange && (strange == 0 || with_frames * 10 >= folded * 9)
}

/// Matches a text of which every line is a folded stack: of several frames, or the last line has an end.
#[cfg(feature = "formats")]
pub(super) fn is_stacks(text: &str) -> bool {
    let is_stack =
        |line| counted(line).is_some_and(|stack| stack.contains(';') || text.contains('\n'));
    stacks(text).next().is_some() && stacks(text).all(is_stack)
}

/// Matches folded stacks with and without attributes.
#[cfg(feature = "formats")]
pub(super) fn is_any_folded(text: &str) -> bool {
    is_folded(text) || is_extended_folded(text)
}

/// Returns `false`: without the feature, folded stacks are plain text.
#[cfg(not(feature = "formats"))]
pub(super) fn is_stacks(_: &str) -> bool {
    false
}

/// Returns `false`: without the feature, folded stacks are plain text.
#[cfg(not(feature = "formats"))]
pub(super) fn is_any_folded(_: &str) -> bool {
    false
}

/// Matches `foo;bar 100 region=us,trace_id=0x01 1687841528000000`, split as the reader does.
#[cfg(feature = "formats")]
pub(super) fn is_extended_folded(text: &str) -> bool {
    let has_attributes = |line: &str| is_extended(line.trim_end().as_bytes());
    let has_number = |line: &str| counted(line).is_some() || line.split(' ').skip(1).any(is_digits);
    stacks(text).any(has_attributes)
        && stacks(text).all(|line| has_attributes(line) || has_number(line))
}

/// Returns the stack of a folded line if a number follows it.
fn counted(line: &str) -> Option<&str> {
    let (stack, count) = line.trim_end().rsplit_once([' ', '\t'])?;
    let is_count = count.parse::<f64>().is_ok() && !count.starts_with(|c: char| c.is_alphabetic());
    (is_count && !stack.trim().is_empty()).then_some(stack)
}

/// Iterates over the lines of folded stacks, except comments and an unfinished last line.
#[cfg(feature = "formats")]
fn stacks(text: &str) -> impl Iterator<Item = &str> {
    let whole = text.rfind('\n').map_or(text, |end| text.get(..end).unwrap_or(text));
    lines(whole).filter(|line| !is_comment(line.trim_end().as_bytes()))
}

/// Iterates over lines that are not blank.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim().is_empty())
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
