//! The rows of a dictionary to write, and their order.
//!
//! Each order depends on earlier ones: functions, locations by function, stacks by location, strings by the
//! rows that use them.

use crate::losses::{self, Losses};
use crate::model::Profiles;
use crate::model::dictionary::Dictionary;
use crate::model::id::{AttributeId, FunctionId, LinkId, LocationId, StackId, StringId};
use crate::model::profile::Profile;
use crate::schema::{Capabilities, Version};
use crate::tables::layout::locations::{by_function, in_buckets, uses, uses_of_all};
use crate::tables::layout::stacks::{by_tree, longest_first};
use crate::tables::layout::string_order::{functions, in_order_of_use};
use crate::tables::rows::reach::Reach;
use crate::tables::write::select::RowSelection;

/// Properties of a format that affect the order of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// Whether stacks are slices of one list.
    slices: bool,
    /// Whether every sample contains its locations.
    in_samples: bool,
    /// The number of rows of a table with one-byte indices.
    ///
    /// 127 if row 0, or id 0, takes one of the 128.
    short: usize,
    /// Whether a profile has only one sample type.
    pub(super) splits: bool,
}

impl Target {
    pub(crate) const PPROF: Self =
        Self { slices: false, in_samples: true, short: 127, splits: false };

    pub(crate) fn otlp(version: Version) -> Self {
        let Capabilities { stack_table, rows, several_sample_types, .. } = *version.capabilities();
        Self {
            slices: !stack_table,
            in_samples: false,
            short: rows.of_one_byte(),
            splits: !several_sample_types,
        }
    }
}

/// The rows of each table to write, in order. Mappings are always written unchanged.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) functions: RowSelection,
    pub(crate) locations: RowSelection,
    pub(crate) links: RowSelection,
    pub(crate) attributes: RowSelection,
    pub(crate) stacks: RowSelection,
    /// The strings to write first, in the order of their first use.
    pub(crate) strings: RowSelection,
}

impl Order {
    /// Returns all rows in their existing order.
    pub(crate) fn whole(dictionary: &Dictionary) -> Self {
        Self {
            functions: RowSelection::All(dictionary.functions.len()),
            locations: RowSelection::All(dictionary.locations.len()),
            links: RowSelection::All(dictionary.links.len()),
            attributes: RowSelection::All(dictionary.attributes.len()),
            stacks: RowSelection::All(dictionary.stacks.len()),
            strings: RowSelection::NONE,
        }
    }

    /// Returns all rows in the order of the default layout for stacks that are slices of one list.
    ///
    /// Attributes do not affect the order of strings, because some become fields, and unreferenced ones are
    /// not always written. Otherwise a round trip would change the order.
    pub(crate) fn of_slices(
        dictionary: &Dictionary,
        profiles: &[&Profile],
        target: Target,
    ) -> Self {
        let all = |rows: usize| (1..rows as u32).collect::<Vec<u32>>();
        let whole = Self::whole(dictionary);
        let functions = sorted_functions(dictionary, &all(dictionary.functions.len()));
        let place = |id: FunctionId| functions.position(id.0);
        let rows = by_function(dictionary, &all(dictionary.locations.len()), place);
        let rows = in_buckets(rows, || uses_of_all(dictionary), target.short);
        let locations = RowSelection::ordered(rows, dictionary.locations.len());
        let strings = named(dictionary, profiles.iter().copied(), &[], &functions);
        Self { functions, locations, strings, ..whole }
    }

    /// Returns the rows that a payload reaches: the most used locations first or, if `compact`, all tables
    /// reordered.
    pub(super) fn of_reached(payload: &Profiles, target: Target, compact: bool) -> Self {
        let dictionary = &payload.dictionary;
        let uses = uses(dictionary, &written(payload, target));
        let rows = Reach::rows_of_payload(payload, &uses);
        let functions = match compact {
            true => sorted_functions(dictionary, rows.of::<FunctionId>()),
            false => {
                RowSelection::ordered(rows.of::<FunctionId>().to_vec(), dictionary.functions.len())
            }
        };
        let place = |id: FunctionId| functions.position(id.0);
        let locations = match compact {
            true => by_function(dictionary, rows.of::<LocationId>(), place),
            false => rows.of::<LocationId>().to_vec(),
        };
        let locations = in_buckets(locations, || uses, target.short);
        let locations = RowSelection::ordered(locations, dictionary.locations.len());
        let stacks = match compact {
            true => by_tree(
                dictionary,
                rows.of::<StackId>(),
                &locations.positions(dictionary.locations.len()),
            ),
            false => rows.of::<StackId>().to_vec(),
        };
        let length = |row: u32| dictionary.stacks.row(row as usize).len();
        let by_length = compact && target.slices;
        // A stable sort, so stacks of one length keep the order of the tree.
        let stacks = if by_length { longest_first(&stacks, length) } else { stacks };
        let strings = match compact {
            true => named(dictionary, payload.iter(), rows.of::<AttributeId>(), &functions),
            false => RowSelection::NONE,
        };
        Self {
            functions,
            locations,
            links: RowSelection::ordered(rows.of::<LinkId>().to_vec(), dictionary.links.len()),
            attributes: RowSelection::ordered(
                rows.of::<AttributeId>().to_vec(),
                dictionary.attributes.len(),
            ),
            stacks: RowSelection::ordered(stacks, dictionary.stacks.len()),
            strings,
        }
    }

    /// Sorts the rows of `reach` into this order.
    pub(crate) fn sort(&self, reach: &mut Reach) {
        let sorted = |rows: &[u32], order: &RowSelection| {
            let mut rows = rows.to_vec();
            // Rows without a place are last, in their existing order.
            rows.sort_unstable_by_key(|row| (order.position(*row).wrapping_sub(1), *row));
            rows
        };
        reach.order::<FunctionId>(sorted(reach.rows.of::<FunctionId>(), &self.functions));
        reach.order::<LocationId>(sorted(reach.rows.of::<LocationId>(), &self.locations));
        reach.order::<StackId>(sorted(reach.rows.of::<StackId>(), &self.stacks));
        reach.order::<StringId>(sorted(reach.rows.of::<StringId>(), &self.strings));
    }

    /// Counts the dropped rows.
    pub(crate) fn note(&self, dictionary: &Dictionary, losses: &mut Losses) {
        for (table, rows, name) in [
            (dictionary.locations.len(), &self.locations, "location_table"),
            (dictionary.functions.len(), &self.functions, "function_table"),
            (dictionary.links.len(), &self.links, "link_table"),
            (dictionary.stacks.len(), &self.stacks, "stack_table"),
            (dictionary.attributes.len(), &self.attributes, "attribute_table"),
        ] {
            let left = table.saturating_sub(1 + rows.len());
            losses.add_many(losses::ORPHAN_DROPPED, left as u64, || name.to_owned());
        }
    }
}

fn sorted_functions(dictionary: &Dictionary, rows: &[u32]) -> RowSelection {
    RowSelection::ordered(functions(dictionary, rows), dictionary.functions.len())
}

/// Orders strings by their first use, so that those used together are adjacent.
fn named<'p>(
    dictionary: &Dictionary,
    profiles: impl Iterator<Item = &'p Profile>,
    attributes: &[u32],
    functions: &RowSelection,
) -> RowSelection {
    let mappings: Vec<u32> = (1..dictionary.mappings.rows.len() as u32).collect();
    let rows = [&mappings[..], attributes, &functions.list()];
    let mut strings = Vec::new();
    let mut seen = vec![false; dictionary.strings.len()];
    in_order_of_use(dictionary, profiles, rows, |id| {
        if id != StringId::NONE && !std::mem::replace(&mut seen[id.row()], true) {
            strings.push(id.0);
        }
    });
    RowSelection::ordered(strings, seen.len())
}

/// Returns how often the payload will contain each stack: once, or with each sample.
fn written(payload: &Profiles, target: Target) -> Vec<u32> {
    let mut times = vec![0u32; payload.dictionary.stacks.len()];
    for id in payload.iter().flat_map(|profile| &profile.samples.stacks) {
        // A table contains a stack once, however many samples refer to it.
        times[id.row()] = if target.in_samples { times[id.row()] + 1 } else { 1 };
    }
    times
}
