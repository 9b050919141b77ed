//! Rules about unreferenced table entries.
//!
//! As for duplicates, 1.9 is the first generation to mention them. A row that only orphans refer to has a separate
//! rule (`OP3308`), so that whoever removes the orphan knows which rows to remove with it.
//!
//! An orphan has "no observable effect" according to 1.9, so no reader breaks. It costs bandwidth, and the table
//! grows with each interval if a profiler never drops rows. Row 0 is exempt in every generation where it means
//! "unset". [`rules::orphans`](crate::check::rules::orphans) counts references during the walk.

use crate::check::rule::rules;

rules! { Orphan source "profiles.proto 1.9: \"There SHOULD NOT be orphaned items\"; profcheck -check-orphans":
    /// profcheck calls strings that are reached through `KeyValue.key_strindex` orphans; here these
    /// references count.
    OP3301 "orphan-string" ["W6-7/I1-5" "1-7"] "string_table"
        "a string is not used" finding "the string {v} is not used"
        example "string_table: [\"\", \"unused\"]" => "string_table: [\"\"]"
        fix "drop the string" fixed "the unused row was left out";
    /// Mapping 0 is the main binary by pprof's convention, also where no sample hit it.
    OP3302 "orphan-mapping" ["I" "1-7"] "mapping_table"
        "a mapping is not used"
        example "a mapping that no location refers to" => "a mapping that a location refers to"
        fix "drop the mapping, or keep it to list what was mapped";
    /// Up to 1.7 "used" is membership in `location_indices`, of which samples have slices.
    OP3303 "orphan-location" ["I" "1-7"] "location_table"
        "a location is not used"
        example "a location that no stack refers to" => "a location that a stack refers to"
        fix "drop the location";
    /// Lines are the only messages that refer to functions.
    OP3304 "orphan-function" ["I" "1-7"] "function_table"
        "a function is not used"
        example "a function that no line refers to" => "a function that a line refers to"
        fix "drop the function";
    /// Samples are the only messages that refer to links.
    OP3305 "orphan-link" ["W6-7/I1-5" "1-7"] "link_table"
        "a link is not used"
        example "a link that no sample refers to" => "a link that a sample refers to"
        fix "drop the link" fixed "the unused row was left out";
    /// Profiles, samples, mappings and locations refer to attributes.
    OP3306 "orphan-attribute" ["W6-7/I1-5" "1-7"] "attribute_table"
        "an attribute is not used"
        example "an attribute that no index list holds" => "an attribute of a sample"
        fix "drop the attribute" fixed "the unused row was left out";
    /// A stack without samples remains where samples were filtered and the dictionary was not
    /// rebuilt.
    OP3307 "orphan-stack" ["W6-7/I1-5" "5-7"] "stack_table"
        "a stack is not used"
        example "a stack that no sample refers to" => "a stack that a sample refers to"
        fix "drop the stack" fixed "the unused row was left out";
    /// An info, since it goes by itself with the orphan that holds it. Found by taking back what
    /// orphans refer to, so chains of any length are followed.
    OP3308 "orphan-transitive" ["I" "5-7"] "any table"
        "only unused entries refer to an entry"
        source "profiles.proto 1.9: \"There SHOULD NOT be orphaned items\""
        example "a location of an unused stack" => "a location of a used stack"
        fix "drop the entry together with those that refer to it" fixed "the unused row was left out";
}
