//! What a payload may be.
//!
//! Formats are candidates by being registered. Beside them are things that look like profiles and are none: they
//! are tried too, so that the error names them rather than a format that fits by chance.
//!
//! A candidate is a grammar with an answer. The grammars of formats come from the schema; those of
//! other signals are written down in [`signals`], as far as it takes to name them.

use std::sync::LazyLock;

use super::grammar::Grammar;
use super::{events, generations, signals};
use crate::format::{Encoding, Format};

/// A grammar, and what it means when a payload fits it.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) grammar: Grammar,
    pub(super) answer: Answer,
}

/// Both kinds are walked and ranked alike; only the end differs, a format or an error that names
/// it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    /// It is read as this.
    Format(Format),
    /// It is not read.
    Other(Other),
}

/// Something that is recognised but no profile this crate reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Other {
    /// `an export request for traces`.
    pub(super) what: &'static str,
    /// What to do with it.
    pub(super) advice: &'static str,
    /// Whether it looks like profiles until a record of it is seen.
    ///
    /// Traces, metrics and logs share the envelope with profiles, so without a record they fit as
    /// well.
    pub(super) signal: bool,
    /// Whether only what fits it in all is taken for it: it is so little, or so rare, that a broken payload of
    /// another kind is likelier.
    pub(super) little: bool,
}

impl Candidate {
    /// None for what is only named.
    pub(super) fn format(&self) -> Option<Format> {
        match self.answer {
            Answer::Format(format) => Some(format),
            Answer::Other(_) => None,
        }
    }
}

/// All candidates: the formats in the order of their registry, then what is only named.
pub(super) static CANDIDATES: LazyLock<Vec<Candidate>> = LazyLock::new(|| candidates(Format::ALL));

/// The order decides between what fits equally well, so the newest generation comes first.
pub(super) fn candidates(formats: &[Format]) -> Vec<Candidate> {
    // Candidates are large: none is moved once it is there.
    let mut all = Vec::with_capacity(formats.len());
    all.extend(formats.iter().filter_map(|&format| readable(format)));
    let containers = formats
        .iter()
        .filter_map(|format| format.schema())
        .filter(|schema| schema.container.profile != 0);
    all.extend(containers.map(|schema| named(generations::bare(schema), BARE)));
    // A metric's two texts may have the lengths of a span's ids; ids are no texts.
    let signals =
        [(signals::metrics(), METRICS), (signals::logs(), LOGS), (signals::traces(), TRACES)];
    all.extend(signals.map(|(grammar, other)| named(grammar, other)));
    all.push(named(signals::response(), RESPONSE));
    all.push(named(events::contained(), EVENTS));
    all
}

/// None for formats that are no protobuf: those are known by how they begin.
fn readable(format: Format) -> Option<Candidate> {
    let grammar = match format.encoding() {
        Encoding::Otlp(schema) => generations::grammar(schema),
        Encoding::Pprof => generations::pprof(),
        Encoding::Events => events::bare(),
        Encoding::OtlpJson | Encoding::Own { .. } => return None,
    };
    Some(Candidate { grammar, answer: Answer::Format(format) })
}

fn named(grammar: Grammar, other: Other) -> Candidate {
    Candidate { grammar, answer: Answer::Other(other) }
}

/// A pprof reader would take it for a pprof with odd fields.
const BARE: Other = Other {
    what: "an extended pprof profile of OTEP 0239 without its container",
    advice: "wrap it in ProfileContainer.profile (field 8) inside a ProfilesData",
    signal: false,
    little: true,
};
const TRACES: Other = Other {
    what: "an OTLP export request for traces",
    advice: "this reads profiles only; send it to a receiver of traces",
    signal: true,
    little: false,
};
const METRICS: Other = Other {
    what: "an OTLP export request for metrics",
    advice: "this reads profiles only; send it to a receiver of metrics",
    signal: true,
    little: false,
};
const LOGS: Other = Other {
    what: "an OTLP export request for logs",
    advice: "this reads profiles only; send it to a receiver of logs",
    signal: true,
    little: false,
};
/// It is a message or two of text: what does not fit in all is not taken for it.
const RESPONSE: Other = Other {
    what: "an OTLP export response",
    advice: "this is what a receiver answered; the profiles are in the request",
    signal: false,
    little: true,
};
const EVENTS: Other = Other {
    what: "an export request for timestamped events, which their proposal does not have",
    advice: "take the profiles out of it: one stands alone",
    signal: false,
    little: true,
};
