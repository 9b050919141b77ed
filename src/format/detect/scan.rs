//! Looks over a whole payload if the beginnings of its lists leave several formats.
//!
//! The scan is one pass with the grammar of one of the formats. It skips list elements by length, and enters
//! a message only if the formats differ in it. The number of entered messages is bounded: of the short
//! messages of each kind, the first ones and then evenly spaced ones, to the end. At [`Depth::Whole`], the
//! pass also reads the tags of all messages between them. Each format then walks the probes that the scan
//! collected: the entered messages, and messages with fields that no walk has read before.
//!
//! ```text
//! samples   s s s s s … s . . . . s . . . . s . . . . s     s: entered, up to 256 first ones,
//!                                                           then one in every 512th of the payload
//! ```
//!
//! A skipped element costs one tag and one length. So a scan takes a fixed fraction of the time of a read,
//! and memory only for the probes. Decision 32 lists the alternatives.

use super::Depth;
use super::grammar::{Grammar, bit, inner};
use super::score::Path;
use crate::schema::{MessageKind, MessageType, NUMBERS};
use crate::wire::read::Reader;
use crate::wire::{FIXED64, LEN, VARINT};

/// Messages of one kind that are entered: the first ones, and others evenly spaced over the payload.
const FIRST: u32 = 1 << 8;
const SPACED: usize = 1 << 9;
/// Messages of at least this size are rare and always entered.
const LONG: usize = 4096;
/// Limit of probes kept for new fields.
const NEW: usize = 256;

/// Number of occurrences of each dictionary field, by field number.
pub(super) type DictionaryRows = [u64; NUMBERS];

/// The result of a scan.
pub(super) struct ScanResult<'p> {
    /// Messages, or single fields of them, for each format to walk.
    pub(super) probes: Vec<Probe<'p>>,
    /// Occurrences of the dictionary's fields.
    pub(super) rows: DictionaryRows,
    /// Whether the payload contains any field in which the formats differ.
    pub(super) differs: bool,
    /// Messages in which the formats differ, but of which some were skipped or broken: a bit for each kind.
    passed: u32,
}

impl ScanResult<'_> {
    /// Returns whether the scan read everything in which these formats may differ. They must be among the
    /// formats of the scan.
    pub(super) fn saw_all(&self, ours: &Grammar, others: &[&Grammar]) -> bool {
        let differences = Differences::of(ours, others);
        let is_passed = |kind: usize| self.passed & bit(kind as u32) != 0;
        (0..MessageKind::COUNT).all(|kind| !is_passed(kind) || differences.is_same(kind))
            && others.iter().all(|theirs| std::ptr::eq(theirs.root, ours.root))
    }
}

/// Bytes to walk, in the message that a path leads to.
#[derive(Clone, Copy)]
pub(super) struct Probe<'p> {
    /// The fields that lead there. A format that lacks one of them skips the probe.
    pub(super) path: Path,
    pub(super) part: Part<'p>,
}

/// The part of a message to walk.
#[derive(Clone, Copy)]
pub(super) enum Part<'p> {
    Whole(&'p [u8]),
    Field(&'p [u8]),
    /// No bytes: only the set of all fields that the message has.
    Fields(u32),
}

/// Looks for differences between `ours` and `others`. `seen` holds the fields that earlier walks read.
pub(super) fn scan<'p>(
    ours: &Grammar,
    others: &[&Grammar],
    seen: [u32; MessageKind::COUNT],
    payload: &'p [u8],
    depth: Depth,
) -> ScanResult<'p> {
    let found = ScanResult { probes: Vec::new(), rows: [0; NUMBERS], differs: false, passed: 0 };
    let mut scan = Scan {
        ours,
        differences: Differences::of(ours, others),
        whole: depth == Depth::Whole,
        step: payload.len() / SPACED,
        next: [0; MessageKind::COUNT],
        entered: [0; MessageKind::COUNT],
        seen,
        new: 0,
        found,
    };
    scan.message(ours.root, Path::default(), Reader::new(payload));
    scan.found
}

struct Scan<'g, 'p> {
    ours: &'g Grammar,
    differences: Differences,
    /// Whether to read all tags, and not only those of entered messages.
    whole: bool,
    /// The distance in bytes between entered messages of one kind.
    step: usize,
    /// The offset in the payload where the next message of each kind is due.
    next: [usize; MessageKind::COUNT],
    /// Number of entered messages of each kind.
    entered: [u32; MessageKind::COUNT],
    /// The fields of each message that a walk has read, or that are in enough probes.
    seen: [u32; MessageKind::COUNT],
    /// Number of probes kept for new fields, up to [`NEW`].
    new: usize,
    found: ScanResult<'p>,
}

impl<'p> Scan<'_, 'p> {
    /// Skips the fields of a message, and enters those in which the formats differ.
    fn message(&mut self, of: &'static MessageType, path: Path, mut reader: Reader<'p>) {
        let message = of.kind;
        let (common, into) = self.differences.masks(message);
        let mut fields = 0;
        while !reader.is_empty() {
            let before = reader;
            let Ok(Some(tag)) = reader.tag() else { return self.pass(message) };
            let field = bit(tag >> 3);
            let known = self.ours.field(of, tag >> 3).and_then(inner);
            let inner =
                known.filter(|inner| into & field != 0 || inner.kind == MessageKind::Dictionary);
            let similar = match inner.filter(|_| tag & 7 == LEN) {
                Some(inner) => {
                    let Ok(body) = reader.message() else { return self.pass(message) };
                    self.enter(inner, path.into(tag >> 3), body);
                    self.pass_until_due(inner.kind, &mut reader, tag)
                }
                None if reader.skip(tag, 0).is_err() => return self.pass(message),
                None if tag & 7 == LEN => pass_similar(&mut reader, tag, usize::MAX, |_| true),
                None => 0,
            };
            if (message, tag & 7) == (MessageKind::Dictionary, LEN)
                && let Some(rows) = self.found.rows.get_mut(tag as usize >> 3)
            {
                *rows += 1 + similar;
            }
            fields |= field;
            // Keep this field only: the message may be long.
            let length = before.left() - reader.left();
            let part = Part::Field(before.rest().get(..length).unwrap_or_default());
            self.keep_new(message, field & !common, Probe { path, part });
        }
        self.found.differs |= fields & !common != 0;
        self.keep_new(message, fields & !common, Probe { path, part: Part::Fields(fields) });
    }

    /// Skips the short messages that follow, up to the next one that is due. At [`Depth::Whole`], skips those
    /// without new fields. Returns how many were skipped.
    fn pass_until_due(&mut self, message: MessageKind, reader: &mut Reader<'p>, tag: u32) -> u64 {
        let (common, into) = self.differences.masks(message);
        if self.whole && (into != 0 || message == MessageKind::Dictionary) {
            return 0;
        }
        let until = self.next[message as usize].saturating_sub(reader.at());
        let (whole, seen, mut fields) = (self.whole, self.seen[message as usize], 0);
        let passed = pass_similar(reader, tag, until, |body| {
            let is_old = |found| {
                fields |= found;
                found & !common & !seen == 0
            };
            !whole || short_fields(body).is_some_and(is_old)
        });
        self.found.differs |= fields & !common != 0;
        if passed > 0 && !whole {
            self.pass(message);
        }
        passed
    }

    /// Looks into a message that is due or long, or into every message at [`Depth::Whole`].
    fn enter(&mut self, of: &'static MessageType, path: Path, body: Reader<'p>) {
        let message = of.kind;
        let due = body.at() >= self.next[message as usize];
        if due {
            self.entered[message as usize] += 1;
            let is_first = self.entered[message as usize] < FIRST;
            self.next[message as usize] = body.at() + if is_first { 0 } else { self.step };
        }
        let is_long = body.left() >= LONG;
        if !due && !is_long && !self.whole {
            self.pass(message);
        } else if is_long
            || self.differences.masks(message).1 != 0
            || message == MessageKind::Dictionary
        {
            self.message(of, path, body);
        } else {
            self.leaf(message, path, body, due);
        }
    }

    /// Reads the tags of a short message that contains no further messages in which the formats differ.
    fn leaf(&mut self, message: MessageKind, path: Path, mut reader: Reader<'p>, due: bool) {
        let (body, mut fields) = (reader.rest(), 0);
        while let Ok(Some(tag)) = reader.tag() {
            fields |= bit(tag >> 3);
            if reader.skip(tag, 0).is_err() {
                break;
            }
        }
        if !reader.is_empty() {
            self.pass(message);
        }
        let differ = fields & !self.differences.masks(message).0;
        self.found.differs |= differ != 0;
        let probe = Probe { path, part: Part::Whole(body) };
        let kept = self.keep_new(message, differ, probe);
        if !kept && due && differ != 0 {
            self.found.probes.push(probe);
        }
    }

    /// Records that a message of this kind was not read completely.
    fn pass(&mut self, message: MessageKind) {
        self.found.passed |= bit(message as u32);
    }

    /// Keeps a probe with differing fields that are not in `seen`. From the [`NEW`]th probe on, marks its
    /// fields as seen. Returns whether the probe was kept.
    fn keep_new(&mut self, message: MessageKind, differ: u32, probe: Probe<'p>) -> bool {
        let seen = &mut self.seen[message as usize];
        let is_new = differ & !*seen != 0;
        if is_new {
            self.found.probes.push(probe);
            self.new += 1;
            *seen |= if self.new >= NEW { differ } else { 0 };
        }
        is_new
    }
}

/// The fields and messages in which several formats differ.
///
/// A message whose `common` is all ones and whose `into` is 0 is the same in all formats, and is never
/// entered.
struct Differences {
    /// The fields of each message that mean the same in all formats; all bits are set if all fields do.
    common: [u32; MessageKind::COUNT],
    /// The fields that hold messages in which the formats differ.
    into: [u32; MessageKind::COUNT],
    /// The messages that were compared: a bit for each.
    compared: u32,
}

impl Differences {
    /// Compares one grammar with others. Messages that only the others have are not compared.
    fn of(ours: &Grammar, others: &[&Grammar]) -> Self {
        let (common, into) = ([u32::MAX; MessageKind::COUNT], [0; MessageKind::COUNT]);
        let mut found = Self { common, into, compared: 0 };
        found.compare(ours.root, ours, others);
        found
    }

    /// Compares a message and its nested messages. Returns whether they are the same.
    fn compare(&mut self, of: &'static MessageType, ours: &Grammar, others: &[&Grammar]) -> bool {
        let message = bit(of.kind as u32);
        let numbers = 1..if self.compared & message == 0 { NUMBERS as u32 } else { 0 };
        self.compared |= message;
        for number in numbers {
            let is_same = |theirs: &&Grammar| ours.is_same(of, number, theirs);
            let inner = ours.field(of, number).and_then(inner);
            let leads = inner.is_some_and(|inner| !self.compare(inner, ours, others));
            if !others.iter().all(is_same) {
                self.common[of.kind as usize] &= !bit(number);
            }
            if leads {
                self.into[of.kind as usize] |= bit(number);
            }
        }
        self.is_same(of.kind as usize)
    }

    /// Returns whether a message and its nested messages are the same in all formats.
    fn is_same(&self, kind: usize) -> bool {
        (self.common[kind], self.into[kind]) == (u32::MAX, 0)
    }

    /// Returns the fields of a message that mean the same, and those that lead to a difference: a bit for
    /// each number.
    fn masks(&self, message: MessageKind) -> (u32, u32) {
        (self.common[message as usize], self.into[message as usize])
    }
}

/// Skips the following fields that have the same one-byte tag and less than 128 bytes, as long as they begin
/// within the next `until` bytes and `passes` accepts them. Returns how many were skipped.
#[inline]
fn pass_similar(
    reader: &mut Reader,
    tag: u32,
    until: usize,
    mut passes: impl FnMut(&[u8]) -> bool,
) -> u64 {
    // A hot loop on raw bytes: nearly all list elements have a tag and a length of one byte.
    let rest = reader.rest();
    let (mut at, mut fields) = (0, 0);
    while at < until
        && let Some(&[next, length @ ..0x80]) = rest.get(at..at + 2)
        && u32::from(next) == tag
        && let Some(body) = rest.get(at + 2..at + 2 + usize::from(length))
        && passes(body)
    {
        at += 2 + usize::from(length);
        fields += 1;
    }
    reader.pass(at);
    fields
}

/// Returns the fields of a message whose tags and lengths take one byte each. Returns `None` if one takes
/// more, or the message is broken.
#[inline]
fn short_fields(mut body: &[u8]) -> Option<u32> {
    let mut fields = 0;
    while let [tag @ ..0x80, rest @ ..] = body {
        fields |= 1 << (tag >> 3);
        body = match u32::from(tag & 7) {
            VARINT => rest.get(1 + rest.iter().position(|byte| *byte < 0x80)?..)?,
            LEN => {
                let (length @ ..0x80, rest) = rest.split_first()? else { return None };
                rest.get(usize::from(*length)..)?
            }
            FIXED64 => rest.get(8..)?,
            _ => return None,
        };
    }
    body.is_empty().then_some(fields)
}
