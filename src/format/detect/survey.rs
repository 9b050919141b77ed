//! A look at all of a payload, where its beginnings do not tell some formats apart.
//!
//! Requirements: it costs a small part of reading, whatever the payload; what stands late, once, or
//! behind a million samples is found if that can be paid for; and it says whether it saw all.
//!
//! So lists are passed over by their lengths, to the end unless their elements are small. Only
//! messages in which the formats differ are looked into, by their tags; and where they are many, only
//! as many as the part of the payload that lies behind pays for, so that they are spread evenly. What
//! has a field nobody met before is kept, and a few of the others: they are what is walked. A
//! dictionary in which the formats do not differ is looked at last, and only for the number of its
//! rows, if there is anything to walk.

use super::grammar::{Grammar, LAST_NUMBER, Message, bit};
use super::score::Path;
use crate::wire::LEN;
use crate::wire::read::Reader;

/// Messages shorter than this are looked into only if they are paid for: there may be many.
const SHORT: usize = 4096;
/// Short messages that are looked into whatever the size, and the bytes that pay for one more.
const LOOKS: usize = 1 << 10;
const BYTES_A_LOOK: usize = 1 << 10;
/// How many are looked into one after the other: what is between them is passed over at once.
const TOGETHER: usize = 1 << 6;
/// Fields that one long message is passed over by, and the bytes of it that pay for one more.
const HOPS: usize = 1 << 10;
const BYTES_A_HOP: usize = 12;
/// What its bytes pay for one more of, where fields are like the one before.
const BYTES_AN_ALIKE: usize = 4;
/// Bytes of such fields that are passed over at once.
const ALIKE: usize = 1 << 17;
/// Messages kept that have fields nobody met, and of the others.
const NEW: usize = 256;
const SPREAD: usize = 512;

/// How often the dictionary has the field of each number.
pub(super) type DictionaryRows = [u64; LAST_NUMBER as usize + 1];

/// What was found.
pub(super) struct Survey<'p> {
    /// Messages, or single fields of long ones, for a closer look.
    pub(super) probes: Vec<Probe<'p>>,
    /// Fields of the dictionary by number, if all were counted.
    pub(super) rows: Option<DictionaryRows>,
    /// Whether there is any field in which the formats differ.
    pub(super) differs: bool,
    /// The messages of which some, or the rest of one, were not looked at, though formats differ in
    /// them: a bit for each.
    passed: u32,
}

impl Survey<'_> {
    /// Whether everything was looked at in which these formats may differ, which are among those it
    /// was made for.
    pub(super) fn saw_all(&self, ours: &Grammar, others: &[&Grammar]) -> bool {
        let same_in_passed = || {
            let differences = Differences::of(ours, others);
            let passed = |message: &Message| self.passed & bit(*message as u32) != 0;
            let mut passed = Message::ALL.into_iter().filter(passed);
            passed.all(|message| differences.is_same(message))
        };
        (self.passed == 0 || same_in_passed())
            && others.iter().all(|theirs| theirs.root == ours.root)
    }
}

/// Something to walk, in the message a path leads to.
#[derive(Clone, Copy)]
pub(super) struct Probe<'p> {
    pub(super) path: Path,
    pub(super) part: Part<'p>,
}

/// How much of a message is to be walked.
#[derive(Clone, Copy)]
pub(super) enum Part<'p> {
    Whole(&'p [u8]),
    Field(&'p [u8]),
    /// Nothing, but these are all fields it has.
    Fields(u32),
}

/// Looks for what tells `ours` from `others`; `seen` are the fields of messages met before.
pub(super) fn survey<'p>(
    ours: &Grammar,
    others: &[&Grammar],
    seen: &[u32; Message::COUNT],
    payload: &'p [u8],
) -> Survey<'p> {
    let mut look = Look {
        ours,
        seen,
        differences: Differences::of(ours, others),
        looks: 0,
        next_look: 0,
        new: 0,
        spread: Spread::default(),
        rows: [0; LAST_NUMBER as usize + 1],
        counted: true,
        found: Survey { probes: Vec::new(), rows: None, differs: false, passed: 0 },
    };
    look.message(ours.root, Path::default(), Reader::new(payload), 0);
    if look.found.differs && look.differences.is_same(Message::Dictionary) {
        look.count_rows(Reader::new(payload));
    }
    look.found.probes.extend(look.spread.probes);
    look.found.rows = look.counted.then_some(look.rows);
    look.found
}

/// In which fields of messages formats differ.
struct Differences {
    /// The fields of each message that mean the same to all; all bits where all fields do.
    common: [u32; Message::COUNT],
    /// Those that hold messages in which the formats differ.
    into: [u32; Message::COUNT],
}

impl Differences {
    fn of(ours: &Grammar, others: &[&Grammar]) -> Self {
        let mut differences = Self { common: [0; Message::COUNT], into: [0; Message::COUNT] };
        // Messages hold only messages further down the list.
        for message in Message::ALL.into_iter().rev() {
            differences.compare(message, ours, others);
        }
        differences
    }

    fn compare(&mut self, message: Message, ours: &Grammar, others: &[&Grammar]) {
        let same = |number: &u32| {
            let field = ours.field(message, *number);
            others.iter().all(|theirs| theirs.field(message, *number) == field)
        };
        let inside = |number: &u32| {
            let inner = ours.inner(message, *number);
            inner.is_some_and(|inner| !self.is_same(inner))
        };
        let set = |numbers: &mut dyn Iterator<Item = u32>| numbers.map(bit).fold(0, |a, b| a | b);
        let formats = others.iter().chain([&ours]);
        let last = formats.map(|format| format.last(message)).max();
        let last = last.unwrap_or(0).min(LAST_NUMBER);
        // What is past the last field is unknown to all.
        let past = u32::MAX.checked_shl(last + 1).unwrap_or(0);
        let common = past | set(&mut (0..=last).filter(same));
        let into = set(&mut (0..=last).filter(inside));
        if let (Some(slot), Some(inner)) =
            (self.common.get_mut(message as usize), self.into.get_mut(message as usize))
        {
            (*slot, *inner) = (common, into);
        }
    }

    fn masks(&self, message: Message) -> (u32, u32) {
        let of = |masks: &[u32; Message::COUNT]| masks.get(message as usize).copied().unwrap_or(0);
        (of(&self.common), of(&self.into))
    }

    fn is_same(&self, message: Message) -> bool {
        self.masks(message) == (u32::MAX, 0)
    }
}

struct Look<'g, 'p> {
    ours: &'g Grammar,
    seen: &'g [u32; Message::COUNT],
    differences: Differences,
    /// Short messages looked into, and how far into the payload the next one may be.
    looks: usize,
    next_look: usize,
    new: usize,
    spread: Spread<'p>,
    rows: DictionaryRows,
    counted: bool,
    found: Survey<'p>,
}

impl<'p> Look<'_, 'p> {
    /// Looks at the fields of a message that begins `at` bytes into the payload.
    fn message(&mut self, message: Message, path: Path, mut reader: Reader<'p>, at: usize) {
        let (common, into) = self.differences.masks(message);
        // A leaf's fields are not counted.
        if into == 0 && message != Message::Dictionary {
            return self.leaf(message, path, reader);
        }
        let new = !common & !self.seen(message);
        let end = at + reader.left();
        let mut fields = 0;
        let mut paid = Paid::by(&reader);
        for _ in 0..HOPS + reader.left() / BYTES_A_HOP {
            let before = reader;
            let Ok(tag) = reader.tag() else { break };
            let Some(tag) = tag else {
                self.found.differs |= fields & !common != 0;
                if fields & new != 0 {
                    let part = Part::Fields(fields);
                    self.keep_new(message, Probe { path, part });
                }
                return;
            };
            let number = bit(tag >> 3);
            fields |= number;
            if tag & 7 == LEN {
                let Ok(inner) = reader.message() else { break };
                let at = end - reader.left();
                let mut alike = 0;
                if into & number == 0 {
                    alike = pass_alike(&mut reader, tag, ALIKE);
                } else if inner.left() < SHORT && at < self.next_look {
                    alike = pass_alike(&mut reader, tag, ALIKE.min(self.next_look - at));
                    self.pass(self.ours.inner(message, tag >> 3).unwrap_or(message));
                } else {
                    self.inner(message, tag >> 3, path, inner, at - inner.left());
                }
                if message == Message::Dictionary {
                    self.count(tag >> 3, 1 + alike);
                }
                if !paid.take(alike) {
                    break;
                }
            } else if reader.skip(tag, 0).is_err() {
                break;
            }
            if number & new != 0 {
                let length = before.left() - reader.left();
                let part = Part::Field(before.rest().get(..length).unwrap_or_default());
                self.keep_new(message, Probe { path, part });
            }
        }
        // The rest of it is broken, or its fields are too many.
        self.found.differs |= fields & !common != 0;
        self.pass(message);
    }

    /// Notes that a message, or some of it, is not looked at.
    fn pass(&mut self, message: Message) {
        self.found.passed |= bit(message as u32);
        self.counted &= !matches!(message, Message::Data | Message::Dictionary);
    }

    fn inner(&mut self, message: Message, number: u32, path: Path, inner: Reader<'p>, at: usize) {
        if inner.left() < SHORT {
            self.looks += 1;
            let paid = self.looks.saturating_sub(LOOKS) / TOGETHER;
            self.next_look = paid * TOGETHER * BYTES_A_LOOK;
        }
        if let Some(message) = self.ours.inner(message, number) {
            self.message(message, path.into(number), inner, at);
        }
    }

    /// Looks at the tags of a message that holds none in which the formats differ.
    fn leaf(&mut self, message: Message, path: Path, mut reader: Reader<'p>) {
        let (body, mut fields) = (reader.rest(), 0);
        let mut paid = Paid::by(&reader);
        while let Ok(Some(tag)) = reader.tag() {
            fields |= bit(tag >> 3);
            if reader.skip(tag, 0).is_err() {
                break;
            }
            if tag & 7 == LEN && reader.left() >= SHORT {
                let alike = pass_alike(&mut reader, tag, ALIKE);
                if !paid.take(alike) {
                    break;
                }
            }
        }
        if !reader.is_empty() {
            self.pass(message);
        }
        let differ = fields & !self.differences.masks(message).0;
        let part = Part::Whole(body);
        let probe = Probe { path, part };
        if differ & !self.seen(message) != 0 {
            self.keep_new(message, probe);
        } else if differ != 0 {
            self.spread.offer(probe);
        }
        self.found.differs |= differ != 0;
    }

    /// Counts the rows of the dictionaries, which were passed over.
    fn count_rows(&mut self, mut data: Reader<'p>) {
        let mut paid = Paid::by(&data);
        for _ in 0..HOPS + data.left() / BYTES_A_HOP {
            let Ok(Some(tag)) = data.tag() else { break };
            let mut alike = 0;
            if tag & 7 != LEN {
                if data.skip(tag, 0).is_err() {
                    break;
                }
            } else if let Ok(body) = data.message() {
                match self.ours.inner(self.ours.root, tag >> 3) {
                    Some(Message::Dictionary) => {
                        self.message(Message::Dictionary, Path::default(), body, 0);
                    }
                    _ => alike = pass_alike(&mut data, tag, ALIKE),
                }
            } else {
                break;
            }
            if !paid.take(alike) {
                break;
            }
        }
        self.counted &= data.is_empty();
    }

    fn seen(&self, message: Message) -> u32 {
        self.seen.get(message as usize).copied().unwrap_or(0)
    }

    fn count(&mut self, number: u32, rows: u64) {
        if let Some(count) = self.rows.get_mut(number as usize) {
            *count += rows;
        }
    }

    fn keep_new(&mut self, message: Message, probe: Probe<'p>) {
        if self.new < NEW {
            self.new += 1;
            self.found.probes.push(probe);
        } else {
            self.pass(message);
        }
    }
}

/// Passes over the fields that follow with the same tag, of one byte, at `most` so many bytes in
/// all; says how many they are.
fn pass_alike(reader: &mut Reader, tag: u32, most: usize) -> u64 {
    let Some(tag) = u8::try_from(tag).ok().filter(u8::is_ascii) else {
        return 0;
    };
    let rest = reader.rest();
    let list = rest.get(..most).unwrap_or(rest);
    let (mut at, mut fields, mut length) = (0, 0, PART);
    while let Some(list) = list.get(at..) {
        let part = list.get(..length).unwrap_or(list);
        if let Some(end) = end_of_long(list, tag) {
            (at, fields) = (at + end, fields + 1);
            continue;
        }
        // How long the list is, and of what, is not known before.
        let starts = match length {
            PART => ALONE,
            _ => starts(part, tag),
        };
        if starts == ALONE && length > PART {
            length /= 2;
            continue;
        }
        let (passed, more) = pass_part(part, tag, starts);
        if passed == 0 {
            break;
        }
        length = match 2 * passed > part.len() {
            true => ALIKE.min(2 * length),
            false => PART.max(length / 2),
        };
        (at, fields) = (at + passed, fields + more);
    }
    reader.pass(at);
    fields
}

/// A list is passed over in parts of so many bytes, at least.
const PART: usize = 1 << 11;

/// In how many places at once: where the next field is, is known when the length of the one before
/// is loaded, and loading takes its time.
const CHAINS: usize = 4;

/// Nothing begins there: a part passed over from its beginning alone.
const NOWHERE: usize = usize::MAX;
const ALONE: [usize; CHAINS] = [0, NOWHERE, NOWHERE, NOWHERE];

/// The bytes and the number of the fields of less than 128 bytes that a part of a list begins with;
/// others of its fields begin at the `starts`, or seem to.
fn pass_part(list: &[u8], tag: u8, starts: [usize; CHAINS]) -> (usize, u64) {
    let [mut one, mut two, mut three, mut four] = starts;
    // Where fields may begin, of which then all is in the list: each chain's before the next one's.
    let whole = list.len().saturating_sub(0x80);
    let before = |limit: usize| list.get(..limit.min(whole) + 1).unwrap_or_default();
    let heads = [starts[1], starts[2], starts[3], whole].map(before);
    let mut each = 0;
    // Four variables, not an array: that would be a vector, which waits for the slowest.
    while let Some(first) = end_of(heads[0], one, tag) {
        let Some(second) = end_of(heads[1], two, tag) else {
            break;
        };
        let Some(third) = end_of(heads[2], three, tag) else {
            break;
        };
        let Some(last) = end_of(heads[3], four, tag) else {
            break;
        };
        (one, two, three, four) = (first, second, third, last);
        each += 1;
    }
    // A chain counts if the one before ends where it starts.
    let (mut at, mut fields) = (0, 0);
    for ((start, chain), heads) in starts.into_iter().zip([one, two, three, four]).zip(heads) {
        if at == start {
            (at, fields) = (chain, fields + each);
        }
        while let Some(end) = end_of(heads, at, tag) {
            (at, fields) = (end, fields + 1);
        }
    }
    while let Some(end) = end_of(list, at, tag).filter(|&end| end <= list.len()) {
        (at, fields) = (end, fields + 1);
    }
    (at, fields)
}

/// Where a field of less than 128 bytes ends, if it is one of the list.
#[inline(always)]
fn end_of(list: &[u8], at: usize, tag: u8) -> Option<usize> {
    match list.get(at..at.checked_add(2)?)? {
        &[next, length @ ..0x80] if next == tag => Some(at + 2 + usize::from(length)),
        _ => None,
    }
}

/// Where a field ends that is longer and not longer than a varint of two bytes says, if it begins
/// the list and all of it is there.
fn end_of_long(list: &[u8], tag: u8) -> Option<usize> {
    match list {
        &[next, low @ 0x80..=0xff, high @ ..0x80, ..] if next == tag => {
            let end = 3 + (usize::from(high) << 7 | usize::from(low & 0x7f));
            (end <= list.len()).then_some(end)
        }
        _ => None,
    }
}

/// Where a part of a list begins, and where fields seem to begin in the middle of it, if so.
fn starts(list: &[u8], tag: u8) -> [usize; CHAINS] {
    let start = |chain: usize| {
        let from = list.len() / CHAINS * chain;
        let near = list.get(from..from + NEAR)?;
        let tags = near.iter().zip(from..).filter(|(byte, _)| **byte == tag);
        // What begins within a field ends with it, and is in step from then on.
        let in_step = |at| (0..SURE).try_fold(at, |at, _| end_of(list, at, tag));
        tags.take(TRIES).find_map(|(_, at)| in_step(at))
    };
    match [1, 2, 3].map(start) {
        [Some(second), Some(third), Some(fourth)] => [0, second, third, fourth],
        _ => ALONE,
    }
}

/// How far a field that begins is looked for, by how many tries, and how many fields have to follow
/// each other there.
const NEAR: usize = 0x80;
const TRIES: usize = 16;
const SURE: usize = 6;

/// What the bytes of a message pay for that was not taken yet.
struct Paid(u64);

impl Paid {
    fn by(message: &Reader) -> Self {
        Self((HOPS + message.left() / BYTES_AN_ALIKE) as u64)
    }

    /// Takes a field and those like it; `false` when they are more than is paid for.
    fn take(&mut self, alike: u64) -> bool {
        let left = self.0.checked_sub(1 + alike);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

/// Some of all messages offered, as far from each other as can be: every `step`th.
#[derive(Default)]
struct Spread<'p> {
    probes: Vec<Probe<'p>>,
    offered: usize,
    doublings: u32,
}

impl<'p> Spread<'p> {
    fn offer(&mut self, probe: Probe<'p>) {
        if self.offered.is_multiple_of(1 << self.doublings) {
            if self.probes.len() == SPREAD {
                let mut keep = false;
                self.probes.retain(|_| {
                    keep = !keep;
                    keep
                });
                self.doublings += 1;
            }
            if self.offered.is_multiple_of(1 << self.doublings) {
                self.probes.push(probe);
            }
        }
        self.offered += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike_fields_are_passed_over_to_the_first_that_is_not() {
        for (bytes, left, count) in [
            (&b"\x12\0\x12\x01\x08\x12\0\x18\x12\0"[..], 3, 3),
            (b"\x12\0\x12\x02\x08", 3, 1),
            (b"\x12\0\x12", 1, 1),
            (b"\x12\x80\x01", 3, 0),
            (b"\x12\x80\0\x12\0", 0, 2),
            (b"", 0, 0),
        ] {
            let mut reader = Reader::new(bytes);
            assert_eq!(pass_alike(&mut reader, 0x12, usize::MAX), count, "{bytes:?}");
            assert_eq!(reader.left(), left, "{bytes:?}");
        }
        let mut reader = Reader::new(b"\x12\0\x12\0\x12\0");
        assert_eq!(pass_alike(&mut reader, 0x12, 5), 2);
    }

    #[test]
    fn lists_are_passed_over_from_several_places_as_they_are_from_one() {
        let mut state = 1u32;
        let mut next = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % below
        };
        for case in 0..400 {
            // Fields of one length or of many, some long; of zeros, or of what looks like fields.
            let (longest, fill) = ([1, 12, 90, 200][case % 4], [0, 0x12, 0x01][case % 3]);
            let mut bytes = Vec::new();
            let mut fields = 0;
            for _ in 0..next(4000) {
                let mut length = next(longest);
                if case % 5 == 0 && next(100) == 0 {
                    length *= 1 + next(70);
                }
                bytes.push(0x12);
                crate::wire::write::varint(&mut bytes, length.into());
                let length = bytes.len() + length as usize;
                while bytes.len() < length {
                    bytes.push(if next(9) == 0 { 0x12 } else { fill });
                }
                fields += 1;
            }
            let whole = bytes.len();
            bytes.extend([0x1a, 0x12, 0x12, 9, 0x12]);
            bytes.resize(bytes.len() + next(9000) as usize, fill);
            let mut reader = Reader::new(&bytes);
            assert_eq!(pass_alike(&mut reader, 0x12, usize::MAX), fields, "{case}");
            assert_eq!(reader.left(), bytes.len() - whole, "{case}");
            let mut reader = Reader::new(&bytes[..whole.saturating_sub(1)]);
            let cut = u64::from(whole > 0);
            assert_eq!(pass_alike(&mut reader, 0x12, usize::MAX), fields - cut, "{case}");
        }
    }

    #[test]
    fn a_tag_of_two_bytes_is_no_list() {
        let bytes = [0x92, 0x01, 0].repeat(1000);
        let mut reader = Reader::new(&bytes);
        assert_eq!(pass_alike(&mut reader, 0x92, usize::MAX), 0);
        assert_eq!(reader.left(), bytes.len());
    }

    #[test]
    fn what_is_kept_is_spread_evenly() {
        let bytes = vec![0; 10_000];
        let mut spread = Spread::default();
        for at in 0..bytes.len() {
            let probe = Probe { path: Path::default(), part: Part::Whole(&bytes[at..]) };
            spread.offer(probe);
        }
        let kept: Vec<usize> = spread
            .probes
            .iter()
            .map(|probe| match probe.part {
                Part::Whole(body) => bytes.len() - body.len(),
                _ => panic!("it was whole"),
            })
            .collect();
        assert_eq!(kept, (0..10_000).step_by(32).collect::<Vec<_>>());
    }
}
