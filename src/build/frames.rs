//! From the names of a frame straight to its location.

use crate::build::interner::Interner;
use crate::build::parts::Frame;
use crate::build::room::Full;
use crate::build::runs::{self, AT_ONCE, Runs};
use crate::build::seen::{SEEN_BYTES, Seen, Words};
use crate::model::dictionary::{Attribute, Function, Line};
use crate::model::id::{AttributeId, LocationId, StringId};
use crate::model::strings::Strings;
use crate::model::value::Value;
use crate::semconv::PROFILE_FRAME_TYPE;
use crate::wire::lanes::Lanes;

/// The locations of frames that were seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frames {
    lanes: Lanes,
    seen: Seen,
    runs: Runs,
    /// The kind of code seen last, and the attribute that says it.
    kind: StringId,
    attribute: AttributeId,
    /// The file of the frame that was new last.
    file: StringId,
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
        match self.confirm(self.guess(frame, strings), frame, strings) {
            Some(row) => Ok(LocationId(row)),
            None => self.intern(interner, frame),
        }
    }

    /// Appends the locations of frames, but for those that have none.
    #[inline]
    pub(crate) fn locations<'a, F: Into<Frame<'a>>>(
        &mut self,
        interner: &mut Interner,
        frames: impl IntoIterator<Item = F>,
        locations: &mut Vec<LocationId>,
    ) -> Result<(), Full> {
        let mut frames = frames.into_iter();
        let mut some = [Frame::new(""); AT_ONCE];
        loop {
            let mut count = 0;
            for (place, frame) in some.iter_mut().zip(&mut frames) {
                *place = frame.into();
                count += 1;
            }
            self.locations_of_some(interner, &some[..count], locations)?;
            if count < AT_ONCE {
                return Ok(());
            }
        }
    }

    /// Appends the locations of up to [`AT_ONCE`] frames.
    ///
    /// They are first guessed, then confirmed: what memory is asked for does not depend on what
    /// came of the frame before, so the processor need not wait for each.
    #[inline(never)]
    fn locations_of_some(
        &mut self,
        interner: &mut Interner,
        frames: &[Frame<'_>],
        locations: &mut Vec<LocationId>,
    ) -> Result<(), Full> {
        self.lanes.with(
            #[inline(always)]
            || self.compare(interner, frames, locations),
        )
    }

    #[inline(always)]
    fn compare(
        &mut self,
        interner: &mut Interner,
        frames: &[Frame<'_>],
        locations: &mut Vec<LocationId>,
    ) -> Result<(), Full> {
        let glance = runs::glance(frames);
        let mut run = [0; AT_ONCE];
        let run = &mut run[..frames.len()];
        let strings = &interner.dictionary.strings;
        let mut known = false;
        if let Some(before) = self.runs.of(glance, frames.len()) {
            run.copy_from_slice(before);
            known = true;
        } else {
            for (row, frame) in run.iter_mut().zip(frames) {
                *row = self.guess(frame, strings);
            }
        }
        let was_known = known;
        for (row, frame) in run.iter_mut().zip(frames) {
            if self.confirm(*row, frame, &interner.dictionary.strings).is_none() {
                *row = match was_known {
                    true => self.location(interner, frame)?.0,
                    false => self.intern(interner, frame)?.0,
                };
                known = false;
            }
            if *row != LocationId::NONE.0 {
                locations.push(LocationId(*row));
            }
        }
        if !known {
            self.runs.remember(glance, run, &mut interner.room);
        }
        Ok(())
    }

    /// Which location a frame may have.
    #[inline(always)]
    fn guess(&self, frame: &Frame<'_>, strings: &Strings) -> u32 {
        self.words(frame, strings)
            .map_or(u32::MAX, |words| self.seen.guess(&words))
    }

    /// The location guessed, if it is that of the frame.
    #[inline(always)]
    fn confirm(&self, guess: u32, frame: &Frame<'_>, strings: &Strings) -> Option<u32> {
        self.words(frame, strings)
            .and_then(|words| self.seen.confirm(guess, &words, strings))
    }

    /// The words of a frame, when its kind is none or the one seen last.
    #[inline(always)]
    fn words<'a>(&self, frame: &Frame<'a>, strings: &Strings) -> Option<Words<'a>> {
        match frame.kind {
            "" => Some(words(frame, StringId::NONE)),
            kind if kind == strings.get(self.kind) => Some(words(frame, self.kind)),
            _ => None,
        }
    }

    /// Goes the long way, and remembers it.
    #[inline(never)]
    fn intern(&mut self, interner: &mut Interner, frame: &Frame<'_>) -> Result<LocationId, Full> {
        if frame.name.is_empty() && frame.file.is_empty() {
            return Ok(LocationId::NONE);
        }
        let before = interner.dictionary.locations.len();
        let kind = self.kind_of(interner, frame)?;
        let name = interner.string(frame.name)?;
        let file = self.file_of(interner, frame)?;
        let attribute = self.attribute_of(interner, kind)?;
        let function = interner.function(Function {
            name,
            filename: file,
            ..Function::default()
        })?;
        let line = Line {
            function,
            line: frame.line.into(),
            column: 0,
        };
        let location = interner.line(line, attribute.as_slice())?;
        if location.row() == before {
            interner.room.bytes(SEEN_BYTES)?;
        }
        let strings = &interner.dictionary.strings;
        self.seen
            .remember(&words(frame, kind), [name, file], strings, location.0);
        Ok(location)
    }

    fn kind_of(&self, interner: &mut Interner, frame: &Frame<'_>) -> Result<StringId, Full> {
        match frame.kind {
            "" => Ok(StringId::NONE),
            kind if kind == interner.dictionary.strings.get(self.kind) => Ok(self.kind),
            kind => interner.string(kind),
        }
    }

    /// Many frames in a row are of one file.
    fn file_of(&mut self, interner: &mut Interner, frame: &Frame<'_>) -> Result<StringId, Full> {
        match frame.file {
            "" => return Ok(StringId::NONE),
            file if file == interner.dictionary.strings.get(self.file) => {}
            file => self.file = interner.string(file)?,
        }
        Ok(self.file)
    }

    /// The attribute that says which kind of code it is; none for no kind.
    fn attribute_of(
        &mut self,
        interner: &mut Interner,
        kind: StringId,
    ) -> Result<Option<AttributeId>, Full> {
        if kind == StringId::NONE {
            return Ok(None);
        }
        if kind != self.kind {
            self.attribute = frame_type(interner, kind)?;
            self.kind = kind;
        }
        Ok(Some(self.attribute))
    }

    /// Forgets everything, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.seen.clear();
        self.runs.clear();
        self.kind = StringId::NONE;
        self.attribute = AttributeId::NONE;
        self.file = StringId::NONE;
    }
}

#[inline(always)]
fn words<'a>(frame: &Frame<'a>, kind: StringId) -> Words<'a> {
    Words {
        texts: [frame.name, frame.file],
        number: u64::from(kind.0) << 32 | u64::from(frame.line),
    }
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
