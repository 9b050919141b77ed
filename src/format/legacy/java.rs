//! Reads Java's profiles of heaps and of waits for locks. A stack is a list of symbol numbers, whose names
//! follow the samples.
//!
//! ```text
//! --- heapz 1 ---
//! format = java
//! resolution = bytes
//! 7048 1 @ 0x00000003 0x00000004          amount, count, symbol numbers
//!  0x00000003 com.example.Server.run (Server.java:39)
//!  0x00000004 com.example.Server.main (Server.java:12)
//! ```
//!
//! The JVM moves its code, so there are no addresses. Symbol numbers have no meaning outside the file.

use crate::error::{Error, Result};
use crate::format::assembly::FrameName;
use crate::format::legacy::heap::unsampled;
use crate::format::legacy::stacks::{
    Stacks, address, at_sign, nanos_of_millis, numbers, setting, times,
};
use crate::format::lines::{hex, int, kept, lines, shown};
use crate::model::Profiles;
use crate::model::value::Value;
use crate::read_context::ReadContext;

/// The settings in the first lines.
struct Header {
    /// Whether samples hold bytes and objects, and not delays and contentions.
    is_heap: bool,
    /// The unit of bytes or delays, which becomes the unit of the sample type.
    resolution: String,
    /// The sampling period of contentions, or 0 if unset.
    period: i64,
    /// The duration of a contention profile, or 0 if unset.
    duration_nanos: i64,
}

/// The mean number of bytes between two samples of a heap.
///
/// The file does not contain it. Go's pprof uses the same constant.
const HEAP_RATE: i64 = 512 << 10;

/// Returns whether the lines before the first sample have settings that only Java writes.
pub(super) fn is_java(text: &[u8]) -> bool {
    let before = lines(text).map(|(_, line)| line).take_while(|line| at_sign(line).is_none());
    let mut settings = before.filter_map(setting);
    settings.any(|(name, _)| name == b"format" || name == b"resolution")
}

/// Reads a heap or contention profile of Java, such as `--- heapz 1 ---`, with symbols in the file.
pub(super) fn read(text: &[u8], cx: &mut ReadContext) -> Result<Profiles> {
    let mut stacks = Stacks::symbols(lines(text).filter_map(|(_, line)| symbol(line)), cx)?;
    let (mut header, mut is_begun) = (None, false);
    for (number, line) in lines(text) {
        let line = line.trim_ascii();
        if line.is_empty() || symbol(line).is_some() {
            continue;
        }
        let taken = match (&mut header, at_sign(line)) {
            (None, _) => {
                header = Some(Header::of(line));
                Ok(())
            }
            (Some(header), Some((counts, stack))) => {
                is_begun = true;
                sample(counts, stack, header, &mut stacks, cx)
            }
            (Some(header), None) if !is_begun => header.parse_setting(line),
            // After the samples, skip lines that name no symbol, as Go does.
            (Some(_), None) => Ok(()),
        };
        kept(taken, number, cx)?;
    }
    let header = header.unwrap_or_else(|| Header::of(b""));
    let unit = &header.resolution[..];
    match header.is_heap {
        true => {
            let types = [("inuse_objects", "count"), ("inuse_space", unit)];
            stacks.finish(&types, (("", ""), 0), 0, cx)
        }
        false => {
            let types = [("contentions", "count"), ("delay", unit)];
            stacks.finish(&types, (types[0], header.period), header.duration_nanos, cx)
        }
    }
}

impl Header {
    /// Returns the defaults for the kind in the first line.
    fn of(line: &[u8]) -> Self {
        let is_heap = line.starts_with(b"--- heapz");
        let resolution = if is_heap { "bytes" } else { "nanoseconds" }.to_owned();
        Self { is_heap, resolution, period: 0, duration_nanos: 0 }
    }

    /// Parses a setting.
    ///
    /// # Errors
    ///
    /// An unknown name, or a format other than `java`.
    fn parse_setting(&mut self, line: &[u8]) -> Result<()> {
        let wrong = || {
            Error::malformed(format!("expected a sample or `NAME = VALUE`, found {}", shown(line)))
        };
        let (name, value) = setting(line).ok_or_else(wrong)?;
        match name {
            b"format" if value == b"java" => {}
            b"resolution" => self.resolution = String::from_utf8_lossy(value).into_owned(),
            b"sampling period" if !self.is_heap => self.period = int(value)?,
            b"ms since reset" if !self.is_heap => self.duration_nanos = nanos_of_millis(value)?,
            _ => return Err(wrong()),
        }
        Ok(())
    }
}

/// Adds the sample `7048 1 @ 0x3 0x4`: bytes or a delay, and a count.
///
/// # Errors
///
/// Bytes in 0 objects, not exactly two numbers, or a symbol that is not a number.
fn sample(
    counts: &[u8],
    stack: &[u8],
    header: &Header,
    stacks: &mut Stacks,
    cx: &mut ReadContext,
) -> Result<()> {
    let [amount, count] = numbers(counts)?[..] else {
        return Err(Error::malformed("a sample needs two numbers: an amount and a count"));
    };
    let words = stack.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let symbols = words.map(address).collect::<Result<Vec<u64>>>()?;
    let stack = stacks.stack(&symbols, cx)?;
    if header.is_heap {
        let Some(block) = amount.checked_div(count) else {
            return Err(Error::malformed(format!("the sample has {amount} bytes in 0 objects")));
        };
        let (objects, bytes) = unsampled(count, amount, HEAP_RATE)?;
        let block = stacks.assembly.attribute(b"bytes", Value::Int(block))?;
        return stacks.sample(stack, &[block], &[objects, bytes], cx);
    }
    let period = if header.period == 0 { 1 } else { header.period };
    let [count, amount] = [times(count, period)?, times(amount, period)?];
    stacks.sample(stack, &[], &[count, amount], cx)
}

/// Parses a symbol: `0x3a com.example.Server.run (Server.java:39)`.
///
/// ```text
/// 0x5 memcpy (/usr/lib/jvm/libjvm.so)     a library: its name without the path, no line
/// 0x4 GC                                  only a name
/// 0x6 generated stub/JIT of 4             STUB
/// ```
///
/// Returns `None` for any other line.
pub(super) fn symbol(line: &[u8]) -> Option<(u64, FrameName<'_>)> {
    let rest = line.trim_ascii().strip_prefix(b"0x")?;
    let end = rest.iter().position(u8::is_ascii_whitespace)?;
    let (number, text) = (hex(rest.get(..end)?)?, rest.get(end..)?.trim_ascii());
    let placed = text.strip_suffix(b")").and_then(|text| {
        let at = text.windows(2).rposition(|pair| pair == b" (")?;
        Some((text.get(..at)?.trim_ascii(), text.get(at + 2..)?))
    });
    let Some((name, place)) = placed else {
        let is_stub = text.windows(18).any(|part| part == b"generated stub/JIT");
        let name = if is_stub { b"STUB" } else { text };
        return (!name.is_empty()).then_some((number, FrameName { name, ..FrameName::default() }));
    };
    let colon = place.iter().rposition(|byte| *byte == b':');
    let line = colon.and_then(|at| Some((place.get(..at)?, int(place.get(at + 1..)?).ok()?)));
    let named = match line {
        Some((file, line)) => FrameName { name, file, line: line.max(0), column: 0 },
        // Of a library, keep only the file name.
        None => {
            let file = place.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            FrameName { name, file, ..FrameName::default() }
        }
    };
    Some((number, named))
}
