//! Rows of a table in flat arrays, with the layout of Arrow: offsets, validity, values.

#[cfg(feature = "arrow")]
use std::ops::Range;

use crate::columns::schema::{Column, Kind, Table};
use crate::model::{StringId, Strings};

/// The most rows of a batch, which becomes a row group of Parquet.
pub const BATCH_ROWS: usize = 131_072;

/// Items of all lists after which a batch is full, whatever its rows. Offsets have 31 bits, and one row adds at most
/// the items of one input message.
const BATCH_ITEMS: usize = 1 << 21;

/// At most [`BATCH_ROWS`] rows of a table, by column. Texts are ids of a table of strings that all batches share.
///
/// ```
/// use otlp_profiles::columns::{Table, Values, tables};
///
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let mut tables = tables(&[profiles])?;
/// let mappings = tables.parts().iter().find(|part| part.table == Table::Mappings).unwrap().clone();
/// let mut names = Vec::new();
/// tables.each(&mappings, |batch| {
///     assert_eq!((batch.table(), batch.len()), (Table::Mappings, 3));
///     for (column, array) in batch.columns() {
///         if let (true, Values::Text(texts)) = (column.name == "filename", &array.values) {
///             names.extend(texts.iter().map(|id| batch.text(*id).to_owned()));
///         }
///     }
///     Ok(())
/// })?;
/// assert_eq!(names.len(), 3);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Debug)]
pub struct Batch<'a> {
    table: Table,
    rows: usize,
    pub(crate) arrays: Vec<Array>,
    strings: &'a Strings,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Array {
    /// Row `r` has the items `offsets[r]..offsets[r + 1]`. Empty for columns that are neither lists nor maps.
    pub offsets: Vec<i32>,
    /// Which rows are not null. Empty if all are. A null row has the default value, or no items.
    pub validity: Vec<bool>,
    /// Which items of lists are not null. Empty if all are.
    pub item_validity: Vec<bool>,
    /// One value for each row, or the items of all rows.
    pub values: Values,
}

/// Values of one type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Values {
    /// [`Kind::Bool`].
    Bool(Vec<bool>),
    /// [`Kind::Int32`].
    Int32(Vec<i32>),
    /// [`Kind::Int64`], and the microseconds of [`Kind::Time`].
    Int64(Vec<i64>),
    /// [`Kind::UInt64`].
    UInt64(Vec<u64>),
    /// [`Kind::Id`].
    Id(Vec<[u8; 16]>),
    /// [`Kind::Text`]; [`Batch::text`] returns the text.
    Text(Vec<StringId>),
    /// [`Kind::Bytes`]: value `v` is `bytes[offsets[v]..offsets[v + 1]]`.
    Bytes {
        /// All values, end to end.
        bytes: Vec<u8>,
        /// The start of each value, and the end of the last.
        offsets: Vec<i32>,
    },
    /// [`Kind::Map`]: the keys and values of all rows.
    Pairs {
        /// The keys.
        keys: Vec<StringId>,
        /// The value of each key.
        values: Vec<StringId>,
    },
}

impl<'a> Batch<'a> {
    pub(crate) fn new(table: Table, strings: &'a Strings) -> Self {
        Self { table, rows: 0, arrays: table.columns().iter().map(Array::new).collect(), strings }
    }

    /// Returns the table that the rows belong to.
    pub fn table(&self) -> Table {
        self.table
    }

    /// Returns the number of rows; a batch has at least one.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Iterates over the columns of the table with their values.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = (&'static Column, &Array)> {
        self.table.columns().iter().zip(&self.arrays)
    }

    /// Returns the text of an id in [`Values::Text`] or [`Values::Pairs`].
    pub fn text(&self, id: StringId) -> &'a str {
        self.strings.get(id)
    }

    /// Begins a row. The caller puts one value into each column, in order.
    #[inline]
    pub(crate) fn row(&mut self) -> Row<'_> {
        self.rows += 1;
        Row(self.arrays.iter_mut())
    }

    pub(crate) fn is_full(&self) -> bool {
        let items = |array: &Array| array.offsets.last().copied().unwrap_or(0) as usize;
        self.rows >= BATCH_ROWS || self.arrays.iter().any(|array| items(array) >= BATCH_ITEMS)
    }
}

/// A row that is being written, column by column.
pub(crate) struct Row<'b>(std::slice::IterMut<'b, Array>);

impl Row<'_> {
    /// Puts a value.
    #[inline]
    pub(crate) fn put(&mut self, item: impl Item) {
        if let Some(array) = self.0.next() {
            array.push_valid(true);
            item.push(&mut array.values);
        }
    }

    /// Puts a value or null.
    #[inline]
    pub(crate) fn put_some<I: Item>(&mut self, item: Option<I>) {
        if let Some(array) = self.0.next() {
            array.push_valid(item.is_some());
            item.unwrap_or(I::DEFAULT).push(&mut array.values);
        }
    }

    /// Puts a list, or the pairs of a map.
    #[inline]
    pub(crate) fn put_list<I: Item>(&mut self, items: impl IntoIterator<Item = I>) {
        self.put_list_if(true, items);
    }

    /// Puts a list, or null unless `is_valid`.
    #[inline]
    pub(crate) fn put_list_if<I: Item>(
        &mut self,
        is_valid: bool,
        items: impl IntoIterator<Item = I>,
    ) {
        if let Some(array) = self.0.next() {
            array.push_valid(is_valid);
            let items = items.into_iter().filter(|_| is_valid);
            items.for_each(|item| item.push(&mut array.values));
            array.offsets.push(array.values.len() as i32);
        }
    }

    /// Puts a list with null items.
    pub(crate) fn put_list_of_some<I: Item>(&mut self, items: impl IntoIterator<Item = Option<I>>) {
        if let Some(array) = self.0.next() {
            array.push_valid(true);
            for item in items {
                push_valid(&mut array.item_validity, array.values.len(), item.is_some());
                item.unwrap_or(I::DEFAULT).push(&mut array.values);
            }
            array.offsets.push(array.values.len() as i32);
        }
    }
}

impl Array {
    pub(crate) fn new(column: &Column) -> Self {
        let values = match column.kind {
            Kind::Bool => Values::Bool(Vec::new()),
            Kind::Int32 => Values::Int32(Vec::new()),
            Kind::Int64 | Kind::Time => Values::Int64(Vec::new()),
            Kind::UInt64 => Values::UInt64(Vec::new()),
            Kind::Id => Values::Id(Vec::new()),
            Kind::Text => Values::Text(Vec::new()),
            Kind::Bytes => Values::Bytes { bytes: Vec::new(), offsets: vec![0] },
            Kind::Map => Values::Pairs { keys: Vec::new(), values: Vec::new() },
        };
        let offsets = if column.is_list || column.kind == Kind::Map { vec![0] } else { Vec::new() };
        Self { offsets, validity: Vec::new(), item_validity: Vec::new(), values }
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        if self.offsets.is_empty() { self.values.len() } else { self.offsets.len() - 1 }
    }

    /// Returns the positions of the items of some rows; of columns without items, of the values.
    #[cfg(feature = "arrow")]
    pub(crate) fn items(&self, rows: &Range<usize>) -> Range<usize> {
        match self.offsets.get(rows.start..=rows.end) {
            Some([start, .., end]) => *start as usize..*end as usize,
            _ => rows.clone(),
        }
    }

    /// Records whether the next row is null.
    #[inline]
    pub(crate) fn push_valid(&mut self, is_valid: bool) {
        if !is_valid || !self.validity.is_empty() {
            let rows = self.len();
            push_valid(&mut self.validity, rows, is_valid);
        }
    }
}

/// Adds the validity of row `rows`. Allocates at the first null.
#[inline]
pub(crate) fn push_valid(validity: &mut Vec<bool>, rows: usize, is_valid: bool) {
    if !is_valid || !validity.is_empty() {
        validity.resize(rows, true);
        validity.push(is_valid);
    }
}

impl Values {
    /// Returns the number of values.
    #[inline]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        match self {
            Self::Bool(values) => values.len(),
            Self::Int32(values) => values.len(),
            Self::Int64(values) => values.len(),
            Self::UInt64(values) => values.len(),
            Self::Id(values) => values.len(),
            Self::Text(values) => values.len(),
            Self::Bytes { offsets, .. } => offsets.len() - 1,
            Self::Pairs { keys, .. } => keys.len(),
        }
    }
}

/// A value that can be put into a column.
pub(crate) trait Item {
    /// The value of null rows.
    const DEFAULT: Self;

    fn push(self, values: &mut Values);
}

macro_rules! items {
    ($($type:ty, $variant:ident, $default:expr;)*) => {$(
        impl Item for $type {
            const DEFAULT: Self = $default;

            #[inline]
            fn push(self, values: &mut Values) {
                match values {
                    Values::$variant(values) => values.push(self),
                    values => debug_assert!(false, "{values:?} hold other values"),
                }
            }
        }
    )*};
}

items! {
    bool, Bool, false;
    i32, Int32, 0;
    i64, Int64, 0;
    u64, UInt64, 0;
    [u8; 16], Id, [0; 16];
    StringId, Text, StringId::NONE;
}

impl Item for &[u8] {
    const DEFAULT: Self = &[];

    fn push(self, values: &mut Values) {
        if let Values::Bytes { bytes, offsets } = values {
            bytes.extend_from_slice(self);
            offsets.push(bytes.len() as i32);
        }
    }
}

impl Item for (StringId, StringId) {
    const DEFAULT: Self = (StringId::NONE, StringId::NONE);

    fn push(self, pairs: &mut Values) {
        if let Values::Pairs { keys, values } = pairs {
            keys.push(self.0);
            values.push(self.1);
        }
    }
}
