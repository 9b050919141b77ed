//! The facts above a report, and its samples after filters.

use std::borrow::Cow;

use crate::error::Result;
use crate::look::options::Options;
use crate::look::report::Header;
use crate::look::select::{Selection, select};
use crate::model::{Entry, MappingId, Profiles, SampleType, Value};
use crate::semconv::{BUILD_IDS, PPROF_PROFILE_COMMENT, PPROF_PROFILE_DOC_URL};
use crate::tables::profile::covered::Covered;
use crate::units;

/// Applies the filters, and describes the samples.
pub(super) fn prepare<'a>(
    profiles: &'a Profiles,
    options: &Options,
) -> Result<(Cow<'a, Profiles>, Header)> {
    let selection = select(profiles, options.sample_type.as_deref())?;
    let mut header = describe(profiles, &selection, options);
    if options.filter.is_empty() {
        return Ok((Cow::Borrowed(profiles), header));
    }
    let mut filtered = profiles.clone();
    header.unmatched_filters = options.filter.apply(&mut filtered)?;
    if options.relative_percentages {
        header.total = select(&filtered, options.sample_type.as_deref())?.total(options.mean);
    }
    Ok((Cow::Owned(filtered), header))
}

fn describe(profiles: &Profiles, selection: &Selection<'_>, options: &Options) -> Header {
    let SampleType { name, unit, .. } = selection.sample_type;
    let owned = |of: &SampleType<'_>| (of.name.to_owned(), of.unit.to_owned());
    let entries = || selection.columns.iter().map(|(entry, ..)| entry);
    let (file, build_id) = main_binary(entries());
    let starts = entries().map(|entry| entry.profile().time_unix_nano()).filter(|time| *time != 0);
    let time_unix_nano = starts.min().unwrap_or_default();
    let mut covered = Covered::default();
    let each = profiles.entries().zip(Covered::each(profiles.entries())).enumerate();
    for (at, (entry, own)) in each {
        if selection.sample_type.column(entry.profile(), entry.dictionary()).is_some() {
            covered.join(options.covered.get(at).unwrap_or(&own));
        }
    }
    Header {
        file,
        build_id,
        comments: comments(entries()),
        sample_type: name.to_owned(),
        unit: unit.to_owned(),
        display_unit: options.unit.clone().unwrap_or_else(|| units::AUTO.to_owned()),
        other_types: selection.others.iter().map(owned).collect(),
        doc_url: entries()
            .find_map(|entry| entry.attributes().get_str(PPROF_PROFILE_DOC_URL))
            .map(str::to_owned),
        time_unix_nano,
        duration_nanos: covered.nanos(),
        total: selection.total(options.mean),
        mean: options.mean,
        filters: options.filter.described(),
        unmatched_filters: Vec::new(),
    }
}

/// The file and the build id of the first mapping, if all profiles are of one resource.
fn main_binary<'a>(
    mut entries: impl Iterator<Item = &'a Entry<'a>>,
) -> (Option<String>, Option<String>) {
    let Some(first) = entries.next() else { return (None, None) };
    let same =
        |entry: &Entry<'_>| std::ptr::eq(entry.resource_profiles(), first.resource_profiles());
    if !entries.all(same) {
        return (None, None);
    }
    let dictionary = first.dictionary();
    let main = MappingId(1);
    let file = dictionary.text(dictionary.mappings().get(main).filename);
    let attributes = dictionary.resolve(dictionary.mappings().attributes(main));
    let build_id = BUILD_IDS.iter().find_map(|key| attributes.get_str(key));
    (Some(file.to_owned()).filter(|file| !file.is_empty()), build_id.map(str::to_owned))
}

/// The comments of all profiles, each once, without those that pprof hides.
fn comments<'a>(entries: impl Iterator<Item = &'a Entry<'a>>) -> Vec<String> {
    let mut comments: Vec<String> = Vec::new();
    for entry in entries {
        let value = entry.attributes().get(PPROF_PROFILE_COMMENT);
        let Some(Value::Array(items)) = value.map(|value| value.value()) else { continue };
        let of_profile = items.iter().map(|item| entry.dictionary().value(item).to_string());
        // pprof does not show comments that begin with `#`.
        let of_profile: Vec<_> = of_profile.filter(|one| !one.starts_with('#')).collect();
        if !comments.ends_with(&of_profile) {
            comments.extend(of_profile);
        }
    }
    comments
}
