//! Parts of a limited size.
//!
//! The writer measures: a part is extended and shortened until one more sample would exceed the limit, or less than
//! 1/128 of it is left. The first guess comes from the size of the samples before, so a part is written a few times.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::limits::setters;
use crate::model::Profiles;
use crate::model::profile::Profile;
use crate::transform::split::piece::{Cutter, Piece, Rows, places, units};
use crate::write_options::WriteOptions;
use crate::writer::write_all;

/// The limit of [`split_max`] and the format that it applies to.
///
/// ```
/// use otlp_profiles::transform::MaxBytes;
/// use otlp_profiles::{Format, WriteOptions};
///
/// let limit = MaxBytes::new(4 << 20)
///     .format(Format::OTLP_1_9)
///     .write(WriteOptions::default())
///     .keep_oversize(true);
/// assert_eq!(limit.max_bytes, 4_194_304);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MaxBytes {
    /// The most bytes of a part, encoded and not compressed, as receivers count them. gRPC accepts 4 MiB by default.
    pub max_bytes: u64,
    /// The format of the parts; the newest generation of OTLP by default.
    pub format: Format,
    /// The options that the parts are written with.
    pub write: WriteOptions,
    /// Keeps a sample that exceeds the limit on its own in a part. By default it is an error.
    pub keep_oversize: bool,
}

setters! { MaxBytes {
    format: Format,
    write: WriteOptions,
    keep_oversize: bool,
} }

impl MaxBytes {
    /// A limit for parts in the newest generation of OTLP.
    pub fn new(max_bytes: u64) -> Self {
        let write = WriteOptions::default();
        Self { max_bytes, format: Format::OTLP, write, keep_oversize: false }
    }
}

/// Divides profiles into parts of at most so many bytes. Samples keep their order.
///
/// A timestamped sample that is too large on its own is divided between its timestamps. The profile id, the original
/// payload and the count of dropped attributes stay in the first part of a profile.
///
/// The time is that of writing the profiles several times; the memory is that of the parts.
///
/// # Errors
///
/// A total, a timestamp, or a profile's header alone exceeds the limit, or a part cannot be written.
///
/// ```
/// use otlp_profiles::transform::{MaxBytes, split_max};
/// use otlp_profiles::{Format, WriteOptions, write};
/// # let file = std::fs::read("testdata/rust-heap.pb.gz").unwrap();
///
/// let profiles = otlp_profiles::read(&file, &Default::default())?.profiles;
/// let parts = split_max(&profiles, &MaxBytes::new(20_000))?;
/// assert!(parts.len() > 1);
/// for part in &parts {
///     assert!(write(part, Format::OTLP, &WriteOptions::default())?.payload.len() <= 20_000);
/// }
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn split_max(profiles: &Profiles, limit: &MaxBytes) -> Result<Vec<Profiles>> {
    let places: Vec<[u32; 3]> = places(profiles).collect();
    let source: Vec<&Profile> = profiles.iter().collect();
    let units = units(profiles);
    let mut starts = vec![0];
    // `starts` is never empty, so its last element exists. A profile without samples is one item.
    for unit in &units {
        starts.push(starts[starts.len() - 1] + source[unit.start].samples.len().max(1));
    }
    let items = starts[starts.len() - 1];
    let mut splitter = Splitter {
        limit,
        source,
        places,
        units,
        starts,
        cutter: Cutter::new(profiles),
        is_first: true,
        parts: Vec::new(),
    };
    let whole = splitter.measure(&splitter.pieces(0..items))?;
    if whole.1 <= limit.max_bytes || items == 0 && limit.keep_oversize {
        splitter.parts.push(whole.0);
        return Ok(splitter.parts);
    }
    if items == 0 {
        let message = format!(
            "resources without profiles take {} bytes, more than the limit of {}",
            whole.1, limit.max_bytes
        );
        return Err(Error::new(ErrorKind::Limit, message));
    }
    let (mut from, mut density) = (0, whole.1 as f64 / items.max(1) as f64);
    while from < items {
        from = splitter.extend(from, items, &mut density)?;
    }
    Ok(splitter.parts)
}

struct Splitter<'a> {
    limit: &'a MaxBytes,
    source: Vec<&'a Profile>,
    places: Vec<[u32; 3]>,
    /// Profiles that are divided together.
    units: Vec<Range<usize>>,
    /// The number of items, samples or profiles without any, before each unit.
    starts: Vec<usize>,
    cutter: Cutter<'a>,
    /// No part is complete yet.
    is_first: bool,
    parts: Vec<Profiles>,
}

impl Splitter<'_> {
    /// Adds the part that begins with an item. Returns the item after it. `density` is the expected size of an item.
    fn extend(&mut self, from: usize, items: usize, density: &mut f64) -> Result<usize> {
        let max = self.limit.max_bytes;
        let guess = (max as f64 / density.max(1.0)) as usize;
        // The caller has items left, so the range is not empty.
        let mut guess = guess.clamp(1, items - from);
        // So many items fit, and so many do not.
        let (mut fits, mut exceeds) = (0, items - from + 1);
        let (mut best, mut tries): (Option<(Profiles, u64)>, _) = (None, 0);
        while exceeds - fits > 1 {
            let (part, size) = self.measure(&self.pieces(from..from + guess))?;
            if size <= max {
                fits = guess;
                best = Some((part, size));
                if size > max - max / 128 {
                    break;
                }
            } else {
                exceeds = guess;
            }
            let least = best.as_ref().map_or(0, |(_, size)| *size);
            // `guess` is above 0, and above `fits` if it exceeds the limit: neither divisor is 0.
            let slope = match size > max {
                true => (size - least) as f64 / (guess - fits) as f64,
                false => size as f64 / guess as f64,
            };
            let more = ((max - least) as f64 / slope.max(1.0)) as usize;
            tries += 1;
            // Estimates may approach the limit slowly, so halving takes over after five.
            guess = match tries {
                ..6 => (fits + more.max(1)).clamp(fits + 1, (exceeds - 1).max(fits + 1)),
                _ => fits + (exceeds - fits) / 2,
            };
        }
        match best {
            Some((part, size)) => {
                *density = size as f64 / fits as f64;
                self.push(part);
                Ok(from + fits)
            }
            None => self.divide(from).map(|()| from + 1),
        }
    }

    fn push(&mut self, part: Profiles) {
        self.parts.push(part);
        self.is_first = false;
    }

    /// A part and the bytes of its largest payload.
    fn measure(&mut self, pieces: &[(Piece, bool)]) -> Result<(Profiles, u64)> {
        if self.is_first {
            self.cutter.rewind();
        }
        let part = self.cutter.cut(pieces);
        let (payloads, _) = write_all(&part, self.limit.format, &self.limit.write)?;
        let size = payloads.iter().map(Vec::len).max().unwrap_or(0) as u64;
        Ok((part, size))
    }

    /// The pieces of a range of items.
    fn pieces(&self, items: Range<usize>) -> Vec<(Piece, bool)> {
        let first = self.starts.partition_point(|start| *start <= items.start).saturating_sub(1);
        let units = self.units.iter().zip(&self.starts).skip(first);
        let units = units.take_while(|(_, start)| **start < items.end);
        let pieces = units.flat_map(|(unit, start)| {
            let samples = self.source[unit.start].samples.len();
            let rows = items.start.saturating_sub(*start)..(items.end - start).min(samples);
            unit.clone().map(move |profile| {
                let begins = rows.start == 0;
                let all = begins && rows.end == samples;
                let rows = if all { Rows::All } else { Rows::Range(rows.clone()) };
                (Piece { at: self.places[profile], rows, time: None }, begins)
            })
        });
        pieces.collect()
    }

    /// Divides one item, which exceeds the limit, between its timestamps.
    fn divide(&mut self, item: usize) -> Result<()> {
        let unit = self.starts.partition_point(|start| *start <= item) - 1;
        let row = item - self.starts[unit];
        let unit = self.units[unit].clone();
        let points_of = |profile: usize| {
            let of = self.source[profile];
            let sample = of.samples.get(row)?;
            let times = sample.timestamps_unix_nano.len();
            let is_divisible =
                of.sample_types.len() < 2 && [0, times].contains(&sample.values.len());
            is_divisible.then_some(times)
        };
        let points = unit.clone().map(|profile| points_of(profile).unwrap_or(0)).min().unwrap_or(0);
        if points < 2 {
            return self.oversize(item, unit.start, row);
        }
        let mut from = 0;
        while from < points {
            let (mut fits, mut exceeds) = (0, points - from + 1);
            let mut best = None;
            while exceeds - fits > 1 {
                let middle = fits + (exceeds - fits) / 2;
                let rows = Rows::Some(vec![(row as u32, from as u32..(from + middle) as u32)]);
                let begins = row == 0 && from == 0;
                let pieces: Vec<_> = unit
                    .clone()
                    .map(|of| {
                        (Piece { at: self.places[of], rows: rows.clone(), time: None }, begins)
                    })
                    .collect();
                let (part, size) = self.measure(&pieces)?;
                if size <= self.limit.max_bytes {
                    (fits, best) = (middle, Some(part));
                } else {
                    exceeds = middle;
                }
            }
            let Some(part) = best else { return self.oversize(item, unit.start, row) };
            self.push(part);
            from += fits;
        }
        Ok(())
    }

    /// Keeps an item that exceeds the limit, or refuses it.
    fn oversize(&mut self, item: usize, profile: usize, row: usize) -> Result<()> {
        let (part, size) = self.measure(&self.pieces(item..item + 1))?;
        if self.limit.keep_oversize {
            self.push(part);
            return Ok(());
        }
        let original = !self.source[profile].original_payload.is_empty() && row == 0;
        let hint = if original { "drop the original payload" } else { "raise the limit" };
        Err(Error::new(
            ErrorKind::Limit,
            format!(
                "sample {row} of profile {profile} takes {size} bytes in a part of its own, more than the limit of {}: \
                 {hint}, or keep oversize samples",
                self.limit.max_bytes
            ),
        ))
    }
}
