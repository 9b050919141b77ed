//! The sample types of profiles, and the one to show if none is chosen.
//!
//! ```text
//! the profile, its scope      named by default_sample_type or an attribute      that type
//! several types a profile     pprof, OTLP up to 1.7                             the last
//! one type a profile          OTLP since 1.8                                    that of the first profile
//! ```

use std::fmt;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::error::{Error, ErrorKind, Result};
use crate::model::dictionary::Dictionary;
use crate::model::entries::Entry;
use crate::model::id::StringId;
use crate::model::order::sample_type_order;
use crate::model::profile::Profile;
use crate::model::profiles::{Profiles, ScopeProfiles};
use crate::model::value::Value;
use crate::semconv::{PPROF_PROFILE_DEFAULT_SAMPLE_TYPE, PPROF_SCOPE_DEFAULT_SAMPLE_TYPE};
use crate::units::{Dimension, Unit, conversion};

/// A sample type: the name and the unit of its values.
///
/// Types of one name whose units convert are one type, in the finest of the units: `cpu` in `ms` and in `nanoseconds` is
/// `cpu` in `nanoseconds`. It displays as `cpu:nanoseconds`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct SampleType<'a> {
    /// The name, such as `cpu` or `inuse_space`.
    pub name: &'a str,
    /// The unit, such as `nanoseconds` or `By`.
    pub unit: &'a str,
}

impl fmt::Display for SampleType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.unit)
    }
}

/// Equal for types that are added up: the name, and the dimension of the unit or a unit without one.
pub(crate) type Identity<'a> = (&'a str, Result<Dimension, &'a str>);

impl<'a> SampleType<'a> {
    /// Creates a sample type of a name and a unit.
    pub fn new(name: &'a str, unit: &'a str) -> Self {
        Self { name, unit }
    }

    /// Equal for types that convert to each other.
    pub(crate) fn identity(self) -> Identity<'a> {
        (self.name, Unit::of(self.unit).map(Unit::dimension).ok_or(self.unit))
    }

    /// Returns whether values of both types are added up: the names are equal, and the units convert.
    pub fn converts_to(self, other: SampleType<'_>) -> bool {
        self.name == other.name && conversion(self.unit, other.unit).is_some()
    }

    /// The number of the smallest units in one unit.
    fn factor(self) -> i128 {
        Unit::of(self.unit).map_or(1, Unit::factor)
    }

    /// The unit in which values of both types are whole numbers.
    pub(crate) fn finer(self, other: Self) -> Self {
        let (one, two) = (self.factor(), other.factor());
        match Unit::of(self.unit).map(Unit::dimension) {
            _ if two % one == 0 => self,
            _ if one % two == 0 => other,
            Some(Dimension::Bytes) => Self { unit: "By", ..self },
            _ => Self { unit: "ns", ..self },
        }
    }

    /// Returns the first column of a profile with this type, and the factor of its values; `None` if it has none.
    pub(crate) fn column(
        self,
        profile: &Profile,
        dictionary: &Dictionary,
    ) -> Option<(usize, i128)> {
        types(profile, dictionary).enumerate().find_map(|(column, of)| {
            let (numerator, divisor) = conversion(of.unit, self.unit)?;
            (of.name == self.name).then_some((column, numerator / divisor))
        })
    }
}

/// The types of a profile. One without any has an unnamed one.
pub(crate) fn types<'a>(
    profile: &'a Profile,
    dictionary: &'a Dictionary,
) -> impl Iterator<Item = SampleType<'a>> {
    let types = profile.sample_types.iter();
    let unnamed = types.len() == 0;
    let text = |id| dictionary.text(id);
    types
        .map(move |of| SampleType { name: text(of.name), unit: text(of.unit) })
        .chain(unnamed.then(SampleType::default))
}

fn types_of<'a>(entry: &Entry<'a>) -> impl Iterator<Item = SampleType<'a>> + use<'a> {
    types(entry.profile(), entry.dictionary())
}

/// Returns the default sample type that the scope stores for its profiles.
pub(crate) fn scope_default<'a>(
    scope: &'a ScopeProfiles,
    dictionary: &Dictionary,
) -> Option<&'a Value> {
    let mut pairs = scope.scope.attributes.iter();
    let found = pairs.find(|pair| dictionary.text(pair.key) == PPROF_SCOPE_DEFAULT_SAMPLE_TYPE)?;
    Some(&found.value)
}

/// Returns the name of the default sample type of a profile, or else that of its scope.
pub(crate) fn default_of(
    profile: &Profile,
    of_scope: Option<&Value>,
    dictionary: &Dictionary,
) -> StringId {
    if profile.default_sample_type != StringId::NONE {
        return profile.default_sample_type;
    }
    let mut own = profile.attributes.iter().filter_map(|id| dictionary.attribute(*id));
    let own =
        own.find(|attribute| dictionary.text(attribute.key) == PPROF_PROFILE_DEFAULT_SAMPLE_TYPE);
    let name = |value: &Value| match value {
        Value::String(name) if !dictionary.text(*name).is_empty() => Some(*name),
        _ => None,
    };
    let own = own.and_then(|attribute| name(&attribute.value));
    own.or_else(|| of_scope.and_then(name)).unwrap_or(StringId::NONE)
}

impl Profiles {
    /// Returns the sample types of all profiles, each once: first those of the first scope, in the order of pprof's
    /// columns. Takes time linear in the number of profiles.
    ///
    /// ```
    /// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// let types: Vec<String> = profiles.sample_types().iter().map(ToString::to_string).collect();
    /// assert_eq!(types, ["alloc_objects:count", "alloc_space:bytes", "inuse_objects:count", "inuse_space:bytes"]);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn sample_types(&self) -> Vec<SampleType<'_>> {
        let mut found: Vec<SampleType<'_>> = Vec::new();
        let mut index = HashMap::<Identity<'_>, usize, RandomState>::default();
        let columns = self.first_columns().into_iter();
        for of in columns.chain(self.entries().flat_map(|entry| types_of(&entry))) {
            let row = *index.entry(of.identity()).or_insert(found.len());
            match found.get_mut(row) {
                Some(known) => *known = known.finer(of),
                None => found.push(of),
            }
        }
        found
    }

    /// The types of the profiles of the first scope, in the order of pprof's columns.
    fn first_columns(&self) -> Vec<SampleType<'_>> {
        let Some(first) = self.entries().next() else { return Vec::new() };
        let (scope, dictionary) = (first.scope_profiles(), first.dictionary());
        let mut profiles: Vec<&Profile> = scope.profiles.iter().collect();
        if let Some(Ok(order)) = sample_type_order(scope, dictionary) {
            let mut placed: Vec<_> = order.into_iter().zip(profiles).collect();
            placed.sort_by_key(|(place, _)| *place);
            profiles = placed.into_iter().map(|(_, profile)| profile).collect();
        }
        profiles.into_iter().flat_map(|profile| types(profile, dictionary)).collect()
    }

    /// Returns the sample type to show if none is chosen; `None` if there are no profiles. Every report and every
    /// format with one type uses it.
    ///
    /// The first profile with samples decides: it is the type that the profile or its scope names, or else the
    /// profile's last. So pprof shows its last type, and OTLP since 1.8, whose profiles have one type each, that of the
    /// first profile. Takes time linear in the number of profiles.
    ///
    /// ```
    /// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// assert_eq!(profiles.default_sample_type().unwrap().name, "inuse_space");
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn default_sample_type(&self) -> Option<SampleType<'_>> {
        let has_samples = |entry: &Entry<'_>| !entry.profile().samples.is_empty();
        let first = self.entries().find(has_samples).or_else(|| self.entries().next())?;
        let of_scope = scope_default(first.scope_profiles(), &self.dictionary);
        let name = self.dictionary.text(default_of(first.profile(), of_scope, &self.dictionary));
        let is_named = |of: &SampleType<'_>| of.name == name;
        let scope = first.scope_profiles().profiles.iter();
        let named = types_of(&first)
            .chain(scope.flat_map(|profile| types(profile, &self.dictionary)))
            .chain(self.entries().flat_map(|entry| types_of(&entry)))
            .find(|of| !name.is_empty() && is_named(of));
        named.or_else(|| types_of(&first).last()).map(|of| self.finest(of))
    }

    /// Returns the sample type of a name (`cpu`), a name and a unit (`cpu:ns`), or a number among the columns of the
    /// first scope, from 0. As in pprof, `inuse_space` also finds the type `space` of old heap profiles.
    ///
    /// # Errors
    ///
    /// No profile has the type. The message lists the types that exist.
    ///
    /// ```
    /// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// assert_eq!(profiles.find_sample_type("alloc_space")?.unit, "bytes");
    /// assert_eq!(profiles.find_sample_type("0")?.name, "alloc_objects");
    /// assert!(profiles.find_sample_type("alloc_space:seconds").is_err());
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn find_sample_type(&self, wanted: &str) -> Result<SampleType<'_>> {
        let all = self.sample_types();
        let by_name = |name: &str| all.iter().copied().find(|of| of.name == name);
        let by_number = || self.first_columns().get(wanted.parse::<usize>().ok()?).copied();
        let by_unit = || {
            let (name, unit) = wanted.rsplit_once(':')?;
            all.iter().copied().find(|of| of.converts_to(SampleType { name, unit }))
        };
        let found = by_number()
            .or_else(|| by_name(wanted))
            .or_else(by_unit)
            .or_else(|| by_name(wanted.strip_prefix("inuse_")?));
        found.map(|of| self.finest(of)).ok_or_else(|| {
            let names: Vec<String> = all.iter().map(ToString::to_string).collect();
            let message = match &names[..] {
                [] => "there is no profile".to_owned(),
                names => {
                    format!(
                        "no profile has the sample type {wanted}: there are {}",
                        names.join(", ")
                    )
                }
            };
            Error::new(ErrorKind::Unrepresentable, message)
        })
    }

    /// The same type in the finest unit of all profiles.
    fn finest<'a>(&'a self, of: SampleType<'a>) -> SampleType<'a> {
        let all = self.entries().flat_map(|entry| types_of(&entry));
        let same = all.filter(|other| other.identity() == of.identity());
        same.fold(of, SampleType::finer)
    }
}
