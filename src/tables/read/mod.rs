//! Reads rows into columns: strings become ids at once, references stay indices as encoded.
//!
//! One file for each table or column type, and one for the messages that all OTLP signals share.

pub(crate) mod common;
pub(crate) mod dedup_rows;
pub(crate) mod id_column;
pub(crate) mod locations;
pub(crate) mod oneof;
pub(crate) mod references;
pub(crate) mod rows;
pub(crate) mod stacks;
pub(crate) mod string_interner;
pub(crate) mod tables;
