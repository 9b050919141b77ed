//! Rules about references that lead past their tables, and which field each is about.
//!
//! A rule for each field that refers to a table, in every generation; [`rule_of`] finds it for a field of the schema. The
//! sources are the comments of the protos, which call each index by its table, and profcheck's `checkIndex`.

use super::pprof::PP1010;
use crate::check::rule::{Rule, rules};
use crate::schema::Version;

rules! {
    OP3101 "index-sample-stack-index" ["E" "5-7"] "Sample.stack_index"
        "index < 0 or >= len(stack_table)"
        source "proto comments; profcheck checkIndex"
        example "stack_index=9"
        fix "write an index within the table, or 0";
    OP3102 "index-sample-attribute-indices" ["E" "1-7"] "Sample.attribute_indices[] (1: attributes[])"
        "index < 0 or >= len(attribute_table)"
        source "proto comments; profcheck checkIndex"
        example "[99]"
        fix "write an index within the table, or 0";
    OP3103 "index-sample-link-index" ["E" "1-7"] "Sample.link_index (1: link)"
        "index < 0 or >= len(link_table); 1: 0 with an empty table means unset; 2-4: only if present"
        source "proto comments; profcheck checkIndex"
        example "link_index=3"
        fix "write an index within the table, or 0";
    OP3104 "index-stack-location-indices" ["E" "5-7"] "Stack.location_indices[]"
        "index < 0 or >= len(location_table)"
        source "proto comments; profcheck checkIndex"
        example "[-1]"
        fix "write an index within the table, or 0";
    OP3105 "index-location-mapping-index" ["E" "1-7"] "Location.mapping_index"
        "index < 0 or >= len(mapping_table); 1: 0 with an empty table means unset; 2-4: only if present"
        source "proto comments; profcheck checkIndex"
        example "mapping_index=7"
        fix "write an index within the table, or 0";
    OP3106 "index-location-attribute-indices" ["E" "1-7"] "Location.attribute_indices[] (1: attributes[])"
        "index < 0 or >= len(attribute_table)"
        source "proto comments; profcheck checkIndex"
        example "[5]"
        fix "write an index within the table, or 0";
    OP3107 "index-line-function-index" ["E" "1-7"] "Line.function_index"
        "index < 0 or >= len(function_table)"
        source "proto comments; profcheck checkIndex"
        example "function_index=2^31-1"
        fix "write an index within the table, or 0";
    OP3108 "index-function-name-strindex" ["E" "1-7"] "Function.name_strindex (1: name)"
        "index < 0 or >= len(string_table)"
        source "proto comments; profcheck checkIndex"
        example "999"
        fix "write an index within the table, or 0";
    OP3109 "index-function-system-name-strindex" ["E" "1-7"] "Function.system_name_strindex (1: system_name)"
        "index < 0 or >= len(string_table)"
        source "proto comments; profcheck checkIndex"
        example "999"
        fix "write an index within the table, or 0";
    OP3110 "index-function-filename-strindex" ["E" "1-7"] "Function.filename_strindex (1: filename)"
        "index < 0 or >= len(string_table)"
        source "proto comments; profcheck checkIndex"
        example "-1"
        fix "write an index within the table, or 0";
    OP3111 "index-mapping-filename-strindex" ["E" "1-7"] "Mapping.filename_strindex (1: filename)"
        "index < 0 or >= len(string_table)"
        source "proto comments; profcheck checkIndex"
        example "99"
        fix "write an index within the table, or 0";
    OP3112 "index-mapping-attribute-indices" ["E" "1-7"] "Mapping.attribute_indices[] (1: attributes[])"
        "index < 0 or >= len(attribute_table)"
        source "proto comments; profcheck checkIndex"
        example "[9]"
        fix "write an index within the table, or 0";
    OP3113 "index-mapping-build-id" ["E" "1"] "Mapping.build_id"
        "index < 0 or >= len(string_table)"
        source "proto comments; profcheck checkIndex"
        example "99"
        fix "write an index within the table, or 0";
    OP3114 "index-keyvalueandunit-key-strindex" ["E" "5-7"] "KeyValueAndUnit.key_strindex"
        "index < 0 or >= len(string_table)"
        source "proto comments; profcheck checkIndex"
        example "99"
        fix "write an index within the table, or 0";
    OP3115 "index-keyvalueandunit-unit-strindex" ["E" "5-7"] "KeyValueAndUnit.unit_strindex"
        "index < 0 or >= len(string_table)"
        source "proto comments; profcheck checkIndex"
        example "99"
        fix "write an index within the table, or 0";
    OP3116 "index-profile-attribute-indices" ["E" "2-7"] "Profile.attribute_indices[]"
        "index < 0 or >= len(attribute_table)"
        source "proto comments; profcheck checkIndex"
        example "[7]"
        fix "write an index within the table, or 0";
    OP3117 "index-sample-type-type" ["E" "1-7"] "sample_type.type"
        "index < 0 or >= len(string_table)"
        source "proto comments; profcheck checkIndex"
        example "77"
        fix "write an index within the table, or 0";
    OP3118 "index-sample-type-unit" ["E" "1-7"] "sample_type.unit"
        "index < 0 or >= len(string_table)"
        source "proto comments; profcheck checkIndex"
        example "77"
        fix "write an index within the table, or 0";
    OP3119 "index-period-type-type" ["E" "1-7"] "period_type.type"
        "index < 0 or >= len(string_table)"
        source "proto comments; profcheck checkIndex"
        example "77"
        fix "write an index within the table, or 0";
    OP3120 "index-period-type-unit" ["E" "1-7"] "period_type.unit"
        "index < 0 or >= len(string_table)"
        source "proto comments; profcheck checkIndex"
        example "77"
        fix "write an index within the table, or 0";
    OP3121 "index-profile-comment-strindices" ["E" "1-5"] "Profile.comment_strindices[] (1: comment)"
        "index < 0 or >= len(string_table)"
        source "proto comments; profcheck checkIndex"
        example "[77]"
        fix "write an index within the table, or 0";
    OP3122 "index-profile-drop-frames-keep-frames" ["E" "1"] "Profile.drop_frames, keep_frames"
        "index < 0 or >= len(string_table)"
        source "proto comments; profcheck checkIndex"
        example "77"
        fix "write an index within the table, or 0";
    OP3123 "index-profile-default-sample-type" ["E" "1-2"] "Profile.default_sample_type (string index)"
        "index < 0 or >= len(string_table)"
        source "proto comments; profcheck checkIndex"
        example "77"
        fix "write an index within the table, or 0";
    OP3124 "index-keyvalue-key-strindex" ["E" "7"] "KeyValue.key_strindex"
        "index < 0 or >= len(string_table)"
        source "proto comments; profcheck checkIndex"
        example "99"
        fix "write an index within the table, or 0";
    OP3125 "index-anyvalue-string-value-strindex" ["E" "7"] "AnyValue.string_value_strindex (any depth)"
        "index < 0 or >= len(string_table)"
        source "proto comments; profcheck checkIndex"
        example "99"
        fix "write an index within the table, or 0";
    OP3126 "index-attributeunit-attribute-key-unit" ["E" "1-4"] "AttributeUnit.attribute_key, unit"
        "index < 0 or >= len(string_table)"
        source "proto comments; profcheck checkIndex"
        example "99"
        fix "write an index within the table, or 0";
    OP3127 "location-slice" ["E" "1-4"] "Sample.locations_start_index + locations_length"
        "start or length < 0, or start + length > len(location_indices), computed without overflow; also of an empty slice, which refers to nothing, but at whose start a reader may cut the list"
        source "OTEP 0239 \"refers to a slice of locations\""
        example "start=2^63, length=2^63"
        fix "write an index within the table, or 0";
    OP3128 "index-profile-location-indices" ["E" "1-4"] "Profile.location_indices[]"
        "index < 0 or >= len(location table)"
        source "proto comments; profcheck checkIndex"
        example "[42]"
        fix "write an index within the table, or 0";
    OP3129 "index-sample-location-index" ["E" "1"] "Sample.location_index[] (deprecated)"
        "index < 0 or >= len(Profile.location)"
        source "proto comments; profcheck checkIndex"
        example "[42]"
        fix "write an index within the table, or 0";
    OP3130 "index-location-type-index" ["E" "1"] "Location.type_index"
        "index < 0 or >= len(string_table)"
        source "proto comments; profcheck checkIndex"
        example "42"
        fix "write an index within the table, or 0";
    OP3131 "index-sample-stacktrace-id-index" ["E" "1"] "Sample.stacktrace_id_index"
        "index < 0 or >= len(string_table)"
        source "proto comments; profcheck checkIndex"
        example "42"
        fix "write an index within the table, or 0";
    OP3132 "index-label-key-str-num-unit" ["E" "1"] "Label.key, str, num_unit (deprecated)"
        "index < 0 or >= len(string_table)"
        source "proto comments; profcheck checkIndex"
        example "42"
        fix "write an index within the table, or 0";
}

/// The rule about the references of a field, by its message and key.
pub(crate) fn rule_of(message: &str, key: &str, version: Version) -> &'static Rule {
    if version == Version::Pprof {
        return &PP1010;
    }
    match (message, key) {
        ("Sample", "stack_index") => &OP3101,
        ("Sample", "attribute_indices") => &OP3102,
        ("Sample", "link_index") => &OP3103,
        ("Sample", "location_index") => &OP3129,
        ("Sample", "stacktrace_id_index") => &OP3131,
        ("Stack", _) => &OP3104,
        ("Location", "mapping_index") => &OP3105,
        ("Location", "attribute_indices") => &OP3106,
        ("Location", "type_index") => &OP3130,
        ("Line", _) => &OP3107,
        ("Function", "name_strindex") => &OP3108,
        ("Function", "system_name_strindex") => &OP3109,
        ("Function", "filename_strindex") => &OP3110,
        ("Mapping", "filename_strindex") => &OP3111,
        ("Mapping", "attribute_indices") => &OP3112,
        ("Mapping", "build_id") => &OP3113,
        ("KeyValueAndUnit", "key_strindex") => &OP3114,
        ("KeyValueAndUnit", "unit_strindex") => &OP3115,
        ("Profile", "attribute_indices") => &OP3116,
        ("Profile", "comment_strindices") => &OP3121,
        ("Profile", "drop_frames" | "keep_frames") => &OP3122,
        ("Profile", "default_sample_type_strindex") => &OP3123,
        ("Profile", "location_indices") => &OP3128,
        // Which of the two value types it is decides where it is met.
        ("ValueType", "type_strindex") => &OP3117,
        ("ValueType", _) => &OP3118,
        ("KeyValue", _) => &OP3124,
        ("AnyValue", _) => &OP3125,
        ("AttributeUnit", _) => &OP3126,
        _ => &OP3132,
    }
}

/// The rule of a value type's field where it is the type of the period.
pub(crate) fn of_period(rule: &'static Rule) -> &'static Rule {
    match rule.id {
        "OP3117" => &OP3119,
        "OP3118" => &OP3120,
        _ => rule,
    }
}
