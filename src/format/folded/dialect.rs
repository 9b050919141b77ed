//! What frames say besides names, where somebody says that they do.
//!
//! ```text
//! py-spy   process 27418:"python app.py";thread (27418): t-json;dumps (json/__init__.py:231)
//! austin   P28897;T0:28897;app.py:<module>:12;app.py:main:8
//! plain    main_[k];copy_user_[k];helper_[i]          annotations of perf's stackcollapse script
//! ```
//!
//! Nothing in a line says which tool wrote it, and `a (b:1)` may be a name: so a dialect is an
//! option. If it then fits nothing, that is an error ([`check`]), as its values would be misread as
//! well.

use crate::error::{Error, ErrorKind, Result};
use crate::format::assembly::Named;
use crate::format::lines::{is_int, open_parenthesis};
use crate::format::source::Dialect;

/// A frame of a folded stack.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Frame<'a> {
    /// Name, file and line; slices of the text.
    pub(crate) named: Named<'a>,
    /// `profile.frame.type`; empty where the frame does not say.
    pub(crate) kind: &'static str,
    /// Whether it was inlined into the frame before it.
    pub(crate) inlined: bool,
}

/// What the first frames of a stack say of where it was taken.
///
/// It is the same for all frames behind, so it goes to resource and sample, not into the stack.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Origin<'a> {
    /// `process.pid`: each process has a resource of its own.
    pub(crate) process: Option<u64>,
    /// `process.command_line`, without its quotes.
    pub(crate) command: &'a [u8],
    /// `thread.id`: as the tool says it, which may be an address (`0x7f…`) of pthreads.
    pub(crate) thread: Option<u64>,
    /// `thread.name`; empty where it has none.
    pub(crate) thread_name: &'a [u8],
}

/// What a frame without a name is called.
///
/// Flame graph tools have this name, too, for frames that perf has no symbol for.
pub(crate) const UNKNOWN: &[u8] = b"[unknown]";

/// Takes what is no frame off the beginning of a stack.
///
/// Ends at the first frame that is none of it, so a function that is called `process 1:x` further
/// on is a frame. The rest is empty where the stack has nothing else.
pub(crate) fn origin<'a>(stack: &'a [u8], dialect: Option<Dialect>) -> (Origin<'a>, &'a [u8]) {
    let mut origin = Origin::default();
    let mut rest = stack;
    while let Some(dialect) = dialect {
        // A command may have a `;` before the quote that closes it.
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
    /// `process 27418:"python app.py"`, `thread (27418): t-json`.
    ///
    /// Of child processes py-spy writes the parents as well, the outermost first: the last is the
    /// one that was sampled.
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

    /// `P28897`, `T0:28897`: an interpreter's thread.
    ///
    /// Each once: behind them, a function whose file is called `P1` is a frame.
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

/// Whether a stack begins with a process and its command in quotes.
fn is_command(stack: &[u8]) -> bool {
    let behind = stack.strip_prefix(b"process ").and_then(|rest| split_once(rest, b":"));
    behind.is_some_and(|(pid, command)| number(pid).is_some() && command.starts_with(b"\""))
}

/// A frame, by its text.
///
/// Annotations come off first, so that what a dialect has at the end of a name is found.
pub(crate) fn frame(text: &[u8], dialect: Option<Dialect>, annotations: bool) -> Frame<'_> {
    let mut frame = Frame { named: Named { name: text, ..Named::default() }, ..Frame::default() };
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

/// `name (file.py:28)`, `name (libc.so.6)`.
///
/// The last parenthesis that is open at the end, as names of native functions have some of their own, and so have those
/// of folders. Without a number behind a colon all of it is the file, and the line is unknown.
fn py_spy(named: &mut Named) {
    let Some(rest) = named.name.strip_suffix(b")") else { return };
    let Some((name, file)) = open_parenthesis(rest) else { return };
    let Some(name) = name.strip_suffix(b" ") else { return };
    let split = file.iter().rposition(|byte| *byte == b':');
    let line = split.and_then(|at| Some((&file[..at], line(&file[at + 1..])?)));
    (named.file, named.line) = line.unwrap_or((file, 0));
    named.name = name;
}

/// `file.py:name:28`
///
/// From the end, as the path of a file may have colons: `C:\app.py:main:28`.
fn austin(named: &mut Named) {
    let text = named.name;
    let Some(last) = text.iter().rposition(|byte| *byte == b':') else { return };
    let Some(line) = line(&text[last + 1..]) else { return };
    let Some(first) = text[..last].iter().rposition(|byte| *byte == b':') else { return };
    *named = Named { name: &text[first + 1..last], file: &text[..first], line, column: 0 };
}

/// `Ok` unless nothing that was read is of the dialect: then values would be taken for what they are not.
pub(crate) fn check(dialect: Option<Dialect>, fits: bool) -> Result<()> {
    let Some(dialect) = dialect.filter(|_| !fits) else { return Ok(()) };
    let name = dialect.name();
    let message = format!(
        "dialect {name} matches no stack of the file: drop the option, or choose another dialect"
    );
    Err(Error::new(ErrorKind::InvalidOption, message))
}

/// The number of a line, of digits alone.
///
/// Not a sign, nor more than 64 bits.
fn line(digits: &[u8]) -> Option<i64> {
    std::str::from_utf8(digits).ok().filter(|_| is_int(digits))?.parse().ok()
}

/// The number of a process or a thread; some systems name threads by an address.
fn number(digits: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(digits).ok()?;
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok().filter(|_| is_int(digits)),
    }
}

/// What is before the first `by` and behind it.
fn split_once<'a>(text: &'a [u8], by: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = text.windows(by.len()).position(|window| window == by)?;
    Some((&text[..at], &text[at + by.len()..]))
}
