//! Rules of pprof alone.
//!
//! Sources: the comments of [profile.proto](https://github.com/google/pprof/blob/main/proto/profile.proto), and the
//! behaviour of google/pprof: files that its `CheckValid` rejects are errors, files that it accepts and other
//! readers reject are warnings.
//!
//! google/pprof runs `CheckValid` on every profile that it parses: if a row names it as its source, pprof does not
//! open the file. [`rules::pprof`](crate::check::rules::pprof), `pprof_samples` and `pprof_rows` check these rules.
//! The rules about bytes (`OP10`) and limits (`OP90`) are shared with OTLP.

use crate::check::rule::rules;

rules! { Pprof source "google/pprof CheckValid":
    /// Optional strings use index 0 for a missing value; otherwise all of them would show this text.
    PP1001 "pprof-string-table" ["E" "P"] "string_table"
        "the string table does not begin with the empty string"
        source "pprof's profile.proto: string_table[0] \"must always be ''\"; google/pprof encode.go"
        example "[\"a\"]" => "[\"\", \"a\"]"
        fix "write \"\" as string 0"
        fixed "string 0 was made empty: index 0 says that there is no text, so nothing showed what it held";
    /// Values are positional, so readers cannot tell how many there should be or what they count.
    PP1002 "pprof-sample-type-missing" ["E" "P"] "sample_type"
        "the profile has samples and no sample type"
        example "sample: [..], sample_type: []" => "sample_type: [cpu/nanoseconds]"
        fix "declare the type and unit of the values";
    /// A missing value shifts the meaning of the values after it.
    PP1003 "pprof-values-count" ["E" "P"] Lossy "Sample.value"
        "a sample has too many or too few values" finding "the sample has {v}, the number of sample types is {b}"
        example "3 values, 2 types" => "2 values, 2 types"
        fix "write one value per sample type";
    /// pprof refers by id, not by row. A sample whose frames cannot be found cannot be drawn.
    PP1004 "pprof-location-unresolved" ["E" "P"] "Sample.location_id[]"
        "the location of a sample does not exist" finding "location id {v} does not exist"
        source "google/pprof CheckValid: \"sample has nil location\""
        example "location_id: [9]" => "location_id: [1]"
        fix "write the location, or drop its id";
    /// 0 is reserved for "no mapping", and of two rows with one id one is unreachable.
    PP1005 "pprof-mapping-id" ["E" "P"] "Mapping.id"
        "the id of a mapping is 0 or occurs twice" finding "the mapping id is {v}, expected {b}"
        example "id: 0" => "id: 1"
        fix "number mappings from 1" fixed "one of the equal entries was kept";
    /// As `PP1005`, for functions.
    PP1006 "pprof-function-id" ["E" "P"] "Function.id"
        "the id of a function is 0 or occurs twice" finding "the function id is {v}, expected {b}"
        example "id: 0" => "id: 1"
        fix "number functions from 1" fixed "one of the equal entries was kept";
    /// As `PP1005`, for locations.
    PP1007 "pprof-location-id" ["E" "P"] "Location.id"
        "the id of a location is 0 or occurs twice" finding "the location id is {v}, expected {b}"
        example "id: 0" => "id: 1"
        fix "number locations from 1" fixed "one of the equal entries was kept";
    /// google/pprof reads the file and forgets the mapping, so that the frame loses its binary
    /// without a word.
    PP1008 "pprof-mapping-unresolved" ["E" "P"] "Location.mapping_id"
        "the mapping of a location does not exist" finding "mapping id {v} does not exist"
        source "pprof's profile.proto: \"there must be a unique Mapping\""
        example "mapping_id: 9" => "mapping_id: 0"
        fix "write the mapping, or set 0" fixed "the reference to nothing was left out";
    /// Unlike a mapping, a line's function is not optional.
    PP1009 "pprof-function-unresolved" ["E" "P"] Lossy "Line.function_id"
        "the function of a line does not exist" finding "function id {v} does not exist"
        source "google/pprof CheckValid: \"line with nil function\""
        example "function_id: 9" => "function_id: 1"
        fix "write the function, or drop the line";
    /// One rule covers all string fields of pprof; the path of the finding names the field.
    PP1010 "pprof-string-index" ["E" "P"] Lossy "every string index"
        "a string index is out of range" finding "string index {v} is out of range: {b}"
        source "google/pprof encode.go, getString"
        example "key: 99" => "key: 1"
        fix "write the string, or set 0";
    /// Concatenated messages are merged by protobuf: rows of the second file get the ids of the
    /// first. `time_nanos` is singular and nearly always set, so that its second occurrence betrays
    /// the joint. All else that is found is then noise and is not reported.
    PP1014 "pprof-concatenated" ["E" "P"] Lossy "time_nanos, string_table"
        "the file is several profiles in a row"
        source "google/pprof encode.go, errConcatProfile"
        example "cat a.pb b.pb" => "pprof -proto a.pb b.pb"
        fix "split the file into its profiles";
    /// A label is a text or a number; google/pprof looks at `str` first and loses the number.
    PP1015 "pprof-label-both" ["W" "P"] "Label"
        "a label has a text and a number" finding "the label has {v}, expected {b}"
        source "pprof's profile.proto: \"At most one of the following must be present\""
        example "str: 1, num: 2" => "str: 1"
        fix "set str or num";
    /// A unit is of a number. On a text it has no meaning.
    PP1016 "pprof-label-unit" ["W" "P"] "Label.num_unit"
        "a label has a unit and no number"
        source "pprof's profile.proto: \"Should only be present when num is present\""
        example "str: 1, num_unit: 2" => "num: 1, num_unit: 2"
        fix "set num_unit only with num";
    /// Parca refuses the whole profile for it.
    PP1017 "pprof-label-key" ["W" "P"] "Label.key"
        "a label has no key"
        source "pprof's profile.proto; Parca rejects the profile"
        example "key: 0" => "key: 1"
        fix "give the label a key";
    /// google/pprof keeps a list of values for each key; an attribute of OTLP has one value.
    PP1018 "pprof-label-repeated" ["W" "P"] "Sample.label"
        "a label key occurs twice" finding "the label key {v} occurs twice, first in label {b}"
        source "pprof's profile.proto: a key \"should never be used\" twice"
        example "tid: 1, tid: 2" => "tid: 1"
        fix "write each key once";
    /// pprof marks the base of a comparison with such a key (`pprof::base`); a foreign label of
    /// that name changes what `-diff_base` shows.
    PP1019 "pprof-label-reserved" ["I" "P"] "Label.key"
        "a label key is reserved" finding "the label key {v} is reserved"
        source "pprof's profile.proto: \"pprof::\" is \"reserved for internal use\""
        example "\"pprof::base\"" => "\"base\""
        fix "choose another key";
    /// pprof falls back to the last sample type, silently.
    PP1020 "pprof-default-sample-type" ["W" "P"] "default_sample_type"
        "the default sample type does not exist" finding "the default sample type is {v}, expected {b}"
        source "pprof's profile.proto"
        example "\"wall\" with the sample type cpu alone" => "\"cpu\""
        fix "name a sample type of the profile";
    /// Legal for google/pprof; Pyroscope refuses the upload.
    PP1021 "pprof-no-sample-type" ["W" "P"] Lossy "sample_type"
        "the profile has no sample type"
        source "pprof's profile.proto; Pyroscope rejects the profile"
        example "sample_type: []" => "sample_type: [cpu/nanoseconds]"
        fix "declare the type and unit of the values";
    /// A tool that selects by name always shows the first of them.
    PP1022 "pprof-sample-type-duplicate" ["W" "P"] "sample_type"
        "two sample types are equal" finding "the sample type {v} occurs twice"
        source "pprof's profile.proto: values are selected by the name of the type"
        example "[cpu/nanoseconds, cpu/nanoseconds]" => "[cpu/nanoseconds]"
        fix "keep one sample type per type and unit";
    /// A warning where OTLP has an error (`OP7001`), as google/pprof does not look.
    PP1023 "pprof-mapping-range" ["W" "P"] "Mapping"
        "a mapping starts after its end" finding "the mapping is {v}"
        source "pprof's profile.proto: addresses lie in [memory_start, memory_limit)"
        example "start: 2, limit: 1" => "start: 1, limit: 2"
        fix "set memory_limit after memory_start";
    /// Counted per mapping: a wrong load address makes all addresses of a mapping wrong.
    PP1024 "pprof-address-outside-mapping" ["I" "P"] "Location.address"
        "an address lies outside its mapping" finding "the address {v} lies outside its mapping, expected {b}"
        source "pprof's profile.proto: the address \"should be within\" the mapping"
        example "address 1 in [0x1000, 0x2000)" => "address 0x1004"
        fix "write the address before relocation to the file";
    /// Pyroscope drops the location, and with it the frame.
    PP1025 "pprof-location-empty" ["W" "P"] "Location"
        "a location has no address and no lines"
        source "pprof's profile.proto; Pyroscope drops the location"
        example "Location{id: 1}" => "Location{id: 1, address: 0x1004}"
        fix "give the location an address or lines";
    /// Legal, but Parca refuses it. Folded into one finding for each table.
    PP1026 "pprof-ids-not-sequential" ["I" "P"] "Mapping/Function/Location.id"
        "ids are not numbered from 1 in order" finding "the id is {v}, expected {b}"
        source "pprof's profile.proto allows any ids; Parca rejects the profile"
        example "id: 5 first" => "id: 1 first"
        fix "number entries from 1 in order" fixed "the rows were numbered anew";
    /// A warning: profile.proto declares `string`, which proto3 requires to be UTF-8, but Go's
    /// reader does not check.
    PP1027 "pprof-invalid-utf8" ["W" "P"] "string_table[]"
        "a string is not valid UTF-8"
        source "protobuf language guide: strings are UTF-8; google/pprof encode.go does not check"
        example "string_table[1] = `ff`" => "string_table[1] = \"\\u{fffd}\""
        fix "encode strings as UTF-8";
    /// The period scales samples to events. Without a type its unit is unknown.
    PP1028 "pprof-period" ["W" "P"] "period, period_type"
        "the period is negative or has no type" finding "the period is {v}, expected {b}"
        source "pprof's profile.proto: period_type is \"the kind of events between sampled occurrences\""
        example "period: 10" => "period: 10, period_type: cpu/nanoseconds"
        fix "set period and period_type";
    /// The three mistakes of `OP6012` to `OP6014` in one, as pprof has two plain `int64` here.
    PP1029 "pprof-time" ["W" "P"] "time_nanos, duration_nanos"
        "a time or duration is not in nanoseconds" finding "found {v}, expected {b}"
        source "pprof's profile.proto: time_nanos is nanoseconds since 1970"
        example "time_nanos: 1700000000" => "time_nanos: 1700000000000000000"
        fix "write times in nanoseconds since 1970";
    /// Go's tools compile RE2, which has no look-around and no back references.
    PP1030 "pprof-regexp" ["W" "P"] "drop_frames, keep_frames"
        "drop_frames or keep_frames is not a regular expression" finding "{v} is not a regular expression"
        source "pprof's profile.proto; RE2"
        example "\"(\"" => "\"^runtime\\.\""
        fix "write a valid regular expression";
    /// Costs bytes alone: pprof compares strings, not their indices.
    PP1031 "pprof-duplicate-string" ["I" "P"] "string_table"
        "a string occurs twice" finding "string {v} equals entry {b}"
        source "pprof's profile.proto: texts are stored once in string_table"
        example "[\"\", \"a\", \"a\"]" => "[\"\", \"a\"]"
        fix "intern strings: write each once and refer to it" fixed "the equal rows became one";
    /// Labels are compared by bytes, in whatever order they are.
    PP1032 "pprof-duplicate-sample" ["I" "P"] "sample"
        "two samples have the same stack and labels" finding "the sample duplicates sample {b} (same stack and labels)"
        source "google/pprof merge.go adds them"
        example "two samples of [1, 2]" => "one sample with the values added"
        fix "add their values into one sample";
    /// Its values are in the total and in no frame, so that the two disagree.
    PP1033 "pprof-no-frames" ["I" "P"] "Sample.location_id"
        "a sample has no stack"
        source "pprof's profile.proto allows it"
        example "location_id: []" => "location_id: [1]"
        fix "no change is needed if the profiler could not unwind the stack";
    /// By convention a count leads, and tools that pick a divisor for averages take column 0.
    PP1034 "pprof-count-not-first" ["I" "P"] "sample_type"
        "a count is not the first sample type" finding "the sample type {v} is a count and not the first"
        source "pprof's profile.proto: \"By convention\" the count is first"
        example "[space/bytes, objects/count]" => "[objects/count, space/bytes]"
        fix "put the count first";
    /// pprofextended is pprof with more fields: read as pprof, its stacks (field 15,
    /// `location_indices`) would be missing without a word.
    PP1035 "pprof-otlp-fields" ["W" "P"] Lossy OfBytes "Profile"
        "the profile has fields of OTLP 1.3" finding "the profile has {v} of OTLP 1.3, expected {b}"
        source "OTEP 0239 extends profile.proto by these fields"
        example "field 15, location_indices" => "pprof without field 15"
        fix "check the file with --from otlp-1.3, or drop the fields";
    /// `int64` on the wire; 0 is "unknown".
    PP1036 "pprof-line-negative" ["W" "P"] "Line.line/column, Function.start_line"
        "a line or column number is negative" finding "the number {v} is negative"
        source "pprof's profile.proto: line numbers count from 1"
        example "line: -1" => "line: 0"
        fix "write 0 if the line is unknown";
    /// The label vanishes in any tool that passes through google/pprof.
    PP1037 "pprof-label-zero" ["I" "P"] "Label"
        "a label has no value"
        source "google/pprof encode.go drops such labels"
        example "key: 1" => "key: 1, str: 2"
        fix "set str or num";
    /// Unused entries cost bytes. The first mapping is not exempt: it is reported if no location refers to it.
    PP1038 "pprof-orphan" ["I" "P"] "mapping, location, function, string_table"
        "an entry is not used"
        source "pprof's profile.proto allows it; readers have to load the entry"
        example "a function that no line refers to" => "no such function"
        fix "drop the entry; a mapping may stay to list what was mapped";
    /// Tools add samples up in `int64` and wrap, so a total would turn negative. Told once per
    /// column.
    PP1039 "pprof-value-overflow" ["W" "P"] "Sample.value"
        "the sum of the values overflows 64 bits"
        source "google/pprof adds values with wrap-around"
        example "two values of 2^62 + 2^62" => "two values of 2^61"
        fix "split the profile, or use a larger unit";
    /// Numbers of two units under one key are added or compared as if they were of one.
    PP1040 "pprof-label-unit-conflict" ["I" "P"] "Label.num_unit"
        "a label key has several units" finding "the label has the unit {v}, expected {b}"
        source "google/pprof NumUnits keeps the first unit"
        example "bytes=1 in bytes, bytes=1 in kilobytes" => "bytes=1 in bytes"
        fix "use one unit per key";
}
