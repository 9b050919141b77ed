//! The sample in progress, until it is added to its profile.

use crate::builder::key::Key;
use crate::builder::unique_keys::UniqueKeys;
use crate::builder::upscaling::Upscaling;
use crate::model::id::{AttributeId, LinkId, StackId};
use crate::model::profile::Profile;

/// The data of the sample in progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pending {
    pub(crate) profile: Key<Profile>,
    pub(crate) stack: Key<StackId>,
    pub(crate) link: LinkId,
    pub(crate) attributes: Vec<AttributeId>,
    /// Index of `attributes`.
    pub(crate) keys: UniqueKeys,
    pub(crate) values: Vec<i64>,
    pub(crate) times: Vec<u64>,
    pub(crate) upscaling: Vec<Upscaling>,
    /// Corrections of the values by upscaling. Empty without upscaling.
    pub(crate) corrections: Vec<f64>,
    /// The number of attributes that did not fit.
    pub(crate) dropped: u32,
    /// Whether the thread was already panicking when the sample began.
    pub(crate) panicking: bool,
}

impl Pending {
    /// Clears everything except the profile and the stack, which the next sample overwrites.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.link = LinkId::NONE;
        self.attributes.clear();
        self.keys.clear();
        self.values.clear();
        self.times.clear();
        self.upscaling.clear();
        self.corrections.clear();
        self.dropped = 0;
    }

    /// Sorts the attributes, extends or truncates the values to the number of columns, and computes the
    /// corrections.
    #[inline]
    pub(crate) fn normalize(&mut self, columns: usize, dropped: &mut u64) {
        let Self { attributes, values, times, upscaling, corrections, .. } = self;
        if attributes.len() > 1 {
            attributes.sort_unstable();
        }
        if values.is_empty() {
            // Each timestamp counts 1 without a value.
            if !times.is_empty() && upscaling.is_empty() {
                return;
            }
            values.resize(columns, 1);
        } else if values.len() != columns {
            *dropped += values.len().saturating_sub(columns) as u64;
            values.resize(columns, 0);
        }
        if !upscaling.is_empty() {
            corrections.resize(columns, 0.0);
            upscaling.iter().for_each(|rule| rule.correct(values, corrections));
        }
    }
}
