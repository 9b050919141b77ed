//! One profile.

use crate::model::event_form::EventForm;
use crate::model::id::{AttributeId, StringId};
use crate::model::lazy_box::{EmptyDefault, LazyBox, lazy_box};
use crate::model::samples::Samples;
use crate::wire::hex::hex;

/// A profile: its types, its time and its samples.
///
/// Current OTLP generations have one sample type per profile. A pprof file and OTLP up to 1.7 may
/// have several: then every sample has a value for each.
///
/// Ids in it are rows of the [`Dictionary`](crate::Dictionary) of its payload. Samples are stored by
/// column ([`Samples`]). [`totals`](Self::totals), [`observations`](Self::observations) and
/// [`sums`](Self::sums) interpret their values, whatever the shape.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
/// let profile = profiles.iter().next().unwrap();
/// let cpu = profile.sample_types()[1];
/// assert_eq!(profiles.dictionary().text(cpu.name), "cpu");
/// assert_eq!(profiles.dictionary().text(cpu.unit), "nanoseconds");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile(LazyBox<ProfileParts>);

/// The fields of a [`Profile`].
///
/// They are those of `Profile` in OTLP 1.10, and fields of older generations that no convention names: see
/// [the design](https://github.com/otlp-profiles/otlp-profiles/blob/main/docs/DESIGN.md).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileParts {
    pub(crate) profile_id: ProfileId,
    /// 128 bits, because pprof's times are signed and OTLP's unsigned.
    pub(crate) time_unix_nano: i128,
    /// Negative if the source is; 0 if unset.
    pub(crate) duration_nanos: i128,
    /// May be empty. With several types, every sample has a value for each.
    pub(crate) sample_types: Vec<ValueType>,
    /// The name as in the source, even if it is not among `sample_types`.
    pub(crate) default_sample_type: StringId,
    pub(crate) period_type: ValueType,
    /// The period in the unit of `period_type`.
    pub(crate) period: i64,
    /// Rows of the attribute table with unique keys.
    pub(crate) attributes: LazyBox<Vec<AttributeId>>,
    pub(crate) dropped_attributes_count: u32,
    pub(crate) original_payload_format: StringId,
    /// Opaque bytes.
    pub(crate) original_payload: LazyBox<Vec<u8>>,
    pub(crate) samples: Samples,
    /// Whether the order of samples has a meaning, as for the lines of a text. Only the compact layout changes such
    /// an order.
    pub(crate) in_order: bool,
    /// Details that only [`Format::EVENTS`](crate::Format::EVENTS) represents; blank for profiles of other formats.
    pub(crate) event_form: LazyBox<EventForm>,
}

lazy_box! { Profile of ProfileParts; }

impl EmptyDefault for ProfileParts {
    const EMPTY: &'static Self = &Self {
        profile_id: ProfileId::NONE,
        time_unix_nano: 0,
        duration_nanos: 0,
        sample_types: Vec::new(),
        default_sample_type: StringId::NONE,
        period_type: ValueType::NONE,
        period: 0,
        attributes: LazyBox::NONE,
        dropped_attributes_count: 0,
        original_payload_format: StringId::NONE,
        original_payload: LazyBox::NONE,
        samples: Samples::NONE,
        in_order: false,
        event_form: LazyBox::NONE,
    };
}

impl ProfileParts {
    /// Iterates over the strings of the profile itself, without those of its samples and attributes. The pattern
    /// names all fields, so that a new field with a string does not compile until it is added here.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut StringId> {
        let Self {
            profile_id: _,
            time_unix_nano: _,
            duration_nanos: _,
            sample_types,
            default_sample_type,
            period_type,
            period: _,
            attributes: _,
            dropped_attributes_count: _,
            original_payload_format,
            original_payload: _,
            samples: _,
            in_order: _,
            event_form: _,
        } = self;
        let types = sample_types.iter_mut().chain([period_type]);
        types
            .flat_map(|ValueType { name, unit, temporality: _ }| [name, unit])
            .chain([default_sample_type, original_payload_format])
    }

    /// Like [`texts_mut`](Self::texts_mut), without mutable access.
    pub(crate) fn texts(&self) -> impl Iterator<Item = StringId> {
        self.type_texts().chain([self.default_sample_type, self.original_payload_format])
    }

    /// Iterates over the names and units of the sample types and the period type.
    pub(crate) fn type_texts(&self) -> impl Iterator<Item = StringId> {
        let types = self.sample_types.iter().chain([&self.period_type]);
        types.flat_map(|value_type| [value_type.name, value_type.unit])
    }
}

impl Profile {
    /// Returns the bytes of memory in use, without the `Profile` itself. Counts lengths and not capacities, so that
    /// the result is the same on every run.
    pub(crate) fn owned_bytes(&self) -> usize {
        let samples = &self.samples;
        size_of::<ProfileParts>()
            + size_of_val(&self.sample_types[..])
            + size_of_val(&self.attributes[..])
            + self.original_payload.len()
            + size_of_val(&samples.stacks[..])
            + size_of_val(&samples.links[..])
            + size_of_val(&samples.stacktrace_ids[..])
            + samples.attributes.owned_bytes()
            + samples.values.owned_bytes()
            + samples.timestamps.owned_bytes()
            + self.event_form.owned_bytes()
    }

    /// Returns the id of the profile; all zero if unset.
    ///
    /// OTLP 1.3 to 1.7 required an id; since 1.8 it is optional, and pprof has no field for it. Writers that need an id
    /// derive it from the content, the same on every run.
    pub fn profile_id(&self) -> ProfileId {
        self.profile_id
    }

    /// Returns the start time in nanoseconds since 1970; 0 if unknown.
    /// Wide enough for pprof's signed and OTLP's unsigned 64 bits.
    ///
    /// [`time`](Self::time) is the same as a [`SystemTime`](std::time::SystemTime).
    ///
    /// ```
    /// # let bytes = std::fs::read("testdata/otlp-1.11-aggregated-cpu.binpb").unwrap();
    /// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// let profile = profiles.iter().next().unwrap();
    /// assert_eq!(profile.time_unix_nano(), 1_257_894_000_000_000_000);
    /// assert_eq!(profile.duration_nanos(), 60_000_000_000);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn time_unix_nano(&self) -> i128 {
        self.time_unix_nano
    }

    /// Returns the duration in nanoseconds; 0 if unknown.
    ///
    /// [`duration`](Self::duration) returns a [`Duration`](std::time::Duration). A heap profile of Go
    /// has no duration: it is a snapshot.
    pub fn duration_nanos(&self) -> i128 {
        self.duration_nanos
    }

    /// Returns the types of the values, in the order of the values.
    ///
    /// OTLP since 1.8 has one; pprof and older OTLP any number. With several, sample `s` has
    /// `values[t]` for type `t`.
    ///
    /// ```
    /// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// let types = profiles.iter().next().unwrap().sample_types();
    /// let names: Vec<&str> = types.iter().map(|kind| profiles.dictionary().text(kind.name)).collect();
    /// assert_eq!(names, ["alloc_objects", "alloc_space", "inuse_objects", "inuse_space"]);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn sample_types(&self) -> &[ValueType] {
        &self.sample_types
    }

    /// Returns the name of the default sample type, if pprof or OTLP up to 1.7 specified it. The
    /// current conventions store it on the scope, as the attribute
    /// [`PPROF_SCOPE_DEFAULT_SAMPLE_TYPE`](crate::semconv::PPROF_SCOPE_DEFAULT_SAMPLE_TYPE).
    pub fn default_sample_type(&self) -> StringId {
        self.default_sample_type
    }

    /// Returns the type and unit of the period; both are empty if there is no period.
    ///
    /// For example, `cpu` in `nanoseconds`: a sample was taken each time that amount had passed.
    pub fn period_type(&self) -> ValueType {
        self.period_type
    }

    /// Returns the number of events between two samples.
    ///
    /// It is counted in the unit of [`period_type`](Self::period_type); 0 is unknown.
    ///
    /// ```
    /// # let bytes = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// let profile = profiles.iter().next().unwrap();
    /// assert_eq!(profiles.dictionary().text(profile.period_type().unit), "nanoseconds");
    /// assert_eq!(profile.period(), 10_000_000, "a hundred samples a second");
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn period(&self) -> i64 {
        self.period
    }

    /// Returns the attributes of the profile; keys are unique.
    ///
    /// They include pprof's separate fields (comments, frames to drop and keep, a URL) under the names of
    /// [`semconv`](crate::semconv).
    pub fn attributes(&self) -> &[AttributeId] {
        &self.attributes
    }

    /// Returns the number of attributes that the producer dropped.
    pub fn dropped_attributes_count(&self) -> u32 {
        self.dropped_attributes_count
    }

    /// Returns the format and the bytes of the original profile, if the producer attached them.
    ///
    /// Both are empty otherwise. The format is a name such as `pprof` or `jfr`: the source of a conversion to OTLP.
    /// Edits do not change it; see [`Profiles::drop_original_payloads`](crate::Profiles::drop_original_payloads).
    pub fn original_payload(&self) -> (StringId, &[u8]) {
        (self.original_payload_format, &self.original_payload)
    }

    /// Returns the samples.
    ///
    /// They index the tables of [`Profiles::dictionary`](crate::Profiles::dictionary).
    pub fn samples(&self) -> &Samples {
        &self.samples
    }
}

/// The id of a profile: 16 bytes; all zero if unset.
///
/// It displays as 32 hex digits, as in OTLP/JSON.
///
/// ```
/// assert_eq!(otlp_profiles::model::ProfileId::NONE.to_string(), "00000000000000000000000000000000");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProfileId(pub [u8; 16]);

impl ProfileId {
    /// No id. The protos define an id of zeros as invalid, so the type needs no `Option`.
    pub const NONE: Self = Self([0; 16]);
}

impl From<[u8; 16]> for ProfileId {
    fn from(id: [u8; 16]) -> Self {
        Self(id)
    }
}

impl std::fmt::Display for ProfileId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// The type and unit of a value.
///
/// Both strings are as the producer wrote them. OTLP conventions use
/// [UCUM](https://ucum.org) units (`ns`, `By`), pprof uses words (`nanoseconds`, `bytes`); neither is
/// translated.
///
/// ```
/// # let bytes = std::fs::read("testdata/otlp-1.11-aggregated-memory.binpb").unwrap();
/// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let kind = profiles.iter().next().unwrap().sample_types()[0];
/// assert_eq!(profiles.dictionary().text(kind.unit), "By");
/// assert_eq!(kind.temporality, None, "1.10 has no temporality");
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ValueType {
    /// The type, such as `cpu` or `inuse_space`.
    pub name: StringId,
    /// The unit, such as `nanoseconds` or `bytes`.
    pub unit: StringId,
    /// Whether values are changes or totals; `None` if the format has no field for it.
    pub temporality: Option<AggregationTemporality>,
}

impl ValueType {
    const NONE: Self = Self { name: StringId::NONE, unit: StringId::NONE, temporality: None };

    /// Returns whether both name and unit are empty.
    /// For example, the period type of a profile without a period.
    pub fn is_none(&self) -> bool {
        self.name == StringId::NONE && self.unit == StringId::NONE
    }
}

/// Whether values are changes since the last report or totals since the start (OTLP 1.3 to 1.8).
/// An open enum: numbers without a name are kept.
///
/// ```
/// use otlp_profiles::model::AggregationTemporality;
/// assert_eq!(AggregationTemporality::DELTA.to_string(), "DELTA");
/// assert_eq!(AggregationTemporality(7).to_string(), "7");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AggregationTemporality(pub i32);

impl AggregationTemporality {
    /// Unspecified, although required.
    pub const UNSPECIFIED: Self = Self(0);
    /// Changes since the last report, such as CPU time since the previous profile.
    pub const DELTA: Self = Self(1);
    /// Totals since a fixed start, such as bytes allocated since the process began.
    pub const CUMULATIVE: Self = Self(2);
}

impl std::fmt::Display for AggregationTemporality {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::UNSPECIFIED => f.write_str("UNSPECIFIED"),
            Self::DELTA => f.write_str("DELTA"),
            Self::CUMULATIVE => f.write_str("CUMULATIVE"),
            Self(other) => other.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_the_same_to_look_at_and_to_replace() {
        let mut rows = (1..).map(StringId);
        let mut next = || rows.next().unwrap_or_default();
        let mut value_type = || ValueType { name: next(), unit: next(), temporality: None };
        let mut parts = ProfileParts {
            sample_types: vec![value_type(), value_type()],
            period_type: value_type(),
            default_sample_type: StringId(7),
            original_payload_format: StringId(8),
            ..ProfileParts::default()
        };
        let texts: Vec<StringId> = parts.texts().collect();
        assert_eq!(texts, (1..=8).map(StringId).collect::<Vec<_>>());
        assert!(parts.texts_mut().map(|id| *id).eq(texts));
    }
}
