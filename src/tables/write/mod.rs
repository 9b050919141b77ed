//! Writes the tables of a dictionary: selects rows, numbers them, and writes each row as its message.
//!
//! Also splits profiles into the parts that a generation can represent, and counts what it cannot.

pub(crate) mod attributes;
pub(crate) mod common;
pub(crate) mod parts;
pub(crate) mod refs;
pub(crate) mod rows;
pub(crate) mod select;
pub(crate) mod sizes;
pub(crate) mod strings;
pub(crate) mod tables;
pub(crate) mod unsupported;
