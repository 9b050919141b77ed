//! Every entry of every table, for `-vvv`.
//!
//! One line for each row and each sample, so it is asked first whether anybody listens.
//!
//! ```text
//! … TRACE otlp_profiles.read [-] Entry 3 of the function table name=main filename=main.c
//! … TRACE otlp_profiles.read [-] Sample 0 of profile 0 stack_index=1 values=7 link_index=0
//! ```
//!
//! The rows are those of the model, after reading: row 0 is the empty row of every table, and
//! tables of older generations have been merged into one dictionary.

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

/// The row is the index that other rows refer to it by.
fn entry<'a>(console: &'a Console, table: &str, row: usize) -> Entry<'a> {
    let line = Line::new(Level::Trace, "read", format!("Entry {row} of the {table} table"));
    Entry { console, line }
}

/// A line that is logged when it is complete.
struct Entry<'a> {
    console: &'a Console,
    line: Line,
}

impl Entry<'_> {
    /// The value goes through the line's own quoting, as texts of payloads may hold anything.
    fn with(mut self, key: &'static str, value: impl Display) -> Self {
        self.line = self.line.with(key, value);
        self
    }

    /// Ends the line; nothing is printed before.
    fn log(self) {
        self.console.log(&self.line);
    }
}

/// In an order in which nothing refers to what comes later: texts, mappings, functions, then
/// frames.
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

/// A text that a row refers to: its own row has all of it.
fn text(dictionary: &Dictionary, id: StringId) -> String {
    beginning(dictionary.text(id), MOST_SHOWN)
}

/// Locations that no stack refers to are left out; the other tables are listed whole.
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

/// Rows are numbered within their profile, as places in errors are.
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

/// `1,2,3`: one word, whatever the number of rows.
fn indices(rows: impl IntoIterator<Item = impl Display>) -> String {
    let rows: Vec<String> = rows.into_iter().map(|row| row.to_string()).collect();
    rows.join(",")
}
