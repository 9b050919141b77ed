//! Reads profiles that begin with their symbols, as `pprof --raw` of gperftools and `jeprof --raw` write
//! them.
//!
//! ```text
//! --- symbol
//! binary=/bin/app
//! 0x0000000000401136 main
//! 0x0000000000401200 work--inlined       a function, and one inlined into it
//! ---
//! --- heap                               or profile, growth, contention
//! heap profile: …                        the profile as it was fetched
//! ```

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::format::lines::{Lines, hex, kept, lines, shown};
use crate::losses::LEFT_OUT;
use crate::read_context::ReadContext;

/// The first line.
pub(super) const HEADING: &[u8] = b"--- symbol";

/// Splits a text into the profile after the symbols, the number of its first line, and the symbols as
/// comments in Go's form.
///
/// # Errors
///
/// A line is not a symbol, or the text ends before the profile.
pub(super) fn split<'a>(
    text: &'a [u8],
    cx: &mut ReadContext,
) -> Result<(&'a [u8], usize, Vec<u8>)> {
    let mut symbols = BTreeMap::new();
    let mut lines = lines(text);
    lines.next();
    for (number, line) in lines.by_ref() {
        let line = line.trim_ascii();
        if line.starts_with(b"---") {
            break;
        }
        if line.is_empty() || line.starts_with(b"binary=") {
            continue;
        }
        if let Some((address, name)) = kept(symbol(line), number, cx)? {
            cx.budget.charge::<(u64, &[u8])>(1)?;
            symbols.insert(address, name);
        }
    }
    let Some(number) = heading(&mut lines, cx)? else {
        let message = "the text ends before the profile behind `--- symbol`: expected `--- heap` or `--- profile`";
        return Err(Error::malformed(message).in_line(lines.number));
    };
    Ok((lines.rest, number + 1, comments(&symbols, cx)?))
}

/// Skips the line with the kind of the profile, and returns its number.
fn heading(lines: &mut Lines<'_>, cx: &mut ReadContext) -> Result<Option<usize>> {
    let Some((number, line)) = lines.find(|(_, line)| !line.trim_ascii().is_empty()) else {
        return Ok(None);
    };
    let kind = line.trim_ascii().strip_prefix(b"--- ");
    match kind {
        Some(
            b"heap" | b"growth" | b"contention" | b"profile" | b"pmuprofile" | b"censusprofile",
        ) => {}
        Some(kind) => cx.note(LEFT_OUT, String::new, || {
            format!("ignored the kind {} of the profile: its first line tells it", shown(kind))
        }),
        None => {
            let message = format!("expected `--- heap` or `--- profile`, found {}", shown(line));
            return Err(Error::malformed(message).in_line(number));
        }
    }
    Ok(Some(number))
}

/// Parses `0x0000000000401136 main`.
fn symbol(line: &[u8]) -> Result<(u64, &[u8])> {
    let wrong = || Error::malformed(format!("expected `0xADDRESS NAME`, found {}", shown(line)));
    let end = line.iter().position(u8::is_ascii_whitespace).ok_or_else(wrong)?;
    let (address, name) = line.split_at(end);
    let address = address.strip_prefix(b"0x").and_then(hex).ok_or_else(wrong)?;
    Ok((address, name.trim_ascii()))
}

/// Writes a comment for each function of an address, innermost first.
///
/// gperftools names the addresses of calls or the return addresses. Samples have the latter, from which the
/// reader subtracts 1. So a symbol also names the address before it, unless that has another symbol.
fn comments(symbols: &BTreeMap<u64, &[u8]>, cx: &mut ReadContext) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    for (address, name) in symbols {
        let before = address.checked_sub(1).filter(|before| !symbols.contains_key(before));
        for address in before.into_iter().chain([*address]) {
            for function in functions(name).into_iter().rev() {
                let function = String::from_utf8_lossy(function).replace('\t', " ");
                text.extend(format!("#\t0x{address:x}\t{function}\n").bytes());
            }
        }
    }
    cx.budget.charge::<u8>(text.len())?;
    Ok(text)
}

/// Splits a symbol into its functions, which `--` separates.
fn functions(name: &[u8]) -> Vec<&[u8]> {
    let (mut functions, mut rest) = (Vec::new(), name);
    // `operator--` is a name in C++.
    let next = |rest: &[u8]| {
        let is_end = |at: &usize| !rest.get(..*at).is_some_and(|name| name.ends_with(b"operator"));
        let ends = rest.windows(2).enumerate().filter(|(_, pair)| *pair == b"--");
        ends.map(|(at, _)| at).find(is_end)
    };
    while let Some(at) = next(rest) {
        functions.push(rest.get(..at).unwrap_or_default());
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    functions.push(rest);
    functions.retain(|name| !name.is_empty());
    functions
}
