//! Counting of unreferenced rows that a writer drops.
//!
//! A payload may contain unreferenced rows, which have no meaning. A writer whose format has the tables keeps
//! them. A writer that builds new tables writes only referenced rows, and this module counts the others.

use crate::losses::{self, Losses};
use crate::model::Profiles;
use crate::model::id::{AttributeId, FunctionId, Id, LocationId, MappingId};
use crate::model::profile::Profile;
use crate::tables::rows::reach::Reach;
use crate::tables::write::select::marks;

/// The tables that are written with all their rows, unreferenced ones included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    /// Mappings, locations and functions.
    pub(crate) tables: bool,
    /// The table of links, which pprof lacks.
    pub(crate) links: bool,
    pub(crate) attributes: bool,
    /// The table of stacks, which pprof and generations before 1.8 lack.
    pub(crate) stacks: bool,
}

/// Counts unreferenced rows in tables that are not kept. `reach` holds the rows that the profiles reach; it
/// is required if `kept.tables` is false.
pub(crate) fn note(profiles: &Profiles, reach: Option<&Reach>, kept: Kept, losses: &mut Losses) {
    let dictionary = &profiles.dictionary;
    let mut add = |orphans: usize, table: &'static str| {
        losses.add_many(losses::ORPHAN_DROPPED, orphans as u64, || table.to_owned());
    };
    if let Some(reach) = reach.filter(|_| !kept.tables) {
        let rows = &reach.rows;
        // Row 0 is neither reached nor an orphan.
        let unreached = |table: usize, rows: &[u32]| table.saturating_sub(1 + rows.len());
        add(unreached(dictionary.mappings.rows.len(), rows.of::<MappingId>()), "mapping_table");
        add(unreached(dictionary.locations.len(), rows.of::<LocationId>()), "location_table");
        add(unreached(dictionary.functions.len(), rows.of::<FunctionId>()), "function_table");
    }
    if !kept.links {
        let used = samples(profiles, |profile| &profile.samples.links[..]);
        add(unused(dictionary.links.len(), used), "link_table");
    }
    if !kept.stacks {
        let used = samples(profiles, |profile| &profile.samples.stacks[..]);
        add(unused(dictionary.stacks.len(), used), "stack_table");
    }
    if !kept.attributes {
        add(unused_attributes(profiles, reach.filter(|_| !kept.tables)), "attribute_table");
    }
}

/// Iterates over a column of all profiles.
fn samples<'p, T: 'p>(
    profiles: &'p Profiles,
    column: impl Fn(&'p Profile) -> &'p [T],
) -> impl Iterator<Item = &'p T> {
    profiles.iter().flat_map(column)
}

/// Counts unreferenced attributes. Attributes of a mapping or location count as referenced if that row is
/// written.
fn unused_attributes(profiles: &Profiles, reach: Option<&Reach>) -> usize {
    let dictionary = &profiles.dictionary;
    if let Some(reach) = reach {
        return dictionary
            .attributes
            .len()
            .saturating_sub(1 + reach.rows.of::<AttributeId>().len());
    }
    let of_samples = samples(profiles, |profile| &profile.samples.attributes.items[..]);
    let of_profiles = samples(profiles, |profile| &profile.attributes[..]);
    let of_mappings = dictionary.mappings.attributes.items.iter();
    let of_locations = dictionary.locations.attributes.items.iter();
    let used = of_samples.chain(of_profiles).chain(of_mappings).chain(of_locations);
    unused(dictionary.attributes.len(), used)
}

/// Counts the rows, except row 0, that are not in `used`.
fn unused<'i, I: Id + 'i>(rows: usize, used: impl Iterator<Item = &'i I>) -> usize {
    if rows < 2 {
        return 0;
    }
    marks(rows, used.copied()).iter().skip(1).filter(|mark| !**mark).count()
}
