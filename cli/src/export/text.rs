//! Tables as text: a JSON object in each line, or CSV.
//!
//! | type | JSON | CSV |
//! |---|---|---|
//! | numbers, booleans, texts | as such | as such |
//! | times | RFC 3339 | RFC 3339 |
//! | ids, bytes | hex | hex |
//! | lists, maps | array, object | the JSON |
//! | null | `null` | nothing |

use std::io::{self, Write};

use otlp_profiles::columns::{Array, Batch, Column, Kind, Table, Values};

use crate::text::hex;
use crate::time::rfc3339;

/// The form of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Ndjson,
    Csv,
}

/// Writes a table as text.
pub(super) struct TextWriter<W> {
    output: W,
    form: Form,
    cell: Vec<u8>,
}

impl<W: Write> TextWriter<W> {
    /// Begins a file. CSV has a line with the names of the columns.
    pub(super) fn new(mut output: W, table: Table, form: Form) -> io::Result<Self> {
        if form == Form::Csv {
            let names: Vec<&str> = table.columns().iter().map(|column| column.name).collect();
            writeln!(output, "{}", names.join(","))?;
        }
        Ok(Self { output, form, cell: Vec::new() })
    }

    pub(super) fn write(&mut self, batch: &Batch<'_>) -> io::Result<()> {
        (0..batch.len()).try_for_each(|row| self.row(batch, row))
    }

    fn row(&mut self, batch: &Batch<'_>, row: usize) -> io::Result<()> {
        let Self { output, form, cell } = self;
        let form = *form;
        for (at, (column, array)) in batch.columns().enumerate() {
            cell.clear();
            put(cell, batch, (column, array), row)?;
            match (form, at) {
                (Form::Ndjson, 0) => write!(output, "{{\"{}\":", column.name)?,
                (Form::Ndjson, _) => write!(output, ",\"{}\":", column.name)?,
                (Form::Csv, 0) => {}
                (Form::Csv, _) => output.write_all(b",")?,
            }
            match form {
                Form::Ndjson => output.write_all(cell)?,
                Form::Csv => put_csv(output, cell)?,
            }
        }
        output.write_all(if form == Form::Ndjson { b"}\n" } else { b"\n" })
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// Puts the JSON of a value.
fn put(
    cell: &mut Vec<u8>,
    batch: &Batch<'_>,
    (column, array): (&Column, &Array),
    row: usize,
) -> io::Result<()> {
    if !array.validity.get(row).copied().unwrap_or(true) {
        return cell.write_all(b"null");
    }
    if array.offsets.is_empty() {
        return item(cell, batch, (column, array), row);
    }
    let items = array.offsets[row] as usize..array.offsets[row + 1] as usize;
    let is_map = column.kind == Kind::Map;
    cell.push(if is_map { b'{' } else { b'[' });
    for at in items.clone() {
        if at > items.start {
            cell.push(b',');
        }
        match array.item_validity.get(at) {
            Some(false) => cell.extend_from_slice(b"null"),
            _ => item(cell, batch, (column, array), at)?,
        }
    }
    cell.push(if is_map { b'}' } else { b']' });
    Ok(())
}

/// Puts the JSON of a value that is neither a list nor null; of a map, a pair.
fn item(
    cell: &mut Vec<u8>,
    batch: &Batch<'_>,
    (column, array): (&Column, &Array),
    at: usize,
) -> io::Result<()> {
    match &array.values {
        Values::Bool(values) => write!(cell, "{}", values[at]),
        Values::Int32(values) => write!(cell, "{}", values[at]),
        Values::Int64(values) if column.kind == Kind::Time => {
            let time = rfc3339(i128::from(values[at]) * 1_000);
            serde_json::to_writer(cell, &time).map_err(Into::into)
        }
        Values::Int64(values) => write!(cell, "{}", values[at]),
        Values::UInt64(values) => write!(cell, "{}", values[at]),
        Values::Id(values) => write!(cell, "\"{}\"", hex(&values[at])),
        Values::Text(values) => {
            serde_json::to_writer(cell, batch.text(values[at])).map_err(Into::into)
        }
        Values::Bytes { bytes, offsets } => {
            write!(cell, "\"{}\"", hex(&bytes[offsets[at] as usize..offsets[at + 1] as usize]))
        }
        Values::Pairs { keys, values } => {
            serde_json::to_writer(&mut *cell, batch.text(keys[at]))?;
            cell.push(b':');
            serde_json::to_writer(cell, batch.text(values[at])).map_err(Into::into)
        }
        _ => Ok(()),
    }
}

/// Writes the JSON of a value as a cell of CSV ([RFC 4180](https://www.rfc-editor.org/rfc/rfc4180)).
fn put_csv(output: &mut impl Write, json: &[u8]) -> io::Result<()> {
    let text: String = match json.first() {
        _ if json == b"null" => return Ok(()),
        // A JSON text becomes its characters.
        Some(b'"') => serde_json::from_slice(json)?,
        _ => String::from_utf8_lossy(json).into_owned(),
    };
    if text.contains(['"', ',', '\n', '\r']) {
        write!(output, "\"{}\"", text.replace('"', "\"\""))
    } else {
        output.write_all(text.as_bytes())
    }
}
