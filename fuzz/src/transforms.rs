//! Transforms conserve the totals of each sample type.

use std::collections::BTreeMap;
use std::ops::Range;

use otlp_profiles::fuzzing::{Random, mutate_bytes};
use otlp_profiles::losses::{LossKind, Losses};
use otlp_profiles::model::Profile;
use otlp_profiles::transform::{
    AggregatorOptions, Expression, MaxBytes, MergeOptions, Merger, Pipeline, RateOptions, Redactor,
    SplitBy, Stage, Strip, Target, retain_time, split as divide, split_max, strip as remove,
};
use otlp_profiles::{Limits, Profiles, read};

use crate::measures::totals;
use crate::{options, parts};

/// The profiles of an input.
fn profiles(input: &[u8]) -> Option<Profiles> {
    let (format, file) = parts(input)?;
    read(file, &options(format)).ok().map(|reading| reading.profiles)
}

/// Totals by name and unit, without sample types of no events and no sum.
fn sums<'a>(
    all: impl IntoIterator<Item = &'a Profiles>,
) -> BTreeMap<(String, String), (u64, i128)> {
    let mut sums = BTreeMap::<_, (u64, i128)>::new();
    for ((name, unit), (events, sum)) in all.into_iter().flat_map(totals) {
        let entry = sums.entry((name.to_owned(), unit.to_owned())).or_default();
        *entry = (entry.0 + events, entry.1 + sum);
    }
    sums.retain(|_, sums| *sums != (0, 0));
    sums
}

fn has_dropped(losses: &Losses) -> bool {
    losses.iter().any(|loss| loss.code.kind() == LossKind::Dropped)
}

/// A merged payload has the sum of both inputs, unless it counts a profile with a known id once.
pub fn merge(input: &[u8]) {
    let Some(first) = profiles(input) else { return };
    let second = otlp_profiles::fuzzing::profiles(input);
    let mut merger = Merger::new(MergeOptions::default());
    let added = [&first, &second, &first].iter().try_for_each(|part| merger.add(part));
    let Ok(merged) = added.and_then(|()| merger.finish()) else { return };
    let repeated = merged.losses.iter().any(|loss| loss.code.to_string() == "profile.repeated");
    if !repeated && !has_dropped(&merged.losses) {
        assert_eq!(
            sums([&merged.profiles]),
            sums([&first, &second, &first]),
            "{:?}",
            merged.losses
        );
    }
}

/// The parts of a payload have the sum of the payload.
pub fn split(input: &[u8]) {
    let Some(whole) = profiles(input) else { return };
    let properties = [
        SplitBy::Resource,
        SplitBy::Scope,
        SplitBy::SampleType,
        SplitBy::Thread,
        SplitBy::Attribute("endpoint".to_owned()),
        SplitBy::Window(1_000_000_000),
    ];
    for by in properties {
        let (parts, losses) = divide(&whole, &by);
        if !has_dropped(&losses) {
            assert_eq!(sums(parts.iter().map(|part| &part.profiles)), sums([&whole]), "{by:?}");
        }
    }
    if let Ok(parts) = split_max(&whole, &MaxBytes::new(400)) {
        assert_eq!(sums(&parts), sums([&whole]));
    }
}

/// The events and the sum of each sample type of each profile that a filter keeps: all timestamps in the window, and
/// totals if their profile starts in it.
fn inside(profiles: &Profiles, window: &Range<i128>) -> Vec<Vec<(usize, i128)>> {
    let of_profile = |profile: &Profile| {
        let is_inside = window.contains(&profile.time_unix_nano());
        let types = profile.sample_types().len().max(1);
        let mut sums = vec![(0, 0); types];
        for sample in profile.samples() {
            let (times, values) = (sample.timestamps_unix_nano, sample.values);
            let divides = types == 1 && (values.is_empty() || values.len() == times.len());
            if divides && !times.is_empty() {
                let times = times.iter().copied().map(i128::from).enumerate();
                let kept = times.filter(|(_, time)| window.contains(time));
                for (at, _) in kept {
                    sums[0] =
                        (sums[0].0 + 1, sums[0].1 + i128::from(*values.get(at).unwrap_or(&1)));
                }
            } else if is_inside {
                for (sum, total) in sums.iter_mut().zip(profile.totals(sample)) {
                    *sum = (sum.0 + times.len(), sum.1 + i128::from(total));
                }
            }
        }
        sums
    };
    profiles.iter().map(|profile| of_profile(&profile)).collect()
}

/// Removing details keeps the sum. So does a window for what is in it: a profile that starts before 1970 is outside.
pub fn strip(input: &[u8]) {
    let Some(whole) = profiles(input) else { return };
    let mut changed = whole.clone();
    let what = [Strip::Addresses, Strip::Lines, Strip::Mappings];
    if remove(&mut changed, &what, Limits::network()).is_ok() {
        assert_eq!(sums([&changed]), sums([&whole]));
    }
    let mut changed = whole.clone();
    for window in [0..u64::MAX, 0..1 << 60] {
        let expected = inside(&whole, &(i128::from(window.start)..i128::from(window.end)));
        let _losses = retain_time(&mut changed, window);
        assert_eq!(inside(&changed, &(i128::MIN..i128::MAX)), expected);
    }
}

/// Redaction keeps the sum, and leaves no text that it replaced.
pub fn redact(input: &[u8]) {
    let Some(mut changed) = profiles(input) else { return };
    let before = sums([&changed]);
    let samples = |all: &Profiles| all.iter().map(|it| it.samples().len()).sum::<usize>();
    let count = samples(&changed);
    let _losses = Redactor::new(&|_: &str| false).redact(&mut changed);
    assert_eq!((sums([&changed]), samples(&changed)), (before, count));
    let functions = changed.dictionary().functions().iter();
    for function in functions {
        let name = changed.dictionary().text(function.name);
        assert!(name.is_empty() || name.starts_with("function_"), "{name}");
    }
}

/// Formulas for expressions, which mutations break.
const FORMULAS: [&str; 6] = [
    "value / 1024",
    "$(cpu) / $(samples)",
    "100.0 / (10**9 * (attributes.cpu_number or 1))",
    "-(value + 2) * 3e300 - 1",
    "value ** value",
    "9223372036854775807",
];

/// A pipeline of any stages and formulas gives profiles or errors, in the same way each time.
pub fn pipeline(input: &[u8]) {
    let Some(profiles) = profiles(input) else { return };
    let run = || {
        let mut random = Random::new(input.len() as u64 + u64::from(input[input.len() - 1]));
        let stages = (0..=random.below(3)).filter_map(|_| stage(&mut random)).collect();
        let mut pipeline = Pipeline::new(stages).limits(Limits::network());
        for _ in 0..3 {
            pipeline.push(profiles.clone());
            pipeline.flush();
        }
        pipeline.finish();
        pipeline.take().map(|published| (published.profiles, published.errors.len())).ok()
    };
    assert_eq!(run(), run());
}

fn stage(random: &mut Random) -> Option<Stage> {
    let formula = mutate_bytes(FORMULAS[random.below(FORMULAS.len())].as_bytes(), random);
    let formula = Expression::parse(&String::from_utf8_lossy(&formula)).ok();
    match random.below(6) {
        0 => Some(Stage::accumulator(random.below(4) as u64)),
        1 => Some(Stage::delta(random.below(2) == 0, Target::default())),
        2 => Stage::rate_of_change(RateOptions::default().scale(formula), Target::default()).ok(),
        3 => Stage::unit_conversion(None, formula, Target::default()).ok(),
        4 => Stage::arithmetic("made", "1", None, formula?).ok(),
        _ => {
            let options = AggregatorOptions::default().size(Some(random.below(3) as u64));
            Some(Stage::aggregator(options, Target::default()))
        }
    }
}
