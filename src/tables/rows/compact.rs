//! Removes unreferenced rows.

use crate::model::Profiles;
use crate::tables::rows::merge::Remap;
use crate::tables::rows::reach::Reach;

/// Removes the rows of the dictionary that no profile refers to, directly or indirectly. The remaining rows keep
/// their order. Moves nothing if every row is referenced. The rows of `kept` stay, with everything they refer to.
pub(crate) fn compact(profiles: &mut Profiles, kept: &[Remap]) {
    let dictionary = &profiles.dictionary;
    let mut reach = Reach::of(dictionary);
    profiles.iter().for_each(|profile| reach.profile(profile));
    reach.tree(&profiles.resources);
    kept.iter().for_each(|kept| reach.rows_of(kept));
    reach.finish(dictionary);
    if reach.is_all() {
        return;
    }
    profiles.dictionary = reach.keep(dictionary);
    profiles.resources.iter_mut().for_each(|resource| reach.new.resource_profiles(resource));
}

impl Profiles {
    /// Removes the rows of the dictionary that no profile refers to, directly or indirectly: the specification asks
    /// writers not to send such orphans. The remaining rows keep their order. Profiles of a
    /// [`Builder`](crate::Builder) have no orphans.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// # let file = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    /// let mut profiles = otlp_profiles::read(&file, &Default::default())?.profiles;
    /// let before = profiles.dictionary().strings().len();
    /// profiles.compact();
    /// assert!(profiles.dictionary().strings().len() <= before);
    /// # Ok(()) }
    /// ```
    pub fn compact(&mut self) {
        compact(self, &[]);
    }
}
