//! Hex digits: ids in OTLP/JSON and in tables, ids and addresses in texts of other formats.

/// Appends the bytes of hex digits in either case, or returns `None` for other text.
///
/// After a bad digit, the bytes before it remain in `out`.
pub(crate) fn from_hex(digits: &str, out: &mut Vec<u8>) -> Option<()> {
    let (pairs, odd) = digits.as_bytes().as_chunks::<2>();
    for pair in pairs {
        let [high, low] = pair.map(|digit| char::from(digit).to_digit(16));
        out.push((high? << 4 | low?) as u8);
    }
    odd.is_empty().then_some(())
}

/// Decodes hex digits.
///
/// Returns `None` for an odd number of digits.
pub(crate) fn hex_bytes(digits: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    from_hex(digits, &mut bytes).map(|()| bytes)
}

/// Parses a number that consists of hex digits only.
pub(crate) fn hex_number(digits: &[u8]) -> Option<u64> {
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    u64::from_str_radix(std::str::from_utf8(digits).ok().filter(|_| is_hex)?, 16).ok()
}

/// Returns bytes as lower-case hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// Appends `bytes` as lower-case hex digits.
pub(crate) fn to_hex(bytes: &[u8], out: &mut Vec<u8>) {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    out.extend(digits.map(|digit| DIGITS[usize::from(digit)]));
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";
