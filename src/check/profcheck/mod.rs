//! The verdict of profcheck, the conformance checker of OpenTelemetry's Profiling SIG, as of August 2026: what it
//! accepts passes here and what it refuses fails, a panic of it included.
//!
//! Each finding is one of the catalogue's rules, an error whatever the catalogue says of it.
//!
//! Where profcheck panics, it fails here. Its verdict was held against that of profcheck itself (commit d2ab6d5, built with
//! Go 1.27) on 100,000 payloads of 1.10 bent in their fields and their bytes, with each of its eight sets of flags: 800,000
//! verdicts, all the same.
//!
//! Why a second checker beside the rules: pipelines run profcheck, and whoever replaces it wants
//! the same verdict first and more findings second. Where the two differ (profcheck wants a range
//! to start below its end, never looks at resources and wraps the end of a profile's time) this
//! room follows profcheck, mistakes included.
//!
//! ```text
//! bytes ─► go::decodes: would Go's protobuf take them? ─► resources, scopes, profiles, samples ─► tables ─► orphans
//! ```
//!
//! It shares shapes, tables and findings with the rules and none of their code: a mended rule must
//! not change a verdict. Places are right where profcheck's are not: its positions in mappings and
//! links are off by one.

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
use crate::schema::{Noun, Table, Version};
use go::{Field, fields};

/// Checks a message; the findings are those of profcheck.
///
/// Always as 1.10, whose field numbers profcheck was generated from: a payload of an older
/// generation is judged by what its bytes mean there. What does not decode is asked nothing more.
pub(super) fn check(bytes: &[u8], asked: Profcheck, findings: &mut Findings) {
    let shapes = Layouts::of(Version::V1_10);
    if !go::decodes(bytes, shapes, findings) {
        return;
    }
    let (tables, used) = Default::default();
    let mut checking = Checking { bytes, asked, shapes, findings, tables, used, keys: Vec::new() };
    checking.payload();
}

/// One message, as profcheck sees it: what each reference leads to, and nothing of what it does not look at.
struct Checking<'a, 'f> {
    /// As they are: profcheck inflates nothing.
    bytes: &'a [u8],
    /// Its command-line flags.
    asked: Profcheck,
    /// Those of 1.10.
    shapes: &'static Layouts,
    findings: &'f mut Findings,
    /// Rows of the last dictionary merged with all before, as Go merges them.
    tables: Tables,
    /// Whether anything refers to a row.
    ///
    /// By row. Only direct references count, and only from what profcheck visits, which is how it
    /// finds orphans.
    used: [Vec<bool>; Table::COUNT],
    /// The key of each row of the attribute table.
    keys: Vec<Key>,
}

/// The key of an attribute.
#[derive(Clone, Copy)]
struct Key {
    index: i32,
    /// The first string equal to the one it leads to, if it leads to one.
    text: Option<u32>,
}

impl<'a> Checking<'a, '_> {
    /// Asks in profcheck's order: resources with all in them, then the dictionary, then what nothing referred to.
    ///
    /// Without resources or without a dictionary it stops: there profcheck returns, or panics.
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
        if self.asked.check_orphans {
            self.inside("dictionary", None, Self::orphans);
        }
    }

    /// What `then` raises is within a field.
    ///
    /// So that every finding has its full path, and the path is right again whatever happens
    /// inside.
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

    /// A message of 1.10.
    ///
    /// 1.10 has every kind that is asked for, so the fallback is never taken.
    fn shape(&self, kind: Noun) -> &'static MessageLayout {
        self.shapes.find(kind).unwrap_or(self.shapes.get(ROOT))
    }

    /// The fields of a message of 1.10 that Go knows.
    fn fields(&self, kind: Noun, body: Range<usize>) -> impl Iterator<Item = Field<'a>> + use<'a> {
        fields(self.bytes, self.shape(kind), body)
    }

    /// A resource has to have scopes.
    ///
    /// An empty list is an error to profcheck, where the catalogue has a warning (`OP2002`). The
    /// resource itself is not looked at.
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

    /// A scope has to have profiles.
    ///
    /// As for resources: only whether there are profiles.
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

    /// A profile: references of its own, then its samples, which need its time.
    ///
    /// Two passes over its fields, since samples stand before the time in no order that could be
    /// relied on. A field that comes twice counts with its last value, lists are joined.
    fn profile(&mut self, body: Range<usize>) {
        let (mut time, mut duration) = (0u64, 0u64);
        let mut types = [[(0, body.start); 2]; 2];
        let (mut attributes, mut at) = (Vec::new(), body.start);
        for field in self.fields(Noun::Profile, body.clone()) {
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
        let samples = self.fields(Noun::Profile, body).filter(|field| field.key == "samples");
        let mut first = None;
        // The end of the time wraps as its sum of two unsigned numbers does.
        let range = time..time.wrapping_add(duration);
        for (row, field) in samples.enumerate() {
            self.inside("samples", Some(row), |this| {
                this.sample(field.value.body(), &range, &mut first);
            });
        }
    }

    /// Takes type and unit from a value type, each with its place.
    ///
    /// Both indices are 0 unless they are said, which is row 0 of the strings.
    fn value_type(&self, body: Range<usize>, found: &mut [(i32, usize); 2]) {
        for field in self.fields(Noun::ValueType, body) {
            let row = usize::from(field.key == "unit_strindex");
            found[row] = (field.value.index(), field.at);
        }
    }

    /// A sample: references, times within the profile's, and its shape if that is asked.
    ///
    /// Lists are gathered whole, as chunks may come anywhere. Memory is that of one sample.
    fn sample(&mut self, body: Range<usize>, range: &Range<u64>, first: &mut Option<(bool, bool)>) {
        let here = Position::at(body.start);
        let (mut stack, mut link) = ((0, body.start), (0, body.start));
        let (mut attributes, mut at) = (Vec::new(), body.start);
        let (mut values, mut times) = (Vec::new(), Vec::new());
        for field in self.fields(Noun::Sample, body) {
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
            let bound = format_args!("[{}, {})", range.start, range.end);
            self.findings.report(&OP4012, here.field("timestamps_unix_nano").row(row), time, bound);
        }
        if self.asked.check_sample_shapes {
            self.sample_shape(values.len(), times.len(), here, first);
        }
    }

    /// Values, timestamps or as many of both, and the same in all samples of a profile.
    ///
    /// Behind the flag `-check-sample-shapes`, which is on by default.
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

    /// A reference: the row is there.
    ///
    /// Negative indices are none of a row. A reference to a table without rows fails, also one that
    /// is left out.
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

    /// The keys of the attribute table, each found once, however many references there are.
    fn keys(&self) -> Vec<Key> {
        let mut texts: Map<&[u8], u32> = Map::default();
        let mut known: Map<i32, Option<u32>> = Map::default();
        let rows = self.tables.rows[Table::Attribute as usize].iter();
        let keys = rows.map(|(start, end)| {
            let body = *start as usize..*end as usize;
            let key = self.fields(Noun::KeyValueAndUnit, body);
            let key = key.filter(|field| field.key == "key_strindex").last();
            let index = key.map_or(0, |field| field.value.index());
            let text = *known.entry(index).or_insert_with(|| {
                let (start, end) = self.tables.row(Table::String, u64::try_from(index).ok()?)?;
                Some(*texts.entry(self.bytes.get(start..end)?).or_insert(index as u32))
            });
            Key { index, text }
        });
        keys.collect()
    }

    /// References to attributes: each row is there and has a key that is there, and no key comes twice.
    ///
    /// Keys are compared by their bytes. An attribute whose key leads nowhere is told at the
    /// reference, not at the row.
    fn attributes(&mut self, indices: &[i32], at: usize, rule: &'static Rule) {
        let mut seen: Map<u32, usize> = Map::default();
        for (position, index) in indices.iter().enumerate() {
            let spot = Position::at(at).field("attribute_indices").row(position);
            let key = usize::try_from(*index).ok().and_then(|row| self.keys.get(row)).copied();
            let Some(key) = key else {
                self.refer(rule, Table::Attribute, *index, spot);
                continue;
            };
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
