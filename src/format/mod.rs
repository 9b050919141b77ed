//! Formats at the model's doors: each is two arrows, bytes to [`Profiles`] and back.

mod alike;
mod build_id;
mod columns;
pub(crate) mod detect;
mod even;
mod fingerprint;
pub(crate) mod index;
pub(crate) mod intake;
mod json;
mod known;
mod labels;
pub(crate) mod losses;
mod orphans;
pub(crate) mod otlp;
mod pprof;
mod select;
mod spread;
pub(crate) mod stacks;
mod subset;
mod temporality;
mod texts;

use crate::error::Result;
use crate::format::intake::Intake;
use crate::format::losses::Losses;
use crate::limits::Limits;
use crate::model::Profiles;
use crate::model::profile::ProfileId;

/// A format: its names, and the two arrows.
///
/// ```
/// use otlp_profiles::{FORMATS, format};
///
/// assert_eq!(format("otlp").unwrap().name(), "otlp-1.10");
/// assert!(FORMATS.iter().all(|f| format(f.name()).is_some()));
/// ```
pub trait Format: Sync {
    /// The name, as `--from` and `--to` take it: `pprof`, `otlp-1.10`.
    fn name(&self) -> &'static str;

    /// Other names it answers to.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// A line about it.
    fn about(&self) -> &'static str;

    /// File name endings that mean it, without the dot and without `.gz`.
    fn extensions(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether the format's convention is to gzip files on disk.
    fn gzip_on_disk(&self) -> bool {
        false
    }

    /// Why the format should not be written any more, if so.
    fn deprecated(&self) -> Option<&'static str> {
        None
    }

    /// The schema, where the format is a generation of OTLP.
    #[doc(hidden)]
    fn schema(&self) -> Option<&'static otlp::schema::Schema> {
        None
    }

    /// Reads one payload, neither compressed nor framed.
    #[doc(hidden)]
    fn read(&self, payload: &[u8], intake: &mut Intake) -> Result<Profiles>;

    /// Writes the profiles: one payload, or several where one cannot hold them all. The first is
    /// written into `spare`, which is empty, for its memory.
    #[doc(hidden)]
    fn write(
        &self,
        profiles: &Profiles,
        options: &WriteOptions,
        losses: &mut Losses,
        spare: Vec<u8>,
    ) -> Result<Vec<Vec<u8>>>;
}

impl std::fmt::Debug for dyn Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Format({})", self.name())
    }
}

/// Every format, the newest generation of OTLP first. All else derives from this list.
pub static FORMATS: &[&dyn Format] = &[
    &otlp::OTLP_1_10,
    &otlp::OTLP_1_9,
    &otlp::OTLP_1_8,
    &otlp::OTLP_1_7,
    &otlp::OTLP_1_6,
    &otlp::OTLP_1_5,
    &otlp::OTLP_1_4,
    &otlp::OTLP_1_3,
    &json::OtlpJson,
    &pprof::Pprof,
];

/// The format of a name or an alias.
pub fn format(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name || format.aliases().contains(&name))
}

/// How to write where a format leaves a choice.
///
/// ```
/// use otlp_profiles::{Refs, WriteOptions};
/// let options = WriteOptions { refs: Refs::Inline, ..Default::default() };
/// # let _ = options;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    /// How OTLP 1.10 says the texts of resources, scopes and values.
    pub refs: Refs,
    /// How pprof, which has none, says timestamps.
    pub timestamps: Timestamps,
    /// Whether pprof says links as the labels `trace_id` and `span_id`.
    pub links: bool,
    /// The id of the one profile; where a generation requires an id and none is known, it is made from the content.
    pub profile_id: Option<ProfileId>,
    /// The bytes a writer may produce.
    pub max_output_bytes: u64,
    /// The samples that timestamps may be expanded to where each needs one of its own.
    pub max_expanded_samples: u64,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            refs: Refs::Inline,
            timestamps: Timestamps::Label,
            links: true,
            profile_id: None,
            max_output_bytes: Limits::network().max_output_bytes,
            max_expanded_samples: 16 << 20,
        }
    }
}

/// How OTLP 1.10 says the texts of resources, scopes and values: all of a payload in one way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Refs {
    /// In place, as every generation can, and every reader of 1.10 understands.
    #[default]
    Inline,
    /// By the dictionary, which says each text once.
    Dictionary,
}

/// How pprof says timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Timestamps {
    /// One sample for each, with the numeric label `end_timestamp_ns`.
    #[default]
    Label,
    /// Not at all; the values are added up.
    Drop,
}
