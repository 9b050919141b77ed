//! Extraction of single profiles, each with a separate dictionary of the rows that it reaches.
//!
//! Writers use this for formats with one profile per file or with tables in every profile. The time for a
//! profile depends on its contents, not on the size of the payload.
//!
//! ```text
//! full dictionary ─► reach of profile 1 ─► Subset 1   only marks that were set are cleared:
//!                 └─► reach of profile 2 ─► Subset 2   the size of the dictionary does not matter
//! ```

use crate::losses::{self, Losses};
use crate::model::dictionary::Dictionary;
use crate::model::id::{MappingId, StringId};
use crate::model::profile::Profile;
use crate::tables::layout::Order;
use crate::tables::profile::columns::Joined;
use crate::tables::rows::reach::Reach;

/// Extracts profiles from a payload one by one.
pub(crate) struct Subsets<'a> {
    dictionary: &'a Dictionary,
    reach: Reach,
    /// The order of the rows of the whole payload, if it differs from that of the dictionary.
    order: Option<Order>,
    /// Whether an earlier profile contains the mapping, by mapping.
    ///
    /// If a mapping of an earlier profile is first in this one, it is probably a library.
    written: Vec<bool>,
}

/// Profiles that are encoded as one, and the rows that they reach.
pub(crate) struct Subset {
    /// The rows in the order of the payload, except that the main binary is first.
    pub(crate) dictionary: Dictionary,
    profiles: Vec<Profile>,
}

impl Subset {
    /// Returns the extracted profiles with the order of columns and samples of the original.
    pub(crate) fn joined(&self, of: &Joined) -> Joined<'_> {
        let profiles = self.profiles.iter().collect();
        Joined { profiles, ordered: of.ordered, leader: of.leader, order: of.order.clone() }
    }
}

impl<'a> Subsets<'a> {
    /// Allocates the marks of all rows once for all profiles.
    pub(crate) fn of(dictionary: &'a Dictionary, order: Option<Order>) -> Self {
        let written = vec![false; dictionary.mappings.rows.len()];
        Self { dictionary, reach: Reach::of(dictionary), order, written }
    }

    /// Extracts profiles with the rows that they reach.
    ///
    /// `texts` are strings that the writer needs besides; it returns their new ids.
    pub(crate) fn extract<const N: usize>(
        &mut self,
        joined: &Joined,
        texts: [StringId; N],
        losses: &mut Losses,
    ) -> (Subset, [StringId; N]) {
        let reach = &mut self.reach;
        joined.profiles.iter().for_each(|profile| reach.profile(profile));
        texts.iter().for_each(|text| reach.mark(*text));
        reach.finish(self.dictionary);
        if let Some(order) = &self.order {
            order.sort(reach);
        }
        if let Some(main) = self.main_binary() {
            losses.add(losses::MAIN_ASSUMED, || self.filename(main).to_owned());
            self.reach.put_first(main);
        }
        let Self { dictionary, reach, written, .. } = self;
        for &row in reach.rows.of::<MappingId>() {
            if let Some(written) = written.get_mut(row as usize) {
                *written = true;
            }
        }
        let (dictionary, profiles) = reach.apart(dictionary, &joined.profiles);
        // Before `clear`, which resets the new ids.
        let texts = texts.map(|text| reach.new.id(text));
        reach.clear();
        (Subset { dictionary, profiles }, texts)
    }

    /// Returns the mapping to put first, where pprof expects the main binary. Returns `None` if the first
    /// mapping may stay.
    ///
    /// Only a library that an earlier profile also contains is replaced: its first place probably stems from
    /// that profile.
    fn main_binary(&self) -> Option<MappingId> {
        let mappings = self.reach.rows.of::<MappingId>();
        let first = MappingId(*mappings.first()?);
        let shared = self.written.get(first.row()).copied().unwrap_or(false);
        // pprof's `Profile.mapping` begins with the main binary by definition, so keep the first one in case of
        // doubt.
        if !shared || is_program(self.filename(first)) {
            return None;
        }
        let mut others = mappings.iter().map(|row| MappingId(*row));
        others.find(|id| is_program(self.filename(*id)))
    }

    /// Returns the file name of a mapping.
    fn filename(&self, id: MappingId) -> &str {
        self.dictionary.text(self.dictionary.mappings.get(id).filename)
    }
}

/// Returns whether a file may be a program, judged by its name.
///
/// Libraries such as `libc.so.6` and `lib_x.dylib`, pseudo files such as `[vdso]`, and empty names are not
/// programs.
pub(crate) fn is_program(filename: &str) -> bool {
    // Linux appends this in `/proc/PID/maps` to the name of a file that was removed.
    let name = filename.trim_end_matches("(deleted)").trim_end();
    let versioned =
        |(at, _): (usize, &str)| name[at..].trim_start_matches(".so").starts_with(['.', '_']);
    let library = name.ends_with(".so")
        || name.ends_with(".dylib")
        || name.ends_with(".dll")
        || name.match_indices(".so").any(versioned);
    !name.is_empty() && !name.starts_with('[') && !library
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_told_from_libraries_by_their_names() {
        for name in ["/usr/bin/python3.12", "/app/server (deleted)", "a.out", "resolver.sock"] {
            assert!(is_program(name), "{name}");
        }
        for name in ["", "[vdso]", "/lib/libc.so.6", "/lib/libm.so", "libz.so.1 (deleted)"] {
            assert!(!is_program(name), "{name}");
        }
    }
}
