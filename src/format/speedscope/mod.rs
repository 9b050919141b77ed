//! speedscope's files: frames, and profiles as lists of stacks or as events that open and close frames.
//!
//! ```text
//! {"shared": {"frames": [{"name": "main", "file": "a.py", "line": 3}]},
//!  "profiles": [{"type": "sampled", "unit": "seconds", "samples": [[0]], "weights": [0.01]},
//!               {"type": "evented", "unit": "none", "events": [{"type": "O", "frame": 0, "at": 1}]}]}
//! ```
//!
//! speedscope's `file-format-spec` defines the format. A value has one of six units and no name, so the unit
//! determines the sample type ([`UNITS`]) unless the caller provides it, or the file was written here ([`SAMPLE_TYPE`]).

mod read;
mod write;

use crate::error::{Error, ErrorKind, Result};
use crate::format::{Codec, Encoding, Read};
use crate::units;

/// speedscope's files as a format.
///
/// ```
/// use otlp_profiles::{Format, WriteOptions, read, write};
///
/// let bytes = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let profiles = read(&bytes, &Default::default())?.profiles;
/// let file = write(&profiles, Format::SPEEDSCOPE, &WriteOptions::default())?.payload;
///
/// let again = read(&file, &Default::default())?.profiles;
/// let sums: Vec<i128> = again.iter().flat_map(|profile| profile.sums()).collect();
/// assert_eq!(sums, [163, 1_630_000_000]);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub(crate) static SPEEDSCOPE: Codec = Codec {
    name: "speedscope",
    aliases: &[],
    about: "files of speedscope.app, a flame graph viewer in the browser",
    extensions: &["speedscope.json", "speedscope"],
    gzip_on_disk: false,
    deprecated: None,
    encoding: Encoding::Own { json: true },
    read: Some(Read::Bytes(read::read)),
    write: Some(write::write),
    options: &["type", "by"],
};

/// The attribute with the name of a profile.
///
/// Tools put the thread into it. The writer writes it as the name again.
const PROFILE_NAME: &str = "speedscope.profile.name";

/// The key of the sample type of a profile, which speedscope ignores. Without it, the unit determines the type.
const SAMPLE_TYPE: &str = "sampleType";

/// A unit of speedscope: its name, the sample type, its unit in the model, and the factor to that unit.
type Unit = (&'static str, &'static str, &'static str, i64);

/// speedscope's units. The first one is the default.
///
/// The writer converts other spellings (`ns`, `By`) to these. Any other unit becomes `none`, with a loss.
const UNITS: [Unit; 6] = [
    ("none", "samples", "count", 1),
    ("nanoseconds", "wall", "nanoseconds", 1),
    ("microseconds", "wall", "nanoseconds", 1_000),
    ("milliseconds", "wall", "nanoseconds", 1_000_000),
    ("seconds", "wall", "nanoseconds", 1_000_000_000),
    ("bytes", "space", "bytes", 1),
];

/// Returns the factor from the file's unit to a unit of the caller.
///
/// A unit that speedscope lacks counts as another name of the file's unit.
///
/// # Errors
///
/// The unit measures another quantity, or is coarser than the file's: most values would be rounded to 0.
fn scale(measure: &Unit, given: &str) -> Result<i64> {
    let (unit, _, kind, factor) = *measure;
    let wanted = units::Unit::of(given);
    let wanted = wanted.filter(|unit| unit.dimension() != units::Dimension::Count);
    let Some(wanted) = wanted else { return Ok(1) };
    match units::Unit::of(kind).and_then(|kind| kind.per(wanted)) {
        Some((_, one)) if i128::from(factor) % one == 0 => Ok(factor / one as i64),
        _ => Err(Error::new(
            ErrorKind::InvalidOption,
            format!("values in {unit} cannot be converted to {given}, the unit in sample_types"),
        )),
    }
}

/// Parses the id and the name of a thread in py-spy's name of a profile: `Thread 27472 "t-cpu"`.
fn thread_in(name: &str) -> Option<(i64, &str)> {
    let (id, rest) = name.strip_prefix("Thread ")?.split_once(' ')?;
    Some((id.parse().ok()?, rest.trim_matches('"')))
}
