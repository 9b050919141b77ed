//! Reports: `top`, `diff` and `validate`.

use otlp_profiles::check;
use otlp_profiles::format::Receiver;
use otlp_profiles::look::{self, By};
use otlp_profiles::model::SampleType;
use otlp_profiles::transform::{self, Caution, DiffBy, DiffMode, DiffOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::content::Content;
use crate::error::Failure;
use crate::filters::{Filters, warn, warn_of};
use crate::options::{LimitsArg, Options};
use crate::records::record;
use crate::source::Source;

/// Adds up the values of each function: `flat` at the leaf, `cum` anywhere in the stack.
///
/// `by` is `function`, `filefunction`, `file`, `line`, `address`, `mapping` or `attribute:KEY`. Rows are sorted by
/// `flat`, or by `cum` with `cum=True`; `limit` is the number of rows. The filters are those of `filter`.
#[pyfunction]
#[pyo3(signature = (source, *, by="function", sample_type=None, cum=false, limit=None, **filters))]
pub(crate) fn top<'py>(
    py: Python<'py>,
    source: Source,
    by: &str,
    sample_type: Option<String>,
    cum: bool,
    limit: Option<usize>,
    filters: Option<&Bound<'_, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let by = match by {
        "function" => By::Function,
        "filefunction" => By::FileFunction,
        "file" => By::File,
        "line" => By::Line,
        "address" => By::Address,
        "mapping" => By::Mapping,
        _ => By::Attribute(key(by, "function, filefunction, file, line, address, mapping")?),
    };
    let options = look::Options::default().by(by).sample_type(sample_type).cum(cum).untrimmed();
    let (reading, filters) = (Options::limited(None)?, Filters::new(filters)?);
    let (top, cautions) = py.detach(|| -> Result<_, Failure> {
        let content = source.load(&reading)?;
        let mut profiles = content.profiles.clone();
        filters.drop_declared(&mut profiles)?;
        let top = look::top(&profiles, &options.filter(filters.filter()))?;
        let kind = SampleType::new(&top.header.sample_type, &top.header.unit);
        let Content { profiles, inputs, snapshots, .. } = &*content;
        let cautions = Caution::of(&[profiles], kind, inputs, snapshots);
        Ok((top, cautions))
    })?;
    warn(py, &top.header.unmatched_filters)?;
    warn_of(py, &cautions)?;
    let row = |row: &look::Row| record(py, "TopRow", (&row.name, row.flat, row.cum));
    let limit = limit.unwrap_or(usize::MAX);
    let rows: PyResult<Vec<_>> = top.rows.iter().take(limit).map(row).collect();
    record(py, "Top", (rows?, top.header.total, top.header.sample_type, top.header.unit))
}

/// Compares two sources: the rows that differ, the largest difference first.
///
/// `by` is `function`, `file`, `line`, `mapping`, `stack`, `total` or `attribute:KEY`; `mode` is `raw`, `normalized`,
/// `share` or `per_second`.
#[pyfunction]
#[pyo3(signature = (base, new, *, by="function", mode="raw", sample_type=None))]
pub(crate) fn diff<'py>(
    py: Python<'py>,
    base: Source,
    new: Source,
    by: &str,
    mode: &str,
    sample_type: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let by = match by {
        "function" => DiffBy::Function,
        "file" => DiffBy::File,
        "line" => DiffBy::Line,
        "mapping" => DiffBy::Mapping,
        "stack" => DiffBy::Stack,
        "total" => DiffBy::Total,
        _ => DiffBy::Attribute(key(by, "function, file, line, mapping, stack, total")?),
    };
    let mode = match mode {
        "raw" => DiffMode::Raw,
        "normalized" => DiffMode::Normalized,
        "share" => DiffMode::Share,
        "per_second" => DiffMode::PerSecond,
        _ => {
            let message = format!("mode is raw, normalized, share or per_second, not {mode:?}");
            return Err(PyValueError::new_err(message));
        }
    };
    let reading = Options::limited(None)?;
    let (diff, cautions) = py.detach(|| -> Result<_, Failure> {
        let (base, new) = (base.load(&reading)?, new.load(&reading)?);
        let options = DiffOptions::default().by(by).mode(mode).sample_type(sample_type);
        let options = options.covered([&base.covered, &new.covered]);
        let diff = transform::diff(&base.profiles, &new.profiles, &options)?;
        let mut inputs = base.inputs.clone();
        inputs.append(new.inputs.clone());
        let kind = SampleType::new(&diff.sample_type, &diff.unit);
        let snapshots = base.snapshots.iter().chain(&new.snapshots);
        let sides = [&base.profiles, &new.profiles];
        let cautions = Caution::of(&sides, kind, &inputs, snapshots);
        Ok((diff, cautions))
    })?;
    warn_of(py, &cautions)?;
    let row = |row: &transform::DiffRow| {
        let values = (&row.name, &row.file, row.base, row.new, row.difference, row.relative);
        record(py, "DiffRow", values)
    };
    let rows: PyResult<Vec<_>> = diff.rows.iter().map(row).collect();
    let (base, new) = (diff.base_total, diff.new_total);
    record(py, "Diff", (rows?, base, new, diff.sample_type, diff.unit))
}

fn key(by: &str, names: &str) -> PyResult<String> {
    match by.strip_prefix("attribute:") {
        Some(key) if !key.is_empty() => Ok(key.to_owned()),
        _ => Err(PyValueError::new_err(format!("by is {names} or attribute:KEY, not {by:?}"))),
    }
}

/// Checks a payload against the rules of its generation. Returns all findings; broken input is a finding, too.
///
/// At most `max_findings` are listed for each rule; one more finding counts the others. With `receiver`, also reports
/// valid data that `collector`, `parca` or `pyroscope` rejects or drops. Name the `format` of OTLP/JSON.
#[pyfunction]
#[pyo3(signature = (source, *, format=None, receiver=None, max_findings=100, limits=None))]
pub(crate) fn validate<'py>(
    py: Python<'py>,
    source: Source,
    format: Option<&str>,
    receiver: Option<&str>,
    max_findings: u64,
    limits: Option<LimitsArg>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let options = Options::new(format, None, false, false, limits)?;
    let receiver = receiver.map(str::parse::<Receiver>).transpose().map_err(Failure::from)?;
    let report = py.detach(|| -> Result<_, Failure> {
        let (bytes, limits) = source.bytes(&options)?;
        let check = check::Options::default().limits(limits).format(options.format());
        Ok(check::validate(&bytes, &check.receiver(receiver).max_findings(max_findings)))
    })?;
    let finding = |finding: &check::Finding| {
        let (rule, severity) = (finding.rule, finding.severity.to_string());
        let (message, line, column) = (finding.message(), finding.line, finding.column);
        let (place, byte, count) = (&finding.path, finding.byte, finding.count);
        let fields = (rule.id(), place, message, severity, byte, count, rule.name(), line, column);
        record(py, "Finding", fields)
    };
    report.findings().map(finding).collect()
}
