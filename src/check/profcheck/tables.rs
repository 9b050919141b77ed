//! The tables: first rows, references, ranges, and on demand equal rows.
//!
//! In profcheck's order, mappings, locations, functions, links, strings, attributes, stacks. What
//! is asked of row 0 differs by table, and other rows are asked although row 0 failed.

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
use crate::schema::{Noun, Table};

impl Checking<'_, '_> {
    /// Asks all tables, in the order in which profcheck does.
    ///
    /// Equal mappings come last, though profcheck asks them with the mappings: a verdict has no
    /// order.
    pub(super) fn dictionary(&mut self) {
        self.table(Table::Mapping, "mapping_table", Self::mapping);
        self.table(Table::Location, "location_table", Self::location);
        self.table(Table::Function, "function_table", Self::function);
        self.table(Table::Link, "link_table", Self::link);
        self.strings();
        self.table(Table::Attribute, "attribute_table", Self::attribute);
        self.table(Table::Stack, "stack_table", Self::stack);
        if self.asked.check_dupes {
            self.equal_mappings();
        }
    }

    /// The rows of a table, with their numbers.
    ///
    /// A copy of the places, 8 bytes a row, so that rows can be asked while findings are raised.
    fn rows(&self, table: Table) -> impl Iterator<Item = (usize, Range<usize>)> + use<> {
        let rows = self.tables.rows[table as usize].clone();
        rows.into_iter().map(|(start, end)| start as usize..end as usize).enumerate()
    }

    /// Checks the rows of a table; the first has to be there and zero.
    ///
    /// profcheck panics at an empty table of mappings or links, which is a failure here as there.
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

    /// Whether a row equals one without fields, as row 0 has to.
    ///
    /// The long form of link 0 (16 and 8 zero bytes), which 1.11 recommends, is not zero to
    /// profcheck.
    fn is_zero(&self, table: Table, body: Range<usize>) -> bool {
        let kind = match table {
            Table::Mapping => Noun::Mapping,
            Table::Location => Noun::Location,
            Table::Function => Noun::Function,
            Table::Link => Noun::Link,
            Table::Stack => Noun::Stack,
            // Of an attribute a value without a member is none, and unknown fields are let be.
            _ => {
                let mut numbers = [0; 2];
                let mut valued = false;
                for field in self.fields(Noun::KeyValueAndUnit, body) {
                    match field.key {
                        "key_strindex" => numbers[0] = field.value.index(),
                        "unit_strindex" => numbers[1] = field.value.index(),
                        _ => {
                            let value = self.fields(Noun::AnyValue, field.value.body()).next();
                            valued |= value.is_some();
                        }
                    }
                }
                return numbers == [0; 2] && !valued;
            }
        };
        is_zero(self.bytes, self.shape(kind), body)
    }

    /// References of a row, each once, by key: the last of each counts.
    ///
    /// `of` names the fields by key, with the table of each and the rule that it breaks. A
    /// reference that is left out is one to row 0, which is there unless the table is empty.
    fn references(&mut self, kind: Noun, body: Range<usize>, of: &[(&str, Table, &'static Rule)]) {
        let mut found = vec![None; of.len()];
        for field in self.fields(kind, body) {
            if let Some(row) = of.iter().position(|(key, ..)| *key == field.key) {
                found[row] = Some((field.value.index(), field.at, field.slot.field.name));
            }
        }
        for ((_, table, rule), found) in of.iter().zip(found) {
            // What is left out refers to row 0.
            let (index, at, name) = found.unwrap_or((0, 0, ""));
            if !name.is_empty() {
                self.refer(rule, *table, index, Position::at(at).field(name));
            } else if self.tables.len(*table) == 0 {
                self.refer(rule, *table, index, Position::nowhere());
            }
        }
    }

    /// The attributes of a row.
    ///
    /// The findings are at the last chunk, if there are several.
    fn attributes_of(&mut self, kind: Noun, body: Range<usize>, rule: &'static Rule) {
        let (mut indices, mut at) = (Vec::new(), body.start);
        for field in self.fields(kind, body).filter(|field| field.key == "attribute_indices") {
            at = field.at;
            field.value.extend(&mut indices, |value| value as i32);
        }
        self.attributes(&indices, at, rule);
    }

    /// A mapping: it ends behind its beginning; its file name and attributes are there.
    ///
    /// Row 0 is asked nothing but being zero. A range that starts where it ends fails as well,
    /// unless both are 0.
    fn mapping(&mut self, row: usize, body: Range<usize>) {
        if row == 0 {
            return;
        }
        let name = ("filename_strindex", Table::String, &OP3111);
        self.references(Noun::Mapping, body.clone(), &[name]);
        self.attributes_of(Noun::Mapping, body.clone(), &OP3112);
        let mut range = [0; 2];
        for field in self.fields(Noun::Mapping, body.clone()) {
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

    /// A location: mapping, attributes and lines are there.
    ///
    /// Row 0 included: what is left out refers to row 0 of the mappings.
    fn location(&mut self, _: usize, body: Range<usize>) {
        let mapping = ("mapping_index", Table::Mapping, &OP3105);
        self.references(Noun::Location, body.clone(), &[mapping]);
        self.attributes_of(Noun::Location, body.clone(), &OP3106);
        let lines = self.fields(Noun::Location, body).filter(|field| field.key == "lines");
        for (row, field) in lines.enumerate() {
            self.inside("lines", Some(row), |this| this.line(field.value.body()));
        }
    }

    /// A line: its function is there, and neither line nor column is negative.
    ///
    /// An absent function is function 0, which is there unless the table is empty. A line above its
    /// function is fine.
    fn line(&mut self, body: Range<usize>) {
        let function = ("function_index", Table::Function, &OP3107);
        self.references(Noun::Line, body.clone(), &[function]);
        self.not_negative(Noun::Line, body, &["line", "column"], &OP7005);
    }

    /// A function: its three names are there, and it does not begin before line 0.
    ///
    /// Row 0 included; a function without any name is fine to it.
    fn function(&mut self, _: usize, body: Range<usize>) {
        let names = [
            ("name_strindex", Table::String, &OP3108),
            ("system_name_strindex", Table::String, &OP3109),
            ("filename_strindex", Table::String, &OP3110),
        ];
        self.references(Noun::Function, body.clone(), &names);
        self.not_negative(Noun::Function, body, &["start_line"], &OP7006);
    }

    /// Numbers that are 0 or more.
    ///
    /// Read as `int64`, which all three fields are.
    fn not_negative(&mut self, kind: Noun, body: Range<usize>, keys: &[&str], rule: &'static Rule) {
        for key in keys {
            let last = self.fields(kind, body.clone()).filter(|field| field.key == *key).last();
            if let Some(field) = last.filter(|field| field.value.number() as i64 <= -1) {
                let spot = Position::at(field.at).field(field.slot.field.name);
                self.findings.report(rule, spot, field.value.number() as i64, "0 or more");
            }
        }
    }

    /// A link but the first: ids of 16 and of 8 bytes, as W3C's trace context has them.
    ///
    /// Ids of zeros are fine to it: it asks lengths.
    fn link(&mut self, row: usize, body: Range<usize>) {
        if row == 0 {
            return;
        }
        for (key, bytes, rule) in [("trace_id", 16, &OP6004), ("span_id", 8, &OP6005)] {
            let last =
                self.fields(Noun::Link, body.clone()).filter(|field| field.key == key).last();
            let length = last.map_or(0, |field| field.value.body().len());
            if length != bytes {
                let spot = Position::at(body.start).field(key);
                self.findings.report(rule, spot, Counted(length, "byte"), Counted(bytes, "byte"));
            }
        }
    }

    /// The strings: the first is empty, and on demand none comes twice.
    ///
    /// Where the first string is wrong, duplicates are not looked for, as profcheck returns there.
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
        if !self.asked.check_dupes {
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

    /// An attribute: key and unit are there.
    ///
    /// The value is not looked at.
    fn attribute(&mut self, _: usize, body: Range<usize>) {
        let texts =
            [("key_strindex", Table::String, &OP3114), ("unit_strindex", Table::String, &OP3115)];
        self.references(Noun::KeyValueAndUnit, body, &texts);
    }

    /// A stack: its locations are there.
    ///
    /// Any location may be referred to, the null location too.
    fn stack(&mut self, _: usize, body: Range<usize>) {
        let (mut indices, mut at) = (Vec::new(), body.start);
        for field in fields(self.bytes, self.shape(Noun::Stack), body) {
            at = field.at;
            field.value.extend(&mut indices, |value| value as i32);
        }
        for (row, index) in indices.into_iter().enumerate() {
            let spot = Position::at(at).field("location_indices").row(row);
            self.refer(&OP3104, Table::Location, index, spot);
        }
    }

    /// Mappings of one file, range, offset and set of attributes.
    ///
    /// By indices and not by what they lead to: two equal strings in two rows make two mappings.
    /// Row 0 is left out.
    fn equal_mappings(&mut self) {
        let mut seen = Set::default();
        for (row, body) in self.rows(Table::Mapping).skip(1) {
            let (mut numbers, mut name, mut attributes) = ([0u64; 3], 0, Vec::new());
            for field in self.fields(Noun::Mapping, body.clone()) {
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
