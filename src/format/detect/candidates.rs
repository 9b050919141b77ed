//! What a payload may be.
//!
//! Formats are candidates by being registered. Beside them are things that look like profiles and are none: they
//! are tried too, so that the error names them rather than a format that fits by chance.
//!
//! A candidate is a grammar with an answer. The grammars of formats come from the schema; those of
//! other signals are written down in [`signals`], as far as it takes to name them.

use std::sync::LazyLock;

use super::grammar::Grammar;
use super::{generations, signals};
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
    /// It is recognised but no profile this crate reads: what it is (`an export request for traces`), and what to do
    /// with it.
    ///
    /// It is so little, or so rare, that a broken payload of another kind is likelier: only what fits it in all is
    /// taken for it.
    Other(&'static str, &'static str),
    /// So is it, and it looks like profiles until a record of it is seen: traces, metrics and logs share the envelope
    /// with profiles, so without a record they fit as well.
    Signal(&'static str, &'static str),
}
use Answer::{Other, Signal};

/// All candidates: the formats in the order of their registry, then what is only named.
pub(super) static CANDIDATES: LazyLock<Vec<Candidate>> = LazyLock::new(|| candidates(Format::ALL));

/// The order decides between what fits equally well, so the newest generation comes first.
pub(super) fn candidates(formats: &[Format]) -> Vec<Candidate> {
    // Candidates are large: none is moved once it is there.
    let mut all = Vec::with_capacity(formats.len());
    all.extend(formats.iter().filter_map(|&format| readable(format)));
    let schemas = formats.iter().filter_map(|format| format.schema());
    let containers = schemas.filter(|schema| schema.container.profile != 0);
    all.extend(
        containers.map(|schema| Candidate { grammar: generations::bare(schema), answer: BARE }),
    );
    // A metric's two texts may have the lengths of a span's ids; ids are no texts.
    let named = [
        (signals::metrics(), METRICS),
        (signals::logs(), LOGS),
        (signals::traces(), TRACES),
        (signals::response(), RESPONSE),
        (generations::contained_events(), EVENTS),
    ];
    all.extend(named.map(|(grammar, answer)| Candidate { grammar, answer }));
    all
}

/// None for formats that are no protobuf: those are known by how they begin.
fn readable(format: Format) -> Option<Candidate> {
    let grammar = match format.encoding() {
        Encoding::Otlp(schema) => generations::grammar(schema),
        Encoding::Pprof => generations::pprof(),
        Encoding::Events => generations::events(),
        Encoding::OtlpJson | Encoding::Own { .. } => return None,
    };
    Some(Candidate { grammar, answer: Answer::Format(format) })
}

/// A pprof reader would take it for a pprof with odd fields.
const BARE: Answer = Other(
    "an extended pprof profile of OTEP 0239 without its container",
    "wrap it in ProfileContainer.profile (field 8) inside a ProfilesData",
);
const TRACES: Answer = Signal(
    "an OTLP export request for traces",
    "this reads profiles only; send it to a receiver of traces",
);
const METRICS: Answer = Signal(
    "an OTLP export request for metrics",
    "this reads profiles only; send it to a receiver of metrics",
);
const LOGS: Answer = Signal(
    "an OTLP export request for logs",
    "this reads profiles only; send it to a receiver of logs",
);
/// It is a message or two of text.
const RESPONSE: Answer = Other(
    "an OTLP export response",
    "this is what a receiver answered; the profiles are in the request",
);
const EVENTS: Answer = Other(
    "an export request for timestamped events, which their proposal does not have",
    "take the profiles out of it: one stands alone",
);
