//! How much of a payload is walked.
//!
//! Detection should cost the same for a kilobyte and a gigabyte. Most payloads are decided by the beginnings of their
//! lists; each round sees more of them than the one before, and is walked only by formats that are still in.
//!
//! | bounds | messages of a kind | fields of a kind | for |
//! |---|---|---|---|
//! | `FIRST` | 8 | 64 | every payload |
//! | `SECOND` | 64 | 512 | those that the first leaves open |
//! | `WHOLE` | all | all | those up to 64 KiB that the second leaves open |
//! | `TOLERANT` | 64 | 1,024 | what no grammar fits: a broken file is named all the same |

/// How much of a payload is walked: the beginnings of its lists.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Messages of each kind, and numbers of each packed list.
    pub(super) messages: u32,
    /// Fields of each kind of message, those passed over included.
    pub(super) fields: u32,
    /// Whether the walk goes on after what cannot be.
    pub(super) tolerant: bool,
}

impl Bounds {
    /// Decides nearly every payload.
    pub(super) const FIRST: Self = Self { messages: 8, fields: 64, tolerant: false };
    /// For payloads whose first messages are empty or unusual.
    pub(super) const SECOND: Self = Self { messages: 64, fields: 512, tolerant: false };
    /// For small payloads that the beginnings leave open.
    pub(super) const WHOLE: Self = Self { messages: u32::MAX, fields: u32::MAX, tolerant: false };
    /// For payloads that are broken by any grammar.
    pub(super) const TOLERANT: Self = Self { messages: 64, fields: 1 << 10, tolerant: true };
}
