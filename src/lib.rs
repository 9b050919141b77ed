//! Reads every OTLP profiles payload ever put on the wire, says which one it is, converts it to
//! and from pprof without losing a field, and proves it.
//!
//! OTLP profiles changed incompatibly seven times under two package names, and the bytes of one
//! generation often read as another, with other sums. This crate knows them all, pprof and
//! OTLP/JSON; it tells them apart by their bytes, and it reports whatever a format cannot say.
//!
//! ```
//! use otlp_profiles::{Format, ReadOptions, WriteOptions, read, write};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // Any generation, pprof or JSON, gzip or not.
//!     let bytes = std::fs::read("testdata/go-cpu-labels.pb.gz")?;
//!     let reading = read(&bytes, &ReadOptions::default())?;
//!     println!("{} ({})", reading.detected.format, reading.detected.certainty);
//!
//!     // The profiles it holds.
//!     for profile in reading.profiles.iter() {
//!         println!("{} samples", profile.samples().len());
//!     }
//!
//!     // The same as the current generation of OTLP, and what that cannot say.
//!     let written = write(&reading.profiles, Format::OTLP, &WriteOptions::default())?;
//!     for loss in written.losses.iter() {
//!         eprintln!("{loss}");
//!     }
//!     std::fs::write(std::env::temp_dir().join("cpu.otlp"), written.payload)?;
//!     Ok(())
//! }
//! ```
//!
//! # Where things are
//!
//! | to | look at |
//! |---|---|
//! | read a payload, a file, a stream of many messages | [`read()`], [`Reader`], [`ReadOptions`] |
//! | find out what some bytes are | [`detect()`], [`Detected`], [`Certainty`] |
//! | know what a payload holds, without reading all of it | [`Summary`] |
//! | know where the bytes of a payload go | [`summary::Sizes`] |
//! | look at profiles: samples, stacks, values, attributes | [`Profiles`], [`model`] |
//! | write a format | [`write()`], [`write_to()`], [`Format`], [`WriteOptions`] |
//! | check a payload against the rules of its generation | [`check::validate()`], [`check::Rule`] |
//! | know what a conversion lost | [`Losses`], [`losses::LossCode`] |
//! | write a profiler | [`Builder`], [the guide for profiler authors](guide::profiler_authors) |
//! | write a server | [the guide for backend authors](guide::backend_authors) |
//! | bound what an input may cost | [`Limits`] |
//! | take gzip and frames apart | [`stream`], [`framing`], [`compression`] |
//! | use prost's types | `proto` (feature `proto`) |
//!
//! # What holds
//!
//! * Bad input is an [`Error`] with its place, never a panic; limits are checked before memory is
//!   taken. [`Policy::Repair`] reads what can be read without what is broken, and says so.
//! * What is read is in order: every id of a [`Profiles`] is in range and row 0 of every table is
//!   the empty row, so nothing that looks at it can fail.
//! * What a format cannot say is in [`Losses`]; nothing is dropped, guessed or altered without a
//!   code. A payload that two generations read differently is an error unless a guess is asked for.
//! * The same input gives the same bytes.
//!
//! # Features
//!
//! None is on by default; without any the crate takes about a dozen others, and no C.
//!
//! | feature | |
//! |---|---|
//! | `proto` | the [`prost`](https://docs.rs/prost) types of the newest generation and of pprof; they are generated when the crate is built, by some 40 crates that nothing else needs |
//! | `proto-all` | those of every older generation too |
//! | `pprof` | `Builder::report`: profiles from the reports of the crate [`pprof`](https://docs.rs/pprof) |
//! | `build-id` | `build::htlhash`: the build id of a binary that has no other |
//! | `firefox` | the Firefox Profiler's files are written, with the crate [`fxprof-processed-profile`](https://docs.rs/fxprof-processed-profile) |
//! | `osprofiler-headers` | `format::OsProfilerHeaders`: links of the headers that OSProfiler signs |
//! | `zstd` | zstd is read wherever gzip is, and `compression::zstd` writes it; the one feature that needs a C compiler |
//! | `cli` | the command `otlp-profiles` |

#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod build;
pub mod check;
pub mod compression;
mod error;
pub mod format;
pub mod framing;
mod limits;
pub mod model;
#[cfg(feature = "proto")]
pub mod proto;
mod reader;
pub mod response;
mod schema;
pub mod semconv;
pub mod stream;
pub mod summary;
mod wire;
mod writer;

/// Which format some bytes are: the answer of [`detect()`](crate::detect()), and how sure it is.
///
/// ```
/// use otlp_profiles::{Format, ReadOptions, detect, detect::Certainty};
///
/// let payload = std::fs::read("testdata/ambiguous-1.10-or-1.9.otlp").unwrap();
/// let detected = detect(&payload, &ReadOptions::default())?;
/// assert!(matches!(detected.certainty, Certainty::Preferred(_) | Certainty::Ambiguous(_)));
/// assert_eq!(detected.format, Format::OTLP_1_10);
/// assert!(detected.certainty.others().contains(&Format::OTLP_1_9));
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub mod detect {
    pub use crate::format::detect::{Certainty, Detected, Endpoint};
}

/// What a conversion could not say, or had to decide.
///
/// ```
/// use otlp_profiles::losses::{LossCode, LossKind};
///
/// let dropped = LossCode::ALL.iter().filter(|code| code.kind() == LossKind::Dropped);
/// assert!(dropped.clone().any(|code| code.as_str() == "link.dropped"));
/// ```
pub mod losses {
    pub use crate::format::losses::{Loss, LossCode, LossKind, Losses, Verdict};
}

pub use build::Builder;
pub use error::{Error, ErrorKind, ReadFinding, Result, Severity};
pub use format::Format;
pub use format::detect::{Certainty, Detected};
pub use format::intake::Policy;
pub use format::losses::{Losses, Verdict};
pub use format::options::WriteOptions;
pub use limits::Limits;
pub use model::Profiles;
pub use model::dictionary::Dictionary;
pub use model::profile::Profile;
pub use reader::{Ambiguity, ReadOptions, Reader, Reading, detect, read, read_text};
pub use summary::Summary;
pub use writer::{Written, write, write_all, write_into, write_to};

/// Guides to what people build on this crate.
pub mod guide {
    #[doc = include_str!("../docs/PROFILER_AUTHORS.md")]
    pub mod profiler_authors {}

    #[doc = include_str!("../docs/BACKEND_AUTHORS.md")]
    pub mod backend_authors {}

    #[doc = include_str!("../docs/VALIDATE_IN_CI.md")]
    pub mod validate_in_ci {}
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
