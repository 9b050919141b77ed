//! Base64: in OTLP/JSON, signed headers and pages.

/// Decodes base64 of either alphabet, with or without padding, or returns `None`.
pub(crate) fn from_base64(text: &str, out: &mut Vec<u8>) -> Option<()> {
    let text = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text);
    // A single digit has only six bits.
    if text.len() % 4 == 1 {
        return None;
    }
    out.reserve(text.len() / 4 * 3 + 2);
    for group in text.as_bytes().chunks(4) {
        let mut bits = 0;
        for &digit in group {
            bits = bits << 6 | sextet(digit)?;
        }
        // A group of `n` digits encodes `n` − 1 bytes. Excess low bits of the last digit are ignored.
        let bytes = (bits << (6 * (4 - group.len()))).to_be_bytes();
        out.extend_from_slice(&bytes[1..group.len()]);
    }
    Some(())
}

/// Returns the value of a digit in either alphabet.
fn sextet(digit: u8) -> Option<u32> {
    let value = match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    };
    Some(value.into())
}

/// Appends `bytes` in base64 of the standard alphabet, padded.
pub(crate) fn to_base64(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte))
            << (8 * (3 - group.len()));
        let digits = [18, 12, 6, 0].map(|shift| DIGITS[(bits >> shift & 63) as usize]);
        // `n` bytes take `n` + 1 digits; padding completes them to four.
        out.extend_from_slice(&digits[..=group.len()]);
        out.extend_from_slice(&b"=="[group.len() - 1..]);
    }
}
