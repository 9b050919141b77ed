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
use super::{limits, value_types};
use crate::check::catalogue::{
    OP1021, OP8010, PP1001, PP1002, PP1014, PP1020, PP1021, PP1022, PP1028, PP1029, PP1030, PP1032,
    PP1034,
};
use crate::check::cx::Cx;
use crate::check::findings::{Shown, Spot};
use crate::check::record::Record;
use crate::check::shape::Shape;
use crate::check::state::ProfileState;
use crate::format::pprof::strings::second_table;
use crate::schema::{PROFILE, Table};

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
pub(crate) fn profile(cx: &mut Cx<'_>, shape: &'static Shape, record: &Record) {
    cx.payload.profiles += 1;
    cx.payload.samples += record.count(SAMPLES) as u64;
    cx.profile = ProfileState::default();
    cx.profile.compares = cx.findings.asks(&PP1032);
    strings(cx, record);
    types(cx, shape, record);
    times(cx, record);
    period(cx, record);
    for cell in PATTERNS {
        let row = record.number(cell);
        if let Some(text) = cx.string(row).filter(|text| row > 0 && !is_regexp(text)) {
            let spot = Spot::at(record.at(cell)).field(shape.name_of(cell));
            cx.findings.raise(&PP1030, spot, Shown(text), "");
        }
    }
    let row = record.number(DOC_URL);
    if let Some(text) = cx.string(row).filter(|text| row > 0 && !is_url(text)) {
        let spot = Spot::at(record.at(DOC_URL)).field("doc_url");
        cx.findings.raise(&OP8010, spot, Shown(text), "");
    }
    limits::samples(cx, "sample");
}

/// String 0 is empty: every field that is left out refers to it.
///
/// An empty table and a first string with a text are one rule: either way index 0 does not mean
/// "none".
///
/// One that begins again is of a second profile behind the first.
fn strings(cx: &mut Cx<'_>, record: &Record) {
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
        cx.findings.raise(&PP1014, spot, "a second string table begins here", "");
    }
    let spot = Spot::nowhere().field("string_table");
    match cx.string(0) {
        None => cx.findings.raise(&PP1001, spot, "", "the empty string as entry 0"),
        Some(b"") => {}
        Some(text) => {
            let spot = cx.of_row(Table::String, 0);
            cx.findings.raise(&PP1001, spot, Shown(text), "");
        }
    }
}

/// The sample types: there are some, each another one, counts first, and the default is one of them.
///
/// Compared by text. As in OTLP no more than a hundred types are compared with each other.
/// `default_sample_type` names the type alone, not its unit. Without samples a missing type is a
/// warning, as only Pyroscope minds.
fn types(cx: &mut Cx<'_>, shape: &'static Shape, record: &Record) {
    let types = value_types::sample_types(cx, shape, record);
    cx.profile.types = types.len();
    let spot = Spot::at(record.at(TYPES)).field("sample_type");
    if types.is_empty() {
        let rule = if record.has(SAMPLES) { &PP1002 } else { &PP1021 };
        cx.findings.raise(rule, spot, "", "");
    }
    let default = record.number(DEFAULT);
    let wanted = cx.string(default).filter(|_| default > 0);
    let mut known: Vec<(&[u8], &[u8])> = Vec::new();
    let (mut is_named, mut counts_first) = (false, false);
    for (row, body) in types.iter().enumerate() {
        let Some(names) = value_types::named(cx, *body) else { continue };
        let spot = Spot { byte: Some(body.0 as u64), ..spot }.row(row);
        if value_types::are_known(cx, &known, names) {
            cx.findings.raise(&PP1022, spot, Shown(names.0), "");
        }
        counts_first |= row == 0 && names.1 == b"count";
        if names.1 == b"count" && !counts_first {
            cx.findings.raise(&PP1034, spot, Shown(names.0), "");
        }
        is_named |= wanted.is_some_and(|wanted| cx.memo.same(names.0, wanted));
        if known.len() < value_types::MANY {
            known.push(names);
        }
    }
    if let Some(text) = wanted.filter(|_| !is_named) {
        let spot = Spot::at(record.at(DEFAULT)).field("default_sample_type");
        cx.findings.raise(&PP1020, spot, Shown(text), "the name of a sample type");
    }
}

/// Whether there are two times, of which the first is set.
fn is_joined_in_time(cx: &Cx<'_>, record: &Record) -> bool {
    let times = record.get(TIME).map_or(0, |cell| cell.times);
    times > 1 && cx.first_number(record.at(TIME), record.end) != 0
}

/// When it was and how long it took: not negative, in nanoseconds, within 64 bits together.
///
/// A time that comes twice is how pprof knows two files in a row for what they are, unless the first is 0.
///
/// Duration is asked only for itself and for its sum with the start; 0 is unknown in both.
fn times(cx: &mut Cx<'_>, record: &Record) {
    let (time, duration) = (record.signed(TIME), record.signed(DURATION));
    let spot = Spot::at(record.at(TIME)).field("time_nanos");
    if is_joined_in_time(cx, record) {
        cx.findings.raise(&PP1014, spot, "time_nanos occurs more than once", "");
    } else if record.get(TIME).is_some_and(|cell| cell.times > 1) {
        cx.findings.raise(&OP1021, spot, "", "");
    }
    if time < 0 {
        cx.findings.raise(&PP1029, spot, format_args!("{time} ns"), "0 or more");
    } else if super::times::is_coarse(time.into()) {
        cx.findings.raise(&PP1029, spot, time, "nanoseconds since 1970");
    }
    let spot = Spot::at(record.at(DURATION)).field("duration_nanos");
    if duration < 0 {
        cx.findings.raise(&PP1029, spot, format_args!("{duration} ns"), "a duration of 0 or more");
    } else if time.checked_add(duration).is_none() {
        cx.findings.raise(
            &PP1029,
            spot,
            format_args!("{time} ns + {duration} ns"),
            "a sum of 64 bits",
        );
    }
}

/// A period counts something: without a type nobody can say what a sample stands for.
///
/// Only whether `period_type` is there: what it says is asked as of any value type.
fn period(cx: &mut Cx<'_>, record: &Record) {
    let period = record.signed(PERIOD);
    let spot = Spot::at(record.at(PERIOD)).field("period");
    if period < 0 {
        cx.findings.raise(&PP1028, spot, period, "0 or more");
    } else if period != 0 && !record.has(PERIOD_TYPE) {
        cx.findings.raise(&PP1028, spot, period, "a period_type with it");
    }
}
