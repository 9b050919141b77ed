//! Rules about the first entry of each table.
//!
//! Since 1.8 the first entry of each table is the zero value, so that an index of 0 means none. `link_table[0]` has two
//! forms, and each is right for some reader: 1.11 wants 16 and 8 zero bytes, profcheck and Parca want `Link{}`. Both are
//! infos (`OP3006`, `OP3007`).
//!
//! A dictionary of 1.8 and later thus begins so, every table with its empty row:
//!
//! ```text
//! 12 0e  0a 00  12 00  1a 00  22 00  2a 00  32 00  3a 00      mapping, location, function, link, string, attribute, stack
//! ```

use crate::check::rule::rules;

rules! {
    /// Without string 0 even an absent name is a reference to nothing.
    OP3001 "string-table-empty" ["E" "1-7"] "string_table"
        "no entry"
        source "\"string_table[0] must always be ''\"; profcheck"
        example "string_table []"
        fix "write \"\" as string 0";
    /// Every field that is left out refers to string 0, so its text would appear in all of them.
    OP3002 "string0-not-empty" ["E" "1-7"] "string_table[0]"
        "not \"\""
        source "OTEP 0239; all versions; profcheck"
        example "[\"a\"]"
        fix "write \"\" as string 0";
    /// As `OP3001`, for the tables that got a null row in 1.8.
    OP3003 "table-empty" ["E" "5-7"] "mapping/location/function/link/attribute/stack_table"
        "no entry (\"MUST have a zero value encoded as the first element\")"
        source "1.8 proto; 1.9 \"and present\"; profcheck (panics on mapping and link)"
        example "stack_table []"
        fix "write the zero element as the first entry";
    /// A reference of 0 means "unset" to readers, so nobody would ever see what that row holds.
    OP3004 "table0-not-zero" ["E" "5-7"] "mapping/location/function/stack_table[0]"
        "any field differs from its default"
        source "1.8 proto; 1.9 \"and present\"; profcheck (panics on mapping and link)"
        example "mapping_table[0].memory_start=1"
        fix "make the first entry the zero element; move the real one behind it";
    /// As `OP3004`; links have a rule of their own because two forms of zero are accepted.
    OP3005 "link0-not-zero" ["E" "5-7"] "link_table[0]"
        "ids of other lengths than (0,0) or (16,8), or any non-zero byte"
        source "1.11 proto"
        example "trace_id=01*16"
        fix "write Link{} first; move the real link behind it";
    /// The short form is what our writers write, as all known readers take it.
    OP3006 "link0-short-form" ["I" "7"] "link_table[0]"
        "Link{} where 1.11 says the 16/8 zero bytes SHOULD be used"
        source "1.11 proto"
        example "Link{}"
        fix "nothing: the short form is the one that all readers take";
    /// The long form is what 1.11 recommends.
    OP3007 "link0-long-form" ["I" "5-7"] "link_table[0]"
        "16/8 zero bytes: right by 1.11, but profcheck and Parca (2026-08) reject it"
        source "profcheck checkZeroVal; Parca isEmptyLink"
        example "00*16, 00*8"
        fix "write Link{}: profcheck and Parca reject the long form";
    /// profcheck compares the attribute loosely, since an empty `AnyValue{}` is no value.
    OP3008 "attribute0-not-zero" ["E" "5-7"] "attribute_table[0]"
        "key or unit index != 0, or value with a member set (an empty AnyValue{} is zero)"
        source "1.9 proto; profcheck PR 109; ebpf-profiler issue 1360"
        example "key_strindex=1"
        fix "write KeyValueAndUnit{} first; move the real attribute behind it";
}
