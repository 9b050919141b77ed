//! The order of rows and samples that a payload is written in. Nothing but the order changes.
//!
//! Writers ask here in which order they should take the rows they have, and copy none but samples for the compact
//! layout. `Keep` and `Compact` leave out the rows that nothing refers to. The default is an order only for the
//! generations of OTLP whose stacks are slices of one list.
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
mod order;
mod rejoin;
mod samples;
mod stacks;
mod texts;
mod zeros;

use std::borrow::Cow;

pub(crate) use order::{Order, Target};
pub(crate) use rejoin::rejoined;
pub(crate) use samples::grouped;
pub(crate) use stacks::longest_first;
pub(crate) use zeros::written_rows;

use crate::format::options::Layout;
use crate::model::profile::Profile;
use crate::model::{Profiles, ResourceProfiles, ScopeProfiles};

/// The order of the rows of a payload in a layout that has one, and its profiles, with their samples in order.
///
/// `None`: all rows are written; the profiles are borrowed where samples keep their order.
pub(crate) fn laid_out(
    profiles: &Profiles,
    layout: Layout,
    target: Target,
) -> (Option<Order>, Cow<'_, [ResourceProfiles]>) {
    let compact = match layout {
        Layout::Default => return (None, Cow::Borrowed(&profiles.resources)),
        Layout::Keep => false,
        Layout::Compact => true,
    };
    let order = Order::of_reached(profiles, target, compact);
    let mut resources = Cow::Borrowed(&profiles.resources[..]);
    if compact {
        let place = |stack| order.stacks.place(stack) as usize;
        profiles_of(resources.to_mut())
            .for_each(|profile| samples::sort(profile, target.splits, place));
    }
    (Some(order), resources)
}

fn profiles_of(resources: &mut [ResourceProfiles]) -> impl Iterator<Item = &mut Profile> {
    let resources = resources.iter_mut().filter_map(ResourceProfiles::parts_mut);
    let scopes = resources.flat_map(|parts| &mut parts.scopes).filter_map(ScopeProfiles::parts_mut);
    scopes.flat_map(|parts| &mut parts.profiles)
}
