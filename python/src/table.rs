//! Tables in the format of Arrow, handed over by the PyCapsule interface.

use std::io::Cursor;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::SchemaRef;
use arrow_schema::ffi::FFI_ArrowSchema;
use otlp_profiles::Losses;
use otlp_profiles::columns::{
    self, Batch, Partition, Segment, SegmentOptions, Values, arrow_schema, record_batches,
};
use otlp_profiles::model::StringId;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyCapsule, PyDict, PyIterator, PyList};
use xxhash_rust::xxh3::Xxh3;

use crate::content::Content;
use crate::error::Failure;
use crate::options::{LimitsArg, Options};
use crate::origin::Origin;
use crate::profiles::each;
use crate::records;

/// Collects payloads for tables.
pub(crate) struct Collector {
    segment: Segment<Cursor<Vec<u8>>>,
    losses: Losses,
    hash: Xxh3,
}

impl Collector {
    pub(crate) fn new() -> Result<Self, Failure> {
        let mut options = SegmentOptions::default();
        options.partition = Partition::None;
        let segment = Segment::new(options, Cursor::new(Vec::new()))?;
        Ok(Self { segment, losses: Losses::default(), hash: Xxh3::new() })
    }

    pub(crate) fn add(&mut self, content: &Content, origin: &Origin) -> Result<(), Failure> {
        let set = origin.set(&content.profiles)?;
        let profiles = set.as_ref().unwrap_or(&content.profiles);
        let added = self.segment.add(profiles, &content.input, content.format())?;
        self.losses.merge(&added);
        // Ids of rows are unique to the payloads, so that tables of different payloads can be concatenated.
        self.hash.update(&content.hash()?.to_be_bytes());
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<Dataset, Failure> {
        let id = self.hash.digest128().to_be_bytes();
        let [id @ .., _, _, _, _] = id;
        Ok(Dataset { tables: Mutex::new(self.segment.finish(id)?), losses: self.losses })
    }
}

/// The tables of one or more payloads. Each is created on first use.
pub(crate) struct Dataset {
    tables: Mutex<columns::Tables<Cursor<Vec<u8>>>>,
    losses: Losses,
}

impl Dataset {
    pub(crate) fn table(&self, table: columns::Table) -> Result<Table, Failure> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let schema = Arc::new(arrow_schema(table));
        let (mut batches, mut failure, mut texts) = (Vec::new(), None, 0);
        let parts = tables.parts().to_vec();
        for part in parts.iter().filter(|part| part.table == table) {
            tables.each(part, |batch| {
                if failure.is_none() {
                    failure = count(batch, &mut texts).err();
                }
                match failure {
                    Some(_) => Ok(()),
                    None => record_batches(batch, |batch| {
                        batches.push(batch);
                        Ok(())
                    }),
                }
            })?;
        }
        match failure {
            None => Ok(Table { name: table.name(), schema, batches }),
            Some(failure) => Err(failure),
        }
    }
}

/// Arranges the profiles of several sources as tables, such as all files of a folder.
///
/// `resource` sets attributes such as `service.name`, which pprofs lack.
#[pyfunction]
#[pyo3(signature = (sources, *, resource=None, limits=None))]
pub(crate) fn tables(
    py: Python<'_>,
    sources: &Bound<'_, PyAny>,
    resource: Option<&Bound<'_, PyDict>>,
    limits: Option<LimitsArg>,
) -> PyResult<Tables> {
    let (options, origin) = (Options::limited(limits)?, Origin::new(resource)?);
    let mut collector = Collector::new()?;
    for source in each(sources)? {
        let source = source?;
        py.detach(|| collector.add(&*source.load(&options)?, &origin))?;
    }
    Ok(Tables(py.detach(|| collector.finish())?))
}

/// The tables of several sources. Joins are right whatever the number of sources.
#[pyclass(frozen, module = "otlp_profiles")]
pub(crate) struct Tables(Dataset);

#[pymethods]
impl Tables {
    /// The data that the tables cannot represent.
    #[getter]
    fn losses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        records::losses(py, &self.0.losses)
    }

    /// The table of samples: a row for each sample type of each sample.
    fn samples(&self, py: Python<'_>) -> PyResult<Table> {
        Ok(py.detach(|| self.0.table(columns::Table::Samples))?)
    }

    /// The table of stacks: lists of frames, the leaf first. Join it by `stack_id`.
    fn stacks(&self, py: Python<'_>) -> PyResult<Table> {
        Ok(py.detach(|| self.0.table(columns::Table::Stacks))?)
    }

    /// The table of profiles: a row for each sample type of each profile. Join it by `profile_key` and `type_index`.
    fn profiles(&self, py: Python<'_>) -> PyResult<Table> {
        Ok(py.detach(|| self.0.table(columns::Table::Profiles))?)
    }

    /// The table of mappings: the binaries of the process.
    fn mappings(&self, py: Python<'_>) -> PyResult<Table> {
        Ok(py.detach(|| self.0.table(columns::Table::Mappings))?)
    }
}

/// Rows in the format of Arrow. pyarrow, pandas, Polars and DuckDB take a table as it is, without a copy.
#[pyclass(frozen, module = "otlp_profiles")]
pub(crate) struct Table {
    name: &'static str,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __repr__(&self) -> String {
        let (rows, columns) = (self.__len__(), self.schema.fields().len());
        format!("<Table {}: {rows} rows, {columns} columns>", self.name)
    }

    /// Iterates over the rows as dictionaries, by pyarrow: `pandas.DataFrame(table)`.
    fn __iter__(this: Bound<'_, Self>) -> PyResult<Bound<'_, PyIterator>> {
        let py = this.py();
        let rows = py.import("operator")?.call_method1("methodcaller", ("to_pylist",))?;
        let batches = Self::to_arrow(this)?.call_method0("to_batches")?;
        let lists = py.import("builtins")?.call_method1("map", (rows, batches))?;
        let chain = py.import("itertools")?.getattr("chain")?;
        chain.call_method1("from_iterable", (lists,))?.try_iter()
    }

    /// Hands the rows over by Arrow's PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer ignore the request.
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Hands the schema over by Arrow's PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref());
        let schema = schema.map_err(|error| PyValueError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Returns a `pyarrow.Table`.
    fn to_arrow(this: Bound<'_, Self>) -> PyResult<Bound<'_, PyAny>> {
        this.py().import("pyarrow")?.call_method1("table", (this,))
    }

    /// Returns a `pandas.DataFrame`, by pyarrow. Attributes are dictionaries.
    fn to_pandas(this: Bound<'_, Self>) -> PyResult<Bound<'_, PyAny>> {
        let arguments = [("maps_as_pydicts", "lossy")].into_py_dict(this.py())?;
        Self::to_arrow(this)?.call_method("to_pandas", (), Some(&arguments))
    }

    /// Returns a `polars.DataFrame`.
    fn to_polars(this: Bound<'_, Self>) -> PyResult<Bound<'_, PyAny>> {
        this.py().import("polars")?.call_method1("DataFrame", (this,))
    }
}

/// The most bytes of texts in one table. A short payload may use a long name in millions of frames. It also keeps the
/// offsets of texts within 31 bits.
const MAX_TEXTS: usize = (1 << 31) - 1;

/// Counts the texts of a batch.
fn count(batch: &Batch<'_>, texts: &mut usize) -> Result<(), Failure> {
    let of_ids = |ids: &[StringId]| ids.iter().map(|id| batch.text(*id).len()).sum::<usize>();
    for (_, array) in batch.columns() {
        *texts += match &array.values {
            Values::Text(ids) => of_ids(ids),
            Values::Pairs { keys, values } => of_ids(keys) + of_ids(values),
            _ => 0,
        };
    }
    if *texts > MAX_TEXTS {
        let message = format!(
            "the texts of the table {} exceed {MAX_TEXTS} bytes: export writes them to Parquet files",
            batch.table().name()
        );
        return Err(Failure::Table(message));
    }
    Ok(())
}
