//! Draws a tree of calls: as SVG for documents, or as rows of text for a terminal.
//!
//! ```text
//! look::Traces ─► Icicle (calls by name) ─► slots, row by row ─► svg or text
//! ```

use std::collections::HashMap;

use otlp_profiles::look::Traces;

use crate::numbers::{counted, value};
use crate::text::shown;
use crate::view::page::escaped;

/// The calls of a function from the same callers.
struct Call<'a> {
    name: &'a str,
    /// The sum of the absolute values of its samples.
    value: i128,
    children: Vec<usize>,
}

/// A tree of calls. Call 0 is the root.
pub(super) struct Icicle<'a> {
    traces: &'a Traces,
    calls: Vec<Call<'a>>,
}

/// A box of a picture.
struct Slot {
    x: f64,
    width: f64,
    call: usize,
    /// The number of calls that the box joins because they are too narrow to draw; 0 for a single
    /// call.
    joined: usize,
}

impl<'a> Icicle<'a> {
    pub(super) fn new(traces: &'a Traces) -> Self {
        let mut calls = vec![Call { name: "all", value: 0, children: Vec::new() }];
        let mut known: HashMap<(usize, &str), usize> = HashMap::new();
        for trace in &traces.traces {
            let value = trace.value.abs();
            let frames: Vec<_> = traces.frames(trace).map(|(name, _)| name).collect();
            let mut at = 0;
            calls[0].value += value;
            for name in frames.into_iter().rev() {
                let next = *known.entry((at, name)).or_insert(calls.len());
                if next == calls.len() {
                    calls.push(Call { name, value: 0, children: Vec::new() });
                    calls[at].children.push(next);
                }
                calls[next].value += value;
                at = next;
            }
        }
        // Names decide between equal values, whatever the order of the samples.
        let order: Vec<_> = calls.iter().map(|call| (-call.value, call.name)).collect();
        calls.iter_mut().for_each(|call| call.children.sort_by_key(|child| order[*child]));
        Self { traces, calls }
    }

    /// The boxes of a picture of this width, row by row from the root. Joins boxes narrower than
    /// `least`.
    fn rows(&self, width: f64, least: f64) -> Vec<Vec<Slot>> {
        let mut rows = Vec::new();
        let mut row = vec![Slot { x: 0.0, width, call: 0, joined: 0 }];
        while !row.is_empty() {
            let mut next = Vec::new();
            for slot in row.iter().filter(|slot| slot.joined == 0) {
                let call = &self.calls[slot.call];
                let (mut x, mut rest, mut joined) = (slot.x, 0.0, 0);
                for &child in &call.children {
                    let width =
                        slot.width * self.calls[child].value as f64 / call.value.max(1) as f64;
                    if width < least {
                        (rest, joined) = (rest + width, joined + 1);
                    } else {
                        next.push(Slot { x, width, call: child, joined: 0 });
                        x += width;
                    }
                }
                if rest >= least {
                    next.push(Slot { x, width: rest, call: slot.call, joined });
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
        let total = value(self.calls[0].value, &header.unit);
        format!("{}: {total}{}", header.sample_type, filters.collect::<String>())
    }

    fn name(&self, slot: &Slot) -> String {
        match slot.joined {
            0 => self.calls[slot.call].name.to_owned(),
            joined => counted(joined as u64, "more function"),
        }
    }

    /// Formats the first rows as text, at most `most`, in the width of a terminal.
    pub(super) fn text(&self, width: usize, most: usize) -> String {
        let mut text = shown(&self.title()) + "\n";
        let rows = self.rows(width as f64, 2.0);
        for row in rows.iter().take(most) {
            let mut line = String::new();
            let mut column = 0;
            for slot in row {
                let [start, end] = [slot.x, slot.x + slot.width].map(|x| x.round() as usize);
                line.extend(std::iter::repeat_n(' ', start.saturating_sub(column)));
                let room = end.saturating_sub(start.max(column)).saturating_sub(1);
                let label = fitted(&shown(&self.name(slot)), room);
                line.push('│');
                line += &format!("{label:·<room$}");
                column = end.max(column);
            }
            text += line.trim_end();
            text.push('\n');
        }
        if rows.len() > most {
            text += &format!("… {}\n", counted((rows.len() - most) as u64, "deeper row"));
        }
        text
    }

    /// Formats a picture of fixed width, without scripts.
    pub(super) fn svg(&self) -> String {
        const WIDTH: f64 = 1200.0;
        const ROW: usize = 18;
        let rows = self.rows(WIDTH, 0.7);
        let height = (rows.len() + 1) * ROW + 8;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
             font-family=\"system-ui,sans-serif\" font-size=\"12\" fill=\"#16181d\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n<text x=\"4\" y=\"14\">{}</text>\n",
            escaped(&self.title())
        );
        let total = self.calls[0].value.max(1) as f64;
        for (row, slots) in rows.iter().enumerate() {
            let y = (row + 1) * ROW + 4;
            for slot in slots {
                let name = self.name(slot);
                let share = 100.0 * slot.width / WIDTH;
                let amount = match slot.joined {
                    0 => self.calls[slot.call].value,
                    _ => (total * slot.width / WIDTH) as i128,
                };
                let amount = value(amount, &self.traces.header.unit);
                let fill =
                    if slot.joined > 0 || slot.call == 0 { "#d3d6db" } else { colour(&name) };
                let (x, width) = (slot.x, (slot.width - 0.6).max(0.5));
                svg += &format!(
                    "<g><title>{}, {amount}, {share:.2} %</title><rect x=\"{x:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"17\" fill=\"{fill}\"/>",
                    escaped(&name)
                );
                let label = fitted(&name, ((slot.width - 8.0) / 6.8).max(0.0) as usize);
                if !label.is_empty() {
                    svg += &format!(
                        "<text x=\"{:.1}\" y=\"{}\">{}</text>",
                        x + 4.0,
                        y + 13,
                        escaped(&label)
                    );
                }
                svg += "</g>\n";
            }
        }
        svg + "</svg>\n"
    }
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
