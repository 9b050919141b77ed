//! The losses of a whole run: one line for each kind, whatever the number of inputs.
//!
//! ```text
//! Data dropped: 934 × function.source_dropped, 1 × mapping.dropped in a.pb.gz (2 more)
//! ```
//!
//! A thousand inputs with the same losses give one such line for each kind.

use std::collections::BTreeMap;

use otlp_profiles::losses::LossKind;

use crate::console::{Console, Level, Line};
use crate::convert::encode::{Converted, kind_of};
use crate::notices::and_more;

/// The losses of a run, by kind.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Sorted by the order of `LossKind`, the least severe first.
    lost: BTreeMap<LossKind, Lost>,
}

/// One kind of loss: its count by code, and the inputs concerned.
#[derive(Debug, Default)]
struct Lost {
    /// The count of each code over all inputs.
    counts: BTreeMap<&'static str, u64>,
    /// The first input with such a loss; the line names it.
    first: String,
    /// The number of inputs with such a loss; each counts once, whatever the number of codes.
    inputs: u64,
}

impl Tally {
    /// Counts the losses of an input.
    ///
    /// Call it after the output is on disk: a refused output has lost no data.
    pub(crate) fn written(&mut self, input: &str, converted: &Converted) {
        let mut kinds: Vec<LossKind> = Vec::new();
        for (kind, code, count) in lost(converted) {
            let lost = self.lost.entry(kind).or_default();
            *lost.counts.entry(code).or_default() += count;
            if !kinds.contains(&kind) {
                kinds.push(kind);
                lost.met_in(input);
            }
        }
    }

    /// Lists the losses of one conversion: `2 × frame_type.dropped, 1 × temporality.dropped`.
    ///
    /// The list has only losses that `--deny-loss` refuses, without notes and synthesized values.
    pub(crate) fn codes(converted: &Converted) -> String {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        let refused = lost(converted).filter(|(kind, ..)| *kind > LossKind::Synthesized);
        for (_, code, count) in refused {
            *counts.entry(code).or_default() += count;
        }
        listed(&counts)
    }

    /// Logs each kind once, the most severe first.
    pub(crate) fn tell(&self, subcommand: &'static str, console: &Console) {
        for (kind, lost) in self.lost.iter().rev() {
            let (codes, first) = (listed(&lost.counts), &lost.first);
            let more = and_more(lost.inputs.saturating_sub(1));
            let (what, level) = match kind {
                LossKind::Note => ("Unused data dropped".to_owned(), Level::Notice),
                kind => (format!("Data {kind}"), Level::Warning),
            };
            let message = format!("{what}: {codes} in {first}{more}");
            console.log(&Line::new(level, subcommand, message));
        }
    }
}

/// Iterates over losses and findings beyond notes, and over notes of dropped parts: the kind, the code and the count.
fn lost(converted: &Converted) -> impl Iterator<Item = (LossKind, &'static str, u64)> {
    let losses = converted.losses.iter();
    let losses = losses.map(|loss| (loss.code.kind(), loss.code.as_str(), loss.count));
    let findings = converted.findings.iter();
    let findings = findings.map(|finding| (kind_of(finding), finding.code, finding.count));
    losses.chain(findings).filter(|(kind, code, _)| *kind > LossKind::Note || says_dropped(code))
}

/// Whether a note says that something was dropped. The data is the same without it, but a reader of tables may look for
/// it.
fn says_dropped(code: &str) -> bool {
    code.ends_with(".dropped")
}

/// Lists codes in alphabetical order, so equal losses give equal lines.
fn listed(counts: &BTreeMap<&str, u64>) -> String {
    let codes = counts.iter().map(|(code, count)| format!("{count} × {code}"));
    codes.collect::<Vec<_>>().join(", ")
}

impl Lost {
    /// Counts an input. Only the first is named.
    fn met_in(&mut self, input: &str) {
        if self.inputs == 0 {
            input.clone_into(&mut self.first);
        }
        self.inputs += 1;
    }
}
