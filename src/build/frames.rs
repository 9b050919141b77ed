//! From the names of frames straight to their locations and stacks.

use crate::build::interner::Interner;
use crate::build::parts::Frame;
use crate::build::paths::{AT_ONCE, Paths, ROOT};
use crate::build::room::{Full, at_most};
use crate::build::seen::{NOWHERE, Seen, Words};
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
        match self.confirm(self.guess(frame), frame, &interner.dictionary.strings) {
            Some(location) => Ok(location),
            None => self.intern(interner, frame).map(|(location, _)| location),
        }
    }

    /// The stack of frames, from the root to the leaf, but for those that have no location.
    #[inline]
    pub(crate) fn stack<'a, F: Into<Frame<'a>>>(
        &mut self,
        interner: &mut Interner,
        root_first: impl IntoIterator<Item = F>,
    ) -> Result<StackId, Full> {
        let mut frames = reuse(std::mem::take(&mut self.gathered));
        let most = interner.room.limits.max_stack_depth;
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let root_first = root_first.into_iter().map(Into::into);
        match root_first.size_hint() {
            (_, Some(len)) if len <= most => frames.extend(root_first),
            // One too many at most, even of a path without an end.
            _ => frames.extend(root_first.take(most.saturating_add(1))),
        }
        let stack = self.stack_of(interner, &frames);
        self.gathered = reuse(frames);
        stack
    }

    /// Follows the frames as far as the path is known, which mostly is to the end.
    #[inline(never)]
    fn stack_of(&mut self, interner: &mut Interner, frames: &[Frame<'_>]) -> Result<StackId, Full> {
        let most = interner.room.limits.max_stack_depth;
        at_most("max_stack_depth", most, frames.len() as u64)?;
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
        let (location, kind) = self.seen.confirm(record, &words(frame), strings)?;
        let is_it = match kind {
            StringId::NONE => frame.kind.is_empty(),
            kind => is_kind(strings, kind, frame.kind),
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
        if frame.name.is_empty() && frame.file.is_empty() {
            return Ok((LocationId::NONE, NOWHERE));
        }
        let kind = self.kind_of(interner, frame)?;
        let name = interner.string(frame.name)?;
        let file = self.file_of(interner, frame)?;
        let attribute = self.attribute_of(interner, kind)?;
        let function =
            interner.function(Function { name, filename: file, ..Function::default() })?;
        let line = Line { function, line: frame.line.into(), column: 0 };
        let location = interner.line(line, attribute.as_slice())?;
        let Interner { dictionary, room, .. } = interner;
        let (words, strings) = (words(frame), &dictionary.strings);
        let record = self.seen.remember(&words, kind, [name, file], location.0, strings, room);
        Ok((location, record))
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
        self.paths.clear();
        self.kind = StringId::NONE;
        self.attribute = AttributeId::NONE;
        self.file = StringId::NONE;
    }
}

/// An empty vector in the memory of another: the standard library collects in place what has the
/// same layout.
#[inline]
fn reuse<'a>(mut frames: Vec<Frame<'_>>) -> Vec<Frame<'a>> {
    frames.clear();
    frames.into_iter().map(|_| Frame::new("")).collect()
}

/// Not inlined: most frames have no kind, and what is around it is faster without it.
#[inline(never)]
fn is_kind(strings: &Strings, kind: StringId, text: &str) -> bool {
    strings.get(kind) == text
}

#[inline(always)]
fn words<'a>(frame: &Frame<'a>) -> Words<'a> {
    Words { texts: [frame.name, frame.file], number: frame.line }
}

/// The attribute that says which kind of code it is.
fn frame_type(interner: &mut Interner, kind: StringId) -> Result<AttributeId, Full> {
    let key = interner.string(PROFILE_FRAME_TYPE)?;
    interner.attribute(Attribute { key, value: Value::String(kind), unit: StringId::NONE })
}
