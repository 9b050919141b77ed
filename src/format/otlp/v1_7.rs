//! OTLP 1.7: several sample types a profile, no empty row 0, slices of `location_indices` instead
//! of a stack table, units by key, pprof's flags, signed times.

use crate::format::otlp::schema::{
    Generation, Location, Mapping, Profile, Rows, Sample, Schema, Tables,
};
use crate::format::otlp::v1_8::V1_8;

pub(crate) struct V1_7;

const NEXT: Schema = V1_8::SCHEMA;

impl Generation for V1_7 {
    const SCHEMA: Schema = Schema {
        name: "otlp-1.7",
        rows: Rows::Presence,
        tables: Tables { attribute_units: 7, stack: 0, ..NEXT.tables },
        profile: Profile {
            location_indices: 3,
            time: 4,
            duration: 5,
            unsigned_time: false,
            period_type: 6,
            period: 7,
            comment: 8,
            default_sample_type: 9,
            profile_id: 10,
            dropped_attributes_count: 11,
            original_payload_format: 12,
            original_payload: 13,
            attribute_indices: 14,
            ..NEXT.profile
        },
        sample: Sample {
            slice_start: 1,
            slice_length: 2,
            stack: 0,
            values: 3,
            attributes: 4,
            link: 5,
            timestamps: 6,
            fixed_timestamps: false,
            ..NEXT.sample
        },
        mapping: Mapping { has_functions: 6, ..NEXT.mapping },
        location: Location { is_folded: 4, attributes: 5, ..NEXT.location },
        ..NEXT
    };
}
