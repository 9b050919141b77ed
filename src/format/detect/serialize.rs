//! Serialises detections: `{"format": "otlp-1.10", "about": …, "certainty": "preferred", "others": ["otlp-1.9"], …}`.

use serde::{Serialize, Serializer};

use super::{Certainty, Detected};
use crate::format::Format;

/// Serialises `certainty` as one word, and the other formats as `others`.
impl Serialize for Certainty {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Members<'a> {
            certainty: &'a str,
            others: &'a [Format],
        }
        let certainty = match self {
            Self::Certain => "certain",
            Self::Equivalent(_) => "equivalent",
            Self::Preferred(_) => "preferred",
            Self::Ambiguous(_) => "ambiguous",
            Self::Nearest => "nearest",
        };
        Members { certainty, others: self.others() }.serialize(serializer)
    }
}

/// Flattens the members of the certainty, and adds `about` and `deprecated` of the format.
impl Serialize for Detected {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Members<'a> {
            format: Format,
            about: &'a str,
            deprecated: Option<&'a str>,
            #[serde(flatten)]
            certainty: &'a Certainty,
            evidence: &'a [String],
        }
        let Self { format, certainty, evidence } = self;
        let (about, deprecated) = (format.about(), format.deprecated());
        Members { format: *format, about, deprecated, certainty, evidence }.serialize(serializer)
    }
}
