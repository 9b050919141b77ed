//! Rules about what a payload, its profiles and their sample types must hold.
//!
//! Sources: the comments of the protos on which messages must be there. That a payload says nothing is no error: its sender
//! may have nothing to say.
//!
//! What is missing altogether is a warning or less, what makes the rest meaningless (no dictionary,
//! no profile in a container) an error. [`rules::structure`](crate::check::rules::structure),
//! `value_types` and `original` ask them.

use crate::check::rule::rules;

rules! {
    /// The empty message is legal OTLP; profcheck refuses it.
    OP2001 "no-resource-profiles" ["W" "1-7"] "ProfilesData.resource_profiles"
        "empty list"
        source "profcheck (error there)"
        example "ProfilesData{}"
        fix "do not send a payload without profiles";
    /// As `OP2001`, a level deeper: a resource that has nothing to report.
    OP2002 "no-scope-profiles" ["W" "1-7"] "ResourceProfiles.scope_profiles"
        "empty list"
        source "profcheck (error there)"
        example "ResourceProfiles{}"
        fix "leave a resource without scopes out";
    /// As `OP2001`: a scope that has nothing to report.
    OP2003 "no-profiles" ["W" "1-7"] "ScopeProfiles.profiles"
        "empty list"
        source "profcheck (error there)"
        example "ScopeProfiles{}"
        fix "leave a scope without profiles out";
    /// A profile without samples is how a profiler says that it measured and saw nothing. Parca
    /// refuses it.
    OP2004 "no-samples" ["I" "1-7"] "Profile.samples"
        "empty list"
        source "Parca rejects; spec silent"
        example "Profile{sample_type}"
        fix "leave a profile without samples out";
    /// Told once for the payload. While the dictionary is missing every reference dangles, which is
    /// not repeated for each.
    OP2005 "dictionary-missing" ["E" "4-7"] "ProfilesData.dictionary"
        "absent although a profile is present"
        source "1.7 proto; profcheck panics"
        example "resource_profiles only"
        fix "write the dictionary that the profiles refer to";
    /// protobuf merges occurrences of a singular message, so tables are appended while indices
    /// stay: those of the second part point into the first.
    OP2006 "dictionary-repeated" ["W" "4-7"] "ProfilesData.dictionary"
        "occurs more than once: tables are concatenated, so a second producer's indices point into the first one's entries"
        source "protobuf merge rule"
        example "cat a.pb b.pb"
        fix "merge the dictionaries and renumber the references";
    /// OTEP 0239 wants the profile beside an original payload too, since receivers cannot read
    /// every original.
    OP2007 "container-without-profile" ["E" "1"] "ProfileContainer.profile"
        "absent (\"Required, even when original_payload is present\")"
        source "OTEP 0239"
        example "ProfileContainer{profile_id}"
        fix "write the profile, also beside an original payload";
    /// A gap of release 1.6: `ProfilesData` got the tables, the request did not. Such a request is
    /// told from a file by its having no tables at all.
    OP2008 "request-cannot-carry-tables" ["E" "3"] "ExportProfilesServiceRequest"
        "a 1.6 request has no table fields (they live in ProfilesData only; repaired in 1.7): indices cannot be resolved"
        source "1.6 profiles_service.proto"
        example "1.6 request with samples"
        fix "write ProfilesData to a file, or send a generation whose request has a dictionary";
    /// As `PP1002`.
    OP2009 "sample-type-missing" ["E" "1-4"] "Profile.sample_type"
        "empty while samples exist"
        source "pprof CheckValid \"missing sample type information\""
        example "samples, no sample_type"
        fix "declare what the values are in sample_type";
    /// A value without type and unit is a number. Asked only where there are samples.
    OP2010 "sample-type-unnamed" ["W" "1-7"] "sample_type"
        "type or unit resolves to \"\" (5-7: field absent) while samples exist"
        source "proto \"The type and unit of all Sample.values\""
        example "sample_type{}"
        fix "name type and unit of the values";
    /// Types are compared as texts, and only the first hundred with each other, which bounds the
    /// cost.
    OP2011 "sample-type-duplicate" ["W" "1-4"] "Profile.sample_type"
        "two entries with equal type and unit"
        source "common sense"
        example "[cpu/ns, cpu/ns]"
        fix "keep one sample type of each type and unit";
    /// Delta values of two intervals are added, cumulative ones subtracted: without the field
    /// neither is right. The field was removed after 1.8. Of a profile without a duration nobody
    /// could tell, hence the exception.
    OP2012 "temporality-unspecified" ["E" "1-5"] "sample_type.aggregation_temporality"
        "0 (\"MUST not be used\"); W where the profile has no duration: nobody could tell which it is"
        source "OTEP 0239; 1.3-1.8 proto; contrib pprofiletest"
        example "temporality absent"
        fix "set the temporality to DELTA or CUMULATIVE";
    /// A receiver has to keep the last value of each stack to make use of a cumulative one.
    OP2013 "temporality-cumulative" ["I" "1-5"] "sample_type.aggregation_temporality"
        "CUMULATIVE (\"valid, not recommended\")"
        source "OTEP 0239"
        example "=2"
        fix "prefer DELTA";
    /// As `PP1028`.
    OP2014 "period-without-type" ["W" "1-7"] "Profile.period"
        "period != 0 and period_type unset or unnamed"
        source "proto \"The value is of the period_type type and unit\""
        example "period=10"
        fix "set period_type";
    /// A type alone says what would have been counted, and not how often.
    OP2015 "type-without-period" ["I" "1-7"] "Profile.period_type"
        "set while period = 0"
        source "common sense"
        example "period_type{1,2}"
        fix "set period, or leave period_type out";
    /// Legal on the wire, as the field is `int64`.
    OP2016 "period-negative" ["W" "1-7"] "Profile.period"
        "< 0"
        source "Parca rejects; common sense"
        example "period=-1"
        fix "write a period of at least 0";
    /// First a string, from 1.6 an index: hence the two severities. A string that names nothing
    /// falls back, an index dangles.
    OP2017 "default-sample-type" ["W1-2/E3-4" "1-4"] "default_sample_type"
        "1-2: the string is not the type of any sample_type; 3-4: index not in [0, len(sample_type))"
        source "OTEP 0239; 1.6 proto"
        example "\"wall\" with only \"cpu\""
        fix "name a sample type that the profile has";
    /// Tools divide by column 0 to get averages. Unlike `PP1034` it is asked of each count, also
    /// where one stands first.
    OP2018 "count-not-first" ["I" "1-4"] "sample_type"
        "a unit \"count\" entry at an index > 0 (\"by convention it should be at index 0\")"
        source "OTEP 0239"
        example "[space/bytes, objects/count]"
        fix "put the count first";
    /// The count says that a limit was reached, which leaves as many attributes as the limit is.
    OP2020 "dropped-without-attributes" ["I" "1-7"] "dropped_attributes_count"
        "> 0 and no attribute left"
        source "common sense"
        example "dropped=5, attributes=[]"
        fix "count only where attributes were limited";
    /// As `PP1030`.
    OP2021 "frames-regexp" ["W" "1"] "drop_frames, keep_frames"
        "not a valid regular expression"
        source "OTEP 0239 \"fully matching the following regexp\""
        example "\"(\""
        fix "write a valid regular expression";
    /// Bytes of an unknown format cannot be given to any tool.
    OP2022 "payload-without-format" ["E" "1-7"] "original_payload_format"
        "empty while original_payload is set"
        source "OTEP \"required if original_payload is present\"; 1.11 \"MUST be set together\""
        example "payload only"
        fix "set original_payload_format with the payload";
    /// A format of nothing. 1.9 made the pair mandatory.
    OP2023 "format-without-payload" ["E6-7/W1-5" "1-7"] "original_payload"
        "empty while original_payload_format is set"
        source "1.9/1.11 \"MUST be set together ... or both left unset\""
        example "format \"jfr\" only"
        fix "set both or neither";
    /// Everything in a pprof has a place in OTLP, so the original would double the payload.
    OP2024 "payload-is-pprof" ["W" "1-5"] "original_payload_format"
        "\"pprof\" (\"If the original payload is in pprof format, it SHOULD not be included\"; wording gone in 1.9)"
        source "OTEP 0239"
        example "format \"pprof\""
        fix "leave a pprof original out";
    /// An info, since the list of known formats is open.
    OP2025 "payload-format-unknown" ["I" "6-7"] "original_payload_format"
        "not one of pprof, jfr, linux_perf"
        source "specification/profiles/README.md known values"
        example "\"perf\""
        fix "use pprof, jfr or linux_perf where they apply";
    /// By the first bytes alone: the magic of the format, or for pprof gzip or something that is
    /// fields from end to end.
    OP2026 "payload-format-mismatch" ["W" "1-7"] "original_payload"
        "does not begin as its format says (jfr \"FLR\\0\", linux_perf \"PERFILE2\", pprof gzip or decodable)"
        source "common sense"
        example "format jfr, bytes \"hello\""
        fix "name the format that the payload has";
    /// A receiver that knows no JFR would have nothing to show.
    OP2027 "payload-without-data" ["W1-5/I6-7" "1-7"] "original_payload"
        "set while the profile has no samples (\"MUST be present and contain the same profiling information\"; 1.4-1.8 \"should be populated\")"
        source "OTEP 0239; 1.4 proto"
        example "payload, no samples"
        fix "write the samples too";
    /// Backends deduplicate by this id, so that the second profile would be lost. Byte-identical
    /// profiles are a resend.
    OP2028 "profile-id-reused" ["E" "1-7"] "profile_id"
        "two profiles of one message share an id (\"globally unique identifier\") and differ; W when byte-identical"
        source "OTEP 0239"
        example "same id twice"
        fix "make a new id for each profile";
    /// What a receiver answers, found where a payload to be checked turns out to be a response.
    OP2030 "partial-success" ["E" "1-7"] "ExportProfilesPartialSuccess"
        "rejected_profiles < 0 (E); rejected = 0 with empty error_message equals unset (I)"
        source "profiles_service.proto"
        example "rejected=-1"
        fix "set rejected_profiles to at least 0, and say why in error_message";
}
