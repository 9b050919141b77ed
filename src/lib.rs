//! Reads every OTLP profiles payload ever put on the wire, says which one it is, converts it to
//! and from pprof without losing a field, and proves it.

#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod build;
pub mod compression;
mod convert;
mod error;
pub mod format;
pub mod framing;
mod limits;
pub mod model;
#[cfg(feature = "proto")]
pub mod proto;
mod schema;
pub mod semconv;
pub mod stream;
mod wire;

/// Which format some bytes are: the answer of [`detect()`](crate::detect()), and how sure it is.
pub mod detect {
    pub use crate::format::detect::{Certainty, Detected, Endpoint};
}

/// What a conversion could not say, or had to decide.
pub mod losses {
    pub use crate::format::losses::{Loss, LossCode, LossKind, Losses, Verdict};
}

pub use build::Builder;
pub use convert::{
    Ambiguity, ReadOptions, Reader, Reading, Written, detect, read, write, write_all, write_into,
    write_to,
};
pub use error::{Error, ErrorKind, Finding, Result, Severity};
pub use format::Format;
pub use format::detect::{Certainty, Detected};
pub use format::intake::Policy;
pub use format::losses::{Losses, Verdict};
pub use format::options::WriteOptions;
pub use limits::Limits;
pub use model::Profiles;
pub use model::dictionary::Dictionary;
pub use model::profile::Profile;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../docs/PROFILER_AUTHORS.md")]
struct ProfilerAuthors;
