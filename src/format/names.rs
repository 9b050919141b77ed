//! What a format is called, and how its name is understood.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;

impl Format {
    fn has_name(self, name: &str) -> bool {
        let generation = self.name().strip_prefix("otlp-").filter(|_| self.schema().is_some());
        self.name() == name || generation == Some(name) || self.aliases().contains(&name)
    }
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

/// By name or alias; a generation of OTLP also by its number alone.
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
