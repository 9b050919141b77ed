//! Profiles in an HTML page: each message is gzip in base64, in a script element that browsers do not run.
//!
//! `otlp-profiles view` writes such pages. Reading one back gives the messages without the page around them.

use std::borrow::Cow;
use std::io::Read;

use crate::error::{Error, Result};
use crate::framing::{fill, take};
use crate::limits::{Limits, within};
use crate::wire::base64::{from_base64, to_base64};

/// The beginning of a page with profiles. Readers recognise a page by it, in either case.
///
/// ```
/// use otlp_profiles::compression::{Level, deflate};
/// use otlp_profiles::stream::{PAGE_START, page_script};
///
/// let message = std::fs::read("testdata/otlp-1.11-aggregated-cpu.binpb").unwrap();
/// let script = page_script("id=\"profile-0\"", &deflate(&message, Level::DEFAULT));
/// let page = format!("{PAGE_START}<title>A page</title>{script}");
///
/// let profiles = otlp_profiles::read(page.as_bytes(), &Default::default())?.profiles;
/// assert_eq!(profiles.iter().count(), 1);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub const PAGE_START: &str = "<!doctype html>\n<!-- profiles: otlp-profiles view -->\n";

/// The beginning of an element with a message.
const ELEMENT: &str = "<script type=\"application/vnd.otlp-profiles+gzip\"";

/// Returns the element of a page that holds a message compressed with gzip. `attributes` are further attributes of the
/// element, such as `id="profile-0"`.
///
/// A page that starts with [`PAGE_START`] and has one or more of these elements is an input like any other.
///
/// ```
/// let script = otlp_profiles::stream::page_script("id=\"profile-0\"", &[0x1f, 0x8b]);
/// assert!(script.starts_with("<script ") && script.ends_with(">H4s=</script>"));
/// ```
pub fn page_script(attributes: &str, gzip: &[u8]) -> String {
    format!("{ELEMENT} {attributes} data-encoding=\"base64\">{}</script>", base64(gzip))
}

/// Encodes bytes in base64 with padding, as content security policies have hashes.
///
/// ```
/// assert_eq!(otlp_profiles::stream::base64(b"foob"), "Zm9vYg==");
/// ```
pub fn base64(bytes: &[u8]) -> String {
    let mut text = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    to_base64(bytes, &mut text);
    String::from_utf8(text).unwrap_or_default()
}

/// Whether a file is a page with profiles, by its first bytes.
pub(super) fn begins(head: &[u8]) -> bool {
    // Browsers write the doctype of a saved page in upper case and may drop the line break.
    let window = head.get(..2 * PAGE_START.len()).unwrap_or(head);
    let mut letters = window.iter().filter(|byte| !byte.is_ascii_whitespace());
    let mut start = PAGE_START.bytes().filter(|byte| !byte.is_ascii_whitespace());
    start.all(|byte| letters.next().is_some_and(|letter| letter.eq_ignore_ascii_case(&byte)))
}

/// Replaces a file that begins with `head` and is a page by the gzip members in it.
///
/// # Errors
///
/// `max_input_bytes`, which counts the page; an element that is not base64, or no element.
pub(super) fn members(
    head: Vec<u8>,
    input: &mut impl Read,
    size: u64,
    limits: &Limits,
) -> Result<Vec<u8>> {
    let mut page = head;
    within("max_input_bytes", limits.max_input_bytes, size)?;
    fill(input, size, &mut page)?;
    // The size is only a hint, so read on to the end, or one byte past the limit to detect a longer page.
    let more = limits.max_input_bytes.saturating_add(1).saturating_sub(page.len() as u64);
    take(input, more, &mut page)?;
    within("max_input_bytes", limits.max_input_bytes, page.len() as u64)?;
    messages(&page)
}

/// The gzip members of a file if it is a page, else the file itself.
pub(super) fn unwrapped(file: &[u8]) -> Result<Cow<'_, [u8]>> {
    Ok(if begins(file) { Cow::Owned(messages(file)?) } else { Cow::Borrowed(file) })
}

/// The messages of a page, one gzip member after the other.
fn messages(page: &[u8]) -> Result<Vec<u8>> {
    let wrong = |what: &str| Error::malformed(format!("the page with profiles {what}"));
    let page = std::str::from_utf8(page).map_err(|_| wrong("is not UTF-8"))?;
    let (mut members, mut rest) = (Vec::new(), page);
    while let Some((_, element)) = rest.split_once(ELEMENT) {
        let (text, after) = element
            .split_once('>')
            // Base64 has no `<`, so the content ends at the closing tag.
            .and_then(|(_, content)| content.split_once('<'))
            .ok_or_else(|| wrong("ends within a profile: the file is incomplete"))?;
        from_base64(text.trim(), &mut members)
            .ok_or_else(|| wrong("has a profile that is not base64: the file was changed"))?;
        rest = after;
    }
    if members.is_empty() {
        return Err(wrong("has no profile: the file was cut or changed"));
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_recognised_and_broken_ones_rejected() {
        let page = |content: &str| format!("{PAGE_START}{content}").into_bytes();
        let element = page_script("id=\"profile-0\"", b"abcd");
        let twice = page(&format!("<p>{element}</p>{element}"));
        assert_eq!(*unwrapped(&twice).unwrap(), *b"abcdabcd");
        let saved = twice.to_ascii_lowercase();
        assert!(begins(&saved) && begins(b"<!DOCTYPE html><!-- profiles: otlp-profiles view -->"));
        assert!(!begins(b"<!doctype html><html>") && !begins(b""));
        for (content, what) in [
            ("", "has no profile"),
            (&element[..element.len() - 10], "incomplete"),
            (&element.replace("YWJj", "Y!Jj"), "not base64"),
        ] {
            let error = unwrapped(&page(content)).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
        let limits = Limits::network().max_input_bytes(twice.len() as u64);
        let read = |limits: &Limits| members(Vec::new(), &mut &twice[..], 0, limits);
        assert_eq!(read(&limits).unwrap(), b"abcdabcd");
        let limits = limits.max_input_bytes(twice.len() as u64 - 1);
        assert_eq!(read(&limits).unwrap_err().limit(), Some("max_input_bytes"));
    }
}
