//! The memory limits of a builder.
//!
//! It counts like [`Budget`](crate::limits::Budget), which readers use, but returns [`Full`], which has three words
//! and no allocation: a full builder rejects millions of samples, and each rejection must be cheap.

use crate::error::{Error, ErrorKind, Result};
use crate::limits::{Limits, floored, past};
pub(crate) use crate::model::value::heap_bytes;

/// Memory of an index entry in bytes, including its share of the free slots.
const INDEX_BYTES: usize = 14;

/// Maximum rows of a table: the range of OTLP's `int32` indices.
const MAX_ROWS: u64 = i32::MAX as u64;

/// The limits of a builder, and the bytes charged so far.
#[derive(Clone, Debug)]
pub(crate) struct BuilderBudget {
    pub(crate) limits: Limits,
    /// Bytes. Only [`clear`](BuilderBudget::clear) releases them.
    spent: u64,
    /// The bytes that may be spent, and the limit that they come from.
    most: (u64, &'static str),
}

/// The error of an exceeded limit. It is small, because it is returned for every sample that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full {
    /// Name of the limit; empty for a fixed limit of the model.
    name: &'static str,
    /// The limit in its unit: rows, bytes, frames.
    limit: u64,
    needed: u64,
}

impl From<Full> for Error {
    #[cold]
    fn from(full: Full) -> Self {
        match full.name {
            "" => Self::new(
                ErrorKind::Limit,
                format!("the table needs {} rows and can hold at most {}", full.needed, full.limit),
            ),
            name => past(name, full.limit, full.needed),
        }
    }
}

impl BuilderBudget {
    /// Creates an empty budget.
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, spent: 0, most: (limits.max_owned_bytes, "max_owned_bytes") }
    }

    /// Releases all charges.
    pub(crate) fn clear(&mut self) {
        self.spent = 0;
    }

    /// Returns the bytes charged so far.
    pub(crate) fn spent(&self) -> u64 {
        self.spent
    }

    /// Allows `max_owned_per_byte` times the bytes charged so far. Call it before an operation that multiplies rows,
    /// such as filling columns with zeros.
    pub(crate) fn hold_to_inputs(&mut self) {
        let most = floored(self.spent.saturating_mul(self.limits.max_owned_per_byte));
        self.most = self.most.min((most, "max_owned_per_byte"));
    }

    /// Charges `bytes`.
    pub(crate) fn bytes(&mut self, bytes: usize) -> Result<(), Full> {
        let needed = self.spent.saturating_add(bytes as u64);
        let (most, name) = self.most;
        at_most(name, most, needed)?;
        self.spent = needed;
        Ok(())
    }

    /// Charges a new row of `bytes` in a table with `rows` rows.
    pub(crate) fn row(&mut self, rows: usize, bytes: usize) -> Result<(), Full> {
        self.named_row("max_table_entries", self.limits.max_table_entries, rows, bytes)
    }

    /// Charges a new string of `bytes` in a table with `rows` strings of `text` bytes in total.
    pub(crate) fn string(&mut self, rows: usize, text: usize, bytes: usize) -> Result<(), Full> {
        at_most("max_string_bytes", self.limits.max_string_bytes, bytes as u64)?;
        // Bytes that are not UTF-8 are replaced by up to three times as many.
        at_most("", u64::from(u32::MAX), text as u64 + 3 * bytes as u64)?;
        self.named_row("max_strings", self.limits.max_strings, rows, bytes + size_of::<u32>())
    }

    /// Checks the total number of samples.
    pub(crate) fn samples(&self, samples: usize) -> Result<(), Full> {
        at_most("max_samples", self.limits.max_samples, samples as u64)
    }

    /// Returns the maximum number of frames of a stack.
    pub(crate) fn max_stack_depth(&self) -> usize {
        usize::try_from(self.limits.max_stack_depth).unwrap_or(usize::MAX)
    }

    /// Checks the depth of a stack.
    pub(crate) fn stack(&self, frames: usize) -> Result<(), Full> {
        at_most("max_stack_depth", self.limits.max_stack_depth, frames as u64)
    }

    /// Charges a new sample of `bytes`, with `rows` samples in total so far.
    pub(crate) fn sample(&mut self, rows: usize, bytes: usize) -> Result<(), Full> {
        self.named_row("max_samples", self.limits.max_samples, rows, bytes)
    }

    /// Charges a new row of a table whose number of rows has a limit.
    fn named_row(
        &mut self,
        name: &'static str,
        limit: u64,
        rows: usize,
        bytes: usize,
    ) -> Result<(), Full> {
        let needed = rows as u64 + 1;
        at_most(name, limit, needed)?;
        at_most("", MAX_ROWS, needed)?;
        self.bytes(bytes + INDEX_BYTES)
    }
}

/// Returns an error if `needed` exceeds `limit`. A limit with an empty name cannot be raised.
pub(crate) fn at_most(name: &'static str, limit: u64, needed: u64) -> Result<(), Full> {
    if needed > limit { Err(Full { name, limit, needed }) } else { Ok(()) }
}

/// Returns an error if `more` items do not fit after `items` others in a column of rows.
///
/// The ends of rows have 32 bits.
pub(crate) fn column(items: usize, more: usize) -> Result<(), Full> {
    at_most("", u64::from(u32::MAX), items as u64 + more as u64)
}
