//! OTLP 1.6: the tables live in `ProfilesData` itself. An export request has no place for them, so
//! this generation is one of files only.

use crate::format::otlp::schema::{Generation, Home, Schema, Tables};
use crate::format::otlp::v1_7::V1_7;

pub(crate) struct V1_6;

const NEXT: Schema = V1_7::SCHEMA;

impl Generation for V1_6 {
    const SCHEMA: Schema = Schema {
        name: "otlp-1.6",
        home: Home::Data,
        tables: Tables {
            mapping: 2,
            location: 3,
            function: 4,
            link: 5,
            string: 6,
            attribute: 7,
            attribute_units: 8,
            stack: 0,
        },
        ..NEXT
    };
}
