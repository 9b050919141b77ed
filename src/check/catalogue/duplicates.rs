//! Rules about equal table entries.
//!
//! 1.9 recommends tables without duplicates; before, duplicates only cost bytes, so they are infos there. Rows are
//! compared by meaning: rows that refer to equal rows are equal.
//!
//! Duplicates break identity: readers do not recognise two samples as samples of one stack if that stack is stored
//! twice, so they do not merge them and split sums by stack. [`rules::duplicates`](crate::check::rules::duplicates)
//! compares tables in an order in which each refers only to those before it.

use crate::check::rule::rules;

rules! { Duplicates source "profiles.proto 1.9: \"There SHOULD NOT be duplicate items\"":
    /// Strings are compared by their bytes, first of all tables: every other row refers to them.
    OP3201 "duplicate-string" ["W6-7/I1-5" "1-7"] "string_table"
        "a string occurs twice" finding "string {v} equals entry {b}"
        source "profiles.proto 1.9: \"There SHOULD NOT be duplicate items\"; profcheck -check-dupes"
        example "[\"\", \"a\", \"a\"]" => "[\"\", \"a\"]"
        fix "intern strings: write each once and refer to it" fixed "the equal rows became one";
    /// By value means that two rows whose `filename_strindex` differ are equal if the strings are.
    OP3202 "duplicate-mapping" ["I" "1-7"] "mapping_table"
        "a mapping occurs twice" finding "the mapping equals entry {b}"
        source "profiles.proto 1.9: \"There SHOULD NOT be duplicate items\"; profcheck -check-dupes"
        example "two mappings with the same range, file and attributes" => "one mapping"
        fix "intern mappings: write each once and refer to it" fixed "the equal rows became one";
    /// A location is compared with its lines, in their order: the last one is the outermost caller.
    OP3203 "duplicate-location" ["I" "1-7"] "location_table"
        "a location occurs twice" finding "the location equals entry {b}"
        example "two locations with the same mapping, address and lines" => "one location"
        fix "intern locations: write each once and refer to it" fixed "the equal rows became one";
    /// Compared by all names and the start line. Equal names in two files are two functions.
    OP3204 "duplicate-function" ["I" "1-7"] "function_table"
        "a function occurs twice" finding "the function equals entry {b}"
        example "two functions with the same names and start line" => "one function"
        fix "intern functions: write each once and refer to it" fixed "the equal rows became one";
    /// Links have no references, so that the ids alone decide.
    OP3205 "duplicate-link" ["W6-7/I1-5" "1-7"] "link_table"
        "a link occurs twice" finding "the link equals entry {b}"
        example "two links with the same ids" => "one link"
        fix "intern links: write each once and refer to it" fixed "the equal rows became one";
    /// The unit belongs to the identity: 5 in `ms` is not 5 in `s`.
    OP3206 "duplicate-attribute" ["W6-7/I1-5" "1-7"] "attribute_table"
        "an attribute occurs twice" finding "the attribute equals entry {b}"
        example "two attributes with the same key, value and unit" => "one attribute"
        fix "intern attributes: write each once and refer to it" fixed "the equal rows became one";
    /// Costliest of all duplicates, as stacks are most of a payload; a writer that interns stacks
    /// per thread makes them.
    OP3207 "duplicate-stack" ["I" "5-7"] "stack_table"
        "a stack occurs twice" finding "the stack equals entry {b}"
        example "two stacks of the locations [1, 2]" => "one stack"
        fix "intern stacks: write each once and refer to it" fixed "the equal rows became one";
    /// Told once here, and not again by the rules about what a row holds: a zero value has no name,
    /// no address and no key.
    OP3208 "extra-zero-entry" ["I" "5-7"] "any table"
        "a zero value is not the first entry of its table" finding "the entry is a zero value"
        source "profiles.proto 1.9: the zero value is the first entry, and \"There SHOULD NOT be duplicate items\""
        example "mapping_table: [{}, {}]" => "mapping_table: [{}]"
        fix "refer to entry 0 instead" fixed "row 0 took its place";
    /// An info only: a function that calls itself and is inlined into itself gives equal lines
    /// legitimately.
    OP3209 "duplicate-line" ["I" "1-7"] "Location.lines"
        "a location has the same line twice"
        source "profiles.proto 1.11: lines are inlined calls; profcheck pull request 191 rejects equal ones"
        example "lines: [{f, 10}, {f, 10}]" => "lines: [{f, 10}]"
        fix "keep the line once, unless the function was inlined into itself";
}
