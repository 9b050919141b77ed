//! The grammar of google/pprof's profile.proto.

use Holds::{Flag, Index, Indices, Many, Number, Numbers, One, Row, Strings, Values};

use super::grammar::{Fields, Grammar, Holds, Message, Table};
use crate::format::otlp::schema::Rows;

const TEXT: Holds = Index(Table::String);

/// What a pprof profile is made of. Rows refer to each other by id, which detection does not follow.
pub(super) fn grammar() -> Grammar {
    let mut grammar = Grammar::new("pprof", Message::Profile);
    (grammar.rows, grammar.packs, grammar.utf8, grammar.series) =
        (Rows::FromZero, false, false, false);
    grammar.add_all(PPROF).require(Message::Profile, 6);
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
        &[
            (1, "location_id", Numbers),
            (2, "value", Values),
            (3, "label", Many(Message::Label)),
        ],
    ),
    (
        Message::Label,
        &[
            (1, "key", TEXT),
            (2, "str", TEXT),
            (3, "num", Number),
            (4, "num_unit", TEXT),
        ],
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
    (
        Message::Line,
        &[
            (1, "function_id", Number),
            (2, "line", Number),
            (3, "column", Number),
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
];
