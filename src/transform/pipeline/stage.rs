//! The interface of stages.

use std::collections::BTreeSet;
use std::fmt;

use crate::error::Result;
use crate::limits::Limits;
use crate::losses::Losses;
use crate::model::{Profile, Profiles};
use crate::transform::pipeline::item::Item;

/// One step of a [`Pipeline`](super::Pipeline), with what it holds.
///
/// | stage | emits |
/// |---|---|
/// | [`accumulator`](Self::accumulator) | several profiles together |
/// | [`aggregator`](Self::aggregator) | one profile of several |
/// | [`delta`](Self::delta) | the change of totals since the profile before |
/// | [`rate_of_change`](Self::rate_of_change) | the change of all values per second |
/// | [`unit_conversion`](Self::unit_conversion) | values in another unit, other names |
/// | [`arithmetic`](Self::arithmetic) | a sample type that is computed from others |
///
/// ```
/// use otlp_profiles::transform::{Pipeline, Stage, Target};
///
/// let stages = vec![Stage::delta(true, Target::default()), Stage::accumulator(10)];
/// let pipeline = Pipeline::new(stages);
/// ```
pub struct Stage(pub(super) Box<dyn Transformer>);

impl fmt::Debug for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stage").finish_non_exhaustive()
    }
}

/// What stages need and report.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) limits: Limits,
    pub(super) losses: Losses,
}

pub(super) trait Transformer: Send + Sync {
    /// Takes a profile; returns it, another one, or `None` if it is held or dropped.
    fn handle(&mut self, item: Item, context: &mut Context) -> Result<Option<Item>>;

    /// Returns the held profiles that are due at a time in nanoseconds since 1970; at the end, which has no time, all of
    /// them.
    fn flush(&mut self, _now: Option<i128>, _context: &mut Context) -> Result<Vec<Item>> {
        Ok(Vec::new())
    }

    /// Returns a sentence if profiles came, but none with a sample type that the stage is for.
    fn unmatched(&self) -> Option<String> {
        None
    }
}

/// The sample types that came to a stage, until one matched.
#[derive(Debug, Default)]
pub(super) struct Seen {
    others: BTreeSet<String>,
    has_matched: bool,
}

impl Seen {
    pub(super) fn note(
        &mut self,
        profiles: &Profiles,
        mut matches: impl FnMut(&str, &str) -> bool,
    ) {
        if self.has_matched {
            return;
        }
        let dictionary = profiles.dictionary();
        for of in profiles.iter().flat_map(Profile::sample_types) {
            let [name, unit] = [of.name, of.unit].map(|id| dictionary.text(id));
            self.has_matched |= matches(name, unit);
            self.others.insert(format!("{name} ({unit})"));
        }
    }

    /// Returns what did not match, with the sample types that came instead.
    pub(super) fn unmatched(&self, wanted: &str) -> Option<String> {
        let came = || self.others.iter().take(8).map(String::as_str).collect::<Vec<_>>().join(", ");
        let is_unmatched = !self.has_matched && !self.others.is_empty();
        is_unmatched.then(|| format!("{wanted}: there were {}", came()))
    }
}

/// Holds profiles until there are enough.
struct Accumulator {
    size: u64,
    held: Vec<Item>,
}

impl Stage {
    /// Holds profiles until a flush finds at least `size` of them. All leave together, also if there are more. With a
    /// size of 0 profiles pass through.
    pub fn accumulator(size: u64) -> Self {
        Self(Box::new(Accumulator { size, held: Vec::new() }))
    }
}

impl Transformer for Accumulator {
    fn handle(&mut self, item: Item, _context: &mut Context) -> Result<Option<Item>> {
        if self.size == 0 {
            return Ok(Some(item));
        }
        self.held.push(item);
        Ok(None)
    }

    fn flush(&mut self, now: Option<i128>, _context: &mut Context) -> Result<Vec<Item>> {
        let is_due = now.is_none() || self.held.len() as u64 >= self.size;
        Ok(if is_due { std::mem::take(&mut self.held) } else { Vec::new() })
    }
}
