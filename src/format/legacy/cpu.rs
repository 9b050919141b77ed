//! gperftools' CPU profiles: words of 4 or 8 bytes of either endianness, then mappings as text; and Java's, with names
//! of symbols.
//!
//! ```text
//! header   0  3  0  PERIOD  0              PERIOD in microseconds; the third word is Java's version
//! record   COUNT  DEPTH  pc1 … pcDEPTH     the leaf first
//! trailer  0  1  0
//! text     400000-500000 r-xp …            /proc/self/maps, or Java's symbols
//! ```
//!
//! Nothing says how wide a word is or which byte is first, so the header is tried in all four ways.

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::format::legacy::java::symbol;
use crate::format::legacy::stacks::{Stacks, without_twice};
use crate::format::lines::lines;
use crate::format::losses;
use crate::model::Profiles;

/// How words lie in the bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    /// 4 or 8.
    bytes: usize,
    /// Whether the first byte of a word is the highest.
    big: bool,
    /// Whether addresses are numbers of symbols, which are named behind the samples.
    is_java: bool,
}

impl Words {
    /// Words in which the header makes sense: 0, at least 3, version 0 or 1 for Java, a period, 0.
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

    /// A word of the file by its number, in the size and order that the header has shown.
    ///
    /// None past the end of the file.
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

/// Reads `count, depth, addresses…` until a count of 0 ends them. Comments in `names` name addresses.
///
/// # Errors
///
/// A file that ends inside a record, with the byte; numbers that do not fit into nanoseconds of 64
/// bits; a stack past `max_stack_depth`.
pub(super) fn read(
    words: Words,
    payload: &[u8],
    names: &[u8],
    intake: &mut Intake,
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
    let mut stacks = stacks(words, text, names, intake)?;
    let mut samples = Vec::new();
    let mut row = HEADER;
    while row + TRAILER < end {
        let at = payload.get(row * words.bytes..).unwrap_or_default();
        let (count, depth) = record(words, payload, row).ok_or_else(cut)?;
        intake.check_depth(depth).map_err(|error| error.at(at))?;
        intake.budget.take::<u64>(depth + 6)?;
        // The leaf is where the processor was, all others are behind their calls.
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
        without_handler(&mut samples, intake);
    }
    for (addresses, values) in samples {
        let addresses = if words.is_java { addresses } else { without_twice(addresses) };
        let stack = stacks.stack(&addresses, intake)?;
        stacks.sample(stack, &[], &values, intake)?;
    }
    let types = [("samples", "count"), ("cpu", "nanoseconds")];
    stacks.finish(&types, (types[1], period), 0, intake)
}

/// What the text behind the samples says of addresses.
///
/// The list of mappings gets the heading that other forms have, so one reader serves both.
fn stacks(words: Words, text: &[u8], names: &[u8], intake: &mut Intake) -> Result<Stacks> {
    if words.is_java {
        return Stacks::symbols(lines(text).filter_map(|(_, line)| symbol(line)), intake);
    }
    // The mappings have no heading there.
    Stacks::of(&[names, b"MAPPED_LIBRARIES:\n", text].concat(), intake)
}

/// A stack, and how often it was seen and for how long.
type Sample = (Vec<u64>, [i64; 2]);

/// Leaves out what the profiler's own handler of signals put below the leaf: an address that is there in
/// nearly all of many samples.
///
/// Twice, as there may be two such frames. Found by what is frequent, since names are not known: with
/// fewer than 32 samples a common caller could be taken for one.
fn without_handler(samples: &mut [Sample], intake: &mut Intake) {
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
        let said = || format!("{handler:#x} calls nearly every leaf: a signal handler");
        intake.note(losses::STACK_HANDLER, String::new, said);
    }
}

/// The words of the header, and those of the trailer: 0, 1, 0.
///
/// Counted in words.
const HEADER: usize = 5;
const TRAILER: usize = 3;

/// The count and the depth of a record.
///
/// None where the file is too short for it.
fn record(words: Words, payload: &[u8], row: usize) -> Option<(u64, usize)> {
    let depth = usize::try_from(words.word(payload, row + 1)?).ok()?;
    // No record is longer than the file.
    (depth <= payload.len()).then_some((words.word(payload, row)?, depth))
}

/// The number of the word behind the trailer.
///
/// Looked for before any record is taken: the text behind it is needed to name the first address.
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
