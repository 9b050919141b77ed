//! pprof's `profile.proto`: the profile itself and its sample types.
//!
//! The rules are based on comments in `profile.proto` and on google/pprof's `CheckValid`. A file is one message
//! that contains its tables, so its walk resembles that of a profile of OTLP 1.3 to 1.5 and shares the cells of
//! `PROFILE`. Field names differ: `sample` for `samples`, `time_nanos` for `time_unix_nano`, so findings here spell
//! field names out.
//!
//! | file | rules about |
//! |---|---|
//! | this one | the profile and its sample types |
//! | [`pprof_samples`] | samples and labels |
//! | [`pprof_rows`] | mappings, locations, functions, strings |

use super::conventions::is_url;
use super::*;
use crate::format::pprof::strings::second_table;

/// Cells of `Profile` that pprof has.
const TYPES: usize = PROFILE.cell("sample_type");
const SAMPLES: usize = PROFILE.cell("samples");
const TIME: usize = PROFILE.cell("time_unix_nano");
const DURATION: usize = PROFILE.cell("duration_nano");
const PERIOD: usize = PROFILE.cell("period");
const PERIOD_TYPE: usize = PROFILE.cell("period_type");
const DEFAULT: usize = PROFILE.cell("default_sample_type_strindex");
const DOC_URL: usize = PROFILE.cell("doc_url");
/// The regular expressions of frames to drop, and of frames to keep nevertheless.
const PATTERNS: [usize; 2] = [PROFILE.cell("drop_frames"), PROFILE.cell("keep_frames")];

/// Checks the profile, which is the whole file, and sets up the state that its samples and rows need.
///
/// Runs after [`ids`](super::pprof_rows::ids) has located the rows of the tables, so strings can be resolved.
pub(crate) fn profile(cx: &mut CheckContext<'_>, record: &Record) {
    cx.payload.profiles += 1;
    cx.payload.samples += record.count(SAMPLES) as u64;
    cx.profile = ProfileState::default();
    cx.profile.compares = cx.findings.is_enabled(&PP1032);
    strings(cx, record);
    types(cx, record);
    times(cx, record);
    period(cx, record);
    structure::patterns(cx, record, &PP1030);
    let row = record.number(DOC_URL);
    if let Some(text) = cx.string(row).filter(|text| row > 0 && !is_url(text)) {
        cx.report(&OP8010, record.field(DOC_URL), Shown(text), "");
    }
    limits::samples(cx, "sample");
}

/// Checks that string 0 is empty, because every omitted field refers to it.
///
/// An empty table and a non-empty first string are the same rule: either way index 0 does not mean "unset".
///
/// A second table after the first indicates a second profile appended to the file.
fn strings(cx: &mut CheckContext<'_>, record: &Record) {
    let second = |is_repeated| {
        let rows = cx.tables.rows[Table::String as usize].iter().copied();
        second_table(rows, is_repeated)
    };
    let is_twice = |cell: usize| record.get(cell).is_some_and(|cell| cell.times > 1);
    let once = [TIME, DURATION, PERIOD, PERIOD_TYPE, DEFAULT, DOC_URL, PATTERNS[0], PATTERNS[1]];
    let ids = [&cx.payload.mapping_ids, &cx.payload.locations, &cx.payload.functions];
    let is_repeated = ids.iter().any(|ids| ids.is_repeated) || once.into_iter().any(is_twice);
    if let Some(row) = second(is_repeated).filter(|_| !is_joined_in_time(cx, record)) {
        let spot = cx.of_row(Table::String, row);
        cx.report(&PP1014, spot, "a second string table begins here", "");
    }
    let spot = Position::nowhere().field("string_table");
    match cx.string(0) {
        None => cx.report(&PP1001, spot, "", "the empty string as entry 0"),
        Some(b"") => {}
        Some(text) => {
            let spot = cx.of_row(Table::String, 0);
            cx.report(&PP1001, spot, Shown(text), "");
        }
    }
}

/// Checks the sample types: there is at least one, no two are equal, counts precede other units, and the default is
/// one of them.
///
/// Compares by text, and as in OTLP only with the first hundred types. `default_sample_type` names only the type,
/// without its unit. Without samples a missing type is a warning, because only Pyroscope rejects it.
fn types(cx: &mut CheckContext<'_>, record: &Record) {
    let types = value_types::sample_types(cx, record);
    cx.profile.types = types.len();
    if types.is_empty() {
        let rule = if record.has(SAMPLES) { &PP1002 } else { &PP1021 };
        cx.report(rule, record.field(TYPES), "", "");
    }
    let default = record.number(DEFAULT);
    let wanted = cx.string(default).filter(|_| default > 0);
    let mut known: Vec<(&[u8], &[u8])> = Vec::new();
    let (mut is_named, mut counts_first) = (false, false);
    for (row, body) in types.iter().enumerate() {
        let Some(names) = value_types::named(cx, *body) else { continue };
        let spot = Position { byte: Some(body.0 as u64), ..record.field(TYPES) }.row(row);
        if value_types::are_known(cx, &known, names) {
            cx.report(&PP1022, spot, Shown(names.0), "");
        }
        // Only a count that follows other units is out of order.
        counts_first |= row == 0 && names.1 == b"count";
        if names.1 == b"count" && !counts_first {
            cx.report(&PP1034, spot, Shown(names.0), "");
        }
        is_named |= wanted.is_some_and(|wanted| cx.memo.same(names.0, wanted));
        if known.len() < value_types::MANY {
            known.push(names);
        }
    }
    if let Some(text) = wanted.filter(|_| !is_named) {
        cx.report(&PP1020, record.field(DEFAULT), Shown(text), "the name of a sample type");
    }
}

/// Whether the time occurs more than once and its first occurrence is not 0.
fn is_joined_in_time(cx: &CheckContext<'_>, record: &Record) -> bool {
    let times = record.get(TIME).map_or(0, |cell| cell.times);
    times > 1 && cx.first_number(record.at(TIME), record.end) != 0
}

/// Checks the time and the duration: not negative, in nanoseconds, and with a sum that fits into 64 bits.
///
/// pprof recognises two concatenated files by a time that occurs twice, unless the first is 0.
///
/// In both fields 0 means unknown.
fn times(cx: &mut CheckContext<'_>, record: &Record) {
    let (time, duration) = (record.signed(TIME), record.signed(DURATION));
    let spot = record.field(TIME);
    if is_joined_in_time(cx, record) {
        cx.report(&PP1014, spot, "time_nanos occurs more than once", "");
    } else if record.get(TIME).is_some_and(|cell| cell.times > 1) {
        cx.report(&OP1021, spot, "", "");
    }
    if time < 0 {
        cx.report(&PP1029, spot, format_args!("{time} ns"), "0 or more");
    } else if super::times::is_coarse(time.into()) {
        cx.report(&PP1029, spot, time, "nanoseconds since 1970");
    }
    let spot = record.field(DURATION);
    if duration < 0 {
        cx.report(&PP1029, spot, format_args!("{duration} ns"), "a duration of 0 or more");
    } else if time.checked_add(duration).is_none() {
        cx.report(&PP1029, spot, format_args!("{time} ns + {duration} ns"), "a sum of 64 bits");
    }
}

/// Checks that a period has a type: without it, readers cannot interpret the number of a sample.
///
/// Checks only the presence of `period_type`; its contents are checked like those of any value type.
fn period(cx: &mut CheckContext<'_>, record: &Record) {
    let period = record.signed(PERIOD);
    let spot = record.field(PERIOD);
    if period < 0 {
        cx.report(&PP1028, spot, period, "0 or more");
    } else if period != 0 && !record.has(PERIOD_TYPE) {
        cx.report(&PP1028, spot, period, "a period_type with it");
    }
}
