//! The candidates of detection.
//!
//! Every registered format is a candidate. So are payloads that resemble profiles, such as traces: the error
//! then names them, instead of a format that fits by chance.
//!
//! A candidate is a grammar and an answer. The schema describes the formats; [`signals`] describes the other
//! signals, as far as detection needs to name them.

use std::sync::LazyLock;

use super::grammar::{Grammar, Texts, bit};
use super::signals;
use crate::format::{Encoding, Format};
use crate::schema::{
    EXPORT_PROFILES_SERVICE_RESPONSE, MessageKind, MessageType, PROFILE, PROFILE_CONTAINER,
    PROFILES_DATA, TableLocation, Version,
};

/// A grammar, and the result if a payload fits it.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) grammar: Grammar,
    pub(super) answer: Answer,
}

/// The result of detection for a candidate: a format, or an error that names the payload. Walks and ranking
/// treat all answers alike.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    /// A format that reads the payload.
    Format(Format),
    /// A recognised payload that this crate does not read: its name (`an export request for traces`), and
    /// advice.
    ///
    /// Such payloads are so short or so rare that a damaged payload of another kind is likelier. So this
    /// answer requires that everything fits.
    Other(&'static str, &'static str),
    /// The same for another signal. Traces, metrics and logs share their envelope with profiles, so they also
    /// fit profiles until the walk reads a record.
    Signal(&'static str, &'static str),
}
use Answer::{Other, Signal};

/// All candidates: the formats in the order of their registry, then payloads that are only named.
pub(super) static CANDIDATES: LazyLock<Vec<Candidate>> = LazyLock::new(|| candidates(Format::ALL));

/// Lists the candidates of some formats, newest generation first: between equal fits, the order decides.
pub(super) fn candidates(formats: &[Format]) -> Vec<Candidate> {
    let mut all: Vec<_> = formats.iter().filter_map(|&format| readable(format)).collect();
    let versions = formats.iter().filter_map(|format| format.schema());
    let containers = versions.filter(|version| version.capabilities().containers);
    all.extend(
        containers.map(|version| Candidate { grammar: otlp(version, &PROFILE), answer: BARE }),
    );
    let mut response =
        Grammar::new("response", &EXPORT_PROFILES_SERVICE_RESPONSE, signals::VERSION);
    // A response contains only short messages for people.
    response.texts = Texts::Prose;
    let mut contained = events(&signals::EVENTS);
    // This grammar does not look into resources and scopes, so without a profile they fit every format.
    let around = [
        (MessageKind::ProfilesData, 1),
        (MessageKind::ResourceProfiles, 2),
        (MessageKind::ScopeProfiles, 2),
    ];
    contained.needs.extend(around.map(|(message, number)| (message, 0, number)));
    // Metrics precede traces: the first two strings of a metric may be as long as the ids of a span. Those
    // ids are not UTF-8.
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

/// Returns `None` for formats that are not protobuf: they are recognised by their beginning.
fn readable(format: Format) -> Option<Candidate> {
    let grammar = match format.encoding() {
        Encoding::Otlp(version) => otlp(version, &PROFILES_DATA),
        Encoding::Pprof => pprof(),
        Encoding::Events => events(&PROFILE),
        Encoding::OtlpJson | Encoding::Own { .. } => return None,
    };
    Some(Candidate { grammar, answer: Answer::Format(format) })
}

/// Returns the grammar of a generation's payloads. With `PROFILE` as root, it is the grammar of a bare
/// profile, which OTEP 0239 calls an extended pprof.
fn otlp(version: Version, root: &'static MessageType) -> Grammar {
    let mut grammar = Grammar::new(version.name(), root, version);
    if version.capabilities().table_location == TableLocation::Data {
        // Tables alone prove nothing: a lone string table may also be pprof's.
        grammar.needs.push((MessageKind::ProfilesData, 0, 1));
    }
    if version.capabilities().containers {
        let profile = PROFILE_CONTAINER.number(version, "profile");
        grammar.needs.push((MessageKind::Container, 0, profile));
    }
    for message in [&PROFILE, &PROFILE_CONTAINER] {
        let format = message.number(version, "original_payload_format");
        let payload = message.number(version, "original_payload");
        if payload != 0 {
            grammar.needs.push((message.kind, bit(format), payload));
            grammar.needs.push((message.kind, bit(payload), format));
        }
    }
    grammar
}

/// Returns the grammar of pprof. Its rows refer to each other by id, which detection does not follow.
fn pprof() -> Grammar {
    let mut grammar = Grammar::new("pprof", &PROFILE, Version::Pprof);
    let texts = const { PROFILE.number(Version::Pprof, "string_table") };
    grammar.needs.push((MessageKind::Profile, 0, texts));
    grammar
}

/// Returns the grammar of a profile of timestamped events, a proposal (opentelemetry-proto 594) that was
/// never released. Such a profile differs from OTLP's: it has event types and its own strings, and needs no
/// envelope.
fn events(root: &'static MessageType) -> Grammar {
    let mut grammar = Grammar::new("events", root, Version::Events);
    let number = |key| PROFILE.number(Version::Events, key);
    grammar
        .needs
        .extend(["event_types", "string_table"].map(|key| (MessageKind::Profile, 0, number(key))));
    grammar
}

/// Without this candidate, detection would choose pprof with unusual fields.
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
