//! What is known while a payload is walked, and a message taken apart: the rules of the wire format, and
//! those of references.

use std::ops::Range;

use super::findings::{Findings, Spot};
use super::record::{Lent, Pool, Record};
use super::rules::indices;
use super::rules::limits::*;
use super::rules::wire::*;
use super::shape::{Kind, Shape, Shapes, Slot, Take};
use super::state::{Attribute, PayloadState, ProfileState};
use super::tables::Tables;
use super::text;
use super::varint::{Fault, Packed, varint};
use crate::limits::Limits;
use crate::schema::{Role, Table, Version};
use crate::wire::indices::packed_indices;
use crate::wire::read::Reader;
use crate::wire::{END_GROUP, FIXED32, FIXED64, LEN, START_GROUP, VARINT};

/// The state of one walk.
pub(crate) struct Cx<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) version: Version,
    pub(crate) shapes: &'static Shapes,
    pub(crate) limits: Limits,
    pub(crate) findings: Findings,
    pub(crate) pool: Pool,
    pub(crate) tables: Tables,
    /// How many messages lie around the one that is walked, and the nearest of them.
    pub(crate) depth: u64,
    pub(crate) parent: Kind,
    /// Texts and bytes longer than this have something to be said of.
    long: usize,
    /// The references of the list that is walked, for their memory.
    indices: Vec<u32>,
    /// What the attributes of the tables are.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) profile: ProfileState,
    pub(crate) payload: PayloadState,
}

/// Packed lists up to this many bytes are walked one number at a time.
const SHORT: usize = 8;

/// A message cannot be taken apart; why is among the findings.
pub(crate) struct Broken;

impl<'a> Cx<'a> {
    pub(crate) fn new(
        bytes: &'a [u8],
        version: Version,
        limits: Limits,
        findings: Findings,
    ) -> Self {
        let shapes = Shapes::of(version);
        let long = text::LONG.min(usize::try_from(limits.max_string_bytes).unwrap_or(usize::MAX));
        let tables = Tables::default();
        let (attributes, depth, parent) = (Vec::new(), 0, Kind::ProfilesData);
        let (profile, payload) = Default::default();
        Self {
            pool: Pool::default(),
            indices: Vec::new(),
            bytes,
            version,
            shapes,
            limits,
            findings,
            tables,
            depth,
            parent,
            long,
            attributes,
            profile,
            payload,
        }
    }

    /// Takes a message apart, and finds what is wrong with its bytes and its references.
    pub(crate) fn take(
        &mut self,
        shape: &'static Shape,
        start: usize,
        end: usize,
        record: &mut Record,
    ) -> Result<(), Broken> {
        record.begin(start, end);
        let mut at = start;
        while at < end {
            at = self.field(shape, at, end, record)?;
        }
        if shape.kind == Kind::AnyValue && record.seen.count_ones() > 1 {
            let members = record.seen.count_ones();
            self.findings.raise(&OP1023, Spot::at(start), format_args!("{members} members"), "1");
        }
        Ok(())
    }

    /// Takes one field, and gives where the next one begins.
    #[inline(always)]
    fn field(
        &mut self,
        shape: &'static Shape,
        at: usize,
        end: usize,
        record: &mut Record,
    ) -> Result<usize, Broken> {
        let (tag, body) = match self.bytes.get(at) {
            Some(byte) if *byte >= 8 && *byte < 0x80 => (u32::from(*byte), at + 1),
            _ => self.long_tag(at, end)?,
        };
        let (number, wire) = (tag >> 3, tag & 7);
        let Some(slot) = shape.slot(number) else {
            record.unknown = true;
            return self.unknown(shape, number, wire, at, body, end);
        };
        match (wire, slot.take) {
            (VARINT, Take::Varint) => self.number(shape, slot, at, body, end, record),
            (LEN, Take::Message) => {
                let body = self.length(Some(slot), record, at, body, end)?;
                let cell = record.cell_mut(slot.cell);
                if cell.times == 0 {
                    cell.at = at as u32;
                }
                cell.times += 1;
                cell.count += 1;
                (cell.start, cell.end) = (body.start as u32, body.end as u32);
                if cell.times > 1 && !slot.repeated {
                    self.twice(shape, slot, at);
                }
                Ok(body.end)
            }
            (LEN, Take::Text | Take::Bytes) => {
                let body = self.length(Some(slot), record, at, body, end)?;
                self.text(shape, slot, at, body.clone(), record);
                Ok(body.end)
            }
            (LEN, Take::Varint | Take::Fixed) if slot.repeated => {
                let body = self.length(Some(slot), record, at, body, end)?;
                self.packed(shape, slot, at, body.clone(), record)?;
                Ok(body.end)
            }
            (FIXED64, Take::Fixed) => self.fixed(shape, slot, at, body, end, record),
            _ => self.mismatch(shape, slot, wire, at),
        }
    }

    /// A tag of more bytes than one, or none at all.
    #[cold]
    #[inline(never)]
    fn long_tag(&mut self, at: usize, end: usize) -> Result<(u32, usize), Broken> {
        let (tag, after) = match varint(self.bytes, at, end) {
            Ok(tag) => tag,
            Err(fault) => return Err(self.fault(fault, Spot::at(at))),
        };
        let (length, spot) = (after - at, Spot::at(at));
        let rule = match u32::try_from(tag) {
            _ if length > 5 => &OP1004,
            Err(_) => &OP1006,
            Ok(tag) if tag >> 3 == 0 => &OP1005,
            Ok(tag) => return Ok((tag, after)),
        };
        match rule.id {
            "OP1004" => {
                self.findings.raise(rule, spot, format_args!("{length} bytes"), "5 bytes or fewer")
            }
            "OP1006" => self.findings.raise(rule, spot, tag >> 3, "a number below 536870912"),
            _ => self.findings.raise(rule, spot, "field 0", "1 or more"),
        }
        Err(Broken)
    }

    #[cold]
    #[inline(never)]
    fn fault(&mut self, fault: Fault, spot: Spot) -> Broken {
        match fault {
            Fault::Truncated => self.findings.raise(&OP1002, spot, "", ""),
            Fault::Overflow => self.findings.raise(&OP1001, spot, "", ""),
        }
        Broken
    }

    /// Where a finding about a field is.
    fn spot(slot: &Slot, record: &Record, at: usize) -> Spot {
        let spot = Spot::at(at).field(slot.field.name);
        match slot.repeated {
            true => spot.row(record.count(slot.cell)),
            false => spot,
        }
    }

    #[inline(always)]
    fn number(
        &mut self,
        shape: &'static Shape,
        slot: &'static Slot,
        at: usize,
        body: usize,
        end: usize,
        record: &mut Record,
    ) -> Result<usize, Broken> {
        let (mut value, after) = match varint(self.bytes, body, end) {
            Ok(found) => found,
            Err(fault) => return Err(self.fault(fault, Self::spot(slot, record, at))),
        };
        if value > slot.most || (value == 0 && slot.plain) || after - body > 1 {
            value = self.odd(shape, slot, value, after - body, Self::spot(slot, record, at));
        }
        let row = record.count(slot.cell);
        let cell = record.cell_mut(slot.cell);
        if cell.times == 0 {
            cell.at = at as u32;
        }
        cell.times += 1;
        cell.count += 1;
        cell.value = value;
        let (times, chunk) = (cell.times, cell.end > 0);
        if let Some((table, rule)) = slot.table {
            let row = slot.repeated.then_some(row);
            self.refer(shape, slot, table, rule, value, at, row);
        }
        if times > 1 && !slot.repeated {
            self.twice(shape, slot, at);
        }
        if slot.repeated {
            self.unpacked(shape, slot, at, chunk);
        }
        Ok(after)
    }

    #[inline(always)]
    fn fixed(
        &mut self,
        shape: &'static Shape,
        slot: &'static Slot,
        at: usize,
        body: usize,
        end: usize,
        record: &mut Record,
    ) -> Result<usize, Broken> {
        let word = self.bytes.get(body..end).and_then(<[u8]>::first_chunk::<8>);
        let Some(word) = word else {
            return Err(self.short(8, end - body, Self::spot(slot, record, at)));
        };
        let value = u64::from_le_bytes(*word);
        let cell = record.cell_mut(slot.cell);
        if cell.times == 0 {
            cell.at = at as u32;
        }
        cell.times += 1;
        cell.count += 1;
        cell.value = value;
        let (times, chunk) = (cell.times, cell.end > 0);
        if times > 1 && !slot.repeated {
            self.twice(shape, slot, at);
        }
        if slot.repeated {
            self.unpacked(shape, slot, at, chunk);
        } else if value == 0 && slot.plain {
            self.written_default(shape, slot, at);
        }
        Ok(body + 8)
    }

    #[cold]
    fn short(&mut self, wanted: usize, left: usize, spot: Spot) -> Broken {
        self.findings.raise(&OP1011, spot, format_args!("{left} bytes left"), wanted);
        Broken
    }

    /// The body of a field with a length.
    #[inline(always)]
    fn length(
        &mut self,
        slot: Option<&Slot>,
        record: &Record,
        at: usize,
        body: usize,
        end: usize,
    ) -> Result<Range<usize>, Broken> {
        match varint(self.bytes, body, end) {
            Ok((length, start)) if length <= (end - start) as u64 && start - body <= 2 => {
                Ok(start..start + length as usize)
            }
            other => self.odd_length(slot, record, at, body, end, other),
        }
    }

    #[cold]
    #[inline(never)]
    fn odd_length(
        &mut self,
        slot: Option<&Slot>,
        record: &Record,
        at: usize,
        body: usize,
        end: usize,
        found: Result<(u64, usize), Fault>,
    ) -> Result<Range<usize>, Broken> {
        let spot = slot.map_or(Spot::at(at), |slot| Self::spot(slot, record, at));
        let (length, start) = match found {
            Ok(found) => found,
            Err(fault) => return Err(self.fault(fault, spot)),
        };
        let left = end - start;
        if length >= 1 << 31 || start - body > 5 {
            self.findings.raise(&OP1010, spot, length, "less than 2147483648, in five bytes");
            return Err(Broken);
        }
        if length > left as u64 {
            let bound = format_args!("at most the remaining {left} bytes");
            self.findings.raise(&OP1009, spot, format_args!("length {length}"), bound);
            return Err(Broken);
        }
        if start - body > shortest(length) {
            self.findings.fold(&OP1003, 0, spot, format_args!("{} bytes", start - body), "");
        }
        Ok(start..start + length as usize)
    }

    /// Text or bytes.
    #[inline(always)]
    fn text(
        &mut self,
        shape: &'static Shape,
        slot: &'static Slot,
        at: usize,
        body: Range<usize>,
        record: &mut Record,
    ) {
        let odd = match slot.take {
            Take::Text => text::is_odd(self.bytes.get(body.clone()).unwrap_or_default()),
            _ => false,
        };
        if odd || body.len() > self.long || (body.is_empty() && slot.plain) {
            let spot = Self::spot(slot, record, at);
            text::check(self, slot, spot, body.clone());
            if body.is_empty() && slot.plain {
                self.written_default(shape, slot, at);
            }
        }
        let cell = record.cell_mut(slot.cell);
        if cell.times == 0 {
            cell.at = at as u32;
        }
        cell.times += 1;
        cell.count += 1;
        (cell.start, cell.end) = (body.start as u32, body.end as u32);
        if cell.times > 1 && !slot.repeated {
            self.twice(shape, slot, at);
        }
    }

    /// A packed list.
    #[inline(always)]
    fn packed(
        &mut self,
        shape: &'static Shape,
        slot: &'static Slot,
        at: usize,
        body: Range<usize>,
        record: &mut Record,
    ) -> Result<(), Broken> {
        let first = record.count(slot.cell);
        let elements = match slot.take {
            Take::Fixed if body.len().is_multiple_of(8) => body.len() / 8,
            Take::Fixed => {
                let (spot, bytes) = (Spot::at(at).field(slot.field.name), body.len());
                self.findings.raise(
                    &OP1012,
                    spot,
                    format_args!("{bytes} bytes"),
                    "a multiple of 8",
                );
                return Err(Broken);
            }
            _ => self.elements(shape, slot, at, body.clone(), first)?,
        };
        let cell = record.cell_mut(slot.cell);
        if cell.times == 0 {
            cell.at = at as u32;
        }
        cell.times += 1;
        cell.count += elements as u32;
        (cell.start, cell.end) = (body.start as u32, body.end as u32);
        if cell.times > 1 {
            let kind = kind(shape, slot.field.number);
            let spot = Spot::at(at).field(slot.field.name);
            self.findings.fold(&OP1024, kind, spot, "several chunks", "one");
        }
        Ok(())
    }

    /// Walks the numbers of a packed list, and says how many there are.
    #[inline(always)]
    fn elements(
        &mut self,
        shape: &'static Shape,
        slot: &'static Slot,
        tag: usize,
        body: Range<usize>,
        first: usize,
    ) -> Result<usize, Broken> {
        if let Some((table, _)) = slot.table
            && body.len() > SHORT
            && let Some(elements) = self.plain(table, &body)
        {
            return Ok(elements);
        }
        let (mut at, mut elements) = (body.start, 0);
        while at < body.end {
            let (mut value, after) = match varint(self.bytes, at, body.end) {
                Ok(found) => found,
                Err(Fault::Truncated) => {
                    let spot = Spot::at(tag).field(slot.field.name);
                    self.findings.raise(&OP1012, spot, "it ends inside a varint", "");
                    return Err(Broken);
                }
                Err(fault) => {
                    let spot = Spot::at(at).field(slot.field.name).row(first + elements);
                    return Err(self.fault(fault, spot));
                }
            };
            if after - at > 1 && (value > slot.most || after - at > shortest(value)) {
                let spot = Spot::at(at).field(slot.field.name).row(first + elements);
                value = self.odd(shape, slot, value, after - at, spot);
            }
            if let Some((table, rule)) = slot.table {
                self.refer(shape, slot, table, rule, value, at, Some(first + elements));
            }
            (at, elements) = (after, elements + 1);
        }
        Ok(elements)
    }

    /// How many references a packed list holds, if there is nothing to say of any of them.
    fn plain(&mut self, table: Table, body: &Range<usize>) -> Option<usize> {
        let mut indices = std::mem::take(&mut self.indices);
        indices.clear();
        let reader = Reader::within(self.bytes, body.start, body.end);
        packed_indices(reader, &mut indices).ok()?;
        let len = self.tables.len(table);
        // A branch for each would cost more than all of them do.
        let (mut most, mut bytes) = (0, 0);
        for index in &indices {
            most = most.max(*index);
            bytes += 1
                + usize::from(*index >= 1 << 7)
                + usize::from(*index >= 1 << 14)
                + usize::from(*index >= 1 << 21)
                + usize::from(*index >= 1 << 28);
        }
        let plain = u64::from(most) < len && bytes == body.len();
        if plain {
            indices.iter().for_each(|index| self.tables.mark(table, u64::from(*index)));
        }
        let elements = indices.len();
        self.indices = indices;
        plain.then_some(elements)
    }

    /// What there may be to say of a number, and the number as it is meant.
    #[cold]
    #[inline(never)]
    fn odd(
        &mut self,
        shape: &'static Shape,
        slot: &'static Slot,
        value: u64,
        bytes: usize,
        spot: Spot,
    ) -> u64 {
        use crate::schema::Kind as Type;
        let number = slot.field.number;
        if value == 0 && slot.plain {
            let at = spot.byte.unwrap_or(0) as usize;
            self.written_default(shape, slot, at);
        }
        if bytes > shortest(value) {
            let kind = kind(shape, number);
            self.findings.fold(&OP1003, kind, spot, format_args!("{bytes} bytes"), "");
        }
        if value <= slot.most {
            return value;
        }
        match slot.field.kind {
            Type::Bool => {
                self.findings.fold(&OP1026, kind(shape, number), spot, value, "0 or 1");
                1
            }
            Type::Uint32 => {
                self.findings.raise(&OP1013, spot, value, format_args!("at most {}", u32::MAX));
                value & u64::from(u32::MAX)
            }
            _ => {
                let cut = i64::from(value as u32 as i32) as u64;
                if cut != value {
                    self.findings.raise(&OP1013, spot, value as i64, "an int32");
                }
                if matches!(slot.field.kind, Type::Enum(_)) && cut > slot.most {
                    self.findings.raise(&OP1025, spot, cut as i64, "a value with a name");
                }
                cut
            }
        }
    }

    /// A reference: whether the row is there, and that something refers to it.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "it is inlined into the hottest loop")]
    fn refer(
        &mut self,
        shape: &'static Shape,
        slot: &'static Slot,
        table: Table,
        rule: &'static super::rule::Rule,
        value: u64,
        at: usize,
        row: Option<usize>,
    ) {
        if value < self.tables.len(table) {
            self.tables.mark(table, value);
        } else {
            self.dangling(shape, slot, table, rule, value, at, row);
        }
    }

    #[cold]
    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "as in the function that calls it")]
    fn dangling(
        &mut self,
        shape: &'static Shape,
        slot: &'static Slot,
        table: Table,
        rule: &'static super::rule::Rule,
        value: u64,
        at: usize,
        row: Option<usize>,
    ) {
        let len = self.tables.len(table);
        // An index that stands for none, where the table itself is what is wrong.
        let unset = value == 0 && len == 0 && row.is_none() && {
            let optional = matches!(slot.field.key, "mapping_index" | "link_index");
            table == Table::String
                || self.version >= Version::V1_8
                || (self.version == Version::V1_3 && optional)
        };
        // Without strings every name is wrong; that there are none says it once.
        let no_strings = table == Table::String && len == 0;
        if self.tables.missing || unset || (no_strings && value == 0) {
            return;
        }
        let period = shape.kind == Kind::ValueType
            && self.findings.path.last().is_some_and(|step| step.name == "period_type");
        let rule = if period { indices::of_period(rule) } else { rule };
        let spot = Spot { row, ..Spot::at(at).field(slot.field.name) };
        let bound = format_args!("an index below {len}, the rows of the {}", table.name());
        match slot.field.kind {
            crate::schema::Kind::Uint64 => self.findings.raise(rule, spot, value, bound),
            _ => self.findings.raise(rule, spot, value as i64, bound),
        }
    }

    #[cold]
    #[inline(never)]
    fn twice(&mut self, shape: &'static Shape, slot: &'static Slot, at: usize) {
        let spot = Spot::at(at).field(slot.field.name);
        match (slot.take, slot.field.key) {
            (Take::Message, "dictionary") => {}
            (Take::Message, _) => self.findings.raise(&OP1022, spot, "", ""),
            (_, "time_unix_nano")
                if shape.kind == Kind::Profile && self.version == Version::Pprof => {}
            _ => self.findings.raise(&OP1021, spot, "", ""),
        }
    }

    #[cold]
    #[inline(never)]
    fn written_default(&mut self, shape: &'static Shape, slot: &'static Slot, at: usize) {
        let spot = Spot::at(at).field(slot.field.name);
        self.findings.fold(&OP1027, kind(shape, slot.field.number), spot, "", "");
    }

    #[inline(always)]
    fn unpacked(&mut self, shape: &'static Shape, slot: &'static Slot, at: usize, chunk: bool) {
        if chunk {
            self.note_unpacked(&OP1024, shape, slot, at);
        } else {
            self.note_unpacked(&OP9102, shape, slot, at);
        }
    }

    #[inline(never)]
    fn note_unpacked(
        &mut self,
        rule: &'static super::rule::Rule,
        shape: &'static Shape,
        slot: &'static Slot,
        at: usize,
    ) {
        if self.findings.asks(rule) {
            let spot = Spot::at(at).field(slot.field.name);
            let kind = kind(shape, slot.field.number);
            self.findings.fold(rule, kind, spot, "unpacked", "packed");
        }
    }

    #[cold]
    #[inline(never)]
    fn mismatch(
        &mut self,
        shape: &'static Shape,
        slot: &'static Slot,
        wire: u32,
        at: usize,
    ) -> Result<usize, Broken> {
        let spot = Spot::at(at).field(slot.field.name);
        let wanted = match slot.take {
            Take::Varint => "a varint",
            Take::Fixed => "eight bytes",
            _ => "a length and bytes",
        };
        let rule = match (shape.kind, slot.field.number, wire) {
            (Kind::Profile, 15, LEN) if self.version == Version::Pprof => {
                self.findings.raise(&super::rules::pprof::PP1035, spot, "field 15", "a varint");
                return Err(Broken);
            }
            (.., END_GROUP) => &OP1014,
            (.., 6 | 7) => &OP1007,
            _ => &OP1008,
        };
        self.findings.raise(rule, spot, format_args!("wire type {wire}"), wanted);
        Err(Broken)
    }

    /// A field that the schema does not know: passed over, and told.
    #[cold]
    #[inline(never)]
    fn unknown(
        &mut self,
        shape: &'static Shape,
        number: u32,
        wire: u32,
        at: usize,
        body: usize,
        end: usize,
    ) -> Result<usize, Broken> {
        let spot = Spot::at(at);
        if wire == START_GROUP {
            let after = self.group(number, at, body, end)?;
            self.findings.fold(
                &OP1016,
                kind(shape, number),
                spot,
                format_args!("field {number}"),
                "",
            );
            return Ok(after);
        }
        let after = self.pass(wire, number, at, body, end)?;
        let rule = match (shape.kind, number) {
            (Kind::KeyValue, 3) | (Kind::AnyValue, 8) => &super::rules::attributes::OP5017,
            (Kind::ResourceProfiles, 1000) | (_, 19000..=19999) => &OP1020,
            (Kind::Profile, 16..=18) if self.version == Version::Pprof => {
                &super::rules::pprof::PP1035
            }
            _ => &OP1019,
        };
        self.findings.fold(rule, kind(shape, number), spot, format_args!("field {number}"), "");
        Ok(after)
    }

    /// Passes over the value of a field of no meaning.
    fn pass(
        &mut self,
        wire: u32,
        number: u32,
        at: usize,
        body: usize,
        end: usize,
    ) -> Result<usize, Broken> {
        let spot = Spot::at(at);
        let bytes = match wire {
            VARINT => match varint(self.bytes, body, end) {
                Ok((_, after)) => return Ok(after),
                Err(fault) => return Err(self.fault(fault, spot)),
            },
            LEN => return Ok(self.length(None, &Record::new(), at, body, end)?.end),
            FIXED64 => 8,
            FIXED32 => 4,
            END_GROUP => {
                self.findings.raise(&OP1014, spot, format_args!("group {number}"), "");
                return Err(Broken);
            }
            _ => {
                self.findings.raise(&OP1007, spot, format_args!("wire type {wire}"), "0 to 5");
                return Err(Broken);
            }
        };
        match end - body < bytes {
            true => Err(self.short(bytes, end - body, spot)),
            false => Ok(body + bytes),
        }
    }

    /// Where a group ends; groups inside it are kept in a list.
    fn group(&mut self, number: u32, at: usize, body: usize, end: usize) -> Result<usize, Broken> {
        let (mut open, mut next) = (vec![number], body);
        let spot = Spot::at(at);
        while let Some(&innermost) = open.last() {
            if next >= end {
                self.findings.raise(&OP1015, spot, format_args!("group {innermost}"), "its end");
                return Err(Broken);
            }
            let (tag, body) = self.long_tag(next, end)?;
            match tag & 7 {
                START_GROUP => {
                    open.push(tag >> 3);
                    if open.len() as u64 + self.depth > self.limits.max_nesting {
                        self.too_deep(spot);
                        return Err(Broken);
                    }
                    next = body;
                }
                END_GROUP if tag >> 3 == innermost => {
                    open.pop();
                    next = body;
                }
                END_GROUP => {
                    let found = format_args!("it ends as group {}", tag >> 3).to_string();
                    self.findings.raise(&OP1015, spot, found, format_args!("group {innermost}"));
                    return Err(Broken);
                }
                wire => next = self.pass(wire, tag >> 3, next, body, end)?,
            }
        }
        Ok(next)
    }

    #[cold]
    pub(crate) fn too_deep(&mut self, spot: Spot) {
        let most = self.limits.max_nesting;
        self.findings.raise(&OP1017, spot, format_args!("more than {most} levels"), most);
    }

    /// The numbers of a repeated field, however they are written.
    pub(crate) fn numbers(&self, shape: &Shape, record: &Record, cell: usize) -> Numbers<'a> {
        let Some(found) = record.get(cell) else {
            return Numbers::Packed(Packed::new(self.bytes, 0..0));
        };
        let body = found.start as usize..found.end as usize;
        let fixed = shape.of_cell(cell).is_some_and(|slot| slot.take == Take::Fixed);
        match (found.times == 1 && found.end > 0, fixed) {
            (true, false) => Numbers::Packed(Packed::new(self.bytes, body)),
            (true, true) => Numbers::Fixed(self.bytes.get(body).unwrap_or_default()),
            // Rare: gathered once.
            (false, _) => Numbers::Gathered(self.gather(shape, record, cell).into_iter()),
        }
    }

    #[cold]
    fn gather(&self, shape: &Shape, record: &Record, cell: usize) -> Vec<u64> {
        let mut out = Vec::new();
        let Some(slot) = shape.of_cell(cell) else { return out };
        let mut at = record.start;
        while at < record.end {
            let Ok((tag, body)) = varint(self.bytes, at, record.end) else { break };
            let mut rest = super::tables::Fields::new(self.bytes, at, record.end);
            let Some((number, chunk)) = rest.next() else { break };
            at = rest.at();
            if number != slot.field.number {
                continue;
            }
            let word =
                |bytes: &[u8]| bytes.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
            match (tag as u32 & 7, chunk) {
                (LEN, Some((start, end))) if slot.take == Take::Fixed => {
                    let bytes = self.bytes.get(start..end).unwrap_or_default();
                    out.extend(bytes.chunks_exact(8).map(word));
                }
                (LEN, Some((start, end))) => out.extend(Packed::new(self.bytes, start..end)),
                (FIXED64, _) => out.push(word(self.bytes.get(body..).unwrap_or_default())),
                _ => out.extend(varint(self.bytes, body, record.end).map(|(value, _)| value)),
            }
        }
        out
    }

    /// Takes a message apart again, without a word.
    pub(crate) fn peek(&self, shape: &'static Shape, start: usize, end: usize) -> Lent {
        let mut record = self.pool.lend();
        self.peek_into(shape, start, end, &mut record);
        record
    }

    /// The same into a record that is there already.
    pub(crate) fn peek_into(
        &self,
        shape: &'static Shape,
        start: usize,
        end: usize,
        record: &mut Record,
    ) {
        record.begin(start, end);
        let mut fields = super::tables::Fields::new(self.bytes, start, end);
        loop {
            let at = fields.at();
            let Some((number, body)) = fields.next() else { return };
            let Some(slot) = shape.slot(number) else { continue };
            let value = match body {
                Some(_) => 0,
                None => self.scalar(at, end),
            };
            let cell = record.cell_mut(slot.cell);
            if cell.times == 0 {
                cell.at = at as u32;
            }
            cell.times += 1;
            match body {
                Some((start, end)) => {
                    (cell.start, cell.end) = (start as u32, end as u32);
                    cell.count += match slot.take {
                        Take::Varint => Packed::new(self.bytes, start..end).count() as u32,
                        Take::Fixed => ((end - start) / 8) as u32,
                        _ => 1,
                    };
                }
                None => {
                    cell.value = value;
                    cell.count += 1;
                }
            }
        }
    }

    /// The number of a field, of whatever width.
    fn scalar(&self, at: usize, end: usize) -> u64 {
        match varint(self.bytes, at, end) {
            Ok((tag, body)) if tag as u32 & 7 == VARINT => {
                varint(self.bytes, body, end).map_or(0, |(value, _)| value)
            }
            Ok((_, body)) => {
                let word = self.bytes.get(body..).and_then(<[u8]>::first_chunk);
                word.map_or(0, |word| u64::from_le_bytes(*word))
            }
            Err(_) => 0,
        }
    }

    /// The message that the rows of a table are.
    pub(crate) fn table_shape(&self, table: Table) -> Option<&'static Shape> {
        let holder = self.tables_holder();
        let slots = &self.shapes.find(holder)?.slots;
        let row = slots.iter().find(|slot| slot.field.role == Role::Row(table))?;
        (row.take == Take::Message).then(|| self.shapes.get(row.child))
    }

    /// The first row that equals the one that a field refers to; any other number as it is.
    pub(crate) fn first_equal(&self, slot: &Slot, value: u64) -> u64 {
        match slot.table {
            Some((table, _)) => self.tables.first_equal(table, value),
            None => value,
        }
    }

    /// The number of the field at `at`.
    pub(crate) fn first_number(&self, at: usize, end: usize) -> u64 {
        self.scalar(at, end)
    }

    /// The message that has the tables.
    fn tables_holder(&self) -> Kind {
        match self.version {
            Version::Pprof | Version::V1_3 | Version::V1_4 | Version::V1_5 => Kind::Profile,
            Version::V1_6 => Kind::ProfilesData,
            _ => Kind::Dictionary,
        }
    }

    /// What the field is called whose occurrences are the rows of a table.
    pub(crate) fn table_name(&self, table: Table) -> &'static str {
        let holder = self.tables_holder();
        let slots = self.shapes.find(holder).map_or(&[][..], |shape| &shape.slots);
        let row = slots.iter().find(|slot| slot.field.role == Role::Row(table));
        row.map_or("", |slot| slot.field.name)
    }

    /// The row of the list that the message is in.
    pub(crate) fn row(&self) -> usize {
        self.findings.path.last().and_then(|step| step.row).unwrap_or(0) as usize
    }

    /// The text of a row of the string table.
    pub(crate) fn string(&self, row: u64) -> Option<&'a [u8]> {
        let (start, end) = self.tables.row(Table::String, row)?;
        self.bytes.get(start..end)
    }

    /// The bytes of a field.
    pub(crate) fn body(&self, record: &Record, cell: usize) -> &'a [u8] {
        self.bytes.get(record.body(cell)).unwrap_or_default()
    }
}

/// The numbers of a repeated field.
pub(crate) enum Numbers<'a> {
    Packed(Packed<'a>),
    Fixed(&'a [u8]),
    Gathered(std::vec::IntoIter<u64>),
}

impl Iterator for Numbers<'_> {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        match self {
            Self::Packed(packed) => packed.next(),
            Self::Fixed(bytes) => {
                let (word, rest) = bytes.split_first_chunk()?;
                *bytes = rest;
                Some(u64::from_le_bytes(*word))
            }
            Self::Gathered(numbers) => numbers.next(),
        }
    }
}

/// A field of a message, to count findings by.
pub(crate) fn kind(shape: &Shape, number: u32) -> u64 {
    (shape.kind as u64) << 32 | u64::from(number)
}

/// The bytes of the shortest varint.
fn shortest(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

/// Whether a field is what the payload was made from, which may be long.
pub(crate) fn is_original(slot: &Slot) -> bool {
    slot.field.key == "original_payload"
}
