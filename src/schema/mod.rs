//! The schemas of pprof and OTLP profiles as data. Every message and field of every generation is declared once.
//!
//! All code that depends on field numbers, names and types derives them from these tables: readers and writers look
//! up the numbers at compile time, OTLP/JSON uses the names, and detection uses the tables as grammars of the
//! generations. A test compares the tables with `proto/`.
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
//! | `events` | messages that only the proposal of timestamped events has |
//! | `collector` | export requests (for the test only) and their responses |
//!
//! `field` defines the types of these tables, and `message_kind` the kinds of messages. `version` lists the versions,
//! `capabilities` what each can represent, and `generation` declares a type for each.
//!
//! Sources: `proto/`, one folder for each generation, as
//! [opentelemetry-proto](https://github.com/open-telemetry/opentelemetry-proto) released them.

mod capabilities;
mod collector;
mod common;
mod events;
mod field;
mod generation;
mod message_kind;
mod profiles;
mod version;

pub(crate) use capabilities::*;
pub(crate) use collector::*;
pub(crate) use common::*;
pub(crate) use events::*;
pub(crate) use field::*;
pub(crate) use generation::*;
pub(crate) use message_kind::*;
pub(crate) use profiles::*;
pub(crate) use version::*;

#[cfg(all(test, feature = "proto-all"))]
mod tests;
