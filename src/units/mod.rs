//! Units of values: what they measure, how they convert, and values as text.
//!
//! Profiles contain words of pprof (`nanoseconds`, `kB`), units of UCUM (`ns`, `KiBy`) and annotations (`{sample}`).
//! [`Unit::of`] recognises all of them. A name such as `kB` is 1024 bytes, as in pprof; UCUM's `kBy` is 1000 bytes and
//! its `KiBy` 1024. Reports print bytes as pprof does, in steps of 1024: `B`, `kB`, `MB`.

mod print;
mod table;
pub(crate) mod ucum;

pub use print::grouped;
pub(crate) use print::{AUTO, label, percentage, scale};
pub use table::{Dimension, Unit};
pub(crate) use table::{conversion, is_ambiguous, is_plural_word, is_same, of_key};
