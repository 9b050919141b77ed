//! From the names of a frame straight to its location.

use std::hash::Hasher;

use crate::build::index::{Index, Seed};
use crate::build::interner::{Interner, Spot};
use crate::build::parts::Frame;
use crate::build::room::Full;
use crate::model::dictionary::{Attribute, Function, Line};
use crate::model::id::{AttributeId, LocationId, MappingId, StringId};
use crate::model::strings::Strings;
use crate::model::value::Value;
use crate::semconv::PROFILE_FRAME_TYPE;

/// One look-up a frame, where string, string, function and location would be four:
///
/// ```text
/// where the names are in memory ─► hints ──┐
///                     their hash ─► index ─┴► slots ─► equal in the arena? ─► location
/// ```
///
/// Callers mostly have their names in one place, so where they are is as good a guess as what they
/// are, and cheaper. A guess it remains: what a slot says is compared with the arena.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frames {
    slots: Vec<Slot>,
    index: Index,
    /// Slots by where names are; a power of two of them, four times the slots or more.
    hints: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    location: LocationId,
    line: u32,
    kind: StringId,
    name: Range,
    file: Range,
}

/// A text in the arena.
#[derive(Clone, Copy, Debug)]
struct Range {
    start: u32,
    len: u32,
}

impl Range {
    fn of(strings: &Strings, id: StringId) -> Self {
        let range = strings.range(id).unwrap_or_default();
        Self {
            start: range.start as u32,
            len: range.len() as u32,
        }
    }

    #[inline]
    fn is(self, text: &str, arena: &[u8]) -> bool {
        let start = self.start as usize;
        self.len as usize == text.len()
            && arena.get(start..start + text.len()) == Some(text.as_bytes())
    }

    fn text(self, arena: &str) -> &str {
        let start = self.start as usize;
        arena
            .get(start..start + self.len as usize)
            .unwrap_or_default()
    }
}

impl Slot {
    #[inline]
    fn is(&self, frame: &Frame<'_>, strings: &Strings) -> bool {
        let arena = strings.arena().as_bytes();
        self.line == frame.line
            && self.name.is(frame.name, arena)
            && self.file.is(frame.file, arena)
            && (if frame.kind.is_empty() {
                self.kind == StringId::NONE
            } else {
                strings.get(self.kind) == frame.kind
            })
    }
}

impl Frames {
    /// The location of a frame; none when it has no name at all.
    #[inline]
    pub(crate) fn location(
        &mut self,
        interner: &mut Interner,
        frame: &Frame<'_>,
    ) -> Result<LocationId, Full> {
        let hint = self.hint(frame);
        let guess = self
            .hints
            .get(hint)
            .and_then(|&at| self.slots.get(at as usize));
        match guess {
            Some(slot) if slot.is(frame, &interner.dictionary.strings) => Ok(slot.location),
            _ => self.look_up(hint, interner, frame),
        }
    }

    /// Which of the hints is for names that are where these are.
    #[inline]
    fn hint(&self, frame: &Frame<'_>) -> usize {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let name = frame.name.as_ptr().addr() as u64;
        let file = frame.file.as_ptr().addr() as u64;
        let mixed =
            (name ^ file.rotate_left(32) ^ u64::from(frame.line).rotate_left(20)).wrapping_mul(ODD);
        (mixed >> 32) as usize & self.hints.len().wrapping_sub(1)
    }

    #[inline(never)]
    fn look_up(
        &mut self,
        hint: usize,
        interner: &mut Interner,
        frame: &Frame<'_>,
    ) -> Result<LocationId, Full> {
        let hash = hash(&interner.seed, frame);
        let strings = &interner.dictionary.strings;
        let found = self
            .index
            .find(hash, |at| self.slots[at as usize].is(frame, strings));
        let at = match found {
            Some(at) => at,
            None if frame.name.is_empty() && frame.file.is_empty() => return Ok(LocationId::NONE),
            None => self.add(hash, interner, frame)?,
        };
        if let Some(hint) = self.hints.get_mut(hint) {
            *hint = at;
        }
        Ok(self.slots[at as usize].location)
    }

    #[cold]
    fn add(
        &mut self,
        hash_of_frame: u64,
        interner: &mut Interner,
        frame: &Frame<'_>,
    ) -> Result<u32, Full> {
        interner
            .room
            .row(self.slots.len(), size_of::<Slot>() + 4 * size_of::<u32>())?;
        let slot = intern(interner, frame)?;
        let at = self.slots.len() as u32;
        self.slots.push(slot);
        if self.slots.len() * 4 > self.hints.len() {
            let hints = (self.slots.len() * 8).next_power_of_two();
            self.hints.clear();
            self.hints.resize(hints, 0);
        }
        let Interner {
            dictionary, seed, ..
        } = interner;
        self.index.add(hash_of_frame, at, |at| {
            let Slot {
                name,
                file,
                line,
                kind,
                ..
            } = self.slots[at as usize];
            let arena = dictionary.strings.arena();
            let kind = dictionary.strings.get(kind);
            hash(
                seed,
                &Frame {
                    name: name.text(arena),
                    file: file.text(arena),
                    line,
                    kind,
                },
            )
        });
        Ok(at)
    }

    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.index.clear();
        self.hints.clear();
    }
}

/// The texts are hashed side by side, not one after the other.
#[inline]
fn hash(seed: &Seed, frame: &Frame<'_>) -> u64 {
    let name = seed.bytes(frame.name.as_bytes()) ^ u64::from(frame.line);
    let file = seed.bytes(frame.file.as_bytes());
    let mut hasher = seed.hasher();
    hasher.write_u128(u128::from(file.rotate_left(32)) << 64 | u128::from(name));
    if !frame.kind.is_empty() {
        hasher.write(frame.kind.as_bytes());
    }
    hasher.finish()
}

/// Makes the rows of a frame.
fn intern(interner: &mut Interner, frame: &Frame<'_>) -> Result<Slot, Full> {
    let name = interner.string(frame.name)?;
    let filename = interner.string(frame.file)?;
    let (kind, attribute) = match frame.kind {
        "" => (StringId::NONE, None),
        kind => frame_type(interner, kind).map(|(kind, attribute)| (kind, Some(attribute)))?,
    };
    let function = interner.function(Function {
        name,
        filename,
        ..Function::default()
    })?;
    let line = Line {
        function,
        line: frame.line.into(),
        column: 0,
    };
    let location = interner.location(Spot {
        mapping: MappingId::NONE,
        address: 0,
        lines: &[line],
        attributes: attribute.as_slice(),
    })?;
    let range = |id| Range::of(&interner.dictionary.strings, id);
    Ok(Slot {
        location,
        line: frame.line,
        kind,
        name: range(name),
        file: range(filename),
    })
}

/// The text of a kind of code, and the attribute that says it.
fn frame_type(interner: &mut Interner, kind: &str) -> Result<(StringId, AttributeId), Full> {
    let key = interner.string(PROFILE_FRAME_TYPE)?;
    let text = interner.string(kind)?;
    let attribute = Attribute {
        key,
        value: Value::String(text),
        unit: StringId::NONE,
    };
    Ok((text, interner.attribute(attribute)?))
}
