//! Rules of protobuf itself.
//!
//! Sources: [the encoding](https://protobuf.dev/programming-guides/encoding/), and protobuf's conformance tests, whose
//! names the rows say. Errors are what no reader may accept, or what readers are known to read differently; warnings are
//! what is read everywhere, and lost by some (`OP1019`, an unknown field).
//!
//! They are found while a message is taken apart ([`take`](crate::check::take) and
//! [`odd`](crate::check::odd)), before its meaning is known, so they hold for fields that the
//! schema does not know as well. The line between an error and a warning is whether two decoders of
//! widespread libraries can see different data.

use crate::check::rule::{Rule, rules};

rules! {
    /// Ten groups of seven bits are 70, so the tenth byte may hold one bit of the 64.
    OP1001 "varint-overflow" ["E" "1-7,P"] "any varint"
        "longer than 10 bytes, or the 10th byte > 1"
        source "protobuf encoding; conformance BadTag_VarintMoreThanTenBytes; prost"
        example "11 bytes ff..ff 01"
        fix "encode varints in at most ten bytes";
    /// The next byte belongs to another message, or there is none.
    OP1002 "varint-truncated" ["E" "1-7,P"] "any varint"
        "the last byte of the region still has its continuation bit"
        source "conformance PrematureEofInside*"
        example "08 80"
        fix "send the whole message";
    /// Harmless, and a sign of a writer that patches lengths in place, as
    /// [`merged`](crate::check::merged) does itself.
    OP1003 "varint-overlong" ["I" "1-7,P"] "values, lengths up to 5 bytes"
        "not the shortest form; value kept"
        source "conformance ValidDataScalar (LongVarint)"
        example "85 80 00"
        fix "encode varints in the shortest form";
    /// Tags are 32 bits, for which five bytes are enough. prost and Go accept more.
    OP1004 "tag-overlong" ["E" "1-7,P"] "tags"
        "a tag varint longer than 5 bytes, whatever its value"
        source "conformance BadTag_OverlongVarint (prost 0.14 accepts)"
        example "8a 80 80 80 80 80 00"
        fix "encode tags in at most five bytes";
    /// 0 is not a field number: most decoders fail at it, google/pprof passes over it.
    OP1005 "tag-field-zero" ["E" "1-7,P"] "tags"
        "field number 0"
        source "conformance IllegalZeroFieldNum_Case_0..3 (google/pprof accepts)"
        example "00"
        fix "number fields from 1";
    /// A decoder that keeps 32 bits would take the field for one with a smaller number, as the
    /// Collector's does.
    OP1006 "tag-field-too-large" ["E" "1-7,P"] "tags"
        "tag value above 2^32-1 or field number above 2^29-1"
        source "conformance BadTag_FieldNumberTooHigh (collector pdata wraps it to another field)"
        example "88 80 80 80 40"
        fix "keep field numbers below 2^29";
    /// 6 and 7 were never defined, so the length of the value is unknown.
    OP1007 "wire-type-reserved" ["E" "1-7,P"] "tags"
        "wire type 6 or 7"
        source "conformance UnknownWireType*"
        example "0e"
        fix "use wire types 0 to 5";
    /// What a field holds cannot be told, so that the message ends here. Libraries split: some
    /// fail, some skip the field and lose what it said.
    OP1008 "wire-type-mismatch" ["E" "1-7,P"] "known fields"
        "wire type differs from the schema (packed/unpacked excepted)"
        source "prost, google/pprof, collector reject; C++/upb/Go skip and so lose the data"
        example "Sample.stack_index as LEN"
        fix "encode the field with the type that the schema gives it";
    /// The classic sign of a truncated file.
    OP1009 "length-overrun" ["E" "1-7,P"] "LEN fields"
        "length beyond the end of the enclosing message"
        source "conformance PrematureEofInDelimitedData*, BadLength_Varint32BitOverflow"
        example "0a 05 00"
        fix "send the whole message, or write the true length";
    /// 2 GiB is the limit of protobuf itself.
    OP1010 "length-too-large" ["E" "1-7,P"] "LEN fields"
        "length >= 2^31, or a length varint longer than 5 bytes"
        source "protobuf 2 GiB limit; C++/upb"
        example "0a ff ff ff ff ff ff ff ff ff 01"
        fix "keep messages below 2 GiB and lengths within five bytes";
    /// A truncated file, in the middle of a number.
    OP1011 "fixed-truncated" ["E" "1-7,P"] "I32/I64 fields"
        "fewer than 4/8 bytes left"
        source "conformance PrematureEofInside*"
        example "19 01 02 03"
        fix "send the whole message";
    /// A list of half a number: either the length or the list is wrong.
    OP1012 "packed-misaligned" ["E" "1-7,P"] "packed fields"
        "length not a multiple of 8 for fixed64, or ends inside a varint"
        source "conformance PrematureEofInPackedFieldValue"
        example "timestamps packed, 12 bytes"
        fix "write whole elements into the packed field";
    /// protobuf keeps the low 32 bits, so that a huge index silently becomes a small one that is
    /// valid.
    OP1013 "int32-truncated" ["W" "1-7"] "int32, uint32, enum"
        "the varint has bits above 32 that are not sign extension; they are dropped as protobuf says, so index 2^32 becomes 0"
        source "conformance INT32 Varint(1<<33) -> 0"
        example "stack_index = 2^32+1"
        fix "write indices and enums as int32";
    /// Groups are deprecated; an end without a beginning is most likely a wrong tag.
    OP1014 "end-group-unmatched" ["E" "1-7,P"] "tags"
        "END_GROUP with no open group"
        source "conformance UnmatchedEndGroup*"
        example "0c"
        fix "leave groups out";
    /// Everything to the end of the message is inside the open group, and lost.
    OP1015 "start-group-unmatched" ["E" "1-7,P"] "tags"
        "START_GROUP never closed, or closed by another number"
        source "conformance UnmatchedStartGroup*, MismatchedGroupTags"
        example "0b"
        fix "leave groups out, or end each with its own number";
    /// Legal protobuf of before proto3. The Collector refuses one at the end of a message.
    OP1016 "group-skipped" ["W" "1-7,P"] "unknown fields"
        "a well-formed unknown group was skipped (no profiles schema has groups)"
        source "common sense"
        example "9b 06 9c 06"
        fix "leave groups out; no profiles schema has any";
    /// A decoder that recurses overflows its stack; most libraries stop at 100 levels.
    OP1017 "nesting-too-deep" ["E" "1-7,P"] "messages, groups"
        "more nested messages/groups than `limits.max_nesting` (256)"
        source "conformance EnforceDepthLimit*; CVE-2024-7254; RUSTSEC-2020-0002, 2024-0437"
        example "100 000 nested groups"
        fix "nest values less deeply, or raise --max-nesting";
    /// proto3 wants `string` to be UTF-8, and decoders of several languages refuse the whole
    /// message otherwise.
    OP1018 "invalid-utf8" ["E" "1-7"] "string fields"
        "not well-formed UTF-8 (RFC 3629: no surrogates, no overlongs)"
        source "proto3; conformance Utf8StringTest (pprof: PP1027)"
        example "string_table \"\\xff\""
        fix "write strings as UTF-8; replace what is not";
    /// A newer generation, or another format. Counted per message and number, so a field of every
    /// sample is one finding.
    OP1019 "unknown-field" ["W" "1-7,P"] "any message"
        "field number not in the schema; counted per (message, number), in JSON per (message, name)"
        source "protobuf: must be accepted; dropped by prost, so conversion may lose it"
        example "field 666"
        fix "check the generation, or drop the field";
    /// Numbers that a proto reserves will never mean anything; 19000 to 19999 are protobuf's own.
    OP1020 "reserved-field" ["W" "1-7"] "ResourceProfiles"
        "field 1000 (\"reserved 1000\") or 19000..19999"
        source "profiles.proto; protobuf"
        example "ResourceProfiles.1000"
        fix "do not use reserved field numbers";
    /// Decoders keep the last value, streaming readers may act upon the first.
    OP1021 "singular-repeated" ["W" "1-7,P"] "singular scalars"
        "occurs more than once; the last wins"
        source "conformance RepeatedScalarSelectsLast"
        example "stack_index twice"
        fix "write the field once";
    /// Decoders merge the parts: lists are appended, scalars overwritten. All other rules are asked
    /// of the merged message.
    OP1022 "submessage-repeated" ["W" "1-7,P"] "singular messages"
        "occurs more than once; occurrences are merged"
        source "conformance RepeatedScalarMessageMerge"
        example "resource twice"
        fix "write the message once";
    /// As `OP1021`: which member is left depends on their order.
    OP1023 "oneof-overwritten" ["W" "1-7"] "AnyValue.value"
        "two members of the oneof on the wire; the last wins"
        source "conformance oneof tests"
        example "int_value then string_value"
        fix "set one member of the oneof";
    /// Legal, and a trap: the Collector of August 2026 keeps the last chunk of fixed64 lists alone.
    OP1024 "packed-split" ["I" "1-7,P"] "repeated scalars"
        "several chunks or a mix of packed and unpacked; all are concatenated"
        source "conformance ValidDataRepeated (collector pdata drops earlier fixed64 chunks)"
        example "two packed timestamp chunks"
        fix "write the list as one packed field";
    /// Enums are open in proto3; the number is kept, and means nothing to this generation.
    OP1025 "enum-unknown" ["W" "1-5"] "AggregationTemporality, BuildIdKind"
        "value without a name; kept (open enum)"
        source "proto3"
        example "aggregation_temporality=7"
        fix "use a value that the enum names";
    /// Everything but 0 is true; a reader that compares with 1 disagrees.
    OP1026 "bool-noncanonical" ["I" "1-4,P"] "bool fields"
        "varint other than 0 or 1"
        source "conformance BOOL cases"
        example "has_functions=12345"
        fix "write bools as 0 or 1";
    /// Equal messages should be equal bytes: a default that is written out makes two of one for
    /// whoever hashes them.
    OP1027 "default-encoded" ["I" "1-7,P"] "singular scalars"
        "a default value is written out: its bytes say nothing"
        source "protobuf"
        example "link_index=0 written"
        fix "leave fields at their default out";
    /// NUL cuts the text in C, and terminals act upon other controls.
    OP1030 "control-char" ["I" "1-7,P"] "strings"
        "U+0000 or another C0 control except tab and newline"
        source "common sense (C consumers cut at NUL)"
        example "\"a\\0b\""
        fix "strip control characters";
    /// Readers of OTLP/JSON take such a key for one that they do not know, which they must ignore: what it says is lost
    /// without a word.
    OP1031 "json-original-name" ["E" "1-7"] "keys of OTLP/JSON"
        "a field by its name in the schema where JSON has it in lowerCamelCase (\"Original field names are not valid to use as keys\"); read all the same, counted per (message, name)"
        source "OTLP spec 1.11, JSON Protobuf Encoding"
        example "{\"resource_profiles\": []}"
        fix "write keys in lowerCamelCase";
    /// Readers of OTLP/JSON refuse the text, or lose the value: protobuf's own mapping allows names, OTLP does not.
    OP1032 "json-enum-text" ["E" "1-5"] "AggregationTemporality, BuildIdKind in OTLP/JSON"
        "the value of an enum as a text (\"MUST be encoded as integer values\", \"the enum name strings MUST NOT be used\"); read all the same"
        source "OTLP spec 1.11, JSON Protobuf Encoding"
        example "{\"aggregationTemporality\": \"AGGREGATION_TEMPORALITY_DELTA\"}"
        fix "write the number of the value";
    /// OTLP/JSON has hexadecimal ids. Protobuf libraries write base64, which receivers reject or read as another id.
    OP1033 "json-id-base64" ["E" "1-7"] "traceId, spanId, profileId in OTLP/JSON"
        "base64 of 16 or 8 bytes, where 32 or 16 hexadecimal digits are required; read all the same"
        source "OTLP spec 1.11, JSON Protobuf Encoding"
        example "{\"traceId\": \"AQIDBAUGBwgJCgsMDQ4PEA==\"}"
        fix "write the bytes in hexadecimal digits";
}

/// Whether the bytes of a message cannot be taken apart where a rule is broken.
///
/// Such a finding ends its message: what stands behind it may be anything. The report then holds
/// findings about bytes alone ([`message`](crate::check::message)), as the others would judge what
/// the rest happens to look like.
pub(crate) fn is_breaking(rule: &Rule) -> bool {
    const BREAKING: [&Rule; 13] = [
        &OP1001, &OP1002, &OP1004, &OP1005, &OP1006, &OP1007, &OP1008, &OP1009, &OP1010, &OP1011,
        &OP1012, &OP1014, &OP1015,
    ];
    BREAKING.contains(&rule)
}
