//! Building profiles: from a running profiler to [`Profiles`].
//!
//! For those who have names, [`Builder`] needs two lines. Those who have addresses say which binary
//! each lies in and leave the names to whoever has the binary:
//!
//! ```
//! use otlp_profiles::build::Binary;
//! use otlp_profiles::{Builder, WriteOptions, Format, semconv, write};
//!
//! let mut builder = Builder::new();
//! builder.resource([("service.name", "checkout")]);
//! builder.scope("my-profiler", "1.0.0");
//! let cpu = builder.profile("cpu", "nanoseconds");
//! builder.details(cpu).window(1_763_640_000_000_000_000, 60_000_000_000).period("cpu", "nanoseconds", 10_000_000);
//!
//! let build_id = builder.attribute(semconv::BUILD_ID_GNU, "c89b11207f6479603b0d49bf291c092c2b719293");
//! let server = Binary::new("/usr/bin/server").range(0x40_0000, 0x80_0000, 0);
//! let server = builder.mapping(server.attributes(&[build_id]));
//!
//! // What an unwinder gives, the leaf first.
//! let stack = [0x40_1234, 0x40_5678].map(|address| builder.address(server, address));
//! let stack = builder.stack(&stack);
//! builder.sample(cpu, stack).value(10_000_000).attr("thread.name", "worker-1");
//!
//! let written = write(&builder.finish()?, Format::OTLP, &WriteOptions::default())?;
//! assert!(written.losses.is_empty());
//! # Ok::<(), otlp_profiles::Error>(())
//! ```

mod build_id;
mod compact;
mod entity;
mod frames;
mod hints;
pub(crate) mod index;
pub(crate) mod interner;
mod join;
mod key;
mod lists;
pub(crate) mod merge;
mod parts;
mod paths;
pub(crate) mod reach;
#[cfg(feature = "pprof")]
mod report;
pub(crate) mod room;
mod sample;
mod samples;
mod seal;
mod seen;
mod tables;
mod tree;

use crate::build::frames::Frames;
use crate::build::interner::Interner;
use crate::build::key::Brand;
use crate::build::room::Full;
use crate::build::sample::Pending;
use crate::build::seen::Seen;
use crate::build::tree::Tree;
use crate::error::Result;
use crate::limits::Limits;
use crate::model::Profiles;
use crate::model::dictionary::Line;
use crate::model::id::{AttributeId, LocationId};

#[cfg(feature = "build-id")]
pub use crate::build::build_id::htlhash;
pub use crate::build::key::Key;
pub use crate::build::parts::{AnyValue, Binary, Entity, Frame, Place, SourceLine, Symbol, Text};
pub use crate::build::sample::{IntoStack, NewSample};
pub use crate::build::seal::Sealed;
pub use crate::build::tree::Details;

/// Builds [`Profiles`], one sample after the other.
///
/// ```
/// use otlp_profiles::Builder;
///
/// let mut builder = Builder::new();
/// let cpu = builder.profile("cpu", "nanoseconds");
/// builder.sample(cpu, ["main", "serve", "parse"]).value(10_000_000);
/// builder.sample(cpu, ["main", "serve", "parse"]).value(10_000_000);
///
/// let profiles = builder.finish()?;
/// let samples = profiles.iter().next().unwrap().samples();
/// assert_eq!(samples.get(0).unwrap().values, [20_000_000]);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
///
/// Every method that names something, a [`string`](Self::string), a [`function`](Self::function),
/// a [`location`](Self::location), a [`stack`](Self::stack), returns its [`Key`], the same key for
/// the same thing. Names listed as a path go from the root to the leaf, as in a folded stack;
/// locations listed by key go from the leaf to the root, as in OTLP.
///
/// # What comes out
///
/// Whatever is called in whatever order, what [`finish`](Self::finish) returns keeps the rules of
/// the format: row 0 of every table is the empty row, no row is there twice, none is there that
/// nothing refers to, no two attributes of a thing have the same key (the later one counts), and
/// no profile is without samples. Samples of the same stack, the same attributes and the same link
/// are one sample.
///
/// A sample says its values, or when it was taken, or both. A profile's samples all do the same:
/// where a caller mixes, a profile comes out as several, one for those with values, one for those
/// with timestamps, one for those with both.
///
/// # Frames in a hurry
///
/// A profiler that can keep keys keeps those of locations or whole stacks. A sample of a stack that
/// was seen then costs a hash and an addition, and takes no memory.
///
/// ```
/// # use otlp_profiles::Builder;
/// let mut builder = Builder::new();
/// let cpu = builder.profile("cpu", "nanoseconds");
/// let main = builder.frame("main", "src/main.rs", 12);
/// let parse = builder.frame("parse", "src/parse.rs", 40);
/// let stack = builder.stack(&[parse, main]);
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
/// [`seal`](Self::seal) lends out what was built and starts anew when it is given back, in the same
/// memory. A builder is [`Send`]: let every thread have its own and [`merge`](Self::merge) them.
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
    labels: Seen,
    tree: Tree,
    brand: Brand,
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
    /// What is lent out by [`Builder::seal`].
    sealed: Profiles,
}

/// What a [`Builder`] does with what does not fit its limits.
///
/// ```
/// use otlp_profiles::{Builder, Limits, build::WhenFull};
///
/// let limits = Limits::network().max_samples(1);
/// let mut builder = Builder::with_limits(limits, WhenFull::Drop);
/// let cpu = builder.profile("cpu", "nanoseconds");
/// builder.sample(cpu, ["main"]).value(1);
/// builder.sample(cpu, ["main", "serve"]).value(1);
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

/// What a [`Builder`] left out because it did not fit.
///
/// ```
/// assert_eq!(otlp_profiles::Builder::new().dropped(), Default::default());
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
            labels: Seen::default(),
            tree: Tree::default(),
            brand: Brand::new(),
            when_full,
            full: None,
            dropped: Dropped::default(),
            samples: 0,
            pending: Pending::default(),
            locations: Vec::new(),
            lines: Vec::new(),
            set: Vec::new(),
            sealed: Profiles::default(),
        }
    }

    /// What did not fit so far.
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

    /// Forgets everything, keeps the memory. From here on the builder gives what a new one would;
    /// keys from before are void.
    pub fn reset(&mut self) {
        let dictionary = std::mem::take(&mut self.interner.dictionary);
        self.start_anew(dictionary);
    }

    /// Remembers what did not fit.
    fn fit<T>(&mut self, fitted: Result<T, Full>) -> Option<T> {
        fitted.map_err(|full| self.full.get_or_insert(full)).ok()
    }
}
