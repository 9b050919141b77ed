//! Hints about size, which run only if they are named.

use crate::check::rule::rules;

rules! { Hint:
    /// Off by default: it is advice about bytes, not about meaning. Before 1.10 there is no
    /// reference to write instead.
    OP9101 "hint-inline-strings" ["I" "7"] Off "resource/scope attributes"
        "texts in place would be smaller as references" finding "texts in place cost {v} than {b}"
        source "common.proto 1.10 adds key_strindex"
        example "key: \"service.name\" in 100 resources" => "key_strindex: 6"
        fix "refer to the string table";
    /// Off by default. proto3 packs scalars by default; unpacked lists cost a tag for each number.
    /// google/pprof writes lists of one or two numbers so.
    OP9102 "hint-unpacked" ["I" "1-7,P"] Off "repeated scalars"
        "a list of numbers is not packed"
        source "protobuf encoding guide: proto3 packs lists of numbers"
        example "a tag for each number" => "one packed field"
        fix "write the list packed";
    /// Since 1.8 a timestamp without a value counts 1, so the list of ones costs bytes only.
    OP9103 "hint-shape" ["I" "5-7"] Off "Profile"
        "all values are 1 and could be omitted"
        source "profiles.proto 1.8: a timestamp without a value counts 1"
        example "values: [1, 1], timestamps: [5, 6]" => "timestamps: [5, 6]"
        fix "omit the values";
    /// Off by default, as it takes a conversion: the payload is read and written as the newest
    /// generation to know the size.
    OP9104 "hint-generation" ["I" "1-6"] Off "file"
        "the payload would be smaller in the newest generation" finding "the payload has {v}; the newest generation takes {b}"
        source "otlp-profiles detection"
        example "OTLP 1.7" => "OTLP 1.11"
        fix "convert to OTLP 1.11";
}
