//! Edits of a payload in text form, such as `dictionary.stack_table[1].location_indices[0]=9`.

use crate::wire::hex::hex_bytes;
use std::ops::Range;

use super::payload::Payload;
use super::tree::{Field, Message, Value};
use super::valid::strings;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{
    self, Kind, LOCATION, MessageType, PROFILE, PROFILE_CONTAINER, Rows, SAMPLE, TableLocation,
    VALUE_TYPE, Version,
};
use crate::wire::FIXED64;

impl Payload {
    /// Applies edits, separated by `;`: a path of field names and rows, and a value.
    ///
    /// | edit | effect |
    /// |---|---|
    /// | `dictionary.string_table[2]="main"` | sets a row; a row that follows the last one is appended |
    /// | `period[1]=10` | appends a second occurrence of a singular field |
    /// | `dictionary.link_table[1]={}` | sets an empty message |
    /// | `profile_id=x03*16` | sets bytes: 16 times 0x03 |
    /// | `$P.period=-` | removes a field, or one row |
    /// | `1..9*$D.link_table[#]={}` | applies an edit with each number in place of `#` |
    /// | `$S.raw=xf801` | appends bytes to a message, after its fields |
    ///
    /// `$P` is the path of the profile, `$S` of its first sample, `$D` of the dictionary, `$T.` of the message with the
    /// tables, `$R` of the resource and `$K` of the scope, in each generation. docs/FUZZING.md lists the others.
    ///
    /// # Errors
    ///
    /// An edit is malformed, names a field that the generation lacks, or skips a row.
    pub fn edit(&mut self, edits: &str) -> Result<()> {
        apply(self, edits)
    }

    /// Expands the abbreviations of [`edit`](Self::edit) in a path.
    pub fn expand(&self, path: &str) -> String {
        expand(self.version, path)
    }
}

fn apply(payload: &mut Payload, edits: &str) -> Result<()> {
    let (schema, version) = (payload.schema(), payload.version);
    let edits = expand(version, edits);
    for edit in edits.split(';').map(str::trim).filter(|edit| !edit.is_empty()) {
        let (rows, template) = rows(edit);
        for row in rows {
            let edit = template.replace('#', &row.to_string());
            let (path, value) =
                edit.split_once('=').ok_or_else(|| wrong(&edit, "it has no `=`"))?;
            set(&mut payload.root, schema, version, path.trim(), value.trim())
                .map_err(|why| wrong(&edit, &why))?;
        }
    }
    Ok(())
}

/// Splits `0..129*path[#]=value`: the edit with each number in place of `#`. Other edits apply once.
fn rows(edit: &str) -> (Range<usize>, &str) {
    let repeated = edit.split_once('*').and_then(|(range, template)| {
        let (from, to) = range.split_once("..")?;
        Some((from.parse().ok()?..to.parse().ok()?, template))
    });
    repeated.unwrap_or((0..1, edit))
}

#[cold]
fn wrong(edit: &str, why: &str) -> Error {
    Error::new(ErrorKind::InvalidOption, format!("cannot apply the edit `{edit}`: {why}"))
}

/// Expands abbreviations: see docs/FUZZING.md.
fn expand(version: Version, text: &str) -> String {
    let name = |of: &MessageType, key: &str| {
        of.fields_in(version).find(|field| field.key == key).map_or("", |field| field.name)
    };
    let facts = version.capabilities();
    let scope = "resource_profiles[0].scope_profiles[0]";
    let container = format!("{scope}.profiles[0]");
    let profile = match facts.containers && version == Version::V1_3 {
        true => format!("{container}.{}", name(&PROFILE_CONTAINER, "profile")),
        false => container.clone(),
    };
    let tables = match facts.table_location {
        TableLocation::Profile => format!("{profile}."),
        TableLocation::Data => String::new(),
        TableLocation::Dictionary => "dictionary.".to_owned(),
    };
    let otep = version <= Version::V1_3;
    let table = |of: &str| if otep { of.to_owned() } else { format!("{of}_table") };
    let null_first = facts.rows == Rows::NullFirst;
    let names = [
        ("$E", ".array_value.values[0]".repeat(16)),
        ("$Y", name(&VALUE_TYPE, "type_strindex").to_owned()),
        ("$U", name(&VALUE_TYPE, "unit_strindex").to_owned()),
        ("$i", if otep { "" } else { "_strindex" }.to_owned()),
        ("$A", name(&SAMPLE, "attribute_indices").to_owned()),
        ("$J", name(&SAMPLE, "link_index").to_owned()),
        ("$I", if version == Version::V1_3 { &container } else { &profile }.clone()),
        ("$M", table("mapping")),
        ("$F", table("function")),
        ("$N", table("location")),
        ("$V", name(&SAMPLE, "values").to_owned()),
        ("$Z", if null_first { "sample_type" } else { "sample_type[0]" }.to_owned()),
        ("$1", u8::from(null_first).to_string()),
        ("$n", strings(version).len().to_string()),
        ("$s", name(&PROFILE, "samples").to_owned()),
        ("$D", "dictionary".to_owned()),
        ("$S", format!("{profile}.{}[0]", name(&PROFILE, "samples"))),
        ("$P", profile.clone()),
        ("$T.", tables),
        ("$C", container.clone()),
        ("$K", scope.to_owned()),
        ("$R", "resource_profiles[0]".to_owned()),
        ("$L", name(&LOCATION, "lines").to_owned()),
    ];
    names.iter().fold(text.to_owned(), |text, (short, name)| text.replace(short, name))
}

/// Sets the value at a path inside a message.
fn set(
    message: &mut Message,
    schema: &'static MessageType,
    version: Version,
    path: &str,
    value: &str,
) -> Result<(), String> {
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    let (name, row) = match step.split_once('[') {
        Some((name, row)) => (name, row.trim_end_matches(']').parse::<usize>().ok()),
        None => (step, Some(0)),
    };
    let row = row.ok_or_else(|| format!("{step} has no row number"))?;
    if name == "raw" {
        message.raw = if value == "-" { Vec::new() } else { bytes(value)? };
        return Ok(());
    }
    let field = schema.fields_in(version).find(|field| field.name == name);
    let field = field.ok_or_else(|| format!("{} has no field {name}", schema.name))?;
    if field.is_list() {
        return set_element(message, field, value, row, step.contains('['));
    }
    let places = message.fields.iter().enumerate();
    let places: Vec<_> =
        places.filter(|(_, it)| it.number == field.number).map(|it| it.0).collect();
    if rest.is_empty() && value == "-" {
        let removed: Vec<usize> = if step.contains('[') {
            vec![*places.get(row).ok_or("there is no such row")?]
        } else {
            places
        };
        // From the last, so that the places of the others stay valid.
        removed.iter().rev().for_each(|at| drop(message.fields.remove(*at)));
        return Ok(());
    }
    let at = match places.get(row) {
        Some(at) => *at,
        None if row == places.len() => {
            insert(message, Field::new(field.number, Value::Message(Message::default())))
        }
        None => return Err(format!("it skips a row: there are {}", places.len())),
    };
    let place = &mut message.fields[at];
    match (field.kind, rest) {
        (Kind::Message(_), "") => place.value = Value::Message(Message::default()),
        (Kind::Message(inner), rest) => match &mut place.value {
            Value::Message(message) => return set(message, inner, version, rest, value),
            _ => return Err(format!("{name} is not a message")),
        },
        (kind, "") => place.value = scalar(kind, value)?,
        _ => return Err(format!("{name} is not a message")),
    }
    Ok(())
}

/// Inserts a field before those of higher numbers, as encoders order them. Returns its place.
fn insert(message: &mut Message, field: Field) -> usize {
    let at = message.fields.iter().position(|other| other.number > field.number);
    let at = at.unwrap_or(message.fields.len());
    message.fields.insert(at, field);
    at
}

/// Sets or removes elements of a packed list.
fn set_element(
    message: &mut Message,
    field: &schema::Field,
    value: &str,
    row: usize,
    one: bool,
) -> Result<(), String> {
    let at = message.fields.iter().position(|it| it.number == field.number);
    let at = match (at, value) {
        (Some(at), _) => at,
        (None, "-") => return Ok(()),
        (None, _) => {
            let fixed = field.kind.wire() == FIXED64;
            let list = if fixed { Value::PackedFixed } else { Value::Packed };
            insert(message, Field::new(field.number, list(Vec::new())))
        }
    };
    let (Value::Packed(list) | Value::PackedFixed(list)) = &mut message.fields[at].value else {
        return Err(format!("{} is not packed", field.name));
    };
    match value {
        "-" if one && row < list.len() => drop(list.remove(row)),
        "-" if one => return Err("there is no such row".to_owned()),
        "-" => list.clear(),
        _ if row < list.len() => list[row] = integer(value)?,
        _ if row == list.len() => list.push(integer(value)?),
        _ => return Err(format!("it skips a row: there are {}", list.len())),
    }
    if list.is_empty() {
        message.fields.remove(at);
    }
    Ok(())
}

fn scalar(kind: Kind, text: &str) -> Result<Value, String> {
    Ok(match kind {
        Kind::String | Kind::Bytes => Value::Bytes(bytes(text)?),
        Kind::Double => {
            Value::Fixed64(text.parse::<f64>().map_err(|_| "it is not a number")?.to_bits())
        }
        kind if kind.wire() == FIXED64 => Value::Fixed64(integer(text)?),
        _ => Value::Varint(integer(text)?, 0),
    })
}

/// Parses a number. Values beyond the field's type wrap around on the wire, as for -1.
fn integer(text: &str) -> Result<u64, String> {
    text.parse::<i128>().map(|number| number as u64).map_err(|_| format!("{text} is not a number"))
}

/// Parses `"text"` or `x00ff*2`.
pub(super) fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let Some(hex) = text.strip_prefix('x') else {
        return Ok(text.trim_matches('"').as_bytes().to_vec());
    };
    let (hex, times) = hex.split_once('*').unwrap_or((hex, "1"));
    let bytes = hex_bytes(hex);
    let times = times.parse::<usize>().ok().filter(|times| *times <= 1 << 24);
    bytes
        .zip(times)
        .map(|(bytes, times)| bytes.repeat(times))
        .ok_or_else(|| "its bytes are not hex".to_owned())
}
