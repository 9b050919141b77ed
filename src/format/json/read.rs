//! Transcodes JSON to protobuf, which the reader of its generation then reads. That reader applies budgets,
//! validation, repairs and findings.
//!
//! ```text
//! {"sample": {"values": ["1", 2]}}  ─►  tag, length ×5, { tag of values, length ×5, 01 02 }
//! ```
//!
//! Fields keep the order of the text, which protobuf readers allow. A length takes five padded bytes and is
//! filled in after the body, so no bytes are moved. The bytes are read once and discarded.
//!
//! An error of the protobuf reader has an offset in these bytes. [`Transcoder::text_of`] transcodes the text
//! again up to that offset, to find the position in the JSON.

use std::borrow::Cow;

use crate::error::{Error, Result, Shown, Step, place};
use crate::format::json::deviation::{Deviation, DeviationKind};
use crate::format::json::lexer::Lexer;
use crate::format::json::names::{is_original, named};
use crate::format::json::scalars::{number_length, whole};
use crate::limits::within;
use crate::losses;
use crate::read_context::ReadContext;
use crate::schema::{Field, Kind, Label, MessageType, Role, Version};
use crate::wire::base64::from_base64;
use crate::wire::hex::from_hex;
use crate::wire::write::varint;
use crate::wire::{LEN, tag};

/// The number of objects around the outermost value. Nesting is counted from there, because `max_nesting`
/// does not limit the fixed messages of a payload. The protobuf reader counts exactly.
pub(super) const AROUND: u64 = 7;
/// All lengths take the same number of bytes, so that no bytes are moved when the length is known.
const LENGTH: usize = 5;

/// Transcodes JSON of one generation to protobuf.
pub(super) struct Transcoder<'a> {
    text: Lexer<'a>,
    version: Version,
    pub(super) out: Vec<u8>,
    /// Receives findings about unknown and duplicate keys.
    pub(super) cx: ReadContext,
    /// Whether the text deviates from OTLP/JSON.
    pub(super) has_deviation: bool,
    /// Called for each deviation, if set.
    pub(super) on_deviation: Option<&'a mut dyn FnMut(Deviation<'_>)>,
    /// The path of fields and rows to the current value.
    path: Vec<Step>,
    /// Field numbers of the open objects and their offsets in `out`, each field once.
    begun: Vec<(u32, usize)>,
    /// The offset in `out` whose position in the text is wanted.
    watch: usize,
    /// The last text position at or before that offset; the address of the slice is the position.
    watched: &'a [u8],
}

impl<'a> Transcoder<'a> {
    pub(super) fn new(text: &Lexer<'a>, version: Version, cx: ReadContext) -> Self {
        let (text, out, path, begun) = (text.clone(), Vec::new(), Vec::new(), Vec::new());
        let (has_deviation, on_deviation, watch, watched) = (false, None, 0, &[][..]);
        Self { text, version, out, cx, has_deviation, on_deviation, path, begun, watch, watched }
    }

    /// Transcodes the whole message.
    ///
    /// An error is at the end of `path`, which no later step shortens.
    pub(super) fn run(&mut self, root: &MessageType) -> Result<()> {
        let done = self.object(root, 1);
        done.map_err(|error| {
            self.path.iter().rev().fold(error, |error, step| match step {
                Step::Field(name) => error.within(name),
                Step::Row(row) | Step::Line(row) => error.element(*row),
            })
        })?;
        self.text.end()
    }

    /// Returns the text of the value at `offset` in the protobuf bytes.
    ///
    /// Transcodes the text a second time, so call it only for errors.
    pub(super) fn text_of(mut self, root: &MessageType, offset: usize) -> &'a [u8] {
        self.watch = offset;
        // The first transcoding succeeded, so the result does not matter.
        self.run(root).ok();
        self.watched
    }

    /// Writes the members of an object as fields in the order of the text, because protobuf requires no
    /// order.
    fn object(&mut self, message: &MessageType, depth: u64) -> Result<()> {
        let max_nesting = self.cx.limits().max_nesting;
        within("max_nesting", max_nesting, depth.saturating_sub(AROUND))
            .map_err(|error| error.at(self.text.rest()))?;
        self.text.open(b'{', "an object")?;
        let (begun, mut first) = (self.begun.len(), true);
        loop {
            let before = self.text.rest();
            let Some(key) = self.text.key(&mut first)? else { break };
            match named(message, &key, self.version) {
                // A null value means that the field is absent.
                Some(_) if self.text.word("null") => {}
                Some(field) => {
                    self.path.push(Step::Field(field.name));
                    if is_original(field, &key) {
                        self.report(DeviationKind::OriginalName, message.name, &key, before);
                    }
                    self.begin(begun, message, field, before);
                    self.member(field, depth)?;
                    self.path.pop();
                }
                None => self.unknown(message, &key, before)?,
            }
        }
        self.begun.truncate(begun);
        Ok(())
    }

    /// Reports a deviation at the first quote from `from` on, where the key or the string begins.
    #[cold]
    fn report(&mut self, kind: DeviationKind, message: &str, found: &str, from: &[u8]) {
        self.has_deviation = true;
        if let Some(on_deviation) = &mut self.on_deviation {
            let before = from.iter().take_while(|byte| **byte != b'"').count();
            let at = from.get(before..).unwrap_or_default();
            on_deviation(Deviation { kind, message, found, path: &self.path, at });
        }
    }

    /// Skips an unknown key with a note, as the specification requires of receivers.
    fn unknown(&mut self, message: &MessageType, key: &str, before: &[u8]) -> Result<()> {
        let place = || format!("{}.{:#}", message.name, Shown(key.as_bytes()));
        let name = Shown(key.as_bytes());
        let detail = || format!("dropped the unknown key {name} of {}", message.name);
        self.cx.note(losses::UNKNOWN_FIELD, place, detail);
        self.report(DeviationKind::Unknown, message.name, key, before);
        self.text.skip(self.cx.limits().max_nesting)
    }

    /// Records the offset of a field. If a key occurs twice, the last value counts. In protobuf, that holds
    /// for single numbers and strings only; lists and messages would merge, so the first value is removed.
    fn begin(&mut self, begun: usize, message: &MessageType, field: &Field, before: &[u8]) {
        let open = self.begun.get(begun..).unwrap_or_default();
        if let Some(at) = open.iter().position(|&(other, _)| other == field.number) {
            let (_, start) = self.begun.remove(begun + at);
            if field.is_repeated() || matches!(field.kind, Kind::Message(_)) {
                let later = self.begun.get_mut(begun + at..).unwrap_or_default();
                let end = later.first().map_or(self.out.len(), |&(_, start)| start);
                later.iter_mut().for_each(|(_, at)| *at -= end - start);
                self.out.drain(start..end);
            }
            let place = || format!("{}.{}", message.name, field.name);
            let detail = || format!("the key {} occurs twice: the last one was read", field.name);
            self.cx.note(losses::DUPLICATE_KEY, place, detail);
            self.report(DeviationKind::DuplicateKey, message.name, field.name, before);
        } else if field.label == Label::Case {
            // A message with a oneof has no other fields.
            if let Some((other, _)) = open.first() {
                let other = message.numbered(*other, self.version).map_or("", |other| other.name);
                let place = || format!("{}.{}", message.name, field.name);
                let detail = || {
                    format!(
                        "the keys {} and {other} exclude each other: the last one was read",
                        field.name
                    )
                };
                self.cx.note(losses::DUPLICATE_KEY, place, detail);
                self.report(DeviationKind::OtherCase, message.name, other, before);
            }
        }
        self.begun.push((field.number, self.out.len()));
    }

    fn member(&mut self, field: &Field, depth: u64) -> Result<()> {
        match field.is_repeated() {
            true => self.list(field, depth),
            false => self.tagged(field, depth),
        }
    }

    /// Writes a list. Numbers are packed, as protobuf encoders do.
    fn list(&mut self, field: &Field, depth: u64) -> Result<()> {
        self.text.open(b'[', "a list")?;
        let packed = field.kind.wire() != LEN;
        let elements = |this: &mut Self| -> Result<()> {
            let (mut first, mut row) = (true, 0);
            this.path.push(Step::Row(row));
            while this.text.another(&mut first, b']')? {
                match packed {
                    true => this.value(field, depth)?,
                    false => this.tagged(field, depth)?,
                }
                row += 1;
                if let Some(step) = this.path.last_mut() {
                    *step = Step::Row(row);
                }
            }
            this.path.pop();
            Ok(())
        };
        match packed {
            true => {
                varint(&mut self.out, tag(field.number, LEN).into());
                self.delimited(elements)
            }
            false => elements(self),
        }
    }

    /// Writes a tag and a value.
    fn tagged(&mut self, field: &Field, depth: u64) -> Result<()> {
        if self.out.len() <= self.watch {
            self.text.peek();
            self.watched = self.text.rest();
        }
        varint(&mut self.out, tag(field.number, field.kind.wire()).into());
        self.value(field, depth)
    }

    /// Writes the value of a field by its kind in the schema, without its tag.
    ///
    /// # Errors
    ///
    /// The JSON value is of another kind. The bytes written so far are discarded.
    fn value(&mut self, field: &Field, depth: u64) -> Result<()> {
        match field.kind {
            Kind::Message(inner) => self.delimited(|this| this.object(inner, depth + 1))?,
            Kind::String => {
                let text = self.text.string("a string")?;
                self.delimited(|this| {
                    this.out.extend_from_slice(text.as_bytes());
                    Ok(())
                })?;
            }
            Kind::Bytes => match field.role {
                Role::Id(length) => self.id(length.into())?,
                _ => self.bytes("base64", from_base64)?,
            },
            Kind::Bool => {
                let truth = self.text.word("true");
                if !truth && !self.text.word("false") {
                    return Err(self.text.expected("true or false"));
                }
                self.out.push(truth.into());
            }
            Kind::Int32 => self.varint_within(i32::MIN, i32::MAX)?,
            Kind::Int64 => self.varint_within(i64::MIN, i64::MAX)?,
            Kind::Uint32 => self.varint_within(0, u32::MAX)?,
            Kind::Uint64 => self.varint_within(0, u64::MAX)?,
            Kind::Fixed32 => {
                let number = self.integer(0, u32::MAX.into())?;
                self.out.extend_from_slice(&(number as u32).to_le_bytes());
            }
            Kind::Fixed64 => {
                let number = self.integer(0, u64::MAX.into())?;
                self.out.extend_from_slice(&(number as u64).to_le_bytes());
            }
            Kind::Double => {
                let number = self.double()?;
                self.out.extend_from_slice(&number.to_le_bytes());
            }
            Kind::Enum(names) => {
                let number = self.enumerated(names.values)?;
                varint(&mut self.out, number as u64);
            }
        }
        Ok(())
    }

    /// Writes the bytes that `fill` appends, preceded by their length.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) if the bytes exceed the budget.
    fn delimited(&mut self, fill: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let at = self.out.len();
        // A varint of 0 in five bytes, whose low bits are filled in below.
        self.out.extend_from_slice(&[0x80, 0x80, 0x80, 0x80, 0]);
        fill(self)?;
        self.cx.budget.holds(self.out.len())?;
        let mut left = self.out.len() - at - LENGTH;
        for byte in self.out.iter_mut().skip(at).take(LENGTH) {
            *byte |= (left & 0x7f) as u8;
            left >>= 7;
        }
        Ok(())
    }

    /// Writes bytes from the digits that `append` decodes.
    fn bytes(&mut self, what: &str, append: fn(&str, &mut Vec<u8>) -> Option<()>) -> Result<()> {
        let (text, from) = self.string(what)?;
        let bad = || Error::malformed(format!("{} is not {what}", Shown(text.as_bytes()))).at(from);
        self.delimited(|this| append(&text, &mut this.out).ok_or_else(bad))
    }

    /// Writes an id of `length` bytes, which OTLP encodes in hexadecimal. Protobuf libraries encode ids in
    /// base64, which has another length and is accepted as well.
    fn id(&mut self, length: usize) -> Result<()> {
        let before = self.text.clone();
        let (text, from) = self.string("an id")?;
        let (mut hex, mut base64) = (Vec::new(), Vec::new());
        let is_hex = from_hex(&text, &mut hex).is_some();
        if is_hex || from_base64(&text, &mut base64).is_none() || base64.len() != length {
            self.text = before;
            return self.bytes("hexadecimal digits, as OTLP writes ids", from_hex);
        }
        let place = || place(self.path.iter().copied());
        let detail = || "the id is base64: OTLP/JSON has hexadecimal digits".to_owned();
        self.cx.note(losses::ID_BASE64, place, detail);
        self.report(DeviationKind::Base64Id, "", &text, from);
        self.delimited(|this| {
            this.out.append(&mut base64);
            Ok(())
        })
    }

    /// Reads a string, and returns the text from its beginning on as well.
    fn string(&mut self, what: &str) -> Result<(Cow<'a, str>, &'a [u8])> {
        self.text.peek();
        let from = self.text.rest();
        Ok((self.text.string(what)?, from))
    }

    /// Reads a number or a string that may hold one, and returns the text from its beginning on as well.
    fn number(&mut self, what: &str) -> Result<(Cow<'a, str>, &'a [u8])> {
        match self.text.peek() {
            Some(b'"') => self.string(what),
            _ => {
                let from = self.text.rest();
                Ok((self.text.number(what)?.into(), from))
            }
        }
    }

    /// Writes an integer within bounds as a varint.
    fn varint_within(&mut self, least: impl Into<i128>, most: impl Into<i128>) -> Result<()> {
        let number = self.integer(least.into(), most.into())?;
        varint(&mut self.out, number as u64);
        Ok(())
    }

    /// Reads an integer within bounds.
    ///
    /// # Errors
    ///
    /// The value is a fraction, not a number, or out of bounds.
    fn integer(&mut self, least: i128, most: i128) -> Result<i128> {
        let (text, from) = self.number("an integer")?;
        let number = if is_number(&text) { whole(&text) } else { None };
        let shown = Shown(text.as_bytes());
        let message = match number {
            Some(number) if (least..=most).contains(&number) => return Ok(number),
            Some(_) => format!("{shown:#} is not between {least} and {most}"),
            None => format!("{shown} is not an integer"),
        };
        Err(Error::malformed(message).at(from))
    }

    /// Reads a number, or one of the three strings of protobuf's mapping for values that JSON cannot
    /// represent.
    ///
    /// # Errors
    ///
    /// The number exceeds the range of a double, and would silently become infinite.
    fn double(&mut self) -> Result<f64> {
        let (text, from) = self.number("a number")?;
        let shown = Shown(text.as_bytes());
        let message = match &*text {
            "NaN" => return Ok(f64::NAN),
            "Infinity" => return Ok(f64::INFINITY),
            "-Infinity" => return Ok(f64::NEG_INFINITY),
            number if is_number(number) => match number.parse::<f64>() {
                Ok(number) if number.is_finite() => return Ok(number),
                _ => format!("{shown:#} overflows a double"),
            },
            _ => format!("{shown} is not a number"),
        };
        Err(Error::malformed(message).at(from))
    }

    /// Reads the value of an enum. OTLP writes its number, protobuf's own mapping its name.
    ///
    /// An unknown name is parsed as a number, and rejected as such.
    fn enumerated(&mut self, names: &[&str]) -> Result<i128> {
        let mut ahead = self.text.clone();
        if ahead.peek() == Some(b'"') {
            let from = ahead.rest();
            let name = ahead.string("a name")?;
            self.report(DeviationKind::EnumText, "", &name, from);
            if let Some(number) = names.iter().position(|known| *known == name) {
                self.text = ahead;
                return Ok(number as i128);
            }
        }
        self.integer(i32::MIN.into(), i32::MAX.into())
    }
}

/// Returns whether a whole string is a JSON number.
fn is_number(text: &str) -> bool {
    !text.is_empty() && number_length(text.as_bytes()) == text.len()
}
