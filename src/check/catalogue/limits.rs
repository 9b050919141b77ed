//! Rules about limits.
//!
//! Each limit is one of [`Limits`](crate::Limits), so an error here is an error of the reader as well. The limits
//! protect decoders: a payload may be small on the wire and large in memory, since an empty message takes two bytes
//! here and some hundred bytes as a struct. `OP9008` is in this group although it is about the report, not about a
//! limit of the payload.

use crate::check::rule::rules;

rules! { Limit source "otlp-profiles Limits":
    /// Counted from the headers of the table, before a single string is looked at.
    OP9001 "limit-strings" ["E" "1-7,P"] Limit "string_table"
        "the string table has more entries than `limits.max_strings`" finding "{v}, the limit is {b}"
        example "5 million strings with --max-strings 1000000" => "--max-strings 10000000"
        fix "raise --max-strings";
    /// Summed over all profiles of the payload. Pyroscope has its own, smaller limit (`OP9210`).
    OP9002 "limit-samples" ["E" "1-7,P"] Limit "samples"
        "the payload has more samples than `limits.max_samples`" finding "{v}, the limit is {b}"
        source "otlp-profiles Limits; Pyroscope accepts 16,000"
        example "33 million empty samples" => "--max-samples 50000000"
        fix "raise --max-samples";
    /// Asked of each table but the strings; also raised where the messages of a framed file are too
    /// many.
    OP9003 "limit-table-entries" ["E" "1-7,P"] Limit "any table"
        "a table has more entries than `limits.max_table_entries`" finding "{v}, the limit is {b}"
        example "20 million locations" => "--max-table-entries 50000000"
        fix "raise --max-table-entries";
    /// The original payload is exempt: it is a file inside the file.
    OP9004 "limit-string-bytes" ["E" "1-7,P"] Limit "one string or bytes"
        "a string is longer than `limits.max_string_bytes`" finding "the string has {v}, the limit is {b} bytes"
        example "a string of 100 MiB" => "--max-string-bytes 200MiB"
        fix "raise --max-string-bytes";
    /// Stacks are shared, so one deep stack costs each sample that refers to it when it is expanded
    /// into another format.
    OP9005 "limit-stack-depth" ["E" "1-7,P"] Limit "Stack / sample locations"
        "a stack is deeper than `limits.max_stack_depth`" finding "the stack has {v}, the limit is {b}"
        source "otlp-profiles Limits; Pyroscope cuts stacks at 1,000 frames"
        example "a stack of 100,000 locations" => "--max-stack-depth 200000"
        fix "raise --max-stack-depth";
    /// Estimated from the sizes of prost's structs, message by message, while the payload is
    /// walked. The worst measured ratio is 486 bytes of heap for one byte of wire (an empty
    /// container of OTEP 0239).
    OP9006 "limit-memory" ["E" "1-7,P"] Limit "decode"
        "decoding needs more memory than `limits.max_owned_bytes`" finding "decoding needs {v}, the limit is {b} bytes"
        source "otlp-profiles Limits; CVE-2026-55407"
        example "30 million empty resources" => "--max-owned-bytes 8GiB"
        fix "raise --max-owned-bytes";
    /// Lines are what was inlined into one address. A compiler inlines tens of levels, not
    /// thousands.
    OP9007 "limit-inline-depth" ["E" "1-7,P"] Limit "Location.lines"
        "a location has more lines than `limits.max_lines_per_location`" finding "the location has {v}, the limit is {b}"
        example "10,000 inlined functions at one address" => "--max-lines-per-location 20000"
        fix "raise --max-lines-per-location";
    /// Keeps the report bounded by the number of rules, not of mistakes. Not counted in the summary
    /// unless the caller raised its severity.
    OP9008 "limit-diagnostics" ["I" "1-7,P"] "report"
        "further findings of a rule are not listed" finding "{v} are not listed"
        source "otlp-profiles Limits: 100 findings of each rule are listed"
        example "500 findings of one rule" => "--max-findings 1000"
        fix "raise --max-findings to list them";
    /// No check raises it: it names the limit on what a conversion writes.
    OP9009 "limit-output" ["E" "1-7,P"] Limit "convert"
        "the output is larger than `limits.max_output_bytes`"
        example "100,000 samples of 100,000 frames as pprof" => "--max-output-bytes 8GiB"
        fix "raise --max-output-bytes";
    /// The cost of a list is in what is done with it: keys are compared with each other.
    OP9010 "limit-attributes" ["E" "1-7,P"] Limit "one attribute list / label list"
        "an item has more attributes than `limits.max_attributes_per_item`" finding "the item has {v}, the limit is {b}"
        example "10,000 attributes" => "--max-attributes-per-item 20000"
        fix "raise --max-attributes-per-item";
}
