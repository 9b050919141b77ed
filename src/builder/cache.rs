//! A lossy cache in front of the interner: maps the strings that name a row directly to the row.

use crate::model::id::StringId;
use crate::model::row_index::growth;
use crate::model::strings::Strings;
use crate::tables::rows::budget::BuilderBudget;

/// Two strings and a number that name a row: a function, its file and a line; or a value and its key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CacheKey<'a> {
    /// The string that differs most between rows comes first.
    pub(crate) texts: [&'a str; 2],
    pub(crate) number: u32,
}

/// Finds rows by the words that name them, with one lookup instead of three for interning two strings and a row.
///
/// ```text
/// words ─► fingerprint ─► set of four slots: row ─► record of the row: are these its words?
/// ```
///
/// A set-associative cache. The fingerprint covers the lengths and a few bytes, which is cheaper than a hash of the
/// whole strings. The words are then compared with those of the row, so a fingerprint collision costs only time. If
/// a set is full, one of its slots is overwritten; the interner then finds that row next time. So a lookup probes
/// at most four slots, however similar the words are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cache {
    /// A power of two of slots, or none. At most half are in use.
    slots: Vec<Slot>,
    /// The number of used slots.
    used: usize,
    /// Records by row.
    records: Vec<Record>,
}

/// A slot of the cache.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Computed from the lengths of the words and a few of their bytes.
    fingerprint: u32,
    row: u32,
}

/// The words that name a row: the ranges of their strings in the arena, and the number.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    texts: [Span; 2],
    number: u32,
    /// Additional information about the row.
    note: StringId,
}

/// The range of a string in the arena.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u32,
    len: u32,
}

/// Slots of a set, all of which one fingerprint may use.
const WAYS: usize = 4;

/// Multiplier that mixes the bits of numbers: 2⁶⁴ divided by the golden ratio.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Cache {
    /// Memory of a row in bytes, including its share of the free slots.
    const BYTES: usize = size_of::<Record>() + 4 * size_of::<Slot>();

    /// Returns the row of these words and its note, if cached.
    // Always inlined: if only `confirm` is not, building takes up to 3 % more instructions.
    #[inline(always)]
    pub(crate) fn find(&self, key: &CacheKey<'_>, strings: &Strings) -> Option<(u32, StringId)> {
        let fingerprint = key.fingerprint();
        // An empty table has no slot at all.
        let home = *self.slots.get(self.first_slot(fingerprint))?;
        match self.confirm(home, fingerprint, key, strings) {
            None => self.find_beside(fingerprint, key, strings),
            found => found,
        }
    }

    /// Like [`find`](Self::find), after the home slot did not match.
    #[inline(never)]
    fn find_beside(
        &self,
        fingerprint: u32,
        key: &CacheKey<'_>,
        strings: &Strings,
    ) -> Option<(u32, StringId)> {
        let mut ways = self.ways(fingerprint).filter_map(|place| self.slots.get(place));
        ways.find_map(|slot| self.confirm(*slot, fingerprint, key, strings))
    }

    /// Returns the row of a slot, if its words are equal.
    #[inline(always)]
    fn confirm(
        &self,
        slot: Slot,
        fingerprint: u32,
        key: &CacheKey<'_>,
        strings: &Strings,
    ) -> Option<(u32, StringId)> {
        // Free slots have a row without a record.
        let record = self.records.get(slot.row as usize)?;
        let is_it =
            slot.fingerprint == fingerprint && record.is_of(key, strings.arena().as_bytes());
        is_it.then_some((slot.row, record.note))
    }

    /// Caches the row of these words with its note, if memory allows. `texts` are the words' strings in the
    /// dictionary.
    pub(crate) fn insert(
        &mut self,
        key: &CacheKey<'_>,
        texts: [StringId; 2],
        (row, note): (u32, StringId),
        strings: &Strings,
        budget: &mut BuilderBudget,
    ) {
        // A row that does not fit here is found by the interner, more slowly.
        let records = self.records.len().max(row as usize + 1);
        if budget.bytes((records - self.records.len()) * Self::BYTES).is_err() {
            return;
        }
        self.records.resize(records, Record::default());
        let texts = texts.map(|id| Span::of(strings, id));
        self.records[row as usize] = Record { texts, number: key.number, note };
        if 2 * self.used >= self.slots.len() {
            self.grow();
        }
        self.put(Slot { fingerprint: key.fingerprint(), row });
    }

    /// Stores a slot in a free place of its set, or else in its home place.
    fn put(&mut self, slot: Slot) {
        let mut ways = self.ways(slot.fingerprint);
        // In range: `insert` has grown the table, which has at least one set.
        let free = ways.find(|&place| self.slots[place].is_free());
        let place = free.unwrap_or(self.first_slot(slot.fingerprint));
        self.slots[place] = slot;
        self.used += usize::from(free.is_some());
    }

    /// Returns the first slot of a set.
    #[inline]
    fn first_slot(&self, fingerprint: u32) -> usize {
        fingerprint as usize & self.slots.len().wrapping_sub(1)
    }

    /// Returns the places of a set, the home place first.
    #[inline]
    fn ways(&self, fingerprint: u32) -> impl Iterator<Item = usize> + use<> {
        let home = self.first_slot(fingerprint);
        // The length is a power of two and at least `WAYS`, so all places of the set are in the table.
        (0..WAYS).map(move |way| home ^ way)
    }

    /// Grows the table and inserts all slots again.
    #[cold]
    fn grow(&mut self) {
        let more = self.slots.len().max(WAYS) * growth(self.used);
        let slots = std::mem::replace(&mut self.slots, vec![Slot::FREE; more]);
        self.used = 0;
        slots.into_iter().filter(|slot| !slot.is_free()).for_each(|slot| self.put(slot));
    }

    /// Removes all rows but keeps the allocations.
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
    /// Returns whether the record has these words.
    #[inline]
    fn is_of(&self, key: &CacheKey<'_>, arena: &[u8]) -> bool {
        let [first, second] = self.texts;
        // A single branch for all three comparisons, which rarely fail.
        let differ = u64::from(self.number ^ key.number)
            | (u64::from(first.len) ^ key.texts[0].len() as u64)
            | (u64::from(second.len) ^ key.texts[1].len() as u64);
        differ == 0 && first.is(key.texts[0], arena) && second.is(key.texts[1], arena)
    }
}

impl Span {
    fn of(strings: &Strings, id: StringId) -> Self {
        let range = strings.range(id).unwrap_or_default();
        Self { start: range.start as u32, len: range.len() as u32 }
    }

    /// Returns whether `text` is in the arena at this range. Strings of usual lengths are compared inline, because
    /// a call would take as long as the comparison.
    #[inline(always)]
    fn is(self, text: &str, arena: &[u8]) -> bool {
        let start = self.start as usize;
        // `Record::is_of` has compared the lengths.
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

/// Returns whether two strings of equal length have equal first and last `N` bytes. Up to a length of 2 `N`, these
/// cover the whole string.
#[inline(always)]
fn same_ends<const N: usize>(a: &[u8], b: &[u8]) -> bool {
    a.first_chunk::<N>() == b.first_chunk::<N>() && a.last_chunk::<N>() == b.last_chunk::<N>()
}

impl CacheKey<'_> {
    /// Computes the fingerprint by a folded multiplication of the number, the lengths and some bytes of the first
    /// string.
    #[inline]
    fn fingerprint(&self) -> u32 {
        let [first, second] = self.texts;
        // `ODD` keeps words without a number and a second string from being multiplied by 0.
        let rest = u64::from(self.number) << 32 ^ second.len() as u64 ^ ODD;
        let product = u128::from(sample(first.as_bytes())) * u128::from(rest);
        // Both halves of the product are mixed, so that every input bit counts.
        (product as u64 ^ (product >> 64) as u64) as u32
    }
}

/// Mixes the length, the ends and the middle of a string: all bytes, up to a length of 17.
#[inline]
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

    fn key(texts: [&str; 2], number: u32) -> CacheKey<'_> {
        CacheKey { texts, number }
    }

    fn insert(cache: &mut Cache, strings: &mut Strings, key: &CacheKey<'_>, row: u32) {
        let texts = key.texts.map(|text| strings.push(text));
        let budget = &mut BuilderBudget::new(Limits::default());
        cache.insert(key, texts, (row, StringId(row)), strings, budget);
    }

    #[test]
    fn what_is_known_is_so_by_all_its_words() {
        let (mut cache, mut strings) = (Cache::default(), Strings::default());
        let text = "abcdefgh".repeat(40);
        let all =
            || (0..text.len()).flat_map(|len| [[&text[..len], ""], [&text[..len], "main.rs"]]);
        for (row, texts) in all().enumerate() {
            let key = key(texts, row as u32 / 3);
            assert_eq!(cache.find(&key, &strings), None);
            insert(&mut cache, &mut strings, &key, row as u32);
            assert_eq!(cache.find(&key, &strings), Some((row as u32, StringId(row as u32))));
        }
        let mut known = 0;
        for (row, texts) in all().enumerate() {
            let number = row as u32 / 3;
            let found = cache.find(&key(texts, number), &strings).map(|(row, _)| row);
            assert!(found.is_none_or(|found| found == row as u32));
            known += usize::from(found.is_some());
            assert_eq!(cache.find(&key(texts, number + 999), &strings), None);
            assert_eq!(cache.find(&key([texts[0], "main.rx"], number), &strings), None);
        }
        assert!(known * 20 > all().count() * 19, "{known}");
        cache.clear();
        assert_eq!(cache.find(&key(["", ""], 0), &strings), None);
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
            let key = key([name, ""], 0);
            assert_eq!(cache.find(&key, &strings), None);
            insert(&mut cache, &mut strings, &key, row as u32);
        }
        let known = names.iter().filter_map(|name| cache.find(&key([name, ""], 0), &strings));
        assert_eq!(known.count(), WAYS);
    }

    #[test]
    fn what_there_is_no_room_for_is_not_remembered() {
        let (mut cache, mut strings) = (Cache::default(), Strings::default());
        let mut budget = BuilderBudget::new(Limits::default().max_owned_bytes(1000));
        for row in 0..100 {
            let name = row.to_string();
            let (key, texts) = (key([&name, ""], 0), [strings.push(&name), StringId::NONE]);
            cache.insert(&key, texts, (row, StringId::NONE), &strings, &mut budget);
        }
        assert!((1..100).contains(&cache.used));
        assert!(cache.records.len() < 20);
    }
}
