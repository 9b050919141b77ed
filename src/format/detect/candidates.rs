//! What a payload may be.
//!
//! Formats are candidates by being registered. Beside them are things that look like profiles and are none: they
//! are tried too, so that the error names them rather than a format that fits by chance.
//!
//! A candidate is a grammar with an answer. What a format is made of, the schema says; those of other signals are
//! written down in [`signals`], as far as it takes to name them.

use std::sync::LazyLock;

use super::grammar::{Grammar, Texts, bit};
use super::signals;
use crate::format::{Encoding, Format};
use crate::schema::{
    EVENT_PROFILE, EXPORT_PROFILES_SERVICE_RESPONSE, Home, MessageType, Noun, PROFILE,
    PROFILE_CONTAINER, PROFILES_DATA, Version,
};

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
    let mut all: Vec<_> = formats.iter().filter_map(|&format| readable(format)).collect();
    let versions = formats.iter().filter_map(|format| format.schema());
    let containers = versions.filter(|version| version.capabilities().containers);
    all.extend(
        containers.map(|version| Candidate { grammar: otlp(version, &PROFILE), answer: BARE }),
    );
    let mut response =
        Grammar::new("response", &EXPORT_PROFILES_SERVICE_RESPONSE, signals::VERSION);
    // It is a message or two of text.
    response.texts = Texts::Prose;
    let mut contained = events(&signals::EVENTS);
    // Of their resources and scopes nothing is known: without a profile they are those of any format.
    let around = [(Noun::ProfilesData, 1), (Noun::ResourceProfiles, 2), (Noun::ScopeProfiles, 2)];
    contained.needs.extend(around.map(|(message, number)| (message, 0, number)));
    // A metric's two texts may have the lengths of a span's ids; ids are no texts.
    let named = [
        (signals::metrics(), METRICS),
        (signals::logs(), LOGS),
        (signals::traces(), TRACES),
        (response, RESPONSE),
        (contained, EVENTS),
    ];
    all.extend(named.map(|(grammar, answer)| Candidate { grammar, answer }));
    all
}

/// None for formats that are no protobuf: those are known by how they begin.
fn readable(format: Format) -> Option<Candidate> {
    let grammar = match format.encoding() {
        Encoding::Otlp(version) => otlp(version, &PROFILES_DATA),
        Encoding::Pprof => pprof(),
        Encoding::Events => events(&EVENT_PROFILE),
        Encoding::OtlpJson | Encoding::Own { .. } => return None,
    };
    Some(Candidate { grammar, answer: Answer::Format(format) })
}

/// What the payloads of a generation are made of, or one of its profiles: of OTEP 0239 without its container that is
/// what it calls an extended pprof.
fn otlp(version: Version, root: &'static MessageType) -> Grammar {
    let mut grammar = Grammar::new(version.name(), root, version);
    if version.capabilities().home == Home::Data {
        // Tables alone say nothing, and a lone string table may be pprof's as well.
        grammar.needs.push((Noun::ProfilesData, 0, 1));
    }
    if version.capabilities().containers {
        let profile = PROFILE_CONTAINER.number(version, "profile");
        grammar.needs.push((Noun::Container, 0, profile));
    }
    for message in [&PROFILE, &PROFILE_CONTAINER] {
        let format = message.number(version, "original_payload_format");
        let payload = message.number(version, "original_payload");
        if payload != 0 {
            grammar.needs.push((message.noun, bit(format), payload));
            grammar.needs.push((message.noun, bit(payload), format));
        }
    }
    grammar
}

/// What a pprof profile is made of. Rows refer to each other by id, which detection does not follow.
fn pprof() -> Grammar {
    let mut grammar = Grammar::new("pprof", &PROFILE, Version::Pprof);
    let texts = const { PROFILE.number(Version::Pprof, "string_table") };
    grammar.needs.push((Noun::Profile, 0, texts));
    grammar
}

/// A profile of timestamped events, a proposal (opentelemetry-proto 594) that was never released: it
/// has other fields than OTLP's, a type and the texts of its names, and stands alone.
fn events(root: &'static MessageType) -> Grammar {
    let mut grammar = Grammar::new("events", root, Version::Events);
    let number = |key| EVENT_PROFILE.number(Version::Events, key);
    grammar.needs.extend(["event_types", "strings"].map(|key| (Noun::Profile, 0, number(key))));
    grammar
}

/// A pprof reader would take it for a pprof with odd fields.
const BARE: Answer = Other(
    "an extended pprof profile of OTEP 0239 without its container",
    "wrap it in ProfileContainer.profile (field 8) inside a ProfilesData",
);
const TRACES: Answer = Signal(
    "an OTLP export request for traces",
    "only profiles are supported: send it to a receiver of traces",
);
const METRICS: Answer = Signal(
    "an OTLP export request for metrics",
    "only profiles are supported: send it to a receiver of metrics",
);
const LOGS: Answer = Signal(
    "an OTLP export request for logs",
    "only profiles are supported: send it to a receiver of logs",
);
const RESPONSE: Answer =
    Other("an OTLP export response", "the profiles are in the request, not in the response");
const EVENTS: Answer = Other(
    "an export request for timestamped events, which their proposal does not have",
    "extract the profiles: each of them can be read",
);
