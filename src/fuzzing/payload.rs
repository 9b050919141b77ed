//! A payload as an editable tree.

use super::tree::Message;
use crate::error::{Error, ErrorKind, Result};
use crate::format::{Encoding, Format};
use crate::schema::{MessageType, PROFILE, PROFILES_DATA, Version};

/// A payload of a protobuf format as a tree of fields, which edits and mutations change.
///
/// ```
/// use otlp_profiles::Format;
/// use otlp_profiles::check::{Options, validate};
/// use otlp_profiles::fuzzing::Payload;
///
/// // A valid payload, in which a sample then refers to a stack that does not exist.
/// let mut payload = Payload::valid(Format::OTLP_1_10)?;
/// payload.edit("$S.stack_index=9")?;
/// let report = validate(&payload.encode(), &Options::default().format(Format::OTLP_1_10));
/// assert!(report.findings().any(|finding| finding.rule.id() == "OP3101"));
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Payload {
    pub(super) version: Version,
    pub(super) root: Message,
}

impl Payload {
    /// Creates a payload without fields.
    ///
    /// # Errors
    ///
    /// The format is not one of OTLP's generations in protobuf, pprof or events.
    pub fn new(format: Format) -> Result<Self> {
        Ok(Self { version: version(format)?, root: Message::default() })
    }

    /// Parses bytes. Malformed fields stay as they are: [`encode`](Self::encode) returns the same bytes, unless a
    /// length or an element of a packed list is an overlong varint.
    ///
    /// # Errors
    ///
    /// The format is not one of OTLP's generations in protobuf, pprof or events.
    pub fn parse(bytes: &[u8], format: Format) -> Result<Self> {
        let version = version(format)?;
        Ok(Self { version, root: Message::parse(bytes, Some((root(version), version))) })
    }

    /// Encodes the payload.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.root.encode(&mut out);
        out
    }

    pub(super) fn schema(&self) -> &'static MessageType {
        root(self.version)
    }
}

fn root(version: Version) -> &'static MessageType {
    match version {
        Version::Events | Version::Pprof => &PROFILE,
        _ => &PROFILES_DATA,
    }
}

fn version(format: Format) -> Result<Version> {
    match format.encoding() {
        Encoding::Otlp(version) => Ok(version),
        Encoding::Pprof => Ok(Version::Pprof),
        Encoding::Events => Ok(Version::Events),
        _ => {
            Err(Error::new(ErrorKind::InvalidOption, format!("{format} is not a protobuf format")))
        }
    }
}
