//! Rules of specification/profiles and of the semantic conventions.
//!
//! Sources: OpenTelemetry's semantic conventions of profiles and of pprof, and `mappings.md` of its specification. Those
//! documents are not stable yet, so that what they demand is a warning and what they recommend an info.

use crate::check::rule::rules;

rules! {
    OP8001 "mapping-build-id" ["W" "5-7"] "Mapping.attribute_indices"
        "none of process.executable.build_id.{gnu,go,htlhash} at index > 0, zero entries excepted (\"MUST have at least one\"; Alpha document, so a warning; --strict makes it an error)"
        source "specification/profiles/mappings.md"
        example "no build id"
        fix "add process.executable.build_id.htlhash or another build id";
    OP8002 "htlhash-missing" ["I" "5-7"] "Mapping"
        "no ...build_id.htlhash (\"RECOMMENDED ... in every Mapping\")"
        source "mappings.md"
        example "gnu only"
        fix "add process.executable.build_id.htlhash";
    OP8003 "build-id-format" ["W" "5-7"] "build id attributes"
        "gnu not an even number of hex digits; htlhash not 32 hex digits; value not a string"
        source "mappings.md; semconv process registry"
        example "htlhash=\"xyz\""
        fix "write the build id in lower-case hex digits";
    OP8004 "frame-type" ["W" "5-7"] "profile.frame.type"
        "a case or alias variant of a well-known value (\"the respective value MUST be used\"); I for other custom values"
        source "semconv profiles.md"
        example "\"Kernel\", \"python\""
        fix "use the well-known value";
    OP8006 "pprof-attribute-type" ["W" "5-7"] "pprof.*"
        "wrong value type (has_* and is_folded bool; comment string[]; sample_type_order int[]; others string)"
        source "semconv pprof registry"
        example "has_functions=\"true\""
        fix "use the type that the convention gives the attribute";
    OP8007 "pprof-scope-misplaced" ["W" "5-7"] "pprof.scope.*"
        "found elsewhere than in scope attributes (\"MUST be set at the scope level\")"
        source "semconv profiles.md"
        example "on a profile"
        fix "set the attribute on the scope";
    OP8009 "sample-type-order" ["W" "5-7"] "pprof.scope.sample_type_order"
        "not a permutation of 0..n-1"
        source "semconv"
        example "[0,0]"
        fix "write a permutation of 0 to n-1";
    OP8010 "doc-url" ["W" "5-7,P"] "pprof.profile.doc_url / doc_url"
        "not an absolute URL"
        source "semconv; profile.proto"
        example "\"foo\""
        fix "write an absolute URL";
    OP8012 "unit-alias" ["I" "1-7"] "sample_type / period_type unit"
        "not in the usual list (count, bytes, nanoseconds, ... or UCUM)"
        source "OTEP 0239 profile units"
        example "\"nsec\""
        fix "use count, bytes, nanoseconds or a UCUM unit";
    OP8013 "frames-regexp-attr" ["W" "5-7"] "pprof.profile.drop_frames, keep_frames"
        "not a regular expression"
        source "semconv"
        example "\"(\""
        fix "write a valid regular expression";
}
