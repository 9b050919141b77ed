//! Facts that the reader of a sum or a comparison of one sample type must know.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use foldhash::fast::RandomState;
use hashbrown::HashSet;

use crate::model::sample_types::{Identity, types};
use crate::model::{Profiles, SampleType};
use crate::semconv::PPROF_PROFILE_DROP_FRAMES;
use crate::transform::merge::Snapshots;
use crate::units::{self, Dimension, Unit, conversion, grouped};

/// The most inputs or types that a sentence names.
const MOST_NAMED: usize = 10;

/// A fact that makes a sum or a comparison of one sample type differ from what its reader expects. It displays as a
/// sentence without a full stop.
///
/// ```
/// use otlp_profiles::transform::{Caution, InputTypes};
/// # let files = ["testdata/go-heap.pb.gz", "testdata/go-cpu-labels.pb.gz"];
/// # let read = |file| otlp_profiles::read(&std::fs::read(file).unwrap(), &Default::default()).unwrap().profiles;
/// # let [heap, cpu] = files.map(read);
///
/// let mut inputs = InputTypes::default();
/// inputs.add("heap.pb.gz", &heap);
/// inputs.add("cpu.pb.gz", &cpu);
/// let kind = heap.default_sample_type().unwrap();
/// let caution = Caution::of(&[&heap], kind, &inputs, []).remove(0);
/// assert_eq!(
///     caution.to_string(),
///     "cpu.pb.gz has no inuse_space:bytes and is left out: it has cpu:nanoseconds, samples:count"
/// );
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Caution {
    /// Inputs lack the sample type, so they do not count.
    LeftOut(String),
    /// Samples are counted that were taken at different rates.
    Periods {
        /// The sentence.
        message: String,
        /// A sample type that does not depend on the rate, if there is one.
        better: Option<String>,
    },
    /// All values are 0.
    Zero {
        /// The sentence.
        message: String,
        /// A sample type with other values.
        better: String,
    },
    /// Snapshots of one process are added up, which is not a state of any process.
    Snapshots(String),
    /// Inputs declare different frames to drop, and those of one stay in the samples of another.
    Frames(String),
}

impl fmt::Display for Caution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeftOut(message) | Self::Snapshots(message) | Self::Frames(message) => {
                f.write_str(message)
            }
            Self::Periods { message, .. } | Self::Zero { message, .. } => f.write_str(message),
        }
    }
}

impl Caution {
    /// Returns the cautions about the values of one sample type of some profiles: the sides of a comparison, or one sum.
    /// `inputs` has the types of what was added up, and `snapshots` what [`snapshots()`](crate::transform::snapshots)
    /// or a merge found. Takes time linear in the samples.
    pub fn of<'s>(
        profiles: &[&Profiles],
        kind: SampleType<'_>,
        inputs: &InputTypes,
        snapshots: impl IntoIterator<Item = &'s Snapshots>,
    ) -> Vec<Self> {
        let is_kind =
            |of: &&Snapshots| kind.converts_to(SampleType::new(&of.sample_type, &of.unit));
        let summed = snapshots.into_iter().filter(is_kind).map(Self::of_snapshots);
        let left_out = inputs.without(&[kind]).into_iter().map(Self::LeftOut);
        let frames = inputs.declared();
        let all = left_out.chain(periods(profiles, kind)).chain(zero(profiles, kind));
        all.chain(summed).chain(frames).collect()
    }

    /// Returns a caution about snapshots that were added up: [`Merged::snapshots`](crate::transform::Merged::snapshots).
    pub fn of_snapshots(snapshots: &Snapshots) -> Self {
        let Snapshots { sample_type, unit, count, sum, last } = snapshots;
        Self::Snapshots(format!(
            "{sample_type}: {count} snapshots of one process were added up to {} {unit}; the last ones are {} {unit}",
            grouped(*sum),
            grouped(*last),
        ))
    }
}

/// A count of samples depends on the period at which they were taken.
fn periods(profiles: &[&Profiles], kind: SampleType<'_>) -> Option<Caution> {
    if Unit::of(kind.unit).map(Unit::dimension) != Some(Dimension::Count) {
        return None;
    }
    let mut periods = BTreeMap::new();
    for profiles in profiles {
        let dictionary = profiles.dictionary();
        let with_kind = profiles.iter().filter(|of| kind.column(of, dictionary).is_some());
        for profile in with_kind.filter(|profile| profile.period() > 0) {
            let of = profile.period_type();
            let unit = dictionary.text(of.unit);
            let period = i128::from(profile.period());
            let Some(known) = Unit::of(unit).filter(|unit| unit.dimension() == Dimension::Time)
            else {
                continue;
            };
            periods
                .entry(period * known.factor())
                .or_insert_with(|| units::label(period, unit, units::AUTO));
        }
    }
    if periods.len() < 2 {
        return None;
    }
    let is_time =
        |of: &SampleType<'_>| Unit::of(of.unit).map(Unit::dimension) == Some(Dimension::Time);
    let better = profiles.iter().flat_map(|profiles| profiles.sample_types()).find(is_time);
    let better = better.map(|of| of.name.to_owned());
    let hint = better.iter().map(|name| format!(": {name} does")).collect::<String>();
    let periods: Vec<String> = periods.into_values().take(MOST_NAMED).collect();
    let message = format!(
        "the sampling periods differ ({}), so numbers of samples do not compare{hint}",
        periods.join(", ")
    );
    Some(Caution::Periods { message, better })
}

fn zero(profiles: &[&Profiles], kind: SampleType<'_>) -> Option<Caution> {
    if values(profiles, kind).any(|value| value != 0) {
        return None;
    }
    let types = profiles.iter().flat_map(|profiles| profiles.sample_types());
    // One that measures the same, if there is one.
    let (same, others): (Vec<_>, Vec<_>) =
        types.partition(|of| conversion(of.unit, kind.unit).is_some());
    let with_values = have_values(profiles);
    let candidates = same.into_iter().chain(others);
    let candidates = candidates.filter(|of| with_values.contains(&of.identity()));
    // Absolute values, because a difference may add up to 0.
    let sum = |of: SampleType<'_>| values(profiles, of).map(i128::abs).sum::<i128>();
    let (better, sum) = candidates.map(|of| (of, sum(of))).find(|(_, sum)| *sum != 0)?;
    let SampleType { name, unit, .. } = better;
    let message =
        format!("all values of {} are 0, but {name} has {} {unit}", kind.name, grouped(sum));
    Some(Caution::Zero { message, better: name.to_owned() })
}

/// The sample types with a value other than 0.
fn have_values<'a>(profiles: &[&'a Profiles]) -> HashSet<Identity<'a>, RandomState> {
    let mut found = HashSet::default();
    for profiles in profiles {
        for profile in profiles.iter() {
            for (column, of) in types(profile, profiles.dictionary()).enumerate() {
                let mut values = profile.samples().iter().map(|of| profile.total(of, column));
                if !found.contains(&of.identity()) && values.any(|value| value != 0) {
                    found.insert(of.identity());
                }
            }
        }
    }
    found
}

/// The values of a sample type.
fn values<'a>(
    profiles: &'a [&'a Profiles],
    kind: SampleType<'a>,
) -> impl Iterator<Item = i128> + use<'a> {
    let columns = profiles.iter().flat_map(move |profiles| {
        let dictionary = profiles.dictionary();
        profiles.iter().filter_map(move |of| Some((of, kind.column(of, dictionary)?)))
    });
    columns.flat_map(|(profile, (column, factor))| {
        let samples = profile.samples().iter();
        samples.map(move |sample| factor * i128::from(profile.total(sample, column)))
    })
}

/// Which sample types the inputs of a sum have. Memory depends on the number of different lists of types.
///
/// ```
/// use otlp_profiles::transform::InputTypes;
/// # let file = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let heap = otlp_profiles::read(&file, &Default::default())?.profiles;
///
/// let (mut inputs, mut later) = (InputTypes::default(), InputTypes::default());
/// inputs.add("first.pb.gz", &heap);
/// later.add("second.pb.gz", &heap);
/// inputs.append(later);
/// assert!(inputs.without(&heap.sample_types()).is_empty());
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct InputTypes {
    rows: Vec<Row>,
    index: BTreeMap<Types, usize>,
    /// The last input and its types so far.
    open: Option<(String, Types)>,
    /// The expressions of frames to drop, `None` of profiles without one.
    declared: BTreeSet<Option<String>>,
}

/// Names and units.
type Types = BTreeSet<(String, String)>;

/// Inputs with the same types.
#[derive(Clone, Debug)]
struct Row {
    types: Types,
    /// The first inputs.
    names: Vec<String>,
    count: usize,
}

impl InputTypes {
    /// Adds an input, which may have several messages: call it for each, in order.
    pub fn add(&mut self, input: &str, profiles: &Profiles) {
        if self.open.as_ref().is_none_or(|(name, _)| name != input) {
            self.close();
        }
        let (_, types) = self.open.get_or_insert_with(|| (input.to_owned(), Types::new()));
        let own = profiles.sample_types().into_iter();
        types.extend(own.map(|of| (of.name.to_owned(), of.unit.to_owned())));
        for profile in profiles.iter().filter(|profile| !profile.samples().is_empty()) {
            let attributes = profiles.dictionary().resolve(profile.attributes());
            let drop =
                attributes.get_str(PPROF_PROFILE_DROP_FRAMES).filter(|text| !text.is_empty());
            // Two tell that they differ.
            if self.declared.len() < 2 {
                self.declared.insert(drop.map(str::to_owned));
            }
        }
    }

    /// Whether the inputs declare different frames to drop.
    fn declared(&self) -> Option<Caution> {
        (self.declared.len() > 1).then(|| {
            Caution::Frames(
                "the inputs declare different frames to drop (drop_frames): those of an input are dropped from its own samples only"
                    .to_owned(),
            )
        })
    }

    /// Adds the inputs of a later sum.
    pub fn append(&mut self, mut later: Self) {
        self.declared.append(&mut later.declared);
        self.close();
        later.close();
        later.rows.into_iter().for_each(|row| self.put(row));
    }

    fn close(&mut self) {
        // An input without profiles leaves out no profile.
        if let Some((name, types)) = self.open.take().filter(|(_, types)| !types.is_empty()) {
            self.put(Row { types, names: vec![name], count: 1 });
        }
    }

    fn put(&mut self, Row { types, names, count }: Row) {
        let row = *self.index.entry(types.clone()).or_insert(self.rows.len());
        if row == self.rows.len() {
            self.rows.push(Row { types, names: Vec::new(), count: 0 });
        }
        let row = &mut self.rows[row];
        row.names.extend(names.into_iter().take(MOST_NAMED.saturating_sub(row.names.len())));
        row.count += count;
    }

    /// Describes the inputs that have none of the sample types: a sentence for those with the same types.
    pub fn without(&self, kinds: &[SampleType<'_>]) -> Vec<String> {
        let mut all = self.clone();
        all.close();
        let has = |row: &Row| {
            row.types.iter().any(|(name, unit)| {
                kinds.iter().any(|kind| kind.converts_to(SampleType::new(name, unit)))
            })
        };
        let wanted: Vec<String> = kinds.iter().take(MOST_NAMED).map(ToString::to_string).collect();
        let sentence = |Row { types, names, count }: &Row| {
            let types = types.iter().take(MOST_NAMED);
            let types: Vec<_> =
                types.map(|(name, unit)| SampleType::new(name, unit).to_string()).collect();
            let more = match count - names.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let (have, are, they) =
                if *count == 1 { ("has", "is", "it has") } else { ("have", "are", "they have") };
            let (names, wanted, types) = (names.join(", "), wanted.join(", "), types.join(", "));
            format!("{names}{more} {have} no {wanted} and {are} left out: {they} {types}")
        };
        all.rows.iter().filter(|row| !has(row)).map(sentence).collect()
    }
}
