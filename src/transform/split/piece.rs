//! Parts of payloads, each with the table rows that it refers to.

use std::ops::Range;

use crate::losses::Losses;
use crate::model::event_form::EventForm;
use crate::model::id::StringId;
use crate::model::order::{ranks, sample_type_order, set_sample_type_order};
use crate::model::profile::{Profile, ProfileParts};
use crate::model::samples::{SampleRef, Samples};
use crate::model::{Profiles, ResourceProfiles, ScopeProfiles};
use crate::tables::rows::reach::Reach;
use crate::transform::columns::{column_blocks, forget_unique};

/// A profile, or some of its samples.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// The rows of the resource, the scope in it and the profile in that.
    pub(super) at: [u32; 3],
    pub(super) rows: Rows,
    /// The start and the duration, if the piece covers a part of the time.
    pub(super) time: Option<(i128, i128)>,
}

/// Samples of a profile, each with a range of its timestamps.
pub(super) type SampleRanges = Vec<(u32, Range<u32>)>;

/// The samples of a piece.
#[derive(Clone, Debug)]
pub(super) enum Rows {
    /// All samples.
    All,
    /// Consecutive samples.
    Range(Range<usize>),
    /// Some samples, each with a range of its timestamps; the range is empty for totals.
    Some(SampleRanges),
}

/// The rows of the resource, the scope and the profile of each entry.
pub(super) fn places(profiles: &Profiles) -> impl Iterator<Item = [u32; 3]> + '_ {
    (0..).zip(&profiles.resources).flat_map(|(resource, of)| {
        (0..).zip(&of.scopes).flat_map(move |(scope, of)| {
            (0..of.profiles.len() as u32).map(move |profile| [resource, scope, profile])
        })
    })
}

/// The profiles that are divided at the same samples: the columns of one pprof, as ranges of all profiles.
pub(super) fn units(profiles: &Profiles) -> Vec<Range<usize>> {
    let (mut units, mut first) = (Vec::new(), 0);
    for scope in profiles.resources.iter().flat_map(|resource| &resource.scopes) {
        let blocks = column_blocks(scope, &profiles.dictionary).into_iter();
        units.extend(blocks.map(|block| first + block.start..first + block.end));
        first += scope.profiles.len();
    }
    units
}

/// A payload for each profile; the columns of one pprof stay together.
pub(crate) fn blocks(profiles: &Profiles) -> Vec<Profiles> {
    let mut cutter = Cutter::new(profiles);
    let mut blocks = Vec::new();
    let mut places = places(profiles);
    for scope in profiles.resources.iter().flat_map(|resource| &resource.scopes) {
        for block in column_blocks(scope, &profiles.dictionary) {
            let piece = |at| (Piece { at, rows: Rows::All, time: None }, true);
            let pieces: Vec<_> = places.by_ref().take(block.len()).map(piece).collect();
            blocks.push(cutter.cut(&pieces));
        }
    }
    blocks
}

/// Takes parts out of a payload. Their total cost is linear in what they contain.
pub(super) struct Cutter<'a> {
    profiles: &'a Profiles,
    reach: Reach,
    /// The next part is the first: it gets unreferenced rows, and resources and scopes without profiles.
    is_first: bool,
    pub(super) losses: Losses,
}

impl<'a> Cutter<'a> {
    pub(super) fn new(profiles: &'a Profiles) -> Self {
        Self {
            profiles,
            reach: Reach::of(&profiles.dictionary),
            is_first: true,
            losses: Losses::default(),
        }
    }

    /// The profiles of some pieces, which are in the order of the payload. `begins` has for each piece whether it is
    /// the first of its profile, which keeps the id, the original payload and the count of dropped attributes.
    pub(super) fn cut(&mut self, pieces: &[(Piece, bool)]) -> Profiles {
        let profiles = self.profiles;
        let mut resources = if self.is_first { empty_places(profiles) } else { Vec::new() };
        let mut place = None;
        for (Piece { at: [resource, scope, profile], rows, time }, begins) in pieces {
            let from = &profiles.resources[*resource as usize];
            let scope_from = &from.scopes[*scope as usize];
            if place.map(|(resource, _)| resource) != Some(*resource) {
                resources.push(bare_resource(from));
            }
            let Some(last) = resources.last_mut() else { continue };
            if place != Some((*resource, *scope)) {
                last.scopes.push(bare_scope(scope_from));
                place = Some((*resource, *scope));
            }
            let Some(last) = last.scopes.last_mut() else { continue };
            last.profiles.push(piece(
                &scope_from.profiles[*profile as usize],
                rows,
                *time,
                *begins,
            ));
        }
        self.set_orders(pieces, &mut resources);
        let Self { reach, is_first, .. } = self;
        if *is_first {
            mark_unused(profiles, reach);
        }
        *is_first = false;
        let dictionary = &profiles.dictionary;
        reach.tree(&resources);
        let scopes = resources.iter().flat_map(|resource| &resource.scopes);
        scopes.flat_map(|scope| &scope.profiles).for_each(|profile| reach.profile(profile));
        reach.finish(dictionary);
        resources.iter_mut().for_each(|resource| reach.new.resource_profiles(resource));
        let part = Profiles { dictionary: reach.keep(dictionary), resources };
        reach.clear();
        part
    }

    /// Reduces the orders of sample types that scopes have to the profiles that are left.
    fn set_orders(&mut self, pieces: &[(Piece, bool)], resources: &mut [ResourceProfiles]) {
        let dictionary = &self.profiles.dictionary;
        let mut pieces = pieces.iter().map(|(piece, _)| piece.at);
        let scopes = resources.iter_mut().flat_map(|resource| &mut resource.scopes);
        for scope in scopes.filter(|scope| !scope.profiles.is_empty()) {
            let at: Vec<[u32; 3]> = pieces.by_ref().take(scope.profiles.len()).collect();
            // Every scope here has profiles, so it has a first piece.
            let [resource, row, _] = at[0];
            let from = &self.profiles.resources[resource as usize].scopes[row as usize];
            let Some(Ok(order)) = sample_type_order(from, dictionary) else { continue };
            let left = at.iter().map(|[_, _, profile]| order[*profile as usize]);
            set_sample_type_order(scope, &ranks(left), dictionary);
        }
    }

    /// Makes the next part the first again.
    pub(super) fn rewind(&mut self) {
        self.is_first = true;
    }
}

/// Marks the rows that no profile refers to.
fn mark_unused(profiles: &Profiles, reach: &mut Reach) {
    let dictionary = &profiles.dictionary;
    let mut used = Reach::of(dictionary);
    used.tree(&profiles.resources);
    profiles.iter().for_each(|profile| used.profile(profile));
    used.finish(dictionary);
    reach.mark_unreached(&used);
}

/// Resources and scopes without profiles.
fn empty_places(profiles: &Profiles) -> Vec<ResourceProfiles> {
    let mut places = Vec::new();
    for resource in &profiles.resources {
        let mut bare = bare_resource(resource);
        let empty = resource.scopes.iter().filter(|scope| scope.profiles.is_empty());
        bare.scopes.extend(empty.cloned());
        if !bare.scopes.is_empty() || resource.scopes.is_empty() {
            places.push(bare);
        }
    }
    places
}

fn bare_resource(from: &ResourceProfiles) -> ResourceProfiles {
    let mut bare = ResourceProfiles::default();
    bare.resource = from.resource.clone();
    bare.schema_url = from.schema_url;
    bare
}

fn bare_scope(from: &ScopeProfiles) -> ScopeProfiles {
    let mut bare = ScopeProfiles::default();
    bare.scope = from.scope.clone();
    bare.schema_url = from.schema_url;
    bare
}

/// A profile with some of its samples.
fn piece(from: &Profile, rows: &Rows, time: Option<(i128, i128)>, begins: bool) -> Profile {
    let mut to = match rows {
        Rows::All => from.clone(),
        _ => header(from),
    };
    match rows {
        Rows::All => {}
        Rows::Range(rows) => {
            rows.clone().for_each(|row| push(&mut to.samples, from.samples.at(row)));
        }
        Rows::Some(rows) => {
            for (row, points) in rows {
                let mut sample = from.samples.at(*row as usize);
                let points = points.start as usize..points.end as usize;
                if !sample.timestamps_unix_nano.is_empty() {
                    if sample.values.len() == sample.timestamps_unix_nano.len() {
                        sample.values = &sample.values[points.clone()];
                    }
                    sample.timestamps_unix_nano = &sample.timestamps_unix_nano[points];
                }
                push(&mut to.samples, sample);
            }
        }
    }
    if let Some((start, duration)) = time {
        (to.time_unix_nano, to.duration_nanos) = (start, duration);
    }
    if !begins {
        forget_unique(&mut to);
    }
    to
}

/// A profile without samples. All fields are named, so that a new one does not compile until it is copied here.
fn header(from: &Profile) -> Profile {
    let mut to = Profile::default();
    *to = ProfileParts {
        profile_id: from.profile_id,
        time_unix_nano: from.time_unix_nano,
        duration_nanos: from.duration_nanos,
        sample_types: from.sample_types.clone(),
        default_sample_type: from.default_sample_type,
        period_type: from.period_type,
        period: from.period,
        attributes: from.attributes.clone(),
        dropped_attributes_count: from.dropped_attributes_count,
        original_payload_format: from.original_payload_format,
        original_payload: from.original_payload.clone(),
        samples: Samples::default(),
        in_order: from.in_order,
        // The other details are about the samples of the whole profile.
        event_form: EventForm { clock: from.event_form.clock, ..EventForm::NONE }.into(),
    };
    to
}

fn push(to: &mut Samples, sample: SampleRef<'_>) {
    let row = to.push(sample.stack, sample.attributes, sample.link);
    to.values.push_at(row, sample.values);
    to.timestamps.push_at(row, sample.timestamps_unix_nano);
    if sample.stacktrace_id != StringId::NONE {
        to.stacktrace_ids.resize(row, StringId::NONE);
        to.stacktrace_ids.push(sample.stacktrace_id);
    }
}
