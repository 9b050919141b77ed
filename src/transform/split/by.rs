//! Parts by a property of profiles or samples.

use std::ops::Range;

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_64;

use crate::look::Labels;
use crate::losses::{self, Losses};
use crate::model::id::StringId;
use crate::model::order::sample_type_order;
use crate::model::profile::{Profile, ValueType};
use crate::model::sample_types::scope_default;
use crate::model::samples::SampleRef;
use crate::model::value::{KeyValue, Value};
use crate::model::{Entry, Profiles};
use crate::semconv::PPROF_SCOPE_DEFAULT_SAMPLE_TYPE;
use crate::transform::columns::forget_unique;
use crate::transform::split::piece::{Cutter, Piece, Rows, SampleRanges, places};

/// The property that [`split`] divides by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SplitBy {
    /// A part for each resource.
    Resource,
    /// A part for each scope of each resource.
    Scope,
    /// A part for each sample type. Profiles with several types are divided.
    SampleType,
    /// A part for each value of the attribute `thread.id`, or `thread.name` of samples without an id.
    Thread,
    /// A part for each value of an attribute of the sample, its link, its profile, its scope or its resource, in this order.
    Attribute(String),
    /// A part for each window of so many nanoseconds since 1970. A window includes its start and excludes its end.
    ///
    /// Timestamped samples are divided by time. Totals are not: they go to the window in which their profile starts,
    /// counted as `split.total_not_divided`.
    Window(u64),
}

/// A part of a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// The common value of the samples as a file name: escaped and shortened, with a hash.
    pub name: String,
    /// The profiles.
    pub profiles: Profiles,
}

/// Divides profiles by a property. Parts come in the order of their first sample.
///
/// The time is linear in the size of the profiles. The profile id, the original payload and the count of dropped
/// attributes stay in the first part of a profile. So do unreferenced table rows.
///
/// ```
/// use otlp_profiles::transform::{SplitBy, split};
/// # let file = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
///
/// let profiles = otlp_profiles::read(&file, &Default::default())?.profiles;
/// let (parts, losses) = split(&profiles, &SplitBy::Attribute("endpoint".into()));
/// assert!(losses.is_empty());
/// for part in &parts {
///     println!("{}: {} profiles", part.name, part.profiles.len());
/// }
/// assert!(parts.iter().any(|part| part.name.starts_with("_v1_sort-")));
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn split(profiles: &Profiles, by: &SplitBy) -> (Vec<Part>, Losses) {
    let divided;
    let profiles = match by {
        SplitBy::SampleType => {
            divided = one_type_each(profiles);
            &divided
        }
        _ => profiles,
    };
    let (names, labels) = (HashMap::default(), Labels::default());
    let mut parts = Parts { by, names, parts: Vec::new(), labels };
    let mut losses = Losses::default();
    for (at, entry) in places(profiles).zip(profiles.entries()) {
        parts.assign(at, &entry, &mut losses);
    }
    // A payload without profiles is one part, which keeps its resources.
    if parts.parts.is_empty() {
        parts.part("");
    }
    let mut cutter = Cutter::new(profiles);
    let part = |(name, pieces): &(String, Vec<(Piece, bool)>)| Part {
        name: name.clone(),
        profiles: cutter.cut(pieces),
    };
    let parts = parts.parts.iter().map(part).collect();
    losses.merge(&cutter.losses);
    (parts, losses)
}

/// The parts on their way.
struct Parts<'a> {
    by: &'a SplitBy,
    /// The row of a part by its value.
    names: HashMap<String, usize, RandomState>,
    /// The name and the pieces of each part, and which of them begin their profile.
    parts: Vec<(String, Vec<(Piece, bool)>)>,
    labels: Labels<'a>,
}

impl<'a> Parts<'a> {
    fn part(&mut self, value: &str) -> usize {
        if let Some(part) = self.names.get(value) {
            return *part;
        }
        self.names.insert(value.to_owned(), self.parts.len());
        self.parts.push((file_name(value), Vec::new()));
        self.parts.len() - 1
    }

    /// Divides a profile.
    fn assign(&mut self, at: [u32; 3], entry: &Entry<'a>, losses: &mut Losses) {
        let dictionary = entry.dictionary();
        let [resource, scope, _] = at;
        match self.by {
            SplitBy::Resource => {
                let service = entry.resource_attributes();
                let service = service.get_str("service.name").unwrap_or_default();
                self.whole(at, &format!("{service}-{resource}"));
            }
            SplitBy::Scope => {
                let name = dictionary.text(entry.scope().name());
                self.whole(at, &format!("{name}-{resource}-{scope}"));
            }
            SplitBy::SampleType => {
                let kind = entry.profile().sample_types.first().copied().unwrap_or_default();
                let [name, unit] = [kind.name, kind.unit].map(|id| dictionary.text(id));
                self.whole(at, &format!("{name}.{unit}"));
            }
            SplitBy::Thread => self.by_attribute(at, entry, &["thread.id", "thread.name"]),
            SplitBy::Attribute(key) => self.by_attribute(at, entry, &[key]),
            SplitBy::Window(width) => self.by_time(at, entry.profile(), (*width).max(1), losses),
        }
    }

    fn whole(&mut self, at: [u32; 3], value: &str) {
        let part = self.part(value);
        self.parts[part].1.push((Piece { at, rows: Rows::All, time: None }, true));
    }

    /// Divides by the first of these attributes that a sample has.
    fn by_attribute(&mut self, at: [u32; 3], entry: &Entry<'a>, keys: &[&str]) {
        self.labels.enter(entry);
        let labels = std::mem::take(&mut self.labels);
        let value = |sample: &SampleRef<'_>| {
            keys.iter()
                .find_map(|key| labels.text(entry.dictionary(), sample, key))
                .map(|text| text.exact)
        };
        let samples = entry.profile().samples();
        let mut pieces = Pieces::default();
        for (row, sample) in (0..).zip(samples) {
            let part = self.part(&value(&sample).unwrap_or_default());
            pieces.push(part, row, 0..sample.timestamps_unix_nano.len() as u32);
        }
        if samples.is_empty() {
            let (stack, link, stacktrace_id) = Default::default();
            let (attributes, values, timestamps_unix_nano) = (&[], &[], &[]);
            let empty =
                SampleRef { stack, attributes, link, values, timestamps_unix_nano, stacktrace_id };
            let part = self.part(&value(&empty).unwrap_or_default());
            pieces.rows(part);
        }
        self.put(at, pieces, |_| None);
        self.labels = labels;
    }

    /// Divides timestamped samples by windows.
    fn by_time(&mut self, at: [u32; 3], profile: &Profile, width: u64, losses: &mut Losses) {
        let width = i128::from(width);
        let start = profile.time_unix_nano;
        let end = start + profile.duration_nanos.max(0);
        let home = start.div_euclid(width);
        let columns = profile.sample_types.len().max(1);
        let (mut pieces, mut windows) = (Pieces::default(), Vec::new());
        let mut undivided = 0;
        let mut part_of = |this: &mut Self, window: i128| {
            let part = this.part(&(window * width).to_string());
            windows.push((part, window));
            part
        };
        for (row, sample) in (0..).zip(&profile.samples) {
            let times = sample.timestamps_unix_nano;
            let is_divisible = columns == 1 && [0, times.len()].contains(&sample.values.len());
            if times.is_empty() || !is_divisible {
                undivided +=
                    u64::from(profile.duration_nanos > 0 && (end - 1).div_euclid(width) > home);
                let part = part_of(self, home);
                pieces.push(part, row, 0..times.len() as u32);
                continue;
            }
            let mut first = 0;
            // Runs, because times may be out of order, and every piece keeps the order of the sample.
            for run in times.chunk_by(|a, b| i128::from(*a) / width == i128::from(*b) / width) {
                let part = part_of(self, i128::from(run[0]) / width);
                pieces.push(part, row, first..first + run.len() as u32);
                first += run.len() as u32;
            }
        }
        if profile.samples.is_empty() {
            let part = part_of(self, home);
            pieces.rows(part);
        }
        losses.add_many(losses::TOTAL_NOT_DIVIDED, undivided, String::new);
        windows.sort_unstable();
        windows.dedup();
        self.put(at, pieces, |part| {
            let at = windows.binary_search_by_key(&part, |(part, _)| *part).ok()?;
            let window = windows[at].1 * width;
            let cut = (window.max(start), (window + width).min(end));
            // A sample that is not divided covers the whole profile, so the times stay.
            (start != 0 && profile.duration_nanos > 0 && cut.0 < cut.1 && undivided == 0)
                .then(|| (cut.0, cut.1 - cut.0))
        });
    }

    /// Adds the pieces of a profile to their parts.
    fn put(&mut self, at: [u32; 3], pieces: Pieces, time: impl Fn(usize) -> Option<(i128, i128)>) {
        for (order, (part, rows)) in pieces.pieces.into_iter().enumerate() {
            let piece = Piece { at, rows: Rows::Some(rows), time: time(part) };
            self.parts[part].1.push((piece, order == 0));
        }
    }
}

/// The samples of one profile by part, in the order of the first sample of each.
#[derive(Default)]
struct Pieces {
    pieces: Vec<(usize, SampleRanges)>,
    index: HashMap<usize, usize, RandomState>,
}

impl Pieces {
    fn rows(&mut self, part: usize) -> &mut SampleRanges {
        let piece = *self.index.entry(part).or_insert(self.pieces.len());
        if piece == self.pieces.len() {
            self.pieces.push((part, Vec::new()));
        }
        &mut self.pieces[piece].1
    }

    fn push(&mut self, part: usize, row: u32, points: Range<u32>) {
        self.rows(part).push((row, points));
    }
}

/// A value as a file name: other characters than letters, digits, `.`, `-` and `_` become `_`.
fn file_name(value: &str) -> String {
    let safe = |c: char| if c.is_alphanumeric() || ".-".contains(c) { c } else { '_' };
    let short: String = value.chars().take(40).map(safe).collect();
    format!("{short}-{:08x}", xxh3_64(value.as_bytes()) as u32)
}

/// Profiles with one sample type each: those with several are divided, their samples repeated. Each part names the
/// default sample type of its pprof, so that merging the parts restores it.
fn one_type_each(profiles: &Profiles) -> Profiles {
    let mut divided = profiles.clone();
    let Profiles { dictionary, resources } = &mut divided;
    for scope in resources.iter_mut().flat_map(|resource| &mut resource.scopes) {
        let is_named = scope_default(scope, dictionary).is_some();
        let has_order = matches!(sample_type_order(scope, dictionary), Some(Ok(_)));
        let first = scope.profiles.first().and_then(|profile| profile.sample_types.last());
        if let Some(first) = first.filter(|_| has_order && !is_named && scope.profiles.len() > 1) {
            let value = Value::String(first.name);
            let key = dictionary.strings.find_or_push(PPROF_SCOPE_DEFAULT_SAMPLE_TYPE);
            scope.scope.attributes.push(KeyValue { key, value });
        }
        for profile in &mut scope.profiles {
            if let [_, .., last] = profile.sample_types[..]
                && profile.default_sample_type == StringId::NONE
                && !is_named
            {
                profile.default_sample_type = last.name;
            }
        }
        let profiles = std::mem::take(&mut scope.profiles);
        scope.profiles = profiles.into_iter().flat_map(columns_apart).collect();
    }
    divided
}

fn columns_apart(mut profile: Profile) -> Vec<Profile> {
    if profile.sample_types.len() < 2 {
        return vec![profile];
    }
    // Out of the profile, because each copy would hold the types and values of all columns.
    let types = std::mem::take(&mut profile.sample_types);
    let values = std::mem::take(&mut profile.samples.values);
    let column = |(column, kind): (usize, &ValueType)| {
        let mut one = profile.clone();
        one.sample_types = vec![*kind];
        for row in 0..profile.samples.len() {
            one.samples.values.items.extend(values.row(row).get(column));
            one.samples.values.end_row();
        }
        if column > 0 {
            forget_unique(&mut one);
        }
        one
    };
    types.iter().enumerate().map(column).collect()
}
