//! Compression, detection and pages.

use std::io::Read;

use otlp_profiles::compression::{Level, deflate, inflate};
use otlp_profiles::fuzzing::{Payload, Random};
use otlp_profiles::stream::{PAGE_START, page_script};
use otlp_profiles::{Format, Limits, ReadOptions, Reader};

use crate::parts;

fn multi(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut inflated = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut inflated)?;
    Ok(inflated)
}

/// `inflate` gives the same bytes as flate2, or an error, and never exceeds the limit.
pub fn gunzip(input: &[u8]) {
    let limits = Limits::network().max_decompressed_bytes(1 << 20);
    let bytes = input.get(1..).unwrap_or_default();
    let Ok(ours) = inflate(bytes, &limits) else { return };
    assert!(ours.len() <= 1 << 20 || *ours == *bytes);
    if bytes.starts_with(&[0x1f, 0x8b]) {
        // flate2 mistakes trailing zero padding for another member.
        let padding = bytes.iter().rev().take_while(|byte| **byte == 0).count();
        let mut theirs = (0..=padding).map(|zeros| multi(&bytes[..bytes.len() - zeros]));
        let same = theirs.any(|theirs| theirs.is_ok_and(|theirs| *ours == *theirs));
        assert!(same, "flate2 inflates to the same bytes");
    }
}

/// Detection is deterministic, and does not depend on the order of fields and the packing of lists.
pub fn detect(input: &[u8]) {
    let Some((format, file)) = parts(input) else { return };
    let options = ReadOptions::default();
    let Ok(first) = otlp_profiles::detect(file, &options) else { return };
    let second = otlp_profiles::detect(file, &options).expect("the same bytes are detected again");
    assert_eq!(first.format, second.format);
    assert_eq!((&first.certainty, &first.evidence), (&second.certainty, &second.evidence));
    assert!(Format::ALL.contains(&first.format));
    // A payload that is readable as the detected format is detected as that in any order of fields.
    let readable =
        |bytes: &[u8]| otlp_profiles::read(bytes, &options.clone().format(format)).is_ok();
    let Ok(mut payload) = Payload::parse(file, format) else { return };
    if first.format == format && !file.starts_with(&[0x1f, 0x8b]) && readable(file) {
        payload.rearrange(&mut Random::new(file.len() as u64));
        let again = payload.encode();
        let found = otlp_profiles::detect(&again, &options);
        assert_eq!(found.map(|found| found.format).ok(), Some(format), "{again:x?}");
    }
}

/// A page gives the messages that it was made of, and a broken page an error.
pub fn page(input: &[u8]) {
    let options = ReadOptions::default().limits(Limits::network().max_owned_bytes(64 << 20));
    let Some((byte, rest)) = input.split_first() else { return };
    let broken = [PAGE_START.as_bytes(), rest].concat();
    let pages = [broken, format!("{PAGE_START}<p>{}", page_script("id=\"a\"", rest)).into_bytes()];
    for page in pages {
        if let Ok(reader) = Reader::new(&page[..], &options) {
            reader.for_each(drop);
        }
    }
    if let (Some((format, file)), 0) = (parts(input), byte & 64) {
        let gzip = deflate(file, Level::FAST);
        let page = format!("{PAGE_START}<title>a</title>{}", page_script("", &gzip));
        let of = |bytes: &[u8]| {
            let reading = otlp_profiles::read(bytes, &options.clone().format(format));
            reading.map(|reading| reading.profiles).map_err(|error| error.kind())
        };
        if of(&gzip).is_ok() {
            assert_eq!(of(page.as_bytes()), of(&gzip), "the page has the message");
        }
    }
}
