//! `Profiles`, `Reader`, and the functions that read, convert and merge.

use std::io::{Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;

use otlp_profiles::columns;
use otlp_profiles::model::{Entry, ValueType};
use otlp_profiles::{Certainty, Format, Limits, ReadOptions};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyIterator, PyList};

use crate::content::Content;
use crate::error::Failure;
use crate::options::{LimitsArg, Options, parse_format};
use crate::profile::Profile;
use crate::records::{class, findings, html, losses, record};
use crate::source::{Source, open};
use crate::table::Table;

/// The profiles of one payload. A sequence of `Profile`; immutable, so threads may share it.
#[pyclass(frozen, sequence, module = "otlp_profiles")]
pub(crate) struct Profiles(pub(crate) Arc<Content>);

#[pymethods]
impl Profiles {
    /// The format of the payload, such as `otlp-1.10`; None of merged profiles.
    #[getter]
    fn format(&self) -> Option<&'static str> {
        Some(self.0.detected.as_ref()?.format.name())
    }

    /// How certain the detection of the format is: `certain`, `equivalent`, `preferred`, `ambiguous` or `nearest`.
    #[getter]
    fn certainty(&self) -> Option<&'static str> {
        Some(certainty(&self.0.detected.as_ref()?.certainty))
    }

    /// The repairs and remarks of the reader.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        findings(py, &self.0.findings)
    }

    /// The losses of the merge that made the profiles; empty if they were read.
    #[getter]
    fn losses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        losses(py, &self.0.losses)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __getitem__(&self, index: isize) -> PyResult<Profile> {
        Ok(Profile::new(&self.0, row_of(index, self.0.len(), "profiles")?))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let profiles = (0..self.0.len()).map(|row| Profile::new(&self.0, row));
        let profiles: PyResult<Vec<_>> = profiles.map(|profile| Bound::new(py, profile)).collect();
        PyList::new(py, profiles?)?.try_iter()
    }

    /// A pickle holds the profiles, but not the findings and losses. It holds merged profiles as OTLP does: with one
    /// profile for each sample type.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Pickled<'py>)> {
        let (payload, format) = py.detach(|| self.0.encoded())?;
        let (payload, is_merged) = (PyBytes::new(py, &payload), self.0.detected.is_none());
        let covered = self.0.covered.iter().map(|of| of.intervals().collect()).collect();
        let input = self.0.input.clone();
        let state = (payload, format.name(), is_merged, input, self.0.hash, covered);
        Ok((class(py, "_restored")?, state))
    }

    /// The profiles as a table for notebooks.
    fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let dictionary = self.0.profiles.dictionary();
        let row = |(row, entry): (usize, Entry<'_>)| {
            let profile = entry.profile();
            let text = |of: &ValueType| {
                format!("{}:{}", dictionary.text(of.name), dictionary.text(of.unit))
            };
            let types: Vec<_> = profile.sample_types().iter().map(text).collect();
            let sums: Vec<_> = profile.sums().iter().map(ToString::to_string).collect();
            let service = entry.resource_attributes().get_str("service.name");
            let service = service.unwrap_or_default().to_owned();
            (row, service, types.join(" "), sums.join(" "), profile.samples().len())
        };
        let rows: Vec<_> = self.0.profiles.entries().enumerate().map(row).collect();
        html(py, (self.__repr__(), ["", "service", "sample types", "sums", "samples"], rows))
    }

    fn __repr__(&self) -> String {
        let count = |count: usize, what| match count {
            1 => format!("1 {what}"),
            _ => format!("{count} {what}s"),
        };
        let samples = self.0.profiles.iter().map(|profile| profile.samples().len()).sum();
        let format = self.format().unwrap_or("merged");
        let (profiles, samples) = (count(self.0.len(), "profile"), count(samples, "sample"));
        format!("<Profiles {format}: {profiles}, {samples}>")
    }

    /// The table of samples: a row for each sample type of each sample.
    fn samples(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, columns::Table::Samples)
    }

    /// The table of stacks: lists of frames, the leaf first. Join it by `stack_id`.
    fn stacks(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, columns::Table::Stacks)
    }

    /// The table of profiles: a row for each sample type of each profile. Join it by `profile_key` and `type_index`.
    fn profiles(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, columns::Table::Profiles)
    }

    /// The table of mappings: the binaries of the process.
    fn mappings(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, columns::Table::Mappings)
    }

    /// Writes the profiles as one payload. It is not compressed.
    ///
    /// `sample_type` is the name of the type to write: all by default, but for formats that hold one, such as
    /// `folded`, the default type. With `deny_loss`, raises Error if the conversion loses or approximates anything.
    #[pyo3(signature = (to, *, sample_type=None, deny_loss=false, limits=None))]
    fn write<'py>(
        &self,
        py: Python<'py>,
        to: &str,
        sample_type: Option<&str>,
        deny_loss: bool,
        limits: Option<LimitsArg>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let to = (parse_format(to)?, sample_type);
        written(py, &self.0, to, deny_loss, &Options::limited(limits)?)
    }

    /// Writes the profiles as several payloads, if the format holds one profile per payload.
    #[pyo3(signature = (to, *, deny_loss=false, limits=None))]
    fn write_all<'py>(
        &self,
        py: Python<'py>,
        to: &str,
        deny_loss: bool,
        limits: Option<LimitsArg>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (format, options) = (parse_format(to)?, Options::limited(limits)?.write());
        let (payloads, lost) = py.detach(|| self.0.write_all(format, deny_loss, &options))?;
        let payloads: Vec<_> = payloads.iter().map(|payload| PyBytes::new(py, payload)).collect();
        let verdict = self.0.verdict(&lost).to_string();
        let findings = findings(py, &self.0.findings)?;
        record(py, "WrittenAll", (payloads, losses(py, &lost)?, verdict, findings))
    }
}

impl Profiles {
    fn table(&self, py: Python<'_>, table: columns::Table) -> PyResult<Table> {
        Ok(py.detach(|| self.0.dataset()?.table(table))?)
    }
}

fn written<'py>(
    py: Python<'py>,
    content: &Content,
    (format, sample_type): (Format, Option<&str>),
    deny_loss: bool,
    options: &Options,
) -> PyResult<Bound<'py, PyAny>> {
    let options = options.write();
    let written = py.detach(|| content.write(format, sample_type, deny_loss, &options))?;
    let payload = PyBytes::new(py, &written.payload);
    let verdict = content.verdict(&written.losses).to_string();
    let findings = findings(py, &content.findings)?;
    record(py, "Written", (payload, losses(py, &written.losses)?, verdict, findings))
}

fn certainty(certainty: &Certainty) -> &'static str {
    match certainty {
        Certainty::Certain => "certain",
        Certainty::Equivalent(_) => "equivalent",
        Certainty::Preferred(_) => "preferred",
        Certainty::Ambiguous(_) => "ambiguous",
        _ => "nearest",
    }
}

/// Reads profiles of any format from bytes or a file, gzip or not.
///
/// `format` names the format instead of detecting it; `endpoint` is the path or service that received the payload.
/// With `repair`, broken parts are skipped and listed in `findings`. With `guess`, a payload that two generations read
/// differently is read as the likelier one instead of raising Error. `limits` is `"network"` (the default for bytes),
/// `"file"` (the default for files), `"unlimited"`, or changes of the default such as `{"max_samples": 1000}`.
#[pyfunction]
#[pyo3(signature = (source, *, format=None, endpoint=None, repair=false, guess=false, limits=None))]
pub(crate) fn read(
    py: Python<'_>,
    source: Source,
    format: Option<&str>,
    endpoint: Option<&str>,
    repair: bool,
    guess: bool,
    limits: Option<LimitsArg>,
) -> PyResult<Profiles> {
    let options = Options::new(format, endpoint, repair, guess, limits)?;
    Ok(Profiles(py.detach(|| source.load(&options))?))
}

/// Converts a payload to another format: `read`, then `Profiles.write`.
#[pyfunction]
#[pyo3(signature = (source, to, *, sample_type=None, deny_loss=false, format=None, endpoint=None, repair=false, guess=false, limits=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn convert<'py>(
    py: Python<'py>,
    source: Source,
    to: &str,
    sample_type: Option<&str>,
    deny_loss: bool,
    format: Option<&str>,
    endpoint: Option<&str>,
    repair: bool,
    guess: bool,
    limits: Option<LimitsArg>,
) -> PyResult<Bound<'py, PyAny>> {
    let to = parse_format(to)?;
    // A guess may lose anything.
    let options = Options::new(format, endpoint, repair, guess && !deny_loss, limits)?;
    let content = py.detach(|| source.load(&options))?;
    written(py, &content, (to, sample_type), deny_loss, &options)
}

/// Detects the format of a payload, with the evidence.
#[pyfunction]
#[pyo3(signature = (source, *, endpoint=None, limits=None))]
pub(crate) fn detect<'py>(
    py: Python<'py>,
    source: Source,
    endpoint: Option<&str>,
    limits: Option<LimitsArg>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options::new(None, endpoint, false, false, limits)?;
    let detected = py.detach(|| -> Result<_, Failure> {
        let (bytes, limits) = source.bytes(&options)?;
        let detected = otlp_profiles::detect(&bytes, &options.read(false).limits(limits));
        detected.map_err(|error| source.failure(error))
    })?;
    let others: Vec<_> = detected.certainty.others().iter().map(|other| other.name()).collect();
    let fields =
        (detected.format.name(), certainty(&detected.certainty), others, detected.evidence);
    record(py, "Detected", fields)
}

/// What `restore` makes profiles of: a payload with its format, whether they are the result of a merge, the name of
/// the file, the hash of the input, and the intervals that each profile covers.
type Pickled<'py> =
    (Bound<'py, PyBytes>, &'static str, bool, String, Option<u128>, Vec<Vec<Interval>>);

/// The hash of a resource, the number of a payload, the start and the duration.
type Interval = (u128, u64, i128, i128);

/// Restores pickled profiles.
#[pyfunction]
#[pyo3(name = "_restore")]
pub(crate) fn restore(
    py: Python<'_>,
    payload: PyBackedBytes,
    format: &str,
    is_merged: bool,
    input: String,
    hash: Option<u128>,
    covered: Vec<Vec<Interval>>,
) -> PyResult<Profiles> {
    let options = ReadOptions::default().format(parse_format(format)?).limits(Limits::unlimited());
    let reading = py.detach(|| otlp_profiles::read(&payload, &options)).map_err(Failure::from)?;
    let covered = covered.into_iter().map(|of| of.into_iter().collect()).collect();
    Ok(Profiles(Content::restored(reading, is_merged, (input, hash), covered)))
}

/// Returns the row of an index, which counts from the end if it is negative.
pub(crate) fn row_of(index: isize, len: usize, what: &str) -> PyResult<usize> {
    let row = if index < 0 { len.checked_add_signed(index) } else { Some(index as usize) };
    let message = || PyIndexError::new_err(format!("index {index} of {len} {what}"));
    row.filter(|row| *row < len).ok_or_else(message)
}

/// Iterates over sources: at least one. A single path or payload is iterable too, but would be taken apart.
pub(crate) fn each<'py>(
    sources: &Bound<'py, PyAny>,
) -> PyResult<impl Iterator<Item = PyResult<Source>> + use<'py>> {
    if sources.extract::<Source>().is_ok() {
        return Err(PyTypeError::new_err("expected several sources, not one: pass a list"));
    }
    let mut sources = sources.try_iter()?.peekable();
    if sources.peek().is_none() {
        return Err(PyValueError::new_err("no sources: a pattern may match no file"));
    }
    Ok(sources.map(|source| source?.extract()))
}

/// Reads the messages of a source one by one: an iterator of Profiles.
///
/// For files of several messages, such as those of the Collector's file exporter, and for files larger than memory. The
/// arguments are those of `read`.
#[pyclass(module = "otlp_profiles")]
pub(crate) struct Reader {
    reader: otlp_profiles::Reader<Box<dyn Read + Send + Sync>>,
    path: Option<PathBuf>,
}

#[pymethods]
impl Reader {
    #[new]
    #[pyo3(signature = (source, *, format=None, endpoint=None, repair=false, guess=false, limits=None))]
    fn new(
        py: Python<'_>,
        source: Source,
        format: Option<&str>,
        endpoint: Option<&str>,
        repair: bool,
        guess: bool,
        limits: Option<LimitsArg>,
    ) -> PyResult<Self> {
        let options = Options::new(format, endpoint, repair, guess, limits)?;
        let path = source.path().map(ToOwned::to_owned);
        let input: Box<dyn Read + Send + Sync> = match source {
            Source::Path(path) => Box::new(open(&path)?),
            Source::Bytes(bytes) => Box::new(Cursor::new(bytes)),
            Source::Profiles(_) => {
                return Err(PyTypeError::new_err("the profiles are read already"));
            }
        };
        let options = options.read(path.is_some());
        let reader = py.detach(|| otlp_profiles::Reader::new(input, &options));
        let reader = reader.map_err(|error| Failure::Library(error, path.clone()))?;
        Ok(Self { reader, path })
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Profiles>> {
        let Self { reader, path } = self;
        match py.detach(|| reader.next()) {
            None => Ok(None),
            Some(Ok(reading)) => Ok(Some(Profiles(Content::new(reading, path.as_deref(), None)))),
            Some(Err(error)) => Err(Failure::Library(error, path.clone()).into()),
        }
    }
}
