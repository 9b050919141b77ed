//! Comparing the values of two payloads.

use foldhash::fast::RandomState;
use hashbrown::HashSet;

use crate::error::{Error, ErrorKind, Result};
use crate::limits::setters;
use crate::look::{Nodes, Rename};
use crate::model::sample_types::Identity;
use crate::model::{Profiles, SampleType};
use crate::output_limit::OutputLimit;
use crate::tables::profile::covered::Covered;
use crate::transform::diff::apportion::{apportion, scale};
use crate::transform::diff::table::{DiffBy, Key, Rows, Table};

/// How the values of two payloads are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiffMode {
    /// New less base.
    #[default]
    Raw,
    /// New, scaled to the total of the base, less base. Scaled values of stacks, attributes and the total add up
    /// to the total of the base.
    Normalized,
    /// The share of the new total less the share of the base total.
    Share,
    /// New a second less base a second.
    PerSecond,
}

/// Options of [`diff`].
///
/// ```
/// use otlp_profiles::transform::{DiffBy, DiffMode, DiffOptions, diff};
///
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let heap = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let options = DiffOptions::default()
///     .by(DiffBy::File)
///     .mode(DiffMode::Share)
///     .sample_type(Some("inuse_space"));
/// assert!(diff(&heap, &heap, &options)?.rows.is_empty());
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct DiffOptions<'a> {
    /// The meaning of a row.
    pub by: DiffBy,
    /// How values are compared.
    pub mode: DiffMode,
    /// Returns keys that do not differ as well. The widths of differential flame graphs need them.
    pub unchanged: bool,
    /// The sample type; by default that of [`common_sample_type`].
    pub sample_type: Option<&'a str>,
    /// Renames functions and files before they are compared: see [`strip_hash`](crate::transform::strip_hash).
    pub rename: Option<Rename<'a>>,
    /// The time that each profile of the base and of the new ones covers, as
    /// [`Merged::covered`](crate::transform::Merged::covered) has it. By default, the intervals of the profiles count;
    /// that of a merged profile includes the gaps between its inputs.
    pub covered: [&'a [Covered]; 2],
    /// The limit on the names of stacks. The default is that of [`WriteOptions`](crate::WriteOptions) for both payloads.
    pub limit: Option<OutputLimit>,
}

setters! { DiffOptions<'a> {
    by: DiffBy,
    mode: DiffMode,
    unchanged: bool,
    sample_type: Option<&'a str>,
    rename: Option<Rename<'a>>,
    covered: [&'a [Covered]; 2],
    limit: Option<OutputLimit>,
} }

/// The differences between two payloads.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Diff {
    /// The name of the sample type.
    pub sample_type: String,
    /// The unit of all values: the finer of both.
    pub unit: String,
    /// The keys that differ, or all [`DiffOptions::unchanged`], the largest difference first.
    pub rows: Vec<DiffRow>,
    /// The sum of the base.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::number"))]
    pub base_total: i128,
    /// The sum of the new profiles.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::number"))]
    pub new_total: i128,
    /// The nanoseconds that the base and the new profiles cover; 0 if unknown.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::numbers"))]
    pub covered_nanos: [i128; 2],
}

/// A key that differs. A sample counts once for a key, even if its stack contains the key several times.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DiffRow {
    /// The function, file, line, binary, attribute value, or stack with the root first; `<unknown>` if it is missing.
    /// The names of a comparison are distinct.
    pub name: String,
    /// The file of a function, a line or a file; empty for other keys.
    pub file: String,
    /// The value in the base; 0 of a new key.
    pub base: i128,
    /// The value in the new profiles; 0 of a key that is gone.
    pub new: i128,
    /// The difference in the [mode](DiffMode): in the unit, in percentage points, or in the unit a second.
    pub difference: f64,
    /// The difference as a whole number, of raw and normalised values.
    pub exact: Option<i128>,
    /// The difference relative to the base; `None` of a new key.
    pub relative: Option<f64>,
}

/// With the exact difference if there is one.
#[cfg(feature = "serde")]
impl serde::Serialize for DiffRow {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use crate::serialize::Number;
        use serde::ser::SerializeStruct;
        let mut object = serializer.serialize_struct("DiffRow", 6)?;
        object.serialize_field("name", &self.name)?;
        object.serialize_field("file", &self.file)?;
        object.serialize_field("base", &Number(self.base))?;
        object.serialize_field("new", &Number(self.new))?;
        match self.exact {
            Some(exact) => object.serialize_field("difference", &Number(exact))?,
            None => object.serialize_field("difference", &self.difference)?,
        }
        object.serialize_field("relative", &self.relative)?;
        object.end()
    }
}

/// Compares one sample type of two payloads. The time is linear in their size, but for sorting the rows.
///
/// # Errors
///
/// A payload lacks the sample type, the units are of different families, or a mode needs a total or a duration that
/// is 0; or the names of stacks exceed the output limit.
///
/// ```
/// use otlp_profiles::transform::{DiffOptions, diff};
/// # let file = std::fs::read("testdata/go-heap.pb.gz").unwrap();
///
/// let base = otlp_profiles::read(&file, &Default::default())?.profiles;
/// let mut new = base.clone();
/// new.retain_samples(|_, sample| sample.values[3] < 100_000);
/// let diff = diff(&base, &new, &DiffOptions::default())?;
/// assert!(diff.rows.iter().any(|row| row.name == "main.leak" && row.exact < Some(0)));
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn diff(base: &Profiles, new: &Profiles, options: &DiffOptions<'_>) -> Result<Diff> {
    let kind = common_type(&[base], &[new], options.sample_type)?;
    let [base_covered, new_covered] = options.covered;
    let frames = options.by.frames();
    let limit = OutputLimit::or_default(options.limit, [base, new]);
    let mut rows = Rows::new(&options.by, &frames, options.rename, limit);
    let a = Table::of(base, kind, &mut rows, &mut base_covered.iter())?;
    let b = Table::of(new, kind, &mut rows, &mut new_covered.iter())?;
    rows.nodes.tell_apart();
    let compare = Compare::new(&a, &b, options, &rows.nodes)?;
    let keys = a.rows.keys().chain(b.rows.keys().filter(|key| !a.rows.contains_key(*key)));
    let mut rows: Vec<DiffRow> = keys
        .filter_map(|key| {
            let [base, new] =
                [&a, &b].map(|table| table.rows.get(key).copied().unwrap_or_default());
            compare.row(*key, base, new)
        })
        .collect();
    compare.round_to_total(&mut rows);
    rows.retain(|row| options.unchanged || row.difference != 0.0);
    rows.sort_by(|a, b| {
        let size = b.difference.abs().total_cmp(&a.difference.abs());
        size.then_with(|| (&a.name, &a.file).cmp(&(&b.name, &b.file)))
    });
    Ok(Diff {
        sample_type: kind.name.to_owned(),
        unit: kind.unit.to_owned(),
        rows,
        base_total: a.total,
        new_total: b.total,
        covered_nanos: [a.covered.nanos(), b.covered.nanos()],
    })
}

/// Returns the sample type that [`diff()`] compares, in the finest unit of both sides: `wanted`, or the default type of
/// the new profiles, or else of the base, or else the first type that both have.
///
/// # Errors
///
/// A side lacks it.
///
/// ```
/// use otlp_profiles::transform::common_sample_type;
/// # let file = std::fs::read("testdata/go-heap.pb.gz").unwrap();
///
/// let heap = otlp_profiles::read(&file, &Default::default())?.profiles;
/// assert_eq!(common_sample_type([&heap, &heap], None)?.name, "inuse_space");
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn common_sample_type<'a>(
    [base, new]: [&'a Profiles; 2],
    wanted: Option<&str>,
) -> Result<SampleType<'a>> {
    common_type(&[base], &[new], wanted)
}

/// The sample type to compare if none is chosen: the first that both sides have of the default type of the new profiles,
/// that of the base, and the other types of the new ones. The first one if both have none.
fn shown<'a>(base: &[&'a Profiles], new: &[&'a Profiles]) -> Option<SampleType<'a>> {
    let default = |side: &[&'a Profiles]| side.iter().find_map(|of| of.default_sample_type());
    let common = common(base, new);
    let types = new.iter().flat_map(|profiles| profiles.sample_types());
    let mut all = default(new).into_iter().chain(default(base)).chain(types);
    all.find(|of| common.contains(&of.identity())).or_else(|| default(new))
}

/// The sample types that both sides have.
pub(super) fn common<'a>(
    base: &[&'a Profiles],
    new: &[&'a Profiles],
) -> HashSet<Identity<'a>, RandomState> {
    let [base, new] = [base, new].map(|side| -> HashSet<_, RandomState> {
        side.iter().flat_map(|of| of.sample_types()).map(SampleType::identity).collect()
    });
    base.intersection(&new).copied().collect()
}

/// The sample type that both sides have, in the finest unit.
pub(super) fn common_type<'a>(
    base: &[&'a Profiles],
    new: &[&'a Profiles],
    wanted: Option<&str>,
) -> Result<SampleType<'a>> {
    let unrepresentable = |message| Error::new(ErrorKind::Unrepresentable, message);
    let empty = || unrepresentable("both sides of a diff need profiles".to_owned());
    let found = match wanted {
        None => shown(base, new).ok_or_else(empty)?,
        Some(wanted) => {
            let mut found = Err(empty());
            for profiles in new {
                found = found.or_else(|_| profiles.find_sample_type(wanted));
            }
            found?
        }
    };
    let mut finest = found;
    for (name, side) in [("the base has", base), ("the new profiles have", new)] {
        let types: Vec<_> = side.iter().flat_map(|profiles| profiles.sample_types()).collect();
        if types.is_empty() {
            return Err(empty());
        }
        let same = types.iter().filter(|of| of.converts_to(found));
        let side_finest = same.copied().reduce(SampleType::finer).ok_or_else(|| {
            let types: Vec<_> = types.iter().map(ToString::to_string).collect();
            let types = types.join(", ");
            unrepresentable(format!(
                "{name} no {found}, but {types}: choose a sample type of both sides"
            ))
        })?;
        finest = finest.finer(side_finest);
    }
    Ok(finest)
}

/// How values are compared, with the totals of both sides.
struct Compare<'n> {
    nodes: &'n Nodes<'n>,
    mode: DiffMode,
    /// The rows are disjoint: their scaled values add up to the total.
    disjoint: bool,
    totals: [i128; 2],
    covered: [i128; 2],
}

impl<'n> Compare<'n> {
    fn new(a: &Table, b: &Table, options: &DiffOptions<'_>, nodes: &'n Nodes<'n>) -> Result<Self> {
        let totals = [a.total, b.total];
        let covered = [a, b].map(|table| table.covered.nanos());
        let missing = match options.mode {
            DiffMode::Raw => None,
            DiffMode::Normalized | DiffMode::Share => {
                totals.contains(&0).then_some("a total that is not 0")
            }
            DiffMode::PerSecond => covered.contains(&0).then_some("the duration of both profiles"),
        };
        if let Some(missing) = missing {
            let message = format!("this comparison needs {missing}: compare raw values");
            return Err(Error::new(ErrorKind::Unrepresentable, message));
        }
        // A stack may have several values of an attribute of frames.
        let disjoint = matches!(options.by, DiffBy::Stack | DiffBy::Attribute(_) | DiffBy::Total)
            && b.rows.values().sum::<i128>() == b.total;
        Ok(Self { nodes, mode: options.mode, disjoint, totals, covered })
    }

    fn row(&self, key: Key, base: i128, new: i128) -> Option<DiffRow> {
        let [base_total, new_total] = self.totals;
        let float = |value: i128| value as f64;
        let rates = [base, new].map(float);
        let (difference, exact, before) = match self.mode {
            DiffMode::Raw => (float(new - base), Some(new - base), float(base)),
            DiffMode::Normalized => {
                let scaled = scale(new, base_total, new_total);
                (float(scaled - base), Some(scaled - base), float(base))
            }
            DiffMode::Share => {
                let [a, b] = [base, new].map(float);
                let [a, b] = [a / float(base_total), b / float(new_total)];
                let same = base.checked_mul(new_total) == new.checked_mul(base_total);
                (if same { 0.0 } else { 100.0 * (b - a) }, None, 100.0 * a)
            }
            DiffMode::PerSecond => {
                let seconds = self.covered.map(|nanos| float(nanos) / 1e9);
                let [a, b] = [rates[0] / seconds[0], rates[1] / seconds[1]];
                (b - a, None, a)
            }
        };
        let relative = (base != 0).then(|| difference / before);
        let (name, file) = (self.nodes.name(key), self.nodes.file(key).to_owned());
        Some(DiffRow { name, file, base, new, difference, exact, relative })
    }

    /// Rounds scaled values so that they add up to the total: those with the largest fractions go up.
    fn round_to_total(&self, rows: &mut [DiffRow]) {
        if self.mode != DiffMode::Normalized || !self.disjoint {
            return;
        }
        let values: Vec<i128> = rows.iter().map(|row| row.new).collect();
        for (row, scaled) in rows.iter_mut().zip(apportion(&values, self.totals)) {
            let difference = scaled - row.base;
            (row.exact, row.difference) = (Some(difference), difference as f64);
            row.relative = (row.base != 0).then(|| difference as f64 / row.base as f64);
        }
    }
}
