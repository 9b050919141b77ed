//! `export`: the tables of many sources as files.

use std::fmt::Debug;
use std::fs::File;
use std::io::{BufWriter, Cursor, Read};
use std::path::{Path, PathBuf};

use otlp_profiles::columns::{
    Dataset, PageCompression, Partition, Segment, SegmentOptions, Table, TableFormat, hash_of,
    segment_id, write_part,
};
use otlp_profiles::{Losses, Profiles, ReadFinding};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::Failure;
use crate::options::{LimitsArg, Options};
use crate::origin::Origin;
use crate::profiles::each;
use crate::records::{findings, losses, record};
use crate::source::{Source, open};

/// A segment that sources are added to.
struct Export {
    dataset: Dataset,
    segment: Segment<File>,
    hashes: Vec<u128>,
    origin: Origin,
    losses: Losses,
    findings: Vec<ReadFinding>,
}

/// The files of a segment.
struct Exported {
    segment: [u8; 12],
    files: Vec<PathBuf>,
    samples: u64,
}

impl Export {
    fn new(directory: &Path, options: SegmentOptions, origin: Origin) -> Result<Self, Failure> {
        let dataset = Dataset::open(directory)?;
        let segment = Segment::new(options, dataset.scratch()?)?;
        let (hashes, losses, findings) = Default::default();
        Ok(Self { dataset, segment, hashes, origin, losses, findings })
    }

    /// Adds all messages of a source.
    fn add(&mut self, source: &Source, options: &Options) -> Result<(), Failure> {
        let path = source.path();
        let (input, hash): (Box<dyn Read + '_>, u128) = match source {
            Source::Path(path) => {
                let hash =
                    hash_of(open(path)?).map_err(|error| Failure::Io(error, path.clone()))?;
                (Box::new(open(path)?), hash)
            }
            // A hash of bytes in memory cannot fail.
            Source::Bytes(bytes) => {
                (Box::new(Cursor::new(&bytes[..])), hash_of(&bytes[..]).unwrap_or_default())
            }
            Source::Profiles(content) => {
                self.hashes.push(content.hash()?);
                return self.add_profiles(&content.profiles, &content.input, content.format());
            }
        };
        self.hashes.push(hash);
        let name = path.and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let failure = |error| source.failure(error);
        let reader = otlp_profiles::Reader::new(input, &options.read(path.is_some()));
        for reading in reader.map_err(failure)? {
            let reading = reading.map_err(failure)?;
            self.findings.extend(reading.findings);
            self.add_profiles(&reading.profiles, &name, reading.detected.format.name())?;
        }
        Ok(())
    }

    fn add_profiles(
        &mut self,
        profiles: &Profiles,
        input: &str,
        format: &str,
    ) -> Result<(), Failure> {
        let set = self.origin.set(profiles)?;
        let profiles = set.as_ref().unwrap_or(profiles);
        self.losses.merge(&self.segment.add(profiles, input, format)?);
        Ok(())
    }

    /// Writes all parts, and publishes them together.
    fn finish(
        self,
        options: &Options,
        directory: &Path,
        (format, force): (TableFormat, bool),
    ) -> Result<Exported, Failure> {
        // As in the command, which has the option --type besides.
        let set = (&[] as &[(String, String)], &self.origin);
        let set: Option<&dyn Debug> = if self.origin.is_empty() { None } else { Some(&set) };
        let segment = segment_id(self.hashes, &options.read(true), set);
        if let Some(path) = self.dataset.existing(segment).into_iter().next().filter(|_| !force) {
            return Err(Failure::Exported(path));
        }
        let mut tables = self.segment.finish(segment)?;
        let (mut files, mut samples) = (Vec::new(), 0);
        for part in tables.parts().to_vec() {
            let file = self.dataset.create(&part, segment, format.extension())?;
            let rows = write_part(&mut tables, &part, BufWriter::new(file), format)?;
            samples += if part.table == Table::Samples { rows } else { 0 };
            files.push(directory.join(part.path(segment, format.extension())));
        }
        // Not all systems can rename the directory of an open file.
        drop(tables);
        if let Some(path) = self.dataset.publish(segment, force)? {
            return Err(Failure::Exported(path));
        }
        Ok(Exported { segment, files, samples })
    }
}

/// Writes the profiles of several sources as tables into a directory, for query engines: `otlp-profiles export`.
///
/// `to` is `parquet` or `arrow`; `compression` (`gzip`, `lz4` or `none`) is that of Parquet. `partition` divides the
/// tables into files: `service,date`, `service` or `none`. Sources that were exported before raise FileExistsError
/// unless `force` is set: their values would count twice. Nothing is written if a source cannot be read. `resource`
/// sets attributes such as `service.name` and `service.version`, which pprofs lack.
#[pyfunction]
#[pyo3(signature = (
    sources, directory, to="parquet", *, compression="gzip", partition="service,date", resource=None, force=false,
    repair=false, guess=false, max_partitions=1024, max_segment_stacks=16_777_216, limits=None
))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn export<'py>(
    py: Python<'py>,
    sources: &Bound<'py, PyAny>,
    directory: PathBuf,
    to: &str,
    compression: &str,
    partition: &str,
    resource: Option<&Bound<'py, PyDict>>,
    force: bool,
    repair: bool,
    guess: bool,
    max_partitions: u64,
    max_segment_stacks: u64,
    limits: Option<LimitsArg>,
) -> PyResult<Bound<'py, PyAny>> {
    let unknown = |name: &str, values: &str, value: &str| {
        Err(PyValueError::new_err(format!("{name} is {values}, not {value:?}")))
    };
    let compression = match compression {
        "gzip" => PageCompression::Gzip,
        "lz4" => PageCompression::Lz4,
        "none" => PageCompression::None,
        other => return unknown("compression", "gzip, lz4 or none", other),
    };
    let format = match to {
        "parquet" => TableFormat::Parquet(compression),
        "arrow" => TableFormat::Arrow,
        other => return unknown("to", "parquet or arrow", other),
    };
    let mut of = SegmentOptions::default();
    of.partition = match partition {
        "service,date" => Partition::ServiceDate,
        "service" => Partition::Service,
        "none" => Partition::None,
        other => return unknown("partition", "service,date, service or none", other),
    };
    let options = Options::new(None, None, repair, guess, limits)?;
    (of.max_partitions, of.max_segment_stacks) = (max_partitions, max_segment_stacks);
    of.limits = options.limits(true);
    let (sources, origin) = (each(sources)?, Origin::new(resource)?);
    let mut export = py.detach(|| Export::new(&directory, of, origin))?;
    for source in sources {
        let source = source?;
        py.detach(|| export.add(&source, &options))?;
    }
    let lost = losses(py, &export.losses)?;
    let found = findings(py, &export.findings)?;
    let exported = py.detach(|| export.finish(&options, &directory, (format, force)))?;
    let segment: String = exported.segment.iter().map(|byte| format!("{byte:02x}")).collect();
    record(py, "Exported", (segment, exported.files, exported.samples, lost, found))
}
