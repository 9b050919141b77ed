//! Reading pprof's samples: the hot path.
//!
//! Requirements: equal stacks and equal labels become one row; a stack or label met before is
//! known by its bytes, and not decoded again; no allocation for a sample.

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::error::{Error, Result};
use crate::format::fields::unknown;
use crate::format::intake::Intake;
use crate::format::losses;
use crate::format::otlp::read::tables::Tables;
use crate::format::pprof::ids::{Ids, Rows};
use crate::format::pprof::layout::{Place, row};
use crate::format::pprof::mend::{mend_stacks, mend_values};
use crate::format::pprof::seen::Seen;
use crate::format::pprof::strings::Table;
use crate::format::texts::hash_bytes;
use crate::model::dictionary::Attribute;
use crate::model::id::{AttributeId, StackId, StringId};
use crate::model::samples::Samples;
use crate::schema::{SAMPLE, Version};
use crate::wire::packed::packed_varints;
use crate::wire::read::Reader;
use crate::wire::short::Short;
use crate::wire::write;

/// Tags of `Sample`, packed and one by one.
pub(super) const LOCATION_ID: u32 = SAMPLE.packed_tag(Version::Pprof, "location_index");
pub(super) const LOCATION_ID_UNPACKED: u32 = SAMPLE.tag(Version::Pprof, "location_index");
const VALUE: u32 = SAMPLE.packed_tag(Version::Pprof, "values");
const VALUE_UNPACKED: u32 = SAMPLE.tag(Version::Pprof, "values");
pub(super) const LABEL: u32 = SAMPLE.tag(Version::Pprof, "label");

/// The stacks, and samples with labels, that room is made for before any is met.
pub(super) const MOST_ROOM: usize = 1 << 16;

/// As many samples are looked up at once, where that helps.
const AT_ONCE: usize = 32;

/// How many samples and values there will be: known before any is read, so that columns are allocated once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) samples: usize,
    /// The number of sample types.
    pub(crate) columns: usize,
    /// About how many locations they have.
    pub(crate) locations: usize,
}

/// The samples read so far, and what was met in them.
pub(crate) struct SampleReader<'a> {
    /// The file: stacks and labels that were met are ranges of it.
    pub(super) payload: &'a [u8],
    /// In the order of the file.
    pub(super) samples: Samples,
    /// The number of sample types: as many values every sample must have.
    pub(super) columns: usize,
    /// Which row a location id is.
    pub(super) ids: &'a Ids,
    /// Seeded: stacks and labels come from strangers.
    pub(super) hasher: RandomState,
    /// The packed ids of stacks, by number: their row less one.
    pub(super) stacks: Seen<'a>,
    /// The messages of labels, by number.
    pub(super) labels: Seen<'a>,
    /// What each label met is.
    pub(super) singles: Vec<Single>,
    /// Of links, by the number that [`Single::half`] has.
    pub(super) halves: Vec<Half>,
    /// The labels that the sample being read is the first to have, and what they say.
    pub(super) fresh: Vec<(u32, Attribute)>,
    /// Rows of the link table by their ids.
    pub(super) links: HashTable<u32>,
    /// The labels of one sample.
    pub(super) own: Vec<u32>,
    /// Location ids that were not packed, packed.
    pub(super) packed: Vec<u8>,
    /// The stacks and labels that are fetched at once: by hash, by row, then where they begin and end.
    pub(super) ahead: [Vec<(u32, u32)>; 2],
}

/// A label that was met. Every sample may have some of its own, such as its time, so it is small;
/// what it says is asked of its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Single {
    /// By it several labels of one key are noticed.
    pub(super) key: StringId,
    /// Its row, once it is used as an attribute of its own.
    pub(super) id: AttributeId,
    /// 0, or the number of the half of a link that it is, from 1.
    pub(super) half: u32,
}

/// The id of a trace or of a span that a label says: both make a link.
#[derive(Clone, Copy, Debug)]
pub(super) enum Half {
    Trace([u8; 16]),
    Span([u8; 8]),
}

impl<'a> SampleReader<'a> {
    /// Room for all values and samples at once, within the budget.
    pub(crate) fn new(
        payload: &'a [u8],
        shape: Shape,
        ids: &'a Ids,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<Self> {
        let Shape { samples, columns, locations } = shape;
        intake.budget.take::<[u32; 3]>(samples)?;
        intake.budget.take::<i64>(samples.saturating_mul(columns))?;
        // What is not used is never touched, and what is too small moves all that is there.
        let room = intake.budget.left::<u32>().min(locations + locations / 16);
        tables.stacks.locations.reserve(room);
        tables.stacks.rows.ends.reserve(samples.min(MOST_ROOM));
        let mut read = Samples::default();
        read.stacks.reserve(samples);
        read.values.items.reserve(samples.saturating_mul(columns));
        read.values.ends.reserve(samples.min(MOST_ROOM));
        Ok(Self {
            payload,
            samples: read,
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
            ahead: Default::default(),
        })
    }

    /// All samples, in the order of the file.
    ///
    /// # Errors
    ///
    /// Has the number of the sample in its place.
    pub(crate) fn read(
        &mut self,
        samples: &[Place],
        table: &mut Table,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<()> {
        for (at, &place) in samples.iter().enumerate() {
            if at % AT_ONCE == 0 && self.is_far() {
                self.fetch(&samples[at..samples.len().min(at + AT_ONCE)]);
            }
            self.sample(row(place, self.payload), table, tables, intake)
                .map_err(|e| e.within_row("sample", at))?;
        }
        Ok(())
    }

    /// The usual form first; what it is not is read again from the start.
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
        self.samples.values.end_row_at(row);
        self.samples.attributes.end_row_at(row);
        Ok(())
    }

    /// Reads the values and labels of a sample that has a packed stack and few bytes before it (as
    /// Go writes values, and those who write fields from the last) and behind it; its stack, or
    /// `None` when it is not one.
    ///
    /// It knows from the `Short` how many bytes are left, so fields are read without a check each.
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
    ///
    /// Location ids that are not one packed field are packed here, so that their stack is found by
    /// the same bytes as an equal one.
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
                _ => unknown(&mut reader, tag, &SAMPLE, Version::Pprof, intake)?,
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

    /// The row of a stack whose ids were not packed, or came in parts: it is packed first, so that it equals others.
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

    /// The samples; those with other than a value for each sample type are refused or mended.
    pub(crate) fn finish(self, tables: &mut Tables, intake: &mut Intake) -> Result<Samples> {
        let Self { mut samples, columns, ids, stacks: seen, .. } = self;
        drop(seen);
        tables.stacks.settle();
        let stacks = &mut tables.stacks.rows;
        let last = match ids {
            Ids::Dense(last) => *last,
            Ids::Sparse(_) => u32::MAX - 1,
        };
        if tables.stacks.most.is_some_and(|most| most >= last) {
            let holds = |id: u32| id.wrapping_sub(1) < last;
            mend_stacks(stacks, &samples.stacks, holds, intake)?;
        }
        if samples.is_empty() {
            return Ok(samples);
        }
        if columns == 0 {
            let error = Error::malformed("the profile has samples and no sample type");
            intake.repair(losses::VALUE_COUNT, error.within("sample_type"))?;
        }
        if (0..samples.len()).any(|row| samples.values.row(row).len() != columns) {
            mend_values(&mut samples, columns, intake)?;
        }
        Ok(samples)
    }
}

/// Reads the locations of a stack by their ids.
#[inline(never)]
fn sparse_stack(ids: Reader, rows_of: &Rows, tables: &mut Tables) -> Result<()> {
    tables.stacks.locations.extend_with(|locations| {
        packed_varints(ids, locations, |id| rows_of.get(&id).copied().unwrap_or(0))
    })
}
