//! Functions by file, and strings as they are first used.
//!
//! A name is compared as big-endian words, which sorts it as its bytes do, eight at a time.

use crate::build::reach::Reach;
use crate::format::layout::words::{self, Words};
use crate::model::Profiles;
use crate::model::dictionary::Dictionary;
use crate::model::id::{Id as _, StringId};
use crate::model::profile::{Profile, ValueType};

/// Functions by file, first line and name, eight bytes a word.
struct Functions<'a> {
    dictionary: &'a Dictionary,
    /// By string: its place among the files.
    files: Vec<u32>,
}

impl Words for Functions<'_> {
    /// Word 0 is the file and the line, clamped to 32 bits; the name follows, eight bytes a word.
    #[inline]
    fn word(&self, item: u32, depth: usize) -> (u64, bool) {
        let function = self.dictionary.functions.get(item as usize).copied().unwrap_or_default();
        let Some(depth) = depth.checked_sub(1) else {
            let file = self.files.get(function.filename.row()).copied().unwrap_or(0);
            let line = function.start_line.clamp(0, i64::from(u32::MAX));
            return (u64::from(file) << 32 | line as u64, true);
        };
        let name = self.dictionary.text(function.name).as_bytes();
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
pub(crate) fn functions(dictionary: &Dictionary, rows: &[u32]) -> Vec<u32> {
    let file = |row: &u32| dictionary.functions.get(*row as usize).map(|row| row.filename);
    let files = ranks(dictionary, rows.iter().filter_map(file));
    let mut order = rows.to_vec();
    words::sort(&Functions { dictionary, files }, &mut order);
    order
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

/// The strings that are reached, as they are first [used](in_order_of_use); then the others in their order.
pub(super) fn strings(profiles: &Profiles, reach: &Reach) -> Vec<u32> {
    let mut order = Vec::with_capacity(reach.rows.strings.len());
    // Row 0 has its place.
    let mut left: Vec<bool> = reach.new.strings.iter().map(|id| id.number() != 0).collect();
    let mut use_text = |id: StringId| {
        if let Some(left) = left.get_mut(id.row())
            && std::mem::replace(left, false)
        {
            order.push(id.0);
        }
    };
    let rows = [&reach.rows.mappings[..], &reach.rows.attributes, &reach.rows.functions];
    in_order_of_use(&profiles.dictionary, profiles.iter(), rows, &mut use_text);
    reach.rows.strings.iter().for_each(|&row| use_text(StringId(row)));
    order
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
