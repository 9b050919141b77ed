//! Names of formats, and the lookup of formats by name and by file extension.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;

impl Format {
    /// Returns the format of a file by its extension, ignoring `.gz` and `.zst`. For OTLP it is the newest
    /// generation. The longest matching extension wins: `x.otlp.json` is JSON.
    ///
    /// ```
    /// use otlp_profiles::Format;
    ///
    /// assert_eq!(Format::of_path("cpu.otlp.gz".as_ref()), Some(Format::OTLP));
    /// assert_eq!(Format::of_path("notes.txt".as_ref()), None);
    /// ```
    pub fn of_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let packed = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end));
        let name = packed.unwrap_or(&name);
        let meant = |format: &Self| {
            let extensions = format.extensions().iter();
            let fitting = extensions.filter(|extension| has_extension(name, extension));
            fitting.map(|extension| extension.len()).max()
        };
        let longest = Self::ALL.iter().filter_map(meant).max()?;
        Self::ALL.iter().copied().find(|format| meant(format) == Some(longest))
    }

    fn has_name(self, name: &str) -> bool {
        let generation = self.name().strip_prefix("otlp-").filter(|_| self.schema().is_some());
        self.name() == name || generation == Some(name) || self.aliases().contains(&name)
    }
}

/// Returns whether `name` has a stem before `.extension`.
fn has_extension(name: &str, extension: &str) -> bool {
    let stem = name.strip_suffix(extension).and_then(|name| name.strip_suffix('.'));
    stem.is_some_and(|stem| !stem.is_empty())
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Format({})", self.name())
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Format {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Parses a name or an alias; for a generation of OTLP, also its number alone.
impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.iter().copied().find(|format| format.has_name(name));
        found.ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|format| format.name()).collect();
            let message = format!("unknown format {name:?}; the formats are {}", names.join(", "));
            Error::new(ErrorKind::Unrecognised, message)
        })
    }
}
