//! The sum of the profiles of one or many inputs.
//!
//! Any thread may add up an input. The sums are appended in the order of the inputs.

use otlp_profiles::Profiles;
use otlp_profiles::transform::{MergeOptions, Merged, Merger};

use crate::exit::{Exit, Failure};
use crate::input::Input;
use crate::notices::Notices;
use crate::numbers::grouped;

/// Profiles that are being added up.
#[derive(Clone)]
pub(crate) struct Sum {
    options: MergeOptions,
    /// The only message so far, unmerged. Reports use it directly, and it can be added again.
    only: Option<Profiles>,
    /// The merged profiles; `None` as long as a single message is unmerged.
    merger: Option<Merger>,
}

impl Sum {
    pub(crate) fn new(options: &MergeOptions) -> Self {
        Self { options: options.clone(), only: None, merger: None }
    }

    /// Adds a message.
    pub(crate) fn add(&mut self, profiles: Profiles) -> Result<(), Failure> {
        if self.only.is_none() && self.merger.is_none() {
            self.only = Some(profiles);
            return Ok(());
        }
        self.merger()?.add(&profiles).map_err(|error| Failure::of(&error, Exit::Input))?;
        self.only = None;
        Ok(())
    }

    /// Merges a single message too, so that the thread that read it does this work.
    pub(crate) fn merge(mut self) -> Result<Self, Failure> {
        self.merger()?;
        Ok(self)
    }

    fn merger(&mut self) -> Result<&mut Merger, Failure> {
        let merger = self.take_merger()?;
        Ok(self.merger.insert(merger))
    }

    /// Takes the merger, or creates one that has the only message so far.
    fn take_merger(&mut self) -> Result<Merger, Failure> {
        if let Some(merger) = self.merger.take() {
            return Ok(merger);
        }
        let mut merger = Merger::new(self.options.clone());
        let only = self.only.iter().try_for_each(|only| merger.add(only));
        only.map_err(|error| Failure::of(&error, Exit::Input))?;
        Ok(merger)
    }

    /// Appends the sum of a later input.
    ///
    /// A profile that both contain, by its id, counts once. The messages of the input are then
    /// added one by one, which skips that profile: a single message is in memory, and `again` reads
    /// several.
    pub(crate) fn append(
        &mut self,
        later: Self,
        input: &Input,
        again: impl FnOnce(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if self.only.is_none() && self.merger.is_none() {
            *self = later;
            return Ok(());
        }
        let merger = self.merger()?;
        let appended = match (later.merger, later.only) {
            (Some(later), None) if merger.shares_a_profile(&later) => {
                if input.path.is_none() {
                    let message = "a profile repeats one of an earlier input, and stdin cannot be read again: save it to a file";
                    return Err(Failure::new(Exit::Input, message));
                }
                return again(self);
            }
            (Some(later), only) => match only.filter(|_| merger.shares_a_profile(&later)) {
                Some(only) => merger.add(&only),
                None => merger.append(&later),
            },
            (None, Some(only)) => merger.add(&only),
            (None, None) => return Ok(()),
        };
        appended.map_err(|error| Failure::of(&error, Exit::Input))?;
        self.only = None;
        Ok(())
    }

    /// Returns a single message unchanged, or the merged profiles, with a warning about sums of
    /// snapshots.
    pub(crate) fn into_profiles(self, notices: &mut Notices) -> Result<Option<Profiles>, Failure> {
        match (self.only, self.merger) {
            (Some(only), _) => Ok(Some(only)),
            (None, None) => Ok(None),
            (None, Some(merger)) => {
                let merged = merger.finish().map_err(|error| Failure::of(&error, Exit::Input))?;
                let hint = "\"otlp-profiles merge --combine last\" keeps those";
                warn_of_snapshots(&merged, hint, notices);
                Ok(Some(merged.profiles))
            }
        }
    }

    /// Returns the merged profiles, even of a single message.
    pub(crate) fn finish(mut self) -> Result<Merged, Failure> {
        self.take_merger()?.finish().map_err(|error| Failure::writing(&error))
    }
}

/// Warns about snapshots that were added up: their sum is not a state of any process.
pub(crate) fn warn_of_snapshots(merged: &Merged, hint: &str, notices: &mut Notices) {
    if merged.losses.get("merge.snapshots_summed").is_none() {
        return;
    }
    for kind in &merged.snapshots {
        let (name, unit, count) = (&kind.sample_type, &kind.unit, kind.count);
        let (sum, last) = (grouped(kind.sum), grouped(kind.last));
        notices.warn(&format!("snapshots {name}"), "", || {
            format!(
                "{name}: {count} snapshots of one process were added up to {sum} {unit}; the last ones are {last} {unit} ({hint})"
            )
        });
    }
}
