//! From the names of frames straight to their locations and stacks.

use crate::build::interner::Interner;
use crate::build::parts::Frame;
use crate::build::paths::{AT_ONCE, Paths, ROOT};
use crate::build::room::Full;
use crate::build::seen::{NOWHERE, Seen, Words};
use crate::build::stack::Order;
use crate::model::dictionary::{Attribute, Function, Line};
use crate::model::id::{AttributeId, LocationId, StackId, StringId};
use crate::model::strings::Strings;
use crate::model::value::Value;
use crate::semconv::PROFILE_FRAME_TYPE;

/// The frames that were seen, and their locations and stacks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frames {
    seen: Seen,
    paths: Paths,
    /// Empty; its memory is where the frames of a stack are put together.
    gathered: Vec<Frame<'static>>,
    /// The locations of a stack, as they are found.
    locations: Vec<LocationId>,
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
        match self.confirm(self.guess(frame), frame, &interner.dictionary.strings) {
            Some(location) => Ok(location),
            None => self.intern(interner, frame).map(|(location, _)| location),
        }
    }

    /// The stack of frames, without those that have no location.
    #[inline]
    pub(crate) fn stack<'a, F: Into<Frame<'a>>>(
        &mut self,
        interner: &mut Interner,
        frames: impl Iterator<Item = F>,
        order: Order,
    ) -> Result<StackId, Full> {
        let mut gathered = reuse(std::mem::take(&mut self.gathered));
        let most = interner.room.max_stack_depth();
        let frames = frames.map(Into::into);
        match frames.size_hint() {
            (_, Some(len)) if len <= most => gathered.extend(frames),
            // One too many at most, even of frames without an end.
            _ => gathered.extend(frames.take(most.saturating_add(1))),
        }
        if order == Order::LeafFirst {
            gathered.reverse();
        }
        let stack = self.stack_of(interner, &gathered);
        self.gathered = reuse(gathered);
        stack
    }

    /// The stack of frames, from the root to the leaf.
    ///
    /// Follows the frames as far as the path is known, which mostly is to the end.
    #[inline(never)]
    fn stack_of(&mut self, interner: &mut Interner, frames: &[Frame<'_>]) -> Result<StackId, Full> {
        interner.room.stack(frames.len())?;
        let (mut path, mut rest) = (ROOT, frames);
        while !rest.is_empty() {
            let (part, behind) = rest.split_at(rest.len().min(AT_ONCE));
            match self.next(path, part, &interner.dictionary.strings) {
                Some(next) => (path, rest) = (next, behind),
                None => break,
            }
        }
        match self.paths.stack(path) {
            Some(stack) if rest.is_empty() => Ok(stack),
            _ => self.new_stack(interner, path, rest),
        }
    }

    /// The path that goes on with these frames.
    #[inline(always)]
    fn next(&self, path: u32, frames: &[Frame<'_>], strings: &Strings) -> Option<u32> {
        let (next, records) = self.paths.next(path, frames)?;
        let mut frames = records.iter().zip(frames);
        frames
            .all(|(record, frame)| self.confirm(*record, frame, strings).is_some())
            .then_some(next)
    }

    /// The stack of a known path and frames behind it, which may be none.
    #[inline(never)]
    fn new_stack(
        &mut self,
        interner: &mut Interner,
        known: u32,
        frames: &[Frame<'_>],
    ) -> Result<StackId, Full> {
        self.locations.clear();
        let mut path = Some(known);
        for part in frames.chunks(AT_ONCE) {
            path = self.new_part(interner, path, part)?;
        }
        let Self { seen, paths, locations, .. } = self;
        locations.reverse();
        paths.for_each_back(known, |record| {
            locations.extend(seen.row_of(record).map(LocationId));
        });
        let stack = interner.stack(locations)?;
        if let Some(path) = path {
            paths.set_stack(path, stack);
        }
        Ok(stack)
    }

    /// Finds the locations of frames, and the path that goes on with them, if it is remembered.
    ///
    /// All are guessed first, then confirmed: what memory is asked for does not depend on what came
    /// of the frame before, so the processor need not wait for each.
    fn new_part(
        &mut self,
        interner: &mut Interner,
        path: Option<u32>,
        frames: &[Frame<'_>],
    ) -> Result<Option<u32>, Full> {
        let mut records = [NOWHERE; AT_ONCE];
        let records = &mut records[..frames.len()];
        for (record, frame) in records.iter_mut().zip(frames) {
            *record = self.guess(frame);
        }
        for (record, frame) in records.iter_mut().zip(frames) {
            let location = match self.confirm(*record, frame, &interner.dictionary.strings) {
                Some(location) => location,
                None => {
                    let location;
                    (location, *record) = self.intern(interner, frame)?;
                    location
                }
            };
            if location != LocationId::NONE {
                self.locations.push(location);
            }
        }
        let add = |path| self.paths.add(path, frames, records, &mut interner.room);
        Ok(path.and_then(add))
    }

    /// Which record a frame may have.
    #[inline(always)]
    fn guess(&self, frame: &Frame<'_>) -> u32 {
        self.seen.guess(&words(frame))
    }

    /// The location of a record, if it is that of the frame.
    #[inline(always)]
    fn confirm(&self, record: u32, frame: &Frame<'_>, strings: &Strings) -> Option<LocationId> {
        let (location, frame_type) = self.seen.confirm(record, &words(frame), strings)?;
        let is_it = match frame_type {
            StringId::NONE => frame.frame_type.is_empty(),
            id => is_text(strings, id, frame.frame_type),
        };
        is_it.then_some(LocationId(location))
    }

    /// Goes the long way, and remembers it: the location of a frame and its record.
    #[inline(never)]
    fn intern(
        &mut self,
        interner: &mut Interner,
        frame: &Frame<'_>,
    ) -> Result<(LocationId, u32), Full> {
        if frame.name.is_empty() && frame.filename.is_empty() {
            return Ok((LocationId::NONE, NOWHERE));
        }
        let frame_type = self.frame_type(interner, frame.frame_type)?;
        let name = interner.string(frame.name)?;
        let filename = self.filename(interner, frame)?;
        let attribute = self.attribute(interner, frame_type)?;
        let function = interner.function(Function { name, filename, ..Function::default() })?;
        let line = Line { function, line: frame.line.into(), column: 0 };
        let location = interner.line(line, attribute.as_slice())?;
        let Interner { dictionary, room, .. } = interner;
        let (words, strings) = (words(frame), &dictionary.strings);
        let texts = [name, filename];
        let record = self.seen.remember(&words, frame_type, texts, location.0, strings, room);
        Ok((location, record))
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
        self.seen.clear();
        self.paths.clear();
        self.frame_type = StringId::NONE;
        self.attribute = AttributeId::NONE;
        self.filename = StringId::NONE;
    }
}

/// An empty vector in the memory of another: the standard library collects in place what has the
/// same layout.
#[inline]
fn reuse<'a>(mut frames: Vec<Frame<'_>>) -> Vec<Frame<'a>> {
    frames.clear();
    frames.into_iter().map(|_| Frame::new("")).collect()
}

/// Not inlined: most frames have no type, and what is around it is faster without it.
#[inline(never)]
fn is_text(strings: &Strings, id: StringId, text: &str) -> bool {
    strings.get(id) == text
}

#[inline(always)]
fn words<'a>(frame: &Frame<'a>) -> Words<'a> {
    Words { texts: [frame.name, frame.filename], number: frame.line }
}
