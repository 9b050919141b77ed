//! Splits off the lines after the first line of an event, and parses their frames.
//!
//! perf ends an event with an empty line, but pipes and editors may remove it. So a line that begins another
//! event ends the block, too.

use crate::error::Result;
use crate::format::assembly::FrameName;
use crate::format::lines::{Lines, first_line, kept, lines};
use crate::format::perf::event::{Event, is_record};
use crate::format::perf::frame::{Frame, source};
use crate::read_context::ReadContext;

/// The lines after the first line of an event.
///
/// Their text is also the key of the stack: most events repeat known lines, which are not parsed again.
pub(super) struct Block<'a> {
    /// All lines, unchanged.
    pub(super) text: &'a [u8],
    /// The number of the first line.
    pub(super) number: usize,
}

impl<'a> Block<'a> {
    /// Takes the lines up to an empty one or another event. Frames are indented by a tab, unless tabs were
    /// lost.
    ///
    /// Moves `lines` to the empty line or the next event. Takes linear time.
    pub(super) fn of(lines: &mut Lines<'a>) -> Self {
        let (text, number) = (lines.rest, lines.number);
        while let Some((line, after)) = first_line(lines.rest) {
            let is_of_event = match line {
                [b'\t', ..] => !line.trim_ascii().is_empty(),
                [] | [b'#', ..] => false,
                [b' ', ..] => {
                    !line.trim_ascii().is_empty() && !Event::begins(line) && !is_record(line)
                }
                _ => Frame::parse(line).is_some() && !Event::begins(line),
            };
            if !is_of_event {
                break;
            }
            (lines.rest, lines.number) = (after, lines.number + 1);
        }
        let text = text.get(..text.len() - lines.rest.len()).unwrap_or_default();
        Self { text, number }
    }

    /// Parses the frames. A frame on the event's line is the first. Also returns whether all lines were
    /// valid.
    ///
    /// # Errors
    ///
    /// Under `Policy::Refuse`, a line is not a frame. A stack exceeds `max_stack_depth`.
    pub(super) fn frames(
        &self,
        event: &Event<'a>,
        cx: &mut ReadContext,
    ) -> Result<(Vec<Framed<'a>>, bool)> {
        let (mut frames, mut is_whole) = (Vec::new(), true);
        if let Some((frame, _)) = Frame::alone(event.trace) {
            push(frame, &mut frames, cx)?;
        }
        for (number, line) in lines(self.text) {
            let added = add(line, &mut frames, cx);
            is_whole &= kept(added, self.number + number - 1, cx)?.is_some();
        }
        Ok((frames, is_whole))
    }
}

/// A frame with its inlined functions, innermost first.
///
/// It is one machine frame: perf prints each inlined function on a separate line with the same address.
pub(super) struct Framed<'a> {
    /// The address as printed.
    pub(super) address: u64,
    /// The binary, which only the line of the outermost function contains; empty if unknown.
    pub(super) binary: &'a [u8],
    /// The functions; empty if the symbol is unknown.
    pub(super) lines: Vec<FrameName<'a>>,
    /// Whether these functions were inlined into the next frame.
    open: bool,
}

impl<'a> Framed<'a> {
    /// Creates a frame with only an address.
    pub(super) fn at(address: u64) -> Self {
        Self { address, binary: b"", lines: Vec::new(), open: false }
    }

    /// Sets the function of a frame without inlined functions.
    pub(super) fn name(&mut self, name: &'a [u8]) {
        self.lines.clear();
        self.lines.extend((!name.is_empty()).then(|| FrameName { name, ..FrameName::default() }));
    }

    /// Returns whether the code is the kernel's, by the name of its binary: the kernel or a module, which
    /// distributions compress. A module without a file, such as `[ext4]`, is recognised by its address: the
    /// upper half belongs to the kernel, except for the vsyscall page.
    pub(super) fn is_kernel(&self) -> bool {
        const MODULES: [&[u8]; 4] = [b".ko", b".ko.gz", b".ko.xz", b".ko.zst"];
        let binary = self.binary;
        let is_above = self.address >= 1 << 63 && binary != b"[vsyscall]";
        is_above && binary.starts_with(b"[")
            || binary.starts_with(b"[kernel")
            || binary.starts_with(b"[guest.kernel")
            || MODULES.iter().any(|ending| binary.ends_with(ending))
    }
}

/// Adds a line after an event.
///
/// A line of `-F srcline` belongs to the last function of the frame before it.
fn add<'a>(line: &'a [u8], frames: &mut Vec<Framed<'a>>, cx: &ReadContext) -> Result<()> {
    // Source lines are indented by spaces.
    if !line.starts_with(b"\t")
        && let Some(last) = frames.last_mut()
        && Frame::parse(line).is_none()
    {
        if let Some((file, number)) = source(line)
            && let Some(own) = last.lines.last_mut()
        {
            (own.file, own.line) = (file, number);
        }
        last.open |= line.ends_with(b"(inlined)");
        return Ok(());
    }
    push(Frame::of(line)?, frames, cx)
}

/// Adds a frame, or a function to the last frame if that is inlined.
///
/// Joins equal addresses only if the previous line is marked as inlined, because recursion repeats addresses
/// as well.
fn push<'a>(frame: Frame<'a>, frames: &mut Vec<Framed<'a>>, cx: &ReadContext) -> Result<()> {
    let Frame { address, symbol, binary, inlined: open } = frame;
    let line = (!symbol.is_empty()).then(|| FrameName { name: symbol, ..FrameName::default() });
    let binary = binary.unwrap_or_default();
    if let Some(last) = frames.last_mut().filter(|last| last.open && last.address == address) {
        last.lines.extend(line);
        (last.binary, last.open) = (binary, open);
        return Ok(());
    }
    cx.check_depth(frames.len() + 1)?;
    frames.push(Framed { address, binary, lines: line.into_iter().collect(), open });
    Ok(())
}
