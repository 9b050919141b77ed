//! OTLP 1.10 and 1.11, the current generation.
//!
//! Every number of the schema is stated here; the files of older generations state what differs.

use crate::format::otlp::schema::{
    Container, Function, Generation, Home, Location, Mapping, Profile, Rows, Sample, Schema, Tables,
};

pub(crate) struct V1_10;

impl Generation for V1_10 {
    const SCHEMA: Schema = Schema {
        name: "otlp-1.10",
        home: Home::Dictionary,
        rows: Rows::NullFirst,
        tables: Tables {
            mapping: 1,
            location: 2,
            function: 3,
            link: 4,
            string: 5,
            attribute: 6,
            attribute_units: 0,
            stack: 7,
        },
        container: Container::NONE,
        profile: Profile {
            sample_type: 1,
            samples: 2,
            location_indices: 0,
            time: 3,
            duration: 4,
            unsigned_time: true,
            period_type: 5,
            period: 6,
            comment: 0,
            default_sample_type: 0,
            default_by_name: false,
            drop_frames: 0,
            keep_frames: 0,
            profile_id: 7,
            attributes: 0,
            dropped_attributes_count: 8,
            original_payload_format: 9,
            original_payload: 10,
            attribute_indices: 11,
        },
        sample: Sample {
            location_index: 0,
            label: 0,
            slice_start: 0,
            slice_length: 0,
            stack: 1,
            attributes: 2,
            link: 3,
            values: 4,
            timestamps: 5,
            fixed_timestamps: true,
            stacktrace_id: 0,
        },
        mapping: Mapping {
            id: 0,
            memory_start: 1,
            memory_limit: 2,
            file_offset: 3,
            filename: 4,
            build_id: 0,
            build_id_kind: 0,
            has_functions: 0,
            attributes: 5,
        },
        location: Location {
            id: 0,
            mapping: 1,
            address: 2,
            lines: 3,
            is_folded: 0,
            frame_type: 0,
            attributes: 4,
        },
        function: Function { id: 0, name: 1, system_name: 2, filename: 3, start_line: 4 },
        key_strindex: 3,
        string_value_strindex: 8,
        entity_refs: 3,
        temporality: 0,
    };
}
