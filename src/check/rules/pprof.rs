//! pprof's profile.proto: what a profile says of itself and of its sample types.
//!
//! `profile.proto` states most of these in comments alone.
//!
//! google/pprof's `CheckValid` says the rest. A file is one message with its tables in it, so that
//! its walk is like that of a profile of OTLP 1.3 to 1.5, and cells of `PROFILE` are shared with
//! it. What differs is names: `sample` for `samples`, `time_nanos` for `time_unix_nano`, which is
//! why findings here spell fields out.
//!
//! | file | of |
//! |---|---|
//! | this one | the profile and its sample types |
//! | [`pprof_samples`](super::pprof_samples) | samples and labels |
//! | [`pprof_rows`](super::pprof_rows) | mappings, locations, functions, strings |

use super::conventions::is_url;
use super::regexp::is_regexp;
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
/// Expressions for the frames to drop, and for those to keep all the same.
const PATTERNS: [usize; 2] = [PROFILE.cell("drop_frames"), PROFILE.cell("keep_frames")];

/// A whole file: what must be known before its samples and rows are walked is set up here, since a file is one profile.
///
/// Rows of the tables were found before ([`ids`](super::pprof_rows::ids)), so strings can be read
/// here.
pub(crate) fn profile(cx: &mut CheckContext<'_>, record: &Record) {
    cx.payload.profiles += 1;
    cx.payload.samples += record.count(SAMPLES) as u64;
    cx.profile = ProfileState::default();
    cx.profile.compares = cx.findings.asks(&PP1032);
    strings(cx, record);
    types(cx, record);
    times(cx, record);
    period(cx, record);
    for cell in PATTERNS {
        let row = record.number(cell);
        if let Some(text) = cx.string(row).filter(|text| row > 0 && !is_regexp(text)) {
            cx.report(&PP1030, record.field(cell), Shown(text), "");
        }
    }
    let row = record.number(DOC_URL);
    if let Some(text) = cx.string(row).filter(|text| row > 0 && !is_url(text)) {
        cx.report(&OP8010, record.field(DOC_URL), Shown(text), "");
    }
    limits::samples(cx, "sample");
}

/// String 0 is empty: every field that is left out refers to it.
///
/// An empty table and a first string with a text are one rule: either way index 0 does not mean
/// "none".
///
/// One that begins again is of a second profile behind the first.
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

/// The sample types: there are some, each another one, counts first, and the default is one of them.
///
/// Compared by text. As in OTLP no more than a hundred types are compared with each other.
/// `default_sample_type` names the type alone, not its unit. Without samples a missing type is a
/// warning, as only Pyroscope minds.
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

/// Whether there are two times, of which the first is set.
fn is_joined_in_time(cx: &CheckContext<'_>, record: &Record) -> bool {
    let times = record.get(TIME).map_or(0, |cell| cell.times);
    times > 1 && cx.first_number(record.at(TIME), record.end) != 0
}

/// When it was and how long it took: not negative, in nanoseconds, within 64 bits together.
///
/// A time that comes twice is how pprof knows two files in a row for what they are, unless the first is 0.
///
/// Duration is asked only for itself and for its sum with the start; 0 is unknown in both.
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

/// A period counts something: without a type nobody can say what a sample stands for.
///
/// Only whether `period_type` is there: what it says is asked as of any value type.
fn period(cx: &mut CheckContext<'_>, record: &Record) {
    let period = record.signed(PERIOD);
    let spot = record.field(PERIOD);
    if period < 0 {
        cx.report(&PP1028, spot, period, "0 or more");
    } else if period != 0 && !record.has(PERIOD_TYPE) {
        cx.report(&PP1028, spot, period, "a period_type with it");
    }
}
