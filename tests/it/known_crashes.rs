//! Inputs that crashed, stalled or fooled other decoders, by their CVE, advisory or issue, with the verdict of this
//! crate. All files are generated.

use otlp_profiles::check::{Options, fix, validate};
use otlp_profiles::compression::{Level, deflate};
use otlp_profiles::{
    Ambiguity, Error, ErrorKind, Format, Limits, Policy, ReadOptions, Summary, WriteOptions,
};

use crate::support::sized;
use crate::support::wire::{GROUP, LEN, deep, int, len, nest, overlong, tag, varint};

/// The expected result of reading with the default options.
enum Verdict {
    Reads,
    /// An error whose message contains this.
    Refused(&'static str),
    /// An exceeded limit: its name, or what it counts if it cannot be raised.
    Limit(&'static str),
}

use Verdict::{Limit, Reads, Refused};

struct Known {
    /// CVE, RustSec advisory, or project and issue.
    id: &'static str,
    what: &'static str,
    format: Format,
    file: fn() -> Vec<u8>,
    verdict: Verdict,
}

const OTLP: Format = Format::OTLP;
const PPROF: Format = Format::PPROF;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    deflate(bytes, Level::DEFAULT)
}

/// A pprof with one sample type, "cpu" in "cpu".
fn pprof(rest: &[u8]) -> Vec<u8> {
    let kind = [int(1, 1), int(2, 1)].concat();
    [&len(6, b"")[..], &len(6, b"cpu"), &len(1, &kind), rest].concat()
}

/// A payload of 1.10 with one profile, and tables that begin with an empty row.
fn otlp(profile: &[u8], tables: &[u8]) -> Vec<u8> {
    let empty: Vec<u8> = (1..=7).flat_map(|table| len(table, b"")).collect();
    [nest(&[1, 2, 2], &[&len(1, b""), profile].concat()), len(2, &[&empty, tables].concat())]
        .concat()
}

/// A value of -1 as an int32, which takes ten bytes.
const NEGATIVE: u64 = u64::MAX;

const KNOWN: &[Known] = &[
    Known {
        id: "RUSTSEC-2020-0002 (prost)",
        what: "unknown groups within groups overflow the stack",
        format: OTLP,
        file: || tag(100, GROUP).repeat(100_000),
        verdict: Limit("levels of nesting"),
    },
    Known {
        id: "RUSTSEC-2024-0437, CVE-2025-53605 (rust-protobuf)",
        what: "a million groups without an end",
        format: PPROF,
        file: || tag(100, GROUP).repeat(1_000_000),
        verdict: Limit("levels of nesting"),
    },
    Known {
        id: "CVE-2024-7254 (protobuf-java)",
        what: "groups within a message within a value",
        format: OTLP,
        file: || nest(&[1, 1, 1, 2, 5, 1], &tag(100, GROUP).repeat(100_000)),
        verdict: Limit("levels of nesting"),
    },
    Known {
        id: "simple_asn1 #43, RUSTSEC-2026-0009 (time)",
        what: "values within values, 20,000 levels",
        format: OTLP,
        file: || nest(&[1, 1, 1, 2], &deep(&[5, 1], 20_000)),
        verdict: Limit("levels of nesting"),
    },
    Known {
        id: "Trail of Bits: don't recurse on untrusted input",
        what: "lists of pairs within lists of pairs",
        format: OTLP,
        file: || nest(&[1, 1, 1, 2], &deep(&[6, 1, 2], 3_000)),
        verdict: Limit("levels of nesting"),
    },
    Known {
        id: "CVE-2021-3121 (gogo/protobuf)",
        what: "a length that overflows the index",
        format: OTLP,
        file: || [tag(100, LEN), varint(u64::MAX)].concat(),
        verdict: Refused("the length is encoded in 10 bytes"),
    },
    Known {
        id: "CVE-2021-3121 (gogo/protobuf), signed",
        what: "a length that is negative as an int64",
        format: PPROF,
        file: || pprof(&[tag(2, LEN), varint(1 << 63), vec![0; 8]].concat()),
        verdict: Refused("the length is encoded in 10 bytes"),
    },
    Known {
        id: "protobuf conformance: IllegalLengths",
        what: "a length that is 0 in 32 bits",
        format: OTLP,
        file: || [tag(100, LEN), varint(1 << 32)].concat(),
        verdict: Refused("exceeds the remaining 0 bytes"),
    },
    Known {
        id: "CVE-2022-3171 (protobuf-java)",
        what: "50,000 alternating unknown fields",
        format: OTLP,
        file: || {
            let fields = (0..50_000).flat_map(|at| int(100 + at % 2, 1));
            fields.chain(otlp(b"", b"")).collect()
        },
        verdict: Reads,
    },
    Known {
        id: "CVE-2022-3171 (protobuf-java), merged",
        what: "a resource in 50,000 pieces",
        format: OTLP,
        file: || [len(1, &len(1, &int(2, 1)).repeat(50_000)), otlp(b"", b"")].concat(),
        verdict: Reads,
    },
    Known {
        id: "CVE-2026-55407, buffa #301 and #357, firewood #2099",
        what: "empty samples that take 100 times their bytes",
        format: OTLP,
        file: || gzip(&otlp(&len(2, b"").repeat(sized(200_000)), b"")),
        verdict: Reads,
    },
    Known {
        id: "buffa #357, pydantic/monty #869",
        what: "the same through attributes, which no list of the dictionary counts",
        format: OTLP,
        file: || gzip(&[nest(&[1, 1], &len(1, b"").repeat(200_000)), otlp(b"", b"")].concat()),
        verdict: Limit("max_attributes_per_item"),
    },
    Known {
        id: "CVE-2024-24786 (protojson)",
        what: "JSON that ends within a value",
        format: Format::OTLP_JSON,
        file: || b"{\"resourceProfiles\":[{\"scopeProfiles\":[{\"".to_vec(),
        verdict: Refused(""),
    },
    Known {
        id: "CVE-2022-30631 (compress/gzip)",
        what: "10,000 empty members",
        format: PPROF,
        file: || gzip(b"").repeat(10_000),
        verdict: Limit("max_gzip_members"),
    },
    Known {
        id: "JDK-7036144, flate2 #301",
        what: "a message in two members, of which one is read",
        format: PPROF,
        file: || {
            let whole = pprof(&len(2, &len(2, &[1])));
            whole.chunks(whole.len() / 2 + 1).flat_map(gzip).collect()
        },
        verdict: Reads,
    },
    Known {
        id: "flate2 #396, bun #33708",
        what: "bytes after the last member",
        format: PPROF,
        file: || [gzip(&pprof(b"")), b"garbage".to_vec()].concat(),
        verdict: Refused("gzip"),
    },
    Known {
        id: "flate2 #396, zeros",
        what: "zeros after the last member, as tape drives write them",
        format: PPROF,
        file: || [gzip(&pprof(b"")), vec![0; 512]].concat(),
        verdict: Reads,
    },
    Known {
        id: "CVE-2024-36129 (Collector), tonic #2484, contrib #48697",
        what: "a limit that counts the compressed bytes",
        format: OTLP,
        file: || gzip(&vec![0; 9 << 20]),
        verdict: Limit("max_decompressed_bytes"),
    },
    Known {
        id: "CVE-2022-37434, CVE-2018-25032 (zlib)",
        what: "a gzip header with a long extra field that is cut off",
        format: PPROF,
        file: || [&b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\xff\xff"[..], &[7; 100]].concat(),
        verdict: Refused("gzip"),
    },
    Known {
        id: "GHSA-j3px-q95c-9683 (zlib-rs)",
        what: "a deflate stream with a distance before its start",
        format: PPROF,
        // A block of fixed codes: one match of length 3 and distance 1 with no byte before it.
        file: || {
            [
                &b"\x1f\x8b\x08\0\0\0\0\0\0\xff"[..],
                &[0b0000_0011, 0b0000_0010, 0, 0, 0, 0, 0, 0, 0, 0],
            ]
            .concat()
        },
        verdict: Refused("distance too far back"),
    },
    Known {
        id: "Collector #15517 and #15697",
        what: "a negative index of the dictionary",
        format: OTLP,
        file: || otlp(&len(2, &int(1, NEGATIVE)), b""),
        verdict: Refused("negative index is out of range"),
    },
    Known {
        id: "Collector #14790 and #14804",
        what: "an index one past the table",
        format: OTLP,
        file: || otlp(&len(2, &int(1, 1)), b""),
        verdict: Refused("index 1 is out of range"),
    },
    Known {
        id: "Collector #15517, wrapped",
        what: "an index that is 0 in 32 bits, as protobuf truncates it",
        format: OTLP,
        file: || otlp(&len(2, &int(1, 1 << 32)), b""),
        verdict: Refused("index of more than 32 bits"),
    },
    Known {
        id: "Collector #15793",
        what: "key_strindex 0 beside a key in place",
        format: OTLP,
        file: || {
            let pair = [len(1, b"key"), len(2, &int(3, 1)), int(3, 0)].concat();
            [nest(&[1, 1, 1], &pair), otlp(b"", b"")].concat()
        },
        verdict: Reads,
    },
    Known {
        id: "ebpf-profiler #1360 and #597, parca-agent #3229",
        what: "a string table that does not begin with the empty string",
        format: OTLP,
        file: || {
            [
                nest(&[1, 2, 2], &len(1, &int(1, 1))),
                len(2, &[len(5, b"cpu"), len(5, b"ns")].concat()),
            ]
            .concat()
        },
        verdict: Refused("string 0 must be empty"),
    },
    Known {
        id: "Pyroscope #3203",
        what: "a location of id 0",
        format: PPROF,
        file: || pprof(&len(4, &int(3, 7))),
        verdict: Refused("id must not be 0"),
    },
    Known {
        id: "Pyroscope #4051",
        what: "a sample with a location that is missing",
        format: PPROF,
        file: || pprof(&len(2, &[len(1, &[9]), len(2, &[1])].concat())),
        verdict: Refused("no location has"),
    },
    Known {
        id: "Pyroscope #3242",
        what: "a line of a function that is missing",
        format: PPROF,
        file: || pprof(&len(4, &[int(1, 1), nest(&[4], &int(1, 9))].concat())),
        verdict: Refused("no function has"),
    },
    Known {
        id: "Pyroscope #3195",
        what: "two empty strings, as two files in one have",
        format: PPROF,
        file: || pprof(&[len(6, b""), len(2, &len(2, &[1]))].concat()),
        verdict: Refused("string_table[2]: the string table begins again"),
    },
    Known {
        id: "tidb #52215, pyroscope-go #100, ebpf-profiler #1454",
        what: "a label that is not UTF-8",
        format: PPROF,
        file: || {
            let label = len(3, &[int(1, 1), int(2, 2)].concat());
            pprof(&[len(6, b"caf\xe9"), len(2, &[len(2, &[1]), label].concat())].concat())
        },
        verdict: Reads,
    },
    Known {
        id: "google/pprof #245",
        what: "a string index past the table in a label",
        format: PPROF,
        file: || pprof(&len(2, &[len(2, &[1]), nest(&[3], &int(1, 77))].concat())),
        verdict: Refused("index 77 is out of range"),
    },
    Known {
        id: "google/pprof #246, golang/go #18229",
        what: "a sample without values",
        format: PPROF,
        file: || pprof(&len(2, b"")),
        verdict: Refused("0 values"),
    },
    Known {
        id: "rust-rpxy #227, gxhash #83",
        what: "ids that an unseeded hash puts into one bucket",
        format: PPROF,
        file: || {
            let id = |row: u64| (row + 1) << 32;
            pprof(&(0..50_000).flat_map(|row| len(4, &int(1, id(row)))).collect::<Vec<u8>>())
        },
        verdict: Reads,
    },
    Known {
        id: "google/pprof, varints",
        what: "a varint of more than 64 bits",
        format: PPROF,
        file: || pprof(&[tag(12, 0), overlong(1, 11)].concat()),
        verdict: Refused("varint exceeds 64 bits"),
    },
];

/// The limits of the network, but for a smaller bomb.
fn limits() -> Limits {
    Limits::network().max_decompressed_bytes(8 << 20)
}

fn options(format: Format) -> ReadOptions {
    ReadOptions::default().limits(limits()).format(format).ambiguity(Ambiguity::Prefer)
}

fn check(known: &Known, result: Result<(), Error>) -> Result<(), String> {
    match (&known.verdict, result) {
        (Reads, Ok(())) => Ok(()),
        (Refused(message), Err(error))
            if error.kind() == ErrorKind::Malformed && error.to_string().contains(message) =>
        {
            Ok(())
        }
        (Limit(limit), Err(error))
            if error.kind() == ErrorKind::Limit
                && (error.limit() == Some(limit) || error.to_string().contains(limit)) =>
        {
            Ok(())
        }
        (_, result) => Err(format!("{} ({}): {result:?}", known.id, known.what)),
    }
}

#[test]
fn crashes_of_other_decoders_have_a_verdict() {
    let mut wrong = Vec::new();
    for known in KNOWN {
        let file = (known.file)();
        let read = otlp_profiles::read(&file, &options(known.format)).map(drop);
        wrong.extend(check(known, read).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Everything else that takes bytes survives them too, and what is read can be written in every format.
#[test]
fn every_operation_survives_crashes_of_other_decoders() {
    for known in KNOWN {
        let file = (known.file)();
        let _ = otlp_profiles::detect(&file, &ReadOptions::default().limits(limits()));
        let _ = Summary::of(&file, &options(known.format));
        let checks = Options::default().limits(limits()).format(known.format);
        let report = validate(&file, &checks);
        if matches!(known.verdict, Refused(_) | Limit(_)) {
            assert!(!report.is_ok(), "{}: {report:?}", known.id);
        }
        let _ = fix(&file, &checks);
        let repair = options(known.format).policy(Policy::Repair);
        let Ok(reading) = otlp_profiles::read(&file, &repair) else { continue };
        for &format in Format::ALL.iter().filter(|format| format.can_write()) {
            let _ = otlp_profiles::write_all(&reading.profiles, format, &WriteOptions::default());
        }
    }
}
