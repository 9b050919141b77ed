//! Reader of a profile of events.
//!
//! ```text
//! Parts ─► Tables ─► Resolver ─► each event ─► Lanes ─► 1 to 3 profiles for each lane ─► one scope
//! ```
//!
//! A payload has no resource and no scope, so all profiles are in one unnamed scope of one unnamed resource.

use std::collections::HashSet;

use super::references::find;
use super::resolve::{Event, EventType, Resolver};
use super::settle::{Lane, Lanes};
use super::tables::{Parts, Tables};
use crate::error::Result;
use crate::format::assembly::Group;
use crate::format::fields::is;
use crate::format::intake::Intake;
use crate::format::losses;
use crate::model::Profiles;
use crate::model::event_form::EventForm;
use crate::model::id::{AttributeId, StringId};
use crate::model::profile::Profile;
use crate::model::samples::Samples;
use crate::model::value::Value;
use crate::schema::Version;
use crate::semconv::PPROF_PROFILE_COMMENT;
use crate::wire::read::Reader;

/// Reads one profile of events.
///
/// Walks the payload twice, because tables may follow the events that refer to them.
///
/// # Errors
///
/// A malformed row, type or event, with its place: `events[3].stack_index`; a limit.
pub(crate) fn read(payload: &[u8], intake: &mut Intake) -> Result<Profiles> {
    let parts = Parts::of(payload, intake)?;
    let mut tables = Tables::of(&parts, intake)?;
    let texts = tables.own_texts;
    let mut resolver = Resolver::of(&parts, &mut tables, intake)?;
    let mut lanes = Lanes::of(resolver.types.len(), intake)?;
    let mut reader = Reader::new(payload);
    let mut row = 0;
    while let Some(tag) = reader.tag()? {
        if !is!(tag, EVENT_PROFILE "events" in Version::Events) {
            reader.skip(tag, intake.limits().max_nesting)?;
            continue;
        }
        let (body, inside) = (reader.bytes()?, [("events", row)]);
        let event = intake.inside(&inside, |intake| resolver.event(body, &mut tables, intake))?;
        let clock = clock_of(&resolver, &event);
        lanes.add(event, clock, intake)?;
        row += 1;
    }
    let mut common = common(&parts, &mut tables, intake)?;
    common.event_form.texts = texts;
    resolver.finish(intake);
    let mut group = Group::default();
    for lane in lanes.in_order() {
        of_lane(lane, &resolver, &common, &mut tables, intake, &mut group.profiles)?;
    }
    let Tables { mut assembly, .. } = tables;
    assembly.settle(intake)?;
    Ok(assembly.finish(vec![group]))
}

/// Returns the clock of an event that has a time.
///
/// An event that was added up has no time even if its type has a clock.
fn clock_of(resolver: &Resolver, event: &Event) -> Option<u32> {
    let kind = resolver.types.get(event.kind)?;
    event.at.and(kind.clock).map(|clock| clock as u32)
}

/// Returns the data common to all profiles: times and comments, without samples.
///
/// Comments become one attribute, a list of strings in their order, as for pprof.
fn common(parts: &Parts, tables: &mut Tables, intake: &mut Intake) -> Result<Profile> {
    let mut profile = Profile::default();
    profile.duration_nanos = parts.duration_nanos.into();
    if parts.time_unix_nano != 0 {
        profile.time_unix_nano = i128::from(parts.time_unix_nano) - profile.duration_nanos;
    }
    let mut comments = Vec::new();
    for (at, index) in parts.comments.iter().enumerate() {
        let text = find(&tables.texts, *index, intake)
            .map_err(|e| e.element(at).within("comment_string_index"))?;
        comments.push(Value::String(text));
    }
    if !comments.is_empty() {
        let comments = Value::Array(comments.into());
        let comments = tables.assembly.attribute(PPROF_PROFILE_COMMENT.as_bytes(), comments)?;
        profile.attributes.push(comments);
    }
    Ok(profile)
}

/// Builds the profiles for the events of a type: of their values, their durations and their counts.
///
/// Only the first profile gets `form`, because the writer reads it there. Otherwise the places of all events
/// would be stored three times.
///
/// # Errors
///
/// The budget: each profile of a lane gets all attributes of its type and clock.
fn of_lane(
    lane: &Lane,
    resolver: &Resolver,
    common: &Profile,
    tables: &mut Tables,
    intake: &mut Intake,
    profiles: &mut Vec<Profile>,
) -> Result<()> {
    let Some(kind) = resolver.types.get(lane.kind) else { return Ok(()) };
    let clock = kind.clock.and_then(|clock| resolver.clocks.get(clock));
    let mut profile = common.clone();
    let attributes = attributes(kind, clock.map(|clock| &clock.attributes[..]), tables, intake);
    profile.attributes.extend(attributes);
    let form = EventForm {
        default_value: kind.default_value,
        clock: clock.filter(|_| lane.is_timed).map(|clock| clock.clock),
        places: lane.places(),
        odd_counts: lane.odd(|at, odd| odd.count.then_some(at)),
        odd_worths: lane.odd(|at, odd| odd.worth.map(|worth| (at, worth))),
        texts: common.event_form.texts,
    };
    let says = lane.says(kind.unit != StringId::NONE, kind.default_value);
    let mut form = Some(form);
    let mut add =
        |name: StringId, unit: StringId, samples: Samples, intake: &mut Intake| -> Result<()> {
            // Types may share a clock with many attributes, which each profile copies.
            intake.budget.take::<AttributeId>(profile.attributes.len())?;
            let mut profile = profile.clone();
            profile.sample_types.push(crate::model::profile::ValueType {
                name,
                unit,
                ..Default::default()
            });
            profile.samples = samples;
            profile.event_form = form.take().unwrap_or_default().into();
            profiles.push(profile);
            Ok(())
        };
    if says.values {
        add(kind.name, kind.unit, lane.samples(|seen| seen.total, intake)?, intake)?;
    }
    for (is_said, (ending, unit), duration) in
        [(says.durations, super::DURATION, true), (says.counts, super::COUNT, false)]
    {
        if !is_said {
            continue;
        }
        let dictionary = &tables.assembly.interner.dictionary;
        let name = format!("{}{ending}", dictionary.text(kind.name));
        let name = tables.assembly.text(name.as_bytes())?;
        let unit = tables.assembly.text(unit.as_bytes())?;
        let samples =
            lane.samples(|seen| if duration { seen.duration } else { seen.count }, intake)?;
        add(name, unit, samples, intake)?;
    }
    Ok(())
}

/// Returns the attributes of a type and of its clock.
///
/// The model has no clocks, so their attributes move to the profile, which is reported. If both have the same
/// key, the type's attribute wins, because it is more specific.
fn attributes(
    kind: &EventType,
    clock: Option<&[AttributeId]>,
    tables: &Tables,
    intake: &mut Intake,
) -> Vec<AttributeId> {
    let dictionary = &tables.assembly.interner.dictionary;
    let key = |id: &AttributeId| dictionary.attribute(*id).map(|attribute| attribute.key);
    let own: HashSet<Option<StringId>> = kind.attributes.iter().map(key).collect();
    let mut attributes = kind.attributes.clone();
    for id in clock.into_iter().flatten() {
        let said = || "the attribute of the clock was moved to the profile".to_owned();
        intake.note(losses::EVENT_CLOCK_ATTRIBUTE, || "clocks.attributes".to_owned(), said);
        if !own.contains(&key(id)) {
            attributes.push(*id);
        }
    }
    attributes
}
