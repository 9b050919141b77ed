//! Paths of frames from the root that were seen before are found again, and with them their stacks.

use crate::build::hints::{Hints, ODD, look};
use crate::build::parts::Frame;
use crate::build::room::{Room, column};
use crate::model::id::StackId;

/// How many frames are looked for at once.
pub(crate) const AT_ONCE: usize = 16;

/// Paths from the root, and their stacks: a tree, in which each path is another one and up to
/// [`AT_ONCE`] frames more.
///
/// ```text
/// path ─► a glance at the next frames ─► hint ─► path, and the records of these frames ─► …
/// ```
///
/// The glance is at lines and lengths, which are in the frames, and at hardly any text. So it is no
/// more than a guess, and each frame is confirmed by the words of its record. Of frames that look
/// the same behind the same path, the first are known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paths {
    /// Where a path is among the nodes.
    hints: Hints,
    /// Nodes, end to end: the path before, the stack or none, how many frames it has more, and the
    /// records of these.
    nodes: Vec<u32>,
}

/// Where every path begins.
pub(crate) const ROOT: u32 = u32::MAX;

/// The stack of a path that only others go through.
const NO_STACK: u32 = u32::MAX;

/// What stands before the records.
const HEAD: usize = 3;

/// What the frame in each place is multiplied by.
static FACTORS: [u64; AT_ONCE] = {
    let mut factors = [ODD; AT_ONCE];
    let mut at = 1;
    while at < AT_ONCE {
        factors[at] = ODD.wrapping_mul(factors[at - 1]);
        at += 1;
    }
    factors
};

/// A number for what frames behind a path look like from afar: all by their lines and lengths, the
/// first and the last by their names as well.
#[inline(always)]
fn glance(path: u32, frames: &[Frame<'_>]) -> u32 {
    let name = |frame: Option<&Frame<'_>>| frame.map_or(0, |frame| look(frame.name));
    let names = name(frames.first()) ^ name(frames.last()).rotate_left(32) ^ u64::from(path);
    let looks = frames.iter().zip(&FACTORS).map(|(frame, factor)| {
        let lengths = frame.name.len() ^ frame.filename.len() << 8;
        (u64::from(frame.line) << 32 ^ lengths as u64).wrapping_mul(*factor)
    });
    let looks = looks.fold(names.wrapping_mul(FACTORS[AT_ONCE - 1]), u64::wrapping_add);
    (looks >> 32) as u32
}

impl Paths {
    /// Which path goes on from another with these frames, and the records they may have.
    #[inline(always)]
    pub(crate) fn next(&self, path: u32, frames: &[Frame<'_>]) -> Option<(u32, &[u32])> {
        let next = self.hints.row(glance(path, frames));
        let ([before, _, len], rest) = self.node(next)?;
        let is_it = before == path && len as usize == frames.len();
        let records = rest.get(..frames.len()).filter(|_| is_it)?;
        Some((next, records))
    }

    #[inline(always)]
    fn node(&self, path: u32) -> Option<([u32; HEAD], &[u32])> {
        let (head, rest) = self.nodes.get(path as usize..)?.split_first_chunk()?;
        Some((*head, rest))
    }

    /// Remembers that a path goes on with these frames, whose records these are: if there is room,
    /// and none that looks the same.
    pub(crate) fn add(
        &mut self,
        path: u32,
        frames: &[Frame<'_>],
        records: &[u32],
        room: &mut Room,
    ) -> Option<u32> {
        let Self { hints, nodes } = self;
        let next = nodes.len() as u32;
        let mut added = None;
        hints.put(glance(path, frames), |there| {
            let len = HEAD + records.len();
            if there.is_some() {
                return None;
            }
            column(nodes.len(), len).ok()?;
            room.bytes(len * size_of::<u32>() + Hints::BYTES).ok()?;
            nodes.extend_from_slice(&[path, NO_STACK, records.len() as u32]);
            nodes.extend_from_slice(records);
            added = Some(next);
            added
        });
        added
    }

    /// The stack of a path, if it is known.
    #[inline]
    pub(crate) fn stack(&self, path: u32) -> Option<StackId> {
        match self.node(path)? {
            ([_, NO_STACK, _], _) => None,
            ([_, stack, _], _) => Some(StackId(stack)),
        }
    }

    /// Remembers the stack of a path.
    pub(crate) fn set_stack(&mut self, path: u32, stack: StackId) {
        let node = self.nodes.get_mut(path as usize..);
        if let Some([_, there, ..]) = node {
            *there = stack.0;
        }
    }

    /// Calls `f` with the records of a path's frames, from its end to the root.
    pub(crate) fn for_each_back(&self, mut path: u32, mut f: impl FnMut(u32)) {
        while let Some(([before, _, len], rest)) = self.node(path) {
            let records = rest.iter().take(len as usize);
            records.rev().for_each(|record| f(*record));
            path = before;
        }
    }

    /// Forgets everything, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.hints.clear();
        self.nodes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn frames<'a, const N: usize>(names: [&'a str; N], file: &'a str) -> [Frame<'a>; N] {
        names.map(|name| Frame::new(name).at(file, 3))
    }

    fn room() -> Room {
        Room::new(Limits::default())
    }

    #[test]
    fn a_path_goes_on_from_the_one_before() {
        let (mut paths, mut room) = (Paths::default(), room());
        let (one, two) = (frames(["main"], "a.rs"), frames(["serve", "read"], "a.rs"));
        assert_eq!(paths.next(ROOT, &one), None);
        let main = paths.add(ROOT, &one, &[7], &mut room).unwrap();
        let read = paths.add(main, &two, &[8, 9], &mut room).unwrap();
        assert_eq!(paths.next(ROOT, &one), Some((main, &[7][..])));
        assert_eq!(paths.next(main, &two), Some((read, &[8, 9][..])));
        for (path, frames) in [(ROOT, &two[..]), (read, &two), (main, &one), (main, &two[..1])] {
            assert_eq!(paths.next(path, frames), None);
        }
        let mut back = vec![];
        paths.for_each_back(read, |record| back.push(record));
        assert_eq!(back, [9, 8, 7]);
        paths.for_each_back(ROOT, |_| unreachable!());
        paths.clear();
        assert_eq!(paths.next(ROOT, &one), None);
    }

    #[test]
    fn a_path_has_a_stack_or_none() {
        let (mut paths, mut room) = (Paths::default(), room());
        let main = paths.add(ROOT, &frames(["main"], ""), &[7], &mut room);
        let main = main.unwrap();
        assert_eq!(paths.stack(main), None);
        paths.set_stack(main, StackId(5));
        assert_eq!(paths.stack(main), Some(StackId(5)));
        paths.set_stack(ROOT, StackId(6));
        assert_eq!(paths.stack(ROOT), None);
    }

    #[test]
    fn of_frames_that_look_the_same_the_first_are_known() {
        let (mut paths, mut room) = (Paths::default(), room());
        let (one, other) = (frames(["main", "serve"], "a.rs"), frames(["main", "serve"], "b.rs"));
        let known = paths.add(ROOT, &one, &[1, 2], &mut room).unwrap();
        let spent = room.spent();
        assert_eq!(paths.add(ROOT, &other, &[3, 4], &mut room), None);
        assert_eq!(room.spent(), spent);
        for frames in [&one, &other] {
            assert_eq!(paths.next(ROOT, frames), Some((known, &[1, 2][..])));
        }
        assert_eq!(paths.next(ROOT, &frames(["main", "serve"], "long.rs")), None);
    }

    #[test]
    fn what_looks_the_same_behind_another_path_is_not_taken_for_the_same() {
        let (mut paths, mut room) = (Paths::default(), room());
        let frame = |line| [Frame::new("read").at("a.rs", line)];
        let there = paths.add(ROOT, &frame(0), &[7], &mut room).unwrap();
        // A line more adds the lower half of ODD to a glance: the line that makes up for the path.
        let apart = glance(ROOT, &frame(0)).wrapping_sub(glance(there, &frame(0)));
        let inverse = (0..5).fold(1u32, |inverse, _| {
            let more = 2u32.wrapping_sub((ODD as u32).wrapping_mul(inverse));
            inverse.wrapping_mul(more)
        });
        let alike = frame(apart.wrapping_mul(inverse));
        assert_eq!(glance(there, &alike), glance(ROOT, &frame(0)));
        assert_eq!(paths.next(there, &alike), None);
        assert_eq!(paths.add(there, &alike, &[8], &mut room), None);
    }

    #[test]
    fn what_there_is_no_room_for_is_not_remembered() {
        let (mut paths, mut room) = (Paths::default(), room());
        room.limits.max_owned_bytes = 1000;
        let frame = |line| [Frame::new("main").at("a.rs", line)];
        let known =
            (0..1000).filter(|line| paths.add(ROOT, &frame(*line), &[7], &mut room).is_some());
        assert!((1..100).contains(&known.count()));
        assert!(paths.nodes.capacity() < 1000);
    }
}
