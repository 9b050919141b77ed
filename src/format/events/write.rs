//! Writer of profiles of events: one for all profiles with the same time.
//!
//! ```text
//! profiles ─► groups of one time and duration ─► series ─► rows they reach ─► events, types, tables ─► bytes
//! ```
//!
//! A payload has one time for all its types, so profiles with another time need a separate payload.

use super::series::{self, Series};
use super::write_events;
use super::write_events::Clocks;
use crate::error::Result;
use crate::format::assembly::Numbering;
use crate::limits::within;
use crate::losses::{self, Losses};
use crate::model::Profiles;
use crate::model::dictionary::Dictionary;
use crate::model::id::{
    AttributeId, FunctionId, Id, LinkId, LocationId, MappingId, StackId, StringId,
};
use crate::model::profile::Profile;
use crate::schema::{Events, Generation, PROFILE};
use crate::tables::attributes::semantic_attributes::{self, AttributeRole, AttributeRoles};
use crate::tables::fields::number;
use crate::tables::layout::Order;
use crate::tables::rows::reach::Reach;
use crate::tables::write::select::marks;
use crate::tables::write::tables::TableWriter;
use crate::tables::write::unsupported::{UnsupportedData, envelope};
use crate::wire::record::{field_varint, field_varints};
use crate::wire::write::field_fixed64;
use crate::write_options::WriteOptions;

/// Writes the profiles.
///
/// `spare` is a buffer of the caller, used for the first payload. If there are no profiles, it is the result:
/// an empty payload.
///
/// # Errors
///
/// [`Limit`](crate::ErrorKind::Limit) if `max_output_bytes` is exceeded by all payloads together.
pub(crate) fn write(
    profiles: &Profiles,
    options: &WriteOptions,
    losses: &mut Losses,
    spare: Vec<u8>,
) -> Result<Vec<Vec<u8>>> {
    let roles = AttributeRoles::of(&profiles.dictionary);
    count_losses(profiles, &roles, losses);
    let mut numbering = Numbering::default();
    let mut groups: Vec<Vec<&Profile>> = Vec::new();
    for profile in profiles.iter() {
        let (group, is_new) = numbering.number((profile.time_unix_nano, profile.duration_nanos));
        if is_new {
            groups.push(Vec::new());
        }
        groups[group].push(profile);
    }
    let mut spare = Some(spare);
    let mut payloads = Vec::with_capacity(groups.len());
    let mut written = 0;
    let dictionary = &profiles.dictionary;
    let mut reach = Reach::of(dictionary);
    let is_single = groups.len() == 1;
    for group in groups {
        let out = spare.take().unwrap_or_default();
        group.iter().for_each(|profile| reach.profile(profile));
        if is_single {
            // Keep the strings of a payload that was read, referenced or not, and so its bytes.
            (1..dictionary.strings.len() as u32).for_each(|row| reach.mark(StringId(row)));
        }
        reach.finish(dictionary);
        let orphans = orphans(dictionary, &reach);
        let payload = if is_single && orphans == 0 {
            payload(dictionary, &group, &roles, out, losses)?
        } else {
            let (dictionary, mut own) = reach.apart(dictionary, &group);
            if !is_single {
                // The dictionary no longer starts with the strings of one payload.
                own.iter_mut()
                    .filter(|profile| profile.event_form.texts > 0)
                    .for_each(|profile| profile.event_form.texts = 0);
            }
            let (roles, own) = (AttributeRoles::of(&dictionary), Vec::from_iter(&own));
            payload(&dictionary, &own, &roles, out, losses)?
        };
        if is_single {
            losses.add_many(losses::ORPHAN_DROPPED, orphans as u64, String::new);
        }
        reach.clear();
        written += payload.len() as u64;
        within("max_output_bytes", options.max_output_bytes, written)?;
        payloads.push(payload);
    }
    // Zero bytes are an empty profile.
    payloads.extend(spare);
    Ok(payloads)
}

/// Returns the number of rows, except attributes and strings, that no profile reaches.
fn orphans(dictionary: &Dictionary, reach: &Reach) -> usize {
    fn unreached<I: Id>(rows: usize, reach: &Reach) -> usize {
        rows.saturating_sub(1 + reach.rows.of::<I>().len())
    }
    unreached::<MappingId>(dictionary.mappings.rows.len(), reach)
        + unreached::<LocationId>(dictionary.locations.len(), reach)
        + unreached::<FunctionId>(dictionary.functions.len(), reach)
        + unreached::<LinkId>(dictionary.links.len(), reach)
        + unreached::<StackId>(dictionary.stacks.len(), reach)
}

/// Counts data that events cannot represent.
///
/// Counted over all profiles before writing: resources and scopes, periods, default sample types, units of
/// attributes. A profile without samples has no event, so its type is lost.
fn count_losses(profiles: &Profiles, roles: &AttributeRoles, losses: &mut Losses) {
    let dictionary = &profiles.dictionary;
    envelope(profiles, None, losses);
    let mut fields = UnsupportedData::of(dictionary, roles);
    let scopes = profiles.resources.iter().flat_map(|resource| &resource.scopes);
    scopes.for_each(|scope| fields.scope(scope, losses));
    for profile in profiles.iter() {
        let period = profile.period != 0 || profile.period_type.name != StringId::NONE;
        losses.add_many(losses::PERIOD_DROPPED, u64::from(period), || "period".to_owned());
        let default = profile.default_sample_type != StringId::NONE;
        losses.add_many(losses::SAMPLE_TYPE_DROPPED, u64::from(default), || {
            "default_sample_type".to_owned()
        });
        let nothing = u64::from(profile.samples.is_empty());
        losses.add_many(losses::PROFILES_MERGED, nothing, String::new);
    }
    let units = dictionary.attributes.iter().filter(|row| row.unit != StringId::NONE);
    losses.add_many(losses::ATTR_UNIT_DROPPED, units.count() as u64, String::new);
    let strings = &dictionary.strings;
    losses.add_many(losses::INVALID_UTF8, strings.not_utf8().len() as u64, String::new);
}

/// Selects the attributes and strings of a payload, and numbers its rows. The other tables are written whole.
///
/// The first stack is empty, because events without a stack refer to it. Mappings, and functions if a line lacks one,
/// begin with an empty row too.
fn tables<'a>(
    dictionary: &'a Dictionary,
    roles: &'a AttributeRoles,
    series: &'a [Series],
    (comment, comments): (AttributeId, &[StringId]),
) -> Result<TableWriter<'a, Events>> {
    let mut tables = TableWriter::new(dictionary, roles, Order::whole(dictionary));
    tables.mapping_row_0 = dictionary.mappings.rows.len() > 1;
    let mut lines = dictionary.locations.lines.items.iter();
    let has_none = lines.any(|line| line.function == FunctionId::NONE);
    tables.function_row_0 = has_none && dictionary.functions.len() > 1;
    (tables.location_row_0, tables.link_row_0) = (false, false);
    let mut kept_strings = 0;
    for series in series {
        tables.strings.mark(series.unit);
        tables.strings.request(&series.name);
        kept_strings = kept_strings.max(series.profile.event_form.texts);
    }
    // The strings of a payload that was read are the first ones of the dictionary.
    let kept = (1..=kept_strings).map(StringId);
    kept.chain(comments.iter().copied()).for_each(|text| tables.strings.mark(text));
    let of_types = series.iter().flat_map(|series| &series.profile.attributes);
    let of_types = of_types.filter(|id| **id != comment);
    let of_events = series.iter().flat_map(|series| &series.profile.samples.attributes.items);
    let used = of_types.chain(of_events).copied();
    tables.select_attributes(marks(dictionary.attributes.len(), used));
    tables.refer_to_values();
    tables.number(&[], StringId::NONE)?;
    Ok(tables)
}

/// Writes one payload with profiles of the same time.
///
/// Fields are in ascending order, so `events` precede the tables that they reference. Times that overflow 64
/// bits are clamped, each with a loss.
fn payload(
    dictionary: &Dictionary,
    group: &[&Profile],
    roles: &AttributeRoles,
    mut out: Vec<u8>,
    losses: &mut Losses,
) -> Result<Vec<u8>> {
    let series = series::series(&series::columns(group), dictionary, losses);
    let comment = shared_comment(group, roles);
    let comments =
        dictionary.attribute(comment).map(|comment| semantic_attributes::texts(&comment.value));
    let comments: Vec<StringId> = comments.into_iter().flatten().collect();
    let tables = tables(dictionary, roles, &series, (comment, &comments))?;
    let clocks = Clocks::of(&series);
    write_events::events(&mut out, &series, &clocks, &tables, losses);
    event_types(&mut out, &series, &clocks, &tables, comment);
    tables.write_all(&mut out, &PROFILE);
    clocks.write(&mut out);
    let [first, ..] = group else { return Ok(out) };
    let nanos = |nanos: i128, losses: &mut Losses| {
        losses.add_many(losses::TIME_NEGATIVE, u64::from(nanos < 0), String::new);
        let most = i128::from(i64::MAX);
        losses.add_many(losses::TIME_OVERFLOW, u64::from(nanos > most), String::new);
        nanos.clamp(0, most)
    };
    let duration = nanos(first.duration_nanos, losses);
    if first.time_unix_nano != 0 {
        let end = nanos(first.time_unix_nano + duration, losses);
        field_fixed64(&mut out, number!(PROFILE "time_unix_nano" in Events::VERSION), end as u64);
    }
    field_varint(&mut out, number!(PROFILE "duration_nano" in Events::VERSION), duration as u64);
    if !comments.is_empty() {
        let comments = comments.iter().map(|text| u64::from(tables.string(*text)));
        field_varints(&mut out, number!(PROFILE "comment_strindices" in Events::VERSION), comments);
    }
    Ok(out)
}

/// Returns the attribute with the comments of the payload, if all profiles share it. If they differ, each
/// type keeps its comments as an attribute.
fn shared_comment(group: &[&Profile], roles: &AttributeRoles) -> AttributeId {
    let is_comment = |id: &&AttributeId| roles.get(**id) == AttributeRole::Comments;
    let of = |profile: &Profile| profile.attributes.iter().find(is_comment).copied();
    let mut comments = group.iter().map(|profile| of(profile).unwrap_or_default());
    let first = comments.next().unwrap_or_default();
    if comments.all(|other| other == first) { first } else { AttributeId::NONE }
}

/// Writes a type for each series. Shared comments are a field of the payload instead of an attribute.
///
/// Index n is that of series n, which events reference.
fn event_types(
    out: &mut Vec<u8>,
    series: &[Series],
    clocks: &Clocks,
    tables: &TableWriter<Events>,
    comment: AttributeId,
) {
    for (row, series) in series.iter().enumerate() {
        let attributes = series.profile.attributes.iter();
        let attributes = attributes.filter(|id| **id != comment);
        let attributes: Vec<u64> = attributes
            .map(|id| tables.rows.attributes.position(id.0).saturating_sub(1).into())
            .collect();
        let name = tables.strings.index_of(&series.name);
        let unit = tables.string(series.unit);
        write_events::event_type(out, (name, unit), clocks.of_series(row), series, &attributes);
    }
}
