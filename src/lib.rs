//! Reads every released generation of OTLP profiles, identifies it, converts it to and from pprof, and validates it. A
//! pprof converted to OTLP and back keeps every field.
//!
//! OTLP profiles changed incompatibly seven times under two package names. The bytes of one generation
//! often parse as another, with different sums. This crate reads every generation, pprof and OTLP/JSON. It
//! identifies the format from the bytes and reports everything that a target format cannot represent.
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
//!     // Iterate over the profiles in the payload.
//!     for profile in reading.profiles.iter() {
//!         println!("{} samples", profile.samples().len());
//!     }
//!
//!     // Convert to the current generation of OTLP and print what it cannot represent.
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
//! | read a payload, a file, or a stream of many messages | [`read()`], [`Reader`], [`ReadOptions`] |
//! | detect the format of some bytes | [`detect()`], [`Detected`], [`Certainty`] |
//! | summarise a payload without reading all of it | [`Summary`] |
//! | measure which parts of a payload use the bytes | [`summary::Sizes`] |
//! | inspect profiles: samples, stacks, values, attributes | [`Profiles`], [`model`] |
//! | show where time or memory is spent, filter stacks | [`look`] |
//! | write a format | [`write()`], [`write_to()`], [`Format`], [`WriteOptions`] |
//! | arrange profiles as tables, write Parquet and Arrow files | `columns` (features `columns`, `parquet`, `arrow`) |
//! | merge, split, compare, filter or redact profiles, or chain such steps | [`transform`] |
//! | check a payload against the rules of its generation | [`check::validate()`], [`check::Rule`] |
//! | find out what a unit measures and how it converts | [`units`] |
//! | list what a conversion lost | [`Losses`], [`losses::LossCode`] |
//! | write a profiler | [`Builder`], [the guide for profiler authors](guide::profiler_authors) |
//! | write a server | [the guide for backend authors](guide::backend_authors) |
//! | encode or decode the response of a receiver | [`response`] |
//! | limit the size and cost of input | [`Limits`] |
//! | handle gzip and framing yourself | [`stream`], [`framing`], [`compression`] |
//! | fuzz a decoder of profiles | `fuzzing` (feature `fuzzing`) |
//! | use prost's types | `proto` (feature `proto`) |
//!
//! # Guarantees
//!
//! * Bad input returns an [`Error`] with its place and never panics. Limits are checked before memory is
//!   allocated. [`Policy::Repair`] skips or corrects the broken parts and reports each repair.
//! * A [`Profiles`] is always consistent: every id is in range and row 0 of every table is the empty row.
//!   Accessors cannot fail.
//! * [`Losses`] lists everything that a format cannot represent. Nothing is dropped, guessed or changed
//!   without a code. A payload that two generations read differently is an error unless the caller asks for a guess.
//! * The same input gives the same bytes.
//!
//! # Features
//!
//! `check`, `formats`, `simd`, `summary` and `transform` are on by default; `simd` adds a crate, `fearless_simd` on
//! x86-64, the others add code only. The crate has about a dozen dependencies and needs no C compiler. A profiler can disable the default features:
//! `default-features = false` leaves the builder and the codecs of OTLP, OTLP/JSON and pprof.
//!
//! | feature | |
//! |---|---|
//! | `check` | the module `check`: rules, reports and fixes |
//! | `formats` | formats of other tools: folded stacks, speedscope, `perf script`, pprof's legacy formats, OSProfiler |
//! | `simd` | vector instructions for packed indices on x86-64, with the crate [`fearless_simd`](https://docs.rs/fearless_simd) |
//! | `summary` | `Summary` and `summary::Sizes` |
//! | `transform` | the modules `transform` and `look`: merging, splitting, comparing, filtering and redacting; reports |
//! | `fuzzing` | the module `fuzzing`: mutations and cases for tests of decoders |
//! | `arbitrary`, `proptest` | random `Profiles` for the crates of these names |
//! | `proto` | [`prost`](https://docs.rs/prost) types of the newest generation and of pprof, generated at build time with some 40 additional crates |
//! | `proto-all` | prost types of every older generation as well |
//! | `columns` | the module `columns`: profiles as tables, in memory |
//! | `parquet` | `columns` in Parquet files, with the crate [`parquet`](https://docs.rs/parquet) and some 20 others |
//! | `pprof` | `Builder::report`: profiles from the reports of the crate [`pprof`](https://docs.rs/pprof) |
//! | `build-id` | `builder::htlhash`: a build id for binaries that lack one |
//! | `firefox` | writes Firefox Profiler files, with the crate [`fxprof-processed-profile`](https://docs.rs/fxprof-processed-profile) |
//! | `osprofiler-headers` | `format::OsProfilerHeaders`: links from the headers that OSProfiler signs |
//! | `serde` | [`Serialize`](https://docs.rs/serde) for [`Detected`], [`Losses`], `Summary`, `summary::Sizes`, `check::Report`, the reports of `look`, `transform::{Diff, GateReport, Merged}` and their parts, with the keys of the command's JSON |
//! | `zstd` | `compression::zstd` writes zstd, which every build reads; the only feature that needs a C compiler |

#![forbid(unsafe_code)]
#![deny(missing_docs)]
// Code that only a disabled part uses is dead then. The build with all features finds code that nothing uses.
#![cfg_attr(
    not(all(feature = "check", feature = "formats", feature = "summary", feature = "transform")),
    allow(dead_code, unused_imports)
)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod builder;
mod calendar;
#[cfg(feature = "check")]
pub mod check;
#[cfg(feature = "columns")]
pub mod columns;
pub mod compression;
mod error;
pub mod escape;
pub mod format;
pub mod framing;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod limits;
#[cfg(feature = "transform")]
pub mod look;
pub mod losses;
pub mod model;
mod output_limit;
#[cfg(feature = "proto")]
pub mod proto;
mod read_context;
mod reader;
pub mod response;
mod schema;
pub mod semconv;
#[cfg(all(feature = "serde", feature = "transform"))]
mod serialize;
mod source_options;
pub mod stream;
#[cfg(feature = "summary")]
pub mod summary;
mod tables;
#[cfg(feature = "transform")]
pub mod transform;
pub mod units;
mod wire;
mod write_options;
mod writer;

/// The answer of [`detect()`](crate::detect()): the format of a payload and how certain that is.
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

pub use builder::Builder;
pub use error::{Error, ErrorKind, ReadFinding, Result, Severity};
pub use format::Format;
pub use format::detect::{Certainty, Detected};
pub use limits::Limits;
pub use losses::{Losses, Verdict};
pub use model::Profiles;
pub use model::dictionary::Dictionary;
pub use model::profile::Profile;
pub use output_limit::OutputLimit;
pub use read_context::Policy;
pub use reader::{Ambiguity, ReadOptions, Reader, Reading, detect, read, read_text};
#[cfg(feature = "summary")]
pub use summary::Summary;
pub use write_options::WriteOptions;
pub use writer::{Written, write, write_all, write_into, write_to};

/// Guides for authors of profilers, backends and CI pipelines.
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

#[cfg(doctest)]
#[doc = include_str!("../docs/start/backend-author.md")]
#[doc = include_str!("../docs/start/profiler-author.md")]
struct Start;
