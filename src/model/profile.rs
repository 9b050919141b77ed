//! One profile.

use crate::model::event_form::EventForm;
use crate::model::id::{AttributeId, StringId};
use crate::model::samples::Samples;
use crate::model::thin::{Blank, Thin, thin};

/// One profile: what was measured, when, and the samples.
///
/// The current OTLP generations measure one thing a profile. A pprof file and OTLP up to 1.7 may
/// measure several: then there are several sample types, and every sample has a value for each.
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
pub struct Profile(Thin<ProfileParts>);

/// What a [`Profile`] has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileParts {
    pub(crate) profile_id: ProfileId,
    pub(crate) time_unix_nano: i128,
    pub(crate) duration_nanos: i128,
    pub(crate) sample_types: Vec<ValueType>,
    pub(crate) default_sample_type: StringId,
    pub(crate) period_type: ValueType,
    pub(crate) period: i64,
    pub(crate) attributes: Thin<Vec<AttributeId>>,
    pub(crate) dropped_attributes_count: u32,
    pub(crate) original_payload_format: StringId,
    pub(crate) original_payload: Thin<Vec<u8>>,
    pub(crate) samples: Samples,
    /// Whether the samples have an order of their own, as the lines of a text do: it is kept unless the
    /// fewest bytes are asked for.
    pub(crate) in_order: bool,
    pub(crate) event_form: Thin<EventForm>,
}

thin! { Profile of ProfileParts; }

impl Blank for ProfileParts {
    const BLANK: &'static Self = &Self {
        profile_id: ProfileId::NONE,
        time_unix_nano: 0,
        duration_nanos: 0,
        sample_types: Vec::new(),
        default_sample_type: StringId::NONE,
        period_type: ValueType::NONE,
        period: 0,
        attributes: Thin::NONE,
        dropped_attributes_count: 0,
        original_payload_format: StringId::NONE,
        original_payload: Thin::NONE,
        samples: Samples::NONE,
        in_order: false,
        event_form: Thin::NONE,
    };
}

impl Profile {
    /// The bytes of memory it takes, without what holds it.
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

    /// The id of the profile; all zero when it has none.
    pub fn profile_id(&self) -> ProfileId {
        self.profile_id
    }

    /// When it began, in nanoseconds since 1970; 0 when unknown.
    /// Wide enough for pprof's signed and OTLP's unsigned 64 bits.
    pub fn time_unix_nano(&self) -> i128 {
        self.time_unix_nano
    }

    /// How long it took, in nanoseconds; 0 when unknown.
    pub fn duration_nanos(&self) -> i128 {
        self.duration_nanos
    }

    /// What the values of the samples measure, in the order of the values.
    pub fn sample_types(&self) -> &[ValueType] {
        &self.sample_types
    }

    /// The name of the sample type to show first, where pprof or OTLP up to 1.7 said one. The
    /// current conventions say it on the scope.
    pub fn default_sample_type(&self) -> StringId {
        self.default_sample_type
    }

    /// What the period counts; both texts are empty when there is none.
    pub fn period_type(&self) -> ValueType {
        self.period_type
    }

    /// The number of events between two samples.
    pub fn period(&self) -> i64 {
        self.period
    }

    /// What else is known of the profile; no two with the same key.
    pub fn attributes(&self) -> &[AttributeId] {
        &self.attributes
    }

    /// The number of attributes its producer dropped.
    pub fn dropped_attributes_count(&self) -> u32 {
        self.dropped_attributes_count
    }

    /// The format and the bytes the profile was made from, when its producer sent them along.
    pub fn original_payload(&self) -> (StringId, &[u8]) {
        (self.original_payload_format, &self.original_payload)
    }

    /// The samples.
    pub fn samples(&self) -> &Samples {
        &self.samples
    }
}

/// The id of a profile: 16 bytes; all zero is none.
///
/// ```
/// assert_eq!(otlp_profiles::model::ProfileId::NONE.to_string(), "00000000000000000000000000000000");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProfileId(pub [u8; 16]);

impl ProfileId {
    /// No id.
    pub const NONE: Self = Self([0; 16]);
}

impl From<[u8; 16]> for ProfileId {
    fn from(id: [u8; 16]) -> Self {
        Self(id)
    }
}

impl std::fmt::Display for ProfileId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What a value measures, and in which unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ValueType {
    /// Such as `cpu` or `inuse_space`.
    pub name: StringId,
    /// Such as `nanoseconds` or `bytes`.
    pub unit: StringId,
    /// Whether values are changes or totals; `None` where the format cannot say it.
    pub temporality: Option<AggregationTemporality>,
}

impl ValueType {
    const NONE: Self = Self { name: StringId::NONE, unit: StringId::NONE, temporality: None };

    /// Whether it names neither a type nor a unit.
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
    /// Not said, though it should be.
    pub const UNSPECIFIED: Self = Self(0);
    /// Changes since the last report.
    pub const DELTA: Self = Self(1);
    /// Totals since a fixed start.
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
