//! JSON to the bytes of protobuf, which the reader of its generation then reads: budgets, proofs,
//! repairs and findings are that reader's.
//!
//! ```text
//! {"sample": {"values": ["1", 2]}}  ─►  tag, length ×5, { tag of values, length ×5, 01 02 }
//! ```
//!
//! Members come in the order of the text, which the readers of bytes allow. A length takes five
//! bytes, padded, and is filled in when the body is there, so nothing is moved; the bytes are read
//! once and thrown away.
//!
//! An error of the reader of bytes has an offset in bytes that nobody has seen.
//! [`Transcoder::text_of`] then transcodes again and watches for that offset, to say where in the
//! JSON it comes from.

use std::borrow::Cow;

use crate::error::{Error, Result, Shown, Step, place};
use crate::format::intake::Intake;
use crate::format::json::names::{is_original, named};
use crate::format::json::odd::{Odd, What};
use crate::format::json::scalars::{from_base64, from_hex, number_length, whole};
use crate::format::json::text::Text;
use crate::format::losses;
use crate::limits::within;
use crate::schema::{Field, Kind, Label, MessageType, Role, Version};
use crate::wire::write::varint;
use crate::wire::{LEN, tag};

/// The objects around the outermost value: what nests without end is counted from there, and by
/// the reader of the bytes exactly.
///
/// The fixed messages of a payload are not what `max_nesting` is for.
pub(super) const AROUND: u64 = 7;
/// Every length takes as many bytes, so that nothing moves when it becomes known.
const LENGTH: usize = 5;

/// Turns JSON of one generation into its bytes.
pub(super) struct Transcoder<'a> {
    text: Text<'a>,
    version: Version,
    pub(super) out: Vec<u8>,
    /// Names nobody knows, and names said twice, go here as findings.
    pub(super) intake: Intake,
    /// Whether something is said otherwise than OTLP/JSON says it.
    pub(super) is_odd: bool,
    /// Who wants to know each time.
    pub(super) hears: Option<&'a mut dyn FnMut(Odd<'_>)>,
    /// The fields and rows around what comes next.
    path: Vec<Step>,
    /// Where the fields of the open objects begin in `out`, each by its number and once.
    begun: Vec<(u32, usize)>,
    /// Where in `out` somebody wants to know the text of, and where that is.
    watch: usize,
    /// A slice of the text: its address is the place.
    watched: &'a [u8],
}

impl<'a> Transcoder<'a> {
    pub(super) fn new(text: &Text<'a>, version: Version, intake: Intake) -> Self {
        let (text, out, path, begun) = (text.clone(), Vec::new(), Vec::new(), Vec::new());
        let (is_odd, hears, watch, watched) = (false, None, 0, &[][..]);
        Self { text, version, out, intake, is_odd, hears, path, begun, watch, watched }
    }

    /// The whole message.
    ///
    /// An error is of where the path ends, which nobody shortens behind it.
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

    /// The text of what lies at `offset` in the bytes.
    ///
    /// Costs a second transcoding, and only where there is an error to be told.
    pub(super) fn text_of(mut self, root: &MessageType, offset: usize) -> &'a [u8] {
        self.watch = offset;
        // It was transcoded before: whatever comes back is of no interest.
        self.run(root).ok();
        self.watched
    }

    /// The members of an object as fields, in their order: protobuf has none.
    fn object(&mut self, message: &MessageType, depth: u64) -> Result<()> {
        let max_nesting = self.intake.limits().max_nesting;
        within("max_nesting", max_nesting, depth.saturating_sub(AROUND))
            .map_err(|error| error.at(self.text.rest()))?;
        self.text.open(b'{', "an object")?;
        let (begun, mut first) = (self.begun.len(), true);
        loop {
            let before = self.text.rest();
            let Some(key) = self.text.key(&mut first)? else { break };
            match named(message, &key, self.version) {
                // What is null was not said.
                Some(_) if self.text.word("null") => {}
                Some(field) => {
                    self.path.push(Step::Field(field.name));
                    if is_original(field, &key) {
                        self.odd(What::OriginalName, message.name, &key, before);
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

    /// Says that something is odd, at the first quote from here on: nothing else stands before a key or a name.
    #[cold]
    fn odd(&mut self, what: What, message: &str, found: &str, from: &[u8]) {
        self.is_odd = true;
        if let Some(hears) = &mut self.hears {
            let before = from.iter().take_while(|byte| **byte != b'"').count();
            let at = from.get(before..).unwrap_or_default();
            hears(Odd { what, message, found, path: &self.path, at });
        }
    }

    /// A key that no field has is passed over with a note, as the specification asks of receivers.
    fn unknown(&mut self, message: &MessageType, key: &str, before: &[u8]) -> Result<()> {
        let place = || format!("{}.{:#}", message.name, Shown(key.as_bytes()));
        let name = Shown(key.as_bytes());
        let said = || format!("dropped the unknown key {name} of {}", message.name);
        self.intake.note(losses::UNKNOWN_FIELD, place, said);
        self.odd(What::Unknown, message.name, key, before);
        self.text.skip(self.intake.limits().max_nesting)
    }

    /// Notes where a field begins. Of a key said twice the last counts: of single numbers and texts
    /// on the wire too, but there lists and messages add up, so the first is taken out.
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
            let said = || format!("the key {} occurs twice: the last one was read", field.name);
            self.intake.note(losses::DUPLICATE_KEY, place, said);
            self.odd(What::Twice, message.name, field.name, before);
        } else if field.label == Label::Case {
            // All fields of a message with cases are cases of one.
            if let Some((other, _)) = open.first() {
                let other = message.numbered(*other, self.version).map_or("", |other| other.name);
                let place = || format!("{}.{}", message.name, field.name);
                let said = || {
                    format!(
                        "the keys {} and {other} exclude each other: the last one was read",
                        field.name
                    )
                };
                self.intake.note(losses::DUPLICATE_KEY, place, said);
                self.odd(What::OtherCase, message.name, other, before);
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

    /// Numbers are packed, as encoders of protobuf do.
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

    /// A value with its tag before it.
    fn tagged(&mut self, field: &Field, depth: u64) -> Result<()> {
        if self.out.len() <= self.watch {
            self.text.peek();
            self.watched = self.text.rest();
        }
        varint(&mut self.out, tag(field.number, field.kind.wire()).into());
        self.value(field, depth)
    }

    /// The value of a field by its kind in the schema, without its tag.
    ///
    /// # Errors
    ///
    /// JSON of another kind, at its byte; nothing that was appended before it is used.
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
            Kind::Bytes if let Role::Id(length) = field.role => self.id(length.into())?,
            Kind::Bytes => self.bytes("base64", from_base64)?,
            Kind::Bool => {
                let truth = self.text.word("true");
                if !truth && !self.text.word("false") {
                    return Err(self.text.wanted("true or false"));
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

    /// What `fill` appends, and its length before it.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) when the bytes outgrow the budget.
    fn delimited(&mut self, fill: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let at = self.out.len();
        self.out.extend_from_slice(&[0x80, 0x80, 0x80, 0x80, 0]);
        fill(self)?;
        self.intake.budget.holds(self.out.len())?;
        let mut left = self.out.len() - at - LENGTH;
        for byte in self.out.iter_mut().skip(at).take(LENGTH) {
            *byte |= (left & 0x7f) as u8;
            left >>= 7;
        }
        Ok(())
    }

    /// Bytes in whichever digits `append` understands.
    fn bytes(&mut self, what: &str, append: fn(&str, &mut Vec<u8>) -> Option<()>) -> Result<()> {
        let (text, from) = self.string(what)?;
        let bad = || Error::malformed(format!("{} is not {what}", Shown(text.as_bytes()))).at(from);
        self.delimited(|this| append(&text, &mut this.out).ok_or_else(bad))
    }

    /// An id of `length` bytes, which OTLP writes in hexadecimal digits. Protobuf libraries write base64, which has
    /// another length and is read as well.
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
        let message = || "the id is base64: OTLP/JSON has hexadecimal digits".to_owned();
        self.intake.note(losses::ID_BASE64, place, message);
        self.odd(What::Base64Id, "", &text, from);
        self.delimited(|this| {
            this.out.append(&mut base64);
            Ok(())
        })
    }

    /// A string, and where it begins.
    fn string(&mut self, what: &str) -> Result<(Cow<'a, str>, &'a [u8])> {
        self.text.peek();
        let from = self.text.rest();
        Ok((self.text.string(what)?, from))
    }

    /// A number, as such or in a string, and where it begins; a string may say something else.
    fn number(&mut self, what: &str) -> Result<(Cow<'a, str>, &'a [u8])> {
        match self.text.peek() {
            Some(b'"') => self.string(what),
            _ => {
                let from = self.text.rest();
                Ok((self.text.number(what)?.into(), from))
            }
        }
    }

    /// A whole number within these bounds, as a varint.
    fn varint_within(&mut self, least: impl Into<i128>, most: impl Into<i128>) -> Result<()> {
        let number = self.integer(least.into(), most.into())?;
        varint(&mut self.out, number as u64);
        Ok(())
    }

    /// A whole number within these bounds.
    ///
    /// # Errors
    ///
    /// A fraction, text that is no number, or a number out of the bounds, at its byte.
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

    /// A number, or one of the three texts that protobuf's mapping has for what JSON cannot say.
    ///
    /// # Errors
    ///
    /// A number past the largest double, which would become infinite without a word.
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

    /// The number of an enum's value. OTLP says the number, protobuf's own mapping the name.
    ///
    /// A name that the schema does not have is tried as a number, and refused as such.
    fn enumerated(&mut self, names: &[&str]) -> Result<i128> {
        let mut ahead = self.text.clone();
        if ahead.peek() == Some(b'"') {
            let from = ahead.rest();
            let name = ahead.string("a name")?;
            self.odd(What::EnumText, "", &name, from);
            if let Some(number) = names.iter().position(|known| *known == name) {
                self.text = ahead;
                return Ok(number as i128);
            }
        }
        self.integer(i32::MIN.into(), i32::MAX.into())
    }
}

/// All of it, by JSON's grammar: a string may hold anything.
fn is_number(text: &str) -> bool {
    !text.is_empty() && number_length(text.as_bytes()) == text.len()
}
