//! Compares the codec with prost. prost must decode our output and encode it to the same bytes. It must decode
//! every payload that we read, except pprof with invalid UTF-8, and the profiles must be equal.
#![no_main]

use std::fmt::Debug;

use libfuzzer_sys::fuzz_target;
use otlp_profiles::framing::{Framing, messages};
use otlp_profiles::proto::prost::{DecodeError, Message};
use otlp_profiles::proto::{pprof, v1_3, v1_7, v1_8, v1_9, v1_10};
use otlp_profiles::{Format, Limits, Profiles, ReadOptions, WriteOptions, read, write};
use otlp_profiles_fuzz::format as selected;

fn again<M: Message + Default>(bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    M::decode(bytes).map(|message| message.encode_to_vec())
}

type Prost = (Format, fn(&[u8]) -> Result<Vec<u8>, DecodeError>);
const ALL: [Prost; 6] = [
    (Format::PPROF, again::<pprof::Profile>),
    (Format::OTLP_1_3, again::<v1_3::ProfilesData>),
    (Format::OTLP_1_7, again::<v1_7::ProfilesData>),
    (Format::OTLP_1_8, again::<v1_8::ProfilesData>),
    (Format::OTLP_1_9, again::<v1_9::ProfilesData>),
    (Format::OTLP_1_10, again::<v1_10::ProfilesData>),
];

/// The data that does not depend on the order of fields, unlike strings and attributes in place.
fn rows(profiles: &Profiles) -> impl PartialEq + Debug {
    let dictionary = profiles.dictionary();
    (
        profiles.iter().map(|p| p.samples()).collect::<Vec<_>>(),
        dictionary.stacks(),
        dictionary.locations(),
        dictionary.functions(),
        dictionary.mappings(),
        dictionary.links(),
    )
}

fuzz_target!(|input: (u8, &[u8])| {
    let Some(&(format, prost)) = ALL.iter().find(|(format, _)| *format == selected(input.0)) else {
        return;
    };
    // prost reads neither frames nor gzip.
    let bare =
        |bytes| messages(bytes, &Limits::network()).is_ok_and(|m| m.framing() == Framing::None);
    if !bare(input.1) || input.1.starts_with(b"\x1f\x8b") {
        return;
    }
    let options = ReadOptions::default().format(format);
    let Ok(reading) = read(input.1, &options) else {
        return;
    };
    let Ok(written) = write(&reading.profiles, format, &WriteOptions::default()) else {
        return;
    };
    if reading.profiles.dictionary().strings().not_utf8().len() == 0 {
        let plain = match prost(input.1) {
            Ok(plain) => plain,
            // Unreferenced strings are not read, so they may be invalid UTF-8.
            Err(error) if format == Format::PPROF && error.to_string().contains("UTF-8") => return,
            Err(error) => panic!("prost must decode what we read: {error}"),
        };
        let again = read(&plain, &options).expect("prost's output is readable");
        assert_eq!(rows(&again.profiles), rows(&reading.profiles));
        assert_eq!(prost(&written.payload).expect("prost decodes our output"), written.payload);
    }
});
