//! Where a finding is: the path of the walk, and a place in the message at its end.
//!
//! ```text
//! path   dictionary . stack_table[3]               a `Step` for each message around
//! spot                              . location_indices[7]  (byte 213)
//! ```

/// A step of a path: a field, and the row where it is a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) row: Option<u32>,
}

/// Where in the message whose path is known a finding is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    pub(crate) field: Option<&'static str>,
    pub(crate) row: Option<usize>,
    pub(crate) byte: Option<u64>,
}

impl Position {
    /// The message itself.
    pub(crate) fn at(byte: usize) -> Self {
        Self { field: None, row: None, byte: Some(byte as u64) }
    }

    /// No place: what is missing has none.
    pub(crate) fn nowhere() -> Self {
        Self { field: None, row: None, byte: None }
    }

    /// A field of the message.
    pub(crate) fn field(self, name: &'static str) -> Self {
        Self { field: Some(name), ..self }
    }

    /// An element of the field, or of the message where it is a list.
    pub(crate) fn row(self, row: usize) -> Self {
        Self { row: Some(row), ..self }
    }
}
