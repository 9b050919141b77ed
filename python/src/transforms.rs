//! `merge`, `filter`, `redact` and `split`: from profiles to profiles.

use std::collections::BTreeMap;
use std::sync::Arc;

use otlp_profiles::look::Pattern;
use otlp_profiles::transform::{
    Combine, InputTypes, MaxBytes, MergeOptions, Merger, Redactor, ResourceKeys, SplitBy, Strip,
    retain_time, split as split_by, split_max, strip as strip_of,
};
use otlp_profiles::{Losses, Profiles};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::content::Content;
use crate::error::Failure;
use crate::filters::{Filters, pattern, texts, warn};
use crate::options::{LimitsArg, Options, parse_format};
use crate::profiles;
use crate::source::Source;
use crate::types::keep_types;

/// Adds up the profiles of several sources. Profiles of different identity stay apart.
///
/// `combine` is how snapshots of one process are combined, such as heap profiles: `sum`, `last`, `mean`, `max`, or
/// `kind` for the last of totals and the mean of states. `ignore_resource` has keys of resource attributes: profiles
/// that differ in nothing else are added up. With `keep_apart`, every profile stays apart and only the tables are
/// united. With `canonical`, the result does not depend on the order of the sources.
#[pyfunction]
#[pyo3(signature = (
    sources, *, combine="sum", ignore_resource=None, keep_apart=false, canonical=false, limits=None
))]
pub(crate) fn merge(
    py: Python<'_>,
    sources: &Bound<'_, PyAny>,
    combine: &str,
    ignore_resource: Option<Bound<'_, PyAny>>,
    keep_apart: bool,
    canonical: bool,
    limits: Option<LimitsArg>,
) -> PyResult<profiles::Profiles> {
    let options = Options::limited(limits)?;
    let combine = match combine {
        "sum" => Combine::Sum,
        "last" => Combine::Last,
        "mean" => Combine::Mean,
        "max" => Combine::Max,
        "kind" => Combine::ByKind,
        _ => {
            let message = format!("combine is sum, last, mean, max or kind, not {combine:?}");
            return Err(PyValueError::new_err(message));
        }
    };
    let ignored = ignore_resource.as_ref().map(texts).transpose()?;
    let resources = ignored.map_or(ResourceKeys::All, ResourceKeys::Without);
    let merge = MergeOptions::default().keep_apart(keep_apart).canonical(canonical);
    let merge = merge.combine(combine).resources(resources);
    let mut merger = Merger::new(merge.limits(options.limits(true)));
    let (mut findings, mut inputs) = (Vec::new(), InputTypes::default());
    // One source at a time, so that an iterator need not hold all of them.
    for (row, source) in profiles::each(sources)?.enumerate() {
        let source = source?;
        let name = source.path().map(|path| path.to_string_lossy().into_owned());
        let name = name.unwrap_or_else(|| format!("source {}", row + 1));
        py.detach(|| -> Result<_, Failure> {
            let content = source.load(&options)?;
            findings.extend(content.findings.iter().cloned());
            inputs.add(&name, &content.profiles);
            merger.add(&content.profiles).map_err(|error| source.failure(error))
        })?;
    }
    let merged = py.detach(|| merger.finish()).map_err(Failure::from)?;
    Ok(profiles::Profiles(Content::merged(merged, findings, inputs)))
}

/// Keeps a part of the samples, frames, labels or details. Regular expressions are unanchored.
///
/// `focus`, `ignore`, `hide`, `show`, `show_from`, `prune_from`, `tagfocus`, `tagignore`, `tagshow`, `taghide`,
/// `tagroot`, `tagleaf` and `all_frames` are those of `otlp-profiles filter`. `sample_type` is a name or several;
/// `where_resource` maps keys of resource attributes to expressions for their values; `time` is a range in nanoseconds
/// since 1970, whose ends may be None; `strip` removes `addresses`, `lines` or `mappings`. A filter without a match
/// is a UserWarning.
#[pyfunction]
#[pyo3(signature = (source, *, sample_type=None, where_resource=None, time=None, strip=None, limits=None, **filters))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn filter(
    py: Python<'_>,
    source: Source,
    sample_type: Option<Bound<'_, PyAny>>,
    where_resource: Option<BTreeMap<String, String>>,
    time: Option<(Option<u64>, Option<u64>)>,
    strip: Option<Bound<'_, PyAny>>,
    limits: Option<LimitsArg>,
    filters: Option<&Bound<'_, PyDict>>,
) -> PyResult<profiles::Profiles> {
    let (filters, options) = (Filters::new(filters)?, Options::limited(limits)?);
    let types = sample_type.as_ref().map(texts).transpose()?;
    let compiled = |(key, text): (String, String)| Ok((key, pattern("where_resource", &text)?));
    let resources: PyResult<Vec<_>> =
        where_resource.unwrap_or_default().into_iter().map(compiled).collect();
    let resources = resources?;
    let names = strip.as_ref().map(texts).transpose()?.unwrap_or_default();
    let details = names.iter().map(|name| detail(name)).collect::<PyResult<Vec<_>>>()?;
    let (made, unmatched) = py.detach(|| -> Result<_, Failure> {
        let content = source.load(&options)?;
        let (mut profiles, mut losses) = (content.profiles.clone(), Losses::default());
        retain_resources(&mut profiles, &resources);
        if let Some(types) = &types {
            keep_types(&mut profiles, types)?;
        }
        if let Some((start, end)) = time {
            let range = start.unwrap_or(0)..end.unwrap_or(u64::MAX);
            losses.merge(&retain_time(&mut profiles, range));
        }
        let unmatched = filters.apply(&mut profiles)?;
        if !details.is_empty() {
            losses.merge(&strip_of(&mut profiles, &details, options.limits(true))?);
        }
        profiles.compact();
        Ok((content.made(profiles, &losses), unmatched))
    })?;
    warn(py, &unmatched)?;
    Ok(profiles::Profiles(made))
}

fn retain_resources(profiles: &mut Profiles, patterns: &[(String, Pattern)]) {
    profiles.retain_resources(|resource| {
        let value = |key: &str| resource.get(key).map(|value| value.to_string());
        let matches = |(key, pattern): &(String, Pattern)| {
            value(key).is_some_and(|value| pattern.matches(&value))
        };
        patterns.iter().all(matches)
    });
}

fn detail(name: &str) -> PyResult<Strip> {
    match name {
        "addresses" => Ok(Strip::Addresses),
        "lines" => Ok(Strip::Lines),
        "mappings" => Ok(Strip::Mappings),
        _ => {
            let message = format!("strip is addresses, lines or mappings, not {name:?}");
            Err(PyValueError::new_err(message))
        }
    }
}

/// Replaces names and values by pseudonyms, so that profiles can be shared: `otlp-profiles redact`.
///
/// `keep` is a regular expression, or several, for names, paths and values that stay.
#[pyfunction]
#[pyo3(signature = (source, *, keep=None, limits=None))]
pub(crate) fn redact(
    py: Python<'_>,
    source: Source,
    keep: Option<Bound<'_, PyAny>>,
    limits: Option<LimitsArg>,
) -> PyResult<profiles::Profiles> {
    let options = Options::limited(limits)?;
    let keep = keep.as_ref().map(texts).transpose()?.unwrap_or_default();
    let keep = keep.iter().map(|text| pattern("keep", text)).collect::<PyResult<Vec<_>>>()?;
    let made = py.detach(|| -> Result<_, Failure> {
        let content = source.load(&options)?;
        let mut profiles = content.profiles.clone();
        let is_kept = |text: &str| keep.iter().any(|pattern| pattern.matches(text));
        let losses = Redactor::new(&is_kept).redact(&mut profiles);
        Ok(content.made(profiles, &losses))
    })?;
    Ok(profiles::Profiles(made))
}

/// Divides profiles into parts, by name: `otlp-profiles split`.
///
/// `by` is `resource`, `scope`, `type`, `thread` or `attribute:KEY`. `window_nanos` divides by time instead, and
/// `max_bytes` by the size of a part written as `to`.
#[pyfunction]
#[pyo3(signature = (source, by=None, *, window_nanos=None, max_bytes=None, keep_oversize=false, to="otlp", limits=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn split<'py>(
    py: Python<'py>,
    source: Source,
    by: Option<&str>,
    window_nanos: Option<u64>,
    max_bytes: Option<u64>,
    keep_oversize: bool,
    to: &str,
    limits: Option<LimitsArg>,
) -> PyResult<Bound<'py, PyDict>> {
    let (to, options) = (parse_format(to)?, Options::limited(limits)?);
    let by = match (by.map(kind).transpose()?, window_nanos, max_bytes) {
        (Some(by), None, None) => Some(by),
        (None, Some(nanos @ 1..), None) => Some(SplitBy::Window(nanos)),
        (None, None, Some(_)) => None,
        _ => {
            let message = "split needs one of by, window_nanos (at least 1) and max_bytes";
            return Err(PyValueError::new_err(message));
        }
    };
    let parts = py.detach(|| -> Result<Vec<(String, Arc<Content>)>, Failure> {
        let content = source.load(&options)?;
        let Some(by) = by else {
            let limit = MaxBytes::new(max_bytes.unwrap_or(u64::MAX)).format(to);
            let limit = limit.write(options.write()).keep_oversize(keep_oversize);
            let parts = split_max(&content.profiles, &limit)?.into_iter().zip(1..);
            let part = |(part, row)| (format!("{row:04}"), content.made(part, &Losses::default()));
            return Ok(parts.map(part).collect());
        };
        let (parts, losses) = split_by(&content.profiles, &by);
        Ok(parts.into_iter().map(|of| (of.name, content.made(of.profiles, &losses))).collect())
    })?;
    let named = PyDict::new(py);
    for (name, part) in parts {
        named.set_item(name, profiles::Profiles(part))?;
    }
    Ok(named)
}

fn kind(by: &str) -> PyResult<SplitBy> {
    Ok(match by {
        "resource" => SplitBy::Resource,
        "scope" => SplitBy::Scope,
        "type" => SplitBy::SampleType,
        "thread" => SplitBy::Thread,
        _ => match by.strip_prefix("attribute:") {
            Some(key) if !key.is_empty() => SplitBy::Attribute(key.to_owned()),
            _ => {
                let message =
                    format!("by is resource, scope, type, thread or attribute:KEY, not {by:?}");
                return Err(PyValueError::new_err(message));
            }
        },
    })
}
