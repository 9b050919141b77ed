//! What a whole run lost: said once for each kind, however many inputs it is in.

use std::collections::BTreeMap;

use otlp_profiles::losses::LossKind;

use crate::console::{Console, Level, Line};
use crate::convert::encode::{Converted, kind_of};
use crate::deprecations::and_more;

/// The losses of a run, by kind.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    lost: BTreeMap<LossKind, Lost>,
}

/// One kind of loss: how often it happened, by code, and in what inputs.
#[derive(Debug, Default)]
struct Lost {
    counts: BTreeMap<&'static str, u64>,
    first: String,
    inputs: u64,
}

impl Tally {
    /// What became of `input` was written.
    pub(crate) fn written(&mut self, input: &str, converted: &Converted) {
        let losses = converted.losses.iter();
        let losses = losses.map(|loss| (loss.code.kind(), loss.code.as_str(), loss.count));
        let findings = converted.findings.iter();
        let findings = findings.map(|finding| (kind_of(finding), finding.code, finding.count));
        let mut kinds: Vec<LossKind> = Vec::new();
        for (kind, code, count) in losses.chain(findings) {
            if kind <= LossKind::Synthesized {
                continue; // nothing is gone
            }
            let lost = self.lost.entry(kind).or_default();
            *lost.counts.entry(code).or_default() += count;
            if !kinds.contains(&kind) {
                kinds.push(kind);
                lost.met_in(input);
            }
        }
    }

    /// Logs each kind once, the worst first.
    pub(crate) fn tell(&self, console: &Console) {
        for (kind, lost) in self.lost.iter().rev() {
            let codes = lost.counts.iter();
            let codes: Vec<String> =
                codes.map(|(code, count)| format!("{count} × {code}")).collect();
            let (codes, first) = (codes.join(", "), &lost.first);
            let more = and_more(lost.inputs.saturating_sub(1));
            let message = format!("Data {kind}: {codes} in {first}{more}");
            console.log(&Line::new(Level::Warning, "convert", message));
        }
    }
}

impl Lost {
    fn met_in(&mut self, input: &str) {
        if self.inputs == 0 {
            input.clone_into(&mut self.first);
        }
        self.inputs += 1;
    }
}
