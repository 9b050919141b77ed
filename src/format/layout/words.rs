//! Sorting by words: what is sorted is compared 64 bits at a time, and no further than it differs from
//! what stands beside it.
//!
//! ```text
//! items         a  b  c  d           range 0..4, depth 0
//! first words   7  3  7  3    ─►     b d │ a c        ranges 0..2 and 2..4 go on at depth 1
//! ```
//!
//! A most-significant-first radix sort by words, each range sorted by its word alone: a word that
//! all items share is never moved, and a name is read as far as it differs. The stack of ranges is
//! on the heap, so no input makes it deep.

/// Something that is sorted as a list of words.
pub(super) trait Words {
    /// Word number `depth` of an item, and whether others follow; 0 behind the end.
    ///
    /// Asked once for each item and depth that is reached.
    fn word(&self, item: u32, depth: usize) -> (u64, bool);
}

/// Sorts items by their words; those with the same ones by their number.
///
/// Stable if `items` ascend. What is equal to the end keeps its order.
pub(super) fn sort(words: &impl Words, items: &mut [u32]) {
    let mut keyed: Vec<(u64, u32)> = Vec::with_capacity(items.len());
    let mut spare = Vec::new();
    // Ranges whose items are equal up to a depth.
    let mut left = vec![(0, items.len(), 0)];
    while let Some((from, to, depth)) = left.pop() {
        let range = &mut items[from..to];
        keyed.clear();
        let (mut any_more, mut differ) = (false, false);
        for &item in &*range {
            let (word, more) = words.word(item, depth);
            any_more |= more;
            differ |= keyed.last().is_some_and(|(last, _)| *last != word);
            keyed.push((word, item));
        }
        if differ || !any_more {
            sort_keyed(&mut keyed, &mut spare);
            range.iter_mut().zip(&keyed).for_each(|(item, (_, sorted))| *item = *sorted);
        }
        if any_more {
            let mut begin = from;
            for run in keyed.chunk_by(|a, b| a.0 == b.0) {
                if run.len() > 1 {
                    left.push((begin, begin + run.len(), depth + 1));
                }
                begin += run.len();
            }
        }
    }
}

/// Sorts many by a byte after the other, from the lowest on and only those that differ; a few by
/// comparing them. Items come in ascending order, which those with one key keep.
fn sort_keyed(keyed: &mut Vec<(u64, u32)>, spare: &mut Vec<(u64, u32)>) {
    const MANY: usize = 64;
    if keyed.len() < MANY {
        return keyed.sort_unstable();
    }
    let (ones, zeros) =
        keyed.iter().fold((0, 0), |(ones, zeros), (key, _)| (ones | key, zeros | !key));
    for shift in (0..64).step_by(8).filter(|shift| (ones & zeros) >> shift & 0xff != 0) {
        let byte = |key: u64| (key >> shift) as u8 as usize;
        let mut places = [0u32; 257];
        keyed.iter().for_each(|(key, _)| places[byte(*key) + 1] += 1);
        (1..places.len()).for_each(|at| places[at] += places[at - 1]);
        spare.clear();
        spare.resize(keyed.len(), (0, 0));
        for &(key, item) in &*keyed {
            let place = &mut places[byte(key)];
            spare[*place as usize] = (key, item);
            *place += 1;
        }
        std::mem::swap(keyed, spare);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Lists(Vec<Vec<u64>>);

    impl Words for Lists {
        fn word(&self, item: u32, depth: usize) -> (u64, bool) {
            let list = &self.0[item as usize];
            (list.get(depth).copied().unwrap_or(0), depth + 1 < list.len())
        }
    }

    #[test]
    fn lists_are_sorted_by_their_words() {
        let mut seed = 1u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for (count, words) in [(0, 1), (1, 1), (5, 3), (400, 2), (400, 5), (3000, 40)] {
            let mut list = || (0..random(12)).map(|_| 1 + random(words)).collect();
            let lists = Lists((0..count).map(|_| list()).collect());
            let mut items: Vec<u32> = (0..count).collect();
            sort(&lists, &mut items);
            let mut wanted: Vec<u32> = (0..count).collect();
            wanted.sort_by_key(|item| &lists.0[*item as usize]);
            assert_eq!(items, wanted, "{count} of {words}");
        }
    }
}
