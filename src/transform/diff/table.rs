//! Values by key, of one payload.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::slice::Iter;

use crate::error::{Error, ErrorKind, Result};
use crate::model::dictionary::Dictionary;
use crate::model::id::{LocationId, StackId};
use crate::model::measures;
use crate::model::profile::Profile;
use crate::model::samples::SampleRef;
use crate::model::{Entry, Profiles, ResourceProfiles};
use crate::tables::profile::columns::{default_of, scope_default};
use crate::transform::merge::Track;
use crate::transform::units::family;

/// The meaning of a row of a diff.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiffBy {
    /// A function: its name and file.
    #[default]
    Function,
    /// A source file.
    File,
    /// A line of a function.
    Line,
    /// A binary.
    Mapping,
    /// A stack: the names of its functions, since addresses and lines change between builds.
    Stack,
    /// A value of an attribute of samples.
    Attribute(String),
    /// The whole profile.
    Total,
}

/// Renames a function before it is compared; `None` keeps the name.
pub type Rename<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// The key of a row: a name and, if several functions may share it, a file.
pub(super) type Key = (String, String);

/// The values of one sample type.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub(super) rows: BTreeMap<Key, i128>,
    pub(super) total: i128,
    /// The time that the profiles cover, in nanoseconds; 0 if unknown.
    pub(super) covered: i128,
    /// The number of samples, if the profiles count them.
    pub(super) count: Option<i128>,
}

/// A sample type to compare, and how many of the smallest unit of its family each unit is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) name: String,
    pub(super) unit: String,
}

impl Kind {
    /// The sample type of a name, or the default one: the one the profile names, or its last.
    pub(super) fn find(profiles: &Profiles, name: Option<&str>) -> Result<Self> {
        let dictionary = profiles.dictionary();
        let kinds = profiles.entries().flat_map(|entry| {
            let scope = scope_default(entry.scope_profiles(), dictionary);
            let default = dictionary.text(default_of(entry.profile(), scope, dictionary));
            let types = entry.profile().sample_types();
            types.iter().enumerate().map(move |(at, kind)| {
                let name = dictionary.text(kind.name);
                let is_default = name == default || default.is_empty() && at + 1 == types.len();
                (
                    is_default,
                    Self { name: name.to_owned(), unit: dictionary.text(kind.unit).to_owned() },
                )
            })
        });
        let kinds: Vec<_> = kinds.collect();
        let found = match name {
            Some(name) => kinds.iter().find(|(_, kind)| kind.name == name),
            None => kinds.iter().find(|(is_default, _)| *is_default).or_else(|| kinds.first()),
        };
        found.map(|(_, kind)| kind.clone()).ok_or_else(|| {
            let names: Vec<_> = kinds.iter().map(|(_, kind)| &kind.name[..]).collect();
            let message = match name {
                Some(name) => {
                    format!("no sample type {name}: the profile has {}", names.join(", "))
                }
                None => "the profile has no sample type".to_owned(),
            };
            Error::new(ErrorKind::Unrepresentable, message)
        })
    }

    /// The column of the sample type in a profile and the factor of its values.
    fn column(&self, profile: &Profile, dictionary: &Dictionary) -> Option<(usize, i64)> {
        let ours = family(&self.unit);
        let mut types = profile.sample_types().iter().enumerate();
        types.find_map(|(column, kind)| {
            let unit = dictionary.text(kind.unit);
            let factor = match (ours, family(unit)) {
                _ if unit == self.unit => 1,
                (Some((ours, one)), Some((theirs, factor))) if ours == theirs => factor / one,
                _ => return None,
            };
            (dictionary.text(kind.name) == self.name).then_some((column, factor))
        })
    }

    /// The same sample type in the finer of two units; `None` if they are of different families.
    pub(super) fn finer(self, other: &Self) -> Option<Self> {
        match (family(&self.unit), family(&other.unit)) {
            _ if self.name != other.name => None,
            _ if self.unit == other.unit => Some(self),
            (Some((a, one)), Some((b, two))) if a == b && one.max(two) % one.min(two) == 0 => {
                Some(if one <= two { self } else { other.clone() })
            }
            _ => None,
        }
    }
}

impl Table {
    /// The values of a sample type. The time is linear in the samples and the frames of distinct stacks.
    ///
    /// `covered` has the time that each profile covers; after its end, the durations count, and overlaps of one
    /// resource once.
    pub(super) fn of(
        profiles: &Profiles,
        kind: &Kind,
        by: &DiffBy,
        rename: Option<Rename<'_>>,
        covered: &mut Iter<'_, i128>,
    ) -> Self {
        let mut tracks: Vec<(&ResourceProfiles, Track)> = Vec::new();
        let mut table = Self::default();
        let mut keys = Keys::new(profiles.dictionary(), by, rename);
        for entry in profiles.entries() {
            let (profile, covered) = (entry.profile(), covered.next());
            let Some((column, factor)) = kind.column(profile, profiles.dictionary()) else {
                continue;
            };
            table.covered += covered.unwrap_or(&0);
            if covered.is_none() {
                let resource = entry.resource_profiles();
                if tracks.last().is_none_or(|(last, _)| !std::ptr::eq(*last, resource)) {
                    tracks.push((resource, Track::default()));
                }
                tracks.last_mut().into_iter().for_each(|(_, track)| {
                    track.span(profile.time_unix_nano(), profile.duration_nanos());
                });
            }
            let mut total = 0;
            for sample in profile.samples() {
                let value = value(profile, &sample, column) * i128::from(factor);
                total += value;
                if value != 0 {
                    keys.of(&entry, &sample, |key| *key += value);
                }
            }
            table.total += total;
            let count =
                count(profile, column, total / i128::from(factor.max(1)), profiles.dictionary());
            table.count = table.count.map_or(count, |sum| Some(sum + count?));
        }
        table.covered += tracks.iter().map(|(_, track)| track.covered()).sum::<i128>();
        table.rows = keys.rows.into_iter().filter(|(_, value)| *value != 0).collect();
        table
    }

    /// Adds the values of another payload.
    pub(super) fn add(&mut self, other: &Self) {
        for (key, value) in &other.rows {
            *self.rows.entry(key.clone()).or_default() += value;
        }
        self.total += other.total;
        self.covered += other.covered;
        self.count = self.count.zip(other.count).map(|(ours, theirs)| ours + theirs);
    }
}

/// The value of one column of a sample.
fn value(profile: &Profile, sample: &SampleRef<'_>, column: usize) -> i128 {
    match profile.sample_types().len() {
        0 | 1 => measures::sum(sample.values, sample.timestamps_unix_nano),
        _ => sample.values.get(column).copied().unwrap_or_default().into(),
    }
}

/// The number of samples: the sum of a column `samples` in `count`, or the total by the period.
fn count(profile: &Profile, column: usize, total: i128, dictionary: &Dictionary) -> Option<i128> {
    let types = profile.sample_types();
    let text = |id| dictionary.text(id);
    let is_count = |(name, unit)| name == "samples" && unit == "count";
    let counts = types.iter().position(|of| is_count((text(of.name), text(of.unit))));
    if let Some(counts) = counts {
        return profile.sums().get(counts).copied();
    }
    let (of, period) = (types.get(column)?, profile.period_type());
    let is_period = (text(of.name), text(of.unit)) == (text(period.name), text(period.unit));
    (is_period && profile.period() > 0).then(|| total / i128::from(profile.period()))
}

/// The keys of the samples of one payload.
struct Keys<'a> {
    dictionary: &'a Dictionary,
    by: &'a DiffBy,
    rename: Option<Rename<'a>>,
    rows: Vec<(Key, i128)>,
    index: BTreeMap<Key, usize>,
    /// By location, its keys; by stack, its key.
    locations: Vec<Option<Vec<usize>>>,
    stacks: Vec<Option<usize>>,
    /// By row, the number of the sample that had it last: a key counts once a sample.
    seen: Vec<u64>,
    samples: u64,
}

impl<'a> Keys<'a> {
    fn new(dictionary: &'a Dictionary, by: &'a DiffBy, rename: Option<Rename<'a>>) -> Self {
        let locations = vec![None; dictionary.locations().len()];
        let stacks = vec![None; dictionary.stacks().len()];
        let (rows, index, seen) = Default::default();
        Self { dictionary, by, rename, rows, index, locations, stacks, seen, samples: 0 }
    }

    fn row(&mut self, key: Key) -> usize {
        let next = self.rows.len();
        let row = *self.index.entry(key.clone()).or_insert(next);
        if row == next {
            self.rows.push((key, 0));
            self.seen.push(0);
        }
        row
    }

    /// Calls `f` with the value of each distinct key of a sample.
    fn of(&mut self, entry: &Entry<'_>, sample: &SampleRef<'_>, mut f: impl FnMut(&mut i128)) {
        self.samples += 1;
        match self.by {
            DiffBy::Total => {
                let row = self.row(("total".to_owned(), String::new()));
                f(&mut self.rows[row].1);
            }
            DiffBy::Attribute(key) => {
                let own = entry.dictionary().resolve(sample.attributes);
                let found = own.iter().find(|attribute| attribute.key == key);
                let text = found.map(|of| format!("{}{}", of.value, of.unit)).unwrap_or_default();
                let row = self.row((text, String::new()));
                f(&mut self.rows[row].1);
            }
            DiffBy::Stack => {
                let row = self.stack(sample.stack);
                f(&mut self.rows[row].1);
            }
            _ => {
                for &location in self.dictionary.stack(sample.stack) {
                    self.fill(location);
                    for row in self.locations[location.row()].iter().flatten() {
                        if std::mem::replace(&mut self.seen[*row], self.samples) != self.samples {
                            f(&mut self.rows[*row].1);
                        }
                    }
                }
            }
        }
    }

    /// Finds the keys of a location, once.
    fn fill(&mut self, location: LocationId) {
        if self.locations[location.row()].is_some() {
            return;
        }
        let mut rows = Vec::new();
        for frame in self.dictionary.location_frames(location) {
            let name = match frame.name() {
                "" => Cow::Owned(frame.to_string()),
                name => self.renamed(name),
            };
            let file = frame.filename().to_owned();
            let key = match self.by {
                DiffBy::File => (file, String::new()),
                DiffBy::Line => (format!("{name}:{}", frame.line()), file),
                DiffBy::Mapping => (frame.mapping_filename().to_owned(), String::new()),
                _ => (name.into_owned(), file),
            };
            rows.push(self.row(key));
        }
        self.locations[location.row()] = Some(rows);
    }

    fn renamed(&self, name: &'a str) -> Cow<'a, str> {
        let renamed = self.rename.and_then(|rename| rename(name));
        renamed.map_or(Cow::Borrowed(name), Cow::Owned)
    }

    /// The row of a stack by the names of its functions, the root first.
    fn stack(&mut self, stack: StackId) -> usize {
        if let Some(row) = self.stacks[stack.row()] {
            return row;
        }
        let frames = self.dictionary.frames(stack).rev().map(|frame| match frame.name() {
            "" => frame.to_string(),
            name => self.renamed(name).into_owned(),
        });
        let text = frames.collect::<Vec<_>>().join(";");
        let row = self.row((text, String::new()));
        self.stacks[stack.row()] = Some(row);
        row
    }
}
