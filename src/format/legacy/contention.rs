//! Reads profiles of waits for locks.
//!
//! ```text
//! --- contention:
//! cycles/second=2596140530
//! sampling period=1
//! 3312481068 1 @ 0x4692d2 0x4bbdd3        cycles, count, addresses
//! ```
//!
//! The profiler recorded one contention in `sampling period`, so both numbers are multiplied by it.

use crate::error::{Error, Result};
use crate::format::legacy::mappings::is_heading;
use crate::format::legacy::stacks::{
    Stacks, addresses, at_sign, cut, nanos_of_millis, numbers, setting, times,
};
use crate::format::lines::{int, kept, lines, shown};
use crate::losses::LEFT_OUT;
use crate::model::Profiles;
use crate::read_context::ReadContext;

/// The settings in the lines before the samples.
struct Header {
    /// Cycles per second, or 0 if unset: delays are then in nanoseconds.
    cycles_per_second: i64,
    /// The sampling period, or 1 if unset. At 0 and below, values are not scaled, as in Go.
    period: i64,
    /// The time since the counters were reset, which the file has in milliseconds.
    duration_nanos: i64,
}

/// Reads a profile of locks: `--- contentionz`, or Go's `block` and `mutex`. Delays are in cycles, whose
/// length is in the header.
pub(super) fn read(text: &[u8], cx: &mut ReadContext) -> Result<Profiles> {
    let mut stacks = Stacks::of(text, cx)?;
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
            None => header.parse_setting(line, cx),
            Some((counts, stack)) => sample(counts, stack, &header, &mut stacks, cx),
        };
        kept(taken, number, cx)?;
    }
    let types = [("contentions", "count"), ("delay", "nanoseconds")];
    let Header { period, duration_nanos, .. } = header;
    stacks.finish(&types, (types[0], period), duration_nanos, cx)
}

impl Header {
    /// Parses a setting: `cycles/second=2596140530`.
    ///
    /// # Errors
    ///
    /// An unknown name: the line may be a sample without its addresses.
    fn parse_setting(&mut self, line: &[u8], cx: &mut ReadContext) -> Result<()> {
        let wrong = || {
            Error::malformed(format!("expected a sample or `NAME = NUMBER`, found {}", shown(line)))
        };
        let (name, value) = setting(line).ok_or_else(wrong)?;
        match name {
            b"cycles/second" => self.cycles_per_second = int(value)?,
            b"sampling period" => self.period = int(value)?,
            b"ms since reset" => self.duration_nanos = nanos_of_millis(value)?,
            b"discarded samples" if int(value)? == 0 => {}
            b"discarded samples" => {
                let message = || format!("the profiler discarded {} samples", shown(value));
                cx.note(LEFT_OUT, String::new, message);
            }
            _ => return Err(wrong()),
        }
        Ok(())
    }
}

/// Adds the sample `3312481068 1 @ 0x4692d2 0x4bbdd3`: cycles and a count.
///
/// Computes with doubles as Go does, so that both give the same delay. More than 64 bits are an error.
fn sample(
    counts: &[u8],
    stack: &[u8],
    header: &Header,
    stacks: &mut Stacks,
    cx: &mut ReadContext,
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
    let stack = stacks.stack(&stack, cx)?;
    stacks.sample(stack, &[], &[contentions, nanos], cx)
}
