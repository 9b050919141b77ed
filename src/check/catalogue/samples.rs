//! Rules about samples.
//!
//! Sources: `Sample` in the protos of 1.3 to 1.11 and what profcheck makes of it. Since 1.8 values and timestamps belong
//! together, which is what most of these ask; before, a sample has a value for each sample type.
//!
//! ```text
//! up to 1.7   sample_type [cpu, wall]   Sample.value [3, 9]          a column for each type
//! since 1.8   sample_type cpu           values [3, 9]                one for each of
//!                                       timestamps_unix_nano [t, u]  the timestamps
//! ```
//!
//! [`rules::samples`](crate::check::rules::samples) asks them. They are the rules that are asked
//! most often: a payload has more samples than anything else.

use crate::check::rule::rules;

rules! {
    /// A sample that counts nothing at no time. profcheck asks it only with `-check-sample-shapes`.
    OP4001 "sample-empty" ["E" "5-7"] "Sample"
        "no values and no timestamps_unix_nano (\"MUST have at least one\")"
        source "1.8-1.11 proto; profcheck -check-sample-shapes"
        example "Sample{stack_index:1}"
        fix "give the sample a value or a timestamp";
    /// The n-th value is of the n-th timestamp. Where the lengths differ no pairing can be right.
    OP4002 "values-timestamps-length" ["E" "5-7"] "Sample"
        "both set, lengths differ (\"MUST contain the same number\")"
        source "1.8-1.11 proto; profcheck -check-sample-shapes"
        example "values 1, timestamps 2"
        fix "write one timestamp for each value";
    /// The proto shows one value without timestamps and leaves more undefined: readers that add
    /// them and readers that take the first disagree.
    OP4003 "many-values-no-timestamps" ["W" "5-7"] "Sample.values"
        "len > 1 and no timestamps (profcheck error; proto gives only an example)"
        source "profcheck PR 141"
        example "values [1,2,3]"
        fix "add the timestamps, or sum the values up";
    /// A reader may choose by the first sample how it stores all of them.
    OP4004 "shape-mixed" ["W7/I5-6" "5-7"] "Profile.samples"
        "shape differs from the first sample's (\"All Samples SHOULD have the same shape\", 1.10)"
        source "1.10 proto; profcheck (error)"
        example "[values],[timestamps]"
        fix "write all samples of a profile in one shape";
    /// As `PP1003`: values are positional.
    OP4005 "values-count" ["E" "1-4"] "Sample.value"
        "len != len(sample_type)"
        source "OTEP 0239 \"All samples must have the same number of values\"; pprof CheckValid"
        example "2 types, 1 value"
        fix "write one value for each sample type";
    /// Equal identity means the values could be added. "After canonicalisation" says that equal
    /// rows of tables count as one.
    OP4006 "identity-duplicate" ["I" "5-7"] "Profile.samples"
        "same {stack_index, set(attribute_indices), link_index} as an earlier sample (\"SHOULD be combined\", 1.10); compared after canonicalisation"
        source "1.10 proto; opentelemetry-proto issue 706"
        example "two samples, attributes [1,2] and [2,1]"
        fix "combine the samples";
    /// Legal where the stack could not be unwound.
    OP4007 "stack-null" ["I" "5-7"] "Sample.stack_index"
        "0"
        source "common sense"
        example "stack_index=0"
        fix "nothing, if the stack is not known";
    /// Equal to stack 0, which every table has. Counted beside `OP3208`, which says the same of the
    /// table.
    OP4008 "stack-empty" ["I" "5-7"] "Stack"
        "index > 0 without locations"
        source "common sense"
        example "Stack{}"
        fix "refer to stack 0 instead";
    /// Location 0 is the null location since 1.8: viewers show a blank frame in the middle of a
    /// stack.
    OP4009 "null-location" ["W" "5-7"] "Stack.location_indices[]"
        "contains 0, the null location"
        source "1.8 proto"
        example "[0]"
        fix "leave the null location out";
    /// Two forms of one fact; OTEP 0239 says which wins, and pprof's readers of the same bytes see
    /// the other.
    OP4010 "locations-twice" ["W" "1"] "Sample"
        "location_index and locations_length both set (\"Supersedes location_index\")"
        source "OTEP 0239"
        example "both"
        fix "use the slice alone";
    /// As `OP4007`, before stacks were rows.
    OP4011 "no-frames" ["I" "1-4"] "Sample"
        "no location at all"
        source "common sense"
        example "length=0"
        fix "nothing, if the stack is not known";
    /// Never an error: the sources disagree about the end (OTEP 0239 is silent, 1.10 half-open,
    /// Parca inclusive), so 1.3 is asked inclusively and later generations half-open.
    OP4012 "timestamp-out-of-range" ["W" "1-7"] "Sample.timestamps"
        "outside [start, end): 5-7 time_unix_nano, +duration_nano; 2-4 time_nanos; 1 [start_time, end_time] of the container (\"expected to fall within\", SHOULD)"
        source "OTEP 0239; 1.11 SHOULD; profcheck (error)"
        example "99 for [100,110)"
        fix "set time and duration to what the samples cover";
    /// Ascending times can be stored as differences; others cost every reader a sort.
    OP4013 "timestamps-unsorted" ["I" "1-7"] "Sample.timestamps"
        "not ascending"
        source "common sense (delta coding)"
        example "[5,4]"
        fix "sort timestamps, and values with them";
    /// OTEP 0239 spoke of milliseconds, 1.3.0 renamed the field to nanoseconds without changing its
    /// number. Only where the profile itself has a plausible time or none can the two be told
    /// apart.
    OP4014 "timestamp-unit" ["W" "1-7"] "Sample.timestamps"
        "10^8 <= value < 10^17 while the profile time is 0 or >= 10^17 (OTEP 0239 says ms, 1.3 says ns)"
        source "OTEP 0239 vs v1.3.0"
        example "1687841528000"
        fix "write timestamps in nanoseconds since 1970";
    /// 1970: an unset clock, not a sample.
    OP4015 "timestamp-zero" ["W" "1-7"] "Sample.timestamps"
        "0"
        source "common sense"
        example "[0]"
        fix "leave timestamps that are not known out";
    /// The values of a difference of two profiles are negative where something got less.
    OP4016 "value-negative" ["I" "1-7"] "Sample.values"
        "< 0 (legal in diff profiles)"
        source "common sense"
        example "[-5]"
        fix "nothing, if it is a difference";
    /// Tools add the values of samples in `int64`, and wrap.
    OP4017 "sum-overflow" ["W" "1-7"] "Profile.samples"
        "the sum of a value column leaves i64"
        source "pprof tools add with wrap-around"
        example "2 x 2^62+..."
        fix "split the profile, or use a larger unit";
    /// Before 1.8 no sentence says which of several columns a timestamp belongs to.
    OP4018 "timestamps-vs-columns" ["I" "1-4"] "Sample"
        "timestamps present and len(timestamps) != 1 while several value columns: no defined pairing"
        source "1.3-1.7 proto"
        example "2 columns, 5 timestamps"
        fix "write one timestamp a sample";
    /// Parca drops such samples; nothing adds up differently without them.
    OP4019 "all-zero" ["I" "1-7"] "Sample.values"
        "all values are 0"
        source "common sense"
        example "[0]"
        fix "leave the sample out";
    /// Folded into one finding: a writer uses labels on all samples or on none.
    OP4020 "label-deprecated" ["I" "1"] "Sample.label"
        "used (\"[deprecated, superseded by attributes]\")"
        source "OTEP 0239"
        example "label set"
        fix "use attributes";
    /// As `PP1017`.
    OP4021 "label-key" ["W" "1"] "Label.key"
        "0 or \"\""
        source "pprof; Parca"
        example "key=0"
        fix "give the label a key";
    /// As `PP1015`.
    OP4022 "label-both" ["W" "1"] "Label"
        "str and num both non-zero (\"At most one of the following must be present\")"
        source "OTEP 0239"
        example "str=1,num=2"
        fix "set str or num";
    /// As `PP1016`.
    OP4023 "label-unit" ["W" "1"] "Label.num_unit"
        "set while num = 0 and str set (\"Should only be present when num is present\")"
        source "OTEP 0239"
        example "str=1,num_unit=2"
        fix "set num_unit only with num";
    /// As `PP1018`.
    OP4024 "label-repeated" ["W" "1"] "Sample.label"
        "one key twice, or as string and number (\"should never be used\")"
        source "OTEP 0239"
        example "tid twice"
        fix "write each key once";
    /// The id is meant to be computed alike everywhere, so that a stack can be sent once and
    /// referred to later.
    OP4025 "stacktrace-id" ["I" "1"] "Sample.stacktrace_id_index"
        "string is not 128 bits (32 hex digits or 16 bytes)"
        source "OTEP 0239"
        example "\"abc\""
        fix "write the id as 32 hex digits";
}
