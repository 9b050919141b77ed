//! The grammar of timestamped events, a proposal (opentelemetry-proto 594) that was never released.

use Holds::{Bytes, Fixed64, Flag, Id, Index, Indices, Many, Number, Row, Small, Strings};

use super::generations::envelope;
use super::grammar::{Fields, Grammar, Holds, Message, Table};
use crate::format::otlp::schema::Rows;

/// A text by its row in the string table.
const TEXT: Holds = Index(Table::String);

/// What a profile of events is made of: bare, or where other profiles are.
pub(super) fn events(root: Message) -> Grammar {
    let mut grammar = envelope("events");
    (grammar.root, grammar.rows, grammar.series) = (root, Rows::Presence, false);
    grammar.add_all(EVENTS).require(Message::Profile, 3).require(Message::Profile, 11);
    grammar
}

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
    (
        Message::Function,
        &[
            (1, "id", Number),
            (2, "name", TEXT),
            (3, "system_name", TEXT),
            (4, "filename", TEXT),
            (5, "start_line", Number),
        ],
    ),
    (Message::Link, &[(1, "trace_id", Id(16)), (2, "span_id", Id(8))]),
    (Message::KeyValueAndUnit, &[(1, "key", TEXT), (2, "value", Bytes)]),
];
