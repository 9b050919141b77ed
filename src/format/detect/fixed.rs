//! The grammars of formats that never changed: google/pprof's profile.proto, and timestamped events, a
//! proposal (opentelemetry-proto 594) that was never released.

use Holds::{
    Bytes, Fixed64, Flag, Id, Index, Indices, Many, Number, Numbers, One, Row, Small, Strings,
    Values,
};

use super::grammar::{Fields, Grammar, Holds, Message, Table};
use super::shared::{ENVELOPE, FUNCTION_WITH_ID, LABEL, TEXT};
use crate::format::otlp::schema::Rows;

/// What a pprof profile is made of. Rows refer to each other by id, which detection does not follow.
pub(super) fn pprof() -> Grammar {
    let mut grammar = Grammar::new("pprof", Message::Profile);
    (grammar.rows, grammar.packs, grammar.utf8) = (Rows::FromZero, false, false);
    with(grammar, &[LABEL, FUNCTION_WITH_ID, PPROF], &[6])
}

/// What a profile of events is made of: bare, or where other profiles are.
pub(super) fn events(root: Message) -> Grammar {
    let mut grammar = Grammar::new("events", root);
    grammar.rows = Rows::Presence;
    with(grammar, &[ENVELOPE, FUNCTION_WITH_ID, EVENTS], &[3, 11])
}

/// A grammar with these fields, and these in every profile.
fn with(mut grammar: Grammar, messages: &[Fields], required: &[u32]) -> Grammar {
    grammar.series = false;
    for fields in messages {
        grammar.add_all(fields);
    }
    for &number in required {
        grammar.require(Message::Profile, number);
    }
    grammar
}

const PPROF: Fields = &[
    (
        Message::Profile,
        &[
            (1, "sample_type", Row(Table::SampleType, Message::ValueType)),
            (2, "sample", Many(Message::Sample)),
            (3, "mapping", Row(Table::Mapping, Message::Mapping)),
            (4, "location", Row(Table::Location, Message::Location)),
            (5, "function", Row(Table::Function, Message::Function)),
            (6, "string_table", Strings),
            (7, "drop_frames", TEXT),
            (8, "keep_frames", TEXT),
            (9, "time_nanos", Number),
            (10, "duration_nanos", Number),
            (11, "period_type", One(Message::ValueType)),
            (12, "period", Number),
            (13, "comment", Indices(Table::String)),
            (14, "default_sample_type", TEXT),
            (15, "doc_url", TEXT),
        ],
    ),
    (Message::ValueType, &[(1, "type", TEXT), (2, "unit", TEXT)]),
    (
        Message::Sample,
        &[(1, "location_id", Numbers), (2, "value", Values), (3, "label", Many(Message::Label))],
    ),
    (
        Message::Mapping,
        &[
            (1, "id", Number),
            (2, "memory_start", Number),
            (3, "memory_limit", Number),
            (4, "file_offset", Number),
            (5, "filename", TEXT),
            (6, "build_id", TEXT),
            (7, "has_functions", Flag),
            (8, "has_filenames", Flag),
            (9, "has_line_numbers", Flag),
            (10, "has_inline_frames", Flag),
        ],
    ),
    (
        Message::Location,
        &[
            (1, "id", Number),
            (2, "mapping_id", Number),
            (3, "address", Number),
            (4, "line", Many(Message::Line)),
            (5, "is_folded", Flag),
        ],
    ),
    (Message::Line, &[(1, "function_id", Number), (2, "line", Number), (3, "column", Number)]),
];

const EVENTS: Fields = &[
    (Message::ScopeProfiles, &[(2, "profiles", Many(Message::Profile))]),
    (
        Message::Profile,
        &[
            (1, "events", Many(Message::Event)),
            (3, "event_types", Many(Message::EventType)),
            (4, "stacks", Row(Table::Stack, Message::Stack)),
            (5, "locations", Row(Table::Location, Message::Location)),
            (6, "functions", Row(Table::Function, Message::Function)),
            (7, "mappings", Row(Table::Mapping, Message::Mapping)),
            (8, "attributes", Row(Table::Attribute, Message::KeyValueAndUnit)),
            (10, "links", Row(Table::Link, Message::Link)),
            (11, "strings", Strings),
            (12, "clocks", Many(Message::Clock)),
            (16, "time_unix_nano", Fixed64),
            (17, "duration_nanos", Number),
            (18, "comment", Indices(Table::String)),
        ],
    ),
    (
        Message::Event,
        &[
            (1, "type", Small),
            (2, "stack", Index(Table::Stack)),
            (3, "link", Index(Table::Link)),
            (4, "attributes", Indices(Table::Attribute)),
            (5, "time", Number),
            (6, "duration", Number),
            (7, "value", Number),
            (8, "count", Number),
            (9, "sum", Number),
        ],
    ),
    (
        Message::EventType,
        &[
            (1, "name", TEXT),
            (2, "unit", TEXT),
            (3, "clock_index", Small),
            (4, "default_value", Number),
            (7, "attributes", Indices(Table::Attribute)),
        ],
    ),
    (
        Message::Clock,
        &[
            (1, "frequency", Number),
            (2, "time_unix_nano", Fixed64),
            (3, "attributes", Indices(Table::Attribute)),
        ],
    ),
    (Message::Stack, &[(1, "location_index", Indices(Table::Location))]),
    (
        Message::Location,
        &[
            (1, "mapping", Index(Table::Mapping)),
            (2, "address", Number),
            (3, "lines", Many(Message::Line)),
            (4, "is_folded", Flag),
            (5, "type", TEXT),
            (6, "attributes", Indices(Table::Attribute)),
        ],
    ),
    (
        Message::Line,
        &[(1, "function", Index(Table::Function)), (2, "line", Number), (3, "column", Number)],
    ),
    (
        Message::Mapping,
        &[
            (1, "memory_start", Number),
            (2, "memory_limit", Number),
            (3, "file_offset", Number),
            (4, "filename", TEXT),
            (5, "build_id", TEXT),
            (6, "build_id_kind", Small),
            (7, "attributes", Indices(Table::Attribute)),
            (8, "has_functions", Flag),
            (9, "has_filenames", Flag),
            (10, "has_line_numbers", Flag),
            (11, "has_inline_frames", Flag),
        ],
    ),
    (Message::Link, &[(1, "trace_id", Id(16)), (2, "span_id", Id(8))]),
    (Message::KeyValueAndUnit, &[(1, "key", TEXT), (2, "value", Bytes)]),
];
