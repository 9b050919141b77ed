//! Kinds of messages, independent of the version.
//!
//! Names changed less between generations than fields did. Code that treats all of them alike uses the kind.

/// The kind of a message.
/// Discriminants index arrays of [`MessageKind::COUNT`] elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageKind {
    /// The payload of OTLP, from a file or a request.
    ProfilesData,
    /// The tables, since 1.7.
    Dictionary,
    /// A resource and its scopes.
    ResourceProfiles,
    /// A scope and its profiles (in 1.3, its containers).
    ScopeProfiles,
    /// `ProfileContainer`, in 1.3 only.
    Container,
    /// Also the payload of pprof and of events.
    Profile,
    /// A type and unit, of samples or of the period.
    ValueType,
    /// The unit of a key, up to 1.7.
    AttributeUnit,
    /// A row of the link table: the ids of a trace and a span.
    Link,
    /// A stack with its values.
    Sample,
    /// A label of a sample, in pprof and 1.3.
    Label,
    /// A timestamped event.
    Event,
    /// The type of events: name, unit and clock.
    EventType,
    /// A clock that the times of events refer to.
    Clock,
    /// A row of the stack table, since 1.8.
    Stack,
    /// A row of the mapping table.
    Mapping,
    /// A row of the location table.
    Location,
    /// A line of a location.
    Line,
    /// A row of the function table.
    Function,
    /// A row of the attribute table, since 1.8.
    KeyValueAndUnit,
    /// A value; the only message with a `oneof`.
    AnyValue,
    /// A list of values. Values in values can nest without limit.
    ArrayValue,
    /// A list of pairs of keys and values.
    KeyValueList,
    /// A pair in place; up to 1.7, also a row of the attribute table.
    KeyValue,
    /// `InstrumentationScope`.
    Scope,
    /// A reference of a resource to entities, since 1.6.
    EntityRef,
    /// The entity that was profiled.
    Resource,
    /// The item of another signal: a span, a metric, a log record.
    Record,
    /// Any other message.
    Other,
}

impl MessageKind {
    /// The length of an array with one element for each kind.
    pub(crate) const COUNT: usize = Self::Other as usize + 1;
}

/// The packages of messages, by the last part of their name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Package {
    /// `opentelemetry.proto.profiles`, `perftools.profiles` in pprof, or `eventprofile.pr594`.
    Profiles,
    /// `opentelemetry.proto.common.v1`.
    Common,
    /// `opentelemetry.proto.resource.v1`.
    Resource,
    /// The packages of other signals.
    Others,
    /// `opentelemetry.proto.collector.profiles`.
    Collector,
}
