//! Rules about the first entry of each table.
//!
//! Since 1.8 the first entry of each table is the zero value, so that an index of 0 means none. `link_table[0]` has two
//! forms, and each is right for some reader: 1.11 wants 16 and 8 zero bytes, profcheck and Parca want `Link{}`. Both are
//! infos (`OP3006`, `OP3007`).

use crate::check::rule::rules;

rules! {
    OP3001 "string-table-empty" ["E" "1-7"] "string_table"
        "no entry"
        source "\"string_table[0] must always be ''\"; profcheck"
        example "string_table []"
        fix "write \"\" as string 0";
    OP3002 "string0-not-empty" ["E" "1-7"] "string_table[0]"
        "not \"\""
        source "OTEP 0239; all versions; profcheck"
        example "[\"a\"]"
        fix "write \"\" as string 0";
    OP3003 "table-empty" ["E" "5-7"] "mapping/location/function/link/attribute/stack_table"
        "no entry (\"MUST have a zero value encoded as the first element\")"
        source "1.8 proto; 1.9 \"and present\"; profcheck (panics on mapping and link)"
        example "stack_table []"
        fix "write the zero element as the first entry";
    OP3004 "table0-not-zero" ["E" "5-7"] "mapping/location/function/stack_table[0]"
        "any field differs from its default"
        source "1.8 proto; 1.9 \"and present\"; profcheck (panics on mapping and link)"
        example "mapping_table[0].memory_start=1"
        fix "make the first entry the zero element; move the real one behind it";
    OP3005 "link0-not-zero" ["E" "5-7"] "link_table[0]"
        "ids of other lengths than (0,0) or (16,8), or any non-zero byte"
        source "1.11 proto"
        example "trace_id=01*16"
        fix "write Link{} first; move the real link behind it";
    OP3006 "link0-short-form" ["I" "7"] "link_table[0]"
        "Link{} where 1.11 says the 16/8 zero bytes SHOULD be used"
        source "1.11 proto"
        example "Link{}"
        fix "nothing: the short form is the one that all readers take";
    OP3007 "link0-long-form" ["I" "5-7"] "link_table[0]"
        "16/8 zero bytes: right by 1.11, but profcheck and Parca (2026-08) reject it"
        source "profcheck checkZeroVal; Parca isEmptyLink"
        example "00*16, 00*8"
        fix "write Link{}: profcheck and Parca reject the long form";
    OP3008 "attribute0-not-zero" ["E" "5-7"] "attribute_table[0]"
        "key or unit index != 0, or value with a member set (an empty AnyValue{} is zero)"
        source "1.9 proto; profcheck PR 109; ebpf-profiler issue 1360"
        example "key_strindex=1"
        fix "write KeyValueAndUnit{} first; move the real attribute behind it";
}
