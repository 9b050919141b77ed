//! Turns raw columns into a valid dictionary: gives each table its row 0, resolves ids, validates every reference.
//!
//! Each file is one step over complete tables.
//!
//! ```text
//! payload   [r0 r1 r2]    indices 0 1 2    5 of 3 rows
//! model     [r0 r1 r2]    rows    0 1 2    an error, or 0      the payload begins with the empty row
//!        [0  r0 r1 r2]    rows    1 2 3                        otherwise
//! ```

pub(crate) mod finish;
pub(crate) mod normalize;
pub(crate) mod null_row;
pub(crate) mod otep_ids;
pub(crate) mod targets;
pub(crate) mod time_unit;
pub(crate) mod validate;
pub(crate) mod value_counts;
pub(crate) mod value_types;
