//! What waited for locks, and for how long.
//!
//! ```text
//! --- contention:
//! cycles/second=2596140530
//! sampling period=1
//! 3312481068 1 @ 0x4692d2 0x4bbdd3        cycles, how often, where
//! ```
//!
//! One contention in `sampling period` was recorded, so both numbers are multiplied by it.

use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::format::legacy::mappings::is_heading;
use crate::format::legacy::stacks::{
    Stacks, addresses, at_sign, cut, nanos_of_millis, numbers, said, times,
};
use crate::format::lines::{int, kept, lines, shown};
use crate::format::losses::LEFT_OUT;
use crate::model::Profiles;

/// What the lines before the samples say.
struct Header {
    /// 0 where nobody says it: then delays are nanoseconds already.
    cycles_per_second: i64,
    /// 1 where nobody says it; at 0 and below nothing is scaled, as in Go.
    period: i64,
    /// Said in milliseconds since the counters were reset.
    duration_nanos: i64,
}

/// Reads a profile of locks: `--- contentionz`, Go's `block` and `mutex`. Delays are in cycles, which the header says
/// the length of.
pub(super) fn read(text: &[u8], intake: &mut Intake) -> Result<Profiles> {
    let mut stacks = Stacks::of(text, intake)?;
    let mut header = Header { cycles_per_second: 0, period: 1, duration_nanos: 0 };
    for (number, line) in lines(text) {
        if is_heading(line) {
            break;
        }
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") || line.starts_with(b"---") {
            continue;
        }
        let taken = match at_sign(line) {
            None => header.say(line, intake),
            Some((counts, stack)) => sample(counts, stack, &header, &mut stacks, intake),
        };
        kept(taken, number, intake)?;
    }
    let types = [("contentions", "count"), ("delay", "nanoseconds")];
    let Header { period, duration_nanos, .. } = header;
    stacks.finish(&types, (types[0], period), duration_nanos, intake)
}

impl Header {
    /// `cycles/second=2596140530`
    ///
    /// # Errors
    ///
    /// A name that no such header has: it may be a sample that lost its addresses.
    fn say(&mut self, line: &[u8], intake: &mut Intake) -> Result<()> {
        let wrong = || {
            Error::malformed(format!("expected a sample or `NAME = NUMBER`, found {}", shown(line)))
        };
        let (name, value) = said(line).ok_or_else(wrong)?;
        match name {
            b"cycles/second" => self.cycles_per_second = int(value)?,
            b"sampling period" => self.period = int(value)?,
            b"ms since reset" => self.duration_nanos = nanos_of_millis(value)?,
            b"discarded samples" if int(value)? == 0 => {}
            b"discarded samples" => {
                let said = || format!("the profiler discarded {} samples", shown(value));
                intake.note(LEFT_OUT, String::new, said);
            }
            _ => return Err(wrong()),
        }
        Ok(())
    }
}

/// `3312481068 1 @ 0x4692d2 0x4bbdd3`: cycles, and how often.
///
/// Doubles as in Go, so that a delay is the same number in both; past 64 bits it is an error.
fn sample(
    counts: &[u8],
    stack: &[u8],
    header: &Header,
    stacks: &mut Stacks,
    intake: &mut Intake,
) -> Result<()> {
    let [delay, count] = numbers(counts)?[..] else {
        return Err(Error::malformed("a sample needs two numbers: a delay and a count"));
    };
    let &Header { period, cycles_per_second, .. } = header;
    let (mut nanos, mut contentions) = (delay, count);
    if period > 0 {
        if cycles_per_second > 0 {
            let per_nano = cycles_per_second as f64 / 1e9;
            nanos = cut(delay as f64 * period as f64 / per_nano)?;
        }
        contentions = times(count, period)?;
    }
    let stack = addresses(stack)?;
    let stack = stacks.stack(&stack, intake)?;
    stacks.sample(stack, &[], &[contentions, nanos], intake)
}
