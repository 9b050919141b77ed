//! What was said in two texts and a number before is found again at once.

use crate::build::hints::{Hints, ODD, ends, look};
use crate::build::room::{Room, column};
use crate::model::id::StringId;
use crate::model::strings::Strings;

/// Two texts and a number that name a row: a function, its file and a line; a value and its key.
/// The first is the one that tells most rows apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a> {
    pub(crate) texts: [&'a str; 2],
    pub(crate) number: u32,
}

/// Rows by the words that name them: one look-up, where string, string and row would be three.
///
/// ```text
/// a glance at the texts ─► hint ─► record ─► are these its words? ─► row
///
/// record: row · number · note · length of the first text · start and length of the second · first text
/// ```
///
/// A glance is the ends and the middle of a text. It is cheaper than a hash, and no more than a
/// guess: the words are compared, the first text with the copy in the record, so that all but the
/// second text is in one place of memory. Where too many look the same some hints are forgotten,
/// and whoever asks goes the long way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    hints: Hints,
    /// Records, end to end. A first text too long to be copied is where it is in the arena.
    records: Vec<u8>,
    /// By row, where its record is.
    places: Vec<u32>,
}

/// Where there is no record.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// The longest text that is copied.
const NEAR: usize = 255;

/// What stands before the first text.
#[derive(Clone, Copy, Debug)]
struct Head {
    row: u32,
    number: u32,
    /// What else a row of these words says.
    note: StringId,
    first_len: u32,
    second: Range,
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
        Self { start: range.start as u32, len: range.len() as u32 }
    }
}

impl Head {
    const BYTES: usize = 6 * size_of::<u32>();

    fn to_bytes(self) -> [[u8; 4]; 6] {
        let Range { start, len } = self.second;
        let numbers = [self.row, self.number, self.note.0, self.first_len, start, len];
        numbers.map(u32::to_le_bytes)
    }

    #[inline(always)]
    fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let (numbers, _) = bytes.as_chunks();
        let number = |at: usize| u32::from_le_bytes(numbers[at]);
        Self {
            row: number(0),
            number: number(1),
            note: StringId(number(2)),
            first_len: number(3),
            second: Range { start: number(4), len: number(5) },
        }
    }
}

impl Words<'_> {
    #[inline(always)]
    fn glance(&self) -> u32 {
        let [first, second] = self.texts;
        let number = (u64::from(self.number) + 1).wrapping_mul(ODD);
        let product = u128::from(look(first) ^ number) * u128::from(ends(second) ^ ODD);
        (product as u64 ^ (product >> 64) as u64) as u32
    }
}

/// Whether a text begins at `start`.
#[inline(always)]
fn is_at(bytes: &[u8], start: usize, text: &str) -> bool {
    bytes.get(start..start + text.len()).is_some_and(|there| same(there, text.as_bytes()))
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

impl Seen {
    /// The row of these words, if it is known.
    #[inline]
    pub(crate) fn row(&self, words: &Words<'_>, strings: &Strings) -> Option<u32> {
        let (row, _) = self.confirm(self.guess(words), words, strings)?;
        Some(row)
    }

    /// Which record these words may have.
    #[inline(always)]
    pub(crate) fn guess(&self, words: &Words<'_>) -> u32 {
        self.hints.row(words.glance())
    }

    /// The row of a record and what else it says, if these are its words.
    #[inline(always)]
    pub(crate) fn confirm(
        &self,
        record: u32,
        words: &Words<'_>,
        strings: &Strings,
    ) -> Option<(u32, StringId)> {
        let (head, rest) = self.record(record)?;
        let [first, second] = words.texts;
        // One branch for all three, which hardly ever differ.
        let differ = u64::from(head.number ^ words.number)
            | (u64::from(head.first_len) ^ first.len() as u64)
            | (u64::from(head.second.len) ^ second.len() as u64);
        let arena = strings.arena().as_bytes();
        let is_it = differ == 0
            && match first.len() {
                0..=NEAR => is_at(rest, 0, first),
                _ => is_far(rest, arena, first),
            }
            && is_at(arena, head.second.start as usize, second);
        is_it.then_some((head.row, head.note))
    }

    /// The row of a record.
    pub(crate) fn row_of(&self, record: u32) -> Option<u32> {
        let (head, _) = self.record(record)?;
        Some(head.row)
    }

    #[inline(always)]
    fn record(&self, record: u32) -> Option<(Head, &[u8])> {
        let (head, rest) = self.records.get(record as usize..)?.split_first_chunk()?;
        Some((Head::from_bytes(head), rest))
    }

    /// Remembers the row of these words, and what else it says, if there is room; `texts` are where
    /// the dictionary has the words. Returns the record.
    pub(crate) fn remember(
        &mut self,
        words: &Words<'_>,
        note: StringId,
        texts: [StringId; 2],
        row: u32,
        strings: &Strings,
        room: &mut Room,
    ) -> u32 {
        let mut record = self.places.get(row as usize).copied().unwrap_or(NOWHERE);
        if record == NOWHERE {
            let [first, second] = texts.map(|id| Range::of(strings, id));
            let head = Head { row, number: words.number, note, first_len: first.len, second };
            let added = match words.texts[0].as_bytes() {
                near if near.len() <= NEAR => self.add(head, near, room),
                _ => self.add(head, &first.start.to_le_bytes(), room),
            };
            record = match added {
                Some(record) => record,
                None => return NOWHERE,
            };
        }
        self.hints.put(words.glance(), |_| Some(record));
        record
    }

    /// Adds the record of a row that has none.
    #[inline]
    fn add(&mut self, head: Head, rest: &[u8], room: &mut Room) -> Option<u32> {
        let bytes = Head::BYTES + rest.len();
        column(self.records.len(), bytes).ok()?;
        room.bytes(bytes + size_of::<u32>() + Hints::BYTES).ok()?;
        let record = self.records.len() as u32;
        self.records.extend_from_slice(head.to_bytes().as_flattened());
        self.records.extend_from_slice(rest);
        let row = head.row as usize;
        if self.places.len() <= row {
            self.places.resize(row + 1, NOWHERE);
        }
        self.places[row] = record;
        Some(record)
    }

    /// Forgets everything, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.hints.clear();
        self.records.clear();
        self.places.clear();
    }
}

/// Whether a text that is too long to be copied is where its record says.
#[inline(never)]
fn is_far(rest: &[u8], arena: &[u8], text: &str) -> bool {
    rest.first_chunk().is_some_and(|start| is_at(arena, u32::from_le_bytes(*start) as usize, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn words(texts: [&str; 2], number: u32) -> Words<'_> {
        Words { texts, number }
    }

    fn room() -> Room {
        Room::new(Limits::default())
    }

    fn remember(seen: &mut Seen, strings: &mut Strings, words: &Words<'_>, row: u32) -> u32 {
        let texts = words.texts.map(|text| strings.push(text));
        seen.remember(words, StringId::NONE, texts, row, strings, &mut room())
    }

    #[test]
    fn what_was_seen_is_known_and_nothing_else() {
        let (mut seen, mut strings) = (Seen::default(), Strings::default());
        let text = "abcdefgh".repeat(40);
        let all =
            || (0..text.len()).flat_map(|len| [[&text[..len], ""], [&text[..len], "main.rs"]]);
        for (row, texts) in all().enumerate() {
            let words = words(texts, row as u32 / 3);
            assert_eq!(seen.row(&words, &strings), None);
            let record = remember(&mut seen, &mut strings, &words, row as u32);
            assert_eq!(seen.row_of(record), Some(row as u32));
            assert_eq!(remember(&mut seen, &mut strings, &words, row as u32), record);
        }
        for (row, texts) in all().enumerate() {
            let number = row as u32 / 3;
            assert_eq!(seen.row(&words(texts, number + 999), &strings), None);
            assert_eq!(seen.row(&words(texts, number), &strings), Some(row as u32));
            let other = [texts[0], "main.rx"];
            assert_eq!(seen.row(&words(other, number), &strings), None);
        }
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
        for sides in [[20, 90], [200, 300]] {
            let (mut seen, mut strings) = (Seen::default(), Strings::default());
            let [one, other] = ["1", "2"]
                .map(|digit| format!("{}{digit}{}", "x".repeat(sides[0]), "y".repeat(sides[1])));
            let [one, other] = [&one, &other].map(|text| words([text, ""], 0));
            assert_eq!(one.glance(), other.glance());
            remember(&mut seen, &mut strings, &one, 1);
            assert_eq!(seen.row(&other, &strings), None);
            remember(&mut seen, &mut strings, &other, 2);
            assert_eq!(seen.row(&other, &strings), Some(2));
            assert_eq!(seen.row(&one, &strings), None);
        }
    }

    #[test]
    fn what_there_is_no_room_for_is_not_remembered() {
        let (mut seen, mut strings, mut room) = (Seen::default(), Strings::default(), room());
        room.limits.max_owned_bytes = 1000;
        let names: Vec<_> = (0..100).map(|at| format!("{at}")).collect();
        let known = names.iter().enumerate().filter(|(row, name)| {
            let (words, texts) = (words([name, ""], 0), [strings.push(name), StringId::NONE]);
            let record =
                seen.remember(&words, StringId::NONE, texts, *row as u32, &strings, &mut room);
            let row = (record != NOWHERE).then_some(*row as u32);
            assert_eq!(seen.row(&words, &strings), row);
            row.is_some()
        });
        assert!((1..100).contains(&known.count()));
        assert!(seen.records.capacity() < 1000);
    }
}
