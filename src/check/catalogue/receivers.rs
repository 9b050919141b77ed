//! Payloads that known receivers reject, drop or truncate, as of 20 November 2026.
//!
//! These rules are off unless [`Options::receiver`](crate::check::Options::receiver) names a receiver, because the
//! specification allows such payloads. The date matters: receivers change, so review this table if it is older than
//! a release of theirs. Rows of all topics name the receivers that enforce them.

use crate::check::rule::rules;

rules! { Receiver:
    /// The whole file at once: receivers generate their types from one release of the proto, and
    /// an older payload decodes into other fields with the same numbers.
    OP9201 "reader-generation" ["E" "1-6"] Off "file"
        "the receiver reads OTLP 1.10 and 1.11 only" finding "the receiver does not read {v}, expected {b}"
        source "Pyroscope 2.2, Parca 0.28 and Collector 0.148 are built with go.opentelemetry.io/proto/otlp/profiles v0.3.0"
        example "OTLP 1.9" => "OTLP 1.10"
        fix "convert with --for" for Collector Error, Parca Error, Pyroscope Error;
    /// The opposite of `OP9203`: no form of a key suits all receivers, so the answer depends on who
    /// reads.
    OP9202 "reader-reference" ["E" "7"] Off "KeyValue.key_strindex, AnyValue.string_value_strindex"
        "the receiver cannot resolve texts by reference" finding "text {v} is a reference, expected {b}"
        source "Parca 0.28 rejects the request; Pyroscope 2.2 loses the label"
        example "key_strindex: 6" => "key: \"service.name\""
        fix "convert with --refs inline" for Parca Error, Pyroscope Warning;
    /// A defect of released Collectors: with a string table in the payload they take the absent
    /// `key_strindex` for an index, and the key becomes empty.
    OP9203 "reader-text-in-place" ["W" "7"] Off "KeyValue.key"
        "the receiver loses keys in place" finding "the receiver loses the key {v}, expected {b}"
        source "Collector before 0.161, issue 15793"
        example "key: \"service.name\"" => "key_strindex: 6"
        fix "convert with --refs dictionary" for Collector Warning;
    /// The finding is reported once per key, because profilers set a key on all samples or on none.
    OP9204 "reader-attribute" ["W" "7"] Off "Sample.attribute_indices[]"
        "the receiver drops an attribute of samples" finding "the receiver drops the attribute {v}, expected {b}"
        source "Pyroscope 2.2 keeps strings, ints and arrays of one; Parca 0.28 keeps strings"
        example "a bool" => "a string"
        fix "write the value as a string" for Parca Warning, Pyroscope Warning;
    /// Both known backends build frames from names and lines alone.
    OP9205 "reader-location-attribute" ["W" "7"] Off "Location.attribute_indices[]"
        "the receiver drops attributes of locations"
        source "Pyroscope 2.2; Parca 0.28"
        example "profile.frame.type" => "no attributes of locations"
        fix "no change is needed: other readers use them" for Parca Warning, Pyroscope Warning;
    /// Pyroscope stores one value per stack and interval. A timeline is lost, totals are not.
    OP9206 "reader-timestamps" ["W" "7"] Off "Sample.timestamps_unix_nano"
        "the receiver drops timestamps"
        source "Pyroscope 2.2 adds up the values"
        example "timestamps: [5]" => "values: [1]"
        fix "no change is needed: other readers use them" for Pyroscope Warning;
    /// Its frames have no place for columns.
    OP9207 "reader-column" ["W" "7"] Off "Line.column"
        "the receiver drops columns" finding "the receiver drops column {v}"
        source "Pyroscope 2.2"
        example "column: 3" => "no column"
        fix "no change is needed: other readers use them" for Pyroscope Warning;
    /// Without a period a sample of several values is taken; `off_cpu` is the type whose values it
    /// adds up.
    OP9208 "reader-values" ["E" "7"] Off "Sample.values"
        "the receiver rejects several values in a profile with a period" finding "the sample has {v}, expected {b}"
        source "Pyroscope 2.2 accepts them for off_cpu in nanoseconds"
        example "values: [1, 2], period: 10" => "values: [3], period: 10"
        fix "omit the period, or write one sample per value" for Pyroscope Error;
    /// Go reads an absent message as a nil pointer, and Parca follows it without asking. An empty
    /// message is enough.
    OP9209 "reader-left-out" ["E" "7"] Off "ResourceProfiles.resource, ScopeProfiles.scope, Profile.sample_type, period_type"
        "the receiver rejects a missing message"
        source "Parca 0.28 reads the message without checking for nil"
        example "no period_type" => "period_type: {}"
        fix "convert with --for parca" for Parca Error;
    /// The receiver rejects the payload, or drops the outermost frames and keeps the value.
    OP9210 "reader-limit" ["E" "7"] Off "ProfilesData, Profile.samples, Stack.location_indices"
        "the payload exceeds a limit of the receiver" finding "the payload has {v}, the limit is {b}"
        source "Pyroscope 2.2: 4 MiB, 16,000 samples, 1,000 frames"
        example "16,001 samples" => "16,000 samples"
        fix "send less at once, or raise the limits of the receiver" for Pyroscope Error;
}
