//! Tests for decoders of profiles: valid payloads, mutations of them, a case for each rule, and random profiles.
//!
//! The decoder under test may be of any project and language. Everything is deterministic: equal seeds give equal bytes.
//! [docs/FUZZING.md](https://github.com/otlp-profiles/otlp-profiles/blob/main/docs/FUZZING.md) shows how to fuzz a
//! decoder with cargo-fuzz, and `otlp-profiles corpus` writes the cases as files.
//!
//! | | |
//! |---|---|
//! | a small valid payload of each generation | [`Payload::valid`] |
//! | mutations of files, for a fuzzer or a loop | [`mutate()`], [`mutate_bytes`], [`Payload::mutate`] |
//! | the same contents in another encoding | [`Payload::rearrange`], [`Payload::reorder`] |
//! | a payload with a certain fault | [`Payload::edit`] |
//! | files that break a rule, and near misses | [`cases()`] |
//! | random valid [`Profiles`](crate::Profiles) | [`profiles()`]; features `arbitrary` and `proptest` |
//!
//! ```text
//! file ─► inflate ─► Payload: tree of fields ─► 1 to 4 mutations ─► encode ─► deflate ─► file
//!                        wire: numbers, lengths, packing, groups, nesting
//!                        meaning: references, rows, ids, times, oneofs
//!                        cases: a fault that a rule describes
//! ```

mod cases;
mod edit;
mod file;
mod gzip;
mod meaning;
mod mutate;
mod payload;
mod profiles;
mod random;
mod rearrange;
mod tree;
mod valid;
mod values;
mod wire;

pub use cases::{Case, cases};
pub use file::File;
pub use mutate::{mutate, mutate_bytes};
pub use payload::Payload;
pub use profiles::profiles;
pub use random::Random;
