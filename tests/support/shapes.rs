//! Payloads of which one thing grows: profiles, sample types, frames of a stack, a name.

use std::collections::HashMap;

use super::wire::{int, len, nest, varint};

/// A shape: its name, whether it is pprof, and its payload with so many of something.
pub type Shape = (&'static str, bool, fn(u32) -> Vec<u8>);

/// The most attributes that the limits of files allow on one item.
const ATTRIBUTES: u32 = 65_000;

fn strings(texts: &[String]) -> Vec<u8> {
    len(6, b"").into_iter().chain(texts.iter().flat_map(|text| len(6, text.as_bytes()))).collect()
}

/// A pprof that is written sample by sample.
#[derive(Default)]
struct Pprof {
    texts: Vec<String>,
    rows: HashMap<String, u64>,
    functions: HashMap<(u64, u64), u64>,
    out: Vec<u8>,
}

impl Pprof {
    fn text(&mut self, text: &str) -> u64 {
        let next = self.texts.len() as u64 + 1;
        let row = *self.rows.entry(text.to_owned()).or_insert(next);
        if row == next {
            self.texts.push(text.to_owned());
        }
        row
    }

    fn location(&mut self, name: &str, line: u64) -> u64 {
        let (name, next) = (self.text(name), self.functions.len() as u64 + 1);
        let id = *self.functions.entry((name, line)).or_insert(next);
        if id == next {
            self.out.extend(len(5, &[int(1, id), int(2, name), int(5, line)].concat()));
            self.out.extend(len(4, &[int(1, id), len(4, &int(1, id))].concat()));
        }
        id
    }

    fn sample(&mut self, frames: &[String], values: &[u64], labels: &[(&str, &str)]) {
        let ids: Vec<u8> = frames.iter().flat_map(|name| varint(self.location(name, 0))).collect();
        self.put(ids, values, labels);
    }

    fn put(&mut self, ids: Vec<u8>, values: &[u64], labels: &[(&str, &str)]) {
        let values: Vec<u8> = values.iter().flat_map(|value| varint(*value)).collect();
        let mut sample = [len(1, &ids), len(2, &values)].concat();
        for (key, value) in labels {
            let label = [int(1, self.text(key)), int(2, self.text(value))].concat();
            sample.extend(len(3, &label));
        }
        self.out.extend(len(2, &sample));
    }

    fn finish(mut self, types: impl Iterator<Item = String>) -> Vec<u8> {
        let unit = self.text("u");
        let types: Vec<u8> = types
            .flat_map(|name| len(1, &[int(1, self.text(&name)), int(2, unit)].concat()))
            .collect();
        [types, self.out, strings(&self.texts)].concat()
    }
}

fn frames(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// A pprof of one sample type.
fn pprof(build: impl FnOnce(&mut Pprof)) -> Vec<u8> {
    let mut pprof = Pprof::default();
    build(&mut pprof);
    pprof.finish(std::iter::once("cpu".to_owned()))
}

/// A pprof with a sample for each number.
fn samples(n: u32, frames_of: impl Fn(u32) -> Vec<String>) -> Vec<u8> {
    pprof(|pprof| (0..n).for_each(|row| pprof.sample(&frames_of(row), &[u64::from(row) + 1], &[])))
}

/// A pprof of one sample with so many values, each of the type of the name.
fn types(n: u32, name: impl Fn(u32) -> String) -> Vec<u8> {
    let mut pprof = Pprof::default();
    let values: Vec<u64> = (1..=n.into()).collect();
    pprof.sample(&frames(&["a", "b"]), &values, &[]);
    pprof.finish((0..n).map(name))
}

/// A pprof of samples with labels.
fn labels(n: u32, pair: impl Fn(u32) -> (String, String)) -> Vec<u8> {
    pprof(|pprof| {
        for (key, value) in (0..n).map(pair) {
            pprof.sample(&frames(&["a", "b"]), &[1], &[(&key, &value)]);
        }
    })
}

/// A pprof of one sample with all labels.
fn label_list(n: u32, pair: impl Fn(u32) -> (String, String)) -> Vec<u8> {
    let pairs: Vec<(String, String)> = (0..n.min(ATTRIBUTES)).map(pair).collect();
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(key, value)| (&**key, &**value)).collect();
    pprof(|pprof| pprof.sample(&frames(&["a", "b"]), &[1], &pairs))
}

const TIME: u64 = 1_700_000_000_000_000_000;

fn pair(key: &str, value: &str) -> Vec<u8> {
    [len(1, key.as_bytes()), nest(&[2, 1], value.as_bytes())].concat()
}

/// A payload of OTLP 1.10 with a stack of two frames, and attributes with a key and a value.
fn otlp(resources: &[u8], attributes: &[[String; 2]], types: u32) -> Vec<u8> {
    let fixed = frames(&["t", "u", "a", "b"]).into_iter();
    let names = (0..types).map(|row| format!("t{row}"));
    let keys = attributes.iter().map(|[key, _]| key.clone());
    let texts: Vec<String> = fixed.chain(names).chain(keys).collect();
    let first = u64::from(types) + 5;
    let attribute = |(row, [_, value]): (usize, &[String; 2])| {
        len(6, &[int(1, first + row as u64), nest(&[2, 1], value.as_bytes())].concat())
    };
    let empty: Vec<u8> = [1, 2, 3, 4, 6, 7].iter().flat_map(|table| len(*table, b"")).collect();
    let functions = [len(3, &int(1, 3)), len(3, &int(1, 4))].concat();
    let locations = [nest(&[2, 3], &int(1, 1)), nest(&[2, 3], &int(1, 2))].concat();
    let rows: Vec<u8> = attributes.iter().enumerate().flat_map(attribute).collect();
    let tables = [empty, functions, locations, len(7, &len(1, &[1, 2])), rows, strings_of(&texts)];
    [resources.to_vec(), len(2, &tables.concat())].concat()
}

/// The table of strings of a dictionary.
fn strings_of(texts: &[String]) -> Vec<u8> {
    std::iter::once("")
        .chain(texts.iter().map(|text| &**text))
        .flat_map(|text| len(5, text.as_bytes()))
        .collect()
}

fn profile(row: u32, name: u64, time: u64, samples: &[u8]) -> Vec<u8> {
    let kind = len(1, &[int(1, name), int(2, 2)].concat());
    let id = len(7, &(u128::from(row) + 1).to_be_bytes());
    let time = [vec![0x19], time.to_le_bytes().to_vec()].concat();
    len(2, &[kind, samples.to_vec(), time, int(4, 1_000_000_000), id].concat())
}

fn sample(value: u32) -> Vec<u8> {
    len(2, &[int(1, 1), len(4, &varint(u64::from(value) + 1))].concat())
}

fn scope(name: &str, profiles: &[u8]) -> Vec<u8> {
    len(2, &[nest(&[1, 1], name.as_bytes()), profiles.to_vec()].concat())
}

fn resource(name: &str, scopes: &[u8]) -> Vec<u8> {
    len(1, &[nest(&[1, 1], &pair("service.name", name)), scopes.to_vec()].concat())
}

/// One profile for each number, in one scope.
fn profiles(n: u32, name: impl Fn(u32) -> u64, time: impl Fn(u32) -> u64, types: u32) -> Vec<u8> {
    let all: Vec<u8> =
        (0..n).flat_map(|row| profile(row, name(row), time(row), &sample(row))).collect();
    otlp(&resource("s", &scope("x", &all)), &[], types)
}

/// One profile in each scope or resource.
fn apart(n: u32, place: impl Fn(u32, &[u8]) -> Vec<u8>) -> Vec<u8> {
    (0..n).flat_map(|row| place(row, &profile(row, 1, TIME, &sample(row)))).collect()
}

/// A name as long as 10 times the number.
fn long(n: u32) -> String {
    "x".repeat(n as usize * 10)
}

/// A payload of OTLP 1.10 with one profile: a sample of 7, and one with three timestamps that count 1 each.
pub fn mixed() -> Vec<u8> {
    let times: Vec<u8> = (0..3).flat_map(|row| (TIME + row).to_le_bytes()).collect();
    let events = len(2, &[int(1, 1), len(5, &times)].concat());
    let samples = [sample(6), events].concat();
    otlp(&resource("s", &scope("x", &profile(0, 1, TIME, &samples))), &[], 0)
}

/// The shapes, in which at most 1,000 stacks or frames repeat a long name.
pub const SHAPES: [Shape; 28] = [
    ("profiles", false, |n| profiles(n, |_| 1, |_| TIME, 0)),
    ("profiles of different types", false, |n| profiles(n, |row| u64::from(row) + 5, |_| TIME, n)),
    ("profiles at different times", false, |n| {
        profiles(n, |_| 1, |row| TIME + u64::from(row) * 1_000_000_000, 0)
    }),
    ("scopes", false, |n| {
        let scopes = apart(n, |row, profile| scope(&format!("x{row}"), profile));
        otlp(&resource("s", &scopes), &[], 0)
    }),
    ("resources", false, |n| {
        otlp(&apart(n, |row, profile| resource(&format!("s{row}"), &scope("x", profile))), &[], 0)
    }),
    ("equal resources", false, |n| {
        otlp(&apart(n, |_, profile| resource("s", &scope("x", profile))), &[], 0)
    }),
    ("sample types", true, |n| types(n, |row| format!("t{row}"))),
    ("equal sample types", true, |n| types(n, |_| "t".to_owned())),
    ("label keys", true, |n| labels(n, |row| (format!("k{row}"), "v".to_owned()))),
    ("label values", true, |n| labels(n, |row| ("thread".to_owned(), format!("v{row}")))),
    ("labels of a sample", true, |n| label_list(n, |row| (format!("k{row}"), "v".to_owned()))),
    ("labels of one key", true, |n| label_list(n, |row| ("k".to_owned(), format!("v{row}")))),
    ("functions", true, |n| samples(n, |row| vec![format!("f{row}"), "main".to_owned()])),
    ("functions of one name", true, |n| {
        pprof(|pprof| {
            for row in 0..n {
                let ids = [pprof.location("f", row.into()), pprof.location("main", 0)];
                pprof.put(ids.into_iter().flat_map(varint).collect(), &[u64::from(row) + 1], &[]);
            }
        })
    }),
    ("a deep stack", true, |n| samples(1, |_| (0..n).map(|row| format!("f{row}")).collect())),
    ("a deep recursion", true, |n| {
        samples(2, |row| {
            [vec!["g".to_owned(); row as usize], vec!["f".to_owned(); n as usize]].concat()
        })
    }),
    ("deep stacks", true, |n| {
        samples(50, |row| {
            (0..row * (n / 50)).map(|at| format!("f{at}")).chain(frames(&["r"])).collect()
        })
    }),
    ("mappings", true, |n| {
        pprof(|pprof| {
            for row in 0..n {
                let file = pprof.text(&format!("/lib/l{row}.so"));
                pprof.out.extend(len(3, &[int(1, u64::from(row) + 1), int(5, file)].concat()));
            }
            pprof.sample(&frames(&["a", "b"]), &[1], &[]);
        })
    }),
    ("comments", true, |n| {
        pprof(|pprof| {
            pprof.sample(&frames(&["a", "b"]), &[1], &[]);
            for row in 0..n {
                let text = pprof.text(&format!("c{row}"));
                pprof.out.extend(int(13, text));
            }
        })
    }),
    ("names with hashes", true, |n| {
        samples(n, |row| {
            vec![format!("_ZN4core3ops8function{row}E17h{row:016x}E"), "main".to_owned()]
        })
    }),
    ("names of separators", true, |n| {
        let parts = ["a/", "b.", "<", "(", "x::"];
        samples(1, |_| parts.map(|part| part.repeat(n as usize) + "x").to_vec())
    }),
    ("timestamps", false, |n| {
        let times: Vec<u8> = (0..n).flat_map(|row| (TIME + u64::from(row)).to_le_bytes()).collect();
        let sample = len(2, &[int(1, 1), len(5, &times)].concat());
        otlp(&resource("s", &scope("x", &profile(0, 1, TIME, &sample))), &[], 0)
    }),
    ("attributes", false, |n| {
        let attributes: Vec<[String; 2]> =
            (0..n).map(|row| [format!("k{}", row % 50_000), format!("v{row}")]).collect();
        let sample = |row: u32| {
            len(2, &[int(1, 1), len(2, &varint(u64::from(row) + 1)), len(4, &[1])].concat())
        };
        let samples: Vec<u8> = (0..n).flat_map(sample).collect();
        otlp(&resource("s", &scope("x", &profile(0, 1, TIME, &samples))), &attributes, 0)
    }),
    ("attributes of a resource", false, |n| {
        let pairs = |row: u32| len(1, &pair(&format!("k{row}"), "v"));
        let pairs: Vec<u8> = (0..n.min(ATTRIBUTES)).flat_map(pairs).collect();
        let scope = scope("x", &profile(0, 1, TIME, &sample(1)));
        otlp(&len(1, &[len(1, &pairs), scope].concat()), &[], 0)
    }),
    ("a long name in a deep stack", true, |n| {
        samples(1, |_| (0..1_000).map(|row| format!("{}{}", long(n), row % 2)).collect())
    }),
    ("a long name in many stacks", true, |n| {
        samples(1_000, |row| vec![format!("leaf{row}"), long(n)])
    }),
    ("a long name at many leaves", true, |n| {
        samples(1_000, |row| vec![long(n), format!("mid{row}")])
    }),
    ("a long label of many samples", true, |n| {
        pprof(|pprof| {
            for row in 0..1_000 {
                pprof.sample(&[format!("leaf{row}")], &[1], &[("thread", &long(n))]);
            }
        })
    }),
];
