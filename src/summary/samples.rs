//! Counts samples and sums their values, without resolving their references.
//!
//! ```text
//! sample ─► skip long lists at the start ─► 24 bytes or less? ─► known shape? ─► add the values at its offsets
//!                                                     no ─► field by field
//! ```
//!
//! Sums are `i128`, which no number of samples overflows.

use super::fields::{Fields, Part};
use super::layouts::{LONGEST, LayoutCache, MessageLayout, Window};
use crate::schema::Version;
use crate::wire::packed::packed_varints;
use crate::wire::read::Reader;

/// The state of reading samples: the fields of their version, and a cache of their shapes.
pub(super) struct Samples {
    fields: Fields,
    layouts: LayoutCache,
    /// The values of a sample that was read field by field.
    values: Vec<i64>,
}

impl Samples {
    /// Creates the state for the samples of a version.
    pub(super) fn of(version: Version) -> Self {
        Self { fields: Fields::of(version), layouts: LayoutCache::new(), values: Vec::new() }
    }

    /// Finds the shape of a sample, or of its last fields if it is long. Returns it with the bytes that it
    /// describes. `None` if the sample has no regular shape.
    // Always inlined. Without any in the library, summaries take up to 25 % more instructions.
    #[inline(always)]
    fn find_layout<'a>(&mut self, mut sample: Reader<'a>) -> Option<(&MessageLayout, &'a Window)> {
        while sample.left() > LONGEST {
            // In pprof and older generations, a long list of locations may come first.
            let mut ahead = sample;
            match self.fields.part(u8::try_from(ahead.tag().ok()??).ok()?) {
                Part::Bytes => drop(ahead.message().ok()?),
                Part::Number => drop(ahead.varint().ok()?),
                _ => return None,
            }
            sample = ahead;
        }
        let window = sample.ahead().first_chunk()?;
        let layout = self.layouts.of(window, sample.left(), &self.fields)?;
        Some((layout, window))
    }

    /// Reads any sample field by field. Keeps its values in `self.values`, and returns the number of its
    /// timestamps.
    #[cold]
    #[inline(never)]
    fn decode(&mut self, mut sample: Reader<'_>) -> Option<u64> {
        let mut times = 0;
        self.values.clear();
        while let Some(tag) = sample.tag().ok()? {
            match self.fields.part(u8::try_from(tag).ok()?) {
                Part::Number => drop(sample.varint().ok()?),
                Part::Bytes => drop(sample.message().ok()?),
                Part::Value => self.values.push(sample.varint().ok()? as i64),
                Part::Values => {
                    let list = sample.message().ok()?;
                    packed_varints(list, &mut self.values, |value| value as i64).ok()?;
                }
                part => times += time(part, &mut sample)?,
            }
        }
        Some(times)
    }
}

/// The counts and sums of a profile's samples.
#[derive(Clone, Debug, Default)]
pub(super) struct SampleTotals {
    pub(super) samples: u64,
    pub(super) timestamps: u64,
    /// One sum per sample type.
    pub(super) sums: Vec<i128>,
}

impl SampleTotals {
    /// Adds a sample of a profile with one sample type. `None` if only a reader can interpret the sample.
    #[inline]
    pub(super) fn single(&mut self, sample: Reader<'_>, samples: &mut Samples) -> Option<()> {
        let (values, times, sum) = match samples.find_layout(sample) {
            Some((layout, window)) => {
                (layout.count(), layout.times, layout.values(window).sum::<u64>().into())
            }
            None => {
                let times = samples.decode(sample)?;
                let sum = samples.values.iter().map(|value| i128::from(*value)).sum::<i128>();
                (samples.values.len(), times, sum)
            }
        };
        let values = values as u64;
        // Neither values nor timestamps: the reader explains what happened to them.
        if values == 0 && times == 0 {
            return None;
        }
        // Without values, each timestamp counts 1.
        let sum = if values == 0 { times.into() } else { sum };
        // The reader rejects or repairs such a sample.
        if values != 0 && times != 0 && times != values {
            return None;
        }
        self.samples += 1;
        self.timestamps += times;
        *self.sums.first_mut()? += sum;
        Some(())
    }

    /// Adds a sample of a profile with several sample types, and so one value for each.
    ///
    /// `None` if samples differ in their number of values, which a reader rejects or repairs.
    #[inline]
    pub(super) fn several(&mut self, sample: Reader<'_>, samples: &mut Samples) -> Option<()> {
        let times = match samples.find_layout(sample) {
            Some((layout, window)) => {
                let sums = self.sums_of(layout.count())?.iter_mut();
                sums.zip(layout.values(window)).for_each(|(sum, value)| *sum += i128::from(value));
                layout.times
            }
            None => {
                let times = samples.decode(sample)?;
                let sums = self.sums_of(samples.values.len())?.iter_mut();
                sums.zip(&samples.values).for_each(|(sum, value)| *sum += i128::from(*value));
                times
            }
        };
        self.samples += 1;
        self.timestamps += times;
        Some(())
    }

    /// Returns the sums, if the sample has as many values as the first sample of the profile.
    #[inline(always)]
    fn sums_of(&mut self, values: usize) -> Option<&mut [i128]> {
        if self.samples == 0 {
            self.sums = vec![0; values];
        }
        (values == self.sums.len()).then_some(&mut self.sums)
    }
}

/// Returns the number of timestamps in a field.
#[inline]
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
            // Each varint has one byte without a continuation bit.
            let ends = list.iter().filter(|byte| **byte < 0x80).count();
            list.last().is_none_or(|last| *last < 0x80).then_some(ends as u64)
        }
        _ => None,
    }
}

/// Calls `add` with a sample whose tag was read, and with the samples that follow it directly.
#[inline]
pub(super) fn samples<'a>(
    reader: &mut Reader<'a>,
    tag: u32,
    mut add: impl FnMut(Reader<'a>) -> Option<()>,
) -> Option<()> {
    let mut next = Some(reader.message().ok()?);
    while let Some(sample) = next {
        add(sample)?;
        next = reader.record_of(tag);
    }
    Some(())
}
