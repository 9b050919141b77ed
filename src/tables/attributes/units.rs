//! Units by key, for generations whose attributes have no unit.
//!
//! OTLP 1.3 to 1.7 have `attribute_units`: one unit per key, for all attributes with that key. The model has
//! a unit in each attribute, like 1.8 and later. If a key has several units, the most frequent one wins.
//! Attributes with other units become labels or lists of pairs, and are counted.
//!
//! Attributes count once each, however many samples use them: a key with unit `ms` in two attributes and `s`
//! in one gets `ms`. Keys and units are compared as strings, because a dictionary may contain duplicates.

use hashbrown::HashMap;

use crate::model::dictionary::Dictionary;
use crate::model::id::{AttributeId, StringId};
use crate::tables::attributes::semantic_attributes::{AttributeRole, AttributeRoles};

/// The unit of each key, and the attributes with another unit.
#[derive(Debug, Default)]
pub(crate) struct Units {
    /// Keys with a unit, in the order of their attributes.
    pub(crate) rows: Vec<(StringId, StringId)>,
    /// Whether the unit of an attribute differs from that of its key, by attribute. Empty if there are no
    /// conflicts.
    conflicts: Vec<bool>,
}

impl Units {
    /// Chooses for each key the most frequent unit of its attributes; of equally frequent units, the first.
    /// An attribute that represents a field of pprof, such as a build id, has no unit and must not become a
    /// label, so it outweighs labels with the same key.
    ///
    /// `attributes` are the rows to write; others do not count. Takes linear time, and allocates nothing if
    /// no attribute has a unit.
    pub(crate) fn of(
        dictionary: &Dictionary,
        roles: &AttributeRoles,
        attributes: impl Iterator<Item = usize> + Clone,
    ) -> Self {
        let all = dictionary.attributes();
        let any = attributes
            .clone()
            .any(|row| all.get(row).is_some_and(|attribute| attribute.unit != StringId::NONE));
        if !any {
            return Self::default();
        }
        let mut keys: Vec<(StringId, Vec<(StringId, u64)>)> = Vec::new();
        let mut by_text: HashMap<&str, usize, foldhash::fast::RandomState> = HashMap::default();
        let mut by_unit: HashMap<(usize, &str), usize, foldhash::fast::RandomState> =
            HashMap::default();
        for row in attributes.clone() {
            let Some(attribute) = all.get(row) else { continue };
            let at = *by_text.entry(dictionary.text(attribute.key)).or_insert_with(|| {
                keys.push((attribute.key, Vec::new()));
                keys.len() - 1
            });
            let units = &mut keys[at].1;
            let unit = *by_unit.entry((at, dictionary.text(attribute.unit))).or_insert_with(|| {
                units.push((attribute.unit, 0));
                units.len() - 1
            });
            let is_known = roles.get(AttributeId(row as u32)) != AttributeRole::Other;
            // A field of pprof outweighs all other attributes.
            units[unit].1 += if is_known { all.len() as u64 } else { 1 };
        }
        let chosen: Vec<(StringId, StringId)> = keys
            .iter()
            .map(|(key, units)| {
                // `max_by_key` returns the last maximum, so reversing gives the first.
                let most = units.iter().rev().max_by_key(|(_, count)| *count);
                (*key, most.map_or(StringId::NONE, |(unit, _)| *unit))
            })
            .collect();
        let mut conflicts = Vec::new();
        if keys.iter().any(|(_, units)| units.len() > 1) {
            conflicts = vec![false; all.len()];
            for row in attributes {
                let Some(attribute) = all.get(row) else {
                    continue;
                };
                let unit = by_text
                    .get(dictionary.text(attribute.key))
                    .map_or(StringId::NONE, |&at| chosen[at].1);
                conflicts[row] = dictionary.text(unit) != dictionary.text(attribute.unit);
            }
        }
        let rows = chosen.into_iter().filter(|(_, unit)| *unit != StringId::NONE).collect();
        Self { rows, conflicts }
    }

    /// Returns whether the unit of an attribute differs from that of its key.
    #[inline]
    pub(crate) fn conflict(&self, id: AttributeId) -> bool {
        self.conflicts.get(id.row()).copied().unwrap_or(false)
    }

    /// Returns whether any attribute conflicts.
    pub(crate) fn any_conflict(&self) -> bool {
        !self.conflicts.is_empty()
    }
}
