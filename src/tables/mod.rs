//! Rows of tables, between the fields of protobuf messages and the columns of the model.
//!
//! Every protobuf format reads and writes through this module; a format adds only the messages around the tables.
//! The builder and the transforms use `rows`.
//!
//! ```text
//! fields ─► read ─► resolve, attributes ─► Dictionary ─► profile, layout, attributes ─► write ─► fields
//! ```

pub(crate) mod attributes;
pub(crate) mod fields;
pub(crate) mod layout;
pub(crate) mod profile;
pub(crate) mod read;
pub(crate) mod resolve;
pub(crate) mod rows;
pub(crate) mod write;
