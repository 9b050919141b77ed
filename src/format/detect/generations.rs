//! The grammars of formats, derived from the schema.
//!
//! Nothing of a format is written here twice. Added by hand is only what no field says: which fields are
//! always there, and which come in pairs.

use super::grammar::{Field, Grammar, Holds, Message, bit, many, one};
use crate::format::otlp::schema::{Home, Schema};
use crate::schema::{EVENT_PROFILE, PROFILE, Version};

/// What the payloads of a generation are made of.
pub(super) fn grammar(schema: &Schema) -> Grammar {
    let mut grammar = derived(schema.name, Message::Data, schema.version);
    for message in Message::ALL {
        let last = grammar.last(message);
        let later = message.rows().filter(|row| row.until > schema.version && row.number > last);
        grammar.later[message as usize] =
            later.map(|row| bit(row.number)).fold(0, |all, one| all | one);
    }
    if schema.home == Home::Data {
        // Tables alone say nothing, and a lone string table may be pprof's as well.
        grammar.needs.push((Message::Data, 0, 1));
    }
    let (profile, container) = (&schema.profile, &schema.container);
    if container.profile != 0 {
        grammar.needs.push((Message::Container, 0, container.profile));
    }
    for (message, format, payload) in [
        (Message::Profile, profile.original_payload_format, profile.original_payload),
        (Message::Container, container.original_payload_format, container.original_payload),
    ] {
        if payload != 0 {
            grammar.needs.push((message, bit(format), payload));
            grammar.needs.push((message, bit(payload), format));
        }
    }
    grammar
}

/// A profile of OTEP 0239 without its container: what OTEP 0239 calls an extended pprof.
pub(super) fn bare(schema: &Schema) -> Grammar {
    let mut bare = grammar(schema);
    bare.root = Message::Profile;
    bare
}

/// What a pprof profile is made of. Rows refer to each other by id, which detection does not follow.
pub(super) fn pprof() -> Grammar {
    let mut grammar = derived("pprof", Message::Profile, Version::Pprof);
    grammar.needs.push((Message::Profile, 0, PROFILE.number(Version::Pprof, "string_table")));
    grammar
}

/// A profile of timestamped events, a proposal (opentelemetry-proto 594) that was never released: it
/// has other fields than OTLP's, and stands alone.
pub(super) fn events() -> Grammar {
    with_names(derived("events", Message::Profile, Version::Events))
}

/// Such profiles where other profiles are, which the proposal does not have and nobody is known to write.
pub(super) fn contained_events() -> Grammar {
    let profiles = many(2, "profiles", Holds::Message(Message::Profile));
    let mut grammar = envelope("events", Version::Events, profiles);
    grammar.remove(Message::Data, 2);
    grammar.derive(Message::Profile, Version::Events);
    with_names(grammar)
}

/// A profile of events has a type and the texts of its names.
fn with_names(mut grammar: Grammar) -> Grammar {
    let number = |key| EVENT_PROFILE.number(Version::Events, key);
    let keys = ["event_types", "strings"];
    grammar.needs.extend(keys.map(|key| (Message::Profile, 0, number(key))));
    grammar
}

/// The fields that a version has of all messages, resources and scopes of today among them.
fn derived(name: &'static str, root: Message, version: Version) -> Grammar {
    let mut grammar = Grammar::new(name, root, version);
    grammar.derive(root, version);
    grammar
}

/// Resources and scopes as all signals of OTLP have them, around records whose fields are still to be added.
///
/// Only profiles have a dictionary beside the resources: a message there contradicts another signal.
/// Of a small profile all else may be that of a metric.
pub(super) fn envelope(name: &'static str, version: Version, records: Field) -> Grammar {
    let mut grammar = Grammar::new(name, Message::Data, version);
    grammar.add(Message::Data, one(2, "none", Holds::Number));
    grammar.add(Message::ScopeProfiles, records);
    // References into a dictionary are a thing of profiles.
    grammar.derive(Message::Data, Version::V1_9);
    grammar
}
