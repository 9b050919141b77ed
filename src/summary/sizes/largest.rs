//! Keeps the ten largest strings, by bytes, and the ten deepest stacks.
//!
//! For nearly every string or stack of a payload, the cost is one comparison with the smallest one kept.

/// The number of items to keep.
const MOST: usize = 10;

/// A range of the payload.
pub(super) type Range = std::ops::Range<usize>;

/// The place of a stack's locations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Locations {
    /// In a separate list.
    Own(Range),
    /// In the list of the profile with this index, from this position on.
    Slice { profile: usize, start: u64 },
}

/// A string in the payload.
#[derive(Clone, Debug)]
pub(super) struct Text {
    /// The node of its field.
    pub(super) node: usize,
    /// Its index among the strings of the field.
    pub(super) row: u64,
    pub(super) range: Range,
}

/// A stack in the payload.
#[derive(Clone, Debug)]
pub(super) struct Stack {
    pub(super) locations: Locations,
    /// The number of locations.
    pub(super) depth: u64,
    /// For a slice, 0 until the end of its profile.
    pub(super) bytes: u64,
    pub(super) times: u64,
}

/// The largest items so far, largest first. Among equals, the earliest comes first.
#[derive(Debug, Default)]
pub(super) struct Largest {
    pub(super) texts: Vec<Text>,
    pub(super) stacks: Vec<Stack>,
}

impl Largest {
    /// Adds a string if it is among the largest.
    #[inline]
    pub(super) fn text(&mut self, text: Text) {
        // The last one is the smallest; without it there is room.
        let full = self.texts.get(MOST - 1);
        if full.is_none_or(|least| least.range.len() < text.range.len()) {
            let larger = |other: &Text| other.range.len() >= text.range.len();
            // After equal ones, so that the first of them stay.
            let at = self.texts.partition_point(larger);
            self.texts.insert(at, text);
            self.texts.truncate(MOST);
        }
    }

    /// Adds a stack if it is among the deepest. Counts a repetition of a kept stack. A stack that was dropped never
    /// returns, because the deepest ones only get deeper; so every count is complete.
    #[inline]
    pub(super) fn stack(&mut self, payload: &[u8], stack: Stack) {
        if self.stacks.get(MOST - 1).is_some_and(|least| least.depth > stack.depth) {
            return;
        }
        let first = self.stacks.partition_point(|other| other.depth > stack.depth);
        let equals = self.stacks.iter_mut().skip(first);
        let mut equals = equals.take_while(|other| other.depth == stack.depth);
        if let Some(known) = equals.find(|known| is_same(payload, known, &stack)) {
            known.times += 1;
            return;
        }
        let behind = self.stacks.partition_point(|other| other.depth >= stack.depth);
        self.stacks.insert(behind, stack);
        self.stacks.truncate(MOST);
    }
}

/// Returns whether two stacks have the same locations.
fn is_same(payload: &[u8], one: &Stack, other: &Stack) -> bool {
    match (&one.locations, &other.locations) {
        (Locations::Own(one), Locations::Own(other)) => {
            payload.get(one.clone()) == payload.get(other.clone())
        }
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_are_kept_in_order_and_the_first_of_equals() {
        let mut largest = Largest::default();
        for (row, length) in (0..).zip([3, 7, 7, 1, 9, 2, 4, 6, 7, 5, 8, 1, 1, 7]) {
            largest.text(Text { node: 1, row, range: 0..length });
        }
        let kept: Vec<_> = largest.texts.iter().map(|text| (text.range.len(), text.row)).collect();
        let expected =
            [(9, 4), (8, 10), (7, 1), (7, 2), (7, 8), (7, 13), (6, 7), (5, 9), (4, 6), (3, 0)];
        assert_eq!(kept, expected);
    }

    #[test]
    fn equal_stacks_are_one() {
        let (payload, mut largest) = (b"abcabc", Largest::default());
        for (range, depth) in [(0..3, 3), (3..6, 3), (1..4, 3), (0..2, 2)] {
            let locations = Locations::Own(range);
            largest.stack(payload, Stack { locations, depth, bytes: 5, times: 1 });
        }
        for depth in 3..20 {
            let locations = Locations::Slice { profile: 0, start: 0 };
            let stack = Stack { locations, depth, bytes: 0, times: 1 };
            largest.stack(payload, stack.clone());
            largest.stack(payload, stack);
        }
        let kept: Vec<_> = largest.stacks.iter().map(|stack| (stack.depth, stack.times)).collect();
        assert_eq!(kept, (10..20).rev().map(|depth| (depth, 2)).collect::<Vec<_>>());
    }
}
