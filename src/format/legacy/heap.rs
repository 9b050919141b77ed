//! Reads heap profiles of Go, gperftools and jemalloc, which writes stacks before numbers.
//!
//! ```text
//! heap profile: 1: 65536 [2: 131072] @ heap/524288     gperftools, Go: in use [allocated] @ KIND/RATE
//! 1: 65536 [2: 131072] @ 0x4bb7d6 0x4bbdf8
//!
//! heap_v2/524288                                       jemalloc
//! @ 0x55f718c9dd03 0x55f718c9d0a1
//!   t*: 1: 65536 [2: 131072]                           all threads, then each thread
//! ```
//!
//! Values are those of a sampling allocator; [`unsampled`] estimates the totals.

use crate::error::{Error, Result};
use crate::format::legacy::mappings::is_heading;
use crate::format::legacy::stacks::{Stacks, addresses, at_sign, cut, numbers};
use crate::format::lines::{int, kept, lines, shown};
use crate::model::Profiles;
use crate::model::value::Value;
use crate::read_context::ReadContext;

/// The prefix of jemalloc's messages, which share the standard error with the profile.
pub(super) const MESSAGE: &[u8] = b"<jemalloc>: ";

/// The sample types, named as in Go's heap profiles. Those in use are last, because viewers show the last
/// one.
const TYPES: [(&str, &str); 4] = [
    ("alloc_objects", "count"),
    ("alloc_space", "bytes"),
    ("inuse_objects", "count"),
    ("inuse_space", "bytes"),
];

/// The sample types without numbers of allocations.
const IN_USE: [(&str, &str); 2] = [("objects", "count"), ("space", "bytes")];

/// The settings in the first line.
struct Header {
    /// The mean number of bytes between two samples, or 1 if every allocation was recorded.
    rate: i64,
    /// The rate as the profile's period, in bytes.
    period: i64,
    /// Whether stacks precede their numbers on separate lines.
    jemalloc: bool,
    /// Whether allocations differ from what is in use.
    ///
    /// Only if the totals in the header differ does the profile have columns for allocations.
    has_allocated: bool,
}

impl Header {
    /// Parses the first line: counts, then a kind such as `heap/` or `heapz_v2/` with the rate after the
    /// slash.
    ///
    /// # Errors
    ///
    /// An unknown kind.
    fn of(line: &[u8]) -> Result<Self> {
        let wrong = || Error::malformed(format!("{} is not a heap profile", shown(line)));
        let (kind, jemalloc, has_allocated) = match line.strip_prefix(b"heap_v2/") {
            Some(_) => (line, true, true),
            None => {
                let (counts, kind) = at_sign(line).ok_or_else(wrong)?;
                let counts = counts.strip_prefix(b"heap profile:").ok_or_else(wrong)?;
                let [in_use, allocated] = pairs(&numbers(counts)?).map_err(|_| wrong())?;
                let is_other = |own, other| own != other && own != 0;
                let has_allocated =
                    is_other(allocated.0, in_use.0) || is_other(allocated.1, in_use.1);
                (kind.trim_ascii(), false, has_allocated)
            }
        };
        let slash = kind.iter().position(|byte| *byte == b'/').unwrap_or(kind.len());
        let (name, rate) = kind.split_at(slash);
        let rate = match rate.strip_prefix(b"/").unwrap_or_default() {
            [] => 1,
            rate => int(rate)?,
        };
        // Go writes twice the rate that its conversion uses.
        match name {
            b"heap" => Ok(Self { rate: rate / 2, period: rate / 2, jemalloc, has_allocated }),
            b"heap_v2" | b"heapz_v2" => Ok(Self { rate, period: rate, jemalloc, has_allocated }),
            b"heapprofile" => Ok(Self { rate: 1, period: 1, jemalloc, has_allocated }),
            // Growth of the heap and fragmentation: both have only numbers in use.
            b"growth" | b"growthz" | b"fragmentation" | b"fragmentationz" => {
                Ok(Self { rate: 1, period: 1, jemalloc, has_allocated: false })
            }
            _ => Err(wrong()),
        }
    }

    /// Returns the sample types: two if the file has only numbers in use. Also for files without samples.
    fn types(&self) -> &'static [(&'static str, &'static str)] {
        if self.has_allocated { &TYPES } else { &IN_USE }
    }
}

/// Parses objects and bytes, in use and allocated.
///
/// # Errors
///
/// There are not exactly four numbers.
fn pairs(numbers: &[i64]) -> Result<[(i64, i64); 2]> {
    match *numbers {
        [objects, bytes, all, all_bytes] => Ok([(objects, bytes), (all, all_bytes)]),
        _ => Err(Error::malformed("a sample needs two numbers in use and two allocated")),
    }
}

/// Reads a heap profile of gperftools, Go or jemalloc, and scales it by its rate.
pub(super) fn read(text: &[u8], cx: &mut ReadContext) -> Result<Profiles> {
    let mut stacks = Stacks::of(text, cx)?;
    let mut header = None;
    let mut pending = None;
    for (number, line) in lines(text) {
        if is_heading(line) {
            break;
        }
        let line = line.trim_ascii();
        let Some(header) = &header else {
            if !line.is_empty() && !line.starts_with(MESSAGE) {
                header = Some(Header::of(line).map_err(|error| error.in_line(number))?);
            }
            continue;
        };
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let taken = match header.jemalloc {
            true => jemalloc(line, header, &mut pending, &mut stacks, cx),
            false => sample(line, header, &mut stacks, cx),
        };
        kept(taken, number, cx)?;
    }
    let period = header.as_ref().map_or(0, |header| header.period);
    let types = header.as_ref().map_or(&IN_USE[..], Header::types);
    stacks.finish(types, (("space", "bytes"), period), 0, cx)
}

/// Adds the sample `281: 2301952 [281: 2301952] @ 0x4bb7d6 0x4bbdf8`.
///
/// # Errors
///
/// No `@`, an invalid address, or not exactly four numbers.
fn sample(line: &[u8], header: &Header, stacks: &mut Stacks, cx: &mut ReadContext) -> Result<()> {
    let Some((counts, addresses_of)) = at_sign(line) else {
        return Err(Error::malformed(format!(
            "expected a sample, `COUNT: BYTES [COUNT: BYTES] @ ADDRESSES`, found {}",
            shown(line)
        )));
    };
    let stack = addresses(addresses_of)?;
    let stack = stacks.stack(&stack, cx)?;
    add(counts, header, stack, stacks, cx)
}

/// Reads a line of jemalloc: `@ 0x55f718c9dd03 …`, then `t*: 1: 65536 [0: 0]` for all threads, then a line
/// for each.
///
/// `pending` is the stack whose numbers follow. Numbers of single threads are skipped, because the sum
/// contains them.
fn jemalloc(
    line: &[u8],
    header: &Header,
    pending: &mut Option<Vec<u64>>,
    stacks: &mut Stacks,
    cx: &mut ReadContext,
) -> Result<()> {
    if let Some(stack) = line.strip_prefix(b"@") {
        *pending = Some(addresses(stack)?);
        return Ok(());
    }
    let Some(counts) = line.strip_prefix(b"t*:") else {
        let is_thread = line.starts_with(b"t") && line.contains(&b':');
        return match is_thread {
            true => Ok(()),
            false => {
                Err(Error::malformed(format!("{} is not a stack or its numbers", shown(line))))
            }
        };
    };
    // Numbers before the first stack are the totals of all stacks.
    let Some(stack) = pending.take() else { return Ok(()) };
    let stack = stacks.stack(&stack, cx)?;
    add(counts, header, stack, stacks, cx)
}

/// Adds the sample `1: 65536 [2: 131072]`: in use, and allocated.
///
/// The mean size of the blocks becomes the label `bytes`, as in Go's pprof: samples with the same stack and
/// different sizes have different scaling factors.
fn add(
    counts: &[u8],
    header: &Header,
    stack: crate::model::id::StackId,
    stacks: &mut Stacks,
    cx: &mut ReadContext,
) -> Result<()> {
    let [in_use, allocated] = pairs(&numbers(counts)?)?;
    let mut values = [0; 4];
    let mut block = 0;
    for (at, (count, bytes)) in [(0, allocated), (2, in_use)] {
        if count == 0 && bytes != 0 {
            return Err(Error::malformed(format!("the sample has {bytes} bytes in 0 objects")));
        }
        if count != 0 {
            block = bytes.checked_div(count).unwrap_or_default();
            (values[at], values[at + 1]) = unsampled(count, bytes, header.rate)?;
        }
    }
    let values = &values[TYPES.len() - header.types().len()..];
    let block = stacks.assembly.attribute(b"bytes", Value::Int(block))?;
    stacks.sample(stack, &[block], values, cx)
}

/// Estimates the total from the values of a sampling allocator.
///
/// An allocator that samples one byte in `rate` records a block of `mean` bytes with the probability
/// `1 - e^(-mean/rate)`. So the recorded values are divided by it. Truncates instead of rounding, as Go does.
pub(super) fn unsampled(count: i64, bytes: i64, rate: i64) -> Result<(i64, i64)> {
    if rate <= 1 {
        return Ok((count, bytes));
    }
    if bytes == 0 {
        return Ok((0, 0));
    }
    let mean = bytes as f64 / count as f64;
    let scale = 1.0 / (1.0 - (-mean / rate as f64).exp());
    Ok((cut(count as f64 * scale)?, cut(bytes as f64 * scale)?))
}
