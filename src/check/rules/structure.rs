//! Required messages and the fields of profiles themselves.
//!
//! ```text
//! ProfilesData ─┬─ ResourceProfiles ─► ScopeProfiles ─► Profile           since 1.4
//!               │                            └─► ProfileContainer ─► Profile    1.3
//!               └─ dictionary (since 1.7), tables (1.6); before, each Profile has its own
//! ```
//!
//! Lists may be empty on the wire; these rules report lists that are probably empty by mistake. `root` runs first
//! and `after_root` last: only the end of the walk shows whether a missing dictionary matters.

use super::*;
use crate::check::canonical_form;

/// Cells of `ProfilesData`, the same as those of the service's export request.
const RESOURCES: usize = PROFILES_DATA.cell("resource_profiles");
const DICTIONARY: usize = PROFILES_DATA.cell("dictionary");

/// Checks the payload's top level: the list of resources and the number of dictionaries.
///
/// In 1.6, a message without any table is treated as an export request, whose references cannot be checked.
/// `tables.missing` silences them, and [`after_root`] reports the reason once.
pub(crate) fn root(cx: &mut CheckContext<'_>, record: &Record) {
    if !record.has(RESOURCES) {
        cx.report(&OP2001, Position::at(0).field("resource_profiles"), "", "");
    }
    let dictionaries = record.count(DICTIONARY);
    if dictionaries > 1 {
        let spot = Position::at(record.body(DICTIONARY).start).field("dictionary");
        cx.report(&OP2006, spot, format_args!("{dictionaries} times"), "");
    }
    if cx.version == Version::V1_6 {
        // The export request of that release has resources but no tables.
        cx.tables.missing = cx.tables.lens.iter().all(|len| *len == 0);
    }
}

/// Reports a missing dictionary after the walk, if something in the payload needs it.
///
/// From 1.7 on, any profile needs a dictionary, because even an empty reference is row 0 of a table. From 1.10 on,
/// attributes of a resource without profiles need it as well. In 1.6, samples need the tables.
pub(crate) fn after_root(cx: &mut CheckContext<'_>) {
    if !cx.tables.missing {
        return;
    }
    let is_needed = cx.payload.profiles > 0 || cx.tables.is_needed;
    if cx.version >= Version::V1_7 && is_needed {
        cx.report(&OP2005, Position::at(0).field("dictionary"), "", "");
    }
    if cx.version == Version::V1_6 && cx.payload.samples > 0 {
        cx.report(&OP2008, Position::at(0), "", "");
    }
}

/// Cells of `ResourceProfiles`.
const SCOPES: usize = RESOURCE_PROFILES.cell("scope_profiles");
const RESOURCE: usize = RESOURCE_PROFILES.cell("resource");
const RESOURCE_URL: usize = RESOURCE_PROFILES.cell("schema_url");

/// Checks a resource's profiles, and whether an equal resource came before: the two could have been one.
///
/// Compares resources by a fingerprint of 128 bits of [their form](crate::check::canonical_form) and their schema
/// URL. Absent resources are not compared. Clears the scopes of the previous resource.
pub(crate) fn resource(cx: &mut CheckContext<'_>, record: &Record) {
    let here = Position::at(record.start);
    if !record.has(SCOPES) {
        cx.report(&OP2002, here.field(record.shape.name_of(SCOPES)), "", "");
    }
    if !record.has(RESOURCE) {
        cx.report(&OP5019, here.field("resource"), "", "");
    }
    schema_url(cx, record, RESOURCE_URL);
    cx.payload.scopes.clear();
    if record.has(RESOURCE) {
        let key = both(cx, record, (RESOURCE, RESOURCE_URL));
        if cx.payload.resources.insert(key, 0).is_some() {
            cx.report(&OP5021, here, "", "");
        }
    }
}

/// Cells of `ScopeProfiles`.
const PROFILES: usize = SCOPE_PROFILES.cell("profiles");
const SCOPE: usize = SCOPE_PROFILES.cell("scope");
const SCOPE_URL: usize = SCOPE_PROFILES.cell("schema_url");

/// Checks a scope's profiles. Scopes are compared only within their resource.
pub(crate) fn scope(cx: &mut CheckContext<'_>, record: &Record) {
    let here = Position::at(record.start);
    if !record.has(PROFILES) {
        cx.report(&OP2003, here.field(record.shape.name_of(PROFILES)), "", "");
    }
    schema_url(cx, record, SCOPE_URL);
    cx.payload.scope_profiles = record.count(PROFILES);
    if record.has(SCOPE) {
        let key = both(cx, record, (SCOPE, SCOPE_URL));
        if cx.payload.scopes.insert(key, 0).is_some() {
            cx.report(&OP5022, here, "", "");
        }
    }
}

/// The fingerprint of a message and its schema URL: receivers identify a resource by both.
///
/// The second part is rotated; otherwise two equal fields would cancel out.
fn both(cx: &mut CheckContext<'_>, record: &Record, (message, text): (usize, usize)) -> u128 {
    let body = record.body(message);
    let one = record.shape.of_cell(message).map_or(0, |slot| {
        canonical_form::in_place(cx, cx.shapes.get(slot.child), (body.start, body.end))
    });
    let other = cx.body(record, text);
    one ^ cx.payload.fingerprint(other).rotate_left(1)
}

/// Checks a schema URL: it ends with a version, by which receivers look up renamed attributes.
pub(super) fn schema_url(cx: &mut CheckContext<'_>, record: &Record, cell: usize) {
    let url = cx.body(record, cell);
    if !url.is_empty() && !is_schema_url(url) {
        cx.report(
            &OP5024,
            record.field(cell),
            Shown(url),
            "http[s]://server[:port]/path/<version>",
        );
    }
}

/// Whether a text has the form that [schemas](https://opentelemetry.io/docs/specs/otel/schemas/#schema-url)
/// require. The URL is not fetched: a validator in CI has no network.
///
/// A version begins with a digit and has a dot, as in `https://opentelemetry.io/schemas/1.36.0`. A port is a number
/// of 16 bits.
fn is_schema_url(url: &[u8]) -> bool {
    let text = String::from_utf8_lossy(url);
    let rest = text.strip_prefix("https://").or(text.strip_prefix("http://"));
    let Some((server, path)) = rest.and_then(|rest| rest.split_once('/')) else { return false };
    let version = path.rsplit('/').next().unwrap_or_default();
    // IPv6 addresses contain colons inside their brackets.
    let (host, port) = match server.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse::<u16>().is_ok()),
        _ => (server, true),
    };
    !host.is_empty()
        && port
        && version.starts_with(|c: char| c.is_ascii_digit())
        && version.contains('.')
}

/// Cells of the profile in a container, and of the samples in that profile.
const INNER: usize = PROFILE_CONTAINER.cell("profile");
const SAMPLES: usize = PROFILE.cell("samples");

/// Checks a profile's container, in OTEP 0239. The container has the times and attributes, the inner profile has
/// the rest.
///
/// Counts the samples of the inner profile by their headers, ahead of the walk: only here are both these samples
/// and an original payload in their place visible. A missing profile is reported once, as `OP2007`.
pub(crate) fn container(cx: &mut CheckContext<'_>, record: &Record) {
    let body = record.body(INNER);
    let mut samples = 0;
    if !record.has(INNER) {
        cx.report(&OP2007, Position::at(record.start).field("profile"), "", "");
    } else if let Some(shape) = cx.shapes.find(MessageKind::Profile) {
        let number = shape.of_cell(SAMPLES).map_or(0, |slot| slot.field.number);
        let fields = Fields::new(cx.bytes, body.start, body.end);
        samples = fields.filter(|(found, _)| *found == number).count();
    }
    if record.has(INNER) || record.has(original_payload::OF_CONTAINER.format) {
        original_payload::original(
            cx,
            record,
            &original_payload::OF_CONTAINER,
            samples.max(usize::from(!record.has(INNER))),
        );
    }
}

/// Cells that exist only in 1.3, and the list of locations that samples up to 1.7 slice.
const DROP_FRAMES: usize = PROFILE.cell("drop_frames");
const KEEP_FRAMES: usize = PROFILE.cell("keep_frames");
const SLICE: usize = PROFILE.cell("location_indices");

/// Checks a profile itself, and fills the [`ProfileState`] against which its samples are checked later.
///
/// The previous profile's state is replaced as a whole, so no fact leaks from one profile into the next. Whether
/// samples are compared is decided once here instead of for each sample.
pub(crate) fn profile(cx: &mut CheckContext<'_>, record: &Record) {
    let samples = record.count(SAMPLES);
    let types = value_types::sample_types(cx, record);
    cx.payload.profiles += 1;
    cx.payload.samples += samples as u64;
    cx.profile = ProfileState::default();
    cx.profile.types = types.len();
    cx.profile.ones = true;
    cx.profile.dangling_before = cx.findings.tally(&OP3102);
    cx.profile.samples_before = (cx.payload.samples - samples as u64) as u32;
    cx.profile.compares = cx.findings.is_enabled(&OP4006);
    if cx.profile.compares {
        cx.payload.first_samples.resize(cx.tables.len(Table::Stack) as usize, 0);
    }
    cx.profile.slice = record.count(SLICE) as u64;
    limits::samples(cx, record.shape.name_of(SAMPLES));
    if samples == 0 {
        let spot = Position::at(record.start).field(record.shape.name_of(SAMPLES));
        cx.report(&OP2004, spot, "", "");
    }
    value_types::value_types(cx, record, &types, samples);
    value_types::period(cx, record);
    if cx.version != Version::V1_3 {
        original_payload::original(cx, record, &original_payload::OF_PROFILE, samples);
    }
    patterns(cx, record, &OP2021);
}

/// The patterns of frames to drop and to keep are regular expressions.
pub(super) fn patterns(cx: &mut CheckContext<'_>, record: &Record, rule: &'static Rule) {
    for cell in [DROP_FRAMES, KEEP_FRAMES] {
        let row = record.number(cell);
        if let Some(text) =
            cx.string(row).filter(|text| row > 0 && !cx.memo.is(text, regexp::is_regexp))
        {
            cx.report(rule, record.field(cell), Shown(text), "");
        }
    }
}
