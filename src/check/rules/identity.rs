//! Ids, links and times.
//!
//! Times are compared as `i128`: the sum of a start and a duration of 64 bits each may overflow 64 bits, and older
//! generations have signed fields.
//!
//! Three definitions of a profile's time range:
//!
//! | generation | start | end | a timestamp is inside |
//! |---|---|---|---|
//! | 1.3 | the container's `start_time_unix_nano` | its `end_time_unix_nano` | start ≤ t ≤ end |
//! | 1.4 to 1.7 | `time_nanos`, signed | plus `duration_nanos`, signed | start ≤ t < end |
//! | since 1.8 | `time_unix_nano` | plus `duration_nano` | start ≤ t < end |
//!
//! The range is stored in `ProfileState::range`, where [`times`] reads it; `None` disables the check of timestamps.

use super::*;
use crate::wire::hex::hex;

/// Cells of `Profile`; in 1.3 the container has the id.
const PROFILE_ID: usize = PROFILE.cell("profile_id");
const TIME: usize = PROFILE.cell("time_unix_nano");
const DURATION: usize = PROFILE.cell("duration_nano");

/// Checks the id and the time of a profile.
///
/// Runs before the samples of the profile, which need its time range.
pub(crate) fn profile(cx: &mut CheckContext<'_>, record: &Record) {
    if cx.version != Version::V1_3 {
        id(cx, record, PROFILE_ID);
    }
    time(cx, record);
}

/// Checks the id of a profile: 16 bytes, not all zero, and unique.
///
/// Two profiles with the same id and the same bytes are one that was sent twice: a warning, not an error.
///
/// An empty id is missing (required up to 1.7); any other length is wrong. Each id is stored with a fingerprint of
/// the whole profile, 32 bytes together, unless `OP2028` is disabled. The field is bytes: the text of a UUID or hex
/// digits have the wrong length.
fn id(cx: &mut CheckContext<'_>, record: &Record, cell: usize) {
    let bytes = cx.body(record, cell);
    let spot = record.field(cell);
    let Ok(id) = <[u8; 16]>::try_from(bytes) else {
        match bytes.len() {
            0 => cx.report(&OP6001, spot, "", ""),
            other => cx.report(&OP6002, spot, Counted(other, "byte"), "16 bytes"),
        }
        return;
    };
    if id == [0; 16] {
        cx.report(&OP6003, spot, "", "");
        return;
    }
    if !cx.findings.is_enabled(&OP2028) {
        return;
    }
    let whole = cx.bytes.get(record.start..record.end).unwrap_or_default();
    let print = cx.payload.fingerprint(whole);
    match cx.payload.ids.insert(id, print) {
        None => {}
        Some(other) => {
            let same = (other == print).then_some(Severity::Warning);
            let found = hex(&id);
            cx.findings.report_as(&OP2028, same, spot, found, "");
        }
    }
}

/// Checks the time and duration of a profile, and sets the range of its samples' timestamps. In 1.3 the container
/// has the range: the inner profile is a pprof whose times may be of another clock or unset.
///
/// A sum that overflows the type of its fields is an error and sets no range, because every comparison with it
/// would be wrong. A profile with neither time nor duration sets no range either.
fn time(cx: &mut CheckContext<'_>, record: &Record) {
    let (inner, signed) = (cx.version == Version::V1_3, cx.version < Version::V1_8);
    let number = |cell| match signed {
        true => i128::from(record.signed(cell)),
        false => i128::from(record.number(cell)),
    };
    let (time, duration) = (number(TIME), number(DURATION));
    let (spot, container) = (record.field(TIME), cx.payload.container);
    match time {
        0 if inner => {}
        0 => cx.report(&OP6010, spot, 0, ""),
        ..0 => cx.report(&OP6012, spot, time, ""),
        _ if times::is_coarse(time) => cx.report(&OP6014, spot, time, ""),
        _ => {}
    }
    if duration < 0 {
        cx.report(&OP6012, record.field(DURATION), duration, "");
    }
    // The sum must fit into the type of the fields.
    let most = if signed { i128::from(i64::MAX) } else { i128::from(u64::MAX) };
    let fits = time + duration <= most && (!inner || time + duration >= i64::MIN.into());
    if !fits {
        let found = format!("{time} ns + {duration} ns");
        cx.report(&OP6013, record.field(DURATION), found, format_args!("{most} ns"));
    }
    if !inner {
        cx.profile.time = time;
        cx.profile.range = (fits && (time, duration) != (0, 0)).then_some((time, time + duration));
        return;
    }
    cx.profile.time = container.map_or(0, |(start, _)| start);
    cx.profile.range = container;
    if let Some((start, end)) = container.filter(|_| fits && time > 0)
        && (time > end || time + duration < start)
    {
        cx.report(&OP6015, spot, time, format_args!("[{start}, {end}]"));
    }
}

/// Cells of `ProfileContainer`.
const START: usize = PROFILE_CONTAINER.cell("start_time_unix_nano");
const END: usize = PROFILE_CONTAINER.cell("end_time_unix_nano");
const CONTAINER_ID: usize = PROFILE_CONTAINER.cell("profile_id");

/// Checks the id and the times of a container.
///
/// The range applies only if it has a start and does not end before it. Without an end, every sample would be late.
pub(crate) fn container(cx: &mut CheckContext<'_>, record: &Record) {
    id(cx, record, CONTAINER_ID);
    let (start, end) = (record.number(START), record.number(END));
    for (cell, time) in [(START, start), (END, end)] {
        let spot = record.field(cell);
        if time == 0 {
            cx.report(&OP6010, spot, 0, "");
        } else if times::is_coarse(time.into()) {
            cx.report(&OP6014, spot, time, "");
        }
    }
    if end < start && end != 0 {
        cx.report(&OP6011, record.field(END), end, format_args!("{start} ns or later"));
    }
    let known = start != 0 && end >= start;
    cx.payload.container = known.then_some((start.into(), end.into()));
}

/// Cells of `Link`.
const TRACE: usize = LINK.cell("trace_id");
const SPAN: usize = LINK.cell("span_id");

/// Checks a row of the link table.
///
/// Lengths first: the check for zeros would only repeat a finding about a wrong length. In 1.8 and later row 0
/// represents "no link" and is checked by [`zero`].
pub(crate) fn link(cx: &mut CheckContext<'_>, record: &Record) {
    if cx.version >= Version::V1_8 && cx.row() == 0 {
        return;
    }
    let mut valid = true;
    for (cell, wanted, rule) in [(TRACE, 16, &OP6004), (SPAN, 8, &OP6005)] {
        let bytes = cx.body(record, cell).len();
        if bytes != wanted {
            valid = false;
            cx.report(rule, record.field(cell), Counted(bytes, "byte"), Counted(wanted, "byte"));
        }
    }
    let is_zero = |cell| cx.body(record, cell).iter().all(|byte| *byte == 0);
    let (trace, span) = (is_zero(TRACE), is_zero(SPAN));
    // OTEP 0239 has no unset index: samples without a link refer to a first link of zeros, if others have one.
    let several = cx.tables.len(Table::Link) > 1;
    let none = cx.version == Version::V1_3 && cx.row() == 0 && several;
    if valid && !none && (trace || span) {
        let found = if trace { "the trace_id" } else { "the span_id" };
        cx.report(&OP6006, Position::at(record.start), found, "");
    }
}
