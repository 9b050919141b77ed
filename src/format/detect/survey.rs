//! A look at all of a payload, where its beginnings do not tell some formats apart.
//!
//! Requirements: it costs a small part of reading, whatever the payload; what stands late, once, or
//! behind a million samples is found if that can be paid for; and it says whether it saw all.
//!
//! So lists are passed over by their lengths, to the end unless their elements are small and of many
//! lengths. Only messages in which the formats differ are looked into, by their tags; and where they
//! are many, only as many as the part of the payload that lies behind pays for, so that they are spread
//! evenly. What has a field nobody met before is kept, and a few of the others: they are what is
//! walked.

use super::grammar::{Grammar, LAST_NUMBER, Message, bit};
use super::score::Path;
use crate::wire::LEN;
use crate::wire::read::Reader;

/// Messages shorter than this are looked into only if they are paid for: there may be many.
const SHORT: usize = 4096;
/// Short messages that are looked into whatever the size, and the bytes that pay for one more.
const LOOKS: usize = 1 << 10;
const BYTES_A_LOOK: usize = 1 << 10;
/// Fields that one long message is passed over by, and the bytes of it that pay for one more.
const HOPS: usize = 1 << 10;
const BYTES_A_HOP: usize = 12;
/// What its bytes pay for where fields are like the one before: so many for one that is as long, and
/// three times as many for one that is not, since where it ends is known late.
const BYTES_AN_ALIKE: usize = 4;
const UNLIKE: u64 = 3;
/// Bytes of such fields that are passed over at once.
const ALIKE: usize = 1 << 16;
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
        let differences = Differences::of(ours, others);
        let passed = |message: &Message| self.passed & bit(*message as u32) != 0;
        let mut passed = Message::ALL.into_iter().filter(passed);
        passed.all(|message| differences.is_same(message))
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
        found: Survey {
            probes: Vec::new(),
            rows: None,
            differs: false,
            passed: 0,
        },
    };
    look.message(ours.root, Path::default(), Reader::new(payload), 0);
    look.found.probes.extend(look.spread.probes);
    look.found.rows = look.counted.then_some(look.rows);
    look.found
}

/// In which fields of messages formats differ.
struct Differences {
    /// The fields of each message that mean the same to all; all bits where all fields do.
    common: [u32; Message::COUNT],
    /// Those that hold messages in which the formats differ, and the dictionary's.
    into: [u32; Message::COUNT],
}

impl Differences {
    fn of(ours: &Grammar, others: &[&Grammar]) -> Self {
        let mut differences = Self {
            common: [0; Message::COUNT],
            into: [0; Message::COUNT],
        };
        // Messages hold only messages further down the list.
        for message in Message::ALL.into_iter().rev() {
            differences.compare(message, ours, others);
        }
        differences
    }

    fn compare(&mut self, message: Message, ours: &Grammar, others: &[&Grammar]) {
        let same = |number: &u32| {
            let field = ours.field(message, *number);
            others
                .iter()
                .all(|theirs| theirs.field(message, *number) == field)
        };
        let inside = |number: &u32| {
            let inner = ours.inner(message, *number);
            inner.is_some_and(|inner| inner == Message::Dictionary || !self.is_same(inner))
        };
        let set = |numbers: &mut dyn Iterator<Item = u32>| numbers.map(bit).fold(0, |a, b| a | b);
        let formats = others.iter().chain([&ours]);
        let last = formats.map(|format| format.last(message)).max();
        let last = last.unwrap_or(0).min(LAST_NUMBER);
        // What is past the last field is unknown to all.
        let past = u32::MAX.checked_shl(last + 1).unwrap_or(0);
        let common = past | set(&mut (0..=last).filter(same));
        let into = set(&mut (0..=last).filter(inside));
        if let (Some(slot), Some(inner)) = (
            self.common.get_mut(message as usize),
            self.into.get_mut(message as usize),
        ) {
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
        if into == 0 {
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
                let mut alike = Alike::default();
                if into & number == 0 {
                    alike = pass_alike(&mut reader, tag, ALIKE);
                } else if inner.left() < SHORT && at < self.next_look {
                    alike = pass_alike(&mut reader, tag, ALIKE.min(self.next_look - at));
                    self.pass(self.ours.inner(message, tag >> 3).unwrap_or(message));
                } else {
                    self.inner(message, tag >> 3, path, inner, at - inner.left());
                }
                if message == Message::Dictionary {
                    self.count(tag >> 3, 1 + alike.fields);
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
            self.next_look = self.looks.saturating_sub(LOOKS) * BYTES_A_LOOK;
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

/// Passes over the fields that follow with the same tag and less than 128 bytes each, at `most` so
/// many bytes in all. Long lists consist of such fields.
fn pass_alike(reader: &mut Reader, tag: u32, most: usize) -> Alike {
    let rest = reader.rest();
    let mut list = rest.get(..most).unwrap_or(rest);
    let (length, mut alike, mut singly) = (list.len(), Alike::default(), 0);
    while let [next, length @ ..0x80, fields @ ..] = list {
        match fields.get(usize::from(*length)..) {
            Some(after) if u32::from(*next) == tag => list = after,
            _ => break,
        }
        alike.fields += 1;
        alike.cost += UNLIKE;
        if singly > 0 {
            singly -= 1;
            continue;
        }
        let run;
        (run, list) = pass_run(list, [*next, *length]);
        alike.fields += run;
        alike.cost += run;
        if run < RUN {
            singly = SINGLY;
        }
    }
    reader.pass(length - list.len());
    alike
}

/// How many fields were passed over, and what they are paid for as.
#[derive(Clone, Copy, Default)]
struct Alike {
    fields: u64,
    cost: u64,
}

/// What the bytes of a message pay for that was not taken yet.
struct Paid(u64);

impl Paid {
    fn by(message: &Reader) -> Self {
        Self((HOPS + message.left() / BYTES_AN_ALIKE) as u64)
    }

    /// Takes a field and those like it; `false` when they are more than is paid for.
    fn take(&mut self, alike: Alike) -> bool {
        let left = self.0.checked_sub(1 + alike.cost);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

/// A run of fields shorter than this took longer than one field after the other would have: so
/// many are then passed over like that.
const RUN: u64 = 8;
const SINGLY: u32 = 64;

/// Passes over the fields that all begin with the same tag and length: where the next one is does
/// not wait for the length of the one before to be loaded.
fn pass_run(mut list: &[u8], head: [u8; 2]) -> (u64, &[u8]) {
    let (stride, mut count) = (2 + usize::from(head[1]), 0);
    while list.first_chunk() == Some(&head)
        && let Some(after) = list.get(stride..)
    {
        list = after;
        count += 1;
    }
    (count, list)
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
            (b"", 0, 0),
        ] {
            let mut reader = Reader::new(bytes);
            assert_eq!(
                pass_alike(&mut reader, 0x12, usize::MAX).fields,
                count,
                "{bytes:?}"
            );
            assert_eq!(reader.left(), left, "{bytes:?}");
        }
        let mut reader = Reader::new(b"\x12\0\x12\0\x12\0");
        assert_eq!(pass_alike(&mut reader, 0x12, 5).fields, 2);
    }

    #[test]
    fn runs_of_one_length_are_passed_over_as_fields_one_by_one_are() {
        let mut state = 1u32;
        for runs in 0..200 {
            let mut bytes = Vec::new();
            let mut fields = 0;
            for _ in 0..runs {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let (length, run) = ((state >> 28) as usize, state >> 16 & 31);
                for _ in 0..run {
                    bytes.extend([0x12, length as u8]);
                    bytes.resize(bytes.len() + length, 0x12);
                }
                fields += u64::from(run);
            }
            let whole = bytes.len();
            bytes.extend([0x12, 9, 0x12]);
            let mut reader = Reader::new(&bytes);
            assert_eq!(pass_alike(&mut reader, 0x12, usize::MAX).fields, fields);
            assert_eq!(reader.left(), bytes.len() - whole);
        }
    }

    #[test]
    fn what_is_kept_is_spread_evenly() {
        let bytes = vec![0; 10_000];
        let mut spread = Spread::default();
        for at in 0..bytes.len() {
            let probe = Probe {
                path: Path::default(),
                part: Part::Whole(&bytes[at..]),
            };
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
