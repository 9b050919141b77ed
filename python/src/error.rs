//! Failures, and the Python exceptions that they become.

use std::io;
use std::path::PathBuf;

use otlp_profiles::losses::Loss;
use otlp_profiles::{Error, ReadFinding};
use pyo3::exceptions::{PyFileExistsError, PyOSError};
use pyo3::prelude::*;

use crate::records::record;

/// A failure outside Python, where no exception can be created.
pub(crate) enum Failure {
    /// The library failed, on the file if there is one.
    Library(Error, Option<PathBuf>),
    /// A file cannot be read.
    Io(io::Error, PathBuf),
    /// `deny_loss` refused these losses and repairs.
    Denied(Vec<Loss>, Vec<ReadFinding>),
    /// The sources were exported before; this is one of the files.
    Exported(PathBuf),
    /// Rows do not fit into a table.
    Table(String),
    /// A regular expression of frames to drop that profiles declare is wrong.
    Frames(String),
    /// The sample types that there are instead of those that were asked for.
    Types(Vec<String>),
    /// No format holds the profiles without loss.
    Unpicklable,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(error, None)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Library(error, path) => library(&error, path),
            Failure::Io(error, path) => match error.raw_os_error() {
                // `OSError` turns the number into its subclass, such as `FileNotFoundError`.
                Some(number) => PyOSError::new_err((number, reason(&error), path.into_os_string())),
                None => PyOSError::new_err(format!("{}: {error}", path.display())),
            },
            Failure::Denied(losses, findings) => denied(&losses, &findings),
            Failure::Exported(path) => {
                let message = "these sources were exported before: force=True replaces the files";
                // EEXIST of all systems.
                PyFileExistsError::new_err((17, message, path.into_os_string()))
            }
            Failure::Table(message) => raise(message, "limit", "", None, None),
            Failure::Frames(reason) => {
                let message = format!("{reason} (all_frames=True keeps them)");
                raise(message, "malformed", "", None, None)
            }
            Failure::Types(types) => {
                let message =
                    format!("no sample type has this name; there are {}", types.join(", "));
                raise(message, "invalid_option", "", None, None)
            }
            Failure::Unpicklable => {
                let message = "no format holds these profiles without loss, so they have no pickle";
                raise(message.to_owned(), "loss", "", None, None)
            }
        }
    }
}

/// The text of an error of the operating system, without the number that the library appends.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

fn library(error: &Error, path: Option<PathBuf>) -> PyErr {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref());
    if let Some(number) = source.and_then(io::Error::raw_os_error) {
        return PyOSError::new_err((number, error.to_string()));
    }
    let path = path.map_or(String::new(), |path| format!("{}: ", path.display()));
    let hint = hint(error).map_or(String::new(), |hint| format!(" ({hint})"));
    let kind = snake_case(&format!("{:?}", error.kind()));
    raise(format!("{path}{error}{hint}"), &kind, &error.place(), error.byte(), error.limit())
}

fn denied(losses: &[Loss], findings: &[ReadFinding]) -> PyErr {
    let findings = findings.iter().map(ToString::to_string);
    let texts: Vec<_> = losses.iter().map(ToString::to_string).chain(findings).collect();
    let message = format!("deny_loss refuses the losses of this conversion: {}", texts.join("; "));
    let place = losses.first().and_then(|loss| loss.first.first());
    let code = losses.first().map(|loss| loss.code.as_str());
    raise(message, "loss", place.map_or("", |place| place), None, code)
}

/// Creates an `otlp_profiles.Error`.
pub(crate) fn raise(
    message: String,
    kind: &str,
    place: &str,
    byte: Option<u64>,
    code: Option<&str>,
) -> PyErr {
    Python::attach(|py| match record(py, "Error", (message, kind, place, byte, code)) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    })
}

/// What to change in the call, in the names of the Python API.
fn hint(error: &Error) -> Option<String> {
    if let Some(limit) = error.limit() {
        return Some(format!("limits={{\"{limit}\": …}} raises it"));
    }
    let hint = error.hint()?;
    let hint = hint.replace("Policy::Repair", "repair=True");
    let hint = hint.replace("ReadOptions::format", "format=");
    Some(hint.replace("Ambiguity::Prefer", "guess=True"))
}

fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for char in name.chars() {
        if char.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(char.to_lowercase());
    }
    text
}
