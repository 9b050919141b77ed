//! Reader of the location table.
//!
//! There are two readers for one message, as for samples: [`Tables::location_fast`] for the usual fields and
//! order, and [`Tables::location_slow`] for all other locations.
//!
//! A location is stored in four columns of `dictionary.locations`: `mappings`, `addresses`, `lines` and `attributes`.
//! The first two have an entry for each location. Lines are inlined calls, innermost first, as in the proto:
//! the last line of a location is the caller of those before it.
//!
//! ```text
//! location { mapping 1, address 0x10, line {f 3, 7}, line {f 4, 9} }
//! ─► mappings [… 1]   addresses [… 0x10]   lines [… | (3, 7) (4, 9)]
//! ```

use crate::error::Result;
use crate::limits::within;
use crate::model::dictionary::Line;
use crate::model::id::{FunctionId, MappingId};
use crate::read_context::ReadContext;
use crate::schema::{Generation, LINE, LOCATION};
use crate::tables::fields::fields;
use crate::wire::read::Reader;
use crate::wire::unchecked_reader::UncheckedReader;
use crate::wire::varint::index;

use crate::tables::read::references::{attribute_ids, optional_index};
use crate::tables::read::tables::Tables;

impl Tables {
    /// Reads a location. Both readers push to the same columns, with the same result.
    ///
    /// # Errors
    ///
    /// Input that is not protobuf, more lines than allowed, the budget.
    #[inline]
    pub(crate) fn location<G: Generation>(
        &mut self,
        reader: Reader,
        cx: &mut ReadContext,
    ) -> Result<()> {
        if let Some(short) = reader.unchecked()
            && self.location_fast::<G>(short, cx)?
        {
            return Ok(());
        }
        self.location_slow::<G>(reader, cx)
    }

    /// Reads a location with its fields in the usual order; Go writes the mapping last.
    ///
    /// Returns `false` if the order is unusual. Then the columns are unchanged, and the caller uses
    /// [`location_slow`](Self::location_slow).
    ///
    /// The three fields of a line are optional but ordered, so a line needs no loop over its fields.
    ///
    /// # Errors
    ///
    /// Those of [`end_location`](Self::end_location).
    // Always inlined. Without any in the library, decoding 1.10 takes up to 36 % more instructions.
    #[inline(always)]
    pub(super) fn location_fast<G: Generation>(
        &mut self,
        mut row: UncheckedReader,
        cx: &mut ReadContext,
    ) -> Result<bool> {
        let before = self.dictionary.locations.lines.items.len();
        let mapping_index = const { LOCATION.tag(G::VERSION, "mapping_index") };
        let id = match G::CAPABILITIES.ids {
            true => row.number(const { LOCATION.tag(G::VERSION, "id") }),
            false => 0,
        };
        let mut mapping = row.optional(mapping_index);
        let address = row.number(const { LOCATION.tag(G::VERSION, "address") });
        let mut usual = true;
        // Stop at the end of this location: the tag of the next one may equal that of a line.
        while !row.is_done()
            && let Some(mut line) = row.message(const { LOCATION.tag(G::VERSION, "lines") })
        {
            // The capacity for these lines was reserved and charged before: by `end_location` or `Tables::reserve`.
            self.dictionary.locations.lines.items.push(Line {
                function: FunctionId(index(
                    line.number(const { LINE.tag(G::VERSION, "function_index") }),
                )),
                line: line.number_mixed(const { LINE.tag(G::VERSION, "line") }) as i64,
                column: line.number(const { LINE.tag(G::VERSION, "column") }) as i64,
            });
            // Checked after the loop, to avoid a branch per line.
            usual &= line.is_done();
        }
        if mapping.is_none() {
            mapping = row.optional(mapping_index);
        }
        if !usual || !row.is_done() {
            // The slow reader reads the location again from its beginning.
            self.dictionary.locations.lines.items.truncate(before);
            return Ok(false);
        }
        self.end_location::<G>(mapping.map(index), address, id, before, cx)?;
        Ok(true)
    }

    /// Ends a location whose lines were pushed from `first_line`. Omitted fields are 0.
    ///
    /// `attributes` has no ends until the first location with attributes: rows past the last end are
    /// empty.
    ///
    /// `mapping` is `None` if the field is omitted, which 1.4 to 1.7 distinguish from 0.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) if `max_lines_per_location` or the budget is exceeded.
    #[inline(always)]
    pub(super) fn end_location<G: Generation>(
        &mut self,
        mapping: Option<u32>,
        address: u64,
        id: u64,
        first_line: usize,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let lines = self.dictionary.locations.lines.items.len() - first_line;
        if lines > 1 {
            within("max_lines_per_location", cx.limits().max_lines_per_location, lines as u64)?;
        }
        // Reserve memory for the lines of the next short location.
        let items = &mut self.dictionary.locations.lines.items;
        if items.capacity() - items.len() < <UncheckedReader>::MOST_MESSAGES {
            cx.budget.grow(items, <UncheckedReader>::MOST_MESSAGES)?;
        }
        self.dictionary.locations.lines.end_row();
        if !self.dictionary.locations.attributes.items.is_empty() {
            self.dictionary
                .locations
                .attributes
                // The address is pushed below, so the length is the row of this location.
                .end_row_at(self.dictionary.locations.addresses.len());
        }
        self.dictionary.locations.mappings.push(MappingId(optional_index::<G>(mapping)));
        self.dictionary.locations.addresses.push(address);
        if G::CAPABILITIES.ids {
            self.ids.location.push(id);
        }
        Ok(())
    }

    /// Reads a location with fields in any order, repeated or unknown. The last occurrence of a field wins.
    ///
    /// # Errors
    ///
    /// Input that is not protobuf, a known field with another wire type, and those of
    /// [`end_location`](Self::end_location).
    #[inline(never)]
    pub(super) fn location_slow<G: Generation>(
        &mut self,
        mut reader: Reader,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let row = self.dictionary.locations.addresses.len() as u32;
        let before = self.dictionary.locations.lines.items.len();
        let (mut mapping, mut address, mut id) = (None, 0, 0);
        fields!(reader, LOCATION in G::VERSION, cx; {
            "address" => address = reader.varint()?,
            "mapping_index" => mapping = Some(reader.index()?),
            "lines" => {
                let line = line::<G>(reader.message()?, cx)?;
                cx.budget.push(&mut self.dictionary.locations.lines.items, line)?;
            },
            "id" => id = reader.varint()?,
            "attribute_indices" as tag => {
                let first = self.dictionary.locations.attributes.open_row();
                let items = &mut self.dictionary.locations.attributes.items;
                attribute_ids(tag, &mut reader, items, first, cx)?;
            },
            "is_folded" => {
                // The last occurrence wins: drop the entry of an earlier one in the same location.
                self.folded.pop_if(|folded| *folded == row);
                if reader.varint()? != 0 {
                    cx.budget.push(&mut self.folded, row)?;
                }
            },
            "type_index" => {
                let frame_type = reader.index()?;
                self.frame_types.pop_if(|(location, _)| *location == row);
                if frame_type != 0 {
                    cx.budget.push(&mut self.frame_types, (row, frame_type))?;
                }
            },
        });
        self.end_location::<G>(mapping, address, id, before, cx)
    }
}

/// Reads a line, which has the same field numbers in every generation and in pprof.
///
/// # Errors
///
/// Input that is not protobuf, or a known field with another wire type.
#[inline]
fn line<G: Generation>(mut reader: Reader, cx: &mut ReadContext) -> Result<Line> {
    let mut line = Line::default();
    fields!(reader, LINE in G::VERSION, cx; {
        "function_index" => line.function = FunctionId(reader.index()?),
        "line" => line.line = reader.varint()? as i64,
        "column" => line.column = reader.varint()? as i64,
    });
    Ok(line)
}
