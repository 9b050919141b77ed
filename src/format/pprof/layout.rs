//! Where everything is in a file: a first look, so that tables and samples can be read one after the
//! other.
//!
//! ```text
//! file      S ST L L S F S L M …        one record after the other, in any order
//! rows      [SAMPLE] (start, length) …  [LOCATION] (start, length) …
//! others    where each field begins that is no row
//! ```
//!
//! The budget pays for the places before anything is read from a row, so a file of a million empty
//! rows is refused here, at eight bytes each.

use crate::error::Result;
use crate::format::fields::number;
use crate::format::intake::Intake;
use crate::limits::within;
use crate::schema::Version::Pprof;
use crate::wire::LEN;
use crate::wire::read::Reader;

/// Numbers of `Profile`'s fields that are tables; they index [`Layout::rows`].
pub(super) const SAMPLE_TYPE: usize = number!(PROFILE "sample_type" in Pprof) as usize;
pub(super) const SAMPLE: usize = number!(PROFILE "samples" in Pprof) as usize;
pub(super) const MAPPING: usize = number!(PROFILE "mapping_table" in Pprof) as usize;
pub(super) const LOCATION: usize = number!(PROFILE "location_table" in Pprof) as usize;
pub(super) const FUNCTION: usize = number!(PROFILE "function_table" in Pprof) as usize;
pub(super) const STRING: usize = number!(PROFILE "string_table" in Pprof) as usize;

/// What a first look at the file finds.
///
/// It takes 8 bytes a row and no look into any. Rows of a kind are then read in one loop each, which a processor
/// predicts better than one over all kinds; that is worth the second pass.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// By field number: where the rows of a table are.
    pub(super) rows: [Vec<Place>; STRING + 1],
    /// Where the fields begin that are not of a table.
    pub(super) others: Vec<u32>,
}

/// As many fields are in the smallest files.
const FEW: usize = 16;

/// Where a row begins in the file, and how long it is.
pub(crate) type Place = (u32, u32);

/// A row of the file.
///
/// The places came from the payload itself, so a row never reaches past it.
pub(crate) fn row((start, length): Place, payload: &[u8]) -> Reader<'_> {
    Reader::within(payload, start as usize, start as usize + length as usize)
}

impl Layout {
    /// Whether a field occurs twice that a profile has once. Comments are a list.
    pub(super) fn has_field_twice(&self, payload: &[u8]) -> bool {
        let mut met = 0_u64;
        self.others.iter().any(|&start| {
            let tag = Reader::within(payload, start as usize, payload.len()).tag().ok().flatten();
            let number = tag.map_or(0, |tag| tag >> 3);
            let bit = 1_u64.checked_shl(number).unwrap_or(0);
            let is_again =
                number != number!(PROFILE "comment_strindices" in Pprof) && met & bit != 0;
            met |= bit;
            is_again
        })
    }

    /// # Errors
    ///
    /// More samples or strings than the limits allow; a field that runs past the end.
    pub(super) fn of(payload: &[u8], intake: &mut Intake) -> Result<Self> {
        let mut layout = Self::default();
        let mut reader = Reader::new(payload);
        let limits = *intake.limits();
        // Rarely more: what is too small moves all that is there, and what is not used is never touched.
        let most = (payload.len() / 64).min(intake.budget.left::<[Place; 4]>());
        for table in [SAMPLE, LOCATION, FUNCTION, STRING] {
            layout.rows[table].reserve(most + FEW);
        }
        layout.others.reserve(FEW);
        loop {
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
            // Rows of all tables lie between one another: no branch on which this is of.
            match layout.rows.get_mut((tag >> 3) as usize) {
                Some(rows) => rows.push((row.at() as u32, row.left() as u32)),
                None => layout.others.push(start as u32),
            }
        }
        // These are there until all is read.
        for table in [SAMPLE, STRING] {
            layout.rows[table].shrink_to_fit();
        }
        let rows = layout.rows.iter().map(Vec::len).sum();
        intake.budget.take::<Place>(rows)?;
        intake.budget.take::<u32>(layout.others.len())?;
        let [_, _, samples, _, _, _, strings] = &layout.rows;
        within("max_samples", limits.max_samples, samples.len() as u64)?;
        within("max_strings", limits.max_strings, strings.len() as u64)?;
        Ok(layout)
    }
}
