//! docs/SIZES.md.

use std::fmt::Write as _;

use crate::measure::{Compared, LAYOUTS, Row, Size};

/// A number with commas.
fn n(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|g| std::str::from_utf8(g).unwrap_or("")).collect();
    groups.join(",")
}

fn sizes(size: Size) -> String {
    format!("{} / {} / {}", n(size.raw), n(size.gzip), n(size.zstd))
}

pub const HEAD: &str = "\
# Sizes

How many bytes profiles take: in the forms that OTEP 0239 was decided by, in the form that the
Collector's contrib translator gives them, and here, by generation and [layout](#layouts). All of it is
made by one command:

```sh
OTLP_PROFILES_CORPUS=../shared/corpus benches/sizes.sh
```

It runs `cargo bench --features proto,zstd --bench sizes`; the encoders of the other forms are in
`benches/sizes/`. Without a corpus it measures `testdata/` and prints what is left out.

*gzip* is zlib-rs at level 6 (flate2, this library's `deflate`). zlib itself is up to 5 % smaller on
files of some kB; *Go* is Go's `compress/gzip` at its default level, 6, which the OTEP's own figures are
of: its choices are made again in `benches/sizes/go.rs`, and only the length is counted. *zstd* is at level
3, its own default. *Objects* are the messages, texts and lists a program holds that has a struct for each
message; *allocations* are what this library makes to read the payload into its model.

## Layouts

`WriteOptions::layout`, and `convert --layout` and `--compact`, which also compresses at level 9. No
layout loses anything: what is read of each is the same, and the tests compare all of them with what
was read, in every generation.

| | `default` | `keep` | `compact` |
|---|---|---|---|
| samples | in their order; OTLP 1.3 to 1.7 by their attributes, then the longest stacks first | in their order | by their attributes, then by stack |
| stacks | in their order | in their order | as the tree of calls has them; in OTLP 1.3 to 1.7, where they are slices of one list, the longest come first in every layout; a caller's stack is part of that of what it calls, in every layout |
| locations | in their order; OTLP 1.3 to 1.7 as `compact` | the most used ones first | by binary, function and line; the 127 most used ones before the others, as their index takes one byte, then those of two bytes |
| functions, strings | the same | in their order | by file, first line and name; as they are first used |
| rows that nothing refers to | stay, but for strings | go (`orphan.dropped`), but for mappings | go (`orphan.dropped`), but for mappings |
| OTLP 1.8 and later, which have a profile for each sample type: samples that are 0 | stay | stay | go from all but one profile; writing a pprof or OTLP up to 1.7 puts them back |
| lists of one number in samples | packed | packed | not packed, a byte less, but for the first of each profile, by which generations are told apart; parsers of protobuf have to take both |

A reader could notice the order of samples and of rows, which means nothing in any generation, and by
`compact` that the profiles of one pprof have not all as many samples: who pairs them by position,
not by stack and attributes, has to use another layout.

";

/// The OTEP's own figures: bytes, gzip.
const AVERAGE: [(&str, &str); 5] = [
    ("7,974", "3,772"),
    ("83,204", "3,844"),
    ("7,940", "3,397"),
    ("7,487", "3,276"),
    ("7,695", "3,347"),
];
const TIMED: [(&str, &str); 5] = [
    ("9,516", "3,787"),
    ("121,396", "4,233"),
    ("9,277", "3,394"),
    ("8,877", "3,309"),
    ("8,863", "3,387"),
];

/// A table of all forms; with the OTEP's figures where they are known.
pub fn forms(title: &str, rows: &[Row], published: Option<bool>) -> String {
    let mut out = format!(
        "### {title}\n\n| form | bytes | gzip | gzip -9 | Go | zstd | objects | allocations |"
    );
    let figures = published.map(|timed| if timed { TIMED } else { AVERAGE });
    out += if figures.is_some() { " the OTEP says |\n" } else { "\n" };
    out += "|---|---|---|---|---|---|---|---|";
    out += if figures.is_some() { "---|\n" } else { "\n" };
    let mut published = figures.into_iter().flatten();
    for row in rows {
        let allocations = row.allocations.map_or(String::new(), |count| n(count as usize));
        let _ = write!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {allocations} |",
            row.name,
            n(row.size.raw),
            n(row.size.gzip),
            n(row.size.best),
            n(row.go),
            n(row.size.zstd),
            n(row.objects)
        );
        if figures.is_some() {
            let said = if row.name.starts_with("OTEP") { published.next() } else { None };
            let _ = write!(
                out,
                " {} |",
                said.map_or(String::new(), |(raw, gz)| format!("{raw} / {gz}"))
            );
        }
        out.push('\n');
    }
    out + "\n"
}

pub const DROPPED: &str = "\
The OTEP's figures come out to the byte, raw and by Go's compressor. What its conversions leave out,
which is why they are not this library's sizes:

* all of them: sample types, time, duration, period, comments, drop and keep frames, the default sample
  type; units of labels and numeric labels. `denormalized` has neither mappings nor addresses, and takes
  ids for positions, so that every frame is the next one; `arrays` has the value of the first type for
  every type.
* `pprofextended`: ids, `has_functions` and its like, `is_folded`, and **all labels**: the flavour behind
  the name has its attributes commented out. Its indices are pprof's ids, which count from 1 where the
  OTEP's text counts from 0, so that who reads it by the text misreads every frame. On `average` no stack
  is part of another: what it saves on the pprof are the ids.
* `average` with timestamps: every observation is a sample with the second it was taken in, though the
  benchmark means milliseconds; there are one or two seconds. It ran at an unknown one: here it is one of
  30 October 2023 with which all five gzip sizes are the published ones.

";

/// The ratio of two sizes over some profiles: the geometric mean and the worst.
struct Ratio {
    mean: f64,
    worst: f64,
    above: usize,
}

fn ratio(all: &[Compared], of: impl Fn(&Compared) -> (usize, usize)) -> Ratio {
    let ratios: Vec<f64> = all.iter().map(&of).map(|(a, b)| a as f64 / b as f64).collect();
    let logs: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    Ratio {
        mean: (logs / ratios.len().max(1) as f64).exp(),
        worst: ratios.iter().copied().fold(0.0, f64::max),
        above: ratios.iter().filter(|ratio| **ratio > 1.0).count(),
    }
}

/// The profiles of the corpus, and what they come to.
pub fn recorded(all: &[Compared]) -> String {
    let mut out = format!(
        "## Recorded profiles\n\nGeometric means over {} profiles; *worst* is the profile where the ratio is the highest, and then how many are above 1. Both sides by gzip at level 6, but where it says level 9 (of gzip alone), and by zstd at level 3.\n\n",
        all.len()
    );
    out += "| | raw | worst | gzip | worst | zstd | worst |\n|---|---|---|---|---|---|---|\n";
    let mut line = |name: &str, of: &dyn Fn(&Compared) -> (Size, Size)| {
        let said = |size: fn(Size) -> usize| {
            let Ratio { mean, worst, above } = ratio(all, |one| {
                let (ours, theirs) = of(one);
                (size(ours), size(theirs))
            });
            format!("{mean:.3} | {worst:.3} ({above})")
        };
        let (raw, gzip, zstd) = (said(|of| of.raw), said(|of| of.gzip), said(|of| of.zstd));
        let _ = writeln!(out, "| {name} | {raw} | {gzip} | {zstd} |");
    };
    for (at, (name, _)) in LAYOUTS.iter().enumerate() {
        let name = format!("otlp-1.3 {name}, the same information, to the OTEP's pprofextended");
        line(&name, &|c| (c.same[at], c.otep));
    }
    for (at, (name, _)) in LAYOUTS.iter().enumerate() {
        line(&format!("otlp-1.3 {name}, everything, to the pprof"), &|c| (c.full[at], c.pprof));
    }
    for (at, (name, _)) in LAYOUTS.iter().enumerate() {
        line(&format!("otlp-1.10 {name} to contrib-style"), &|c| (c.newest[at], c.contrib));
    }
    let best = |size: Size| Size { gzip: size.best, ..size };
    line("`--compact`: otlp-1.3 at level 9, everything, to the pprof", &|c| {
        (best(c.full[2]), c.pprof)
    });
    line("`--compact`: otlp-1.10 at level 9 to contrib-style", &|c| (best(c.newest[2]), c.contrib));
    out += "\nBytes, raw / gzip / zstd; *same* has what the OTEP's conversion keeps, and is what stands beside it.\n\n";
    out += "| profile | pprof | OTEP pprofextended | 1.3 default, same | 1.3 compact, same | 1.3 default | 1.3 keep | 1.3 compact | contrib-style | 1.10 default | 1.10 keep | 1.10 compact |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";
    for c in all {
        let cells = [c.pprof, c.otep, c.same[0], c.same[2], c.full[0], c.full[1], c.full[2]];
        let cells = cells.into_iter().chain([c.contrib, c.newest[0], c.newest[1], c.newest[2]]);
        let cells: Vec<String> = cells.map(sizes).collect();
        let _ = writeln!(out, "| {} | {} |", c.name, cells.join(" | "));
    }
    out
}
