//! The grammars of OTLP profiles and of pprof, derived from the schema.
//!
//! Nothing of a generation is written here twice: `holds` maps a field's kind and role in the
//! schema to what a walk has to know. Added by hand is only what no field says: which fields are
//! always there (`require`), which come in pairs (`pair`), and whether its encoders pack lists.

use super::grammar::{Grammar, Holds, Message, Table};
use crate::format::otlp::schema::{Rows, Schema};
use crate::schema::{self, Field, Kind, MessageType, Role, Version};

/// The messages that detection looks into, by what they are for. Lists and maps of values are not
/// among them: they nest without end.
static MESSAGES: [(Message, &MessageType); 33] = [
    (Message::Data, &schema::PROFILES_DATA),
    (Message::Dictionary, &schema::PROFILES_DICTIONARY),
    (Message::ResourceProfiles, &schema::RESOURCE_PROFILES),
    (Message::ScopeProfiles, &schema::SCOPE_PROFILES),
    (Message::Resource, &schema::RESOURCE),
    (Message::Scope, &schema::INSTRUMENTATION_SCOPE),
    (Message::EntityRef, &schema::ENTITY_REF),
    (Message::Container, &schema::PROFILE_CONTAINER),
    (Message::Profile, &schema::PROFILE),
    (Message::Sample, &schema::SAMPLE),
    (Message::Label, &schema::LABEL),
    (Message::ValueType, &schema::VALUE_TYPE),
    (Message::Mapping, &schema::MAPPING),
    (Message::Location, &schema::LOCATION),
    (Message::Line, &schema::LINE),
    (Message::Function, &schema::FUNCTION),
    (Message::Link, &schema::LINK),
    (Message::Stack, &schema::STACK),
    (Message::AttributeUnit, &schema::ATTRIBUTE_UNIT),
    (Message::KeyValueAndUnit, &schema::KEY_VALUE_AND_UNIT),
    (Message::KeyValue, &schema::KEY_VALUE),
    (Message::AnyValue, &schema::ANY_VALUE),
    // Those of events, whose values are not looked into.
    (Message::Profile, &schema::EVENT_PROFILE),
    (Message::Event, &schema::EVENT),
    (Message::EventType, &schema::EVENT_TYPE),
    (Message::Clock, &schema::CLOCK),
    (Message::Mapping, &schema::EVENT_MAPPING),
    (Message::Location, &schema::EVENT_LOCATION),
    (Message::Line, &schema::EVENT_LINE),
    (Message::Function, &schema::EVENT_FUNCTION),
    (Message::Link, &schema::EVENT_LINK),
    (Message::Stack, &schema::EVENT_STACK),
    (Message::KeyValueAndUnit, &schema::EVENT_KEY_VALUE),
];

/// What the payloads of a generation are made of.
pub(super) fn grammar(schema: &Schema) -> Grammar {
    let mut grammar = derived(schema.name, Message::Data, schema.version);
    grammar.series = schema.tables.stack != 0;
    for (message, fields) in MESSAGES.iter().map(|(message, known)| (*message, known.fields)) {
        let later = fields.iter().filter(|field| field.until > schema.version);
        later.for_each(|field| grammar.add_later(message, field.number));
    }
    if schema.home == crate::format::otlp::schema::Home::Data {
        // Tables alone say nothing, and a lone string table may be pprof's as well.
        grammar.require(Message::Data, 1);
    }
    let (profile, container) = (&schema.profile, &schema.container);
    if profile.original_payload != 0 {
        grammar.pair(Message::Profile, profile.original_payload_format, profile.original_payload);
    }
    if container.profile != 0 {
        let (format, payload) = (container.original_payload_format, container.original_payload);
        grammar.require(Message::Container, container.profile);
        grammar.pair(Message::Container, format, payload);
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
    (grammar.packs, grammar.utf8, grammar.series) = (false, false, false);
    grammar.require(Message::Profile, schema::PROFILE.number(Version::Pprof, "string_table"));
    grammar
}

/// The fields that a version has of all messages, resources and scopes of today among them.
pub(super) fn derived(name: &'static str, root: Message, version: Version) -> Grammar {
    within(name, root, version, |_| true)
}

/// Resources and scopes as all signals of OTLP have them, around records that are still to be added.
pub(super) fn envelope(name: &'static str) -> Grammar {
    const ENVELOPE: [Message; 8] = [
        Message::Data,
        Message::ResourceProfiles,
        Message::ScopeProfiles,
        Message::Resource,
        Message::Scope,
        Message::EntityRef,
        Message::KeyValue,
        Message::AnyValue,
    ];
    // References into a dictionary are a thing of profiles.
    let mut grammar =
        within(name, Message::Data, Version::V1_9, |message| ENVELOPE.contains(&message));
    grammar.rows = Rows::NullFirst;
    grammar
}

/// The fields that a version has of some messages, but for those that lead to others.
fn within(
    name: &'static str,
    root: Message,
    version: Version,
    has: impl Fn(Message) -> bool,
) -> Grammar {
    let mut grammar = Grammar::new(name, root);
    grammar.rows = Rows::of(version);
    for (message, schema) in MESSAGES.iter().filter(|(message, _)| has(*message)) {
        for field in schema.fields_in(version) {
            let holds = holds(field, grammar.rows);
            if holds.message().is_none_or(&has) {
                grammar.add(*message, field.number, field.name, field.key, holds);
            }
        }
    }
    grammar
}

/// What a field of the schema holds.
///
/// A number that a walk can do nothing with is `Number`, or `Small` where it must fit 32 bits.
fn holds(field: &Field, rows: Rows) -> Holds {
    let many = field.is_repeated();
    match (field.kind, field.role) {
        (Kind::Message(inner), role) => match (message(inner), role) {
            (None, _) => Holds::Bytes,
            (Some(inner), Role::Row(table)) => Holds::Row(table, inner),
            (Some(inner), _) if many => Holds::Many(inner),
            (Some(inner), _) => Holds::One(inner),
        },
        (Kind::String, Role::Row(_)) => Holds::Strings,
        (Kind::String, _) => {
            if many {
                Holds::Texts
            } else {
                Holds::Text
            }
        }
        (Kind::Bytes, Role::Id(length)) => Holds::Id(length),
        (Kind::Bytes, _) => Holds::Bytes,
        (Kind::Bool, _) => Holds::Flag,
        (Kind::Fixed64, Role::Times) => Holds::FixedTimes,
        (Kind::Fixed64 | Kind::Double, _) => Holds::Fixed64,
        (Kind::Enum(_), _) => Holds::Small,
        (Kind::Int32 | Kind::Int64 | Kind::Uint32 | Kind::Uint64, _) if many => numbers(field.role),
        (Kind::Int32 | Kind::Int64 | Kind::Uint32 | Kind::Uint64, role) => match role {
            Role::SliceStart => Holds::SliceStart,
            Role::SliceLength => Holds::SliceLength,
            Role::Ref(Table::SampleType) => Holds::Small,
            // Where row 0 is a row like any other, encoders wrote pprof's ids here as well.
            Role::Ref(Table::Mapping | Table::Function) if rows == Rows::FromZero => Holds::Number,
            Role::Ref(table) => Holds::Index(table),
            _ if matches!(field.kind, Kind::Int32 | Kind::Uint32) => Holds::Small,
            _ => Holds::Number,
        },
    }
}

/// What a list of numbers is, by its role.
fn numbers(role: Role) -> Holds {
    match role {
        Role::Ref(table) => Holds::Indices(table),
        Role::Sliced(table) => Holds::SliceIndices(table),
        Role::Values => Holds::Values,
        Role::Times => Holds::Times,
        _ => Holds::Numbers,
    }
}

/// None for messages that are not looked into.
fn message(schema: &MessageType) -> Option<Message> {
    let found = MESSAGES.iter().find(|(_, known)| std::ptr::eq(*known, schema));
    found.map(|(message, _)| *message)
}
