//! Rules about attributes, resources, scopes and entities.
//!
//! Sources: OpenTelemetry's specification of attributes (`specification/common`), which says that a key comes once, and the
//! comments of the protos on tables, units and entities.

use crate::check::rule::rules;

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
