//! Tables as text: a JSON object in each line, or CSV.
//!
//! | type | JSON | CSV |
//! |---|---|---|
//! | numbers, booleans, texts | as such | as such |
//! | times | RFC 3339 | RFC 3339 |
//! | ids, bytes | hex | hex |
//! | lists, maps | array, object | the JSON |
//! | null | `null` | nothing; the empty text is `""` |

use std::io::{self, Write};

use otlp_profiles::columns::{Array, Batch, Column, Kind, Table, Values};
use otlp_profiles::model::StringId;
use otlp_profiles::{Error, OutputLimit, escape};

use crate::text::hex;
use crate::time::rfc3339;

/// The form of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Ndjson,
    /// Whether texts that a spreadsheet takes for formulas get an apostrophe.
    Csv {
        guard: bool,
    },
}

/// Writes a table as text.
pub(super) struct TextWriter<W> {
    output: W,
    form: Form,
    cell: Vec<u8>,
    limit: OutputLimit,
    /// The bytes of the texts so far.
    bytes: u64,
}

impl<W: Write> TextWriter<W> {
    /// Begins a file. CSV has a line with the names of the columns.
    pub(super) fn new(
        mut output: W,
        table: Table,
        form: Form,
        limit: OutputLimit,
    ) -> io::Result<Self> {
        if form != Form::Ndjson {
            let names: Vec<&str> = table.columns().iter().map(|column| column.name).collect();
            writeln!(output, "{}", names.join(","))?;
        }
        Ok(Self { output, form, cell: Vec::new(), limit, bytes: 0 })
    }

    /// Writes the rows of a batch.
    ///
    /// # Errors
    ///
    /// The texts exceed the limit, which is checked before each row; else those of the output.
    pub(super) fn write(&mut self, batch: &Batch<'_>) -> Result<io::Result<()>, Error> {
        for row in 0..batch.len() {
            let texts = batch.columns().map(|(_, array)| text_bytes(batch, array, row));
            self.bytes += texts.sum::<u64>();
            self.limit.check(self.bytes)?;
            if let Err(error) = self.row(batch, row) {
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    }

    fn row(&mut self, batch: &Batch<'_>, row: usize) -> io::Result<()> {
        let Self { output, form, cell, .. } = self;
        let form = *form;
        for (at, (column, array)) in batch.columns().enumerate() {
            cell.clear();
            put(cell, batch, (column, array), row)?;
            match (form, at) {
                (Form::Ndjson, 0) => write!(output, "{{\"{}\":", column.name)?,
                (Form::Ndjson, _) => write!(output, ",\"{}\":", column.name)?,
                (Form::Csv { .. }, 0) => {}
                (Form::Csv { .. }, _) => output.write_all(b",")?,
            }
            match form {
                Form::Ndjson => output.write_all(cell)?,
                Form::Csv { guard } => put_csv(output, cell, guard)?,
            }
        }
        output.write_all(if form == Form::Ndjson { b"}\n" } else { b"\n" })
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// The bytes of the texts of a value.
fn text_bytes(batch: &Batch<'_>, array: &Array, row: usize) -> u64 {
    let items = match array.offsets.get(row..row + 2) {
        Some([start, end]) => *start as usize..*end as usize,
        _ => row..row + 1,
    };
    let length = |text: &StringId| batch.text(*text).len() as u64;
    match &array.values {
        Values::Text(values) => values[items].iter().map(length).sum(),
        Values::Pairs { keys, values } => {
            keys[items.clone()].iter().chain(&values[items]).map(length).sum()
        }
        _ => 0,
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
fn put_csv(output: &mut impl Write, json: &[u8], guard: bool) -> io::Result<()> {
    let text: String = match json.first() {
        _ if json == b"null" => return Ok(()),
        // A JSON text becomes its characters.
        Some(b'"') => serde_json::from_slice(json)?,
        _ => return write_cell(output, &String::from_utf8_lossy(json)),
    };
    write_cell(output, &if guard { escape::spreadsheet(&text) } else { text.into() })
}

/// Writes a cell, in quotes if it needs them. The empty text does: without them it would be null.
fn write_cell(output: &mut impl Write, text: &str) -> io::Result<()> {
    if text.is_empty() || text.contains(['"', ',', '\n', '\r']) {
        write!(output, "\"{}\"", text.replace('"', "\"\""))
    } else {
        output.write_all(text.as_bytes())
    }
}
