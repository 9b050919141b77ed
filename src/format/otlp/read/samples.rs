//! Reader of samples: the hot path.
//!
//! Samples make up most of a payload. [`sample_fast`] reads short samples with the usual fields: it tracks
//! the bytes left in the sample, so it checks bounds once. [`sample_slow`] reads all others and checks every
//! field.
//!
//! ```text
//! bytes of a sample ─► sample_fast ─► columns        fails on anything unusual: its pushes are undone
//!                   └► sample_slow ─► columns        fields in any order, repeated
//! columns           stacks [7 8 8]   values [1 | 2 | 3]   attributes [4 | 4 5 | ]   timestamps …
//! ```
//!
//! Columns instead of structs, because each column is validated in one pass and most samples have the same
//! few fields.

use crate::error::Result;
use crate::format::otlp::read::location_list::LocationList;
use crate::model::id::{AttributeId, Id, LinkId, StackId, StringId};
use crate::model::ragged::Ragged;
use crate::model::samples::Samples;
use crate::read_context::ReadContext;
use crate::schema::Generation;
use crate::tables::attributes::labels::{self, Label};
use crate::tables::fields::{fields, is};
use crate::tables::read::common;
use crate::tables::read::references::{attribute_ids, optional_index};
use crate::tables::read::tables::Tables;
use crate::tables::resolve::validate;
use crate::wire::LEN;
use crate::wire::packed::{count_packed, packed_fixed64, packed_varints};
use crate::wire::read::Reader;
use crate::wire::unchecked_reader::UncheckedReader;
use crate::wire::varint::index;

/// The samples as encoded: ids are numbers, not validated yet.
#[derive(Debug, Default)]
pub(crate) struct RawSamples {
    /// One entry for each sample: an index, or the number of a slice in [`LocationList`].
    ///
    /// This column has an entry for each sample; the others may be shorter.
    pub(crate) stacks: Vec<StackId>,
    /// The links, up to the last sample that has one.
    pub(crate) links: Vec<LinkId>,
    /// Rows of the attribute table, including attributes made of labels.
    pub(crate) attributes: Ragged<AttributeId>,
    /// One value for each sample type, or since 1.8 for each timestamp.
    pub(crate) values: Ragged<i64>,
    /// Nanoseconds since 1970.
    pub(crate) timestamps: Ragged<u64>,
    /// The stacktrace ids, up to the last sample that has one.
    pub(crate) stacktrace_ids: Vec<StringId>,
    /// The labels of the current sample in pprof's form, which 1.3 has too. A key may be repeated.
    labels: Vec<Label>,
}

impl RawSamples {
    /// Reserves memory for `samples` samples of `bytes` bytes in all. A value takes a few bytes.
    ///
    /// # Errors
    ///
    /// The budget, which is charged before memory is allocated.
    pub(crate) fn reserve(
        &mut self,
        samples: usize,
        bytes: usize,
        cx: &mut ReadContext,
    ) -> Result<()> {
        // A sample with a value takes at least four bytes, two tags and a length included. Empty samples,
        // which take two, therefore reserve memory for fewer values.
        let values = samples.min(bytes / 4);
        // Charge for a stack, and for the ends of attributes, values and timestamps.
        cx.budget.charge::<[u32; 4]>(samples)?;
        cx.budget.charge::<i64>(values)?;
        self.stacks.reserve_exact(samples);
        self.values.items.reserve_exact(values);
        self.values.ends.reserve_exact(values);
        Ok(())
    }

    /// Ends the lists of sample `row`. If one sample has attributes, most have, so memory for all ends is
    /// reserved.
    // Always inlined. Without any in the library, decoding 1.10 takes up to 36 % more instructions.
    #[inline(always)]
    fn end_rows(&mut self, row: usize) {
        if self.attributes.ends.is_empty() && !self.attributes.items.is_empty() {
            self.attributes.ends.reserve(self.stacks.capacity());
        }
        self.attributes.end_row_at(row);
        self.values.end_row_at(row);
        self.timestamps.end_row_at(row);
    }

    /// Returns the samples in the form of the model, after all are read. Their ids are not validated yet.
    ///
    pub(crate) fn into_samples(self) -> Samples {
        Samples {
            stacks: self.stacks,
            links: self.links.into(),
            attributes: self.attributes,
            values: self.values,
            timestamps: self.timestamps.into(),
            stacktrace_ids: self.stacktrace_ids.into(),
        }
    }
}

/// Reads one sample into the columns.
///
/// Both readers push to the same columns, with the same result.
///
/// # Errors
///
/// Input that is not protobuf; invalid attributes beside labels; the budget and the limits.
#[inline]
pub(crate) fn sample<G: Generation>(
    reader: Reader,
    samples: &mut RawSamples,
    locations: &mut LocationList,
    tables: &mut Tables,
    cx: &mut ReadContext,
) -> Result<()> {
    let row = samples.stacks.len();
    let (before, own) = (samples.lengths(), locations.len());
    let short = match reader.unchecked() {
        Some(short) => sample_fast::<G>(short, samples),
        None => None,
    };
    let fields = match short {
        Some(fields) => {
            samples.spend(before, cx)?;
            fields
        }
        None => {
            // Undo the fast path, then parse the sample again.
            samples.truncate(before);
            sample_slow::<G>(reader, samples, locations, cx)?
        }
    };
    if G::CAPABILITIES.labels {
        // Validate first: labels add rows after the table, which an invalid index could reach.
        let rows = tables.new_attributes.first;
        let attributes = &mut samples.attributes.items;
        validate::attributes_beside_labels(attributes, before.attributes, rows, cx)?;
        attach_labels(before.attributes, samples, tables, cx)?;
    }
    let stack = match (G::CAPABILITIES.stack_table, fields.slice_length) {
        (true, _) => fields.stack,
        // Without a slice, the stack is what `sample_slow` read from 1.3's `Sample.location_index`, usually
        // nothing.
        (false, 0) => locations.own(own, cx)?,
        (false, length) => locations.slice(fields.slice_start, length, cx)?,
    };
    samples.stacks.push(StackId(stack));
    samples.end_rows(row);
    push_reference(&mut samples.links, row, LinkId(optional_index::<G>(fields.link)));
    push_reference(&mut samples.stacktrace_ids, row, StringId(fields.stacktrace_id));
    Ok(())
}

/// Appends the reference of a sample, if it has one. The column ends with the last sample that has one.
#[inline(always)]
fn push_reference<I: Id>(column: &mut Vec<I>, row: usize, reference: I) {
    if reference.number() != 0 {
        column.resize(row, I::default());
        column.push(reference);
    }
}

/// Adds the labels of a sample to its attributes, which begin at `first`.
///
/// Labels with the same key become one attribute, as in pprof's reader ([`labels::group`]).
#[inline]
fn attach_labels(
    first: usize,
    samples: &mut RawSamples,
    tables: &mut Tables,
    cx: &mut ReadContext,
) -> Result<()> {
    if samples.labels.is_empty() {
        return Ok(());
    }
    let (Tables { texts, new_attributes, .. }, out) = (tables, &mut samples.attributes.items);
    // Grouping adds at most one attribute per label.
    cx.charge_more_attributes(out.len() - first, samples.labels.len())?;
    let mut singles = Vec::with_capacity(samples.labels.len());
    for label in samples.labels.drain(..) {
        label.note(cx);
        singles.push(label.attribute(|index, field| {
            let text = if field == "key" { common::table_name } else { common::table_text };
            text(index, texts, cx).map_err(|e| e.within(field))
        })?);
    }
    labels::group(&singles, out, texts, new_attributes, cx)
}

/// The lengths of the list columns.
///
/// Recorded before a sample is read, so that a failed fast path can be undone.
#[derive(Clone, Copy)]
struct Lengths {
    values: usize,
    attributes: usize,
    timestamps: usize,
}

impl RawSamples {
    #[inline(always)]
    fn lengths(&self) -> Lengths {
        Lengths {
            values: self.values.items.len(),
            attributes: self.attributes.items.len(),
            timestamps: self.timestamps.items.len(),
        }
    }

    /// Charges for the items of a short sample after `before`. One value is already charged.
    ///
    /// A short sample is small, so it is charged after it is read.
    ///
    /// # Errors
    ///
    /// The budget, and more attributes than `max_attributes_per_item`.
    #[inline(always)]
    fn spend(&mut self, before: Lengths, cx: &mut ReadContext) -> Result<()> {
        let after = self.lengths();
        if after.values - before.values > 1 {
            cx.budget.charge::<[i64; 2]>(after.values - before.values - 1)?;
        }
        if after.attributes + after.timestamps == before.attributes + before.timestamps {
            return Ok(());
        }
        if before.attributes == 0 {
            self.expect_attributes(cx.budget.payload());
        }
        cx.budget.charge::<[u64; 2]>(after.timestamps - before.timestamps)?;
        cx.charge_attributes(after.attributes - before.attributes)
    }

    /// Reserves memory for the attributes of all samples, assuming that each has as many as the first that
    /// has any.
    ///
    /// Called once per payload. Bounded by the size of the payload in bytes, because the first sample may be
    /// an exception.
    #[cold]
    fn expect_attributes(&mut self, payload: usize) {
        let all = self.stacks.capacity().saturating_mul(self.attributes.items.len());
        self.attributes.items.reserve(all.min(payload / 16));
    }

    /// Undoes the pushes of a failed [`sample_fast`].
    #[inline]
    fn truncate(&mut self, lengths: Lengths) {
        self.values.items.truncate(lengths.values);
        self.attributes.items.truncate(lengths.attributes);
        self.timestamps.items.truncate(lengths.timestamps);
    }
}

/// The scalar fields of a sample.
///
/// Raw indices: validation runs after all tables are read.
#[derive(Clone, Copy, Default)]
struct Fields {
    stack: u32,
    link: Option<u32>,
    slice_start: u32,
    slice_length: u32,
    /// A string index, in 1.3 only.
    stacktrace_id: u32,
}

/// Reads a short sample with the usual fields and packed lists. Returns `None` if the sample has another
/// form.
///
/// The conditions are constants of the generation, so each generation gets a separate loop without the fields
/// that it lacks.
#[inline(always)]
fn sample_fast<G: Generation>(
    mut row: UncheckedReader,
    samples: &mut RawSamples,
) -> Option<Fields> {
    let mut fields = Fields::default();
    while let Some((tag, value)) = row.field() {
        if is!(tag, SAMPLE "stack_index" in G::VERSION) {
            fields.stack = index(value);
        } else if is!(tag, SAMPLE packed "values" in G::VERSION) {
            let mut values = row.body(value)?;
            while let Some(value) = values.packed() {
                samples.values.items.push(value as i64);
            }
            values.is_done().then_some(())?;
        } else if is!(tag, SAMPLE "locations_start_index" in G::VERSION) {
            fields.slice_start = index(value);
        } else if is!(tag, SAMPLE "locations_length" in G::VERSION) {
            fields.slice_length = index(value);
        } else if is!(tag, SAMPLE packed "attribute_indices" in G::VERSION) {
            let mut attributes = row.body(value)?;
            while let Some(value) = attributes.packed() {
                samples.attributes.items.push(AttributeId(index(value)));
            }
            attributes.is_done().then_some(())?;
        } else if is!(tag, SAMPLE "link_index" in G::VERSION) {
            fields.link = Some(index(value));
        // Up to 1.7 timestamps are varints, which `fixed64` cannot read. They take the slow path.
        } else if G::CAPABILITIES.fixed_timestamps
            && is!(tag, SAMPLE packed "timestamps_unix_nano" in G::VERSION)
        {
            let mut times = row.body(value)?;
            while let Some(time) = times.fixed64() {
                samples.timestamps.items.push(time);
            }
            times.is_done().then_some(())?;
        } else {
            return None;
        }
    }
    row.is_done().then_some(fields)
}

/// Reads any sample: fields in any order, repeated, lists packed or not.
///
/// # Errors
///
/// Input that is not protobuf, the budget.
#[inline(never)]
fn sample_slow<G: Generation>(
    mut reader: Reader,
    samples: &mut RawSamples,
    locations: &mut LocationList,
    cx: &mut ReadContext,
) -> Result<Fields> {
    let mut fields = Fields::default();
    // The list may be split into several fields, and the limit applies to all of them together.
    let first = samples.attributes.items.len();
    fields!(reader, SAMPLE in G::VERSION, cx; {
        "stack_index" => fields.stack = reader.index()?,
        "locations_start_index" => fields.slice_start = reader.index()?,
        "locations_length" => fields.slice_length = reader.index()?,
        "values" as tag => values(tag, &mut reader, &mut samples.values.items, cx)?,
        "attribute_indices" as tag => {
            let items = &mut samples.attributes.items;
            attribute_ids(tag, &mut reader, items, first, cx)?;
        },
        "link_index" => fields.link = Some(reader.index()?),
        "timestamps_unix_nano" as tag => {
            times::<G>(tag, &mut reader, &mut samples.timestamps.items, cx)?;
        },
        "location_index" as tag => locations.read(tag, &mut reader, cx)?,
        "label" => {
            let label = Label::read(reader.bytes()?, cx)?;
            cx.budget.push(&mut samples.labels, label)?;
        },
        "stacktrace_id_index" => fields.stacktrace_id = reader.index()?,
    });
    Ok(fields)
}

/// Reads values, packed or not.
#[inline(always)]
fn values(tag: u32, reader: &mut Reader, out: &mut Vec<i64>, cx: &mut ReadContext) -> Result<()> {
    if tag & 7 == LEN {
        let body = reader.message()?;
        cx.budget.charge::<[i64; 2]>(count_packed(body.rest()))?;
        return packed_varints(body, out, |value| value as i64);
    }
    cx.budget.charge::<[i64; 2]>(1)?;
    out.push(reader.varint()? as i64);
    Ok(())
}

/// Reads timestamps: fixed64, copied in bulk; up to 1.7 varints.
fn times<G: Generation>(
    tag: u32,
    reader: &mut Reader,
    out: &mut Vec<u64>,
    cx: &mut ReadContext,
) -> Result<()> {
    match (tag & 7, G::CAPABILITIES.fixed_timestamps) {
        (LEN, true) => {
            let body = reader.bytes()?;
            cx.budget.charge::<[u64; 2]>(body.len() / 8)?;
            packed_fixed64(body, out)?;
        }
        (LEN, false) => {
            let body = reader.message()?;
            cx.budget.charge::<[u64; 2]>(count_packed(body.rest()))?;
            packed_varints(body, out, |time| time)?;
        }
        (_, fixed) => {
            cx.budget.charge::<[u64; 2]>(1)?;
            out.push(if fixed { reader.fixed64()? } else { reader.varint()? });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{V1_3, V1_8, V1_10};

    #[test]
    fn a_field_that_the_schema_lacks_is_not_field_0() {
        fn read<G: Generation>(sample: &[u8]) -> bool {
            let payload = [sample, &[0; 80]].concat();
            let short = Reader::within(&payload, 0, sample.len()).unchecked().unwrap();
            sample_fast::<G>(short, &mut RawSamples::default()).is_some()
        }
        for sample in [&[0u8, 1][..], &[2, 1, 1], &[1, 0, 0, 0, 0, 0, 0, 0, 0]] {
            assert!(!read::<V1_3>(sample), "{sample:?}");
            assert!(!read::<V1_8>(sample), "{sample:?}");
            assert!(!read::<V1_10>(sample), "{sample:?}");
        }
        assert!(read::<V1_10>(&[8, 1]));
    }
}
