//! The default and the order of sample types of merged profiles, and their period.

use std::cmp::Ordering;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::losses;
use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::profile::{Profile, ValueType};
use crate::model::value::{KeyValue, Value};
use crate::tables::profile::covered::Covered;
use crate::transform::merge::columns::Class;
use crate::transform::merge::header::Header;
use crate::transform::merge::merger::{Group, Key, Merger};
use crate::transform::merge::places::Place;
use crate::units::{Dimension, Unit};

/// A merged profile.
pub(super) struct Done {
    pub(super) profile: Profile,
    pub(super) covered: Covered,
    /// The groups that it is made of.
    pub(super) groups: Vec<usize>,
    /// For each group the group of the first column of the same pprof, and which column the group was.
    pub(super) columns: Option<Vec<(usize, usize)>>,
}

impl Merger {
    /// Sets the default sample type: the one that an input names, or else the one that reports show of the first. A
    /// canonical merge takes the least name of all inputs.
    pub(super) fn set_default(
        &mut self,
        profile: &mut Profile,
        header: &Header,
        first: &[&Group],
        class: &Class,
    ) {
        let Self { interner, losses, options, places, .. } = self;
        let text = |name: &StringId| interner.dictionary.text(*name);
        losses.add_many(losses::DEFAULT_DROPPED, (header.defaults.len() > 1).into(), String::new);
        let is_in_scope = first.iter().any(|group| {
            !places.rows()[places.merged(group.key.place) as usize].defaults.is_empty()
        });
        // Readers show the last of several types, so another one must be named.
        let last = class.types.last().map(|of| of.name);
        let shown = first.iter().filter_map(|group| Some(group.key.types.last()?.name));
        // One of several types that became profiles of their own names the shown one, too.
        let of_several = first.iter().any(|group| group.key.types.len() > 1);
        let several = class.types.len() > 1 || (of_several && !options.canonical);
        let has_choice = several && header.is_unnamed && !is_in_scope;
        let shown = shown.filter(|_| has_choice);
        let mut named = header.defaults.iter().copied();
        let default = match options.canonical {
            true => named.chain(shown).min_by(|a, b| text(a).cmp(text(b))),
            false => named.next().or_else(|| shown.take(1).next()),
        };
        let is_shown = |name: &StringId| Some(*name) == last && !header.defaults.contains(name);
        profile.default_sample_type = default.filter(|name| !is_shown(name)).unwrap_or_default();
        if class.types.len() > 1
            && !header.defaults.contains(&profile.default_sample_type)
            && profile.default_sample_type != StringId::NONE
        {
            losses.add(losses::DEFAULT_SYNTHESIZED, || "default_sample_type".to_owned());
        }
    }
}

/// Returns the default sample type of a scope: of the first input that has one, or in a canonical merge the least name.
pub(super) fn scope_default<'a>(
    place: &'a Place,
    is_canonical: bool,
    dictionary: &Dictionary,
) -> Option<&'a KeyValue> {
    let mut defaults = place.defaults.iter();
    match is_canonical {
        true => defaults.min_by(|a, b| compare_texts(&a.value, &b.value, dictionary)),
        false => defaults.next(),
    }
}

/// The period in the smallest unit of its dimension, so that 10 ms and 10,000,000 ns are equal.
pub(super) fn period_identity(key: &Key, dictionary: &Dictionary) -> PeriodIdentity {
    let ValueType { name, unit, temporality } = key.period_type;
    let known = Unit::of(dictionary.text(unit));
    let dimension = known.map(Unit::dimension).ok_or(unit);
    let period = i128::from(key.period) * known.map_or(1, Unit::factor);
    (name, dimension, temporality.map(|temporality| temporality.0), period)
}

pub(super) type PeriodIdentity = (StringId, Result<Dimension, StringId>, Option<i32>, i128);

/// Orders strings by their text.
pub(super) fn compare_texts(a: &Value, b: &Value, dictionary: &Dictionary) -> Ordering {
    let text = |value: &Value| match value {
        Value::String(text) => dictionary.text(*text).to_owned(),
        _ => String::new(),
    };
    text(a).cmp(&text(b))
}

/// Whether profiles of one type each need an order. One of several types has it.
pub(super) fn lacks_order(profiles: &[Profile]) -> bool {
    !profiles.is_empty() && profiles.iter().all(|profile| profile.sample_types.len() < 2)
}

/// The order of sample types of a scope: for each of its profiles the column that it was. `None` if inputs lack it or
/// contradict each other.
pub(super) fn order(profiles: &[Done]) -> Option<Value> {
    let mut first = HashMap::<usize, usize, RandomState>::default();
    for (at, done) in profiles.iter().enumerate() {
        done.groups.iter().for_each(|group| _ = first.entry(*group).or_insert(at));
    }
    let key = |done: &Done| {
        let of = |(leader, column): &(usize, usize)| Some((*first.get(leader)?, *column));
        let mut keys = done.columns.as_ref()?.iter().map(of);
        let key = keys.next()??;
        keys.all(|other| other == Some(key)).then_some(key)
    };
    let keys: Vec<(usize, usize)> = profiles.iter().map(key).collect::<Option<_>>()?;
    let mut sorted: Vec<usize> = (0..keys.len()).collect();
    sorted.sort_by_key(|at| keys[*at]);
    if sorted.is_empty() || sorted.windows(2).any(|pair| keys[pair[0]] == keys[pair[1]]) {
        return None;
    }
    let mut columns = vec![Value::Int(0); keys.len()];
    for (column, at) in (0..).zip(sorted) {
        columns[at] = Value::Int(column);
    }
    Some(Value::Array(columns.into()))
}
