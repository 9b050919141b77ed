//! Rules about attributes, resources, scopes and entities.
//!
//! Sources: OpenTelemetry's specification of attributes (`specification/common`), which requires unique keys, and
//! the comments of the protos on tables, units and entities.
//!
//! Attributes have three forms, and each rule names the forms that it applies to:
//!
//! * pairs in place: `KeyValue`, in resources and scopes, in OTEP 0239's containers and in profiles of 1.4. Checked
//!   by [`rules::attributes`](crate::check::rules::attributes).
//! * rows of the attribute table: `KeyValueAndUnit` since 1.8, `KeyValue` before. Checked by
//!   [`rules::entries`](crate::check::rules::entries).
//! * lists of references to those rows (`attribute_indices`). Checked by [`lists`](crate::check::lists).

use crate::check::rule::rules;

rules! { Attributes:
    /// An error because backends keep attributes in maps: which of two equal keys survives depends
    /// on the backend, so two readers see two different services. A `key_strindex` is resolved
    /// first: one pair may name by reference what another spells out.
    OP5001 "attribute-key-duplicate" ["E" "1-7"] "Resource, InstrumentationScope, ProfileContainer(1), Profile(1.4) attributes; KeyValueList (any depth)"
        "an attribute key occurs twice" finding "the key {v} occurs twice, first in attribute {b}"
        source "common.proto: \"Attribute keys MUST be unique\"; OTEP 0239"
        example "service.name twice" => "service.name once"
        fix "write each key once" for Parca Error;
    /// The same invariant for lists of references. Keys are compared by their text, so that two
    /// rows with one key conflict even where their values are equal, and so does one row that is
    /// listed twice.
    OP5002 "attribute-indices-duplicate" ["E" "1-7"] "attribute_indices of Profile, Sample, Mapping, Location"
        "two attribute indices have the same key" finding "{v} repeats the key of entry {b}"
        source "profiles.proto 1.9: lists \"MUST maintain the key uniqueness requirement\"; profcheck"
        example "[1, 2] of the key thread.id" => "[1]"
        fix "refer to one attribute per key" for Parca Error;
    /// Backends cannot index a pair without a name. The zero entry of a table is exempt; `OP3208` reports it at other
    /// positions.
    OP5003 "attribute-key-empty" ["E" "1-7"] "KeyValue, KeyValueAndUnit (index > 0, zero entries excepted: OP3208)"
        "an attribute has no key" finding "the attribute key is {v}"
        source "attribute specification: a key \"MUST be a non-null and non-empty string\""
        example "key: \"\"" => "key: \"thread.id\""
        fix "give the attribute a key" for Parca Error;
    /// `key_strindex` is new in 1.10, where either may be set. A reader that knows both has to
    /// prefer one, and older readers see `key` alone.
    OP5004 "attribute-key-both" ["E" "7"] "KeyValue"
        "an attribute has a key in place and by reference" finding "the attribute has the keys {v}, expected {b}"
        source "common.proto 1.10: key_strindex \"MUST NOT be set if key is used\""
        example "key: \"a\", key_strindex: 1" => "key: \"a\""
        fix "set key or key_strindex";
    /// 1.8 alone said "SHOULD NOT"; 1.9 took the sentence back, hence the warning in one generation
    /// and the info in all others.
    OP5005 "value-empty" ["W5/I1-4,6-7" "1-7"] "AnyValue"
        "an attribute has no value"
        source "profiles.proto 1.8: attributes \"SHOULD NOT contain empty values\"; 1.9 removed the sentence"
        example "value: {}" => "value: {string_value: \"x\"}"
        fix "set a value, or omit the attribute" for Parca Error;
    /// 1.8 alone, as `OP5005`: bytes have no form that query languages agree on.
    OP5006 "value-bytes" ["W" "5"] "AnyValue.bytes_value"
        "an attribute holds bytes"
        source "profiles.proto 1.8 advises against bytes; no other release does"
        example "bytes_value: 01" => "string_value: \"01\""
        fix "write bytes as a string" for Pyroscope Warning;
    /// The specification of attributes wants arrays to be homogeneous, since columnar stores give
    /// an array one type. Both ways to write a text count as one type.
    OP5007 "value-array-mixed" ["W5/I1-4,6-7" "1-7"] "AnyValue.array_value"
        "an array mixes types"
        source "attribute specification: arrays are homogeneous; profiles.proto 1.8"
        example "[\"a\", 1]" => "[\"a\", \"1\"]"
        fix "write arrays of one type" for Pyroscope Warning;
    /// 1.8 alone: nested attributes cannot be flattened into labels without inventing keys.
    OP5008 "value-kvlist" ["W" "5"] "AnyValue.kvlist_value"
        "an attribute holds a map"
        source "profiles.proto 1.8 advises against maps; no other release does"
        example "{a: {b: 1}}" => "{a.b: 1}"
        fix "write one attribute per entry" for Pyroscope Warning;
    /// Readers that skip nulls shift the elements after it.
    OP5009 "null-in-array" ["I" "1-7"] "ArrayValue"
        "an array contains a null"
        source "attribute specification: null values \"SHOULD generally be avoided\""
        example "[\"a\", null]" => "[\"a\"]"
        fix "omit null elements" for Pyroscope Warning;
    /// SDKs may stop at a depth of 64, and common protobuf decoders at 100 nested messages, which a value of 49 levels
    /// in a resource already reaches.
    OP5010 "value-depth" ["W" "1-7"] "AnyValue"
        "a value is nested too deeply" finding "a value is nested deeper than {b} levels"
        source "attribute specification: AttributeValueDepthLimit is 64 by default"
        example "65 nested arrays" => "2 nested arrays"
        fix "nest values less deeply";
    /// JSON has no NaN and no infinity, and a NaN does not equal itself, so tables cannot be
    /// deduplicated by comparing values.
    OP5011 "value-nan" ["I" "1-7"] "AnyValue.double_value"
        "a number is NaN or infinite" finding "the number is {v}"
        source "RFC 8259, section 6: JSON has no NaN and no infinity"
        example "NaN" => "0.5"
        fix "write a finite number" for Pyroscope Warning;
    /// Row 0 of the attribute table is the null attribute since 1.8. A reference to it adds nothing
    /// and costs a byte, and readers that look up its key get an empty one.
    OP5012 "null-attribute-referenced" ["W" "5-7"] "attribute_indices"
        "an attribute index is 0, the null attribute" finding "attribute index {v} is the null attribute"
        source "profiles.proto 1.8: attribute 0 is the zero value"
        example "[0, 3]" => "[3]"
        fix "omit index 0" fixed "the reference to the null attribute was left out";
    /// UCUM (`ms`, `By`) is what the metrics of OpenTelemetry use, so a unit written otherwise
    /// (`nanoseconds`) cannot be compared across signals. 1.11 is the first to say "SHOULD", so it
    /// is a hint only.
    OP5013 "unit-not-ucum" ["I" "5-7"] "KeyValueAndUnit.unit"
        "a unit is not a UCUM unit" finding "the unit {v} is not a UCUM unit"
        source "profiles.proto 1.11: units \"SHOULD be in UCUM format\"; UCUM"
        example "\"nanoseconds\"" => "\"ns\""
        fix "write a UCUM unit such as ns or By";
    /// SDKs drop attributes beyond their default of 128, and so does a pipeline with that limit. The specification
    /// exempts resources.
    OP5014 "attribute-count" ["I" "1-7"] "attribute lists"
        "an item has more than 128 attributes" finding "the item has {v}, more than {b}"
        source "attribute specification: AttributeCountLimit is 128 by default"
        example "129 attributes" => "128 attributes"
        fix "write fewer attributes";
    /// The one limit of a widespread backend that is smaller than what protobuf allows. Asked for
    /// every text and byte field but the original payload, which is expected to be long.
    OP5015 "value-long" ["I" "1-7"] "strings, bytes"
        "a value is longer than 65,535 bytes" finding "the value has {v}, more than {b}"
        source "Pyroscope truncates longer values"
        example "a string of 1 MiB" => "a string of 1 kB"
        fix "write a shorter value" for Pyroscope Warning;
    /// Tables pay off because entries are shared. An attribute with a new value for each sample adds an entry per
    /// sample to the payload and to the index of the backend.
    OP5016 "high-cardinality" ["I" "1-7"] "attribute_table"
        "an attribute has a new value for nearly every sample" finding "the attribute {v} has a new value for nearly every sample"
        source "profiles.proto 1.9: attributes have \"bounded cardinality\""
        example "cpu_time=0.123, cpu_time=0.456, .." => "thread.name=main"
        fix "write attributes with few distinct values";
    /// The numbers of `key_strindex` and `string_value_strindex` (3 and 8) are unknown fields to
    /// older readers, which pass over them and see a pair with an empty key or value.
    OP5017 "strindex-too-early" ["W" "1-6"] "KeyValue.key_strindex, AnyValue.string_value_strindex"
        "an index of OTLP 1.10 is used in an older generation" finding "the field {v} is of OTLP 1.10"
        source "common.proto 1.10 adds key_strindex and string_value_strindex"
        example "key_strindex: 3 in OTLP 1.9" => "key: \"thread.id\""
        fix "write the text in place, or write OTLP 1.10";
    /// This is a matter of style, so the rule is off by default: readers accept any key.
    OP5018 "key-style" ["I" "1-7"] Off "attribute keys"
        "an attribute key is not lower case" finding "the attribute key {v} is not lower case"
        source "naming conventions: \"Names SHOULD be lowercase\""
        example "\"ThreadID\"" => "\"thread.id\""
        fix "write keys in lower case with dots and underscores";
    /// The proto allows it, but a backend cannot tell which service the profiles belong to. Off, because a file that was
    /// converted from pprof has no resource to describe.
    OP5019 "resource-missing" ["I" "1-7"] Off "ResourceProfiles.resource"
        "the resource is missing"
        source "profiles.proto 1.11: an absent resource means \"no resource info is known\""
        example "ResourceProfiles{scope_profiles: [..]}" => "resource: {service.name: \"shop\"}"
        fix "describe the resource, for example by service.name";
    /// Each resource is a group with its own headers and its own row in backends; equal ones are
    /// probably a batch that was joined without being merged. Compared by bytes: the order of
    /// attributes counts here.
    OP5021 "resource-duplicate" ["I" "1-7"] "resource_profiles"
        "two resources are equal"
        source "resource.proto: a resource stands for one entity that produces data"
        example "service.name=shop twice" => "one resource with the profiles of both"
        fix "merge the profiles of both" fixed "the profiles of equal resources were put together";
    /// As `OP5021`, within one resource.
    OP5022 "scope-duplicate" ["I" "1-7"] "scope_profiles"
        "two scopes of a resource are equal"
        source "scope specification: a scope is identified by its name, version, schema URL and attributes"
        example "scope \"profiler\" twice" => "one scope with the profiles of both"
        fix "merge the profiles of both" fixed "the profiles of equal scopes were put together";
    /// The scope names the profiler that measured. Readers work without it. Off, because a converter does not know it.
    OP5023 "scope-name-empty" ["I" "1-7"] Off "InstrumentationScope.name"
        "the instrumentation scope has no name"
        source "common.proto: an empty name \"means the name is unknown\"; scope specification: it \"SHOULD be specified\""
        example "scope: {}" => "scope: {name: \"my-profiler\"}"
        fix "set the name of the profiler";
    /// Receivers read the version at the end of the URL to apply schema migrations. Any other text
    /// is taken for an unknown schema, so renamed attributes are not translated.
    OP5024 "schema-url" ["W" "1-7"] "schema_url"
        "a schema URL does not end in a version" finding "the schema URL is {v}, expected {b}"
        source "schema specification"
        example "\"1.2.3\"" => "\"https://opentelemetry.io/schemas/1.2.3\""
        fix "write a schema URL that ends in a version";
    /// Entities are identified by type and key; one without a type equals every other that has the
    /// same keys.
    OP5025 "entity-type-empty" ["E" "3-7"] "EntityRef.type"
        "an entity has no type"
        source "common.proto 1.6: \"required and MUST not be empty\""
        example "type: \"\"" => "type: \"host\""
        fix "name the type of the entity";
    /// Without a key there is nothing that tells two entities of a type apart.
    OP5026 "entity-id-empty" ["E" "3-7"] "EntityRef.id_keys"
        "an entity has no identifying keys"
        source "common.proto 1.6: \"must contain at least one attribute\""
        example "id_keys: []" => "id_keys: [\"host.id\"]"
        fix "name at least one identifying key";
    /// An entity reference holds keys alone; their values are the resource's attributes. A key that
    /// is not there cannot be resolved.
    OP5027 "entity-key-missing" ["E" "3-7"] "EntityRef.id_keys, description_keys"
        "a key of an entity is not an attribute of the resource" finding "the resource has no attribute {v}"
        source "common.proto 1.6: the attribute \"MUST exist\""
        example "id_keys: [\"host.id\"] without host.id" => "id_keys: [\"host.id\"], host.id=1"
        fix "add the attribute to the resource, or drop the key";
    /// What identifies an entity must not change over its life, what describes it may: a key in
    /// both lists is a contradiction.
    OP5028 "entity-key-overlap" ["W" "3-7"] "EntityRef"
        "an entity names a key twice" finding "the entity names the key {v} twice"
        source "common.proto 1.6: id_keys identify the entity, description_keys describe it"
        example "id_keys: [a, a]" => "id_keys: [a]"
        fix "name each key once";
    /// Columnar backends give a key one type and one unit, and have to convert or drop what does
    /// not fit. Counted once per key.
    OP5031 "attribute-type-conflict" ["I" "1-7"] "attribute_table"
        "an attribute key has several types or units" finding "the attribute {v} has several types or units, expected {b}"
        source "naming conventions: an attribute has one type and one meaning"
        example "k=1, k=\"1\"" => "k=1, k=2"
        fix "use one type and unit per key";
}
