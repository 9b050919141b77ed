//! Translates protobuf from this crate's writer to JSON.
//!
//! The input is the output of `otlp::write`: fields in ascending order, the elements of each list
//! consecutive, nesting limited by the model. So the translator buffers no data: it writes each field as it
//! reads it, and skips unknown ones.
//!
//! | kind | JSON, by the OTLP specification and protobuf's mapping |
//! |---|---|
//! | int32, uint32, double, bool | as it is; `"NaN"`, `"Infinity"` |
//! | int64, uint64, fixed64 | a string of digits: JSON's numbers are doubles to many readers |
//! | enum | its number |
//! | bytes | base64; trace ids, span ids and profile ids in lower-case hex digits |
//!
//! ```text
//! 0a 02 08 01   1: { 1: 1 }   ─►   {"resourceProfiles":[{…}]}       number ─► schema ─► lowerCamelCase
//! ```

use std::io::Write;

use crate::error::Result;
use crate::format::json::names::lower_camel_case;
use crate::limits::within;
use crate::schema::{Field, Kind, MessageType, PROFILES_DATA, Role, Version};
use crate::wire::LEN;
use crate::wire::base64::to_base64;
use crate::wire::hex::to_hex;
use crate::wire::read::Reader;

/// Translates a payload of a generation to JSON.
///
/// Writes into the memory of `out`.
///
/// # Errors
///
/// [`Limit`](crate::ErrorKind::Limit) past `max_output_bytes`, checked after each field.
pub(super) fn json(
    payload: &[u8],
    version: Version,
    max_output_bytes: u64,
    mut out: Vec<u8>,
) -> Result<Vec<u8>> {
    out.reserve(payload.len().saturating_mul(2));
    let mut writer = Writer { out, version, max_output_bytes };
    writer.object(&PROFILES_DATA, payload)?;
    Ok(writer.out)
}

/// The output. The call that writes an object tracks its open list.
struct Writer {
    out: Vec<u8>,
    /// The generation, which determines the names of fields.
    version: Version,
    max_output_bytes: u64,
}

impl Writer {
    /// Writes a message. The elements of a list are consecutive, so a list stays open while its number
    /// repeats.
    fn object(&mut self, message: &MessageType, body: &[u8]) -> Result<()> {
        self.out.push(b'{');
        let mut reader = Reader::new(body);
        let mut open: Option<u32> = None;
        let mut first = true;
        while let Some(tag) = reader.tag()? {
            let number = tag >> 3;
            let Some(field) = message.numbered(number, self.version) else {
                reader.skip(tag, u64::MAX)?;
                continue;
            };
            if open == Some(number) {
                self.out.push(b',');
            } else {
                self.out.extend_from_slice(if open.is_some() { b"]" } else { b"" });
                self.out.extend_from_slice(if first { b"" } else { b"," });
                self.key(field);
                open = field.is_repeated().then_some(number);
            }
            first = false;
            self.member(field, tag & 7, &mut reader)?;
            within("max_output_bytes", self.max_output_bytes, self.out.len() as u64)?;
        }
        self.out.extend_from_slice(if open.is_some() { b"]}" } else { b"}" });
        Ok(())
    }

    /// Writes a key, and opens its list, which `object` closes when another number follows.
    fn key(&mut self, field: &Field) {
        self.out.push(b'"');
        self.out.extend(lower_camel_case(field.name));
        self.out.extend_from_slice(if field.is_repeated() { b"\":[" } else { b"\":" });
    }

    /// Writes one field. A packed list holds several values in one field.
    fn member(&mut self, field: &Field, wire: u32, reader: &mut Reader) -> Result<()> {
        if wire != LEN || field.kind.wire() == LEN {
            return self.value(field, reader);
        }
        let mut packed = Reader::new(reader.bytes()?);
        while !packed.is_empty() {
            self.value(field, &mut packed)?;
            self.out.extend_from_slice(if packed.is_empty() { b"" } else { b"," });
        }
        Ok(())
    }

    /// Writes a value in the type of its field, so that an `int32` of ten bytes is negative again.
    fn value(&mut self, field: &Field, reader: &mut Reader) -> Result<()> {
        match field.kind {
            Kind::Message(message) => self.object(message, reader.bytes()?)?,
            Kind::String => self.string(&String::from_utf8_lossy(reader.bytes()?)),
            Kind::Bytes if matches!(field.role, Role::Id(_)) => {
                self.quoted(reader.bytes()?, to_hex);
            }
            Kind::Bytes => self.quoted(reader.bytes()?, to_base64),
            Kind::Bool => {
                let truth = reader.varint()? != 0;
                self.out.extend_from_slice(if truth { b"true" } else { b"false" });
            }
            Kind::Int32 | Kind::Enum(_) => self.print(format_args!("{}", reader.varint()? as i32)),
            Kind::Uint32 => self.print(format_args!("{}", reader.varint()? as u32)),
            Kind::Int64 => self.print(format_args!("\"{}\"", reader.varint()? as i64)),
            Kind::Uint64 => self.print(format_args!("\"{}\"", reader.varint()?)),
            Kind::Fixed32 => self.print(format_args!("{}", reader.fixed32()?)),
            Kind::Fixed64 => self.print(format_args!("\"{}\"", reader.fixed64()?)),
            Kind::Double => self.double(f64::from_bits(reader.fixed64()?)),
        }
        Ok(())
    }

    /// Formats a number into the output.
    fn print(&mut self, text: std::fmt::Arguments) {
        // Writing to a vector does not fail.
        self.out.write_fmt(text).ok();
    }

    /// Writes the shortest digits that parse to the same double.
    fn double(&mut self, number: f64) {
        match number {
            number if number.is_finite() => self.print(format_args!("{number:?}")),
            number if number.is_nan() => self.print(format_args!("\"NaN\"")),
            number => {
                self.print(format_args!("\"{}Infinity\"", if number < 0.0 { "-" } else { "" }))
            }
        }
    }

    /// Writes bytes as quoted digits, which need no escapes.
    fn quoted(&mut self, bytes: &[u8], append: fn(&[u8], &mut Vec<u8>)) {
        self.out.push(b'"');
        append(bytes, &mut self.out);
        self.out.push(b'"');
    }

    /// Writes a quoted string. Copies text without special characters as a whole, and escapes only what JSON
    /// requires.
    fn string(&mut self, text: &str) {
        self.out.push(b'"');
        for run in text.split_inclusive(|c| matches!(c, '"' | '\\' | '\0'..' ')) {
            let mut plain = run.chars();
            match plain.next_back() {
                Some(escaped @ ('"' | '\\' | '\0'..' ')) => {
                    self.out.extend_from_slice(plain.as_str().as_bytes());
                    self.escape(escaped);
                }
                _ => self.out.extend_from_slice(run.as_bytes()),
            }
        }
        self.out.push(b'"');
    }

    /// Writes the short escape if there is a common one, else `\u` and four digits.
    fn escape(&mut self, escaped: char) {
        match escaped {
            '"' | '\\' => self.print(format_args!("\\{escaped}")),
            '\n' => self.out.extend_from_slice(b"\\n"),
            '\r' => self.out.extend_from_slice(b"\\r"),
            '\t' => self.out.extend_from_slice(b"\\t"),
            control => self.print(format_args!("\\u{:04x}", u32::from(control))),
        }
    }
}
