//! The sizes of the fields of a message, as text and as JSON.
//!
//! ```text
//!     field                 times   bytes   share   in gzip
//!     Profile.sample        …                          a table, the largest first
//!       value               …                          its fields, the largest first
//!       (tags and lengths)  …                          bytes outside its fields
//! ```
//!
//! `in gzip` is the number of bytes by which the gzip shrinks without the field. These numbers need
//! not add up.

use std::fmt::Write;

use otlp_profiles::summary::{CompactSize, FieldSize, Sizes};
use otlp_profiles::{Error, Losses, Result};
use serde_json::{Value as Json, json};

use crate::exit::{Exit, Failure};
use crate::numbers::{bytes, counted, grouped};
use crate::text::shown;

/// The lines of `--sizes`, below the description of a message.
///
/// An error becomes a line and does not fail the run, because the description above is still valid.
pub(crate) fn text(sizes: &Result<Sizes>) -> String {
    let mut page = String::new();
    match sizes {
        Ok(sizes) => page_of(&mut page, sizes),
        Err(error) => line(&mut page, "sizes", &failure(error).to_string()),
    }
    page
}

/// Appends a line. The name takes ten columns, as in all lines of a page.
fn line(page: &mut String, name: &str, text: &str) {
    // Writing to a `String` cannot fail.
    let _ = writeln!(page, "  {name:<10} {}", shown(text));
}

/// Formats both sizes, the size with `--compact`, the tables, and then the largest strings and
/// stacks in the library's order.
fn page_of(page: &mut String, sizes: &Sizes) {
    let all = sizes.bytes();
    let gzipped = grouped(sizes.gzipped());
    line(page, "sizes", &format!("{}, {gzipped} gzipped", bytes(all)));
    match sizes.compact() {
        Ok(compact) => line(page, "--compact", &compact_text(sizes, compact)),
        Err(error) => line(page, "--compact", &failure(error).to_string()),
    }
    let _ = writeln!(
        page,
        "    {:<46} {:>9} {:>13} {:>6} {:>13}",
        "field", "times", "bytes", "share", "in gzip"
    );
    for table in sizes.tables() {
        let name = format!("{}.{}", table.message, table.field);
        row(page, all, &name, (table.rows, table.bytes, table.gzip));
        for field in &table.fields {
            row(page, all, &field_name(field), (field.times, field.bytes, field.gzip));
        }
    }
    for text in sizes.strings() {
        let rest = if text.start.len() as u64 == text.bytes { "" } else { "…" };
        let of = format!("{}[{}]", text.field, text.row);
        line(page, "string", &format!("{}, {of}: {}{rest}", bytes(text.bytes), text.start));
    }
    for stack in sizes.stacks() {
        let depth = counted(stack.depth, "location");
        let times = if stack.times == 1 {
            String::new()
        } else {
            format!(", {} times", grouped(stack.times))
        };
        line(page, "stack", &format!("{depth}, {}{times}", bytes(stack.bytes)));
    }
}

/// The name of a field below its table. The row of a message counts only its tags and lengths.
fn field_name(field: &FieldSize) -> String {
    match (field.path.is_empty(), field.is_message) {
        (true, _) => "  (tags and lengths)".to_owned(),
        (false, true) => format!("  {} (tags and lengths)", field.path),
        (false, false) => format!("  {}", field.path),
    }
}

/// Appends a row. Shares are truncated to a tenth of a percent, and computed in 128 bits.
///
/// The columns fit a message of a terabyte. A longer name shifts only its own row.
fn row(page: &mut String, all: u64, name: &str, (times, bytes, gzip): (u64, u64, Option<i64>)) {
    let permille = u128::from(bytes) * 1000 / u128::from(all.max(1));
    let share = format!("{}.{}%", permille / 10, permille % 10);
    let gzip = gzip.map_or_else(String::new, grouped);
    let (times, bytes) = (grouped(times), grouped(bytes));
    let line = format!("    {name:<46} {times:>9} {bytes:>13} {share:>6} {gzip:>13}");
    let _ = writeln!(page, "{}", line.trim_end());
}

/// Formats the compact size with the difference and the losses, because `--compact` may also
/// enlarge a message or drop data.
fn compact_text(sizes: &Sizes, compact: &CompactSize) -> String {
    let of = |before: u64, after: u64| {
        let saved = i128::from(before) - i128::from(after);
        let word = if saved < 0 { "more" } else { "less" };
        format!("{} ({} {word})", grouped(after), grouped(saved.abs()))
    };
    let raw = of(sizes.bytes(), compact.bytes);
    let gzip = of(sizes.gzipped(), compact.gzipped);
    let losses = match codes(&compact.losses) {
        codes if codes.is_empty() => String::new(),
        codes => format!("; without: {}", codes.join(", ")),
    };
    format!("{raw} bytes, {gzip} gzipped{losses}")
}

/// The codes without counts, which suffice to decide whether to run `convert` for details.
fn codes(losses: &Losses) -> Vec<String> {
    losses.iter().map(|loss| loss.code.to_string()).collect()
}

/// The key `sizes` of a message in JSON.
pub(crate) fn json(sizes: &Result<Sizes>) -> Json {
    let sizes = match sizes {
        Ok(sizes) => sizes,
        Err(error) => return failed(error),
    };
    let mut object = json!(sizes);
    if let Err(error) = sizes.compact() {
        object["compact"] = failed(error);
    }
    object
}

/// The object in place of sizes that could not be computed.
fn failed(error: &Error) -> Json {
    json!({ "error": failure(error).to_json() })
}

/// Converts an error to the command's form, which names flags.
fn failure(error: &Error) -> Failure {
    Failure::of(error, Exit::Input)
}
