//! The place of a finding: the path of the walk, and a position in the message at its end.
//!
//! ```text
//! path   dictionary . stack_table[3]               a `Step` for each message around
//! spot                              . location_indices[7]  (byte 213)
//! ```

/// A step of a path: a field, and the row if it is repeated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) row: Option<u32>,
}

/// The position of a finding inside the message at the end of the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    pub(crate) field: Option<&'static str>,
    pub(crate) row: Option<usize>,
    pub(crate) byte: Option<u64>,
}

impl Position {
    /// The message itself, at a byte.
    pub(crate) fn at(byte: usize) -> Self {
        Self { field: None, row: None, byte: Some(byte as u64) }
    }

    /// No position, for missing data.
    pub(crate) fn nowhere() -> Self {
        Self { field: None, row: None, byte: None }
    }

    /// A field of the message.
    pub(crate) fn field(self, name: &'static str) -> Self {
        Self { field: Some(name), ..self }
    }

    /// An element of the field, or of the message if it is a list.
    pub(crate) fn row(self, row: usize) -> Self {
        Self { row: Some(row), ..self }
    }
}
