//! The field numbers of each message, a struct a message: what [`Schema`](super::schema::Schema) is made of.
//!
//! Code asks by a short name, `schema.line.function`, and the compiler finds the number by the field's key in
//! [`crate::schema`]. A number is 0 where the version has no such field, and a key that no version has does not
//! compile.
//!
//! ```text
//! numbers! { Line of LINE { function = "function_index", line, column, } }
//! ─► struct Line { function: u32, line: u32, column: u32 }
//!    Line::of(V1_10) == Line { function: 1, line: 2, column: 3 }       while the crate is compiled
//! ```
//!
//! A field is here only if a writer or a kernel of a reader asks for its number; whatever goes
//! through the `fields!` macro asks the schema itself.

use crate::schema::{self, Version};

/// Field numbers of a message: a struct with one for each field that code asks for, by its key in
/// the schema where the code has a shorter name for it.
///
/// Each struct has one function, `of`, which is `const`: a
/// [`Generation`](super::schema::Generation)'s numbers are constants, and comparisons with them
/// fold away.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident of $message:ident {
        $($field:ident $(= $key:literal)?,)*
    })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            $(pub $field: u32,)*
        }

        impl $name {
            pub(super) const fn of(version: Version) -> Self {
                let message = &schema::$message;
                Self { $($field: message.number(version, numbers!(@key $field $($key)?)),)* }
            }
        }
    )*};
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
}

numbers! {
    /// `ProfileContainer`: only OTEP 0239 has it.
    ///
    /// It holds the times, the id and the attributes that later generations say in the profile
    /// itself.
    Container of PROFILE_CONTAINER {
        profile_id,
        start = "start_time_unix_nano",
        end = "end_time_unix_nano",
        attributes,
        dropped_attributes_count,
        original_payload_format,
        original_payload,
        profile,
    }
    /// `Profile`, and pprof's message of that name: one row a meaning, whatever it is called in
    /// which version. `default_by_name` and `default_by_column` are one concept that changed its
    /// type in 1.6.
    Profile of PROFILE {
        sample_type,
        samples = "samples",
        location_indices,
        time = "time_unix_nano",
        duration = "duration_nano",
        period_type,
        period,
        comment = "comment_strindices",
        default_by_name = "default_sample_type_strindex",
        default_by_column = "default_sample_type_index",
        drop_frames,
        keep_frames,
        doc_url,
        profile_id,
        attributes,
        dropped_attributes_count,
        original_payload_format,
        original_payload,
        attribute_indices,
    }
    /// A sample finds its stack in one of three ways, of which a version has one or two: `stack`
    /// (since 1.8), `slice_start` and `slice_length` (1.3 to 1.7), or its own list `location_index`
    /// (pprof, 1.3).
    Sample of SAMPLE {
        location_index = "location_index",
        label,
        slice_start = "locations_start_index",
        slice_length = "locations_length",
        stack = "stack_index",
        values = "values",
        attributes = "attribute_indices",
        link = "link_index",
        timestamps = "timestamps_unix_nano",
        stacktrace_id = "stacktrace_id_index",
    }
    /// `has_functions` is the first of four flags whose numbers follow each other in every version
    /// that has them; code adds 0 to 3 to it.
    Mapping of MAPPING {
        id,
        memory_start,
        memory_limit,
        file_offset,
        filename = "filename_strindex",
        build_id,
        build_id_kind,
        has_functions,
        attributes = "attribute_indices",
    }
    /// `id` only in pprof and 1.3; `frame_type` only in 1.3, where the proto calls it `type_index`.
    Location of LOCATION {
        id,
        mapping = "mapping_index",
        address,
        lines = "lines",
        is_folded,
        frame_type = "type_index",
        attributes = "attribute_indices",
    }
    /// The same four fields in every version; only 1.3 and pprof have an `id` before them.
    Function of FUNCTION {
        id,
        name = "name_strindex",
        system_name = "system_name_strindex",
        filename = "filename_strindex",
        start_line,
    }
    /// The same three numbers in every version, pprof's among them.
    Line of LINE {
        function = "function_index",
        line,
        column,
    }
    /// Both ids are bytes; the same numbers in every generation.
    Link of LINK {
        trace_id,
        span_id,
    }
    /// Since 1.8.
    Stack of STACK {
        locations = "location_indices",
    }
    /// pprof and 1.3.
    Label of LABEL {
        key = "key_strindex",
        text = "str_strindex",
        number = "num",
        unit = "num_unit_strindex",
    }
    /// `temporality` up to 1.8.
    ValueType of VALUE_TYPE {
        name = "type_strindex",
        unit = "unit_strindex",
        temporality = "aggregation_temporality",
    }
    /// `dictionary` since 1.7.
    Data of PROFILES_DATA {
        resources = "resource_profiles",
        dictionary,
    }
    /// `resource_profiles` of a payload.
    ResourceProfiles of RESOURCE_PROFILES {
        resource,
        scopes = "scope_profiles",
        schema_url,
    }
    /// `profiles` are containers in 1.3.
    ScopeProfiles of SCOPE_PROFILES {
        scope,
        profiles,
        schema_url,
    }
    /// `entity_refs` since 1.6.
    Resource of RESOURCE {
        attributes,
        dropped_attributes_count,
        entity_refs,
    }
    /// All texts in place, in every generation that has it.
    EntityRef of ENTITY_REF {
        schema_url,
        entity_type = "type",
        id_keys,
        description_keys,
    }
    /// `InstrumentationScope`, shared with traces, metrics and logs.
    Scope of INSTRUMENTATION_SCOPE {
        name,
        version,
        attributes,
        dropped_attributes_count,
    }
    /// `key_strindex` since 1.10: the key by reference into the string table.
    KeyValue of KEY_VALUE {
        key,
        value,
        key_strindex,
    }
    /// Rows of the attribute table since 1.8.
    KeyValueAndUnit of KEY_VALUE_AND_UNIT {
        key = "key_strindex",
        value,
        unit = "unit_strindex",
    }
    /// Up to 1.7.
    AttributeUnit of ATTRIBUTE_UNIT {
        key = "attribute_key_strindex",
        unit = "unit_strindex",
    }
    /// `string_strindex` since 1.10.
    AnyValue of ANY_VALUE {
        string = "string_value",
        bool = "bool_value",
        int = "int_value",
        double = "double_value",
        array = "array_value",
        pairs = "kvlist_value",
        bytes = "bytes_value",
        string_strindex = "string_value_strindex",
    }
    /// Elements are values, which may be lists again.
    ArrayValue of ARRAY_VALUE {
        values,
    }
    /// Elements are pairs.
    KeyValueList of KEY_VALUE_LIST {
        values,
    }
}

impl Profile {
    /// The default sample type, by name or by the number of its column.
    ///
    /// 0 since 1.8, where a profile has one sample type.
    pub(crate) const fn default_sample_type(&self) -> u32 {
        if self.default_by_name != 0 { self.default_by_name } else { self.default_by_column }
    }
}
