//! Deviations from OTLP/JSON that the reader accepts, for checking a text.
//!
//! The reader is lenient, like protobuf's own mapping. It counts the members that it ignores or reinterprets;
//! these types also report each of them with its position.

use crate::error::Step;

/// The kind of a deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeviationKind {
    /// A key that no field has.
    Unknown,
    /// A key that occurred before in its object.
    DuplicateKey,
    /// A key of a oneof after another key of the same oneof.
    OtherCase,
    /// A key as in the schema, with underscores.
    OriginalName,
    /// The value of an enum as a string: its name or number.
    EnumText,
    /// An id in base64 instead of hexadecimal digits.
    Base64Id,
}

/// A deviation and its position.
pub(crate) struct Deviation<'o> {
    pub(crate) kind: DeviationKind,
    /// The schema's name of the message that contains the key.
    pub(crate) message: &'o str,
    /// The key or the string; for [`OtherCase`](DeviationKind::OtherCase), the earlier key.
    pub(crate) found: &'o str,
    /// The path to the field, or to the message if no field has the key.
    pub(crate) path: &'o [Step],
    /// The text from the deviation on.
    pub(crate) at: &'o [u8],
}
