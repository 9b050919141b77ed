//! Tables in the format of Arrow: record batches, and files of them.

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, Int32Array, Int64Array, ListArray,
    MapArray, RecordBatch, StringArray, StructArray, TimestampMicrosecondArray, UInt64Array,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, TimeUnit};

use crate::columns::batch::{Array, Batch, Values};
use crate::columns::schema::{Column, Kind, SCHEMA_KEY, SCHEMA_VERSION, SEGMENT_KEY, Table};
use crate::error::{Error, ErrorKind, Result};
use crate::model::StringId;
use crate::wire::hex::hex;

/// Bytes of texts in a record batch, beyond which rows go into several. A short payload may use a long name in
/// millions of frames.
const BATCH_TEXTS: usize = 64 << 20;

/// The most bytes of texts in a row.
const ROW_TEXTS: usize = 1 << 30;

/// Writes a file of record batches, also known as Feather version 2. Engines map it into memory and read columns
/// without decoding.
///
/// ```
/// use otlp_profiles::columns::{ArrowWriter, tables};
///
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let mut tables = tables(&[profiles])?;
/// for part in tables.parts().to_vec() {
///     let mut writer = ArrowWriter::new(Vec::new(), part.table, tables.id())?;
///     tables.each(&part, |batch| writer.write(batch))?;
///     assert!(writer.finish()?.starts_with(b"ARROW1"));
/// }
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub struct ArrowWriter<W: Write>(FileWriter<W>);

impl<W: Write> ArrowWriter<W> {
    /// Begins a file of a table. `segment` is [`Tables::id`](super::Tables::id).
    ///
    /// # Errors
    ///
    /// `output` cannot be written.
    pub fn new(output: W, table: Table, segment: [u8; 12]) -> Result<Self> {
        let metadata = [(SCHEMA_KEY, SCHEMA_VERSION.to_string()), (SEGMENT_KEY, hex(&segment))];
        let schema = arrow_schema(table).with_metadata(metadata);
        Ok(Self(FileWriter::try_new(output, &schema).map_err(failed)?))
    }

    /// Writes a batch.
    ///
    /// # Errors
    ///
    /// The output cannot be written, or [`record_batches`] fails.
    pub fn write(&mut self, batch: &Batch<'_>) -> Result<()> {
        record_batches(batch, |batch| self.0.write(&batch).map_err(failed))
    }

    /// Ends the file, and returns the output.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub fn finish(self) -> Result<W> {
        self.0.into_inner().map_err(failed)
    }
}

fn failed(error: ArrowError) -> Error {
    let error = match error {
        ArrowError::IoError(_, error) => error,
        error => std::io::Error::other(error),
    };
    Error::io("the table cannot be written", error)
}

/// Returns the schema of a table.
pub fn arrow_schema(table: Table) -> Schema {
    Schema::new(table.columns().iter().map(field).collect::<Vec<_>>())
}

/// Passes the rows of a batch to `f`: as one record batch, or as several if texts are long.
///
/// # Errors
///
/// `f` fails, or the texts of a row exceed 1 GiB.
pub fn record_batches(
    batch: &Batch<'_>,
    mut f: impl FnMut(RecordBatch) -> Result<()>,
) -> Result<()> {
    let schema = Arc::new(arrow_schema(batch.table()));
    let mut rest: Vec<Range<usize>> = std::iter::once(0..batch.len()).collect();
    while let Some(rows) = rest.pop() {
        let texts = texts_len(batch, &rows);
        if texts > BATCH_TEXTS && rows.len() > 1 {
            let half = rows.start + rows.len() / 2;
            rest.extend([half..rows.end, rows.start..half]);
            continue;
        }
        if texts > ROW_TEXTS {
            let name = batch.table().name();
            let message = format!(
                "a row of the table {name} has {texts} bytes of texts, and Arrow holds at most {ROW_TEXTS} here: use Parquet, which stores each text once"
            );
            return Err(Error::new(ErrorKind::Unrepresentable, message));
        }
        let columns = batch.columns().map(|(column, array)| copied(batch, column, array, &rows));
        let columns: Result<Vec<_>, _> = columns.collect();
        let batch = columns.and_then(|columns| RecordBatch::try_new(schema.clone(), columns));
        f(batch.map_err(failed)?)?;
    }
    Ok(())
}

/// Returns the bytes of all texts in some rows.
fn texts_len(batch: &Batch<'_>, rows: &Range<usize>) -> usize {
    let of = |array: &Array, ids: &[StringId]| -> usize {
        let ids = &ids[array.items(rows)];
        ids.iter().map(|id| batch.text(*id).len()).sum()
    };
    let arrays = batch.columns().map(|(_, array)| match &array.values {
        Values::Text(ids) => of(array, ids),
        Values::Pairs { keys, values } => of(array, keys) + of(array, values),
        _ => 0,
    });
    arrays.sum()
}

fn field(column: &Column) -> Field {
    let kind = match column.kind {
        Kind::Bool => DataType::Boolean,
        Kind::Int32 => DataType::Int32,
        Kind::Int64 => DataType::Int64,
        Kind::UInt64 => DataType::UInt64,
        Kind::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        Kind::Text => DataType::Utf8,
        Kind::Id if column.is_list => DataType::Binary,
        Kind::Id => DataType::FixedSizeBinary(16),
        Kind::Bytes => DataType::Binary,
        Kind::Map => DataType::Map(Arc::new(pairs_field()), false),
    };
    let kind = match column.is_list {
        true => DataType::new_list(kind, column.has_nullable_items),
        false => kind,
    };
    Field::new(column.name, kind, column.is_nullable)
}

fn pairs_field() -> Field {
    Field::new_struct("entries", pair_fields(), false)
}

fn pair_fields() -> Fields {
    ["keys", "values"].map(|name| Field::new(name, DataType::Utf8, false)).to_vec().into()
}

/// Copies some rows of a column.
fn copied(
    batch: &Batch<'_>,
    column: &Column,
    array: &Array,
    rows: &Range<usize>,
) -> Result<ArrayRef, ArrowError> {
    let nulls = |valid: &[bool], rows: &Range<usize>| valid.get(rows.clone()).map(NullBuffer::from);
    let (of_rows, items) = (nulls(&array.validity, rows), array.items(rows));
    if array.offsets.is_empty() {
        return flat(batch, column, &array.values, items, of_rows);
    }
    let offsets = &array.offsets[rows.start..=rows.end];
    let offsets = offsets.iter().map(|offset| offset - offsets[0]);
    let offsets = OffsetBuffer::new(offsets.collect());
    if let Values::Pairs { keys, values } = &array.values {
        let [keys, values] = [keys, values].map(|ids| texts(batch, &ids[items.clone()], None));
        let pairs = StructArray::try_new(pair_fields(), vec![keys, values], None)?;
        let field = Arc::new(pairs_field());
        return Ok(Arc::new(MapArray::try_new(field, offsets, pairs, of_rows, false)?));
    }
    let of_items = nulls(&array.item_validity, &items);
    let items = flat(batch, column, &array.values, items, of_items)?;
    let item = Field::new_list_field(items.data_type().clone(), column.has_nullable_items);
    Ok(Arc::new(ListArray::try_new(Arc::new(item), offsets, items, of_rows)?))
}

/// Copies some values.
fn flat(
    batch: &Batch<'_>,
    column: &Column,
    values: &Values,
    at: Range<usize>,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ArrowError> {
    Ok(match values {
        Values::Bool(values) => Arc::new(BooleanArray::new(values[at].into(), nulls)),
        Values::Int32(values) => Arc::new(Int32Array::try_new(values[at].to_vec().into(), nulls)?),
        Values::Int64(values) if column.kind == Kind::Time => {
            let times = TimestampMicrosecondArray::try_new(values[at].to_vec().into(), nulls)?;
            Arc::new(times.with_timezone("UTC"))
        }
        Values::Int64(values) => Arc::new(Int64Array::try_new(values[at].to_vec().into(), nulls)?),
        Values::UInt64(values) => {
            Arc::new(UInt64Array::try_new(values[at].to_vec().into(), nulls)?)
        }
        Values::Id(ids) if column.is_list => {
            let is_valid =
                |at: usize| nulls.as_ref().is_none_or(|nulls: &NullBuffer| nulls.is_valid(at));
            let ids = ids[at].iter().enumerate().map(|(at, id)| is_valid(at).then_some(id));
            Arc::new(ids.collect::<BinaryArray>())
        }
        Values::Id(ids) => {
            let bytes = Buffer::from(ids[at].as_flattened());
            Arc::new(FixedSizeBinaryArray::try_new(16, bytes, nulls)?)
        }
        Values::Bytes { bytes, offsets } => {
            let value = |at: usize| &bytes[offsets[at] as usize..offsets[at + 1] as usize];
            let is_valid =
                |at: usize| nulls.as_ref().is_none_or(|nulls: &NullBuffer| nulls.is_valid(at));
            let start = at.start;
            let values = at.map(|at| is_valid(at - start).then(|| value(at)));
            Arc::new(values.collect::<BinaryArray>())
        }
        Values::Text(ids) => texts(batch, &ids[at], nulls),
        Values::Pairs { .. } => {
            let message = format!("{} is a map, and maps have offsets", column.name);
            return Err(ArrowError::SchemaError(message));
        }
    })
}

fn texts(batch: &Batch<'_>, ids: &[StringId], nulls: Option<NullBuffer>) -> ArrayRef {
    let texts = ids.iter().map(|id| batch.text(*id));
    Arc::new(match nulls {
        None => StringArray::from_iter_values(texts),
        Some(nulls) => texts.zip(&nulls).map(|(text, is_valid)| is_valid.then_some(text)).collect(),
    })
}
