//! Converts fields that the current data model lacks to attributes with standard names, and back.
//!
//! Also defines the names, and reads and writes build ids, frame types, units and labels of pprof.

pub(crate) mod attributes_to_fields;
pub(crate) mod build_id;
pub(crate) mod fields_to_attributes;
pub(crate) mod frame_types;
pub(crate) mod labels;
pub(crate) mod semantic_attributes;
pub(crate) mod units;
