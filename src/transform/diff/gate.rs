//! A gate for continuous integration: fails if anything costs more than before by more than a limit.

use std::collections::BTreeSet;
use std::fmt;

use crate::error::{Error, ErrorKind, Result};
use crate::limits::setters;
use crate::look::{Nodes, Rename};
use crate::model::{Profiles, SampleType};
use crate::output_limit::OutputLimit;
use crate::tables::profile::covered::Covered;
use crate::transform::diff::apportion::points;
use crate::transform::diff::compare::common_type;
use crate::transform::diff::table::{DiffBy, Key, Rows, Table};

/// The values that a [`GateRule`] limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
pub enum GateKind {
    /// The share of each function.
    Function,
    /// The share of each source file.
    File,
    /// The share of each stack.
    Stack,
    /// The total: a second if both sides have a duration, else as it is.
    Total,
}

/// A limit for changes.
///
/// Functions, files and stacks are measured in percentage points of the total, the total in percent of the base.
///
/// ```
/// use otlp_profiles::transform::{GateKind, GateRule};
///
/// let slower = GateRule::over(GateKind::Function, 5.0);
/// let stopped = GateRule::under(GateKind::Total, 50.0);
/// assert!(!slower.decrease && stopped.decrease);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct GateRule {
    /// The values that are limited.
    pub kind: GateKind,
    /// The largest change that passes, in percent; more than it fails.
    #[cfg_attr(feature = "serde", serde(rename = "limit"))]
    pub percent: f64,
    /// Limits decreases instead of increases: for benchmarks that may have stopped working.
    pub decrease: bool,
}

impl GateRule {
    /// Fails if anything of a kind grows by more than so many percent.
    pub fn over(kind: GateKind, percent: f64) -> Self {
        Self { kind, percent, decrease: false }
    }

    /// Fails if anything of a kind shrinks by more than so many percent.
    pub fn under(kind: GateKind, percent: f64) -> Self {
        Self { kind, percent, decrease: true }
    }
}

/// Options of [`judge`].
///
/// ```
/// use otlp_profiles::transform::{Gate, GateKind, GateRule, judge};
///
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let heap = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let gate = Gate::new([GateRule::over(GateKind::Function, 5.0)])
///     .sample_type(Some("inuse_space"))
///     .relative(true)
///     .min_share(1.0)
///     .sigma(0.0);
/// assert!(judge(&[&heap], &[&heap], &gate)?.passed);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Gate<'a> {
    /// The limits.
    pub rules: Vec<GateRule>,
    /// Measures functions, files and stacks relative to their value in the base. Needs `min_share`, as tiny functions
    /// double easily. New ones have no such value and are measured in points.
    pub relative: bool,
    /// Ignores rows below this share of the total, in percent, on both sides.
    pub min_share: f64,
    /// Ignores rows below this value on both sides.
    pub min_value: i128,
    /// Ignores changes that are within so many standard errors of sampling; 0 turns the test off.
    pub sigma: f64,
    /// Ignores changes unless every new profile exceeds every base profile, with three or more a side.
    pub separate: bool,
    /// The sample type; by default the default type of the new profiles.
    pub sample_type: Option<&'a str>,
    /// Renames functions before they are compared.
    pub rename: Option<Rename<'a>>,
    /// The time that each profile of the base and of the new payloads covers, in order, as
    /// [`Merged::covered`](crate::transform::Merged::covered) has it. By default, the intervals of the profiles count;
    /// that of a merged profile includes the gaps between its inputs.
    pub covered: [&'a [Covered]; 2],
    /// The limit on the names of stacks. The default is that of [`WriteOptions`](crate::WriteOptions) for all payloads.
    pub limit: Option<OutputLimit>,
}

setters! { Gate<'a> {
    relative: bool,
    min_share: f64,
    min_value: i128,
    sigma: f64,
    separate: bool,
    sample_type: Option<&'a str>,
    rename: Option<Rename<'a>>,
    covered: [&'a [Covered]; 2],
    limit: Option<OutputLimit>,
} }

impl Gate<'_> {
    /// A gate with these limits, a noise test of 3 standard errors, and no floors.
    pub fn new(rules: impl Into<Vec<GateRule>>) -> Self {
        Self {
            rules: rules.into(),
            relative: false,
            min_share: 0.0,
            min_value: 0,
            sigma: 3.0,
            separate: false,
            sample_type: None,
            rename: None,
            covered: [&[], &[]],
            limit: None,
        }
    }
}

/// Why a changed row fails or passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
pub enum Judgement {
    /// The change exceeds the limit.
    Fails,
    /// The change exceeds the limit, but sampling may explain it.
    Noise,
    /// The change exceeds the limit, but some new profile does not exceed some base profile.
    Straddles,
    /// The change exceeds the limit, but the row is below a floor.
    Floor,
    /// The change is within the limit.
    Passes,
}

/// The sampling error of a change.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Noise {
    /// The standard error, in percentage points.
    pub error: f64,
    /// The change in standard errors.
    pub z: f64,
    /// The samples that each side needs for the change to count.
    pub needed: f64,
}

/// A row that changed.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct GateRow {
    /// The rule that judged it.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub rule: GateRule,
    /// The function, file or stack.
    pub name: String,
    /// The file of a function.
    pub file: String,
    /// The value in the base.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::number"))]
    pub base: i128,
    /// The new value.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::number"))]
    pub new: i128,
    /// The change in percentage points, or in percent of the base if it is `relative`.
    pub change: f64,
    /// The change is a part of the base: of a total, or with [`Gate::relative`] of a row that the base has.
    pub relative: bool,
    /// The sampling error, if sample counts are known.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub noise: Option<Noise>,
    /// The judgement.
    pub judgement: Judgement,
}

/// The verdict of a gate. It displays as a report of the rows that exceed a limit and the ten largest others.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct GateReport {
    /// No row fails.
    pub passed: bool,
    /// The name of the sample type.
    pub sample_type: String,
    /// The unit of all values.
    pub unit: String,
    /// Sample counts are known, so the noise test was made.
    pub noise_tested: bool,
    /// The totals of the base and of the new profiles.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::numbers"))]
    pub totals: [i128; 2],
    /// All rows that changed: failing rows first, then by the size of the change.
    pub rows: Vec<GateRow>,
}

/// Judges new profiles by a base. Several profiles of a side are added up.
///
/// A gate that cannot judge is an error: it never passes.
///
/// # Errors
///
/// A limit is not a number, infinite or negative; the base or the new total is 0; a side lacks the sample type; or
/// `relative` has no `min_share`.
///
/// ```
/// use otlp_profiles::transform::{Gate, GateKind, GateRule, judge};
/// # let file = std::fs::read("testdata/go-heap.pb.gz").unwrap();
///
/// let base = otlp_profiles::read(&file, &Default::default())?.profiles;
/// let gate = Gate::new([GateRule::over(GateKind::Function, 5.0)]);
/// let report = judge(&[&base], &[&base], &gate)?;
/// assert!(report.passed && report.rows.is_empty());
/// println!("{report}");
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn judge(base: &[&Profiles], new: &[&Profiles], gate: &Gate<'_>) -> Result<GateReport> {
    check(gate)?;
    let kind = common_type(base, new, gate.sample_type)?;
    let mut report = GateReport {
        passed: true,
        noise_tested: false,
        totals: [0, 0],
        rows: Vec::new(),
        sample_type: kind.name.to_owned(),
        unit: kind.unit.to_owned(),
    };
    let kinds: BTreeSet<GateKind> = gate.rules.iter().map(|rule| rule.kind).collect();
    for of in kinds {
        let by = match of {
            GateKind::Function => DiffBy::Function,
            GateKind::File => DiffBy::File,
            GateKind::Stack => DiffBy::Stack,
            GateKind::Total => DiffBy::Total,
        };
        let frames = by.frames();
        let limit = OutputLimit::or_default(gate.limit, [base, new].into_iter().flatten().copied());
        let mut rows = Rows::new(&by, &frames, gate.rename, limit);
        let sides = Sides::new([base, new], kind, &mut rows, gate)?;
        rows.nodes.tell_apart();
        let [a, b] = &sides.sums;
        if a.total == 0 || b.total == 0 {
            let side = if a.total == 0 { "base" } else { "new" };
            let message = format!("the {side} total of {} is 0: nothing can be judged", kind.name);
            return Err(Error::new(ErrorKind::Unrepresentable, message));
        }
        report.totals = [a.total, b.total];
        report.noise_tested = gate.sigma > 0.0 && a.count.zip(b.count).is_some();
        let keys: BTreeSet<Key> = a.rows.keys().chain(b.rows.keys()).copied().collect();
        for rule in gate.rules.iter().filter(|rule| rule.kind == of) {
            let judged = keys.iter().filter_map(|key| sides.judge(*key, *rule, gate, &rows.nodes));
            report.rows.extend(judged);
        }
    }
    report.rows.sort_by(|a, b| {
        let size = b.change.abs().total_cmp(&a.change.abs());
        a.judgement.cmp(&b.judgement).then(size).then_with(|| a.name.cmp(&b.name))
    });
    report.passed = report.rows.iter().all(|row| row.judgement != Judgement::Fails);
    Ok(report)
}

/// Refuses a gate that cannot judge.
fn check(gate: &Gate<'_>) -> Result<()> {
    let is_limit = |percent: f64| percent.is_finite() && percent >= 0.0;
    let limits = gate.rules.iter().map(|rule| rule.percent);
    let mut limits = limits.chain([gate.min_share, gate.sigma]);
    let message = match limits.find(|limit| !is_limit(*limit)) {
        Some(limit) => {
            format!("fail-over and other limits must be finite numbers from 0, not {limit}")
        }
        None if gate.rules.is_empty() => "fail-over is missing: the gate has no limit".to_owned(),
        None if gate.relative && gate.min_share == 0.0 => {
            "gate-relative needs a least share, as tiny functions double easily".to_owned()
        }
        None => return Ok(()),
    };
    Err(Error::new(ErrorKind::InvalidOption, message))
}

/// The values of both sides by one kind of key.
struct Sides {
    /// Of each profile.
    each: [Vec<Table>; 2],
    sums: [Table; 2],
    /// The nanoseconds that each side covers; 0 if unknown.
    covered: [i128; 2],
}

impl Sides {
    fn new<'a>(
        sides: [&[&'a Profiles]; 2],
        kind: SampleType<'_>,
        rows: &mut Rows<'a, '_>,
        gate: &Gate<'_>,
    ) -> Result<Self> {
        let mut tables = |side: &[&'a Profiles], covered: &[Covered]| -> Result<Vec<Table>> {
            let mut covered = covered.iter();
            side.iter().map(|profiles| Table::of(profiles, kind, rows, &mut covered)).collect()
        };
        let [base, new] = gate.covered;
        let each = [tables(sides[0], base)?, tables(sides[1], new)?];
        let sum = |tables: &Vec<Table>| {
            let mut tables = tables.iter();
            let mut sum = tables.next().cloned().unwrap_or_default();
            tables.for_each(|table| sum.add(table));
            sum
        };
        let sums = [sum(&each[0]), sum(&each[1])];
        let covered = sums.each_ref().map(|table| table.covered.nanos());
        Ok(Self { each, sums, covered })
    }

    /// The judgement of a key; `None` if it did not change.
    fn judge(
        &self,
        key: Key,
        rule: GateRule,
        gate: &Gate<'_>,
        nodes: &Nodes<'_>,
    ) -> Option<GateRow> {
        let [a, b] = &self.sums;
        let [base, new] = [a, b].map(|table| table.rows.get(&key).copied().unwrap_or_default());
        let points = points((base, a.total), (new, b.total));
        let change = match rule.kind {
            GateKind::Total if !self.covered.contains(&0) => {
                let [of_base, of_new] = self.covered.map(|nanos| nanos as f64);
                let [a, b] = [base as f64 / of_base, new as f64 / of_new];
                100.0 * (b - a) / a.abs()
            }
            GateKind::Total => 100.0 * (new - base) as f64 / base.abs() as f64,
            _ if gate.relative && base != 0 => points / (base as f64 / a.total as f64),
            _ => points,
        };
        if change == 0.0 || change.is_nan() {
            return None;
        }
        let noise = self.noise(base, new, rule.kind, gate.sigma);
        let over = if rule.decrease { -change } else { change };
        let share = |value: i128, total: i128| 100.0 * value.abs() as f64 / total.abs() as f64;
        let is_small = share(base, a.total).max(share(new, b.total)) < gate.min_share
            || base.abs().max(new.abs()) < gate.min_value;
        let judgement = if over <= rule.percent {
            Judgement::Passes
        } else if is_small {
            Judgement::Floor
        } else if noise.is_some_and(|noise| noise.z <= gate.sigma) {
            Judgement::Noise
        } else if gate.separate && self.straddles(key, rule.decrease) {
            Judgement::Straddles
        } else {
            Judgement::Fails
        };
        let (name, file) = (nodes.name(key), nodes.file(key).to_owned());
        let relative = rule.kind == GateKind::Total || gate.relative && base != 0;
        Some(GateRow { rule, name, file, base, new, change, relative, noise, judgement })
    }

    /// The sampling error of a change of a share.
    fn noise(&self, base: i128, new: i128, kind: GateKind, sigma: f64) -> Option<Noise> {
        let [a, b] = &self.sums;
        let (base_count, new_count) = a.count.zip(b.count)?;
        if kind == GateKind::Total || sigma == 0.0 || base_count <= 0 || new_count <= 0 {
            return None;
        }
        let variance = |value: i128, total: i128| {
            let share = (value as f64 / total as f64).clamp(0.0, 1.0);
            share * (1.0 - share)
        };
        let [of_base, of_new] = [variance(base, a.total), variance(new, b.total)];
        let error = (of_base / base_count as f64 + of_new / new_count as f64).sqrt();
        let change = points((base, a.total), (new, b.total)).abs() / 100.0;
        let needed = sigma * sigma * (of_base + of_new) / (change * change);
        // Rounding errors of the division do not add a sample.
        let needed = (needed * (1.0 - 1e-12)).ceil();
        Some(Noise { error: 100.0 * error, z: change / error, needed })
    }

    /// Whether some new profile does not exceed some base profile, of three or more a side.
    fn straddles(&self, key: Key, decrease: bool) -> bool {
        let [base, new] = self.each.each_ref().map(|tables| {
            let share = |table: &Table| {
                let value = table.rows.get(&key).copied().unwrap_or_default();
                if table.total == 0 { 0.0 } else { value as f64 / table.total as f64 }
            };
            tables.iter().map(share).collect::<Vec<f64>>()
        });
        let (lower, upper) = if decrease { (&new, &base) } else { (&base, &new) };
        let highest = lower.iter().copied().fold(f64::MIN, f64::max);
        let lowest = upper.iter().copied().fold(f64::MAX, f64::min);
        base.len() < 3 || new.len() < 3 || lowest <= highest
    }
}

impl fmt::Display for GateReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failing = self.rows.iter().filter(|row| row.judgement == Judgement::Fails).count();
        match failing {
            0 => writeln!(f, "passed: no change of {} exceeds its limit", self.sample_type)?,
            _ => writeln!(
                f,
                "failed: changes of {} that exceed their limit: {failing}",
                self.sample_type
            )?,
        }
        if !self.noise_tested {
            writeln!(
                f,
                "without a noise test: the number of samples is unknown or the test is off"
            )?;
        }
        let over = self.rows.iter().filter(|row| row.judgement != Judgement::Passes);
        let others = self.rows.iter().filter(|row| row.judgement == Judgement::Passes).take(10);
        over.chain(others).try_for_each(|row| writeln!(f, "{row} {}", self.unit))
    }
}

impl fmt::Display for GateRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let judgement = match self.judgement {
            Judgement::Fails => "fails",
            Judgement::Noise => "noise",
            Judgement::Straddles => "straddles",
            Judgement::Floor => "below floor",
            Judgement::Passes => "passes",
        };
        let unit = if self.relative { "%" } else { " points" };
        write!(
            f,
            "{judgement}: {} {:+.2}{unit}, limit {}%",
            self.name, self.change, self.rule.percent
        )?;
        if let Some(noise) = self.noise.filter(|_| self.judgement == Judgement::Noise) {
            let Noise { error, z, needed } = noise;
            write!(f, ", error {error:.2} points, z = {z:.2}, needs {needed} samples a side")?;
        }
        write!(f, ", from {} to {}", self.base, self.new)
    }
}
