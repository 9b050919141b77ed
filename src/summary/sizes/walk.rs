//! Counts the bytes of every field in one walk over a payload, and keeps the largest strings and stacks.
//!
//! Every byte counts once: a field counts its tag and value, and a message only the bytes outside its fields. So
//! the counts of all nodes add up to the payload, which `tests/it/sizes.rs` asserts.

use super::largest::{Largest, Locations, Range, Stack, Text};
use super::tree::{Part, ROOT, StackOf, Tree};
use crate::error::Result;
use crate::wire::read::Reader;
use crate::wire::{LEN, VARINT};

/// The count of a field.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    /// The number of occurrences.
    pub(super) times: u64,
    /// Tags, lengths and values. For messages, only the bytes outside their fields.
    pub(super) bytes: u64,
}

/// The bytes of a payload by field, and its largest items.
pub(super) struct Counted {
    /// Counts by node of the tree.
    pub(super) counts: Vec<Count>,
    pub(super) largest: Largest,
}

/// The stack of the current sample, or of the current row of the stack table.
#[derive(Default)]
struct CurrentStack {
    depth: u64,
    bytes: u64,
    /// The range of its locations in the payload. Empty before the first.
    locations: Range,
    start: u64,
    /// 0 if the stack is not a slice.
    length: u64,
}

/// The state of a walk.
struct Walk<'a, 't> {
    payload: &'a [u8],
    tree: &'t Tree,
    /// Maximum nesting of skipped fields.
    levels: u64,
    counted: Counted,
    stack: CurrentStack,
    /// The number of profiles walked so far.
    profiles: usize,
    /// The number of locations in the current profile's list that stacks are slices of (up to 1.7). They are
    /// counted before the samples, which may precede them, so that slices past the end are detected.
    shared: u64,
}

/// Counts the bytes of a payload.
///
/// # Errors
///
/// The payload is not a message of the version: truncated, or nested deeper than `levels`.
pub(super) fn counted(payload: &[u8], tree: &Tree, levels: u64) -> Result<Counted> {
    let counts = vec![Count::default(); tree.nodes.len()];
    let counted = Counted { counts, largest: Largest::default() };
    let stack = CurrentStack::default();
    let mut walk = Walk { payload, tree, levels, counted, stack, profiles: 0, shared: 0 };
    walk.message(ROOT, Reader::new(payload))?;
    Ok(walk.counted)
}

impl<'a> Walk<'a, '_> {
    /// Walks the fields of a message. The recursion is as deep as the tree of the schema, independent of the
    /// payload.
    fn message(&mut self, node: usize, mut reader: Reader<'a>) -> Result<()> {
        loop {
            let at = reader.at();
            let Some(tag) = reader.tag()? else { return Ok(()) };
            let child = self.tree.child(node, tag >> 3);
            let part = self.tree.nodes.get(child).map_or(Part::Leaf, |child| child.part);
            if tag & 7 == LEN && matches!(part, Part::Container | Part::Message) {
                let body = reader.message()?;
                // Only the tag and the length; the content counts for its fields.
                self.count(child, body.at() - at);
                let entered = self.enter(child, at, body);
                entered.map_err(|error| {
                    error.within(self.tree.nodes.get(child).map_or("", |child| child.name))
                })?;
            } else {
                let value = reader;
                reader.skip(tag, self.levels)?;
                let row = self.count(child, reader.at() - at);
                self.leaf(child, part, (at, tag, value), reader.at(), row)?;
            }
        }
    }

    /// Counts bytes of a field. Returns the index of this occurrence.
    #[inline]
    fn count(&mut self, node: usize, bytes: usize) -> u64 {
        let Some(count) = self.counted.counts.get_mut(node) else { return 0 };
        count.bytes += bytes as u64;
        count.times += 1;
        count.times - 1
    }

    /// Walks an embedded message whose tag begins at byte `at`.
    fn enter(&mut self, node: usize, at: usize, body: Reader<'a>) -> Result<()> {
        let of = self.tree.nodes.get(node);
        if let Some(stack) = of.and_then(|of| of.stack) {
            let end = body.at() + body.left();
            self.stack = CurrentStack::default();
            self.message(node, body)?;
            self.keep_deepest(stack, (end - at) as u64);
            return Ok(());
        }
        match self.tree.slices {
            Some(list) if of.is_some_and(|of| self.is_profile(node, of.part)) => {
                // Count the list first, because samples may precede it.
                self.shared = 0;
                each_location(body, list, self.levels, |_| self.shared += 1)?;
                self.message(node, body)?;
                self.measure(body, list)?;
                self.profiles += 1;
                Ok(())
            }
            _ => self.message(node, body),
        }
    }

    /// Returns whether a node is a profile with samples.
    fn is_profile(&self, node: usize, part: Part) -> bool {
        let samples = self.tree.nodes.get(self.tree.child(node, SAMPLES));
        part == Part::Container
            && samples.is_some_and(|samples| samples.stack == Some(StackOf::Sample))
    }

    /// Handles a field without subfields: records the length of a string, counts the locations of a stack.
    #[inline]
    fn leaf(
        &mut self,
        node: usize,
        part: Part,
        (at, tag, mut value): (usize, u32, Reader<'a>),
        end: usize,
        row: u64,
    ) -> Result<()> {
        match part {
            Part::Text if tag & 7 == LEN => {
                let text = value.message()?;
                let range = text.at()..text.at() + text.left();
                if !range.is_empty() {
                    self.counted.largest.text(Text { node, row, range });
                }
            }
            Part::Locations => {
                let stack = &mut self.stack;
                each_index(value, tag, |_| stack.depth += 1)?;
                stack.bytes += (end - at) as u64;
                let start = if stack.locations.is_empty() { at } else { stack.locations.start };
                stack.locations = start..end;
            }
            Part::SliceStart if tag & 7 == VARINT => self.stack.start = value.varint()?,
            Part::SliceLength if tag & 7 == VARINT => self.stack.length = value.varint()?,
            _ => {}
        }
        Ok(())
    }

    /// Keeps the stack of a message of `whole` bytes, if it is among the deepest.
    fn keep_deepest(&mut self, of: StackOf, whole: u64) {
        let CurrentStack { depth, bytes, locations, start, length } =
            std::mem::take(&mut self.stack);
        let stack = if length > 0 {
            // A slice past the end of the list is not a stack.
            let end = start.checked_add(length).filter(|end| *end <= self.shared);
            let locations = Locations::Slice { profile: self.profiles, start };
            end.map(|_| Stack { locations, depth: length, bytes: 0, times: 1 })
        } else {
            let bytes = if of == StackOf::Row { whole } else { bytes };
            let locations = Locations::Own(locations);
            (depth > 0).then_some(Stack { locations, depth, bytes, times: 1 })
        };
        if let Some(stack) = stack {
            self.counted.largest.stack(self.payload, stack);
        }
    }

    /// Computes the bytes of the kept slices of a profile.
    ///
    /// It walks the list a second time, only if slices of this profile are among the ten stacks kept.
    fn measure(&mut self, body: Reader<'a>, list: u32) -> Result<()> {
        let (profile, levels) = (self.profiles, self.levels);
        let stacks = self.counted.largest.stacks.iter_mut();
        let mut slices: Vec<(std::ops::Range<u64>, &mut u64)> = stacks
            .filter_map(|stack| match stack.locations {
                Locations::Slice { profile: of, start } if of == profile => {
                    Some((start..start + stack.depth, &mut stack.bytes))
                }
                _ => None,
            })
            .collect();
        if slices.is_empty() {
            return Ok(());
        }
        let mut row = 0;
        each_location(body, list, levels, |bytes| {
            for (slice, sum) in &mut slices {
                **sum += if slice.contains(&row) { bytes } else { 0 };
            }
            row += 1;
        })
    }
}

/// The field number of the samples of a profile, in all versions.
const SAMPLES: u32 = 2;

/// Calls `f` with the size of each number in the list that stacks are slices of.
fn each_location(
    mut profile: Reader<'_>,
    list: u32,
    levels: u64,
    mut f: impl FnMut(u64),
) -> Result<()> {
    while let Some(tag) = profile.tag()? {
        let value = profile;
        profile.skip(tag, levels)?;
        if tag >> 3 == list {
            each_index(value, tag, &mut f)?;
        }
    }
    Ok(())
}

/// Calls `f` with the size of each number of a field whose tag was read, packed or not.
fn each_index(mut value: Reader<'_>, tag: u32, mut f: impl FnMut(u64)) -> Result<()> {
    let mut of = |reader: &mut Reader<'_>| -> Result<()> {
        let at = reader.at();
        reader.varint()?;
        f((reader.at() - at) as u64);
        Ok(())
    };
    match tag & 7 {
        VARINT => of(&mut value),
        LEN => {
            let mut body = value.message()?;
            while !body.is_empty() {
                of(&mut body)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
