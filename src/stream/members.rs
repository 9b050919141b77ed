//! Distinguishes gzip members that are messages from those that are pieces of one payload.

use crate::compression::Unpacked;
use crate::error::{Error, Result};
use crate::framing::{self, Framing, Messages, ONE_DOCUMENT, Opening, opening, whole_messages};
use crate::limits::Limits;
use crate::schema::{PROFILE, PROFILES_DATA, PROFILES_DICTIONARY, Version};
use crate::wire::LEN;
use crate::wire::read::Reader;

/// Returns the complete messages of an inflated file, and an error if the last one is truncated.
///
/// # Errors
///
/// [`Limit`](crate::ErrorKind::Limit) for more messages than `max_table_entries`.
pub(crate) fn messages_of<'a>(
    file: &'a Unpacked<'_>,
    limits: &Limits,
) -> Result<(Messages<'a>, Option<Error>)> {
    let (messages, cut) = whole_messages(&file.bytes, limits)?;
    if messages.framing() == Framing::None && are_messages(file) {
        return Ok((framing::members(&file.bytes, &file.lengths, limits)?, None));
    }
    Ok((messages, cut))
}

/// Returns whether the gzip members of a file are messages.
pub(crate) fn are_messages(file: &Unpacked<'_>) -> bool {
    if let [first, second, ..] = file.lengths[..]
        && let Some((first, rest)) = file.bytes.split_at_checked(first)
    {
        return second_member(first, rest.get(..second).unwrap_or(rest), true) != Opening::Bare;
    }
    false
}

/// Determines the framing of a gzip file from its first two members that are not empty: each member is a message if
/// the first is a whole profile and the second begins another.
///
/// `at_end` means that `second` is complete. Text is never split: members of logs and of parallel compressors end
/// anywhere.
pub(crate) fn second_member(first: &[u8], second: &[u8], at_end: bool) -> Opening {
    let members = Opening::Framed(Framing::GzipMembers);
    if is_json_object(first) {
        // If the first member ends with a line break, the inflated file is JSON lines, which are split as text.
        let is_line = || opening(&[first, b"{"].concat(), true) != Opening::Bare;
        let has = |name: &&str| first.windows(name.len()).any(|part| part == name.as_bytes());
        return match second.trim_ascii_start().first() {
            Some(b'{') if !is_line() && !ONE_DOCUMENT.iter().all(has) => members,
            None if !at_end => Opening::Open,
            _ => Opening::Bare,
        };
    }
    let (Some(table), true) = string_table(first, true) else { return Opening::Bare };
    match string_table(second, at_end) {
        (Some(other), _) if other == table => members,
        (None, true) if !at_end => Opening::Open,
        _ => Opening::Bare,
    }
}

/// Returns whether a text is a JSON object, judged by its first and last character.
fn is_json_object(text: &[u8]) -> bool {
    matches!(text.trim_ascii(), [b'{', .., b'}'])
}

/// The place of a message's string table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    /// A field of the message, as in pprof and OTLP 1.6.
    Outside,
    /// A field of the dictionary.
    Dictionary,
}

/// The tag of the string table of pprof and OTLP 1.6.
const STRING_TABLE: u32 = PROFILE.tag(Version::Pprof, "string_table");
/// The tag of the dictionary of OTLP, and of pprof's samples.
const DICTIONARY: u32 = PROFILES_DATA.tag(Version::V1_10, "dictionary");
/// The tag of the string table in a dictionary.
const DICTIONARY_STRING_TABLE: u32 = PROFILES_DICTIONARY.tag(Version::V1_10, "string_table");

/// Looks for a string table that begins with the empty string. Returns its place, and whether all bytes are fields.
/// If not `at_end`, the bytes may end within a field.
fn string_table(message: &[u8], at_end: bool) -> (Option<Table>, bool) {
    let mut fields = Reader::new(message);
    let mut found = None;
    loop {
        let tag = match fields.try_tag() {
            Some(Some(tag)) => tag,
            Some(None) => return (found, true),
            // Fewer than ten bytes may be a truncated tag.
            None => return (found, !at_end && fields.left() < 10),
        };
        let body = match tag & 7 == LEN {
            true => fields.try_message(),
            false => match fields.skip(tag, 1) {
                Ok(()) => continue,
                Err(_) => None,
            },
        };
        let Some(mut body) = body else { return (found, !at_end) };
        match tag {
            _ if found.is_some() => {}
            // The first string must be empty.
            STRING_TABLE if !body.is_empty() => return (None, false),
            STRING_TABLE => found = Some(Table::Outside),
            DICTIONARY => {
                while let Some(Some(tag)) = body.try_tag() {
                    if tag == DICTIONARY_STRING_TABLE {
                        let is_empty = body.try_message().is_some_and(|text| text.is_empty());
                        found = is_empty.then_some(Table::Dictionary);
                        break;
                    }
                    if body.skip(tag, 1).is_err() {
                        break;
                    }
                }
            }
            _ => {}
        }
        // The table decides, and the rest may be truncated.
        if found.is_some() && !at_end {
            return (found, true);
        }
    }
}
