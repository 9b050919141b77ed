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

/// The locations of frames that were seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frames {
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
        let guess = self.guess(frame);
        match self.confirm(guess, frame, &interner.dictionary.strings) {
            true => Ok(LocationId(guess)),
            false => self.intern(interner, frame),
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
            if count > 0 {
                self.locations_of_some(interner, &some[..count], locations)?;
            }
            if count < AT_ONCE {
                return Ok(());
            }
        }
    }

    /// Appends the locations of up to [`AT_ONCE`] frames.
    ///
    /// They are first guessed, all of them or each, then confirmed: what memory is asked for does not
    /// depend on what came of the frame before, so the processor need not wait for each.
    #[inline(never)]
    fn locations_of_some(
        &mut self,
        interner: &mut Interner,
        frames: &[Frame<'_>],
        locations: &mut Vec<LocationId>,
    ) -> Result<(), Full> {
        let glance = runs::glance(frames);
        let mut rows = [0; AT_ONCE];
        let rows = &mut rows[..frames.len()];
        let run = self.runs.of(glance, frames.len());
        match run {
            Some(run) => rows.copy_from_slice(run),
            None => {
                let guesses = rows.iter_mut().zip(frames);
                guesses.for_each(|(row, frame)| *row = self.guess(frame));
            }
        }
        let (again, mut as_before) = (run.is_some(), run.is_some());
        for (row, frame) in rows.iter_mut().zip(frames) {
            if !self.confirm(*row, frame, &interner.dictionary.strings) {
                let location = match again {
                    true => self.location(interner, frame),
                    // It was guessed by itself already.
                    false => self.intern(interner, frame),
                };
                *row = location?.0;
                as_before = false;
            }
            if *row != LocationId::NONE.0 {
                locations.push(LocationId(*row));
            }
        }
        if !as_before {
            self.runs.remember(glance, rows, &mut interner.room);
        }
        Ok(())
    }

    /// Which location a frame may have.
    #[inline(always)]
    fn guess(&self, frame: &Frame<'_>) -> u32 {
        self.seen.guess(&words(frame))
    }

    /// Whether the location guessed is that of the frame.
    #[inline(always)]
    fn confirm(&self, guess: u32, frame: &Frame<'_>, strings: &Strings) -> bool {
        let kind = self.seen.confirm(guess, &words(frame), strings);
        kind.is_some_and(|kind| match kind {
            StringId::NONE => frame.kind.is_empty(),
            kind => is_kind(strings, kind, frame.kind),
        })
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
            .remember(&words(frame), kind, [name, file], strings, location.0);
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

/// Not inlined: most frames have no kind, and what is around it is faster without it.
#[inline(never)]
fn is_kind(strings: &Strings, kind: StringId, text: &str) -> bool {
    strings.get(kind) == text
}

#[inline(always)]
fn words<'a>(frame: &Frame<'a>) -> Words<'a> {
    Words {
        texts: [frame.name, frame.file],
        number: frame.line,
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
