//! Compression, detection and pages.

use std::io::Read;

use otlp_profiles::check::{self, Options};
use otlp_profiles::compression::{Level, deflate, inflate};
use otlp_profiles::fuzzing::{Payload, Random};
use otlp_profiles::stream::{PAGE_START, page_script};
use otlp_profiles::{Certainty, Format, Limits, ReadOptions, Reader, Severity, read};

use crate::{is_bare, parts};

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

/// Detection is deterministic. It depends neither on the order of fields nor, in a payload without warnings, on the packing
/// of lists. The order decides only how much of a damaged payload can be read.
pub fn detect(input: &[u8]) {
    let Some((format, file)) = parts(input) else { return };
    let options = ReadOptions::default();
    let Ok(first) = otlp_profiles::detect(file, &options) else { return };
    let second = otlp_profiles::detect(file, &options).expect("the same bytes are detected again");
    assert_eq!(first.format, second.format);
    assert_eq!((&first.certainty, &first.evidence), (&second.certainty, &second.evidence));
    assert!(Format::ALL.contains(&first.format));
    let Ok(mut payload) = Payload::parse(file, format) else { return };
    let is_damaged = first.certainty == Certainty::Nearest;
    let options = options.format(format);
    if first.format != format || is_damaged || !is_bare(file) || read(file, &options).is_err() {
        return;
    }
    let detected = |payload: &Payload| {
        let found = otlp_profiles::detect(&payload.encode(), &ReadOptions::default());
        found.map(|found| found.format).ok()
    };
    let random = &mut Random::new(file.len() as u64);
    payload.reorder(random);
    assert_eq!(detected(&payload), Some(format), "{:x?}", payload.encode());
    let report = check::validate(file, &Options::default().format(format));
    if report.worst().is_none_or(|worst| worst == Severity::Info) {
        payload.rearrange(random);
        assert_eq!(detected(&payload), Some(format), "{:x?}", payload.encode());
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
