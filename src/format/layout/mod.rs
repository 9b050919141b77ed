//! The order of rows and samples that a payload is written in: a copy of the profiles in another
//! order, made once, before any writer. Nothing but the order changes, and rows that nothing refers
//! to are left out.
//!
//! Why orders matter: small indices take fewer bytes, and gzip finds what is alike only within the
//! last 32 KiB.
//!
//! ```text
//! functions   by file, first line, name      names of a file share their beginnings
//! strings     as they are first used         so those of a file stand together as well
//! locations   by binary, function, line      in three buckets: the 127 most used, whose index takes
//!                                            a byte, those of two bytes, and the rest
//! stacks      where they are slices of one list, the longest first: then a length is that of the stack
//!             before, or nearly; in the compact layout as a walk through the tree of calls meets them
//! samples     by their attributes, then by stack
//! ```

mod locations;
mod rejoin;
mod samples;
mod stacks;
mod texts;
mod words;
mod zeros;

pub(crate) use rejoin::rejoined;
pub(crate) use stacks::longest_first;
pub(crate) use zeros::written_rows;

use crate::build::reach::Reach;
use crate::format::Encoding;
use crate::format::losses::Losses;
use crate::format::options::Layout;
use crate::format::orphans::{self, Kept};
use crate::format::otlp::schema::Rows;
use crate::model::dictionary::Dictionary;
use crate::model::profile::Profile;
use crate::model::{Profiles, ResourceProfiles, ScopeProfiles};

/// What the order of rows means to a format.
#[derive(Clone, Copy, Debug)]
struct Target {
    /// Whether stacks are slices of one list.
    slices: bool,
    /// Whether every sample says its locations itself.
    in_samples: bool,
    /// How many rows of a table have indices of one byte.
    short: usize,
    /// Whether a profile may have one sample type only.
    splits: bool,
}

impl Target {
    fn of(encoding: Encoding) -> Option<Self> {
        let target = match encoding {
            Encoding::Otlp(schema) => Self {
                slices: schema.tables.stack == 0,
                in_samples: false,
                short: if schema.rows == Rows::NullFirst { 127 } else { 128 },
                splits: schema.has_one_sample_type(),
            },
            Encoding::Pprof => Self { slices: false, in_samples: true, short: 127, splits: false },
            Encoding::OtlpJson | Encoding::Events | Encoding::Own { .. } => return None,
        };
        Some(target)
    }
}

/// The profiles in the order of a layout, where that is not the order they have.
pub(crate) fn laid_out(
    profiles: &Profiles,
    layout: Layout,
    encoding: Encoding,
    losses: &mut Losses,
) -> Option<Profiles> {
    let target = Target::of(encoding)?;
    match layout {
        Layout::Default if !target.slices => None,
        Layout::Default => {
            Some(reordered(profiles, target, Reach::of_all(&profiles.dictionary), layout))
        }
        Layout::Keep | Layout::Compact => {
            Some(reordered(profiles, target, reached(profiles, losses), layout))
        }
    }
}

fn profiles_of(resources: &mut [ResourceProfiles]) -> impl Iterator<Item = &mut Profile> {
    let resources = resources.iter_mut().filter_map(ResourceProfiles::parts_mut);
    let scopes = resources.flat_map(|parts| &mut parts.scopes).filter_map(ScopeProfiles::parts_mut);
    scopes.flat_map(|parts| &mut parts.profiles)
}

/// What the profiles reach; the rest is counted.
fn reached(profiles: &Profiles, losses: &mut Losses) -> Reach {
    let reach = Reach::of_payload(profiles);
    let kept = Kept { tables: false, links: false, attributes: false, stacks: false };
    orphans::note(profiles, Some(&reach), kept, losses);
    reach
}

/// The profiles with the rows of `reach`: the most used locations first, or all in another order.
fn reordered(profiles: &Profiles, target: Target, mut reach: Reach, layout: Layout) -> Profiles {
    let dictionary = &profiles.dictionary;
    if layout != Layout::Keep {
        reach.order_functions(texts::functions(dictionary, &reach.rows.functions));
    }
    let locations = match layout {
        Layout::Keep => reach.rows.locations.to_vec(),
        Layout::Default | Layout::Compact => locations::by_function(dictionary, &reach),
    };
    let uses = || locations::uses(profiles, &reach, target.in_samples);
    let locations = locations::in_buckets(locations, uses, target.short);
    reach.order_locations(locations);
    if layout == Layout::Compact {
        reach.order_stacks(stacks(dictionary, &reach, target));
    }
    if layout != Layout::Keep {
        reach.order_strings(texts::strings(profiles, &reach, layout == Layout::Compact));
    }
    let mut resources = profiles.resources.clone();
    resources.iter_mut().for_each(|resource| reach.new.resource_profiles(resource));
    let dictionary = reach.keep(dictionary);
    for profile in profiles_of(&mut resources) {
        match layout {
            Layout::Default if !profile.in_order => samples::group(profile, &dictionary),
            Layout::Compact => samples::sort(profile, target.splits),
            Layout::Default | Layout::Keep => {}
        }
    }
    Profiles { dictionary, resources }
}

/// The stacks as a walk through the tree of calls meets them.
fn stacks(dictionary: &Dictionary, reach: &Reach, target: Target) -> Vec<u32> {
    let order = stacks::by_tree(dictionary, &reach.rows.stacks, |id| reach.new.location(id));
    let length = |row: u32| dictionary.stacks.row(row as usize).len();
    if target.slices { longest_first(&order, length) } else { order }
}
