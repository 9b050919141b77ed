//! What is read all the same, and not what OTLP/JSON says: for whoever checks a text.
//!
//! Readers are lenient, as protobuf's own mapping is. What they pass over or take for something else is told here each
//! time and at its place, where a reading only counts it.

use crate::error::Step;

/// What is odd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A key that no field has.
    Unknown,
    /// A key that was said before in its object.
    Twice,
    /// A key that is a case of what another one said before.
    OtherCase,
    /// A key as the schema has it, with underscores.
    OriginalName,
    /// The value of an enum in quotes: its name, or a number.
    EnumText,
    /// An id in base64 instead of hexadecimal digits.
    Base64Id,
}

/// Something odd, and where.
pub(crate) struct Odd<'o> {
    pub(crate) what: What,
    /// The message whose key it is, as the schema calls it.
    pub(crate) message: &'o str,
    /// The key or the text; of [`OtherCase`](What::OtherCase) the case before.
    pub(crate) found: &'o str,
    /// The fields and rows that lead there: to the field, or to the message where none has the key.
    pub(crate) path: &'o [Step],
    /// The text from there on.
    pub(crate) at: &'o [u8],
}
