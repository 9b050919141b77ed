//! Functions by file, and strings as they are first used.
//!
//! A name is compared as big-endian words, which sorts it as its bytes do, eight at a time.

use crate::format::layout::words::{self, Words};
use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::profile::{Profile, ValueType};

/// Functions by file, first line and name, eight bytes a word.
struct Functions<'a> {
    dictionary: &'a Dictionary,
    /// By string: its place among the files.
    files: Vec<u32>,
    /// By function.
    names: Vec<&'a [u8]>,
}

impl Words for Functions<'_> {
    /// Word 0 is the file and the line, clamped to 32 bits; the name follows, eight bytes a word.
    #[inline]
    fn word(&self, item: u32, depth: usize) -> (u64, bool) {
        let Some(depth) = depth.checked_sub(1) else {
            let function =
                self.dictionary.functions.get(item as usize).copied().unwrap_or_default();
            let file = self.files.get(function.filename.row()).copied().unwrap_or(0);
            let line = function.start_line.clamp(0, i64::from(u32::MAX));
            return (u64::from(file) << 32 | line as u64, true);
        };
        let name = self.names.get(item as usize).copied().unwrap_or_default();
        match name.get(8 * depth..).unwrap_or_default() {
            rest @ [..] if rest.len() > 8 => {
                (u64::from_be_bytes(*rest.first_chunk().unwrap_or(&[0; 8])), true)
            }
            rest => {
                let mut word = [0; 8];
                word[..rest.len()].copy_from_slice(rest);
                (u64::from_be_bytes(word), false)
            }
        }
    }
}

/// Some functions by file, first line and name.
pub(super) fn functions(dictionary: &Dictionary, mut rows: Vec<u32>) -> Vec<u32> {
    let file = |row: &u32| dictionary.functions.get(*row as usize).map(|row| row.filename);
    let files = ranks(dictionary, rows.iter().filter_map(file));
    let names = dictionary.functions.iter();
    let names = names.map(|function| dictionary.text(function.name).as_bytes()).collect();
    words::sort(&Functions { dictionary, files, names }, &mut rows);
    rows
}

/// By string: its place among some texts once they are sorted.
///
/// 0 for a text that is none of them. Equal texts of several rows have ranks beside each other.
fn ranks(dictionary: &Dictionary, texts: impl Iterator<Item = StringId>) -> Vec<u32> {
    let mut ranks = vec![0; dictionary.strings.len()];
    let mut some = Vec::new();
    for id in texts {
        if let Some(rank) = ranks.get_mut(id.row())
            && *rank == 0
        {
            *rank = 1;
            some.push(id);
        }
    }
    some.sort_unstable_by(|a, b| dictionary.text(*a).cmp(dictionary.text(*b)).then(a.cmp(b)));
    for (id, place) in some.into_iter().zip(1..) {
        ranks[id.row()] = place;
    }
    ranks
}

/// The texts of what profiles measure, and of some mappings, attributes and functions, as often as they have
/// them.
///
/// Attributes that nothing refers to are not written by every layout, and some become fields: where they count,
/// what is written is in another order once it is read and written again.
pub(crate) fn in_order_of_use<'p>(
    dictionary: &Dictionary,
    profiles: impl Iterator<Item = &'p Profile>,
    [mappings, attributes, functions]: [&[u32]; 3],
    mut text: impl FnMut(StringId),
) {
    for profile in profiles {
        for &ValueType { name, unit, .. } in
            profile.sample_types.iter().chain([&profile.period_type])
        {
            text(name);
            text(unit);
        }
    }
    mappings.iter().for_each(|&row| text(dictionary.mappings.rows[row as usize].filename));
    for attribute in attributes.iter().map(|&row| &dictionary.attributes[row as usize]) {
        text(attribute.key);
        text(attribute.unit);
        attribute.value.for_each_text(&mut text);
    }
    for function in functions.iter().map(|&row| &dictionary.functions[row as usize]) {
        [function.name, function.system_name, function.filename].into_iter().for_each(&mut text);
    }
}
