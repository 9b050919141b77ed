//! From the names of a frame straight to its location.

use crate::build::interner::{Interner, Spot};
use crate::build::parts::Frame;
use crate::build::room::Full;
use crate::build::seen::{SEEN_BYTES, Seen, Words};
use crate::model::dictionary::{Attribute, Function, Line};
use crate::model::id::{AttributeId, LocationId, MappingId, StringId};
use crate::model::strings::Strings;
use crate::model::value::Value;
use crate::semconv::PROFILE_FRAME_TYPE;

/// The locations of frames that were seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frames {
    seen: Seen,
    /// The kind of code seen last.
    kind: StringId,
}

impl Frames {
    /// The location of a frame; none when it has no name at all.
    #[inline]
    pub(crate) fn location(
        &mut self,
        interner: &mut Interner,
        frame: &Frame<'_>,
    ) -> Result<LocationId, Full> {
        match self.seen(&interner.dictionary.strings, frame) {
            Some(row) => Ok(LocationId(row)),
            None => self.intern(interner, frame),
        }
    }

    #[inline]
    fn seen(&self, strings: &Strings, frame: &Frame<'_>) -> Option<u32> {
        let kind = match frame.kind {
            "" => StringId::NONE,
            kind if kind == strings.get(self.kind) => self.kind,
            _ => return None,
        };
        self.seen.row(&words(frame, kind), strings)
    }

    /// Goes the long way, and remembers it.
    #[inline(never)]
    fn intern(&mut self, interner: &mut Interner, frame: &Frame<'_>) -> Result<LocationId, Full> {
        if frame.name.is_empty() && frame.file.is_empty() {
            return Ok(LocationId::NONE);
        }
        let before = interner.dictionary.locations.len();
        let kind = interner.string(frame.kind)?;
        let texts = [interner.string(frame.name)?, interner.string(frame.file)?];
        let location = intern(interner, texts, frame.line, kind)?;
        if location.row() == before {
            interner.room.bytes(SEEN_BYTES)?;
        }
        if kind != StringId::NONE {
            self.kind = kind;
        }
        let strings = &interner.dictionary.strings;
        self.seen
            .remember(&words(frame, kind), texts, strings, location.0);
        Ok(location)
    }

    pub(crate) fn clear(&mut self) {
        self.seen.clear();
        self.kind = StringId::NONE;
    }
}

#[inline]
fn words<'a>(frame: &Frame<'a>, kind: StringId) -> Words<'a> {
    Words {
        texts: [frame.name, frame.file],
        number: u64::from(kind.0) << 32 | u64::from(frame.line),
    }
}

/// Makes the rows of a frame.
fn intern(
    interner: &mut Interner,
    [name, filename]: [StringId; 2],
    line: u32,
    kind: StringId,
) -> Result<LocationId, Full> {
    let attribute = match kind {
        StringId::NONE => None,
        kind => Some(frame_type(interner, kind)?),
    };
    let function = interner.function(Function {
        name,
        filename,
        ..Function::default()
    })?;
    let line = Line {
        function,
        line: line.into(),
        column: 0,
    };
    interner.location(Spot {
        mapping: MappingId::NONE,
        address: 0,
        lines: &[line],
        attributes: attribute.as_slice(),
    })
}

/// The attribute that says which kind of code it is.
fn frame_type(interner: &mut Interner, kind: StringId) -> Result<AttributeId, Full> {
    let key = interner.string(PROFILE_FRAME_TYPE)?;
    interner.attribute(Attribute {
        key,
        value: Value::String(kind),
        unit: StringId::NONE,
    })
}
