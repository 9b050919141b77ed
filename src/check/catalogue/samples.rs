//! Rules about samples.
//!
//! Sources: `Sample` in the protos of 1.3 to 1.11 and profcheck's treatment of it. Since 1.8 values and timestamps
//! belong together, which most of these rules check; before, a sample has one value per sample type.
//!
//! ```text
//! up to 1.7   sample_type [cpu, wall]   Sample.value [3, 9]          a column for each type
//! since 1.8   sample_type cpu           values [3, 9]                one for each of
//!                                       timestamps_unix_nano [t, u]  the timestamps
//! ```
//!
//! [`rules::samples`](crate::check::rules::samples) checks them. They run more often than any other rule, because
//! samples are the most frequent message.

use crate::check::rule::rules;

rules! { Samples:
    /// The sample counts no events at no time. profcheck checks it only with `-check-sample-shapes`.
    OP4001 "sample-empty" ["E" "5-7"] "Sample"
        "a sample has no values and no timestamps" finding "the sample has no values and no timestamps"
        source "profiles.proto 1.8: a sample \"MUST have at least one\"; profcheck -check-sample-shapes"
        example "Sample{stack_index: 1}" => "Sample{stack_index: 1, values: [1]}"
        fix "give the sample a value or a timestamp" for Parca Error;
    /// The n-th value is of the n-th timestamp. Where the lengths differ no pairing can be right.
    OP4002 "values-timestamps-length" ["E" "5-7"] "Sample"
        "a sample has values and timestamps of different lengths" finding "the sample has {v}, expected {b}"
        source "profiles.proto 1.8: both \"MUST contain the same number\" of elements; profcheck -check-sample-shapes"
        example "values: [1], timestamps: [5, 6]" => "values: [1, 1], timestamps: [5, 6]"
        fix "write one timestamp for each value" for Parca Error;
    /// The proto shows one value without timestamps and leaves more undefined: readers that add
    /// them and readers that take the first disagree.
    OP4003 "many-values-no-timestamps" ["W" "5-7"] "Sample.values"
        "a sample has several values and no timestamps" finding "the sample has {v} and no timestamps"
        source "profcheck rejects it; profiles.proto 1.8 shows one value without timestamps"
        example "values: [1, 2, 3]" => "values: [6]"
        fix "add the timestamps, or write the sum of the values" for Parca Error, Pyroscope Warning;
    /// A reader may choose by the first sample how it stores all of them.
    OP4004 "shape-mixed" ["W7/I5-6" "5-7"] "Profile.samples"
        "the samples of a profile have different shapes" finding "the sample has {v}; the first sample has {b}"
        source "profiles.proto 1.10: \"All Samples SHOULD have the same shape\"; profcheck rejects it"
        example "[values], then [timestamps]" => "[values], then [values]"
        fix "write all samples of a profile in one shape";
    /// As `PP1003`: values are positional.
    OP4005 "values-count" ["E" "1-4"] "Sample.value"
        "a sample has too many or too few values" finding "the sample has {v}, the number of sample types is {b}"
        source "OTEP 0239: \"All samples must have the same number of values\"; google/pprof CheckValid"
        example "2 sample types, 1 value" => "2 sample types, 2 values"
        fix "write one value per sample type";
    /// Equal identity means the values could be added. "After canonicalisation" says that equal
    /// rows of tables count as one.
    OP4006 "identity-duplicate" ["I" "5-7"] "Profile.samples"
        "two samples have the same stack, attributes and link" finding "the sample duplicates sample {b} (same stack, attributes and link)"
        source "profiles.proto 1.10: such samples \"SHOULD be combined\""
        example "two samples of stack 1 with attributes [1, 2] and [2, 1]" => "one sample with the values added"
        fix "add their values into one sample";
    /// Legal where the stack could not be unwound.
    OP4007 "stack-null" ["I" "5-7"] "Sample.stack_index"
        "a sample has no stack"
        source "profiles.proto 1.11: index 0 is the empty stack"
        example "stack_index: 0" => "stack_index: 1"
        fix "no change is needed if the profiler could not unwind the stack";
    /// Equal to stack 0, which every table has. Counted beside `OP3208`, which says the same of the
    /// table.
    OP4008 "stack-empty" ["I" "5-7"] "Stack"
        "a stack has no locations"
        source "profiles.proto 1.11: stack 0 is the empty stack"
        example "stack_table: [{}, {}]" => "stack_index: 0"
        fix "refer to stack 0 instead";
    /// Location 0 is the null location since 1.8: viewers show a blank frame in the middle of a
    /// stack.
    OP4009 "null-location" ["W" "5-7"] "Stack.location_indices[]"
        "a stack contains the null location" finding "the stack contains location {v}, the null location"
        source "profiles.proto 1.8: location 0 is the zero value"
        example "location_indices: [0]" => "location_indices: [1]"
        fix "omit the null location";
    /// OTEP 0239 prefers the slice; readers of pprof see the other list.
    OP4010 "locations-twice" ["W" "1"] "Sample"
        "a sample lists its locations in two ways" finding "the sample has {v} in location_index as well as a slice"
        source "OTEP 0239: the slice \"Supersedes location_index\""
        example "location_index: [1], locations_length: 1" => "locations_length: 1"
        fix "write the slice alone";
    /// As `OP4007`, before stacks were rows.
    OP4011 "no-frames" ["I" "1-4"] "Sample"
        "a sample has no stack"
        source "OTEP 0239 allows it"
        example "locations_length: 0" => "locations_length: 2"
        fix "no change is needed if the profiler could not unwind the stack";
    /// Sources disagree about the end: OTEP 0239 does not define it, 1.10 excludes it, Parca includes it. The check
    /// includes it in 1.3 and excludes it later.
    OP4012 "timestamp-out-of-range" ["W" "1-7"] "Sample.timestamps"
        "a timestamp lies outside the time of the profile" finding "the timestamp {v} lies outside {b}"
        source "profiles.proto 1.11: timestamps \"SHOULD\" lie in the time of the profile; OTEP 0239; profcheck rejects it"
        example "timestamp 99 in a profile of [100, 110)" => "timestamp 105"
        fix "set the time and duration of the profile to cover its samples" for Parca Error;
    /// Ascending times can be stored as differences; others cost every reader a sort.
    OP4013 "timestamps-unsorted" ["I" "1-7"] "Sample.timestamps"
        "timestamps are not sorted"
        source "profiles specification sets no order; sorted times compress better and readers need no sort"
        example "timestamps: [5, 4]" => "timestamps: [4, 5]"
        fix "sort the timestamps together with their values"
        fixed "the timestamps were sorted, with their values where each has one";
    /// OTEP 0239 spoke of milliseconds, 1.3.0 renamed the field to nanoseconds without changing its
    /// number. Only where the profile itself has a plausible time or none can the two be told
    /// apart.
    OP4014 "timestamp-unit" ["W" "1-7"] "Sample.timestamps"
        "a timestamp is not in nanoseconds" finding "the timestamp {v} is not in nanoseconds"
        source "profiles.proto 1.3 renamed the milliseconds of OTEP 0239 to nanoseconds"
        example "1687841528000" => "1687841528000000000"
        fix "write nanoseconds since 1970";
    /// 1970: an unset clock, not a sample.
    OP4015 "timestamp-zero" ["W" "1-7"] "Sample.timestamps"
        "a timestamp is 0"
        source "profiles.proto 1.11: nanoseconds since 1970, so 0 is an unset clock"
        example "timestamps: [0]" => "no timestamps"
        fix "omit unknown timestamps";
    /// The values of a difference of two profiles are negative where something got less.
    OP4016 "value-negative" ["I" "1-7"] "Sample.values"
        "a value is negative" finding "the value {v} is negative"
        source "google/pprof CheckValid allows it: `pprof -diff_base` writes such profiles"
        example "values: [-5]" => "values: [5]"
        fix "no change is needed if the profile is a difference";
    /// Tools add the values of samples in `int64`, and wrap.
    OP4017 "sum-overflow" ["W" "1-7"] "Profile.samples"
        "the sum of the values overflows 64 bits"
        source "google/pprof adds values with wrap-around"
        example "two values of 2^62 + 2^62" => "two values of 2^61"
        fix "split the profile, or use a larger unit";
    /// Before 1.8 no specification assigns a timestamp to one of several columns.
    OP4018 "timestamps-vs-columns" ["I" "1-4"] "Sample"
        "timestamps cannot be assigned to the value columns" finding "{v} cannot be assigned to the value columns"
        source "profiles.proto 1.7 does not define which column a timestamp belongs to"
        example "2 sample types, 5 timestamps" => "2 sample types, 1 timestamp"
        fix "write one timestamp per sample";
    /// Parca drops such samples; nothing adds up differently without them.
    /// Off, because it is common and correct: a sample of two types has a 0 in one of them if only the other was measured.
    OP4019 "all-zero" ["I" "1-7"] Off "Sample.values"
        "all values of a sample are 0"
        source "profiles specification allows it; Parca drops such samples"
        example "values: [0]" => "values: [1]"
        fix "omit the sample, unless zero was measured" for Parca Warning;
    /// Folded into one finding: a writer uses labels on all samples or on none.
    OP4020 "label-deprecated" ["I" "1"] "Sample.label"
        "a sample uses deprecated labels"
        source "OTEP 0239: \"[deprecated, superseded by attributes]\""
        example "label: [..]" => "attributes: [..]"
        fix "use attributes";
    /// As `PP1017`.
    OP4021 "label-key" ["W" "1"] "Label.key"
        "a label has no key"
        source "OTEP 0239 and pprof's profile.proto: key is an index into the string table; Parca rejects it"
        example "key: 0" => "key: 1"
        fix "give the label a key";
    /// As `PP1015`.
    OP4022 "label-both" ["W" "1"] "Label"
        "a label has a text and a number" finding "the label has {v}, expected {b}"
        source "OTEP 0239: \"At most one of the following must be present\""
        example "str: 1, num: 2" => "str: 1"
        fix "set str or num";
    /// As `PP1016`.
    OP4023 "label-unit" ["W" "1"] "Label.num_unit"
        "a label has a unit and no number" finding "the label has the unit {v} and no {b}"
        source "OTEP 0239: \"Should only be present when num is present\""
        example "str: 1, num_unit: 2" => "num: 1, num_unit: 2"
        fix "set num_unit only with num";
    /// As `PP1018`.
    OP4024 "label-repeated" ["W" "1"] "Sample.label"
        "a label key occurs twice" finding "the label key {v} occurs twice, first in label {b}"
        source "OTEP 0239: the same key \"should never be used\" twice"
        example "tid: 1, tid: 2" => "tid: 1"
        fix "write each key once";
    /// The id is meant to be computed alike everywhere, so that a stack can be sent once and
    /// referred to later.
    OP4025 "stacktrace-id" ["I" "1"] "Sample.stacktrace_id_index"
        "a stack trace id is not 128 bits" finding "the stack trace id is {v}, expected {b}"
        source "OTEP 0239"
        example "\"abc\"" => "\"0123456789abcdef0123456789abcdef\""
        fix "write the id as 32 hex digits";
    /// Until 1.9 field 2 of a sample holds values, since 1.10 indices of attributes. A relay of 1.10 accepts the older
    /// payload if no sample has attributes, cuts the values to 32 bits, and sends them on as indices. A fix that dropped
    /// the indices would delete the last trace of the values.
    OP4026 "values-misread" ["E" "7"] Lossy "Profile.samples"
        "a relay took OTLP 1.8 or 1.9 for 1.10: the values of the samples became attribute indices"
        finding "{v} without values have attribute indices instead, as after a relay that took OTLP 1.8 or 1.9 for 1.10: the values are lost"
        source "profiles.proto 1.9 and 1.10: Sample.values was field 2, which is now attribute_indices"
        example "Sample{attribute_indices: [1275925178]}" => "Sample{values: [1275925178]}"
        fix "write OTLP 1.10 at the source, or use a relay of the source's generation; the file cannot be repaired";
}
