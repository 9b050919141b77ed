//! The builder against a naive model: a map.

use std::collections::BTreeMap;

use arbitrary::Unstructured;
use otlp_profiles::builder::leaf_first;
use otlp_profiles::check::{Options, validate};
use otlp_profiles::{Builder, Format, Profiles, write};

/// Profile, stack, attribute, value and timestamp; 0 is no attribute and no timestamp.
type Sample = (u8, Vec<u8>, u8, i16, u8);

const PROFILES: [&str; 3] = ["cpu", "wall", "alloc_space"];
const FRAMES: [&str; 5] = ["main", "serve", "parse", "ü", "a::b<c>"];

/// Profile, frames from the leaf, the attribute, and whether there are timestamps.
type Identity = (String, Vec<String>, Option<i64>, bool);

/// The total, and each timestamp with its value.
type Seen = (i64, Vec<(u64, i64)>);

fn frames(stack: &[u8]) -> Vec<&'static str> {
    stack.iter().map(|frame| FRAMES[*frame as usize % FRAMES.len()]).collect()
}

/// Creates a builder with samples.
fn built(samples: &[Sample]) -> Builder {
    let mut builder = Builder::new();
    add(&mut builder, samples);
    builder
}

/// Adds samples to a builder.
fn add(builder: &mut Builder, samples: &[Sample]) {
    for (profile, stack, attribute, value, time) in samples {
        let profile = builder.profile(PROFILES[*profile as usize % PROFILES.len()], "count");
        let mut sample = builder.sample(profile, leaf_first(frames(stack))).value(*value);
        if *attribute > 0 {
            sample = sample.attr("thread.id", i64::from(*attribute));
        }
        if *time > 0 {
            sample.timestamp(u64::from(*time));
        }
    }
}

/// The result that the model expects from the same calls.
fn expected<'a>(parts: impl IntoIterator<Item = &'a [Sample]>) -> BTreeMap<Identity, Seen> {
    let mut all = BTreeMap::<Identity, Seen>::new();
    for (profile, stack, attribute, value, time) in parts.into_iter().flatten() {
        let name = PROFILES[*profile as usize % PROFILES.len()].to_owned();
        let stack = frames(stack).into_iter().map(str::to_owned).collect();
        let attribute = (*attribute > 0).then(|| i64::from(*attribute));
        let seen = all.entry((name, stack, attribute, *time > 0)).or_default();
        match time {
            0 => seen.0 += i64::from(*value),
            _ => seen.1.push((u64::from(*time), i64::from(*value))),
        }
    }
    all.values_mut().for_each(|seen| seen.1.sort());
    all
}

/// The samples of profiles, for comparison with the model.
fn samples(profiles: &Profiles) -> BTreeMap<Identity, Seen> {
    let dictionary = profiles.dictionary();
    let mut all = BTreeMap::<Identity, Seen>::new();
    for profile in profiles {
        for sample in profile.samples() {
            let name = dictionary.text(profile.sample_types()[0].name).to_owned();
            let stack = dictionary.frames(sample.stack).map(|frame| frame.name().to_owned());
            let attribute = dictionary.resolve(sample.attributes).get("thread.id");
            let attribute = attribute.and_then(|value| value.as_i64());
            let times = sample.timestamps_unix_nano.iter().copied();
            let mut times: Vec<_> = times.zip(sample.values.iter().copied()).collect();
            times.sort();
            let total = if times.is_empty() { sample.values[0] } else { 0 };
            let identity = (name, stack.collect(), attribute, !times.is_empty());
            assert_eq!(all.insert(identity, (total, times)), None, "equal samples are one");
        }
    }
    all
}

/// A builder that is merged from two equals a map with the samples of both. Its OTLP breaks no rule; neither does that of
/// any profiles the library makes of bytes.
pub fn builder(input: &[u8]) {
    let clean = |profiles: &Profiles| {
        let written =
            write(profiles, Format::OTLP, &Default::default()).expect("OTLP has all of it");
        let report = validate(&written.payload, &Options::default().format(Format::OTLP));
        assert!(profiles.iter().count() == 0 || report.is_ok(), "{report:?}");
    };
    clean(&otlp_profiles::fuzzing::profiles(input));
    let Ok((split, all)) = Unstructured::new(input).arbitrary::<(u8, Vec<Sample>)>() else {
        return;
    };
    let (first, second) = all.split_at(all.len() * usize::from(split) / 256);
    let (mut builder, other) = (built(first), built(second));
    builder.merge(&other);
    add(&mut builder, first);
    let profiles = builder.finish().expect("no limit is reached");
    assert_eq!(samples(&profiles), expected([first, second, first]));
    clean(&profiles);
}
