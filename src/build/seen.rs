//! What was said in two texts and a number before is found again at once.

use crate::model::id::StringId;
use crate::model::strings::Strings;

/// Two texts and a number that name a row: a function, its file and a line; a key and its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a> {
    pub(crate) texts: [&'a str; 2],
    pub(crate) number: u32,
}

/// Rows by the words that name them: one look-up, where string, string and row would be three.
///
/// ```text
/// a glance at the texts ─► hint ─► words of a row ─► equal in the arena? ─► row
/// ```
///
/// A glance is the ends and the middle of a text. It is cheaper than a hash, and no more than a
/// guess: what a row says is compared with the arena. Where too many look the same some hints are
/// forgotten, and whoever asks goes the long way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    hints: Hints,
    /// By row, what it is known by.
    rows: Vec<Known>,
}

/// What one row costs here, its share of the empty hints included.
pub(crate) const SEEN_BYTES: usize = size_of::<Known>() + Hints::BYTES;

/// Rows by a glance at them; of some that look the same or are in each other's way, the last ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hints {
    /// Groups of [`GROUP`]; a power of two of them all, twice those in use or more.
    hints: Vec<Hint>,
    used: usize,
}

const GROUP: usize = 4;

/// Where a glance leads.
#[derive(Clone, Copy, Debug)]
struct Hint {
    glance: u32,
    row: u32,
}

impl Hint {
    const NOWHERE: Self = Self {
        glance: 0,
        row: u32::MAX,
    };

    #[inline]
    fn is_free(self) -> bool {
        self.row == u32::MAX
    }
}

/// The words of a row.
#[derive(Clone, Copy, Debug)]
struct Known {
    number: u32,
    /// What else a row of these words says.
    note: StringId,
    texts: [Range; 2],
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

    #[inline(always)]
    fn is(self, text: &str, arena: &[u8]) -> bool {
        let start = self.start as usize;
        self.len as usize == text.len()
            && arena
                .get(start..start + text.len())
                .is_some_and(|there| same(there, text.as_bytes()))
    }
}

impl Known {
    /// Words that nothing has: no text is this long.
    const NOTHING: Self = Self {
        number: 0,
        note: StringId::NONE,
        texts: [Range {
            start: u32::MAX,
            len: u32::MAX,
        }; 2],
    };

    #[inline(always)]
    fn is(&self, words: &Words<'_>, arena: &[u8]) -> bool {
        self.number == words.number
            && self.texts[0].is(words.texts[0], arena)
            && self.texts[1].is(words.texts[1], arena)
    }
}

impl Words<'_> {
    #[inline(always)]
    fn glance(&self) -> u32 {
        let [first, second] = self.texts;
        let (first, second) = (look(first), ends(second.as_bytes()));
        let number = u64::from(self.number).wrapping_mul(ODD);
        let product = u128::from(first ^ number) * u128::from(second ^ ODD);
        (product as u64 ^ (product >> 64) as u64) as u32
    }
}

/// Whether two texts of one length are equal. Those of usual lengths are compared in place, where a
/// call would take as long as the comparison; and it takes far longer where the text is empty and
/// its address is none.
#[inline(always)]
fn same(a: &[u8], b: &[u8]) -> bool {
    match a.len() {
        0..4 => a.iter().zip(b).all(|(a, b)| a == b),
        4..8 => same_ends::<4>(a, b),
        8..16 => same_ends::<8>(a, b),
        16..=32 => same_ends::<16>(a, b),
        33..=64 => same_ends::<32>(a, b),
        _ => a == b,
    }
}

/// Whether two texts have equal ends, which meet or overlap in texts that are no longer than both.
#[inline(always)]
fn same_ends<const N: usize>(a: &[u8], b: &[u8]) -> bool {
    a.first_chunk::<N>() == b.first_chunk::<N>() && a.last_chunk::<N>() == b.last_chunk::<N>()
}

/// What numbers are multiplied by to mix their bits.
pub(crate) const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// What a glance sees of a text: its length, its ends and its middle.
#[inline(always)]
pub(crate) fn look(text: &str) -> u64 {
    ends(text.as_bytes()) ^ middle(text.as_bytes())
}

/// The length and the ends of a text.
#[inline(always)]
fn ends(text: &[u8]) -> u64 {
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

impl Seen {
    /// The row of these words, if it is known.
    #[inline]
    pub(crate) fn row(&self, words: &Words<'_>, strings: &Strings) -> Option<u32> {
        let row = self.guess(words);
        self.confirm(row, words, strings).map(|_| row)
    }

    /// Which row these words may be of; one past all rows when none.
    #[inline(always)]
    pub(crate) fn guess(&self, words: &Words<'_>) -> u32 {
        self.hints.row(words.glance())
    }

    /// What else the row guessed says, if these are its words.
    #[inline(always)]
    pub(crate) fn confirm(
        &self,
        row: u32,
        words: &Words<'_>,
        strings: &Strings,
    ) -> Option<StringId> {
        let known = self.rows.get(row as usize)?;
        let is_it = known.is(words, strings.arena().as_bytes());
        is_it.then_some(known.note)
    }

    /// Remembers the row of these words, and what else it says; `texts` are where the dictionary has
    /// the words.
    pub(crate) fn remember(
        &mut self,
        words: &Words<'_>,
        note: StringId,
        texts: [StringId; 2],
        strings: &Strings,
        row: u32,
    ) {
        if self.rows.len() <= row as usize {
            self.rows.resize(row as usize + 1, Known::NOTHING);
        }
        self.rows[row as usize] = Known {
            number: words.number,
            note,
            texts: texts.map(|id| Range::of(strings, id)),
        };
        self.hints.put(words.glance(), |_| Some(row));
    }

    /// Forgets everything, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.hints.clear();
        self.rows.clear();
    }
}

impl Hints {
    /// What one costs, its share of the empty ones included.
    pub(crate) const BYTES: usize = 4 * size_of::<Hint>();

    /// Where a glance leads; past all rows when nowhere.
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

    /// Where the other hints of the group lead.
    #[inline(never)]
    fn beside(&self, home: usize, glance: u32) -> u32 {
        (1..GROUP)
            .map(|step| self.hints[home ^ step])
            .find(|hint| hint.glance == glance)
            .map_or(u32::MAX, |hint| hint.row)
    }

    /// Puts a row into the group of its glance: in the place of one that looks the same, or a free
    /// one, or else the first. The caller, told which row was there, says which one is to be.
    #[inline]
    pub(crate) fn put(&mut self, glance: u32, row: impl FnOnce(Option<u32>) -> Option<u32>) {
        if self.used * 2 >= self.hints.len() {
            self.grow();
        }
        let home = self.home(glance);
        let mut place = home;
        for at in (0..GROUP).rev().map(|step| home ^ step) {
            let there = self.hints[at];
            if there.is_free() || there.glance == glance {
                place = at;
            }
        }
        let hint = &mut self.hints[place];
        let before = (!hint.is_free()).then_some(hint.row);
        if let Some(row) = row(before) {
            *hint = Hint { glance, row };
            self.used += usize::from(before.is_none());
        }
    }

    #[cold]
    fn grow(&mut self) {
        let more = (self.hints.len() * 2).max(4 * GROUP);
        let hints = std::mem::replace(&mut self.hints, vec![Hint::NOWHERE; more]);
        self.used = 0;
        hints
            .into_iter()
            .filter(|hint| !hint.is_free())
            .for_each(|hint| self.put(hint.glance, |_| Some(hint.row)));
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

    fn words(texts: [&str; 2], number: u32) -> Words<'_> {
        Words { texts, number }
    }

    fn remember(seen: &mut Seen, strings: &mut Strings, words: &Words<'_>, row: u32) {
        let texts = words.texts.map(|text| strings.push(text));
        seen.remember(words, StringId::NONE, texts, strings, row);
    }

    #[test]
    fn what_was_seen_is_known_and_nothing_else() {
        let (mut seen, mut strings) = (Seen::default(), Strings::default());
        let text = "abcdefgh".repeat(6);
        let all =
            || (0..text.len()).flat_map(|len| [[&text[..len], ""], [&text[..len], "main.rs"]]);
        for (row, texts) in all().enumerate() {
            let words = words(texts, row as u32 / 3);
            assert_eq!(seen.row(&words, &strings), None);
            remember(&mut seen, &mut strings, &words, row as u32);
        }
        let mut known = 0;
        for (row, texts) in all().enumerate() {
            let number = row as u32 / 3;
            let found = seen.row(&words(texts, number), &strings);
            assert!(found.is_none_or(|found| found == row as u32));
            known += usize::from(found.is_some());
            assert_eq!(seen.row(&words(texts, number + 9), &strings), None);
        }
        assert!(known * 10 >= all().count() * 9, "{known} are known");
        seen.clear();
        assert_eq!(seen.row(&words(["", ""], 0), &strings), None);
    }

    #[test]
    fn texts_of_every_length_are_compared_to_their_last_byte() {
        let text: Vec<u8> = (0..150).collect();
        for len in 0..=text.len() {
            let text = &text[..len];
            assert!(same(text, text.to_vec().as_slice()), "{len} bytes");
            for at in 0..len {
                let mut other = text.to_vec();
                other[at] ^= 0x80;
                assert!(!same(text, &other), "byte {at} of {len}");
            }
        }
    }

    #[test]
    fn what_looks_the_same_is_not_taken_for_the_same() {
        let (mut seen, mut strings) = (Seen::default(), Strings::default());
        let [one, other] =
            ["1", "2"].map(|digit| format!("{}{digit}{}", "x".repeat(20), "y".repeat(90)));
        assert_eq!(
            words([&one, ""], 0).glance(),
            words([&other, ""], 0).glance()
        );
        remember(&mut seen, &mut strings, &words([&one, ""], 0), 1);
        assert_eq!(seen.row(&words([&other, ""], 0), &strings), None);
        remember(&mut seen, &mut strings, &words([&other, ""], 0), 2);
        assert_eq!(seen.row(&words([&other, ""], 0), &strings), Some(2));
        assert_eq!(seen.row(&words([&one, ""], 0), &strings), None);
    }
}
