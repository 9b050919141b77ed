//! What we write prost decodes and encodes to the same bytes; what we read prost can decode, but
//! for strings of pprof that are not UTF-8.
#![no_main]

use libfuzzer_sys::fuzz_target;
use otlp_profiles::proto::prost::{DecodeError, Message};
use otlp_profiles::proto::{pprof, v1_3, v1_7, v1_8, v1_9, v1_10};
use otlp_profiles::{ReadOptions, WriteOptions, format, read, write};

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

fuzz_target!(|input: (u8, &[u8])| {
    let (name, prost) = ALL[input.0 as usize % ALL.len()];
    let Ok(reading) = read(
        input.1,
        &ReadOptions {
            from: format(name),
            ..ReadOptions::default()
        },
    ) else {
        return;
    };
    let Ok(written) = write(
        &reading.profiles,
        format(name).unwrap(),
        &WriteOptions::default(),
    ) else {
        return;
    };
    if reading.profiles.dictionary().strings().not_utf8().len() == 0 {
        assert_eq!(
            prost(&written.payload).expect("prost decodes what we write"),
            written.payload
        );
    }
});
