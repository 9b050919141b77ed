//! A glance at what is looked for, and where it led before.

use crate::build::index::growth;

/// What numbers are multiplied by to mix their bits.
pub(crate) const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// What a glance sees of a text: its length, its ends and its middle.
#[inline(always)]
pub(crate) fn look(text: &str) -> u64 {
    ends(text) ^ middle(text.as_bytes())
}

/// The length and the ends of a text.
#[inline(always)]
pub(crate) fn ends(text: &str) -> u64 {
    let text = text.as_bytes();
    let (first, last) = match (text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        _ => ends_of_short(text),
    };
    (first ^ (text.len() as u64) << 56).rotate_left(25) ^ last
}

/// Both ends of less than eight bytes.
#[inline(never)]
fn ends_of_short(text: &[u8]) -> (u64, u64) {
    match (text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last)) => {
            let [first, last] = [first, last].map(|end| u32::from_le_bytes(*end).into());
            (first, last)
        }
        _ => match text {
            [] => (0, 0),
            [first, .., last] => ((*first).into(), u64::from(*last) ^ u64::from(text[1]) << 8),
            [only] => ((*only).into(), 0),
        },
    }
}

/// What is between the ends of a text: all of it up to 32 bytes, next to the ends and in the middle
/// of a longer one.
#[inline(always)]
fn middle(text: &[u8]) -> u64 {
    let at = |place: usize| {
        let there = text.get(place..).and_then(|text| text.first_chunk());
        there.map_or(0, |there| u64::from_le_bytes(*there))
    };
    match text.len().checked_sub(16) {
        None => 0,
        Some(last) => at(8).rotate_left(13) ^ at(text.len() / 2).rotate_left(47) ^ at(last),
    }
}

/// Rows, or places, by a glance at what they are of. Of what looks the same one is known.
///
/// A hint is where its glance says, or beside it in a group, or, where groups are full, in one of
/// the next. It is a guess: whoever asks has to confirm it, and goes a longer way if there is none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hints {
    /// In groups; a power of two of them all, twice to eight times those in use.
    hints: Vec<Hint>,
    used: usize,
}

/// How many hints are a group.
const GROUP: usize = 4;

/// How many groups are looked through for a hint, and no more, whatever its neighbours are.
const GROUPS: usize = 8;

/// Where a glance leads.
#[derive(Clone, Copy, Debug)]
struct Hint {
    glance: u32,
    row: u32,
}

impl Hint {
    const NOWHERE: Self = Self { glance: 0, row: u32::MAX };

    #[inline]
    fn is_free(self) -> bool {
        self.row == u32::MAX
    }
}

impl Hints {
    /// What one costs, its share of the empty ones included.
    pub(crate) const BYTES: usize = 4 * size_of::<Hint>();

    /// Where a glance leads; `u32::MAX` when nowhere.
    #[inline(always)]
    pub(crate) fn row(&self, glance: u32) -> u32 {
        let home = self.home(glance);
        match self.hints.get(home) {
            Some(hint) if hint.glance == glance => hint.row,
            Some(_) => self.beside(home, glance),
            None => u32::MAX,
        }
    }

    #[inline(always)]
    fn home(&self, glance: u32) -> usize {
        glance as usize & self.hints.len().wrapping_sub(1)
    }

    /// The group of a home and those behind it, each with the place where it begins.
    #[inline]
    fn groups(&self, home: usize) -> impl Iterator<Item = (usize, &[Hint])> {
        let places = self.hints.len().wrapping_sub(1);
        (0..GROUPS).map(move |step| {
            let start = ((home / GROUP + step) * GROUP) & places;
            (start, &self.hints[start..start + GROUP])
        })
    }

    /// Where a glance leads that is not at home.
    #[inline(never)]
    fn beside(&self, home: usize, glance: u32) -> u32 {
        for (_, group) in self.groups(home) {
            if let Some(hint) = group.iter().find(|hint| hint.glance == glance) {
                return hint.row;
            }
            if group.iter().any(|hint| hint.is_free()) {
                break;
            }
        }
        u32::MAX
    }

    /// Puts a row in the place of one that looks the same, or a free one, or else of the one that is
    /// at home. The caller, told which row was there, says which one is to be.
    #[inline]
    pub(crate) fn put(&mut self, glance: u32, row: impl FnOnce(Option<u32>) -> Option<u32>) {
        if self.used * 2 >= self.hints.len() {
            self.grow();
        }
        let place = self.place(glance);
        let hint = &mut self.hints[place];
        let before = (!hint.is_free()).then_some(hint.row);
        if let Some(row) = row(before) {
            *hint = Hint { glance, row };
            self.used += usize::from(before.is_none());
        }
    }

    /// Where a hint is or goes. But for those at home, the free ones of a group are its last.
    #[inline]
    fn place(&self, glance: u32) -> usize {
        let home = self.home(glance);
        let fits = |hint: &Hint| hint.is_free() || hint.glance == glance;
        if fits(&self.hints[home]) {
            return home;
        }
        self.groups(home)
            .find_map(|(start, group)| Some(start + group.iter().position(fits)?))
            .unwrap_or(home)
    }

    #[cold]
    fn grow(&mut self) {
        let more = (self.hints.len() * growth(self.used)).max(GROUPS * GROUP);
        let hints = std::mem::replace(&mut self.hints, vec![Hint::NOWHERE; more]);
        self.used = 0;
        for hint in hints.iter().filter(|hint| !hint.is_free()) {
            self.put(hint.glance, |_| Some(hint.row));
        }
    }

    /// Forgets everything, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.hints.fill(Hint::NOWHERE);
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_there_and_nothing_else() {
        let mut hints = Hints::default();
        assert_eq!(hints.row(0), u32::MAX);
        // Six to a group.
        let glance = |row: u32| ((row % 3) << 20) + row / 6 * 16 + row / 3 % 2;
        for row in 0..5_000 {
            assert_eq!(hints.row(glance(row)), u32::MAX, "{row}");
            hints.put(glance(row), |before| {
                assert_eq!(before, None, "{row}");
                Some(row)
            });
        }
        for row in 0..5_000 {
            assert_eq!(hints.row(glance(row)), row);
        }
        assert_eq!(hints.row(3 << 20), u32::MAX);
        hints.clear();
        assert_eq!(hints.row(glance(7)), u32::MAX);
    }

    #[test]
    fn of_many_in_one_place_some_are_known() {
        let mut hints = Hints::default();
        let glance = |row: u32| row << 16;
        for row in 0..1_000 {
            hints.put(glance(row), |_| Some(row));
        }
        let known = (0..1_000).filter(|row| hints.row(glance(*row)) == *row);
        assert_eq!(known.count(), GROUPS * GROUP);
        assert_eq!(hints.row(glance(999)), 999);
        hints.put(glance(5_000), |before| before.is_none().then_some(7));
        assert_eq!(hints.row(glance(5_000)), u32::MAX);
    }
}
