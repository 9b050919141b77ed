//! The lines below that of an event: where they end, and the frames they say.
//!
//! perf ends an event with an empty line, but pipes and editors lose them: so a line that begins
//! another event ends the block as well.

use crate::error::Result;
use crate::format::assembly::Named;
use crate::format::intake::Intake;
use crate::format::lines::{Lines, first_line, kept, lines};
use crate::format::perf::event::{Event, is_record};
use crate::format::perf::frame::{Frame, source};

/// The lines below that of an event.
///
/// Also the key by which a stack is found again: most events have lines that were met before, and
/// these are not taken apart a second time.
pub(super) struct Block<'a> {
    /// All lines, as they are.
    pub(super) text: &'a [u8],
    /// The number of the first.
    pub(super) number: usize,
}

impl<'a> Block<'a> {
    /// Takes the lines up to an empty one or another event. Frames are indented by a tab, but where tabs were
    /// lost on the way.
    ///
    /// Leaves `lines` behind the block, at the empty line or the next event. Linear in the block.
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

    /// The frames, of which that of the event's own line is the first, and whether all could be read.
    ///
    /// # Errors
    ///
    /// Under `Policy::Refuse` a line that is no frame; a stack past `max_stack_depth`.
    pub(super) fn frames(
        &self,
        event: &Event<'a>,
        intake: &mut Intake,
    ) -> Result<(Vec<Framed<'a>>, bool)> {
        let (mut frames, mut is_whole) = (Vec::new(), true);
        if let Some((frame, _)) = Frame::alone(event.trace) {
            push(frame, &mut frames, intake)?;
        }
        for (number, line) in lines(self.text) {
            let added = add(line, &mut frames, intake);
            is_whole &= kept(added, self.number + number - 1, intake)?.is_some();
        }
        Ok((frames, is_whole))
    }
}

/// A frame, and the functions inlined into it, innermost first.
///
/// One frame of the machine: perf prints each inlined function as a line of its own with the same
/// address.
pub(super) struct Framed<'a> {
    /// As it is printed.
    pub(super) address: u64,
    /// Of the outermost function, the only one whose line says it; empty where perf knows none.
    pub(super) binary: &'a [u8],
    /// Empty where the symbol is unknown.
    pub(super) lines: Vec<Named<'a>>,
    /// Whether the next frame is what these functions were inlined into.
    open: bool,
}

impl<'a> Framed<'a> {
    /// A frame of which only the address is known.
    pub(super) fn at(address: u64) -> Self {
        Self { address, binary: b"", lines: Vec::new(), open: false }
    }

    /// Sets the function of a frame without inlined ones.
    pub(super) fn name(&mut self, name: &'a [u8]) {
        self.lines.clear();
        self.lines.extend((!name.is_empty()).then(|| Named { name, ..Named::default() }));
    }

    /// Whether code is the kernel's, by the name that perf has for where it is from: the kernel itself, or
    /// a module, which distributions compress. A module without a file, as `[ext4]`, is known by its address:
    /// the upper half is the kernel's, but for a page of the user's there.
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

/// Adds what a line below an event says.
///
/// A line of `-F srcline` belongs to the frame above it, and to the last function of that.
fn add<'a>(line: &'a [u8], frames: &mut Vec<Framed<'a>>, intake: &Intake) -> Result<()> {
    // The lines of sources are indented by blanks.
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
    push(Frame::of(line)?, frames, intake)
}

/// Adds a frame, or a line to the last one that functions are inlined into.
///
/// Joins by address only where the frame before said that it is inlined: recursion repeats
/// addresses, too.
fn push<'a>(frame: Frame<'a>, frames: &mut Vec<Framed<'a>>, intake: &Intake) -> Result<()> {
    let Frame { address, symbol, binary, inlined: open } = frame;
    let line = (!symbol.is_empty()).then(|| Named { name: symbol, ..Named::default() });
    let binary = binary.unwrap_or_default();
    if let Some(last) = frames.last_mut().filter(|last| last.open && last.address == address) {
        last.lines.extend(line);
        (last.binary, last.open) = (binary, open);
        return Ok(());
    }
    intake.check_depth(frames.len() + 1)?;
    frames.push(Framed { address, binary, lines: line.into_iter().collect(), open });
    Ok(())
}
