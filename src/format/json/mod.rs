//! OTLP/JSON: the messages of OTLP with names instead of numbers.
//!
//! JSON and protobuf represent the same messages, so OTLP/JSON needs no separate reader and writer of
//! profiles. Two small translators between JSON and protobuf, based on the [schema](crate::schema), run
//! before the reader and after the writer of [`otlp`](super::otlp).
//!
//! ```text
//! JSON ─► read ─► bytes of the generation its names fit ─► otlp::read ─► Profiles
//! JSON ◄─ write ◄─ bytes of the newest generation ◄─ otlp::write ◄─ Profiles
//! ```

pub(crate) mod deviation;
mod envelope;
pub(crate) mod fit;
pub(crate) mod lexer;
pub(crate) mod names;
pub(crate) mod object;
mod read;
pub(crate) mod scalars;
pub(crate) mod tree;
mod write;

use crate::error::{Error, ErrorKind, Result};
use crate::format::json::deviation::Deviation;
use crate::format::json::fit::{Generation, Misfits, generations};
use crate::format::json::lexer::Lexer;
use crate::format::json::object::pick;
use crate::format::json::read::Transcoder;
use crate::format::{Codec, Encoding, Format, Read};
use crate::limits::{Limits, within};
use crate::losses::Losses;
use crate::model::Profiles;
use crate::read_context::ReadContext;
use crate::schema::{EXPORT_PROFILES_SERVICE_RESPONSE, PROFILES_DATA, Version};
use crate::write_options::WriteOptions;

/// OTLP/JSON.
///
/// The writer follows the OTLP specification, with the names of the newest generation. The reader accepts
/// more: the names of older generations and of the proto (`stack_index`), numbers as strings and strings'
/// numbers, names of enum values, and every base64 alphabet.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// use otlp_profiles::{Format, ReadOptions, read, write};
///
/// let options = |format: Format| ReadOptions::default().format(format);
/// let json = |profiles| write(profiles, Format::OTLP_JSON, &Default::default());
///
/// let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let profiles = read(&bytes, &options(Format::PPROF))?.profiles;
/// let text = json(&profiles)?.payload;
/// assert!(text.starts_with(br#"{"resourceProfiles":[{"#));
///
/// let again = read(&text, &options(Format::OTLP_JSON))?.profiles;
/// assert_eq!(json(&again)?.payload, text);
/// # Ok(()) }
/// ```
pub(crate) static OTLP_JSON: Codec = Codec {
    name: "otlp-json",
    aliases: &["json"],
    about: "OTLP/JSON: writes the current generation, reads all of them",
    extensions: &["json"],
    gzip_on_disk: false,
    deprecated: None,
    encoding: Encoding::OtlpJson,
    read: Some(Read::Bytes(read_text)),
    write: Some(write_text),
    options: &["profile-id"],
};

/// Transcodes the text to protobuf and reads that. Errors of the reader get their position in the text.
fn read_text(payload: &[u8], cx: &mut ReadContext) -> Result<Profiles> {
    let text = Lexer::new(payload)?;
    let ((format, version), mut read) = transcode(&text, cx)?;
    let newest = version == newest()?.1;
    if !newest {
        cx.evidence.push(format!("it was read with the field names of {}", version.name()));
    }
    cx.budget.charge::<u8>(read.out.capacity())?;
    cx.findings.append(&mut read.cx.findings);
    let profiles = format.read(&read.out, cx);
    profiles.map_err(|error| {
        let again = ReadContext::new(*cx.limits(), cx.policy, payload.len());
        let again = Transcoder::new(&text, version, again);
        named(translated(error, &read.out, again), version, newest)
    })
}

/// Transcodes a text to protobuf, and returns the format of its generation. Calls `on_deviation` for each deviation
/// from OTLP/JSON.
///
/// A text with deviations is transcoded twice, because its generation must be known to report them.
pub(crate) fn to_bytes(
    payload: &[u8],
    cx: &ReadContext,
    on_deviation: &mut dyn FnMut(Deviation<'_>),
) -> Result<(Format, Vec<u8>)> {
    let text = Lexer::new(payload)?;
    let ((format, version), read) = transcode(&text, cx)?;
    if read.has_deviation {
        let again = ReadContext::new(*cx.limits(), cx.policy, payload.len());
        let mut again = Transcoder::new(&text, version, again);
        again.on_deviation = Some(on_deviation);
        again.run(&PROFILES_DATA)?;
    }
    Ok((format, read.out))
}

/// Returns whether a text is the response of a receiver: it has the field of a response, and no field of a
/// payload.
///
/// Returns `false` for invalid JSON.
pub(crate) fn is_response(payload: &[u8], limits: &Limits) -> bool {
    let keys = ["partialSuccess", "partial_success", "resourceProfiles", "resource_profiles"];
    let found = Lexer::new(payload).and_then(|mut text| pick(&mut text, keys, limits.max_nesting));
    found.is_ok_and(|[answer, original, profiles, others]| {
        (answer.is_some() || original.is_some()) && profiles.is_none() && others.is_none()
    })
}

/// Explains why a text that resembles OTLP/JSON is not one message: its profiles are deeper, or another value
/// follows.
pub(crate) fn wrapping(payload: &[u8], limits: &Limits) -> Option<Error> {
    let text = Lexer::new(payload).ok()?;
    let mut whole = text.clone();
    whole.skip(limits.max_nesting).ok()?;
    let version = newest().ok()?.1;
    whole.end().err().or_else(|| envelope::fault(&text, version, limits.max_nesting))
}

/// Transcodes the response of a receiver to protobuf. Calls `on_deviation` for each deviation from OTLP/JSON.
pub(crate) fn response_to_bytes(
    payload: &[u8],
    cx: ReadContext,
    on_deviation: &mut dyn FnMut(Deviation<'_>),
) -> Result<Vec<u8>> {
    let mut read = Transcoder::new(&Lexer::new(payload)?, newest()?.1, cx);
    read.on_deviation = Some(on_deviation);
    read.run(&EXPORT_PROFILES_SERVICE_RESPONSE)?;
    Ok(read.out)
}

/// Transcodes a text to protobuf of the generation whose names it has.
fn transcode<'a>(text: &Lexer<'a>, cx: &ReadContext) -> Result<(Generation, Transcoder<'a>)> {
    let limits = *cx.limits();
    let transcoder = |version: Version| {
        let cx = ReadContext::new(limits, cx.policy, text.rest().len());
        Transcoder::new(text, version, cx)
    };
    let newest = newest()?;
    let (mut format, mut version) = newest;
    let mut read = transcoder(version);
    let mut done = read.run(&PROFILES_DATA);
    if done.is_err() || !read.cx.findings.is_empty() {
        if let Some(error) = envelope::fault(text, version, limits.max_nesting) {
            return Err(error);
        }
        (format, version) = best(text, newest, &limits)?;
        if version != newest.1 {
            read = transcoder(version);
            done = read.run(&PROFILES_DATA);
        }
    }
    done.map_err(|error| named(error, version, version == newest.1))?;
    // The model has positions of 32 bits, and protobuf may be longer than the text.
    let most = u64::from(u32::MAX - 16);
    within("max_input_bytes", most, read.out.len() as u64)?;
    Ok(((format, version), read))
}

/// Adds the name of an older generation to an error, because the format does not name it.
fn named(error: Error, version: Version, newest: bool) -> Error {
    match newest {
        true => error,
        false => {
            error.explained(&format!("; the payload has the field names of {}", version.name()))
        }
    }
}

/// Writes the newest generation as protobuf, and translates that to JSON.
fn write_text(
    profiles: &Profiles,
    options: &WriteOptions,
    losses: &mut Losses,
    mut spare: Vec<u8>,
) -> Result<Vec<Vec<u8>>> {
    let (format, version) = newest()?;
    let payloads = format.write(profiles, options, losses, Vec::new())?;
    let json = |payload: Vec<u8>| {
        let out = std::mem::take(&mut spare);
        write::json(&payload, version, options.max_output_bytes, out)
    };
    payloads.into_iter().map(json).collect()
}

/// Returns the generation whose names the writer uses.
fn newest() -> Result<Generation> {
    let none = || Error::new(ErrorKind::Unrecognised, "no generation of OTLP is known");
    generations().next().ok_or_else(none)
}

/// Returns the generation whose names fit best. Of several, the newest: equal names mean the same in all of
/// them.
fn best(text: &Lexer, newest: Generation, limits: &Limits) -> Result<Generation> {
    let mut best = newest;
    let mut fewest = u64::MAX;
    for generation in generations() {
        let misfits = Misfits::of(text, generation.1, limits.max_nesting)?;
        if misfits < fewest {
            (best, fewest) = (generation, misfits);
        }
        if fewest == 0 {
            break;
        }
    }
    Ok(best)
}

/// Converts an error with a position in the protobuf bytes to one with a position in the text.
#[cold]
fn translated(error: Error, bytes: &[u8], again: Transcoder) -> Error {
    let error = error.located(bytes);
    match error.byte().and_then(|byte| usize::try_from(byte).ok()) {
        Some(offset) => error.at(again.text_of(&PROFILES_DATA, offset)),
        None => error,
    }
}
