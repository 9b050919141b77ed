//! The forms that OTEP 0239 compared, as its benchmark of 1 November 2023 wrote them. They omit the same
//! data, and have the same ids that are off by one.

use std::collections::HashMap;

use otlp_profiles::proto::pprof::{Label, Location, Profile, Sample};

use super::go::sorted_as_go;
use super::message::Message;

/// The rows of the OTEP's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Pprof,
    Denormalized,
    Normalized,
    Arrays,
    PprofExtended,
}

#[allow(dead_code, reason = "the test of the table has no names")]
impl Form {
    pub const ALL: [Self; 5] =
        [Self::Pprof, Self::Denormalized, Self::Normalized, Self::Arrays, Self::PprofExtended];

    pub fn name(self) -> &'static str {
        match self {
            Self::Pprof => "pprof",
            Self::Denormalized => "denormalized",
            Self::Normalized => "normalized",
            Self::Arrays => "arrays",
            Self::PprofExtended => "pprofextended",
        }
    }
}

/// The id of every profile.
pub const ID: [u8; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

/// The payload of a form: a container with an id and the profile, in an envelope.
pub fn payload(profile: &Profile, form: Form) -> Vec<u8> {
    let (number, message) = match form {
        Form::Pprof => (101, pprof(profile)),
        Form::Normalized => (102, normalized(profile)),
        Form::Arrays => (103, arrays(profile)),
        Form::Denormalized => (104, denormalized(profile)),
        Form::PprofExtended => (105, pprofextended(profile)),
    };
    let container = Message::default().bytes(1, &ID).message(number, &message);
    let scope = Message::default().bytes(1, &[]).message(2, &container);
    let resource = Message::default().bytes(1, &[]).message(2, &scope).text(3, "todo");
    Message::default().message(1, &resource).0
}

/// The time of the timestamped variant. The original run had an unknown time; this second reproduces the
/// published gzip sizes.
pub const SECOND: u64 = 1_698_627_941_000_000_000;

/// The variant with timestamps: every observation becomes a sample with its second. The benchmark adds
/// milliseconds to its current time and keeps the seconds.
pub fn with_timestamps(profile: &Profile, start_nanos: u64) -> Profile {
    let mut timed = profile.clone();
    let key = timed.string_table.len() as i64;
    timed.string_table.push("__timestamp__".to_owned());
    timed.sample.clear();
    for sample in &profile.sample {
        for at in 0..sample.value.first().copied().unwrap_or(0) {
            let num = (start_nanos / 1_000_000 + at as u64) as i64 / 1000;
            let mut label = sample.label.clone();
            label.push(Label { key, num, ..Default::default() });
            let location_id = sample.location_id.clone();
            timed.sample.push(Sample { location_id, value: vec![1, 1], label });
        }
    }
    timed
}

/// A string table in order of first use. Strings are identified by their old index.
struct Strings<'a> {
    old: &'a [String],
    new: Vec<&'a str>,
    index: HashMap<i64, u64>,
}

impl<'a> Strings<'a> {
    fn of(profile: &'a Profile) -> Self {
        Self { old: &profile.string_table, new: vec![""], index: HashMap::from([(0, 0)]) }
    }

    fn index(&mut self, old: i64) -> u64 {
        let next = self.new.len() as u64;
        let index = *self.index.entry(old).or_insert(next);
        if index == next {
            self.new.push(&self.old[old as usize]);
        }
        index
    }

    fn table(&self, message: Message, number: u32) -> Message {
        self.new.iter().fold(message, |message, text| message.bytes(number, text.as_bytes()))
    }
}

/// The labels of a sample that are not attributes.
#[derive(Default)]
struct Special<'a> {
    timestamp: u64,
    span_id: &'a str,
    trace_id: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
    /// The key of a set of attributes.
    key: Vec<(i64, i64)>,
}

fn special<'a>(sample: &Sample, strings: &'a [String]) -> Special<'a> {
    let mut said = Special::default();
    for label in &sample.label {
        let (key, value) = (&strings[label.key as usize], &strings[label.str as usize]);
        match key.as_str() {
            "__timestamp__" => said.timestamp = label.num as u64,
            "span_id" => said.span_id = value,
            "trace_id" => said.trace_id = value,
            _ => {
                said.attributes.push((key, value));
                said.key.push((label.key, label.str));
            }
        }
    }
    said
}

impl Special<'_> {
    /// A link, if both ids are set: hexadecimal after two letters.
    fn link(&self, first: u32) -> Option<Message> {
        let id = |text: &str, length: usize| -> Vec<u8> {
            let digits = text.get(2..).unwrap_or_default().as_bytes().chunks(2);
            let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
            digits.filter_map(byte).chain([0; 16]).take(length).collect()
        };
        let both = !self.span_id.is_empty() && !self.trace_id.is_empty();
        both.then(|| {
            let trace_id = id(self.trace_id, 16);
            Message::default().bytes(first, &trace_id).bytes(first + 1, &id(self.span_id, 8))
        })
    }

    fn attributes(&self, message: Message, number: u32) -> Message {
        self.attributes.iter().fold(message, |message, (key, value)| {
            let value = Message::default().bytes(1, value.as_bytes());
            message.message(number, &Message::default().text(1, key).message(2, &value))
        })
    }
}

fn int(value: i64) -> u64 {
    value as u64
}

fn values(sample: &Sample) -> impl Iterator<Item = u64> {
    sample.value.iter().copied().map(int)
}

fn pprof(profile: &Profile) -> Message {
    let mut strings = Strings::of(profile);
    let mappings = profile.mapping.iter().map(|row| {
        let mapping = Message::default().int(1, row.id).int(2, row.memory_start);
        let mapping = mapping.int(3, row.memory_limit).int(4, row.file_offset);
        let mapping =
            mapping.int(5, strings.index(row.filename)).int(6, strings.index(row.build_id));
        let mapping = mapping.int(7, row.has_functions.into()).int(8, row.has_filenames.into());
        mapping.int(9, row.has_line_numbers.into()).int(10, row.has_inline_frames.into())
    });
    let mappings: Vec<Message> = mappings.collect();
    let functions: Vec<Message> = functions(profile, &mut strings, 2, true);
    let locations = |row: &Location| {
        let location = Message::default().int(1, row.id).int(2, row.mapping_id).int(3, row.address);
        lines(row, location, 4).int(5, row.is_folded.into())
    };
    let samples = profile.sample.iter().map(|row| {
        let sample = Message::default().packed(1, row.location_id.iter().copied());
        row.label.iter().fold(sample.packed(2, values(row)), |sample, label| {
            let said = Message::default().int(1, int(label.key));
            sample.message(3, &said.int(2, strings.index(label.str)).int(3, int(label.num)))
        })
    });
    let samples: Vec<Message> = samples.collect();
    let message = Message::default().rows(2, &samples, Message::clone);
    let message = message.rows(3, &mappings, Message::clone).rows(4, &profile.location, locations);
    strings.table(message.rows(5, &functions, Message::clone), 6)
}

fn functions(profile: &Profile, strings: &mut Strings, first: u32, id: bool) -> Vec<Message> {
    let row = profile.function.iter().map(|row| {
        let function = if id { Message::default().int(1, row.id) } else { Message::default() };
        let function = function.int(first, strings.index(row.name));
        let function = function.int(first + 1, strings.index(row.system_name));
        function.int(first + 2, strings.index(row.filename)).int(first + 3, int(row.start_line))
    });
    row.collect()
}

fn mappings(profile: &Profile, strings: &mut Strings, first: u32) -> Vec<Message> {
    let row = profile.mapping.iter().map(|row| {
        let mapping = Message::default().int(first, row.memory_start);
        let mapping = mapping.int(first + 1, row.memory_limit).int(first + 2, row.file_offset);
        let mapping = mapping.int(first + 3, strings.index(row.filename));
        mapping.int(first + 4, strings.index(row.build_id))
    });
    row.collect()
}

fn lines(row: &Location, location: Message, number: u32) -> Message {
    location.rows(number, &row.line, |line| {
        Message::default().int(1, line.function_id).int(2, int(line.line))
    })
}

fn locations(profile: &Profile, message: Message, number: u32, first: u32) -> Message {
    message.rows(number, &profile.location, |row| {
        let location = Message::default().int(first, row.mapping_id).int(first + 1, row.address);
        lines(row, location, first + 2)
    })
}

fn denormalized(profile: &Profile) -> Message {
    let text = |index: i64| profile.string_table[index as usize].as_str();
    let function = |id: u64| {
        let row = profile.function.get(id as usize);
        row.map_or_else(Message::default, |row| {
            let function =
                Message::default().text(1, text(row.name)).text(2, text(row.system_name));
            function.text(3, text(row.filename)).int(4, row.start_line as u32 as u64)
        })
    };
    let location = |id: &u64| {
        let row = profile.location.get(*id as usize);
        row.map_or_else(Message::default, |row| {
            Message::default().rows(3, &row.line, |line| {
                Message::default().message(1, &function(line.function_id)).int(2, int(line.line))
            })
        })
    };
    Message::default().rows(2, &profile.sample, |row| {
        let said = special(row, &profile.string_table);
        let stack = Message::default().rows(1, &row.location_id, location);
        let mut sample = Message::default().message(1, &stack);
        if let Some(link) = said.link(1) {
            sample = sample.message(2, &link);
        }
        said.attributes(sample, 3).packed_fixed(5, values(row)).fixed(6, said.timestamp)
    })
}

/// Rows numbered in order of first use.
struct Rows<K> {
    index: HashMap<K, u64>,
    rows: Vec<Message>,
}

impl<K: std::hash::Hash + Eq> Rows<K> {
    fn from(rows: Vec<Message>) -> Self {
        Self { index: HashMap::new(), rows }
    }

    fn index(&mut self, key: K, row: impl FnOnce() -> Message) -> u64 {
        *self.index.entry(key).or_insert_with(|| {
            self.rows.push(row());
            self.rows.len() as u64 - 1
        })
    }
}

type Sets = Rows<Vec<(i64, i64)>>;
type Stacks<'a> = Rows<&'a [u64]>;

fn stack(ids: &[u64]) -> Message {
    Message::default().packed(1, ids.iter().copied())
}

fn normalized(profile: &Profile) -> Message {
    let mut strings = Strings::of(profile);
    let mappings = mappings(profile, &mut strings, 1);
    let functions = functions(profile, &mut strings, 1, false);
    let (mut stacks, mut sets) = (Stacks::from(Vec::new()), Sets::from(Vec::new()));
    let samples = profile.sample.iter().map(|row| {
        let said = special(row, &profile.string_table);
        let set = sets.index(said.key.clone(), || said.attributes(Message::default(), 1));
        let stack = stacks.index(&row.location_id, || stack(&row.location_id));
        let sample = Message::default().int(1, stack).packed(3, [set]);
        sample.packed(4, values(row)).fixed(5, said.timestamp)
    });
    let samples: Vec<Message> = samples.collect();
    let message = Message::default().rows(2, &stacks.rows, Message::clone);
    let message = message.rows(3, &samples, Message::clone).rows(4, &mappings, Message::clone);
    let message = locations(profile, message, 5, 1).rows(6, &functions, Message::clone);
    strings.table(message.rows(8, &sets.rows, Message::clone), 9)
}

fn arrays(profile: &Profile) -> Message {
    let mut strings = Strings::of(profile);
    let functions = functions(profile, &mut strings, 1, false);
    let mappings = mappings(profile, &mut strings, 1);
    let mut stacks = Stacks::from(Vec::new());
    let mut sets = Sets::from(vec![Message::default()]);
    let mut links = vec![Message::default().bytes(1, &[]).bytes(2, &[])];
    let types = profile.sample_type.iter().map(|_| {
        let samples = profile.sample.len();
        let mut columns: [Vec<u64>; 5] = std::array::from_fn(|_| Vec::with_capacity(samples));
        for row in &profile.sample {
            let said = special(row, &profile.string_table);
            let link = said.link(1).map_or(0, |link| {
                links.push(link);
                links.len() as u64 - 1
            });
            let set = sets.index(said.key.clone(), || said.attributes(Message::default(), 1));
            let stack = stacks.index(&row.location_id, || stack(&row.location_id));
            // Uses the value of the first type for every type.
            let value = row.value.first().copied().map_or(0, int);
            let row = [stack, link, set, value, said.timestamp];
            columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        }
        let sparse = [false, true, true, false, true];
        let columns = columns.into_iter().zip(sparse).zip(10..);
        columns.fold(Message::default(), |message, ((column, sparse), number)| {
            if sparse && column.iter().all(|value| *value == 0) {
                return message;
            }
            message.packed(number, column)
        })
    });
    let types: Vec<Message> = types.collect();
    let message = Message::default().rows(2, &stacks.rows, Message::clone);
    let message = locations(profile, message.rows(4, &mappings, Message::clone), 5, 1);
    let message = message.rows(6, &functions, Message::clone).rows(7, &links, Message::clone);
    let message = strings.table(message.rows(8, &sets.rows, Message::clone), 9);
    message.rows(10, &types, Message::clone)
}

fn pprofextended(profile: &Profile) -> Message {
    let mut strings = Strings::of(profile);
    let mappings = mappings(profile, &mut strings, 2);
    let functions = functions(profile, &mut strings, 2, false);
    let lengths: Vec<usize> = profile.sample.iter().map(|row| row.location_id.len()).collect();
    let order = sorted_as_go(&lengths);
    let mut runs = Runs::default();
    let samples = order.iter().enumerate().map(|(place, &at)| {
        let row = &profile.sample[at];
        if runs.length != row.location_id.len() {
            let rest = order[place..].iter().map(|&at| &profile.sample[at].location_id[..]);
            runs.look_for(rest.take_while(|stack| stack.len() == row.location_id.len()));
        }
        let (start, length) = (runs.start(&row.location_id), row.location_id.len() as u64);
        let sample = Message::default().packed(2, values(row)).int(4, start as u64).int(5, length);
        let timestamp = special(row, &profile.string_table).timestamp;
        sample.packed(6, (timestamp != 0).then_some(timestamp))
    });
    let samples: Vec<Message> = samples.collect();
    let message = Message::default().rows(2, &samples, Message::clone);
    let message = locations(profile, message.rows(3, &mappings, Message::clone), 4, 2);
    let message = message.rows(5, &functions, Message::clone);
    strings.table(message, 6).packed(15, runs.cells)
}

/// The array of locations, in which every stack is a slice. A stack reuses the last equal slice, except
/// one at the very end, or appends a new one. Stacks arrive longest first.
///
/// The benchmark compares every sample with every position. A rolling hash gives the same result in
/// linear time per length.
#[derive(Default)]
struct Runs {
    cells: Vec<u64>,
    /// The current stack length.
    length: usize,
    /// The last position of an equal slice, by the hash of the stack.
    places: HashMap<u64, Option<usize>>,
    /// The low bits of these hashes, as a filter: most slices match no stack.
    bits: Vec<u64>,
    /// The first position not yet compared, its hash, and the last power of the base.
    compared: usize,
    hash: u64,
    power: u64,
}

const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// The contribution of a cell to a hash.
fn part(cell: u64) -> u64 {
    let mixed = (cell ^ cell >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ mixed >> 32
}

fn hash(stack: &[u64]) -> u64 {
    stack.iter().fold(0, |hash: u64, cell| hash.wrapping_mul(BASE).wrapping_add(part(*cell)))
}

impl Runs {
    fn look_for<'a>(&mut self, stacks: impl Iterator<Item = &'a [u64]>) {
        self.places.clear();
        self.bits = vec![0; 1 << 12];
        for stack in stacks {
            self.length = stack.len();
            let hash = hash(stack);
            self.bits[(hash >> 6) as usize % (1 << 12)] |= 1 << (hash % 64);
            self.places.insert(hash, None);
        }
        self.compared = 0;
        self.hash = hash(&self.cells[..self.length.min(self.cells.len())]);
        self.power = (1..self.length).fold(1, |power, _| power.wrapping_mul(BASE));
    }

    /// Compares the slices that begin before the last one.
    fn compare(&mut self) {
        while self.compared + self.length < self.cells.len() {
            let hash = self.hash;
            if self.bits[(hash >> 6) as usize % (1 << 12)] >> (hash % 64) & 1 != 0
                && let Some(place) = self.places.get_mut(&hash)
            {
                *place = Some(self.compared);
            }
            let leaving = part(self.cells[self.compared]).wrapping_mul(self.power);
            let entering = part(self.cells[self.compared + self.length]);
            self.hash = hash.wrapping_sub(leaving).wrapping_mul(BASE).wrapping_add(entering);
            self.compared += 1;
        }
    }

    fn start(&mut self, stack: &[u64]) -> usize {
        if stack.is_empty() {
            return self.cells.len();
        }
        let empty = self.cells.is_empty();
        self.compare();
        if let Some(place) = self.places.get(&hash(stack)).copied().flatten() {
            assert_eq!(self.cells[place..place + stack.len()], *stack, "two runs have one hash");
            return place;
        }
        self.cells.extend_from_slice(stack);
        if empty || self.compared + self.length == self.cells.len() {
            self.hash = hash(&self.cells[self.compared..self.compared + self.length]);
        }
        self.cells.len() - stack.len()
    }
}
