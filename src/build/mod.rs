//! Building profiles: from a running profiler to [`Profiles`].
//!
//! A profiler that has names pushes them. One that has addresses says which mapping each lies in, and
//! leaves the names to whoever has the binary:
//!
//! ```
//! use otlp_profiles::build::{NewMapping, leaf_first};
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
//! // What an unwinder gives: the leaf, then return addresses, less one to lie within the call.
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
//! | what is profiled, by what, and what is measured | [`resource`](Builder::resource), [`scope`](Builder::scope), [`profile`](Builder::profile), [`profile_mut`](Builder::profile_mut) |
//! | samples | [`sample`](Builder::sample) of a stack, [`root_first`] or [`leaf_first`] |
//! | rows of the dictionary | [`frame`](Builder::frame), [`address`](Builder::address), [`location`](Builder::location), [`function`](Builder::function), [`mapping`](Builder::mapping), [`stack`](Builder::stack), [`attribute`](Builder::attribute), [`link`](Builder::link), [`string`](Builder::string) |
//! | addresses of a process | [`ProcessMappings`] |
//! | sampled heap profiles | [`Upscaling`] |
//! | the end, or the end of an interval | [`finish`](Builder::finish), [`seal`](Builder::seal) |
//! | other builders, and profiles that were read | [`merge`](Builder::merge), [`add`](Builder::add) |

mod add;
mod build_id;
mod cache;
pub(crate) mod compact;
mod declared;
mod frames;
pub(crate) mod interner;
mod join;
mod key;
mod lists;
pub(crate) mod merge;
mod number;
mod parts;
mod process;
mod profile;
pub(crate) mod reach;
#[cfg(feature = "pprof")]
mod report;
mod resource;
pub(crate) mod room;
mod sample;
pub(crate) mod samples;
mod seal;
pub(crate) mod seed;
mod stack;
mod tables;
mod tree;
mod upscaling;
mod value;

use crate::build::add::Added;
use crate::build::cache::Cache;
use crate::build::declared::Declared;
use crate::build::frames::Frames;
use crate::build::interner::Interner;
use crate::build::key::Generation;
use crate::build::room::Full;
use crate::build::sample::Pending;
use crate::build::tree::Tree;
use crate::error::Result;
use crate::limits::Limits;
use crate::model::Profiles;
use crate::model::dictionary::Line;
use crate::model::id::{AttributeId, LocationId};

#[cfg(feature = "build-id")]
pub use crate::build::build_id::htlhash;
pub use crate::build::key::Key;
pub use crate::build::number::{Nanos, SampleValue};
pub use crate::build::parts::{Frame, NewEntity, NewFunction, NewLine, NewLocation, NewMapping};
pub use crate::build::process::{ProcessMapping, ProcessMappings};
pub use crate::build::profile::ProfileMut;
pub use crate::build::resource::{Enter, ResourceMut, ScopeMut};
pub use crate::build::sample::NewSample;
pub use crate::build::seal::Sealed;
pub use crate::build::stack::{IntoFrame, IntoStack, Ordered, leaf_first, root_first};
pub use crate::build::upscaling::Upscaling;
pub use crate::build::value::{NewValue, StringRef, ValueAndUnit};

/// Builds [`Profiles`], one sample after the other.
///
/// ```
/// use otlp_profiles::{Builder, build::root_first};
///
/// let mut builder = Builder::new();
/// let cpu = builder.profile("cpu", "nanoseconds");
/// builder.sample(cpu, root_first(["main", "serve", "parse"])).value(10_000_000);
/// builder.sample(cpu, root_first(["main", "serve", "parse"])).value(10_000_000);
///
/// let profiles = builder.finish()?;
/// let samples = profiles.iter().next().unwrap().samples();
/// assert_eq!(samples.get(0).unwrap().values, [20_000_000]);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
///
/// Methods named after a row of OTLP's dictionary, [`function`](Self::function),
/// [`location`](Self::location), [`stack`](Self::stack), return its [`Key`], the same key for the
/// same row.
///
/// # What comes out
///
/// Whatever is called in whatever order, what [`finish`](Self::finish) returns keeps the rules of
/// the format: row 0 of every table is the empty row, no row is there twice, none is there that
/// nothing refers to, no two attributes of a thing have the same key (the later one counts), and
/// no profile is without samples. Samples of the same stack, the same attributes and the same link
/// are one sample. (Profiles that were [added](Self::add) stay as they are.)
///
/// A sample has values, timestamps, or both. A profile's samples all have the same:
/// where a caller mixes, a profile comes out as several, one for those with values, one for those
/// with timestamps, one for those with both.
///
/// # Keys for speed
///
/// A profiler that can keep keys keeps those of locations or whole stacks. A sample of a stack that
/// was seen then costs a hash and an addition, and takes no memory.
///
/// ```
/// # use otlp_profiles::{Builder, build::leaf_first};
/// let mut builder = Builder::new();
/// let cpu = builder.profile("cpu", "nanoseconds");
/// let main = builder.frame(("main", "src/main.rs", 12));
/// let parse = builder.frame(("parse", "src/parse.rs", 40));
/// let stack = builder.stack(leaf_first([parse, main]));
/// let worker = builder.attribute("thread.name", "worker-1");
/// for _ in 0..1_000 {
///     builder.sample(cpu, stack).value(10_000_000).attribute(worker);
/// }
/// # assert_eq!(builder.finish()?.iter().next().unwrap().samples().len(), 1);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
///
/// # Profiling without end
///
/// [`seal`](Self::seal) lends out an interval, and the next one begins in the same memory, with the
/// same resources, scopes and profiles. A builder is [`Send`]: let every thread have its own and
/// [`merge`](Self::merge) them. A clone of a builder is another builder: keys of the first mean
/// nothing to it.
///
/// # Limits
///
/// A builder takes no more memory than its [`Limits`] allow. Past them [`finish`](Self::finish) is
/// an error that says which limit it was, or, with [`WhenFull::Drop`], what does not fit is left out
/// and counted, see [`dropped`](Self::dropped).
#[derive(Clone, Debug)]
pub struct Builder {
    interner: Interner,
    frames: Frames,
    /// Attributes that are a text, by key and value.
    labels: Cache,
    tree: Tree,
    /// Whole profiles that were added.
    added: Added,
    /// The keys of the dictionary are of this generation; those of the tree have one of their own.
    generation: Generation,
    when_full: WhenFull,
    full: Option<Full>,
    dropped: Dropped,
    /// Distinct samples, in all profiles.
    samples: usize,
    pending: Pending,
    /// The stack being put together.
    locations: Vec<LocationId>,
    /// The lines of the location being put together.
    lines: Vec<Line>,
    /// The attributes of what is being put together.
    set: Vec<AttributeId>,
    /// What is lent out by [`Builder::seal`], and what declarations refer to until it is given back.
    sealed: Profiles,
    declared: Declared,
}

/// What a [`Builder`] does with what does not fit its limits.
///
/// ```
/// use otlp_profiles::{Builder, Limits, build::{WhenFull, root_first}};
///
/// let limits = Limits::network().max_samples(1);
/// let mut builder = Builder::with_limits(limits, WhenFull::Drop);
/// let cpu = builder.profile("cpu", "nanoseconds");
/// builder.sample(cpu, root_first(["main"])).value(1);
/// builder.sample(cpu, root_first(["main", "serve"])).value(1);
/// assert_eq!(builder.dropped().samples, 1);
/// assert!(builder.finish().is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WhenFull {
    /// Leaves it out, and [`Builder::finish`] is an error.
    #[default]
    Refuse,
    /// Leaves it out and counts it.
    Drop,
}

/// What a [`Builder`] left out: what did not fit its limits, and what was given with a [`Key`] of
/// another builder or of an interval that is over.
///
/// ```
/// use otlp_profiles::{Builder, build::root_first};
///
/// let (mut builder, mut other) = (Builder::new(), Builder::new());
/// let cpu = builder.profile("cpu", "nanoseconds");
/// let foreign = other.attribute("thread.name", "worker-1");
/// builder.sample(cpu, root_first(["main"])).value(1).attribute(foreign);
/// assert_eq!((builder.dropped().samples, builder.dropped().attributes), (0, 1));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Dropped {
    /// Samples.
    pub samples: u64,
    /// Attributes. Those of samples and profiles are also in the profile's
    /// [`dropped_attributes_count`](crate::Profile::dropped_attributes_count), those of resources
    /// and scopes in theirs.
    pub attributes: u64,
    /// Values past the number of the profile's sample types.
    pub values: u64,
    /// Links of samples, which were taken without.
    pub links: u64,
}

impl std::ops::AddAssign for Dropped {
    fn add_assign(&mut self, more: Self) {
        let Self { samples, attributes, values, links } = more;
        self.samples += samples;
        self.attributes += attributes;
        self.values += values;
        self.links += links;
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// An empty builder with the [default limits](Limits::network).
    pub fn new() -> Self {
        Self::with_limits(Limits::default(), WhenFull::default())
    }

    /// An empty builder with limits of its own.
    pub fn with_limits(limits: Limits, when_full: WhenFull) -> Self {
        Self {
            interner: Interner::new(limits),
            frames: Frames::default(),
            labels: Cache::default(),
            tree: Tree::default(),
            added: Added::default(),
            generation: Generation::new(),
            when_full,
            full: None,
            dropped: Dropped::default(),
            samples: 0,
            pending: Pending::default(),
            locations: Vec::new(),
            lines: Vec::new(),
            set: Vec::new(),
            sealed: Profiles::default(),
            declared: Declared::default(),
        }
    }

    /// What was left out since the interval began. [`Sealed::dropped`] says it of a sealed one.
    pub fn dropped(&self) -> Dropped {
        self.dropped
    }

    /// Whether everything fitted so far: the error that [`finish`](Self::finish) would return.
    pub fn check(&self) -> Result<()> {
        match self.full {
            Some(full) if self.when_full == WhenFull::Refuse => Err(full.into()),
            _ => Ok(()),
        }
    }

    /// The bytes that what was built takes, as counted against
    /// [`max_owned_bytes`](Limits::max_owned_bytes).
    pub fn owned_bytes(&self) -> u64 {
        self.interner.room.spent()
    }

    /// Forgets everything, also what was declared, and keeps the memory. From here on the builder
    /// gives what a new one would. No key from before is valid.
    pub fn reset(&mut self) {
        let dictionary = std::mem::take(&mut self.interner.dictionary);
        self.start_anew(dictionary);
    }

    /// Whether a key of a dictionary's row is one of this builder's, and of this interval.
    pub(crate) fn has<T>(&self, key: Key<T>) -> bool {
        self.generation.row(key).is_some()
    }

    /// Remembers what did not fit.
    fn fit<T>(&mut self, fitted: Result<T, Full>) -> Option<T> {
        fitted.map_err(|full| self.full.get_or_insert(full)).ok()
    }
}
