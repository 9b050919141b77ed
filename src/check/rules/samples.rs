//! Samples: values, timestamps, stacks, labels.
//!
//! What is asked of a sample needs four facts of its profile: how many sample types it has, its time range, the shape of
//! its first sample and the sums so far. Samples of the same stack, attributes and link are found by a key of 128 bits.
//!
//! ```text
//! shaped    since 1.8    values and timestamps pair up; one shape in a profile; identity
//! columned  up to 1.7    a value for each sample type; a slice of location_indices; labels in 1.3
//! ```
//!
//! Most samples take the [canonical](crate::check::canonical) decoder, which adds to the same sums and identities. A rule
//! that adds to the state here needs the same there, which a test compares.

use super::*;

/// Cells of `Sample` of all generations; those of the other family never occur.
const STACK_INDEX: usize = SAMPLE.cell("stack_index");
const LINK_INDEX: usize = SAMPLE.cell("link_index");
const VALUES: usize = SAMPLE.cell("values");
const TIMES: usize = SAMPLE.cell("timestamps_unix_nano");
const ATTRIBUTES: usize = SAMPLE.cell("attribute_indices");
const LOCATIONS: usize = SAMPLE.cell("location_index");
const SLICE_START: usize = SAMPLE.cell("locations_start_index");
const SLICE_LENGTH: usize = SAMPLE.cell("locations_length");
const LABELS: usize = SAMPLE.cell("label");
const STACKTRACE: usize = SAMPLE.cell("stacktrace_id_index");

/// Cell of the samples in their profile.
const SAMPLES: usize = PROFILE.cell("samples");

/// A sample of any generation of OTLP. The two families differ in what a value belongs to: before 1.8 to a sample type,
/// since then to a timestamp.
pub(crate) fn sample(cx: &mut CheckContext<'_>, record: &Record) {
    let (values, times) = (record.count(VALUES), record.count(TIMES));
    lists::unique(cx, record, ATTRIBUTES);
    match cx.version >= Version::V1_8 {
        true => shaped(cx, record, values, times),
        false => columned(cx, record, values, times),
    }
    if values > 0 {
        numbers(cx, record, times);
    }
    if times > 0 {
        times::timestamps(cx, record);
    }
}

/// A sample whose values and timestamps belong together.
///
/// The first sample of a profile that is not empty sets the shape that the others are held against.
#[inline(always)]
fn shaped(cx: &mut CheckContext<'_>, record: &Record, values: usize, times: usize) {
    let here = Position::at(record.start);
    let found = (values > 0, times > 0);
    if found == (false, false) {
        cx.report(&OP4001, here, "", "");
    } else {
        let first = *cx.profile.shape.get_or_insert(found);
        if first != found {
            cx.report(&OP4004, here, shape_name(found), shape_name(first));
        }
    }
    if values > 0 && times > 0 && values != times {
        let bound = "equal numbers";
        let found =
            format_args!("{} and {}", Counted(values, "value"), Counted(times, "timestamp"))
                .to_string();
        cx.report(&OP4002, here, found, bound);
    }
    if values > 1 && times == 0 {
        cx.report(&OP4003, record.field(VALUES), Counted(values, "value"), "");
    }
    if record.number(STACK_INDEX) == 0 {
        cx.report(&OP4007, record.field(STACK_INDEX), "", "");
    }
    if cx.profile.compares {
        identity(cx, record);
    }
}

/// What samples with values, and with timestamps, are called.
fn shape_name((values, times): (bool, bool)) -> &'static str {
    match (values, times) {
        (true, true) => "values and timestamps",
        (true, false) => "values alone",
        (false, true) => "timestamps alone",
        (false, false) => "nothing",
    }
}

/// What a sample is a sample of, which no other one should be.
///
/// Asked for the stack, link and attributes of one sample (`OP4006`). The row of the first one of a
/// kind is kept, so that the finding can name it.
#[inline(always)]
fn identity(cx: &mut CheckContext<'_>, record: &Record) {
    let attributes = cx.numbers(record, ATTRIBUTES);
    let rows = (record.number(STACK_INDEX), record.number(LINK_INDEX));
    let (row, count) = (cx.row() as u32, record.count(ATTRIBUTES));
    if let Some(first) = same_before(cx, row, rows, count, attributes) {
        let bound = first.to_string();
        cx.report(&OP4006, Position::at(record.start), "", bound);
    }
}

/// The sample of the same stack, link and attributes that was met before, if there is one; this one is met now.
///
/// Most stacks have one sample in a profile, so the first of each is found by its stack, and the others by their keys.
#[inline(always)]
pub(crate) fn same_before(
    cx: &mut CheckContext<'_>,
    row: u32,
    (stack, link): (u64, u64),
    count: usize,
    attributes: impl Iterator<Item = u64>,
) -> Option<u32> {
    let stack = cx.tables.first_equal(Table::Stack, stack);
    let key = identity_of(cx, (stack, link), count, attributes);
    let (met, before) = (&mut cx.profile.identities, cx.profile.samples_before + 1);
    match cx.payload.first_samples.get_mut(stack as usize) {
        Some(first) if *first < before => {
            *first = before + row;
            met.keep(key, row);
            None
        }
        Some(first) if met.is(*first - before, key) => Some(*first - before),
        _ => met.before(key, row),
    }
}

/// The key of a stack, a link and some attributes, in whatever order: the same for equal rows.
///
/// Three forms that cannot be equal by accident: without attributes 64 bits of rows; with one
/// attribute its row above them and bit 120; with several a fingerprint of the sorted rows and bit
/// 127. Attributes are a set, hence the sort. The buffers belong to the state, since this runs for
/// every sample.
#[inline(always)]
fn identity_of(
    cx: &mut CheckContext<'_>,
    (stack, link): (u64, u64),
    count: usize,
    mut attributes: impl Iterator<Item = u64>,
) -> u128 {
    let link = cx.tables.first_equal(Table::Link, link);
    let key = u128::from(stack) << 32 | u128::from(link & 0xffff_ffff);
    match count {
        0 => key,
        1 => {
            let only = cx.tables.first_equal(Table::Attribute, attributes.next().unwrap_or(0));
            key | u128::from(only & 0xffff_ffff) << 64 | 1 << 120
        }
        _ => {
            let mut set = std::mem::take(&mut cx.set);
            set.clear();
            set.extend(attributes.map(|row| cx.tables.first_equal(Table::Attribute, row)));
            set.sort_unstable();
            cx.scratch.clear();
            cx.scratch.extend(set.iter().flat_map(|row| row.to_le_bytes()));
            cx.set = set;
            key ^ (cx.payload.fingerprint(&cx.scratch) | 1 << 127)
        }
    }
}

/// A sample with a value for each sample type.
///
/// Without a sample type each sample would have too many values, which `OP2009` says once. A global
/// id of a stack is 128 bits, as hex or as bytes.
#[inline(always)]
fn columned(cx: &mut CheckContext<'_>, record: &Record, values: usize, times: usize) {
    let here = Position::at(record.start);
    let types = cx.profile.types;
    if values != types && types > 0 {
        cx.report(&OP4005, record.field(VALUES), Counted(values, "value"), types);
    }
    if times > 0 && times != 1 && types > 1 {
        let found =
            format_args!("{} and {}", Counted(types, "column"), Counted(times, "timestamp"))
                .to_string();
        cx.report(&OP4018, here, found, "");
    }
    slice(cx, record);
    let listed = record.count(LOCATIONS);
    if record.signed(SLICE_LENGTH) == 0 && listed == 0 {
        cx.report(&OP4011, here, "", "");
    }
    if record.has(LABELS) {
        cx.report_folded(&OP4020, 0, record.field(LABELS), "", "");
        labels::labels(cx, record, &OP4024);
    }
    if listed > 0 && record.signed(SLICE_LENGTH) != 0 {
        cx.report(&OP4010, here, Counted(listed, "location"), "");
    }
    let id = record.number(STACKTRACE);
    if let Some(text) = cx.string(id).filter(|_| id > 0) {
        let is_hex = text.len() == 32 && text.iter().all(u8::is_ascii_hexdigit);
        if !is_hex && text.len() != 16 {
            cx.report(&OP4025, record.field(STACKTRACE), Shown(text), "32 hex digits");
        }
    }
}

/// The slice of the profile's locations that a sample has.
///
/// Both numbers are read unsigned, so a negative one is too large; their sum is checked for
/// overflow. An empty slice at 0 is how a sample without frames looks, and asks nothing. The slice
/// itself is not walked: many samples may share a long one.
#[inline(always)]
fn slice(cx: &mut CheckContext<'_>, record: &Record) {
    let (start, length) = (record.number(SLICE_START), record.number(SLICE_LENGTH));
    let most = cx.profile.slice;
    let fits = start.checked_add(length).is_some_and(|end| end <= most) && start <= most;
    if !fits && (length != 0 || start != 0) {
        let found = format_args!("at {} of length {}", start as i64, length as i64).to_string();
        let bound =
            format_args!("an end of at most {most}, the length of location_indices").to_string();
        cx.report(&OP3127, record.field(SLICE_LENGTH), found, bound);
    }
    if fits && length > cx.limits.max_stack_depth {
        cx.report(
            &OP9005,
            record.field(SLICE_LENGTH),
            Counted(length as usize, "location"),
            cx.limits.max_stack_depth,
        );
    }
}

/// The values of a sample.
///
/// One pass for four questions: whether all are 0, whether all are 1, whether any is negative, and
/// the sums. Since 1.8 all values are of one type and have one sum.
#[inline(always)]
fn numbers(cx: &mut CheckContext<'_>, record: &Record, times: usize) {
    let columned = cx.version < Version::V1_8;
    let (mut all_zero, mut ones) = (true, times > 0);
    let mut negative = None;
    for (row, value) in cx.numbers(record, VALUES).enumerate() {
        let value = value as i64;
        all_zero &= value == 0;
        ones &= value == 1;
        if value < 0 && negative.is_none() {
            negative = Some((row, value));
        }
        let column = if columned { row } else { 0 };
        match cx.profile.sums.get_mut(column) {
            Some(sum) => *sum += i128::from(value),
            None if column < cx.profile.types.max(1) => cx.profile.sums.push(value.into()),
            None => {}
        }
    }
    cx.profile.ones &= ones;
    if all_zero {
        cx.report(&OP4019, record.field(VALUES), "", "");
    }
    if let Some((row, value)) = negative {
        let spot = cx.element(&OP4016, record, VALUES, row);
        cx.report(&OP4016, spot, value, "");
    }
}

/// What is known when the samples of a profile were walked, in pprof as well: which sums do not fit into 64 bits. Only
/// whole sums count: what adds up with wrap-around comes back from beyond, whatever the order of samples.
///
/// And a hint, if values could have been left out: each is 1, and each sample has timestamps.
pub(crate) fn after(cx: &mut CheckContext<'_>, record: &Record) {
    let rule = if cx.version == Version::Pprof { &PP1039 } else { &OP4017 };
    for column in 0..cx.profile.sums.len() {
        let sum = cx.profile.sums.get(column).copied().unwrap_or_default();
        if i64::try_from(sum).is_err() {
            let found = format_args!("column {column} adds up to {sum}").to_string();
            cx.report(rule, record.field(SAMPLES), found, "");
        }
    }
    if cx.profile.ones && cx.profile.shape == Some((true, true)) {
        cx.report(&OP9103, Position::at(record.start), "", "");
    }
}

/// Cell of the list of a stack.
const LOCATION_INDICES: usize = STACK.cell("location_indices");

/// A stack of the table.
///
/// Row 0 is the stack of no frames and asks nothing here. Where the null location stands is looked
/// for once; a stack of nothing but null locations is one finding.
pub(crate) fn stack(cx: &mut CheckContext<'_>, record: &Record) {
    let first = cx.row() == 0;
    let depth = record.count(LOCATION_INDICES);
    if first {
        return;
    }
    if depth == 0 {
        zero::extra(cx, record);
        cx.report(&OP4008, Position::at(record.start), "", "");
        return;
    }
    if depth as u64 > cx.limits.max_stack_depth {
        let most = cx.limits.max_stack_depth;
        cx.report(&OP9005, record.field(LOCATION_INDICES), Counted(depth, "location"), most);
    }
    if let Some(row) = cx.numbers(record, LOCATION_INDICES).position(|index| index == 0) {
        let spot = cx.element(&OP4009, record, LOCATION_INDICES, row);
        cx.report(&OP4009, spot, 0, "");
    }
}
