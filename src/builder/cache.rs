//! From the words that name a row straight to the row: a lossy cache before the interner.

use crate::builder::room::Room;
use crate::model::id::StringId;
use crate::model::row_index::growth;
use crate::model::strings::Strings;

/// Two texts and a number that name a row: a function, its file and a line; a value and its key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a> {
    /// The first is the one that tells most rows apart.
    pub(crate) texts: [&'a str; 2],
    pub(crate) number: u32,
}

/// Rows by the words that name them: one look-up, where two texts and a row would be three.
///
/// ```text
/// words ─► fingerprint ─► set of four slots: row ─► record of the row: are these its words?
/// ```
///
/// A set-associative cache. The fingerprint is of lengths and a few bytes, which is cheaper than a hash
/// of all texts; the words are then compared with those of the row, so a wrong guess costs time and
/// nothing else. Where a set is full a slot is overwritten: its row is found by the interner next
/// time. So however alike words look, a look-up costs no more than four slots.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cache {
    /// A power of two of them, or none; at most half are in use.
    slots: Vec<Slot>,
    /// How many slots hold a row.
    used: usize,
    /// By row.
    records: Vec<Record>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Of the words' lengths and a few of their bytes.
    fingerprint: u32,
    row: u32,
}

/// The words that name a row: where in the arena the texts are, and the number.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    texts: [Span; 2],
    number: u32,
    /// What else the row says.
    note: StringId,
}

/// A text in the arena.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u32,
    len: u32,
}

/// The slots that one fingerprint may be in.
const WAYS: usize = 4;

/// What numbers are multiplied by to mix their bits: 2⁶⁴ by the golden ratio.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Cache {
    /// What a row costs, its share of the free slots included.
    const BYTES: usize = size_of::<Record>() + 4 * size_of::<Slot>();

    /// The row of these words and what else it says, if it is known.
    #[inline(always)]
    pub(crate) fn find(&self, words: &Words<'_>, strings: &Strings) -> Option<(u32, StringId)> {
        let fingerprint = words.fingerprint();
        let home = *self.slots.get(self.home(fingerprint))?;
        match self.confirm(home, fingerprint, words, strings) {
            None => self.find_beside(fingerprint, words, strings),
            found => found,
        }
    }

    /// As [`find`](Self::find), where what is at home is another row.
    #[inline(never)]
    fn find_beside(
        &self,
        fingerprint: u32,
        words: &Words<'_>,
        strings: &Strings,
    ) -> Option<(u32, StringId)> {
        let mut ways = self.ways(fingerprint).filter_map(|place| self.slots.get(place));
        ways.find_map(|slot| self.confirm(*slot, fingerprint, words, strings))
    }

    /// The row of a slot, if it is of these words.
    #[inline(always)]
    fn confirm(
        &self,
        slot: Slot,
        fingerprint: u32,
        words: &Words<'_>,
        strings: &Strings,
    ) -> Option<(u32, StringId)> {
        // There is no record of the row of a free slot.
        let record = self.records.get(slot.row as usize)?;
        let is_it =
            slot.fingerprint == fingerprint && record.is_of(words, strings.arena().as_bytes());
        is_it.then_some((slot.row, record.note))
    }

    /// Remembers the row of these words and what else it says, if there is room; `texts` are the
    /// words in the dictionary.
    pub(crate) fn remember(
        &mut self,
        words: &Words<'_>,
        texts: [StringId; 2],
        (row, note): (u32, StringId),
        strings: &Strings,
        room: &mut Room,
    ) {
        let records = self.records.len().max(row as usize + 1);
        if room.bytes((records - self.records.len()) * Self::BYTES).is_err() {
            return;
        }
        self.records.resize(records, Record::default());
        let texts = texts.map(|id| Span::of(strings, id));
        self.records[row as usize] = Record { texts, number: words.number, note };
        if 2 * self.used >= self.slots.len() {
            self.grow();
        }
        self.put(Slot { fingerprint: words.fingerprint(), row });
    }

    /// Puts a slot into a free place of its set, or over the one that is at home there.
    fn put(&mut self, slot: Slot) {
        let mut ways = self.ways(slot.fingerprint);
        let free = ways.find(|&place| self.slots[place].is_free());
        let place = free.unwrap_or(self.home(slot.fingerprint));
        self.slots[place] = slot;
        self.used += usize::from(free.is_some());
    }

    #[inline(always)]
    fn home(&self, fingerprint: u32) -> usize {
        fingerprint as usize & self.slots.len().wrapping_sub(1)
    }

    /// The places of a set, the home of the fingerprint first.
    #[inline(always)]
    fn ways(&self, fingerprint: u32) -> impl Iterator<Item = usize> + use<> {
        let home = self.home(fingerprint);
        (0..WAYS).map(move |way| home ^ way)
    }

    #[cold]
    fn grow(&mut self) {
        let more = self.slots.len().max(WAYS) * growth(self.used);
        let slots = std::mem::replace(&mut self.slots, vec![Slot::FREE; more]);
        self.used = 0;
        slots.into_iter().filter(|slot| !slot.is_free()).for_each(|slot| self.put(slot));
    }

    /// Forgets everything, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.slots.fill(Slot::FREE);
        self.used = 0;
        self.records.clear();
    }
}

impl Slot {
    const FREE: Self = Self { fingerprint: 0, row: u32::MAX };

    fn is_free(self) -> bool {
        self.row == u32::MAX
    }
}

impl Record {
    #[inline(always)]
    fn is_of(&self, words: &Words<'_>, arena: &[u8]) -> bool {
        let [first, second] = self.texts;
        // One branch for all three, which hardly ever differ.
        let differ = u64::from(self.number ^ words.number)
            | (u64::from(first.len) ^ words.texts[0].len() as u64)
            | (u64::from(second.len) ^ words.texts[1].len() as u64);
        differ == 0 && first.is(words.texts[0], arena) && second.is(words.texts[1], arena)
    }
}

impl Span {
    fn of(strings: &Strings, id: StringId) -> Self {
        let range = strings.range(id).unwrap_or_default();
        Self { start: range.start as u32, len: range.len() as u32 }
    }

    /// Whether a text of this length is here. Those of usual lengths are compared in place, where a
    /// call would take as long as the comparison.
    #[inline(always)]
    fn is(self, text: &str, arena: &[u8]) -> bool {
        let start = self.start as usize;
        let Some(here) = arena.get(start..start + text.len()) else { return false };
        let text = text.as_bytes();
        match text.len() {
            0..4 => here.iter().zip(text).all(|(a, b)| a == b),
            4..8 => same_ends::<4>(here, text),
            8..16 => same_ends::<8>(here, text),
            16..=32 => same_ends::<16>(here, text),
            33..=64 => same_ends::<32>(here, text),
            _ => here == text,
        }
    }
}

/// Whether two texts have equal ends, which meet or overlap in texts that are no longer than both.
#[inline(always)]
fn same_ends<const N: usize>(a: &[u8], b: &[u8]) -> bool {
    a.first_chunk::<N>() == b.first_chunk::<N>() && a.last_chunk::<N>() == b.last_chunk::<N>()
}

impl Words<'_> {
    /// A folded multiplication of the number, the lengths, and what is seen of the first text.
    #[inline(always)]
    fn fingerprint(&self) -> u32 {
        let [first, second] = self.texts;
        let rest = u64::from(self.number) << 32 ^ second.len() as u64 ^ ODD;
        let product = u128::from(sample(first.as_bytes())) * u128::from(rest);
        (product as u64 ^ (product >> 64) as u64) as u32
    }
}

/// The length of a text, its ends and its middle: all of it up to 24 bytes.
#[inline(always)]
fn sample(text: &[u8]) -> u64 {
    let len = (text.len() as u64) << 56;
    match (text.first_chunk(), text.get(text.len() / 2..), text.last_chunk()) {
        (Some(first), Some(middle), Some(last)) => {
            let middle = middle.first_chunk().unwrap_or(last);
            let [first, middle, last] = [first, middle, last].map(|at| u64::from_le_bytes(*at));
            (first ^ len).rotate_left(25) ^ middle.rotate_left(47) ^ last
        }
        _ => text.iter().fold(len, |all, byte| all.rotate_left(8) ^ u64::from(*byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn words(texts: [&str; 2], number: u32) -> Words<'_> {
        Words { texts, number }
    }

    fn remember(cache: &mut Cache, strings: &mut Strings, words: &Words<'_>, row: u32) {
        let texts = words.texts.map(|text| strings.push(text));
        let room = &mut Room::new(Limits::default());
        cache.remember(words, texts, (row, StringId(row)), strings, room);
    }

    #[test]
    fn what_is_known_is_so_by_all_its_words() {
        let (mut cache, mut strings) = (Cache::default(), Strings::default());
        let text = "abcdefgh".repeat(40);
        let all =
            || (0..text.len()).flat_map(|len| [[&text[..len], ""], [&text[..len], "main.rs"]]);
        for (row, texts) in all().enumerate() {
            let words = words(texts, row as u32 / 3);
            assert_eq!(cache.find(&words, &strings), None);
            remember(&mut cache, &mut strings, &words, row as u32);
            assert_eq!(cache.find(&words, &strings), Some((row as u32, StringId(row as u32))));
        }
        let mut known = 0;
        for (row, texts) in all().enumerate() {
            let number = row as u32 / 3;
            let found = cache.find(&words(texts, number), &strings).map(|(row, _)| row);
            assert!(found.is_none_or(|found| found == row as u32));
            known += usize::from(found.is_some());
            assert_eq!(cache.find(&words(texts, number + 999), &strings), None);
            assert_eq!(cache.find(&words([texts[0], "main.rx"], number), &strings), None);
        }
        assert!(known * 20 > all().count() * 19, "{known}");
        cache.clear();
        assert_eq!(cache.find(&words(["", ""], 0), &strings), None);
    }

    #[test]
    fn texts_of_every_length_are_compared_to_their_last_byte() {
        let text: String = ('\0'..='\x7f').chain('\0'..' ').collect();
        for len in 0..=text.len() {
            let (text, span) = (&text[..len], Span { start: 0, len: len as u32 });
            assert!(span.is(text, text.as_bytes()), "{len} bytes");
            for at in 0..len {
                let mut other = text.as_bytes().to_vec();
                other[at] ^= 0x80;
                assert!(!span.is(text, &other), "byte {at} of {len}");
            }
        }
    }

    #[test]
    fn what_looks_the_same_is_not_taken_for_the_same() {
        let (mut cache, mut strings) = (Cache::default(), Strings::default());
        let names: Vec<_> =
            (0..9).map(|at| format!("{}{at}{}", "x".repeat(20), "y".repeat(90))).collect();
        for (row, name) in names.iter().enumerate() {
            let words = words([name, ""], 0);
            assert_eq!(cache.find(&words, &strings), None);
            remember(&mut cache, &mut strings, &words, row as u32);
        }
        let known = names.iter().filter_map(|name| cache.find(&words([name, ""], 0), &strings));
        assert_eq!(known.count(), WAYS);
    }

    #[test]
    fn what_there_is_no_room_for_is_not_remembered() {
        let (mut cache, mut strings) = (Cache::default(), Strings::default());
        let mut room = Room::new(Limits::default());
        room.limits.max_owned_bytes = 1000;
        for row in 0..100 {
            let name = row.to_string();
            let (words, texts) = (words([&name, ""], 0), [strings.push(&name), StringId::NONE]);
            cache.remember(&words, texts, (row, StringId::NONE), &strings, &mut room);
        }
        assert!((1..100).contains(&cache.used));
        assert!(cache.records.len() < 20);
    }
}
