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
        "more than limits.max_strings"
        source "limits API"
        example ""
        fix "raise --max-strings";
    /// Summed over all profiles of the payload. Pyroscope has its own, smaller limit (`OP9210`).
    OP9002 "limit-samples" ["E" "1-7,P"] "samples"
        "more than limits.max_samples"
        source "limits API; Pyroscope 16 000"
        example "33 million empty samples"
        fix "raise --max-samples";
    /// Asked of each table but the strings; also raised where the messages of a framed file are too
    /// many.
    OP9003 "limit-table-entries" ["E" "1-7,P"] "any table"
        "more than limits.max_table_entries"
        source "limits API"
        example ""
        fix "raise --max-table-entries";
    /// The original payload is exempt: it is a file inside the file.
    OP9004 "limit-string-bytes" ["E" "1-7,P"] "one string or bytes"
        "longer than limits.max_string_bytes"
        source "limits API"
        example ""
        fix "raise --max-string-bytes";
    /// Stacks are shared, so one deep stack costs each sample that refers to it when it is expanded
    /// into another format.
    OP9005 "limit-stack-depth" ["E" "1-7,P"] "Stack / sample locations"
        "more than limits.max_stack_depth frames"
        source "limits API; Pyroscope truncates at 1000"
        example ""
        fix "raise --max-stack-depth";
    /// Estimated from the sizes of prost's structs, message by message, while the payload is
    /// walked. The worst measured ratio is 486 bytes of heap for one byte of wire (an empty
    /// container of OTEP 0239).
    OP9006 "limit-memory" ["E" "1-7,P"] "decode"
        "owned memory that decoding would take (from the counting pre-pass) exceeds limits.max_owned_bytes"
        source "buffa issue 301; CVE-2026-55407"
        example "0a 00 x 30 million"
        fix "raise --max-owned-bytes";
    /// Lines are what was inlined into one address. A compiler inlines tens of levels, not
    /// thousands.
    OP9007 "limit-inline-depth" ["E" "1-7,P"] "Location.lines"
        "more than limits.max_lines_per_location"
        source "limits API"
        example ""
        fix "raise --max-lines-per-location";
    /// Keeps the report bounded by the number of rules, not of mistakes. Not counted in the rule_counts
    /// unless the caller raised its severity.
    OP9008 "limit-diagnostics" ["I" "1-7,P"] "report"
        "further findings of a rule were counted, not listed (100 each by default)"
        source "limits API"
        example ""
        fix "raise --max-findings to list them";
    /// No check raises it: it names the limit on what a conversion writes.
    OP9009 "limit-output" ["E" "1-7,P"] "convert"
        "the output would exceed limits.max_output_bytes (shared stacks expand in pprof)"
        source "limits API"
        example "100 000 samples x 100 000 frames"
        fix "raise --max-output-bytes";
    /// The cost of a list is in what is done with it: keys are compared with each other.
    OP9010 "limit-attributes" ["E" "1-7,P"] "one attribute list / label list"
        "more than limits.max_attributes_per_item"
        source "limits API"
        example ""
        fix "raise --max-attributes-per-item";
    /// Off by default: it is advice about bytes, not about meaning. Before 1.10 there is no
    /// reference to write instead.
    OP9101 "hint-inline-strings" ["I" "7"] off "resource/scope attributes"
        "string keys/values written inline that repeat: n bytes would be saved by strindex"
        source "data-format.md"
        example ""
        fix "refer to the string table";
    /// Off by default. proto3 packs scalars by default; unpacked lists cost a tag for each number.
    /// google/pprof writes lists of one or two numbers so.
    OP9102 "hint-unpacked" ["I" "1-7,P"] off "repeated scalars"
        "unpacked on the wire"
        source "protobuf"
        example ""
        fix "write the list packed";
    /// Off by default. Since 1.8 a timestamp without a value counts 1, so that a list of ones says
    /// nothing.
    OP9103 "hint-shape" ["I" "5-7"] off "Profile"
        "all values are 1 with timestamps: values could be omitted"
        source "1.8 proto"
        example ""
        fix "leave the values out";
    /// Off by default, as it takes a conversion: the payload is read and written as the newest
    /// generation to know the size.
    OP9104 "hint-generation" ["I" "1-6"] off "file"
        "older generation: n % smaller as 1.11"
        source "own"
        example ""
        fix "write 1.11";
}
