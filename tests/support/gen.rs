//! Random pprof files and OTLP payloads of every generation, as prost's types or as [`Doc`]s.
//!
//! Each is derived from a tape of numbers, which proptest shrinks. An exhausted tape gives the smallest values.

use otlp_profiles::proto::pprof;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::doc::{
    Attribute, Doc, Function, Location, Mapping, Profile, Resource, Sample, Scope, Tables, Type,
    Val,
};
use super::forms::{Caps, DefaultBy};
use super::sized;

/// proptest's defaults, but with a tenth of the cases unless [`sized`] runs all, and the same cases on every run
/// unless `PROPTEST_RNG_SEED` is set.
pub fn config() -> ProptestConfig {
    let mut config = ProptestConfig {
        cases: sized(256) as u32,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(20_251_120);
    }
    config
}

/// A source of numbers for random choices.
pub struct Tape(std::vec::IntoIter<u32>);

pub fn tapes() -> impl Strategy<Value = Vec<u32>> {
    vec(any::<u32>(), 0..900)
}

impl Tape {
    pub fn new(numbers: Vec<u32>) -> Self {
        Self(numbers.into_iter())
    }

    pub fn number(&mut self) -> u32 {
        self.0.next().unwrap_or(0)
    }

    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { self.number() as usize % end }
    }

    /// Returns true once in `of` times; false at the end of the tape.
    pub fn once_in(&mut self, of: usize) -> bool {
        self.below(of) + 1 == of
    }

    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    fn many<T>(&mut self, most: usize, mut one: impl FnMut(&mut Self, usize) -> T) -> Vec<T> {
        let count = self.below(most + 1);
        (0..count).map(|at| one(self, at)).collect()
    }

    fn row(&mut self, rows: usize) -> Option<usize> {
        self.below(rows + 1).checked_sub(1)
    }

    fn long(&mut self) -> i64 {
        match self.below(8) {
            0 => 0,
            1 => 1,
            2 => -1 - i64::from(self.number()),
            3 => i64::MAX,
            4 => i64::MIN,
            _ => i64::from(self.number() % 100_000),
        }
    }

    fn wide(&mut self) -> u64 {
        match self.below(5) {
            0 => 0,
            1 => u64::MAX,
            2 => u64::from(self.number()) << 30,
            _ => u64::from(self.number()),
        }
    }

    fn text(&mut self) -> String {
        (*self.pick(&WORDS)).to_owned()
    }
}

const WORDS: [&str; 16] = [
    "",
    "main",
    "a",
    "b",
    "ab",
    "c",
    "bc",
    "μs",
    "日本語",
    "a;b",
    "x\0y",
    "nanoseconds",
    "/usr/lib/libc.so",
    "\n",
    "\u{FFFD}",
    "42",
];
const KEYS: [&str; 7] = ["thread.name", "k", "bytes", "endpoint", "ключ", "z.z", "trace"];
const UNITS: [&str; 7] = ["", "", "By", "", "ns", "", ""];
const TYPES: [&str; 6] = ["samples", "cpu", "alloc_space", "inuse_objects", "wall", "делай"];
const BUILD_IDS: [&str; 5] =
    ["", "0123456789abcdef0123456789abcdef01234567", "a-B_/c/d9/e", "deadbeef", "{\"x\":1}"];

/// Limits on the content of a document.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    pub caps: Caps,
    /// Only data that every generation can represent.
    pub portable: bool,
}

pub fn docs(room: Room) -> impl Strategy<Value = Doc> {
    tapes().prop_map(move |numbers| doc(&mut Tape::new(numbers), room))
}

pub fn doc(tape: &mut Tape, room: Room) -> Doc {
    let tables = tables(tape, room);
    let resources = tape.many(2, |tape, _| Resource {
        attributes: named_values(tape),
        dropped: tape.below(3) as u32,
        entities: if room.caps.entities && !room.portable {
            tape.many(2, |tape, _| {
                (
                    tape.text(),
                    tape.text(),
                    tape.many(2, |t, _| t.text()),
                    tape.many(1, |t, _| t.text()),
                )
            })
        } else {
            Vec::new()
        },
        schema_url: tape.text(),
        scopes: tape.many(2, |tape, _| Scope {
            name: tape.text(),
            version: tape.text(),
            attributes: named_values(tape),
            dropped: tape.below(2) as u32,
            schema_url: tape.text(),
            profiles: tape.many(2, |tape, _| profile(tape, &tables, room)),
        }),
    });
    Doc { resources, tables }
}

fn tables(tape: &mut Tape, room: Room) -> Tables {
    let keyed = room.portable || room.caps.units_by_key;
    let attributes = tape.many(9, |tape, _| {
        let key = tape.below(KEYS.len());
        let unit = if keyed { UNITS[key] } else { *tape.pick(&UNITS) };
        Attribute { key: KEYS[key].to_owned(), value: value(tape, 2), unit: unit.to_owned() }
    });
    let functions = tape.many(5, |tape, row| {
        let mut names = [tape.text(), tape.text(), tape.text()];
        if row == 0 {
            names[0] = "first".to_owned();
        }
        Function { names, start_line: tape.long() }
    });
    let mappings = tape.many(3, |tape, row| Mapping {
        range: [0x1000 * (row as u64 + 1), tape.wide(), tape.wide()],
        filename: tape.text(),
        build_id: (*tape.pick(&BUILD_IDS)).to_owned(),
        flags: tape.below(16) as u8,
        attributes: distinct(tape, &attributes, 2),
    });
    let locations = tape.many(7, |tape, _| Location {
        mapping: tape.row(mappings.len()),
        address: tape.wide(),
        lines: tape.many(3, |tape, _| (tape.row(functions.len()), tape.long(), tape.long())),
        folded: tape.once_in(4),
        frame_type: (*tape.pick(&["", "", "native", "kernel", "jvm", "cpython"])).to_owned(),
        attributes: distinct(tape, &attributes, 2),
    });
    let stacks = if locations.is_empty() {
        Vec::new()
    } else {
        tape.many(6, |tape, _| tape.many(5, |tape, _| tape.below(locations.len())))
    };
    let links = tape.many(3, |tape, row| ([row as u8 + 1; 16], [tape.below(3) as u8 + 1; 8]));
    let (empty_rows, repeat_strings) = (tape.once_in(2), tape.once_in(3));
    Tables {
        mappings,
        locations,
        functions,
        stacks,
        links,
        attributes,
        empty_rows,
        repeat_strings,
        ..Tables::default()
    }
}

/// Rows of attributes with unique keys.
fn distinct(tape: &mut Tape, attributes: &[Attribute], most: usize) -> Vec<usize> {
    let mut rows: Vec<usize> = Vec::new();
    for _ in 0..tape.below(most + 1) {
        let row = tape.below(attributes.len());
        if attributes
            .get(row)
            .is_some_and(|new| rows.iter().all(|&old| attributes[old].key != new.key))
        {
            rows.push(row);
        }
    }
    rows
}

fn named_values(tape: &mut Tape) -> Vec<(String, Val)> {
    let count = tape.below(4);
    KEYS[..count].iter().map(|key| ((*key).to_owned(), value(tape, 2))).collect()
}

fn value(tape: &mut Tape, depth: usize) -> Val {
    match tape.below(if depth == 0 { 6 } else { 8 }) {
        0 => Val::Str(tape.text()),
        1 => Val::Int(tape.long()),
        2 => Val::Bool(tape.once_in(2)),
        3 => Val::Double(*tape.pick(&[0.0, -0.0, 1.5, f64::NAN, f64::NEG_INFINITY, 1e300])),
        4 => Val::Bytes(tape.many(3, |tape, _| tape.number() as u8)),
        5 => Val::Empty,
        6 => Val::Array(tape.many(3, |tape, _| value(tape, depth - 1))),
        _ => Val::Map(tape.many(2, |tape, _| (tape.text(), value(tape, depth - 1)))),
    }
}

fn profile(tape: &mut Tape, tables: &Tables, room: Room) -> Profile {
    let Room { caps, portable } = room;
    let columns = if caps.columns && !portable { tape.below(4) } else { 1 };
    let first = tape.below(3);
    let temporality = |tape: &mut Tape| {
        if caps.temporality && !portable { tape.below(4) as i32 } else { 0 }
    };
    let types: Vec<Type> = (0..columns)
        .map(|at| Type {
            name: TYPES[first + at].to_owned(),
            unit: tape.text(),
            temporality: temporality(tape),
        })
        .collect();
    let default = match caps.default {
        DefaultBy::Name if !portable => {
            tape.pick(&["", "samples", "cpu", "alloc_space", "nothing"]).to_string()
        }
        DefaultBy::Column if !portable && columns > 1 && tape.once_in(2) => {
            types[tape.below(columns - 1)].name.clone()
        }
        _ => String::new(),
    };
    let small = |tape: &mut Tape| i128::from(tape.number()) << 20;
    let time = |tape: &mut Tape| match (portable, caps.signed_time) {
        (true, _) => small(tape),
        (false, true) => tape.long().into(),
        (false, false) => tape.wide().into(),
    };
    let samples = if columns == 0 {
        Vec::new()
    } else {
        tape.many(7, |tape, _| sample(tape, tables, room, columns))
    };
    let id = tape.below(3) as u8 + u8::from(portable || caps.required_id);
    Profile {
        id: [id; 16],
        time: time(tape),
        duration: time(tape),
        types,
        default,
        period_type: if tape.once_in(2) {
            Type { name: tape.text(), unit: tape.text(), temporality: temporality(tape) }
        } else {
            Type::default()
        },
        period: tape.long(),
        comments: tape.many(2, |tape, _| tape.text()),
        drop_frames: tape.text(),
        keep_frames: tape.text(),
        attributes: distinct(tape, &tables.attributes, 3),
        dropped: tape.below(3) as u32,
        original: if tape.once_in(4) {
            ("pprof".to_owned(), vec![1, 2, 3])
        } else {
            (String::new(), Vec::new())
        },
        samples,
        tables: None,
    }
}

fn sample(tape: &mut Tape, tables: &Tables, room: Room, columns: usize) -> Sample {
    let Room { caps, portable } = room;
    let mut times = tape.many(4, |tape, at| (u64::from(tape.number()) << 8) + at as u64);
    times.sort_unstable();
    let mut values: Vec<i64> = (0..columns).map(|_| tape.long()).collect();
    match (caps.columns, portable) {
        // Each timestamp counts one: the only total that is a series as well.
        (true, true) if !times.is_empty() => values = vec![times.len() as i64],
        (true, _) => {}
        (false, _) if times.is_empty() => {}
        (false, _) => {
            values.clear();
            if tape.once_in(2) {
                values.extend(times.iter().map(|_| tape.long()));
            }
        }
    }
    Sample {
        stack: tape.row(tables.stacks.len()),
        attributes: distinct(tape, &tables.attributes, 4),
        link: tape.row(tables.links.len()),
        stacktrace_id: if caps.stacktrace_id && !portable { tape.text() } else { String::new() },
        values,
        times,
    }
}

/// A pprof that its readers accept. Every generation can represent everything in it.
pub fn pprofs() -> impl Strategy<Value = pprof::Profile> {
    tapes().prop_map(|numbers| pprof_profile(&mut Tape::new(numbers)))
}

/// An id in a pprof: consecutive, or arbitrary if `odd`.
fn id(row: usize, odd: bool) -> u64 {
    if odd { (row as u64 * 7 + 3) << (row % 4 * 11) } else { row as u64 + 1 }
}

struct Strings {
    table: Vec<String>,
    repeat: bool,
}

impl Strings {
    fn id(&mut self, text: &str) -> i64 {
        let known = self.table.iter().position(|known| known == text);
        match known {
            Some(at) if at == 0 || !(self.repeat && self.table.len().is_multiple_of(3)) => {
                at as i64
            }
            _ => {
                self.table.push(text.to_owned());
                self.table.len() as i64 - 1
            }
        }
    }

    fn any(&mut self, tape: &mut Tape) -> i64 {
        let text = tape.text();
        self.id(&text)
    }
}

pub fn pprof_profile(tape: &mut Tape) -> pprof::Profile {
    let odd = tape.once_in(3);
    let strings = &mut Strings { table: vec![String::new()], repeat: tape.once_in(2) };
    strings.table.extend(tape.many(2, |tape, at| format!("orphan {at} {}", tape.text())));
    let columns = 1 + tape.below(4);
    let mut sample_type = Vec::new();
    for name in &TYPES[..columns] {
        sample_type.push(pprof::ValueType { r#type: strings.id(name), unit: strings.any(tape) });
    }
    let mapping = tape.many(3, |tape, row| pprof::Mapping {
        id: id(row, odd),
        memory_start: tape.wide(),
        memory_limit: tape.wide(),
        file_offset: tape.wide(),
        filename: strings.any(tape),
        build_id: strings.id(BUILD_IDS[tape.below(BUILD_IDS.len())]),
        has_functions: tape.once_in(2),
        has_filenames: tape.once_in(2),
        has_line_numbers: tape.once_in(2),
        has_inline_frames: tape.once_in(2),
    });
    let function = tape.many(5, |tape, row| pprof::Function {
        id: id(row, odd),
        name: strings.any(tape),
        system_name: strings.any(tape),
        filename: strings.any(tape),
        start_line: tape.long(),
    });
    let reference = |tape: &mut Tape, rows: usize| tape.row(rows).map_or(0, |row| id(row, odd));
    let location = tape.many(7, |tape, row| pprof::Location {
        id: id(row, odd),
        mapping_id: reference(tape, mapping.len()),
        address: tape.wide(),
        line: tape.many(3, |tape, _| pprof::Line {
            function_id: reference(tape, function.len()),
            line: tape.long(),
            column: tape.long(),
        }),
        is_folded: tape.once_in(4),
    });
    let mut sample: Vec<pprof::Sample> = tape.many(7, |tape, _| pprof::Sample {
        location_id: if location.is_empty() {
            Vec::new()
        } else {
            tape.many(5, |tape, _| id(tape.below(location.len()), odd))
        },
        value: (0..columns).map(|_| tape.long()).collect(),
        label: labels(tape, strings),
    });
    if tape.once_in(2) {
        sample.extend_from_within(..sample.len().min(2));
    }
    pprof::Profile {
        drop_frames: strings.any(tape),
        keep_frames: strings.any(tape),
        time_nanos: tape.long().max(0),
        duration_nanos: tape.long().max(0),
        period_type: tape
            .once_in(2)
            .then(|| pprof::ValueType { r#type: strings.any(tape), unit: strings.any(tape) }),
        period: tape.long(),
        comment: tape.many(3, |tape, _| strings.any(tape)),
        default_sample_type: strings.id(["", "samples", "cpu", "no such type"][tape.below(4)]),
        doc_url: strings.any(tape),
        sample_type,
        sample,
        mapping,
        location,
        function,
        string_table: std::mem::take(&mut strings.table),
    }
}

fn labels(tape: &mut Tape, strings: &mut Strings) -> Vec<pprof::Label> {
    let mut labels = tape.many(5, |tape, _| {
        let key = strings.id(KEYS[tape.below(KEYS.len())]);
        let text = if tape.once_in(2) { strings.any(tape) } else { 0 };
        let (num, num_unit) = if text == 0 {
            (tape.long(), strings.id(UNITS[tape.below(UNITS.len())]))
        } else {
            (0, 0)
        };
        pprof::Label { key, str: text, num, num_unit }
    });
    if tape.once_in(4) {
        let texts =
            [("trace_id", "0af7651916cd43dd8448eb211c80319c"), ("span_id", "b7ad6b7169203331")];
        let [trace, span] = texts.map(|(key, text)| pprof::Label {
            key: strings.id(key),
            str: strings.id(text),
            ..Default::default()
        });
        labels.push(trace);
        // Half a link is a regular label.
        labels.extend((!tape.once_in(3)).then_some(span));
    }
    labels
}
