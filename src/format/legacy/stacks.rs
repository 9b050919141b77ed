//! Addresses and what is said of them: names in comments, binaries in a list of mappings.
//!
//! ```text
//! addresses ─► names, from comments or symbols  ┐
//!           └► mappings, from the list          ┴─► locations ─► a stack ─► a sample ─► the one profile
//! ```
//!
//! Shared by all the forms: they differ in their numbers and headers, not in what an address is.
//! Names and mappings stand behind the samples, so the text is read for them first.

use hashbrown::HashMap;

use crate::builder::samples::Identity;
use crate::builder::{ProcessMapping, ProcessMappings};
use crate::error::{Error, Result};
use crate::format::assembly::{Assembly, Group, Named, Rows};
use crate::format::intake::Intake;
use crate::format::legacy::mappings::mappings;
use crate::format::lines::{hex, int, lines, shown};
use crate::format::subset::is_program;
use crate::model::Profiles;
use crate::model::dictionary::{Line, Mapping};
use crate::model::id::{AttributeId, LinkId, LocationId, MappingId, StackId};
use crate::model::profile::Profile;

/// The names of addresses, and the binaries they are in.
pub(super) struct Stacks {
    pub(super) assembly: Assembly,
    /// By address as it is looked up: that of the call, not of the return. Lines are innermost
    /// first.
    names: HashMap<u64, Vec<Line>, foldhash::fast::RandomState>,
    /// None where the file has no list.
    mappings: ProcessMappings,
    /// Whether addresses are numbers of symbols, which mean nothing besides.
    is_symbols: bool,
    /// Of the stack under way: one list for all.
    locations: Vec<LocationId>,
    /// Each sample apart, as Go has them: equal stacks are not added up.
    pub(super) rows: Rows,
}

impl Stacks {
    /// What a text says of its addresses.
    ///
    /// # Errors
    ///
    /// A limit, the budget.
    pub(super) fn of(text: &[u8], intake: &mut Intake) -> Result<Self> {
        let mut assembly = Assembly::new(intake);
        let mut names: HashMap<u64, Vec<Line>, _> = HashMap::default();
        // Addresses are named anew in every stack; the functions inlined into one follow each other.
        let mut current = None;
        for (_, line) in lines(text) {
            let Some((address, named)) = name(line) else {
                current = None;
                continue;
            };
            let lines = names.entry(address).or_default();
            if current != Some(address) {
                lines.clear();
            }
            current = Some(address);
            lines.push(assembly.line(&named)?);
            intake.budget.take::<Line>(1)?;
        }
        let mappings = mappings(text)?;
        // All are kept, as a pprof lists those of its process, whether or not an address is in them: the main
        // binary first, the others in the order of their addresses.
        let main = mappings.iter().find(|mapping| is_program(&mapping.filename));
        for found in main.into_iter().chain(mappings.iter()) {
            mapping(&mut assembly, found)?;
        }
        assembly.settle(intake)?;
        let (locations, rows) = (Vec::new(), Rows::apart());
        Ok(Self { assembly, names, mappings, is_symbols: false, locations, rows })
    }

    /// Stacks whose addresses are numbers of these symbols; of equal numbers the last counts.
    ///
    /// They have no mappings, and an address is dropped once it has a name: it is a number in a
    /// list.
    pub(super) fn symbols<'t>(
        symbols: impl Iterator<Item = (u64, Named<'t>)>,
        intake: &mut Intake,
    ) -> Result<Self> {
        let mut stacks = Self { is_symbols: true, ..Self::of(b"", intake)? };
        for (number, named) in symbols {
            let line = stacks.assembly.line(&named)?;
            intake.budget.take::<[Line; 2]>(1)?;
            stacks.names.insert(number, vec![line]);
        }
        stacks.assembly.settle(intake)?;
        Ok(stacks)
    }

    /// The stack of addresses as they are printed, the leaf first.
    ///
    /// # Errors
    ///
    /// Past `max_stack_depth`, or the budget.
    pub(super) fn stack(&mut self, addresses: &[u64], intake: &mut Intake) -> Result<StackId> {
        intake.check_depth(addresses.len())?;
        let mut locations = std::mem::take(&mut self.locations);
        locations.clear();
        for address in addresses {
            locations.push(self.location(*address)?);
        }
        let stack = self.assembly.stack(&locations)?;
        self.locations = locations;
        self.assembly.settle(intake)?;
        Ok(stack)
    }

    /// The location of an address, in the mapping that holds it.
    ///
    /// An address that is in no mapping keeps its number, so it can still be told from others.
    fn location(&mut self, address: u64) -> Result<LocationId> {
        let mapping = match self.mappings.find(address) {
            None => MappingId::NONE,
            Some(found) => mapping(&mut self.assembly, found)?,
        };
        let lines = self.names.get(&address).map(Vec::as_slice).unwrap_or_default();
        let address = if self.is_symbols && !lines.is_empty() { 0 } else { address };
        self.assembly.location((mapping, address), lines, "")
    }

    /// Takes a sample.
    pub(super) fn sample(
        &mut self,
        stack: StackId,
        attributes: &[AttributeId],
        values: &[i64],
        intake: &mut Intake,
    ) -> Result<()> {
        let identity = Identity { stack, attributes, link: LinkId::NONE };
        self.assembly.sample(&mut self.rows, identity, (values, &[]), intake)
    }

    /// The last sample was seen once more.
    ///
    /// For `same as previous thread`; where no sample was taken there is nothing to repeat.
    pub(super) fn again(&mut self) -> Result<()> {
        self.rows.samples.len().checked_sub(1).map_or(Ok(()), |last| self.rows.add_to(last, &[1]))
    }

    /// The one profile, of these types and this period.
    ///
    /// A profile of one resource and scope, without names: these forms say neither.
    pub(super) fn finish(
        mut self,
        types: &[(&str, &str)],
        (period_type, period): ((&str, &str), i64),
        duration_nanos: i64,
        intake: &mut Intake,
    ) -> Result<Profiles> {
        let mut profile = Profile::default();
        for kind in types {
            profile.sample_types.push(self.assembly.value_type(*kind)?);
        }
        profile.period_type = self.assembly.value_type(period_type)?;
        profile.period = period;
        profile.duration_nanos = duration_nanos.into();
        profile.samples = self.rows.samples;
        self.assembly.settle(intake)?;
        Ok(self.assembly.finish(vec![Group { resource: Vec::new(), profiles: vec![profile] }]))
    }
}

/// The row of a mapping of the process.
///
/// An equal row is the same row, so asking again for the same mapping costs a look-up.
fn mapping(assembly: &mut Assembly, found: &ProcessMapping) -> Result<MappingId> {
    let filename = assembly.text(found.filename.as_bytes())?;
    let (memory_start, memory_limit) = (found.memory_start, found.memory_limit);
    let file_offset = found.file_offset;
    assembly.mapping(Mapping { memory_start, memory_limit, file_offset, filename })
}

/// `# 0x4bb7d5 main.leak+0x75 /src/main.go:59`, with tabs between.
///
/// Fields are separated by tabs, some of them by several; a function inlined has a line of its own
/// with the same address. The offset behind the symbol is dropped, as it is in the address.
fn name(line: &[u8]) -> Option<(u64, Named<'_>)> {
    let rest = line.strip_prefix(b"#\t0x")?;
    let mut words = rest.split(|byte| *byte == b'\t').filter(|word| !word.is_empty());
    let address = u64::from_str_radix(std::str::from_utf8(words.next()?).ok()?, 16).ok()?;
    let symbol = words.next()?;
    let at = symbol.windows(3).rposition(|window| window == b"+0x").unwrap_or(symbol.len());
    let place = words.next().unwrap_or_default();
    let colon = place.iter().rposition(|byte| *byte == b':');
    let (file, line) = match colon.and_then(|at| Some((place.get(..at)?, place.get(at + 1..)?))) {
        Some((file, line)) => (file, int(line).unwrap_or(0)),
        None => (place, 0),
    };
    Some((address, Named { name: symbol.get(..at)?, file, line, column: 0 }))
}

/// Addresses of which the leaf is not there twice: from where the processor was, and from the stack,
/// where it was taken for a call.
pub(super) fn without_twice(mut addresses: Vec<u64>) -> Vec<u64> {
    if let [leaf, second, ..] = addresses[..]
        && second.checked_add(1) == Some(leaf)
    {
        addresses.remove(1);
    }
    addresses
}

/// The addresses behind an `@`, each moved into the call that it is behind.
///
/// A return address is that of the instruction behind the call, which may be of another line or
/// function: one less is within the call.
pub(super) fn addresses(text: &[u8]) -> Result<Vec<u64>> {
    let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.map(|word| address(word).map(|address| address.saturating_sub(1))).collect()
}

/// An address: hex digits, with or without `0x` before them.
///
/// # Errors
///
/// Any other word, with the word.
pub(super) fn address(word: &[u8]) -> Result<u64> {
    let wrong = || Error::malformed(format!("{} is not an address", shown(word)));
    hex(word.strip_prefix(b"0x").unwrap_or(word)).ok_or_else(wrong)
}

/// What stands before the `@` of a line, and behind it.
pub(super) fn at_sign(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = line.iter().position(|byte| *byte == b'@')?;
    Some((line.get(..at)?, line.get(at + 1..)?))
}

/// What a line of a header calls something, and what it says: `sampling period = 100`.
pub(super) fn said(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = line.iter().position(|byte| *byte == b'=')?;
    Some((line.get(..at)?.trim_ascii(), line.get(at + 1..)?.trim_ascii()))
}

/// A number for one of so many samples.
pub(super) fn times(number: i64, times: i64) -> Result<i64> {
    number
        .checked_mul(times)
        .ok_or_else(|| Error::malformed(format!("{number} times {times} overflows 64 bits")))
}

/// A time in milliseconds, in nanoseconds.
pub(super) fn nanos_of_millis(value: &[u8]) -> Result<i64> {
    let millis = int(value)?;
    millis
        .checked_mul(1_000_000)
        .ok_or_else(|| Error::malformed(format!("{millis} ms overflow 64 bits of nanoseconds")))
}

/// The whole numbers in a text, with whatever stands between them.
///
/// Empty where there are none; the caller says how many there have to be.
pub(super) fn numbers(text: &[u8]) -> Result<Vec<i64>> {
    let between = |byte: &u8| byte.is_ascii_whitespace() || b":[]".contains(byte);
    let words = text.split(between).filter(|word| !word.is_empty());
    words.map(int).collect()
}

/// A number of a double, cut off behind the point, as Go's pprof does.
///
/// # Errors
///
/// What 64 bits do not hold, and what is no number.
pub(super) fn cut(number: f64) -> Result<i64> {
    let whole = crate::format::lines::whole(number.trunc());
    whole.ok_or_else(|| Error::malformed(format!("{number} overflows 64 bits")))
}
