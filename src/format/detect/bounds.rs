//! How much of a payload is walked: more of it the larger it is, but never all of a large one.

/// How much of a payload is walked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Messages of each kind.
    pub(super) messages: u32,
    /// Fields of each kind of message, those passed over included.
    pub(super) fields: u32,
    /// Numbers of each packed list.
    pub(super) numbers: usize,
    /// Whether the walk goes on after what cannot be.
    pub(super) tolerant: bool,
}

impl Bounds {
    /// Payloads up to this size are walked whole, if it takes that to decide.
    const SMALL: usize = 1 << 16;

    /// A glance, which is enough to rule most candidates out.
    pub(super) const GLANCE: Self = Self::first(2, 8);

    /// The first round: the beginnings of all lists.
    pub(super) const FIRST: Self = Self::first(8, 64);

    /// The rounds that follow it for a payload of so many bytes: more of it, as far as its size pays
    /// for that, and only a small one whole.
    pub(super) fn rounds(payload: usize) -> impl Iterator<Item = Self> {
        let beginnings =
            [Self::first(64, 1 << 9), Self::first(1 << 9, 1 << 12), Self::first(1 << 12, 1 << 15)];
        let is_small = payload <= Self::SMALL;
        let is_paid = move |bounds: &Self| {
            is_small || bounds.fields <= 1 << 9 || bounds.fields as usize <= payload / 4096
        };
        let whole = is_small.then_some(Self::WHOLE);
        beginnings.into_iter().filter(is_paid).chain(whole)
    }

    pub(super) fn are_whole(self) -> bool {
        self.messages == u32::MAX
    }

    pub(super) const WHOLE: Self =
        Self { messages: u32::MAX, fields: u32::MAX, numbers: usize::MAX, tolerant: false };
    /// For payloads that are broken by any grammar.
    pub(super) const TOLERANT: Self = Self { tolerant: true, ..Self::first(64, 1 << 10) };

    const fn first(messages: u32, fields: u32) -> Self {
        Self { messages, fields, numbers: messages as usize, tolerant: false }
    }
}
