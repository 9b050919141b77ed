//! `validate --fix`: files with what has one right answer mended, and what was done about them.
//!
//! The library mends in memory and checks the result again; here it is only decided where it goes.
//! Without `-o` a file is replaced in place, by way of a temporary file, and only if something was
//! changed: a run that finds nothing to mend touches nothing.

use std::path::Path;

use otlp_profiles::check::Options;
use otlp_profiles::check::fix;
use otlp_profiles::check::output::Checked;

use super::{Args, unread};
use crate::exit::Failure;
use crate::input::{Input, Inputs};
use crate::output;

/// Why the arguments make no sense together, if they do not.
///
/// Asked before any file is read.
pub(super) fn misuse(args: &Args, inputs: &Inputs) -> Option<&'static str> {
    match &args.output {
        Some(_) if !inputs.single => Some("--output takes one input"),
        None if args.fix && inputs.stdins() > 0 => {
            Some("stdin cannot be fixed in place: give -o OUT")
        }
        None if args.fix && inputs.all.iter().any(is_stream) => {
            Some("a pipe or a device cannot be fixed in place: give -o OUT")
        }
        _ => None,
    }
}

/// stdin has no path, so it does not count here; `misuse` has another message for it.
fn is_stream(input: &Input) -> bool {
    input.path.as_deref().is_some_and(output::is_stream)
}

/// Mends a file: at its place where something was done about it, or where the output shall be.
///
/// A file that could not be written is a failure, though it was checked.
pub(super) fn file(input: &Input, bytes: &[u8], options: &Options, args: &Args) -> Checked {
    let name = input.name();
    let fixed = fix(bytes, options);
    let is_cut = bytes.len() as u64 > options.limits.max_input_bytes;
    let written = match (&args.output, input.path.as_deref()) {
        // The rest of the file was not read; the report has the limit that was reached.
        _ if is_cut => Ok(()),
        (Some(output), _) if output.as_os_str() == "-" => {
            output::to_stdout(&fixed.bytes, args.force).map(drop)
        }
        (Some(output), path) => write(output, &fixed.bytes, path, args.force),
        (None, Some(path)) if !fixed.changes.is_empty() => write(path, &fixed.bytes, None, true),
        (None, _) => Ok(()),
    };
    match written {
        Ok(()) => Checked::new(name, fixed.report).fixed(fixed.changes, fixed.not_fixed),
        Err(failure) => unread(name, &failure),
    }
}

fn write(path: &Path, bytes: &[u8], input: Option<&Path>, force: bool) -> Result<(), Failure> {
    output::to_files(&[(path.to_owned(), bytes.to_vec())], input, force, output::Sync::Now)
        .map(drop)
}
