//! Rules about table entries that nothing refers to.
//!
//! As for duplicates, 1.9 is the first to say so. A row that only orphans refer to is told by a rule of its own
//! (`OP3308`), so that whoever mends the first knows what goes with it.
//!
//! An orphan has "no observable effect" by 1.9's own words, so nothing breaks: what is lost is
//! bandwidth, and a table that grows with each interval if a profiler never drops rows. Every
//! generation's row 0 is exempt where it means "none".
//! [`rules::orphans`](crate::check::rules::orphans) counts references while all else is walked.

use crate::check::rule::rules;

rules! {
    /// profcheck calls strings that are reached through `KeyValue.key_strindex` orphans; here these
    /// references count.
    OP3301 "orphan-string" ["W6-7/I1-5" "1-7"] "string_table"
        "index > 0 reachable from nothing (counting KeyValue.key_strindex and AnyValue.string_value_strindex, which profcheck forgets)"
        source "1.9 \"There SHOULD NOT be orphaned items\"; profcheck -check-orphans"
        example "\"unreferenced\""
        fix "drop the entry";
    /// Mapping 0 is the main binary by pprof's convention, also where no sample hit it.
    OP3302 "orphan-mapping" ["I" "1-7"] "mapping_table"
        "index > 0 used by no location (not raised for mapping[0], the main binary)"
        source "1.9 \"There SHOULD NOT be orphaned items\"; profcheck -check-orphans"
        example "mapping_table [{},{}]"
        fix "drop the entry";
    /// Up to 1.7 "used" is membership in `location_indices`, of which samples have slices.
    OP3303 "orphan-location" ["I" "1-7"] "location_table"
        "index > 0 (1-4: any) used by no stack/slice"
        source "1.9 \"There SHOULD NOT be orphaned items\"; profcheck -check-orphans"
        example "location 1 unused"
        fix "drop the entry";
    /// Lines are the only messages that refer to functions.
    OP3304 "orphan-function" ["I" "1-7"] "function_table"
        "used by no line"
        source "1.9 \"There SHOULD NOT be orphaned items\"; profcheck -check-orphans"
        example "function 1 unused"
        fix "drop the entry";
    /// Samples are the only messages that refer to links.
    OP3305 "orphan-link" ["W6-7/I1-5" "1-7"] "link_table"
        "used by no sample"
        source "1.9 \"There SHOULD NOT be orphaned items\"; profcheck -check-orphans"
        example "link 1 unused"
        fix "drop the entry";
    /// Profiles, samples, mappings and locations refer to attributes.
    OP3306 "orphan-attribute" ["W6-7/I1-5" "1-7"] "attribute_table"
        "in no attribute_indices"
        source "1.9 \"There SHOULD NOT be orphaned items\"; profcheck -check-orphans"
        example "attribute 1 unused"
        fix "drop the entry";
    /// A stack without samples remains where samples were filtered and the dictionary was not
    /// rebuilt.
    OP3307 "orphan-stack" ["W6-7/I1-5" "5-7"] "stack_table"
        "used by no sample"
        source "1.9 \"There SHOULD NOT be orphaned items\"; profcheck -check-orphans"
        example "stack 1 unused"
        fix "drop the entry";
    /// An info, since it goes by itself with the orphan that holds it. Found by taking back what
    /// orphans refer to, so chains of any length are followed.
    OP3308 "orphan-transitive" ["I" "5-7"] "any table"
        "referenced only by orphans (profcheck counts it as used)"
        source "own"
        example "stack 1 unused, its location 1"
        fix "drop the entry with those that refer to it";
}
