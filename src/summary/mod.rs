//! Summarises a payload without reading all of it.
//!
//! [`Summary`] holds the format, resources, types, counts, sums, times and table sizes. [`Sizes`] reports which parts use
//! the bytes.
//!
//! ```text
//! payload ─► detect ─► usual? ─► walk ─┬─► tallies: samples, timestamps, sums
//!                        │             ├─► table rows
//!                        │             └─► outline, a small payload ─► any reader ─► heads of profiles
//!                        └─ no ─► read in full ─► the same answers
//! ```
//!
//! The walk never interprets irregular bytes. Where it would have to, it returns `None` and the reader of the
//! format takes over, so errors and repairs are decided in one place. `tests/it/summary.rs` compares both paths
//! over every file in every generation.

mod fields;
mod layouts;
mod outline;
mod refs;
mod samples;
mod sizes;

pub use sizes::{CompactSize, FieldSize, Sizes, StackSize, StringSize, TableSize};

use crate::error::{ReadFinding, Result};
use crate::format::detect::{Depth, Detected, detect_payload};
use crate::format::{Encoding, Format};
use crate::limits::Limits;
use crate::model::Profiles;
use crate::model::profile::Profile;
use crate::read_context::Policy;
use crate::reader::{Ambiguity, ReadOptions, Reading, of_one, read, read_detected};
use crate::schema::{Table, Version};
use crate::source_options::SourceOptions;

use samples::SampleTotals;

/// A summary of a payload.
///
/// For regular payloads of OTLP or pprof it takes one walk over the bytes. The walk counts and sums samples and
/// copies resources, scopes and the heads of profiles; it builds no table, stack or sample. Irregular payloads,
/// JSON, formats of other tools and payloads that [`Policy::Repair`] may change are read in full. Both ways give
/// the same answer.
///
/// The walk over a regular payload does not check everything that [`read`] checks: dangling references of samples and
/// between tables, text that is not UTF-8 in rows that no profile's head refers to, and the limits
/// on data that it does not build. These are the memory of the model, and limits of single rows (`max_stack_depth` …) unless
/// one is below its default. [`is_checked`](Self::is_checked) reports which way was used; [`check`](crate::check) checks
/// everything.
///
/// ```
/// use otlp_profiles::{Format, ReadOptions, Summary};
///
/// let file = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let summary = Summary::of(&file, &ReadOptions::default())?;
/// assert_eq!(summary.detected().format, Format::PPROF);
/// let profile = summary.profiles().next().unwrap();
/// assert_eq!((profile.samples, profile.sums), (143, &[163, 1_630_000_000][..]));
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
///
/// With the feature `serde` a summary serialises as the members of its detection, `tables`, `findings` and
/// `checked`, which is absent if true. Resources and profiles are not included: they may refer to one long text any
/// number of times.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Summary {
    #[cfg_attr(feature = "serde", serde(flatten))]
    detected: Detected,
    findings: Vec<ReadFinding>,
    /// Contains no samples if they were only counted.
    #[cfg_attr(feature = "serde", serde(skip))]
    outline: Profiles,
    /// The counts of each profile, in the order of the payload.
    #[cfg_attr(feature = "serde", serde(skip))]
    tallies: Vec<SampleTotals>,
    tables: TableRows,
    #[cfg_attr(feature = "serde", serde(rename = "checked", skip_serializing_if = "bool::clone"))]
    is_checked: bool,
}

/// The counts of one profile.
///
/// ```
/// use otlp_profiles::{ReadOptions, Summary};
///
/// let file = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let summary = Summary::of(&file, &ReadOptions::default())?;
/// for of in summary.profiles() {
///     let types = of.profile.sample_types().iter().zip(of.sums);
///     for (sample_type, sum) in types {
///         let name = summary.outline().dictionary().text(sample_type.name);
///         println!("{name}: {sum} in {} samples", of.samples);
///     }
/// }
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ProfileSummary<'a> {
    /// The head of the profile. It may have no samples here, even if the payload has some. Its strings and
    /// attributes are in the [outline](Summary::outline)'s dictionary.
    pub profile: &'a Profile,
    /// The number of samples in the payload.
    pub samples: u64,
    /// The number of their timestamps.
    pub timestamps: u64,
    /// The sum of the values of each sample type, like [`Profile::sums`].
    pub sums: &'a [i128],
}

/// The number of rows in the tables of a payload, over all profiles, without the empty first row
/// if the format has one.
///
/// The numbers describe the payload: `stacks` is 0 before OTLP 1.8, where samples have lists of locations, and
/// `attributes` and `links` are 0 in pprof, which has labels.
///
/// ```
/// use otlp_profiles::{ReadOptions, Summary};
///
/// let file = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let rows = Summary::of(&file, &ReadOptions::default())?.tables();
/// assert!(rows.locations > 0 && rows.strings > rows.functions);
/// assert_eq!((rows.stacks, rows.attributes), (0, 0), "a pprof has no such tables");
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TableRows {
    /// Strings.
    pub strings: u64,
    /// Functions.
    pub functions: u64,
    /// Locations.
    pub locations: u64,
    /// Mappings.
    pub mappings: u64,
    /// Stacks.
    pub stacks: u64,
    /// Attributes.
    pub attributes: u64,
    /// Links.
    pub links: u64,
}

impl Summary {
    /// Summarises one message: decompresses it, removes the framing and detects the format.
    ///
    /// # Errors
    ///
    /// The same as [`read`], except for faults that are [not checked](Self).
    pub fn of(bytes: &[u8], options: &ReadOptions) -> Result<Self> {
        of_one(bytes, &options.limits, |payload| match quick(payload, options)? {
            Some(summary) => Ok(summary),
            None => Ok(Self::of_reading(read(payload, options)?)),
        })
    }

    /// Summarises the result of a full reading.
    pub fn of_reading(reading: Reading) -> Self {
        let Reading { profiles, findings, detected } = reading;
        let tallies = profiles.iter().map(|profile| {
            let samples = profile.samples();
            let timestamps = samples.timestamps.items().len() as u64;
            SampleTotals { samples: samples.len() as u64, timestamps, sums: profile.sums() }
        });
        let dictionary = profiles.dictionary();
        let rows = |rows: usize| rows.saturating_sub(1) as u64;
        let tables = TableRows {
            strings: rows(dictionary.strings().len()),
            functions: rows(dictionary.functions().len()),
            locations: rows(dictionary.locations().len()),
            mappings: rows(dictionary.mappings().rows().len()),
            stacks: rows(dictionary.stacks().len()),
            attributes: rows(dictionary.attributes().len()),
            links: rows(dictionary.links().len()),
        };
        let tallies = tallies.collect();
        Self { detected, findings, outline: profiles, tallies, tables, is_checked: true }
    }

    /// Returns the format, its certainty and the evidence.
    pub fn detected(&self) -> &Detected {
        &self.detected
    }

    /// Returns the findings of the reader: for the outline only, if the payload was not [read in full](Self::is_checked).
    pub fn findings(&self) -> &[ReadFinding] {
        &self.findings
    }

    /// Returns whether the whole payload was read and validated by the reader.
    ///
    /// ```
    /// use otlp_profiles::{ReadOptions, Summary, read};
    ///
    /// let file = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    /// let quick = Summary::of(&file, &ReadOptions::default())?;
    /// let full = Summary::of_reading(read(&file, &ReadOptions::default())?);
    /// assert!(!quick.is_checked() && full.is_checked());
    /// let samples = |summary: &Summary| summary.profiles().map(|profile| profile.samples).sum::<u64>();
    /// assert_eq!(samples(&quick), samples(&full));
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn is_checked(&self) -> bool {
        self.is_checked
    }

    /// Returns the resources, scopes and heads of profiles. If the payload was not [read in
    /// full](Self::is_checked), profiles have no samples here, and the tables contain only rows that the heads refer to.
    pub fn outline(&self) -> &Profiles {
        &self.outline
    }

    /// Returns the number of rows of the tables. After a [full reading](Self::is_checked) these are the rows of the model.
    pub fn tables(&self) -> TableRows {
        self.tables
    }

    /// Iterates over the profiles in their order.
    pub fn profiles(&self) -> impl Iterator<Item = ProfileSummary<'_>> {
        self.outline.iter().zip(&self.tallies).map(|(profile, tally)| ProfileSummary {
            profile,
            samples: tally.samples,
            timestamps: tally.timestamps,
            sums: &tally.sums,
        })
    }

    /// Returns the time from the beginning of the first profile to the end of the last, in nanoseconds since 1970.
    /// `None` if no profile has a time.
    ///
    /// ```
    /// use otlp_profiles::{ReadOptions, Summary};
    ///
    /// let file = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    /// let (from, to) = Summary::of(&file, &ReadOptions::default())?.time_range().unwrap();
    /// assert!(0 < from && from < to);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn time_range(&self) -> Option<(i128, i128)> {
        let known = self.outline.iter().filter(|profile| profile.time_unix_nano() != 0);
        let ranges = known.map(|profile| {
            (profile.time_unix_nano(), profile.time_unix_nano() + profile.duration_nanos().max(0))
        });
        ranges.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }
}

/// Summarises a payload in one walk. `None` if it has to be read in full.
///
/// A full reading is required by options that change the result (repairs, a label that is a time, options for
/// formats of other tools) and by payloads of nearly 4 GiB.
fn quick(payload: &[u8], options: &ReadOptions) -> Result<Option<Summary>> {
    let asks_more = options.policy == Policy::Repair
        || is_about_rows(&options.limits)
        || options.timestamp_label.is_some()
        || options.source != SourceOptions::default();
    if asks_more || payload.len() >= u32::MAX as usize - 16 {
        return Ok(None);
    }
    let refuse = options.ambiguity == Ambiguity::Refuse && options.format.is_none();
    let depth = if refuse { Depth::Whole } else { Depth::Bounded };
    let detected = detect_payload(payload, options.format, options.endpoint, depth)?;
    if refuse && detected.certainty.is_guess() {
        return Ok(None);
    }
    match version_of(detected.format) {
        Some(version) => Ok(walked(payload, detected, version, options)),
        None => {
            read_detected(payload, detected, options).map(|read| Some(Summary::of_reading(read)))
        }
    }
}

/// Returns whether the limits on single rows are below their defaults, so that every row has to be examined.
fn is_about_rows(limits: &Limits) -> bool {
    let usual = Limits::default();
    limits.max_stack_depth < usual.max_stack_depth
        || limits.max_lines_per_location < usual.max_lines_per_location
        || limits.max_attributes_per_item < usual.max_attributes_per_item
}

/// Returns the version whose schema describes the payload. `None` for formats that are not protobuf messages.
fn version_of(format: Format) -> Option<Version> {
    match format.encoding() {
        Encoding::Pprof => Some(Version::Pprof),
        Encoding::Otlp(version) => Some(version),
        // The walk supports protobuf messages only.
        _ => None,
    }
}

/// Walks a payload. Returns `None` as well if a limit is exceeded, so that the reader reports it.
fn walked(
    payload: &[u8],
    detected: Detected,
    version: Version,
    options: &ReadOptions,
) -> Option<Summary> {
    let limits = &options.limits;
    let outline = outline::outline(payload, version, limits.max_nesting)?;
    let rows = |table: Table| outline.tables.get(table as usize).copied().unwrap_or(0);
    let samples = outline.tallies.iter().map(|tally| tally.samples).sum::<u64>();
    let strings = Table::String as usize;
    let mut others = outline.tables.iter().enumerate().filter(|(table, _)| *table != strings);
    let within = rows(Table::String) <= limits.max_strings
        && outline.longest_string <= limits.max_string_bytes
        && others.all(|(_, rows)| *rows <= limits.max_table_entries)
        && samples <= limits.max_samples;
    if !within {
        return None;
    }
    let first = u64::from(version >= Version::V1_8);
    let besides = |table: Table| rows(table).saturating_sub(first);
    let tables = TableRows {
        strings: rows(Table::String).saturating_sub(outline.string_tables),
        functions: besides(Table::Function),
        locations: besides(Table::Location),
        mappings: besides(Table::Mapping),
        stacks: besides(Table::Stack),
        attributes: besides(Table::Attribute),
        links: besides(Table::Link),
    };
    let Reading { profiles, findings, detected } =
        read_detected(&outline.payload, detected, options).ok()?;
    let is_whole = profiles.iter().count() == outline.tallies.len();
    is_whole.then_some(Summary {
        detected,
        findings,
        outline: profiles,
        tallies: outline.tallies,
        tables,
        is_checked: false,
    })
}
