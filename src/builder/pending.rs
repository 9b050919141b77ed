//! What is known of the sample being taken, until it is put into its profile.

use crate::builder::key::Key;
use crate::builder::lists::Keys;
use crate::builder::upscaling::Upscaling;
use crate::model::id::{AttributeId, LinkId, StackId};
use crate::model::profile::Profile;

/// What is known of the sample being taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pending {
    pub(crate) profile: Key<Profile>,
    pub(crate) stack: Key<StackId>,
    pub(crate) link: LinkId,
    pub(crate) attributes: Vec<AttributeId>,
    /// The index of `attributes`.
    pub(crate) keys: Keys,
    pub(crate) values: Vec<i64>,
    pub(crate) times: Vec<u64>,
    pub(crate) upscaling: Vec<Upscaling>,
    /// What upscaling adds to each value; none without it.
    pub(crate) corrections: Vec<f64>,
    /// Attributes that did not fit.
    pub(crate) dropped: u32,
    /// Whether a panic was under way when the sample was begun.
    pub(crate) panicking: bool,
}

impl Pending {
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

    /// Sorts the attributes, brings the values to the number of columns and upscales them.
    #[inline]
    pub(crate) fn settle(&mut self, columns: usize, dropped: &mut u64) {
        let Self { attributes, values, times, upscaling, corrections, .. } = self;
        if attributes.len() > 1 {
            attributes.sort_unstable();
        }
        if values.is_empty() {
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
