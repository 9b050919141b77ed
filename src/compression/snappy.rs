//! Recognises raw snappy, the form without frames that HTTP and Kafka use.
//!
//! ```text
//! varint: inflated length │ element* , by the low two bits of its first byte:
//!     00 literal: length − 1 in the upper bits, or in the next 1 to 4 bytes, then the bytes
//!     01 copy: length − 4 in 3 bits, offset in 11     10 copy: length − 1 in 6 bits, offset in 16     11: in 32
//! ```

/// Returns whether bytes are a whole block: elements of known kinds that add up to the length at the beginning.
pub(super) fn is_raw(bytes: &[u8]) -> bool {
    walk(bytes).is_some()
}

/// Follows the elements of a block to its end without inflating them.
fn walk(mut rest: &[u8]) -> Option<()> {
    let mut wanted = 0;
    for shift in [0, 7, 14, 21, 28] {
        let byte = u64::from(*rest.split_off_first()?);
        wanted |= (byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    let mut inflated = 0;
    while let Some(tag) = rest.split_off_first() {
        let upper = u64::from(tag >> 2);
        let (length, offset) = match tag & 3 {
            0 => {
                let length = match upper {
                    60.. => little_endian(rest.split_off(..usize::from(tag >> 2) - 59)?) + 1,
                    _ => upper + 1,
                };
                rest.split_off(..usize::try_from(length).ok()?)?;
                (length, None)
            }
            1 => {
                let low = u64::from(*rest.split_off_first()?);
                ((upper & 7) + 4, Some((upper >> 3) << 8 | low))
            }
            kind => (upper + 1, Some(little_endian(rest.split_off(..usize::from(kind) * 2 - 2)?))),
        };
        if offset.is_some_and(|offset| offset == 0 || offset > inflated) {
            return None;
        }
        inflated += length;
        // Most files that are not snappy end here, within a few elements.
        if inflated > wanted {
            return None;
        }
    }
    (inflated == wanted && wanted > 0).then_some(())
}

/// Returns the number in up to four bytes.
fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_recognised_by_its_lengths() {
        // "aaaaaaaa" as a literal and a copy, in each form of both.
        let blocks: [&[u8]; 5] = [
            b"\x08\x00a\x0d\x01",
            b"\x08\xf0\x00a\x0d\x01",
            b"\x08\x00a\x1a\x01\x00",
            b"\x08\x00a\x1b\x01\x00\x00\x00",
            b"\x08\x1caaaaaaaa",
        ];
        for block in blocks {
            assert!(is_raw(block), "{block:?}");
            for end in 0..block.len() {
                assert!(!is_raw(&block[..end]), "{block:?} to {end}");
            }
            assert!(!is_raw(&[block, b"\0a"].concat()), "{block:?}");
        }
        // An offset before the beginning, and offset 0.
        for block in [&b"\x08\x00a\x0d\x02"[..], b"\x08\x00a\x0d\x00"] {
            assert!(!is_raw(block), "{block:?}");
        }
        assert!(!is_raw(b""));
    }
}
