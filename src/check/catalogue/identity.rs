//! Rules about ids, links and times.
//!
//! Sources: OTEP 0239 and the comments of the protos on ids; the specification of traces on valid span contexts.
//! Times are nanoseconds since 1970: a time that could be seconds, milliseconds or microseconds is reported
//! (`OP6014`).
//!
//! [`rules::identity`](crate::check::rules::identity) checks them, and [`rules::times`](crate::check::rules::times)
//! defines the range of times that cannot be nanoseconds.

use crate::check::rule::rules;

rules! { Identity:
    /// Required up to 1.7, optional since. `--fix` derives one from the content, so that it is reproducible.
    OP6001 "profile-id-missing" ["E" "1-4"] "profile_id"
        "a profile has no id"
        source "OTEP 0239 and profiles.proto 1.7: \"This field is required\""
        example "profile_id: \"\"" => "profile_id: 16 random bytes"
        fix "generate 16 random bytes" fixed "an id was made from what the profile holds";
    /// 16 bytes by every version. Parca refuses any other length.
    OP6002 "profile-id-length" ["E" "1-7"] "profile_id"
        "a profile id is not 16 bytes long" finding "the profile id has {v}, expected {b}"
        source "OTEP 0239 and profiles.proto 1.11; Parca rejects it"
        example "15 bytes" => "16 bytes"
        fix "write 16 bytes, or none if the id is optional" for Parca Error;
    /// All zeros is how an unset id looks after a fixed-size buffer was sent; taken for an id, it
    /// makes all such profiles one.
    OP6003 "profile-id-zero" ["E" "1-7"] "profile_id"
        "a profile id is all zeros"
        source "OTEP 0239 and profiles.proto 1.11: \"considered invalid\""
        example "16 zero bytes" => "16 random bytes"
        fix "generate a random id"
        fixed "an id of zeros is none: it was left out, or made from what the profile holds where one is required" for Parca Error;
    /// The id of W3C trace context. A shorter one cannot be joined with any trace. Row 0 is judged
    /// by the rules about zero entries.
    OP6004 "trace-id-length" ["E" "1-7"] "Link.trace_id"
        "a trace id is not 16 bytes long" finding "the trace id has {v}, expected {b}"
        source "W3C Trace Context; OTEP 0239; profcheck"
        example "15 bytes" => "16 bytes"
        fix "write 16 bytes" for Parca Error;
    /// As `OP6004`, for the span.
    OP6005 "span-id-length" ["E" "1-7"] "Link.span_id"
        "a span id is not 8 bytes long" finding "the span id has {v}, expected {b}"
        source "W3C Trace Context; OTEP 0239; profcheck"
        example "7 bytes" => "8 bytes"
        fix "write 8 bytes" for Parca Error;
    /// W3C trace context declares both ids invalid if all zero. Since 1.8 link 0 says "no span"; in
    /// OTEP 0239 an index cannot be left out, so the first of several links plays that part.
    OP6006 "link-id-zero" ["W" "1-7"] "Link"
        "the trace id or span id of a link is all zeros" finding "{v} of the link is all zeros"
        source "trace API: a span context with a zero id is invalid"
        example "16 zero bytes" => "link_index: 0"
        fix "refer to link 0 if there is no span";
    /// A profile without a time cannot be placed on a time axis.
    OP6010 "time-missing" ["I" "1-7"] "start/end_time_unix_nano (1), time_unix_nano"
        "a profile has no time" finding "the time is 0"
        source "OTEP 0239: \"semantically required\""
        example "time_unix_nano: 0" => "time_unix_nano: 1700000000000000000"
        fix "set the time";
    /// Only OTEP 0239 has an end. Later generations have a duration, which cannot be negative from
    /// 1.8 on.
    OP6011 "end-before-start" ["E" "1"] "ProfileContainer"
        "a profile ends before it starts" finding "the end {v} is before the start, expected {b}"
        source "OTEP 0239: \"expected that end_time >= start_time\""
        example "start: 10, end: 9" => "start: 9, end: 10"
        fix "set an end after the start";
    /// Both are `int64` up to 1.7, `fixed64` and `uint64` later.
    OP6012 "time-negative" ["W" "1-4"] "time_nanos, duration_nanos"
        "a time or duration is negative" finding "{v} ns is negative"
        source "pprof's profile.proto: time_nanos is a time since 1970, duration_nanos a length"
        example "-1" => "0"
        fix "write 0 or more nanoseconds";
    /// A reader computes the end of a profile as start plus duration in 64 bits. A wrapped end is before the start, so
    /// every timestamp is out of range.
    OP6013 "time-overflow" ["E" "1-7"] "time + duration"
        "time plus duration overflows 64 bits" finding "{v} overflows, expected at most {b}"
        source "profiles.proto 1.11: the profile ends at time plus duration; profcheck wraps around"
        example "2^64 - 1 ns and 1 ns" => "1700000000000000000 ns and 1 ns"
        fix "write the duration in nanoseconds";
    /// The commonest unit error. In seconds, milliseconds or microseconds any date since 1973 falls
    /// below 10^17; in nanoseconds that bound is March 1973, before any profile was taken.
    OP6014 "time-unit" ["W" "1-7"] "time fields"
        "a time is not in nanoseconds" finding "the time {v} is not in nanoseconds since 1970"
        source "profiles.proto 1.11: times are nanoseconds since 1970"
        example "1700000000" => "1700000000000000000"
        fix "multiply seconds by 10^9, milliseconds by 10^6";
    /// The container's times are authoritative in OTEP 0239; a copied inner profile may have kept
    /// its own.
    OP6015 "inner-outer-time" ["I" "1"] "Profile.time_nanos vs ProfileContainer"
        "the times of a container and its profile differ" finding "the time {v} of the profile lies outside {b} of the container"
        source "OTEP 0239: the container holds the time of the profile"
        example "start: 10^18, time_nanos: 5" => "start: 10^18, time_nanos: 10^18"
        fix "set both times alike";
}
