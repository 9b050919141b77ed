//! Leaving out parts of profiles.

use std::ops::Range;

use crate::error::Result;
use crate::limits::Limits;
use crate::losses::{self, Losses};
use crate::model::Profiles;
use crate::model::id::MappingId;
use crate::model::profile::{Profile, ProfileParts};
use crate::model::ragged::Ragged;
use crate::tables::rows::interner::Interner;
use crate::tables::rows::merge::absorb;

/// Keeps samples in a range of nanoseconds since 1970, which excludes its end.
///
/// Timestamped samples lose the timestamps outside the range. Totals cannot be divided: they stay if their profile
/// starts in the range. The report counts those that cover time inside and outside of it (`split.total_not_divided`). The
/// time and the duration of a profile become those of its part in the range, unless such a total covers more. Profiles
/// without samples stay; the duration of those outside the range becomes 0. The time is linear in the samples.
///
/// ```
/// use otlp_profiles::transform::retain_time;
/// # let file = std::fs::read("testdata/otlp-1.11-timestamped-cpu.binpb").unwrap();
///
/// let mut profiles = otlp_profiles::read(&file, &Default::default())?.profiles;
/// let first = profiles.iter().next().unwrap().samples().get(0).unwrap().timestamps_unix_nano[0];
/// let losses = retain_time(&mut profiles, first..first + 1);
/// assert!(losses.is_empty());
/// let samples = profiles.iter().next().unwrap().samples();
/// assert!(samples.iter().all(|sample| sample.timestamps_unix_nano == [first]));
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn retain_time(profiles: &mut Profiles, range: Range<u64>) -> Losses {
    let mut losses = Losses::default();
    let scopes = profiles.resources.iter_mut().flat_map(|resource| &mut resource.scopes);
    for profile in scopes.flat_map(|scope| &mut scope.profiles) {
        retain_time_of(profile, &range, &mut losses);
    }
    losses
}

fn retain_time_of(profile: &mut Profile, range: &Range<u64>, losses: &mut Losses) {
    let Some(profile) = profile.parts_mut() else { return };
    let ProfileParts { time_unix_nano: start, duration_nanos: duration, .. } = *profile;
    let range_wide = i128::from(range.start)..i128::from(range.end);
    let starts_inside = range_wide.contains(&start);
    let end = start + duration.max(0);
    let sticks_out = end > range_wide.end;
    let overlaps = start < range_wide.start && end > range_wide.start;
    let columns = profile.sample_types.len().max(1);
    let samples = &mut profile.samples;
    let (mut kept, mut undivided) = (vec![false; samples.len()], 0);
    let (mut values, mut times) = (Ragged::default(), Ragged::default());
    for (row, kept) in kept.iter_mut().enumerate() {
        let sample = samples.at(row);
        let all = sample.timestamps_unix_nano;
        let has_values = sample.values.len() == all.len();
        if all.is_empty() || columns > 1 || !(has_values || sample.values.is_empty()) {
            *kept = starts_inside;
            undivided += u64::from(match starts_inside {
                true => sticks_out,
                false => overlaps,
            });
            values.items.extend_from_slice(sample.values);
            times.items.extend_from_slice(all);
        } else {
            for (at, time) in all.iter().enumerate().filter(|(_, time)| range.contains(*time)) {
                *kept = true;
                times.items.push(*time);
                values.items.extend(sample.values.get(at));
            }
        }
        values.end_row();
        times.end_row();
    }
    (samples.values, samples.timestamps) = (values, times.into());
    if samples.timestamps.items.is_empty() {
        samples.timestamps = Ragged::NONE.into();
    }
    if samples.values.items.is_empty() {
        samples.values = Ragged::NONE;
    }
    samples.retain(&kept);
    losses.add_many(losses::TOTAL_NOT_DIVIDED, undivided, String::new);
    if start != 0 && duration > 0 && !(starts_inside && undivided > 0) {
        let part = start.max(range_wide.start)..(start + duration).min(range_wide.end);
        profile.time_unix_nano = if part.is_empty() { start } else { part.start };
        profile.duration_nanos = (part.end - part.start).max(0);
    }
}

/// Details of locations that [`strip`] removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strip {
    /// Addresses of locations. A location without lines is then unknown.
    Addresses,
    /// Line and column numbers, and the lines where functions start.
    Lines,
    /// Binaries. Their locations keep functions and addresses.
    Mappings,
}

/// Removes details of locations. Equal rows become one; samples stay apart. The time is linear in the tables.
///
/// # Errors
///
/// A limit is reached.
///
/// ```
/// use otlp_profiles::Limits;
/// use otlp_profiles::transform::{Strip, strip};
/// # let file = std::fs::read("testdata/go-heap.pb.gz").unwrap();
///
/// let mut profiles = otlp_profiles::read(&file, &Default::default())?.profiles;
/// let before = profiles.dictionary().locations().len();
/// let losses = strip(&mut profiles, &[Strip::Addresses, Strip::Lines], Limits::file())?;
/// assert!(profiles.dictionary().locations().len() < before);
/// assert!(losses.get("location.address_dropped").is_some());
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn strip(profiles: &mut Profiles, what: &[Strip], limits: Limits) -> Result<Losses> {
    let mut losses = Losses::default();
    let dictionary = &mut profiles.dictionary;
    let locations = &mut dictionary.locations;
    for strip in what {
        let (code, count) = match strip {
            Strip::Addresses => {
                let known = locations.addresses.iter().filter(|address| **address != 0).count();
                locations.addresses.fill(0);
                (losses::ADDRESS_DROPPED, known)
            }
            Strip::Lines => {
                let lines = locations.lines.items.iter_mut();
                let known = lines.filter(|line| (line.line, line.column) != (0, 0));
                let known = known.map(|line| (line.line, line.column) = (0, 0)).count();
                dictionary.functions.iter_mut().for_each(|function| function.start_line = 0);
                (losses::SOURCE_DROPPED, known)
            }
            Strip::Mappings => {
                let known = locations.mappings.iter().filter(|id| **id != MappingId::NONE).count();
                locations.mappings.fill(MappingId::NONE);
                (losses::MAPPING_DROPPED, known)
            }
        };
        losses.add_many(code, count as u64, String::new);
    }
    let mut interner = Interner::new(limits);
    let remap = absorb(&mut interner, &profiles.dictionary)?;
    profiles.resources.iter_mut().for_each(|resource| remap.resource_profiles(resource));
    profiles.dictionary = interner.dictionary;
    profiles.compact();
    Ok(losses)
}
