//! Rules about attributes, resources, scopes and entities.
//!
//! Sources: OpenTelemetry's specification of attributes (`specification/common`), which says that a key comes once, and the
//! comments of the protos on tables, units and entities.
//!
//! Attributes come in three forms, and a rule names the ones it is about: pairs in place
//! (`KeyValue`, of resources and scopes, of OTEP 0239's containers and of profiles of 1.4), rows of
//! the attribute table (`KeyValueAndUnit` since 1.8, `KeyValue` before), and lists of references to
//! those rows (`attribute_indices`). [`rules::attributes`](crate::check::rules::attributes) asks of
//! the first, [`rules::entries`](crate::check::rules::entries) of the second,
//! [`lists`](crate::check::lists) of the third.

use crate::check::rule::rules;

rules! {
    /// An error because backends keep attributes in maps: which of two equal keys survives depends
    /// on the backend, so two readers see two different services. A `key_strindex` is resolved
    /// first: one pair may name by reference what another spells out.
    OP5001 "attribute-key-duplicate" ["E" "1-7"] "Resource, InstrumentationScope, ProfileContainer(1), Profile(1.4) attributes; KeyValueList (any depth)"
        "same key twice after resolving key_strindex (\"Attribute keys MUST be unique\")"
        source "common.proto; resource.proto; OTEP 0239"
        example "service.name twice"
        fix "write each key once";
    /// The same invariant for lists of references. Keys are compared by their text, so that two
    /// rows with one key conflict even where their values are equal, and so does one row that is
    /// listed twice.
    OP5002 "attribute-indices-duplicate" ["E" "1-7"] "attribute_indices of Profile, Sample, Mapping, Location"
        "two indices (or one index twice) with the same key (\"MUST maintain the key uniqueness requirement\")"
        source "1.9/1.11 proto; profcheck"
        example "[1,2] both key k1"
        fix "refer to one attribute of each key";
    /// An error, as a backend cannot index a pair without a name. The zero entry of a table is
    /// exempt: it says nothing on purpose, and where it stands at the wrong place is `OP3208`.
    OP5003 "attribute-key-empty" ["E" "1-7"] "KeyValue, KeyValueAndUnit (index > 0, zero entries excepted: OP3208)"
        "key resolves to \"\" (\"MUST be a non-null and non-empty string\")"
        source "specification/common"
        example "key=\"\""
        fix "give the attribute a key";
    /// `key_strindex` is new in 1.10, where either may be set. A reader that knows both has to
    /// prefer one, and older readers see `key` alone.
    OP5004 "attribute-key-both" ["E" "7"] "KeyValue"
        "key and key_strindex both set (\"MUST NOT be set if key is used\")"
        source "1.10 common.proto"
        example "key=\"a\", key_strindex=1"
        fix "set key or key_strindex";
    /// 1.8 alone said "SHOULD NOT"; 1.9 took the sentence back, hence the warning in one generation
    /// and the info in all others.
    OP5005 "value-empty" ["W5/I1-4,6-7" "1-7"] "AnyValue"
        "absent or no member (\"SHOULD NOT contain empty values\", only in 1.8)"
        source "1.8 proto; 1.9 changelog"
        example "value{}"
        fix "set a value, or leave the attribute out";
    /// 1.8 alone, as `OP5005`: bytes have no form that query languages agree on.
    OP5006 "value-bytes" ["W" "5"] "AnyValue.bytes_value"
        "used in an attribute (SHOULD NOT, only in 1.8)"
        source "1.8 proto"
        example "bytes"
        fix "write bytes as a string";
    /// The specification of attributes wants arrays to be homogeneous, since columnar stores give
    /// an array one type. Both ways to write a text count as one type.
    OP5007 "value-array-mixed" ["W5/I1-4,6-7" "1-7"] "AnyValue.array_value"
        "elements of different types, or (5) not string/bool/int/double"
        source "1.8 proto; specification/common"
        example "[\"a\",1]"
        fix "write arrays of one type";
    /// 1.8 alone: nested attributes cannot be flattened into labels without inventing keys.
    OP5008 "value-kvlist" ["W" "5"] "AnyValue.kvlist_value"
        "used in an attribute (SHOULD NOT, only in 1.8)"
        source "1.8 proto"
        example "kvlist"
        fix "write one attribute for each entry";
    /// Legal, and lossy: a null in the middle of an array shifts what stands behind it in readers
    /// that skip nulls.
    OP5009 "null-in-array" ["I" "1-7"] "ArrayValue"
        "an element without value (\"SHOULD generally be avoided\")"
        source "specification/common"
        example "[AnyValue{}]"
        fix "leave null elements out";
    /// SDKs may stop at a depth of 64, and common protobuf decoders stop at 100 nested messages,
    /// which a value of 49 levels in a resource already reaches. Ours goes as deep as
    /// `limits.max_nesting` says (`OP1017`).
    OP5010 "value-depth" ["W" "1-7"] "AnyValue"
        "arrays/maps nested deeper than 64 (AttributeValueDepthLimit default)"
        source "specification/common"
        example "65 nested arrays"
        fix "nest values less deeply";
    /// JSON has no NaN and no infinity, and a NaN does not equal itself, so tables cannot be
    /// deduplicated by comparing values.
    OP5011 "value-nan" ["I" "1-7"] "AnyValue.double_value"
        "NaN or infinite"
        source "common sense (JSON, equality)"
        example "NaN"
        fix "write a finite number";
    /// Row 0 of the attribute table is the null attribute since 1.8. A reference to it adds nothing
    /// and costs a byte, and readers that look up its key get an empty one.
    OP5012 "null-attribute-referenced" ["W" "5-7"] "attribute_indices"
        "contains 0, the null attribute"
        source "1.8 proto"
        example "[0]"
        fix "leave index 0 out";
    /// UCUM (`ms`, `By`) is what the metrics of OpenTelemetry use, so a unit written otherwise
    /// (`nanoseconds`) cannot be compared across signals. 1.11 is the first to say "SHOULD", so it
    /// is a hint only.
    OP5013 "unit-not-ucum" ["I" "5-7"] "KeyValueAndUnit.unit"
        "not a UCUM unit (\"SHOULD be in UCUM format\", 1.11)"
        source "1.11 proto"
        example "\"nanoseconds\""
        fix "write a UCUM unit";
    /// SDKs drop what exceeds their default of 128; a payload with more was made without that
    /// limit, and will be cut by a pipeline that has it. Resources have no such limit in the
    /// specification.
    OP5014 "attribute-count" ["I" "1-7"] "attribute lists"
        "more than 128 (AttributeCountLimit default; resources exempt)"
        source "specification/common"
        example "129 attributes"
        fix "write fewer attributes";
    /// The one limit of a widespread backend that is smaller than what protobuf allows. Asked for
    /// every text and byte field but the original payload, which is expected to be long.
    OP5015 "value-long" ["I" "1-7"] "strings, bytes"
        "longer than 65 535 bytes (Pyroscope truncates there)"
        source "Pyroscope limits"
        example "1 MiB string"
        fix "write a shorter value";
    /// Tables pay off because rows are shared. An attribute with a new value on each sample makes a
    /// row per sample, in the table of the payload and in the index of the backend. Doubles are
    /// told at once, since two measurements seldom agree in all 64 bits; for other types
    /// [`rules::cardinality`](crate::check::rules::cardinality) counts.
    OP5016 "high-cardinality" ["I" "1-7"] "attribute_table"
        "a key whose values are doubles, or are distinct in > 90 % of >= 1000 samples (\"recommended ... bounded cardinality\")"
        source "1.9 proto"
        example "cpu_time=0.123 per sample"
        fix "keep the number of distinct values small";
    /// The numbers of `key_strindex` and `string_value_strindex` (3 and 8) are unknown fields to
    /// older readers, which pass over them and see a pair with an empty key or value.
    OP5017 "strindex-too-early" ["W" "1-6"] "KeyValue.key_strindex, AnyValue.string_value_strindex"
        "fields of 1.10 in an older generation: readers ignore them, the key becomes \"\""
        source "1.10 common.proto"
        example "G4 with key_strindex"
        fix "write the text in place, or 1.10";
    /// A matter of style, so it is asked only when it is named: nothing is read otherwise for it.
    OP5018 "key-style" ["I" "1-7"] off "attribute keys"
        "upper case or blanks (\"Names SHOULD be lowercase\"); off by default"
        source "semconv naming.md"
        example "\"ThreadID\""
        fix "write keys in lower case with dots and underscores";
    /// Legal by the proto's comment. A hint: nobody can tell whose profiles these are.
    OP5019 "resource-missing" ["I" "1-7"] "ResourceProfiles.resource"
        "absent (\"no resource info is known\")"
        source "profiles.proto"
        example "no resource"
        fix "describe the resource";
    /// Each resource is a group with its own headers and its own row in backends; equal ones are
    /// probably a batch that was joined without being merged. Compared by bytes: the order of
    /// attributes counts here.
    OP5021 "resource-duplicate" ["I" "1-7"] "resource_profiles"
        "two entries with equal resource and schema_url"
        source "common sense"
        example "same twice"
        fix "merge the two";
    /// As `OP5021`, within one resource.
    OP5022 "scope-duplicate" ["I" "1-7"] "scope_profiles"
        "two entries with equal scope and schema_url under one resource"
        source "common sense"
        example "same twice"
        fix "merge the two";
    /// The instrumentation scope is how the sender says which profiler measured. Nothing breaks
    /// without it.
    OP5023 "scope-name-empty" ["I" "1-7"] "InstrumentationScope.name"
        "empty (\"means the name is unknown\"; \"SHOULD be specified\")"
        source "common.proto; instrumentation-scope.md"
        example "scope{}"
        fix "name the scope";
    /// Receivers read the version at the end of the URL to apply schema migrations. Any other text
    /// is taken for an unknown schema, so renamed attributes are not translated.
    OP5024 "schema-url" ["W" "1-7"] "schema_url"
        "set and not http[s]://server[:port]/path/<version>"
        source "profiles.proto 1.5+"
        example "\"1.2.3\""
        fix "write a schema URL that ends in a version";
    /// Entities are identified by type and key; one without a type equals every other that has the
    /// same keys.
    OP5025 "entity-type-empty" ["E" "3-7"] "EntityRef.type"
        "\"\" (\"required and MUST not be empty\")"
        source "1.6 common.proto"
        example "type=\"\""
        fix "name the entity's type";
    /// Without a key there is nothing that tells two entities of a type apart.
    OP5026 "entity-id-empty" ["E" "3-7"] "EntityRef.id_keys"
        "empty (\"must contain at least one attribute\")"
        source "1.6 common.proto"
        example "id_keys=[]"
        fix "name at least one identifying key";
    /// An entity reference holds keys alone; their values are the resource's attributes. A key that
    /// is not there cannot be resolved.
    OP5027 "entity-key-missing" ["E" "3-7"] "EntityRef.id_keys, description_keys"
        "key absent from the resource's attributes (\"MUST exist\")"
        source "1.6 common.proto"
        example "id_keys=[\"host.id\"]"
        fix "add the attribute to the resource, or drop the key";
    /// What identifies an entity must not change over its life, what describes it may: a key in
    /// both lists is a contradiction.
    OP5028 "entity-key-overlap" ["W" "3-7"] "EntityRef"
        "a key twice, or both identifying and descriptive"
        source "common sense"
        example "id_keys=[a,a]"
        fix "name each key once";
    /// Columnar backends give a key one type and one unit, and have to convert or drop what does
    /// not fit. Counted once per key.
    OP5031 "attribute-type-conflict" ["I" "1-7"] "attribute_table"
        "one key with different value types or different units"
        source "common sense"
        example "k=1, k=\"1\""
        fix "use one type and unit for a key";
}
