//! From the names of a frame to its location.
//!
//! A profiler says a frame by its words (name, file, line, type). Nearly all were said before, so
//! the cache is asked for the location at once; only a new frame interns two texts, a function and
//! a location. Of frames in a row most share a file and a type, so the last of each is remembered.

use crate::build::cache::{Cache, Words};
use crate::build::interner::{Interner, Spot};
use crate::build::parts::Frame;
use crate::build::room::Full;
use crate::model::dictionary::{Attribute, Function, Line};
use crate::model::id::{AttributeId, LocationId, StringId};
use crate::model::strings::Strings;
use crate::model::value::Value;
use crate::semconv::PROFILE_FRAME_TYPE;

/// The locations of frames: those that were seen by the cache, others by the interner.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frames {
    /// Locations by name, file and line; the note is the frame type.
    cache: Cache,
    /// The frame type seen last, and its attribute.
    frame_type: StringId,
    attribute: AttributeId,
    /// The file of the frame that was new last.
    filename: StringId,
}

impl Frames {
    /// The location of a frame; none when it has no name at all.
    #[inline]
    pub(crate) fn location(
        &mut self,
        interner: &mut Interner,
        frame: &Frame<'_>,
    ) -> Result<LocationId, Full> {
        let strings = &interner.dictionary.strings;
        let words = Words { texts: [frame.name, frame.filename], number: frame.line };
        match self.cache.find(&words, strings) {
            Some((location, note)) if is_text(strings, note, frame.frame_type) => {
                Ok(LocationId(location))
            }
            _ => self.intern(interner, frame, &words),
        }
    }

    /// Interns all that a frame says, and remembers its location.
    #[inline(never)]
    fn intern(
        &mut self,
        interner: &mut Interner,
        frame: &Frame<'_>,
        words: &Words<'_>,
    ) -> Result<LocationId, Full> {
        if frame.name.is_empty() && frame.filename.is_empty() {
            return Ok(LocationId::NONE);
        }
        let frame_type = self.frame_type(interner, frame.frame_type)?;
        let name = interner.string(frame.name)?;
        let filename = self.filename(interner, frame)?;
        let attribute = self.attribute(interner, frame_type)?;
        let function = interner.function(Function { name, filename, ..Function::default() })?;
        let lines = &[Line { function, line: frame.line.into(), column: 0 }];
        let attributes = attribute.as_slice();
        let location = interner.location(Spot { lines, attributes, ..Spot::default() })?;
        let Interner { dictionary, room, .. } = interner;
        let row = (location.0, frame_type);
        self.cache.remember(words, [name, filename], row, &dictionary.strings, room);
        Ok(location)
    }

    /// The attribute of a frame type; none for none.
    pub(crate) fn frame_type_attribute(
        &mut self,
        interner: &mut Interner,
        frame_type: &str,
    ) -> Result<Option<AttributeId>, Full> {
        let frame_type = self.frame_type(interner, frame_type)?;
        self.attribute(interner, frame_type)
    }

    fn frame_type(&self, interner: &mut Interner, frame_type: &str) -> Result<StringId, Full> {
        match frame_type {
            "" => Ok(StringId::NONE),
            text if text == interner.dictionary.strings.get(self.frame_type) => Ok(self.frame_type),
            text => interner.string(text),
        }
    }

    fn attribute(
        &mut self,
        interner: &mut Interner,
        frame_type: StringId,
    ) -> Result<Option<AttributeId>, Full> {
        if frame_type == StringId::NONE {
            return Ok(None);
        }
        if frame_type != self.frame_type {
            let key = interner.string(PROFILE_FRAME_TYPE)?;
            let value = Value::String(frame_type);
            self.attribute = interner.attribute(Attribute { key, value, unit: StringId::NONE })?;
            self.frame_type = frame_type;
        }
        Ok(Some(self.attribute))
    }

    /// Many frames in a row are of one file.
    fn filename(&mut self, interner: &mut Interner, frame: &Frame<'_>) -> Result<StringId, Full> {
        match frame.filename {
            "" => return Ok(StringId::NONE),
            text if text == interner.dictionary.strings.get(self.filename) => {}
            text => self.filename = interner.string(text)?,
        }
        Ok(self.filename)
    }

    /// Forgets everything, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.cache.clear();
        self.frame_type = StringId::NONE;
        self.attribute = AttributeId::NONE;
        self.filename = StringId::NONE;
    }
}

/// Most frames have no type. Comparing two empty texts by a call would read, masked, from an address
/// that is none, which takes as long as a page fault.
#[inline(always)]
fn is_text(strings: &Strings, id: StringId, text: &str) -> bool {
    match id {
        StringId::NONE => text.is_empty(),
        id => !text.is_empty() && strings.get(id) == text,
    }
}
