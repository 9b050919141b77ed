//! Values of nodes, and of the calls between them.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::look::label::Labels;
use crate::look::node::{Frames, Nodes};
use crate::look::options::{By, Options};
use crate::look::report::Inline;
use crate::model::dictionary::Dictionary;
use crate::model::{Entry, SampleRef};

/// The value of every stack.
///
/// Samples of one stack are added up first, so that each stack is walked once.
pub(crate) struct Weights<'a, 'o> {
    /// By stack: the sum, and the sum of the divisors of a mean.
    pub(crate) stacks: Vec<(i128, i128)>,
    /// By stack: whether a sample has a value other than 0.
    touched: Vec<bool>,
    /// The nodes of samples with the attribute of [`By::Attribute`], in place of their stacks.
    direct: Vec<(u32, i128, i128)>,
    /// The key of the attribute.
    key: Option<&'o str>,
    labels: Labels<'a>,
}

impl<'a, 'o> Weights<'a, 'o> {
    pub(crate) fn new(dictionary: &Dictionary, by: &'o By) -> Self {
        let stacks = dictionary.stacks().len().max(1);
        let key = if let By::Attribute(key) = by { Some(&**key) } else { None };
        let (direct, labels) = (Vec::new(), Labels::default());
        Self { stacks: vec![(0, 0); stacks], touched: vec![false; stacks], direct, key, labels }
    }

    /// Goes to the samples of another profile.
    pub(crate) fn enter(&mut self, entry: &Entry<'a>) {
        if self.key.is_some() {
            self.labels.enter(entry);
        }
    }

    /// Adds a sample of the profile, with the divisor of a mean.
    pub(crate) fn add(
        &mut self,
        dictionary: &Dictionary,
        nodes: &mut Nodes<'a>,
        sample: &SampleRef<'_>,
        (value, divisor): (i128, i128),
    ) {
        if let Some(key) = self.key {
            let text = self.labels.text(dictionary, sample, key);
            // Without frames, none of them can have the attribute.
            let is_missing = dictionary.stack(sample.stack).is_empty();
            if let Some(text) = text.or_else(|| is_missing.then(Default::default)) {
                self.direct.push((nodes.valued(text), value, divisor));
                return;
            }
        }
        let (sum, divisors) = &mut self.stacks[sample.stack.row()];
        *sum += value;
        *divisors += divisor;
        self.touched[sample.stack.row()] = true;
    }
}

/// The values of all nodes.
#[derive(Debug)]
pub(crate) struct Values {
    pub(super) flat: Vec<i128>,
    pub(crate) cum: Vec<i128>,
    /// The divisors of a mean.
    pub(super) flat_divisor: Vec<i128>,
    pub(super) cum_divisor: Vec<i128>,
}

impl Values {
    /// Adds up the values: flat at the leaf of each stack, cumulative once at each node of it.
    pub(crate) fn new(
        dictionary: &Dictionary,
        nodes: &Nodes<'_>,
        frames: &Frames,
        weights: &Weights<'_, '_>,
    ) -> Self {
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
            for node in stack.iter().flat_map(|location| frames.of(*location)) {
                let node = *node as usize;
                // A recursive function counts once for each stack.
                if std::mem::replace(&mut last[node], row) != row {
                    values.cum[node] += value;
                    values.cum_divisor[node] += divisor;
                }
            }
            if let Some(leaf) = stack.first().and_then(|location| frames.of(*location).first()) {
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
    frames: &Frames,
    weights: &Weights<'_, '_>,
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
            let of_location = frames.of(*location);
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
pub(super) fn inlined(dictionary: &Dictionary, frames: &Frames, nodes: usize) -> Vec<bool> {
    let mut marks = vec![false; nodes];
    for row in 0..dictionary.locations().len() {
        let of_location = frames.of(crate::model::LocationId(row as u32));
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
