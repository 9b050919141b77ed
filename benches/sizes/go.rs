//! Reproduces Go's standard library where the OTEP's figures depend on it: the order of `sort.Slice` in
//! Go 1.19, and the output length of `compress/gzip` at level 6, its default. It makes the same choices as
//! Go's compressor, but writes no bits.

/// The rows sorted by length, longest first, in the order of Go's unstable sort.
pub fn sorted_as_go(lengths: &[usize]) -> Vec<usize> {
    let mut rows = Rows { lengths, order: (0..lengths.len()).collect() };
    let depth = usize::BITS - lengths.len().leading_zeros();
    rows.sort(0, lengths.len(), depth);
    rows.order
}

/// Go's pattern-defeating quicksort.
struct Rows<'a> {
    lengths: &'a [usize],
    order: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Hint {
    Unknown,
    Ascending,
    Descending,
}

impl Rows<'_> {
    fn less(&self, a: usize, b: usize) -> bool {
        self.lengths[self.order[a]] > self.lengths[self.order[b]]
    }

    fn sort(&mut self, mut from: usize, mut to: usize, mut depth: u32) {
        let (mut balanced, mut partitioned) = (true, true);
        while to - from > 12 {
            let length = to - from;
            if depth == 0 {
                return self.heap(from, to);
            }
            if !balanced {
                self.break_patterns(from, to);
                depth -= 1;
            }
            let (mut pivot, mut hint) = self.pivot(from, to);
            if hint == Hint::Descending {
                self.order[from..to].reverse();
                pivot = (to - 1) - (pivot - from);
                hint = Hint::Ascending;
            }
            if balanced && partitioned && hint == Hint::Ascending && self.nearly(from, to) {
                return;
            }
            if from > 0 && !self.less(from - 1, pivot) {
                from = self.split_equal(from, to, pivot);
                continue;
            }
            let middle;
            (middle, partitioned) = self.split(from, to, pivot);
            let (left, right) = (middle - from, to - middle);
            balanced = left.min(right) >= length / 8;
            if left < right {
                self.sort(from, middle, depth);
                from = middle + 1;
            } else {
                self.sort(middle + 1, to, depth);
                to = middle;
            }
        }
        self.insert(from, to);
    }

    fn insert(&mut self, from: usize, to: usize) {
        for at in from + 1..to {
            self.sink(from, at);
        }
    }

    /// Moves a row down the heap to its place.
    fn sink(&mut self, from: usize, mut at: usize) {
        while at > from && self.less(at, at - 1) {
            self.order.swap(at, at - 1);
            at -= 1;
        }
    }

    fn heap(&mut self, from: usize, to: usize) {
        let length = to - from;
        (0..length.div_ceil(2)).rev().for_each(|root| self.sift(root, length, from));
        for last in (0..length).rev() {
            self.order.swap(from, from + last);
            self.sift(0, last, from);
        }
    }

    fn sift(&mut self, mut root: usize, length: usize, from: usize) {
        loop {
            let mut child = 2 * root + 1;
            if child >= length {
                return;
            }
            if child + 1 < length && self.less(from + child, from + child + 1) {
                child += 1;
            }
            if !self.less(from + root, from + child) {
                return;
            }
            self.order.swap(from + root, from + child);
            root = child;
        }
    }

    fn pivot(&self, from: usize, to: usize) -> (usize, Hint) {
        let (length, mut swaps) = (to - from, 0);
        let mut places = [1, 2, 3].map(|part| from + length / 4 * part);
        if length >= 50 {
            places = places.map(|at| self.median([at - 1, at, at + 1], &mut swaps));
        }
        let pivot = self.median(places, &mut swaps);
        match swaps {
            0 => (pivot, Hint::Ascending),
            12 => (pivot, Hint::Descending),
            _ => (pivot, Hint::Unknown),
        }
    }

    fn median(&self, mut places: [usize; 3], swaps: &mut u32) -> usize {
        for at in [0, 1, 0] {
            if self.less(places[at + 1], places[at]) {
                places.swap(at, at + 1);
                *swaps += 1;
            }
        }
        places[1]
    }

    fn split(&mut self, from: usize, to: usize, pivot: usize) -> (usize, bool) {
        self.order.swap(from, pivot);
        let (mut low, mut high) = (from + 1, to - 1);
        let mut already = true;
        loop {
            while low <= high && self.less(low, from) {
                low += 1;
            }
            while low <= high && !self.less(high, from) {
                high -= 1;
            }
            if low > high {
                self.order.swap(high, from);
                return (high, already);
            }
            self.order.swap(low, high);
            already = false;
            low += 1;
            high -= 1;
        }
    }

    fn split_equal(&mut self, from: usize, to: usize, pivot: usize) -> usize {
        self.order.swap(from, pivot);
        let (mut low, mut high) = (from + 1, to - 1);
        loop {
            while low <= high && !self.less(from, low) {
                low += 1;
            }
            while low <= high && self.less(from, high) {
                high -= 1;
            }
            if low > high {
                return low;
            }
            self.order.swap(low, high);
            low += 1;
            high -= 1;
        }
    }

    /// Tries to sort nearly sorted rows with up to five moves; returns whether it succeeded.
    fn nearly(&mut self, from: usize, to: usize) -> bool {
        let mut at = from + 1;
        for _ in 0..5 {
            while at < to && !self.less(at, at - 1) {
                at += 1;
            }
            if at == to {
                return true;
            }
            if to - from < 50 {
                return false;
            }
            self.order.swap(at, at - 1);
            if at - from >= 2 {
                self.sink(0, at - 1);
            }
            if to - at >= 2 {
                let mut up = at + 1;
                while up < to && self.less(up, up - 1) {
                    self.order.swap(up, up - 1);
                    up += 1;
                }
            }
        }
        false
    }

    fn break_patterns(&mut self, from: usize, to: usize) {
        let length = to - from;
        let mut random = length as u64;
        let mask = (1usize << (usize::BITS - length.leading_zeros())) - 1;
        let middle = from + length / 4 * 2 - 1;
        for at in 0..3 {
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            let other = random as usize & mask;
            let other = if other >= length { other - length } else { other };
            self.order.swap(middle + at, from + other);
        }
    }
}

const WINDOW: usize = 1 << 15;
const MOST: usize = 258;
const LEAST: usize = 4;

/// The length of the output of `compress/gzip` at level 6.
pub fn gzip_len(bytes: &[u8]) -> usize {
    let mut deflate = Deflate {
        bytes,
        heads: vec![usize::MAX; 1 << 17],
        before: vec![usize::MAX; WINDOW],
        base: 0,
        block: Block::new(0),
        bits: 0,
    };
    deflate.run();
    // 10 bytes of header, 8 bytes of trailer. The last block is an empty stored one.
    let bits = (deflate.bits + 3).div_ceil(8) + 4;
    10 + bits + 8
}

struct Deflate<'a> {
    bytes: &'a [u8],
    heads: Vec<usize>,
    before: Vec<usize>,
    /// The start of the window, which moves by half its size.
    base: usize,
    block: Block,
    bits: usize,
}

/// The tokens of a block, by symbol.
struct Block {
    start: usize,
    tokens: usize,
    literals: [u32; 286],
    offsets: [u32; 30],
    extra: usize,
}

impl Block {
    fn new(start: usize) -> Self {
        Self { start, tokens: 0, literals: [0; 286], offsets: [0; 30], extra: 0 }
    }
}

impl Deflate<'_> {
    fn hash(&self, at: usize) -> usize {
        let word = self.bytes[at..at + 4].iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
        (word.wrapping_mul(0x1e35_a7bd) >> 15) as usize
    }

    /// Adds a position to its chain; returns the previous one.
    fn insert(&mut self, at: usize) -> usize {
        let hash = self.hash(at);
        let head = std::mem::replace(&mut self.heads[hash], at);
        self.before[at % WINDOW] = head;
        head
    }

    fn run(&mut self) {
        let (mut at, mut waiting) = (0, false);
        let (mut length, mut offset) = (LEAST - 1, 0);
        loop {
            let end = self.bytes.len().min(self.base + 2 * WINDOW);
            let last = end == self.bytes.len();
            while if last { at < end } else { end - at >= LEAST + MOST } {
                let (earlier_length, earlier_offset) = (length, offset);
                (length, offset) = (LEAST - 1, 0);
                if at + LEAST <= end {
                    let head = self.insert(at);
                    if end - at > earlier_length && earlier_length < 16 {
                        (length, offset) = self.longest(at, head, end);
                    }
                }
                if earlier_length >= LEAST && length <= earlier_length {
                    self.token(Some((earlier_length, earlier_offset)), 0);
                    let next = at + earlier_length - 1;
                    (at + 1..next)
                        .filter(|at| at + LEAST <= end)
                        .for_each(|at| _ = self.insert(at));
                    at = next.max(at + 1);
                    waiting = false;
                    length = LEAST - 1;
                    self.end_full_block(at);
                } else {
                    if waiting {
                        self.token(None, self.bytes[at - 1]);
                        self.end_full_block(at);
                    }
                    at += 1;
                    waiting = true;
                }
            }
            if last {
                break;
            }
            self.base += WINDOW;
        }
        if waiting {
            self.token(None, self.bytes[at - 1]);
        }
        if self.block.tokens > 0 {
            self.end_block(at);
        }
    }

    /// The longest match before a position, found in at most 128 steps.
    fn longest(&self, at: usize, head: usize, end: usize) -> (usize, usize) {
        let bytes = self.bytes;
        let most = MOST.min(end - at);
        let nice = most.min(128);
        let oldest = at.saturating_sub(WINDOW).max(self.base);
        let (mut length, mut offset) = (LEAST - 1, 0);
        let mut other = head;
        for _ in 0..128 {
            if other == usize::MAX || other < oldest {
                break;
            }
            if bytes[other + length] == bytes[at + length] {
                let same = (0..most).take_while(|by| bytes[other + by] == bytes[at + by]).count();
                if same > length && (same > LEAST || at - other <= 4096) {
                    (length, offset) = (same, at - other);
                    if same >= nice {
                        break;
                    }
                }
            }
            if at - other == WINDOW {
                break;
            }
            other = self.before[other % WINDOW];
        }
        (length, offset)
    }

    fn token(&mut self, matched: Option<(usize, usize)>, literal: u8) {
        let block = &mut self.block;
        block.tokens += 1;
        let Some((length, offset)) = matched else {
            block.literals[usize::from(literal)] += 1;
            return;
        };
        let (symbol, extra) = length_symbol(length);
        block.literals[symbol] += 1;
        block.extra += extra;
        let (symbol, extra) = offset_symbol(offset);
        block.offsets[symbol] += 1;
        block.extra += extra;
    }

    fn end_full_block(&mut self, at: usize) {
        if self.block.tokens == 1 << 14 {
            self.end_block(at);
        }
    }

    fn end_block(&mut self, at: usize) {
        let mut block = std::mem::replace(&mut self.block, Block::new(at));
        block.literals[256] += 1;
        let huffman = dynamic_bits(&mut block).min(fixed_bits(&block));
        let size = at - block.start;
        let stored = (size + 5) * 8;
        // Bytes outside the window cannot be stored.
        if block.start >= self.base && size <= 65_535 && stored < huffman {
            self.bits = ((self.bits + 3).div_ceil(8) + 4 + size) * 8;
        } else {
            self.bits += huffman;
        }
    }
}

/// The symbol of a length, and its extra bits.
fn length_symbol(length: usize) -> (usize, usize) {
    let value = length - 3;
    if value < 8 {
        return (257 + value, 0);
    }
    if value == 255 {
        return (285, 0);
    }
    let extra = value.ilog2() as usize - 2;
    (257 + 4 * extra + (value >> extra), extra)
}

/// The symbol of an offset, and its extra bits.
fn offset_symbol(offset: usize) -> (usize, usize) {
    let value = offset - 1;
    if value < 4 {
        return (value, 0);
    }
    let extra = value.ilog2() as usize - 1;
    (2 * extra + (value >> extra), extra)
}

fn fixed_bits(block: &Block) -> usize {
    let length = |symbol: usize| match symbol {
        0..144 => 8,
        144..256 => 9,
        256..280 => 7,
        _ => 8,
    };
    let literals = block.literals.iter().enumerate();
    let literals: usize = literals.map(|(symbol, count)| *count as usize * length(symbol)).sum();
    let offsets: u32 = block.offsets.iter().sum();
    3 + literals + 5 * offsets as usize + block.extra
}

fn dynamic_bits(block: &mut Block) -> usize {
    let used = |counts: &[u32]| counts.iter().rposition(|count| *count != 0).map_or(0, |at| at + 1);
    let literals = used(&block.literals);
    if used(&block.offsets) == 0 {
        block.offsets[0] = 1;
    }
    let offsets = used(&block.offsets);
    let mut lengths = code_lengths(&block.literals, 15)[..literals].to_vec();
    lengths.extend(&code_lengths(&block.offsets, 15)[..offsets]);
    let (runs, extra) = runs(&lengths);
    let run_lengths = code_lengths(&runs, 7);
    const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
    let sent = ORDER.iter().rposition(|symbol| runs[*symbol] != 0).map_or(0, |at| at + 1).max(4);
    let header = 3 + 5 + 5 + 4 + 3 * sent + cost(&runs, &run_lengths) + extra;
    let counts = block.literals[..literals].iter().chain(&block.offsets[..offsets]);
    let body: usize = counts.zip(&lengths).map(|(count, length)| *count as usize * length).sum();
    header + body + block.extra
}

fn cost(counts: &[u32], lengths: &[usize]) -> usize {
    counts.iter().zip(lengths).map(|(count, length)| *count as usize * length).sum()
}

/// Run-length encodes code lengths: how often each of the 19 symbols is used, and their extra bits.
fn runs(lengths: &[usize]) -> ([u32; 19], usize) {
    let (mut counts, mut extra) = ([0; 19], 0);
    for run in lengths.chunk_by(|a, b| a == b) {
        let (length, mut left) = (run[0], run.len());
        let mut symbol = |symbol: usize, bits: usize, times: usize| {
            counts[symbol] += times as u32;
            extra += bits * times;
        };
        if length == 0 {
            while left >= 11 {
                symbol(18, 7, 1);
                left -= left.min(138);
            }
            if left >= 3 {
                symbol(17, 3, 1);
                left = 0;
            }
        } else {
            symbol(length, 0, 1);
            left -= 1;
            while left >= 3 {
                symbol(16, 2, 1);
                left -= left.min(6);
            }
        }
        symbol(length, 0, left);
    }
    (counts, extra)
}

/// The optimal code lengths of at most `most` bits, by package-merge. At equal weight, a package comes
/// before a symbol.
fn code_lengths(counts: &[u32], most: usize) -> Vec<usize> {
    let mut leaves: Vec<(u32, usize)> = counts.iter().copied().zip(0..).collect();
    leaves.retain(|(count, _)| *count != 0);
    let mut lengths = vec![0; counts.len()];
    if leaves.len() <= 2 {
        leaves.iter().for_each(|(_, symbol)| lengths[*symbol] = 1);
        return lengths;
    }
    leaves.sort_unstable();
    let levels = most.min(leaves.len() - 1);
    // The items of each level, lightest first: weight, and whether it is a symbol.
    let mut items: Vec<Vec<(u64, bool)>> = Vec::new();
    for level in 0..levels {
        let pairs: Vec<u64> = match level {
            0 => Vec::new(),
            _ => items[level - 1].chunks_exact(2).map(|pair| pair[0].0 + pair[1].0).collect(),
        };
        let mut pairs = pairs.into_iter().peekable();
        let mut merged = Vec::new();
        for &(count, _) in &leaves {
            while let Some(pair) = pairs.next_if(|pair| *pair <= u64::from(count)) {
                merged.push((pair, false));
            }
            merged.push((count.into(), true));
        }
        merged.extend(pairs.map(|pair| (pair, false)));
        items.push(merged);
    }
    let mut wanted = 2 * leaves.len() - 2;
    for level in items.iter().rev() {
        let symbols = level[..wanted].iter().filter(|(_, symbol)| *symbol).count();
        leaves[..symbols].iter().for_each(|(_, symbol)| lengths[*symbol] += 1);
        wanted = 2 * (wanted - symbols);
    }
    lengths
}
