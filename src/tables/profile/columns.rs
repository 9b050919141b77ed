//! Conversion between profiles with one sample type and profiles with several. It joins profiles that are
//! columns of one profile, and restores the order of the columns.
//!
//! | source | target | conversion |
//! |---|---|---|
//! | one profile with several types | one type per profile (OTLP since 1.8) | each column becomes a profile; a scope attribute stores their order |
//! | several profiles with a stored order | several types per profile (OTLP up to 1.7) | joined in that order |
//! | several profiles of the same samples | pprof | joined in the stored order, else in their own until a type repeats |
//! | others | either | not joined |
//!
//! ```text
//! scope.attributes  pprof.scope.sample_type_order = [1, 0]
//! scope.profiles    wall, cpu          profile 0 was column 1, profile 1 was column 0
//! joined            cpu, wall
//! ```

use foldhash::fast::RandomState;
use hashbrown::HashSet;

use crate::losses::{self, Losses};
use crate::model::ScopeProfiles;
use crate::model::dictionary::Dictionary;
use crate::model::id::{AttributeId, StringId};
use crate::model::measures::share;
use crate::model::order::{is_permutation, sample_type_order};
use crate::model::profile::{Profile, ProfileParts, ValueType};
use crate::model::sample_types::scope_default;
use crate::model::samples::Samples;
use crate::model::value::{KeyValue, Value};
use crate::semconv::{PPROF_SCOPE_DEFAULT_SAMPLE_TYPE, PPROF_SCOPE_SAMPLE_TYPE_ORDER};
use crate::tables::attributes::semantic_attributes::{AttributeRole, AttributeRoles};

/// Profiles that are columns of one profile: the same samples with different sample types.
#[derive(Debug)]
pub(crate) struct Joined<'a> {
    /// The profiles in the order of their columns. A profile may have several columns.
    pub(crate) profiles: Vec<&'a Profile>,
    /// Whether the columns are in the order that the scope stores, or need no order.
    pub(crate) ordered: bool,
    /// The column of the first profile of the scope, which has the default sample type. If it is not the last, a writer
    /// of pprof names the default, because readers would show the last column.
    pub(crate) leader: usize,
    /// The rows of the samples in the order of writing, if it differs from the stored order.
    pub(crate) order: Option<Vec<u32>>,
}

/// The condition for joining the profiles of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// Join all compatible profiles, as pprof does.
    Compatible,
    /// Join only if the scope stores the order of the columns, as OTLP does.
    Ordered,
}

impl<'a> Joined<'a> {
    pub(crate) fn first(&self) -> &'a Profile {
        self.profiles[0]
    }

    /// Iterates over all sample types in the order of the columns.
    pub(crate) fn sample_types(&self) -> impl Iterator<Item = ValueType> + Clone + '_ {
        self.profiles.iter().flat_map(|profile| profile.sample_types.iter().copied())
    }

    /// Returns the sample types to write. Values without a sample type get one without a name.
    pub(crate) fn written_types(&self) -> Vec<ValueType> {
        let mut types: Vec<ValueType> = self.sample_types().collect();
        if types.is_empty() && !self.first().samples.values.items.is_empty() {
            types.push(ValueType::default());
        }
        types
    }
}

/// Returns whether pprof's fields can represent a scope attribute. A default sample type must be a non-empty
/// string.
pub(crate) fn is_in_fields(pair: &KeyValue, dictionary: &Dictionary) -> bool {
    match dictionary.text(pair.key) {
        PPROF_SCOPE_DEFAULT_SAMPLE_TYPE => {
            matches!(pair.value, Value::String(name) if !dictionary.text(name).is_empty())
        }
        key => key == PPROF_SCOPE_SAMPLE_TYPE_ORDER,
    }
}

/// Returns whether the scope has an attribute of pprof. If so, the source could represent everything that
/// pprof can.
pub(crate) fn has_pprof_attribute(scope: &ScopeProfiles, dictionary: &Dictionary) -> bool {
    scope.scope.attributes.iter().any(|pair| dictionary.text(pair.key).starts_with("pprof."))
}

/// Marks the default sample type attributes that the number of a column represents in every profile that has
/// them. This is any column but the last, whose number means that no default is set.
pub(crate) fn mark_default_columns<'a>(
    dictionary: &Dictionary,
    joined: impl Iterator<Item = (&'a Joined<'a>, StringId)>,
    roles: &mut AttributeRoles,
) {
    let is_default = |id: &AttributeId| roles.get(*id) == AttributeRole::DefaultSampleType;
    let mut kept: Vec<AttributeId> = Vec::new();
    for (joined, default) in joined {
        let types = joined.written_types();
        let same = |name| dictionary.text(name) == dictionary.text(default);
        let column = types.iter().position(|value_type| same(value_type.name));
        let numbered = column.is_some_and(|column| column + 1 < types.len());
        let is_column = |id: &AttributeId| match dictionary.attribute(*id).map(|a| &a.value) {
            Some(Value::String(name)) => numbered && same(*name),
            _ => false,
        };
        let attributes = joined.first().attributes.iter().copied();
        kept.extend(attributes.filter(|id| is_default(id) && !is_column(id)));
    }
    // A role belongs to a row of the table, not to a profile. If one profile needs the attribute, all keep it.
    kept.sort_unstable();
    roles.change(AttributeRole::DefaultSampleType, AttributeRole::DefaultColumn, |id| {
        kept.binary_search(&id).is_err()
    });
}

/// The place of the default sample type if each profile has one sample type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefaultTypeCarrier {
    /// Written nowhere: it is unset, or the scope already stores it.
    Unwritten,
    /// Written in the scope: all profiles agree.
    Scope(StringId),
    /// Written in each profile: they differ.
    Profiles,
}

/// Returns where to write the default sample type of the profiles of a scope.
pub(crate) fn default_type_carrier(
    scope: &ScopeProfiles,
    dictionary: &Dictionary,
) -> DefaultTypeCarrier {
    let mut common = None;
    for profile in &scope.profiles {
        let name = profile.default_sample_type;
        match common {
            None => common = Some(name),
            Some(earlier) if dictionary.text(earlier) == dictionary.text(name) => {}
            Some(_) => return DefaultTypeCarrier::Profiles,
        }
    }
    match common {
        Some(name) if name != StringId::NONE => match scope_default(scope, dictionary) {
            None => DefaultTypeCarrier::Scope(name),
            Some(Value::String(already)) if dictionary.text(*already) == dictionary.text(name) => {
                DefaultTypeCarrier::Unwritten
            }
            // The scope has another default. That of a profile takes precedence over it.
            Some(_) => DefaultTypeCarrier::Profiles,
        },
        _ => DefaultTypeCarrier::Unwritten,
    }
}

/// Joins the profiles of a scope.
///
/// Takes time linear in the number of profiles. Each run of compatible profiles is found once, and so is the
/// part of the order that stays within the run.
pub(crate) fn join<'a>(
    scope: &'a ScopeProfiles,
    dictionary: &Dictionary,
    rule: Join,
    losses: &mut Losses,
) -> Vec<Joined<'a>> {
    let order = sample_type_order(scope, dictionary);
    // An invalid order is reported once; the profiles are joined as if the scope had no order.
    let mut bad = order == Some(Err(()));
    let order = order.and_then(Result::ok);
    let order = order.as_deref();
    let mut joined = Vec::new();
    let (mut row, mut end, mut fit) = (0, 0, 0);
    while row < scope.profiles.len() {
        // Once per run instead of once per profile, which would take quadratic time.
        if row >= end {
            end = row + run(&scope.profiles[row..], rule);
            fit = order.map_or(end, |order| first_part(order, row, end));
        }
        // From a row before `fit`, the order leads out of the run. Testing each of these rows would take quadratic
        // time.
        let fitting = order.filter(|_| row >= fit);
        let part = fitting.and_then(|order| part_of(order, row, end - row));
        let length = match rule {
            Join::Ordered if part.is_none() => 1,
            _ if part.is_some() => end - row,
            _ => distinct(&scope.profiles[row..end]),
        };
        // OTLP keeps the order as an attribute of the scope; pprof has no such attribute.
        bad |= rule == Join::Compatible && part.is_none() && moves(order, row, length);
        joined.push(joined_by(&scope.profiles[row..row + length], part));
        row += length;
    }
    losses.add_many(losses::BAD_ORDER, u64::from(bad), || PPROF_SCOPE_SAMPLE_TYPE_ORDER.to_owned());
    joined
}

/// Puts profiles into the order of their columns, if the order is known.
fn joined_by(profiles: &[Profile], part: Option<Vec<usize>>) -> Joined<'_> {
    let mut columns: Vec<&Profile> = profiles.iter().collect();
    for (profile, &column) in profiles.iter().zip(part.iter().flatten()) {
        // `part_of` returns only permutations, so every column is in range and is set once.
        columns[column] = profile;
    }
    let leader = part.as_ref().and_then(|part| part.first().copied()).unwrap_or(0);
    let ordered = part.is_some() || profiles.len() == 1;
    Joined { profiles: columns, ordered, leader, order: None }
}

/// Returns whether the order moves any of the given rows.
fn moves(order: Option<&[usize]>, row: usize, length: usize) -> bool {
    let columns = order.iter().flat_map(|order| order.iter().skip(row).take(length));
    columns.zip(row..).any(|(column, at)| *column != at)
}

/// Returns the first row from which the order maps rows up to `end` only to rows of the same range. Returns
/// `end` if there is no such row.
fn first_part(order: &[usize], row: usize, end: usize) -> usize {
    let (mut least, mut most, mut first) = (usize::MAX, 0, end);
    for at in (row..end).rev() {
        least = least.min(order[at]);
        most = most.max(order[at]);
        if least >= at && most < end {
            first = at;
        }
    }
    first
}

/// Returns the order of rows `row..row + length`, counted from 0. Returns `None` if the order is not a
/// permutation of these rows.
fn part_of(order: &[usize], row: usize, length: usize) -> Option<Vec<usize>> {
    let part: Option<Vec<usize>> =
        order.get(row..row + length)?.iter().map(|column| column.checked_sub(row)).collect();
    part.filter(|part| is_permutation(part, length))
}

/// Returns how many profiles, from the first, are columns of one profile. Comparing each with the first is
/// enough, because compatibility is transitive.
///
/// A profile that cannot be a column is a run of length 1.
fn run(profiles: &[Profile], rule: Join) -> usize {
    let Some(first) = profiles.first() else {
        return 0;
    };
    if !is_column(first, rule) {
        return 1;
    }
    1 + profiles[1..]
        .iter()
        .take_while(|other| is_column(other, rule) && compatible(first, other))
        .count()
}

/// Returns how many profiles, from the first, have different sample types. Tools show the first of two
/// columns with the same name, so profiles with a repeated type stay separate unless the scope stores their
/// order.
fn distinct(profiles: &[Profile]) -> usize {
    let mut seen = HashSet::with_capacity_and_hasher(profiles.len().min(8), RandomState::default());
    let types = profiles.iter().map(|profile| profile.sample_types.first());
    types.take_while(|of| seen.insert(of.map(|of| (of.name, of.unit)))).count().max(1)
}

/// Returns whether a profile can be a column: it has one sample type, and its values fit beside those of
/// others.
///
/// A sample fits with a single value, or with timestamps only. With a value for each timestamp, it fits under
/// [`Join::Compatible`]; under [`Join::Ordered`] it fits only if the values are the shares of a divided
/// total.
fn is_column(profile: &Profile, rule: Join) -> bool {
    let samples = &profile.samples;
    if profile.sample_types.len() != 1 {
        return false;
    }
    if samples.timestamps.items.is_empty() {
        return samples.values.ends.len() == samples.len()
            && samples.values.rows().all(|values| values.len() == 1);
    }
    samples.iter().all(|sample| match (sample.values, sample.timestamps_unix_nano.len()) {
        (values, 0) => values.len() == 1,
        ([], _) => true,
        (values, times) if values.len() == times => rule == Join::Compatible || was_divided(values),
        _ => false,
    })
}

/// Returns whether the values are the shares of a total that was divided among timestamps.
fn was_divided(values: &[i64]) -> bool {
    // Only a total of 64 bits can have been divided.
    let Some(total) = values.iter().try_fold(0i64, |sum, value| sum.checked_add(*value)) else {
        return false;
    };
    values.iter().enumerate().all(|(at, value)| *value == share(total, values.len(), at))
}

/// Returns whether two profiles have the same samples at the same time. They may differ in sample type and
/// values only; the order of the samples counts.
fn compatible(a: &Profile, b: &Profile) -> bool {
    // Destructure all fields, so that the compiler reports a new one. `_` marks fields that may differ.
    let ProfileParts {
        profile_id: _,
        time_unix_nano,
        duration_nanos,
        sample_types: _,
        default_sample_type,
        period_type,
        period,
        attributes,
        dropped_attributes_count: _,
        original_payload_format,
        original_payload,
        samples:
            Samples { stacks, links, stacktrace_ids, attributes: of_samples, values: _, timestamps },
        in_order: _,
        event_form: _,
    } = &**a;
    *time_unix_nano == b.time_unix_nano
        && *duration_nanos == b.duration_nanos
        && *period == b.period
        && *period_type == b.period_type
        && *original_payload == b.original_payload
        && *original_payload_format == b.original_payload_format
        && *default_sample_type == b.default_sample_type
        && same_set(attributes, &b.attributes)
        && *timestamps == b.samples.timestamps
        && *stacks == b.samples.stacks
        && *links == b.samples.links
        && *of_samples == b.samples.attributes
        && *stacktrace_ids == b.samples.stacktrace_ids
}

/// Returns whether two lists have the same attributes in any order.
fn same_set(a: &[AttributeId], b: &[AttributeId]) -> bool {
    let sorted = |ids: &[AttributeId]| {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids
    };
    a == b || a.len() == b.len() && sorted(a) == sorted(b)
}

/// Returns the column to show first: the first with the name of the default, else the last, as in pprof.
pub(crate) fn default_column(
    types: &[ValueType],
    default: StringId,
    dictionary: &Dictionary,
) -> usize {
    let last = types.len().saturating_sub(1);
    if default == StringId::NONE {
        return last;
    }
    let name = dictionary.text(default);
    types.iter().position(|t| dictionary.text(t.name) == name).unwrap_or(last)
}

/// Returns the order in which the columns of a profile become profiles: the default first.
pub(crate) fn split_order(columns: usize, default: usize) -> Vec<usize> {
    std::iter::once(default).chain((0..columns).filter(|&column| column != default)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_order_are_found_from_behind() {
        assert_eq!(first_part(&[1, 0, 2], 0, 3), 0);
        assert_eq!(first_part(&[3, 1, 2, 0], 1, 3), 1, "[1, 2] stays within 1..3");
        assert_eq!(first_part(&[2, 0, 1], 1, 3), 3, "[0, 1] does not stay within 1..3");
        assert_eq!(first_part(&[1, 2, 0, 3], 1, 4), 3);
    }

    #[test]
    fn what_was_divided_is_told_from_other_values() {
        for values in [&[2, 2, 2][..], &[2, 2, 3], &[-3, -3, -1], &[1]] {
            assert!(was_divided(values));
        }
        assert!(!was_divided(&[1, 2, 3]));
    }

    #[test]
    fn the_default_column_goes_first_and_the_order_says_where_it_was() {
        assert_eq!(split_order(4, 3), [3, 0, 1, 2], "the example of the conventions");
        assert_eq!(split_order(1, 0), [0]);
        assert_eq!(part_of(&[1, 0, 3, 2], 2, 2), Some(vec![1, 0]));
        assert_eq!(part_of(&[1, 2, 0], 0, 2), None);
    }
}
