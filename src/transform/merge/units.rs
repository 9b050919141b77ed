//! Units of sample types: which one the sum has, and snapshots in several.

use std::collections::BTreeMap;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::error::Result;
use crate::losses::{self, Losses};
use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::profile::ValueType;
use crate::tables::rows::interner::Interner;
use crate::transform::merge::merger::{Group, Key};
use crate::transform::merge::rows::Snapshot;
use crate::units::{Dimension, Unit, is_ambiguous};

/// The identity of a sample type: the name, the unit's dimension or the unit, the temporality, and which
/// sample type of that kind in the profile it is.
pub(super) type Kind = (StringId, Result<Dimension, StringId>, Option<i32>, usize);

/// Converts groups of snapshots that differ in the units of their types only to the finest ones, so that they can be
/// combined. Returns whether there are such groups.
pub(super) fn unify_units(
    groups: &mut [Group],
    interner: &mut Interner,
    losses: &mut Losses,
) -> Result<bool> {
    let mut families: HashMap<(Key, Vec<Kind>), Vec<usize>, RandomState> = HashMap::default();
    for (at, group) in groups.iter().enumerate() {
        if group.rows.points.is_empty()
            && group.header.snapshots.iter().any(|of| *of != Snapshot::No)
        {
            let key = Key { types: Vec::new(), ..group.key.clone() };
            families.entry((key, kinds_of(group, &interner.dictionary))).or_default().push(at);
        }
    }
    let differ = |members: &Vec<usize>| {
        members.windows(2).any(|pair| groups[pair[0]].key.types != groups[pair[1]].key.types)
    };
    let mut mixed: Vec<Vec<usize>> = families.into_values().filter(differ).collect();
    mixed.sort_unstable();
    let bytes = interner.string(b"By")?;
    let dictionary = &interner.dictionary;
    for members in &mixed {
        for column in 0..groups[members[0]].key.types.len() {
            let units = members.iter().map(|member| groups[*member].key.types[column]);
            let Some(finest) = finest(units, bytes, dictionary) else { continue };
            for member in members {
                let Group { key, rows, header, .. } = &mut groups[*member];
                let of = &mut key.types[column];
                if of.unit == finest.unit {
                    continue;
                }
                report_converted(*of, finest, dictionary, losses);
                let factor = factor(*of, dictionary) / factor(finest, dictionary);
                of.unit = finest.unit;
                let columns = key.types.len();
                rows.sums.iter_mut().skip(column).step_by(columns).for_each(|sum| *sum *= factor);
                let last =
                    header.tracks.values_mut().filter_map(|track| track.last.get_mut(column));
                last.for_each(|sum| *sum *= factor);
            }
        }
    }
    Ok(!mixed.is_empty())
}

pub(super) fn factor(of: ValueType, dictionary: &Dictionary) -> i128 {
    Unit::of(dictionary.text(of.unit)).map_or(1, Unit::factor)
}

/// The type with the finest unit, or with bytes if neither of two units is a multiple of the other.
pub(super) fn finest(
    types: impl Iterator<Item = ValueType> + Clone,
    bytes: StringId,
    dictionary: &Dictionary,
) -> Option<ValueType> {
    // The text decides between spellings of one unit, whatever the order of inputs.
    let text = |of: &ValueType| dictionary.text(of.unit);
    let key = |of: &ValueType| (factor(*of, dictionary), text(of).is_empty(), text(of));
    let mut finest = types.clone().min_by(|a, b| key(a).cmp(&key(b)))?;
    if types.into_iter().any(|of| factor(of, dictionary) % factor(finest, dictionary) != 0) {
        finest.unit = bytes;
    }
    Some(finest)
}

pub(super) fn report_converted(
    from: ValueType,
    to: ValueType,
    dictionary: &Dictionary,
    losses: &mut Losses,
) {
    let [name, unit, finest] = [from.name, from.unit, to.unit].map(|id| dictionary.text(id));
    losses.add(losses::UNIT_CONVERTED, || format!("{name}: {unit} to {finest}"));
    losses.add_many(losses::UNIT_KILOBYTE, is_ambiguous(unit).into(), || unit.to_owned());
}

pub(super) fn kinds_of(group: &Group, dictionary: &Dictionary) -> Vec<Kind> {
    let types = match &group.key.types[..] {
        [] => &[ValueType::default()],
        types => types,
    };
    let mut counts = BTreeMap::new();
    let kind = |of: &ValueType| {
        let unit = Unit::of(dictionary.text(of.unit)).map(Unit::dimension).ok_or(of.unit);
        let temporality = of.temporality.map(|temporality| temporality.0);
        let count = counts.entry((of.name, unit, temporality)).or_insert(0);
        *count += 1;
        (of.name, unit, temporality, *count - 1)
    };
    types.iter().map(kind).collect()
}
