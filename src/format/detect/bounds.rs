//! How much of a payload a walk reads.
//!
//! Detection should cost the same for a kilobyte and a gigabyte. The beginnings of the lists decide most
//! payloads. Each round reads more of them than the previous one, and only the remaining formats walk it.
//!
//! | bounds | messages of a kind | fields of a kind | for |
//! |---|---|---|---|
//! | `FIRST` | 8 | 64 | every payload |
//! | `SECOND` | 64 | 512 | payloads that `FIRST` does not decide |
//! | `WHOLE` | all | all | payloads up to 64 KiB that `SECOND` does not decide |
//! | `TOLERANT` | 64 | 1,024 | payloads that fit no grammar, to name damaged files |

/// Limits of a walk, which reads the beginnings of lists.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Messages of each kind, and numbers of each packed list.
    pub(super) messages: u32,
    /// Fields of each kind of message, including skipped ones.
    pub(super) fields: u32,
    /// Whether the walk continues after a contradiction.
    pub(super) tolerant: bool,
}

impl Bounds {
    /// Decides nearly every payload.
    pub(super) const FIRST: Self = Self { messages: 8, fields: 64, tolerant: false };
    /// For payloads whose first messages are empty or unusual.
    pub(super) const SECOND: Self = Self { messages: 64, fields: 512, tolerant: false };
    /// For small payloads that the beginnings of lists do not decide.
    pub(super) const WHOLE: Self = Self { messages: u32::MAX, fields: u32::MAX, tolerant: false };
    /// For payloads that fit no grammar.
    pub(super) const TOLERANT: Self = Self { messages: 64, fields: 1 << 10, tolerant: true };
}
