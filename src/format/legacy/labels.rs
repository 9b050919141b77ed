//! Parses the labels of goroutines: `# labels: {"endpoint":"/cart", "user":"a \"b\""}`, quoted by Go's `%q`.

use crate::error::{Error, Result};
use crate::format::lines::{hex, shown};

/// The prefix of a line with labels.
const LABELS: &[u8] = b"# labels: ";

/// Returns keys and values in their order, or an empty list for any other line.
///
/// # Errors
///
/// Text that Go never writes: an unclosed quote, or an unknown escape.
pub(super) fn labels(line: &[u8]) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let Some(text) = line.strip_prefix(LABELS) else { return Ok(Vec::new()) };
    let pairs = text.strip_prefix(b"{").and_then(pairs);
    pairs.ok_or_else(|| {
        let message = format!("expected labels, `{{\"KEY\":\"VALUE\", …}}`, found {}", shown(text));
        Error::malformed(message)
    })
}

fn pairs(mut rest: &[u8]) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut pairs = Vec::new();
    while rest != b"}" {
        let (key, after) = quoted(rest)?;
        let (value, after) = quoted(after.strip_prefix(b":")?)?;
        pairs.push((key, value));
        rest = match after.strip_prefix(b", ") {
            Some(b"}") => return None,
            Some(more) => more,
            None if after == b"}" => after,
            None => return None,
        };
    }
    Some(pairs)
}

/// Parses a quoted text, and returns the rest as well.
fn quoted(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut out = Vec::new();
    loop {
        match rest {
            [b'"', after @ ..] => return Some((out, after)),
            [b'\\', kind, after @ ..] => rest = escaped(*kind, after, &mut out)?,
            [byte, after @ ..] => {
                out.push(*byte);
                rest = after;
            }
            [] => return None,
        }
    }
}

/// Parses the rest of an escape after its backslash and letter.
fn escaped<'a>(kind: u8, rest: &'a [u8], out: &mut Vec<u8>) -> Option<&'a [u8]> {
    let digits = match kind {
        b'x' => 2,
        b'u' => 4,
        b'U' => 8,
        _ => 0,
    };
    let (code, rest) = rest.split_at_checked(digits)?;
    if digits > 0 {
        let code = u32::try_from(hex(code)?).ok()?;
        match u8::try_from(code) {
            // A byte that need not be UTF-8.
            Ok(byte) if kind == b'x' => out.push(byte),
            _ => out.extend(char::from_u32(code)?.encode_utf8(&mut [0; 4]).bytes()),
        }
        return Some(rest);
    }
    out.push(match kind {
        b'a' => 7,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 11,
        b'f' => 12,
        b'r' => b'\r',
        b'\\' | b'"' => kind,
        _ => return None,
    });
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_what_go_quoted() {
        let read = |text: &str| labels(text.as_bytes());
        let own = |pairs: &[(&str, &[u8])]| -> Vec<(Vec<u8>, Vec<u8>)> {
            pairs.iter().map(|(key, value)| (key.as_bytes().to_vec(), value.to_vec())).collect()
        };
        assert_eq!(read("# labels: {}").unwrap(), []);
        assert_eq!(read("#\t0x1\tmain.f+0x1\t/a:1").unwrap(), []);
        assert_eq!(
            read(r#"# labels: {"a":"b c", "k, \"":"\x00\xff\u00e9\U0001f600\n\\"}"#).unwrap(),
            own(&[("a", b"b c"), ("k, \"", b"\0\xff\xc3\xa9\xf0\x9f\x98\x80\n\\")])
        );
        for wrong in [
            "{",
            "{\"a\"}",
            "{\"a\":\"b\"",
            "{\"a\":\"b\", }",
            "{\"a\":\"\\q\"}",
            "{\"a\":\"\\x+1\"}",
            "{\"a\":\"\\ud800\"}",
        ] {
            assert!(read(&format!("# labels: {wrong}")).is_err(), "{wrong}");
        }
    }
}
