//! Looks up attributes by key.

use std::fmt;

use crate::model::dictionary::Dictionary;
use crate::model::id::AttributeId;
use crate::model::value::KeyValue;
use crate::model::value_ref::{AttributeRef, ValueRef};

/// The attributes of a resource, a scope, a profile, a sample, a location or a mapping, with their
/// strings resolved.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
/// let dictionary = profiles.dictionary();
/// for sample in profiles.iter().next().unwrap().samples() {
///     let labels = dictionary.resolve(sample.attributes);
///     if labels.get_str("endpoint") == Some("/v1/sort") {
///         for label in labels.iter() {
///             println!("{}={}{}", label.key, label.value, label.unit);
///         }
///     }
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Copy)]
pub struct Attributes<'a> {
    list: AttributeList<'a>,
    dictionary: &'a Dictionary,
}

/// The two forms of attributes in the model, accepted by [`Dictionary::resolve`].
///
/// ```
/// use otlp_profiles::model::{AttributeList, SampleRef};
///
/// fn labels<'a>(sample: &SampleRef<'a>) -> AttributeList<'a> {
///     sample.attributes.into()
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum AttributeList<'a> {
    /// Rows of the attribute table, used by profiles, samples, locations and mappings.
    Rows(&'a [AttributeId]),
    /// Pairs, used by resources, scopes and values that are lists of pairs.
    Pairs(&'a [KeyValue]),
}

impl<'a> From<&'a [AttributeId]> for AttributeList<'a> {
    fn from(rows: &'a [AttributeId]) -> Self {
        Self::Rows(rows)
    }
}

impl<'a> From<&'a [KeyValue]> for AttributeList<'a> {
    fn from(pairs: &'a [KeyValue]) -> Self {
        Self::Pairs(pairs)
    }
}

impl Dictionary {
    /// Resolves the attributes of a list of ids or pairs, as returned by any `attributes()` of the model.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
    /// let dictionary = profiles.dictionary();
    /// let samples = profiles.iter().next().unwrap().samples();
    /// let labelled = samples.iter().find(|sample| !sample.attributes.is_empty()).unwrap();
    /// assert!(dictionary.resolve(labelled.attributes).get("endpoint").is_some());
    /// for resource in profiles.resource_profiles() {
    ///     let service = dictionary.resolve(resource.resource().attributes()).get_str("service.name");
    ///     assert_eq!(service, None, "a pprof does not say it");
    /// }
    /// # Ok(()) }
    /// ```
    pub fn resolve<'a>(&'a self, list: impl Into<AttributeList<'a>>) -> Attributes<'a> {
        Attributes { list: list.into(), dictionary: self }
    }
}

impl<'a> Attributes<'a> {
    /// Returns the value of a key.
    ///
    /// Keys are unique. The search compares strings one by one, in time linear in the number of attributes, of
    /// which there are few.
    ///
    /// ```
    /// use otlp_profiles::semconv::PPROF_PROFILE_DROP_FRAMES;
    /// # let bytes = std::fs::read("testdata/gperftools-cpu.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// let attributes = profiles.entries().next().unwrap().attributes();
    /// let dropped = attributes.get(PPROF_PROFILE_DROP_FRAMES).unwrap();
    /// assert!(dropped.as_str().unwrap().starts_with("ProfileData::Add|"));
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn get(&self, key: &str) -> Option<ValueRef<'a>> {
        self.iter().find(|attribute| attribute.key == key).map(|attribute| attribute.value)
    }

    /// Returns the value of a key if it is a string.
    /// `None` also if the value has another type.
    pub fn get_str(&self, key: &str) -> Option<&'a str> {
        self.get(key)?.as_str()
    }

    /// Iterates over all attributes in the order of the payload.
    /// The order has no meaning.
    pub fn iter(
        &self,
    ) -> impl DoubleEndedIterator<Item = AttributeRef<'a>> + ExactSizeIterator + Clone + use<'a>
    {
        let Self { list, dictionary } = *self;
        (0..self.len()).map(move |at| list.attribute(at, dictionary))
    }

    /// Returns the number of attributes.
    /// It excludes those that the producer dropped.
    pub fn len(&self) -> usize {
        match self.list {
            AttributeList::Rows(rows) => rows.len(),
            AttributeList::Pairs(pairs) => pairs.len(),
        }
    }

    /// Returns whether there are no attributes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Debug for Attributes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|one| (one.key, one.value))).finish()
    }
}

impl<'a> AttributeList<'a> {
    /// Returns attribute `at` of the list with its strings, or the empty one past the end.
    fn attribute(self, at: usize, dictionary: &'a Dictionary) -> AttributeRef<'a> {
        match self {
            Self::Rows(rows) => AttributeRef::of_row(rows.get(at).copied(), dictionary),
            Self::Pairs(pairs) => AttributeRef::of_pair(pairs.get(at), &dictionary.strings),
        }
    }
}
