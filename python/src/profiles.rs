//! `Profiles`, `Reader`, and the functions that read, convert and merge.

use std::io::{Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;

use otlp_profiles::columns;
use otlp_profiles::transform::{MergeOptions, Merger};
use otlp_profiles::{Certainty, Format};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyList};

use crate::content::Content;
use crate::error::Failure;
use crate::options::{LimitsArg, Options, parse_format};
use crate::profile::Profile;
use crate::records::{findings, losses, record};
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
        let len = self.0.len();
        let row = if index < 0 { len.checked_add_signed(index) } else { Some(index as usize) };
        match row.filter(|row| *row < len) {
            Some(row) => Ok(Profile::new(&self.0, row)),
            None => Err(PyIndexError::new_err(format!("index {index} of {len} profiles"))),
        }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let profiles = (0..self.0.len()).map(|row| Profile::new(&self.0, row));
        let profiles: PyResult<Vec<_>> = profiles.map(|profile| Bound::new(py, profile)).collect();
        PyList::new(py, profiles?)?.try_iter()
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
    /// With `deny_loss`, raises Error if the conversion loses or approximates anything.
    #[pyo3(signature = (to, *, deny_loss=false, limits=None))]
    fn write<'py>(
        &self,
        py: Python<'py>,
        to: &str,
        deny_loss: bool,
        limits: Option<LimitsArg>,
    ) -> PyResult<Bound<'py, PyAny>> {
        written(py, &self.0, parse_format(to)?, deny_loss, &Options::limited(limits)?)
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
    format: Format,
    deny_loss: bool,
    options: &Options,
) -> PyResult<Bound<'py, PyAny>> {
    let written = py.detach(|| content.write(format, deny_loss, &options.write()))?;
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
#[pyo3(signature = (source, to, *, deny_loss=false, format=None, endpoint=None, repair=false, guess=false, limits=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn convert<'py>(
    py: Python<'py>,
    source: Source,
    to: &str,
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
    written(py, &content, to, deny_loss, &options)
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

/// Adds up the profiles of several sources. Profiles of different identity stay apart.
///
/// With `keep_apart`, every profile stays apart and only the tables are united. With `canonical`, the result does not
/// depend on the order of the sources.
#[pyfunction]
#[pyo3(signature = (sources, *, keep_apart=false, canonical=false, limits=None))]
pub(crate) fn merge(
    py: Python<'_>,
    sources: &Bound<'_, PyAny>,
    keep_apart: bool,
    canonical: bool,
    limits: Option<LimitsArg>,
) -> PyResult<Profiles> {
    let options = Options::limited(limits)?;
    let merge = MergeOptions::default().keep_apart(keep_apart).canonical(canonical);
    let mut merger = Merger::new(merge.limits(options.limits(true)));
    let mut findings = Vec::new();
    // One source at a time, so that an iterator need not hold all of them.
    for source in each(sources)? {
        let source = source?;
        py.detach(|| -> Result<_, Failure> {
            let content = source.load(&options)?;
            findings.extend(content.findings.iter().cloned());
            merger.add(&content.profiles).map_err(|error| source.failure(error))
        })?;
    }
    let merged = py.detach(|| merger.finish()).map_err(Failure::from)?;
    Ok(Profiles(Content::merged(merged, findings)))
}

/// Iterates over sources. A single path or payload is one too, but would be taken apart.
pub(crate) fn each<'py>(
    sources: &Bound<'py, PyAny>,
) -> PyResult<impl Iterator<Item = PyResult<Source>> + use<'py>> {
    if sources.extract::<Source>().is_ok() {
        return Err(PyTypeError::new_err("expected several sources, not one: pass a list"));
    }
    Ok(sources.try_iter()?.map(|source| source?.extract()))
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
            Some(Ok(reading)) => Ok(Some(Profiles(Content::new(reading, path.as_deref())))),
            Some(Err(error)) => Err(Failure::Library(error, path.clone()).into()),
        }
    }
}
