//! Scores how well a payload fits a grammar, and records where it does not.
//!
//! A format that fits usually has no misfits. The kinds of misfits still distinguish formats if the encoder
//! is unusual or of a future generation.

use crate::schema::{MessageKind, Table};

/// Number of misfits by kind, heaviest kind first. Scores compare kind by kind, so no number of small
/// oddities outweighs one contradiction.
pub(super) type Score = [u32; 5];

/// Bytes that the format cannot contain.
pub(super) const HARD: usize = 0;
/// Unknown or repeated fields, dangling references, and invalid values.
pub(super) const STRUCTURAL: usize = 1;
/// Fields that a newer generation may have added.
pub(super) const SOFT: usize = 2;
/// Lists with one number per field, as only unusual encoders write them. A known field in this form is a
/// lighter misfit than an unknown field. It counts once per payload: it is a habit of the encoder, and
/// generations differ in how many numbers of a sample are lists.
pub(super) const UNPACKED: usize = 3;
/// Broken rules of the format.
pub(super) const SEMANTIC: usize = 4;

/// A kind of misfit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MisfitKind {
    /// The wire type is not that of the field.
    Kind,
    /// The message or its packed numbers do not parse.
    Broken,
    /// The field number is unknown, but not above all known ones.
    Unknown,
    /// A singular field occurs twice.
    Repeated,
    /// A reference past the end of its table.
    Past(Table),
    /// A number out of the range of its field.
    Large,
    /// A string that is not UTF-8.
    Text,
    /// The field number exists only in later generations.
    Later,
    /// The field number is above all known ones.
    Beyond,
    Unpacked,
    /// Row 0 of a table is not the null row or the empty string.
    RowZero(Table),
    IdLength,
    /// The numbers of values, timestamps and sample types do not match.
    Shape,
    /// The null attribute (row 0) in a list of attributes.
    Null,
    /// Two attributes with the same key on one element.
    DuplicateAttribute,
    /// A required field is missing.
    Missing,
}

impl MisfitKind {
    /// Returns the index in a [`Score`] where this misfit counts.
    fn kind(self) -> usize {
        match self {
            Self::Kind | Self::Broken | Self::Later => HARD,
            Self::Unknown | Self::Repeated | Self::Past(_) | Self::Large | Self::Text => STRUCTURAL,
            Self::Beyond => SOFT,
            Self::Unpacked => UNPACKED,
            _ => SEMANTIC,
        }
    }
}

/// The field numbers that lead from the payload to a message: eight bytes and a length, cheap to compare and
/// copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Path {
    numbers: [u8; 8],
    length: u8,
}

impl Path {
    /// Appends a field number. Paths deeper than every grammar are cut.
    pub(super) fn into(mut self, number: u32) -> Self {
        if let Some(slot) = self.numbers.get_mut(usize::from(self.length)) {
            *slot = number as u8;
            self.length += 1;
        }
        self
    }

    /// Iterates from the payload inwards.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.numbers.iter().take(usize::from(self.length)).map(|&number| u32::from(number))
    }
}

/// A misfit and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Misfit {
    /// The message that contains the field.
    pub(super) path: Path,
    /// The field number.
    pub(super) number: u32,
    /// The wire type in the payload.
    pub(super) kind: u32,
    pub(super) cause: MisfitKind,
}

/// The result of a walk by one grammar.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    pub(super) score: Score,
    /// Number of attributes without a reference.
    pub(super) orphans: u32,
    /// The first misfit of the heaviest kind.
    pub(super) worst: Option<Misfit>,
    /// The field numbers read in each message: a bit for each number up to 31.
    pub(super) used: [u32; MessageKind::COUNT],
    /// Number of fields in the grammar.
    pub(super) known: u32,
    /// Number of fields that the grammar lacks.
    pub(super) unknown: u32,
    /// Whether the walk skipped part of the payload.
    pub(super) cut: bool,
    /// Number of walked samples.
    pub(super) samples: u32,
    /// Number of samples with timestamps and one list of as many numbers.
    ///
    /// If all samples are such, the list may be values of one generation or attributes of another.
    pub(super) timed: u32,
}

impl Outcome {
    /// Counts a misfit, and keeps it if it is heavier than all before.
    #[cold]
    pub(super) fn add_misfit(&mut self, misfit: Misfit) {
        let kind = misfit.cause.kind();
        if self.score.iter().take(kind + 1).all(|count| *count == 0) {
            self.worst = Some(misfit);
        }
        let most = if kind == UNPACKED { 1 } else { u32::MAX };
        self.score[kind] = self.score[kind].saturating_add(1).min(most);
    }

    /// Returns the field numbers read in a message.
    pub(super) fn used(&self, message: MessageKind) -> u32 {
        self.used[message as usize]
    }

    /// Returns whether the walk found no misfits except newer fields and unpacked lists. Skipped parts may
    /// still contain misfits.
    pub(super) fn is_clean(&self) -> bool {
        self.score[HARD] == 0 && self.score[STRUCTURAL] == 0 && self.score[SEMANTIC] == 0
    }

    /// Returns whether the payload has neither newer fields nor unpacked lists.
    pub(super) fn is_usual(&self) -> bool {
        self.score[SOFT] == 0 && self.score[UNPACKED] == 0
    }

    /// Returns whether there are more than twice as many known fields as unknown ones, and at least four if
    /// the payload has misfits.
    pub(super) fn is_plausible(&self) -> bool {
        self.known > self.unknown.saturating_mul(2) && (self.is_clean() || self.known >= 4)
    }
}
