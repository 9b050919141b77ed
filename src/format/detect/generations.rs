//! The grammar of a generation of OTLP, derived from its schema.

use Holds::{
    Bytes, Fixed64, FixedTimes, Flag, Id, Index, Indices, Many, Number, Numbers, One, Row, Small,
};
use Holds::{SliceIndices, SliceLength, SliceStart, Strings, Text, Times, Values};

use super::grammar::{Grammar, Holds, Message, Table};
use super::shared::{ENVELOPE, LABEL, ROWS, TEXT};
use crate::format::otlp::schema::{Home, Rows, Schema};

const ATTRIBUTES: Holds = Indices(Table::Attribute);

/// What the payloads of a generation are made of.
pub(super) fn grammar(schema: &Schema) -> Grammar {
    let mut grammar = Grammar::new(schema.name, Message::Data);
    grammar.rows = schema.rows;
    grammar.series = series(schema);
    grammar.add_all(ENVELOPE).add_all(ROWS);
    envelope(&mut grammar, schema);
    tables(&mut grammar, schema);
    mapping(&mut grammar, schema);
    location(&mut grammar, schema);
    container(&mut grammar, schema);
    profile(&mut grammar, schema);
    sample(&mut grammar, schema);
    grammar
}

/// A profile of OTEP 0239 without its container: what OTEP 0239 calls an extended pprof.
pub(super) fn bare(schema: &Schema) -> Grammar {
    let mut bare = grammar(schema);
    bare.root = Message::Profile;
    bare
}

/// Whether values and timestamps are a series, of the one sample type of a profile.
fn series(schema: &Schema) -> bool {
    schema.tables.stack != 0
}

fn envelope(grammar: &mut Grammar, schema: &Schema) {
    let record = if schema.container.profile == 0 { Message::Profile } else { Message::Container };
    grammar
        .add(Message::ScopeProfiles, &[(2, "profiles", Many(record))])
        .add(Message::Resource, &[(schema.entity_refs, "entity_refs", Many(Message::EntityRef))])
        .add(Message::KeyValue, &[(schema.key_strindex, "key_strindex", TEXT)])
        .add(Message::AnyValue, &[(schema.string_value_strindex, "string_value_strindex", TEXT)])
        .add(Message::ValueType, &[(schema.temporality, "aggregation_temporality", Small)]);
}

/// Where the tables live: the message, which says that there are any.
fn home(grammar: &mut Grammar, schema: &Schema) -> Message {
    match schema.home {
        Home::Profile => Message::Profile,
        Home::Data => {
            // Tables alone say nothing, and a lone string table may be pprof's as well.
            grammar.require(Message::Data, 1);
            Message::Data
        }
        Home::Dictionary => {
            grammar.add(Message::Data, &[(2, "dictionary", One(Message::Dictionary))]);
            Message::Dictionary
        }
    }
}

fn tables(grammar: &mut Grammar, schema: &Schema) {
    let Schema { tables, .. } = schema;
    let attribute =
        if tables.attribute_units == 0 { Message::KeyValueAndUnit } else { Message::KeyValue };
    let home = home(grammar, schema);
    grammar.add(
        home,
        &[
            (tables.mapping, "mapping_table", Row(Table::Mapping, Message::Mapping)),
            (tables.location, "location_table", Row(Table::Location, Message::Location)),
            (tables.function, "function_table", Row(Table::Function, Message::Function)),
            (tables.link, "link_table", Row(Table::Link, Message::Link)),
            (tables.string, "string_table", Strings),
            (tables.attribute, "attribute_table", Row(Table::Attribute, attribute)),
            (
                tables.attribute_units,
                "attribute_units",
                Row(Table::AttributeUnit, Message::AttributeUnit),
            ),
            (tables.stack, "stack_table", Row(Table::Stack, Message::Stack)),
        ],
    );
}

/// A reference to a row; where row 0 is a row like any other, encoders also wrote pprof's ids.
fn reference(table: Table, schema: &Schema) -> Holds {
    if schema.rows == Rows::FromZero { Number } else { Index(table) }
}

fn mapping(grammar: &mut Grammar, schema: &Schema) {
    let Schema { mapping, .. } = schema;
    let has = ["has_functions", "has_filenames", "has_line_numbers", "has_inline_frames"];
    for (number, name) in (mapping.has_functions..).zip(has).filter(|_| mapping.has_functions != 0)
    {
        grammar.add(Message::Mapping, &[(number, name, Flag)]);
    }
    grammar.add(
        Message::Mapping,
        &[
            (mapping.id, "id", Number),
            (mapping.memory_start, "memory_start", Number),
            (mapping.memory_limit, "memory_limit", Number),
            (mapping.file_offset, "file_offset", Number),
            (mapping.filename, "filename", TEXT),
            (mapping.build_id, "build_id", TEXT),
            (mapping.build_id_kind, "build_id_kind", Small),
            (mapping.attributes, "attribute_indices", ATTRIBUTES),
        ],
    );
}

fn location(grammar: &mut Grammar, schema: &Schema) {
    let Schema { location, function, .. } = schema;
    let (mapping, callee) = (reference(Table::Mapping, schema), reference(Table::Function, schema));
    grammar
        .add(
            Message::Location,
            &[
                (location.id, "id", Number),
                (location.address, "address", Number),
                (location.mapping, "mapping_index", mapping),
                (location.lines, "lines", Many(Message::Line)),
                (location.is_folded, "is_folded", Flag),
                (location.frame_type, "type_index", TEXT),
                (location.attributes, "attribute_indices", ATTRIBUTES),
            ],
        )
        .add(
            Message::Line,
            &[(1, "function_index", callee), (2, "line", Number), (3, "column", Number)],
        )
        .add(
            Message::Function,
            &[
                (function.id, "id", Number),
                (function.name, "name", TEXT),
                (function.system_name, "system_name", TEXT),
                (function.filename, "filename", TEXT),
                (function.start_line, "start_line", Number),
            ],
        );
}

fn container(grammar: &mut Grammar, schema: &Schema) {
    let Schema { container, .. } = schema;
    if container.profile == 0 {
        return;
    }
    grammar
        .require(Message::Container, container.profile)
        .pair(Message::Container, container.original_payload_format, container.original_payload)
        .add(
            Message::Container,
            &[
                (container.profile_id, "profile_id", Id(16)),
                (container.start, "start_time_unix_nano", Fixed64),
                (container.end, "end_time_unix_nano", Fixed64),
                (container.attributes, "attributes", Many(Message::KeyValue)),
                (container.dropped_attributes_count, "dropped_attributes_count", Small),
                (container.original_payload_format, "original_payload_format", Text),
                (container.original_payload, "original_payload", Bytes),
                (container.profile, "profile", One(Message::Profile)),
            ],
        );
}

fn profile(grammar: &mut Grammar, schema: &Schema) {
    let Schema { profile, .. } = schema;
    let sample_type = Message::ValueType;
    let sample_type =
        if series(schema) { One(sample_type) } else { Row(Table::SampleType, sample_type) };
    let default = if profile.default_by_name { TEXT } else { Small };
    let time = if profile.unsigned_time { Fixed64 } else { Number };
    if profile.original_payload != 0 {
        grammar.pair(Message::Profile, profile.original_payload_format, profile.original_payload);
    }
    grammar.add(
        Message::Profile,
        &[
            (profile.sample_type, "sample_type", sample_type),
            (profile.samples, "samples", Many(Message::Sample)),
            (profile.location_indices, "location_indices", SliceIndices(Table::Location)),
            (profile.time, "time", time),
            (profile.duration, "duration", Number),
            (profile.period, "period", Number),
            (profile.period_type, "period_type", One(Message::ValueType)),
            (profile.comment, "comment", Indices(Table::String)),
            (profile.default_sample_type, "default_sample_type", default),
            (profile.drop_frames, "drop_frames", TEXT),
            (profile.keep_frames, "keep_frames", TEXT),
            (profile.profile_id, "profile_id", Id(16)),
            (profile.attributes, "attributes", Many(Message::KeyValue)),
            (profile.dropped_attributes_count, "dropped_attributes_count", Small),
            (profile.original_payload_format, "original_payload_format", Text),
            (profile.original_payload, "original_payload", Bytes),
            (profile.attribute_indices, "attribute_indices", ATTRIBUTES),
        ],
    );
}

fn sample(grammar: &mut Grammar, schema: &Schema) {
    let Schema { sample, .. } = schema;
    let times = if sample.fixed_timestamps { FixedTimes } else { Times };
    grammar.add(
        Message::Sample,
        &[
            (sample.location_index, "location_index", Numbers),
            (sample.label, "label", Many(Message::Label)),
            (sample.slice_start, "locations_start_index", SliceStart),
            (sample.slice_length, "locations_length", SliceLength),
            (sample.stack, "stack_index", Index(Table::Stack)),
            (sample.values, "values", Values),
            (sample.attributes, "attribute_indices", ATTRIBUTES),
            (sample.link, "link_index", Index(Table::Link)),
            (sample.timestamps, "timestamps_unix_nano", times),
            (sample.stacktrace_id, "stacktrace_id_index", TEXT),
        ],
    );
    if sample.label != 0 {
        grammar.add_all(LABEL);
    }
}
