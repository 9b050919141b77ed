//! Summaries, sizes, and totals for other targets.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Debug;

use otlp_profiles::summary::Sizes;
use otlp_profiles::{Profiles, Summary, read};

use crate::{options, parts};

/// The number of events and the sum of the values of each sample type, over all profiles.
pub fn totals(profiles: &Profiles) -> BTreeMap<(&str, &str), (u64, i128)> {
    let mut all = BTreeMap::<_, (u64, i128)>::new();
    let dictionary = profiles.dictionary();
    for profile in profiles {
        let samples = profile.samples().iter();
        let events: u64 = samples.map(|sample| sample.timestamps_unix_nano.len() as u64).sum();
        for (kind, of) in profile.sample_types().iter().zip(profile.sums()) {
            let key = (dictionary.text(kind.name), dictionary.text(kind.unit));
            let (all_events, sum) = all.entry(key).or_default();
            (*all_events, *sum) = (*all_events + events, *sum + of);
        }
    }
    all
}

/// The facts of a summary, without the rows of tables: a summary counts them differently from a full reading.
fn facts(summary: &Summary) -> impl PartialEq + Debug + use<> {
    let dictionary = summary.outline().dictionary();
    let profiles = summary.profiles().map(|of| {
        let kinds = of.profile.sample_types().iter();
        let kinds: Vec<_> = kinds.map(|kind| dictionary.text(kind.name).to_owned()).collect();
        (kinds, of.samples, of.timestamps, of.sums.to_vec())
    });
    let detected = (summary.detected().format.name(), summary.detected().certainty.clone());
    (detected, profiles.collect::<Vec<_>>(), summary.time_range())
}

/// A summary equals the summary of a full reading, except that an unchecked summary may accept more payloads.
pub fn summary(input: &[u8]) {
    let Some((format, file)) = parts(input) else { return };
    let options = options(format);
    match (read(file, &options), Summary::of(file, &options)) {
        (Ok(reading), summary) => {
            let summary = summary.expect("a readable payload has a summary");
            assert_eq!(facts(&summary), facts(&Summary::of_reading(reading)));
        }
        (Err(error), Ok(summary)) => assert!(!summary.is_checked(), "{error}"),
        (Err(error), Err(other)) => assert_eq!(error.to_string(), other.to_string()),
    }
}

/// Every byte of a payload belongs to one field, so tables and fields add up to the payload.
pub fn sizes(input: &[u8]) {
    let Some((format, file)) = parts(input) else { return };
    let Ok(sizes) = Sizes::of(file, &options(format)) else { return };
    let tables: u64 = sizes.tables().iter().map(|table| table.bytes).sum();
    assert_eq!(tables, sizes.bytes());
    for table in sizes.tables().iter().filter(|table| !table.fields.is_empty()) {
        assert_eq!(table.fields.iter().map(|field| field.bytes).sum::<u64>(), table.bytes);
    }
    assert!(sizes.strings().is_sorted_by_key(|string| Reverse(string.bytes)));
    assert!(sizes.stacks().is_sorted_by_key(|stack| Reverse(stack.depth)));
}
