//! Reading samples: the hot path.

use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::format::labels::{self, Label};
use crate::format::losses;
use crate::format::otlp::common;
use crate::format::otlp::schema::Generation;
use crate::format::otlp::tables::{Tables, indices, is, reference, unknown};
use crate::model::ragged::Ragged;
use crate::wire::read::{BEYOND, Reader, packed_fixed64, packed_indices, packed_varints};
use crate::wire::{FIXED64, LEN, VARINT, tag};

/// The samples as they are on the wire: ids are numbers, not yet proved.
#[derive(Debug, Default)]
pub(crate) struct RawSamples {
    pub(crate) stacks: Vec<u32>,
    pub(crate) links: Vec<u32>,
    pub(crate) attributes: Ragged<u32>,
    pub(crate) values: Ragged<i64>,
    pub(crate) timestamps: Ragged<u64>,
    pub(crate) stacktrace_ids: Vec<u32>,
    /// OTEP 0239's deprecated list of locations, taken apart when it is known what it means.
    pub(crate) location_lists: bool,
}

impl RawSamples {
    pub(crate) fn reserve(&mut self, samples: usize) {
        self.stacks.reserve(samples);
        self.values.ends.reserve(samples);
        self.values.items.reserve(samples);
    }
}

/// Reads one sample into the columns.
#[inline]
pub(crate) fn sample<G: Generation>(
    mut reader: Reader,
    samples: &mut RawSamples,
    location_indices: &[u32],
    tables: &mut Tables,
    intake: &mut Intake,
) -> Result<()> {
    let (mut stack, mut link, mut start, mut length) = (0, None, 0, 0);
    let mut rare = Rare::default();
    while let Some(tag) = reader.tag()? {
        if is!(tag, G::SCHEMA.sample.stack, VARINT) {
            stack = reader.index()?;
        } else if is!(tag, G::SCHEMA.sample.slice_start, VARINT) {
            start = reader.index()?;
        } else if is!(tag, G::SCHEMA.sample.slice_length, VARINT) {
            length = reader.index()?;
        } else if is!(tag, G::SCHEMA.sample.values, LEN) {
            packed_varints(reader.message()?, &mut samples.values.items, |value| {
                value as i64
            })?;
        } else if is!(tag, G::SCHEMA.sample.values, VARINT) {
            samples.values.items.push(reader.varint()? as i64);
        } else if is!(tag, G::SCHEMA.sample.attributes, LEN)
            || is!(tag, G::SCHEMA.sample.attributes, VARINT)
        {
            indices(tag, &mut reader, &mut samples.attributes.items, intake)?;
        } else if is!(tag, G::SCHEMA.sample.link, VARINT) {
            link = Some(reader.index()?);
        } else if G::SCHEMA.sample.fixed_timestamps && is!(tag, G::SCHEMA.sample.timestamps, LEN) {
            packed_fixed64(reader.bytes()?, &mut samples.timestamps.items)?;
        } else if G::SCHEMA.sample.fixed_timestamps
            && is!(tag, G::SCHEMA.sample.timestamps, FIXED64)
        {
            samples.timestamps.items.push(reader.fixed64()?);
        } else if !G::SCHEMA.sample.fixed_timestamps && is!(tag, G::SCHEMA.sample.timestamps, LEN) {
            packed_varints(reader.message()?, &mut samples.timestamps.items, |time| {
                time
            })?;
        } else if !G::SCHEMA.sample.fixed_timestamps
            && is!(tag, G::SCHEMA.sample.timestamps, VARINT)
        {
            samples.timestamps.items.push(reader.varint()?);
        } else {
            reader = rare.field::<G>(tag, reader, intake)?;
        }
    }
    let row = samples.stacks.len();
    if G::SCHEMA.tables.stack == 0 {
        stack = rare.stack(start, length, location_indices, samples, tables, intake)?;
        rare.finish(row, samples, tables, intake)?;
    }
    samples.stacks.push(stack);
    samples.values.end_row_at(row);
    samples.attributes.end_row_at(row);
    if !samples.timestamps.items.is_empty() {
        samples.timestamps.end_row_at(row);
    }
    let link = reference::<G>(link);
    if link != 0 {
        samples.links.resize(row, 0);
        samples.links.push(link);
    }
    intake
        .budget
        .take::<u64>(samples.values.row(row).len().saturating_sub(1))
}

/// What only OTEP 0239's samples have.
#[derive(Default)]
struct Rare {
    locations: Vec<u32>,
    labels: Vec<Label>,
    stacktrace_id: u32,
}

impl Rare {
    #[inline(never)]
    fn field<'a, G: Generation>(
        &mut self,
        tag: u32,
        mut reader: Reader<'a>,
        intake: &mut Intake,
    ) -> Result<Reader<'a>> {
        if is!(tag, G::SCHEMA.sample.location_index, LEN) {
            let body = reader.message()?;
            intake.budget.take::<u32>(body.rest().len())?;
            packed_indices(body, &mut self.locations)?;
        } else if is!(tag, G::SCHEMA.sample.location_index, VARINT) {
            self.locations.push(reader.index()?);
        } else if is!(tag, G::SCHEMA.sample.label, LEN) {
            intake.budget.take::<Label>(2)?;
            self.labels.push(Label::read(reader.bytes()?, intake)?);
        } else if is!(tag, G::SCHEMA.sample.stacktrace_id, VARINT) {
            self.stacktrace_id = reader.index()?;
        } else {
            let schema = const { &G::SCHEMA.sample };
            let known = [
                (schema.stack, "stack_index"),
                (schema.slice_start, "locations_start_index"),
                (schema.slice_length, "locations_length"),
                (schema.values, "values"),
                (schema.attributes, "attribute_indices"),
                (schema.link, "link_index"),
                (schema.timestamps, "timestamps_unix_nano"),
                (schema.location_index, "location_index"),
                (schema.label, "label"),
                (schema.stacktrace_id, "stacktrace_id_index"),
            ];
            unknown(&mut reader, tag, "Sample", &known, intake)?;
        }
        Ok(reader)
    }

    /// The row of the sample's stack: a slice of the profile's indices, or else its own list.
    #[inline]
    fn stack(
        &self,
        start: u32,
        length: u32,
        location_indices: &[u32],
        samples: &mut RawSamples,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<u32> {
        if length == 0 {
            samples.location_lists |= !self.locations.is_empty();
            return tables.stacks.intern(&self.locations, intake);
        }
        let slice = (start as usize)
            .checked_add(length as usize)
            .and_then(|end| location_indices.get(start as usize..end));
        match slice {
            Some(stack) => tables.stacks.intern(stack, intake),
            None => {
                bad_slice(start, length, location_indices.len(), intake)?;
                Ok(0)
            }
        }
    }

    #[inline]
    fn finish(
        &self,
        row: usize,
        samples: &mut RawSamples,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<()> {
        if self.stacktrace_id != 0 {
            samples.stacktrace_ids.resize(row, 0);
            samples.stacktrace_ids.push(self.stacktrace_id);
        }
        if !self.labels.is_empty() {
            attach(&self.labels, &mut samples.attributes.items, tables, intake)?;
        }
        Ok(())
    }
}

/// Adds a sample's labels to its attributes.
#[inline(never)]
fn attach(
    labels: &[Label],
    out: &mut Vec<u32>,
    tables: &mut Tables,
    intake: &mut Intake,
) -> Result<()> {
    let Tables {
        texts,
        new_attributes,
        ..
    } = tables;
    let text = |index, intake: &mut Intake| common::table_text(index, texts, intake);
    let singles: Result<Vec<_>> = labels
        .iter()
        .map(|label| label.attribute(intake, text))
        .collect();
    let before = out.len();
    labels::group(&singles?, out, texts, new_attributes, intake)?;
    // The ids are the model's; the column is shifted by the model's own row 0 later.
    out[before..]
        .iter_mut()
        .for_each(|id| *id = id.saturating_sub(1));
    Ok(())
}

#[cold]
fn bad_slice(start: u32, length: u32, indices: usize, intake: &mut Intake) -> Result<()> {
    use crate::format::otlp::common::show;
    let end = match (start < BEYOND, length < BEYOND) {
        (true, true) => format!("{start} + {length}"),
        _ => format!("{} + {}", show(start), show(length)),
    };
    let error = Error::malformed(format!(
        "the slice ends at {end}, past the last of {indices} location_indices"
    ));
    intake.repair(losses::INDEX_OUT_OF_RANGE, error.within("locations_length"))
}
