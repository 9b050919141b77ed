//! `inflate` gives the same bytes as flate2, or an error, and never exceeds the limit.
#![no_main]

use std::io::Read;

use libfuzzer_sys::fuzz_target;
use otlp_profiles::Limits;
use otlp_profiles::compression::inflate;

fn multi(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut inflated = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut inflated)?;
    Ok(inflated)
}

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits::network().max_decompressed_bytes(1 << 20);
    let Ok(ours) = inflate(bytes, &limits) else {
        return;
    };
    assert!(ours.len() <= 1 << 20 || *ours == *bytes);
    if bytes.starts_with(&[0x1f, 0x8b]) {
        // flate2 mistakes trailing zero padding for another member.
        let padding = bytes.iter().rev().take_while(|byte| **byte == 0).count();
        let mut theirs = (0..=padding).map(|zeros| multi(&bytes[..bytes.len() - zeros]));
        let same = theirs.any(|theirs| theirs.is_ok_and(|theirs| *ours == *theirs));
        assert!(same, "flate2 inflates to the same bytes");
    }
});
