//! Values of nodes, and of the calls between them.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::look::node::Nodes;
use crate::look::options::{By, Options};
use crate::look::report::Inline;
use crate::look::select::Selection;
use crate::model::dictionary::Dictionary;
use crate::model::{Entry, SampleRef};

/// The value of every stack.
///
/// Samples of one stack are added up first, so that each stack is walked once.
#[derive(Debug)]
pub(super) struct Weights {
    /// By stack: the sum, and the sum of the divisors of a mean.
    stacks: Vec<(i128, i128)>,
    /// By stack: whether a sample has a value other than 0.
    touched: Vec<bool>,
    /// The nodes of samples with the attribute of [`By::Attribute`], in place of their stacks.
    direct: Vec<(u32, i128, i128)>,
}

impl Weights {
    pub(super) fn new(
        dictionary: &Dictionary,
        selection: &Selection<'_>,
        nodes: &mut Nodes<'_>,
        options: &Options,
    ) -> Self {
        let stacks = dictionary.stacks().len().max(1);
        let mut weights =
            Self { stacks: vec![(0, 0); stacks], touched: vec![false; stacks], direct: Vec::new() };
        for (entry, column) in &selection.columns {
            let mut attribute = match &options.by {
                By::Attribute(key) => Some(SampleAttribute::new(entry, key)),
                _ => None,
            };
            for sample in entry.profile().samples() {
                let value = entry.profile().total(sample, *column).into();
                let divisor =
                    if options.mean { entry.profile().total(sample, 0).into() } else { 0 };
                if value == 0 && divisor == 0 {
                    continue;
                }
                let node = attribute.as_mut().and_then(|one| one.node(&sample, nodes));
                if let Some(node) = node {
                    weights.direct.push((node, value, divisor));
                    continue;
                }
                let (sum, divisors) = &mut weights.stacks[sample.stack.row()];
                *sum += value;
                *divisors += divisor;
                weights.touched[sample.stack.row()] = true;
            }
        }
        weights
    }
}

/// Finds the value of an attribute of samples.
struct SampleAttribute<'a> {
    entry: Entry<'a>,
    key: &'a str,
    /// Of the profile, the scope or the resource.
    common: Option<String>,
}

impl<'a> SampleAttribute<'a> {
    fn new(entry: &Entry<'a>, key: &'a str) -> Self {
        let wider = [entry.attributes(), entry.scope_attributes(), entry.resource_attributes()];
        let common = wider.iter().find_map(|attributes| attributes.get(key));
        Self { entry: *entry, key, common: common.map(|value| value.to_string()) }
    }

    fn node(&mut self, sample: &SampleRef<'_>, nodes: &mut Nodes<'_>) -> Option<u32> {
        let own = self.entry.dictionary().resolve(sample.attributes).get(self.key);
        Some(nodes.named(own.map(|value| value.to_string()).or_else(|| self.common.clone())?))
    }
}

/// The values of all nodes.
#[derive(Debug)]
pub(super) struct Values {
    pub(super) flat: Vec<i128>,
    pub(super) cum: Vec<i128>,
    /// The divisors of a mean.
    pub(super) flat_divisor: Vec<i128>,
    pub(super) cum_divisor: Vec<i128>,
}

impl Values {
    /// Adds up the values: flat at the leaf of each stack, cumulative once at each node of it.
    pub(super) fn new(dictionary: &Dictionary, nodes: &Nodes<'_>, weights: &Weights) -> Self {
        let zero = || vec![0; nodes.len()];
        let mut values =
            Self { flat: zero(), cum: zero(), flat_divisor: zero(), cum_divisor: zero() };
        // By node: the last stack with it.
        let mut last = vec![usize::MAX; nodes.len()];
        for (row, stack) in dictionary.stacks().rows().enumerate() {
            if !weights.touched[row] {
                continue;
            }
            let (value, divisor) = weights.stacks[row];
            for node in stack.iter().flat_map(|location| nodes.of(*location)) {
                let node = *node as usize;
                // A recursive function counts once for each stack.
                if std::mem::replace(&mut last[node], row) != row {
                    values.cum[node] += value;
                    values.cum_divisor[node] += divisor;
                }
            }
            if let Some(leaf) = stack.first().and_then(|location| nodes.of(*location).first()) {
                values.flat[*leaf as usize] += value;
                values.flat_divisor[*leaf as usize] += divisor;
            }
        }
        for (node, value, divisor) in &weights.direct {
            let node = *node as usize;
            values.flat[node] += value;
            values.cum[node] += value;
            values.flat_divisor[node] += divisor;
            values.cum_divisor[node] += divisor;
        }
        values
    }

    /// The nodes that pprof shows: those with a value, and under `drop_negative` with a positive one.
    pub(super) fn shown(&self, options: &Options) -> Vec<u32> {
        let is_shown = |node: &u32| {
            let (flat, cum) = (self.flat[*node as usize], self.cum[*node as usize]);
            let is_negative = flat < 0 || (flat == 0 && cum < 0);
            (flat != 0 || cum != 0) && !(options.drop_negative && is_negative)
        };
        (0..self.flat.len() as u32).filter(is_shown).collect()
    }

    /// The flat and the cumulative value of a row, divided if the report is of means.
    pub(super) fn row(&self, node: u32) -> (i128, i128) {
        let node = node as usize;
        let mean = |value: i128, divisor: i128| if divisor == 0 { value } else { value / divisor };
        (
            mean(self.flat[node], self.flat_divisor[node]),
            mean(self.cum[node], self.cum_divisor[node]),
        )
    }
}

/// A call: the sum of all stacks with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) caller: u32,
    pub(super) callee: u32,
    pub(super) weight: i128,
    /// Whether every such call was inlined.
    pub(super) is_inline: bool,
    /// The last stack with it.
    last: usize,
}

/// Which edges a report needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needed<'a> {
    /// By node: whether it is part of the graph. Edges lead over the nodes between.
    pub(super) nodes: Option<&'a [bool]>,
    /// By node: whether edges to it matter.
    pub(super) callees: Option<&'a [bool]>,
}

/// The edges of the graph: caller to callee, once a stack, and not to the same node.
pub(super) fn edges(
    dictionary: &Dictionary,
    nodes: &Nodes<'_>,
    weights: &Weights,
    needed: Needed<'_>,
) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    let mut by_nodes: HashMap<(u32, u32), u32, RandomState> = HashMap::default();
    let is_in = |marks: Option<&[bool]>, node: u32| marks.is_none_or(|marks| marks[node as usize]);
    for (row, stack) in dictionary.stacks().rows().enumerate() {
        if !weights.touched[row] {
            continue;
        }
        let mut parent = None;
        for location in stack.iter().rev() {
            let of_location = nodes.of(*location);
            for (at, &callee) in of_location.iter().enumerate().rev() {
                if !is_in(needed.nodes, callee) {
                    continue;
                }
                // A direct recursion is no edge.
                let caller = parent.replace(callee).filter(|caller| *caller != callee);
                let Some(caller) = caller.filter(|_| is_in(needed.callees, callee)) else {
                    continue;
                };
                let is_inline = at + 1 < of_location.len();
                let edge = *by_nodes.entry((caller, callee)).or_insert_with(|| {
                    edges.push(Edge { caller, callee, weight: 0, is_inline, last: usize::MAX });
                    edges.len() as u32 - 1
                });
                let edge = &mut edges[edge as usize];
                if std::mem::replace(&mut edge.last, row) != row {
                    edge.weight += weights.stacks[row].0;
                    edge.is_inline &= is_inline;
                }
            }
        }
    }
    edges
}

/// Marks the nodes that are inlined in some location.
pub(super) fn inlined(dictionary: &Dictionary, nodes: &Nodes<'_>) -> Vec<bool> {
    let mut marks = vec![false; nodes.len()];
    for row in 0..dictionary.locations().len() {
        let of_location = nodes.of(crate::model::LocationId(row as u32));
        if let Some((_, inlined)) = of_location.split_last() {
            inlined.iter().for_each(|node| marks[*node as usize] = true);
        }
    }
    marks
}

/// How calls to a node were compiled, by the edges to it.
pub(super) fn inline(any_inline: bool, any_other: bool) -> Inline {
    match (any_inline, any_other) {
        (false, _) => Inline::No,
        (true, true) => Inline::Partial,
        (true, false) => Inline::Yes,
    }
}
