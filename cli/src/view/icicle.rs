//! Draws a tree of calls: as SVG for documents, or as rows of text for a terminal.
//!
//! ```text
//! look::Traces ─► Icicle (calls by name) ─► slots, row by row ─► svg or text
//! ```

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::{self, Write};

use anstyle::{Ansi256Color, Style};
use otlp_profiles::escape::{line, markup};
use otlp_profiles::look::Traces;

use crate::numbers::{counted, short, value};
use crate::style::styled;
use crate::text::shown;

/// Sums of samples: the positive values, and the negative ones without their sign. In a profile of differences these are
/// the new side and the base.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    plus: i128,
    minus: i128,
}

impl Sums {
    fn add(&mut self, other: Self) {
        self.plus += other.plus;
        self.minus += other.minus;
    }

    /// The width of a box: the value, or twice the mean of both sides.
    fn weight(self) -> i128 {
        self.plus + self.minus
    }

    fn difference(self) -> i128 {
        self.plus - self.minus
    }
}

/// The meaning of negative values of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    /// No value is negative.
    Absent,
    /// Samples of the base, which have the label `pprof::base`.
    Base,
    /// Differences of both sides.
    Difference,
}

/// The calls of a function from the same callers.
struct Call<'a> {
    name: &'a str,
    sums: Sums,
    children: Vec<usize>,
}

/// Numbers of names. A report holds each name once, so a name that was met before is found by its address: hashing a long
/// one again for each frame would take as long as writing it.
#[derive(Default)]
struct Names<'a> {
    by_address: HashMap<(*const u8, usize), usize>,
    by_text: HashMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    fn number(&mut self, name: &'a str) -> usize {
        let next = self.by_text.len();
        let Self { by_address, by_text } = self;
        *by_address
            .entry((name.as_ptr(), name.len()))
            .or_insert_with(|| *by_text.entry(name).or_insert(next))
    }
}

/// A tree of calls. Call 0 is the root.
pub(super) struct Icicle<'a> {
    traces: &'a Traces,
    calls: Vec<Call<'a>>,
    sign: Sign,
}

/// A box of a picture.
struct Slot {
    x: f64,
    width: f64,
    call: usize,
    sums: Sums,
    /// The number of calls that the box joins because they are too narrow to draw; 0 for a single
    /// call.
    joined: usize,
}

impl<'a> Icicle<'a> {
    pub(super) fn new(traces: &'a Traces) -> Self {
        let call = |name| Call { name, sums: Sums::default(), children: Vec::new() };
        let mut calls = vec![call("all")];
        let mut known: HashMap<(usize, usize), usize> = HashMap::new();
        let mut names = Names::default();
        let mut sign = Sign::Absent;
        for trace in &traces.traces {
            let sums = Sums { plus: trace.value.max(0), minus: (-trace.value).max(0) };
            if sign != Sign::Base && sums.minus > 0 {
                let is_base = trace.labels.iter().any(|(key, _)| key == "pprof::base");
                sign = if is_base { Sign::Base } else { Sign::Difference };
            }
            let frames: Vec<_> =
                traces.frames(trace).map(|(name, _)| (name, names.number(name))).collect();
            let mut at = 0;
            calls[0].sums.add(sums);
            for (name, number) in frames.into_iter().rev() {
                let next = *known.entry((at, number)).or_insert(calls.len());
                if next == calls.len() {
                    calls.push(call(name));
                    calls[at].children.push(next);
                }
                calls[next].sums.add(sums);
                at = next;
            }
        }
        let [plus, minus] = traces.without_stack;
        if traces.without_stack != [0, 0] {
            let sums = Sums { plus, minus: -minus };
            sign = if sign == Sign::Absent && minus < 0 { Sign::Difference } else { sign };
            calls[0].sums.add(sums);
            let unknown = calls.len();
            calls[0].children.push(unknown);
            calls.push(Call { sums, ..call("<unknown>") });
        }
        // Names decide between equal values, so that the order of the samples does not.
        let order: Vec<_> = calls.iter().map(|call| (-call.sums.weight(), call.name)).collect();
        calls.iter_mut().for_each(|call| call.children.sort_by_key(|child| order[*child]));
        Self { traces, calls, sign }
    }

    /// The boxes of a picture of this width, row by row from the root. Joins boxes narrower than
    /// `least`.
    fn rows(&self, width: f64, least: f64) -> Vec<Vec<Slot>> {
        let mut rows = Vec::new();
        let mut row = vec![Slot { x: 0.0, width, call: 0, sums: self.calls[0].sums, joined: 0 }];
        while !row.is_empty() {
            let mut next = Vec::new();
            for slot in row.iter().filter(|slot| slot.joined == 0) {
                let call = &self.calls[slot.call];
                let scale = slot.width / call.sums.weight().max(1) as f64;
                let (mut x, mut rest, mut joined) = (slot.x, Sums::default(), 0);
                for &child in &call.children {
                    let sums = self.calls[child].sums;
                    let width = sums.weight() as f64 * scale;
                    if width < least {
                        rest.add(sums);
                        joined += 1;
                    } else {
                        next.push(Slot { x, width, call: child, sums, joined: 0 });
                        x += width;
                    }
                }
                let width = rest.weight() as f64 * scale;
                if width >= least {
                    next.push(Slot { x, width, call: slot.call, sums: rest, joined });
                }
            }
            rows.push(std::mem::replace(&mut row, next));
        }
        rows
    }

    /// Formats the total and the filters: `cpu: 1,630,000,000 nanoseconds (1.6 s)`.
    fn title(&self) -> String {
        let header = &self.traces.header;
        let filters = header.filters.iter().map(|filter| format!(", {filter}"));
        let total = self.amount(self.calls[0].sums, value);
        format!("{}: {total}{}", header.sample_type, filters.collect::<String>())
    }

    /// The meaning of the colours, if they have one.
    fn legend(&self) -> &'static str {
        match self.sign {
            Sign::Absent => "",
            Sign::Base => "width: mean of before and after; orange +: growth, blue -: decline",
            Sign::Difference => "width: sum of all changes; orange +: growth, blue -: decline",
        }
    }

    /// Formats a value, or a difference with its sign: `-40 count (100 -> 60)`.
    fn amount(&self, sums: Sums, format: fn(i128, &str) -> String) -> String {
        let unit = &self.traces.header.unit;
        let difference = sums.difference();
        let plus = if difference > 0 { "+" } else { "" };
        match self.sign {
            Sign::Absent => format(sums.plus, unit),
            Sign::Base => {
                let [before, after] = [sums.minus, sums.plus].map(|side| format(side, unit));
                format!("{plus}{} ({before} -> {after})", format(difference, unit))
            }
            Sign::Difference => format!("{plus}{}", format(difference, unit)),
        }
    }

    fn name(&self, slot: &Slot) -> Cow<'_, str> {
        match slot.joined {
            0 => Cow::Borrowed(self.calls[slot.call].name),
            joined => counted(joined as u64, "more function").into(),
        }
    }

    /// The colour of a box: of its package, or of its change.
    fn fill(&self, slot: &Slot, name: &str) -> &'static str {
        match self.sign {
            Sign::Absent if slot.joined > 0 || slot.call == 0 => GREY,
            Sign::Absent => colour(name),
            _ => {
                let change = slot.sums.difference() as f64 / slot.sums.weight().max(1) as f64;
                match change {
                    _ if change > 0.5 => "#f0a04b",
                    _ if change > 0.1 => "#f7c48a",
                    _ if change > 0.0 => "#fbe3c8",
                    _ if change < -0.5 => "#73aee6",
                    _ if change < -0.1 => "#a9cdf0",
                    _ if change < 0.0 => "#d6e6f7",
                    _ => GREY,
                }
            }
        }
    }

    /// Formats the first rows as text, at most `most`, in the width of a terminal. Streams without colours remove the
    /// codes of colours.
    pub(super) fn text(&self, width: usize, most: usize) -> String {
        let mut text = line(&self.title()).into_owned() + "\n";
        if self.sign != Sign::Absent {
            text += &format!("{}\n", self.legend());
        }
        let rows = self.rows(width as f64, 2.0);
        for row in rows.iter().take(most) {
            let mut column = 0;
            for slot in row {
                let [start, end] = [slot.x, slot.x + slot.width].map(|x| x.round() as usize);
                text.extend(std::iter::repeat_n(' ', start.saturating_sub(column)));
                let room = end.saturating_sub(start.max(column)).saturating_sub(1);
                let name = self.name(slot);
                let amount = shown(&self.amount(slot.sums, short));
                let mut label = fitted(&shown(ending(&name, room)), room);
                if label.chars().count() + amount.chars().count() + 2 <= room {
                    label = format!("{label}  {amount}");
                }
                let style = background(self.fill(slot, &name));
                text += &styled(&format!("│{label:·<room$}"), style);
                column = end.max(column);
            }
            text.push('\n');
        }
        if rows.len() > most {
            text += &format!("… {}\n", counted((rows.len() - most) as u64, "deeper row"));
        }
        text
    }

    /// Writes a picture of fixed width, without scripts.
    pub(super) fn svg(&self, out: &mut dyn Write) -> fmt::Result {
        const WIDTH: f64 = 1200.0;
        const ROW: usize = 18;
        let rows = self.rows(WIDTH, 0.7);
        let top = if self.sign == Sign::Absent { 1 } else { 2 };
        let height = (rows.len() + top) * ROW + 8;
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
             font-family=\"system-ui,sans-serif\" font-size=\"12\" fill=\"#16181d\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n<text x=\"4\" y=\"14\">{}</text>",
            markup(&self.title())
        )?;
        if self.sign != Sign::Absent {
            writeln!(out, "<text x=\"4\" y=\"32\">{}</text>", self.legend())?;
        }
        for (row, slots) in rows.iter().enumerate() {
            let y = (row + top) * ROW + 4;
            for slot in slots {
                let name = self.name(slot);
                let share = 100.0 * slot.width / WIDTH;
                let (amount, fill) = (self.amount(slot.sums, value), self.fill(slot, &name));
                let (x, width) = (slot.x, (slot.width - 0.6).max(0.5));
                write!(
                    out,
                    "<g><title>{}, {}, {share:.2} %</title><rect x=\"{x:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"17\" fill=\"{fill}\"/>",
                    markup(&name),
                    markup(&amount)
                )?;
                let room = ((slot.width - 8.0) / 6.8).max(0.0) as usize;
                let label = fitted(&shown(ending(&name, room)), room);
                if !label.is_empty() {
                    let (x, y) = (x + 4.0, y + 13);
                    write!(out, "<text x=\"{x:.1}\" y=\"{y}\">{}</text>", markup(&label))?;
                }
                writeln!(out, "</g>")?;
            }
        }
        writeln!(out, "</svg>")
    }
}

/// The colour of boxes that belong to no package.
const GREY: &str = "#d3d6db";

/// Dark text on the nearest of a terminal's 256 colours.
fn background(colour: &str) -> Style {
    let level = |at: usize| {
        let byte = colour.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        // The cube has the levels 0, 95, 135 and so on, in steps of 40.
        byte.unwrap_or_default().saturating_sub(35) / 40
    };
    let [red, green, blue] = [1, 3, 5].map(level);
    let dark = Some(Ansi256Color(16).into());
    Style::new()
        .fg_color(dark)
        .bg_color(Some(Ansi256Color(16 + 36 * red + 6 * green + blue).into()))
}

/// The end of a name, longer than `room` characters if it is cut: the rest does not appear in a box.
fn ending(name: &str, room: usize) -> &str {
    let from = name.len().saturating_sub(4 * room + 64);
    (from..name.len()).find_map(|at| name.get(at..)).unwrap_or_default()
}

/// Shortens a name to `room` characters: removes its path, else its beginning. Returns an empty
/// text if `room` is below six and the name does not fit.
fn fitted(name: &str, room: usize) -> String {
    let short = name.rsplit('/').next().unwrap_or(name);
    let length = |text: &str| text.chars().count();
    match () {
        () if length(name) <= room => name.to_owned(),
        () if length(short) <= room => short.to_owned(),
        () if room < 6 => String::new(),
        () => {
            let end = short.chars().skip(length(short) + 1 - room);
            std::iter::once('…').chain(end).collect()
        }
    }
}

/// A colour for the package of a function. Dark text is legible on it.
fn colour(name: &str) -> &'static str {
    const COLOURS: [&str; 10] = [
        "#f2c9b8", "#bfe3ea", "#c3c1f0", "#f0bfe6", "#d5e8b0", "#f5e0a8", "#b9dcf5", "#e0cdb8",
        "#bce8cf", "#dcc4ef",
    ];
    // The beginning tells packages apart, and a name may have megabytes.
    let name = name.char_indices().nth(1024).map_or(name, |(at, _)| &name[..at]);
    let path = name.rfind('/').map_or(0, |at| at + 1);
    let end = name[path..].find(['.', ':', '(']).map_or(name.len(), |at| path + at);
    let hash = name[..end]
        .bytes()
        .fold(7_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    COLOURS[hash as usize % COLOURS.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_in_front() {
        for (name, room, label) in [
            ("github.com/acme/cart.(*T).f", 30, "github.com/acme/cart.(*T).f"),
            ("github.com/acme/cart.(*T).f", 12, "cart.(*T).f"),
            ("runtime.mallocgc", 10, "….mallocgc"),
            ("runtime.mallocgc", 5, ""),
        ] {
            assert_eq!(fitted(name, room), label);
        }
        assert_eq!(colour("a/b.c"), colour("a/b.d"));
    }
}
