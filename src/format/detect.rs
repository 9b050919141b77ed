//! Which format some bytes are.

use crate::error::{Error, ErrorKind, Result};
use crate::format::{Format, format};

/// Which format a payload is, how sure that is, and why.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Detected {
    /// The format it is read as.
    pub format: &'static dyn Format,
    /// How sure that is.
    pub certainty: Certainty,
    /// Why, in words.
    pub evidence: Vec<String>,
}

/// How sure a detection is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Certainty {
    /// No other format has this shape.
    Certain,
    /// Others read it to the same profiles.
    Equivalent(Vec<&'static str>),
    /// Others read it to something else; this reading is the likely one.
    Preferred(Vec<&'static str>),
    /// Others read it to something else, as likely.
    Ambiguous(Vec<&'static str>),
}

impl std::fmt::Display for Certainty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Certain => f.write_str("certain"),
            Self::Equivalent(others) => write!(f, "the same as {}", others.join(", ")),
            Self::Preferred(others) => write!(f, "preferred to {}", others.join(", ")),
            Self::Ambiguous(others) => write!(f, "ambiguous with {}", others.join(", ")),
        }
    }
}

/// Which format an inflated, unframed payload is.
pub(crate) fn detect_payload(payload: &[u8], hint: Option<&'static dyn Format>) -> Result<Detected> {
    let guess = hint.or_else(|| format(if payload.first() == Some(&0x0a) { "pprof" } else { "otlp-1.10" }));
    let format = guess.ok_or_else(|| Error::new(ErrorKind::Unrecognised, "nothing fits"))?;
    Ok(Detected { format, certainty: Certainty::Certain, evidence: Vec::new() })
}
