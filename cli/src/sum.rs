//! The sum of the profiles of one or many inputs.
//!
//! Any thread may add up an input. The sums are appended in the order of the inputs.

use otlp_profiles::Profiles;
use otlp_profiles::transform::{
    Caution, Covered, InputTypes, MergeOptions, Merged, Merger, Snapshots, snapshots,
};

use crate::exit::{Exit, Failure};
use crate::input::Input;
use crate::notices::Notices;
use crate::numbers::counted;

/// How to keep the last snapshots, for a caution about their sum.
pub(crate) const LAST: &str = "\"otlp-profiles merge --combine last\" keeps those";

/// Profiles that are being added up.
#[derive(Clone)]
pub(crate) struct Sum {
    options: MergeOptions,
    /// The only message so far, unmerged. Reports use it directly, and it can be added again.
    only: Option<Profiles>,
    /// The merged profiles; `None` as long as a single message is unmerged.
    merger: Option<Merger>,
    inputs: InputTypes,
}

/// The profiles of a sum, and what is to be known about them.
pub(crate) struct Summed {
    pub(crate) profiles: Profiles,
    inputs: InputTypes,
    /// The snapshots that were added up.
    snapshots: Vec<Snapshots>,
    /// The time that each merged profile covers; empty if nothing was merged.
    pub(crate) covered: Vec<Covered>,
}

impl Sum {
    pub(crate) fn new(options: &MergeOptions) -> Self {
        Self { options: options.clone(), only: None, merger: None, inputs: InputTypes::default() }
    }

    /// Adds a message of an input.
    pub(crate) fn add(&mut self, input: &Input, profiles: Profiles) -> Result<(), Failure> {
        self.inputs.add(&input.name(), &profiles);
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
        let Self { only, merger: later, inputs, .. } = later;
        if self.only.is_none() && self.merger.is_none() {
            (self.only, self.merger) = (only, later);
            self.inputs.append(inputs);
            return Ok(());
        }
        let merger = self.merger()?;
        let appended = match (later, only) {
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
        self.inputs.append(inputs);
        self.only = None;
        Ok(())
    }

    /// Returns a single message unchanged, or the merged profiles. Warns about profiles that count once.
    pub(crate) fn into_profiles(self, notices: &mut Notices) -> Result<Option<Summed>, Failure> {
        let failure = |error| Failure::writing(&error);
        let Self { only, merger, inputs, .. } = self;
        let (profiles, snapshots, covered) = match (only, merger) {
            (Some(only), _) => {
                let several = (only.len() > 1).then(|| snapshots([&only]).map_err(failure));
                (only, several.transpose()?.unwrap_or_default(), Vec::new())
            }
            (None, None) => return Ok(None),
            (None, Some(merger)) => {
                let merged = merger.finish().map_err(failure)?;
                warn_of_repeats(&merged, notices);
                (merged.profiles, merged.snapshots, merged.covered)
            }
        };
        Ok(Some(Summed { profiles, inputs, snapshots, covered }))
    }

    /// Returns the merged profiles, even of a single message, and the types of the inputs.
    pub(crate) fn finish(mut self) -> Result<(Merged, InputTypes), Failure> {
        let merged = self.take_merger()?.finish().map_err(|error| Failure::writing(&error))?;
        Ok((merged, self.inputs))
    }
}

impl Summed {
    /// Returns the sample type of a report, and warns about what it leaves out.
    ///
    /// # Errors
    ///
    /// No profile has the type.
    pub(crate) fn choose(
        &self,
        wanted: Option<&str>,
        notices: &mut Notices,
    ) -> Result<(), Failure> {
        let Self { profiles, inputs, snapshots, .. } = self;
        let kind = match wanted {
            Some(wanted) => profiles.find_sample_type(wanted),
            None => Ok(profiles.default_sample_type().unwrap_or_default()),
        };
        let kind = kind.map_err(|error| Failure::of(&error, Exit::Input))?;
        warn(Caution::of(&[profiles], kind, inputs, snapshots), LAST, notices);
        Ok(())
    }
}

/// Prints cautions once each; `last` says how to keep the last snapshots.
pub(crate) fn warn(cautions: impl IntoIterator<Item = Caution>, last: &str, notices: &mut Notices) {
    for caution in cautions {
        let hint = match &caution {
            Caution::Snapshots(_) => format!(" ({last})"),
            Caution::Periods { better: Some(better), .. } | Caution::Zero { better, .. } => {
                format!(" (--type {better})")
            }
            _ => String::new(),
        };
        let message = format!("{caution}{hint}");
        notices.warn(&message, "", || message.clone());
    }
}

/// Warns about profiles that repeat the id and the contents of an earlier one, and count once.
pub(crate) fn warn_of_repeats(merged: &Merged, notices: &mut Notices) {
    if let Some(loss) = merged.losses.get("profile.repeated") {
        let profiles = counted(loss.count, "profile");
        notices.warn("profile.repeated", "", || {
            format!(
                "{profiles} repeated the id and the contents of an earlier one and counted once"
            )
        });
    }
}
