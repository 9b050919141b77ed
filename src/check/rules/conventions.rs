//! The semantic conventions of profiles.
//!
//! Checks only attributes whose key a convention defines. The class of a key is determined once for each row of the
//! attribute table, not for each reference to it.
//!
//! The rules apply to 1.8 and later only: before, build ids and pprof's flags were fields. They have three entry
//! points:
//!
//! | function | input | checks |
//! |---|---|---|
//! | [`mapping()`] | the references of a mapping | the presence of a build id, and of the portable one |
//! | [`entry`] | a row of the attribute table | the type and form of the value, by key |
//! | [`in_place`] | a pair of a resource, a scope or a list | the same, and attributes of scopes |

use super::*;
use std::ops::Range;

use super::regexp::is_regexp;

/// Cell of a mapping's references to attributes.
const ATTRIBUTES: usize = MAPPING.cell("attribute_indices");

/// Checks that a mapping has build ids.
///
/// Row 0 and zero rows represent "no mapping" and have no build id.
/// [`lists::attributes`] has determined the class of each attribute, so a
/// reference costs an index and no comparison of strings.
pub(crate) fn mapping(cx: &mut CheckContext<'_>, record: &Record) {
    if cx.version < Version::V1_8 || cx.row() == 0 || record.is_zero() {
        return;
    }
    let (mut any, mut htlhash) = (false, false);
    for index in cx.numbers(record, ATTRIBUTES) {
        let attribute = usize::try_from(index).ok().and_then(|index| cx.attributes.get(index));
        match attribute.map(|attribute| attribute.class) {
            Some(Class::Htlhash) => (any, htlhash) = (true, true),
            Some(Class::BuildId) => any = true,
            _ => {}
        }
    }
    let spot = record.field(ATTRIBUTES);
    if !any {
        cx.report(&OP8001, spot, "", "process.executable.build_id.{gnu,go,htlhash}");
    } else if !htlhash {
        cx.report(&OP8002, spot, "", "");
    }
}

/// Checks an attribute of the table, by its key and the body of its value.
///
/// `pprof.scope.*` in the table is always misplaced: profiles, samples, mappings and locations refer to the table,
/// scopes never do.
pub(crate) fn entry(cx: &mut CheckContext<'_>, record: &Record, key: &[u8], body: Range<usize>) {
    if cx.version < Version::V1_8 {
        return;
    }
    if key.starts_with(b"pprof.scope.") {
        cx.report(&OP8007, Position::at(record.start), Shown(key), "");
    }
    known(cx, key, body);
}

/// Checks an attribute in place, of a resource, a scope or a list of pairs.
///
/// `cx.parent` is the message that holds the pair; it is a scope only for the attributes of the scope itself.
pub(crate) fn in_place(cx: &mut CheckContext<'_>, record: &Record, key: &[u8], body: Range<usize>) {
    if cx.version < Version::V1_8 {
        return;
    }
    if key.starts_with(b"pprof.scope.") && cx.parent != MessageKind::Scope {
        cx.report(&OP8007, Position::at(record.start), Shown(key), "");
    } else if key == b"pprof.scope.sample_type_order" && !is_permutation(cx, &body) {
        let (profiles, spot) = (cx.payload.scope_profiles, Position::at(body.start).field("value"));
        let bound = format!("each number below {profiles}, the number of profiles, once");
        cx.report(&OP8009, spot, "", bound);
    }
    known(cx, key, body);
}

/// Cells of the members of `AnyValue` that conventions require.
const TEXT: usize = ANY_VALUE.cell("string_value");
const TEXT_STRINDEX: usize = ANY_VALUE.cell("string_value_strindex");
const BOOL: usize = ANY_VALUE.cell("bool_value");
const INT: usize = ANY_VALUE.cell("int_value");
const ARRAY: usize = ANY_VALUE.cell("array_value");

/// The string in a value, by reference or in place; the reference takes precedence.
///
/// `None` for every other member, and for a reference out of range.
fn text<'a>(cx: &CheckContext<'a>, value: &Record) -> Option<&'a [u8]> {
    match () {
        () if value.has(TEXT_STRINDEX) => cx.string(value.number(TEXT_STRINDEX)),
        () if value.has(TEXT) => Some(cx.body(value, TEXT)),
        () => None,
    }
}

/// Checks the value of a key that a convention defines.
///
/// Returns at once for other keys, which are nearly all. A value without a member has no form to check, and
/// `OP5005` reports it.
fn known(cx: &mut CheckContext<'_>, key: &[u8], body: Range<usize>) {
    let is_build_id = key.starts_with(b"process.executable.build_id.");
    if !is_build_id && !key.starts_with(b"pprof.") && key != b"profile.frame.type" {
        return;
    }
    let Some(shape) = cx.shapes.find(MessageKind::AnyValue) else { return };
    let value = cx.peek(shape, body.start, body.end);
    let spot = Position::at(body.start).field("value");
    if value.seen == 0 {
        return;
    }
    let text = text(cx, &value);
    let shown = || text.map_or("not a string".to_owned(), |text| Shown(text).to_string());
    match key {
        b"process.executable.build_id.htlhash"
            if !text.is_some_and(|text| text.len() == 32 && cx.memo.is(text, is_hex)) =>
        {
            cx.report(&OP8003, spot, shown(), "32 hex digits");
        }
        b"process.executable.build_id.gnu"
            if !text.is_some_and(|text| cx.memo.is(text, is_hex)) =>
        {
            // pprof has one field for build ids of any kind; converters write it under this key.
            let severity = text.map(|_| Severity::Info);
            cx.findings.report_as(&OP8003, severity, spot, shown(), "an even number of hex digits");
        }
        b"process.executable.build_id.go" if text.is_none() => {
            cx.report(&OP8003, spot, shown(), "a string");
        }
        b"profile.frame.type" => frame_type(cx, spot, text),
        _ if key.starts_with(b"pprof.") => pprof_attribute(cx, key, &value, text, spot),
        _ => {}
    }
}

/// Whether a text consists of hex digits: an even number, and at least two.
///
/// Accepts either case: the convention writes lower case, but an id in upper case identifies the same bytes.
fn is_hex(text: &[u8]) -> bool {
    let fits = text.len().is_multiple_of(2) && !text.is_empty();
    fits && text.iter().all(u8::is_ascii_hexdigit)
}

/// The well-known values of the attribute `profile.frame.type` in the semantic conventions, in order.
const FRAME_TYPES: [&str; 14] = [
    "beam", "cpython", "dotnet", "go", "jvm", "kernel", "luajit", "native", "perl", "php", "ruby",
    "rust", "v8js", "wasm",
];
/// Other names that profilers use for these runtimes, each with the well-known value.
///
/// They raise a warning that names the well-known value, because a custom value is allowed only if no well-known
/// one fits.
const ALIASES: [(&str, &str); 10] = [
    ("python", "cpython"),
    ("java", "jvm"),
    ("hotspot", "jvm"),
    ("node", "v8js"),
    ("nodejs", "v8js"),
    ("javascript", "v8js"),
    ("js", "v8js"),
    ("v8", "v8js"),
    ("golang", "go"),
    ("c++", "native"),
];

/// Checks the type of a frame. A well-known value is expected, in its exact spelling; any other is allowed, with a
/// hint.
///
/// The comparison ignores case. Three outcomes: an exact match raises no finding, a variant raises a warning,
/// anything else an info.
fn frame_type(cx: &mut CheckContext<'_>, spot: Position, text: Option<&[u8]>) {
    let is_utf8 = |text: &[u8]| std::str::from_utf8(text).is_ok();
    let Some(text) = text.filter(|text| cx.memo.is(text, is_utf8)) else {
        cx.report(&OP8004, spot, "not a string", "a string");
        return;
    };
    let is = |known: &str| text.eq_ignore_ascii_case(known.as_bytes());
    let alias = ALIASES.iter().find(|(alias, _)| is(alias)).map(|(_, known)| *known);
    let same = FRAME_TYPES.iter().copied().find(|known| is(known));
    let shown = Shown(text);
    match same.or(alias) {
        Some(known) if known.as_bytes() == text => {}
        Some(known) => cx.report(&OP8004, spot, shown, known),
        None => {
            cx.findings.report_as(&OP8004, Some(Severity::Info), spot, shown, "a well-known value")
        }
    }
}

/// Checks the attributes that replace fields of pprof.
///
/// Checks the type first, then the form of a string, unless it is empty, which means "not set". Other keys with the
/// prefix `pprof.` are ignored.
fn pprof_attribute(
    cx: &mut CheckContext<'_>,
    key: &[u8],
    value: &Record,
    text: Option<&[u8]>,
    spot: Position,
) {
    let name = key.strip_prefix(b"pprof.").unwrap_or_default();
    let (fits, wanted) = match name {
        b"mapping.has_functions"
        | b"mapping.has_filenames"
        | b"mapping.has_line_numbers"
        | b"mapping.has_inline_frames"
        | b"location.is_folded" => (value.has(BOOL), "a bool"),
        b"profile.comment" => {
            (is_array_of(cx, value, 1 << TEXT | 1 << TEXT_STRINDEX), "an array of strings")
        }
        b"scope.sample_type_order" => (is_array_of(cx, value, 1 << INT), "an array of ints"),
        b"scope.default_sample_type"
        | b"profile.doc_url"
        | b"profile.drop_frames"
        | b"profile.keep_frames" => (text.is_some(), "a string"),
        _ => return,
    };
    let shown = Shown(key);
    if !fits {
        cx.report(&OP8006, spot, format_args!("{shown} of another type"), wanted);
        return;
    }
    let Some(text) = text.filter(|text| !text.is_empty()) else { return };
    match name {
        b"profile.doc_url" if !cx.memo.is(text, is_url) => {
            cx.report(&OP8010, spot, Shown(text), "");
        }
        b"profile.drop_frames" | b"profile.keep_frames" if !cx.memo.is(text, is_regexp) => {
            cx.report(&OP8013, spot, Shown(text), "");
        }
        _ => {}
    }
}

/// Whether a value is an array whose elements each have a member, of those given as bits of their cells.
fn is_array_of(cx: &CheckContext<'_>, value: &Record, members: u64) -> bool {
    value.has(ARRAY)
        && elements(cx, value).all(|element| element.seen & !members == 0 && element.seen != 0)
}

/// The elements of an array.
fn elements<'c, 'a>(
    cx: &'c CheckContext<'a>,
    value: &Record,
) -> impl Iterator<Item = PooledRecord> + use<'c, 'a> {
    let body = value.body(ARRAY);
    let bodies = Fields::new(cx.bytes, body.start, body.end).filter_map(|(_, body)| body);
    let shape = cx.shapes.find(MessageKind::AnyValue);
    bodies.filter_map(move |(start, end)| Some(cx.peek(shape?, start, end)))
}

/// Whether a text is an absolute URL.
///
/// Checks only the form, `scheme:rest` without blanks: the check does not use the network.
pub(crate) fn is_url(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme && rest.len() > 2 && !rest.contains(char::is_whitespace)
}

/// Whether a value is an array of the numbers from 0 to n-1 in some order, with n profiles in the scope.
///
/// With any other length the pprof cannot be restored. The numbers are sorted and compared with 0, 1, 2 …: n log n,
/// where comparing all pairs would be quadratic. An element that is not an int counts as an out-of-range number.
/// `OP8006` reports a value that is not an array.
fn is_permutation(cx: &CheckContext<'_>, body: &Range<usize>) -> bool {
    let Some(any) = cx.shapes.find(MessageKind::AnyValue) else { return true };
    let value = cx.peek(any, body.start, body.end);
    if !value.has(ARRAY) {
        return true; // `OP8006` reports it
    }
    let number =
        |element: PooledRecord| if element.has(INT) { element.number(INT) } else { u64::MAX };
    let mut numbers: Vec<u64> = elements(cx, &value).map(number).collect();
    numbers.sort_unstable();
    numbers.len() == cx.payload.scope_profiles
        && numbers.iter().zip(0..).all(|(number, row)| *number == row)
}
