//! Reads the stacks of all threads, as servers with gperftools list them.
//!
//! ```text
//! --- Thread 7f794ab90940 (name: main/14748) stack: ---
//!   PC:  0x20: f(arg *)        the leaf, then return addresses, on any number of lines
//!   0x20: g
//! --- Thread 7f7949b8e700 (name: worker/14751) stack: ---
//!   [same as previous thread]
//! ```
//!
//! Names of threads are dropped, as in Go: the profile counts the threads at each stack.

use crate::error::{Error, Result};
use crate::format::legacy::mappings::is_heading;
use crate::format::legacy::stacks::{Stacks, address, without_repeated_leaf};
use crate::format::lines::{kept, lines, shown};
use crate::model::Profiles;
use crate::read_context::ReadContext;

/// Reads `--- Thread 7f794ab90940 (name: main/14748) stack: ---` and the addresses after it.
///
/// # Errors
///
/// An address precedes the first thread, or is not a number.
pub(super) fn read(text: &[u8], cx: &mut ReadContext) -> Result<Profiles> {
    let mut reader = Reader { stacks: Stacks::of(text, cx)?, addresses: Vec::new(), at: None };
    for (number, line) in lines(text) {
        let line = line.trim_ascii();
        if is_heading(line) || line.starts_with(b"---- no stack trace for") {
            break;
        }
        let taken = reader.line(line, number, cx);
        kept(taken, number, cx)?;
    }
    reader.end(cx)?;
    let kind = ("thread", "count");
    reader.stacks.finish(&[kind], (kind, 1), 0, cx)
}

/// Reads lines of threads. The stack of a thread follows the line that names it.
struct Reader {
    stacks: Stacks,
    /// The addresses of the current thread.
    addresses: Vec<u64>,
    /// The line that began it, or `None` before the first thread and after a thread without separate
    /// addresses.
    at: Option<usize>,
}

impl Reader {
    /// Reads a line. Every word that begins with `0x` is an address.
    fn line(&mut self, line: &[u8], number: usize, cx: &mut ReadContext) -> Result<()> {
        if line.starts_with(b"--- threadz ") || line.is_empty() || line.starts_with(b"#") {
            return Ok(());
        }
        if line.starts_with(b"--- Thread ") {
            self.end(cx)?;
            self.at = Some(number);
            return Ok(());
        }
        if self.at.is_none() {
            return Err(Error::malformed(format!("{} is before the first thread", shown(line))));
        }
        if line.windows(23).any(|part| part == b"same as previous thread") {
            self.at = None;
            return self.stacks.again();
        }
        for word in line.split(|byte| b" \t:,".contains(byte)) {
            if word.starts_with(b"0x") {
                cx.check_depth(self.addresses.len() + 1)?;
                // The leaf is the program counter; all other addresses are return addresses.
                let is_call = u64::from(!self.addresses.is_empty());
                self.addresses.push(address(word)?.saturating_sub(is_call));
            }
        }
        Ok(())
    }

    /// Adds the sample of the current thread.
    fn end(&mut self, cx: &mut ReadContext) -> Result<()> {
        let addresses = std::mem::take(&mut self.addresses);
        if self.at.take().is_none() || addresses.is_empty() {
            return Ok(());
        }
        let stack = self.stacks.stack(&without_repeated_leaf(addresses), cx)?;
        self.stacks.sample(stack, &[], &[1], cx)
    }
}
