//! What messages are, whichever version has them.
//!
//! Names moved between generations less than fields did, and the proposal of timestamped events has mappings, locations
//! and functions of its own. Code that does the same with all of them asks for the noun.

/// What a message is.
/// The numbers of nouns index arrays of [`Noun::COUNT`] cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noun {
    /// The payload of OTLP, from a file or a request.
    ProfilesData,
    /// The tables, since 1.7.
    Dictionary,
    /// A resource and its scopes.
    ResourceProfiles,
    /// A scope and its profiles; in 1.3 its containers.
    ScopeProfiles,
    /// `ProfileContainer`, 1.3 alone.
    Container,
    /// Also the payload of pprof and of events.
    Profile,
    /// A type and its unit, of samples or of the period.
    ValueType,
    /// The unit of a key, up to 1.7.
    AttributeUnit,
    /// A row: trace and span.
    Link,
    /// A stack with its values.
    Sample,
    /// pprof and 1.3.
    Label,
    /// Timestamped.
    Event,
    /// What events of a type are.
    EventType,
    /// What times of events are counted by.
    Clock,
    /// A row, since 1.8.
    Stack,
    /// A row.
    Mapping,
    /// A row.
    Location,
    /// Inside a location.
    Line,
    /// A row.
    Function,
    /// A row of the attribute table, since 1.8.
    KeyValueAndUnit,
    /// A value; the only message with a `oneof`.
    AnyValue,
    /// Holds values: here messages begin to nest without end.
    ArrayValue,
    /// Holds pairs, which hold values.
    KeyValueList,
    /// A pair in place; up to 1.7 also a row of the attribute table.
    KeyValue,
    /// `InstrumentationScope`.
    Scope,
    /// Inside a resource, since 1.6.
    EntityRef,
    /// Who was profiled.
    Resource,
    /// What another signal has in place of profiles: a span, a metric, a log record.
    Record,
    /// Any other, of which no more is said than its fields.
    Other,
}

impl Noun {
    /// Cells of an array with one for each.
    pub(crate) const COUNT: usize = Self::Other as usize + 1;
}

/// The packages that messages are in, by the last part of their name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Package {
    /// `opentelemetry.proto.profiles`, or `perftools.profiles` in pprof.
    Profiles,
    /// `opentelemetry.proto.common.v1`.
    Common,
    /// `opentelemetry.proto.resource.v1`.
    Resource,
    /// `eventprofile.pr594`.
    Events,
    /// Those of other signals.
    Others,
    /// `opentelemetry.proto.collector.profiles`.
    Collector,
}
