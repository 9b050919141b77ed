//! Cost grows no faster than the input: allocations, memory and executed instructions at most double when a hostile
//! input doubles, measured over two doublings.
//!
//! Instructions are counted by valgrind, which needs no clock and sees every loop, also those of the standard library:
//! allocations alone miss a quadratic search or `Vec::insert`. [`count_instructions`] runs in callgrind, which writes one
//! file for each call of [`next_case`].
#![cfg(all(feature = "check", feature = "summary", feature = "formats"))]

use std::process::Command;

use otlp_profiles::check::{Options, fix, validate};
use otlp_profiles::compression::{Level, deflate};
use otlp_profiles::{Ambiguity, Format, Limits, Policy, ReadOptions, Summary, WriteOptions};

use crate::support::alloc::cost;
use crate::support::sized;
use crate::support::wire::{GROUP, GROUP_END, LEN, int, len, nest, overlong, tag, varint};

/// The most that a cost may grow when the input doubles. More than 2, because sorting costs n log n.
const PER_DOUBLING: f64 = 2.2;
const MIB: u64 = 1 << 20;

/// An input that grows with a number of rows.
struct Case(&'static str, Format, fn(u32) -> Vec<u8>);

/// Something done with a payload of a format.
type Operation = fn(Format, &[u8]);

/// Operations on bytes. Some have the most bytes of memory that they take per byte of the inflated input beyond 1 MiB, as
/// SECURITY.md states them. `memory.rs` tests that of reading, which is a limit; the others also depend on the output.
const OPERATIONS: [(&str, Option<u64>, Operation); 7] = [
    ("read", None, |format, bytes| drop(otlp_profiles::read(bytes, &options(format)))),
    ("repair", None, |format, bytes| {
        drop(otlp_profiles::read(bytes, &options(format).policy(Policy::Repair)));
    }),
    ("detect", Some(2), |_, bytes| {
        drop(otlp_profiles::detect(bytes, &ReadOptions::default().limits(Limits::file())));
    }),
    ("validate", Some(24), |format, bytes| drop(validate(bytes, &checks(format)))),
    ("summary", None, |format, bytes| drop(Summary::of(bytes, &options(format)))),
    ("fix", None, |format, bytes| drop(fix(bytes, &checks(format)))),
    ("convert", None, |format, bytes| {
        let Ok(reading) = otlp_profiles::read(bytes, &options(format)) else { return };
        for to in [Format::OTLP, Format::OTLP_1_3, Format::PPROF] {
            drop(otlp_profiles::write_all(&reading.profiles, to, &WriteOptions::default()));
        }
    }),
];

fn options(format: Format) -> ReadOptions {
    ReadOptions::default().limits(Limits::file()).format(format).ambiguity(Ambiguity::Prefer)
}

fn checks(format: Format) -> Options {
    Options::default().limits(Limits::file()).format(format)
}

fn many(rows: u32, row: impl FnMut(u32) -> Vec<u8>) -> Vec<u8> {
    (0..rows).flat_map(row).collect()
}

fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// A payload of 1.10 with an empty row 0 in each table, one name, and one function, location and stack.
fn otlp(profile: &[u8], tables: &[u8]) -> Vec<u8> {
    let empty = many(7, |table| len(table + 1, b""));
    let rows = [
        len(5, b"cpu"),
        len(3, &int(1, 1)),
        len(2, &len(3, &int(1, 1))),
        len(7, &len(1, &[1])),
        len(6, &join(&[&int(1, 1), &len(2, &int(3, 1))])),
    ];
    let profile = join(&[&len(1, &join(&[&int(1, 1), &int(2, 1)])), profile]);
    join(&[&nest(&[1, 2, 2], &profile), &len(2, &join(&[&empty, &rows.concat(), tables]))])
}

/// A sample of 1.10 with a value and other fields.
fn sample(fields: &[u8]) -> Vec<u8> {
    len(2, &join(&[&int(1, 1), &len(4, &[1]), fields]))
}

/// A pprof with one sample type.
fn pprof(rest: &[u8]) -> Vec<u8> {
    join(&[&len(6, b""), &len(6, b"cpu"), &len(1, &join(&[&int(1, 1), &int(2, 1)])), rest])
}

/// A sample of pprof at a location.
fn pprof_sample(location: u64, fields: &[u8]) -> Vec<u8> {
    len(2, &join(&[&len(1, &varint(location)), &len(2, &[1]), fields]))
}

/// A payload of 1.7 with a profile, and 1,000 locations.
fn otlp_1_7(profile: &[u8]) -> Vec<u8> {
    let tables = join(&[&len(5, b""), &many(1_000, |row| len(2, &int(2, row.into())))]);
    join(&[&nest(&[1, 2, 2], &join(&[&len(1, b""), profile])), &len(2, &tables)])
}

fn text(row: u32) -> Vec<u8> {
    format!("name {row}").into_bytes()
}

/// A scrambled number, so that ids and strings come in no order.
fn scrambled(row: u32) -> u32 {
    row.wrapping_mul(2_654_435_761)
}

const CASES: &[Case] = &[
    // Equal rows, and ids that collide in the low bits.
    Case("equal functions", Format::OTLP, |n| otlp(&sample(b""), &many(n, |_| len(3, &int(1, 1))))),
    Case("equal stacks", Format::OTLP, |n| {
        otlp(
            &many(n, |row| sample(&int(1, u64::from(row) + 1))),
            &len(7, &len(1, &[1, 1, 1])).repeat(n as usize),
        )
    }),
    Case("different stacks", Format::OTLP, |n| {
        let stack = |row: u32| len(7, &len(1, &join(&[&varint(row.into()), &[1; 8]])));
        let locations = many(n, |row| len(2, &int(2, row.into())));
        otlp(
            &many(n, |row| sample(&int(1, u64::from(row) + 1))),
            &join(&[&locations, &many(n, stack)]),
        )
    }),
    Case("equal samples", Format::OTLP, |n| otlp(&sample(&len(2, &[1])).repeat(n as usize), b"")),
    Case("equal strings", Format::OTLP, |n| {
        otlp(&sample(b""), &len(5, b"again").repeat(n as usize))
    }),
    Case("equal pprof rows", Format::PPROF, |n| {
        let row = |row: u32| {
            let id = u64::from(row) + 1;
            let location = len(4, &join(&[&int(1, id), &len(4, &int(1, id))]));
            join(&[&len(5, &join(&[&int(1, id), &int(2, 1)])), &location, &pprof_sample(id, b"")])
        };
        pprof(&many(n, row))
    }),
    Case("ids shifted by 32 bits", Format::PPROF, |n| {
        let id = |row: u32| (u64::from(row) + 1) << 32;
        pprof(&many(n, |row| join(&[&len(4, &int(1, id(row))), &pprof_sample(id(row), b"")])))
    }),
    Case("ids in no order", Format::PPROF, |n| {
        let id = |row: u32| u64::from(scrambled(row)) << 20 | 1;
        let rows = many(n, |row| len(4, &join(&[&int(1, id(row)), &int(3, row.into())])));
        pprof(&join(&[&many(n, |row| pprof_sample(id(row), b"")), &rows]))
    }),
    Case("ids in falling order", Format::PPROF, |n| {
        pprof(&many(n, |row| {
            let id = u64::from(n - row);
            join(&[&len(4, &join(&[&int(1, id), &int(3, row.into())])), &pprof_sample(id, b"")])
        }))
    }),
    Case("ids that occur twice", Format::PPROF, |n| {
        pprof(&many(n, |row| {
            join(&[&len(4, &int(1, u64::from(row / 2) + 1)), &pprof_sample(1, b"")])
        }))
    }),
    Case("strings that differ in the last byte", Format::PPROF, |n| {
        pprof(&many(n, |row| len(6, &join(&[&[b'a'; 32], format!("{row:06}").as_bytes()]))))
    }),
    Case("strings that differ in the first byte", Format::OTLP, |n| {
        otlp(b"", &many(n, |row| len(5, &join(&[format!("{row:06}").as_bytes(), &[b'a'; 32]]))))
    }),
    // Messages of two bytes.
    Case("empty samples", Format::OTLP, |n| otlp(&len(2, b"").repeat(n as usize), b"")),
    Case("empty pprof samples", Format::PPROF, |n| pprof(&len(2, b"").repeat(n as usize))),
    Case("empty pprof functions", Format::PPROF, |n| pprof(&len(5, b"").repeat(n as usize))),
    Case("empty resources", Format::OTLP, |n| {
        join(&[&len(1, b"").repeat(n as usize), &otlp(b"", b"")])
    }),
    Case("empty scopes", Format::OTLP, |n| {
        join(&[&len(1, &len(2, b"").repeat(n as usize)), &otlp(b"", b"")])
    }),
    Case("empty profiles", Format::OTLP, |n| {
        join(&[&nest(&[1, 2], &len(2, b"").repeat(n as usize)), &otlp(b"", b"")])
    }),
    Case("empty strings", Format::PPROF, |n| pprof(&len(6, b"").repeat(n as usize))),
    // Long lists in one row.
    Case("attributes of a sample", Format::OTLP, |n| {
        let attribute =
            |row: u32| len(6, &join(&[&int(1, u64::from(row) + 2), &len(2, &int(3, 1))]));
        let tables = join(&[&many(n, |row| len(5, &text(row))), &many(n, attribute)]);
        otlp(&sample(&len(2, &many(n, |row| varint(u64::from(row) + 2)))), &tables)
    }),
    Case("labels of a sample", Format::PPROF, |n| {
        let label = |row: u32| len(3, &join(&[&int(1, u64::from(row) + 2), &int(3, row.into())]));
        pprof(&join(&[&many(n, |row| len(6, &text(row))), &pprof_sample(0, &many(n, label))]))
    }),
    Case("labels of one key", Format::PPROF, |n| {
        pprof(&pprof_sample(0, &many(n, |row| len(3, &join(&[&int(1, 1), &int(3, row.into())])))))
    }),
    Case("units of one key", Format::PPROF, |n| {
        let label =
            |row: u32| len(3, &join(&[&int(1, 1), &int(3, 1), &int(4, u64::from(row) + 2)]));
        pprof(&join(&[
            &many(n, |row| len(6, &text(row))),
            &many(n, |row| pprof_sample(0, &label(row))),
        ]))
    }),
    Case("labels of 1.3", Format::OTLP_1_3, |n| {
        let label = |row: u32| len(10, &join(&[&int(1, u64::from(row) + 2), &int(3, row.into())]));
        let strings = join(&[&len(6, b""), &len(6, b"cpu"), &many(n, |row| len(6, &text(row)))]);
        let profile = join(&[
            &len(1, &int(1, 1)),
            &len(2, &join(&[&len(2, &[1]), &many(n, label)])),
            &strings,
        ]);
        nest(&[1, 2, 2, 7], &profile)
    }),
    Case("attributes of a resource", Format::OTLP, |n| {
        let pair = |row: u32| len(1, &join(&[&len(1, &text(row)), &len(2, &int(3, 1))]));
        join(&[&nest(&[1, 1], &many(n, pair)), &otlp(b"", b"")])
    }),
    Case("one key many times", Format::OTLP, |n| {
        let pair = |row: u32| len(1, &join(&[&len(1, b"key"), &len(2, &int(3, row.into()))]));
        join(&[&nest(&[1, 1], &many(n, pair)), &otlp(b"", b"")])
    }),
    Case("entities and their keys", Format::OTLP, |n| {
        let entity = |row: u32| len(3, &join(&[&len(2, b"t"), &len(3, &text(row))]));
        join(&[&nest(&[1, 1], &many(n, entity)), &otlp(b"", b"")])
    }),
    Case("lines of a location", Format::OTLP, |n| {
        otlp(b"", &len(2, &many(n, |row| len(3, &join(&[&int(1, 1), &int(2, row.into())])))))
    }),
    Case("links", Format::OTLP, |n| {
        let link = |row: u32| {
            let id = [&[1; 12], &scrambled(row).to_le_bytes()[..]].concat();
            len(4, &join(&[&len(1, &id), &len(2, &id[8..])]))
        };
        otlp(&many(n, |row| sample(&int(3, u64::from(row) + 1))), &many(n, link))
    }),
    Case("mappings", Format::PPROF, |n| {
        pprof(&many(n, |row| {
            let at = u64::from(row) << 12;
            len(3, &join(&[&int(1, u64::from(row) + 1), &int(2, at), &int(3, at + 4096)]))
        }))
    }),
    Case("timestamps", Format::OTLP, |n| {
        let times = many(n, |row| (1 << 60 | u64::from(scrambled(row))).to_le_bytes().to_vec());
        otlp(&len(2, &join(&[&int(1, 1), &len(5, &times)])), b"")
    }),
    Case("sample types", Format::PPROF, |n| {
        let strings = many(n, |row| len(6, &text(row)));
        let kind = |row: u32| len(1, &join(&[&int(1, u64::from(row) + 2), &int(2, 1)]));
        pprof(&join(&[&strings, &many(n, kind), &len(2, &len(2, &vec![1; n as usize + 1]))]))
    }),
    Case("resources", Format::OTLP, |n| {
        let resource = |row: u32| {
            let pair = len(1, &join(&[&len(1, b"service.name"), &len(2, &len(1, &text(row)))]));
            let profile = join(&[&len(1, &join(&[&int(1, 1), &int(2, 1)])), &sample(b"")]);
            len(1, &join(&[&len(1, &pair), &nest(&[2, 2], &profile)]))
        };
        join(&[&many(n, resource), &otlp(b"", b"")])
    }),
    Case("slices that overlap", Format::OTLP_1_7, |n| {
        let slice = |row: u32| len(2, &join(&[&int(1, row.into()), &int(2, 16), &len(3, &[1])]));
        let indices = many(n + 16, |row| varint(u64::from(scrambled(row) % 1_000)));
        otlp_1_7(&join(&[&many(n, slice), &len(3, &indices)]))
    }),
    Case("one slice many times", Format::OTLP_1_7, |n| {
        let slice = join(&[&int(1, 1), &int(2, 16), &len(3, &[1])]);
        otlp_1_7(&join(&[&len(2, &slice).repeat(n as usize), &len(3, &[1; 32])]))
    }),
    // Encodings that no encoder writes.
    Case("unknown fields that alternate", Format::OTLP, |n| {
        join(&[&many(n, |row| int(100 + row % 2, 1)), &otlp(b"", b"")])
    }),
    Case("unknown fields in rows", Format::PPROF, |n| {
        pprof(&many(n, |row| len(4, &join(&[&int(1, u64::from(row) + 1), &int(100 + row % 2, 1)]))))
    }),
    Case("groups", Format::OTLP, |n| {
        let group = join(&[&tag(200, GROUP), &int(1, 1), &tag(200, GROUP_END)]);
        join(&[&group.repeat(n as usize), &otlp(b"", b"")])
    }),
    Case("groups within groups", Format::OTLP, |n| {
        let deep = join(&[&tag(200, GROUP).repeat(60), &tag(200, GROUP_END).repeat(60)]);
        join(&[&deep.repeat(n as usize / 60 + 1), &otlp(b"", b"")])
    }),
    Case("groups without end", Format::PPROF, |n| pprof(&tag(200, GROUP).repeat(n as usize))),
    Case("values within values", Format::OTLP, |n| {
        let value = nest(&[5, 1, 5, 1, 5, 1, 5, 1, 5, 1, 5, 1, 5, 1], &int(3, 1));
        let pair = len(1, &join(&[&len(1, b"k"), &len(2, &value)]));
        join(&[&nest(&[1, 1], &pair.repeat(n as usize)), &otlp(b"", b"")])
    }),
    Case("values too deep", Format::OTLP, |n| {
        let value = crate::support::wire::deep(&[5, 1], n as usize);
        join(&[&nest(&[1, 1, 1], &join(&[&len(1, b"k"), &len(2, &value)])), &otlp(b"", b"")])
    }),
    Case("a message in many pieces", Format::OTLP, |n| {
        join(&[&len(1, &many(n, |row| len(1, &int(2, row.into())))), &otlp(b"", b"")])
    }),
    Case("a period type in many pieces", Format::PPROF, |n| {
        pprof(&len(11, &int(1, 1)).repeat(n as usize))
    }),
    Case("a dictionary in many pieces", Format::OTLP, |n| {
        join(&[&otlp(&sample(b""), b""), &many(n, |row| len(2, &len(5, &text(row))))])
    }),
    Case("lists one by one", Format::OTLP, |n| {
        otlp(&sample(&int(2, 1).repeat(n as usize)), &len(7, &int(1, 1).repeat(n as usize)))
    }),
    Case("lists in pieces", Format::PPROF, |n| {
        let pieces = join(&[&len(1, &[0]), &len(2, b"")]).repeat(n as usize);
        pprof(&len(2, &join(&[&pieces, &len(2, &[1])])))
    }),
    Case("overlong varints", Format::PPROF, |n| {
        let number = |number, value| join(&[&tag(number, 0), &overlong(value, 10)]);
        pprof(&many(n, |row| {
            let body = join(&[&number(1, u64::from(row) + 1), &number(3, 7)]);
            join(&[&tag(4, LEN), &overlong(body.len() as u64, 5), &body])
        }))
    }),
    // Broken rows: each is a finding or a repair.
    Case("references out of range", Format::OTLP, |n| {
        otlp(
            &many(n, |row| sample(&join(&[&int(1, 99), &len(2, &[99]), &int(3, row.into())]))),
            b"",
        )
    }),
    Case("unresolved ids", Format::PPROF, |n| {
        pprof(&many(n, |row| pprof_sample(u64::from(row) + 1, &len(3, &int(1, 99)))))
    }),
    Case("strings that are not UTF-8", Format::PPROF, |n| {
        let strings = many(n, |row| len(6, &join(&[&text(row), &[0xff]])));
        pprof(&join(&[
            &strings,
            &many(n, |row| {
                len(5, &join(&[&int(1, u64::from(row) + 1), &int(2, u64::from(row) + 2)]))
            }),
        ]))
    }),
    Case("a pattern of brackets", Format::PPROF, |n| {
        pprof(&join(&[&len(6, &vec![b'('; n as usize]), &int(7, 2), &int(8, 2)]))
    }),
    Case("a unit of factors", Format::OTLP, |n| {
        let unit = join(&[&b"m.".repeat(n as usize), b"s"]);
        otlp(
            b"",
            &join(&[
                &len(5, &unit),
                &len(6, &join(&[&int(1, 1), &len(2, &int(3, 1)), &int(3, 2)])),
            ]),
        )
    }),
    // gzip.
    Case("gzip of zeros", Format::PPROF, |n| deflate(&vec![0; n as usize * 20], Level::FAST)),
    Case("gzip of empty samples", Format::PPROF, |n| {
        deflate(&pprof(&len(2, b"").repeat(n as usize)), Level::FAST)
    }),
    Case("empty gzip members", Format::PPROF, |n| {
        join(&[
            &deflate(b"", Level::FAST).repeat(n as usize / 4),
            &deflate(&pprof(b""), Level::FAST),
        ])
    }),
    // Text.
    Case("JSON arrays", Format::OTLP_JSON, |n| {
        format!("{{\"resourceProfiles\":{}{}}}", "[".repeat(n as usize), "]".repeat(n as usize))
            .into_bytes()
    }),
    Case("JSON keys", Format::OTLP_JSON, |n| {
        let keys: Vec<String> = (0..n).map(|row| format!("\"unknown{row}\":1")).collect();
        format!("{{\"resourceProfiles\":[],{}}}", keys.join(",")).into_bytes()
    }),
    Case("JSON escapes", Format::OTLP_JSON, |n| {
        let strings = "\\u00e9".repeat(n as usize);
        format!(
            "{{\"resourceProfiles\":[],\"dictionary\":{{\"stringTable\":[\"\",\"{strings}\"]}}}}"
        )
        .into_bytes()
    }),
    Case("folded stacks", Format::FOLDED, |n| {
        many(n, |row| format!("main;f{row};g{} 1\n", row % 7).into_bytes())
    }),
    Case("a deep folded stack", Format::FOLDED, |n| join(&[&b"f;".repeat(n as usize), b"g 1\n"])),
];

/// Compares the growth of a cost over two doublings to that of the input. In one doubling, tables of powers of two may
/// grow more. `fixed` is a cost that does not depend on the input.
fn is_linear(costs: [u64; 2], fixed: u64) -> bool {
    costs[1] as f64 <= costs[0] as f64 * PER_DOUBLING * PER_DOUBLING + fixed as f64
}

/// Measures an operation on a case. Returns what grows faster than the input or exceeds its multiple.
fn faults(case: &Case, (name, multiple, operation): (&str, Option<u64>, Operation)) -> Vec<String> {
    let rows = sized(2_000) as u32;
    let costs = [1, 4].map(|times| {
        let bytes = (case.2)(rows * times);
        let inflated = otlp_profiles::compression::inflate(&bytes, &Limits::file());
        let size = inflated.map_or(bytes.len(), |inflated| inflated.len());
        (size as u64, cost(|| operation(case.1, &bytes)).1)
    });
    let mut faults = Vec::new();
    let mut fault = |what: &str| faults.push(format!("{name} {}: {what}: {costs:?}", case.0));
    if !is_linear(costs.map(|(_, cost)| cost.count), 100) {
        fault("allocations");
    }
    if !is_linear(costs.map(|(_, cost)| cost.bytes), MIB / 8) {
        fault("allocated bytes");
    }
    if !is_linear(costs.map(|(_, cost)| cost.peak as u64), MIB / 8) {
        fault("peak");
    }
    if costs
        .iter()
        .any(|(size, cost)| multiple.is_some_and(|most| cost.peak as u64 > most * size + MIB))
    {
        fault("more memory than stated");
    }
    faults
}

fn allocations_double_at_most(cases: impl Iterator<Item = &'static Case>) {
    let all = cases.flat_map(|case| OPERATIONS.map(|operation| (case, operation)));
    let faults: Vec<String> = all.flat_map(|(case, operation)| faults(case, operation)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Two tests run in parallel.
#[test]
fn allocations_double_at_most_when_the_input_doubles() {
    allocations_double_at_most(CASES.iter().step_by(2));
}

#[test]
fn allocations_double_at_most_for_the_other_cases() {
    allocations_double_at_most(CASES.iter().skip(1).step_by(2));
}

/// Rows of the smallest input under valgrind, which is some fifty times as slow. The second number is for cases that grow
/// too fast at the first: detection changes its method once at some size.
const COUNTED_ROWS: [u32; 2] = [150, 1_500];
/// Instructions of an operation that do not depend on the input.
const FIXED_INSTRUCTIONS: u64 = 200_000;
/// The variables that pass the number of rows and the positions of the cases to the process in valgrind.
const ROWS: &str = "OTLP_PROFILES_COUNTED_ROWS";
const POSITIONS: &str = "OTLP_PROFILES_COUNTED_CASES";

/// Marks the start of a case for callgrind, which writes the count of the case before.
#[inline(never)]
fn next_case(row: usize) -> usize {
    std::hint::black_box(row)
}

/// A quadratic operation without an allocation that the counter must catch.
fn quadratic(_: Format, bytes: &[u8]) {
    let bytes = bytes.repeat(4);
    let mut reversed: Vec<u8> = Vec::with_capacity(bytes.len());
    bytes.iter().for_each(|byte| reversed.insert(0, *byte));
    std::hint::black_box(reversed);
}

/// All cases with the operations that no other contains, and last the quadratic one.
fn counted() -> impl Iterator<Item = (String, Operation, &'static Case)> {
    let operations = OPERATIONS.iter().filter(|(name, ..)| !["read", "fix"].contains(name));
    let all = operations
        .flat_map(|(name, _, operation)| CASES.iter().map(move |case| (*name, *operation, case)));
    let planted = std::iter::once(("insert into", quadratic as Operation, &CASES[0]));
    all.chain(planted)
        .map(|(name, operation, case)| (format!("{name} {}", case.0), operation, case))
}

/// Runs in callgrind, with a mark before and after each operation.
#[test]
#[ignore = "`instructions_double_at_most_when_the_input_doubles` runs it"]
fn count_instructions() {
    let (Ok(rows), Ok(positions)) = (std::env::var(ROWS), std::env::var(POSITIONS)) else { return };
    let rows: u32 = rows.parse().unwrap();
    let positions: Vec<usize> = positions.split(' ').map(|at| at.parse().unwrap()).collect();
    let all: Vec<_> = counted().collect();
    let mut marks = 0;
    for (_, operation, case) in positions.iter().map(|at| &all[*at]) {
        for times in [1, 4] {
            let bytes = (case.2)(rows * times);
            marks = next_case(marks + 1);
            operation(case.1, &bytes);
            marks = next_case(marks + 1);
        }
    }
}

/// Counts the instructions of some cases at `rows` and four times as many. `None` if valgrind is not installed.
fn instructions(rows: u32, positions: &[usize]) -> Option<Vec<[u64; 2]>> {
    let folder = std::env::temp_dir().join(format!("otlp-profiles-cost-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let list: Vec<String> = positions.iter().map(usize::to_string).collect();
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--dump-before=*next_case*", "--callgrind-out-file=out"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "cost::count_instructions", "--ignored", "--test-threads=1"])
        .env(ROWS, rows.to_string())
        .env(POSITIONS, list.join(" "))
        .current_dir(&folder)
        .output()
        .ok()?;
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    // Part 1 is the time before the first mark. Then operations and the making of their inputs alternate.
    let part = |part: usize| -> u64 {
        let text = std::fs::read_to_string(folder.join(format!("out.{part}"))).unwrap();
        let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
        total.and_then(|total| total.trim().parse().ok()).expect("a total")
    };
    let counts = (0..positions.len()).map(|row| [2, 4].map(|mark| part(4 * row + mark)));
    let counts = counts.collect();
    std::fs::remove_dir_all(&folder).unwrap();
    Some(counts)
}

#[test]
#[ignore = "runs some 300 inputs under valgrind, which takes half an hour"]
fn instructions_double_at_most_when_the_input_doubles() {
    let names: Vec<String> = counted().map(|(name, ..)| name).collect();
    let mut suspects: Vec<usize> = (0..names.len()).collect();
    let mut faults = Vec::new();
    for rows in COUNTED_ROWS {
        let Some(counts) = instructions(rows, &suspects) else {
            eprintln!("SKIPPED: valgrind is not installed");
            return;
        };
        let found = suspects
            .iter()
            .zip(counts)
            .filter(|(_, counts)| !is_linear(*counts, FIXED_INSTRUCTIONS));
        let found: Vec<(usize, [u64; 2])> = found.map(|(at, counts)| (*at, counts)).collect();
        suspects = found.iter().map(|(at, _)| *at).collect();
        faults = found.iter().map(|(at, counts)| format!("{}: {counts:?}", names[*at])).collect();
    }
    let planted = faults.pop();
    let is_caught = planted.is_some_and(|fault| fault.starts_with("insert into"));
    assert!(is_caught, "the counter misses a quadratic loop");
    assert!(
        faults.is_empty(),
        "{} of {} grow faster:\n{}",
        faults.len(),
        names.len(),
        faults.join("\n")
    );
}
