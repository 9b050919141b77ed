//! What is known of the sample being taken, until it is put into its profile.

use crate::build::key::Key;
use crate::build::samples::Shape;
use crate::build::upscaling::Upscaling;
use crate::model::id::{AttributeId, LinkId, StackId};
use crate::model::profile::Profile;

/// What is known of the sample being taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pending {
    pub(super) profile: Key<Profile>,
    pub(super) stack: Key<StackId>,
    pub(super) link: LinkId,
    pub(super) attributes: Vec<AttributeId>,
    pub(super) values: Vec<i64>,
    pub(super) times: Vec<u64>,
    pub(super) upscaling: Vec<Upscaling>,
    /// What upscaling adds to each value; none without it.
    pub(super) corrections: Vec<f64>,
    /// Attributes that did not fit.
    pub(super) dropped: u32,
    /// Whether a panic was under way when the sample was begun.
    pub(super) panicking: bool,
}

impl Pending {
    #[inline]
    pub(super) fn clear(&mut self) {
        self.link = LinkId::NONE;
        self.attributes.clear();
        self.values.clear();
        self.times.clear();
        self.upscaling.clear();
        self.corrections.clear();
        self.dropped = 0;
    }

    /// Sorts the attributes, brings the values to the number of columns and upscales them; returns
    /// the shape of the sample.
    #[inline]
    pub(super) fn settle(&mut self, columns: usize, dropped: &mut u64) -> Shape {
        let Self { attributes, values, times, upscaling, corrections, .. } = self;
        if attributes.len() > 1 {
            attributes.sort_unstable();
        }
        if values.is_empty() {
            if !times.is_empty() && upscaling.is_empty() {
                return Shape::Events;
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
        if times.is_empty() { Shape::Totals } else { Shape::Series }
    }
}
