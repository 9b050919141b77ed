//! Rules of pprof alone.
//!
//! Sources: the comments of [profile.proto](https://github.com/google/pprof/blob/main/proto/profile.proto), and what
//! google/pprof does with a file: what its `CheckValid` refuses is an error, what it keeps and others refuse a warning.

use crate::check::rule::rules;

rules! {
    PP1001 "pprof-string-table" ["E" "P"] "string_table"
        "empty, or [0] != \"\""
        source "profile.proto; google/pprof postDecode"
        example "[\"a\"]"
        fix "write \"\" as string 0";
    PP1002 "pprof-sample-type-missing" ["E" "P"] "sample_type"
        "empty while samples exist"
        source "CheckValid"
        example ""
        fix "declare what the values are in sample_type";
    PP1003 "pprof-values-count" ["E" "P"] "Sample.value"
        "len != len(sample_type)"
        source "CheckValid"
        example "3 values, 2 types"
        fix "write one value for each sample type";
    PP1004 "pprof-location-unresolved" ["E" "P"] "Sample.location_id[]"
        "names no Location (0 included)"
        source "CheckValid \"sample has nil location\""
        example "[9]"
        fix "write the location, or drop its id";
    PP1005 "pprof-mapping-id" ["E" "P"] "Mapping.id"
        "0, or used twice"
        source "CheckValid"
        example "id=0"
        fix "number mappings from 1";
    PP1006 "pprof-function-id" ["E" "P"] "Function.id"
        "0, or used twice"
        source "CheckValid"
        example "id=0"
        fix "number functions from 1";
    PP1007 "pprof-location-id" ["E" "P"] "Location.id"
        "0, or used twice"
        source "CheckValid"
        example "id=0"
        fix "number locations from 1";
    PP1008 "pprof-mapping-unresolved" ["E" "P"] "Location.mapping_id"
        "non-zero and names no Mapping (\"there must be a unique Mapping\"; google/pprof silently drops the link)"
        source "profile.proto"
        example "mapping_id=9"
        fix "write the mapping, or set 0";
    PP1009 "pprof-function-unresolved" ["E" "P"] "Line.function_id"
        "0 or names no Function"
        source "CheckValid \"line with nil function\""
        example "function_id=9"
        fix "write the function, or drop the line";
    PP1010 "pprof-string-index" ["E" "P"] "every string index"
        "< 0 or >= len(string_table): sample_type, period_type, mapping.filename/build_id, function.*, label.key/str/num_unit, drop_frames, keep_frames, comment, default_sample_type, doc_url"
        source "google/pprof getString"
        example "key=99"
        fix "write the string, or set 0";
    PP1014 "pprof-concatenated" ["E" "P"] "time_nanos"
        "occurs twice, first non-zero: two profiles in a row"
        source "google/pprof errConcatProfile"
        example "cat a b"
        fix "merge the profiles with pprof -proto";
    PP1015 "pprof-label-both" ["W" "P"] "Label"
        "str and num both set (\"At most one\")"
        source "profile.proto"
        example "str=1,num=2"
        fix "set str or num";
    PP1016 "pprof-label-unit" ["W" "P"] "Label.num_unit"
        "set with str (\"Should only be present when num is present\")"
        source "profile.proto"
        example ""
        fix "set num_unit only with num";
    PP1017 "pprof-label-key" ["W" "P"] "Label.key"
        "0 or \"\""
        source "Parca rejects; profile.proto"
        example "key=0"
        fix "give the label a key";
    PP1018 "pprof-label-repeated" ["W" "P"] "Sample.label"
        "one key twice, or as string and number (\"should never be used\")"
        source "profile.proto"
        example ""
        fix "write each key once";
    PP1019 "pprof-label-reserved" ["I" "P"] "Label.key"
        "starts with \"pprof::\" (\"reserved for internal use\")"
        source "profile.proto"
        example "\"pprof::base\""
        fix "choose another key";
    PP1020 "pprof-default-sample-type" ["W" "P"] "default_sample_type"
        "set and names no sample_type"
        source "profile.proto"
        example ""
        fix "name a sample type that the profile has";
    PP1021 "pprof-no-sample-type" ["W" "P"] "sample_type"
        "empty (and no samples)"
        source "Pyroscope rejects"
        example ""
        fix "declare what the values are in sample_type";
    PP1022 "pprof-sample-type-duplicate" ["W" "P"] "sample_type"
        "two equal entries"
        source "common sense"
        example ""
        fix "keep one sample type of each type and unit";
    PP1023 "pprof-mapping-range" ["W" "P"] "Mapping"
        "memory_start > memory_limit"
        source "common sense"
        example ""
        fix "set memory_limit behind memory_start";
    PP1024 "pprof-address-outside-mapping" ["I" "P"] "Location.address"
        "outside its mapping's range"
        source "profile.proto \"should be within\""
        example ""
        fix "write the address that lies in the mapping";
    PP1025 "pprof-location-empty" ["W" "P"] "Location"
        "no address and no line (Pyroscope drops it)"
        source "Pyroscope sanitize"
        example ""
        fix "give the location an address or lines";
    PP1026 "pprof-ids-not-sequential" ["I" "P"] "Mapping/Function/Location.id"
        "not 1..n in order (legal; Parca rejects)"
        source "Parca ValidatePprofProfile"
        example "id=5 first"
        fix "number entries from 1 in order";
    PP1027 "pprof-invalid-utf8" ["W" "P"] "string_table[]"
        "not UTF-8: kept byte for byte in memory; lossily replaced only when converted (CV1018)"
        source "google/pprof accepts; Pyroscope and OTLP reject; TiDB issue 52215"
        example "\"\\xff\""
        fix "write strings as UTF-8";
    PP1028 "pprof-period" ["W" "P"] "period, period_type"
        "period < 0, or period != 0 without period_type"
        source "common sense"
        example ""
        fix "set period and period_type";
    PP1029 "pprof-time" ["W" "P"] "time_nanos, duration_nanos"
        "< 0, sum overflows i64, or 10^8 <= time_nanos < 10^17"
        source "common sense"
        example ""
        fix "write times in nanoseconds since 1970";
    PP1030 "pprof-regexp" ["W" "P"] "drop_frames, keep_frames"
        "not a regular expression (RE2)"
        source "profile.proto"
        example "\"(\""
        fix "write a valid regular expression";
    PP1031 "pprof-duplicate-string" ["I" "P"] "string_table"
        "equal to an earlier entry"
        source "common sense"
        example ""
        fix "intern strings";
    PP1032 "pprof-duplicate-sample" ["I" "P"] "sample"
        "same locations and labels as an earlier one"
        source "pprof Merge would add them"
        example ""
        fix "combine the samples";
    PP1033 "pprof-no-frames" ["I" "P"] "Sample.location_id"
        "no location_id: the values are of no frame"
        source "common sense"
        example ""
        fix "nothing, if the stack is not known";
    PP1034 "pprof-count-not-first" ["I" "P"] "sample_type"
        "a \"count\" unit at an index > 0, and none at 0"
        source "profile.proto convention"
        example ""
        fix "put the count first";
    PP1035 "pprof-otlp-fields" ["W" "P"] "Profile"
        "fields 15 (LEN) 16 17 18 of pprofextended: this is the inner profile of OTLP 1.3"
        source "OTEP 0239"
        example ""
        fix "check the file as otlp-1.3, or drop the fields";
    PP1036 "pprof-line-negative" ["W" "P"] "Line.line/column, Function.start_line"
        "< 0"
        source "common sense"
        example ""
        fix "write 0 where the line is not known";
    PP1037 "pprof-label-zero" ["I" "P"] "Label"
        "str = num = 0 and no unit: google/pprof drops such labels on reading"
        source "google/pprof postDecode"
        example ""
        fix "set str or num";
    PP1038 "pprof-orphan" ["I" "P"] "mapping, location, function, string_table"
        "unused entry"
        source "common sense"
        example ""
        fix "drop the entry";
    PP1039 "pprof-value-overflow" ["W" "P"] "Sample.value"
        "sum of a column leaves i64"
        source "common sense"
        example ""
        fix "split the profile, or use a larger unit";
    PP1040 "pprof-label-unit-conflict" ["I" "P"] "Label.num_unit"
        "one numeric key with different units in one profile (google/pprof NumLabelUnits keeps the first)"
        source "google/pprof"
        example "bytes, kilobytes"
        fix "use one unit for a key";
}
