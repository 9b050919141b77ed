//! The mutation of a whole file.

use super::cases::cases;
use super::gzip;
use super::payload::Payload;
use super::random::Random;
use crate::format::Format;

/// Bytes that have a meaning in formats of text and of protobuf.
const BYTES: [u8; 16] =
    [0, 1, 0x7f, 0x80, 0xff, 0x0a, 0x12, 0x1a, b' ', b'0', b'9', b'"', b'{', b'[', b';', b'-'];

/// Mutates a file of a format: one to four changes. Equal arguments give equal results.
///
/// A protobuf payload stays one in most cases, so that the mutations reach code behind the decoder: they change fields
/// and their encoding, references, tables, ids and times, or break a rule of the format. A gzip file is inflated
/// and deflated again, or its frame is broken. Other formats, and one file in sixteen, change byte by byte. The result has
/// at most `max_len` bytes.
///
/// ```
/// use otlp_profiles::Format;
/// use otlp_profiles::fuzzing::{Payload, mutate};
///
/// let valid = Payload::valid(Format::PPROF)?.encode();
/// for seed in 0..1000 {
///     let file = mutate(&valid, Format::PPROF, seed, 4096);
///     // Call the decoder under test here: it may return an error, but must not panic.
///     let _ = otlp_profiles::read(&file, &Default::default());
/// }
/// assert_eq!(mutate(&valid, Format::PPROF, 7, 4096), mutate(&valid, Format::PPROF, 7, 4096));
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn mutate(file: &[u8], format: Format, seed: u64, max_len: usize) -> Vec<u8> {
    let random = &mut Random::new(seed);
    let mut mutated = match file {
        _ if random.below(16) == 0 => mutate_bytes(file, random),
        [0x1f, 0x8b, ..] => {
            gzip::mutate(file, random, |contents, random| contents_of(contents, format, random))
        }
        _ => contents_of(file, format, random),
    };
    mutated.truncate(max_len);
    mutated
}

fn contents_of(contents: &[u8], format: Format, random: &mut Random) -> Vec<u8> {
    let Ok(mut payload) = Payload::parse(contents, format) else {
        return mutate_bytes(contents, random);
    };
    for _ in 0..=random.below(4) {
        if random.below(16) > 0 || !break_rule(&mut payload, format, random) {
            payload.mutate(random);
        }
    }
    payload.encode()
}

/// Applies the edits of a random case. They may fail halfway, in a payload that lacks their rows.
fn break_rule(payload: &mut Payload, format: Format, random: &mut Random) -> bool {
    // A few tries find a case of the format.
    let mut tries = (0..32).map(|_| random.pick(cases()));
    tries.find(|case| case.format() == format).is_some_and(|case| case.apply(payload))
}

/// Changes bytes: sets, removes, inserts, repeats or swaps them, or cuts the end.
pub fn mutate_bytes(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(4) {
        let (at, to) = (random.below(bytes.len()), random.below(bytes.len()));
        let byte = *random.pick(&BYTES);
        match random.below(7) {
            0 => bytes.truncate(at),
            1 if !bytes.is_empty() => drop(bytes.remove(at)),
            2 => bytes.insert(at, byte),
            3 => {
                let part = bytes[at..bytes.len().min(at + random.below(40))].to_vec();
                bytes.splice(to..to, part);
            }
            4 if !bytes.is_empty() => bytes.swap(at, to),
            5 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            _ => match bytes.get_mut(at) {
                Some(old) => *old = byte,
                None => bytes.push(byte),
            },
        }
    }
    bytes
}
