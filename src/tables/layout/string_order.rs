//! Order of functions by file, and of strings by first use.
//!
//! Names of a file share prefixes. So the key of a name is the eight bytes after the common prefix of all
//! names of the file. Whole names are compared only if these eight bytes are equal.
//!
//! ```text
//! net/http.(*Server).Serve        key .(*Serve
//! net/http.(*conn).serve              .(*conn)
//! net/http.Serve                      .Serve
//! ```

use std::ops::Range;

use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::profile::Profile;
use crate::tables::layout::stacks::by_rank;

/// Sorts functions by file, first line and name; equal ones keep the order of their rows.
pub(super) fn functions(dictionary: &Dictionary, rows: &[u32]) -> Vec<u32> {
    let function = |row: u32| &dictionary.functions[row as usize];
    let (ranks, files) = ranks(dictionary, rows.iter().map(|row| function(*row).filename));
    let rank = |row: u32| ranks[function(row).filename.row()] as usize;
    let mut sorted = by_rank(rows, files + 1, rank);
    let mut buffers = Buffers::default();
    for of_file in sorted.chunk_by_mut(|a, b| rank(*a) == rank(*b)) {
        // Lines beyond 32 bits share the last place; they affect only the order.
        let line = |row: u32| function(row).start_line.clamp(0, i64::from(u32::MAX)) as u32;
        let name = |row: u32| dictionary.text(function(row).name).as_bytes();
        by_text(of_file, line, name, &mut buffers);
    }
    sorted
}

/// Returns the rank of each string among the sorted `texts`, from 1, and the number of `texts`.
///
/// 0 for a string that is not among them. Equal strings in several rows have adjacent ranks.
fn ranks(dictionary: &Dictionary, texts: impl Iterator<Item = StringId>) -> (Vec<u32>, usize) {
    let mut ranks = vec![0; dictionary.strings.len().max(1)];
    let mut some = Vec::new();
    for id in texts {
        if ranks[id.row()] == 0 {
            ranks[id.row()] = 1;
            some.push(id.0);
        }
    }
    // `by_text` keeps the order of equal strings, so their ranks ascend by row.
    some.sort_unstable();
    by_text(
        &mut some,
        |_| 0,
        |id| dictionary.text(StringId(id)).as_bytes(),
        &mut Buffers::default(),
    );
    some.iter().zip(1..).for_each(|(id, place)| ranks[*id as usize] = place);
    (ranks, some.len())
}

/// The next key of a string, and its number.
type Keyed = (u64, u32);

/// Buffers that are reused for every file.
#[derive(Default)]
struct Buffers<'t> {
    keyed: Vec<Keyed>,
    /// The rest of each string, so that each byte is read once.
    texts: Vec<&'t [u8]>,
    /// The pending ranges.
    left: Vec<Range<usize>>,
    sorted: Vec<u32>,
}

/// Sorts rows by a number and a string; equal ones keep the order of their rows.
///
/// Rows with equal keys are sorted again by their next distinguishing bytes.
fn by_text<'t>(
    rows: &mut [u32],
    number: impl Fn(u32) -> u32,
    text: impl Fn(u32) -> &'t [u8],
    buffers: &mut Buffers<'t>,
) {
    if rows.len() < 2 {
        return;
    }
    let Buffers { keyed, texts, left, sorted } = buffers;
    texts.clear();
    texts.extend(rows.iter().map(|row| text(*row)));
    keyed.clear();
    keyed.extend(rows.iter().zip(0..).map(|(row, at)| (number(*row).into(), at)));
    each_equal(keyed, 0, |range, _| left.push(range));
    while let Some(range) = left.pop() {
        let begin = range.start;
        let equal_keys = &mut keyed[range];
        let shared = shared(equal_keys.iter().map(|(_, at)| texts[*at as usize]));
        for (next, at) in &mut *equal_keys {
            let text = &mut texts[*at as usize];
            (*next, *text) = key(&text[shared..]);
        }
        each_equal(equal_keys, begin, |range, equal| {
            // Some strings have bytes left: sort the range again by these.
            if equal.iter().any(|(_, at)| !texts[*at as usize].is_empty()) {
                left.push(range);
            } else {
                equal.sort_unstable();
            }
        });
    }
    sorted.clear();
    sorted.extend(keyed.iter().map(|(_, at)| rows[*at as usize]));
    rows.copy_from_slice(sorted);
}

/// Sorts by keys, and calls `f` for each range of equal keys. The first element has number `begin`.
fn each_equal(
    keyed: &mut [Keyed],
    mut begin: usize,
    mut f: impl FnMut(Range<usize>, &mut [Keyed]),
) {
    keyed.sort_unstable_by_key(|keyed| keyed.0);
    for equal in keyed.chunk_by_mut(|a, b| a.0 == b.0) {
        let end = begin + equal.len();
        if equal.len() > 1 {
            f(begin..end, equal);
        }
        begin = end;
    }
}

/// Returns the length of the common prefix.
fn shared<'t>(mut texts: impl Iterator<Item = &'t [u8]>) -> usize {
    let mut shared = texts.next().unwrap_or_default();
    for text in texts {
        if !text.starts_with(shared) {
            let common = shared.iter().zip(text).take_while(|(a, b)| a == b);
            shared = &shared[..common.count()];
        }
    }
    shared.len()
}

/// Splits off the first eight bytes of a string, as a number with the same order.
fn key(text: &[u8]) -> (u64, &[u8]) {
    match text.split_first_chunk() {
        Some((key, rest)) => (u64::from_be_bytes(*key), rest),
        None => {
            // A string with further zero bytes has the same key. Then the rows decide. An empty string is shifted by
            // 64 bits.
            let key = text.iter().fold(0, |key, byte| key << 8 | u64::from(*byte));
            (key.unbounded_shl(64 - 8 * text.len() as u32), &[])
        }
    }
}

/// Calls `text` for the strings of profiles' sample types, and of the given mappings, attributes and
/// functions, in this order and with repetitions.
///
/// Not every layout writes unreferenced attributes, and some attributes become fields. If they counted, a
/// round trip would change the order.
pub(crate) fn in_order_of_use<'p>(
    dictionary: &Dictionary,
    profiles: impl Iterator<Item = &'p Profile>,
    [mappings, attributes, functions]: [&[u32]; 3],
    mut text: impl FnMut(StringId),
) {
    profiles.flat_map(|profile| profile.type_texts()).for_each(&mut text);
    mappings.iter().for_each(|&row| text(dictionary.mappings.rows[row as usize].filename));
    attributes.iter().for_each(|&row| dictionary.attributes[row as usize].for_each_text(&mut text));
    functions.iter().flat_map(|&row| dictionary.functions[row as usize].texts()).for_each(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::dictionary::Function;

    #[test]
    fn functions_are_sorted_by_file_line_and_name() {
        let files = ["", "a.go", "a.go", "b.go"];
        let names = ["", "net/http.Serve", "net/http.(*Server).Serve", "net/http.(*Server).Serve1"];
        let more = ["net/http.(*Server).Serve12345678", "net/http.(*Server).Serve123456789", "é"];
        let mut dictionary = Dictionary::default();
        let texts = files.into_iter().chain(names).chain(more);
        let ids: Vec<StringId> = texts.map(|text| dictionary.strings.push(text)).collect();
        let mut seed = 1u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((seed >> 33) % below) as usize
        };
        dictionary.functions.push(Function::default());
        for _ in 0..400 {
            dictionary.functions.push(Function {
                name: ids[4 + random(7)],
                filename: ids[random(4)],
                start_line: [0, 0, 0, 7, -1, i64::MAX][random(6)],
                ..Function::default()
            });
        }
        let mut expected: Vec<u32> = (1..=400).collect();
        let sorted = functions(&dictionary, &expected);
        expected.sort_by_key(|row| {
            let Function { filename, start_line, name, .. } = dictionary.functions[*row as usize];
            let line = start_line.clamp(0, i64::from(u32::MAX));
            (dictionary.text(filename), filename, line, dictionary.text(name))
        });
        assert_eq!(sorted, expected);
    }
}
