//! Rules about mappings, locations, lines and functions.
//!
//! Sources: the comments of the protos, 1.11's more precise than all before, and what profcheck asks. What only hints at
//! something lost on the way (an address outside its mapping) is an info.
//!
//! [`rules::frames`](crate::check::rules::frames) asks them of OTLP. pprof has rules of its own for
//! the same mistakes (`PP1023` to `PP1025`, `PP1036`), because google/pprof tolerates more.

use crate::check::rule::rules;

rules! {
    /// The range is half-open, so nothing can lie in one that ends before it starts. Symbolizers
    /// subtract `memory_start` from addresses and wrap around.
    OP7001 "mapping-range" ["E" "1-7"] "Mapping"
        "memory_start > memory_limit (both zero is fine)"
        source "profcheck"
        example "start=2,limit=1"
        fix "set memory_limit behind memory_start";
    /// profcheck refuses it; no sentence of the proto does. Both zero is how a writer says that it
    /// does not know the range.
    OP7002 "mapping-empty-range" ["W" "1-7"] "Mapping"
        "memory_start = memory_limit != 0 (profcheck error)"
        source "profcheck"
        example "start=limit=4096"
        fix "set memory_limit behind memory_start, or both to 0";
    /// Within one process no two files are mapped at one address at a time. From 1.6 on a table
    /// serves all processes of a payload, so that overlaps say nothing any more.
    OP7003 "mapping-overlap" ["I" "1-2"] "Mapping"
        "address ranges overlap inside one profile (not from 1.6 on: tables serve many processes)"
        source "common sense"
        example "[1,5),[3,9)"
        fix "give mappings distinct ranges";
    /// The address is the one that ran, not yet moved to the file. Outside of its mapping the wrong
    /// file is asked for symbols. Both ends count as inside, and findings are counted per mapping:
    /// where one address is wrong, mostly all are.
    OP7004 "address-outside-mapping" ["I" "1-7"] "Location.address"
        "outside [memory_start, memory_limit] of a mapping with a range (\"SHOULD be within\"); counted once per mapping"
        source "1.11 proto"
        example "address=1"
        fix "write the address that lies in the mapping";
    /// The numbers are `int64` on the wire, so that a negative one is possible; editors count from
    /// 1, and 0 is "unset".
    OP7005 "line-negative" ["E" "1-7"] "Line.line, column"
        "< 0 (\"1-based, 0 means unset\")"
        source "1.11 proto; profcheck"
        example "-1"
        fix "write 0 where the line is not known";
    /// As `OP7005`, for the line that a function begins at.
    OP7006 "start-line-negative" ["E" "1-7"] "Function.start_line"
        "< 0"
        source "1.11 proto; profcheck"
        example "-1"
        fix "write 0 where the line is not known";
    /// A column alone cannot be shown anywhere.
    OP7007 "column-without-line" ["I" "1-7"] "Line"
        "column > 0 and line = 0"
        source "common sense"
        example "column=3"
        fix "set the line";
    /// A function without any name is a row that a viewer can only show as blank. An error from
    /// 1.11's MUST, which the schema of 1.10 and 1.11 shares.
    OP7008 "function-nameless" ["E7/I1-6" "1-7"] "Function"
        "name, system_name and filename all unset at index > 0 (1-4: any; zero entries excepted: OP3208) (\"At least one ... MUST be present\", 1.11)"
        source "1.11 proto"
        example "Function{start_line:3}"
        fix "set a name";
    /// Function 0 is the null function since 1.8: such a line has a line number in no file. pprof
    /// refuses it outright.
    OP7009 "line-null-function" ["W" "5-7"] "Line.function_index"
        "0, the null function"
        source "1.8 proto; pprof \"line with nil function\""
        example "Line{line:3}"
        fix "leave the line out";
    /// Only if a stack uses it: an unused empty location is an orphan and nothing else. Pyroscope
    /// drops the frame from its stacks.
    OP7010 "location-empty" ["W" "1-7"] "Location"
        "without address, lines, mapping and attributes, yet referenced by a stack (5-7: index > 0)"
        source "Pyroscope drops it"
        example "Location{} at 3"
        fix "give the location an address or lines";
    /// An address means nothing without the file it was loaded from. Kernels and JITs have such
    /// frames legitimately.
    OP7011 "location-no-mapping" ["I" "1-7"] "Location"
        "no mapping but an address"
        source "common sense"
        example "address only"
        fix "set mapping_index";
    /// Either the line or the start is of another version of the source.
    OP7014 "line-before-start" ["I" "1-7"] "Line.line"
        "0 < line < start_line of its function"
        source "common sense"
        example "line 3, start 10"
        fix "write the line within the function";
    /// Frames of such a mapping are shown as an address range. The first row is exempt, which is
    /// the null mapping or, before 1.8, the main binary.
    OP7015 "mapping-nameless" ["I" "1-7"] "Mapping"
        "index > 0 without filename"
        source "common sense"
        example "Mapping{start,limit}"
        fix "set the file name";
    /// The flags tell pprof's tools whether symbolization is still to be done: `has_functions`
    /// without lines makes them skip a mapping that has no symbols, and lines without the flag make
    /// them do the work again.
    OP7016 "has-flags" ["I" "1-4"] "Mapping.has_*"
        "contradict the lines of its locations"
        source "OTEP 0239"
        example "has_functions, no lines"
        fix "set has_functions where locations have lines";
}
