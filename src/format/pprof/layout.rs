//! Index of the records of a file. A first pass builds it, so that tables and samples can be read one after
//! the other.
//!
//! ```text
//! file      S ST L L S F S L M …        records in any order
//! rows      [SAMPLE] (start, length) …  [LOCATION] (start, length) …
//! others    the start of each field that is not a row
//! ```
//!
//! The budget is charged for the index before any row is read. So a file of a million empty rows is rejected
//! here, at eight bytes per row.

use crate::error::Result;
use crate::limits::within;
use crate::read_context::ReadContext;
use crate::schema::Version::Pprof;
use crate::tables::fields::number;
use crate::wire::LEN;
use crate::wire::read::Reader;

/// Field numbers of `Profile`'s tables. They index [`Layout::rows`].
pub(super) const SAMPLE_TYPE: usize = number!(PROFILE "sample_type" in Pprof) as usize;
pub(super) const SAMPLE: usize = number!(PROFILE "samples" in Pprof) as usize;
pub(super) const MAPPING: usize = number!(PROFILE "mapping_table" in Pprof) as usize;
pub(super) const LOCATION: usize = number!(PROFILE "location_table" in Pprof) as usize;
pub(super) const FUNCTION: usize = number!(PROFILE "function_table" in Pprof) as usize;
pub(super) const STRING: usize = number!(PROFILE "string_table" in Pprof) as usize;

/// The places of all records of a file.
///
/// Each row takes 8 bytes and is not parsed. The reader then processes each table in a separate loop, whose
/// branches the processor predicts better than those of one loop over all tables. That is worth the
/// additional pass.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// The places of the rows of each table, by field number.
    pub(super) rows: [Vec<RowSpan>; STRING + 1],
    /// The start of each field that is not a row of a table.
    pub(super) others: Vec<u32>,
}

/// The minimum capacity, enough for the smallest files.
const FEW: usize = 16;

/// The start and the length of a row in the file.
pub(crate) type RowSpan = (u32, u32);

/// Returns a reader of a row of the file.
///
/// The places come from the payload itself, so a row never extends past it.
pub(crate) fn row((start, length): RowSpan, payload: &[u8]) -> Reader<'_> {
    Reader::within(payload, start as usize, start as usize + length as usize)
}

impl Layout {
    /// Returns whether a singular field of the profile occurs twice. Comments are a list, so they may repeat.
    pub(super) fn has_repeated_singular(&self, payload: &[u8]) -> bool {
        let mut seen = 0_u64;
        self.others.iter().any(|&start| {
            let tag = Reader::within(payload, start as usize, payload.len()).tag().ok().flatten();
            let number = tag.map_or(0, |tag| tag >> 3);
            // Fields from 64 on are unknown, so whether they may repeat is unknown too.
            let bit = 1_u64.checked_shl(number).unwrap_or(0);
            let is_again =
                number != number!(PROFILE "comment_strindices" in Pprof) && seen & bit != 0;
            seen |= bit;
            is_again
        })
    }

    /// Indexes a file.
    ///
    /// # Errors
    ///
    /// More samples or strings than the limits allow; a field that extends past the end.
    pub(super) fn of(payload: &[u8], cx: &mut ReadContext) -> Result<Self> {
        let mut layout = Self::default();
        let mut reader = Reader::new(payload);
        let limits = *cx.limits();
        // Seldom too small: growth would copy the index, whereas unused memory is never touched.
        let most = (payload.len() / 64).min(cx.budget.remaining::<[RowSpan; 4]>());
        for table in [SAMPLE, LOCATION, FUNCTION, STRING] {
            layout.rows[table].reserve(most + FEW);
        }
        layout.others.reserve(FEW);
        loop {
            // Positions fit 32 bits: `addressable` limits the payload.
            let start = reader.at();
            let (tag, row) = match reader.record() {
                Some(record) => record,
                None => match reader.tag()? {
                    None => break,
                    Some(tag) if tag & 7 == LEN => (tag, reader.message()?),
                    Some(tag) => {
                        reader.skip(tag, limits.max_nesting)?;
                        layout.others.push(start as u32);
                        continue;
                    }
                },
            };
            // Rows of all tables alternate, so index by the field number instead of branching.
            match layout.rows.get_mut((tag >> 3) as usize) {
                Some(rows) => rows.push((row.at() as u32, row.left() as u32)),
                None => layout.others.push(start as u32),
            }
        }
        // These two stay allocated until the end of the read.
        for table in [SAMPLE, STRING] {
            layout.rows[table].shrink_to_fit();
        }
        let rows = layout.rows.iter().map(Vec::len).sum();
        cx.budget.charge::<RowSpan>(rows)?;
        cx.budget.charge::<u32>(layout.others.len())?;
        let [_, _, samples, _, _, _, strings] = &layout.rows;
        within("max_samples", limits.max_samples, samples.len() as u64)?;
        within("max_strings", limits.max_strings, strings.len() as u64)?;
        Ok(layout)
    }
}
