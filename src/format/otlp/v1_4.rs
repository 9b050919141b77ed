//! OTLP 1.4: a profile's attributes in place.

use crate::format::otlp::schema::{Generation, Profile, Schema};
use crate::format::otlp::v1_5::V1_5;

pub(crate) struct V1_4;

const NEXT: Schema = V1_5::SCHEMA;

impl Generation for V1_4 {
    const SCHEMA: Schema = Schema {
        name: "otlp-1.4",
        profile: Profile { attributes: 18, attribute_indices: 0, ..NEXT.profile },
        ..NEXT
    };
}
