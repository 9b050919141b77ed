//! Values of a row, for code that reads tables. A row or an item that is missing has the default value.

use std::ops::Range;

use crate::columns::batch::{Array, Values, push_valid};
use crate::model::StringId;

/// Binds the arrays of a table, which are as many as its columns, by the names of the columns.
macro_rules! by_name {
    ($arrays:expr, $table:ident: $($variable:ident = $name:literal),+ $(,)?) => {
        $(let $variable = &$arrays[const { $crate::columns::schema::Table::$table.position($name) }];)+
    };
}
pub(super) use by_name;

impl Array {
    pub(crate) fn push_item_valid(&mut self, is_valid: bool) {
        push_valid(&mut self.item_validity, self.values.len(), is_valid);
    }

    pub(crate) fn is_valid(&self, row: usize) -> bool {
        self.validity.get(row).copied().unwrap_or(true)
    }

    /// Returns the items of a list, unless it is null.
    pub(crate) fn items_of(&self, row: usize) -> Option<Range<usize>> {
        let end = |row: usize| Some(*self.offsets.get(row)? as usize);
        self.is_valid(row).then(|| Some(end(row)?..end(row + 1)?)).flatten()
    }

    /// Returns the position of item `at` of a list, unless the list or the item is null.
    fn item(&self, row: usize, at: usize) -> Option<usize> {
        let item = self.items_of(row)?.start + at;
        self.item_validity.get(item).copied().unwrap_or(true).then_some(item)
    }

    pub(crate) fn int(&self, row: usize) -> i64 {
        match &self.values {
            Values::Int32(values) => values.get(row).copied().unwrap_or_default().into(),
            Values::Int64(values) => values.get(row).copied().unwrap_or_default(),
            _ => 0,
        }
    }

    pub(crate) fn int_at(&self, row: usize, at: usize) -> i64 {
        self.item(row, at).map_or(0, |item| self.int(item))
    }

    pub(crate) fn ints_of(&self, row: usize) -> Option<&[i64]> {
        let Values::Int64(values) = &self.values else { return None };
        values.get(self.items_of(row)?)
    }

    pub(crate) fn unsigned(&self, row: usize) -> u64 {
        let Values::UInt64(values) = &self.values else { return 0 };
        values.get(row).copied().unwrap_or_default()
    }

    pub(crate) fn unsigned_at(&self, row: usize, at: usize) -> u64 {
        self.item(row, at).map_or(0, |item| self.unsigned(item))
    }

    pub(crate) fn bool_at(&self, row: usize, at: usize) -> bool {
        let Values::Bool(values) = &self.values else { return false };
        self.item(row, at).and_then(|item| values.get(item)).copied().unwrap_or_default()
    }

    pub(crate) fn text(&self, row: usize) -> StringId {
        let Values::Text(values) = &self.values else { return StringId::NONE };
        values.get(row).copied().unwrap_or_default()
    }

    pub(crate) fn some_text(&self, row: usize) -> Option<StringId> {
        self.is_valid(row).then(|| self.text(row))
    }

    pub(crate) fn text_at(&self, row: usize, at: usize) -> StringId {
        self.some_text_at(row, at).unwrap_or_default()
    }

    pub(crate) fn some_text_at(&self, row: usize, at: usize) -> Option<StringId> {
        self.item(row, at).map(|item| self.text(item))
    }

    pub(crate) fn key(&self, row: usize) -> [u8; 16] {
        let Values::Id(values) = &self.values else { return [0; 16] };
        values.get(row).copied().unwrap_or_default()
    }

    pub(crate) fn some_key_at(&self, row: usize, at: usize) -> Option<[u8; 16]> {
        self.item(row, at).map(|item| self.key(item))
    }

    fn bytes(&self, row: usize) -> Option<&[u8]> {
        let Values::Bytes { bytes, offsets } = &self.values else { return None };
        bytes.get(*offsets.get(row)? as usize..*offsets.get(row + 1)? as usize)
    }

    pub(crate) fn bytes_of(&self, row: usize) -> Option<&[u8]> {
        if self.is_valid(row) { self.bytes(row) } else { None }
    }

    pub(crate) fn bytes_at(&self, row: usize, at: usize) -> Option<&[u8]> {
        self.item(row, at).and_then(|item| self.bytes(item))
    }

    pub(crate) fn pairs_of(
        &self,
        row: usize,
    ) -> impl ExactSizeIterator<Item = (StringId, StringId)> + Clone + '_ {
        let items = self.items_of(row).unwrap_or_default();
        let (keys, values) = match &self.values {
            Values::Pairs { keys, values } => (&keys[..], &values[..]),
            _ => (&[][..], &[][..]),
        };
        let keys = keys.get(items.clone()).unwrap_or_default();
        let values = values.get(items).unwrap_or_default();
        keys.iter().copied().zip(values.iter().copied())
    }
}
