//! Several sample types a profile, or one: joining profiles that are columns of one, and the order
//! of columns where one becomes several.

use crate::format::known::DEFAULT_SAMPLE_TYPE;
use crate::format::losses::{self, Losses};
use crate::model::ScopeProfiles;
use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::profile::{Profile, ValueType};
use crate::model::value::Value;
use crate::semconv::{PPROF_SCOPE_DEFAULT_SAMPLE_TYPE, PPROF_SCOPE_SAMPLE_TYPE_ORDER};

/// Profiles that are the columns of one: the same samples, measured in several ways.
#[derive(Debug)]
pub(crate) struct Joined<'a> {
    /// In the order of the columns; a profile may have several.
    pub(crate) profiles: Vec<&'a Profile>,
    /// The row of the first of them in its scope.
    pub(crate) row: usize,
    /// The order said by the scope was followed, or none was needed.
    pub(crate) ordered: bool,
}

/// When profiles of one scope are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// Whenever they can be: pprof's way.
    Compatible,
    /// Only where the scope says in which order they were one: OTLP's way.
    Ordered,
}

impl<'a> Joined<'a> {
    pub(crate) fn first(&self) -> &'a Profile {
        self.profiles[0]
    }

    /// All sample types, in the order of the columns.
    pub(crate) fn sample_types(&self) -> impl Iterator<Item = ValueType> + Clone + '_ {
        self.profiles.iter().flat_map(|profile| profile.sample_types.iter().copied())
    }
}

/// The default sample type of a profile: its own, or that of its scope.
pub(crate) fn default_of(profile: &Profile, scope: &ScopeProfiles, dictionary: &Dictionary) -> StringId {
    if profile.default_sample_type != StringId::NONE {
        return profile.default_sample_type;
    }
    let mut own = profile.attributes.iter().filter_map(|id| dictionary.attribute(*id));
    let own = own.find(|attribute| dictionary.text(attribute.key) == DEFAULT_SAMPLE_TYPE);
    match own.map(|attribute| &attribute.value).or(scope_attribute(scope, PPROF_SCOPE_DEFAULT_SAMPLE_TYPE, dictionary)) {
        Some(Value::String(name)) => *name,
        _ => StringId::NONE,
    }
}

/// An attribute of a scope.
pub(crate) fn scope_attribute<'a>(scope: &'a ScopeProfiles, key: &str, dictionary: &Dictionary) -> Option<&'a Value> {
    scope.scope.attributes.iter().find(|pair| dictionary.text(pair.key) == key).map(|pair| &pair.value)
}

/// Whether the scope says anything of pprof: then the source could say all that pprof can.
pub(crate) fn says_pprof(scope: &ScopeProfiles, dictionary: &Dictionary) -> bool {
    scope.scope.attributes.iter().any(|pair| dictionary.text(pair.key).starts_with("pprof."))
}

/// How a default sample type is said where profiles have one sample type each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefaultSaid {
    /// There is none, or the scope says it already.
    Nowhere,
    /// By the scope: all profiles agree.
    Scope(StringId),
    /// By each profile: they do not.
    Profiles,
}

/// Whether the profiles of a scope agree on their default sample type.
pub(crate) fn default_said(scope: &ScopeProfiles, dictionary: &Dictionary) -> DefaultSaid {
    let mut said = None;
    let partial = |profile: &&Profile| profile.sample_types.len() > 1 || profile.default_sample_type != StringId::NONE;
    for profile in scope.profiles.iter().filter(partial) {
        let name = profile.default_sample_type;
        match said {
            None => said = Some(name),
            Some(earlier) if dictionary.text(earlier) == dictionary.text(name) => {}
            Some(_) => return DefaultSaid::Profiles,
        }
    }
    match said {
        Some(name) if name != StringId::NONE => {
            match scope_attribute(scope, PPROF_SCOPE_DEFAULT_SAMPLE_TYPE, dictionary) {
                None => DefaultSaid::Scope(name),
                Some(Value::String(already)) if dictionary.text(*already) == dictionary.text(name) => DefaultSaid::Nowhere,
                Some(_) => DefaultSaid::Profiles,
            }
        }
        _ => DefaultSaid::Nowhere,
    }
}

/// The scope's order of sample types: `None` when it says none, `Err` when what it says is no order.
pub(crate) fn sample_type_order(scope: &ScopeProfiles, dictionary: &Dictionary) -> Option<Result<Vec<usize>, ()>> {
    let said = scope_attribute(scope, PPROF_SCOPE_SAMPLE_TYPE_ORDER, dictionary)?;
    let Value::Array(values) = said else { return Some(Err(())) };
    let order: Option<Vec<usize>> = values
        .iter()
        .map(|value| match value {
            Value::Int(column) => usize::try_from(*column).ok(),
            _ => None,
        })
        .collect();
    Some(order.filter(|order| is_permutation(order, scope.profiles.len())).ok_or(()))
}

fn is_permutation(order: &[usize], length: usize) -> bool {
    let mut seen = vec![false; length];
    order.len() == length && order.iter().all(|&at| at < length && !std::mem::replace(&mut seen[at], true))
}

/// Joins the profiles of a scope.
pub(crate) fn join<'a>(
    scope: &'a ScopeProfiles,
    dictionary: &Dictionary,
    rule: Join,
    losses: &mut Losses,
) -> Vec<Joined<'a>> {
    let order = sample_type_order(scope, dictionary);
    if let Some(Err(())) = order {
        losses.add(losses::BAD_ORDER, || PPROF_SCOPE_SAMPLE_TYPE_ORDER.to_owned());
    }
    let order = order.and_then(Result::ok);
    let mut joined = Vec::new();
    let mut row = 0;
    while row < scope.profiles.len() {
        let mut length = run(&scope.profiles[row..]);
        if rule == Join::Ordered && order.is_none() {
            length = 1;
        }
        let part = order.as_deref().and_then(|order| part_of(order, row, length));
        if rule == Join::Ordered && part.is_none() {
            length = 1;
        }
        let profiles = &scope.profiles[row..row + length];
        let mut columns: Vec<&Profile> = profiles.iter().collect();
        if let Some(part) = &part {
            for (profile, &column) in profiles.iter().zip(part) {
                columns[column] = profile;
            }
        }
        joined.push(Joined { profiles: columns, row, ordered: part.is_some() || length == 1 });
        row += length;
    }
    joined
}

/// The part of an order that rows `row..row + length` are, counted from 0; `None` when they are
/// not one part.
fn part_of(order: &[usize], row: usize, length: usize) -> Option<Vec<usize>> {
    let part: Option<Vec<usize>> = order.get(row..row + length)?.iter().map(|column| column.checked_sub(row)).collect();
    part.filter(|part| is_permutation(part, length))
}

/// How many profiles from the first on are columns of one.
fn run(profiles: &[Profile]) -> usize {
    let Some(first) = profiles.first() else { return 0 };
    1 + profiles[1..].iter().take_while(|other| compatible(first, other)).count()
}

/// Whether two profiles are columns of one: the same samples at the same time.
fn compatible(a: &Profile, b: &Profile) -> bool {
    let plain = |profile: &Profile| {
        let samples = &profile.samples;
        samples.timestamps.items.is_empty()
            && profile.sample_types.len() == 1
            && samples.values.ends.len() == samples.len()
            && samples.values.items.len() == samples.len()
    };
    a.time_unix_nano == b.time_unix_nano
        && a.duration_nanos == b.duration_nanos
        && a.period == b.period
        && a.period_type == b.period_type
        && a.original_payload == b.original_payload
        && a.original_payload_format == b.original_payload_format
        && same_set(&a.attributes, &b.attributes)
        && plain(a)
        && plain(b)
        && a.samples.stacks == b.samples.stacks
        && a.samples.links == b.samples.links
        && a.samples.attributes == b.samples.attributes
}

fn same_set(a: &[crate::model::id::AttributeId], b: &[crate::model::id::AttributeId]) -> bool {
    a == b || a.len() == b.len() && a.iter().all(|id| b.contains(id))
}

/// The column shown first: the first whose name is the default's, else the last, as pprof has it.
pub(crate) fn default_column(profile: &Profile, default: StringId, dictionary: &Dictionary) -> usize {
    let named = (default != StringId::NONE)
        .then(|| profile.sample_types.iter().position(|t| dictionary.text(t.name) == dictionary.text(default)))
        .flatten();
    named.unwrap_or(profile.sample_types.len().saturating_sub(1))
}

/// The columns of a profile in the order in which they become profiles: the default first.
pub(crate) fn split_order(columns: usize, default: usize) -> Vec<usize> {
    std::iter::once(default).chain((0..columns).filter(|&column| column != default)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_column_goes_first_and_the_order_says_where_it_was() {
        assert_eq!(split_order(4, 3), [3, 0, 1, 2], "the example of the conventions");
        assert_eq!(split_order(1, 0), [0]);
        assert_eq!(part_of(&[1, 0, 3, 2], 2, 2), Some(vec![1, 0]));
        assert_eq!(part_of(&[1, 2, 0], 0, 2), None);
        assert!(!is_permutation(&[0, 0], 2));
    }
}
