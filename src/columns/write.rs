//! Writes tables as Parquet files.

use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use parquet::basic::{
    Compression as Codec, Encoding as PageEncoding, LogicalType, Repetition, TimeUnit,
    Type as Physical,
};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, FixedLenByteArray, FixedLenByteArrayType,
    Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, GroupTypeBuilder, Type, TypePtr};
use xxhash_rust::xxh3::Xxh3;

use crate::columns::batch::{Array, BATCH_ROWS, Batch, Values};
use crate::columns::schema::{
    Column, Encoding, HASH_KEY, Kind, SCHEMA_KEY, SCHEMA_VERSION, SEGMENT_KEY, Table,
};
use crate::error::{Error, Result};
use crate::model::StringId;
use crate::wire::hex::hex;

/// Bytes of a dictionary of ids, beyond which they are stored one by one.
const ID_DICTIONARY: usize = 8 << 20;

/// The compression of pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageCompression {
    /// gzip, which every engine reads.
    #[default]
    Gzip,
    /// LZ4, which is faster and some 25 % larger.
    Lz4,
    /// No compression.
    None,
}

/// Writes a Parquet file. Each batch becomes a row group. The metadata has a hash of all pages, because the crate
/// `parquet` writes no checksums of pages.
///
/// ```
/// use otlp_profiles::columns::{PageCompression, ParquetWriter, tables};
///
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let mut tables = tables(&[profiles])?;
/// for part in tables.parts().to_vec() {
///     let compression = PageCompression::default();
///     let mut writer = ParquetWriter::new(Vec::new(), part.table, tables.id(), compression)?;
///     tables.each(&part, |batch| writer.write(batch))?;
///     assert!(writer.finish()?.starts_with(b"PAR1"));
/// }
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub struct ParquetWriter<W: Write + Send>(SerializedFileWriter<Hashed<W>>);

/// An output that hashes what it writes.
struct Hashed<W>(W, Xxh3);

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.0.write(bytes)?;
        self.1.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Begins a file of a table. `segment` is [`Tables::id`](super::Tables::id).
    ///
    /// # Errors
    ///
    /// `output` cannot be written.
    pub fn new(
        output: W,
        table: Table,
        segment: [u8; 12],
        compression: PageCompression,
    ) -> Result<Self> {
        let properties = properties(table, segment, compression);
        let schema = schema(table).map_err(failed)?;
        let output = Hashed(output, Xxh3::new());
        let writer = SerializedFileWriter::new(output, schema, Arc::new(properties));
        Ok(Self(writer.map_err(failed)?))
    }

    /// Writes a batch.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub fn write(&mut self, batch: &Batch<'_>) -> Result<()> {
        self.write_row_group(batch).map_err(failed)
    }

    fn write_row_group(&mut self, batch: &Batch<'_>) -> Result<(), ParquetError> {
        let mut group = self.0.next_row_group()?;
        for (column, array) in batch.columns() {
            let levels = Levels::of(column, array);
            let mut text = Texts::new(batch);
            match &array.values {
                Values::Bool(values) => {
                    chunk::<BoolType>(&mut group, &levels, &present(column, array, values))?;
                }
                Values::Int32(values) => {
                    chunk::<Int32Type>(&mut group, &levels, &present(column, array, values))?;
                }
                Values::Int64(values) => {
                    chunk::<Int64Type>(&mut group, &levels, &present(column, array, values))?;
                }
                Values::UInt64(values) => {
                    let values: Vec<i64> = values.iter().map(|value| *value as i64).collect();
                    chunk::<Int64Type>(&mut group, &levels, &present(column, array, &values))?;
                }
                Values::Id(values) => {
                    let all = bytes::Bytes::copy_from_slice(values.as_flattened());
                    let id = |row| ByteArray::from(all.slice(row..row + 16));
                    let ids: Vec<_> = (0..all.len()).step_by(16).map(id).collect();
                    let ids = present(column, array, &ids);
                    if column.is_list {
                        chunk::<ByteArrayType>(&mut group, &levels, &ids)?;
                    } else {
                        let ids: Vec<_> =
                            ids.iter().cloned().map(FixedLenByteArray::from).collect();
                        chunk::<FixedLenByteArrayType>(&mut group, &levels, &ids)?;
                    }
                }
                Values::Text(ids) => {
                    let texts = text.all(&present(column, array, ids));
                    chunk::<ByteArrayType>(&mut group, &levels, &texts)?;
                }
                Values::Bytes { bytes, offsets } => {
                    let range = |pair: &[i32]| pair[0] as usize..pair[1] as usize;
                    let value = |pair: &[i32]| ByteArray::from(bytes[range(pair)].to_vec());
                    let values: Vec<ByteArray> = offsets.windows(2).map(value).collect();
                    let values = present(column, array, &values);
                    chunk::<ByteArrayType>(&mut group, &levels, &values)?;
                }
                Values::Pairs { keys, values } => {
                    chunk::<ByteArrayType>(&mut group, &levels, &text.all(keys))?;
                    chunk::<ByteArrayType>(&mut group, &levels, &text.all(values))?;
                }
            }
        }
        group.close()?;
        Ok(())
    }

    /// Ends the file, and returns the output.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub fn finish(mut self) -> Result<W> {
        self.0.flush().map_err(|error| failed(error.into()))?;
        let (bytes, hash) = (self.0.bytes_written(), self.0.inner().1.digest128());
        let value = Some(format!("{bytes}:{hash:032x}"));
        self.0.append_key_value_metadata(KeyValue { key: HASH_KEY.to_owned(), value });
        Ok(self.0.into_inner().map_err(failed)?.0)
    }
}

fn failed(error: ParquetError) -> Error {
    match error {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(error) => Error::io("the table cannot be written", *error),
            Err(error) => Error::io("the table cannot be written", std::io::Error::other(error)),
        },
        error => Error::io("the table cannot be written", std::io::Error::other(error)),
    }
}

/// Writes the values of one leaf column.
fn chunk<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    levels: &Levels,
    values: &[T::T],
) -> Result<(), ParquetError> {
    if let Some(mut column) = group.next_column()? {
        let writer = column.typed::<T>();
        writer.write_batch(values, levels.definition.as_deref(), levels.repetition.as_deref())?;
        column.close()?;
    }
    Ok(())
}

/// Returns the values that are not null.
fn present<'v, T: Clone>(column: &Column, array: &Array, values: &'v [T]) -> Cow<'v, [T]> {
    let validity = if column.is_list { &array.item_validity } else { &array.validity };
    if validity.is_empty() {
        return Cow::Borrowed(values);
    }
    let valid = values.iter().zip(validity).filter(|(_, is_valid)| **is_valid);
    Cow::Owned(valid.map(|(value, _)| value.clone()).collect())
}

/// Texts as byte arrays, each copied once.
struct Texts<'a> {
    batch: &'a Batch<'a>,
    copied: HashMap<StringId, ByteArray, FixedState>,
}

impl<'a> Texts<'a> {
    fn new(batch: &'a Batch<'a>) -> Self {
        Self { batch, copied: HashMap::default() }
    }

    fn all(&mut self, ids: &[StringId]) -> Vec<ByteArray> {
        let Self { batch, copied } = self;
        let mut texts = Vec::with_capacity(ids.len());
        for equal in ids.chunk_by(|one, next| one == next) {
            let copy = || ByteArray::from(batch.text(equal[0]).as_bytes().to_vec());
            let text = copied.entry(equal[0]).or_insert_with(copy);
            texts.extend(std::iter::repeat_n(&*text, equal.len()).cloned());
        }
        texts
    }
}

/// The levels of a column: which values are null, and where lists begin.
#[derive(Default)]
struct Levels {
    definition: Option<Vec<i16>>,
    repetition: Option<Vec<i16>>,
}

impl Levels {
    fn of(column: &Column, array: &Array) -> Self {
        if array.offsets.is_empty() {
            let definition = (0..array.len()).map(|row| i16::from(array.is_valid(row)));
            let definition = column.is_nullable.then(|| definition.collect());
            return Self { definition, repetition: None };
        }
        let empty = i16::from(column.is_nullable);
        let (mut definition, mut repetition) = (Vec::new(), Vec::new());
        for row in 0..array.len() {
            let items = array.offsets[row] as usize..array.offsets[row + 1] as usize;
            if items.is_empty() {
                definition.push(if array.is_valid(row) { empty } else { 0 });
                repetition.push(0);
                continue;
            }
            for at in items.clone() {
                let is_valid = array.item_validity.get(at).copied().unwrap_or(true);
                let item = i16::from(column.has_nullable_items && is_valid);
                definition.push(empty + 1 + item);
                repetition.push(i16::from(at > items.start));
            }
        }
        Self { definition: Some(definition), repetition: Some(repetition) }
    }
}

/// Returns the Parquet schema of a table.
pub(super) fn schema(table: Table) -> Result<TypePtr, ParquetError> {
    let fields: Result<Vec<TypePtr>, _> = table.columns().iter().map(field).collect();
    let schema = Type::group_type_builder(table.name()).with_fields(fields?);
    Ok(Arc::new(schema.build()?))
}

fn field(column: &Column) -> Result<TypePtr, ParquetError> {
    let repetition = optional(column.is_nullable);
    fn group(name: &str, fields: Vec<TypePtr>) -> GroupTypeBuilder<'_> {
        Type::group_type_builder(name).with_fields(fields)
    }
    let (logical, items) = match column.kind {
        Kind::Map => {
            let text = |name| leaf(name, Kind::Text, Repetition::REQUIRED);
            (LogicalType::Map, group("key_value", vec![text("key")?, text("value")?]))
        }
        kind if column.is_list => {
            let kind = if kind == Kind::Id { Kind::Bytes } else { kind };
            let item = leaf("element", kind, optional(column.has_nullable_items))?;
            (LogicalType::List, group("list", vec![item]))
        }
        kind => return leaf(column.name, kind, repetition),
    };
    let items = Arc::new(items.with_repetition(Repetition::REPEATED).build()?);
    let field = group(column.name, vec![items]);
    Ok(Arc::new(field.with_repetition(repetition).with_logical_type(Some(logical)).build()?))
}

fn optional(is_nullable: bool) -> Repetition {
    if is_nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED }
}

fn leaf(name: &str, kind: Kind, repetition: Repetition) -> Result<TypePtr, ParquetError> {
    let (physical, logical) = match kind {
        Kind::Bool => (Physical::BOOLEAN, None),
        Kind::Int32 => (Physical::INT32, None),
        Kind::Int64 => (Physical::INT64, None),
        Kind::UInt64 => (Physical::INT64, Some(LogicalType::integer(64, false))),
        Kind::Time => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MICROS))),
        Kind::Text | Kind::Map => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Id => (Physical::FIXED_LEN_BYTE_ARRAY, None),
        Kind::Bytes => (Physical::BYTE_ARRAY, None),
    };
    let leaf = Type::primitive_type_builder(name, physical).with_repetition(repetition);
    let leaf = if kind == Kind::Id { leaf.with_length(16) } else { leaf };
    Ok(Arc::new(leaf.with_logical_type(logical).build()?))
}

fn properties(table: Table, segment: [u8; 12], compression: PageCompression) -> WriterProperties {
    let codec = match compression {
        PageCompression::Gzip => Codec::GZIP(Default::default()),
        PageCompression::Lz4 => Codec::LZ4_RAW,
        PageCompression::None => Codec::UNCOMPRESSED,
    };
    let pair = |key: &str, value: String| KeyValue { key: key.to_owned(), value: Some(value) };
    let metadata =
        vec![pair(SCHEMA_KEY, SCHEMA_VERSION.to_string()), pair(SEGMENT_KEY, hex(&segment))];
    let sorted = table.sorted_by().iter().filter_map(|name| {
        // No list or map precedes these columns, so a column is also a leaf.
        let at = table.columns().iter().position(|column| column.name == *name)?;
        Some(SortingColumn { column_idx: at as i32, descending: false, nulls_first: false })
    });
    let mut properties = WriterProperties::builder()
        .set_compression(codec)
        .set_created_by(concat!("otlp-profiles ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_data_page_row_count_limit(BATCH_ROWS)
        .set_max_row_group_row_count(None)
        .set_offset_index_disabled(true)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_key_value_metadata(Some(metadata))
        .set_sorting_columns(Some(sorted.collect()));
    for column in table.columns() {
        let path = || ColumnPath::new(path(column));
        let is_integer =
            matches!(column.kind, Kind::Int32 | Kind::Int64 | Kind::UInt64 | Kind::Time);
        if is_integer {
            properties = properties.set_column_encoding(path(), PageEncoding::DELTA_BINARY_PACKED);
        }
        if column.encoding != Encoding::Dictionary {
            properties = properties.set_column_dictionary_enabled(path(), false);
        }
        if column.kind == Kind::Id {
            properties = properties.set_column_dictionary_page_size_limit(path(), ID_DICTIONARY);
        }
        if column.is_list || matches!(column.kind, Kind::Map | Kind::Bytes) {
            let mut off = |path| {
                let builder = std::mem::take(&mut properties);
                properties = builder.set_column_statistics_enabled(path, EnabledStatistics::None);
            };
            off(path());
            if column.kind == Kind::Map {
                let value = ["key_value", "value"].map(str::to_owned);
                off(ColumnPath::new([vec![column.name.to_owned()], value.to_vec()].concat()));
            }
        }
    }
    properties.build()
}

/// Returns the path of the leaf of a column; of a map, that of its keys.
fn path(column: &Column) -> Vec<String> {
    let inner: &[&str] = match column.kind {
        Kind::Map => &["key_value", "key"],
        _ if column.is_list => &["list", "element"],
        _ => &[],
    };
    let names = [column.name].into_iter().chain(inner.iter().copied());
    names.map(str::to_owned).collect()
}
