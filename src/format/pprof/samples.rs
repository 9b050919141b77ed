//! Reader of pprof's samples: the hot path.
//!
//! Requirements: equal stacks and equal labels share a row; a known stack or label is found by its bytes and
//! not decoded again; no allocation per sample.

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::error::{Error, ErrorKind, Result};
use crate::format::pprof::byte_strings::ByteStrings;
use crate::format::pprof::layout::{RowSpan, row};
use crate::format::pprof::repair::{repair_stacks, repair_values};
use crate::format::pprof::strings::Table;
use crate::losses;
use crate::model::dictionary::Attribute;
use crate::model::id::{AttributeId, StackId, StringId};
use crate::model::samples::Samples;
use crate::read_context::ReadContext;
use crate::schema::{SAMPLE, Version};
use crate::tables::fields::unknown;
use crate::tables::read::id_column::{RowsById, SparseRows};
use crate::tables::read::string_interner::hash_bytes;
use crate::tables::read::tables::Tables;
use crate::wire::packed::packed_varints;
use crate::wire::read::Reader;
use crate::wire::unchecked_reader::UncheckedReader;
use crate::wire::write;

/// Tags of `Sample`'s lists, packed and unpacked, and of its labels.
pub(super) const LOCATION_ID: u32 = SAMPLE.packed_tag(Version::Pprof, "location_index");
pub(super) const LOCATION_ID_UNPACKED: u32 = SAMPLE.tag(Version::Pprof, "location_index");
const VALUE: u32 = SAMPLE.packed_tag(Version::Pprof, "values");
const VALUE_UNPACKED: u32 = SAMPLE.tag(Version::Pprof, "values");
pub(super) const LABEL: u32 = SAMPLE.tag(Version::Pprof, "label");

/// The maximum number of stacks, and of samples with labels, for which memory is reserved in advance.
pub(super) const MAX_RESERVED: usize = 1 << 16;

/// The number of samples that are prefetched together.
const AT_ONCE: usize = 32;

/// The numbers of samples and values, known in advance so that columns are allocated once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleCounts {
    pub(crate) samples: usize,
    /// The number of sample types.
    pub(crate) columns: usize,
    /// The estimated number of locations in all samples.
    pub(crate) locations: usize,
}

/// The samples read so far, and their distinct stacks and labels.
pub(crate) struct SampleReader<'a> {
    /// The file, of which stacks and labels are ranges.
    pub(super) payload: &'a [u8],
    /// The samples in the order of the file.
    pub(super) samples: Samples,
    /// The number of sample types, which is the required number of values per sample.
    pub(super) columns: usize,
    /// The rows of location ids.
    pub(super) ids: &'a RowsById,
    /// Seeded, because stacks and labels are untrusted input.
    pub(super) hasher: RandomState,
    /// The packed ids of distinct stacks. The number of a stack is its row less one.
    pub(super) stacks: ByteStrings<'a>,
    /// The messages of distinct labels, by number.
    pub(super) labels: ByteStrings<'a>,
    /// The converted labels, by number.
    pub(super) singles: Vec<Single>,
    /// Trace and span ids, by the number in [`Single::half`].
    pub(super) halves: Vec<PartialLink>,
    /// Labels whose first occurrence is in the current sample, decoded.
    pub(super) fresh: Vec<(u32, Attribute)>,
    /// Rows of the link table by their ids.
    pub(super) links: HashTable<u32>,
    /// The labels of the current sample.
    pub(super) own: Vec<u32>,
    /// A buffer that packs unpacked location ids.
    pub(super) packed: Vec<u8>,
    /// Buffers for prefetching stacks and labels: their hashes, then their rows, then the first and last byte
    /// of each.
    pub(super) ahead: [Vec<(u32, u32)>; 2],
}

/// A distinct label. Small, because every sample may have unique labels, such as its time; its value is
/// decoded from its bytes when needed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Single {
    /// The key, to detect several labels with one key.
    pub(super) key: StringId,
    /// The row of its attribute, after its first use as one.
    pub(super) id: AttributeId,
    /// 0, or the number of its trace or span id, counted from 1.
    pub(super) half: u32,
}

/// A trace or span id in a label. Together they form a link.
#[derive(Clone, Copy, Debug)]
pub(super) enum PartialLink {
    Trace([u8; 16]),
    Span([u8; 8]),
}

impl<'a> SampleReader<'a> {
    /// Allocates memory for all samples and values, within the budget.
    pub(crate) fn new(
        payload: &'a [u8],
        counts: SampleCounts,
        ids: &'a RowsById,
        tables: &mut Tables,
        cx: &mut ReadContext,
    ) -> Result<Self> {
        let SampleCounts { samples, columns, locations } = counts;
        cx.budget.charge::<[u32; 3]>(samples)?;
        cx.budget.charge::<i64>(samples.saturating_mul(columns))?;
        // An overestimate is cheap, because unused memory is never touched; growth would copy the table.
        let room = cx.budget.remaining::<u32>().min(locations + locations / 16);
        tables.stacks.locations.reserve(room);
        tables.stacks.rows.ends.reserve(samples.min(MAX_RESERVED));
        let mut read = Samples::default();
        read.stacks.reserve(samples);
        read.values.items.reserve(samples.saturating_mul(columns));
        read.values.ends.reserve(samples.min(MAX_RESERVED));
        Ok(Self {
            payload,
            samples: read,
            columns,
            ids,
            hasher: RandomState::default(),
            stacks: ByteStrings::with_capacity(payload, samples.min(MAX_RESERVED)),
            labels: ByteStrings::with_capacity(payload, 0),
            singles: Vec::new(),
            halves: Vec::new(),
            fresh: Vec::new(),
            links: HashTable::new(),
            own: Vec::new(),
            packed: Vec::new(),
            ahead: Default::default(),
        })
    }

    /// Reads all samples in the order of the file.
    ///
    /// # Errors
    ///
    /// Those of a sample, with its number.
    pub(crate) fn read(
        &mut self,
        samples: &[RowSpan],
        table: &mut Table,
        tables: &mut Tables,
        cx: &mut ReadContext,
    ) -> Result<()> {
        for (at, &span) in samples.iter().enumerate() {
            if at % AT_ONCE == 0 && self.exceeds_cache() {
                self.prefetch(&samples[at..samples.len().min(at + AT_ONCE)]);
            }
            self.sample(row(span, self.payload), table, tables, cx)
                .map_err(|e| e.within_row("sample", at))?;
        }
        Ok(())
    }

    /// Reads a sample in the usual form, or else reads it again in the general form.
    #[inline]
    fn sample(
        &mut self,
        reader: Reader<'a>,
        table: &mut Table,
        tables: &mut Tables,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let row = self.samples.stacks.len();
        let values = self.samples.values.items.len();
        self.own.clear();
        self.fresh.clear();
        let stack = match self.sample_fast(reader, table, tables, cx)? {
            Some(stack) => self.stack(stack.at(), stack.left(), tables, cx)?,
            None => {
                // Undo the fast path. `fresh` stays: the index has these labels already, so they are not
                // decoded again.
                self.samples.values.items.truncate(values);
                self.own.clear();
                self.sample_slow(reader, table, tables, cx)?
            }
        };
        self.samples.stacks.push(stack);
        if !self.own.is_empty() {
            self.attach(row, table, tables, cx)?;
        }
        self.samples.values.end_row_at(row);
        self.samples.attributes.end_row_at(row);
        Ok(())
    }

    /// Reads a sample in the usual form: a packed stack, few bytes after it, and only values or labels before
    /// it (Go writes unpacked values first; some writers emit fields in descending order). Returns its stack,
    /// or `None` if the form differs.
    ///
    /// `UncheckedReader` tracks the bytes left, so fields are read without bounds checks.
    #[inline]
    fn sample_fast(
        &mut self,
        mut reader: Reader<'a>,
        table: &mut Table,
        tables: &mut Tables,
        cx: &mut ReadContext,
    ) -> Result<Option<Reader<'a>>> {
        while let Some(value) = reader.optional(VALUE_UNPACKED)? {
            self.samples.values.items.push(value as i64);
        }
        let stack = loop {
            match reader.record() {
                Some((LOCATION_ID, stack)) => break stack,
                Some((VALUE, values)) if self.short_values(values.unchecked()) => (),
                Some((LABEL, label)) => self.own_label(label.rest(), table, tables, cx)?,
                _ => return Ok(None),
            }
        };
        let Some(mut rest) = reader.unchecked() else {
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
                    self.own_label(body, table, tables, cx)?;
                }
                _ => return Ok(None),
            }
        }
        Ok(rest.is_done().then_some(stack))
    }

    /// Reads packed values if they are few. `packed_mixed` suits values of different sizes, such as objects
    /// and bytes.
    #[inline]
    fn short_values(&mut self, values: Option<UncheckedReader>) -> bool {
        let Some(mut values) = values else {
            return false;
        };
        while let Some(value) = values.packed_mixed() {
            self.samples.values.items.push(value as i64);
        }
        values.is_done()
    }

    /// Reads any sample and returns its stack.
    ///
    /// Packs location ids that are not in one packed field, so that equal stacks have equal bytes.
    #[inline(never)]
    fn sample_slow(
        &mut self,
        mut reader: Reader<'a>,
        table: &mut Table,
        tables: &mut Tables,
        cx: &mut ReadContext,
    ) -> Result<StackId> {
        let mut stack = Reader::within(self.payload, 0, 0);
        let mut unpacked = false;
        while let Some(tag) = reader.tag()? {
            match tag {
                LOCATION_ID => {
                    let ids = reader.message()?;
                    // Further occurrences of a repeated field append to the first.
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
                LABEL => self.own_label(reader.bytes()?, table, tables, cx)?,
                _ => unknown(&mut reader, tag, &SAMPLE, Version::Pprof, cx)?,
            }
        }
        if unpacked {
            self.stack_made(tables, cx)
        } else {
            self.stack(stack.at(), stack.left(), tables, cx)
        }
    }

    /// Starts the buffer of packed ids with those read so far.
    fn pack(&mut self, stack: &[u8], unpacked: bool) {
        if !unpacked {
            self.packed.clear();
            self.packed.extend_from_slice(stack);
        }
    }

    /// Returns the row of a stack by the bytes of its packed ids. Takes a start and a length instead of a
    /// reader, because two numbers stay in registers.
    #[inline]
    fn stack(
        &mut self,
        start: usize,
        length: usize,
        tables: &mut Tables,
        cx: &mut ReadContext,
    ) -> Result<StackId> {
        let ids = Reader::within(self.payload, start, start + length);
        let body = ids.rest();
        if body.is_empty() {
            return Ok(StackId::NONE);
        }
        // Half of the hash suffices, because `ByteStrings` compares the bytes.
        let hash = hash_bytes(&self.hasher, body) as u32;
        if let Some(row) = self.stacks.find(hash, body) {
            return Ok(StackId(row + 1));
        }
        self.new_stack(ids, tables, cx)?;
        Ok(StackId(self.stacks.add(hash, body) + 1))
    }

    /// Returns the row of a stack whose ids were unpacked or split, by its packed form.
    fn stack_made(&mut self, tables: &mut Tables, cx: &mut ReadContext) -> Result<StackId> {
        let body = std::mem::take(&mut self.packed);
        let hash = hash_bytes(&self.hasher, &body) as u32;
        let row = match self.stacks.find(hash, &body) {
            Some(row) => row,
            None => {
                self.new_stack(Reader::new(&body), tables, cx)?;
                self.stacks.make(hash, &body).ok_or_else(|| {
                    let message = "the payload and its unpacked stacks exceed 4 GiB: split it";
                    Error::new(ErrorKind::Limit, message)
                })?
            }
        };
        self.packed = body;
        Ok(StackId(row + 1))
    }

    /// Decodes a new stack.
    // Always inlined. Without any in the library, decoding pprof takes up to 4 % more instructions.
    #[inline(always)]
    fn new_stack(&mut self, ids: Reader, tables: &mut Tables, cx: &mut ReadContext) -> Result<()> {
        let first = tables.stacks.locations.len();
        match self.ids {
            RowsById::Dense(_) => tables.stacks.read(ids, cx)?,
            RowsById::Sparse(rows_of) => sparse_stack(ids, rows_of, tables)?,
        }
        tables.stacks.end(first, 12, cx)
    }

    /// Returns the samples. Samples with a wrong number of values are rejected or repaired.
    pub(crate) fn finish(self, tables: &mut Tables, cx: &mut ReadContext) -> Result<Samples> {
        let Self { mut samples, columns, ids, stacks: seen, .. } = self;
        // Free the index before more memory is allocated.
        drop(seen);
        tables.stacks.finish_rows();
        let stacks = &mut tables.stacks.rows;
        let last = match ids {
            RowsById::Dense(last) => *last,
            // `sparse_stack` stores rows, or 0 for an unknown id. So only 0 may be rejected, which wraps to
            // the maximum.
            RowsById::Sparse(_) => u32::MAX - 1,
        };
        // `most` is an upper bound of the largest id less one, in which id 0 wraps. Valid files need no
        // pass over their stacks.
        if tables.stacks.most.is_some_and(|most| most >= last) {
            // Id 0 wraps to the maximum, so one comparison rejects both unset and unknown ids.
            let holds = |id: u32| id.wrapping_sub(1) < last;
            repair_stacks(stacks, &samples.stacks, holds, cx)?;
        }
        if samples.is_empty() {
            return Ok(samples);
        }
        if columns == 0 {
            let error = Error::malformed("the profile has samples and no sample type");
            cx.repair(losses::VALUE_COUNT, error.within("sample_type"))?;
        }
        if (0..samples.len()).any(|row| samples.values.row(row).len() != columns) {
            repair_values(&mut samples, columns, cx)?;
        }
        Ok(samples)
    }
}

/// Decodes a stack with sparse ids.
#[inline(never)]
fn sparse_stack(ids: Reader, rows_of: &SparseRows, tables: &mut Tables) -> Result<()> {
    tables.stacks.locations.extend_with(|locations| {
        packed_varints(ids, locations, |id| rows_of.get(&id).copied().unwrap_or(0))
    })
}
