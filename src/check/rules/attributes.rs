//! Attributes, resources and scopes.

use std::collections::HashMap;

use super::limits::OP9010;
use super::structure::OP2020;
use super::{conventions, rules};
use crate::check::cx::Cx;
use crate::check::findings::{Shown, Spot};
use crate::check::record::Record;
use crate::check::shape::{Kind, Shape};
use crate::check::tables::Fields;
use crate::schema::{
    ANY_VALUE, ARRAY_VALUE, INSTRUMENTATION_SCOPE, KEY_VALUE, KEY_VALUE_LIST, PROFILE,
    PROFILE_CONTAINER, RESOURCE, Version,
};

rules! {
    OP5001 "attribute-key-duplicate" ["E" "1-7"] "Resource, InstrumentationScope, ProfileContainer(1), Profile(1.4) attributes; KeyValueList (any depth)"
        "same key twice after resolving key_strindex (\"Attribute keys MUST be unique\")"
        source "common.proto; resource.proto; OTEP 0239"
        example "service.name twice"
        fix "write each key once";
    OP5002 "attribute-indices-duplicate" ["E" "1-7"] "attribute_indices of Profile, Sample, Mapping, Location"
        "two indices (or one index twice) with the same key (\"MUST maintain the key uniqueness requirement\")"
        source "1.9/1.11 proto; profcheck"
        example "[1,2] both key k1"
        fix "refer to one attribute of each key";
    OP5003 "attribute-key-empty" ["E" "1-7"] "KeyValue, KeyValueAndUnit (index > 0, zero entries excepted: OP3208)"
        "key resolves to \"\" (\"MUST be a non-null and non-empty string\")"
        source "specification/common"
        example "key=\"\""
        fix "give the attribute a key";
    OP5004 "attribute-key-both" ["E" "7"] "KeyValue"
        "key and key_strindex both set (\"MUST NOT be set if key is used\")"
        source "1.10 common.proto"
        example "key=\"a\", key_strindex=1"
        fix "set key or key_strindex";
    OP5005 "value-empty" ["W5/I1-4,6-7" "1-7"] "AnyValue"
        "absent or no member (\"SHOULD NOT contain empty values\", only in 1.8)"
        source "1.8 proto; 1.9 changelog"
        example "value{}"
        fix "set a value, or leave the attribute out";
    OP5006 "value-bytes" ["W" "5"] "AnyValue.bytes_value"
        "used in an attribute (SHOULD NOT, only in 1.8)"
        source "1.8 proto"
        example "bytes"
        fix "write bytes as a string";
    OP5007 "value-array-mixed" ["W5/I1-4,6-7" "1-7"] "AnyValue.array_value"
        "elements of different types, or (5) not string/bool/int/double"
        source "1.8 proto; specification/common"
        example "[\"a\",1]"
        fix "write arrays of one type";
    OP5008 "value-kvlist" ["W" "5"] "AnyValue.kvlist_value"
        "used in an attribute (SHOULD NOT, only in 1.8)"
        source "1.8 proto"
        example "kvlist"
        fix "write one attribute for each entry";
    OP5009 "null-in-array" ["I" "1-7"] "ArrayValue"
        "an element without value (\"SHOULD generally be avoided\")"
        source "specification/common"
        example "[AnyValue{}]"
        fix "leave null elements out";
    OP5010 "value-depth" ["W" "1-7"] "AnyValue"
        "arrays/maps nested deeper than 64 (AttributeValueDepthLimit default)"
        source "specification/common"
        example "65 nested arrays"
        fix "nest values less deeply";
    OP5011 "value-nan" ["I" "1-7"] "AnyValue.double_value"
        "NaN or infinite"
        source "common sense (JSON, equality)"
        example "NaN"
        fix "write a finite number";
    OP5012 "null-attribute-referenced" ["W" "5-7"] "attribute_indices"
        "contains 0, the null attribute"
        source "1.8 proto"
        example "[0]"
        fix "leave index 0 out";
    OP5013 "unit-not-ucum" ["I" "5-7"] "KeyValueAndUnit.unit"
        "not a UCUM unit (\"SHOULD be in UCUM format\", 1.11)"
        source "1.11 proto"
        example "\"nanoseconds\""
        fix "write a UCUM unit";
    OP5014 "attribute-count" ["I" "1-7"] "attribute lists"
        "more than 128 (AttributeCountLimit default; resources exempt)"
        source "specification/common"
        example "129 attributes"
        fix "write fewer attributes";
    OP5015 "value-long" ["I" "1-7"] "strings, bytes"
        "longer than 65 535 bytes (Pyroscope truncates there)"
        source "Pyroscope limits"
        example "1 MiB string"
        fix "write a shorter value";
    OP5016 "high-cardinality" ["I" "1-7"] "attribute_table"
        "a key whose values are doubles, or are distinct in > 90 % of >= 1000 samples (\"recommended ... bounded cardinality\")"
        source "1.9 proto"
        example "cpu_time=0.123 per sample"
        fix "keep the number of distinct values small";
    OP5017 "strindex-too-early" ["W" "1-6"] "KeyValue.key_strindex, AnyValue.string_value_strindex"
        "fields of 1.10 in an older generation: readers ignore them, the key becomes \"\""
        source "1.10 common.proto"
        example "G4 with key_strindex"
        fix "write the text in place, or 1.10";
    OP5018 "key-style" ["I" "1-7"] off "attribute keys"
        "upper case or blanks (\"Names SHOULD be lowercase\"); off by default"
        source "semconv naming.md"
        example "\"ThreadID\""
        fix "write keys in lower case with dots and underscores";
    OP5019 "resource-missing" ["I" "1-7"] "ResourceProfiles.resource"
        "absent (\"no resource info is known\")"
        source "profiles.proto"
        example "no resource"
        fix "describe the resource";
    OP5021 "resource-duplicate" ["I" "1-7"] "resource_profiles"
        "two entries with equal resource and schema_url"
        source "common sense"
        example "same twice"
        fix "merge the two";
    OP5022 "scope-duplicate" ["I" "1-7"] "scope_profiles"
        "two entries with equal scope and schema_url under one resource"
        source "common sense"
        example "same twice"
        fix "merge the two";
    OP5023 "scope-name-empty" ["I" "1-7"] "InstrumentationScope.name"
        "empty (\"means the name is unknown\"; \"SHOULD be specified\")"
        source "common.proto; instrumentation-scope.md"
        example "scope{}"
        fix "name the scope";
    OP5024 "schema-url" ["W" "1-7"] "schema_url"
        "set and not http[s]://server[:port]/path/<version>"
        source "profiles.proto 1.5+"
        example "\"1.2.3\""
        fix "write a schema URL that ends in a version";
    OP5025 "entity-type-empty" ["E" "3-7"] "EntityRef.type"
        "\"\" (\"required and MUST not be empty\")"
        source "1.6 common.proto"
        example "type=\"\""
        fix "name the entity's type";
    OP5026 "entity-id-empty" ["E" "3-7"] "EntityRef.id_keys"
        "empty (\"must contain at least one attribute\")"
        source "1.6 common.proto"
        example "id_keys=[]"
        fix "name at least one identifying key";
    OP5027 "entity-key-missing" ["E" "3-7"] "EntityRef.id_keys, description_keys"
        "key absent from the resource's attributes (\"MUST exist\")"
        source "1.6 common.proto"
        example "id_keys=[\"host.id\"]"
        fix "add the attribute to the resource, or drop the key";
    OP5028 "entity-key-overlap" ["W" "3-7"] "EntityRef"
        "a key twice, or both identifying and descriptive"
        source "common sense"
        example "id_keys=[a,a]"
        fix "name each key once";
    OP5031 "attribute-type-conflict" ["I" "1-7"] "attribute_table"
        "one key with different value types or different units"
        source "common sense"
        example "k=1, k=\"1\""
        fix "use one type and unit for a key";
}

/// The attributes of a profile, by reference.
pub(crate) const PROFILE_ATTRIBUTES: usize = PROFILE.cell("attribute_indices");

/// The lists of attributes that messages hold in place: the attributes, and the count of those dropped.
fn in_place(kind: Kind) -> Option<(usize, usize)> {
    Some(match kind {
        Kind::Profile => (PROFILE.cell("attributes"), PROFILE.cell("dropped_attributes_count")),
        Kind::Container => (
            PROFILE_CONTAINER.cell("attributes"),
            PROFILE_CONTAINER.cell("dropped_attributes_count"),
        ),
        Kind::Resource => (RESOURCE.cell("attributes"), RESOURCE.cell("dropped_attributes_count")),
        Kind::Scope => (
            INSTRUMENTATION_SCOPE.cell("attributes"),
            INSTRUMENTATION_SCOPE.cell("dropped_attributes_count"),
        ),
        _ => return None,
    })
}

/// The attributes that a message holds in place, and how many were dropped.
pub(crate) fn of_message(cx: &mut Cx<'_>, shape: &'static Shape, record: &Record) {
    let Some((list, dropped)) = in_place(shape.kind) else { return };
    let count = record.count(list);
    let referred = match shape.kind {
        Kind::Profile => record.count(PROFILE_ATTRIBUTES),
        _ => 0,
    };
    if record.number(dropped) > 0 && count == 0 && referred == 0 {
        let spot = Spot::at(record.at(dropped)).field("dropped_attributes_count");
        cx.findings.raise(&OP2020, spot, record.number(dropped), "an attribute");
    }
    let spot = Spot::at(record.at(list)).field("attributes");
    if count > 128 && shape.kind != Kind::Resource {
        cx.findings.raise(&OP5014, spot, format_args!("{count} attributes"), 128);
    }
    let most = cx.limits.max_attributes_per_item;
    if count as u64 > most {
        cx.findings.raise(&OP9010, spot, format_args!("{count} attributes"), most);
    }
    unique(cx, shape, record, list);
}

/// The bodies of the messages in a repeated field.
pub(super) fn bodies<'a>(
    cx: &Cx<'a>,
    shape: &'static Shape,
    record: &Record,
    cell: usize,
) -> impl Iterator<Item = (usize, usize)> + use<'a> {
    let wanted = shape.of_cell(cell).map_or(0, |slot| slot.field.number);
    let end = if record.has(cell) { record.end } else { record.start };
    let fields = Fields::new(cx.bytes, record.start, end);
    fields.filter(move |(number, _)| *number == wanted).filter_map(|(_, body)| body)
}

/// The key of a `KeyValue`; `None` where it leads nowhere.
pub(super) fn key_of<'a>(cx: &Cx<'a>, record: &Record) -> Option<&'a [u8]> {
    match record.number(STRINDEX) {
        0 => Some(cx.body(record, KEY)),
        row => cx.string(row),
    }
}

/// Pairs in place: no key twice.
fn unique(cx: &mut Cx<'_>, shape: &'static Shape, record: &Record, cell: usize) {
    if record.count(cell) < 2 {
        return;
    }
    let Some(pair) = cx.shapes.find(Kind::KeyValue) else { return };
    let mut seen: HashMap<&[u8], usize, foldhash::fast::RandomState> = HashMap::default();
    for (row, (start, end)) in bodies(cx, shape, record, cell).enumerate() {
        let Some(key) = key_of(cx, &cx.peek(pair, start, end)).filter(|key| !key.is_empty()) else {
            continue;
        };
        if let Some(first) = seen.get(key) {
            let first = *first;
            let spot = Spot::at(start).field(shape.name_of(cell)).row(row);
            cx.findings.raise(&OP5001, spot, Shown(key), format_args!("no key of [{first}]"));
        } else {
            seen.insert(key, row);
        }
    }
}

const KEY: usize = KEY_VALUE.cell("key");
const STRINDEX: usize = KEY_VALUE.cell("key_strindex");
const PAIR_VALUE: usize = KEY_VALUE.cell("value");

/// A key and a value, in place.
pub(crate) fn key_value(cx: &mut Cx<'_>, record: &Record) {
    let text = cx.body(record, KEY);
    let row = record.number(STRINDEX);
    if !text.is_empty() && row != 0 {
        let spot = Spot::at(record.at(STRINDEX)).field("key_strindex");
        cx.findings.raise(&OP5004, spot, format_args!("{row} and {}", Shown(text)), "one of them");
    }
    let key = key_of(cx, record);
    if key.is_some_and(<[u8]>::is_empty) {
        cx.findings.raise(&OP5003, Spot::at(record.at(KEY)).field("key"), "\"\"", "a key");
    }
    if !record.has(PAIR_VALUE) {
        cx.findings.raise(&OP5005, Spot::at(record.start).field("value"), "", "a value");
    }
    if let Some(key) = key {
        key_style(cx, record, key);
        conventions::in_place(cx, key, record.body(PAIR_VALUE));
    }
}

pub(super) fn key_style(cx: &mut Cx<'_>, record: &Record, key: &[u8]) {
    if cx.findings.asks(&OP5018) && key.iter().any(|c| c.is_ascii_uppercase() || *c == b' ') {
        cx.findings.raise(&OP5018, Spot::at(record.start).field("key"), Shown(key), "lower case");
    }
}

const DOUBLE: usize = ANY_VALUE.cell("double_value");
const BYTES: usize = ANY_VALUE.cell("bytes_value");
const KVLIST: usize = ANY_VALUE.cell("kvlist_value");

/// A value.
pub(crate) fn value(cx: &mut Cx<'_>, record: &Record) {
    let here = Spot::at(record.start);
    if record.seen == 0 {
        match cx.parent {
            Kind::ArrayValue => cx.findings.raise(&OP5009, here, "", "a value"),
            Kind::KeyValue => cx.findings.raise(&OP5005, here, "", "a value"),
            _ => {}
        }
        return;
    }
    if record.has(DOUBLE) {
        let number = f64::from_bits(record.number(DOUBLE));
        if !number.is_finite() {
            let spot = Spot::at(record.at(DOUBLE)).field("double_value");
            cx.findings.raise(&OP5011, spot, number, "a finite number");
        }
    }
    if record.has(BYTES) {
        let spot = Spot::at(record.at(BYTES)).field("bytes_value");
        cx.findings.raise(&OP5006, spot, "", "");
    }
    if record.has(KVLIST) {
        let spot = Spot::at(record.at(KVLIST)).field("kvlist_value");
        cx.findings.raise(&OP5008, spot, "", "");
    }
}

const ELEMENTS: usize = ARRAY_VALUE.cell("values");
const PAIRS: usize = KEY_VALUE_LIST.cell("values");
/// The nesting of values that the specification's common part has as a default.
const DEEPEST: u64 = 64;

fn deeper(cx: &mut Cx<'_>, record: &Record) {
    cx.payload.value_depth += 1;
    if cx.payload.value_depth == DEEPEST + 1 {
        cx.findings.raise(&OP5010, Spot::at(record.start), "", DEEPEST);
    }
}

/// An array: elements of one type.
pub(crate) fn array(cx: &mut Cx<'_>, shape: &'static Shape, record: &Record) {
    deeper(cx, record);
    let Some(value) = cx.shapes.find(Kind::AnyValue) else { return };
    let mut first: Option<u64> = None;
    for (row, (start, end)) in bodies(cx, shape, record, ELEMENTS).enumerate() {
        let kind = value_type(cx.peek(value, start, end).seen);
        let scalar = kind & (1 << BYTES | 1 << KVLIST | 1 << ARRAY) == 0;
        let spot = Spot::at(start).field("values").row(row);
        if kind == 0 {
            continue;
        }
        if *first.get_or_insert(kind) != kind {
            cx.findings.raise(&OP5007, spot, "another type", "the type of the first element");
            return;
        }
        if cx.version == Version::V1_8 && !scalar {
            cx.findings.raise(&OP5007, spot, "", "a string, bool, int or double");
            return;
        }
    }
}

const ARRAY: usize = ANY_VALUE.cell("array_value");
const TEXT: usize = ANY_VALUE.cell("string_value");
const TEXT_STRINDEX: usize = ANY_VALUE.cell("string_value_strindex");

/// The member that is set: both ways to write a text are one.
pub(super) fn value_type(seen: u64) -> u64 {
    match seen & (1 << TEXT_STRINDEX) {
        0 => seen,
        _ => 1 << TEXT,
    }
}

/// A list of pairs.
pub(crate) fn pairs(cx: &mut Cx<'_>, shape: &'static Shape, record: &Record) {
    deeper(cx, record);
    unique(cx, shape, record, PAIRS);
}
