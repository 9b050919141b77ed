//! What a format is made of.

use crate::error::Result;
use crate::format::intake::Intake;
use crate::format::losses::Losses;
use crate::format::options::WriteOptions;
use crate::format::text::Text;
use crate::model::Profiles;
use crate::schema::Version;

/// What stands behind a [`Format`](crate::Format): its names and its two arrows, one `static` each.
pub(crate) struct Codec {
    pub(crate) name: &'static str,
    pub(crate) aliases: &'static [&'static str],
    pub(crate) about: &'static str,
    pub(crate) extensions: &'static [&'static str],
    /// As pprof's, whose readers take both.
    pub(crate) gzip_on_disk: bool,
    pub(crate) deprecated: Option<&'static str>,
    pub(crate) encoding: Encoding,
    /// Reads one payload, neither compressed nor framed. None: the format is only written.
    pub(crate) read: Option<Read>,
    /// Writes the profiles: one payload, or several where one cannot hold them all. The first is
    /// written into the last argument, which is empty, for its memory. None: the format is only read.
    pub(crate) write: Option<Write>,
    /// The [`SourceOptions`](crate::format::SourceOptions) that its reader takes, and the options of its own that its writer
    /// takes.
    pub(crate) options: &'static [&'static str],
}

/// The arrow into the model.
pub(crate) enum Read {
    /// From all of a payload.
    Bytes(fn(&[u8], &mut Intake) -> Result<Profiles>),
    /// From lines, one after the other, so that not all of them need be in memory.
    Lines(ReadLines),
}

pub(crate) type ReadLines = fn(&mut Text<'_>, &mut Intake) -> Result<Profiles>;

/// The arrow out of the model.
pub(crate) type Write = fn(&Profiles, &WriteOptions, &mut Losses, Vec<u8>) -> Result<Vec<Vec<u8>>>;

/// How the payloads of a format are encoded.
#[derive(Clone, Copy)]
pub(crate) enum Encoding {
    /// As protobuf messages of a generation of OTLP.
    Otlp(Version),
    /// As the JSON of such messages.
    OtlpJson,
    /// As pprof's protobuf message.
    Pprof,
    /// As the protobuf message of timestamped events.
    Events,
    /// In a form of its own, which is known by how it begins.
    Own {
        /// Whether that is JSON.
        json: bool,
    },
}
