//! Code that several fuzz targets share.

pub mod builder;

use std::collections::BTreeMap;
use std::fmt::Debug;

use otlp_profiles::{Ambiguity, Format, Limits, Profiles, ReadOptions, Summary};

/// The format that the first byte of an input selects.
pub fn format(byte: u8) -> Format {
    Format::ALL[byte as usize % Format::ALL.len()]
}

/// Options for reading an input as that format, within 64 MiB.
pub fn options(byte: u8) -> ReadOptions {
    let limits = Limits::network().max_owned_bytes(64 << 20);
    ReadOptions::default().format(format(byte)).limits(limits).ambiguity(Ambiguity::Prefer)
}

/// The number of events and the sum of the values of each sample type, over all profiles.
pub fn totals(profiles: &Profiles) -> BTreeMap<(&str, &str), (u64, i128)> {
    let mut all = BTreeMap::<_, (u64, i128)>::new();
    for profile in profiles {
        for sample in profile.samples() {
            let events = sample.timestamps_unix_nano.len() as u64;
            for (kind, total) in profile.sample_types().iter().zip(profile.totals(sample)) {
                let dictionary = profiles.dictionary();
                let key = (dictionary.text(kind.name), dictionary.text(kind.unit));
                let (all_events, sum) = all.entry(key).or_default();
                (*all_events, *sum) = (*all_events + events, *sum + i128::from(total));
            }
        }
    }
    all
}

/// The facts of a summary, without the rows of tables: a summary counts them differently from a full reading.
pub fn facts(summary: &Summary) -> impl PartialEq + Debug + use<> {
    let dictionary = summary.outline().dictionary();
    let profiles = summary.profiles().map(|of| {
        let kinds = of.profile.sample_types().iter();
        let kinds: Vec<_> = kinds.map(|kind| dictionary.text(kind.name).to_owned()).collect();
        (kinds, of.samples, of.timestamps, of.sums.to_vec())
    });
    let detected = (summary.detected().format.name(), summary.detected().certainty.clone());
    (detected, profiles.collect::<Vec<_>>(), summary.time_range())
}
