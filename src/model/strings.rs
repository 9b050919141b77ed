//! All strings of a payload, in one arena.

use crate::error::Result;
use crate::limits::Budget;
use crate::model::id::StringId;

/// All strings of a payload, in one arena: an array of bytes, and the end of each string in it.
///
/// Row 0 is the empty string. The arena is valid UTF-8. A pprof string that is not UTF-8 is stored with U+FFFD in
/// place of invalid bytes, and its original bytes are stored separately for the pprof writer.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
/// let strings = profiles.dictionary().strings();
/// assert_eq!(strings.get(Default::default()), "");
/// assert!(strings.iter().any(|text| text == "main.main"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strings {
    /// All strings, end to end.
    text: String,
    /// The end of each string in `text`. The first is that of the empty string, 0.
    ends: Vec<u32>,
    /// The original bytes of the strings that were not UTF-8, by id.
    raw: Vec<(StringId, Box<[u8]>)>,
}

impl Default for Strings {
    fn default() -> Self {
        Self { text: String::new(), ends: vec![0], raw: Vec::new() }
    }
}

impl Strings {
    /// No strings, not even the empty one: a placeholder that allocates nothing.
    pub(crate) const NONE: Self = Self { text: String::new(), ends: Vec::new(), raw: Vec::new() };

    /// Returns the string of `id`, or an empty string if `id` is out of range, as an id of another dictionary may
    /// be.
    /// It takes constant time and copies nothing.
    #[inline]
    pub fn get(&self, id: StringId) -> &str {
        self.range(id).and_then(|range| self.text.get(range)).unwrap_or_default()
    }

    /// Returns the original bytes of `id`: those of the string, unless they were not UTF-8.
    /// Comparisons with the source, as in editing, use these.
    #[inline]
    pub fn bytes(&self, id: StringId) -> &[u8] {
        match self.raw_of(id) {
            Some(raw) => raw,
            None => {
                self.range(id).and_then(|range| self.text.as_bytes().get(range)).unwrap_or_default()
            }
        }
    }

    /// Iterates over the strings that were not UTF-8 in the source, with their original bytes, in the order of the ids.
    ///
    /// Protobuf requires UTF-8 in OTLP strings, so others are refused or repaired
    /// ([`Policy`](crate::Policy)). pprof strings may contain any bytes.
    ///
    /// ```
    /// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// assert_eq!(profiles.dictionary().strings().not_utf8().len(), 0);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn not_utf8(&self) -> impl ExactSizeIterator<Item = (StringId, &[u8])> {
        self.raw.iter().map(|(id, bytes)| (*id, &**bytes))
    }

    /// Returns the number of strings, including the empty one.
    /// It is at least 1.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Iterates over all strings in order of their ids.
    /// Equal strings may have several rows if the payload repeats them; [`compact`](crate::Profiles::compact) joins
    /// them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.ends.len()).map(|row| self.get(StringId(row as u32)))
    }

    /// Returns the size of the arena in bytes.
    /// At most 4 GiB, because ends have 32 bits.
    pub fn text_len(&self) -> usize {
        self.text.len()
    }

    /// Returns all strings, end to end.
    #[inline]
    pub(crate) fn arena(&self) -> &str {
        &self.text
    }

    /// Returns the range of a string in the arena.
    #[inline]
    pub(crate) fn range(&self, id: StringId) -> Option<std::ops::Range<usize>> {
        let row = id.row();
        let end = *self.ends.get(row)? as usize;
        let start = if row == 0 { 0 } else { *self.ends.get(row - 1)? as usize };
        Some(start..end)
    }

    /// Returns the separately stored bytes of `id`. They are sorted by id, because strings are pushed in order.
    #[inline]
    fn raw_of(&self, id: StringId) -> Option<&[u8]> {
        if self.raw.is_empty() {
            return None;
        }
        let at = self.raw.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(&self.raw[at].1)
    }

    /// Reserves space for `strings` more strings of `bytes` bytes in total.
    pub(crate) fn reserve(&mut self, strings: usize, bytes: usize) {
        self.ends.reserve(strings);
        self.text.reserve(bytes);
    }

    /// Removes the strings from `strings` on but keeps the allocation.
    pub(crate) fn truncate(&mut self, strings: usize) {
        // Row 0 stays.
        self.ends.truncate(strings.max(1));
        self.text.truncate(self.ends.last().map_or(0, |end| *end as usize));
        self.raw.retain(|(id, _)| id.row() < strings);
    }

    /// Appends a string, without looking for an equal one.
    #[inline]
    pub(crate) fn push(&mut self, text: &str) -> StringId {
        self.text.push_str(text);
        self.end()
    }

    /// Returns the first string equal to `text`, or appends it. Searches all strings.
    pub(crate) fn find_or_push(&mut self, text: &str) -> StringId {
        let row = self.iter().position(|known| known == text);
        row.map_or_else(|| self.push(text), |row| StringId(row as u32))
    }

    /// Appends a string that may not be UTF-8. If so, stores its original bytes separately.
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) -> StringId {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.push(text),
            Err(_) => {
                self.text.push_str(&String::from_utf8_lossy(bytes));
                let id = self.end();
                self.raw.push((id, bytes.into()));
                id
            }
        }
    }

    /// Appends a string of another table, with its original bytes if they were not UTF-8.
    pub(crate) fn push_from(&mut self, other: &Self, id: StringId) -> StringId {
        let new = self.push(other.get(id));
        self.raw.extend(other.raw_of(id).map(|raw| (new, raw.into())));
        new
    }

    /// Ends the string that was pushed onto the arena, and returns its id.
    #[inline]
    fn end(&mut self) -> StringId {
        let id = StringId(self.ends.len() as u32);
        self.ends.push(self.text.len() as u32);
        id
    }
}

/// A string table during reading. It collects bytes, and validates them as UTF-8 all at once at the end.
///
/// Validating each string separately costs a call and a branch per string. It is much cheaper to validate the arena
/// once and to test that no character crosses the end of a string.
#[derive(Debug)]
pub(crate) struct RawStrings {
    /// The bytes of the arena.
    bytes: Vec<u8>,
    /// The end of each string in `bytes`. An empty row 0 is not included.
    ends: Vec<u32>,
}

impl RawStrings {
    /// Creates an empty table.
    pub(crate) fn new() -> Self {
        Self { bytes: Vec::new(), ends: Vec::new() }
    }

    /// Reserves space for `strings` more strings of `bytes` bytes in total.
    pub(crate) fn reserve(&mut self, strings: usize, bytes: usize) {
        self.ends.reserve(strings);
        self.bytes.reserve(bytes);
    }

    /// Appends the bytes of a string.
    #[inline]
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // The reader rejects payloads whose positions do not fit into 32 bits.
        self.ends.push(self.bytes.len() as u32);
    }

    /// Returns the number of strings.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the size of all strings in bytes.
    pub(crate) fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the bytes of a row, which may not be UTF-8.
    pub(crate) fn get(&self, row: usize) -> Option<&[u8]> {
        let end = *self.ends.get(row)? as usize;
        let start = if row == 0 { 0 } else { self.ends[row - 1] as usize };
        self.bytes.get(start..end)
    }

    /// Returns the first row after row 0 and before row `end` with these bytes.
    pub(crate) fn find(&self, bytes: &[u8], end: usize) -> Option<usize> {
        let (first, rows) = self.ends.get(..end)?.split_first()?;
        let mut start = *first as usize;
        let row = rows.iter().position(|&end| {
            // Most rows differ in length, which costs no access to the bytes.
            let length = (end as usize).wrapping_sub(start);
            let row = start..end as usize;
            start = end as usize;
            length == bytes.len() && self.bytes.get(row) == Some(bytes)
        });
        Some(row? + 1)
    }

    /// Validates the strings and returns the table. If `shift`, inserts an empty row 0 before the others. Repairs
    /// strings that are not UTF-8 and stores their original bytes separately.
    pub(crate) fn validate(self, shift: bool, budget: &mut Budget) -> Result<Strings> {
        let Self { bytes, mut ends } = self;
        // Valid as a whole, and no character crosses the end of a string.
        let whole = match String::from_utf8(bytes) {
            Ok(text) if ends.iter().all(|&end| text.is_char_boundary(end as usize)) => Ok(text),
            Ok(text) => Err(text.into_bytes()),
            Err(error) => Err(error.into_bytes()),
        };
        match whole {
            Ok(text) => {
                if shift || ends.is_empty() {
                    ends.insert(0, 0);
                }
                Ok(Strings { text, ends, raw: Vec::new() })
            }
            Err(bytes) => {
                let table = Self { bytes, ends };
                let mut strings = Strings {
                    text: String::with_capacity(table.bytes.len()),
                    ends: Vec::new(),
                    raw: Vec::new(),
                };
                strings.reserve(table.len() + 1, 0);
                if shift {
                    strings.end();
                }
                for row in 0..table.len() {
                    let bytes = table.get(row).unwrap_or_default();
                    if std::str::from_utf8(bytes).is_err() {
                        // U+FFFD has three bytes in UTF-8, and the original bytes are stored as well.
                        budget.charge::<[u8; 4]>(bytes.len())?;
                        budget.charge::<[(StringId, Box<[u8]>); 2]>(1)?;
                    }
                    strings.push_bytes(bytes);
                }
                Ok(strings)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn budget() -> Budget {
        Budget::new(Limits::network(), 0)
    }

    #[test]
    fn what_is_not_utf8_is_kept_aside() {
        let mut raw = RawStrings::new();
        for bytes in [&b""[..], b"ok", b"caf\xe9", b"\xc3", b"\xa9"] {
            raw.push(bytes);
        }
        let strings = raw.validate(false, &mut budget()).unwrap();
        assert_eq!(
            strings.iter().collect::<Vec<_>>(),
            ["", "ok", "caf\u{fffd}", "\u{fffd}", "\u{fffd}"]
        );
        assert_eq!(strings.bytes(StringId(2)), b"caf\xe9");
        assert_eq!(strings.bytes(StringId(1)), b"ok");
        assert_eq!(strings.not_utf8().len(), 3, "two halves of a letter are not a letter");
        assert_eq!(strings.get(StringId(99)), "");
    }

    #[test]
    fn the_first_of_equal_rows_is_found() {
        let mut raw = RawStrings::new();
        for bytes in [&b"a"[..], b"b", b"ab", b"a", b"ab"] {
            raw.push(bytes);
        }
        assert_eq!(raw.find(b"a", 5), Some(3));
        assert_eq!(raw.find(b"ab", 5), Some(2));
        assert_eq!(raw.find(b"ab", 2), None);
        assert_eq!(raw.find(b"c", 5), None);
        assert_eq!(RawStrings::new().find(b"c", 0), None);
    }

    #[test]
    fn row_0_is_put_before_tables_that_lack_it() {
        let mut raw = RawStrings::new();
        raw.push(b"first");
        assert_eq!(
            raw.validate(true, &mut budget()).unwrap().iter().collect::<Vec<_>>(),
            ["", "first"]
        );
        assert_eq!(RawStrings::new().validate(false, &mut budget()).unwrap().len(), 1);
    }
}
