//! Options of reports.

use crate::look::filter::Filter;
use crate::output_limit::OutputLimit;
use crate::tables::profile::covered::Covered;

/// The granularity of reports: the things that rows stand for.
///
/// ```
/// use otlp_profiles::look::{self, By, Options};
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let top = look::top(&profiles, &Options::default().by(By::Line))?;
/// assert!(top.rows.iter().any(|row| row.name.contains(".go:")));
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum By {
    /// The name of a function; the binary of a frame without one.
    #[default]
    Function,
    /// The name and the file of a function.
    FileFunction,
    /// The source file.
    File,
    /// The name, the file and the line.
    Line,
    /// The address, the name, the file and the line.
    Address,
    /// The binary.
    Mapping,
    /// The value of an attribute: of the sample, else of the profile, the scope or the resource. If none of them has the
    /// attribute, that of the frame or of its binary, such as `profile.frame.type`.
    Attribute(String),
}

/// Options of [`top`](crate::look::top()), [`tree`](crate::look::tree()), [`peek`](crate::look::peek()) and
/// [`traces`](crate::look::traces()). The defaults are those of `pprof`.
///
/// ```
/// use otlp_profiles::look::{self, Options};
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let options = Options::default().sample_type("alloc_space".to_owned()).cum(true).node_count(3);
/// let top = look::top(&profiles, &options)?;
/// assert_eq!((top.rows.len(), top.header.unit.as_str()), (3, "bytes"));
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The granularity of rows.
    pub by: By,
    /// The sample type to show, by its name or its number. The default is what the profile declares, else the last.
    pub sample_type: Option<String>,
    /// Sort rows by cumulative value.
    pub cum: bool,
    /// The number of rows; 0 is all. The default is all for `top` and 80 for `tree`.
    pub node_count: Option<usize>,
    /// Drop rows whose cumulative value is below this share of the sum of flat values.
    pub node_fraction: f64,
    /// Drop calls below this share.
    pub edge_fraction: f64,
    /// Show inlined functions. Otherwise their values go to the function that they were inlined into.
    pub inlines: bool,
    /// Show columns with lines.
    pub columns: bool,
    /// Divide values by the first sample type, row by row. The rows of means do not add up.
    pub mean: bool,
    /// Drop rows with negative values, as differences have them.
    pub drop_negative: bool,
    /// The unit of printed values, such as `ms`. The default fits the smallest row.
    pub unit: Option<String>,
    /// Prefixes to remove from files, separated by colons.
    pub trim_path: String,
    /// Compute percentages of the samples that remain after filters.
    pub relative_percentages: bool,
    /// The filters.
    pub filter: Filter,
    /// The limit on the size of names, and of the text or JSON of the report. The default is that of
    /// [`WriteOptions::default`](crate::WriteOptions).
    pub limit: Option<OutputLimit>,
    /// The time that each profile covers, as [`Merged::covered`](crate::transform::Merged::covered) has it, for the
    /// duration. By default, the intervals of the profiles count; that of a merged profile includes the gaps between
    /// its inputs.
    pub covered: Vec<Covered>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            by: By::Function,
            sample_type: None,
            cum: false,
            node_count: None,
            node_fraction: 0.005,
            edge_fraction: 0.001,
            inlines: true,
            columns: false,
            mean: false,
            drop_negative: false,
            unit: None,
            trim_path: String::new(),
            relative_percentages: false,
            filter: Filter::default(),
            limit: None,
            covered: Vec::new(),
        }
    }
}

crate::limits::setters! { Options {
    by: By,
    sample_type: impl Into<Option<String>>,
    cum: bool,
    node_count: impl Into<Option<usize>>,
    node_fraction: f64,
    edge_fraction: f64,
    inlines: bool,
    columns: bool,
    mean: bool,
    drop_negative: bool,
    unit: impl Into<Option<String>>,
    trim_path: String,
    relative_percentages: bool,
    filter: Filter,
    limit: impl Into<Option<OutputLimit>>,
    covered: Vec<Covered>,
} }

impl Options {
    /// Shows every row and every call.
    #[must_use]
    pub fn untrimmed(self) -> Self {
        self.node_count(0).node_fraction(0.0).edge_fraction(0.0)
    }
}
