//! The order of rows and samples in a payload. A layout changes only the order and drops unreferenced rows.
//!
//! Writers use it to iterate over existing rows in another order. Only the samples of the compact layout are
//! copied. `Keep` and `Compact` drop unreferenced rows. The default layout reorders only for generations of
//! OTLP whose stacks are slices of one list.
//!
//! Order matters for size: small indices take fewer bytes, and gzip finds repetitions only within the last 32
//! KiB.
//!
//! ```text
//! functions   by file, first line, name      names of a file share prefixes
//! strings     in the order of first use      so those of a file are adjacent as well
//! locations   by binary, function, line      in three buckets: the 127 most used, whose index takes
//!                                            a byte, those of two bytes, and the rest
//! stacks      slices of one list: longest first, so that most lengths equal the previous one;
//!             in the compact layout otherwise in the order of a walk through the call tree
//! samples     by their attributes, then by stack
//! ```
//!
//! | `Layout` | rows | samples |
//! |---|---|---|
//! | `Keep` | referenced rows, the most used locations first | unchanged |
//! | `Default` | all rows; in the order above only if stacks are slices (1.3 to 1.7) | if stacks are slices, by attributes, longest stack first |
//! | `Compact` | referenced rows, in the order above | by attributes, stack and link; zeros of a column last |
//!
//! Decision 37 has the measurements and the rejected alternatives.

mod locations;
mod order;
mod rejoin;
mod samples;
mod stacks;
mod string_order;
mod zeros;

use std::borrow::Cow;

pub(crate) use order::{Order, Target};
pub(crate) use rejoin::rejoined;
pub(crate) use samples::grouped;
pub(crate) use stacks::longest_first;
pub(crate) use zeros::written_rows;

use crate::model::profile::Profile;
use crate::model::{Profiles, ResourceProfiles, ScopeProfiles};
use crate::write_options::Layout;

/// Returns the order of rows in a layout that has one, and the profiles with ordered samples.
///
/// If the order is `None`, all rows are written. Profiles are borrowed if samples keep their order.
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
        let place = |stack| order.stacks.position(stack) as usize;
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
