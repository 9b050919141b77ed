//! What a whole run lost: said once for each kind, however many inputs it is in.
//!
//! ```text
//! Data dropped: 934 × function.source_dropped, 1 × mapping.dropped in a.pb.gz (2 more)
//! ```
//!
//! A thousand inputs that lose the same make one such line of each kind.

use std::collections::BTreeMap;

use otlp_profiles::losses::LossKind;

use crate::console::{Console, Level, Line};
use crate::convert::encode::{Converted, kind_of};
use crate::notices::and_more;

/// The losses of a run, by kind.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Sorted from the least to the worst kind, as `LossKind` is ordered.
    lost: BTreeMap<LossKind, Lost>,
}

/// One kind of loss: how often it happened, by code, and in what inputs.
#[derive(Debug, Default)]
struct Lost {
    /// How often each code was met, in all inputs together.
    counts: BTreeMap<&'static str, u64>,
    /// The first input that lost anything of this kind: the one that the line names.
    first: String,
    /// How many inputs did; each counts once, whatever number of codes it has.
    inputs: u64,
}

impl Tally {
    /// What became of `input` was written.
    ///
    /// Called once an input is on its disk: what was refused has lost nothing.
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

    /// What one conversion lost for good: `2 × frame_type.dropped, 1 × temporality.dropped`.
    ///
    /// Only what `--deny-loss` refuses: made-up values and notes are not among it.
    pub(crate) fn codes(converted: &Converted) -> String {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        let refused = lost(converted).filter(|(kind, ..)| *kind > LossKind::Synthesized);
        for (_, code, count) in refused {
            *counts.entry(code).or_default() += count;
        }
        listed(&counts)
    }

    /// Logs each kind once, the worst first.
    pub(crate) fn tell(&self, subcommand: &'static str, console: &Console) {
        for (kind, lost) in self.lost.iter().rev() {
            let (codes, first) = (listed(&lost.counts), &lost.first);
            let more = and_more(lost.inputs.saturating_sub(1));
            let message = format!("Data {kind}: {codes} in {first}{more}");
            console.log(&Line::new(Level::Warning, subcommand, message));
        }
    }
}

/// What is gone, changed or made up: the kind, the code and how often.
fn lost(converted: &Converted) -> impl Iterator<Item = (LossKind, &'static str, u64)> {
    let losses = converted.losses.iter();
    let losses = losses.map(|loss| (loss.code.kind(), loss.code.as_str(), loss.count));
    let findings = converted.findings.iter();
    let findings = findings.map(|finding| (kind_of(finding), finding.code, finding.count));
    losses.chain(findings).filter(|(kind, ..)| *kind > LossKind::Note)
}

/// By name, so the same losses make the same line.
fn listed(counts: &BTreeMap<&str, u64>) -> String {
    let codes = counts.iter().map(|(code, count)| format!("{count} × {code}"));
    codes.collect::<Vec<_>>().join(", ")
}

impl Lost {
    /// The name is kept of the first alone; the others are counted.
    fn met_in(&mut self, input: &str) {
        if self.inputs == 0 {
            input.clone_into(&mut self.first);
        }
        self.inputs += 1;
    }
}
