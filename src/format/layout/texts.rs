//! Functions by file, and strings as they are first used.

use crate::build::reach::Reach;
use crate::format::layout::words::{self, Words};
use crate::model::Profiles;
use crate::model::dictionary::Dictionary;
use crate::model::id::{Id as _, StringId};
use crate::model::profile::ValueType;

/// Functions by file, first line and name, eight bytes a word.
struct Functions<'a> {
    dictionary: &'a Dictionary,
    /// By string: its place among the files.
    files: Vec<u32>,
}

impl Words for Functions<'_> {
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
pub(super) fn functions(dictionary: &Dictionary, rows: &[u32]) -> Vec<u32> {
    let file = |row: &u32| dictionary.functions.get(*row as usize).map(|row| row.filename);
    let files = ranks(dictionary, rows.iter().filter_map(file));
    let mut order = rows.to_vec();
    words::sort(&Functions { dictionary, files }, &mut order);
    order
}

/// By string: its place among some texts once they are sorted.
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

/// The strings that are reached, as they are first used by what profiles say, by mappings, by
/// attributes if `all` shall count, and by functions in their order; then the others in theirs.
///
/// Attributes that nothing refers to are not written, and some become fields: where they count, what is
/// written is in another order once it is read and written again.
pub(super) fn strings(profiles: &Profiles, reach: &Reach, all: bool) -> Vec<u32> {
    let dictionary = &profiles.dictionary;
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
    for profile in profiles.iter() {
        for &ValueType { name, unit, .. } in
            profile.sample_types.iter().chain([&profile.period_type])
        {
            use_text(name);
            use_text(unit);
        }
    }
    let mappings = reach.rows.mappings.iter();
    mappings.for_each(|&row| use_text(dictionary.mappings.rows[row as usize].filename));
    let attributes = reach.rows.attributes.iter().filter(|_| all);
    for attribute in attributes.map(|&row| &dictionary.attributes[row as usize]) {
        use_text(attribute.key);
        use_text(attribute.unit);
        attribute.value.for_each_text(&mut use_text);
    }
    for function in reach.rows.functions.iter().map(|&row| &dictionary.functions[row as usize]) {
        [function.name, function.system_name, function.filename]
            .into_iter()
            .for_each(&mut use_text);
    }
    reach.rows.strings.iter().for_each(|&row| use_text(StringId(row)));
    order
}
