//! Anomalies of fields: malformed bytes, dangling references, truncated numbers, unknown fields.
//!
//! These functions are cold: a valid payload calls them rarely or never. Each reports its finding. It then returns
//! the value that the bytes represent despite the anomaly (a number truncated to 32 bits, the end of a skipped
//! field), or [`Broken`] if the rest of the message cannot be decoded.

use std::ops::Range;

use super::catalogue;
use super::catalogue::{
    OP1001, OP1002, OP1003, OP1004, OP1005, OP1006, OP1007, OP1008, OP1009, OP1010, OP1011, OP1013,
    OP1014, OP1015, OP1016, OP1017, OP1019, OP1020, OP1021, OP1022, OP1025, OP1026, OP1027, OP5017,
    PP1035,
};
use super::context::{Broken, CheckContext};
use super::findings::{Counted, Position};
use super::layout::{Slot, Take, fold_key};
use super::record::Record;
use super::rule::Rule;
use super::varint::{Fault, varint};
use crate::schema::{Kind, MessageKind, Table, Version};
use crate::wire::write::varint_len;
use crate::wire::{END_GROUP, FIXED32, FIXED64, LEN, START_GROUP, VARINT};

impl CheckContext<'_> {
    /// Decodes a tag of several bytes, or reports an invalid tag.
    ///
    /// Also called for tags of one byte below 8, whose field number is 0.
    #[cold]
    #[inline(never)]
    pub(super) fn long_tag(&mut self, at: usize, end: usize) -> Result<(u32, usize), Broken> {
        let (tag, after) = match varint(self.bytes, at, end) {
            Ok(tag) => tag,
            Err(fault) => return Err(self.fault(fault, Position::at(at))),
        };
        let (length, spot) = (after - at, Position::at(at));
        match u32::try_from(tag) {
            _ if length > 5 => self.report(&OP1004, spot, Counted(length, "byte"), ""),
            Err(_) => self.report(&OP1006, spot, tag >> 3, ""),
            Ok(tag) if tag >> 3 == 0 => self.report(&OP1005, spot, "", ""),
            Ok(tag) => return Ok((tag, after)),
        }
        Err(Broken)
    }

    /// Reports a malformed varint: truncated (`OP1002`), or with more than 64 bits (`OP1001`).
    #[cold]
    #[inline(never)]
    pub(super) fn fault(&mut self, fault: Fault, spot: Position) -> Broken {
        match fault {
            Fault::Truncated => self.report(&OP1002, spot, "", ""),
            Fault::Overflow => self.report(&OP1001, spot, "", ""),
        }
        Broken
    }

    /// Reports a number of four or eight bytes that is truncated. Its message cannot be decoded further.
    #[cold]
    pub(super) fn short(&mut self, wanted: usize, left: usize, spot: Position) -> Broken {
        let left = Counted(left, "byte");
        self.report(&OP1011, spot, format_args!("{left} left"), Counted(wanted, "byte"));
        Broken
    }

    /// Handles an unusual length: one that is too large for its message or for protobuf ends the message, one with
    /// redundant bytes is accepted and reported.
    ///
    /// Source: [the encoding](https://protobuf.dev/programming-guides/encoding/#length-types). Decoders of all
    /// languages limit lengths to 2 GiB.
    #[cold]
    #[inline(never)]
    pub(super) fn unusual_length(
        &mut self,
        slot: Option<&Slot>,
        record: &Record,
        at: usize,
        body: usize,
        end: usize,
        found: Result<(u64, usize), Fault>,
    ) -> Result<Range<usize>, Broken> {
        let spot = slot.map_or(Position::at(at), |slot| Self::spot(slot, record, at));
        let (length, start) = match found {
            Ok(found) => found,
            Err(fault) => return Err(self.fault(fault, spot)),
        };
        let left = end - start;
        if length >= 1 << 31 || start - body > 5 {
            self.report(&OP1010, spot, length, "at most 2147483647 in a varint of at most 5 bytes");
            return Err(Broken);
        }
        if length > left as u64 {
            let [length, left] = [length as usize, left].map(|bytes| Counted(bytes, "byte"));
            self.report(&OP1009, spot, length, format_args!("{left} left"));
            return Err(Broken);
        }
        if start - body > varint_len(length) {
            self.findings.report_folded(
                &OP1003,
                0,
                spot,
                format_args!("{} bytes", start - body),
                "",
            );
        }
        Ok(start..start + length as usize)
    }

    /// Reports the anomalies of a number, and returns the number as decoders see it.
    #[cold]
    #[inline(never)]
    pub(super) fn anomaly(
        &mut self,
        slot: &'static Slot,
        value: u64,
        bytes: usize,
        spot: Position,
    ) -> u64 {
        if value == 0 && slot.plain {
            let at = spot.byte.unwrap_or(0) as usize;
            self.written_default(slot, at);
        }
        if bytes > varint_len(value) {
            let key = slot.fold_key();
            self.findings.report_folded(&OP1003, key, spot, format_args!("{bytes} bytes"), "");
        }
        if value <= slot.most {
            return value;
        }
        match slot.field.kind {
            Kind::Bool => {
                self.findings.report_folded(&OP1026, slot.fold_key(), spot, value, "");
                1
            }
            Kind::Uint32 => {
                self.report(&OP1013, spot, value, format_args!("at most {}", u32::MAX));
                value & u64::from(u32::MAX)
            }
            _ => {
                // Protobuf keeps the low 32 bits of an int32 or an enum, and extends their sign.
                let cut = i64::from(value as u32 as i32) as u64;
                if cut != value && value > u64::from(u32::MAX) {
                    self.report(&OP1013, spot, value as i64, "an int32");
                }
                if matches!(slot.field.kind, Kind::Enum(_)) && cut > slot.most {
                    self.report(&OP1025, spot, cut as i64, "");
                }
                cut
            }
        }
    }

    /// Reports a reference to a row that does not exist.
    ///
    /// Stays silent if a larger defect makes every reference dangle: a missing dictionary, or a string table
    /// without strings. The rules about first rows report those once.
    #[cold]
    #[inline(never)]
    pub(super) fn dangling(
        &mut self,
        slot: &'static Slot,
        (table, rule): (Table, &'static Rule),
        value: u64,
        at: usize,
        row: Option<usize>,
    ) {
        let len = self.tables.len(table);
        // An unset index into an empty table: only the table is at fault.
        let unset = value == 0 && len == 0 && row.is_none() && {
            let optional = matches!(slot.field.key, "mapping_index" | "link_index");
            table == Table::String
                || self.version >= Version::V1_8
                || (self.version == Version::V1_3 && optional)
        };
        // In an empty string table every name dangles; the missing string 0 is reported once.
        let no_strings = table == Table::String && len == 0;
        if self.tables.missing {
            self.tables.is_needed |= !unset;
            return;
        }
        if unset || (no_strings && value == 0) {
            return;
        }
        let period = slot.kind == MessageKind::ValueType
            && self.findings.path.last().is_some_and(|step| step.name == "period_type");
        let rule = if period { catalogue::of_period(rule) } else { rule };
        let spot = Position { row, ..Position::at(at).field(slot.field.name) };
        let (name, rows) = (table.name(), Counted(len as usize, "entry"));
        let bound = format!("the {name} has {rows}");
        match slot.field.kind {
            Kind::Uint64 => self.report(rule, spot, value, bound),
            _ => self.report(rule, spot, value as i64, bound),
        }
    }

    /// Reports a singular field that repeats. Decoders merge messages and keep the last of other values, so two
    /// readers may see different data.
    #[cold]
    #[inline(never)]
    pub(super) fn twice(&mut self, slot: &'static Slot, at: usize) {
        let spot = Position::at(at).field(slot.field.name);
        self.has_repeated_singular = true;
        match (slot.take, slot.field.key) {
            (Take::Message, "dictionary") => {}
            (Take::Message, _) => self.report(&OP1022, spot, "", ""),
            (_, "time_unix_nano")
                if slot.kind == MessageKind::Profile && self.version == Version::Pprof => {}
            _ => self.report(&OP1021, spot, "", ""),
        }
    }

    /// Reports a default value that is written out: proto3 omits it, and different bytes then have the same
    /// meaning.
    #[cold]
    #[inline(never)]
    pub(super) fn written_default(&mut self, slot: &'static Slot, at: usize) {
        let spot = Position::at(at).field(slot.field.name);
        self.findings.report_folded(&OP1027, slot.fold_key(), spot, "", "");
    }

    /// Reports a list of numbers that is not packed. Decoders accept both forms; the rule is a hint about size.
    #[inline(never)]
    pub(super) fn note_unpacked(&mut self, rule: &'static Rule, slot: &'static Slot, at: usize) {
        if self.findings.is_enabled(rule) {
            let spot = Position::at(at).field(slot.field.name);
            let key = slot.fold_key();
            self.findings.report_folded(rule, key, spot, "", "");
        }
    }

    /// Handles a field whose wire type differs from the schema. Its value cannot be decoded, so its message ends;
    /// an unterminated group is reported as such instead. A pprof skips fields of OTLP, like unknown ones.
    #[cold]
    #[inline(never)]
    pub(super) fn mismatch(
        &mut self,
        slot: &'static Slot,
        wire: u32,
        (at, body, end): (usize, usize, usize),
    ) -> Result<usize, Broken> {
        if wire == START_GROUP {
            self.group(slot.field.number, at, body, end)?;
        }
        let spot = Position::at(at).field(slot.field.name);
        let wanted = match slot.take {
            Take::Varint => "wire type 0 (varint)",
            Take::Fixed => "wire type 1 (8 bytes)",
            _ => "wire type 2 (length and bytes)",
        };
        let rule = match (slot.kind, slot.field.number, wire) {
            // Field 15 is the number `doc_url` in pprof, and the packed `location_indices` in OTLP 1.3.
            (MessageKind::Profile, 15, LEN) if self.version == Version::Pprof => {
                self.report(&PP1035, spot, "field 15", "a varint");
                return self.pass(wire, slot.field.number, at, body, end);
            }
            (.., END_GROUP) => &OP1014,
            (.., 6 | 7) => &OP1007,
            _ => &OP1008,
        };
        let found = match wire {
            END_GROUP => format!("group {}", slot.field.number),
            _ => format!("wire type {wire}"),
        };
        self.report(rule, spot, found, wanted);
        Err(Broken)
    }

    /// Reports an unknown field, and returns its end.
    #[cold]
    #[inline(never)]
    pub(super) fn unknown(
        &mut self,
        kind: MessageKind,
        (number, wire): (u32, u32),
        (at, body, end): (usize, usize, usize),
    ) -> Result<usize, Broken> {
        let (spot, key) = (Position::at(at), fold_key(kind, number));
        if wire == START_GROUP {
            let after = self.group(number, at, body, end)?;
            self.findings.report_folded(&OP1016, key, spot, format_args!("field {number}"), "");
            return Ok(after);
        }
        let after = self.pass(wire, number, at, body, end)?;
        let rule = match (kind, number) {
            (MessageKind::KeyValue, 3) | (MessageKind::AnyValue, 8) => &OP5017,
            (MessageKind::Profile, 16..=18) if self.version == Version::Pprof => &PP1035,
            _ if self.version == Version::Pprof => &OP1019,
            // Reserved by the proto of OTLP (1000) and by protobuf itself (19000 to 19999).
            (MessageKind::ResourceProfiles, 1000) | (_, 19000..=19999) => &OP1020,
            _ => &OP1019,
        };
        let name = if *rule == OP5017 { "" } else { "field " };
        self.findings.report_folded(rule, key, spot, format_args!("{name}{number}"), "");
        Ok(after)
    }

    /// Skips the value of an unknown field and returns its end, so that the fields after it can be decoded.
    pub(super) fn pass(
        &mut self,
        wire: u32,
        number: u32,
        at: usize,
        body: usize,
        end: usize,
    ) -> Result<usize, Broken> {
        let spot = Position::at(at);
        let bytes = match wire {
            VARINT => match varint(self.bytes, body, end) {
                Ok((_, after)) => return Ok(after),
                Err(fault) => return Err(self.fault(fault, spot)),
            },
            LEN => return Ok(self.length(None, &Record::new(), at, body, end)?.end),
            FIXED64 => 8,
            FIXED32 => 4,
            END_GROUP => {
                self.report(&OP1014, spot, format_args!("group {number}"), "");
                return Err(Broken);
            }
            _ => {
                self.report(&OP1007, spot, format_args!("wire type {wire}"), "");
                return Err(Broken);
            }
        };
        // `body` follows a tag that was decoded before `end`, so it does not exceed `end`.
        match end - body < bytes {
            true => Err(self.short(bytes, end - body, spot)),
            false => Ok(body + bytes),
        }
    }

    /// Returns the end of a group. Open groups are kept in a list, so that deeply nested groups do not overflow the
    /// stack.
    pub(super) fn group(
        &mut self,
        number: u32,
        at: usize,
        body: usize,
        end: usize,
    ) -> Result<usize, Broken> {
        let (mut open, mut next) = (vec![number], body);
        let spot = Position::at(at);
        while let Some(&innermost) = open.last() {
            if next >= end {
                let bound = format_args!("the end of group {innermost}").to_string();
                self.report(&OP1015, spot, "the end of the message", bound);
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
                    let found = format_args!("the end of group {}", tag >> 3).to_string();
                    let bound = format_args!("the end of group {innermost}").to_string();
                    self.report(&OP1015, spot, found, bound);
                    return Err(Broken);
                }
                wire => next = self.pass(wire, tag >> 3, next, body, end)?,
            }
        }
        Ok(next)
    }

    /// Reports messages or groups nested past the limit; their contents are not walked.
    #[cold]
    pub(crate) fn too_deep(&mut self, spot: Position) {
        let most = self.limits.max_nesting;
        self.report(&OP1017, spot, "", format_args!("at most {most} levels"));
    }
}
