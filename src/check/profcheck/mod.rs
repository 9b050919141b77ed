//! The verdict of profcheck, the conformance checker of OpenTelemetry's Profiling SIG, as of August 2026: a payload
//! that profcheck accepts passes here, and one that it rejects fails, also if profcheck panics.
//!
//! Each finding uses a rule of the catalogue, always as an error.
//!
//! This verdict was compared with that of profcheck itself (commit d2ab6d5, built with Go 1.27) on 100,000 payloads
//! of 1.10 with mutated fields and bytes, with each of its eight sets of flags: all 800,000 verdicts were equal.
//!
//! Pipelines run profcheck, and a replacement first has to give the same verdict; hence a second checker beside the
//! rules. They differ in some points: profcheck requires a range to start below its end, never checks resources and
//! wraps the end of a profile's time. This module follows profcheck, mistakes included.
//!
//! ```text
//! bytes ─► go::decodes: does Go's protobuf accept them? ─► resources, scopes, profiles, samples ─► tables ─► orphans
//! ```
//!
//! It shares layouts, tables and findings with the rules, but none of their code, so that a corrected rule does not
//! change a verdict. Positions are correct even where profcheck's are not: its positions in mappings and links are
//! off by one.

mod go;
mod orphans;
mod tables;

use crate::check::state::Map;
use std::ops::Range;

use super::catalogue::{
    OP2001, OP2002, OP2003, OP2005, OP3101, OP3102, OP3103, OP3114, OP3116, OP3117, OP3118, OP3119,
    OP3120, OP4001, OP4002, OP4003, OP4004, OP4012, OP5002,
};
use super::findings::{Counted, Findings, Position, Shown, Step};
use super::layout::{Layouts, MessageLayout, ROOT};
use super::options::Profcheck;
use super::rule::Rule;
use super::tables::Tables;
use crate::schema::{MessageKind, Table, Version};
use go::{Field, fields};

/// Checks a message and reports the findings of profcheck.
///
/// Always decodes as 1.10, whose field numbers profcheck is generated from: a payload of an older generation is
/// checked by what its bytes mean there. A payload that does not decode gets no further checks.
pub(super) fn check(bytes: &[u8], compat: Profcheck, findings: &mut Findings) {
    let shapes = Layouts::of(Version::V1_10);
    if !go::decodes(bytes, shapes, findings) {
        return;
    }
    let (tables, used) = Default::default();
    let mut checking = Checking { bytes, compat, shapes, findings, tables, used, keys: Vec::new() };
    checking.payload();
}

/// One message as profcheck sees it: the target of each reference, without the fields that profcheck ignores.
struct Checking<'a, 'f> {
    /// The payload; profcheck does not decompress.
    bytes: &'a [u8],
    /// The command-line flags of profcheck.
    compat: Profcheck,
    /// The layouts of 1.10.
    shapes: &'static Layouts,
    findings: &'f mut Findings,
    /// Rows of all dictionaries, merged as Go merges them.
    tables: Tables,
    /// Whether a row is referenced, for each row.
    ///
    /// Like profcheck, counts only direct references from the messages that it visits.
    used: [Vec<bool>; Table::COUNT],
    /// The key of each row of the attribute table.
    keys: Vec<Key>,
}

/// The key of an attribute.
#[derive(Clone, Copy)]
struct Key {
    index: i32,
    /// The first string equal to the key's string, if the reference resolves.
    text: Option<u32>,
}

impl<'a> Checking<'a, '_> {
    /// Checks in profcheck's order: resources with their contents, then the dictionary, then unreferenced rows.
    ///
    /// Stops without resources or without a dictionary: there profcheck returns, or panics.
    fn payload(&mut self) {
        let root = self.shapes.get(ROOT);
        let all = || fields(self.bytes, root, 0..self.bytes.len());
        let mut missing = true;
        for field in all().filter(|field| field.key == "dictionary") {
            missing = false;
            let (shape, body) = (self.shapes.get(field.slot.child), field.value.body());
            self.tables.survey(self.bytes, shape, body.start, body.end);
        }
        self.tables.close();
        self.keys = self.keys();
        for (used, rows) in self.used.iter_mut().zip(&self.tables.rows) {
            used.resize(rows.len(), false);
        }
        if all().all(|field| field.key != "resource_profiles") {
            let spot = Position::nowhere().field("resource_profiles");
            return self.findings.report(&OP2001, spot, "", "");
        }
        if missing {
            return self.findings.report(&OP2005, Position::nowhere().field("dictionary"), "", "");
        }
        for (row, field) in all().filter(|field| field.key == "resource_profiles").enumerate() {
            let (name, shape) = (field.slot.field.name, self.shapes.get(field.slot.child));
            self.inside(name, Some(row), |this| this.resource(shape, field.value.body()));
        }
        self.inside("dictionary", None, Self::dictionary);
        if self.compat.check_orphans {
            self.inside("dictionary", None, Self::orphans);
        }
    }

    /// Runs `then` inside a field, so that every finding has its full path.
    fn inside<T>(
        &mut self,
        name: &'static str,
        row: Option<usize>,
        then: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.findings.path.push(Step { name, row: row.map(|row| row as u32) });
        let done = then(self);
        self.findings.path.pop();
        done
    }

    /// The layout of a message of 1.10.
    ///
    /// 1.10 has every message that callers ask for, so the fallback is never used.
    fn shape(&self, kind: MessageKind) -> &'static MessageLayout {
        self.shapes.find(kind).unwrap_or(self.shapes.get(ROOT))
    }

    /// The fields of a message of 1.10, without those unknown to Go.
    fn fields(
        &self,
        kind: MessageKind,
        body: Range<usize>,
    ) -> impl Iterator<Item = Field<'a>> + use<'a> {
        fields(self.bytes, self.shape(kind), body)
    }

    /// Checks that a resource has scopes.
    ///
    /// An empty list is an error in profcheck, but a warning in the catalogue (`OP2002`). The resource itself is
    /// not checked.
    fn resource(&mut self, shape: &'static MessageLayout, body: Range<usize>) {
        let start = body.start;
        let scopes = fields(self.bytes, shape, body).filter(|field| field.key == "scope_profiles");
        let mut none = true;
        for (row, field) in scopes.enumerate() {
            none = false;
            let shape = self.shapes.get(field.slot.child);
            self.inside("scope_profiles", Some(row), |this| this.scope(shape, field.value.body()));
        }
        if none {
            self.findings.report(&OP2002, Position::at(start).field("scope_profiles"), "", "");
        }
    }

    /// Checks that a scope has profiles.
    ///
    /// Like a resource, the scope itself is not checked.
    fn scope(&mut self, shape: &'static MessageLayout, body: Range<usize>) {
        let start = body.start;
        let profiles = fields(self.bytes, shape, body).filter(|field| field.key == "profiles");
        let mut none = true;
        for (row, field) in profiles.enumerate() {
            none = false;
            self.inside("profiles", Some(row), |this| this.profile(field.value.body()));
        }
        if none {
            self.findings.report(&OP2003, Position::at(start).field("profiles"), "", "");
        }
    }

    /// Checks a profile: its own references, then its samples, which need its time.
    ///
    /// Makes two passes over the fields, because samples may precede the time. For a field that occurs twice the
    /// last value counts; lists are concatenated.
    fn profile(&mut self, body: Range<usize>) {
        let (mut time, mut duration) = (0u64, 0u64);
        let mut types = [[(0, body.start); 2]; 2];
        let (mut attributes, mut at) = (Vec::new(), body.start);
        for field in self.fields(MessageKind::Profile, body.clone()) {
            match field.key {
                "time_unix_nano" => time = field.value.number(),
                "duration_nano" => duration = field.value.number(),
                "sample_type" => self.value_type(field.value.body(), &mut types[0]),
                "period_type" => self.value_type(field.value.body(), &mut types[1]),
                "attribute_indices" => {
                    at = field.at;
                    field.value.extend(&mut attributes, |value| value as i32);
                }
                _ => {}
            }
        }
        self.attributes(&attributes, at, &OP3116);
        for (name, found, rules) in [
            ("sample_type", types[0], [&OP3117, &OP3118]),
            ("period_type", types[1], [&OP3119, &OP3120]),
        ] {
            self.inside(name, None, |this| {
                for ((field, (index, at)), rule) in
                    ["type_strindex", "unit_strindex"].into_iter().zip(found).zip(rules)
                {
                    this.refer(rule, Table::String, index, Position::at(at).field(field));
                }
            });
        }
        let samples =
            self.fields(MessageKind::Profile, body).filter(|field| field.key == "samples");
        let mut first = None;
        // The end wraps on overflow, as profcheck's sum of two unsigned numbers does.
        let range = time..time.wrapping_add(duration);
        for (row, field) in samples.enumerate() {
            self.inside("samples", Some(row), |this| {
                this.sample(field.value.body(), &range, &mut first);
            });
        }
    }

    /// Decodes type and unit of a value type, each with its position.
    ///
    /// Both indices default to 0, which is row 0 of the strings.
    fn value_type(&self, body: Range<usize>, found: &mut [(i32, usize); 2]) {
        for field in self.fields(MessageKind::ValueType, body) {
            let row = usize::from(field.key == "unit_strindex");
            found[row] = (field.value.index(), field.at);
        }
    }

    /// Checks a sample: its references, its times against the profile's, and its shape if the flag is set.
    ///
    /// Collects lists completely first, because packed chunks may be anywhere in the message. Needs memory for one
    /// sample.
    fn sample(&mut self, body: Range<usize>, range: &Range<u64>, first: &mut Option<(bool, bool)>) {
        let here = Position::at(body.start);
        let (mut stack, mut link) = ((0, body.start), (0, body.start));
        let (mut attributes, mut at) = (Vec::new(), body.start);
        let (mut values, mut times) = (Vec::new(), Vec::new());
        for field in self.fields(MessageKind::Sample, body) {
            match field.key {
                "stack_index" => stack = (field.value.index(), field.at),
                "link_index" => link = (field.value.index(), field.at),
                "attribute_indices" => {
                    at = field.at;
                    field.value.extend(&mut attributes, |value| value as i32);
                }
                "values" => field.value.extend(&mut values, |_| ()),
                "timestamps_unix_nano" => field.value.extend(&mut times, |time| time),
                _ => {}
            }
        }
        self.refer(&OP3101, Table::Stack, stack.0, Position::at(stack.1).field("stack_index"));
        self.attributes(&attributes, at, &OP3102);
        self.refer(&OP3103, Table::Link, link.0, Position::at(link.1).field("link_index"));
        for (row, time) in times.iter().enumerate().filter(|(_, time)| !range.contains(time)) {
            let bound = format!("[{}, {})", range.start, range.end);
            self.findings.report(&OP4012, here.field("timestamps_unix_nano").row(row), time, bound);
        }
        if self.compat.check_sample_shapes {
            self.sample_shape(values.len(), times.len(), here, first);
        }
    }

    /// Checks that a sample has values, timestamps or equally many of both, in the same shape as all samples of its
    /// profile.
    ///
    /// Enabled by the flag `-check-sample-shapes`, which is on by default.
    fn sample_shape(
        &mut self,
        values: usize,
        times: usize,
        here: Position,
        first: &mut Option<(bool, bool)>,
    ) {
        let found =
            format_args!("{} and {}", Counted(values, "value"), Counted(times, "timestamp"))
                .to_string();
        match (values, times) {
            (0, 0) => self.findings.report(&OP4001, here, "", "a value or a timestamp"),
            (2.., 0) => self.findings.report(&OP4003, here.field("values"), &found, "1 value"),
            (1.., 1..) if values != times => {
                self.findings.report(&OP4002, here, &found, "equal numbers");
            }
            _ => {}
        }
        let shape = (values > 0, times > 0);
        if *first.get_or_insert(shape) != shape {
            self.findings.report(&OP4004, here, found, "the shape of the first sample");
        }
    }

    /// Checks that a reference leads to a row, and marks the row as used.
    ///
    /// Negative indices fail. Any reference to an empty table fails, also an omitted one.
    fn refer(&mut self, rule: &'static Rule, table: Table, index: i32, spot: Position) {
        let used = &mut self.used[table as usize];
        let row = usize::try_from(index).ok();
        match row.and_then(|row| used.get_mut(row)) {
            Some(used) => *used = true,
            None => {
                let bound = format!("the {} has {}", table.name(), Counted(used.len(), "entry"));
                self.findings.report(rule, spot, index, bound);
            }
        }
    }

    /// The keys of the attribute table, each resolved once, however many references it has.
    fn keys(&self) -> Vec<Key> {
        let mut texts: Map<&[u8], u32> = Map::default();
        let mut known: Map<i32, Option<u32>> = Map::default();
        let rows = self.tables.rows[Table::Attribute as usize].iter();
        let keys = rows.map(|(start, end)| {
            let body = *start as usize..*end as usize;
            let key = self.fields(MessageKind::KeyValueAndUnit, body);
            let key = key.filter(|field| field.key == "key_strindex").last();
            let index = key.map_or(0, |field| field.value.index());
            let text = *known.entry(index).or_insert_with(|| {
                let (start, end) = self.tables.row(Table::String, u64::try_from(index).ok()?)?;
                // The index led to a row, so it is not negative.
                Some(*texts.entry(self.bytes.get(start..end)?).or_insert(index as u32))
            });
            Key { index, text }
        });
        keys.collect()
    }

    /// Checks references to attributes: each row exists, its key resolves, and no key occurs twice.
    ///
    /// Compares keys by their bytes. A key that does not resolve is reported at the reference, not at the row.
    fn attributes(&mut self, indices: &[i32], at: usize, rule: &'static Rule) {
        let mut seen: Map<u32, usize> = Map::default();
        for (position, index) in indices.iter().enumerate() {
            let spot = Position::at(at).field("attribute_indices").row(position);
            let key = usize::try_from(*index).ok().and_then(|row| self.keys.get(row)).copied();
            let Some(key) = key else {
                self.refer(rule, Table::Attribute, *index, spot);
                continue;
            };
            // In range: `keys` has a row for each attribute.
            self.used[Table::Attribute as usize][*index as usize] = true;
            let Some(text) = key.text else {
                self.refer(&OP3114, Table::String, key.index, spot);
                continue;
            };
            let first = *seen.entry(text).or_insert(position);
            if first != position {
                let text = self.tables.row(Table::String, text.into());
                let text = text.and_then(|(start, end)| self.bytes.get(start..end));
                let bound = first.to_string();
                self.findings.report(&OP5002, spot, Shown(text.unwrap_or_default()), bound);
            }
        }
    }
}
