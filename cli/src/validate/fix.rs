//! `validate --fix`: fixes files and lists the changes.
//!
//! The library fixes bytes in memory and checks the result again; this module writes it. Without
//! `-o`, a changed file is replaced in place through a temporary file. An unchanged file is not
//! written.

use std::path::Path;

use otlp_profiles::check::Options;
use otlp_profiles::check::fix;
use otlp_profiles::check::output::Checked;

use super::{Args, unread};
use crate::exit::Failure;
use crate::input::{Input, Inputs};
use crate::output;

/// Returns an error if the arguments conflict. It runs before any file is read.
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

/// Whether the input is a pipe or a device. stdin has no path; `misuse` has another message for it.
fn is_stream(input: &Input) -> bool {
    input.path.as_deref().is_some_and(output::is_stream)
}

/// Fixes a file and writes the result: to the output, or in place if it changed.
///
/// A file that was checked but could not be written counts as unread.
pub(super) fn file(input: &Input, bytes: &[u8], options: &Options, args: &Args) -> Checked {
    let name = input.name();
    let fixed = fix(bytes, options);
    let is_cut = bytes.len() as u64 > options.limits.max_input_bytes;
    let written = match (&args.output, input.path.as_deref()) {
        // The file exceeds the limit and was read only in part. The report has the limit.
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
