//! Reading the rows of the location table.
//!
//! Two readers for one message, as of samples: [`Tables::short_location`] where the fields are as nearly all
//! producers write them, [`Tables::any_location`] for all else.
//!
//! A location goes to four columns, `location_mappings`, `addresses`, `lines` and
//! `location_attributes`, of which the first two are as long as the table and tell its length.
//! Lines are inlined calls, the innermost first, as in the proto: the last line of a location is
//! the caller of those before.
//!
//! ```text
//! location { mapping 1, address 0x10, line {f 3, 7}, line {f 4, 9} }
//! ─► location_mappings [… 1]   addresses [… 0x10]   lines [… | (3, 7) (4, 9)]
//! ```

use crate::error::Result;
use crate::format::fields::fields;
use crate::format::intake::Intake;
use crate::limits::within;
use crate::model::dictionary::Line;
use crate::model::id::FunctionId;
use crate::schema::{Generation, LINE, LOCATION};
use crate::wire::read::Reader;
use crate::wire::short::Short;
use crate::wire::varint::index;

use crate::format::otlp::read::references::{attribute_rows, reference, row_of};
use crate::format::otlp::read::tables::Tables;

impl Tables {
    /// Both readers push the same columns; which one ran does not show.
    ///
    /// # Errors
    ///
    /// What is no protobuf, more lines than allowed, the budget.
    #[inline]
    pub(crate) fn location<G: Generation>(
        &mut self,
        reader: Reader,
        intake: &mut Intake,
    ) -> Result<()> {
        if let Some(short) = reader.short()
            && self.short_location::<G>(short, intake)?
        {
            return Ok(());
        }
        self.any_location::<G>(reader, intake)
    }

    /// A location with its fields in the usual order, if it is; Go writes the mapping last.
    ///
    /// `false`: nothing was kept, and the row must be read by [`any_location`](Self::any_location).
    /// Only the budget for lines may have grown, which is why a wrong guess changes no result.
    ///
    /// A line's three fields are optional in their order, so most producers' lines are one step
    /// each.
    ///
    /// # Errors
    ///
    /// Those of [`end_location`](Self::end_location).
    #[inline(always)]
    pub(super) fn short_location<G: Generation>(
        &mut self,
        mut row: Short,
        intake: &mut Intake,
    ) -> Result<bool> {
        let before = self.lines.items.len();
        let mapping_index = const { LOCATION.tag(G::VERSION, "mapping_index") };
        let id = match G::CAPABILITIES.ids {
            true => row.number(const { LOCATION.tag(G::VERSION, "id") }),
            false => 0,
        };
        let mut mapping = row.optional(mapping_index);
        let address = row.number(const { LOCATION.tag(G::VERSION, "address") });
        let mut usual = true;
        // Not past the end, where the next location looks like a line.
        while !row.is_done()
            && let Some(mut line) = row.message(const { LOCATION.tag(G::VERSION, "lines") })
        {
            self.lines.items.push(Line {
                function: FunctionId(row_of::<G>(index(
                    line.number(const { LINE.tag(G::VERSION, "function_index") }),
                ))),
                line: line.number_mixed(const { LINE.tag(G::VERSION, "line") }) as i64,
                column: line.number(const { LINE.tag(G::VERSION, "column") }) as i64,
            });
            usual &= line.is_done();
        }
        if mapping.is_none() {
            mapping = row.optional(mapping_index);
        }
        if !usual || !row.is_done() {
            self.lines.items.truncate(before);
            return Ok(false);
        }
        self.end_location::<G>(mapping.map(index), address, id, before, intake)?;
        Ok(true)
    }

    /// The lines are pushed already, from `first_line` on; what is left out is 0.
    ///
    /// A location without attributes gets no end in `location_attributes` until one has some: rows
    /// behind the last end are empty.
    ///
    /// `mapping` is none where the field was left out, which 1.4 to 1.7 tell from 0.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) past `max_lines_per_location`, or where the budget ends.
    #[inline(always)]
    pub(super) fn end_location<G: Generation>(
        &mut self,
        mapping: Option<u32>,
        address: u64,
        id: u64,
        first_line: usize,
        intake: &mut Intake,
    ) -> Result<()> {
        let lines = self.lines.items.len() - first_line;
        if lines > 1 {
            within("max_lines_per_location", intake.limits().max_lines_per_location, lines as u64)?;
        }
        // Room for those of the next short location.
        let items = &mut self.lines.items;
        if items.capacity() - items.len() < <Short>::MOST_MESSAGES {
            intake.budget.grow(items, <Short>::MOST_MESSAGES)?;
        }
        self.lines.end_row();
        if !self.location_attributes.items.is_empty() {
            self.location_attributes.end_row_at(self.addresses.len());
        }
        self.location_mappings.push(reference::<G>(mapping));
        self.addresses.push(address);
        if G::CAPABILITIES.ids {
            self.ids.location.push(id);
        }
        Ok(())
    }

    /// Fields in any order, said again or unknown. Of a field said twice the last counts.
    ///
    /// # Errors
    ///
    /// What is no protobuf, an unknown field where that is refused, and those of [`end_location`](Self::end_location).
    #[inline(never)]
    pub(super) fn any_location<G: Generation>(
        &mut self,
        mut reader: Reader,
        intake: &mut Intake,
    ) -> Result<()> {
        let row = self.addresses.len() as u32;
        let before = self.lines.items.len();
        let (mut mapping, mut address, mut id) = (None, 0, 0);
        fields!(reader, LOCATION in G::VERSION, intake; {
            "address" => address = reader.varint()?,
            "mapping_index" => mapping = Some(reader.index()?),
            "lines" => {
                let line = line::<G>(reader.message()?, intake)?;
                intake.budget.push(&mut self.lines.items, line)?;
            },
            "id" => id = reader.varint()?,
            "attribute_indices" as tag => {
                let first = self.location_attributes.open_row();
                let items = &mut self.location_attributes.items;
                attribute_rows::<G>(tag, &mut reader, items, first, intake)?;
            },
            "is_folded" => {
                self.folded.pop_if(|folded| *folded == row);
                if reader.varint()? != 0 {
                    intake.budget.push(&mut self.folded, row)?;
                }
            },
            "type_index" => {
                let frame_type = reader.index()?;
                self.frame_types.pop_if(|(location, _)| *location == row);
                if frame_type != 0 {
                    intake.budget.push(&mut self.frame_types, (row, frame_type))?;
                }
            },
        });
        self.end_location::<G>(mapping, address, id, before, intake)
    }
}

/// Lines have the same numbers in every generation and in pprof.
///
/// # Errors
///
/// What is no protobuf, or a field that lines do not have where that is refused.
#[inline]
fn line<G: Generation>(mut reader: Reader, intake: &mut Intake) -> Result<Line> {
    let mut line = Line { function: FunctionId(row_of::<G>(0)), ..Line::default() };
    fields!(reader, LINE in G::VERSION, intake; {
        "function_index" => line.function = FunctionId(row_of::<G>(reader.index()?)),
        "line" => line.line = reader.varint()? as i64,
        "column" => line.column = reader.varint()? as i64,
    });
    Ok(line)
}
