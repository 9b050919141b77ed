//! Logs every entry of every table, for `-vvv`.
//!
//! Each row and each sample has one line, so [`entries`] first checks whether this level is shown.
//!
//! ```text
//! … TRACE otlp_profiles.read [-] Entry 3 of the function table name=main filename=main.c
//! … TRACE otlp_profiles.read [-] Sample 0 of profile 0 stack_index=1 values=7 link_index=0
//! ```
//!
//! The rows are those of the model: row 0 of each table is the empty row, and the tables of older
//! generations are merged into one dictionary.

use std::collections::BTreeSet;
use std::fmt::Display;

use otlp_profiles::model::{LocationId, StringId};
use otlp_profiles::{Dictionary, Profiles};

use crate::console::{Console, Level, Line};
use crate::text::{MOST_SHOWN, beginning, hex};

/// Logs the tables and samples of `profiles`, each entry with its index.
pub(crate) fn entries(profiles: &Profiles, console: &Console) {
    if console.shows(Level::Trace) {
        tables(profiles, console);
        samples(profiles, console);
    }
}

/// Begins the line of a row. `row` is the index by which other rows refer to it.
fn entry<'a>(console: &'a Console, table: &str, row: usize) -> Entry<'a> {
    let line = Line::new(Level::Trace, "read", format!("Entry {row} of the {table} table"));
    Entry { console, line }
}

/// A line under construction.
struct Entry<'a> {
    console: &'a Console,
    line: Line,
}

impl Entry<'_> {
    /// Adds a field. The line escapes and quotes the value, which may be any text of the payload.
    fn with(mut self, key: &'static str, value: impl Display) -> Self {
        self.line = self.line.with(key, value);
        self
    }

    /// Logs the complete line.
    fn log(self) {
        self.console.log(&self.line);
    }
}

/// Logs tables in an order without forward references: strings, mappings, functions, then frames.
fn tables(profiles: &Profiles, console: &Console) {
    let dictionary = profiles.dictionary();
    for (row, text) in dictionary.strings().iter().enumerate() {
        entry(console, "string", row).with("text", text).log();
    }
    for (row, mapping) in dictionary.mappings().rows().iter().enumerate() {
        let filename = text(dictionary, mapping.filename);
        let range = format!("{:#x}-{:#x}", mapping.memory_start, mapping.memory_limit);
        entry(console, "mapping", row).with("filename", filename).with("memory", range).log();
    }
    for (row, function) in dictionary.functions().iter().enumerate() {
        let (name, filename) =
            (text(dictionary, function.name), text(dictionary, function.filename));
        entry(console, "function", row).with("name", name).with("filename", filename).log();
    }
    frames(dictionary, console);
}

/// Truncates a referenced string. The row of the string has all of it.
fn text(dictionary: &Dictionary, id: StringId) -> String {
    beginning(dictionary.text(id), MOST_SHOWN)
}

/// Logs the other tables. Omits locations that no stack refers to.
fn frames(dictionary: &Dictionary, console: &Console) {
    let used: BTreeSet<LocationId> = dictionary.stacks().items().iter().copied().collect();
    for id in used {
        let functions = dictionary.locations().lines(id).iter().map(|line| line.function.row());
        let address = format!("{:#x}", dictionary.locations().address(id));
        entry(console, "location", id.row())
            .with("address", address)
            .with("function_indices", indices(functions))
            .log();
    }
    for (row, link) in dictionary.links().iter().enumerate() {
        let (trace, span) = (hex(&link.trace_id), hex(&link.span_id));
        entry(console, "link", row).with("trace_id", trace).with("span_id", span).log();
    }
    for (row, attribute) in dictionary.attributes().iter().enumerate() {
        entry(console, "attribute", row).with("key", text(dictionary, attribute.key)).log();
    }
    for (row, stack) in dictionary.stacks().rows().enumerate() {
        entry(console, "stack", row)
            .with("location_indices", indices(stack.iter().map(|id| id.row())))
            .log();
    }
}

/// Logs samples, numbered within their profile like the places in errors.
fn samples(profiles: &Profiles, console: &Console) {
    for (number, profile) in profiles.iter().enumerate() {
        for (row, sample) in profile.samples().iter().enumerate() {
            let line = Line::new(Level::Trace, "read", format!("Sample {row} of profile {number}"))
                .count("stack_index", sample.stack.row() as u64)
                .with("values", indices(sample.values))
                .count("link_index", sample.link.row() as u64);
            console.log(&line);
        }
    }
}

/// Joins numbers with commas, without spaces: `1,2,3`.
fn indices(rows: impl IntoIterator<Item = impl Display>) -> String {
    let rows: Vec<String> = rows.into_iter().map(|row| row.to_string()).collect();
    rows.join(",")
}
