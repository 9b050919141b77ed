//! What all signals of OTLP share, and the rows that all generations of profiles do.

use Holds::{Bytes, Fixed64, Flag, Id, Index, Indices, Many, Number, One, Small, Text, Texts};

use super::grammar::{Fields, Holds, Message, Table};

/// A text by its row in the string table.
pub(super) const TEXT: Holds = Index(Table::String);

/// Resources, scopes and attributes in place.
pub(super) const ENVELOPE: Fields = &[
    (Message::Data, &[(1, "resource_profiles", Many(Message::ResourceProfiles))]),
    (
        Message::ResourceProfiles,
        &[
            (1, "resource", One(Message::Resource)),
            (3, "schema_url", Text),
            (2, "scope_profiles", Many(Message::ScopeProfiles)),
        ],
    ),
    (Message::ScopeProfiles, &[(1, "scope", One(Message::Scope)), (3, "schema_url", Text)]),
    (
        Message::Resource,
        &[(1, "attributes", Many(Message::KeyValue)), (2, "dropped_attributes_count", Small)],
    ),
    (
        Message::Scope,
        &[
            (1, "name", Text),
            (2, "version", Text),
            (3, "attributes", Many(Message::KeyValue)),
            (4, "dropped_attributes_count", Small),
        ],
    ),
    (
        Message::EntityRef,
        &[
            (1, "schema_url", Text),
            (2, "type", Text),
            (3, "id_keys", Texts),
            (4, "description_keys", Texts),
        ],
    ),
    (Message::KeyValue, &[(1, "key", Text), (2, "value", One(Message::AnyValue))]),
    (
        Message::AnyValue,
        &[
            (1, "string_value", Text),
            (2, "bool_value", Flag),
            (3, "int_value", Number),
            (4, "double_value", Fixed64),
            (5, "array_value", Bytes),
            (6, "kvlist_value", Bytes),
            (7, "bytes_value", Bytes),
        ],
    ),
];

/// Rows that no generation said otherwise.
pub(super) const ROWS: Fields = &[
    (Message::Link, &[(1, "trace_id", Id(16)), (2, "span_id", Id(8))]),
    (Message::Stack, &[(1, "location_indices", Indices(Table::Location))]),
    (Message::AttributeUnit, &[(1, "attribute_key", TEXT), (2, "unit", TEXT)]),
    (
        Message::KeyValueAndUnit,
        &[
            (1, "key_strindex", TEXT),
            (3, "unit_strindex", TEXT),
            (2, "value", One(Message::AnyValue)),
        ],
    ),
    (Message::ValueType, &[(1, "type", TEXT), (2, "unit", TEXT)]),
];

/// The labels of pprof's samples, which OTEP 0239 kept.
pub(super) const LABEL: Fields = &[(
    Message::Label,
    &[(1, "key", TEXT), (2, "str", TEXT), (3, "num", Number), (4, "num_unit", TEXT)],
)];

/// Functions as pprof has them, and whoever took them from there.
pub(super) const FUNCTION_WITH_ID: Fields = &[(
    Message::Function,
    &[
        (1, "id", Number),
        (2, "name", TEXT),
        (3, "system_name", TEXT),
        (4, "filename", TEXT),
        (5, "start_line", Number),
    ],
)];
