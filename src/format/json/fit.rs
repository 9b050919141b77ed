//! How well the keys of a text fit the names of a generation.

use crate::error::Result;
use crate::format::json::names::named;
use crate::format::json::read::AROUND;
use crate::format::json::text::Text;
use crate::limits::within;
use crate::schema::{Field, Kind, MessageType, PROFILES_DATA, Version};

/// Counts what a generation has no name for, or has as something else: a list where it has one
/// value, an object where it has a number.
pub(super) struct Misfits<'a> {
    text: Text<'a>,
    version: Version,
    max_nesting: u64,
    count: u64,
}

impl<'a> Misfits<'a> {
    pub(super) fn of(text: &Text<'a>, version: Version, max_nesting: u64) -> Result<u64> {
        let mut misfits = Self { text: text.clone(), version, max_nesting, count: 0 };
        misfits.object(&PROFILES_DATA, 1)?;
        misfits.text.end()?;
        Ok(misfits.count)
    }

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

    fn value(&mut self, kind: Kind, depth: u64) -> Result<()> {
        match (kind, self.text.peek()) {
            (Kind::Message(message), Some(b'{')) => self.object(message, depth + 1),
            (Kind::Message(_), _) | (_, Some(b'{' | b'[')) => self.misfit(),
            _ => self.text.skip(self.max_nesting),
        }
    }

    fn misfit(&mut self) -> Result<()> {
        self.count += 1;
        self.text.skip(self.max_nesting)
    }
}
