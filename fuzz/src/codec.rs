//! Readers and writers, alone and against prost.

use std::fmt::Debug;

use otlp_profiles::model::{Function, Mapping, SampleRef};
use otlp_profiles::proto::prost::{DecodeError, Message};
use otlp_profiles::proto::{pprof, v1_3, v1_4, v1_5, v1_6, v1_7, v1_8, v1_9, v1_10};
use otlp_profiles::{
    Format, Limits, Policy, Profiles, ReadOptions, Reader, WriteOptions, write, write_all,
};

use crate::{is_bare, options, parts};

/// No reader panics on any input, with either policy.
pub fn read(input: &[u8]) {
    let Some((format, file)) = parts(input) else { return };
    for policy in [Policy::Refuse, Policy::Repair] {
        if let Ok(reader) = Reader::new(file, &options(format).policy(policy)) {
            reader.for_each(drop);
        }
    }
}

/// Every writer accepts or rejects any readable profile, and its output is readable. speedscope has times in seconds or
/// milliseconds, which may exceed 64 bits in nanoseconds.
pub fn convert(input: &[u8]) {
    let Some((from, file)) = parts(input) else { return };
    let options = ReadOptions::default().policy(Policy::Repair).format(from);
    let Ok(reading) = otlp_profiles::read(file, &options) else { return };
    for &format in Format::ALL.iter().filter(|format| format.can_read()) {
        let Ok((payloads, _)) = write_all(&reading.profiles, format, &WriteOptions::default())
        else {
            continue;
        };
        let options = ReadOptions::default().format(format).limits(Limits::unlimited());
        for payload in &payloads {
            if let Err(error) = otlp_profiles::read(payload, &options) {
                let is_long = error.message().ends_with("overflows 64 bits");
                assert!(format == Format::SPEEDSCOPE && is_long, "{format}: {error}");
            }
        }
    }
}

/// Reading and writing a payload twice gives the same bytes.
pub fn roundtrip(input: &[u8]) {
    let Some((format, file)) = parts(input) else { return };
    let options = ReadOptions::default().format(format);
    let again = |bytes: &[u8]| {
        let profiles = otlp_profiles::read(bytes, &options).ok()?.profiles;
        Some(write(&profiles, format, &WriteOptions::default()).ok()?.payload)
    };
    // The first pass puts the tables in order, the second the strings.
    let Some(first) = again(file) else { return };
    let second = again(&first).expect("the output is readable and writable");
    assert_eq!(again(&second).as_ref(), Some(&second));
}

fn again<M: Message + Default>(bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    M::decode(bytes).map(|message| message.encode_to_vec())
}

type Prost = (Format, fn(&[u8]) -> Result<Vec<u8>, DecodeError>);
const PROST: [Prost; 9] = [
    (Format::PPROF, again::<pprof::Profile>),
    (Format::OTLP_1_3, again::<v1_3::ProfilesData>),
    (Format::OTLP_1_4, again::<v1_4::ProfilesData>),
    (Format::OTLP_1_5, again::<v1_5::ProfilesData>),
    (Format::OTLP_1_6, again::<v1_6::ProfilesData>),
    (Format::OTLP_1_7, again::<v1_7::ProfilesData>),
    (Format::OTLP_1_8, again::<v1_8::ProfilesData>),
    (Format::OTLP_1_9, again::<v1_9::ProfilesData>),
    (Format::OTLP_1_10, again::<v1_10::ProfilesData>),
];

/// The data that does not depend on the order of fields, unlike attributes in place. Strings are compared by text: some were
/// overwritten. Locations are those of stacks. Columns are compared by row: they may be shorter than their table.
fn rows(profiles: &Profiles) -> impl PartialEq + Debug {
    let dictionary = profiles.dictionary();
    let text = |id| dictionary.text(id).to_owned();
    let (locations, mappings) = (dictionary.locations(), dictionary.mappings());
    let mapping =
        |row: Mapping| (row.memory_start, row.memory_limit, row.file_offset, text(row.filename));
    let location = |id| {
        let of = locations.mapping(id);
        let binary = (of, mapping(mappings.get(of)), mappings.attributes(of).to_vec());
        let lines = locations.lines(id).to_vec();
        (id, binary, locations.address(id), lines, locations.attributes(id).to_vec())
    };
    let function = |row: &Function| {
        (text(row.name), text(row.system_name), text(row.filename), row.start_line)
    };
    let samples = profiles.iter().map(|profile| {
        let samples = profile.samples().iter();
        let sample = |it: SampleRef<'_>| {
            let lists =
                (it.attributes.to_vec(), it.values.to_vec(), it.timestamps_unix_nano.to_vec());
            (it.stack, it.link, lists, text(it.stacktrace_id))
        };
        samples.map(sample).collect::<Vec<_>>()
    });
    let stacks = dictionary.stacks().rows();
    (
        samples.collect::<Vec<_>>(),
        stacks.map(|row| row.iter().copied().map(location).collect()).collect::<Vec<Vec<_>>>(),
        (locations.len(), mappings.rows().iter().copied().map(mapping).collect::<Vec<_>>()),
        dictionary.functions().iter().map(function).collect::<Vec<_>>(),
        dictionary.links().to_vec(),
    )
}

/// Prost decodes every payload that we read, to equal profiles; and it decodes our output and encodes it to the same bytes.
/// The exceptions are those of SECURITY.md: more than 100 levels (D2), and pprof with invalid UTF-8 (D3).
pub fn diff_prost(input: &[u8]) {
    let Some((format, file)) = parts(input) else { return };
    let Some((_, prost)) = PROST.iter().find(|(of, _)| *of == format) else { return };
    // Prost reads neither frames nor gzip.
    if !is_bare(file) {
        return;
    }
    let options = ReadOptions::default().format(format);
    let Ok(reading) = otlp_profiles::read(file, &options) else { return };
    let Ok(written) = write(&reading.profiles, format, &WriteOptions::default()) else { return };
    if reading.profiles.dictionary().strings().not_utf8().len() > 0 {
        return;
    }
    let plain = match prost(file) {
        Ok(plain) => plain,
        Err(error) if error.to_string().ends_with("recursion limit reached") => return,
        // Unreferenced strings are not read, so they may be invalid UTF-8.
        Err(error) if format == Format::PPROF && error.to_string().contains("UTF-8") => return,
        Err(error) => panic!("prost must decode what we read: {error}"),
    };
    let again = otlp_profiles::read(&plain, &options).expect("prost's output is readable");
    assert_eq!(rows(&again.profiles), rows(&reading.profiles));
    assert_eq!(prost(&written.payload).expect("prost decodes our output"), written.payload);
}
