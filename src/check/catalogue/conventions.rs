//! Rules of specification/profiles and of the semantic conventions.
//!
//! Sources: OpenTelemetry's semantic conventions of profiles and of pprof, and `mappings.md` of its specification. Those
//! documents are not stable yet, so that what they demand is a warning and what they recommend an info.
//!
//! They are asked of 1.8 and later, where attributes took the place of dedicated fields (build ids,
//! pprof's flags, comments). [`rules::conventions`](crate::check::rules::conventions) finds most of
//! them by the key of an attribute.

use crate::check::rule::rules;

rules! {
    /// Symbolization servers find debug information by build id: a mapping without one cannot be
    /// symbolized later, on another machine.
    OP8001 "mapping-build-id" ["I" "5-7"] "Mapping.attribute_indices"
        "none of process.executable.build_id.{gnu,go,htlhash} at index > 0, zero entries excepted (\"MUST have at least one\"; Alpha document, so a warning; --strict makes it an error)"
        source "specification/profiles/mappings.md"
        example "no build id"
        fix "add process.executable.build_id.htlhash or another build id";
    /// `htlhash` is the only build id that is defined for every executable format: a hash over the
    /// head, the tail and the length of the file. `gnu` and `go` ids exist only where a linker
    /// wrote them.
    OP8002 "htlhash-missing" ["I" "5-7"] "Mapping"
        "no ...build_id.htlhash (\"RECOMMENDED ... in every Mapping\")"
        source "mappings.md"
        example "gnu only"
        fix "add process.executable.build_id.htlhash";
    /// Ids are compared as text, so another spelling of the same bytes is another id.
    OP8003 "build-id-format" ["W" "5-7"] "build id attributes"
        "gnu not an even number of hex digits; htlhash not 32 hex digits; value not a string"
        source "mappings.md; semconv process registry"
        example "htlhash=\"xyz\""
        fix "write the build id in lower-case hex digits";
    /// Viewers color and unwind by frame type; a spelling that differs in case, or an alias, falls
    /// into "other". A custom value is legal where no well-known one fits, so that is an info.
    OP8004 "frame-type" ["W" "5-7"] "profile.frame.type"
        "a case or alias variant of a well-known value (\"the respective value MUST be used\"); I for other custom values"
        source "semconv profiles.md"
        example "\"Kernel\", \"python\""
        fix "use the well-known value";
    /// These attributes hold what were fields of pprof. A converter back to pprof needs the type
    /// that the field had.
    OP8006 "pprof-attribute-type" ["W" "5-7"] "pprof.*"
        "wrong value type (has_* and is_folded bool; comment string[]; sample_type_order int[]; others string)"
        source "semconv pprof registry"
        example "has_functions=\"true\""
        fix "use the type that the convention gives the attribute";
    /// A property of the scope that is found on a profile is not seen by a reader that asks the
    /// scope for it.
    OP8007 "pprof-scope-misplaced" ["W" "5-7"] "pprof.scope.*"
        "found elsewhere than in scope attributes (\"MUST be set at the scope level\")"
        source "semconv profiles.md"
        example "on a profile"
        fix "set the attribute on the scope";
    /// The order of pprof's sample types, which OTLP splits into a profile each. With a repeated or
    /// missing number the original file cannot be restored.
    OP8009 "sample-type-order" ["W" "5-7"] "pprof.scope.sample_type_order"
        "not a permutation of 0..n-1, with n profiles in the scope"
        source "semconv"
        example "[0,0]"
        fix "write each number below the number of the scope's profiles once";
    /// The address of a page about the profile, shown as a link by pprof's web interface. Asked of
    /// pprof's field and of the attribute that replaced it.
    OP8010 "doc-url" ["W" "5-7,P"] "pprof.profile.doc_url / doc_url"
        "not an absolute URL"
        source "semconv; profile.proto"
        example "\"foo\""
        fix "write an absolute URL";
    /// Units are free text in profiles, and viewers scale those that they know (`nanoseconds` to
    /// `ms`). Others are shown as they are, so it is a hint.
    OP8012 "unit-alias" ["I" "1-7"] "sample_type / period_type unit"
        "not in the usual list (count, bytes, nanoseconds, ... or UCUM)"
        source "OTEP 0239 profile units"
        example "\"nsec\""
        fix "use count, bytes, nanoseconds or a UCUM unit";
    /// They say which frames to hide, such as those of the profiler itself. One that does not
    /// compile hides nothing.
    OP8013 "frames-regexp-attr" ["W" "5-7"] "pprof.profile.drop_frames, keep_frames"
        "not a regular expression"
        source "semconv"
        example "\"(\""
        fix "write a valid regular expression";
}
