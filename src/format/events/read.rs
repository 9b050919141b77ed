//! Reader of a profile of events.
//!
//! ```text
//! Parts ─► Tables ─► Resolver ─► each event ─► EventGroups ─► 1 to 3 profiles for each group ─► one scope
//! ```
//!
//! A payload has no resource and no scope, so all profiles are in one unnamed scope of one unnamed resource.

use std::collections::HashSet;

use super::event_groups::{EventGroup, EventGroups};
use super::resolve::{Event, EventType, Resolver};
use super::tables::{Parts, Tables};
use crate::error::Result;
use crate::format::assembly::ResourceGroup;
use crate::losses;
use crate::model::Profiles;
use crate::model::event_form::EventForm;
use crate::model::id::{AttributeId, StringId};
use crate::model::profile::Profile;
use crate::model::samples::Samples;
use crate::model::value::Value;
use crate::read_context::ReadContext;
use crate::schema::Version;
use crate::semconv::PPROF_PROFILE_COMMENT;
use crate::tables::fields::is;
use crate::tables::read::common::table_text;
use crate::wire::read::Reader;

/// Reads one profile of events.
///
/// Walks the payload twice, because tables may follow the events that refer to them.
///
/// # Errors
///
/// A malformed row, type or event, with its place: `events[3].stack_index`; a limit.
pub(crate) fn read(payload: &[u8], cx: &mut ReadContext) -> Result<Profiles> {
    let parts = Parts::of(payload, cx)?;
    let mut tables = Tables::of(&parts, cx)?;
    let texts = tables.source_strings;
    let mut resolver = Resolver::of(&parts, &mut tables, cx)?;
    let mut groups = EventGroups::of(resolver.types.len(), cx)?;
    let mut reader = Reader::new(payload);
    let mut row = 0;
    while let Some(tag) = reader.tag()? {
        if !is!(tag, PROFILE "events" in Version::Events) {
            reader.skip(tag, cx.limits().max_nesting)?;
            continue;
        }
        let (body, inside) = (reader.bytes()?, [("events", row)]);
        let event = cx.inside(&inside, |cx| resolver.event(body, &mut tables, cx))?;
        let clock = clock_of(&resolver, &event);
        groups.add(event, clock, cx)?;
        row += 1;
    }
    let mut common = common(&parts, &mut tables, cx)?;
    common.event_form.texts = texts;
    resolver.finish(cx);
    let mut group = ResourceGroup::default();
    for events in groups.in_order() {
        add_profiles(events, &resolver, &common, &mut tables, cx, &mut group.profiles)?;
    }
    let Tables { mut assembly, .. } = tables;
    assembly.charge(cx)?;
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
fn common(parts: &Parts, tables: &mut Tables, cx: &mut ReadContext) -> Result<Profile> {
    let mut profile = Profile::default();
    profile.duration_nanos = parts.duration_nanos.into();
    if parts.time_unix_nano != 0 {
        profile.time_unix_nano = i128::from(parts.time_unix_nano) - profile.duration_nanos;
    }
    let mut comments = Vec::new();
    for (at, index) in parts.comments.iter().enumerate() {
        let text = table_text(*index, &tables.texts, cx)
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
/// The budget: each profile of a group gets all attributes of its type and clock.
fn add_profiles(
    events: &EventGroup,
    resolver: &Resolver,
    common: &Profile,
    tables: &mut Tables,
    cx: &mut ReadContext,
    profiles: &mut Vec<Profile>,
) -> Result<()> {
    let Some(kind) = resolver.types.get(events.kind) else { return Ok(()) };
    let clock = kind.clock.and_then(|clock| resolver.clocks.get(clock));
    let mut profile = common.clone();
    let attributes = attributes(kind, clock.map(|clock| &clock.attributes[..]), tables, cx);
    profile.attributes.extend(attributes);
    let form = EventForm {
        default_value: kind.default_value,
        clock: clock.filter(|_| events.is_timed).map(|clock| clock.clock),
        places: events.places(),
        non_default_counts: events.deviations(|at, found| found.count.then_some(at)),
        non_default_values: events
            .deviations(|at, found| found.value_fields.map(|fields| (at, fields))),
        texts: common.event_form.texts,
    };
    let needed = events.needed_profiles(kind.unit != StringId::NONE, kind.default_value);
    let mut form = Some(form);
    let mut add =
        |name: StringId, unit: StringId, samples: Samples, cx: &mut ReadContext| -> Result<()> {
            // Types may share a clock with many attributes, which each profile copies.
            cx.budget.charge::<AttributeId>(profile.attributes.len())?;
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
    if needed.values {
        add(kind.name, kind.unit, events.samples(|seen| seen.total, cx)?, cx)?;
    }
    for (is_said, (ending, unit), duration) in
        [(needed.durations, super::DURATION, true), (needed.counts, super::COUNT, false)]
    {
        if !is_said {
            continue;
        }
        let dictionary = &tables.assembly.interner.dictionary;
        let name = format!("{}{ending}", dictionary.text(kind.name));
        let name = tables.assembly.text(name.as_bytes())?;
        let unit = tables.assembly.text(unit.as_bytes())?;
        let samples =
            events.samples(|seen| if duration { seen.duration } else { seen.count }, cx)?;
        add(name, unit, samples, cx)?;
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
    cx: &mut ReadContext,
) -> Vec<AttributeId> {
    let dictionary = &tables.assembly.interner.dictionary;
    let key = |id: &AttributeId| dictionary.attribute(*id).map(|attribute| attribute.key);
    let own: HashSet<Option<StringId>> = kind.attributes.iter().map(key).collect();
    let mut attributes = kind.attributes.clone();
    for id in clock.into_iter().flatten() {
        let message = || "the attribute of the clock was moved to the profile".to_owned();
        cx.note(losses::EVENT_CLOCK_ATTRIBUTE, || "clocks.attributes".to_owned(), message);
        if !own.contains(&key(id)) {
            attributes.push(*id);
        }
    }
    attributes
}
