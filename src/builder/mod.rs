//! Builds profiles from the data of a running profiler.
//!
//! [`Builder`] produces [`Profiles`](crate::Profiles). A profiler that knows function names pushes frames. A profiler
//! that knows only addresses pushes each address with its mapping, and a backend that has the binary
//! adds the names:
//!
//! ```
//! use otlp_profiles::builder::{NewMapping, leaf_first};
//! use otlp_profiles::{Builder, WriteOptions, Format, semconv, write};
//! use std::time::{Duration, SystemTime};
//!
//! let mut builder = Builder::new();
//! builder.resource().attr("service.name", "checkout").attr("process.pid", std::process::id());
//! builder.scope("my-profiler").version("1.0.0");
//! let cpu = builder.profile("cpu", "nanoseconds");
//! builder
//!     .profile_mut(cpu)
//!     .time(SystemTime::now())
//!     .duration(Duration::from_secs(60))
//!     .period("cpu", "nanoseconds", 10_000_000);
//!
//! let build_id = builder.attribute(semconv::BUILD_ID_GNU, "c89b11207f6479603b0d49bf291c092c2b719293");
//! let server = NewMapping::new("/usr/bin/server").memory(0x40_0000, 0x80_0000);
//! let server = builder.mapping(server.attributes(&[build_id]));
//!
//! // An unwinder returns the leaf and then return addresses; subtract 1 so that each lies within its call.
//! let stack = [0x40_1234, 0x40_5678 - 1].map(|address| builder.address(server, address));
//! builder.sample(cpu, leaf_first(stack)).value(10_000_000).attr("thread.name", "worker-1");
//!
//! let written = write(&builder.finish()?, Format::OTLP, &WriteOptions::default())?;
//! assert!(written.losses.is_empty());
//! # Ok::<(), otlp_profiles::Error>(())
//! ```
//!
//! | | |
//! |---|---|
//! | the profiled process, the profiler, and the measured types | [`resource`](Builder::resource), [`scope`](Builder::scope), [`profile`](Builder::profile), [`profile_mut`](Builder::profile_mut) |
//! | samples | [`sample`](Builder::sample) of a stack, [`root_first`] or [`leaf_first`] |
//! | dictionary rows | [`frame`](Builder::frame), [`address`](Builder::address), [`location`](Builder::location), [`function`](Builder::function), [`mapping`](Builder::mapping), [`stack`](Builder::stack), [`attribute`](Builder::attribute), [`link`](Builder::link), [`string`](Builder::string) |
//! | addresses of a process | [`ProcessMappings`] |
//! | sampled heap profiles | [`Upscaling`] |
//! | finishing a payload or an interval | [`finish`](Builder::finish), [`finish_interval`](Builder::finish_interval) |
//! | merging builders and profiles read earlier | [`merge`](Builder::merge), [`add`](Builder::add) |

mod add;
mod build_id;
#[expect(clippy::module_inception)]
mod builder;
mod cache;
mod frames;
mod interval;
mod join;
mod key;
mod number;
mod parts;
mod pending;
mod process;
mod profile;
#[cfg(feature = "pprof")]
mod report;
mod resource;
mod sample;
mod stack;
mod tables;
mod tree;
mod unique_keys;
mod upscaling;
mod value;

#[cfg(feature = "build-id")]
pub use crate::builder::build_id::htlhash;
pub use crate::builder::builder::{Builder, Dropped, WhenFull};
pub use crate::builder::interval::Interval;
pub use crate::builder::key::Key;
pub use crate::builder::number::{Nanos, SampleValue};
pub use crate::builder::parts::{Frame, NewEntity, NewFunction, NewLine, NewLocation, NewMapping};
pub use crate::builder::process::{ProcessMapping, ProcessMappings};
pub use crate::builder::profile::ProfileMut;
pub use crate::builder::resource::{ResourceMut, ResourceOrScope, ScopeMut};
pub use crate::builder::sample::NewSample;
pub use crate::builder::stack::{IntoFrame, IntoStack, OrderedFrames, leaf_first, root_first};
pub use crate::builder::upscaling::Upscaling;
pub use crate::builder::value::{NewValue, StringRef, ValueAndUnit};
