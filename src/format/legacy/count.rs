//! Reads Go's counts of goroutines and of created threads.
//!
//! ```text
//! goroutine profile: total 9
//! 5 @ 0x437c96 0x40619b 0x4bb9e5          count, addresses
//! # labels: {"endpoint":"/cart"}           labels of these goroutines, if any
//! #    0x437c95    runtime.gopark+0xd5    /go/src/runtime/proc.go:398
//! ```
//!
//! The first word of the first line names the sample type. The total is not checked.

use crate::error::{Error, Result};
use crate::format::legacy::labels::labels;
use crate::format::legacy::mappings::is_heading;
use crate::format::legacy::stacks::{Stacks, addresses, at_sign, numbers};
use crate::format::lines::{kept, lines, shown};
use crate::model::Profiles;
use crate::model::value::Value;
use crate::read_context::ReadContext;

/// Reads a profile that begins with `goroutine profile: total 9`.
///
/// `first` is that line, which may follow empty lines.
pub(super) fn read(text: &[u8], first: &[u8], cx: &mut ReadContext) -> Result<Profiles> {
    let mut stacks = Stacks::of(text, cx)?;
    let name = first.split(|byte| *byte == b' ').next().unwrap_or_default();
    let name = String::from_utf8_lossy(name).into_owned();
    let mut begun = false;
    let mut lines = lines(text).peekable();
    while let Some((number, line)) = lines.next() {
        if is_heading(line) {
            break;
        }
        let line = line.trim_ascii();
        let is_first = !begun;
        begun |= !line.is_empty();
        if line.is_empty() || line.starts_with(b"#") || is_first {
            continue;
        }
        let behind = lines.peek().map_or(&b""[..], |(_, line)| line.trim_ascii());
        let taken = sample(line, behind, &mut stacks, cx);
        kept(taken, number, cx)?;
    }
    let kind = (name.as_str(), "count");
    stacks.finish(&[kind], (kind, 1), 0, cx)
}

/// Adds the sample `5 @ 0x437c96 0x40619b`. The line after it (`behind`) may hold labels.
fn sample(line: &[u8], behind: &[u8], stacks: &mut Stacks, cx: &mut ReadContext) -> Result<()> {
    let wrong = || {
        Error::malformed(format!("expected a sample, `COUNT @ ADDRESSES`, found {}", shown(line)))
    };
    let (count, stack) = at_sign(line).ok_or_else(wrong)?;
    let [count] = numbers(count)?[..] else { return Err(wrong()) };
    let stack = addresses(stack)?;
    let stack = stacks.stack(&stack, cx)?;
    let labels = labels(behind)?;
    cx.charge_attributes(labels.len())?;
    let mut attributes = Vec::with_capacity(labels.len());
    for (key, value) in labels {
        let value = Value::String(stacks.assembly.text(&value)?);
        attributes.push(stacks.assembly.attribute(&key, value)?);
    }
    attributes.sort_unstable();
    stacks.sample(stack, &attributes, &[count], cx)
}
