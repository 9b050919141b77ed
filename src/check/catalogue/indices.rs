//! Rules about references that lead past their tables, and which field each is about.
//!
//! A rule for each field that refers to a table, in every generation; [`rule_of`] finds it for a field of the schema. The
//! sources are the comments of the protos, which call each index by its table, and profcheck's `checkIndex`.
//!
//! A reference past its table is an error in every generation: the row it means does not exist, so
//! any reader has to invent one or fail. profcheck is the oracle for 1.10 and 1.11. The index is
//! compared unsigned: a negative `int32` is a varint of 64 bits, thus larger than any table.
//!
//! ```text
//! stack_index 9, stack_table of 4 rows    OP3101: 9, wanted an index below 4, the rows of the stack table
//! ```
//!
//! `tests/check` puts an index past every table into every reference of the schema, and wants a
//! finding of one of these.

use super::pprof::PP1010;
use crate::check::rule::{Rule, rules};
use crate::schema::Version;

rules! {
    /// The sample loses its frames, which are what a profile is for.
    OP3101 "index-sample-stack-index" ["E" "5-7"] "Sample.stack_index"
        "a stack index is out of range" finding "stack index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "stack_index: 9, 4 stacks" => "stack_index: 3"
        fix "write an index within the table, or 0";
    /// In 1.3 the field is `attributes`, of 64 bits; the cell of the schema is the same.
    OP3102 "index-sample-attribute-indices" ["E" "1-7"] "Sample.attribute_indices[] (1: attributes[])"
        "an attribute index of a sample is out of range" finding "attribute index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "attribute_indices: [99], 4 attributes" => "attribute_indices: [3]"
        fix "write an index within the table, or 0";
    /// A link is optional, and each family of generations says "none" in its own way, which the
    /// statement lists.
    OP3103 "index-sample-link-index" ["E" "1-7"] "Sample.link_index (1: link)"
        "a link index is out of range" finding "link index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "link_index: 3, 2 links" => "link_index: 1"
        fix "write an index within the table, or 0";
    /// The longest lists of a payload: [`packed`](crate::check::packed) proves them as a whole.
    OP3104 "index-stack-location-indices" ["E" "5-7"] "Stack.location_indices[]"
        "a location index of a stack is out of range" finding "location index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "location_indices: [-1]" => "location_indices: [1]"
        fix "write an index within the table, or 0";
    /// Generations encode a missing mapping differently, as for links (`OP3103`).
    OP3105 "index-location-mapping-index" ["E" "1-7"] "Location.mapping_index"
        "a mapping index is out of range" finding "mapping index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "mapping_index: 7, 2 mappings" => "mapping_index: 1"
        fix "write an index within the table, or 0";
    /// Readers lose what the index refers to, or reject the payload.
    OP3106 "index-location-attribute-indices" ["E" "1-7"] "Location.attribute_indices[] (1: attributes[])"
        "an attribute index of a location is out of range" finding "attribute index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "attribute_indices: [5], 4 attributes" => "attribute_indices: [3]"
        fix "write an index within the table, or 0";
    /// Before 1.8 a line without the field refers to function 0, which has to be there.
    OP3107 "index-line-function-index" ["E" "1-7"] "Line.function_index"
        "a function index is out of range" finding "function index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "function_index: 2147483647" => "function_index: 1"
        fix "write an index within the table, or 0";
    /// String 0 is always there, so only an index that is written can dangle.
    OP3108 "index-function-name-strindex" ["E" "1-7"] "Function.name_strindex (1: name)"
        "the name of a function is out of range of the strings" finding "string index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "name_strindex: 999" => "name_strindex: 3"
        fix "write an index within the table, or 0";
    /// Readers lose what the index refers to, or reject the payload.
    OP3109 "index-function-system-name-strindex" ["E" "1-7"] "Function.system_name_strindex (1: system_name)"
        "the system name of a function is out of range of the strings" finding "string index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "system_name_strindex: 999" => "system_name_strindex: 3"
        fix "write an index within the table, or 0";
    /// Readers lose what the index refers to, or reject the payload.
    OP3110 "index-function-filename-strindex" ["E" "1-7"] "Function.filename_strindex (1: filename)"
        "the file name of a function is out of range of the strings" finding "string index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "filename_strindex: -1" => "filename_strindex: 0"
        fix "write an index within the table, or 0";
    /// Readers lose what the index refers to, or reject the payload.
    OP3111 "index-mapping-filename-strindex" ["E" "1-7"] "Mapping.filename_strindex (1: filename)"
        "the file name of a mapping is out of range of the strings" finding "string index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "filename_strindex: 99" => "filename_strindex: 5"
        fix "write an index within the table, or 0";
    /// Readers lose what the index refers to, or reject the payload.
    OP3112 "index-mapping-attribute-indices" ["E" "1-7"] "Mapping.attribute_indices[] (1: attributes[])"
        "an attribute index of a mapping is out of range" finding "attribute index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "attribute_indices: [9], 4 attributes" => "attribute_indices: [3]"
        fix "write an index within the table, or 0";
    /// The build id moved from a field to an attribute after 1.3.
    OP3113 "index-mapping-build-id" ["E" "1"] "Mapping.build_id"
        "the build id of a mapping is out of range of the strings" finding "string index {v} is out of range: {b}"
        source "OTEP 0239: an index refers to an entry of its table"
        example "build_id: 99" => "build_id: 5"
        fix "write an index within the table, or 0";
    /// Readers lose what the index refers to, or reject the payload.
    OP3114 "index-keyvalueandunit-key-strindex" ["E" "5-7"] "KeyValueAndUnit.key_strindex"
        "the key of an attribute is out of range of the strings" finding "string index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "key_strindex: 99" => "key_strindex: 5"
        fix "write an index within the table, or 0";
    /// Readers lose what the index refers to, or reject the payload.
    OP3115 "index-keyvalueandunit-unit-strindex" ["E" "5-7"] "KeyValueAndUnit.unit_strindex"
        "the unit of an attribute is out of range of the strings" finding "string index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "unit_strindex: 99" => "unit_strindex: 0"
        fix "write an index within the table, or 0";
    /// Attributes of a profile are references since 1.5; 1.4 had them in place.
    OP3116 "index-profile-attribute-indices" ["E" "2-7"] "Profile.attribute_indices[]"
        "an attribute index of a profile is out of range" finding "attribute index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "attribute_indices: [7], 4 attributes" => "attribute_indices: [3]"
        fix "write an index within the table, or 0";
    /// [`rule_of`] cannot tell the two value types of a profile apart; [`of_period`] does where one
    /// is met.
    OP3117 "index-sample-type-type" ["E" "1-7"] "sample_type.type"
        "the type of a sample type is out of range of the strings" finding "string index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "type: 77" => "type: 1"
        fix "write an index within the table, or 0";
    /// Readers lose what the index refers to, or reject the payload.
    OP3118 "index-sample-type-unit" ["E" "1-7"] "sample_type.unit"
        "the unit of a sample type is out of range of the strings" finding "string index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "unit: 77" => "unit: 2"
        fix "write an index within the table, or 0";
    /// Readers lose what the index refers to, or reject the payload.
    OP3119 "index-period-type-type" ["E" "1-7"] "period_type.type"
        "the type of the period is out of range of the strings" finding "string index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "type: 77" => "type: 1"
        fix "write an index within the table, or 0";
    /// Readers lose what the index refers to, or reject the payload.
    OP3120 "index-period-type-unit" ["E" "1-7"] "period_type.unit"
        "the unit of the period is out of range of the strings" finding "string index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "unit: 77" => "unit: 2"
        fix "write an index within the table, or 0";
    /// Comments became the attribute `pprof.profile.comment` in 1.9.
    OP3121 "index-profile-comment-strindices" ["E" "1-5"] "Profile.comment_strindices[] (1: comment)"
        "a comment is out of range of the strings" finding "string index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "comment: [77]" => "comment: [3]"
        fix "write an index within the table, or 0";
    /// Readers lose what the index refers to, or reject the payload.
    OP3122 "index-profile-drop-frames-keep-frames" ["E" "1"] "Profile.drop_frames, keep_frames"
        "drop_frames or keep_frames is out of range of the strings" finding "string index {v} is out of range: {b}"
        source "OTEP 0239: an index refers to an entry of its table"
        example "drop_frames: 77" => "drop_frames: 0"
        fix "write an index within the table, or 0";
    /// From 1.6 on the field is an index of `sample_type`, which `OP2017` asks.
    OP3123 "index-profile-default-sample-type" ["E" "1-2"] "Profile.default_sample_type (string index)"
        "the default sample type is out of range of the strings" finding "string index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "default_sample_type: 77" => "default_sample_type: 1"
        fix "write an index within the table, or 0";
    /// Reaches into resources and scopes, which refer to the same dictionary as profiles since
    /// 1.10.
    OP3124 "index-keyvalue-key-strindex" ["E" "7"] "KeyValue.key_strindex"
        "the key of an attribute is out of range of the strings" finding "string index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "key_strindex: 99" => "key_strindex: 5"
        fix "write an index within the table, or 0";
    /// Also in arrays and lists of pairs, however deep.
    OP3125 "index-anyvalue-string-value-strindex" ["E" "7"] "AnyValue.string_value_strindex (any depth)"
        "a string value is out of range of the strings" finding "string index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "string_value_strindex: 99" => "string_value_strindex: 5"
        fix "write an index within the table, or 0";
    /// Readers lose what the index refers to, or reject the payload.
    OP3126 "index-attributeunit-attribute-key-unit" ["E" "1-4"] "AttributeUnit.attribute_key, unit"
        "the key or unit of an attribute unit is out of range of the strings" finding "string index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "attribute_key: 99" => "attribute_key: 5"
        fix "write an index within the table, or 0";
    /// Two numbers from a stranger: the sum is checked for overflow first, and the slice is never
    /// walked. Its cost is that of two additions, though 50,000 samples may share a slice of
    /// 100,000 rows.
    OP3127 "location-slice" ["E" "1-4"] "Sample.locations_start_index + locations_length"
        "the slice of locations of a sample is out of range" finding "the slice {v} is out of range, expected {b}"
        source "OTEP 0239: a sample \"refers to a slice of locations\""
        example "locations_start_index: 2^63, locations_length: 2^63" => "locations_start_index: 0, locations_length: 2"
        fix "write a start and a length within location_indices";
    /// The list that samples have slices of.
    OP3128 "index-profile-location-indices" ["E" "1-4"] "Profile.location_indices[]"
        "a location index of a profile is out of range" finding "location index {v} is out of range: {b}"
        source "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex"
        example "location_indices: [42]" => "location_indices: [1]"
        fix "write an index within the table, or 0";
    /// Ids and not rows in pprof, where `PP1004` asks; rows here.
    OP3129 "index-sample-location-index" ["E" "1"] "Sample.location_index[] (deprecated)"
        "a location index of a sample is out of range" finding "location index {v} is out of range: {b}"
        source "OTEP 0239: an index refers to an entry of its table"
        example "location_index: [42]" => "location_index: [1]"
        fix "write an index within the table, or 0";
    /// Readers lose what the index refers to, or reject the payload.
    OP3130 "index-location-type-index" ["E" "1"] "Location.type_index"
        "the type of a location is out of range of the strings" finding "string index {v} is out of range: {b}"
        source "OTEP 0239: an index refers to an entry of its table"
        example "type_index: 42" => "type_index: 1"
        fix "write an index within the table, or 0";
    /// `OP4025` checks the text of the string.
    OP3131 "index-sample-stacktrace-id-index" ["E" "1"] "Sample.stacktrace_id_index"
        "the stack trace id of a sample is out of range of the strings" finding "string index {v} is out of range: {b}"
        source "OTEP 0239: an index refers to an entry of its table"
        example "stacktrace_id_index: 42" => "stacktrace_id_index: 1"
        fix "write an index within the table, or 0";
    /// Three fields of one deprecated message share this rule.
    OP3132 "index-label-key-str-num-unit" ["E" "1"] "Label.key, str, num_unit (deprecated)"
        "the key, text or unit of a label is out of range of the strings" finding "string index {v} is out of range: {b}"
        source "OTEP 0239: an index refers to an entry of its table"
        example "key: 42" => "key: 1"
        fix "write an index within the table, or 0";
}

/// The rule about the references of a field, by its message and key.
///
/// Called once for each field when the shapes of a version are laid out, never while a payload is
/// walked. A reference that is added to the schema gets its line here.
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
///
/// `sample_type` and `period_type` are one message, `ValueType`; which of the two is walked is
/// known from the path alone.
pub(crate) fn of_period(rule: &'static Rule) -> &'static Rule {
    match rule.id {
        "OP3117" => &OP3119,
        "OP3118" => &OP3120,
        _ => rule,
    }
}
