//! OTLP 1.9: other numbers in samples, and no references to the dictionary's strings from
//! resources, scopes and values.

use crate::format::otlp::schema::{Generation, Sample, Schema};
use crate::format::otlp::v1_10::V1_10;

pub(crate) struct V1_9;

const NEXT: Schema = V1_10::SCHEMA;

impl Generation for V1_9 {
    const SCHEMA: Schema = Schema {
        name: "otlp-1.9",
        sample: Sample { values: 2, attributes: 3, link: 4, ..NEXT.sample },
        key_strindex: 0,
        string_value_strindex: 0,
        ..NEXT
    };
}
