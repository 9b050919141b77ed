//! The tables: first rows, references, ranges, and on request equal rows.
//!
//! Follows profcheck's order: mappings, locations, functions, links, strings, attributes, stacks. The check of row
//! 0 differs by table, and other rows are checked even if row 0 fails.

use crate::check::state::{Map, Set};
use std::ops::Range;

use super::Checking;
use super::go::{fields, is_zero};
use crate::check::catalogue::{
    OP3001, OP3002, OP3003, OP3004, OP3005, OP3008, OP3104, OP3105, OP3106, OP3107, OP3108, OP3109,
    OP3110, OP3111, OP3112, OP3114, OP3115, OP3201, OP3202, OP6004, OP6005, OP7001, OP7002, OP7005,
    OP7006,
};
use crate::check::findings::{Counted, Position, Shown};
use crate::check::rule::Rule;
use crate::schema::{MessageKind, Table};

impl Checking<'_, '_> {
    /// Checks all tables, in profcheck's order.
    ///
    /// Equal mappings come last, though profcheck compares them with the mappings: the order does not change the
    /// verdict.
    pub(super) fn dictionary(&mut self) {
        self.table(Table::Mapping, "mapping_table", Self::mapping);
        self.table(Table::Location, "location_table", Self::location);
        self.table(Table::Function, "function_table", Self::function);
        self.table(Table::Link, "link_table", Self::link);
        self.strings();
        self.table(Table::Attribute, "attribute_table", Self::attribute);
        self.table(Table::Stack, "stack_table", Self::stack);
        if self.compat.check_dupes {
            self.equal_mappings();
        }
    }

    /// The rows of a table, with their numbers.
    ///
    /// Copies the positions, 8 bytes a row, so that callers can report findings while they iterate.
    fn rows(&self, table: Table) -> impl Iterator<Item = (usize, Range<usize>)> + use<> {
        let rows = self.tables.rows[table as usize].clone();
        rows.into_iter().map(|(start, end)| start as usize..end as usize).enumerate()
    }

    /// Checks the rows of a table. The first row must exist and be zero.
    ///
    /// profcheck panics at an empty table of mappings or links, which is a failure here as well.
    fn table(
        &mut self,
        table: Table,
        name: &'static str,
        check: fn(&mut Self, usize, Range<usize>),
    ) {
        let mut none = true;
        for (row, body) in self.rows(table) {
            none = false;
            if row == 0 && !self.is_zero(table, body.clone()) {
                let rule = match table {
                    Table::Link => &OP3005,
                    Table::Attribute => &OP3008,
                    _ => &OP3004,
                };
                let spot = Position::at(body.start).field(name).row(0);
                self.findings.report(rule, spot, "", "");
            }
            self.inside(name, Some(row), |this| check(this, row, body));
        }
        if none {
            let spot = Position::nowhere().field(name);
            self.findings.report(&OP3003, spot, "", "the zero value as entry 0");
        }
    }

    /// Whether a row equals an empty one, as row 0 must.
    ///
    /// The long form of link 0 (16 and 8 zero bytes), which 1.11 recommends, is not zero for profcheck.
    fn is_zero(&self, table: Table, body: Range<usize>) -> bool {
        let kind = match table {
            Table::Mapping => MessageKind::Mapping,
            Table::Location => MessageKind::Location,
            Table::Function => MessageKind::Function,
            Table::Link => MessageKind::Link,
            Table::Stack => MessageKind::Stack,
            // In attributes, a value without a member counts as absent, and unknown fields are ignored.
            _ => {
                let mut numbers = [0; 2];
                let mut valued = false;
                for field in self.fields(MessageKind::KeyValueAndUnit, body) {
                    match field.key {
                        "key_strindex" => numbers[0] = field.value.index(),
                        "unit_strindex" => numbers[1] = field.value.index(),
                        _ => {
                            let value =
                                self.fields(MessageKind::AnyValue, field.value.body()).next();
                            valued |= value.is_some();
                        }
                    }
                }
                return numbers == [0; 2] && !valued;
            }
        };
        is_zero(self.bytes, self.shape(kind), body)
    }

    /// Checks the references of a row. For each key the last occurrence counts.
    ///
    /// `of` lists the keys of the fields, each with its table and the rule that it breaks. An omitted reference
    /// leads to row 0, which exists unless the table is empty.
    fn references(
        &mut self,
        kind: MessageKind,
        body: Range<usize>,
        of: &[(&str, Table, &'static Rule)],
    ) {
        let mut found = vec![None; of.len()];
        for field in self.fields(kind, body) {
            if let Some(row) = of.iter().position(|(key, ..)| *key == field.key) {
                found[row] = Some((field.value.index(), field.at, field.slot.field.name));
            }
        }
        for ((_, table, rule), found) in of.iter().zip(found) {
            // An omitted reference leads to row 0.
            let (index, at, name) = found.unwrap_or((0, 0, ""));
            if !name.is_empty() {
                self.refer(rule, *table, index, Position::at(at).field(name));
            } else if self.tables.len(*table) == 0 {
                self.refer(rule, *table, index, Position::nowhere());
            }
        }
    }

    /// Checks the attributes of a row.
    ///
    /// Findings point to the last chunk, if there are several.
    fn attributes_of(&mut self, kind: MessageKind, body: Range<usize>, rule: &'static Rule) {
        let (mut indices, mut at) = (Vec::new(), body.start);
        for field in self.fields(kind, body).filter(|field| field.key == "attribute_indices") {
            at = field.at;
            field.value.extend(&mut indices, |value| value as i32);
        }
        self.attributes(&indices, at, rule);
    }

    /// Checks a mapping: its end is above its start, and its file name and attributes exist.
    ///
    /// Row 0 must only be zero. A range that starts where it ends fails as well, unless both are 0.
    fn mapping(&mut self, row: usize, body: Range<usize>) {
        if row == 0 {
            return;
        }
        let name = ("filename_strindex", Table::String, &OP3111);
        self.references(MessageKind::Mapping, body.clone(), &[name]);
        self.attributes_of(MessageKind::Mapping, body.clone(), &OP3112);
        let mut range = [0; 2];
        for field in self.fields(MessageKind::Mapping, body.clone()) {
            match field.key {
                "memory_start" => range[0] = field.value.number(),
                "memory_limit" => range[1] = field.value.number(),
                _ => {}
            }
        }
        let [start, limit] = range;
        if range != [0; 2] && start >= limit {
            let rule = if start > limit { &OP7001 } else { &OP7002 };
            let found = format_args!("{start:#x} to {limit:#x}").to_string();
            self.findings.report(
                rule,
                Position::at(body.start),
                found,
                "memory_start below memory_limit",
            );
        }
    }

    /// Checks a location: its mapping, attributes and lines exist.
    ///
    /// Includes row 0: its omitted reference leads to row 0 of the mappings.
    fn location(&mut self, _: usize, body: Range<usize>) {
        let mapping = ("mapping_index", Table::Mapping, &OP3105);
        self.references(MessageKind::Location, body.clone(), &[mapping]);
        self.attributes_of(MessageKind::Location, body.clone(), &OP3106);
        let lines = self.fields(MessageKind::Location, body).filter(|field| field.key == "lines");
        for (row, field) in lines.enumerate() {
            self.inside("lines", Some(row), |this| this.line(field.value.body()));
        }
    }

    /// Checks a line: its function exists, and neither line nor column is negative.
    ///
    /// An absent function is function 0, which exists unless the table is empty. A line before the start of its
    /// function passes.
    fn line(&mut self, body: Range<usize>) {
        let function = ("function_index", Table::Function, &OP3107);
        self.references(MessageKind::Line, body.clone(), &[function]);
        self.not_negative(MessageKind::Line, body, &["line", "column"], &OP7005);
    }

    /// Checks a function: its three names exist, and its start line is not negative.
    ///
    /// Includes row 0. A function without any name passes.
    fn function(&mut self, _: usize, body: Range<usize>) {
        let names = [
            ("name_strindex", Table::String, &OP3108),
            ("system_name_strindex", Table::String, &OP3109),
            ("filename_strindex", Table::String, &OP3110),
        ];
        self.references(MessageKind::Function, body.clone(), &names);
        self.not_negative(MessageKind::Function, body, &["start_line"], &OP7006);
    }

    /// Checks that fields are not negative, as `int64`, the type of all three fields.
    fn not_negative(
        &mut self,
        kind: MessageKind,
        body: Range<usize>,
        keys: &[&str],
        rule: &'static Rule,
    ) {
        for key in keys {
            let last = self.fields(kind, body.clone()).filter(|field| field.key == *key).last();
            if let Some(field) = last.filter(|field| field.value.number() as i64 <= -1) {
                let spot = Position::at(field.at).field(field.slot.field.name);
                self.findings.report(rule, spot, field.value.number() as i64, "0 or more");
            }
        }
    }

    /// Checks a link other than row 0: ids of 16 and of 8 bytes, as in W3C's trace context.
    ///
    /// Ids of zeros pass: profcheck checks only lengths.
    fn link(&mut self, row: usize, body: Range<usize>) {
        if row == 0 {
            return;
        }
        for (key, bytes, rule) in [("trace_id", 16, &OP6004), ("span_id", 8, &OP6005)] {
            let last = self
                .fields(MessageKind::Link, body.clone())
                .filter(|field| field.key == key)
                .last();
            let length = last.map_or(0, |field| field.value.body().len());
            if length != bytes {
                let spot = Position::at(body.start).field(key);
                self.findings.report(rule, spot, Counted(length, "byte"), Counted(bytes, "byte"));
            }
        }
    }

    /// Checks the strings: the first is empty and, on request, no two are equal.
    ///
    /// If the first string is wrong, duplicates are not searched, because profcheck returns there.
    fn strings(&mut self) {
        let spot = Position::nowhere().field("string_table");
        match self.tables.row(Table::String, 0) {
            None => return self.findings.report(&OP3001, spot, "", "the empty string as entry 0"),
            Some((start, end)) if start < end => {
                let text = self.bytes.get(start..end).unwrap_or_default();
                let spot = Position { byte: Some(start as u64), ..spot.row(0) };
                return self.findings.report(&OP3002, spot, Shown(text), "\"\"");
            }
            Some(_) => {}
        }
        if !self.compat.check_dupes {
            return;
        }
        let mut seen: Map<&[u8], usize> = Map::default();
        for (row, body) in self.rows(Table::String) {
            let spot = Position::at(body.start).field("string_table").row(row);
            let text = self.bytes.get(body).unwrap_or_default();
            let first = *seen.entry(text).or_insert(row);
            if first != row {
                let bound = first.to_string();
                self.findings.report(&OP3201, spot, Shown(text), bound);
            }
        }
    }

    /// Checks an attribute: its key and unit exist. The value is not checked.
    fn attribute(&mut self, _: usize, body: Range<usize>) {
        let texts =
            [("key_strindex", Table::String, &OP3114), ("unit_strindex", Table::String, &OP3115)];
        self.references(MessageKind::KeyValueAndUnit, body, &texts);
    }

    /// Checks a stack: its locations exist. References to the null location pass.
    fn stack(&mut self, _: usize, body: Range<usize>) {
        let (mut indices, mut at) = (Vec::new(), body.start);
        for field in fields(self.bytes, self.shape(MessageKind::Stack), body) {
            at = field.at;
            field.value.extend(&mut indices, |value| value as i32);
        }
        for (row, index) in indices.into_iter().enumerate() {
            let spot = Position::at(at).field("location_indices").row(row);
            self.refer(&OP3104, Table::Location, index, spot);
        }
    }

    /// Reports mappings with the same file, range, offset and set of attributes.
    ///
    /// Compares indices and not their targets: two equal strings in two rows make two mappings. Row 0 is excluded.
    fn equal_mappings(&mut self) {
        let mut seen = Set::default();
        for (row, body) in self.rows(Table::Mapping).skip(1) {
            let (mut numbers, mut name, mut attributes) = ([0u64; 3], 0, Vec::new());
            for field in self.fields(MessageKind::Mapping, body.clone()) {
                match field.key {
                    "memory_start" => numbers[0] = field.value.number(),
                    "memory_limit" => numbers[1] = field.value.number(),
                    "file_offset" => numbers[2] = field.value.number(),
                    "filename_strindex" => name = field.value.index(),
                    _ => field.value.extend(&mut attributes, |value| value as i32),
                }
            }
            attributes.sort_unstable();
            if !seen.insert((numbers, name, attributes)) {
                let spot = Position::at(body.start).field("mapping_table").row(row);
                self.findings.report(&OP3202, spot, "", "");
            }
        }
    }
}
