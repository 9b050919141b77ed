//! How well a payload fits a grammar, and where it does not.
//!
//! A format that fits has no misfit at all, as a rule. Misfits have kinds, so that a payload by an odd encoder, or of a
//! generation to come, is still told from one of another format.

use crate::schema::{Noun, Table};

/// What does not fit: how much of each kind, the heavier kind first. Sums of one kind are compared before the
/// next kind is looked at, so no number of small oddities weighs as much as one contradiction.
pub(super) type Score = [u32; 5];

/// Bytes this format cannot have.
pub(super) const HARD: usize = 0;
/// Fields and references that lead nowhere.
pub(super) const STRUCTURAL: usize = 1;
/// What a newer generation writes.
pub(super) const SOFT: usize = 2;
/// Whether there is what an unusual encoder writes: a list one number at a time. That a field is known, if written
/// so, tells more than that it is not known. It is the encoder's way: how many of a sample's numbers are lists differs
/// between generations, and tells nothing, so it counts once.
pub(super) const UNPACKED: usize = 3;
/// What breaks a rule of the format.
pub(super) const SEMANTIC: usize = 4;

/// Why something does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// The field holds something else, by the kind of its bytes.
    Kind,
    /// The bytes of the message, or of its packed numbers, are not fields.
    Broken,
    /// No field has the number, though fields beside it are known.
    Unknown,
    /// A field said once is said again.
    Repeated,
    /// A reference to a row that a table does not have.
    Past(Table),
    /// A number that the field has no room for.
    Large,
    /// A text that is not UTF-8.
    Text,
    /// No field of this generation has the number, but one of a later generation has.
    Later,
    /// The number is above all that are known.
    Beyond,
    Unpacked,
    /// Row 0 of a table should be the empty row, or the empty text.
    RowZero(Table),
    IdLength,
    /// Values, timestamps and sample types do not go together.
    Shape,
    /// Row 0, which means none, in a list of attributes.
    Null,
    /// The same attribute twice on one thing.
    Twice,
    /// A field that is always there is not.
    Missing,
}

impl Why {
    /// The place in a [`Score`] where it counts.
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

/// The numbers of the fields that lead from the payload to a message.
/// Eight bytes and a length, so that clashes can be compared and copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Path {
    numbers: [u8; 8],
    length: u8,
}

impl Path {
    /// One field further in; what is deeper than any grammar is not told apart.
    pub(super) fn into(mut self, number: u32) -> Self {
        if let Some(slot) = self.numbers.get_mut(usize::from(self.length)) {
            *slot = number as u8;
            self.length += 1;
        }
        self
    }

    /// From the payload inwards.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.numbers.iter().take(usize::from(self.length)).map(|&number| u32::from(number))
    }
}

/// Something that does not fit, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clash {
    /// The message.
    pub(super) path: Path,
    /// Its field.
    pub(super) number: u32,
    /// The kind of the field's bytes.
    pub(super) kind: u32,
    pub(super) why: Why,
}

/// What a walk of a payload by one grammar found.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    pub(super) score: Score,
    /// Attributes that nothing refers to.
    pub(super) orphans: u32,
    /// The first clash of the heaviest kind.
    pub(super) worst: Option<Clash>,
    /// The numbers of the fields met in each message.
    ///
    /// A bit for each number up to 31.
    pub(super) used: [u32; Noun::COUNT],
    /// Fields that are in the grammar.
    pub(super) known: u32,
    /// Fields that are not.
    pub(super) unknown: u32,
    /// Whether part of the payload was passed over.
    pub(super) cut: bool,
    /// Those that were walked.
    pub(super) samples: u32,
    /// Samples that have timestamps and as many numbers in the list before them.
    ///
    /// Values of one generation and attributes of another, if they are all of the samples.
    pub(super) timed: u32,
}

impl Outcome {
    /// Counts a clash, and keeps it if it is heavier than all before.
    #[cold]
    pub(super) fn clash(&mut self, clash: Clash) {
        let kind = clash.why.kind();
        if self.score.iter().take(kind + 1).all(|count| *count == 0) {
            self.worst = Some(clash);
        }
        let most = if kind == UNPACKED { 1 } else { u32::MAX };
        self.score[kind] = self.score[kind].saturating_add(1).min(most);
    }

    /// The fields met in a message.
    pub(super) fn used(&self, message: Noun) -> u32 {
        self.used[message as usize]
    }

    /// Whether the walk found nothing amiss but what newer generations bring.
    /// So far: what was passed over may tell another thing.
    pub(super) fn is_clean(&self) -> bool {
        self.score[HARD] == 0 && self.score[STRUCTURAL] == 0 && self.score[SEMANTIC] == 0
    }

    /// Whether an encoder of the format as it is wrote it, in the usual way.
    pub(super) fn is_usual(&self) -> bool {
        self.score[SOFT] == 0 && self.score[UNPACKED] == 0
    }

    /// Whether more of it is known than not, and enough if something is amiss.
    pub(super) fn is_plausible(&self) -> bool {
        self.known > self.unknown.saturating_mul(2) && (self.is_clean() || self.known >= 4)
    }
}
