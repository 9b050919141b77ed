//! Splitting: one payload becomes several.
//!
//! ```text
//! split      groups profiles or samples by a property ─► a part for each value
//! split_max  takes samples in order while they fit    ─► parts of at most so many bytes
//! ```
//!
//! Each part has its own dictionary. Merging the parts gives the whole.

mod by;
mod piece;
mod size;

pub use by::{Part, SplitBy, split};
pub(super) use piece::blocks;
pub use size::{MaxBytes, split_max};
