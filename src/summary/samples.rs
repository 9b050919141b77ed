//! Samples without what they refer to: how many, and what their values add up to.
//!
//! ```text
//! sample ─► skip long lists that come first ─► 24 bytes or less? ─► shape known? ─► add values at its places
//!                                                     no ─► field by field
//! ```
//!
//! Sums are `i128`: no number of samples overflows them.

use super::fields::{Fields, Part};
use super::shapes::{LONGEST, Shape, Shapes, Window};
use crate::schema::Version;
use crate::wire::packed::packed_varints;
use crate::wire::read::Reader;

/// What samples are read with: the fields of their version, and how those look that were met.
pub(super) struct Samples {
    fields: Fields,
    shapes: Shapes,
    /// The values of a sample that was looked at field by field.
    values: Vec<i64>,
}

/// What is seen of a sample.
enum Look<'s, 'a> {
    /// It looks like others; with its last fields.
    Known(&'s Shape, &'a Window),
    /// Its values, and how many timestamps it has.
    Odd(&'s [i64], u64),
}

impl Samples {
    pub(super) fn of(version: Version) -> Self {
        Self { fields: Fields::of(version), shapes: Shapes::new(), values: Vec::new() }
    }

    /// Looks at a sample, or as much of it as there is to be looked at.
    ///
    /// `None` for a sample that a reader has to look at.
    #[inline(always)]
    fn look<'a>(&mut self, mut sample: Reader<'a>) -> Option<Look<'_, 'a>> {
        while sample.left() > LONGEST {
            // What comes first in older generations and pprof may be long: locations.
            let mut ahead = sample;
            match self.fields.part(u8::try_from(ahead.tag().ok()??).ok()?) {
                Part::Bytes => drop(ahead.message().ok()?),
                Part::Number => drop(ahead.varint().ok()?),
                _ => return long(sample, &self.fields, &mut self.values),
            }
            sample = ahead;
        }
        let Some(window) = sample.ahead().first_chunk() else {
            return long(sample, &self.fields, &mut self.values);
        };
        match self.shapes.of(window, sample.left(), &self.fields) {
            Some(shape) => Some(Look::Known(shape, window)),
            None => long(sample, &self.fields, &mut self.values),
        }
    }
}

/// What is counted of the samples of a profile.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) samples: u64,
    pub(super) timestamps: u64,
    /// By sample type; one where all values are of one.
    pub(super) sums: Vec<i128>,
}

impl Tally {
    /// Adds a sample of a profile that measures one thing; `None` for one that a reader has to look at.
    #[inline(always)]
    pub(super) fn single(&mut self, sample: Reader<'_>, samples: &mut Samples) -> Option<()> {
        let (values, times, sum) = match samples.look(sample)? {
            Look::Known(shape, window) => {
                (shape.count() as u64, shape.times, shape.values(window).sum::<u64>().into())
            }
            Look::Odd(values, times) => {
                let sum = values.iter().map(|value| i128::from(*value)).sum::<i128>();
                (values.len() as u64, times, sum)
            }
        };
        let sum = if values == 0 { times.into() } else { sum };
        if values != 0 && times != 0 && times != values {
            return None;
        }
        self.samples += 1;
        self.timestamps += times;
        *self.sums.first_mut()? += sum;
        Some(())
    }

    /// The same of a profile that may measure several things: each sample has a value of each.
    ///
    /// `None` where samples differ in how many values they have: a reader refuses or repairs that.
    #[inline(always)]
    pub(super) fn several(&mut self, sample: Reader<'_>, samples: &mut Samples) -> Option<()> {
        let look = samples.look(sample)?;
        let (values, times) = match &look {
            Look::Known(shape, _) => (shape.count(), shape.times),
            Look::Odd(values, times) => (values.len(), *times),
        };
        if self.samples == 0 {
            self.sums = vec![0; values];
        } else if values != self.sums.len() {
            return None;
        }
        let sums = self.sums.iter_mut();
        match look {
            Look::Known(shape, window) => {
                sums.zip(shape.values(window)).for_each(|(sum, value)| *sum += i128::from(value));
            }
            Look::Odd(values, _) => {
                sums.zip(values).for_each(|(sum, value)| *sum += i128::from(*value));
            }
        }
        self.samples += 1;
        self.timestamps += times;
        Some(())
    }
}

/// Looks at any sample.
#[cold]
#[inline(never)]
fn long<'s, 'a>(
    mut sample: Reader<'a>,
    fields: &Fields,
    values: &'s mut Vec<i64>,
) -> Option<Look<'s, 'a>> {
    let mut times = 0;
    values.clear();
    while let Some(tag) = sample.tag().ok()? {
        match fields.part(u8::try_from(tag).ok()?) {
            Part::Number => drop(sample.varint().ok()?),
            Part::Bytes => drop(sample.message().ok()?),
            Part::Value => values.push(sample.varint().ok()? as i64),
            Part::Values => {
                packed_varints(sample.message().ok()?, values, |value| value as i64).ok()?;
            }
            part => times += time(part, &mut sample)?,
        }
    }
    Some(Look::Odd(values, times))
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
