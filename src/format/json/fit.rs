//! Counts how well the keys of a JSON text fit the names of a generation.
//!
//! JSON contains no version. All generations share most names, so the reader chooses the one with the fewest
//! misfits, and the newest of several. It ignores values except for their kind (object, list, other).
//!
//! ```text
//! {"dictionary": {"stackTable": [{"locationIndices": [1]}]}}     1.8 to 1.10: no misfit
//!                                                                1.7: no "stackTable", one misfit
//!                                                                1.4: no "dictionary", one misfit
//! ```

use crate::error::{Error, Result};
use crate::format::Format;
use crate::format::json::lexer::Lexer;
use crate::format::json::names::named;
use crate::format::json::read::AROUND;
use crate::limits::{Limits, within};
use crate::schema::{Field, Kind, MessageType, PROFILES_DATA, Version};

/// A generation, and the format that reads its bytes.
pub(super) type Generation = (Format, Version);

/// Every generation, the newest first.
pub(super) fn generations() -> impl Iterator<Item = Generation> {
    Format::ALL.iter().filter_map(|format| Some((*format, format.schema()?)))
}

/// Counts the keys that a generation lacks, or declares as another kind: a list instead of one value, or an
/// object instead of a number.
pub(super) struct Misfits<'a> {
    /// A copy of the cursor: each generation reads the text from its beginning.
    text: Lexer<'a>,
    version: Version,
    /// The nesting limit for skipped values, and for messages by their depth.
    max_nesting: u64,
    count: u64,
    /// The walk ends when it finds more misfits.
    most: u64,
}

impl<'a> Misfits<'a> {
    fn in_version(text: &Lexer<'a>, version: Version, max_nesting: u64) -> Self {
        Self { text: text.clone(), version, max_nesting, count: 0, most: u64::MAX }
    }

    /// Counts the misfits of a generation. Takes linear time and decodes no values.
    ///
    /// # Errors
    ///
    /// The text is not JSON.
    pub(super) fn of(text: &Lexer<'a>, version: Version, max_nesting: u64) -> Result<u64> {
        let mut misfits = Self::in_version(text, version, max_nesting);
        misfits.object(&PROFILES_DATA, 1)?;
        misfits.text.end()?;
        Ok(misfits.count)
    }

    /// Counts the misfits up to the end of the text, the first syntax error, or the first misfit past `most`.
    fn so_far(text: &Lexer<'a>, version: Version, most: u64) -> u64 {
        let misfits = Self::in_version(text, version, Limits::unlimited().max_nesting);
        let mut misfits = Self { most, ..misfits };
        // The reader reports the error in the rest.
        misfits.object(&PROFILES_DATA, 1).ok();
        misfits.count
    }

    /// Counts the misfits of an object by the names of a message.
    ///
    /// `depth` is the number of enclosing objects. The fixed ones ([`AROUND`]) do not count towards the
    /// limit.
    fn object(&mut self, message: &MessageType, depth: u64) -> Result<()> {
        within("max_nesting", self.max_nesting, depth.saturating_sub(AROUND))?;
        self.text.open(b'{', "an object")?;
        let mut first = true;
        while let Some(key) = self.text.key(&mut first)? {
            match named(message, &key, self.version) {
                Some(_) if self.text.word("null") => {}
                Some(field) if field.is_repeated() && self.text.peek() == Some(b'[') => {
                    self.list(field, depth)?;
                }
                Some(field) if !field.is_repeated() => {
                    self.value(field.kind, depth).map_err(|error| error.within(field.name))?;
                }
                _ => self.misfit()?,
            }
        }
        Ok(())
    }

    /// Counts the misfits of a list. The error of an element contains its row, as in the protobuf reader.
    fn list(&mut self, field: &Field, depth: u64) -> Result<()> {
        self.text.open(b'[', "a list")?;
        let (mut first, mut row) = (true, 0);
        let mut elements = || {
            while self.text.another(&mut first, b']')? {
                self.value(field.kind, depth)?;
                row += 1;
            }
            Ok(())
        };
        let done: Result<()> = elements();
        done.map_err(|error| error.within_row(field.name, row))
    }

    /// Counts the misfits of one value, which must be an object exactly if the field is a message.
    fn value(&mut self, kind: Kind, depth: u64) -> Result<()> {
        match (kind, self.text.peek()) {
            (Kind::Message(message), Some(b'{')) => self.object(message, depth + 1),
            (Kind::Message(_), _) | (_, Some(b'{' | b'[')) => self.misfit(),
            _ => self.text.skip(self.max_nesting),
        }
    }

    /// Counts a misfit and skips its value, because names inside it are no evidence.
    fn misfit(&mut self) -> Result<()> {
        self.count += 1;
        if self.count > self.most {
            return Err(Error::malformed("the names of the generation do not fit"));
        }
        self.text.skip(self.max_nesting)
    }
}

/// The number of bytes that are examined.
const LOOK: usize = 64 << 10;

/// Names the generations whose field names fit the beginning of a payload, in a sentence.
pub(crate) fn generations_named(payload: &[u8]) -> Option<String> {
    let start = payload.get(..LOOK).unwrap_or(payload);
    let start = match std::str::from_utf8(start) {
        Ok(_) => start,
        // The last character may be cut.
        Err(error) => start.get(..error.valid_up_to())?,
    };
    let text = Lexer::new(start).ok()?;
    // Most generations end at their first misfit, because the newest has none.
    let mut fewest = u64::MAX;
    let counts = generations().map(|(format, version)| {
        let count = Misfits::so_far(&text, version, fewest);
        fewest = fewest.min(count);
        (format, count)
    });
    let counts: Vec<(Format, u64)> = counts.collect();
    let fit: Vec<_> = counts.iter().filter(|(_, count)| *count == fewest).collect();
    if fit.len() == counts.len() {
        return Some("its field names are those of every generation".to_owned());
    }
    let names: Vec<_> = fit.iter().map(|(format, _)| format.name()).collect();
    let where_ = if start.len() < payload.len() { " where it begins" } else { "" };
    let but = if fewest == 0 { String::new() } else { format!(", but for {fewest}") };
    Some(format!("its field names{where_} are those of {}{but}", names.join(" and ")))
}
