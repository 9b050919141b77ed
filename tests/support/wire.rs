//! Builds protobuf bytes by hand, for payloads that no encoder writes.

pub const VARINT: u8 = 0;
pub const FIXED64: u8 = 1;
pub const LEN: u8 = 2;
pub const GROUP: u8 = 3;
pub const GROUP_END: u8 = 4;
pub const FIXED32: u8 = 5;

pub fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

/// A varint with more bytes than necessary.
pub fn overlong(value: u64, bytes: usize) -> Vec<u8> {
    let mut out: Vec<u8> = (0..bytes)
        .map(|at| (value.checked_shr(7 * at as u32).unwrap_or(0) & 0x7f) as u8 | 0x80)
        .collect();
    *out.last_mut().expect("at least one byte") &= 0x7f;
    out
}

pub fn tag(number: u32, kind: u8) -> Vec<u8> {
    varint(u64::from(number) << 3 | u64::from(kind))
}

pub fn int(number: u32, value: u64) -> Vec<u8> {
    [tag(number, VARINT), varint(value)].concat()
}

pub fn len(number: u32, body: &[u8]) -> Vec<u8> {
    [tag(number, LEN), varint(body.len() as u64), body.to_vec()].concat()
}

/// Nests `body` in fields: `nest(&[1, 2], x)` is field 1 around field 2 around x.
pub fn nest(numbers: &[u32], body: &[u8]) -> Vec<u8> {
    numbers.iter().rev().fold(body.to_vec(), |body, &number| len(number, &body))
}

/// A field that contains itself `depth` times, built from the inside out without copying.
pub fn deep(numbers: &[u32], depth: usize) -> Vec<u8> {
    let mut reversed: Vec<u8> = Vec::new();
    for _ in 0..depth {
        for &number in numbers.iter().rev() {
            let length = varint(reversed.len() as u64);
            reversed.extend(length.iter().rev());
            reversed.extend(tag(number, LEN).iter().rev());
        }
    }
    reversed.reverse();
    reversed
}
