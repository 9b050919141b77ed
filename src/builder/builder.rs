//! The builder and its state: the tables, the declarations, the limits, and counts of dropped data.

use crate::builder::cache::Cache;
use crate::builder::key::Generation;
use crate::builder::pending::Pending;
use crate::builder::tree::Tree;
use crate::error::Result;
use crate::limits::Limits;
use crate::model::dictionary::Line;
use crate::model::id::{AttributeId, LocationId};
use crate::tables::rows::budget::Full;
use crate::tables::rows::interner::Interner;
use crate::tables::rows::places::Added;
use crate::tables::rows::row::Row;
use crate::tables::rows::samples::SampleColumns;

/// Builds [`Profiles`](crate::Profiles), one sample after the other.
///
/// ```
/// use otlp_profiles::{Builder, builder::root_first};
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
/// Methods named after a row of OTLP's dictionary, such as [`function`](Self::function),
/// [`location`](Self::location) and [`stack`](Self::stack), return its [`Key`](crate::builder::Key). Equal rows
/// have the same key.
///
/// # Guarantees
///
/// For any sequence of calls, the profiles that [`finish`](Self::finish) returns follow the rules of
/// the format. Row 0 of every table is the empty row. No row is duplicated or unreferenced. No item has two
/// attributes with the same key (the later one wins). No profile is empty. Samples of the same stack, the same attributes
/// and the same link become one sample. (Profiles that were [added](Self::add) stay as they are.)
///
/// A sample has values, timestamps, or both, and all samples of a profile have the same shape.
/// If a caller mixes them, the builder splits the profile: one for samples with values, one for samples
/// with timestamps, one for samples with both.
///
/// # Keys for speed
///
/// A profiler can keep the keys of locations or whole stacks. A sample of a known stack
/// then costs a hash and an addition, and allocates nothing.
///
/// ```
/// # use otlp_profiles::{Builder, builder::leaf_first};
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
/// [`finish_interval`](Self::finish_interval) lends you the profiles of an interval. The next interval reuses the memory,
/// with the same resources, scopes and profiles. A builder is [`Send`]: give each thread a builder and
/// [`merge`](Self::merge) them. A clone is a separate builder and does not accept the keys of the
/// original.
///
/// # Limits
///
/// A builder uses no more memory than its [`Limits`] allow. Beyond them [`finish`](Self::finish) returns
/// an error that names the limit. With [`WhenFull::Drop`] the builder leaves out the excess instead and
/// counts it in [`dropped`](Self::dropped).
#[derive(Clone, Debug)]
pub struct Builder {
    /// The dictionary, with indices to find equal rows.
    pub(super) interner: Interner,
    /// Locations by the strings and line of a frame. The note of an entry is the frame type.
    pub(super) frames: Cache,
    /// Attributes with a string value, by key and value.
    pub(super) labels: Cache,
    /// The resources, scopes and profiles.
    pub(super) tree: Tree,
    /// Complete profiles that were added.
    pub(super) added: Added,
    /// Generation of the dictionary's keys. Keys of the tree have a separate generation.
    pub(super) generation: Generation,
    pub(super) when_full: WhenFull,
    /// The first limit that was reached.
    pub(super) full: Option<Full>,
    pub(super) dropped: Dropped,
    /// The number of distinct samples in all profiles.
    pub(super) samples: usize,
    /// The sample in progress. It is stored here so that [`NewSample`](crate::builder::NewSample) stays small.
    pub(super) pending: Pending,
    /// Scratch space for the stack in progress.
    pub(super) locations: Vec<LocationId>,
    /// Scratch space for the lines of the location in progress.
    pub(super) lines: Vec<Line>,
    /// Scratch space for the attributes of the row in progress.
    pub(super) set: Vec<AttributeId>,
}

/// Policy of a [`Builder`] for data beyond its limits.
///
/// ```
/// use otlp_profiles::{Builder, Limits, builder::{WhenFull, root_first}};
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
#[non_exhaustive]
pub enum WhenFull {
    /// Omit the excess data; [`Builder::finish`] returns an error.
    #[default]
    Refuse,
    /// Omit the excess data and count it.
    Drop,
}

/// Counts of data that a [`Builder`] left out: data beyond its limits, and data given with a [`Key`](crate::builder::Key) of
/// another builder or of a past interval.
///
/// ```
/// use otlp_profiles::{Builder, builder::root_first};
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
    /// Values beyond the number of the profile's sample types.
    pub values: u64,
    /// Links of samples; the samples were added without them.
    pub links: u64,
    /// Other data of profiles, resources and scopes: original payloads, periods and entities, and data whose omission
    /// would change the identity of a resource, scope or profile, such as a version. Their samples are
    /// counted as samples.
    pub others: u64,
    /// Sums of values beyond 64 bits, which became the nearest value.
    pub saturated: u64,
}

impl std::ops::AddAssign for Dropped {
    fn add_assign(&mut self, more: Self) {
        let Self { samples, attributes, values, links, others, saturated } = more;
        self.samples += samples;
        self.attributes += attributes;
        self.values += values;
        self.links += links;
        self.others += others;
        self.saturated += saturated;
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// Creates an empty builder with the [default limits](Limits::network).
    ///
    /// The same as `Builder::default()`. It allocates no memory until you add data.
    ///
    /// ```
    /// let profiles = otlp_profiles::Builder::new().finish()?;
    /// assert_eq!(profiles.iter().count(), 0);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn new() -> Self {
        Self::with_limits(Limits::default(), WhenFull::default())
    }

    /// Creates an empty builder with the given limits.
    ///
    /// ```
    /// use otlp_profiles::{Builder, ErrorKind, Limits, builder::{WhenFull, root_first}};
    ///
    /// let mut builder = Builder::with_limits(Limits::network().max_stack_depth(2), WhenFull::Refuse);
    /// let cpu = builder.profile("cpu", "nanoseconds");
    /// builder.sample(cpu, root_first(["main", "serve", "parse"])).value(1);
    /// assert_eq!(builder.finish().unwrap_err().kind(), ErrorKind::Limit);
    /// ```
    pub fn with_limits(limits: Limits, when_full: WhenFull) -> Self {
        Self {
            interner: Interner::new(limits),
            frames: Cache::default(),
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
        }
    }

    /// Returns counts of data left out since the interval began. For a finished interval, see
    /// [`Interval::dropped`](crate::builder::Interval::dropped).
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::root_first};
    ///
    /// let mut builder = Builder::new();
    /// let cpu = builder.profile("cpu", "nanoseconds");
    /// builder.sample(cpu, root_first(["main"])).values([1, 2]);
    /// assert_eq!(builder.dropped().values, 1, "the profile has one sample type");
    /// ```
    pub fn dropped(&self) -> Dropped {
        let shapes = self.tree.profiles.iter().flat_map(|open| &open.shapes);
        let saturated = shapes.map(SampleColumns::saturated).sum::<u64>();
        Dropped { saturated: self.dropped.saturated + saturated, ..self.dropped }
    }

    /// Checks that everything fitted so far. Returns the error that [`finish`](Self::finish) would return.
    ///
    /// # Errors
    ///
    /// The first limit that was reached, unless the builder uses [`WhenFull::Drop`]. The error stays until
    /// [`reset`](Self::reset).
    ///
    /// ```
    /// use otlp_profiles::{Builder, Limits, builder::WhenFull};
    ///
    /// let mut builder = Builder::with_limits(Limits::network().max_strings(2), WhenFull::Refuse);
    /// builder.string("one");
    /// assert!(builder.check().is_ok());
    /// builder.string("one too many");
    /// assert_eq!(builder.check().unwrap_err().limit(), Some("max_strings"));
    /// ```
    pub fn check(&self) -> Result<()> {
        match self.full {
            Some(full) if self.when_full == WhenFull::Refuse => Err(full.into()),
            _ => Ok(()),
        }
    }

    /// Returns the bytes of memory in use, as counted against
    /// [`max_owned_bytes`](Limits::max_owned_bytes).
    ///
    /// Use it to end an interval by size. The call costs nothing.
    ///
    /// ```
    /// let mut builder = otlp_profiles::Builder::new();
    /// let empty = builder.owned_bytes();
    /// builder.string("checkout::serve");
    /// assert!(builder.owned_bytes() > empty);
    /// ```
    pub fn owned_bytes(&self) -> u64 {
        self.interner.budget.spent()
    }

    /// Clears everything, including declarations, and keeps the memory of the dictionary. The builder then behaves
    /// like a new one, and all earlier keys are invalid.
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::root_first};
    ///
    /// let mut builder = Builder::new();
    /// let cpu = builder.profile("cpu", "nanoseconds");
    /// builder.reset();
    /// builder.sample(cpu, root_first(["main"])).value(1);
    /// assert_eq!(builder.dropped().samples, 1, "the key is of before");
    /// ```
    pub fn reset(&mut self) {
        self.tree = Tree::default();
        self.forget_interval();
    }

    /// Records the first limit that was reached. Every operation that may exceed a limit goes through this
    /// function, so that no failure is lost.
    pub(super) fn fit<T>(&mut self, fitted: Result<T, Full>) -> Option<T> {
        fitted.map_err(|full| self.full.get_or_insert(full)).ok()
    }

    /// Returns the id of a row, or `None` if it did not fit.
    #[inline]
    pub(super) fn intern<R: Row>(&mut self, row: R) -> Option<R::Id> {
        let id = self.interner.intern(row);
        self.fit(id)
    }
}
