//! Filters by attributes, and attributes as frames.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::error::{Error, ErrorKind, Result};
use crate::look::label::{Label, LabelValue, Labels, Units, labels};
use crate::look::pattern::Pattern;
use crate::model::dictionary::{Dictionary, Function, Line};
use crate::model::id::{AttributeId, FunctionId, LinkId, LocationId, MappingId, StackId};
use crate::model::{Profile, Profiles};
use crate::units::scale;

/// A test of the attributes of a sample: pprof's `tagfocus` and `tagignore`.
///
/// | expression | samples that match |
/// |---|---|
/// | `key=a,b` | a text of `key` matches `a` or `b` |
/// | `a,b` | some `key:text` matches `a`, and some `b` |
/// | `key=64b`, `key=:64b`, `key=4kb:`, `key=1kb:4kb` | a number of `key` is in the range, which includes both ends, or a text of `key` is equal |
/// | `64b` | a number of any key is in the range |
///
/// The attributes are those of the sample, the ids `trace_id` and `span_id` of its link, and the attributes of its
/// profile, its scope and its resource. For `key`, the first of these that has the key counts. Without a key, all count
/// except those that hold fields of pprof (`pprof.*`).
///
/// Numbers are compared after the conversion of units. A number whose unit is unknown is compared as it is; one
/// whose unit is known never matches a range without a unit.
///
/// ```
/// use otlp_profiles::look::{Filter, Pattern, TagFilter};
/// # let bytes = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let mut profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
///
/// let compile = |text: &str| {
///     let part = text.to_owned();
///     Ok::<_, otlp_profiles::Error>(Pattern::new(text, move |label| label.contains(&part)))
/// };
/// let mut filter = Filter::default();
/// filter.tag_focus = Some(TagFilter::parse("endpoint=/v1/sort", compile)?);
/// filter.apply(&mut profiles)?;
/// let dictionary = profiles.dictionary();
/// for sample in profiles.iter().next().unwrap().samples() {
///     assert_eq!(dictionary.resolve(sample.attributes).get_str("endpoint"), Some("/v1/sort"));
/// }
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TagFilter {
    text: String,
    key: Option<String>,
    test: Test,
}

#[derive(Clone, Debug)]
enum Test {
    /// In a unit: from, to.
    Range {
        low: Option<f64>,
        high: Option<f64>,
        unit: String,
    },
    Patterns(Vec<Pattern>),
}

impl TagFilter {
    /// Parses an expression. `compile` makes the pattern of a regular expression.
    ///
    /// # Errors
    ///
    /// The first error of `compile`.
    pub fn parse<E>(
        expression: &str,
        compile: impl Fn(&str) -> Result<Pattern, E>,
    ) -> Result<Self, E> {
        let (key, value) = match expression.split_once('=') {
            Some((key, value)) => (Some(key.to_owned()), value),
            None => (None, expression),
        };
        let test = match range(value) {
            Some(range) => range,
            None => Test::Patterns(value.split(',').map(compile).collect::<Result<_, E>>()?),
        };
        Ok(Self { text: expression.to_owned(), key, test })
    }

    /// Returns the expression.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the key; `None` if the attributes of all keys are tested.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Whether a label passes each of the tests.
    fn passed(&self, label: &Label<'_>, units: &Units) -> Vec<bool> {
        match (&self.test, &label.value) {
            _ if self.key.as_ref().is_some_and(|key| label.key != key) => Vec::new(),
            (Test::Range { low, high, unit }, LabelValue::Number(number, _)) => {
                let (number, of) = scale((*number).into(), units.unit(label.key), unit);
                let is_in = of == unit
                    && low.is_none_or(|low| number >= low)
                    && high.is_none_or(|high| number <= high);
                vec![is_in]
            }
            // An id of digits is a text.
            (Test::Range { .. }, LabelValue::Text(text)) => {
                let value = self.text.split_once('=').map(|(_, value)| value);
                vec![value == Some(&**text)]
            }
            (Test::Patterns(patterns), LabelValue::Text(text)) => {
                let text = match self.key {
                    Some(_) => text.to_string(),
                    None => format!("{}:{text}", label.key),
                };
                patterns.iter().map(|one| one.matches(&text)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The tests that some of the labels pass.
    fn passed_by(&self, labels: &[Label<'_>], units: &Units) -> Vec<bool> {
        let tests = if let Test::Patterns(patterns) = &self.test { patterns.len() } else { 1 };
        let mut all = vec![false; tests];
        for label in labels {
            all.iter_mut().zip(self.passed(label, units)).for_each(|(all, one)| *all |= one);
        }
        all
    }

    /// Whether a sample matches, given its labels and the tests that those it shares pass.
    fn matches(&self, own: &[Label<'_>], shared: &PassedByShared, units: &Units) -> bool {
        let mut passed = self.passed_by(own, units);
        let is_own = |key| own.iter().any(|label| label.key == key);
        let hidden = self.key.as_deref().is_some_and(is_own);
        let levels = if self.key.is_some() { 1 } else { shared.len() };
        for shared in shared.iter().flatten().take(if hidden { 0 } else { levels }) {
            passed.iter_mut().zip(shared).for_each(|(all, one)| *all |= one);
        }
        if self.key.is_some() { passed.contains(&true) } else { !passed.contains(&false) }
    }

    /// Notes the tests that the shared labels pass, of the levels that changed.
    fn enter(&self, labels: &Labels<'_>, units: &Units, passed: &mut PassedByShared) {
        for ((level, is_new), passed) in labels.shared.iter().zip(labels.is_new).zip(passed) {
            match &self.key {
                _ if !is_new => {}
                Some(key) => *passed = level.get(key).map(|found| self.passed_by(found, units)),
                // Fields of pprof that are attributes are no labels in pprof.
                None => {
                    let of_user = level.labels.iter().filter(|one| !one.key.starts_with("pprof."));
                    let of_user: Vec<_> = of_user.cloned().collect();
                    *passed = Some(self.passed_by(&of_user, units));
                }
            }
        }
    }
}

/// The tests that the labels of the profile, the scope and the resource pass; `None` where the key is absent.
type PassedByShared = [Option<Vec<bool>>; 3];

/// A range of numbers: `64b`, `64b:`, `:64b` or `1kb:4kb`; both ends in one family of units.
fn range(text: &str) -> Option<Test> {
    let (low, high) = match text.split_once(':') {
        None => (bound(text)?, Some(bound(text)?)),
        Some(("", high)) => {
            let (high, unit) = bound(high)?;
            let (high, unit) = scale(high.into(), unit, unit);
            return Some(Test::Range { low: None, high: Some(high), unit: unit.to_owned() });
        }
        Some((low, "")) => (bound(low)?, None),
        Some((low, high)) => (bound(low)?, Some(bound(high)?)),
    };
    let (low, unit) = scale(low.0.into(), low.1, low.1);
    let high = match high {
        Some((number, from)) => {
            let (high, of) = scale(number.into(), from, unit);
            Some(high).filter(|_| of == unit)?.into()
        }
        None => None,
    };
    Some(Test::Range { low: Some(low), high, unit: unit.to_owned() })
}

/// A number and the letters of its unit.
fn bound(text: &str) -> Option<(i64, &str)> {
    let digits = text.trim_start_matches(['+', '-']);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let (number, unit) = text.split_at(text.len() - digits.len() + end);
    let is_unit = unit.chars().all(char::is_alphabetic);
    number.parse().ok().filter(|_| is_unit).map(|number| (number, unit))
}

/// Keeps the samples whose attributes match all filters, and drops the profiles, scopes and resources of which nothing is
/// left. Returns whether anything is left. The time is linear in the size of the profiles.
///
/// ```
/// use otlp_profiles::look::{Pattern, TagFilter, retain_by_attributes};
/// # let bytes = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let mut profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let equal = |text: &str| {
///     let text = text.to_owned();
///     Ok::<_, otlp_profiles::Error>(Pattern::new(&text.clone(), move |value| value == text))
/// };
/// assert!(retain_by_attributes(&mut profiles, &[TagFilter::parse("endpoint=/v1/sort", equal)?]));
/// assert!(!retain_by_attributes(&mut profiles, &[TagFilter::parse("service.name=cart", equal)?]));
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn retain_by_attributes(profiles: &mut Profiles, filters: &[TagFilter]) -> bool {
    let tests: Vec<_> = filters.iter().map(|filter| (filter, true)).collect();
    let units = Units::of(profiles);
    let mut left = retain(profiles, &tests, &units).1.into_iter();
    for resource in &mut profiles.resources {
        for scope in &mut resource.scopes {
            scope.profiles.retain(|_| left.next().unwrap_or_default());
        }
        resource.scopes.retain(|scope| !scope.profiles.is_empty());
    }
    profiles.resources.retain(|resource| !resource.scopes.is_empty());
    !profiles.resources.is_empty()
}

/// Drops the samples that fail a test of their attributes: a filter, and whether to keep what it matches. Returns whether
/// each filter matched a sample, and for each profile whether a sample is left. A profile without samples counts as one
/// sample without attributes.
pub(super) fn retain(
    profiles: &mut Profiles,
    tests: &[(&TagFilter, bool)],
    units: &Units,
) -> (Vec<bool>, Vec<bool>) {
    let mut matched = vec![false; tests.len()];
    if tests.is_empty() {
        return (matched, Vec::new());
    }
    let mut around = Labels::default();
    let mut shared: Vec<PassedByShared> = vec![Default::default(); tests.len()];
    let (mut keep, mut left) = (Vec::new(), Vec::new());
    for entry in profiles.entries() {
        around.enter(&entry);
        for ((filter, _), shared) in tests.iter().zip(&mut shared) {
            filter.enter(&around, units, shared);
        }
        let mut test = |own: &[Label<'_>]| {
            let mut is_kept = true;
            for (((filter, wanted), shared), matched) in tests.iter().zip(&shared).zip(&mut matched)
            {
                let matches = filter.matches(own, shared, units);
                *matched |= matches;
                is_kept &= matches == *wanted;
            }
            is_kept
        };
        // By the attributes and the link of a sample: many have the same.
        let mut memo: HashMap<(Vec<AttributeId>, LinkId), bool, RandomState> = HashMap::default();
        let samples = entry.profile().samples();
        let mut any = samples.is_empty() && test(&[]);
        for sample in samples {
            let key = (sample.attributes.to_vec(), sample.link);
            let is_kept =
                *memo.entry(key).or_insert_with(|| test(&labels(entry.dictionary(), &sample)));
            keep.push(is_kept);
            any |= is_kept;
        }
        left.push(any);
    }
    drop(around);
    let mut keep = &keep[..];
    each_profile(profiles, |profile| {
        let (own, rest) = keep.split_at(profile.samples.len());
        if own.contains(&false) {
            profile.samples.retain(own);
        }
        keep = rest;
    });
    (matched, left)
}

/// Calls `edit` for every profile.
pub(super) fn each_profile(profiles: &mut Profiles, mut edit: impl FnMut(&mut Profile)) {
    for resource in &mut profiles.resources {
        for scope in &mut resource.scopes {
            scope.profiles.iter_mut().for_each(&mut edit);
        }
    }
}

/// The names and keys of the frames that attributes make, from the leaf to the root.
type Names = Vec<(String, String)>;

/// Adds frames of attributes to every stack. Returns whether any sample has an attribute of `root`, and of `leaf`.
pub(super) fn add_frames(
    profiles: &mut Profiles,
    root: &[String],
    leaf: &[String],
) -> Result<[bool; 2]> {
    let mut found = [false; 2];
    let mut around = Labels::default();
    // Each distinct list of frames, and for each sample the numbers of those at its leaf and its root.
    let mut lists: HashMap<Names, u32, RandomState> = HashMap::default();
    let mut numbers: Vec<[u32; 2]> = Vec::new();
    for entry in profiles.entries() {
        around.enter(&entry);
        for sample in entry.profile().samples() {
            let mut number = |keys: &[String], found: &mut bool| {
                let names = keys.iter().rev().map(|key| {
                    let text = around.text(entry.dictionary(), &sample, key);
                    *found |= text.is_some();
                    (text.unwrap_or_default().labels, key.clone())
                });
                let next = lists.len() as u32;
                *lists.entry(names.collect()).or_insert(next)
            };
            let of_root = number(root, &mut found[0]);
            numbers.push([number(leaf, &mut found[1]), of_root]);
        }
    }
    drop(around);
    let mut lists: Vec<_> = lists.into_iter().collect();
    lists.sort_unstable_by_key(|(_, number)| *number);
    let mut frames = AttributeFrames::default();
    let lists: Vec<Vec<LocationId>> = lists
        .into_iter()
        .map(|(names, _)| frames.locations(&mut profiles.dictionary, names))
        .collect();
    let mut numbers = numbers.into_iter();
    let Profiles { dictionary, resources } = profiles;
    for profile in
        resources.iter_mut().flat_map(|one| &mut one.scopes).flat_map(|one| &mut one.profiles)
    {
        for (stack, [leaf, root]) in profile.samples.stacks.iter_mut().zip(&mut numbers) {
            let [leaf, root] = [leaf, root].map(|list| &lists[list as usize]);
            *stack = frames.stack(dictionary, *stack, leaf.clone(), root.clone())?;
        }
    }
    Ok(found)
}

/// The frames of all stacks together that attributes may make.
const MAX_FRAMES: usize = 1 << 28;

/// The locations and stacks that were made for attributes.
#[derive(Default)]
struct AttributeFrames {
    /// By the values and the key of an attribute.
    locations: HashMap<(String, String), LocationId, RandomState>,
    /// By a stack and the locations at its leaf and its root.
    stacks: HashMap<(StackId, Vec<LocationId>, Vec<LocationId>), StackId, RandomState>,
}

impl AttributeFrames {
    /// A location for each attribute: its function has the values as name and the key as file.
    fn locations(&mut self, dictionary: &mut Dictionary, names: Names) -> Vec<LocationId> {
        let new = |(name, key): &(String, String)| {
            let [name, filename] = [name, key].map(|text| dictionary.strings.push(text));
            let function = FunctionId(dictionary.functions.len() as u32);
            dictionary.functions.push(Function { name, filename, ..Function::default() });
            let row = dictionary.locations.len();
            dictionary.locations.mappings.push(MappingId::NONE);
            dictionary.locations.addresses.push(0);
            dictionary.locations.lines.push_at(row, &[Line { function, ..Line::default() }]);
            LocationId(row as u32)
        };
        let mut new = new;
        let of = |name: (String, String)| match self.locations.get(&name) {
            Some(id) => *id,
            None => {
                let id = new(&name);
                self.locations.insert(name, id);
                id
            }
        };
        names.into_iter().map(of).collect()
    }

    /// The stack between a leaf and a root.
    fn stack(
        &mut self,
        dictionary: &mut Dictionary,
        stack: StackId,
        leaf: Vec<LocationId>,
        root: Vec<LocationId>,
    ) -> Result<StackId> {
        let key = (stack, leaf, root);
        if let Some(id) = self.stacks.get(&key) {
            return Ok(*id);
        }
        let frames = [&key.1, dictionary.stack(stack), &key.2].concat();
        let stacks = &mut dictionary.stacks;
        if stacks.items.len() + frames.len() > MAX_FRAMES {
            let message = format!(
                "stacks with frames of attributes have more than {MAX_FRAMES} frames: filter samples first"
            );
            return Err(Error::new(ErrorKind::Limit, message));
        }
        let id = StackId(stacks.len() as u32);
        stacks.push(&frames);
        self.stacks.insert(key, id);
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(expression: &str, labels: &[Label<'_>]) -> bool {
        let compile = |text: &str| {
            let part = text.to_owned();
            Ok::<_, ()>(Pattern::new(text, move |label| label.contains(&part)))
        };
        let units = Units::of_labels(labels.iter().cloned());
        TagFilter::parse(expression, compile).unwrap().matches(labels, &Default::default(), &units)
    }

    #[test]
    fn labels_match_by_text_and_by_range() {
        let text = |key, text: &'static str| Label { key, value: LabelValue::Text(text.into()) };
        let number = |key, number, unit| Label { key, value: LabelValue::Number(number, unit) };
        let labels =
            [text("k", "ab"), text("l", "c"), number("bytes", 2048, ""), number("n", 7, "widgets")];
        for (expression, expected) in [
            ("k=a,x", true),
            ("k=c", false),
            ("l:c", true),
            ("a,c", true),
            ("a,x", false),
            ("bytes=2kb", true),
            ("bytes=2kb:", true),
            ("bytes=:1kb", false),
            ("bytes=1kb:4kb", true),
            ("bytes=2048", false),
            ("2kb", true),
            ("n=7", true),
            ("n=7widgets", true),
            ("n=:8parsecs", true),
            ("bytes=1kb:4ms", false),
            ("k=99999999999999999999", false),
        ] {
            assert_eq!(matches(expression, &labels), expected, "{expression}");
        }
    }
}
