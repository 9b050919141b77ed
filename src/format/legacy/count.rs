//! What Go counts: goroutines, threads that were created.
//!
//! ```text
//! goroutine profile: total 9
//! 5 @ 0x437c96 0x40619b 0x4bb9e5          count, where
//! #    0x437c95    runtime.gopark+0xd5    /go/src/runtime/proc.go:398
//! ```
//!
//! The first word names the sample type. The total is not checked.

use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::format::legacy::mappings::is_heading;
use crate::format::legacy::stacks::{Stacks, addresses, at_sign, numbers};
use crate::format::lines::{kept, lines, shown};
use crate::model::Profiles;

/// Reads `goroutine profile: total 9` and what follows.
///
/// `first` is the line that says which profile it is; the caller has found it behind empty lines.
pub(super) fn read(text: &[u8], first: &[u8], intake: &mut Intake) -> Result<Profiles> {
    let mut stacks = Stacks::of(text, intake)?;
    let name = first.split(|byte| *byte == b' ').next().unwrap_or_default();
    let name = String::from_utf8_lossy(name).into_owned();
    let mut begun = false;
    for (number, line) in lines(text) {
        if is_heading(line) {
            break;
        }
        let line = line.trim_ascii();
        let is_first = !begun;
        begun |= !line.is_empty();
        if line.is_empty() || line.starts_with(b"#") || is_first {
            continue;
        }
        let taken = sample(line, &mut stacks, intake);
        kept(taken, number, intake)?;
    }
    let kind = (name.as_str(), "count");
    stacks.finish(&[kind], (kind, 1), 0, intake)
}

/// `5 @ 0x437c96 0x40619b`
fn sample(line: &[u8], stacks: &mut Stacks, intake: &mut Intake) -> Result<()> {
    let wrong = || Error::malformed(format!("{} is no sample: COUNT @ ADDRESSES", shown(line)));
    let (count, stack) = at_sign(line).ok_or_else(wrong)?;
    let [count] = numbers(count)?[..] else { return Err(wrong()) };
    let stack = addresses(stack)?;
    let stack = stacks.stack(&stack, intake)?;
    stacks.sample(stack, &[], &[count], intake)
}
