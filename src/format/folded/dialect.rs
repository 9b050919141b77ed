//! Parses the data that some tools put into frames besides names, if the caller names the dialect.
//!
//! ```text
//! py-spy   process 27418:"python app.py";thread (27418): t-json;dumps (json/__init__.py:231)
//! austin   P28897;T0:28897;app.py:<module>:12;app.py:main:8
//! plain    main_[k];copy_user_[k];helper_[i]          annotations of perf's stackcollapse script
//! ```
//!
//! A line does not reveal the tool that wrote it, and `a (b:1)` may be a name. So a dialect is an option. If
//! it fits no line, [`check`] returns an error, because the values would be misread as well.

use crate::error::{Error, ErrorKind, Result};
use crate::format::assembly::FrameName;
use crate::format::lines::{is_int, open_parenthesis};
use crate::source_options::Dialect;
use crate::wire::hex::hex_number;

/// A frame of a folded stack.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Frame<'a> {
    /// Name, file and line, as slices of the text.
    pub(crate) named: FrameName<'a>,
    /// The `profile.frame.type`, or empty if unknown.
    pub(crate) kind: &'static str,
    /// Whether the frame is inlined into the previous one.
    pub(crate) inlined: bool,
}

/// The process and thread of a stack, from its first pseudo-frames.
///
/// They apply to all frames that follow, so they become attributes of resource and sample, and not frames.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Origin<'a> {
    /// The `process.pid`. Each process has a separate resource.
    pub(crate) process: Option<u64>,
    /// The `process.command_line` without quotes.
    pub(crate) command: &'a [u8],
    /// The `thread.id` as the tool writes it. It may be an address of pthreads (`0x7f…`).
    pub(crate) thread: Option<u64>,
    /// The `thread.name`, or empty.
    pub(crate) thread_name: &'a [u8],
}

/// The name of a frame without one.
///
/// Flame graph tools also use this name for frames without a symbol in perf.
pub(crate) const UNKNOWN: &[u8] = b"[unknown]";

/// Splits the process and thread off the beginning of a stack.
///
/// Stops at the first real frame, so a later function named `process 1:x` is a frame. The rest is empty if
/// the stack has no frames.
pub(crate) fn origin<'a>(stack: &'a [u8], dialect: Option<Dialect>) -> (Origin<'a>, &'a [u8]) {
    let mut origin = Origin::default();
    let mut rest = stack;
    while let Some(dialect) = dialect {
        // A command may contain a `;` before its closing quote.
        let quote = match dialect {
            Dialect::PySpy if is_command(rest) => rest.windows(2).position(|pair| pair == b"\";"),
            _ => None,
        };
        let semicolon = || rest.iter().position(|byte| *byte == b';');
        let end = quote.map(|quote| quote + 1).or_else(semicolon);
        let (first, after) = rest.split_at(end.unwrap_or(rest.len()));
        let known = match dialect {
            Dialect::PySpy => origin.py_spy(first),
            Dialect::Austin => origin.austin(first),
        };
        if known.is_none() {
            break;
        }
        rest = after.strip_prefix(b";").unwrap_or(after);
        if after.is_empty() {
            break;
        }
    }
    (origin, rest)
}

impl<'a> Origin<'a> {
    /// Parses `process 27418:"python app.py"` and `thread (27418): t-json`.
    ///
    /// For child processes, py-spy also writes the parents, outermost first. The last one is the sampled
    /// process.
    fn py_spy(&mut self, frame: &'a [u8]) -> Option<()> {
        if let Some(rest) = frame.strip_prefix(b"process ") {
            let (pid, command) = split_once(rest, b":")?;
            self.process = Some(number(pid)?);
            self.command = command.strip_prefix(b"\"").unwrap_or(command);
            self.command = self.command.strip_suffix(b"\"").unwrap_or(self.command);
            return Some(());
        }
        let rest = frame.strip_prefix(b"thread (")?;
        let (thread, name) = split_once(rest, b")")?;
        self.thread = Some(number(thread)?);
        self.thread_name = name.strip_prefix(b": ").unwrap_or_default();
        Some(())
    }

    /// Parses `P28897` and `T0:28897`, a thread of an interpreter.
    ///
    /// Each may occur once: after that, a frame of a file named `P1` is a frame.
    fn austin(&mut self, frame: &'a [u8]) -> Option<()> {
        if let Some(pid) = frame.strip_prefix(b"P").filter(|_| self.process.is_none()) {
            self.process = Some(number(pid)?);
            return Some(());
        }
        let thread = frame.strip_prefix(b"T").filter(|_| self.thread.is_none())?;
        let thread = split_once(thread, b":").map_or(thread, |(_, thread)| thread);
        self.thread = Some(number(thread)?);
        Some(())
    }
}

/// Returns whether a stack begins with a process and its quoted command.
fn is_command(stack: &[u8]) -> bool {
    let behind = stack.strip_prefix(b"process ").and_then(|rest| split_once(rest, b":"));
    behind.is_some_and(|(pid, command)| number(pid).is_some() && command.starts_with(b"\""))
}

/// Parses a frame.
///
/// Strips annotations first, because the dialect's suffix precedes them.
pub(crate) fn frame(text: &[u8], dialect: Option<Dialect>, annotations: bool) -> Frame<'_> {
    let mut frame =
        Frame { named: FrameName { name: text, ..FrameName::default() }, ..Frame::default() };
    if annotations && let Some((name, ending)) = text.split_last_chunk::<4>() {
        let (kind, inlined) = match ending {
            b"_[k]" => ("kernel", false),
            b"_[j]" => ("jvm", false),
            b"_[i]" => ("", true),
            _ => ("", false),
        };
        if inlined || !kind.is_empty() {
            frame.named.name = name;
            (frame.kind, frame.inlined) = (kind, inlined);
        }
    }
    match dialect {
        Some(Dialect::PySpy) => py_spy(&mut frame.named),
        Some(Dialect::Austin) => austin(&mut frame.named),
        None => {}
    }
    if frame.named.name.is_empty() {
        frame.named.name = UNKNOWN;
    }
    frame
}

/// Parses `name (file.py:28)` and `name (libc.so.6)`.
///
/// Uses the last parenthesis that is unclosed before the final one, because names of native functions and of
/// directories may contain parentheses. Without a colon and a number, the whole text is the file and the line
/// is unknown.
fn py_spy(named: &mut FrameName) {
    let Some(rest) = named.name.strip_suffix(b")") else { return };
    let Some((name, file)) = open_parenthesis(rest) else { return };
    let Some(name) = name.strip_suffix(b" ") else { return };
    let split = file.iter().rposition(|byte| *byte == b':');
    let line = split.and_then(|at| Some((&file[..at], line(&file[at + 1..])?)));
    (named.file, named.line) = line.unwrap_or((file, 0));
    named.name = name;
}

/// Parses `file.py:name:28`.
///
/// Searches from the end, because a path may contain colons: `C:\app.py:main:28`.
fn austin(named: &mut FrameName) {
    let text = named.name;
    let Some(last) = text.iter().rposition(|byte| *byte == b':') else { return };
    let Some(line) = line(&text[last + 1..]) else { return };
    let Some(first) = text[..last].iter().rposition(|byte| *byte == b':') else { return };
    *named = FrameName { name: &text[first + 1..last], file: &text[..first], line, column: 0 };
}

/// Returns an error if no stack fits the dialect: values would then be misread.
pub(crate) fn check(dialect: Option<Dialect>, fits: bool) -> Result<()> {
    let Some(dialect) = dialect.filter(|_| !fits) else { return Ok(()) };
    let name = dialect.name();
    let message = format!(
        "dialect {name} matches no stack of the file: drop the option, or choose another dialect"
    );
    Err(Error::new(ErrorKind::InvalidOption, message))
}

/// Parses a line number: only digits, up to 64 bits, without a sign.
fn line(digits: &[u8]) -> Option<i64> {
    std::str::from_utf8(digits).ok().filter(|_| is_int(digits))?.parse().ok()
}

/// Parses the id of a process or a thread. Some systems identify threads by an address.
fn number(digits: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(digits).ok()?;
    match text.strip_prefix("0x") {
        Some(digits) => hex_number(digits.as_bytes()),
        None => text.parse().ok().filter(|_| is_int(digits)),
    }
}

/// Splits a text at the first `by`.
fn split_once<'a>(text: &'a [u8], by: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = text.windows(by.len()).position(|window| window == by)?;
    Some((&text[..at], &text[at + by.len()..]))
}
