//! A synthetic pprof profile, the same bytes on every machine.
//!
//! It replaces a large real profile where a benchmark or a test needs a size that no file in `testdata/`
//! has. `scale` multiplies the samples; the tables grow more slowly, as in a program that runs longer.
//! Include it with `#[path]`. It needs only `std`.
//!
//! | scale |      bytes | samples | locations | functions | strings | mappings |
//! |------:|-----------:|--------:|----------:|----------:|--------:|---------:|
//! |     1 |  1,633,957 |  10,800 |    10,734 |     3,578 |   7,434 |        4 |
//! |     4 |  6,234,543 |  43,200 |    28,167 |     9,389 |  19,256 |        7 |
//! |    16 | 25,051,522 | 172,800 |    77,478 |    25,826 |  52,050 |       12 |
//!
//! Properties that match real profiles:
//!
//! * two value types, `samples/count` and `cpu/nanoseconds`, one value being a multiple of the other;
//! * stacks of 20 to 60 frames, 31 on average. A new stack branches off an earlier one at a random height,
//!   so together they form a call tree. Three samples in five repeat an earlier stack, and repetitions
//!   follow Zipf's law;
//! * three locations per function, one location in ten with two to four lines (inlined frames);
//! * names in the style of C++ (with a mangled `system_name`), Go, Java and C, 2.4 functions per file;
//! * on each sample the labels `thread.name` (string) and `request.size` (number in bytes), on one in five
//!   also `endpoint`;
//! * 4 to 12 mappings with build ids;
//! * ids 1..n in table order, which differs from the order of use; fields in ascending order; repeated
//!   integers packed. From 16 384 locations on (scale 4), the location ids of a stack mix two and three
//!   bytes.

#![allow(dead_code, reason = "not every target that includes this file needs all of it")]

/// The uncompressed profile at `scale` (the benchmarks use 1, 4 and 16).
pub fn pprof(scale: u32) -> Vec<u8> {
    write_profile(u64::from(scale.max(1)), Ids { first: 1, step: 1 })
}

/// The same profile with the ids 5, 12, 19, … instead of 1, 2, 3, …: readers that use an id as a row
/// number must look it up.
pub fn sparse_ids(scale: u32) -> Vec<u8> {
    write_profile(u64::from(scale.max(1)), Ids { first: 5, step: 7 })
}

/// How the rows of a table are numbered; rows count from 0.
#[derive(Clone, Copy)]
struct Ids {
    first: u64,
    step: u64,
}

impl Ids {
    fn of(self, row: u64) -> u64 {
        self.first + self.step * row
    }
}

/// The number of rows in each table.
struct Shape {
    samples: u64,
    functions: u64,
    locations: u64,
    mappings: u64,
    threads: u64,
    endpoints: u64,
}

impl Shape {
    fn new(scale: u64) -> Self {
        // Square roots are exact to the last bit on every machine, powers are not.
        let root = (scale as f64).sqrt();
        let functions = (400.0 + 3178.25 * root * root.sqrt()) as u64;
        Self {
            samples: 10_800 * scale,
            functions,
            locations: 3 * functions,
            mappings: (3 + scale).clamp(2, 12),
            threads: 48,
            endpoints: (560.0 * root) as u64,
        }
    }

    /// The row of the `nth` location in use. Rows are spread over the table, as if it were sorted by address.
    /// The factor is a prime above any length, so all rows differ.
    fn location_row(&self, nth: u64) -> u64 {
        nth * 15_485_863 % self.locations
    }
}

/// The strings of the profile itself. A constant below is a row of this list.
const WORDS: [&str; 9] = [
    "",
    "samples",
    "count",
    "cpu",
    "nanoseconds",
    "thread.name",
    "request.size",
    "bytes",
    "endpoint",
];
const SAMPLES: u64 = 1;
const COUNT: u64 = 2;
const CPU: u64 = 3;
const NANOSECONDS: u64 = 4;
const THREAD_NAME: u64 = 5;
const REQUEST_SIZE: u64 = 6;
const BYTES: u64 = 7;
const ENDPOINT: u64 = 8;

const PERIOD_NANOS: u64 = 10_000_000;

fn write_profile(scale: u64, ids: Ids) -> Vec<u8> {
    let shape = Shape::new(scale);
    let mut random = Random(0x5EED);
    let mut strings: Vec<String> = WORDS.map(String::from).into();
    let mut out = Message::default();

    write_value_type(&mut out, 1, SAMPLES, COUNT);
    write_value_type(&mut out, 1, CPU, NANOSECONDS);
    write_samples(&mut out, &shape, ids, &mut strings, &mut random);
    write_mappings(&mut out, &shape, ids, &mut strings, &mut random);
    write_locations(&mut out, &shape, ids, &mut random);
    write_functions(&mut out, &shape, ids, &mut strings, &mut random);
    for text in &strings {
        out.bytes(6, text.as_bytes());
    }
    out.number(9, 1_700_000_000_123_456_789); // time_nanos
    out.number(10, 60_000_000_000); // duration_nanos
    write_value_type(&mut out, 11, CPU, NANOSECONDS);
    out.number(12, PERIOD_NANOS);
    out.0
}

fn write_value_type(out: &mut Message, field: u32, kind: u64, unit: u64) {
    out.message(field, |value_type| {
        value_type.number(1, kind);
        value_type.number(2, unit);
    });
}

fn write_samples(
    out: &mut Message,
    shape: &Shape,
    ids: Ids,
    strings: &mut Vec<String>,
    random: &mut Random,
) {
    let threads = strings.len() as u64;
    strings.extend((0..shape.threads).map(|n| format!("grpc-worker-{}/{n}", n / 8)));
    let endpoints = strings.len() as u64;
    strings.extend((0..shape.endpoints).map(|n| {
        let (noun, verb) = (pick(NOUNS, n), pick(VERBS, n / 7));
        format!("/acme.{noun}.v1.{noun}Service/{verb}{n}")
    }));

    let mut tree = CallTree::default();
    for n in 0..shape.samples {
        // Two samples in five have a new stack, evenly spread.
        let is_new = (n + 1) * 2 / 5 > n * 2 / 5 || tree.stacks.is_empty();
        if is_new {
            // A sixteenth of the locations is used from the start, all of them before the end.
            let wanted = shape.locations * (n + shape.samples / 16) / shape.samples;
            tree.grow(wanted.min(shape.locations), random);
        }
        let known = tree.stacks.len() as u64;
        let nth = if is_new { known - 1 } else { random.zipf(known) };
        let stack = tree.stacks[nth as usize].iter().rev(); // pprof names the leaf first
        let count = 1 + random.zipf(400);
        out.message(2, |sample| {
            sample.packed(1, stack.map(|&nth| ids.of(shape.location_row(nth))));
            sample.packed(2, [count, count * PERIOD_NANOS]);
            write_label(sample, THREAD_NAME, threads + random.zipf(shape.threads));
            sample.message(3, |label| {
                label.number(1, REQUEST_SIZE);
                label.number(3, 1 + random.below(1 << 16));
                label.number(4, BYTES);
            });
            if random.below(5) == 0 {
                write_label(sample, ENDPOINT, endpoints + random.below(shape.endpoints));
            }
        });
    }
}

fn write_label(sample: &mut Message, key: u64, text: u64) {
    sample.message(3, |label| {
        label.number(1, key);
        label.number(2, text);
    });
}

/// Stacks of locations, root first, in order of first use. Locations are counted in order of first
/// use.
#[derive(Default)]
struct CallTree {
    stacks: Vec<Vec<u64>>,
    reached: u64,
}

impl CallTree {
    /// Adds a stack that branches off an earlier one at a random height. Above it, it uses new locations
    /// until `wanted` are in use.
    fn grow(&mut self, wanted: u64, random: &mut Random) {
        let depth = 20 + random.below(41).min(random.below(41));
        let depth = if random.below(3) == 0 { depth.min(20 + random.below(41)) } else { depth };
        let mut stack = match self.stacks.len() as u64 {
            0 => Vec::new(),
            known => {
                let parent = &self.stacks[random.zipf(known) as usize];
                let common = depth.min(parent.len() as u64);
                let kept = random.below(common).max(random.below(common));
                parent[..kept as usize].to_vec()
            }
        };
        while (stack.len() as u64) < depth {
            let left = depth - stack.len() as u64;
            let missing = wanted.saturating_sub(self.reached);
            if self.reached == 0 || random.below(left) < missing {
                stack.push(self.reached);
                self.reached += 1;
            } else if random.below(3) == 0 {
                stack.push(random.zipf(self.reached));
            } else {
                stack.push(random.below(self.reached));
            }
        }
        self.stacks.push(stack);
    }
}

/// The program has low addresses, libraries high ones, 4 GiB apart.
fn mapping_start(row: u64) -> u64 {
    if row == 0 { 0x40_0000 } else { 0x7F00_0000_0000 + (row << 32) }
}

fn write_mappings(
    out: &mut Message,
    shape: &Shape,
    ids: Ids,
    strings: &mut Vec<String>,
    random: &mut Random,
) {
    for row in 0..shape.mappings {
        let file = strings.len() as u64;
        strings.push(match row {
            0 => String::from("/usr/local/bin/acme-gateway"),
            _ => format!("/usr/lib/x86_64-linux-gnu/lib{}.so.{row}", pick(NOUNS, row)),
        });
        strings.push((0..5).map(|_| format!("{:08x}", random.next() as u32)).collect());
        out.message(3, |mapping| {
            mapping.number(1, ids.of(row));
            mapping.number(2, mapping_start(row));
            mapping.number(3, mapping_start(row) + 0x1000_0000);
            mapping.number(4, 0x1000);
            mapping.number(5, file);
            mapping.number(6, file + 1);
            for has in 7..=10 {
                mapping.number(has, 1); // functions, filenames, line numbers, inline frames
            }
        });
    }
}

fn write_locations(out: &mut Message, shape: &Shape, ids: Ids, random: &mut Random) {
    for row in 0..shape.locations {
        // Every third location is the first of its function.
        let known = row / 3 + 1;
        let function = if row % 3 == 0 { row / 3 } else { random.below(known) };
        let mapping = random.zipf(shape.mappings);
        let inlined = if random.below(10) == 0 { 1 + random.below(3) } else { 0 };
        out.message(4, |location| {
            location.number(1, ids.of(row));
            location.number(2, ids.of(mapping));
            location.number(3, mapping_start(mapping) + 0x1000 + row * 64 + random.below(64));
            write_line(location, ids.of(function), random);
            for _ in 0..inlined {
                write_line(location, ids.of(random.below(known)), random);
            }
        });
    }
}

fn write_line(location: &mut Message, function: u64, random: &mut Random) {
    location.message(4, |line| {
        line.number(1, function);
        line.number(2, 1 + random.zipf(4000));
    });
}

fn write_functions(
    out: &mut Message,
    shape: &Shape,
    ids: Ids,
    strings: &mut Vec<String>,
    random: &mut Random,
) {
    let mut file = 0;
    for row in 0..shape.functions {
        // Twelve consecutive functions have one language and share five files.
        let language = pick(LANGUAGES, random.hash(row / 12));
        if row == 0 || row * 5 / 12 != (row - 1) * 5 / 12 {
            file = strings.len() as u64;
            strings.push(language.file(row * 5 / 12));
        }
        let name = strings.len() as u64;
        strings.push(language.name(row));
        let system_name = match language.system_name(row) {
            None => name,
            Some(mangled) => {
                strings.push(mangled);
                name + 1
            }
        };
        out.message(5, |function| {
            function.number(1, ids.of(row));
            function.number(2, name);
            function.number(3, system_name);
            function.number(4, file);
            function.number(5, 1 + random.below(2000));
        });
    }
}

#[derive(Clone, Copy)]
enum Language {
    Cpp,
    Go,
    Java,
    C,
}

const LANGUAGES: &[Language] = &[
    Language::Cpp,
    Language::Cpp,
    Language::Cpp,
    Language::Cpp,
    Language::Go,
    Language::Go,
    Language::Java,
    Language::C,
];

const NOUNS: &[&str] = &[
    "Arena", "Batch", "Cache", "Channel", "Checkout", "Cursor", "Frame", "Index", "Ledger",
    "Order", "Packet", "Pool", "Queue", "Router", "Segment", "Session", "Stream", "Table",
];

const VERBS: &[&str] = &[
    "acquire", "append", "compact", "decode", "dispatch", "encode", "flush", "insert", "lookup",
    "merge", "parse", "poll", "read", "release", "resolve", "scan", "submit",
];

impl Language {
    fn file(self, n: u64) -> String {
        let (noun, verb) = (pick(NOUNS, n).to_lowercase(), pick(VERBS, n / 5));
        match self {
            Self::Cpp => format!("/build/acme/src/{noun}/{verb}_{n}.cc"),
            Self::Go => format!("/go/src/github.com/acme/gateway/{noun}/{verb}_{n}.go"),
            Self::Java => format!("com/acme/{noun}/{verb}{n}.java"),
            Self::C => format!("/build/linux/net/{noun}/{verb}_{n}.c"),
        }
    }

    /// Returns a name that ends in `n`, so names are unique.
    fn name(self, n: u64) -> String {
        let (noun, verb) = (pick(NOUNS, n / 12), pick(VERBS, n));
        let module = noun.to_lowercase();
        match self {
            Self::Cpp => {
                format!("acme::{module}::{noun}<std::string>::{verb}_{n:x}(acme::Slice const&)")
            }
            Self::Go => format!("github.com/acme/gateway/{module}.(*{noun}).{verb}.func{n}"),
            Self::Java => format!("com.acme.{module}.{noun}$Worker.{verb}{n}"),
            Self::C => format!("{module}_{verb}_{n:x}"),
        }
    }

    fn system_name(self, n: u64) -> Option<String> {
        let Self::Cpp = self else { return None };
        let (noun, verb) = (pick(NOUNS, n / 12), format!("{}_{n:x}", pick(VERBS, n)));
        let (module, length) = (noun.to_lowercase(), noun.len());
        Some(format!("_ZN4acme{length}{module}{length}{noun}ISsE{}{verb}ERKNS_5SliceE", verb.len()))
    }
}

fn pick<T: Copy>(list: &[T], n: u64) -> T {
    list[(n % list.len() as u64) as usize]
}

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.hash(self.0)
    }

    /// The same number for the same `n`, whatever the state of the generator.
    fn hash(&self, n: u64) -> u64 {
        let n = (n ^ (n >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let n = (n ^ (n >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        n ^ (n >> 31)
    }

    /// A uniform number in 0..`n`.
    fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// A number in 0..`n`. Each octave of ranks is equally likely, so rank `r` is about 1 / (r + 1) as likely
    /// as rank 0. It uses integers only, so that rounding is the same on every machine.
    fn zipf(&mut self, n: u64) -> u64 {
        let first = 1 << self.below(u64::from(n.ilog2()) + 1);
        first - 1 + self.below(u64::min(first, n + 1 - first))
    }
}

/// The bytes of a protobuf message, written field by field.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    /// Writes a number. Omits zero, as proto3 requires.
    fn number(&mut self, field: u32, n: u64) {
        if n != 0 {
            self.varint(u64::from(field) << 3);
            self.varint(n);
        }
    }

    fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn message(&mut self, field: u32, fill: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        fill(&mut inner);
        self.bytes(field, &inner.0);
    }

    fn packed(&mut self, field: u32, numbers: impl IntoIterator<Item = u64>) {
        self.message(field, |body| numbers.into_iter().for_each(|n| body.varint(n)));
    }
}
