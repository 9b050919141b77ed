//! Rules about the required contents of a payload, its profiles and their sample types.
//!
//! Sources: the comments of the protos on required messages. An empty payload is not an error: its sender may have
//! no data.
//!
//! A missing message is a warning or less. It is an error if it makes the rest meaningless: no dictionary, or no
//! profile in a container. [`rules::structure`](crate::check::rules::structure), `value_types` and
//! `original_payload` check these rules.

use crate::check::rule::rules;

rules! { Structure:
    /// The empty message is legal OTLP; profcheck refuses it.
    OP2001 "no-resource-profiles" ["W" "1-7"] "ProfilesData.resource_profiles"
        "the payload has no resource profiles"
        source "profcheck reports an error"
        example "ProfilesData{}" => "ProfilesData{resource_profiles: [..]}"
        fix "do not send a payload without profiles" for Parca Error;
    /// As `OP2001`, a level deeper: a resource that has nothing to report.
    OP2002 "no-scope-profiles" ["W" "1-7"] "ResourceProfiles.scope_profiles"
        "a resource has no scopes"
        source "profcheck reports an error"
        example "ResourceProfiles{}" => "ResourceProfiles{scope_profiles: [..]}"
        fix "omit resources without scopes" fixed "the resource without scopes was left out";
    /// As `OP2001`: a scope that has nothing to report.
    OP2003 "no-profiles" ["W" "1-7"] "ScopeProfiles.profiles"
        "a scope has no profiles"
        source "profcheck reports an error"
        example "ScopeProfiles{}" => "ScopeProfiles{profiles: [..]}"
        fix "omit scopes without profiles" fixed "the scope without profiles was left out";
    /// A profiler that measured and saw no activity writes such a profile. Parca refuses it.
    OP2004 "no-samples" ["I" "1-7"] "Profile.samples"
        "a profile has no samples"
        source "Parca rejects the profile; profiles.proto 1.11 allows it"
        example "Profile{sample_type: ..}" => "Profile{sample_type: .., samples: [..]}"
        fix "omit profiles without samples" fixed "the profile without samples was left out" for Parca Error;
    /// Told once for the payload. While the dictionary is missing every reference dangles, which is
    /// not repeated for each.
    OP2005 "dictionary-missing" ["E" "4-7"] "ProfilesData.dictionary"
        "the dictionary is missing"
        source "profiles.proto 1.7: profiles refer to the dictionary; profcheck panics"
        example "ProfilesData{resource_profiles: [..]}" => "ProfilesData{resource_profiles: [..], dictionary: ..}"
        fix "write the dictionary that the profiles refer to";
    /// protobuf merges occurrences of a singular message, so tables are appended while indices
    /// stay: those of the second part point into the first.
    OP2006 "dictionary-repeated" ["W" "4-7"] Lossy OfBytes "ProfilesData.dictionary"
        "the payload has more than one dictionary" finding "the payload has the dictionary {v}"
        source "protobuf encoding guide, Last One Wins: the tables are concatenated"
        example "cat a.otlp b.otlp" => "otlp-profiles convert a.otlp b.otlp -o out.otlp"
        fix "merge the dictionaries and renumber the references" for Collector Error;
    /// OTEP 0239 wants the profile beside an original payload too, since receivers cannot read
    /// every original.
    OP2007 "container-without-profile" ["E" "1"] "ProfileContainer.profile"
        "a container has no profile"
        source "OTEP 0239: \"Required, even when original_payload is present\""
        example "ProfileContainer{original_payload: ..}" => "ProfileContainer{profile: .., original_payload: ..}"
        fix "write the profile next to the original payload";
    /// Release 1.6 added the tables to `ProfilesData` and not to the request. A payload without tables is such a
    /// request.
    OP2008 "request-cannot-carry-tables" ["E" "3"] "ExportProfilesServiceRequest"
        "a request of OTLP 1.6 cannot hold tables"
        source "profiles_service.proto 1.6 has no fields for tables; 1.7 added the dictionary"
        example "an ExportProfilesServiceRequest of 1.6 with samples" => "ProfilesData of 1.6 in a file"
        fix "write ProfilesData to a file, or send OTLP 1.7 or later";
    /// As `PP1002`.
    OP2009 "sample-type-missing" ["E" "1-4"] "Profile.sample_type"
        "a profile has samples and no sample type"
        source "google/pprof CheckValid: \"missing sample type information\""
        example "samples: [..], sample_type: []" => "sample_type: [cpu/nanoseconds]"
        fix "declare the type and unit of the values";
    /// A value without type and unit is a number. Asked only where there are samples.
    OP2010 "sample-type-unnamed" ["W" "1-7"] "sample_type"
        "a sample type has no type or unit" finding "the sample type is {v}, expected {b}"
        source "profiles.proto 1.11: \"The type and unit of all Sample.values\""
        example "sample_type{}" => "sample_type{type: cpu, unit: nanoseconds}"
        fix "name the type and unit of the values";
    /// Types are compared as texts, and only the first hundred with each other, which bounds the
    /// cost.
    OP2011 "sample-type-duplicate" ["W" "1-4"] "Profile.sample_type"
        "two sample types are equal" finding "the sample type {v} occurs twice"
        source "pprof's profile.proto: values are selected by the name of the type"
        example "[cpu/nanoseconds, cpu/nanoseconds]" => "[cpu/nanoseconds]"
        fix "keep one sample type per type and unit";
    /// Delta values of two intervals are added, cumulative ones subtracted: without the field
    /// neither is right. The field was removed after 1.8. Of a profile without a duration nobody
    /// could tell, hence the exception.
    OP2012 "temporality-unspecified" ["E" "1-5"] "sample_type.aggregation_temporality"
        "the aggregation temporality is not set" finding "the aggregation temporality is {v}, expected {b}"
        source "OTEP 0239 and profiles.proto 1.8: UNSPECIFIED \"MUST not be used\""
        example "aggregation_temporality: 0" => "aggregation_temporality: 1"
        fix "set the temporality to DELTA or CUMULATIVE";
    /// A receiver has to keep the last value of each stack to make use of a cumulative one.
    OP2013 "temporality-cumulative" ["I" "1-5"] "sample_type.aggregation_temporality"
        "the aggregation temporality is cumulative"
        source "OTEP 0239 prefers DELTA"
        example "aggregation_temporality: 2" => "aggregation_temporality: 1"
        fix "prefer DELTA";
    /// As `PP1028`.
    OP2014 "period-without-type" ["W" "1-7"] "Profile.period"
        "a period has no type" finding "the period is {v} and has no type"
        source "profiles.proto 1.11: the period is \"of the period_type type and unit\""
        example "period: 10" => "period: 10, period_type: cpu/nanoseconds"
        fix "set period_type";
    /// The type alone does not tell how often samples were taken.
    OP2015 "type-without-period" ["I" "1-7"] "Profile.period_type"
        "a period type has no period" finding "the period type is set and the period is 0"
        source "pprof's profile.proto: period is \"the number of events between sampled occurrences\""
        example "period_type: cpu/nanoseconds" => "period: 10000000, period_type: cpu/nanoseconds"
        fix "set period, or omit period_type";
    /// Legal on the wire, as the field is `int64`.
    OP2016 "period-negative" ["W" "1-7"] "Profile.period"
        "the period is negative" finding "the period is {v}, expected {b}"
        source "Parca rejects the profile; pprof's profile.proto: a number of events"
        example "period: -1" => "period: 10000000"
        fix "write a period of at least 0" for Parca Error;
    /// First a string, from 1.6 an index: hence the two severities. A string that names nothing
    /// falls back, an index dangles.
    OP2017 "default-sample-type" ["W1-2/E3-4" "1-4"] "default_sample_type"
        "the default sample type does not exist" finding "the default sample type is {v}, expected {b}"
        source "OTEP 0239; profiles.proto 1.6"
        example "\"wall\" with the sample type cpu alone" => "\"cpu\""
        fix "name a sample type of the profile";
    /// Tools divide by column 0 to get averages. Unlike `PP1034`, this rule checks every count, even if another one is
    /// first.
    OP2018 "count-not-first" ["I" "1-4"] "sample_type"
        "a count is not the first sample type" finding "the sample type {v} is a count and not the first"
        source "OTEP 0239: \"by convention it should be at index 0\""
        example "[space/bytes, objects/count]" => "[objects/count, space/bytes]"
        fix "put the count first";
    /// The count says that a limit was reached, which leaves as many attributes as the limit is.
    OP2020 "dropped-without-attributes" ["I" "1-7"] "dropped_attributes_count"
        "attributes were dropped though no attribute is left" finding "{v} attributes were dropped, and no attribute is left"
        source "attribute specification: a limit drops the attributes beyond it and keeps the others"
        example "dropped_attributes_count: 5, attributes: []" => "dropped_attributes_count: 0"
        fix "count only attributes that a limit dropped";
    /// As `PP1030`.
    OP2021 "frames-regexp" ["W" "1"] "drop_frames, keep_frames"
        "drop_frames or keep_frames is not a regular expression" finding "{v} is not a regular expression"
        source "OTEP 0239: frames \"fully matching the following regexp\"; RE2"
        example "\"(\"" => "\"^runtime\\.\""
        fix "write a valid regular expression";
    /// Bytes of an unknown format cannot be given to any tool.
    OP2022 "payload-without-format" ["E" "1-7"] "original_payload_format"
        "an original payload has no format"
        source "profiles.proto 1.11: both \"MUST be set together\""
        example "original_payload: .." => "original_payload: .., original_payload_format: \"jfr\""
        fix "set original_payload_format";
    /// A format of nothing. 1.9 made the pair mandatory.
    OP2023 "format-without-payload" ["E6-7/W1-5" "1-7"] "original_payload"
        "a format of the original payload is set without a payload"
        source "profiles.proto 1.9: both are set together \"or both left unset\""
        example "original_payload_format: \"jfr\"" => "neither field"
        fix "set both fields or neither";
    /// Everything in a pprof has a place in OTLP, so the original would double the payload.
    OP2024 "payload-is-pprof" ["W" "1-5"] "original_payload_format"
        "the original payload is a pprof" finding "the original payload is a pprof, which the profile repeats"
        source "OTEP 0239: a pprof \"SHOULD not be included\""
        example "original_payload_format: \"pprof\"" => "neither field"
        fix "omit a pprof original";
    /// An info, since the list of known formats is open.
    OP2025 "payload-format-unknown" ["I" "6-7"] "original_payload_format"
        "the format of the original payload is not a well-known one"
        source "profiles specification lists pprof, jfr and linux_perf"
        example "\"perf\"" => "\"linux_perf\""
        fix "use pprof, jfr or linux_perf where they apply";
    /// By the first bytes alone: the magic of the format, or for pprof gzip or something that is
    /// fields from end to end.
    OP2026 "payload-format-mismatch" ["W" "1-7"] "original_payload"
        "the original payload does not begin as its format requires" finding "the original payload begins with {v}, which is not {b}"
        source "profiles specification names the formats, whose magic numbers are JFR's \"FLR\\0\" and perf's \"PERFILE2\""
        example "format jfr, bytes \"hello\"" => "format jfr, bytes \"FLR\\0\""
        fix "name the format of the payload";
    /// A receiver that knows no JFR would have nothing to show.
    OP2027 "payload-without-data" ["W1-5/I6-7" "1-7"] "original_payload"
        "a profile has an original payload and no samples"
        source "OTEP 0239: the profile must \"contain the same profiling information\""
        example "original_payload: .., samples: []" => "original_payload: .., samples: [..]"
        fix "write the samples too";
    /// Backends deduplicate by this id, so that the second profile would be lost. Byte-identical
    /// profiles are a resend.
    OP2028 "profile-id-reused" ["E" "1-7"] "profile_id"
        "two profiles share an id" finding "two profiles share the id {v}"
        source "OTEP 0239: a \"globally unique identifier\""
        example "the same profile_id twice" => "two random ids"
        fix "generate a new id for each profile";
    /// This message is a response of a receiver, not a payload.
    OP2030 "partial-success" ["E" "1-7"] "ExportProfilesPartialSuccess"
        "the response to an export is invalid" finding "the response has {v}, expected {b}"
        source "profiles_service.proto"
        example "rejected_profiles: -1" => "rejected_profiles: 1, error_message: \"queue full\""
        fix "set rejected_profiles to at least 0, and the reason in error_message";
}
