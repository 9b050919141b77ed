//! Rules about ids, links and times.
//!
//! Sources: OTEP 0239 and the comments of the protos on ids; the specification of traces on what a valid span context is.
//! Times are nanoseconds since 1970: one that could be seconds, milliseconds or microseconds is told (`OP6014`).
//!
//! [`rules::identity`](crate::check::rules::identity) asks them, and
//! [`rules::times`](crate::check::rules::times) has the range in which a time cannot be
//! nanoseconds.

use crate::check::rule::rules;

rules! {
    /// Required up to 1.7, optional since. [`fix`](crate::check::fix) derives one from the content,
    /// so that it is reproducible.
    OP6001 "profile-id-missing" ["E" "1-4"] "profile_id"
        "empty (\"This field is required\"; optional since 1.8)"
        source "OTEP 0239; 1.3-1.7 proto"
        example "absent"
        fix "give the profile 16 random bytes as its id";
    /// 16 bytes by every version. Parca refuses any other length.
    OP6002 "profile-id-length" ["E" "1-7"] "profile_id"
        "length not 16 (5-7: 0 allowed)"
        source "OTEP 0239; all versions"
        example "15 bytes"
        fix "write 16 bytes, or none where the id is optional";
    /// All zeros is how an unset id looks after a fixed-size buffer was sent; taken for an id, it
    /// makes all such profiles one.
    OP6003 "profile-id-zero" ["E" "1-7"] "profile_id"
        "all zeroes (\"considered invalid\")"
        source "OTEP 0239; all versions"
        example "00*16"
        fix "give the profile a random id";
    /// The id of W3C trace context. A shorter one cannot be joined with any trace. Row 0 is judged
    /// by the rules about zero entries.
    OP6004 "trace-id-length" ["E" "1-7"] "Link.trace_id"
        "not 16 bytes (5-7: index 0 see OP3005)"
        source "OTEP 0239; profcheck"
        example "15 bytes"
        fix "write 16 bytes";
    /// As `OP6004`, for the span.
    OP6005 "span-id-length" ["E" "1-7"] "Link.span_id"
        "not 8 bytes"
        source "OTEP 0239; profcheck"
        example "7 bytes"
        fix "write 8 bytes";
    /// W3C trace context declares both ids invalid if all zero. Since 1.8 link 0 says "no span"; in
    /// OTEP 0239 an index cannot be left out, so the first of several links plays that part.
    OP6006 "link-id-zero" ["W" "1-7"] "Link"
        "trace_id or span_id all zero at an index > 0 (1-4: any; 1: but for the first of several, which stands for none): not a valid span context"
        source "specification/trace/api.md"
        example "00*16"
        fix "refer to link 0 where there is no span";
    /// A profile without a time cannot be placed on a time axis.
    OP6010 "time-missing" ["I" "1-7"] "start/end_time_unix_nano (1), time_unix_nano"
        "0 (\"semantically required\" in 1)"
        source "OTEP 0239"
        example "start=0"
        fix "set the time";
    /// Only OTEP 0239 has an end. Later generations have a duration, which cannot be negative from
    /// 1.8 on.
    OP6011 "end-before-start" ["E" "1"] "ProfileContainer"
        "end_time_unix_nano < start_time_unix_nano (\"expected that end_time >= start_time\")"
        source "OTEP 0239"
        example "start=10,end=9"
        fix "set an end that is not before the start";
    /// Both are `int64` up to 1.7, `fixed64` and `uint64` later.
    OP6012 "time-negative" ["W" "1-4"] "time_nanos, duration_nanos"
        "< 0 (int64 there)"
        source "common sense"
        example "-1"
        fix "write a time of at least 0";
    /// The end of a profile is start plus duration, which a reader computes in 64 bits. Wrapped, it
    /// lies before the start, and every timestamp is out of range.
    OP6013 "time-overflow" ["E" "1-7"] "time + duration"
        "exceeds u64 (5-7) or i64 (1-4): every range test wraps (profcheck does wrap)"
        source "common sense"
        example "2^64-1 + 1"
        fix "write the duration in nanoseconds";
    /// The commonest unit error. In seconds, milliseconds or microseconds any date since 1973 falls
    /// below 10^17; in nanoseconds that bound is March 1973, before any profile was taken.
    OP6014 "time-unit" ["W" "1-7"] "time fields"
        "10^8 <= value < 10^17: a date since 1973 in s, ms or us, not in ns"
        source "common sense"
        example "1700000000"
        fix "write the time in nanoseconds since 1970";
    /// The container's times are authoritative in OTEP 0239; a copied inner profile may have kept
    /// its own.
    OP6015 "inner-outer-time" ["I" "1"] "Profile.time_nanos vs ProfileContainer"
        "both set and disjoint"
        source "OTEP 0239"
        example "start=1e18, time_nanos=5"
        fix "set both times alike";
}
