//! Rules of specification/profiles and of the semantic conventions.
//!
//! Sources: OpenTelemetry's semantic conventions of profiles and of pprof, and `mappings.md` of its specification.
//! Those documents are not stable yet, so their requirements are warnings and their recommendations infos.
//!
//! The rules apply to 1.8 and later, where attributes replace dedicated fields (build ids, pprof's flags,
//! comments). [`rules::conventions`](crate::check::rules::conventions) checks most of them by the key of an
//! attribute.

use crate::check::rule::rules;

rules! { Conventions:
    /// Symbolization servers find debug information by build id: a mapping without one cannot be
    /// symbolized later, on another machine.
    OP8001 "mapping-build-id" ["I" "5-7"] "Mapping.attribute_indices"
        "a mapping has no build id" finding "the mapping has no build id, expected {b}"
        source "mappings.md: a mapping \"MUST have at least one\" build id"
        example "attributes: []" => "process.executable.build_id.htlhash=600dcafe.."
        fix "add process.executable.build_id.htlhash or another build id";
    /// `htlhash` is the only build id that is defined for every executable format: a hash over the
    /// head, the tail and the length of the file. `gnu` and `go` ids exist only where a linker
    /// wrote them.
    OP8002 "htlhash-missing" ["I" "5-7"] "Mapping"
        "a mapping has no htlhash build id"
        source "mappings.md: htlhash is \"RECOMMENDED\" in every mapping"
        example "build_id.gnu alone" => "build_id.gnu and build_id.htlhash"
        fix "add process.executable.build_id.htlhash";
    /// Ids are compared as text, so another spelling of the same bytes is another id.
    OP8003 "build-id-format" ["W" "5-7"] "build id attributes"
        "a build id has the wrong form" finding "the build id is {v}, expected {b}"
        source "mappings.md; process conventions"
        example "htlhash=\"xyz\"" => "htlhash=\"600dcafe600dcafe600dcafe600dcafe\""
        fix "write the build id in lower-case hex digits";
    /// Viewers color and unwind by frame type; a spelling that differs in case, or an alias, falls
    /// into "other". A custom value is legal where no well-known one fits, so that is an info.
    OP8004 "frame-type" ["W" "5-7"] "profile.frame.type"
        "a frame type is not a well-known value" finding "the frame type is {v}, expected {b}"
        source "profile conventions: \"the respective value MUST be used\""
        example "\"Kernel\", \"python\"" => "\"kernel\", \"cpython\""
        fix "use the well-known value";
    /// These attributes hold what were fields of pprof. A converter back to pprof needs the type
    /// that the field had.
    OP8006 "pprof-attribute-type" ["W" "5-7"] "pprof.*"
        "a pprof attribute has the wrong type" finding "the attribute is {v}, expected {b}"
        source "pprof conventions"
        example "has_functions=\"true\"" => "has_functions=true"
        fix "use the type of the convention";
    /// A property of the scope that is found on a profile is not seen by a reader that asks the
    /// scope for it.
    OP8007 "pprof-scope-misplaced" ["W" "5-7"] "pprof.scope.*"
        "an attribute of the scope is elsewhere" finding "the attribute {v} belongs on the scope"
        source "profile conventions: it \"MUST be set at the scope level\""
        example "pprof.scope.sample_type_order on a profile" => "the same attribute on the scope"
        fix "set the attribute on the scope";
    /// The order of pprof's sample types, which OTLP splits into a profile each. With a repeated or
    /// missing number the original file cannot be restored.
    OP8009 "sample-type-order" ["W" "5-7"] "pprof.scope.sample_type_order"
        "the order of the sample types is not a permutation" finding "the order of the sample types is not a permutation, expected {b}"
        source "pprof conventions: one position for each profile of the scope"
        example "[0, 0] for 2 profiles" => "[1, 0]"
        fix "write each number below the number of profiles once";
    /// The address of a page about the profile, shown as a link by pprof's web interface. Asked of
    /// pprof's field and of the attribute that replaced it.
    OP8010 "doc-url" ["W" "5-7,P"] "pprof.profile.doc_url / doc_url"
        "the documentation URL is not absolute" finding "{v} is not an absolute URL"
        source "pprof conventions; pprof's profile.proto; RFC 3986"
        example "\"foo\"" => "\"https://example.com/foo\""
        fix "write an absolute URL";
    /// Units are free text in profiles, and viewers scale those that they know (`nanoseconds` to
    /// `ms`). Others are shown as they are, so it is a hint.
    OP8012 "unit-alias" ["I" "1-7"] "sample_type / period_type unit"
        "the unit of a sample type or period is unusual" finding "the unit is {v}, expected {b}"
        source "OTEP 0239 lists the units of profiles; UCUM"
        example "\"nsec\"" => "\"nanoseconds\""
        fix "use count, bytes, nanoseconds or a UCUM unit";
    /// The expressions select frames to hide, such as those of the profiler. An invalid one hides no frame.
    OP8013 "frames-regexp-attr" ["W" "5-7"] "pprof.profile.drop_frames, keep_frames"
        "drop_frames or keep_frames is not a regular expression" finding "{v} is not a regular expression"
        source "pprof conventions; RE2"
        example "\"(\"" => "\"^runtime\\.\""
        fix "write a valid regular expression";
}
