//! Rules about references past the end of their tables, and the field of each rule.
//!
//! There is one rule for each field that refers to a table, in every generation; [`rule_of`] finds it for a field
//! of the schema. The sources are the comments of the protos, which name the table of each index, and profcheck's
//! `checkIndex`.
//!
//! A reference past its table is an error in every generation: the row does not exist, so any reader has to invent
//! one or fail. profcheck is the oracle for 1.10 and 1.11. Indices are compared as unsigned: a negative `int32` is
//! a varint of 64 bits, thus larger than any table.
//!
//! ```text
//! stack_index 9, stack_table of 4 rows    OP3101: 9, wanted an index below 4, the rows of the stack table
//! ```
//!
//! `tests/check` writes an out-of-range index into every reference of the schema, and expects a finding of one of
//! these rules.

use super::pprof::PP1010;
use crate::check::rule::{Rule, first, rules};
use crate::schema::Version;

/// The source of a rule about the references of some generations.
const fn source(generations: &str) -> &'static str {
    match generations.as_bytes() {
        b"1" => "OTEP 0239: an index refers to an entry of its table",
        _ => "profiles.proto 1.11: an index refers to an entry of its table; profcheck checkIndex",
    }
}

/// Declares the rules with their fields: the keys in brackets, or all references of the message. `optional` marks
/// references that `--fix` drops.
macro_rules! indices {
    ($($(#[doc = $why:literal])* $id:ident $name:literal [$generations:literal] $($message:ident [$($key:ident)*])? $place:literal
        $statement:literal $($table:literal)? $(finding $finding:literal source $source:literal fix $fix:literal)?
        example $example:literal => $correction:literal $($optional:ident)?;)*) => {
        rules! { Index: $(
            $(#[doc = $why])* $id $name ["E" $generations] $place
                $statement finding (concat!($($table, " index {v} is out of range: {b}")? $($finding)?))
                source (first(&[$($source,)? source($generations)]))
                example $example => $correction
                fix (first(&[$($fix,)? "write an index within the table, or 0"]))
                $(fixed (indices!(@$optional)))?;
        )* }

        /// The fields of each rule, by message and key; without keys, all references of the message.
        static FIELDS: &[(&str, &[&str], &Rule)] =
            &[$($((stringify!($message), &[$(stringify!($key)),*], &$id),)?)*];
    };
    (@optional) => {
        "the reference to nothing was left out"
    };
}

indices! {
    /// The sample loses its frames, which are what a profile is for.
    OP3101 "index-sample-stack-index" ["5-7"] Sample [stack_index] "Sample.stack_index"
        "a stack index is out of range" "stack" example "stack_index: 9, 4 stacks" => "stack_index: 3";
    /// In 1.3 the field is `attributes`, of 64 bits; the cell of the schema is the same.
    OP3102 "index-sample-attribute-indices" ["1-7"] Sample [attribute_indices] "Sample.attribute_indices[] (1: attributes[])"
        "an attribute index of a sample is out of range" "attribute"
        example "attribute_indices: [99], 4 attributes" => "attribute_indices: [3]" optional;
    /// A link is optional, and each family of generations says "none" in its own way, which the
    /// statement lists.
    OP3103 "index-sample-link-index" ["1-7"] Sample [link_index] "Sample.link_index (1: link)"
        "a link index is out of range" "link" example "link_index: 3, 2 links" => "link_index: 1" optional;
    /// Readers lose the frame that the index refers to, or reject the payload.
    OP3104 "index-stack-location-indices" ["5-7"] Stack [location_indices] "Stack.location_indices[]"
        "a location index of a stack is out of range" "location"
        example "location_indices: [-1]" => "location_indices: [1]";
    /// Generations encode a missing mapping differently, as for links (`OP3103`).
    OP3105 "index-location-mapping-index" ["1-7"] Location [mapping_index] "Location.mapping_index"
        "a mapping index is out of range" "mapping"
        example "mapping_index: 7, 2 mappings" => "mapping_index: 1" optional;
    /// Readers lose what the index refers to, or reject the payload.
    OP3106 "index-location-attribute-indices" ["1-7"] Location [attribute_indices] "Location.attribute_indices[] (1: attributes[])"
        "an attribute index of a location is out of range" "attribute"
        example "attribute_indices: [5], 4 attributes" => "attribute_indices: [3]" optional;
    /// Before 1.8 a line without the field refers to function 0, which has to be there.
    OP3107 "index-line-function-index" ["1-7"] Line [function_index] "Line.function_index"
        "a function index is out of range" "function" example "function_index: 2147483647" => "function_index: 1";
    /// String 0 is always there, so only an index that is written can dangle.
    OP3108 "index-function-name-strindex" ["1-7"] Function [name_strindex] "Function.name_strindex (1: name)"
        "the name of a function is out of range of the strings" "string"
        example "name_strindex: 999" => "name_strindex: 3";
    /// Readers lose what the index refers to, or reject the payload.
    OP3109 "index-function-system-name-strindex" ["1-7"] Function [system_name_strindex] "Function.system_name_strindex (1: system_name)"
        "the system name of a function is out of range of the strings" "string"
        example "system_name_strindex: 999" => "system_name_strindex: 3" optional;
    /// Readers lose what the index refers to, or reject the payload.
    OP3110 "index-function-filename-strindex" ["1-7"] Function [filename_strindex] "Function.filename_strindex (1: filename)"
        "the file name of a function is out of range of the strings" "string"
        example "filename_strindex: -1" => "filename_strindex: 0" optional;
    /// Readers lose what the index refers to, or reject the payload.
    OP3111 "index-mapping-filename-strindex" ["1-7"] Mapping [filename_strindex] "Mapping.filename_strindex (1: filename)"
        "the file name of a mapping is out of range of the strings" "string"
        example "filename_strindex: 99" => "filename_strindex: 5" optional;
    /// Readers lose what the index refers to, or reject the payload.
    OP3112 "index-mapping-attribute-indices" ["1-7"] Mapping [attribute_indices] "Mapping.attribute_indices[] (1: attributes[])"
        "an attribute index of a mapping is out of range" "attribute"
        example "attribute_indices: [9], 4 attributes" => "attribute_indices: [3]" optional;
    /// The build id moved from a field to an attribute after 1.3.
    OP3113 "index-mapping-build-id" ["1"] Mapping [build_id] "Mapping.build_id"
        "the build id of a mapping is out of range of the strings" "string"
        example "build_id: 99" => "build_id: 5" optional;
    /// Readers lose what the index refers to, or reject the payload.
    OP3114 "index-keyvalueandunit-key-strindex" ["5-7"] KeyValueAndUnit [key_strindex] "KeyValueAndUnit.key_strindex"
        "the key of an attribute is out of range of the strings" "string"
        example "key_strindex: 99" => "key_strindex: 5";
    /// Readers lose what the index refers to, or reject the payload.
    OP3115 "index-keyvalueandunit-unit-strindex" ["5-7"] KeyValueAndUnit [unit_strindex] "KeyValueAndUnit.unit_strindex"
        "the unit of an attribute is out of range of the strings" "string"
        example "unit_strindex: 99" => "unit_strindex: 0" optional;
    /// Attributes of a profile are references since 1.5; 1.4 had them in place.
    OP3116 "index-profile-attribute-indices" ["2-7"] Profile [attribute_indices] "Profile.attribute_indices[]"
        "an attribute index of a profile is out of range" "attribute"
        example "attribute_indices: [7], 4 attributes" => "attribute_indices: [3]" optional;
    /// Sample types and the type of the period share one message, and have separate rules.
    OP3117 "index-sample-type-type" ["1-7"] ValueType [type_strindex] "sample_type.type"
        "the type of a sample type is out of range of the strings" "string" example "type: 77" => "type: 1";
    /// Readers lose what the index refers to, or reject the payload.
    OP3118 "index-sample-type-unit" ["1-7"] ValueType [unit_strindex] "sample_type.unit"
        "the unit of a sample type is out of range of the strings" "string" example "unit: 77" => "unit: 2";
    /// Readers lose what the index refers to, or reject the payload.
    OP3119 "index-period-type-type" ["1-7"] "period_type.type"
        "the type of the period is out of range of the strings" "string" example "type: 77" => "type: 1";
    /// Readers lose what the index refers to, or reject the payload.
    OP3120 "index-period-type-unit" ["1-7"] "period_type.unit"
        "the unit of the period is out of range of the strings" "string" example "unit: 77" => "unit: 2";
    /// Comments became the attribute `pprof.profile.comment` in 1.9.
    OP3121 "index-profile-comment-strindices" ["1-5"] Profile [comment_strindices] "Profile.comment_strindices[] (1: comment)"
        "a comment is out of range of the strings" "string" example "comment: [77]" => "comment: [3]";
    /// Readers lose what the index refers to, or reject the payload.
    OP3122 "index-profile-drop-frames-keep-frames" ["1"] Profile [drop_frames keep_frames] "Profile.drop_frames, keep_frames"
        "drop_frames or keep_frames is out of range of the strings" "string"
        example "drop_frames: 77" => "drop_frames: 0";
    /// From 1.6 on the field is an index of `sample_type`, which `OP2017` checks.
    OP3123 "index-profile-default-sample-type" ["1-2"] Profile [default_sample_type_strindex] "Profile.default_sample_type (string index)"
        "the default sample type is out of range of the strings" "string"
        example "default_sample_type: 77" => "default_sample_type: 1";
    /// Reaches into resources and scopes, which refer to the same dictionary as profiles since
    /// 1.10.
    OP3124 "index-keyvalue-key-strindex" ["7"] KeyValue [key_strindex] "KeyValue.key_strindex"
        "the key of an attribute is out of range of the strings" "string"
        example "key_strindex: 99" => "key_strindex: 5";
    /// Also in arrays and lists of pairs, however deep.
    OP3125 "index-anyvalue-string-value-strindex" ["7"] AnyValue [string_value_strindex] "AnyValue.string_value_strindex (any depth)"
        "a string value is out of range of the strings" "string"
        example "string_value_strindex: 99" => "string_value_strindex: 5";
    /// Readers lose what the index refers to, or reject the payload.
    OP3126 "index-attributeunit-attribute-key-unit" ["1-4"] AttributeUnit [] "AttributeUnit.attribute_key, unit"
        "the key or unit of an attribute unit is out of range of the strings" "string"
        example "attribute_key: 99" => "attribute_key: 5";
    /// Two numbers from a stranger: the sum is checked for overflow first, and the slice is never
    /// walked. Its cost is that of two additions, though 50,000 samples may share a slice of
    /// 100,000 rows.
    OP3127 "location-slice" ["1-4"] "Sample.locations_start_index + locations_length"
        "the slice of locations of a sample is out of range" finding "the slice {v} is out of range, expected {b}"
        source "OTEP 0239: a sample \"refers to a slice of locations\"" fix "write a start and a length within location_indices"
        example "locations_start_index: 2^63, locations_length: 2^63" => "locations_start_index: 0, locations_length: 2";
    /// The list that samples have slices of.
    OP3128 "index-profile-location-indices" ["1-4"] Profile [location_indices] "Profile.location_indices[]"
        "a location index of a profile is out of range" "location"
        example "location_indices: [42]" => "location_indices: [1]";
    /// Ids and not rows in pprof, where `PP1004` checks them; rows here.
    OP3129 "index-sample-location-index" ["1"] Sample [location_index] "Sample.location_index[] (deprecated)"
        "a location index of a sample is out of range" "location"
        example "location_index: [42]" => "location_index: [1]";
    /// Readers lose what the index refers to, or reject the payload.
    OP3130 "index-location-type-index" ["1"] Location [type_index] "Location.type_index"
        "the type of a location is out of range of the strings" "string" example "type_index: 42" => "type_index: 1";
    /// `OP4025` checks the text of the string.
    OP3131 "index-sample-stacktrace-id-index" ["1"] Sample [stacktrace_id_index] "Sample.stacktrace_id_index"
        "the stack trace id of a sample is out of range of the strings" "string"
        example "stacktrace_id_index: 42" => "stacktrace_id_index: 1";
    /// Three fields of one deprecated message share this rule.
    OP3132 "index-label-key-str-num-unit" ["1"] Label [] "Label.key, str, num_unit (deprecated)"
        "the key, text or unit of a label is out of range of the strings" "string" example "key: 42" => "key: 1";
}

/// The rule about the references of a field, by its message and key.
///
/// Called once for each field when the layouts of a version are built, never during a walk. A new reference in the
/// schema needs a row above.
pub(crate) fn rule_of(message: &str, key: &str, version: Version) -> &'static Rule {
    if version == Version::Pprof {
        return &PP1010;
    }
    let is_about = |keys: &[&str]| keys.is_empty() || keys.contains(&key);
    let found = FIELDS.iter().find(|(of, keys, _)| *of == message && is_about(keys));
    found.map_or(&OP3132, |(.., rule)| rule)
}

/// The rule of a value type's field inside the type of the period.
///
/// `sample_type` and `period_type` share one message, `ValueType`; only the path shows which of the two is walked.
pub(crate) fn of_period(rule: &'static Rule) -> &'static Rule {
    match [&OP3117, &OP3118].map(|of_sample| rule == of_sample) {
        [true, _] => &OP3119,
        [_, true] => &OP3120,
        _ => rule,
    }
}

/// Checks that the reader rejects, and a rule reports, a dangling reference in every field of every generation.
/// Payloads derive from the schema alone, so a new reference needs no change here.
///
/// ```text
/// ProfilesData ─► … ─► the message of the field, in it the index 9999     every table has one empty row
/// ```
#[cfg(test)]
mod tests {
    use crate::check::{Options, validate};
    use crate::format::{Encoding, Format};
    use crate::reader::{ReadOptions, read};
    use crate::schema::{self, Field, Kind, MessageType, Role, Version};
    use crate::wire::record::field_varint;
    use crate::wire::write::{field_bytes, field_message, varint};

    /// Past every table of the payloads made here.
    const PAST: u64 = 9_999;

    /// A payload that has nothing but the messages that lead to a field, and in it an index; and before
    /// that, where tables have a row that stands for none, this row.
    ///
    /// Wrapped from the inside out. The dictionary comes first, which protobuf allows.
    fn payload(version: Version, path: &[&Field], field: &Field) -> Vec<u8> {
        let mut message = Vec::new();
        match field.is_repeated() {
            true => field_message(&mut message, field.number, |list| varint(list, PAST)),
            false => field_varint(&mut message, field.number, PAST),
        }
        for field in path.iter().rev() {
            let body = std::mem::take(&mut message);
            field_bytes(&mut message, field.number, &body);
        }
        let mut payload = Vec::new();
        if let Some(dictionary) = schema::PROFILES_DATA.field(version, "dictionary") {
            field_message(&mut payload, dictionary.number, |out| {
                empty_rows(out, &schema::PROFILES_DICTIONARY, version);
            });
        }
        empty_rows(&mut payload, &schema::PROFILES_DATA, version);
        payload.extend(message);
        payload
    }

    /// Appends an empty row for each table that a message has.
    ///
    /// Row 0, so that what is left out refers to something and the one index is all that is wrong.
    fn empty_rows(out: &mut Vec<u8>, message: &MessageType, version: Version) {
        let tables = message.fields_in(version).filter(|field| matches!(field.role, Role::Row(_)));
        tables.for_each(|table| field_bytes(out, table.number, &[]));
    }

    /// Every reference of a version, and the fields that lead to it.
    ///
    /// A walk over the messages of the schema, each once, so that recursion (a value in a value) ends.
    /// Value types are entered twice, as that of samples and that of the period have rules of their
    /// own.
    fn references(
        version: Version,
    ) -> Vec<(Vec<&'static Field>, &'static MessageType, &'static Field)> {
        let mut found = Vec::new();
        let mut left: Vec<(Vec<&'static Field>, &'static MessageType)> =
            vec![(Vec::new(), &schema::PROFILES_DATA)];
        let mut seen: Vec<&'static str> = Vec::new();
        while let Some((path, message)) = left.pop() {
            for field in message.fields_in(version) {
                if let Role::Ref(_) = field.role {
                    found.push((path.clone(), message, field));
                }
                if let Kind::Message(inner) = field.kind {
                    // The resource, the scope and the container share the message of their attributes.
                    if seen.contains(&inner.name) && inner.name != "ValueType" {
                        continue;
                    }
                    seen.push(inner.name);
                    let path = path.iter().copied().chain([field]).collect();
                    left.push((path, inner));
                }
            }
        }
        found
    }

    /// Counted at the end, or a walk that finds no reference would pass.
    #[test]
    fn every_reference_past_its_table_is_refused_and_found() {
        let mut count = 0;
        for format in Format::ALL {
            let Encoding::Otlp(version) = format.encoding() else { continue };
            for (path, message, field) in references(version) {
                let what = format!("{format} {}.{}", message.name, field.name);
                let payload = payload(version, &path, field);
                let error =
                    read(&payload, &ReadOptions::default().format(*format)).expect_err(&what);
                let error = error.to_string();
                // Samples with such indices and no values are those of a payload that a relay damaged.
                let is_damaged = field.name == "attribute_indices"
                    && error.contains("attribute indices past the table");
                assert!(
                    is_damaged || error.contains("index 9999 is out of range"),
                    "{what}: {error}"
                );
                let options = Options { format: Some(*format), ..Options::default() };
                let report = validate(&payload, &options);
                let mut found = report.findings().map(|finding| finding.to_string());
                let index = |finding: &String| {
                    let is_index = finding.contains(field.name) && finding.contains("9999");
                    finding.contains(" error ")
                        && (is_index || is_damaged && finding.contains("OP4026"))
                };
                assert!(found.any(|finding| index(&finding)), "{what} is not found: {report:?}");
                count += 1;
            }
        }
        assert!(count > 100, "{count} references");
    }
}
