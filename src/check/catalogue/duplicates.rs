//! Rules about table entries that are equal.
//!
//! 1.9 says that there should be no duplicates; before, they only cost bytes, which makes them infos there. Rows are equal
//! by what they mean: those that refer to equal rows are equal.
//!
//! What a duplicate breaks is identity: two samples of one stack that is there twice are not
//! recognized as one, so nothing is merged and sums by stack are split.
//! [`rules::duplicates`](crate::check::rules::duplicates) compares tables in an order in which each
//! refers only to those before it.

use crate::check::rule::rules;

rules! {
    /// Strings are compared by their bytes, first of all tables: every other row refers to them.
    OP3201 "duplicate-string" ["W6-7/I1-5" "1-7"] "string_table"
        "equal to an earlier entry"
        source "1.9 \"There SHOULD NOT be duplicate items\"; profcheck -check-dupes"
        example "[\"\", \"a\", \"a\"]"
        fix "intern strings";
    /// By value means that two rows whose `filename_strindex` differ are equal if the strings are.
    OP3202 "duplicate-mapping" ["I" "1-7"] "mapping_table"
        "equal by value, attributes as a set (profcheck compares indices and sorts the caller's slice in place)"
        source "1.9 \"There SHOULD NOT be duplicate items\"; profcheck -check-dupes"
        example "two equal mappings, attributes [1,2] and [2,1]"
        fix "intern mappings";
    /// A location is compared with its lines, in their order: the last one is the outermost caller.
    OP3203 "duplicate-location" ["I" "1-7"] "location_table"
        "equal by value, recursively"
        source "1.9 proto; profcheck PR 191 (open)"
        example "same mapping, address, lines"
        fix "intern locations";
    /// Compared by all names and the start line. Equal names in two files are two functions.
    OP3204 "duplicate-function" ["I" "1-7"] "function_table"
        "equal by value"
        source "1.9 proto; profcheck PR 191 (open)"
        example "same names and line"
        fix "intern functions";
    /// Links have no references, so that the ids alone decide.
    OP3205 "duplicate-link" ["W6-7/I1-5" "1-7"] "link_table"
        "equal ids"
        source "1.9 proto; profcheck PR 191 (open)"
        example "two equal links"
        fix "intern links";
    /// The unit belongs to the identity: 5 in `ms` is not 5 in `s`.
    OP3206 "duplicate-attribute" ["W6-7/I1-5" "1-7"] "attribute_table"
        "equal key, value and unit (NaN equals NaN bitwise)"
        source "1.9 proto"
        example "k=v twice"
        fix "intern attributes";
    /// Costliest of all duplicates, as stacks are most of a payload; a writer that interns stacks
    /// per thread makes them.
    OP3207 "duplicate-stack" ["I" "5-7"] "stack_table"
        "same list of (canonical) locations"
        source "1.9 proto"
        example "[1,2] twice"
        fix "intern stacks";
    /// Told once here, and not again by the rules about what a row holds: a zero value has no name,
    /// no address and no key.
    OP3208 "extra-zero-entry" ["I" "5-7"] "any table"
        "a zero value at an index > 0"
        source "1.9 proto; ebpf-profiler issue 597"
        example "mapping_table [{},{}]"
        fix "refer to entry 0 instead";
    /// An info only: a function that calls itself and is inlined into itself gives equal lines
    /// legitimately.
    OP3209 "duplicate-line" ["I" "1-7"] "Location.lines"
        "the same (function, line, column) twice in one location (legal for inlined recursion; profcheck PR 191 makes it an error)"
        source "profcheck PR 191"
        example "line twice"
        fix "keep the line once, unless the recursion was inlined";
}
