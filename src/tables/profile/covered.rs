//! The time that profiles cover.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_128;

use crate::model::dictionary::Dictionary;
use crate::model::{Entry, Profiles, ResourceProfiles};

/// The time that profiles cover: the union of their intervals.
///
/// All profiles of a resource share one clock, so its threads, sample types, periods and forms cover their common time
/// once. The times of several resources add up: a rate is that of the mean resource.
///
/// The place of a profile without a start is unknown. Of those of a resource in one payload the longest counts, as
/// they are mostly threads; those of several payloads add up.
///
/// ```
/// use otlp_profiles::transform::Covered;
/// # let file = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
///
/// let profiles = otlp_profiles::read(&file, &Default::default())?.profiles;
/// let duration = profiles.iter().next().unwrap().duration_nanos();
/// assert_eq!(Covered::of(&profiles).nanos(), duration);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// By the hash of a resource.
    clocks: BTreeMap<u128, Clock>,
}

/// The intervals of one resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Clock {
    /// Starts and ends; an interval that overlaps its predecessor extends it.
    spans: Vec<(i128, i128)>,
    /// The longest duration without a start, by payload.
    unplaced: BTreeMap<u64, i128>,
}

impl Covered {
    /// Returns the time that the profiles of a payload cover together.
    pub fn of(profiles: &Profiles) -> Self {
        Self::each(profiles.entries()).fold(Self::default(), |mut all, one| {
            all.join(&one);
            all
        })
    }

    /// Returns the time that each profile of a payload covers.
    pub(crate) fn each<'a>(entries: impl Iterator<Item = Entry<'a>>) -> impl Iterator<Item = Self> {
        let mut last: Option<(*const ResourceProfiles, u128)> = None;
        entries.map(move |entry| {
            let resource: &ResourceProfiles = entry.resource_profiles();
            let known = last.filter(|(of, _)| std::ptr::eq(*of, resource));
            let clock =
                known.map_or_else(|| clock_of(resource, entry.dictionary()), |(_, clock)| clock);
            last = Some((resource, clock));
            let (mut covered, profile) = (Self::default(), entry.profile());
            covered.add(clock, 0, (profile.time_unix_nano(), profile.duration_nanos()));
            covered
        })
    }

    /// Adds an interval of a resource: its start, 0 if unknown, and its duration.
    pub(crate) fn add(&mut self, clock: u128, payload: u64, (start, duration): (i128, i128)) {
        if duration > 0 {
            self.clocks.entry(clock).or_default().add(payload, (start, duration));
        }
    }

    /// Adds the time of other profiles of the same payloads.
    pub(crate) fn join(&mut self, other: &Self) {
        self.append(other, 0);
    }

    /// Adds the time of payloads that follow so many others.
    pub(crate) fn append(&mut self, other: &Self, payloads: u64) {
        for (key, theirs) in &other.clocks {
            let ours = self.clocks.entry(*key).or_default();
            for (start, end) in &theirs.spans {
                ours.add(0, (*start, end - start));
            }
            for (payload, duration) in &theirs.unplaced {
                ours.add(payload + payloads, (0, *duration));
            }
        }
    }

    /// Returns the number of payloads with profiles without a start, counted from the first.
    pub(crate) fn payloads(&self) -> u64 {
        let last = self.clocks.values().filter_map(|clock| clock.unplaced.keys().last());
        last.max().map_or(0, |last| last + 1)
    }

    /// Returns the intervals: a hash of the resource, the number of the payload, the start, which is 0 if unknown, and the
    /// duration. They may overlap, and can be collected again.
    pub fn intervals(&self) -> impl Iterator<Item = (u128, u64, i128, i128)> {
        self.clocks.iter().flat_map(|(key, clock)| {
            let placed = clock.spans.iter().map(|(start, end)| (*key, 0, *start, end - start));
            let unplaced =
                clock.unplaced.iter().map(|(payload, nanos)| (*key, *payload, 0, *nanos));
            placed.chain(unplaced)
        })
    }

    /// Returns the nanoseconds, or 0 if all durations are unknown.
    pub fn nanos(&self) -> i128 {
        self.clocks.values().map(Clock::nanos).sum()
    }
}

impl FromIterator<(u128, u64, i128, i128)> for Covered {
    fn from_iter<I: IntoIterator<Item = (u128, u64, i128, i128)>>(intervals: I) -> Self {
        let mut all = Self::default();
        for (clock, payload, start, duration) in intervals {
            all.add(clock, payload, (start, duration));
        }
        all
    }
}

impl Clock {
    fn add(&mut self, payload: u64, (start, duration): (i128, i128)) {
        match (start, self.spans.last_mut()) {
            (0, _) => {
                let longest = self.unplaced.entry(payload).or_default();
                *longest = duration.max(*longest);
            }
            (_, Some((first, end))) if *first <= start && start <= *end => {
                *end = (*end).max(start + duration);
            }
            _ => self.spans.push((start, start + duration)),
        }
    }

    fn nanos(&self) -> i128 {
        let mut spans = self.spans.clone();
        spans.sort_unstable();
        let (mut covered, mut end) = (self.unplaced.values().sum(), i128::MIN);
        for (start, until) in spans {
            covered += (until - start.max(end)).max(0);
            end = end.max(until);
        }
        covered
    }
}

/// A hash of the attributes of a resource, equal in all payloads.
pub(crate) fn clock_of(resource: &ResourceProfiles, dictionary: &Dictionary) -> u128 {
    let attributes = dictionary.resolve(&*resource.resource.attributes);
    let mut listed: Vec<String> = attributes.iter().map(|pair| format!("{pair:?}")).collect();
    listed.sort_unstable();
    xxh3_128(listed.join("\n").as_bytes())
}

#[cfg(all(feature = "serde", feature = "transform"))]
impl serde::Serialize for Covered {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        crate::serialize::number(&self.nanos(), serializer)
    }
}
