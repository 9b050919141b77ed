//! The semantic convention that a pprof build id belongs to.

use crate::semconv::{BUILD_ID_GNU, BUILD_ID_GO};

/// Returns the attribute key for a build id, and whether the form of the id proves that key.
///
/// A Go build id is four groups of base64url joined by slashes; a GNU build id is 16 to 40 hex digits. Any
/// other form is stored as a GNU build id, as all converters do.
pub(crate) fn key_of(text: &[u8]) -> (&'static str, bool) {
    let groups = text.split(|&byte| byte == b'/');
    let base64url = |group: &[u8]| {
        !group.is_empty()
            && group.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    if groups.clone().count() == 4 && groups.clone().all(base64url) {
        return (BUILD_ID_GO, true);
    }
    let hex = text.iter().all(u8::is_ascii_hexdigit);
    (BUILD_ID_GNU, hex && (16..=40).contains(&text.len()))
}

/// Returns whether a build id only states that the binary has no build id, as Parca writes it.
pub(crate) fn is_unknown(text: &[u8]) -> bool {
    text.eq_ignore_ascii_case(b"unknown") || text.eq_ignore_ascii_case(b"<unknown>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_ids_are_told_by_their_form() {
        assert_eq!(key_of(b"0123456789abcdef0123456789abcdef01234567"), (BUILD_ID_GNU, true));
        assert_eq!(key_of(b"a-B_/c/d9/e"), (BUILD_ID_GO, true));
        for odd in [&b"deadbeef"[..], b"a//b/c", b"a/b/c", b"{\"x\":1}"] {
            assert_eq!(key_of(odd), (BUILD_ID_GNU, false));
        }
    }
}
