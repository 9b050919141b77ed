//! Declares profiles and sets everything except their samples.

use std::borrow::Borrow;

use crate::builder::builder::Builder;
use crate::builder::key::Key;
use crate::builder::number::{Nanos, SampleValue};
use crate::builder::unique_keys::UniqueKeys;
use crate::builder::value::{StringRef, ValueAndUnit};
use crate::model::id::{AttributeId, StringId};
use crate::model::profile::{AggregationTemporality, Profile, ProfileId, ValueType};

/// Settings of a profile other than its samples.
///
/// [`finish_interval`](Builder::finish_interval) keeps all of them except the time, the duration, the id and the original
/// payload, which belong to one interval.
///
/// ```
/// use otlp_profiles::Builder;
/// use std::time::{Duration, SystemTime};
///
/// let mut builder = Builder::new();
/// let cpu = builder.profile("samples", "count");
/// builder
///     .profile_mut(cpu)
///     .time(SystemTime::now())
///     .duration(Duration::from_secs(60))
///     .period("cpu", "nanoseconds", 10_000_000)
///     .attr("pprof.profile.drop_frames", "^runtime[.]");
/// ```
#[derive(Debug)]
pub struct ProfileMut<'a> {
    builder: &'a mut Builder,
    /// Row of the profile. `None` if the key is invalid.
    row: Option<usize>,
    /// Index of the profile's attributes.
    keys: UniqueKeys,
}

impl Builder {
    /// Declares a profile with one sample type and its unit, in the current scope. The same arguments
    /// return the same profile again.
    ///
    /// ```
    /// let mut builder = otlp_profiles::Builder::new();
    /// assert_eq!(builder.profile("cpu", "nanoseconds"), builder.profile("cpu", "nanoseconds"));
    /// ```
    pub fn profile(&mut self, sample_type: &str, unit: &str) -> Key<Profile> {
        self.profile_of([(sample_type, unit)])
    }

    /// Declares a profile of several types measured together: every sample has a value for each.
    ///
    /// Formats with one type per profile get a profile for each type.
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::root_first};
    ///
    /// let mut builder = Builder::new();
    /// let heap = builder.profile_of([("alloc_objects", "count"), ("alloc_space", "bytes")]);
    /// builder.sample(heap, root_first(["main", "parse", "grow"])).values([1, 4096]);
    /// ```
    ///
    /// Types are pairs of any strings, or references to such pairs.
    pub fn profile_of<T: AsRef<str>, U: AsRef<str>>(
        &mut self,
        sample_types: impl IntoIterator<Item: Borrow<(T, U)>>,
    ) -> Key<Profile> {
        let types = sample_types.into_iter().map(|sample_type| {
            let (name, unit) = sample_type.borrow();
            self.value_type(name.as_ref(), unit.as_ref())
        });
        // Drop the profile if a type does not fit. With fewer types it would equal another profile.
        let types = types.collect::<Option<Vec<ValueType>>>();
        let row = self.tree.place.zip(types).and_then(|(place, mut types)| {
            if types.is_empty() {
                types.push(ValueType::default());
            }
            let row = self.tree.open_profile(place, &types, &mut self.interner.budget);
            self.fit(row)
        });
        // Row 0 of a key is `Key::NONE`, so keys of profiles count from 1.
        self.tree.generation.key(row.map(|row| row as u32 + 1))
    }

    /// Interns a value type. `None` if its strings do not fit.
    fn value_type(&mut self, name: &str, unit: &str) -> Option<ValueType> {
        Some(ValueType { name: self.str(name)?, unit: self.str(unit)?, temporality: None })
    }

    /// Returns the settings of a profile. See [`ProfileMut`].
    /// Settings of a key that is not a profile of this builder are dropped; attributes are counted.
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::root_first};
    /// use std::time::Duration;
    ///
    /// let mut builder = Builder::new();
    /// let cpu = builder.profile("cpu", "nanoseconds");
    /// builder.profile_mut(cpu).time(1_000).duration(Duration::from_nanos(500)).id([7; 16]);
    /// builder.sample(cpu, root_first(["main"])).value(1);
    /// let profiles = builder.finish()?;
    /// let profile = profiles.iter().next().unwrap();
    /// assert_eq!((profile.time_unix_nano(), profile.duration_nanos()), (1_000, 500));
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn profile_mut(&mut self, profile: Key<Profile>) -> ProfileMut<'_> {
        let row = self.tree.profile_row(profile);
        ProfileMut { builder: self, row, keys: UniqueKeys::default() }
    }
}

impl ProfileMut<'_> {
    /// Changes the profile, if the key is valid.
    fn set(self, change: impl FnOnce(&mut Profile)) -> Self {
        if let Some(open) = self.row.and_then(|row| self.builder.tree.profiles.get_mut(row)) {
            change(&mut open.profile);
        }
        self
    }

    /// Sets the start time: a `SystemTime`, or nanoseconds since 1970. If the samples have an earlier timestamp,
    /// the start moves back to it. The end is limited to 2⁶⁴ nanoseconds, in the year 2554.
    pub fn time(self, time: impl Into<Nanos>) -> Self {
        let time = time.into().0;
        self.set(|profile| {
            profile.time_unix_nano = time.into();
            within_time(profile);
        })
    }

    /// Sets the duration: a `Duration`, or nanoseconds. 0 is unknown. It grows to include all timestamps of the
    /// samples.
    pub fn duration(self, duration: impl Into<Nanos>) -> Self {
        let duration = duration.into().0;
        self.set(|profile| {
            profile.duration_nanos = duration.into();
            within_time(profile);
        })
    }

    /// Sets whether the values are changes since the last interval
    /// ([`DELTA`](AggregationTemporality::DELTA)) or totals since the start
    /// ([`CUMULATIVE`](AggregationTemporality::CUMULATIVE)).
    ///
    /// OTLP 1.3 to 1.8 have a field for it. If it is unset, their writers choose by rule and report
    /// `temporality.assumed`. pprof and later generations of OTLP lack the field; their writers report
    /// `temporality.dropped` if the value differs from the one that this rule chooses.
    ///
    /// ```
    /// use otlp_profiles::model::{AggregationTemporality};
    /// use otlp_profiles::{Builder};
    ///
    /// let mut builder = Builder::new();
    /// let heap = builder.profile("alloc_space", "bytes");
    /// builder.profile_mut(heap).temporality(AggregationTemporality::CUMULATIVE);
    /// ```
    pub fn temporality(self, temporality: AggregationTemporality) -> Self {
        self.set(|profile| {
            for sample_type in &mut profile.sample_types {
                sample_type.temporality = Some(temporality);
            }
        })
    }

    /// Sets the period type, its unit, and the number of units between two samples.
    /// Set it if samples are taken regularly, because some receivers (Parca, Pyroscope) reject profiles without it.
    /// A period whose type does not fit is left out and counted in [`dropped`](Builder::dropped).
    ///
    /// ```
    /// let mut builder = otlp_profiles::Builder::new();
    /// let cpu = builder.profile("samples", "count");
    /// // A hundred samples per second.
    /// builder.profile_mut(cpu).period("cpu", "nanoseconds", 10_000_000);
    /// ```
    pub fn period(self, period_type: &str, unit: &str, period: impl SampleValue) -> Self {
        match self.builder.value_type(period_type, unit) {
            Some(period_type) => self.set(|profile| {
                profile.period_type = period_type;
                profile.period = period.saturating();
            }),
            None => self.left_out(),
        }
    }

    /// Sets the id of the profile, 16 bytes.
    /// Without it the profile has no id, and a generation that requires one derives it from the content.
    pub fn id(self, id: impl Into<ProfileId>) -> Self {
        let id = id.into();
        self.set(|profile| profile.profile_id = id)
    }

    /// Sets the data that the profile was made from, and its format, such as `jfr`. If either is empty, the profile
    /// has no original payload.
    ///
    /// A payload beyond [`max_owned_bytes`](crate::Limits::max_owned_bytes) is left out and counted in
    /// [`dropped`](Builder::dropped).
    ///
    /// ```
    /// let mut builder = otlp_profiles::Builder::new();
    /// let cpu = builder.profile("cpu", "nanoseconds");
    /// builder.profile_mut(cpu).original_payload("jfr", b"FLR\0");
    /// ```
    pub fn original_payload(self, format: &str, payload: impl Into<Vec<u8>>) -> Self {
        let (builder, mut payload) = (&mut *self.builder, payload.into());
        let fits = builder.interner.budget.bytes(payload.len());
        let Some(mut format) = builder.fit(fits).and_then(|()| builder.str(format)) else {
            return self.left_out();
        };
        if payload.is_empty() || format == StringId::NONE {
            (format, payload) = (StringId::NONE, Vec::new());
        }
        self.set(|profile| {
            (profile.original_payload_format, profile.original_payload) = (format, payload.into());
        })
    }

    /// Counts data that does not fit and is not an attribute.
    fn left_out(self) -> Self {
        self.builder.dropped.others += 1;
        self
    }

    /// Adds an attribute by its key. Replaces one with the same name. An invalid key is counted in
    /// [`dropped`](Builder::dropped).
    pub fn attribute(self, attribute: Key<AttributeId>) -> Self {
        let id = self.builder.generation.id(attribute);
        self.put(id)
    }

    /// Adds an attribute by name and value. Replaces one with the same name. The value may be a pair of a value and
    /// a unit. An attribute without a name is left out and counted.
    ///
    /// ```
    /// use otlp_profiles::{Builder, semconv};
    /// let mut builder = Builder::new();
    /// let cpu = builder.profile("cpu", "nanoseconds");
    /// builder.profile_mut(cpu).attr(semconv::PPROF_PROFILE_DOC_URL, "https://example.com/cpu");
    /// ```
    pub fn attr<'a>(
        self,
        key: impl Into<StringRef<'a>>,
        value: impl Into<ValueAndUnit<'a>>,
    ) -> Self {
        let id = self.builder.attribute_id(&key.into(), &value.into());
        self.put(id.and_then(AttributeId::some))
    }

    /// Adds an attribute to the profile, or counts it if it does not fit.
    fn put(mut self, id: Option<AttributeId>) -> Self {
        let keys = &mut self.keys;
        let Builder { tree, interner, .. } = &mut *self.builder;
        let open = self.row.and_then(|row| tree.profiles.get_mut(row));
        let put =
            open.zip(id).map(|(open, id)| interner.put(&mut open.profile.attributes, keys, id));
        if put.and_then(|put| self.builder.fit(put)).is_some() {
            return self;
        }
        self.builder.dropped.attributes += 1;
        self.set(|profile| {
            let count = &mut profile.dropped_attributes_count;
            *count = count.saturating_add(1);
        })
    }
}

/// Limits the duration so that the end fits into 64 bits.
fn within_time(profile: &mut Profile) {
    let most = i128::from(u64::MAX) - profile.time_unix_nano;
    profile.duration_nanos = profile.duration_nanos.min(most);
}
