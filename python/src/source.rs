//! Arguments that name profiles: bytes, a path, or profiles that were read before.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use otlp_profiles::columns::hash_of;
use otlp_profiles::{Limits, read};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyMemoryView, PyString};

use crate::content::Content;
use crate::error::Failure;
use crate::options::Options;
use crate::profiles::Profiles;

/// What to read.
pub(crate) enum Source {
    Bytes(PyBackedBytes),
    Path(PathBuf),
    Profiles(Arc<Content>),
}

impl FromPyObject<'_, '_> for Source {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if let Ok(profiles) = object.cast::<Profiles>() {
            return Ok(Self::Profiles(profiles.get().0.clone()));
        }
        if object.is_instance_of::<PyBytes>() {
            return Ok(Self::Bytes(object.extract()?));
        }
        if object.is_instance_of::<PyString>() || object.hasattr("__fspath__")? {
            return Ok(Self::Path(object.extract()?));
        }
        // Other threads may change the memory behind other objects while the GIL is released, so it is copied.
        if let Ok(view) = PyMemoryView::from(&object) {
            return Ok(Self::Bytes(view.call_method0("tobytes")?.extract()?));
        }
        let name = object.get_type().name()?;
        if !object.hasattr("read")? {
            let message =
                format!("expected bytes-like, a path, a binary file or Profiles, not {name}");
            return Err(PyTypeError::new_err(message));
        }
        let text = |_| {
            PyTypeError::new_err(format!(
                "read() of {name} returns no bytes: open files with \"rb\""
            ))
        };
        object.call_method0("read")?.extract().map(Self::Bytes).map_err(text)
    }
}

impl Source {
    /// Reads the only message.
    pub(crate) fn load(&self, options: &Options) -> Result<Arc<Content>, Failure> {
        match self {
            Self::Profiles(content) => Ok(content.clone()),
            Self::Bytes(bytes) => content(bytes, options, None),
            Self::Path(path) => content(&file(path, &options.limits(true))?, options, Some(path)),
        }
    }

    /// Returns the bytes of the input, and their limits.
    pub(crate) fn bytes(&self, options: &Options) -> Result<(Cow<'_, [u8]>, Limits), Failure> {
        let limits = options.limits(matches!(self, Self::Path(_)));
        let bytes = match self {
            Self::Bytes(bytes) => Cow::Borrowed(&bytes[..]),
            Self::Path(path) => Cow::Owned(file(path, &limits)?),
            Self::Profiles(content) => {
                let otlp = otlp_profiles::Format::OTLP;
                Cow::Owned(content.write(otlp, None, false, &options.write())?.payload)
            }
        };
        Ok((bytes, limits))
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        if let Self::Path(path) = self { Some(path) } else { None }
    }

    /// Names the file in an error of the library.
    pub(crate) fn failure(&self, error: otlp_profiles::Error) -> Failure {
        Failure::Library(error, self.path().map(Path::to_owned))
    }
}

fn content(bytes: &[u8], options: &Options, path: Option<&Path>) -> Result<Arc<Content>, Failure> {
    let reading = read(bytes, &options.read(path.is_some()));
    let reading = reading.map_err(|error| Failure::Library(error, path.map(Path::to_owned)))?;
    // A hash of bytes in memory cannot fail.
    Ok(Content::new(reading, path, hash_of(bytes).ok()))
}

/// Reads a file, and one byte past the limit at most, so that the library reports the limit.
fn file(path: &Path, limits: &Limits) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = open(path)?.take(limits.max_input_bytes.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| Failure::Io(error, path.to_owned()))?;
    Ok(bytes)
}

pub(crate) fn open(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(|error: io::Error| Failure::Io(error, path.to_owned()))
}
