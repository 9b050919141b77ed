//! What we write prost decodes and encodes to the same bytes; what we read prost can decode, but
//! for strings of pprof that are not UTF-8, and what it understood we read as the same.
#![no_main]

use std::fmt::Debug;

use libfuzzer_sys::fuzz_target;
use otlp_profiles::proto::prost::{DecodeError, Message};
use otlp_profiles::proto::{pprof, v1_3, v1_7, v1_8, v1_9, v1_10};
use otlp_profiles::{Profiles, ReadOptions, WriteOptions, format, read, write};

fn again<M: Message + Default>(bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    M::decode(bytes).map(|message| message.encode_to_vec())
}

type Prost = (&'static str, fn(&[u8]) -> Result<Vec<u8>, DecodeError>);
const ALL: [Prost; 6] = [
    ("pprof", again::<pprof::Profile>),
    ("otlp-1.3", again::<v1_3::ProfilesData>),
    ("otlp-1.7", again::<v1_7::ProfilesData>),
    ("otlp-1.8", again::<v1_8::ProfilesData>),
    ("otlp-1.9", again::<v1_9::ProfilesData>),
    ("otlp-1.10", again::<v1_10::ProfilesData>),
];

/// All that does not depend on the order of fields: texts and attributes that are in place do.
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
    let (name, prost) = ALL[input.0 as usize % ALL.len()];
    let options = ReadOptions { from: format(name), ..ReadOptions::default() };
    let Ok(reading) = read(input.1, &options) else {
        return;
    };
    let Ok(written) = write(&reading.profiles, format(name).unwrap(), &WriteOptions::default())
    else {
        return;
    };
    if reading.profiles.dictionary().strings().not_utf8().len() == 0 {
        let plain = prost(input.1).expect("prost decodes what we read");
        let again = read(&plain, &options).expect("we read what prost understood");
        assert_eq!(rows(&again.profiles), rows(&reading.profiles));
        assert_eq!(prost(&written.payload).expect("prost decodes what we write"), written.payload);
    }
});
