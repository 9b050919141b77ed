//! Rows that nothing refers to, where a writer leaves them out.
//!
//! A payload may have rows that nothing refers to, and they mean nothing. A writer whose format has the tables keeps
//! them as they are; one that makes tables anew writes only what is used, and this counts the difference.

use crate::builder::reach::Reach;
use crate::format::losses::{self, Losses};
use crate::model::Profiles;
use crate::model::id::{AttributeId, FunctionId, LocationId, MappingId};
use crate::model::profile::Profile;

/// Which tables are written with all their rows, whether or not anything refers to them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    /// Mappings, locations and functions.
    pub(crate) tables: bool,
    /// A table of links: pprof has none.
    pub(crate) links: bool,
    pub(crate) attributes: bool,
    /// A table of stacks: generations before 1.8 and pprof have none.
    pub(crate) stacks: bool,
}

/// Counts the rows that nothing refers to and that are not kept. `reach` is what the profiles
/// reach; it is needed where the tables are not kept.
pub(crate) fn note(profiles: &Profiles, reach: Option<&Reach>, kept: Kept, losses: &mut Losses) {
    let dictionary = &profiles.dictionary;
    let mut add = |orphans: usize, table: &'static str| {
        losses.add_many(losses::ORPHAN_DROPPED, orphans as u64, || table.to_owned());
    };
    if let Some(reach) = reach.filter(|_| !kept.tables) {
        let rows = &reach.rows;
        let unreached = |table: usize, rows: &[u32]| table.saturating_sub(1 + rows.len());
        add(unreached(dictionary.mappings.rows.len(), rows.of::<MappingId>()), "mapping_table");
        add(unreached(dictionary.locations.len(), rows.of::<LocationId>()), "location_table");
        add(unreached(dictionary.functions.len(), rows.of::<FunctionId>()), "function_table");
    }
    if !kept.links {
        let used = samples(profiles, |profile| &profile.samples.links[..]);
        add(unused(dictionary.links.len(), used.map(|id| id.row())), "link_table");
    }
    if !kept.stacks {
        let used = samples(profiles, |profile| &profile.samples.stacks[..]);
        add(unused(dictionary.stacks.len(), used.map(|id| id.row())), "stack_table");
    }
    if !kept.attributes {
        add(unused_attributes(profiles, reach.filter(|_| !kept.tables)), "attribute_table");
    }
}

/// A column of all profiles, end to end.
fn samples<'p, T: 'p>(
    profiles: &'p Profiles,
    column: impl Fn(&'p Profile) -> &'p [T],
) -> impl Iterator<Item = &'p T> {
    profiles.iter().flat_map(column)
}

/// What a mapping or location that is written has is used.
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
    unused(dictionary.attributes.len(), used.map(|id| id.row()))
}

/// How many rows of a table, row 0 not among them, are not `used`.
fn unused(rows: usize, used: impl Iterator<Item = usize>) -> usize {
    if rows < 2 {
        return 0;
    }
    let mut marks = vec![false; rows];
    // `for_each`, because a `for` over chained iterators asks at each step which one is next.
    used.for_each(|row| {
        if let Some(mark) = marks.get_mut(row) {
            *mark = true;
        }
    });
    marks.iter().skip(1).filter(|mark| !**mark).count()
}
