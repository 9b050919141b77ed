//! speedscope's files: frames, and profiles as lists of stacks or as events that open and close them.
//!
//! ```text
//! {"shared": {"frames": [{"name": "main", "file": "a.py", "line": 3}]},
//!  "profiles": [{"type": "sampled", "unit": "seconds", "samples": [[0]], "weights": [0.01]},
//!               {"type": "evented", "unit": "none", "events": [{"type": "O", "frame": 0, "at": 1}]}]}
//! ```
//!
//! The form is that of speedscope's `file-format-spec`. A value has one of six units and no name,
//! so what is measured follows from the unit ([`UNITS`]) unless the caller says it.

mod read;
mod write;

use crate::error::{Error, ErrorKind, Result};
use crate::format::{Codec, Encoding, Read};

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

/// What a profile is called, as an attribute of it.
///
/// Kept, as tools put the thread there; it is written back as the name.
const PROFILE_NAME: &str = "speedscope.profile.name";

/// A unit of speedscope's: its name, what it measures, our unit, and how many of ours are one of it.
type Unit = (&'static str, &'static str, &'static str, i64);

/// speedscope's units; the first is that of what is none.
///
/// When writing, units of other spellings (`ns`, `By`) are brought to these; what is none of them
/// is `none`, with a loss.
const UNITS: [Unit; 6] = [
    ("none", "samples", "count", 1),
    ("nanoseconds", "wall", "nanoseconds", 1),
    ("microseconds", "wall", "nanoseconds", 1_000),
    ("milliseconds", "wall", "nanoseconds", 1_000_000),
    ("seconds", "wall", "nanoseconds", 1_000_000_000),
    ("bytes", "space", "bytes", 1),
];

/// How many of a unit that the caller named are one of the file's.
///
/// A unit that speedscope does not have is the caller's word for the file's own.
///
/// # Errors
///
/// One that measures something else, or is coarser: most values would be rounded away.
fn scale(measure: &Unit, given: &str) -> Result<i64> {
    let &(unit, _, kind, nanos) = measure;
    match UNITS.iter().find(|(theirs, ..)| *theirs == given) {
        None => Ok(1),
        Some((.., other, one)) if *other == kind && *one <= nanos => Ok(nanos / one),
        Some(_) => Err(Error::new(
            ErrorKind::InvalidOption,
            format!("values in {unit} cannot be converted to {given}, the unit in sample_types"),
        )),
    }
}

/// The number and the name of a thread in py-spy's name of a profile: `Thread 27472 "t-cpu"`.
fn thread_in(name: &str) -> Option<(i64, &str)> {
    let (id, rest) = name.strip_prefix("Thread ")?.split_once(' ')?;
    Some((id.parse().ok()?, rest.trim_matches('"')))
}
