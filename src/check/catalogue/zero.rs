//! Rules about the first entry of each table.
//!
//! Since 1.8 the first entry of each table is the zero value, so that an index of 0 means "unset". `link_table[0]`
//! has two forms, and each is right for some reader: 1.11 wants 16 and 8 zero bytes, profcheck and Parca want
//! `Link{}`, which all readers accept. So the long form is an info (`OP3007`), and the short form only if it is named
//! (`OP3006`).
//!
//! A dictionary of 1.8 and later thus begins like this, with an empty row in every table:
//!
//! ```text
//! 12 0e  0a 00  12 00  1a 00  22 00  2a 00  32 00  3a 00      mapping, location, function, link, string, attribute, stack
//! ```

use crate::check::rule::rules;

rules! { Zero:
    /// Without string 0 even an absent name is a reference to nothing.
    OP3001 "string-table-empty" ["E" "1-7"] "string_table"
        "the string table is empty"
        source "profiles.proto 1.11: \"string_table[0] must always be ''\"; profcheck"
        example "string_table: []" => "string_table: [\"\"]"
        fix "write \"\" as string 0" fixed "the empty string was written first";
    /// Every field that is left out refers to string 0, so its text would appear in all of them.
    OP3002 "string0-not-empty" ["E" "1-7"] "string_table[0]"
        "string 0 is not empty" finding "string 0 is {v}, expected \"\""
        source "OTEP 0239 and profiles.proto 1.11; profcheck"
        example "string_table: [\"a\"]" => "string_table: [\"\", \"a\"]"
        fix "write \"\" as string 0"
        fixed "the empty string was written first; names and keys that referred to string 0 kept their text";
    /// As `OP3001`, for the tables that got a null row in 1.8.
    OP3003 "table-empty" ["E" "5-7"] "mapping/location/function/link/attribute/stack_table"
        "a table has no zero entry" finding "the table is empty, expected {b}"
        source "profiles.proto 1.8: tables \"MUST have a zero value encoded as the first element\"; profcheck"
        example "stack_table: []" => "stack_table: [{}]"
        fix "write the zero value as the first entry" fixed "the zero element was written first" for Parca Error;
    /// A reference of 0 means "unset" to readers, so nobody would ever see what that row holds.
    OP3004 "table0-not-zero" ["E" "5-7"] "mapping/location/function/stack_table[0]"
        "the first entry of a table is not the zero value" finding "the first entry of the table sets {v}, expected {b}"
        source "profiles.proto 1.8; profcheck"
        example "mapping_table: [{memory_start: 1}]" => "mapping_table: [{}, {memory_start: 1}]"
        fix "write the zero value first, and the real entry after it"
        fixed "the zero element was written first; an entry that nothing referred to was left out" for Parca Error;
    /// Links have a separate rule because two forms of the zero value are accepted.
    OP3005 "link0-not-zero" ["E" "5-7"] "link_table[0]"
        "the first link is not the zero value" finding "the first link has {v}, expected {b}"
        source "profiles.proto 1.11; profcheck"
        example "link_table: [{trace_id: 01..}]" => "link_table: [{}, {trace_id: 01..}]"
        fix "write Link{} first, and the real link after it"
        fixed "Link{} was written first; a link that no sample referred to was left out" for Parca Error;
    /// Off, because `OP3007` reports the other form: all known readers accept the short form, so our writers write it.
    OP3006 "link0-short-form" ["I" "7"] Off "link_table[0]"
        "the first link is Link{}; OTLP 1.11 recommends 16 and 8 zero bytes" finding "the first link is {v}; OTLP 1.11 recommends {b}"
        source "profiles.proto 1.11 recommends the zero bytes; profcheck and Parca reject them"
        example "link_table: [{}]" => "link_table: [{}]: every reader accepts it"
        fix "no change is needed: all readers accept Link{}";
    /// The long form is what 1.11 recommends.
    OP3007 "link0-long-form" ["I" "5-7"] "link_table[0]"
        "the first link has 16 and 8 zero bytes; profcheck and Parca accept Link{} alone" finding "the first link has {v}; profcheck and Parca accept {b} alone"
        source "profcheck checkZeroVal; Parca isEmptyLink; profiles.proto 1.11 recommends the zero bytes"
        example "link_table: [{trace_id: 00.., span_id: 00..}]" => "link_table: [{}]"
        fix "write Link{}" for Parca Error;
    /// profcheck compares the attribute loosely, since an empty `AnyValue{}` is no value.
    OP3008 "attribute0-not-zero" ["E" "5-7"] "attribute_table[0]"
        "the first attribute is not the zero value" finding "the first attribute sets {v}, expected {b}"
        source "profiles.proto 1.9; profcheck"
        example "attribute_table: [{key_strindex: 1}]" => "attribute_table: [{}, {key_strindex: 1}]"
        fix "write KeyValueAndUnit{} first, and the real attribute after it"
        fixed "the zero element was written first; an attribute that nothing referred to was left out" for Parca Error;
}
