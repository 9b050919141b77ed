//! Profiles apart: each with a dictionary of its own, of what it reaches.
//!
//! A format of one profile a file, or with tables in every profile, is written from these, so that
//! the time for a profile is that of what it holds, not that of the payload.
//!
//! ```text
//! dictionary of all ─► reach of profile 1 ─► Subset 1   marks cleared by the rows that were set,
//!                  └─► reach of profile 2 ─► Subset 2   not by the size of the dictionary
//! ```

use crate::builder::reach::Reach;
use crate::format::columns::Joined;
use crate::format::layout::Order;
use crate::format::losses::{self, Losses};
use crate::model::dictionary::Dictionary;
use crate::model::id::{MappingId, StringId};
use crate::model::profile::Profile;

/// Takes profiles out of a payload, one after the other.
pub(crate) struct Subsets<'a> {
    dictionary: &'a Dictionary,
    reach: Reach,
    /// Of the rows of the whole payload, where they have another one than the dictionary.
    order: Option<Order>,
    /// By mapping: whether a profile taken before has it.
    ///
    /// A mapping that is first here and was in a profile before is probably a library.
    taken: Vec<bool>,
}

/// Some profiles that are one on the wire, and the rows they reach.
pub(crate) struct Subset {
    /// Rows in the order of the payload's, but for the main binary, which comes first.
    pub(crate) dictionary: Dictionary,
    profiles: Vec<Profile>,
}

impl Subset {
    /// They are written as those that they were taken from: whether in the order said, and in which order of samples.
    pub(crate) fn joined(&self, of: &Joined) -> Joined<'_> {
        let profiles = self.profiles.iter().collect();
        Joined { profiles, ordered: of.ordered, order: of.order.clone() }
    }
}

impl<'a> Subsets<'a> {
    /// Room for the marks of all rows, once for all profiles.
    pub(crate) fn of(dictionary: &'a Dictionary, order: Option<Order>) -> Self {
        let taken = vec![false; dictionary.mappings.rows.len()];
        Self { dictionary, reach: Reach::of(dictionary), order, taken }
    }

    /// Takes out profiles, and some texts beside them.
    ///
    /// `texts` are those that the writer needs beside what the profiles say; they come back with
    /// their new ids.
    pub(crate) fn take<const N: usize>(
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
            order.bring(reach);
        }
        if let Some(main) = self.main_binary() {
            losses.add(losses::MAIN_ASSUMED, || self.filename(main).to_owned());
            self.reach.put_first(main);
        }
        let Self { dictionary, reach, taken, .. } = self;
        for &row in reach.rows.of::<MappingId>() {
            if let Some(taken) = taken.get_mut(row as usize) {
                *taken = true;
            }
        }
        let (dictionary, profiles) = reach.apart(dictionary, &joined.profiles);
        let texts = texts.map(|text| reach.new.id(text));
        reach.clear();
        (Subset { dictionary, profiles }, texts)
    }

    /// The mapping to put first, where pprof has the main binary: none where the first is in its
    /// place. That of a library which a profile before has as well comes from that profile.
    fn main_binary(&self) -> Option<MappingId> {
        let mappings = self.reach.rows.of::<MappingId>();
        let first = MappingId(*mappings.first()?);
        let shared = self.taken.get(first.row()).copied().unwrap_or(false);
        if !shared || is_program(self.filename(first)) {
            return None;
        }
        let mut others = mappings.iter().map(|row| MappingId(*row));
        others.find(|id| is_program(self.filename(*id)))
    }

    /// The name of a binary.
    fn filename(&self, id: MappingId) -> &str {
        self.dictionary.text(self.dictionary.mappings.get(id).filename)
    }
}

/// Whether a file may be a program, by its name: neither a library nor something like `[vdso]`.
///
/// `libc.so.6`, `lib_x.dylib`, `[vdso]` and files without a name are none.
pub(crate) fn is_program(filename: &str) -> bool {
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
