//! Rules of pprof alone.
//!
//! Sources: the comments of [profile.proto](https://github.com/google/pprof/blob/main/proto/profile.proto), and what
//! google/pprof does with a file: what its `CheckValid` refuses is an error, what it keeps and others refuse a warning.
//!
//! `CheckValid` is what google/pprof asks of a profile that it has read: where a row names it as
//! its source, pprof does not open the file. [`rules::pprof`](crate::check::rules::pprof),
//! `pprof_rows` and `pprof_samples` ask them; the rules about bytes (`OP10`) and limits (`OP90`)
//! are shared with OTLP.

use crate::check::rule::rules;

rules! {
    /// Index 0 is how every optional string says "none"; if it held a text, all of them would have
    /// it.
    PP1001 "pprof-string-table" ["E" "P"] "string_table"
        "empty, or [0] != \"\""
        source "profile.proto; google/pprof postDecode"
        example "[\"a\"]"
        fix "write \"\" as string 0";
    /// Values are positional, so without types nobody knows how many there should be or what they
    /// count.
    PP1002 "pprof-sample-type-missing" ["E" "P"] "sample_type"
        "empty while samples exist"
        source "CheckValid"
        example ""
        fix "declare what the values are in sample_type";
    /// An error in `CheckValid`, and for good reason: a missing value shifts the meaning of those
    /// behind it.
    PP1003 "pprof-values-count" ["E" "P"] "Sample.value"
        "len != len(sample_type)"
        source "CheckValid"
        example "3 values, 2 types"
        fix "write one value for each sample type";
    /// pprof refers by id, not by row. A sample whose frames cannot be found cannot be drawn.
    PP1004 "pprof-location-unresolved" ["E" "P"] "Sample.location_id[]"
        "names no Location (0 included)"
        source "CheckValid \"sample has nil location\""
        example "[9]"
        fix "write the location, or drop its id";
    /// 0 is reserved for "no mapping", and of two rows with one id one is unreachable.
    PP1005 "pprof-mapping-id" ["E" "P"] "Mapping.id"
        "0, or used twice"
        source "CheckValid"
        example "id=0"
        fix "number mappings from 1";
    /// As `PP1005`, for functions.
    PP1006 "pprof-function-id" ["E" "P"] "Function.id"
        "0, or used twice"
        source "CheckValid"
        example "id=0"
        fix "number functions from 1";
    /// As `PP1005`, for locations.
    PP1007 "pprof-location-id" ["E" "P"] "Location.id"
        "0, or used twice"
        source "CheckValid"
        example "id=0"
        fix "number locations from 1";
    /// google/pprof reads the file and forgets the mapping, so that the frame loses its binary
    /// without a word.
    PP1008 "pprof-mapping-unresolved" ["E" "P"] "Location.mapping_id"
        "non-zero and names no Mapping (\"there must be a unique Mapping\"; google/pprof silently drops the link)"
        source "profile.proto"
        example "mapping_id=9"
        fix "write the mapping, or set 0";
    /// Unlike a mapping, a line's function is not optional.
    PP1009 "pprof-function-unresolved" ["E" "P"] "Line.function_id"
        "0 or names no Function"
        source "CheckValid \"line with nil function\""
        example "function_id=9"
        fix "write the function, or drop the line";
    /// One rule for all string fields, where OTLP has one for each: the path of the finding tells
    /// which.
    PP1010 "pprof-string-index" ["E" "P"] "every string index"
        "< 0 or >= len(string_table): sample_type, period_type, mapping.filename/build_id, function.*, label.key/str/num_unit, drop_frames, keep_frames, comment, default_sample_type, doc_url"
        source "google/pprof getString"
        example "key=99"
        fix "write the string, or set 0";
    /// Concatenated messages are merged by protobuf: rows of the second file get the ids of the
    /// first. `time_nanos` is singular and nearly always set, so that its second occurrence betrays
    /// the joint. All else that is found is then noise and is not reported.
    PP1014 "pprof-concatenated" ["E" "P"] "time_nanos, string_table"
        "time_nanos occurs twice, first non-zero, or the string table begins again: two profiles in a row"
        source "google/pprof errConcatProfile"
        example "cat a b"
        fix "split the file, or compress each profile with gzip before joining them";
    /// A label is a text or a number; google/pprof looks at `str` first and loses the number.
    PP1015 "pprof-label-both" ["W" "P"] "Label"
        "str and num both set (\"At most one\")"
        source "profile.proto"
        example "str=1,num=2"
        fix "set str or num";
    /// A unit is of a number. On a text it has no meaning.
    PP1016 "pprof-label-unit" ["W" "P"] "Label.num_unit"
        "set with str (\"Should only be present when num is present\")"
        source "profile.proto"
        example ""
        fix "set num_unit only with num";
    /// Parca refuses the whole profile for it.
    PP1017 "pprof-label-key" ["W" "P"] "Label.key"
        "0 or \"\""
        source "Parca rejects; profile.proto"
        example "key=0"
        fix "give the label a key";
    /// google/pprof keeps a list of values for each key; an attribute of OTLP has one value.
    PP1018 "pprof-label-repeated" ["W" "P"] "Sample.label"
        "one key twice, or as string and number (\"should never be used\")"
        source "profile.proto"
        example ""
        fix "write each key once";
    /// pprof marks the base of a comparison with such a key (`pprof::base`); a foreign label of
    /// that name changes what `-diff_base` shows.
    PP1019 "pprof-label-reserved" ["I" "P"] "Label.key"
        "starts with \"pprof::\" (\"reserved for internal use\")"
        source "profile.proto"
        example "\"pprof::base\""
        fix "choose another key";
    /// pprof falls back to the last sample type, silently.
    PP1020 "pprof-default-sample-type" ["W" "P"] "default_sample_type"
        "set and names no sample_type"
        source "profile.proto"
        example ""
        fix "name a sample type that the profile has";
    /// Legal for google/pprof; Pyroscope refuses the upload.
    PP1021 "pprof-no-sample-type" ["W" "P"] "sample_type"
        "empty (and no samples)"
        source "Pyroscope rejects"
        example ""
        fix "declare what the values are in sample_type";
    /// A tool that selects by name always shows the first of them.
    PP1022 "pprof-sample-type-duplicate" ["W" "P"] "sample_type"
        "two equal entries"
        source "common sense"
        example ""
        fix "keep one sample type of each type and unit";
    /// A warning where OTLP has an error (`OP7001`), as google/pprof does not look.
    PP1023 "pprof-mapping-range" ["W" "P"] "Mapping"
        "memory_start > memory_limit"
        source "common sense"
        example ""
        fix "set memory_limit behind memory_start";
    /// Counted per mapping: a wrong load address makes all addresses of a mapping wrong.
    PP1024 "pprof-address-outside-mapping" ["I" "P"] "Location.address"
        "outside its mapping's range"
        source "profile.proto \"should be within\""
        example ""
        fix "write the address that lies in the mapping";
    /// Pyroscope drops the location, and with it the frame.
    PP1025 "pprof-location-empty" ["W" "P"] "Location"
        "no address and no line (Pyroscope drops it)"
        source "Pyroscope sanitize"
        example ""
        fix "give the location an address or lines";
    /// Legal, but Parca refuses it. Folded into one finding for each table.
    PP1026 "pprof-ids-not-sequential" ["I" "P"] "Mapping/Function/Location.id"
        "not 1..n in order (legal; Parca rejects)"
        source "Parca ValidatePprofProfile"
        example "id=5 first"
        fix "number entries from 1 in order";
    /// A warning: profile.proto declares `string`, which proto3 requires to be UTF-8, but Go's
    /// reader does not check.
    PP1027 "pprof-invalid-utf8" ["W" "P"] "string_table[]"
        "not UTF-8: kept byte for byte; replaced only where a format cannot hold it (string.invalid_utf8)"
        source "google/pprof accepts; Pyroscope and OTLP reject; TiDB issue 52215"
        example "\"\\xff\""
        fix "write strings as UTF-8";
    /// The period scales samples to events. Without a type nobody knows the unit of the scale.
    PP1028 "pprof-period" ["W" "P"] "period, period_type"
        "period < 0, or period != 0 without period_type"
        source "common sense"
        example ""
        fix "set period and period_type";
    /// The three mistakes of `OP6012` to `OP6014` in one, as pprof has two plain `int64` here.
    PP1029 "pprof-time" ["W" "P"] "time_nanos, duration_nanos"
        "< 0, sum overflows i64, or 10^8 <= time_nanos < 10^17"
        source "common sense"
        example ""
        fix "write times in nanoseconds since 1970";
    /// RE2 is what Go compiles: no look-around and no references back. See
    /// [`rules::regexp`](crate::check::rules::regexp).
    PP1030 "pprof-regexp" ["W" "P"] "drop_frames, keep_frames"
        "not a regular expression (RE2)"
        source "profile.proto"
        example "\"(\""
        fix "write a valid regular expression";
    /// Costs bytes alone: pprof compares strings, not their indices.
    PP1031 "pprof-duplicate-string" ["I" "P"] "string_table"
        "equal to an earlier entry"
        source "common sense"
        example ""
        fix "intern strings";
    /// Labels are compared by bytes, in whatever order they are.
    PP1032 "pprof-duplicate-sample" ["I" "P"] "sample"
        "same locations and labels as an earlier one"
        source "pprof Merge would add them"
        example ""
        fix "combine the samples";
    /// Its values are in the total and in no frame, so that the two disagree.
    PP1033 "pprof-no-frames" ["I" "P"] "Sample.location_id"
        "no location_id: the values are of no frame"
        source "common sense"
        example ""
        fix "nothing, if the stack is not known";
    /// By convention a count leads, and tools that pick a divisor for averages take column 0.
    PP1034 "pprof-count-not-first" ["I" "P"] "sample_type"
        "a \"count\" unit at an index > 0, and none at 0"
        source "profile.proto convention"
        example ""
        fix "put the count first";
    /// pprofextended is pprof with more fields: read as pprof, its stacks (field 15,
    /// `location_indices`) would be missing without a word.
    PP1035 "pprof-otlp-fields" ["W" "P"] "Profile"
        "fields 15 (LEN) 16 17 18 of pprofextended: this is the inner profile of OTLP 1.3"
        source "OTEP 0239"
        example ""
        fix "check the file as otlp-1.3, or drop the fields";
    /// `int64` on the wire; 0 is "unknown".
    PP1036 "pprof-line-negative" ["W" "P"] "Line.line/column, Function.start_line"
        "< 0"
        source "common sense"
        example ""
        fix "write 0 where the line is not known";
    /// The label vanishes in any tool that passes through google/pprof.
    PP1037 "pprof-label-zero" ["I" "P"] "Label"
        "str = num = 0 and no unit: google/pprof drops such labels on reading"
        source "google/pprof postDecode"
        example ""
        fix "set str or num";
    /// The first row of mappings is no exception here, unlike in OTLP: what is reported is what no
    /// location names.
    PP1038 "pprof-orphan" ["I" "P"] "mapping, location, function, string_table"
        "unused entry"
        source "common sense"
        example ""
        fix "drop the entry; a mapping may stay, as it says what was mapped, and the first which binary ran";
    /// Tools add samples up in `int64` and wrap, so a total would turn negative. Told once per
    /// column.
    PP1039 "pprof-value-overflow" ["W" "P"] "Sample.value"
        "sum of a column leaves i64"
        source "common sense"
        example ""
        fix "split the profile, or use a larger unit";
    /// Numbers of two units under one key are added or compared as if they were of one.
    PP1040 "pprof-label-unit-conflict" ["I" "P"] "Label.num_unit"
        "one numeric key with different units in one profile (google/pprof NumLabelUnits keeps the first)"
        source "google/pprof"
        example "bytes, kilobytes"
        fix "use one unit for a key";
}
