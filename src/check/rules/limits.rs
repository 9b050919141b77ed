//! Limits, and hints about size.

use super::rules;
use crate::check::cx::Cx;
use crate::check::findings::Spot;
use crate::check::record::Record;
use crate::check::shape::{Kind, Shape};
use crate::schema::Table;

rules! {
    OP9001 "limit-strings" ["E" "1-7,P"] "string_table"
        "more than limits.max_strings"
        source "limits API"
        example ""
        fix "raise --max-strings";
    OP9002 "limit-samples" ["E" "1-7,P"] "samples"
        "more than limits.max_samples"
        source "limits API; Pyroscope 16 000"
        example "33 million empty samples"
        fix "raise --max-samples";
    OP9003 "limit-table-entries" ["E" "1-7,P"] "any table"
        "more than limits.max_table_entries"
        source "limits API"
        example ""
        fix "raise --max-table-entries";
    OP9004 "limit-string-bytes" ["E" "1-7,P"] "one string or bytes"
        "longer than limits.max_string_bytes"
        source "limits API"
        example ""
        fix "raise --max-string-bytes";
    OP9005 "limit-stack-depth" ["E" "1-7,P"] "Stack / sample locations"
        "more than limits.max_stack_depth frames"
        source "limits API; Pyroscope truncates at 1000"
        example ""
        fix "raise --max-stack-depth";
    OP9006 "limit-memory" ["E" "1-7,P"] "decode"
        "owned memory that decoding would take (from the counting pre-pass) exceeds limits.max_owned_bytes"
        source "buffa issue 301; CVE-2026-55407"
        example "0a 00 x 30 million"
        fix "raise --max-owned-bytes";
    OP9007 "limit-inline-depth" ["E" "1-7,P"] "Location.lines"
        "more than limits.max_lines_per_location"
        source "limits API"
        example ""
        fix "raise --max-lines-per-location";
    OP9008 "limit-diagnostics" ["I" "1-7,P"] "report"
        "further findings of a rule were counted, not listed (100 each by default)"
        source "limits API"
        example ""
        fix "raise --max-findings to list them";
    OP9009 "limit-output" ["E" "1-7,P"] "convert"
        "the output would exceed limits.max_output_bytes (shared stacks expand in pprof)"
        source "limits API"
        example "100 000 samples x 100 000 frames"
        fix "raise --max-output-bytes";
    OP9010 "limit-attributes" ["E" "1-7,P"] "one attribute list / label list"
        "more than limits.max_attributes_per_item"
        source "limits API"
        example ""
        fix "raise --max-attributes-per-item";
    OP9101 "hint-inline-strings" ["I" "7"] off "resource/scope attributes"
        "string keys/values written inline that repeat: n bytes would be saved by strindex"
        source "data-format.md"
        example ""
        fix "refer to the string table";
    OP9102 "hint-unpacked" ["I" "1-7,P"] off "repeated scalars"
        "unpacked on the wire"
        source "protobuf"
        example ""
        fix "write the list packed";
    OP9103 "hint-shape" ["I" "5-7"] off "Profile"
        "all values are 1 with timestamps: values could be omitted"
        source "1.8 proto"
        example ""
        fix "leave the values out";
    OP9104 "hint-generation" ["I" "1-6"] off "file"
        "older generation: n % smaller as 1.11"
        source "own"
        example ""
        fix "write 1.11";
}

/// The sizes of the tables, when they are known.
pub(crate) fn tables(cx: &mut Cx<'_>) {
    let all = [
        Table::String,
        Table::Mapping,
        Table::Location,
        Table::Function,
        Table::Link,
        Table::Attribute,
        Table::Stack,
    ];
    for table in all {
        let (rule, most) = match table {
            Table::String => (&OP9001, cx.limits.max_strings),
            _ => (&OP9003, cx.limits.max_table_entries),
        };
        let rows = cx.tables.len(table);
        if rows > most {
            let spot = Spot::nowhere().field(cx.table_name(table));
            cx.findings.raise(rule, spot, format_args!("{rows} entries"), most);
        }
    }
}

/// What prost's struct of a message takes, about.
pub(crate) fn size(kind: Kind) -> u64 {
    match kind {
        Kind::Container => 464,
        Kind::Profile => 352,
        Kind::ResourceProfiles | Kind::ScopeProfiles => 176,
        Kind::Sample => 104,
        Kind::Location => 80,
        Kind::Mapping | Kind::Resource | Kind::Scope | Kind::EntityRef => 72,
        Kind::KeyValue | Kind::KeyValueAndUnit | Kind::AnyValue => 64,
        _ => 32,
    }
}

/// Counts the memory that a message would take when it is decoded.
#[inline(always)]
pub(crate) fn owned(cx: &mut Cx<'_>, shape: &Shape, record: &Record) {
    cx.payload.owned += size(shape.kind) + (record.end - record.start) as u64;
}

/// The samples of a profile.
pub(crate) fn samples(cx: &mut Cx<'_>, name: &'static str) {
    let most = cx.limits.max_samples;
    if cx.payload.samples > most {
        let found = format_args!("{} samples", cx.payload.samples).to_string();
        cx.findings.fold(&OP9002, 0, Spot::nowhere().field(name), found, most);
    }
}

/// What is known when all of a payload was walked.
pub(crate) fn hints(cx: &mut Cx<'_>) {
    let (owned, most) = (cx.payload.owned, cx.limits.max_owned_bytes);
    if owned > most {
        cx.findings.raise(&OP9006, Spot::nowhere(), format_args!("{owned} bytes"), most);
    }
    let here = Spot::nowhere();
    cx.findings.raise(&OP9104, here, "an older generation", "OTLP 1.10 or 1.11");
    let saved: u64 = cx.payload.texts.values().map(|(length, times)| length * (times - 1)).sum();
    if saved > 0 {
        cx.findings.raise(&OP9101, here, format_args!("{saved} bytes"), "references");
    }
}
