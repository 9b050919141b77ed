//! The tables that references point into, after the form of their first rows is settled.

use hashbrown::HashMap;

use crate::model::id::{LinkId, StringId};
use crate::model::profile::ProfileParts;
use crate::schema::Rows;
use crate::tables::read::tables::Tables;
use crate::tables::resolve::null_row::moved;
use crate::tables::resolve::validate::Target;
use crate::wire::varint::OVERSIZED_INDEX;

/// The rows of each table, and the units by key.
///
/// Built by [`normalize`](crate::tables::resolve::normalize), used by [`validate`](crate::tables::resolve::validate).
#[derive(Debug)]
pub(crate) struct Targets {
    /// Strings of the table only. Inline strings have ids after them, which no reference of the payload can
    /// name.
    pub(crate) strings: Target,
    pub(crate) mapping: Target,
    pub(crate) function: Target,
    pub(crate) location: Target,
    /// Rows of the payload only: only samples can refer to attributes made of labels.
    pub(crate) attributes: Target,
    /// The same, including attributes made of labels.
    pub(crate) sample_attributes: Target,
    /// The links, after [`links`](Targets::links) has converted the references.
    pub(crate) link: Target,
    /// The stacks. Up to 1.7 the payload has no rows of stacks, and all references are in range.
    pub(crate) stack: Target,
    /// How the generation references rows.
    pub(crate) rows: Rows,
    /// Whether the first link of the payload was empty, like the model's row 0.
    pub(crate) link_row_0: bool,
    /// Units by key, from `attribute_units` of 1.3 to 1.7. Empty for later generations.
    pub(crate) units: HashMap<StringId, StringId, foldhash::fast::RandomState>,
}

impl Targets {
    /// Returns the unit of a key; `NONE` if it has no unit.
    pub(crate) fn unit_of(&self, key: StringId) -> StringId {
        self.units.get(&key).copied().unwrap_or_default()
    }

    /// Makes attributes made of labels valid targets. For payloads with labels, the indices of the payload
    /// were [validated](crate::tables::resolve::validate::attributes_beside_labels) before.
    pub(crate) fn count_new_attributes(&mut self, tables: &Tables) {
        self.sample_attributes.rows += tables.new_attributes.rows.len();
    }

    /// Adjusts the references of a profile to tables whose row 0 became row 1
    /// ([`null_row`](crate::tables::resolve::null_row)).
    pub(crate) fn move_references(&self, profile: &mut ProfileParts) {
        if self.rows != Rows::NullFirst {
            return;
        }
        let samples = &mut profile.samples;
        if self.stack.own > 0 {
            samples.stacks.iter_mut().for_each(|stack| stack.0 = moved(stack.0, 1));
        }
        if self.link.own > 0 {
            samples.links.resize(samples.stacks.len(), LinkId::NONE);
            samples.links.iter_mut().for_each(|link| link.0 = moved(link.0, 1));
        }
        if self.attributes.own > 0 {
            let all = profile.attributes.iter_mut().chain(&mut samples.attributes.items);
            all.for_each(|attribute| attribute.0 = moved(attribute.0, 1));
        }
    }

    /// Returns the payload's index for a row of the model, for the places of errors.
    pub(crate) fn on_wire(&self, target: Target, row: usize) -> usize {
        let own = if self.rows == Rows::FromZero { 1 } else { target.own as usize };
        row.saturating_sub(own)
    }

    /// Converts link references to rows of the model's table.
    ///
    /// Called before [`validate`](crate::tables::resolve::validate): a reference past the table stays past it.
    pub(crate) fn links(&self, links: &mut [LinkId]) {
        match (self.rows, self.link_row_0) {
            (Rows::NullFirst, _) | (Rows::Presence, false) | (Rows::FromZero, true) => {}
            (Rows::Presence, true) => one_less(links.iter_mut().map(|link| &mut link.0)),
            // A reference to the first link equals an unset one.
            (Rows::FromZero, false) => links
                .iter_mut()
                .filter(|link| link.0 != 0)
                .for_each(|link| link.0 = link.0.saturating_add(1)),
        }
    }
}

/// Adjusts references to a table whose row 1 is removed. References to row 1 become unset.
pub(super) fn one_less<'r>(references: impl Iterator<Item = &'r mut u32>) {
    references
        .for_each(|row| *row = if *row < OVERSIZED_INDEX { row.saturating_sub(1) } else { *row });
}
