//! Reads Parquet files that [`ParquetWriter`](super::ParquetWriter) wrote, with lengths checked before memory is
//! allocated.
//!
//! ```text
//! bytes ─► lengths in the footer ─► schema ─► each row group: lengths in page headers ─► levels and values ─► Array
//! ```

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use bytes::Bytes;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, FixedLenByteArrayType, Int32Type, Int64Type,
};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, FileReader, Length, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;
use xxhash_rust::xxh3::xxh3_128;

use crate::columns::batch::{Array, BATCH_ROWS, Item};
use crate::columns::schema::{Column, HASH_KEY, Kind, SCHEMA_KEY, SCHEMA_VERSION, Table};
use crate::columns::thrift;
use crate::columns::write::schema;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{Limits, within};
use crate::model::StringId;
use crate::tables::rows::interner::Interner;

/// The footer of a file ends in its length and these bytes.
const MAGIC: &[u8] = b"PAR1";

/// Reads the row groups of a table, one by one. Texts are interned in `interner`.
pub(super) fn each_row_group(
    bytes: Vec<u8>,
    table: Table,
    interner: &mut Interner,
    mut f: impl FnMut(&[Array], &mut Interner) -> Result<()>,
) -> Result<()> {
    let limits = interner.budget.limits;
    within("max_input_bytes", limits.max_input_bytes, bytes.len() as u64)?;
    let file = open(bytes, table, &limits)?;
    for group in 0..file.num_row_groups() {
        let arrays = contained(|| Ok(arrays(&file, group, table, interner, &limits)))??;
        f(&arrays, interner)?;
    }
    Ok(())
}

/// Opens a file, and checks its schema.
fn open(bytes: Vec<u8>, table: Table, limits: &Limits) -> Result<SerializedFileReader<Checked>> {
    if !bytes.starts_with(MAGIC) || !bytes.ends_with(MAGIC) || bytes.len() < 12 {
        return Err(Error::malformed("this is not a Parquet file, or not all of it"));
    }
    let end = bytes.len() - 8;
    let length =
        bytes[end..end + 4].iter().rev().fold(0, |all, byte| all << 8 | usize::from(*byte));
    let footer = end.checked_sub(length).filter(|start| thrift::is_footer(&bytes[*start..end]));
    let Some(footer) = footer else {
        return Err(Error::malformed("the footer of the Parquet file is malformed"));
    };
    let bytes = Bytes::from(bytes);
    let checked = Checked {
        bytes: bytes.clone(),
        footer: footer as u64,
        limit: limits.max_decompressed_bytes,
    };
    let file = contained(|| SerializedFileReader::new(checked))?;
    let metadata = file.metadata().file_metadata();
    let pairs = metadata.key_value_metadata().map_or(&[][..], |pairs| pairs);
    let value = |key: &str| pairs.iter().find(|pair| pair.key == key)?.value.as_deref();
    let version = value(SCHEMA_KEY);
    let supported = SCHEMA_VERSION.to_string();
    match version {
        Some(version) if version == supported => {}
        Some(version) => {
            let message = format!(
                "the file has version {version:?} of the schema; this release reads {supported}"
            );
            return Err(Error::new(ErrorKind::Unrecognised, message));
        }
        None => {
            let message = "otlp-profiles did not write this Parquet file: its metadata lack otlp_profiles.schema";
            return Err(Error::new(ErrorKind::Unrecognised, message));
        }
    }
    // Files of earlier releases have no hash.
    if value(HASH_KEY).is_some_and(|hash| !is_intact(&bytes, hash)) {
        return Err(Error::malformed("the file is damaged: its bytes differ from their hash"));
    }
    let expected = schema(table).map_err(malformed)?;
    if *metadata.schema() != *expected {
        let message = format!("the file does not have the columns of the table {}", table.name());
        return Err(Error::malformed(message));
    }
    Ok(file)
}

/// Whether the bytes are those that were written. `hash` is their number and their hash in hex.
fn is_intact(bytes: &[u8], hash: &str) -> bool {
    let Some((length, hash)) = hash.split_once(':') else { return false };
    let written = length.parse().ok().and_then(|length: usize| bytes.get(..length));
    written.is_some_and(|bytes| format!("{:032x}", xxh3_128(bytes)) == hash)
}

thread_local! {
    /// Whether a panic on this thread is returned as an error.
    static IS_CONTAINED: Cell<bool> = const { Cell::new(false) };
}

fn malformed(error: ParquetError) -> Error {
    Error::malformed(format!("the Parquet file is malformed: {error}"))
}

/// Calls `f`, and returns a panic of the crate `parquet` as an error. Some of its decoders panic for malformed pages.
/// The hook of the process prints no message of such a panic.
fn contained<T>(f: impl FnOnce() -> ParquetResult<T>) -> Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let hook = take_hook();
        set_hook(Box::new(move |info| {
            if !IS_CONTAINED.get() {
                hook(info);
            }
        }));
    });
    IS_CONTAINED.set(true);
    let result = catch_unwind(AssertUnwindSafe(f));
    IS_CONTAINED.set(false);
    match result {
        Ok(result) => result.map_err(malformed),
        Err(_) => Err(Error::malformed("the Parquet file is malformed: a page cannot be decoded")),
    }
}

/// Reads the columns of a row group.
fn arrays(
    file: &SerializedFileReader<Checked>,
    group: usize,
    table: Table,
    interner: &mut Interner,
    limits: &Limits,
) -> Result<Vec<Array>> {
    let group = file.get_row_group(group).map_err(malformed)?;
    let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(usize::MAX);
    if rows > BATCH_ROWS {
        let message = format!("a row group has {rows} rows, and at most {BATCH_ROWS} are written");
        return Err(Error::malformed(message));
    }
    let items = group.metadata().columns().iter().map(|chunk| chunk.num_values().max(0) as u64);
    within("max_table_entries", limits.max_table_entries, items.max().unwrap_or(0))?;
    let mut leaf = 0;
    let mut arrays = Vec::new();
    for column in table.columns() {
        let mut array = Array::new(column);
        let source = Chunk { group: &*group, leaf, column, rows };
        read_column(&source, &mut array, interner)?;
        leaf += if column.kind == Kind::Map { 2 } else { 1 };
        if array.len() != rows {
            return Err(Error::malformed(format!("column {} lacks rows", column.name)));
        }
        arrays.push(array);
    }
    Ok(arrays)
}

/// A column of a row group.
struct Chunk<'a> {
    group: &'a dyn RowGroupReader,
    leaf: usize,
    column: &'a Column,
    rows: usize,
}

/// Reads a column into an array.
fn read_column(chunk: &Chunk<'_>, array: &mut Array, interner: &mut Interner) -> Result<()> {
    match chunk.column.kind {
        Kind::Bool => chunk.fill::<BoolType, bool>(array, |value| Ok(*value)),
        Kind::Int32 => chunk.fill::<Int32Type, i32>(array, |value| Ok(*value)),
        Kind::Int64 | Kind::Time => chunk.fill::<Int64Type, i64>(array, |value| Ok(*value)),
        Kind::UInt64 => chunk.fill::<Int64Type, u64>(array, |value| Ok(*value as u64)),
        Kind::Id if chunk.column.is_list => {
            chunk.fill::<ByteArrayType, [u8; 16]>(array, |value| id(value.data()))
        }
        Kind::Id => chunk.fill::<FixedLenByteArrayType, [u8; 16]>(array, |value| id(value.data())),
        Kind::Text => {
            let mut last = (Bytes::new(), StringId::NONE);
            chunk.fill::<ByteArrayType, StringId>(array, |value| text(value, &mut last, interner))
        }
        Kind::Bytes => {
            let (values, definition, repetition) = chunk.levels::<ByteArrayType>()?;
            let mut values = values.iter().map(|value| Ok(value.data()));
            chunk.place::<&[u8]>(array, &mut values, &definition, &repetition)
        }
        Kind::Map => {
            let mut last = (Bytes::new(), StringId::NONE);
            let (keys, definition, repetition) = chunk.levels::<ByteArrayType>()?;
            let second = Chunk { leaf: chunk.leaf + 1, ..*chunk };
            let (values, ..) = second.levels::<ByteArrayType>()?;
            if keys.len() != values.len() {
                let message = format!("column {} has other keys than values", chunk.column.name);
                return Err(Error::malformed(message));
            }
            let mut pairs = keys.iter().zip(&values).map(|(key, value)| {
                Ok((text(key, &mut last, interner)?, text(value, &mut last, interner)?))
            });
            chunk.place::<(StringId, StringId)>(array, &mut pairs, &definition, &repetition)
        }
    }
}

fn id(bytes: &[u8]) -> Result<[u8; 16]> {
    bytes.try_into().map_err(|_| Error::malformed("an id does not have 16 bytes"))
}

/// Interns a text. Equal texts often follow each other.
fn text(
    value: &parquet::data_type::ByteArray,
    last: &mut (Bytes, StringId),
    interner: &mut Interner,
) -> Result<StringId> {
    if last.0 != value.data() {
        *last = (Bytes::copy_from_slice(value.data()), interner.string(value.data())?);
    }
    Ok(last.1)
}

/// Values that are not null, definition levels and repetition levels.
type Decoded<T> = (Vec<<T as DataType>::T>, Vec<i16>, Vec<i16>);

impl Chunk<'_> {
    /// Decodes the pages.
    fn levels<T: DataType>(&self) -> Result<Decoded<T>> {
        let descriptor = self.group.metadata().schema_descr().column(self.leaf);
        let pages = self.group.get_column_page_reader(self.leaf).map_err(malformed)?;
        let left = self.group.metadata().column(self.leaf).num_values().max(0) as u64;
        let pages = Pages { pages, left };
        let (mut values, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
        let mut reader = ColumnReaderImpl::<T>::new(descriptor, Box::new(pages));
        let levels = (Some(&mut definition), Some(&mut repetition));
        reader.read_records(self.rows, levels.0, levels.1, &mut values).map_err(malformed)?;
        Ok((values, definition, repetition))
    }

    /// Reads values of a type that converts to that of the array.
    fn fill<T: DataType, I: Item>(
        &self,
        array: &mut Array,
        mut convert: impl FnMut(&T::T) -> Result<I>,
    ) -> Result<()> {
        let (values, definition, repetition) = self.levels::<T>()?;
        let mut values = values.iter().map(&mut convert);
        self.place(array, &mut values, &definition, &repetition)
    }

    /// Puts values into the rows that the levels describe.
    fn place<I: Item>(
        &self,
        array: &mut Array,
        values: &mut dyn Iterator<Item = Result<I>>,
        definition: &[i16],
        repetition: &[i16],
    ) -> Result<()> {
        let column = self.column;
        let mut next = || {
            let lacks = || Error::malformed(format!("column {} lacks values", column.name));
            values.next().ok_or_else(lacks)?
        };
        if array.offsets.is_empty() {
            for row in 0..self.rows {
                let is_valid =
                    !column.is_nullable || definition.get(row).is_some_and(|level| *level > 0);
                array.push_valid(is_valid);
                if is_valid { next()? } else { I::DEFAULT }.push(&mut array.values);
            }
            return Ok(());
        }
        let empty = i16::from(column.is_nullable);
        for (level, again) in definition.iter().zip(repetition) {
            if *again == 0 {
                array.push_valid(*level >= empty);
                array.offsets.push(array.values.len() as i32);
            } else if array.offsets.len() < 2 {
                return Err(Error::malformed(format!(
                    "column {} begins inside a list",
                    column.name
                )));
            }
            if *level > empty {
                let is_valid = !column.has_nullable_items || *level > empty + 1;
                array.push_item_valid(is_valid);
                if is_valid { next()? } else { I::DEFAULT }.push(&mut array.values);
                if let Some(end) = array.offsets.last_mut() {
                    *end = array.values.len() as i32;
                }
            }
        }
        Ok(())
    }
}

/// Checks pages against the number of values in the metadata.
struct Pages {
    pages: Box<dyn PageReader>,
    left: u64,
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            let values = u64::from(page.num_values());
            let most = match page.is_dictionary_page() {
                // The least that a value takes is one byte.
                true => page.buffer().len() as u64,
                false => self.left,
            };
            if values > most {
                return Err(ParquetError::General("a page has too many values".to_owned()));
            }
            self.left -= if page.is_data_page() { values } else { 0 };
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        self.pages.skip_next_page()
    }
}

impl Iterator for Pages {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

/// The bytes of a file. Checks page headers and the size of compressed pages before the crate uses them.
struct Checked {
    bytes: Bytes,
    /// Where the footer begins.
    footer: u64,
    /// The most bytes of a decompressed page.
    limit: u64,
}

impl Length for Checked {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }
}

impl ChunkReader for Checked {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        let rest = usize::try_from(start).ok().and_then(|start| self.bytes.get(start..));
        // The footer was checked. Of a page, the caller may have the header already, and then reads nothing. Otherwise it finds no header here.
        let is_checked = |rest: &&[u8]| start >= self.footer || thrift::is_page(rest, self.limit);
        let header = rest.filter(is_checked);
        Ok(bytes::Buf::reader(self.bytes.slice_ref(header.unwrap_or_default())))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let range =
            usize::try_from(start).ok().and_then(|start| Some(start..start.checked_add(length)?));
        let Some(bytes) = range.and_then(|range| self.bytes.get(range)) else {
            return Err(ParquetError::EOF("a page is beyond the end of the file".to_owned()));
        };
        if bytes.starts_with(&[0x1f, 0x8b]) && !inflates_within(bytes, self.limit) {
            return Err(ParquetError::General(
                "a page inflates beyond max_decompressed_bytes".to_owned(),
            ));
        }
        Ok(self.bytes.slice_ref(bytes))
    }
}

/// Whether gzip inflates to at most `limit` bytes.
fn inflates_within(gzip: &[u8], limit: u64) -> bool {
    use std::io::{Read, copy, sink};
    let inflated = flate2::read::MultiGzDecoder::new(gzip).take(limit.saturating_add(1));
    // The crate `parquet` reports malformed gzip.
    copy(&mut { inflated }, &mut sink()).map_or(true, |bytes| bytes <= limit)
}
