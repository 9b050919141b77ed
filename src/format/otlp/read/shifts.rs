//! How the indices of each table become those of the model's.
//!
//! A shift cannot be added while rows are read: whether the first row of a table is the empty one
//! is known only when the table is complete, and references may come before it.

use hashbrown::HashMap;

use crate::format::otlp::read::prove::Target;
use crate::format::otlp::read::tables::Tables;
use crate::format::otlp::schema::Rows;
use crate::model::id::{LinkId, StringId};

/// What is added to the indices of each table, and the units that go by key.
///
/// A shift is 0 where the table on the wire has the empty row, and 1 where the model put it before. Made by
/// [`settle`](super::settle), used by [`prove`](super::prove).
#[derive(Debug)]
pub(crate) struct Shifts {
    /// Strings of the table only. Those met in place have ids behind them, which nothing on the
    /// wire can name.
    pub(crate) strings: Target,
    pub(crate) mapping: Target,
    pub(crate) function: Target,
    /// With the shift 1 unless the generation has the empty row, or references were ids.
    pub(crate) location: Target,
    /// Rows of the wire only: nothing but samples can refer to those made of labels.
    pub(crate) attributes: Target,
    /// As `attributes`, with those that were made of labels.
    pub(crate) sample_attributes: Target,
    /// As rows of the model, since [`links`](Shifts::links) brings references there first.
    pub(crate) link: Target,
    /// How the generation refers to rows.
    pub(crate) rows: Rows,
    /// Whether the first link on the wire was the empty one, which is the model's row 0.
    pub(crate) link_row_0: bool,
    /// By key: `attribute_units` of 1.3 to 1.7. Empty since.
    pub(crate) units: HashMap<StringId, StringId, foldhash::fast::RandomState>,
}

impl Shifts {
    /// None where the key has no unit.
    pub(crate) fn unit_of(&self, key: StringId) -> StringId {
        self.units.get(&key).copied().unwrap_or_default()
    }

    /// Attributes made of labels are rows too. Where there are labels, the indices on the wire were
    /// [proved](super::prove::attributes_beside_labels) before.
    pub(crate) fn count_new_attributes(&mut self, tables: &Tables) {
        self.sample_attributes.rows += tables.new_attributes.rows.len();
    }

    /// Brings link references to the model's table.
    ///
    /// Before [`prove`](super::prove): a reference past the table stays past it.
    pub(crate) fn links(&self, links: &mut [LinkId]) {
        match (self.rows, self.link_row_0) {
            (Rows::NullFirst, _) | (Rows::Presence, false) | (Rows::FromZero, true) => {}
            (Rows::Presence, true) => {
                links.iter_mut().for_each(|link| link.0 = link.0.saturating_sub(1))
            }
            // A reference to the first link cannot be told from none.
            (Rows::FromZero, false) => links
                .iter_mut()
                .filter(|link| link.0 != 0)
                .for_each(|link| link.0 = link.0.saturating_add(1)),
        }
    }
}
