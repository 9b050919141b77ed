//! Ids, links and times.

use super::structure::OP2028;
use super::{rules, times};
use crate::check::cx::Cx;
use crate::check::findings::Spot;
use crate::check::record::Record;
use crate::check::shape::Kind;
use crate::error::Severity;
use crate::schema::{LINK, PROFILE, PROFILE_CONTAINER, Version};

rules! {
    OP6001 "profile-id-missing" ["E" "1-4"] "profile_id"
        "empty (\"This field is required\"; optional since 1.8)"
        source "OTEP 0239; 1.3-1.7 proto"
        example "absent"
        fix "give the profile 16 random bytes as its id";
    OP6002 "profile-id-length" ["E" "1-7"] "profile_id"
        "length not 16 (5-7: 0 allowed)"
        source "OTEP 0239; all versions"
        example "15 bytes"
        fix "write 16 bytes, or none where the id is optional";
    OP6003 "profile-id-zero" ["E" "1-7"] "profile_id"
        "all zeroes (\"considered invalid\")"
        source "OTEP 0239; all versions"
        example "00*16"
        fix "give the profile a random id";
    OP6004 "trace-id-length" ["E" "1-7"] "Link.trace_id"
        "not 16 bytes (5-7: index 0 see OP3005)"
        source "OTEP 0239; profcheck"
        example "15 bytes"
        fix "write 16 bytes";
    OP6005 "span-id-length" ["E" "1-7"] "Link.span_id"
        "not 8 bytes"
        source "OTEP 0239; profcheck"
        example "7 bytes"
        fix "write 8 bytes";
    OP6006 "link-id-zero" ["W" "1-7"] "Link"
        "trace_id or span_id all zero at an index > 0 (2-4: any): not a valid span context"
        source "specification/trace/api.md"
        example "00*16"
        fix "refer to link 0 where there is no span";
    OP6010 "time-missing" ["W1/I2-7" "1-7"] "start/end_time_unix_nano (1), time_unix_nano"
        "0 (\"semantically required\" in 1)"
        source "OTEP 0239"
        example "start=0"
        fix "set the time";
    OP6011 "end-before-start" ["E" "1"] "ProfileContainer"
        "end_time_unix_nano < start_time_unix_nano (\"expected that end_time >= start_time\")"
        source "OTEP 0239"
        example "start=10,end=9"
        fix "set an end that is not before the start";
    OP6012 "time-negative" ["W" "1-4"] "time_nanos, duration_nanos"
        "< 0 (int64 there)"
        source "common sense"
        example "-1"
        fix "write a time of at least 0";
    OP6013 "time-overflow" ["E" "1-7"] "time + duration"
        "exceeds u64 (5-7) or i64 (1-4): every range test wraps (profcheck does wrap)"
        source "common sense"
        example "2^64-1 + 1"
        fix "write the duration in nanoseconds";
    OP6014 "time-unit" ["W" "1-7"] "time fields"
        "10^8 <= value < 10^17: a date since 1973 in s, ms or us, not in ns"
        source "common sense"
        example "1700000000"
        fix "write the time in nanoseconds since 1970";
    OP6015 "inner-outer-time" ["I" "1"] "Profile.time_nanos vs ProfileContainer"
        "both set and disjoint"
        source "OTEP 0239"
        example "start=1e18, time_nanos=5"
        fix "set both times alike";
}

const PROFILE_ID: usize = PROFILE.cell("profile_id");
const TIME: usize = PROFILE.cell("time_unix_nano");
const DURATION: usize = PROFILE.cell("duration_nano");

/// The id and the time of a profile.
pub(crate) fn profile(cx: &mut Cx<'_>, record: &Record) {
    match cx.version {
        Version::V1_3 => inner_time(cx, record),
        _ => {
            id(cx, record, PROFILE_ID);
            time(cx, record);
        }
    }
}

fn id(cx: &mut Cx<'_>, record: &Record, cell: usize) {
    let bytes = cx.body(record, cell);
    let spot = Spot::at(record.at(cell)).field("profile_id");
    let Ok(id) = <[u8; 16]>::try_from(bytes) else {
        match bytes.len() {
            0 => cx.findings.raise(&OP6001, spot, "no bytes", "16 bytes"),
            other => cx.findings.raise(&OP6002, spot, format_args!("{other} bytes"), "16 bytes"),
        }
        return;
    };
    if id == [0; 16] {
        cx.findings.raise(&OP6003, spot, "16 zero bytes", "an id");
        return;
    }
    if !cx.findings.asks(&OP2028) {
        return;
    }
    let whole = cx.bytes.get(record.start..record.end).unwrap_or_default();
    let print = cx.payload.fingerprint(whole);
    match cx.payload.ids.insert(id, print) {
        None => {}
        Some(other) => {
            let same = (other == print).then_some(Severity::Warning);
            let found = id.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            cx.findings.raise_as(&OP2028, same, spot, found, "an id of its own");
        }
    }
}

/// The time and duration of a profile, which the timestamps of its samples fall into.
fn time(cx: &mut Cx<'_>, record: &Record) {
    let signed = cx.version < Version::V1_8;
    let number = |cell| match signed {
        true => i128::from(record.signed(cell)),
        false => i128::from(record.number(cell)),
    };
    let shape = cx.shapes.find(Kind::Profile);
    let name = |cell| shape.map_or("", |shape| shape.name_of(cell));
    let (time, duration) = (number(TIME), number(DURATION));
    let spot = Spot::at(record.at(TIME)).field(name(TIME));
    cx.profile.time = time;
    match time {
        0 => cx.findings.raise(&OP6010, spot, 0, ""),
        ..0 => cx.findings.raise(&OP6012, spot, time, "0 or more"),
        _ if times::is_coarse(time) => {
            cx.findings.raise(&OP6014, spot, time, "nanoseconds since 1970");
        }
        _ => {}
    }
    if duration < 0 {
        let spot = Spot::at(record.at(DURATION)).field(name(DURATION));
        cx.findings.raise(&OP6012, spot, duration, "0 or more");
    }
    let most = if signed { i128::from(i64::MAX) } else { i128::from(u64::MAX) };
    if time + duration > most {
        let spot = Spot::at(record.at(DURATION)).field(name(DURATION));
        let found = format_args!("{time} + {duration}").to_string();
        cx.findings.raise(&OP6013, spot, found, most);
    } else if (time, duration) != (0, 0) {
        cx.profile.range = Some((time, time + duration));
    }
}

const START: usize = PROFILE_CONTAINER.cell("start_time_unix_nano");
const END: usize = PROFILE_CONTAINER.cell("end_time_unix_nano");
const CONTAINER_ID: usize = PROFILE_CONTAINER.cell("profile_id");

/// The id and the times of a container.
pub(crate) fn container(cx: &mut Cx<'_>, record: &Record) {
    id(cx, record, CONTAINER_ID);
    let (start, end) = (record.number(START), record.number(END));
    for (cell, time, name) in
        [(START, start, "start_time_unix_nano"), (END, end, "end_time_unix_nano")]
    {
        let spot = Spot::at(record.at(cell)).field(name);
        if time == 0 {
            cx.findings.raise(&OP6010, spot, 0, "a time");
        } else if times::is_coarse(time.into()) {
            cx.findings.raise(&OP6014, spot, time, "nanoseconds since 1970");
        }
    }
    if end < start && end != 0 {
        let spot = Spot::at(record.at(END)).field("end_time_unix_nano");
        cx.findings.raise(&OP6011, spot, end, format_args!("{start} or later"));
    }
    let known = start != 0 && end >= start;
    cx.payload.container = known.then_some((start.into(), end.into()));
}

/// The times of a profile in a container.
fn inner_time(cx: &mut Cx<'_>, record: &Record) {
    let (time, duration) = (record.signed(TIME), record.signed(DURATION));
    let spot = Spot::at(record.at(TIME)).field("time_nanos");
    cx.profile.range = cx.payload.container;
    cx.profile.time = cx.payload.container.map_or(0, |(start, _)| start);
    if time < 0 {
        cx.findings.raise(&OP6012, spot, time, "0 or more");
    } else if times::is_coarse(time.into()) {
        cx.findings.raise(&OP6014, spot, time, "nanoseconds since 1970");
    }
    if duration < 0 {
        let spot = Spot::at(record.at(DURATION)).field("duration_nanos");
        cx.findings.raise(&OP6012, spot, duration, "0 or more");
    }
    if time.checked_add(duration).is_none() {
        let spot = Spot::at(record.at(DURATION)).field("duration_nanos");
        let found = format_args!("{time} + {duration}").to_string();
        cx.findings.raise(&OP6013, spot, found, i64::MAX);
        return;
    }
    if let Some((start, end)) = cx.payload.container {
        let (from, to) = (i128::from(time), i128::from(time) + i128::from(duration));
        if time > 0 && (from > end || to < start) {
            cx.findings.raise(&OP6015, spot, time, format_args!("[{start}, {end}]"));
        }
    }
}

const TRACE: usize = LINK.cell("trace_id");
const SPAN: usize = LINK.cell("span_id");

/// A row of the link table.
pub(crate) fn link(cx: &mut Cx<'_>, record: &Record) {
    if cx.version >= Version::V1_8 && cx.row() == 0 {
        return;
    }
    let mut valid = true;
    for (cell, name, wanted, rule) in
        [(TRACE, "trace_id", 16, &OP6004), (SPAN, "span_id", 8, &OP6005)]
    {
        let bytes = cx.body(record, cell).len();
        if bytes != wanted {
            valid = false;
            let spot = Spot::at(record.at(cell)).field(name);
            cx.findings.raise(rule, spot, format_args!("{bytes} bytes"), wanted);
        }
    }
    let is_zero = |cell| cx.body(record, cell).iter().all(|byte| *byte == 0);
    let (trace, span) = (is_zero(TRACE), is_zero(SPAN));
    // In OTEP 0239 an index is always there: what has no link refers to a first one of zeros.
    let none = cx.version == Version::V1_3 && cx.row() == 0;
    if valid && !none && (trace || span) {
        let found = if trace { "a trace_id of zeros" } else { "a span_id of zeros" };
        cx.findings.raise(&OP6006, Spot::at(record.start), found, "");
    }
}
