//! Resolves addresses: names from comments, binaries from a list of mappings.
//!
//! ```text
//! addresses ─► names, from comments or symbols  ┐
//!           └► mappings, from the list          ┴─► locations ─► a stack ─► a sample ─► the one profile
//! ```
//!
//! All legacy formats share this code: they differ in numbers and headers, but not in addresses. Names and
//! mappings follow the samples, so they are read first.

use hashbrown::HashMap;

use crate::builder::{ProcessMapping, ProcessMappings};
use crate::error::{Error, Result};
use crate::format::assembly::{Assembly, FrameName, ResourceGroup, Rows};
use crate::format::legacy::mappings::mappings;
use crate::format::lines::{hex, int, lines, shown};
use crate::model::Profiles;
use crate::model::dictionary::{Line, Mapping};
use crate::model::id::{AttributeId, LinkId, LocationId, MappingId, StackId};
use crate::model::profile::Profile;
use crate::read_context::ReadContext;
use crate::tables::rows::samples::Identity;
use crate::tables::rows::subset::is_program;

/// Builds the stacks and samples of a profile, with the names and mappings of addresses.
pub(super) struct Stacks {
    pub(super) assembly: Assembly,
    /// Lines by address, innermost first. The address is that of the call and not the return address.
    names: HashMap<u64, Vec<Line>, foldhash::fast::RandomState>,
    /// The mappings, empty if the file has no list.
    mappings: ProcessMappings,
    /// Whether addresses are numbers of symbols, which have no other meaning.
    is_symbols: bool,
    /// The locations of the current stack, reused.
    locations: Vec<LocationId>,
    /// Separate samples, as in Go: equal stacks are not added up.
    pub(super) rows: Rows,
}

impl Stacks {
    /// Reads the names and mappings in a text.
    ///
    /// # Errors
    ///
    /// A limit or the budget is exceeded.
    pub(super) fn of(text: &[u8], cx: &mut ReadContext) -> Result<Self> {
        let mut assembly = Assembly::new(cx);
        let mut names: HashMap<u64, Vec<Line>, _> = HashMap::default();
        // Every stack names its addresses again. The functions inlined into one another have consecutive
        // lines.
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
            cx.budget.charge::<Line>(1)?;
        }
        let mappings = mappings(text)?;
        // Keep all mappings, because pprof lists those of the process, used or not: first the main binary,
        // then the rest by address.
        let main = mappings.iter().find(|mapping| is_program(&mapping.filename));
        for found in main.into_iter().chain(mappings.iter()) {
            mapping(&mut assembly, found)?;
        }
        assembly.charge(cx)?;
        let (locations, rows) = (Vec::new(), Rows::apart());
        Ok(Self { assembly, names, mappings, is_symbols: false, locations, rows })
    }

    /// Creates stacks whose addresses are numbers of these symbols. If a number occurs twice, the last symbol
    /// counts.
    ///
    /// They have no mappings. A number is dropped once it is resolved to a name.
    pub(super) fn symbols<'t>(
        symbols: impl Iterator<Item = (u64, FrameName<'t>)>,
        cx: &mut ReadContext,
    ) -> Result<Self> {
        let mut stacks = Self { is_symbols: true, ..Self::of(b"", cx)? };
        for (number, named) in symbols {
            let line = stacks.assembly.line(&named)?;
            cx.budget.charge::<[Line; 2]>(1)?;
            stacks.names.insert(number, vec![line]);
        }
        stacks.assembly.charge(cx)?;
        Ok(stacks)
    }

    /// Adds a stack of addresses, leaf first.
    ///
    /// # Errors
    ///
    /// The stack exceeds `max_stack_depth` or the budget.
    pub(super) fn stack(&mut self, addresses: &[u64], cx: &mut ReadContext) -> Result<StackId> {
        cx.check_depth(addresses.len())?;
        let mut locations = std::mem::take(&mut self.locations);
        locations.clear();
        for address in addresses {
            locations.push(self.location(*address)?);
        }
        let stack = self.assembly.stack(&locations)?;
        self.locations = locations;
        self.assembly.charge(cx)?;
        Ok(stack)
    }

    /// Returns the location of an address, in the mapping that contains it.
    ///
    /// An address outside all mappings is kept, so that it stays distinct.
    fn location(&mut self, address: u64) -> Result<LocationId> {
        let mapping = match self.mappings.find(address) {
            None => MappingId::NONE,
            Some(found) => mapping(&mut self.assembly, found)?,
        };
        let lines = self.names.get(&address).map(Vec::as_slice).unwrap_or_default();
        let address = if self.is_symbols && !lines.is_empty() { 0 } else { address };
        self.assembly.location((mapping, address), lines, "")
    }

    /// Adds a sample.
    pub(super) fn sample(
        &mut self,
        stack: StackId,
        attributes: &[AttributeId],
        values: &[i64],
        cx: &mut ReadContext,
    ) -> Result<()> {
        let identity = Identity { stack, attributes, link: LinkId::NONE };
        self.assembly.sample(&mut self.rows, identity, (values, &[]), cx)
    }

    /// Counts the last sample once more, for `same as previous thread`. Does nothing without a sample.
    pub(super) fn again(&mut self) -> Result<()> {
        self.rows.samples.len().checked_sub(1).map_or(Ok(()), |last| self.rows.add_to(last, &[1]))
    }

    /// Assembles the profile with these sample types and this period.
    ///
    /// It has an empty resource and scope, because these formats contain neither.
    pub(super) fn finish(
        mut self,
        types: &[(&str, &str)],
        (period_type, period): ((&str, &str), i64),
        duration_nanos: i64,
        cx: &mut ReadContext,
    ) -> Result<Profiles> {
        let mut profile = Profile::default();
        for kind in types {
            profile.sample_types.push(self.assembly.value_type(*kind)?);
        }
        profile.period_type = self.assembly.value_type(period_type)?;
        profile.period = period;
        profile.duration_nanos = duration_nanos.into();
        profile.samples = self.rows.samples;
        self.assembly.charge(cx)?;
        Ok(self
            .assembly
            .finish(vec![ResourceGroup { resource: Vec::new(), profiles: vec![profile] }]))
    }
}

/// Returns the row of a mapping.
///
/// Mappings are interned, so a repeated call costs a lookup.
fn mapping(assembly: &mut Assembly, found: &ProcessMapping) -> Result<MappingId> {
    let filename = assembly.text(found.filename.as_bytes())?;
    let (memory_start, memory_limit) = (found.memory_start, found.memory_limit);
    let file_offset = found.file_offset;
    assembly.mapping(Mapping { memory_start, memory_limit, file_offset, filename })
}

/// Parses `# 0x4bb7d5 main.leak+0x75 /src/main.go:59`, separated by tabs.
///
/// There may be several tabs between two fields. An inlined function has a separate line with the same
/// address. The offset after the symbol is dropped, because the address contains it.
fn name(line: &[u8]) -> Option<(u64, FrameName<'_>)> {
    let rest = line.strip_prefix(b"#\t0x")?;
    let mut words = rest.split(|byte| *byte == b'\t').filter(|word| !word.is_empty());
    let address = hex(words.next()?)?;
    let symbol = words.next()?;
    let at = symbol.windows(3).rposition(|window| window == b"+0x").unwrap_or(symbol.len());
    let place = words.next().unwrap_or_default();
    let colon = place.iter().rposition(|byte| *byte == b':');
    let (file, line) = match colon.and_then(|at| Some((place.get(..at)?, place.get(at + 1..)?))) {
        Some((file, line)) => (file, int(line).unwrap_or(0)),
        None => (place, 0),
    };
    Some((address, FrameName { name: symbol.get(..at)?, file, line, column: 0 }))
}

/// Removes the second address if it is the leaf again: the leaf occurs as the program counter, and in the
/// stack as a return address, from which 1 was subtracted.
pub(super) fn without_repeated_leaf(mut addresses: Vec<u64>) -> Vec<u64> {
    if let [leaf, second, ..] = addresses[..]
        && second.checked_add(1) == Some(leaf)
    {
        addresses.remove(1);
    }
    addresses
}

/// Parses the addresses after an `@`, and subtracts 1 from each.
///
/// A return address is that of the instruction after the call, which may belong to another line or function.
/// The address before it is within the call.
pub(super) fn addresses(text: &[u8]) -> Result<Vec<u64>> {
    let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.map(|word| address(word).map(|address| address.saturating_sub(1))).collect()
}

/// Parses an address: hex digits, with or without `0x`.
///
/// # Errors
///
/// Any other word, which the error quotes.
pub(super) fn address(word: &[u8]) -> Result<u64> {
    let wrong = || Error::malformed(format!("{} is not an address", shown(word)));
    hex(word.strip_prefix(b"0x").unwrap_or(word)).ok_or_else(wrong)
}

/// Splits a line at its `@`.
pub(super) fn at_sign(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = line.iter().position(|byte| *byte == b'@')?;
    Some((line.get(..at)?, line.get(at + 1..)?))
}

/// Splits a setting of a header into name and value: `sampling period = 100`.
pub(super) fn setting(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = line.iter().position(|byte| *byte == b'=')?;
    Some((line.get(..at)?.trim_ascii(), line.get(at + 1..)?.trim_ascii()))
}

/// Multiplies a number by the sampling period.
pub(super) fn times(number: i64, times: i64) -> Result<i64> {
    number
        .checked_mul(times)
        .ok_or_else(|| Error::malformed(format!("{number} times {times} overflows 64 bits")))
}

/// Converts milliseconds to nanoseconds.
pub(super) fn nanos_of_millis(value: &[u8]) -> Result<i64> {
    let millis = int(value)?;
    millis
        .checked_mul(1_000_000)
        .ok_or_else(|| Error::malformed(format!("{millis} ms overflow 64 bits of nanoseconds")))
}

/// Parses the integers in a text, separated by spaces, colons and brackets.
///
/// The result may be empty; the caller checks the length.
pub(super) fn numbers(text: &[u8]) -> Result<Vec<i64>> {
    let between = |byte: &u8| byte.is_ascii_whitespace() || b":[]".contains(byte);
    let words = text.split(between).filter(|word| !word.is_empty());
    words.map(int).collect()
}

/// Truncates a double to an integer, as Go's pprof does.
///
/// # Errors
///
/// The number exceeds 64 bits or is NaN.
pub(super) fn cut(number: f64) -> Result<i64> {
    let whole = crate::format::lines::whole(number.trunc());
    whole.ok_or_else(|| Error::malformed(format!("{number} overflows 64 bits")))
}
