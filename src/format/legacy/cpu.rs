//! Reads gperftools' CPU profiles: words of 4 or 8 bytes in either byte order, then mappings as text. Java's
//! profiles have names of symbols instead.
//!
//! ```text
//! header   0  3  0  PERIOD  0              PERIOD in microseconds; the third word is 1 for Java
//! record   COUNT  DEPTH  pc1 … pcDEPTH     leaf first
//! trailer  0  1  0
//! text     400000-500000 r-xp …            /proc/self/maps, or symbols for Java
//! ```
//!
//! The file declares neither word size nor byte order, so the reader tries the header in all four ways.

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::format::legacy::java::symbol;
use crate::format::legacy::stacks::{Stacks, without_repeated_leaf};
use crate::format::lines::lines;
use crate::losses;
use crate::model::Profiles;
use crate::read_context::ReadContext;

/// The encoding of words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    /// The word size: 4 or 8.
    bytes: usize,
    /// Whether words are big-endian.
    big: bool,
    /// Whether addresses are numbers of symbols, whose names follow the samples.
    is_java: bool,
}

impl Words {
    /// Returns the encoding in which the header is valid: 0, 3, version 0 (or 1 for Java), a period, 0.
    pub(super) fn of(payload: &[u8]) -> Option<Self> {
        let orders = [(8, false), (4, false), (8, true), (4, true)];
        orders.into_iter().find_map(|(bytes, big)| {
            let words = Self { bytes, big, is_java: false };
            let at = |row: usize| words.word(payload, row);
            let version = at(2).filter(|version| *version < 2)?;
            let is_header = (at(0), at(1), at(4)) == (Some(0), Some(3), Some(0))
                && at(3).is_some_and(|period| period > 0);
            is_header.then_some(Self { is_java: version == 1, ..words })
        })
    }

    /// Returns a word by its index, or `None` past the end of the file.
    fn word(self, payload: &[u8], row: usize) -> Option<u64> {
        let start = row.checked_mul(self.bytes)?;
        let bytes = payload.get(start..start.checked_add(self.bytes)?)?;
        let add = |word: u64, byte: &u8| word << 8 | u64::from(*byte);
        Some(match self.big {
            true => bytes.iter().fold(0, add),
            false => bytes.iter().rev().fold(0, add),
        })
    }
}

/// Reads records of `count, depth, addresses…` up to the trailer. Comments in `names` name addresses.
///
/// # Errors
///
/// The file ends inside a record, a number exceeds 64 bits of nanoseconds, or a stack exceeds
/// `max_stack_depth`.
pub(super) fn read(
    words: Words,
    payload: &[u8],
    names: &[u8],
    cx: &mut ReadContext,
) -> Result<Profiles> {
    let cut = || {
        Error::malformed("the file ends inside a sample")
            .at(payload.get(payload.len()..).unwrap_or_default())
    };
    let too_large = |what: &str, number: u64| {
        Error::malformed(format!("{what} {number} overflows 64 bits of nanoseconds"))
    };
    let micros = words.word(payload, 3).unwrap_or_default();
    let period = i64::try_from(micros).ok().and_then(|micros| micros.checked_mul(1000));
    let period = period.ok_or_else(|| too_large("the period", micros))?;
    let end = end(words, payload).ok_or_else(cut)?;
    let text = payload.get(end * words.bytes..).unwrap_or_default();
    let mut stacks = stacks(words, text, names, cx)?;
    let mut samples = Vec::new();
    let mut row = HEADER;
    while row + TRAILER < end {
        let at = payload.get(row * words.bytes..).unwrap_or_default();
        let (count, depth) = record(words, payload, row).ok_or_else(cut)?;
        cx.check_depth(depth).map_err(|error| error.at(at))?;
        cx.budget.charge::<u64>(depth + 6)?;
        // The leaf is the program counter; all other addresses are return addresses.
        let address = |from_leaf: usize| {
            let address = words.word(payload, row + 2 + from_leaf);
            let behind = u64::from(from_leaf > 0 && !words.is_java);
            address.map(|address| address.saturating_sub(behind))
        };
        let addresses = (0..depth).map(address).collect::<Option<Vec<u64>>>().ok_or_else(cut)?;
        let count_of = i64::try_from(count).ok();
        let values = count_of.and_then(|count| Some([count, count.checked_mul(period)?]));
        let values = values.ok_or_else(|| too_large("the count", count).at(at))?;
        samples.push((addresses, values));
        row += 2 + depth;
    }
    if !words.is_java {
        without_handler(&mut samples, cx);
    }
    for (addresses, values) in samples {
        let addresses = if words.is_java { addresses } else { without_repeated_leaf(addresses) };
        let stack = stacks.stack(&addresses, cx)?;
        stacks.sample(stack, &[], &values, cx)?;
    }
    let types = [("samples", "count"), ("cpu", "nanoseconds")];
    stacks.finish(&types, (types[1], period), 0, cx)
}

/// Reads the names and mappings in the text after the samples.
///
/// Adds the heading that other forms have before the mappings, so that one reader handles both.
fn stacks(words: Words, text: &[u8], names: &[u8], cx: &mut ReadContext) -> Result<Stacks> {
    if words.is_java {
        return Stacks::symbols(lines(text).filter_map(|(_, line)| symbol(line)), cx);
    }
    // This form has no heading before the mappings.
    Stacks::of(&[names, b"MAPPED_LIBRARIES:\n", text].concat(), cx)
}

/// A stack with its count and its time.
type Sample = (Vec<u64>, [i64; 2]);

/// Removes frames of the profiler's signal handler after the leaf: an address that nearly all samples have
/// there.
///
/// Runs twice, because there may be two such frames. It relies on frequency, because names are unknown. With
/// fewer than 32 samples, a common caller could be mistaken for the handler.
fn without_handler(samples: &mut [Sample], cx: &mut ReadContext) {
    const MANY: usize = 32;
    for _ in 0..2 {
        let mut seen: HashMap<u64, usize, foldhash::fast::RandomState> = HashMap::default();
        let second = |sample: &Sample| sample.0.get(1).copied();
        for address in samples.iter().filter_map(second) {
            *seen.entry(address).or_default() += 1;
        }
        let nearly_all = samples.len() - samples.len() / MANY;
        let handler = seen.into_iter().find(|(_, times)| *times >= nearly_all);
        let Some((handler, _)) = handler.filter(|_| samples.len() >= MANY) else { return };
        for sample in samples.iter_mut().filter(|sample| second(sample) == Some(handler)) {
            sample.0.remove(1);
        }
        let message = || format!("{handler:#x} calls nearly every leaf: a signal handler");
        cx.note(losses::STACK_HANDLER, String::new, message);
    }
}

/// Lengths of the header and the trailer (0, 1, 0) in words.
const HEADER: usize = 5;
const TRAILER: usize = 3;

/// Returns the count and the depth of a record, or `None` if the file is too short for it.
fn record(words: Words, payload: &[u8], row: usize) -> Option<(u64, usize)> {
    let depth = usize::try_from(words.word(payload, row + 1)?).ok()?;
    // No record is longer than the file.
    (depth <= payload.len()).then_some((words.word(payload, row)?, depth))
}

/// Returns the index of the word after the trailer.
///
/// Runs before any record is read, because the text after the trailer names the addresses.
fn end(words: Words, payload: &[u8]) -> Option<usize> {
    let mut row = HEADER;
    loop {
        let (count, depth) = record(words, payload, row)?;
        if count == 0 && depth == 1 && words.word(payload, row + 2)? == 0 {
            return Some(row + TRAILER);
        }
        row += 2 + depth;
    }
}
