//! Numbers and bytes as JSON represents them.
//!
//! The integer parser accepts every form of JSON (`1e3`, `1.50e2`), because protobuf's mapping allows them.
//! The standard library parses doubles. Only the output is allocated.
//!
//! | protobuf's type | in JSON | read by |
//! |---|---|---|
//! | `int32`, `uint32`, enums | a number, or a string of one | [`whole`] |
//! | `int64`, `uint64`, `fixed64` | a string of digits, or a number | [`whole`] |
//! | `bytes` | base64 | [`from_base64`](crate::wire::base64::from_base64) |
//! | ids of traces, spans and profiles | hex digits, by OTLP | [`from_hex`](crate::wire::hex::from_hex) |

/// Returns the length of the number at the beginning of `text`, or 0 if there is no number.
///
/// The grammar is JSON's: no leading zeros, plus signs, or points without digits.
pub(super) fn number_length(text: &[u8]) -> usize {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut at = usize::from(text.first() == Some(&b'-'));
    at += match (text.get(at), digits(at)) {
        (_, 0) => return 0,
        (Some(b'0'), _) => 1,
        (_, more) => more,
    };
    if text.get(at) == Some(&b'.') {
        match digits(at + 1) {
            0 => return 0,
            more => at += 1 + more,
        }
    }
    if let Some(b'e' | b'E') = text.get(at) {
        at += 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        match digits(at) {
            0 => return 0,
            more => at += more,
        }
    }
    at
}

/// Returns the integer value of a JSON number in any form (`10`, `1.0e1`). Returns `None` for a fraction, and
/// saturates at 128 bits.
///
/// `number` must match [`number_length`]. The conversion uses no double, so it is exact.
pub(super) fn whole(number: &str) -> Option<i128> {
    if number.len() <= 18 && number.bytes().all(|byte| byte.is_ascii_digit()) {
        return number.parse().ok();
    }
    let (sign, number) = number.strip_prefix('-').map_or((1, number), |number| (-1, number));
    let (digits, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (before, behind) = digits.split_once('.').unwrap_or((digits, ""));
    let mut value = 0i128;
    let mut zeros = 0usize; // pending zeros, which may be trailing decimals
    for digit in before.bytes().chain(behind.bytes()) {
        zeros += 1;
        if digit != b'0' {
            value = value.saturating_mul(power(zeros as i64)).saturating_add((digit - b'0').into());
            zeros = 0;
        }
    }
    if value == 0 {
        return Some(0);
    }
    let far = if exponent.starts_with('-') { i64::MIN } else { i64::MAX };
    let exponent = exponent.parse().unwrap_or(far);
    let shift = exponent.saturating_add(zeros as i64).saturating_sub(behind.len() as i64);
    (shift >= 0).then(|| sign * value.saturating_mul(power(shift)))
}

/// Computes a power of ten, saturated: a number this large is out of range for every caller.
fn power(exponent: i64) -> i128 {
    10i128.checked_pow(exponent.clamp(0, 99) as u32).unwrap_or(i128::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::base64::{from_base64, to_base64};
    use crate::wire::hex::{from_hex, to_hex};

    #[test]
    fn numbers_are_those_of_json() {
        for (text, length) in [
            ("0", 1),
            ("-0", 2),
            ("01", 1),
            ("10,", 2),
            ("-1.50e-07]", 9),
            ("1E5", 3),
            ("1.e", 0),
            ("1e+", 0),
            (".5", 0),
            ("-", 0),
            ("", 0),
            ("+1", 0),
            ("x", 0),
            ("1.5.5", 3),
        ] {
            assert_eq!(number_length(text.as_bytes()), length, "{text}");
        }
    }

    #[test]
    fn whole_numbers_have_many_forms() {
        for (text, value) in [
            ("0", Some(0)),
            ("-0", Some(0)),
            ("0.000e99999999999999999999", Some(0)),
            ("7", Some(7)),
            ("1e3", Some(1000)),
            ("1.5e1", Some(15)),
            ("15e-1", None),
            ("150e-1", Some(15)),
            ("-2.50e2", Some(-250)),
            ("1.0", Some(1)),
            ("0.1", None),
            ("1e-99999999999999999999", None),
            ("18446744073709551615", Some(u64::MAX.into())),
            ("-9223372036854775808", Some(i64::MIN.into())),
            ("1e99999999999999999999", Some(i128::MAX)),
            ("-1e40", Some(-i128::MAX)),
            ("9007199254740993.0", Some(9007199254740993)),
            ("100000000000000000000000000000000000000000e-40", Some(10)),
        ] {
            let found = whole(text);
            // Saturated intermediate values stay out of every range.
            let same = found == value || found.is_some_and(|found| found.unsigned_abs() > 1 << 100);
            assert!(same, "{text}: {found:?}");
        }
    }

    #[test]
    fn bytes_go_there_and_back() {
        for length in 0..20u8 {
            let bytes: Vec<u8> = (0..length).map(|at| at.wrapping_mul(91) ^ 0xfb).collect();
            let (mut hex, mut base64) = (Vec::new(), Vec::new());
            to_hex(&bytes, &mut hex);
            to_base64(&bytes, &mut base64);
            let (hex, base64) =
                (String::from_utf8(hex).unwrap(), String::from_utf8(base64).unwrap());
            let url = base64.replace('+', "-").replace('/', "_");
            for text in [&base64, &url, base64.trim_end_matches('='), url.trim_end_matches('=')] {
                let mut back = Vec::new();
                from_base64(text, &mut back).unwrap();
                assert_eq!(back, bytes);
            }
            for text in [hex.to_uppercase(), hex] {
                let mut back = Vec::new();
                from_hex(&text, &mut back).unwrap();
                assert_eq!(back, bytes);
            }
        }
        let mut out = Vec::new();
        to_base64(b"foob", &mut out);
        assert_eq!(out, b"Zm9vYg==");
        for bad in ["a", "abcde", "ab=c", "ab===", "a b", "äb", "="] {
            assert!(from_base64(bad, &mut out).is_none() || bad == "=", "{bad}");
        }
        for bad in ["a", "0g", "+1", "ä"] {
            assert!(from_hex(bad, &mut out).is_none(), "{bad}");
        }
    }
}
