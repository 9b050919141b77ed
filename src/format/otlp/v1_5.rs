//! OTLP 1.5: the tables live in every profile; the default sample type goes by name; no entities.

use crate::format::otlp::schema::{Generation, Home, Profile, Schema, Tables};
use crate::format::otlp::v1_6::V1_6;

pub(crate) struct V1_5;

const NEXT: Schema = V1_6::SCHEMA;

impl Generation for V1_5 {
    const SCHEMA: Schema = Schema {
        name: "otlp-1.5",
        home: Home::Profile,
        tables: Tables {
            mapping: 3,
            location: 4,
            function: 6,
            attribute: 7,
            attribute_units: 8,
            link: 9,
            string: 10,
            stack: 0,
        },
        profile: Profile {
            location_indices: 5,
            time: 11,
            duration: 12,
            period_type: 13,
            period: 14,
            comment: 15,
            default_sample_type: 16,
            default_by_name: true,
            profile_id: 17,
            dropped_attributes_count: 19,
            original_payload_format: 20,
            original_payload: 21,
            attribute_indices: 22,
            ..NEXT.profile
        },
        entity_refs: 0,
        ..NEXT
    };
}
