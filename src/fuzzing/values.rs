//! Values that mutations write.

use super::random::Random;

/// Numbers at the edges of types and tables.
pub(super) const NUMBERS: [u64; 16] = [
    0,
    1,
    2,
    3,
    9,
    127,
    128,
    i32::MAX as u64,
    1 << 31,
    i32::MIN as u64,
    u32::MAX as u64,
    (1 << 32) + 1,
    i64::MAX as u64,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];
/// Contents of strings, ids and messages.
pub(super) const TEXTS: [&[u8]; 8] =
    [b"", b"a", b"k1", b"\xff", &[0; 16], &[0; 8], b"\xed\xa0\x80", b"\n\x00"];
/// Changes a list of numbers.
pub(super) fn element(list: &mut Vec<u64>, number: u64, random: &mut Random) {
    let (at, other) = (random.below(list.len()), random.below(list.len()));
    match random.below(5) {
        _ if list.is_empty() => list.push(number),
        0 => drop(list.remove(at)),
        1 => list.insert(at, list[other]),
        2 => list.swap(at, other),
        _ => list[at] = number,
    }
}
