//! How much a dictionary may grow.
//!
//! It counts as [`Budget`](crate::limits::Budget) does for readers, but returns [`Full`], three
//! words without an allocation: a builder that is full refuses millions of samples, and each
//! refusal must be cheap.

use crate::error::{Error, ErrorKind, Result};
use crate::limits::{Limits, past};
use crate::model::value::Value;

/// What one entry of an index costs, its share of the empty ones included.
const INDEX_BYTES: usize = 14;

/// The most rows a table may have: what OTLP's `int32` indices reach.
const MAX_ROWS: u64 = i32::MAX as u64;

/// The limits of a dictionary and what it has spent of them.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    pub(crate) limits: Limits,
    /// Bytes; only [`clear`](Room::clear) gives them back.
    spent: u64,
}

/// No room left: small enough to be returned for every sample that no longer fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full {
    /// The limit's name; empty for one that is the model's own.
    name: &'static str,
    /// In the limit's own unit: rows, bytes, frames.
    limit: u64,
    wanted: u64,
}

impl From<Full> for Error {
    #[cold]
    fn from(full: Full) -> Self {
        match full.name {
            "" => Self::new(
                ErrorKind::Limit,
                format!("the table needs {} rows and can hold at most {}", full.wanted, full.limit),
            ),
            name => past(name, full.limit, full.wanted),
        }
    }
}

impl Room {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, spent: 0 }
    }

    /// Begins anew.
    pub(crate) fn clear(&mut self) {
        self.spent = 0;
    }

    /// The bytes spent.
    pub(crate) fn spent(&self) -> u64 {
        self.spent
    }

    /// Spends `bytes`.
    pub(crate) fn bytes(&mut self, bytes: usize) -> Result<(), Full> {
        let wanted = self.spent.saturating_add(bytes as u64);
        at_most("max_owned_bytes", self.limits.max_owned_bytes, wanted)?;
        self.spent = wanted;
        Ok(())
    }

    /// One more row of `bytes` in a table that has `rows`.
    pub(crate) fn row(&mut self, rows: usize, bytes: usize) -> Result<(), Full> {
        self.named_row("max_table_entries", self.limits.max_table_entries, rows, bytes)
    }

    /// One more string of `bytes` in a table that has `rows` and `text` bytes.
    pub(crate) fn string(&mut self, rows: usize, text: usize, bytes: usize) -> Result<(), Full> {
        at_most("max_string_bytes", self.limits.max_string_bytes, bytes as u64)?;
        // Bytes that are not UTF-8 become up to three times as many.
        at_most("", u64::from(u32::MAX), text as u64 + 3 * bytes as u64)?;
        self.named_row("max_strings", self.limits.max_strings, rows, bytes + size_of::<u32>())
    }

    /// So many samples in all.
    pub(crate) fn samples(&self, samples: usize) -> Result<(), Full> {
        at_most("max_samples", self.limits.max_samples, samples as u64)
    }

    /// The most frames a stack may have.
    pub(crate) fn max_stack_depth(&self) -> usize {
        usize::try_from(self.limits.max_stack_depth).unwrap_or(usize::MAX)
    }

    /// A stack of `frames`.
    pub(crate) fn stack(&self, frames: usize) -> Result<(), Full> {
        at_most("max_stack_depth", self.limits.max_stack_depth, frames as u64)
    }

    /// One more sample of `bytes` where there are `rows` in all.
    pub(crate) fn sample(&mut self, rows: usize, bytes: usize) -> Result<(), Full> {
        self.named_row("max_samples", self.limits.max_samples, rows, bytes)
    }

    fn named_row(
        &mut self,
        name: &'static str,
        limit: u64,
        rows: usize,
        bytes: usize,
    ) -> Result<(), Full> {
        let wanted = rows as u64 + 1;
        at_most(name, limit, wanted)?;
        at_most("", MAX_ROWS, wanted)?;
        self.bytes(bytes + INDEX_BYTES)
    }
}

/// `Ok` when `wanted` is within `limit`; an unnamed limit is one that nobody can raise.
pub(crate) fn at_most(name: &'static str, limit: u64, wanted: u64) -> Result<(), Full> {
    if wanted > limit { Err(Full { name, limit, wanted }) } else { Ok(()) }
}

/// `Ok` when `more` items still fit behind `items` others in a column of rows.
///
/// Ends of rows are 32 bits.
pub(crate) fn column(items: usize, more: usize) -> Result<(), Full> {
    at_most("", u64::from(u32::MAX), items as u64 + more as u64)
}

/// The bytes a value owns beside itself.
pub(crate) fn heap_bytes(value: &Value) -> usize {
    match value {
        Value::Bytes(bytes) => bytes.len(),
        Value::Array(values) => {
            size_of_val::<[_]>(values) + values.iter().map(heap_bytes).sum::<usize>()
        }
        Value::KeyValues(pairs) => {
            let inner = pairs.iter().map(|pair| heap_bytes(&pair.value)).sum::<usize>();
            size_of_val::<[_]>(pairs) + inner
        }
        Value::Empty | Value::String(_) | Value::Bool(_) | Value::Int(_) | Value::Double(_) => 0,
    }
}
