//! Mutations of compressed files: of the contents, under a right checksum, or of the frame around them.

use super::random::Random;
use crate::compression::{Level, deflate, inflate};
use crate::limits::Limits;

/// The most bytes that a mutated file is inflated to.
const MOST: u64 = 1 << 20;

/// Mutates a gzip file. `inside` mutates the contents.
pub(super) fn mutate(
    file: &[u8],
    random: &mut Random,
    inside: impl FnOnce(&[u8], &mut Random) -> Vec<u8>,
) -> Vec<u8> {
    let limits = Limits::network().max_decompressed_bytes(MOST);
    match inflate(file, &limits) {
        Ok(contents) if random.below(4) > 0 => deflate(&inside(&contents, random), Level::FAST),
        _ => frame(file.to_vec(), random),
    }
}

/// Breaks header, data or trailer, or adds members.
fn frame(mut file: Vec<u8>, random: &mut Random) -> Vec<u8> {
    let byte = random.next_u64() as u8;
    let length = file.len();
    match random.below(8) {
        // The header: method, flags, time, system.
        0 => set(&mut file, 2 + random.below(8), byte),
        // Flags whose fields are missing.
        1 => set(&mut file, 3, 1 << random.below(8)),
        // The checksum, or the length.
        2 => set(&mut file, length.saturating_sub(1 + random.below(8)), byte),
        3 => file.truncate(random.below(length)),
        4 => file.extend(vec![0; 1 + random.below(16)]),
        5 => file.extend_from_within(..),
        6 => file.extend_from_slice(&[0x1f, 0x8b, byte]),
        _ => set(&mut file, random.below(length), byte),
    }
    file
}

fn set(file: &mut [u8], at: usize, byte: u8) {
    if let Some(old) = file.get_mut(at) {
        *old = byte;
    }
}
