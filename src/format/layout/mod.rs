//! The order of rows and samples that a payload is written in. Nothing but the order changes.
//!
//! `Keep` and `Compact` leave out the rows that nothing refers to: they are a copy of the profiles, made once,
//! before any writer. The default is nobody's but that of the generations of OTLP whose stacks are slices of
//! one list; their writer asks here in which order it should take the rows it has, and copies none.
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
//!
//! | `Layout` | rows | samples |
//! |---|---|---|
//! | `Keep` | those that are reached, the most used locations first | as they come |
//! | `Default` | all; only where stacks are slices (1.3 to 1.7) does the writer take them in this order | there by attributes, longest stack first |
//! | `Compact` | those that are reached, in the order above | by attributes, stack and link; zeros of a column last |
//!
//! Decision 37 has what was measured and what is not done.

mod locations;
mod rejoin;
mod samples;
mod stacks;
mod texts;
mod words;
mod zeros;

pub(crate) use locations::{by_function, in_buckets, uses};
pub(crate) use rejoin::rejoined;
pub(crate) use samples::grouped;
pub(crate) use stacks::longest_first;
pub(crate) use texts::{functions, in_order_of_use};
pub(crate) use zeros::written_rows;

use crate::build::reach::Reach;
use crate::format::Encoding;
use crate::format::losses::Losses;
use crate::format::options::Layout;
use crate::format::orphans::{self, Kept};
use crate::model::dictionary::Dictionary;
use crate::model::id::FunctionId;
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
    ///
    /// 127 where row 0, or id 0, takes one of the 128 that a byte has.
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
                short: schema.rows.of_one_byte(),
                splits: schema.has_one_sample_type(),
            },
            Encoding::Pprof => Self { slices: false, in_samples: true, short: 127, splits: false },
            Encoding::OtlpJson | Encoding::Events | Encoding::Own { .. } => return None,
        };
        Some(target)
    }
}

/// A copy of the profiles in the order of a layout, where it has one.
///
/// `None`: the writer takes them as they are. Else it costs a copy of the dictionary and of the
/// samples.
pub(crate) fn laid_out(
    profiles: &Profiles,
    layout: Layout,
    encoding: Encoding,
    losses: &mut Losses,
) -> Option<Profiles> {
    let target = Target::of(encoding)?;
    let compact = match layout {
        Layout::Default => return None,
        Layout::Keep => false,
        Layout::Compact => true,
    };
    Some(reordered(profiles, target, reached(profiles, losses), compact))
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
///
/// In this order, since each order rests on the one before: functions, locations by function,
/// stacks by location, strings by use. Samples come last, when the rows have their new ids.
fn reordered(profiles: &Profiles, target: Target, mut reach: Reach, compact: bool) -> Profiles {
    let dictionary = &profiles.dictionary;
    let mut rows = reach.rows.locations.to_vec();
    if compact {
        reach.order_functions(functions(dictionary, &reach.rows.functions));
        let new = &reach.new.functions;
        let place = |id: FunctionId| new.get(id.row()).map_or(0, |id| id.0);
        rows = by_function(dictionary, rows, place);
    }
    reach.order_locations(in_buckets(rows, || used(profiles, &reach, target), target.short));
    if compact {
        reach.order_stacks(stacks(dictionary, &reach, target));
        reach.order_strings(texts::strings(profiles, &reach));
    }
    let mut resources = profiles.resources.clone();
    resources.iter_mut().for_each(|resource| reach.new.resource_profiles(resource));
    let dictionary = reach.keep(dictionary);
    if compact {
        profiles_of(&mut resources).for_each(|profile| samples::sort(profile, target.splits));
    }
    Profiles { dictionary, resources }
}

/// By location: how often the payload will have it. A stack is written once, or with each sample.
fn used(profiles: &Profiles, reach: &Reach, target: Target) -> Vec<u32> {
    let dictionary = &profiles.dictionary;
    if !target.in_samples {
        return uses(dictionary, reach.rows.stacks.iter().map(|row| (*row, 1)));
    }
    let mut samples = vec![0u32; dictionary.stacks.len()];
    for id in profiles.iter().flat_map(|profile| &profile.samples.stacks) {
        samples[id.row()] += 1;
    }
    uses(dictionary, (0..).zip(samples))
}

/// The stacks as a walk through the tree of calls meets them.
fn stacks(dictionary: &Dictionary, reach: &Reach, target: Target) -> Vec<u32> {
    let order = stacks::by_tree(dictionary, &reach.rows.stacks, |id| reach.new.location(id));
    let length = |row: u32| dictionary.stacks.row(row as usize).len();
    if target.slices { longest_first(&order, length) } else { order }
}
