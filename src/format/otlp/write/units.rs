//! Units by key, where a generation has no unit on the attribute.
//!
//! OTLP 1.3 to 1.7 has `attribute_units`: one unit a key, for all attributes of it. The model has a unit on each
//! attribute, as 1.8 and later. Where a key has several, most attributes keep theirs and the others become
//! labels or lists of pairs, and are counted.
//!
//! The sum of the attributes decides and not of the samples that use them: a key that two
//! attributes have with unit `ms` and one with `s` gets `ms`. Keys and units are compared by text,
//! since a dictionary may hold a text in several rows.

use hashbrown::HashMap;

use crate::format::known::{Known, KnownAttributes};
use crate::model::dictionary::Dictionary;
use crate::model::id::{AttributeId, StringId};

/// The unit of each key, and the attributes whose unit is another.
#[derive(Debug, Default)]
pub(crate) struct Units {
    /// Keys with a unit, in the order of their attributes.
    pub(crate) rows: Vec<(StringId, StringId)>,
    /// By attribute: whether its unit is not that of its key. Empty where none is.
    conflicts: Vec<bool>,
}

impl Units {
    /// Gives each key the unit that most of its attributes have; the earlier where as many. An attribute that stands
    /// for a field of pprof, such as a build id, has none and must not become a label: it has the say over labels
    /// that happen to be called so.
    ///
    /// `attributes` are the rows that will be written: others have no say. Linear; nothing is
    /// allocated where no attribute has a unit.
    pub(crate) fn of(
        dictionary: &Dictionary,
        known: &KnownAttributes,
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
            let said = known.get(AttributeId(row as u32)) != Known::Other;
            units[unit].1 += if said { all.len() as u64 } else { 1 };
        }
        let chosen: Vec<(StringId, StringId)> = keys
            .iter()
            .map(|(key, units)| {
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

    /// Whether the unit of an attribute is not that of its key.
    #[inline]
    pub(crate) fn conflict(&self, id: AttributeId) -> bool {
        self.conflicts.get(id.row()).copied().unwrap_or(false)
    }

    /// Whether any attribute is in conflict.
    pub(crate) fn any_conflict(&self) -> bool {
        !self.conflicts.is_empty()
    }
}
