//! OTLP 1.8: comments and aggregation temporality, and the profile's later fields one further.

use crate::format::otlp::schema::{Generation, Profile, Schema};
use crate::format::otlp::v1_9::V1_9;

pub(crate) struct V1_8;

const NEXT: Schema = V1_9::SCHEMA;

impl Generation for V1_8 {
    const SCHEMA: Schema = Schema {
        name: "otlp-1.8",
        profile: Profile {
            comment: 7,
            profile_id: 8,
            dropped_attributes_count: 9,
            original_payload_format: 10,
            original_payload: 11,
            attribute_indices: 12,
            ..NEXT.profile
        },
        temporality: 3,
        ..NEXT
    };
}
