//! OTEP 0239, released as OTLP 1.3 (v1experimental): a container around pprof's own message with
//! tables, slices, attributes and links added.

use crate::format::otlp::schema::{
    Container, Function, Generation, Location, Mapping, Profile, Rows, Sample, Schema, Tables,
};
use crate::format::otlp::v1_4::V1_4;

pub(crate) struct V1_3;

const NEXT: Schema = V1_4::SCHEMA;

impl Generation for V1_3 {
    const SCHEMA: Schema = Schema {
        name: "otlp-1.3",
        rows: Rows::FromZero,
        tables: Tables {
            mapping: 3,
            location: 4,
            function: 5,
            string: 6,
            attribute: 16,
            attribute_units: 17,
            link: 18,
            stack: 0,
        },
        container: Container {
            profile_id: 1,
            start: 2,
            end: 3,
            attributes: 4,
            dropped_attributes_count: 5,
            original_payload_format: 6,
            original_payload: 7,
            profile: 8,
        },
        profile: Profile {
            location_indices: 15,
            time: 9,
            duration: 10,
            period_type: 11,
            period: 12,
            comment: 13,
            default_sample_type: 14,
            drop_frames: 7,
            keep_frames: 8,
            profile_id: 0,
            attributes: 0,
            dropped_attributes_count: 0,
            original_payload_format: 0,
            original_payload: 0,
            ..NEXT.profile
        },
        sample: Sample {
            location_index: 1,
            values: 2,
            label: 3,
            slice_start: 7,
            slice_length: 8,
            stacktrace_id: 9,
            attributes: 10,
            link: 12,
            timestamps: 13,
            ..NEXT.sample
        },
        mapping: Mapping {
            id: 1,
            memory_start: 2,
            memory_limit: 3,
            file_offset: 4,
            filename: 5,
            build_id: 6,
            has_functions: 7,
            build_id_kind: 11,
            attributes: 12,
        },
        location: Location {
            id: 1,
            mapping: 2,
            address: 3,
            lines: 4,
            is_folded: 5,
            frame_type: 6,
            attributes: 7,
        },
        function: Function { id: 1, name: 2, system_name: 3, filename: 4, start_line: 5 },
        ..NEXT
    };
}
