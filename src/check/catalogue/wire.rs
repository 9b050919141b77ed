//! Rules of protobuf itself.
//!
//! Sources: [the encoding](https://protobuf.dev/programming-guides/encoding/), and protobuf's conformance tests,
//! which the rows cite by name. Errors are bytes that no reader may accept, or that readers are known to decode
//! differently; warnings are bytes that every reader accepts and some lose (`OP1019`, an unknown field).
//!
//! [`decode`](crate::check::decode) and [`anomalies`](crate::check::anomalies) report them while they decode a
//! message, before its meaning is known, so they apply to unknown fields as well. A rule is an error if two
//! decoders of widespread libraries can see different data.

use crate::check::rule::rules;

rules! { Wire:
    /// Ten groups of seven bits are 70, so the tenth byte may hold one bit of the 64.
    OP1001 "varint-overflow" ["E" "1-7,P"] Breaking "any varint"
        "a varint has more than 64 bits"
        source "protobuf encoding guide; protobuf conformance BadTag_VarintMoreThanTenBytes"
        example "`ff ff ff ff ff ff ff ff ff ff 01`" => "`ff ff ff ff ff ff ff ff ff 01`"
        fix "encode varints in at most ten bytes";
    /// The next byte belongs to another message, or the input has ended.
    OP1002 "varint-truncated" ["E" "1-7,P"] Breaking "any varint"
        "a varint is cut off"
        source "protobuf encoding guide; protobuf conformance PrematureEofInside*"
        example "`08 80`" => "`08 80 01`"
        fix "send the whole message";
    /// Harmless: a sign of a writer that patches lengths in place.
    OP1003 "varint-overlong" ["I" "1-7,P"] "values, lengths up to 5 bytes"
        "a varint is longer than necessary" finding "a varint takes {v}, more than necessary"
        source "protobuf encoding guide; protobuf conformance LongVarint"
        example "`85 80 00`" => "`05`"
        fix "encode varints in the shortest form" fixed "the number was written in its shortest form";
    /// Tags are 32 bits, for which five bytes are enough. prost and Go accept more.
    OP1004 "tag-overlong" ["E" "1-7,P"] Breaking "tags"
        "a tag is longer than 5 bytes"
        source "protobuf conformance BadTag_OverlongVarint"
        example "`8a 80 80 80 80 80 00`" => "`0a`"
        fix "encode tags in at most five bytes";
    /// 0 is not a field number: most decoders fail at it, google/pprof passes over it.
    OP1005 "tag-field-zero" ["E" "1-7,P"] Breaking "tags"
        "a field has the number 0"
        source "protobuf encoding guide; protobuf conformance IllegalZeroFieldNum"
        example "tag `00`" => "tag `08`, field 1"
        fix "number fields from 1";
    /// A decoder that keeps 32 bits would take the field for one with a smaller number, as the
    /// Collector's does.
    OP1006 "tag-field-too-large" ["E" "1-7,P"] Breaking "tags"
        "a field number is above 2^29-1"
        source "protobuf language guide; protobuf conformance BadTag_FieldNumberTooHigh"
        example "tag `88 80 80 80 40`" => "tag `08`, field 1"
        fix "keep field numbers below 2^29";
    /// 6 and 7 were never defined, so the length of the value is unknown.
    OP1007 "wire-type-reserved" ["E" "1-7,P"] Breaking "tags"
        "a field has the reserved wire type 6 or 7" finding "a field has the reserved {v}"
        source "protobuf encoding guide; protobuf conformance UnknownWireType"
        example "tag `0e`" => "tag `0a`, wire type 2"
        fix "use wire types 0 to 5";
    /// Decoders cannot read the value. Some libraries fail, others skip the field and lose its data.
    OP1008 "wire-type-mismatch" ["E" "1-7,P"] Breaking "known fields"
        "the wire type of a field differs from the schema"
        source "protobuf encoding guide; prost and google/pprof encode.go reject the message"
        example "Sample.stack_index as a length-delimited field" => "Sample.stack_index as a varint"
        fix "encode the field with the type of the schema";
    /// The classic sign of a truncated file.
    OP1009 "length-overrun" ["E" "1-7,P"] Breaking "LEN fields"
        "a field extends past the end of its message" finding "a field of {v} extends past the end of its message: {b}"
        source "protobuf encoding guide; protobuf conformance PrematureEofInDelimitedData"
        example "`0a 05 00`" => "`0a 01 00`"
        fix "send the whole message, or write the true length";
    /// 2 GiB is the limit of protobuf itself.
    OP1010 "length-too-large" ["E" "1-7,P"] Breaking "LEN fields"
        "the length of a field is 2 GiB or more" finding "the length of a field is {v} bytes, expected {b}"
        source "protobuf encoding guide: messages are limited to 2 GiB"
        example "length `ff ff ff ff ff ff ff ff ff 01`" => "a length below 2^31"
        fix "keep messages below 2 GiB, and encode lengths in at most five bytes";
    /// A truncated file, in the middle of a number.
    OP1011 "fixed-truncated" ["E" "1-7,P"] Breaking "I32/I64 fields"
        "a fixed-size number is cut off" finding "a fixed-size number is cut off: {v}, expected {b}"
        source "protobuf encoding guide; protobuf conformance PrematureEofInside*"
        example "`19 01 02 03`" => "`19` and 8 bytes"
        fix "send the whole message";
    /// A list of half a number: either the length or the list is wrong.
    OP1012 "packed-misaligned" ["E" "1-7,P"] Breaking "packed fields"
        "a packed list ends within a number"
        source "protobuf encoding guide; protobuf conformance PrematureEofInPackedFieldValue"
        example "12 bytes of fixed64" => "16 bytes of fixed64"
        fix "write whole numbers into the packed field";
    /// protobuf keeps the low 32 bits, so that a huge index silently becomes a small one that is
    /// valid.
    OP1013 "int32-truncated" ["W" "1-7"] Lossy "int32, uint32, enum"
        "a 32-bit field holds more than 32 bits; decoders keep the low 32"
        source "protobuf encoding guide; protobuf conformance INT32"
        example "stack_index = 2^32 + 1, read as 1" => "stack_index = 1"
        fix "write indices and enums as 32-bit numbers";
    /// Groups are deprecated; an end without a beginning is most likely a wrong tag.
    OP1014 "end-group-unmatched" ["E" "1-7,P"] Breaking "tags"
        "a group ends without a beginning" finding "{v} ends without a beginning"
        source "protobuf encoding guide; protobuf conformance UnmatchedEndGroup"
        example "tag `0c`" => "no groups"
        fix "do not write groups";
    /// Everything to the end of the message is inside the open group, and lost.
    OP1015 "start-group-unmatched" ["E" "1-7,P"] Breaking "tags"
        "a group does not end, or ends with another number"
        source "protobuf encoding guide; protobuf conformance UnmatchedStartGroup"
        example "tag `0b` without `0c`" => "no groups"
        fix "do not write groups, or end each with its own number";
    /// Legal protobuf of before proto3. The Collector refuses one at the end of a message.
    OP1016 "group-skipped" ["W" "1-7,P"] "unknown fields"
        "an unknown group was skipped" finding "{v} is a group and was skipped"
        source "protobuf encoding guide: groups are deprecated; no profiles schema has one"
        example "`9b 06 9c 06`" => "no groups"
        fix "do not write groups" for Collector Error;
    /// A decoder that recurses overflows its stack; most libraries stop at 100 levels.
    OP1017 "nesting-too-deep" ["E" "1-7,P"] Limit "messages, groups"
        "messages are nested deeper than `limits.max_nesting`"
        source "protobuf conformance EnforceDepthLimit; CVE-2024-7254"
        example "100,000 nested arrays" => "an array of numbers"
        fix "nest values less deeply, or raise --max-nesting";
    /// proto3 wants `string` to be UTF-8, and decoders of several languages refuse the whole
    /// message otherwise.
    OP1018 "invalid-utf8" ["E" "1-7"] "string fields"
        "a string is not valid UTF-8"
        source "protobuf language guide: strings are UTF-8; protobuf conformance Utf8StringTest"
        example "string_table[1] = `ff`" => "string_table[1] = \"\\u{fffd}\""
        fix "encode strings as UTF-8 and replace invalid bytes";
    /// A newer generation, or another format. Counted per message and number, so a field of every
    /// sample is one finding.
    OP1019 "unknown-field" ["W" "1-7,P"] "any message"
        "a field is not in the schema"
        source "protobuf language guide: unknown fields are accepted, but decoders such as prost drop them"
        example "field 666" => "no field 666"
        fix "check the generation, or drop the field";
    /// Numbers that a proto reserves will never mean anything; 19000 to 19999 are protobuf's own.
    OP1020 "reserved-field" ["W" "1-7"] "ResourceProfiles"
        "a field has a reserved number"
        source "profiles.proto 1.11: reserved 1000; protobuf language guide: 19000 to 19999 are reserved"
        example "ResourceProfiles field 1000" => "no field 1000"
        fix "do not use reserved field numbers";
    /// Decoders keep the last value, streaming readers may act upon the first.
    OP1021 "singular-repeated" ["W" "1-7,P"] "singular scalars"
        "a field occurs more than once; the last value is used"
        source "protobuf encoding guide, Last One Wins; protobuf conformance RepeatedScalarSelectsLast"
        example "stack_index written twice" => "stack_index written once"
        fix "write the field once" fixed "the last value was kept, as readers of protobuf do";
    /// Decoders merge the parts: lists are appended, scalars overwritten. All other rules check the merged message.
    OP1022 "submessage-repeated" ["W" "1-7,P"] "singular messages"
        "a message occurs more than once; the occurrences are merged"
        source "protobuf encoding guide, Last One Wins; protobuf conformance RepeatedScalarMessageMerge"
        example "resource written twice" => "resource written once"
        fix "write the message once" fixed "the occurrences were merged, as readers of protobuf do";
    /// As `OP1021`: which member is left depends on their order.
    OP1023 "oneof-overwritten" ["W" "1-7"] "AnyValue.value"
        "a value has several members of a oneof; the last is used" finding "a value has {v} of a oneof; the last is used"
        source "protobuf language guide, Oneof"
        example "int_value, then string_value" => "string_value"
        fix "set one member of the oneof" fixed "the last member was kept, as readers of protobuf do";
    /// Legal, and a trap: the Collector of August 2026 keeps the last chunk of fixed64 lists alone.
    OP1024 "packed-split" ["I" "1-7,P"] "repeated scalars"
        "a packed list is split into several chunks"
        source "protobuf encoding guide, Packed Repeated Fields; the Collector drops the earlier chunks of fixed64 lists"
        example "two packed chunks of timestamps" => "one packed chunk"
        fix "write the list as one packed field"
        fixed "the values were written as one packed list" for Collector Error;
    /// Enums are open in proto3; the number is kept, and means nothing to this generation.
    OP1025 "enum-unknown" ["W" "1-5"] "AggregationTemporality, BuildIdKind"
        "an enum has a value without a name"
        source "protobuf language guide: enums of proto3 are open"
        example "aggregation_temporality = 7" => "aggregation_temporality = 1"
        fix "use a value that the enum names";
    /// Everything but 0 is true; a reader that compares with 1 disagrees.
    OP1026 "bool-noncanonical" ["I" "1-4,P"] "bool fields"
        "a bool is neither 0 nor 1"
        source "protobuf encoding guide; protobuf conformance BOOL"
        example "has_functions = 12345" => "has_functions = 1"
        fix "write bools as 0 or 1" fixed "true was written as 1";
    /// Equal messages should be equal bytes: a default that is written out makes two of one for
    /// whoever hashes them.
    OP1027 "default-encoded" ["I" "1-7,P"] "singular scalars"
        "a field holds its default and is written out"
        source "protobuf language guide: default values are not serialized"
        example "link_index = 0 written out" => "no link_index"
        fix "omit fields that hold their default" fixed "the field was left out: absent it means the same";
    /// NUL cuts the text in C, and terminals act upon other controls.
    OP1030 "control-char" ["I" "1-7,P"] "strings"
        "a string contains a control character"
        source "RFC 8259, section 7: JSON must escape them; readers in C cut text at NUL"
        example "\"a\\0b\"" => "\"ab\""
        fix "strip control characters";
    /// Readers of OTLP/JSON must ignore unknown keys, so the value is lost without an error.
    OP1031 "json-original-name" ["E" "1-7"] "keys of OTLP/JSON"
        "a key of OTLP/JSON is in snake case"
        source "OTLP specification, JSON Protobuf Encoding: \"Original field names are not valid to use as keys\""
        example "{\"resource_profiles\": []}" => "{\"resourceProfiles\": []}"
        fix "write keys in lowerCamelCase";
    /// Readers of OTLP/JSON refuse the text, or lose the value: protobuf's own mapping allows names, OTLP does not.
    OP1032 "json-enum-text" ["E" "1-5"] "AggregationTemporality, BuildIdKind in OTLP/JSON"
        "an enum of OTLP/JSON is a name"
        source "OTLP specification, JSON Protobuf Encoding: \"the enum name strings MUST NOT be used\""
        example "{\"aggregationTemporality\": \"AGGREGATION_TEMPORALITY_DELTA\"}" => "{\"aggregationTemporality\": 1}"
        fix "write the number of the value";
    /// OTLP/JSON has hexadecimal ids. Protobuf libraries write base64, which receivers reject or read as another id.
    OP1033 "json-id-base64" ["E" "1-7"] "traceId, spanId, profileId in OTLP/JSON"
        "an id of OTLP/JSON is base64"
        source "OTLP specification, JSON Protobuf Encoding: traceId and spanId are hex-encoded"
        example "{\"traceId\": \"AQIDBAUGBwgJCgsMDQ4PEA==\"}" => "{\"traceId\": \"0102030405060708090a0b0c0d0e0f10\"}"
        fix "write the bytes in hexadecimal digits";
}
