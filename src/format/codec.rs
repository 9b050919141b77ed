//! The static description of a format.

use crate::error::Result;
use crate::format::line_reader::LineReader;
use crate::losses::Losses;
use crate::model::Profiles;
use crate::read_context::ReadContext;
use crate::schema::Version;
use crate::write_options::WriteOptions;

/// The entry of a [`Format`](crate::Format): its names, and its functions for reading and writing. Each
/// format has one `static`.
pub(crate) struct Codec {
    pub(crate) name: &'static str,
    pub(crate) aliases: &'static [&'static str],
    pub(crate) about: &'static str,
    pub(crate) extensions: &'static [&'static str],
    /// Whether files are gzipped by convention, like those of pprof. Readers of such files accept both forms.
    pub(crate) gzip_on_disk: bool,
    pub(crate) deprecated: Option<&'static str>,
    pub(crate) encoding: Encoding,
    /// Reads one payload, neither compressed nor framed. `None` if the format is write-only.
    pub(crate) read: Option<Read>,
    /// Writes the profiles as one payload, or as several if one cannot hold them all. The last argument is an
    /// empty buffer that the first payload reuses. `None` if the format is read-only.
    pub(crate) write: Option<Write>,
    /// The names of the [`SourceOptions`](crate::format::SourceOptions) that the reader supports, and of the
    /// options that the writer supports.
    pub(crate) options: &'static [&'static str],
}

/// The function that converts a payload to the model.
pub(crate) enum Read {
    /// Reads a whole payload.
    Bytes(fn(&[u8], &mut ReadContext) -> Result<Profiles>),
    /// Reads line by line, so that the whole text need not be in memory.
    Lines(ReadLines),
}

pub(crate) type ReadLines = fn(&mut LineReader<'_>, &mut ReadContext) -> Result<Profiles>;

/// The function that converts the model to payloads.
pub(crate) type Write = fn(&Profiles, &WriteOptions, &mut Losses, Vec<u8>) -> Result<Vec<Vec<u8>>>;

/// The encoding of a format's payloads.
#[derive(Clone, Copy)]
pub(crate) enum Encoding {
    /// Protobuf messages of a generation of OTLP.
    Otlp(Version),
    /// The JSON form of these messages.
    OtlpJson,
    /// The protobuf message of pprof.
    Pprof,
    /// The protobuf message of timestamped events.
    Events,
    /// The encoding of another tool, recognised by its beginning.
    Own {
        /// Whether this encoding is JSON.
        json: bool,
    },
}
