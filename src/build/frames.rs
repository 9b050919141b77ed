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

/// How many frames are looked for at once.
const AT_ONCE: usize = 8;

impl Frames {
    /// The location of a frame; none when it has no name at all.
    #[inline]
    pub(crate) fn location(
        &mut self,
        interner: &mut Interner,
        frame: &Frame<'_>,
    ) -> Result<LocationId, Full> {
        let strings = &interner.dictionary.strings;
        let guess = self.guess(frame, strings);
        self.confirm(guess, interner, frame)
    }

    /// Which location a frame may have.
    #[inline]
    fn guess(&self, frame: &Frame<'_>, strings: &Strings) -> u32 {
        self.words(frame, strings)
            .map_or(u32::MAX, |words| self.seen.guess(&words))
    }

    /// The location of a frame, which may be the one guessed.
    #[inline]
    fn confirm(
        &mut self,
        guess: u32,
        interner: &mut Interner,
        frame: &Frame<'_>,
    ) -> Result<LocationId, Full> {
        let strings = &interner.dictionary.strings;
        let seen = self
            .words(frame, strings)
            .and_then(|words| self.seen.confirm(guess, &words, strings));
        match seen {
            Some(row) => Ok(LocationId(row)),
            None => self.intern(interner, frame),
        }
    }

    /// The words of a frame, when its kind is none or the one seen last.
    #[inline]
    fn words<'a>(&self, frame: &Frame<'a>, strings: &Strings) -> Option<Words<'a>> {
        match frame.kind {
            "" => Some(words(frame, StringId::NONE)),
            kind if kind == strings.get(self.kind) => Some(words(frame, self.kind)),
            _ => None,
        }
    }

    /// Appends the locations of frames, but for those that have none.
    ///
    /// A few frames at a time are first guessed, then confirmed: what memory is asked for does not
    /// depend on what came of the frame before, so the processor need not wait for each.
    #[inline]
    pub(crate) fn locations<'a, F: Into<Frame<'a>>>(
        &mut self,
        interner: &mut Interner,
        frames: impl IntoIterator<Item = F>,
        locations: &mut Vec<LocationId>,
    ) -> Result<(), Full> {
        let mut frames = frames.into_iter();
        loop {
            let mut some = [(Frame::new(""), 0); AT_ONCE];
            let mut count = 0;
            for (place, frame) in some.iter_mut().zip(&mut frames) {
                let frame = frame.into();
                *place = (frame, self.guess(&frame, &interner.dictionary.strings));
                count += 1;
            }
            for (frame, guess) in &some[..count] {
                match self.confirm(*guess, interner, frame)? {
                    LocationId::NONE => {}
                    location => locations.push(location),
                }
            }
            if count < AT_ONCE {
                return Ok(());
            }
        }
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
