//! Limits, and hints about size.
//!
//! A limit is one of [`Limits`](crate::Limits), so an error here is one of the reader too. The hints about size are asked
//! only when they are named.
//!
//! They guard those who decode after the check: a payload may be small on the wire and large in
//! memory, as an empty message takes two bytes here and some hundred bytes as a struct. `OP9008`
//! stands between them, as it is about the report and no limit of the payload.

use crate::check::rule::rules;

rules! {
    /// Counted from the headers of the table, before a single string is looked at.
    OP9001 "limit-strings" ["E" "1-7,P"] "string_table"
        "the string table has more entries than `limits.max_strings`" finding "{v}, the limit is {b}"
        source "otlp-profiles Limits"
        example "5 million strings with --max-strings 1000000" => "--max-strings 10000000"
        fix "raise --max-strings";
    /// Summed over all profiles of the payload. Pyroscope has its own, smaller limit (`OP9210`).
    OP9002 "limit-samples" ["E" "1-7,P"] "samples"
        "the payload has more samples than `limits.max_samples`" finding "{v}, the limit is {b}"
        source "otlp-profiles Limits; Pyroscope accepts 16,000"
        example "33 million empty samples" => "--max-samples 50000000"
        fix "raise --max-samples";
    /// Asked of each table but the strings; also raised where the messages of a framed file are too
    /// many.
    OP9003 "limit-table-entries" ["E" "1-7,P"] "any table"
        "a table has more entries than `limits.max_table_entries`" finding "{v}, the limit is {b}"
        source "otlp-profiles Limits"
        example "20 million locations" => "--max-table-entries 50000000"
        fix "raise --max-table-entries";
    /// The original payload is exempt: it is a file inside the file.
    OP9004 "limit-string-bytes" ["E" "1-7,P"] "one string or bytes"
        "a string is longer than `limits.max_string_bytes`" finding "the string has {v}, the limit is {b} bytes"
        source "otlp-profiles Limits"
        example "a string of 100 MiB" => "--max-string-bytes 200MiB"
        fix "raise --max-string-bytes";
    /// Stacks are shared, so one deep stack costs each sample that refers to it when it is expanded
    /// into another format.
    OP9005 "limit-stack-depth" ["E" "1-7,P"] "Stack / sample locations"
        "a stack is deeper than `limits.max_stack_depth`" finding "the stack has {v}, the limit is {b}"
        source "otlp-profiles Limits; Pyroscope cuts stacks at 1,000 frames"
        example "a stack of 100,000 locations" => "--max-stack-depth 200000"
        fix "raise --max-stack-depth";
    /// Estimated from the sizes of prost's structs, message by message, while the payload is
    /// walked. The worst measured ratio is 486 bytes of heap for one byte of wire (an empty
    /// container of OTEP 0239).
    OP9006 "limit-memory" ["E" "1-7,P"] "decode"
        "decoding needs more memory than `limits.max_owned_bytes`" finding "decoding needs {v}, the limit is {b} bytes"
        source "otlp-profiles Limits; CVE-2026-55407"
        example "30 million empty resources" => "--max-owned-bytes 8GiB"
        fix "raise --max-owned-bytes";
    /// Lines are what was inlined into one address. A compiler inlines tens of levels, not
    /// thousands.
    OP9007 "limit-inline-depth" ["E" "1-7,P"] "Location.lines"
        "a location has more lines than `limits.max_lines_per_location`" finding "the location has {v}, the limit is {b}"
        source "otlp-profiles Limits"
        example "10,000 inlined functions at one address" => "--max-lines-per-location 20000"
        fix "raise --max-lines-per-location";
    /// Keeps the report bounded by the number of rules, not of mistakes. Not counted in the rule_counts
    /// unless the caller raised its severity.
    OP9008 "limit-diagnostics" ["I" "1-7,P"] "report"
        "further findings of a rule are not listed" finding "{v} are not listed"
        source "otlp-profiles Limits: 100 findings of each rule are listed"
        example "500 findings of one rule" => "--max-findings 1000"
        fix "raise --max-findings to list them";
    /// No check raises it: it names the limit on what a conversion writes.
    OP9009 "limit-output" ["E" "1-7,P"] "convert"
        "the output is larger than `limits.max_output_bytes`"
        source "otlp-profiles Limits"
        example "100,000 samples of 100,000 frames as pprof" => "--max-output-bytes 8GiB"
        fix "raise --max-output-bytes";
    /// The cost of a list is in what is done with it: keys are compared with each other.
    OP9010 "limit-attributes" ["E" "1-7,P"] "one attribute list / label list"
        "an item has more attributes than `limits.max_attributes_per_item`" finding "the item has {v}, the limit is {b}"
        source "otlp-profiles Limits"
        example "10,000 attributes" => "--max-attributes-per-item 20000"
        fix "raise --max-attributes-per-item";
    /// Off by default: it is advice about bytes, not about meaning. Before 1.10 there is no
    /// reference to write instead.
    OP9101 "hint-inline-strings" ["I" "7"] off "resource/scope attributes"
        "texts in place would be smaller as references" finding "texts in place cost {v} than {b}"
        source "common.proto 1.10 adds key_strindex"
        example "key: \"service.name\" in 100 resources" => "key_strindex: 6"
        fix "refer to the string table";
    /// Off by default. proto3 packs scalars by default; unpacked lists cost a tag for each number.
    /// google/pprof writes lists of one or two numbers so.
    OP9102 "hint-unpacked" ["I" "1-7,P"] off "repeated scalars"
        "a list of numbers is not packed"
        source "protobuf encoding guide: proto3 packs lists of numbers"
        example "a tag for each number" => "one packed field"
        fix "write the list packed";
    /// Since 1.8 a timestamp without a value counts 1, so the list of ones costs bytes only.
    OP9103 "hint-shape" ["I" "5-7"] off "Profile"
        "all values are 1 and could be omitted"
        source "profiles.proto 1.8: a timestamp without a value counts 1"
        example "values: [1, 1], timestamps: [5, 6]" => "timestamps: [5, 6]"
        fix "omit the values";
    /// Off by default, as it takes a conversion: the payload is read and written as the newest
    /// generation to know the size.
    OP9104 "hint-generation" ["I" "1-6"] off "file"
        "the payload would be smaller in the newest generation" finding "the payload has {v}; the newest generation takes {b}"
        source "otlp-profiles detection"
        example "OTLP 1.7" => "OTLP 1.11"
        fix "convert to OTLP 1.11";
}
