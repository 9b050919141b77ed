//! The schemas of pprof and of OTLP profiles, as data: every message and field of every generation,
//! stated once.
//!
//! All that depends on field numbers, names and kinds is derived from these tables: the numbers in
//! the readers and writers (looked up at compile time), the names of OTLP/JSON, and the grammars
//! that detection tells generations apart by. A test holds the tables against `proto/`.
//!
//! ```text
//! SAMPLE = "Sample"
//!   since   until   number  name           type           role
//!   V1_8    V1_9    2       "values"       many Int64     Values
//!   V1_10   NOW     4       "values"       many Int64     Values
//! ```
//!
//! | file | packages |
//! |---|---|
//! | `profiles` | profiles, and pprof's `perftools.profiles` |
//! | `common` | common and resource |
//! | `events` | the proposal of timestamped events |
//! | `collector` | what exporters send, for the test alone, and what receivers answer |
//!
//! `field` and `noun` say what such tables are made of, and what messages are for; `version` which versions there are,
//! `capabilities` what each can represent, and `generation` makes a type of each.
//!
//! Sources: `proto/`, one folder for each generation, as
//! [opentelemetry-proto](https://github.com/open-telemetry/opentelemetry-proto) released them.

mod capabilities;
mod collector;
mod common;
mod events;
mod field;
mod generation;
mod noun;
mod profiles;
mod version;

pub(crate) use capabilities::*;
pub(crate) use collector::*;
pub(crate) use common::*;
pub(crate) use events::*;
pub(crate) use field::*;
pub(crate) use generation::*;
pub(crate) use noun::*;
pub(crate) use profiles::*;
pub(crate) use version::*;

#[cfg(all(test, feature = "proto-all"))]
mod tests;
