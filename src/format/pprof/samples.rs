//! Reading pprof's samples: the hot path.
//!
//! Requirements: equal stacks and equal labels become one row; a stack or label met before is
//! known by its bytes, and not decoded again; no allocation for a sample.

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::error::{Error, Result};
use crate::format::even::Even;
use crate::format::fields::unknown;
use crate::format::index::Index;
use crate::format::intake::Intake;
use crate::format::labels::{self, Label};
use crate::format::losses;
use crate::format::otlp::tables::Tables;
use crate::format::pprof::ids::{Ids, Rows};
use crate::format::pprof::read::{Place, Table, row};
use crate::format::texts::{Texts, hash_bytes};
use crate::model::dictionary::{Attribute, Link};
use crate::model::id::{AttributeId, LinkId, StackId, StringId};
use crate::model::ragged::Ragged;
use crate::model::samples::Samples;
use crate::model::value::Value;
use crate::schema::{self, Version};
use crate::semconv::{LABEL_SPAN_ID, LABEL_TRACE_ID};
use crate::wire::read::{Reader, Short, packed_varints};
use crate::wire::write;
use crate::wire::{LEN, VARINT, tag};

const LOCATION_ID: u32 = tag(1, LEN);
const LOCATION_ID_UNPACKED: u32 = tag(1, VARINT);
const VALUE: u32 = tag(2, LEN);
const VALUE_UNPACKED: u32 = tag(2, VARINT);
const LABEL: u32 = tag(3, LEN);

/// The stacks that room is made for before any is met.
const MOST_ROOM: usize = 1 << 16;

/// How many samples and values there will be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) samples: usize,
    pub(crate) columns: usize,
    /// The bytes of all samples.
    pub(crate) bytes: usize,
}

/// The samples read so far, and what was met in them.
pub(crate) struct SampleReader<'a> {
    payload: &'a [u8],
    samples: Samples,
    /// Where the values and the attributes of samples end.
    ends: [Even; 2],
    columns: usize,
    ids: &'a Ids,
    hasher: RandomState,
    stacks: Seen<'a>,
    labels: Seen<'a>,
    /// What each label met is.
    singles: Vec<Single>,
    halves: Vec<Half>,
    /// The labels that the sample being read is the first to have, and what they say.
    fresh: Vec<(u32, Attribute)>,
    links: HashTable<u32>,
    /// The labels of one sample.
    own: Vec<u32>,
    /// Location ids that were not packed, packed.
    packed: Vec<u8>,
}

/// A label that was met. Every sample may have some of its own, such as its time, so it is small;
/// what it says is asked of its bytes.
#[derive(Clone, Copy, Debug)]
struct Single {
    key: StringId,
    /// Its row, once it is used as an attribute of its own.
    id: AttributeId,
    /// 0, or the number of the half of a link that it is, from 1.
    half: u32,
}

/// The id of a trace or of a span that a label says: both make a link.
#[derive(Clone, Copy, Debug)]
enum Half {
    Trace([u8; 16]),
    Span([u8; 8]),
}

/// Bytes met before, by number.
struct Seen<'a> {
    payload: &'a [u8],
    /// Where they lie: in the payload, or as far behind its end in what was made.
    rows: Vec<(u32, u32)>,
    /// Bytes that are nowhere in the payload.
    made: Vec<u8>,
    index: Index,
}

impl<'a> Seen<'a> {
    fn with_room(payload: &'a [u8], rows: usize) -> Self {
        Self {
            payload,
            rows: Vec::with_capacity(rows),
            made: Vec::new(),
            index: Index::with_room(rows),
        }
    }

    fn get(&self, row: u32) -> Option<&[u8]> {
        let &(start, length) = self.rows.get(row as usize)?;
        let rest = match (start as usize).checked_sub(self.payload.len()) {
            None => self.payload.get(start as usize..),
            Some(start) => self.made.get(start..),
        };
        rest?.get(..length as usize)
    }

    #[inline]
    fn find(&self, hash: u32, bytes: &[u8]) -> Option<u32> {
        self.index.find(hash, |row| self.get(row) == Some(bytes))
    }

    /// Keeps bytes of the payload.
    #[inline]
    fn add(&mut self, hash: u32, bytes: &[u8]) -> u32 {
        let start = bytes.as_ptr().addr() - self.payload.as_ptr().addr();
        self.rows.push((start as u32, bytes.len() as u32));
        self.index.add(hash)
    }

    /// Keeps bytes that are not of the payload.
    fn make(&mut self, hash: u32, bytes: &[u8]) -> u32 {
        let start = self.payload.len() + self.made.len();
        self.made.extend_from_slice(bytes);
        self.rows.push((start as u32, bytes.len() as u32));
        self.index.add(hash)
    }
}

impl<'a> SampleReader<'a> {
    pub(crate) fn new(
        payload: &'a [u8],
        shape: Shape,
        ids: &'a Ids,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<Self> {
        let Shape { samples, columns, bytes } = shape;
        intake.budget.take::<[u32; 3]>(samples)?;
        intake.budget.take::<i64>(samples.saturating_mul(columns))?;
        // A guess; what is not used is never touched, and what is too small moves all that is there.
        let room = intake.budget.left::<u32>().min(bytes / 16 * 9);
        tables.stacks.locations.reserve(room);
        let mut read = Samples::default();
        read.stacks.reserve(samples);
        read.values.items.reserve(samples.saturating_mul(columns));
        Ok(Self {
            payload,
            samples: read,
            ends: Default::default(),
            columns,
            ids,
            hasher: RandomState::default(),
            stacks: Seen::with_room(payload, samples.min(MOST_ROOM)),
            labels: Seen::with_room(payload, 0),
            singles: Vec::new(),
            halves: Vec::new(),
            fresh: Vec::new(),
            links: HashTable::new(),
            own: Vec::new(),
            packed: Vec::new(),
        })
    }

    pub(crate) fn read(
        &mut self,
        samples: &[Place],
        table: &mut Table,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<()> {
        for (at, &place) in samples.iter().enumerate() {
            self.sample(row(place, self.payload), table, tables, intake)
                .map_err(|e| e.within_row("sample", at))?;
        }
        Ok(())
    }

    #[inline]
    fn sample(
        &mut self,
        reader: Reader<'a>,
        table: &mut Table,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<()> {
        let row = self.samples.stacks.len();
        let values = self.samples.values.items.len();
        self.own.clear();
        self.fresh.clear();
        let stack = match self.usual(reader, table, tables, intake)? {
            Some(stack) => self.stack(stack.at(), stack.left(), tables, intake)?,
            None => {
                self.samples.values.items.truncate(values);
                self.own.clear();
                self.unusual(reader, table, tables, intake)?
            }
        };
        self.samples.stacks.push(stack);
        if !self.own.is_empty() {
            self.attach(row, table, tables, intake)?;
        }
        let [values, attributes] = &mut self.ends;
        values.end_row(&mut self.samples.values, row);
        attributes.end_row(&mut self.samples.attributes, row);
        Ok(())
    }

    /// Reads the values and labels of a sample that has a packed stack and few bytes before it (as
    /// Go writes values, and those who write fields from the last) and behind it; its stack, or
    /// `None` when it is not one.
    #[inline(always)]
    fn usual(
        &mut self,
        mut reader: Reader<'a>,
        table: &mut Table,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<Option<Reader<'a>>> {
        while let Some(value) = reader.optional(VALUE_UNPACKED)? {
            self.samples.values.items.push(value as i64);
        }
        let stack = loop {
            match reader.record() {
                Some((LOCATION_ID, stack)) => break stack,
                Some((VALUE, values)) if self.short_values(values.short()) => (),
                Some((LABEL, label)) => self.own_label(label.rest(), table, tables, intake)?,
                _ => return Ok(None),
            }
        };
        let Some(mut rest) = reader.short() else {
            return Ok(None);
        };
        while let Some((tag, value)) = rest.field() {
            match tag {
                VALUE => {
                    if !self.short_values(rest.body(value)) {
                        return Ok(None);
                    }
                }
                VALUE_UNPACKED => self.samples.values.items.push(value as i64),
                LABEL => {
                    let Some(body) = rest.body(value).and_then(|body| body.rest()) else {
                        return Ok(None);
                    };
                    self.own_label(body, table, tables, intake)?;
                }
                _ => return Ok(None),
            }
        }
        Ok(rest.is_done().then_some(stack))
    }

    /// Reads packed values, if they are few: a number of each kind, such as objects and bytes.
    #[inline(always)]
    fn short_values(&mut self, values: Option<Short>) -> bool {
        let Some(mut values) = values else {
            return false;
        };
        while let Some(value) = values.packed_mixed() {
            self.samples.values.items.push(value as i64);
        }
        values.is_done()
    }

    /// Reads the values and labels of any sample; its stack.
    #[inline(never)]
    fn unusual(
        &mut self,
        mut reader: Reader<'a>,
        table: &mut Table,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<StackId> {
        let mut stack = Reader::within(self.payload, 0, 0);
        let mut unpacked = false;
        while let Some(tag) = reader.tag()? {
            match tag {
                LOCATION_ID => {
                    let ids = reader.message()?;
                    if !stack.is_empty() || unpacked {
                        self.pack(stack.rest(), unpacked);
                        self.packed.extend_from_slice(ids.rest());
                        unpacked = true;
                    } else {
                        stack = ids;
                    }
                }
                LOCATION_ID_UNPACKED => {
                    self.pack(stack.rest(), unpacked);
                    unpacked = true;
                    write::varint(&mut self.packed, reader.varint()?);
                }
                VALUE => {
                    packed_varints(reader.message()?, &mut self.samples.values.items, |value| {
                        value as i64
                    })?
                }
                VALUE_UNPACKED => self.samples.values.items.push(reader.varint()? as i64),
                LABEL => self.own_label(reader.bytes()?, table, tables, intake)?,
                _ => unknown(&mut reader, tag, &schema::SAMPLE, Version::Pprof, intake)?,
            }
        }
        if unpacked {
            self.stack_made(tables, intake)
        } else {
            self.stack(stack.at(), stack.left(), tables, intake)
        }
    }

    /// Begins a list of ids of our own, with those read so far.
    fn pack(&mut self, stack: &[u8], unpacked: bool) {
        if !unpacked {
            self.packed.clear();
            self.packed.extend_from_slice(stack);
        }
    }

    /// The row of a stack by the bytes of its packed ids, of which there are so many at `start` in
    /// the payload: two numbers stay in registers, and a reader does not.
    #[inline]
    fn stack(
        &mut self,
        start: usize,
        length: usize,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<StackId> {
        let ids = Reader::within(self.payload, start, start + length);
        let body = ids.rest();
        if body.is_empty() {
            return Ok(StackId::NONE);
        }
        let hash = hash_bytes(&self.hasher, body) as u32;
        if let Some(row) = self.stacks.find(hash, body) {
            return Ok(StackId(row + 1));
        }
        self.new_stack(ids, tables, intake)?;
        Ok(StackId(self.stacks.add(hash, body) + 1))
    }

    fn stack_made(&mut self, tables: &mut Tables, intake: &mut Intake) -> Result<StackId> {
        let body = std::mem::take(&mut self.packed);
        let hash = hash_bytes(&self.hasher, &body) as u32;
        let row = match self.stacks.find(hash, &body) {
            Some(row) => row,
            None => {
                self.new_stack(Reader::new(&body), tables, intake)?;
                self.stacks.make(hash, &body)
            }
        };
        self.packed = body;
        Ok(StackId(row + 1))
    }

    /// Decodes a stack that was not met before.
    #[inline(always)]
    fn new_stack(&mut self, ids: Reader, tables: &mut Tables, intake: &mut Intake) -> Result<()> {
        let first = tables.stacks.locations.len();
        match self.ids {
            Ids::Dense(_) => tables.stacks.read(ids, intake)?,
            Ids::Sparse(rows_of) => sparse_stack(ids, rows_of, tables)?,
        }
        tables.stacks.end(first, 12, intake)
    }

    /// Takes a label as one of the sample's own.
    #[inline]
    fn own_label(
        &mut self,
        body: &'a [u8],
        table: &mut Table,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<()> {
        let label = self.label(body, table, tables, intake);
        self.own.push(label.map_err(|e| e.within("label"))?);
        Ok(())
    }

    /// The number of a label.
    #[inline]
    fn label(
        &mut self,
        body: &'a [u8],
        table: &mut Table,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<u32> {
        let hash = hash_bytes(&self.hasher, body) as u32;
        if let Some(label) = self.labels.find(hash, body) {
            return Ok(label);
        }
        let label = Label::read(body, intake)?;
        label.note(intake);
        let texts = &mut tables.texts;
        let attribute = label.attribute(|index, field| {
            table.text(index, texts, intake).map_err(|e| e.within(field))
        })?;
        let mut single = Single { key: attribute.key, id: AttributeId::NONE, half: 0 };
        if intake.links
            && let Some(half) = half(&attribute, texts)
        {
            intake.budget.push(&mut self.halves, half)?;
            single.half = self.halves.len() as u32;
        }
        // Where its bytes are, and in the index its hash and some slots.
        intake.budget.take::<[u64; 4]>(1)?;
        intake.budget.push(&mut self.singles, single)?;
        let label = self.labels.add(hash, body);
        self.fresh.push((label, attribute));
        Ok(label)
    }

    /// What a label says.
    fn attribute(
        &self,
        label: u32,
        table: &mut Table,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<Attribute> {
        if let Some((_, attribute)) = self.fresh.iter().find(|(fresh, _)| *fresh == label) {
            return Ok(attribute.clone());
        }
        let body = self.labels.get(label).unwrap_or_default();
        let texts = &mut tables.texts;
        Label::read(body, intake)?.attribute(|index, _| table.text(index, texts, intake))
    }

    /// Makes the labels of a sample its attributes and its link.
    fn attach(
        &mut self,
        row: usize,
        table: &mut Table,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<()> {
        intake.take_attributes(self.own.len())?;
        let key = |label: u32| self.singles[label as usize].key;
        let repeated = (1..self.own.len())
            .any(|at| self.own[..at].iter().any(|&earlier| key(earlier) == key(self.own[at])));
        if repeated {
            return self.attach_repeated(table, tables, intake);
        }
        if self.own.iter().any(|&label| self.singles[label as usize].half != 0) {
            self.link(row, tables, intake)?;
        }
        for at in 0..self.own.len() {
            let label = self.own[at];
            let mut id = self.singles[label as usize].id;
            if id == AttributeId::NONE {
                let attribute = self.attribute(label, table, tables, intake)?;
                id = tables.new_attributes.intern(attribute, intake)?;
                self.singles[label as usize].id = id;
            }
            self.samples.attributes.items.push(id);
        }
        Ok(())
    }

    #[cold]
    fn attach_repeated(
        &mut self,
        table: &mut Table,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<()> {
        let labels = self.own.iter();
        let singles: Result<Vec<Attribute>> =
            labels.map(|&label| self.attribute(label, table, tables, intake)).collect();
        let singles = singles?;
        let mut ids = Vec::new();
        labels::group(&singles, &mut ids, &mut tables.texts, &mut tables.new_attributes, intake)?;
        self.samples.attributes.items.extend(ids.into_iter().map(AttributeId));
        Ok(())
    }

    fn half(&self, label: u32) -> Option<Half> {
        let number = self.singles[label as usize].half as usize;
        self.halves.get(number.checked_sub(1)?).copied()
    }

    /// Takes the two labels of a link out of a sample's, if both are there.
    fn link(&mut self, row: usize, tables: &mut Tables, intake: &mut Intake) -> Result<()> {
        let (mut trace, mut span) = (None, None);
        for &label in &self.own {
            match self.half(label) {
                Some(Half::Trace(id)) => _ = trace.get_or_insert(id),
                Some(Half::Span(id)) => _ = span.get_or_insert(id),
                None => {}
            }
        }
        let (Some(trace_id), Some(span_id)) = (trace, span) else {
            return Ok(());
        };
        let singles = &self.singles;
        self.own.retain(|&label| singles[label as usize].half == 0);
        let link = Link { trace_id, span_id };
        let hash = hash_bytes(&self.hasher, &[&trace_id[..], &span_id].concat());
        let links = &mut tables.links;
        let id = match self.links.find(hash, |&row| links[row as usize] == link) {
            Some(&row) => row,
            None => {
                let id = links.len() as u32;
                intake.budget.take::<[u64; 2]>(1)?;
                intake.budget.push(links, link)?;
                let hasher = &self.hasher;
                self.links.insert_unique(hash, id, |&row| {
                    let Link { trace_id, span_id } = links[row as usize];
                    hash_bytes(hasher, &[&trace_id[..], &span_id].concat())
                });
                id
            }
        };
        self.samples.links.resize(row, LinkId::NONE);
        self.samples.links.push(LinkId(id));
        Ok(())
    }

    /// The samples; those with other than a value for each sample type are refused or mended.
    pub(crate) fn finish(mut self, tables: &mut Tables, intake: &mut Intake) -> Result<Samples> {
        tables.stacks.settle();
        let rows = self.samples.len();
        let [values, attributes] = &mut self.ends;
        let width = values.settle(&mut self.samples.values, rows);
        attributes.settle(&mut self.samples.attributes, rows);
        let stacks = &mut tables.stacks.rows;
        debug_assert_eq!(stacks.len(), self.stacks.rows.len() + 1);
        let samples = &mut self.samples;
        let last = match self.ids {
            Ids::Dense(last) => *last,
            Ids::Sparse(_) => u32::MAX - 1,
        };
        if tables.stacks.most.is_some_and(|most| most >= last) {
            let holds = |id: u32| id.wrapping_sub(1) < last;
            mend_stacks(stacks, &samples.stacks, holds, intake)?;
        }
        if samples.is_empty() {
            return Ok(self.samples);
        }
        if self.columns == 0 {
            let error = Error::malformed("samples without a sample type");
            intake.repair(losses::VALUE_COUNT, error.within("sample_type"))?;
        }
        if width != Some(self.columns) {
            mend_values(samples, self.columns, intake)?;
        }
        Ok(self.samples)
    }
}

/// Reads the locations of a stack by their ids.
#[inline(never)]
fn sparse_stack(ids: Reader, rows_of: &Rows, tables: &mut Tables) -> Result<()> {
    tables.stacks.locations.extend_with(|locations| {
        packed_varints(ids, locations, |id| rows_of.get(&id).copied().unwrap_or(0))
    })
}

/// Leaves out, or refuses, the frames of locations that do not exist.
#[cold]
fn mend_stacks(
    stacks: &mut Ragged<u32>,
    of_samples: &[StackId],
    holds: impl Fn(u32) -> bool,
    intake: &mut Intake,
) -> Result<()> {
    // By stack: the first sample that has it.
    let mut first = vec![0; stacks.len()];
    for (sample, stack) in of_samples.iter().enumerate().rev() {
        first[stack.row()] = sample;
    }
    let mut mended = Ragged::default();
    for (row, &sample) in first.iter().enumerate() {
        for (at, &id) in stacks.row(row).iter().enumerate() {
            if holds(id) {
                mended.items.push(id);
                continue;
            }
            let id = crate::format::otlp::common::show(id).replace("index", "id");
            let error = Error::malformed(format!("no location has {id}"));
            intake.repair(
                losses::DANGLING_LOCATION,
                error.within_row("location_id", at).within_row("sample", sample),
            )?;
        }
        mended.end_row();
    }
    *stacks = mended;
    Ok(())
}

#[cold]
fn mend_values(samples: &mut Samples, columns: usize, intake: &mut Intake) -> Result<()> {
    let mut mended = Ragged::default();
    for row in 0..samples.stacks.len() {
        let values = samples.values.row(row);
        if values.len() != columns {
            let error = Error::malformed(format!(
                "found {} values for {columns} sample types",
                values.len()
            ));
            intake.repair(losses::VALUE_COUNT, error.within("value").within_row("sample", row))?;
        }
        mended.items.extend(values.iter().copied().chain(std::iter::repeat(0)).take(columns));
        mended.end_row_at(row);
    }
    samples.values = mended;
    Ok(())
}

/// The half of a link that a label is: only a text that comes back as it was is one.
fn half(attribute: &Attribute, texts: &Texts) -> Option<Half> {
    let Value::String(value) = attribute.value else {
        return None;
    };
    let text = |id: StringId| texts.raw.get(id.row()).unwrap_or_default();
    match std::str::from_utf8(text(attribute.key)) {
        Ok(LABEL_TRACE_ID) => hex(text(value)).map(Half::Trace),
        Ok(LABEL_SPAN_ID) => hex(text(value)).map(Half::Span),
        _ => None,
    }
}

/// The bytes that lower-case hex digits say, if they are of that length and not all zero.
pub(crate) fn hex<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    if text.len() != 2 * N {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    (bytes != [0; N]).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_hex_is_an_id() {
        assert_eq!(hex::<2>(b"0aff"), Some([10, 255]));
        for text in [&b"0AFF"[..], b"0000", b"0aff0", b"0xff", b""] {
            assert_eq!(hex::<2>(text), None);
        }
    }
}
