//! The samples of one type.

use crate::error::{Error, ErrorKind, Result};
use crate::look::label::{LabelValue, labels};
use crate::model::{Entry, Profiles, Value};
use crate::semconv::{
    PPROF_PROFILE_DEFAULT_SAMPLE_TYPE, PPROF_SCOPE_DEFAULT_SAMPLE_TYPE,
    PPROF_SCOPE_SAMPLE_TYPE_ORDER,
};

/// A sample type: a name and a unit.
pub(super) type Type<'a> = (&'a str, &'a str);

/// The profiles with one sample type, and the column of each.
#[derive(Debug)]
pub(super) struct Selection<'a> {
    pub(super) columns: Vec<(Entry<'a>, usize)>,
    pub(super) sample_type: Type<'a>,
    /// All others, each once.
    pub(super) others: Vec<Type<'a>>,
}

/// The types of a profile. One without any has an unnamed one.
fn types<'a>(entry: &Entry<'a>) -> Vec<Type<'a>> {
    let dictionary = entry.dictionary();
    let text =
        |kind: &crate::model::ValueType| (dictionary.text(kind.name), dictionary.text(kind.unit));
    let types: Vec<_> = entry.profile().sample_types().iter().map(text).collect();
    if types.is_empty() { vec![("", "")] } else { types }
}

/// The types of the profiles of the first scope, in the order that pprof has them.
fn ordered<'a>(first: &Entry<'a>, entries: &[Entry<'a>]) -> Vec<Type<'a>> {
    let of_scope =
        entries.iter().filter(|entry| std::ptr::eq(entry.scope_profiles(), first.scope_profiles()));
    let mut columns: Vec<_> = of_scope.map(types).collect();
    let order = first.scope_attributes().get(PPROF_SCOPE_SAMPLE_TYPE_ORDER);
    if let Some(Value::Array(order)) = order.map(|order| order.value())
        && order.len() == columns.len()
    {
        let place = |value: &Value| if let Value::Int(place) = value { *place } else { i64::MAX };
        let mut placed: Vec<_> = order.iter().map(place).zip(columns).collect();
        placed.sort_by_key(|(place, _)| *place);
        columns = placed.into_iter().map(|(_, types)| types).collect();
    }
    columns.concat()
}

/// The default type that a profile or its scope declares.
fn declared<'a>(entry: &Entry<'a>) -> Option<&'a str> {
    let of_profile = entry.dictionary().text(entry.profile().default_sample_type());
    Some(of_profile)
        .filter(|name| !name.is_empty())
        .or_else(|| entry.attributes().get_str(PPROF_PROFILE_DEFAULT_SAMPLE_TYPE))
        .or_else(|| entry.scope_attributes().get_str(PPROF_SCOPE_DEFAULT_SAMPLE_TYPE))
}

/// Selects the samples of a type: by its name or number among the types of the first scope. Without one, the declared
/// default or the last.
///
/// # Errors
///
/// There is no profile, or no such type.
pub(super) fn select<'a>(profiles: &'a Profiles, wanted: Option<&str>) -> Result<Selection<'a>> {
    let entries: Vec<Entry<'a>> = profiles.entries().collect();
    let Some(first) = entries.first() else {
        return Err(Error::new(ErrorKind::InvalidOption, "there is no profile to show"));
    };
    let ordered = ordered(first, &entries);
    let mut all = ordered.clone();
    for entry in &entries {
        all.extend(types(entry));
    }
    let unique: Vec<Type<'_>> = {
        let mut seen = hashbrown::HashSet::<_, foldhash::fast::RandomState>::default();
        all.iter().filter(|one| seen.insert(**one)).copied().collect()
    };
    let by_name = |name: &str| unique.iter().find(|one| one.0 == name);
    let sample_type = match wanted {
        // pprof shows the last sample type by default.
        None => declared(first).and_then(by_name).or(ordered.last()),
        Some(wanted) => (wanted.parse().ok().and_then(|number: usize| ordered.get(number)))
            .or_else(|| by_name(wanted))
            // pprof accepts `inuse_space` for the type `space` of old heap profiles.
            .or_else(|| by_name(wanted.strip_prefix("inuse_")?)),
    };
    let Some(&sample_type) = sample_type else {
        let names: Vec<_> = unique.iter().map(|one| one.0).collect();
        let wanted = wanted.unwrap_or_default();
        let message =
            format!("no profile has the sample type {wanted}: choose one of {}", names.join(", "));
        return Err(Error::new(ErrorKind::InvalidOption, message));
    };
    let column = |entry: &Entry<'_>| types(entry).iter().position(|one| *one == sample_type);
    let columns = entries.iter().filter_map(|entry| Some((*entry, column(entry)?))).collect();
    let others = unique.iter().filter(|one| **one != sample_type).copied().collect();
    Ok(Selection { columns, sample_type, others })
}

impl Selection<'_> {
    /// The sum of absolute values, of samples with the label `pprof::base` only if there are any; in a mean, divided by
    /// the sum of the first column.
    pub(super) fn total(&self, mean: bool) -> i128 {
        let (mut all, mut base) = ((0, 0), (0, 0));
        let Some((first, _)) = self.columns.first() else { return 0 };
        let dictionary = first.dictionary();
        let is_base: Vec<bool> = (dictionary.attributes().iter())
            .map(|row| dictionary.text(row.key) == "pprof::base")
            .collect();
        for (entry, column) in &self.columns {
            for sample in entry.profile().samples() {
                let value = i128::from(entry.profile().total(sample, *column)).abs();
                let divisor = if mean { entry.profile().total(sample, 0).into() } else { 0 };
                all = (all.0 + value, all.1 + divisor);
                let labelled = sample.attributes.iter().any(|id| is_base[id.row()]);
                if labelled
                    && labels(dictionary, &sample).iter().any(|label| {
                        let LabelValue::Text(text) = &label.value else { return false };
                        (label.key, &**text) == ("pprof::base", "true")
                    })
                {
                    base = (base.0 + value, base.1 + divisor);
                }
            }
        }
        // As in pprof, the total of a difference is that of its base.
        let (total, divisor) = if base.0 > 0 { base } else { all };
        if divisor == 0 { total } else { total / divisor }
    }
}
