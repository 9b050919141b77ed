//! Sorting the stack table.

use crate::look::{By, Nodes, Rules};
use crate::model::dictionary::Dictionary;
use crate::model::id::StackId;
use crate::model::ragged::Ragged;
use crate::model::{Profiles, ResourceProfiles, ScopeProfiles};

/// Sorts the stack table by the names of frames, from the root to the leaf. Samples keep their order.
///
/// In this order, a stack shares its known frames with the stack before. So a reader builds the tree of all calls in one
/// pass and needs no hash table, and the table compresses better. Frames have the names of reports. The time is that of a
/// sort of the stacks.
///
/// ```
/// use otlp_profiles::transform::sort_stacks;
/// # let bytes = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
///
/// let mut profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// sort_stacks(&mut profiles);
/// let dictionary = profiles.dictionary();
/// let roots = dictionary.stacks().rows().skip(1).filter_map(|stack| stack.last());
/// let names: Vec<_> = roots.map(|root| dictionary.location_frames(*root).last().unwrap().name()).collect();
/// assert!(names.is_sorted());
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn sort_stacks(profiles: &mut Profiles) {
    let dictionary = &mut profiles.dictionary;
    let keys = StackKeys::new(dictionary);
    let rows = dictionary.stacks.len() as u32;
    // Row 0 is the empty stack.
    let mut order: Vec<u32> = (0..rows).collect();
    if let Some(order) = order.get_mut(1..) {
        order.sort_unstable_by(|a, b| keys.of(*a).cmp(keys.of(*b)).then(a.cmp(b)));
    }
    let mut stacks = Ragged::default();
    let mut new = vec![StackId::NONE; order.len()];
    for (row, old) in (0..).zip(&order) {
        stacks.items.extend_from_slice(dictionary.stacks.row(*old as usize));
        stacks.end_row();
        new[*old as usize] = StackId(row);
    }
    dictionary.stacks = stacks;
    let resources = profiles.resources.iter_mut().filter_map(ResourceProfiles::parts_mut);
    let scopes = resources.flat_map(|parts| &mut parts.scopes).filter_map(ScopeProfiles::parts_mut);
    for profile in scopes.flat_map(|parts| &mut parts.profiles) {
        if let Some(parts) = profile.parts_mut() {
            parts.samples.stacks.iter_mut().for_each(|stack| *stack = new[stack.row()]);
        }
    }
}

/// The ranks of the names of every stack, root first, end to end.
struct StackKeys {
    items: Vec<u32>,
    ends: Vec<usize>,
}

impl StackKeys {
    fn new(dictionary: &Dictionary) -> Self {
        let rules = Rules::of_diff(&By::Function, None);
        let mut nodes = Nodes::new(rules);
        let frames = nodes.frames(dictionary, rules);
        nodes.tell_apart();
        let mut sorted: Vec<_> = (0..nodes.len() as u32).map(|at| (nodes.name(at), at)).collect();
        sorted.sort_unstable();
        let mut ranks = vec![0; sorted.len()];
        for (rank, (_, node)) in (0..).zip(sorted) {
            ranks[node as usize] = rank;
        }
        let (mut items, mut ends) = (Vec::new(), Vec::with_capacity(dictionary.stacks.len()));
        for stack in dictionary.stacks.rows() {
            let nodes = stack.iter().rev().flat_map(|location| frames.of(*location).iter().rev());
            items.extend(nodes.map(|node| ranks[*node as usize]));
            ends.push(items.len());
        }
        Self { items, ends }
    }

    fn of(&self, row: u32) -> &[u32] {
        let row = row as usize;
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start..self.ends[row]]
    }
}
