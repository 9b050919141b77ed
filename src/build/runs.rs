//! Frames that follow each other as they did before are found again together.

use crate::build::parts::Frame;
use crate::build::room::{Room, column};
use crate::build::seen::{Hints, ODD, look};

/// How many frames are looked for at once.
pub(crate) const AT_ONCE: usize = 16;

/// Locations of frames that follow each other, by a glance at all of them.
///
/// A glance is at lines and lengths, which are in the frames, and at hardly any text. So it is no
/// more than a guess, and each location is confirmed by the texts of its frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    /// Where a run begins.
    hints: Hints,
    /// All runs. A run that takes the place of a shorter one ends in the next: they are guesses.
    locations: Vec<u32>,
}

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

/// A number for what frames look like from afar: all by their lines and lengths, the first and the
/// last by their names as well.
#[inline(always)]
pub(crate) fn glance(frames: &[Frame<'_>]) -> u32 {
    let name = |frame: Option<&Frame<'_>>| frame.map_or(0, |frame| look(frame.name));
    let names = name(frames.first()) ^ name(frames.last()).rotate_left(32);
    let looks = frames.iter().zip(&FACTORS).map(|(frame, factor)| {
        let lengths = frame.name.len() ^ frame.file.len() << 8;
        (u64::from(frame.line) << 32 ^ lengths as u64).wrapping_mul(*factor)
    });
    let looks = looks.fold(names.wrapping_mul(FACTORS[AT_ONCE - 1]), u64::wrapping_add);
    (looks >> 32) as u32
}

impl Runs {
    /// The locations that so many frames of this glance may have.
    #[inline(always)]
    pub(crate) fn of(&self, glance: u32, frames: usize) -> Option<&[u32]> {
        let start = self.hints.row(glance) as usize;
        self.locations.get(start..start.checked_add(frames)?)
    }

    /// Remembers the locations of frames, in the place of others of their glance; if there is room.
    #[inline(never)]
    pub(crate) fn remember(&mut self, glance: u32, run: &[u32], room: &mut Room) {
        let Self { hints, locations } = self;
        hints.put(glance, |start| {
            let place = start.and_then(|start| {
                let start = start as usize;
                locations.get_mut(start..start + run.len())
            });
            if let Some(place) = place {
                place.copy_from_slice(run);
                return start;
            }
            column(locations.len(), run.len()).ok()?;
            room.bytes(size_of_val(run) + Hints::BYTES).ok()?;
            locations.extend_from_slice(run);
            Some((locations.len() - run.len()) as u32)
        });
    }

    /// Forgets everything, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.hints.clear();
        self.locations.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    #[test]
    fn of_frames_that_look_the_same_the_last_are_known() {
        let (mut runs, mut room) = (Runs::default(), Room::new(Limits::default()));
        let frames =
            |file: &'static str| ["main", "serve"].map(|name| Frame::new(name).at(file, 3));
        let (one, other) = (glance(&frames("a.rs")), glance(&frames("b.rs")));
        assert_eq!(one, other);
        assert_ne!(one, glance(&frames("long.rs")));
        assert_eq!(runs.of(one, 2), None);
        runs.remember(one, &[1, 2], &mut room);
        assert_eq!(runs.of(one, 2), Some(&[1, 2][..]));
        assert_eq!(runs.of(one, 3), None);
        let spent = room.spent();
        runs.remember(other, &[3, 4], &mut room);
        assert_eq!(runs.of(one, 2), Some(&[3, 4][..]));
        assert_eq!(room.spent(), spent);
        runs.remember(one, &[5, 6, 7], &mut room);
        assert_eq!(runs.of(one, 3), Some(&[5, 6, 7][..]));
        runs.clear();
        assert_eq!(runs.of(one, 2), None);
    }

    #[test]
    fn what_there_is_no_room_for_is_not_remembered() {
        let (mut runs, mut room) = (Runs::default(), Room::new(Limits::default()));
        room.limits.max_owned_bytes = 1000;
        for glance in 0..1_000_000 {
            runs.remember(glance, &[glance; 4], &mut room);
        }
        let known = (0..1_000_000).filter(|glance| runs.of(*glance, 4).is_some());
        assert!((1..100).contains(&known.count()));
        assert!(runs.locations.capacity() < 1000);
    }
}
