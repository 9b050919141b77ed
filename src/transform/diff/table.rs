//! Values by key, of one payload.

use std::collections::BTreeMap;
use std::slice::Iter;

use crate::error::Result;
use crate::escape;
use crate::look::{By, Frames, Nodes, Rename, Rules, Values, Weights};
use crate::model::dictionary::Dictionary;
use crate::model::id::LocationId;
use crate::model::measures;
use crate::model::profile::Profile;
use crate::model::samples::SampleRef;
use crate::model::{Profiles, SampleType};
use crate::output_limit::OutputLimit;
use crate::tables::profile::covered::Covered;

/// The meaning of a row of a diff. Frames are identified and named as in [`look`](crate::look): without their address, so
/// that unsymbolized frames of two runs match.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiffBy {
    /// A function: its name and file, or the binary of a frame without a function. The name alone is shown if no other row
    /// has it.
    #[default]
    Function,
    /// A source file.
    File,
    /// A line of a function.
    Line,
    /// A binary.
    Mapping,
    /// A stack: the names of its functions, since addresses and lines change between builds.
    Stack,
    /// A value of an attribute: see [`By::Attribute`].
    Attribute(String),
    /// The whole profile.
    Total,
}

impl DiffBy {
    /// The granularity of frames.
    pub(super) fn frames(&self) -> By {
        match self {
            Self::Function => By::FileFunction,
            Self::File => By::File,
            Self::Line => By::Line,
            Self::Mapping => By::Mapping,
            Self::Attribute(key) => By::Attribute(key.clone()),
            Self::Stack | Self::Total => By::Function,
        }
    }
}

/// The key of a row: a node, which all tables of a comparison share.
pub(super) type Key = u32;

/// The values of one sample type.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub(super) rows: BTreeMap<Key, i128>,
    pub(super) total: i128,
    /// The time that the profiles cover.
    pub(super) covered: Covered,
    /// The number of samples, if the profiles count them.
    pub(super) count: Option<i128>,
}

impl Table {
    /// The values of a sample type. The time is linear in the samples and the frames of distinct stacks.
    ///
    /// `covered` has the time that each profile covers; after its end, the intervals of the profiles count.
    ///
    /// # Errors
    ///
    /// The names of stacks exceed the output limit.
    pub(super) fn of<'a>(
        profiles: &'a Profiles,
        kind: SampleType<'_>,
        rows: &mut Rows<'a, '_>,
        covered: &mut Iter<'_, Covered>,
    ) -> Result<Self> {
        let mut table = Self::default();
        let dictionary = profiles.dictionary();
        let mut weights = Weights::new(dictionary, rows.frames);
        for (entry, own) in profiles.entries().zip(Covered::each(profiles.entries())) {
            let (profile, covered) = (entry.profile(), covered.next().unwrap_or(&own));
            let Some((column, factor)) = kind.column(profile, profiles.dictionary()) else {
                continue;
            };
            table.covered.join(covered);
            let mut total = 0;
            weights.enter(&entry);
            for sample in profile.samples() {
                let value = value(profile, &sample, column) * factor;
                total += value;
                if value != 0 {
                    weights.add(dictionary, &mut rows.nodes, &sample, (value, 0));
                }
            }
            table.total += total;
            let count = count(profile, column, total / factor.max(1), profiles.dictionary());
            table.count = table.count.map_or(count, |sum| Some(sum + count?));
        }
        table.rows = rows.sums(dictionary, &weights, table.total)?;
        Ok(table)
    }

    /// Adds the values of another payload.
    pub(super) fn add(&mut self, other: &Self) {
        for (key, value) in &other.rows {
            *self.rows.entry(*key).or_default() += value;
        }
        self.total += other.total;
        self.covered.append(&other.covered, self.covered.payloads());
        self.count = self.count.zip(other.count).map(|(ours, theirs)| ours + theirs);
    }
}

/// The value of one column of a sample.
fn value(profile: &Profile, sample: &SampleRef<'_>, column: usize) -> i128 {
    match profile.sample_types().len() {
        0 | 1 => measures::sum(sample.values, sample.timestamps_unix_nano),
        _ => sample.values.get(column).copied().unwrap_or_default().into(),
    }
}

/// The number of samples: the sum of a column `samples` in `count`, or the total by the period.
fn count(profile: &Profile, column: usize, total: i128, dictionary: &Dictionary) -> Option<i128> {
    let types = profile.sample_types();
    let text = |id| dictionary.text(id);
    let is_count = |(name, unit)| name == "samples" && unit == "count";
    let counts = types.iter().position(|of| is_count((text(of.name), text(of.unit))));
    if let Some(counts) = counts {
        return profile.sums().get(counts).copied();
    }
    let (of, period) = (types.get(column)?, profile.period_type());
    let is_period = (text(of.name), text(of.unit)) == (text(period.name), text(period.unit));
    (is_period && profile.period() > 0).then(|| total / i128::from(profile.period()))
}

/// The rows of a comparison.
pub(super) struct Rows<'a, 'o> {
    pub(super) nodes: Nodes<'a>,
    by: &'o DiffBy,
    /// The granularity of frames.
    frames: &'o By,
    rename: Option<Rename<'o>>,
    /// The bytes of the names of stacks, and their limit.
    bytes: u64,
    limit: OutputLimit,
}

impl<'a, 'o> Rows<'a, 'o> {
    pub(super) fn new(
        by: &'o DiffBy,
        frames: &'o By,
        rename: Option<Rename<'o>>,
        limit: OutputLimit,
    ) -> Self {
        let nodes = Nodes::new(Rules::of_diff(frames, rename));
        Self { nodes, by, frames, rename, bytes: 0, limit }
    }

    /// The sums of the rows of a payload other than 0. A sample counts once for a row.
    fn sums(
        &mut self,
        dictionary: &'a Dictionary,
        weights: &Weights<'a, '_>,
        total: i128,
    ) -> Result<BTreeMap<Key, i128>> {
        if *self.by == DiffBy::Total {
            let node = self.nodes.named("total".to_owned());
            return Ok(BTreeMap::from([(node, total)]));
        }
        let frames = self.nodes.frames(dictionary, Rules::of_diff(self.frames, self.rename));
        let mut rows = BTreeMap::new();
        if *self.by == DiffBy::Stack {
            for (stack, (value, _)) in dictionary.stacks().rows().zip(&weights.stacks) {
                if *value != 0 {
                    let node = self.stack(stack, &frames)?;
                    *rows.entry(node).or_default() += value;
                }
            }
        } else {
            let values = Values::new(dictionary, &self.nodes, &frames, weights);
            rows.extend((0..).zip(values.cum));
        }
        rows.retain(|_, value: &mut i128| *value != 0);
        Ok(rows)
    }

    /// The row of a stack: the names of its functions, the root first.
    fn stack(&mut self, stack: &[LocationId], frames: &Frames) -> Result<Key> {
        let nodes = stack.iter().flat_map(|location| frames.of(*location)).rev();
        let mut name = String::new();
        for (at, node) in nodes.enumerate() {
            let frame = self.nodes.name(*node);
            self.bytes += frame.len() as u64 + 1;
            self.limit.check(self.bytes)?;
            name.extend((at > 0).then_some(';'));
            name += &escape::folded(&frame);
        }
        Ok(self.nodes.named(name))
    }
}
