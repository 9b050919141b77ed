//! The text and tables of docs/SIZES.md.

use std::fmt::Write as _;

use crate::measure::{Compared, LAYOUTS, Row, Size};

/// Formats a number with thousands separators.
fn n(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|g| std::str::from_utf8(g).unwrap_or("")).collect();
    groups.join(",")
}

pub const HEAD: &str = "\
# Sizes

How large is a profile in each format, generation and [layout](#layouts)? This page compares this library's output with
pprof, with the forms that OTEP 0239 measured, and with the Collector's contrib translator. To regenerate it, run:

```sh
OTLP_PROFILES_CORPUS=DIR benches/sizes.sh
```

Without a corpus, the benchmark measures `testdata/` only and prints what it skips.

In short: with the same information, default OTLP 1.3 is smaller than the OTEP's own form for every recorded profile, raw and
compressed. OTLP 1.10 is about 2 % smaller than the contrib translator's output; `compact` saves 8 to 10 %.

The columns:

* *gzip*: zlib-rs at level 6, as this library compresses. zlib itself is up to 5 % smaller on files of some kB.
* *Go*: Go's `compress/gzip` at level 6, which the OTEP used. `benches/sizes/go.rs` computes the length.
* *zstd*: level 3, its default.
* *objects*: messages, strings and lists in a program with one struct per message.
* *allocations*: what this library allocates to read the payload.

## Layouts

Choose a layout with `WriteOptions::layout` or `convert --layout`. `convert --compact` selects `compact` and also
compresses at level 9. No layout loses data: tests read every layout of every generation and compare the profiles.

| | `default` | `keep` | `compact` |
|---|---|---|---|
| samples | original order (1) | original order | by attributes, then by stack |
| stacks | original order (2) | original order (2) | by call tree (2) |
| locations | original order; OTLP 1.3 to 1.7 as `compact` | most used first | by binary, function and line (3) |
| functions | original order; OTLP 1.3 to 1.7 as `compact` | original order | by file, first line and name |
| strings | original order; OTLP 1.3 to 1.7 as `compact` | original order | by first use |
| unreferenced rows | kept, except strings | dropped, except mappings | dropped, except mappings |
| samples with value 0 (4) | kept | kept | kept in one profile only |
| lists of one number in samples | packed | packed | not packed (5) |

1. OTLP 1.3 to 1.7: by attributes, then the longest stacks first.
2. In OTLP 1.3 to 1.7, stacks are slices of one list. Every layout puts the longest first, and a caller's stack shares
   the slice of its callee.
3. The 127 most used locations come first, since their index takes one byte, then those with two bytes.
4. OTLP 1.8 and later has one profile per sample type. Writing pprof or OTLP up to 1.7 restores the samples.
5. This saves a byte. The first list of each profile stays packed, because it distinguishes generations. Protobuf
   parsers must accept both.

Dropped rows are reported as `orphan.dropped`. The order of samples and rows has no meaning in any generation. With
`compact`, the profiles of one pprof may differ in their number of samples. If you pair samples by position instead of
by stack and attributes, use another layout.

";

/// The OTEP's published figures: bytes, gzip.
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

/// A table of all forms, with the OTEP's published figures if `published` is set.
pub fn forms(title: &str, rows: &[Row], published: Option<bool>) -> String {
    let mut out = format!(
        "### {title}\n\n| form | bytes | gzip | gzip -9 | Go | zstd | objects | allocations |"
    );
    let figures = published.map(|timed| if timed { TIMED } else { AVERAGE });
    out += if figures.is_some() { " published |\n" } else { "\n" };
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
            let figure = if row.name.starts_with("OTEP") { published.next() } else { None };
            let _ = write!(
                out,
                " {} |",
                figure.map_or(String::new(), |(raw, gz)| format!("{raw} / {gz}"))
            );
        }
        out.push('\n');
    }
    out + "\n"
}

pub const DROPPED: &str = "\
The OTEP's figures are reproduced to the byte, raw and with Go's compressor. Its conversions omit data, so its sizes are
not comparable with the others:

* All: sample types, time, duration, period, comments, drop and keep frames, the default sample type, label units and
  numeric labels. `denormalized` has neither mappings nor addresses, and uses ids as positions, so every frame is the
  next one. `arrays` stores the value of the first type for every type.
* `pprofextended`: ids, flags such as `has_functions`, `is_folded`, and **all labels**, because the attributes are
  commented out. Its indices are pprof ids, which start at 1; the text of the OTEP starts at 0. On `average` no stack is
  part of another, so the saving over pprof is the ids.
* `average` with timestamps: every observation is a sample with a timestamp in seconds, where the benchmark means
  milliseconds. The time of the original run is unknown. Here it is a second of 30 October 2023 that reproduces
  all five gzip sizes.

";

/// Ratios of two sizes over several profiles: geometric mean, worst, and how many are above 1.
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

/// The tables of recorded profiles.
pub fn recorded(all: &[Compared]) -> String {
    let mut out = format!(
        "## Recorded profiles\n\nRatios over {} profiles: the geometric mean, the worst profile, and in parentheses the number of profiles above 1. Compressed with gzip level 6 (level 9 in rows marked so) and zstd level 3.\n\n",
        all.len()
    );
    out += "| | raw | worst | gzip | worst | zstd | worst |\n|---|---|---|---|---|---|---|\n";
    let mut line = |name: &str, of: &dyn Fn(&Compared) -> (Size, Size)| {
        let cell = |size: fn(Size) -> usize| {
            let Ratio { mean, worst, above } = ratio(all, |one| {
                let (ours, theirs) = of(one);
                (size(ours), size(theirs))
            });
            format!("{mean:.3} | {worst:.3} ({above})")
        };
        let (raw, gzip, zstd) = (cell(|of| of.raw), cell(|of| of.gzip), cell(|of| of.zstd));
        let _ = writeln!(out, "| {name} | {raw} | {gzip} | {zstd} |");
    };
    for (at, (name, _)) in LAYOUTS.iter().enumerate() {
        let name = format!("otlp-1.3 {name} / OTEP pprofextended, same information");
        line(&name, &|c| (c.same[at], c.otep));
    }
    for (at, (name, _)) in LAYOUTS.iter().enumerate() {
        line(&format!("otlp-1.3 {name} / pprof"), &|c| (c.full[at], c.pprof));
    }
    for (at, (name, _)) in LAYOUTS.iter().enumerate() {
        line(&format!("otlp-1.10 {name} / contrib-style"), &|c| (c.newest[at], c.contrib));
    }
    let best = |size: Size| Size { gzip: size.best, ..size };
    line("`--compact`, level 9: otlp-1.3 / pprof", &|c| (best(c.full[2]), c.pprof));
    line("`--compact`, level 9: otlp-1.10 / contrib-style", &|c| (best(c.newest[2]), c.contrib));
    out += "\nBytes after gzip. *Same* means: only the information that the OTEP's conversion keeps.\n\n";
    out += "| profile | pprof | OTEP pprofextended | 1.3 default, same | 1.3 default | 1.3 compact | contrib-style | 1.10 default | 1.10 compact |\n|---|---|---|---|---|---|---|---|---|\n";
    for c in all {
        let cells =
            [c.pprof, c.otep, c.same[0], c.full[0], c.full[2], c.contrib, c.newest[0], c.newest[2]];
        let cells: Vec<String> = cells.iter().map(|size| n(size.gzip)).collect();
        let _ = writeln!(out, "| {} | {} |", c.name, cells.join(" | "));
    }
    out
}
