//! What known receivers refuse, drop or cut, as of 20 November 2026: asked only for one of them.

use crate::check::rule::rules;

rules! {
    OP9201 "reader-generation" ["E" "1-6"] off "file"
        "the receiver reads OTLP 1.10 and 1.11: what is older is refused, or taken for something else without a word"
        source "Pyroscope 2.2, Parca 0.28, Collector 0.148: go.opentelemetry.io/proto/otlp/profiles v0.3.0; pyroscope-java issue 335"
        example "a payload of 1.9"
        fix "write 1.10: convert --for";
    OP9202 "reader-reference" ["E" "7"] off "KeyValue.key_strindex, AnyValue.string_value_strindex"
        "texts of resources and scopes by reference: Parca refuses the request, Pyroscope loses the label"
        source "Parca 0.28 pkg/normalizer/otel.go; Pyroscope 2.2 pkg/ingester/otlp/convert.go"
        example "key_strindex=6"
        fix "write texts in place: convert --refs inline";
    OP9203 "reader-text-in-place" ["W" "7"] off "KeyValue.key"
        "keys in place: a Collector before 0.161 that reads them from a file makes them empty"
        source "opentelemetry-collector issue 15793"
        example "key=\"service.name\""
        fix "write texts by reference: convert --refs dictionary";
    OP9204 "reader-attribute" ["W" "7"] off "Sample.attribute_indices[]"
        "an attribute of a sample that is dropped: Pyroscope keeps strings, ints and arrays of one, Parca strings"
        source "Pyroscope 2.2 pkg/ingester/otlp/convert.go; Parca 0.28 pkg/normalizer/otel.go"
        example "a bool"
        fix "write the value as a string";
    OP9205 "reader-location-attribute" ["W" "7"] off "Location.attribute_indices[]"
        "attributes of locations are dropped, profile.frame.type with them"
        source "Pyroscope 2.2 pkg/ingester/otlp/convert.go; Parca 0.28 pkg/normalizer/otel.go"
        example "profile.frame.type"
        fix "none: they are for other readers";
    OP9206 "reader-timestamps" ["W" "7"] off "Sample.timestamps_unix_nano"
        "timestamps are dropped: their values are added up"
        source "Pyroscope 2.2 pkg/ingester/otlp/convert.go"
        example "one timestamp"
        fix "none: they are for other readers";
    OP9207 "reader-column" ["W" "7"] off "Line.column"
        "columns are dropped"
        source "Pyroscope 2.2 pkg/ingester/otlp/convert.go"
        example "column=3"
        fix "none: they are for other readers";
    OP9208 "reader-values" ["E" "7"] off "Sample.values"
        "several values in a profile with a period: refused, unless they are off_cpu in nanoseconds"
        source "Pyroscope 2.2 pkg/ingester/otlp/convert.go"
        example "values [1,2], period 10"
        fix "leave the period out, or write a sample for each value";
    OP9209 "reader-left-out" ["E" "7"] off "ResourceProfiles.resource, ScopeProfiles.scope, Profile.sample_type, period_type"
        "left out: Parca refuses a profile without period_type, and fails at a resource, scope or sample_type that is not there"
        source "Parca 0.28 pkg/normalizer/otel.go"
        example "no period_type"
        fix "write the message empty: convert --for parca";
    OP9210 "reader-limit" ["E" "7"] off "ProfilesData, Profile.samples, Stack.location_indices"
        "more than 4 MiB or 16 000 samples are refused; W: frames past the 1000th are cut off"
        source "Pyroscope 2.2, defaults of its limits"
        example "16 001 samples"
        fix "send less at once, or raise the receiver's limits";
}
