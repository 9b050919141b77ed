//! Samples without what they refer to: how many, and what their values add up to.

use crate::schema::{Kind, Role, SAMPLE, Version};
use crate::wire::read::Reader;
use crate::wire::{FIXED64, LEN, VARINT, tag};

/// What a field of a sample is, by its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// None that the version has.
    Odd,
    Number,
    Bytes,
    Value,
    Values,
    Time,
    Times,
    FixedTime,
    FixedTimes,
}

/// The fields of a version's samples. All tags are of one byte.
pub(super) struct Fields([Part; 128]);

impl Fields {
    pub(super) fn of(version: Version) -> Self {
        let mut parts = [Part::Odd; 128];
        let mut put = |tag: u32, part| {
            if let Some(place) = parts.get_mut(tag as usize) {
                *place = part;
            }
        };
        for field in SAMPLE.fields_in(version) {
            let (one, many) = (tag(field.number, field.kind.wire()), tag(field.number, LEN));
            let (single, list) = match (field.role, field.kind) {
                (Role::Values, _) => (Part::Value, Part::Values),
                (Role::Times, Kind::Fixed64) => (Part::FixedTime, Part::FixedTimes),
                (Role::Times, _) => (Part::Time, Part::Times),
                (_, kind) if kind.wire() == VARINT => (Part::Number, Part::Bytes),
                _ => (Part::Bytes, Part::Bytes),
            };
            put(one, single);
            if field.is_repeated() {
                put(many, list);
            }
        }
        Self(parts)
    }

    #[inline(always)]
    fn part(&self, tag: u32) -> Part {
        self.0.get(tag as usize).copied().unwrap_or(Part::Odd)
    }
}

/// What is counted of the samples of a profile.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) samples: u64,
    pub(super) timestamps: u64,
    /// By sample type; one where all values are of one.
    pub(super) sums: Vec<i128>,
    /// The values of the last sample.
    row: Vec<i64>,
}

impl Tally {
    pub(super) fn new(samples: u64, timestamps: u64, sums: Vec<i128>) -> Self {
        Self { samples, timestamps, sums, row: Vec::new() }
    }
}

impl Tally {
    /// Adds a sample of a profile that measures one thing; `None` for one that a reader has to look at.
    #[inline(always)]
    pub(super) fn single(&mut self, sample: Reader<'_>, fields: &Fields) -> Option<()> {
        let mut sum = 0;
        let mut add = |value: u64| {
            sum += i128::from(value as i64);
            Some(())
        };
        let (values, times) = match short(sample.rest(), fields, &mut add) {
            Some(counts) => counts,
            None => {
                sum = 0;
                long(sample, fields, |value| {
                    sum += i128::from(value as i64);
                    Some(())
                })?
            }
        };
        if values == 0 {
            sum = times.into();
        } else if times != 0 && times != values {
            return None;
        }
        self.samples += 1;
        self.timestamps += times;
        *self.sums.first_mut()? += sum;
        Some(())
    }

    /// The same of a profile that may measure several things: each sample has a value of each.
    #[inline(always)]
    pub(super) fn several(&mut self, sample: Reader<'_>, fields: &Fields) -> Option<()> {
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        let counts = short(sample.rest(), fields, &mut |value| {
            row.push(value as i64);
            Some(())
        });
        let times = match counts {
            Some((_, times)) => times,
            None => {
                row.clear();
                let push = |value| {
                    row.push(value as i64);
                    Some(())
                };
                long(sample, fields, push)?.1
            }
        };
        if self.samples == 0 {
            self.sums = vec![0; row.len()];
        }
        if row.len() != self.sums.len() {
            return None;
        }
        for (sum, value) in self.sums.iter_mut().zip(&row) {
            *sum += i128::from(*value);
        }
        self.row = row;
        self.samples += 1;
        self.timestamps += times;
        Some(())
    }
}

/// Gives the values of a sample, and says how many values and timestamps it has, if its fields are those of
/// nearly all: short ones, in the wire types that writers choose.
#[inline(always)]
fn short(
    sample: &[u8],
    fields: &Fields,
    add: &mut impl FnMut(u64) -> Option<()>,
) -> Option<(u64, u64)> {
    let (mut at, mut values, mut times) = (0, 0u64, 0u64);
    while let Some(&[tag, next]) = sample.get(at..).and_then(|rest| rest.first_chunk()) {
        let part = fields.part(tag.into());
        at += 2;
        if part == Part::Number {
            let mut byte = next;
            while byte >= 0x80 {
                byte = *sample.get(at)?;
                at += 1;
            }
            continue;
        }
        if part == Part::Value {
            let (mut value, mut shift, mut byte) = (u64::from(next & 0x7f), 7, next);
            while byte >= 0x80 {
                byte = *sample.get(at).filter(|_| shift <= 49)?;
                value |= u64::from(byte & 0x7f) << shift;
                (at, shift) = (at + 1, shift + 7);
            }
            add(value)?;
            values += 1;
            continue;
        }
        let mut length = usize::from(next);
        if next >= 0x80 {
            let high = sample.get(at).filter(|high| **high < 0x80)?;
            length = (length & 0x7f) | usize::from(*high) << 7;
            at += 1;
        }
        let end = at + length;
        match part {
            _ if end > sample.len() => return None,
            Part::Bytes => {}
            Part::FixedTimes if length % 8 == 0 => times += length as u64 / 8,
            Part::Values => values += list(sample.get(at..end)?, add)?,
            _ => return None,
        }
        at = end;
    }
    (at == sample.len()).then_some((values, times))
}

/// Gives the numbers of a packed list, and says how many there are, if all are of 56 bits at the most.
#[inline(always)]
fn list(bytes: &[u8], add: &mut impl FnMut(u64) -> Option<()>) -> Option<u64> {
    let (mut value, mut shift, mut count) = (0u64, 0, 0);
    for byte in bytes {
        if shift > 49 {
            return None;
        }
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if *byte < 0x80 {
            add(value)?;
            count += 1;
            (value, shift) = (0, 0);
        }
    }
    (shift == 0).then_some(count)
}

/// The same of any sample.
#[cold]
#[inline(never)]
fn long(
    mut sample: Reader<'_>,
    fields: &Fields,
    mut add: impl FnMut(u64) -> Option<()>,
) -> Option<(u64, u64)> {
    let (mut values, mut times) = (0, 0);
    while let Some(tag) = sample.tag().ok()? {
        match fields.part(tag) {
            Part::Number => drop(sample.varint().ok()?),
            Part::Bytes => drop(sample.message().ok()?),
            Part::Value => {
                add(sample.varint().ok()?)?;
                values += 1;
            }
            Part::Values => {
                let mut list = sample.message().ok()?;
                while !list.is_empty() {
                    add(list.varint().ok()?)?;
                    values += 1;
                }
            }
            part => times += time(part, &mut sample)?,
        }
    }
    Some((values, times))
}

/// How many timestamps a field has.
#[inline(always)]
fn time(part: Part, sample: &mut Reader<'_>) -> Option<u64> {
    match part {
        Part::FixedTimes => {
            let bytes = sample.message().ok()?.left();
            (bytes % 8 == 0).then_some(bytes as u64 / 8)
        }
        Part::FixedTime => sample.fixed64().ok().map(|_| 1),
        Part::Time => sample.varint().ok().map(|_| 1),
        Part::Times => {
            let list = sample.message().ok()?.rest();
            let ends = list.iter().filter(|byte| **byte < 0x80).count();
            list.last().is_none_or(|last| *last < 0x80).then_some(ends as u64)
        }
        _ => None,
    }
}

const _: () = assert!(tag(15, FIXED64) < 128);
