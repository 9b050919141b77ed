//! Filters by labels, and labels as frames.

use hashbrown::HashMap;

use crate::error::{Error, ErrorKind, Result};
use crate::look::label::{Label, LabelValue, Units, joined, labels};
use crate::look::pattern::Pattern;
use crate::look::unit::scale;
use crate::model::Profiles;
use crate::model::dictionary::{Dictionary, Function, Line};
use crate::model::id::{AttributeId, FunctionId, LinkId, LocationId, MappingId, StackId};

/// A test of the labels of a sample: pprof's `tagfocus` and `tagignore`.
///
/// | expression | samples that match |
/// |---|---|
/// | `key=a,b` | a text of `key` matches `a` or `b` |
/// | `a,b` | some `key:text` matches `a`, and some `b` |
/// | `key=64b`, `key=:64b`, `key=4kb:`, `key=1kb:4kb` | a number of `key` is in the range, which includes both ends |
/// | `64b` | a number of any key is in the range |
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

    fn matches(&self, labels: &[Label<'_>], units: &Units) -> bool {
        let of_key = |label: &&Label<'_>| self.key.as_ref().is_none_or(|key| label.key == key);
        let mut labels = labels.iter().filter(of_key);
        match &self.test {
            Test::Range { low, high, unit } => labels.any(|label| {
                let LabelValue::Number(number, _) = label.value else { return false };
                let (number, of) = scale(number.into(), units.unit(label.key), unit);
                of == unit
                    && low.is_none_or(|low| number >= low)
                    && high.is_none_or(|high| number <= high)
            }),
            Test::Patterns(patterns) => {
                let texts: Vec<String> = labels
                    .filter_map(|label| match &label.value {
                        LabelValue::Text(text) if self.key.is_some() => Some(text.to_string()),
                        LabelValue::Text(text) => Some(format!("{}:{text}", label.key)),
                        LabelValue::Number(..) => None,
                    })
                    .collect();
                let found = |one: &Pattern| texts.iter().any(|text| one.matches(text));
                if self.key.is_some() {
                    patterns.iter().any(found)
                } else {
                    patterns.iter().all(found)
                }
            }
        }
    }
}

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
    let is_unit = unit.bytes().all(|byte| byte.is_ascii_alphabetic());
    number.parse().ok().filter(|_| is_unit).map(|number| (number, unit))
}

/// Drops the samples that fail the tests of their labels. Returns whether each test matched a sample, if it is set.
pub(super) fn retain(
    profiles: &mut Profiles,
    [focus, ignore]: [&Option<TagFilter>; 2],
    units: &Units,
) -> [bool; 2] {
    let mut matched = [focus.is_none(), ignore.is_none()];
    if matched == [true; 2] {
        return matched;
    }
    let dictionary = &profiles.dictionary;
    // By the attributes and the link of a sample: many have the same.
    let mut memo: HashMap<(Vec<AttributeId>, LinkId), bool, foldhash::fast::RandomState> =
        HashMap::default();
    for profile in profiles
        .resources
        .iter_mut()
        .flat_map(|one| &mut one.scopes)
        .flat_map(|one| &mut one.profiles)
    {
        let keep: Vec<bool> = (profile.samples.iter())
            .map(|sample| {
                let key = (sample.attributes.to_vec(), sample.link);
                *memo.entry(key).or_insert_with(|| {
                    let labels = labels(dictionary, &sample);
                    let focused = focus.as_ref().is_none_or(|one| one.matches(&labels, units));
                    let ignored = ignore.as_ref().is_some_and(|one| one.matches(&labels, units));
                    matched[0] |= focused;
                    matched[1] |= ignored;
                    focused && !ignored
                })
            })
            .collect();
        profile.samples.retain(&keep);
    }
    matched
}

/// Adds frames of labels to every stack. Returns whether any sample has a label of `root`, and of `leaf`.
pub(super) fn add_frames(
    profiles: &mut Profiles,
    root: &[String],
    leaf: &[String],
) -> Result<[bool; 2]> {
    let mut found = [false; 2];
    let mut frames = Frames::default();
    let Profiles { dictionary, resources } = profiles;
    for profile in
        resources.iter_mut().flat_map(|one| &mut one.scopes).flat_map(|one| &mut one.profiles)
    {
        let stacks: Result<Vec<StackId>> = (profile.samples.iter())
            .map(|sample| {
                let labels = labels(dictionary, &sample);
                let has = |keys: &[String]| {
                    labels.iter().any(|label| keys.iter().any(|key| key == label.key))
                };
                found = [found[0] || has(root), found[1] || has(leaf)];
                let texts = |keys: &[String]| {
                    keys.iter().rev().map(|key| (joined(&labels, key), key.clone())).collect()
                };
                let [root, leaf]: [Vec<_>; 2] = [texts(root), texts(leaf)];
                let [root, leaf] = [root, leaf].map(|names| frames.locations(dictionary, names));
                frames.stack(dictionary, sample.stack, leaf, root)
            })
            .collect();
        profile.samples.stacks = stacks?;
    }
    Ok(found)
}

/// The frames of all stacks together that labels may make.
const MAX_FRAMES: usize = 1 << 28;

/// The locations and stacks that were made for labels.
#[derive(Default)]
struct Frames {
    /// By the values and the key of a label.
    locations: HashMap<(String, String), LocationId, foldhash::fast::RandomState>,
    /// By a stack and the locations at its leaf and its root.
    stacks:
        HashMap<(StackId, Vec<LocationId>, Vec<LocationId>), StackId, foldhash::fast::RandomState>,
}

impl Frames {
    /// A location for each label: its function has the values as name and the key as file.
    fn locations(
        &mut self,
        dictionary: &mut Dictionary,
        labels: Vec<(String, String)>,
    ) -> Vec<LocationId> {
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
        let of = |label: (String, String)| match self.locations.get(&label) {
            Some(id) => *id,
            None => {
                let id = new(&label);
                self.locations.insert(label, id);
                id
            }
        };
        labels.into_iter().map(of).collect()
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
                "stacks with labels have more than {MAX_FRAMES} frames: filter samples first"
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
        TagFilter::parse(expression, compile).unwrap().matches(labels, &units)
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
