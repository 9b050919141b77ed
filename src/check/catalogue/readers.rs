//! What known receivers refuse, drop or cut, as of 20 November 2026: asked only for one of them.
//!
//! They are off unless [`Options::receiver`](crate::check::Options::receiver) names one, as each is
//! legal by the specification. The date is part of the claim: receivers change, so the table is to
//! be looked through when it is older than a release of theirs.
//! [`receivers`](crate::check::receivers) says which of all rules matter to whom and how much.

use crate::check::rule::rules;

rules! {
    /// The whole file at once: receivers generate their types from one release of the proto, and
    /// what is older decodes into other fields of the same numbers.
    OP9201 "reader-generation" ["E" "1-6"] off "file"
        "the receiver reads OTLP 1.10 and 1.11: what is older is refused, or taken for something else without a word"
        source "Pyroscope 2.2, Parca 0.28, Collector 0.148: go.opentelemetry.io/proto/otlp/profiles v0.3.0; pyroscope-java issue 335"
        example "a payload of 1.9"
        fix "write 1.10: convert --for";
    /// The opposite of `OP9203`: no form of a key suits all receivers, so the answer depends on who
    /// reads.
    OP9202 "reader-reference" ["E" "7"] off "KeyValue.key_strindex, AnyValue.string_value_strindex"
        "texts of resources and scopes by reference: Parca refuses the request, Pyroscope loses the label"
        source "Parca 0.28 pkg/normalizer/otel.go; Pyroscope 2.2 pkg/ingester/otlp/convert.go"
        example "key_strindex=6"
        fix "write texts in place: convert --refs inline";
    /// A defect of released Collectors: with a string table in the payload they take the absent
    /// `key_strindex` for an index, and the key becomes empty.
    OP9203 "reader-text-in-place" ["W" "7"] off "KeyValue.key"
        "keys in place: a Collector before 0.161 that reads them from a file makes them empty"
        source "opentelemetry-collector issue 15793"
        example "key=\"service.name\""
        fix "write texts by reference: convert --refs dictionary";
    /// Told once per key, since a key has it on all samples or on none.
    OP9204 "reader-attribute" ["W" "7"] off "Sample.attribute_indices[]"
        "an attribute of a sample that is dropped: Pyroscope keeps strings, ints and arrays of one, Parca strings"
        source "Pyroscope 2.2 pkg/ingester/otlp/convert.go; Parca 0.28 pkg/normalizer/otel.go"
        example "a bool"
        fix "write the value as a string";
    /// Both known backends build frames from names and lines alone.
    OP9205 "reader-location-attribute" ["W" "7"] off "Location.attribute_indices[]"
        "attributes of locations are dropped, profile.frame.type with them"
        source "Pyroscope 2.2 pkg/ingester/otlp/convert.go; Parca 0.28 pkg/normalizer/otel.go"
        example "profile.frame.type"
        fix "none: they are for other readers";
    /// Pyroscope stores one value per stack and interval. A timeline is lost, totals are not.
    OP9206 "reader-timestamps" ["W" "7"] off "Sample.timestamps_unix_nano"
        "timestamps are dropped: their values are added up"
        source "Pyroscope 2.2 pkg/ingester/otlp/convert.go"
        example "one timestamp"
        fix "none: they are for other readers";
    /// Its frames have no place for columns.
    OP9207 "reader-column" ["W" "7"] off "Line.column"
        "columns are dropped"
        source "Pyroscope 2.2 pkg/ingester/otlp/convert.go"
        example "column=3"
        fix "none: they are for other readers";
    /// Without a period a sample of several values is taken; `off_cpu` is the type whose values it
    /// adds up.
    OP9208 "reader-values" ["E" "7"] off "Sample.values"
        "several values in a profile with a period: refused, unless they are off_cpu in nanoseconds"
        source "Pyroscope 2.2 pkg/ingester/otlp/convert.go"
        example "values [1,2], period 10"
        fix "leave the period out, or write a sample for each value";
    /// Go reads an absent message as a nil pointer, and Parca follows it without asking. An empty
    /// message is enough.
    OP9209 "reader-left-out" ["E" "7"] off "ResourceProfiles.resource, ScopeProfiles.scope, Profile.sample_type, period_type"
        "left out: Parca refuses a profile without period_type, and fails at a resource, scope or sample_type that is not there"
        source "Parca 0.28 pkg/normalizer/otel.go"
        example "no period_type"
        fix "write the message empty: convert --for parca";
    /// What is refused is an error, what is cut a warning: the sample keeps its value and loses the
    /// outermost frames.
    OP9210 "reader-limit" ["E" "7"] off "ProfilesData, Profile.samples, Stack.location_indices"
        "more than 4 MiB or 16 000 samples are refused; W: frames past the 1000th are cut off"
        source "Pyroscope 2.2, defaults of its limits"
        example "16 001 samples"
        fix "send less at once, or raise the receiver's limits";
}
