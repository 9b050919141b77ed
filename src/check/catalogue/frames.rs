//! Rules about mappings, locations, lines and functions.
//!
//! Sources: the comments of the protos, most precise in 1.11, and the checks of profcheck. Signs of data lost on
//! the way (an address outside its mapping) are infos.
//!
//! [`rules::location`](crate::check::rules::location), `mapping` and `function` check them for OTLP. pprof has
//! separate rules for the same mistakes (`PP1023` to `PP1025`, `PP1036`), because google/pprof tolerates more.

use crate::check::rule::rules;

rules! { Frames:
    /// The range is half-open, so a range that ends before it starts is empty. Symbolizers subtract `memory_start` from
    /// addresses and wrap around.
    OP7001 "mapping-range" ["E" "1-7"] "Mapping"
        "a mapping starts after its end" finding "the mapping is {v}, expected {b}"
        source "profcheck; pprof's profile.proto: addresses lie in [memory_start, memory_limit)"
        example "start: 2, limit: 1" => "start: 1, limit: 2"
        fix "set memory_limit after memory_start";
    /// profcheck refuses it, though the proto does not. Writers set both to zero if the range is unknown.
    OP7002 "mapping-empty-range" ["W" "1-7"] "Mapping"
        "the range of a mapping is empty" finding "the mapping is {v}, expected {b}"
        source "profcheck rejects it"
        example "start: 4096, limit: 4096" => "start: 4096, limit: 8192"
        fix "set memory_limit after memory_start, or both to 0";
    /// Two files cannot be mapped at one address of a process at the same time. From 1.6 on a table serves all
    /// processes of a payload, so overlaps are legal.
    OP7003 "mapping-overlap" ["I" "1-2"] "Mapping"
        "two mappings overlap" finding "the mapping starts at {v}, before {b}"
        source "OTEP 0239: a mapping is a region of one address space"
        example "[1, 5) and [3, 9)" => "[1, 5) and [5, 9)"
        fix "give mappings distinct ranges";
    /// The symbolizer looks in the wrong file. Both ends count as inside, and findings are counted per mapping, because
    /// one wrong load address moves all addresses.
    OP7004 "address-outside-mapping" ["I" "1-7"] "Location.address"
        "an address lies outside its mapping" finding "the address {v} lies outside its mapping, expected {b}"
        source "profiles.proto 1.11: addresses \"SHOULD be within\" the mapping"
        example "address 1 in [0x1000, 0x2000)" => "address 0x1004"
        fix "write the address before relocation to the file";
    /// The numbers are `int64` on the wire, so that a negative one is possible; editors count from
    /// 1, and 0 is "unset".
    OP7005 "line-negative" ["E" "1-7"] "Line.line, column"
        "a line or column number is negative" finding "the number {v} is negative"
        source "profiles.proto 1.11: \"1-based, 0 means unset\"; profcheck"
        example "line: -1" => "line: 0"
        fix "write 0 if the line is unknown";
    /// As `OP7005`, for the line that a function begins at.
    OP7006 "start-line-negative" ["E" "1-7"] "Function.start_line"
        "the start line of a function is negative" finding "the start line {v} is negative"
        source "profiles.proto 1.11; profcheck"
        example "start_line: -1" => "start_line: 0"
        fix "write 0 if the line is unknown";
    /// A column alone cannot be shown anywhere.
    OP7007 "column-without-line" ["I" "1-7"] "Line"
        "a column has no line" finding "column {v} has no line"
        source "profiles.proto 1.11: a column is a position in its line"
        example "column: 3" => "line: 10, column: 3"
        fix "set the line";
    /// A function without any name is a row that a viewer can only show as blank. An error from
    /// 1.11's MUST, which the schema of 1.10 and 1.11 shares.
    OP7008 "function-nameless" ["E7/I1-6" "1-7"] "Function"
        "a function has no name"
        source "profiles.proto 1.11: \"At least one\" of the names \"MUST be present\""
        example "Function{start_line: 3}" => "Function{name: \"main\", start_line: 3}"
        fix "set a name";
    /// Function 0 is the null function since 1.8: such a line has a line number in no file. pprof
    /// refuses it outright.
    OP7009 "line-null-function" ["W" "5-7"] "Line.function_index"
        "a line refers to the null function" finding "the line refers to function {v}, the null function"
        source "profiles.proto 1.8: function 0 is the zero value; google/pprof CheckValid: \"line with nil function\""
        example "Line{line: 3}" => "Line{function_index: 1, line: 3}"
        fix "set the function, or omit the line";
    /// Only if a stack uses it: an unused empty location is an orphan and nothing else. Pyroscope
    /// drops the frame from its stacks.
    OP7010 "location-empty" ["W" "1-7"] "Location"
        "a location of a stack is empty"
        source "profiles.proto 1.11: a location has an address or lines; Pyroscope drops the frame"
        example "Location{}" => "Location{address: 0x1004}"
        fix "give the location an address or lines" for Pyroscope Warning;
    /// An address means nothing without the file it was loaded from. Kernels and JITs have such
    /// frames legitimately.
    OP7011 "location-no-mapping" ["I" "1-7"] "Location"
        "a location has an address and no mapping" finding "the address {v} has no mapping"
        source "profiles.proto 1.11: the mapping tells the file of the address"
        example "address: 0x1004" => "mapping_index: 1, address: 0x1004"
        fix "set mapping_index";
    /// Either the line or the start is of another version of the source.
    OP7014 "line-before-start" ["I" "1-7"] "Line.line"
        "a line is before the start of its function" finding "line {v} is before the start of its function, expected {b}"
        source "pprof's profile.proto: start_line is the line at which the function starts"
        example "line: 3, start_line: 10" => "line: 12, start_line: 10"
        fix "write a line within the function";
    /// Frames of such a mapping are shown as an address range. The first row is exempt, which is
    /// the null mapping or, before 1.8, the main binary.
    OP7015 "mapping-nameless" ["I" "1-7"] "Mapping"
        "a mapping has no file name"
        source "pprof's profile.proto: filename is \"the object this entry is loaded from\""
        example "Mapping{memory_start, memory_limit}" => "filename: \"/bin/app\""
        fix "set the file name";
    /// The flags tell pprof's tools whether symbolization is still to be done: `has_functions`
    /// without lines makes them skip a mapping that has no symbols, and lines without the flag make
    /// them do the work again.
    OP7016 "has-flags" ["I" "1-4"] "Mapping.has_*"
        "the has_* flags of a mapping contradict its locations" finding "the mapping has {v} and not {b}"
        source "OTEP 0239: the flags describe how locations were symbolized"
        example "has_functions: true, no lines" => "has_functions: false"
        fix "set has_functions if locations have lines";
}
