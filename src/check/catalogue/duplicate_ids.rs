//! Rules about duplicate ids and duplicate units.
//!
//! Tables of older generations identify their rows: by ids in OTEP 0239, by keys in the table of units up to 1.7. A
//! duplicate makes references ambiguous. [`rules::duplicate_ids`](crate::check::rules::duplicate_ids) checks each
//! table once.

use crate::check::rule::rules;

rules! { Repeats:
    /// Deprecated and unused by readers of OTLP, which refer by row: a warning. 0 is "no id" and
    /// may repeat.
    OP3401 "id-duplicate" ["W" "1"] "Mapping.id, Location.id, Function.id"
        "two entries share an id" finding "the id {v} is that of entry {b}"
        source "OTEP 0239: \"Unique nonzero id\""
        example "id: 1 twice" => "id: 1, id: 2"
        fix "give each entry its own id" fixed "the rows were numbered anew";
    /// The unit of an attribute is looked up by its key there, so two entries make it a matter of
    /// order.
    OP3501 "attribute-unit-conflict" ["W" "1-4"] "attribute_units"
        "an attribute key has two units" finding "the key has the unit {v} here and {b} before"
        source "OTEP 0239: attribute_units maps a key to its unit"
        example "(k, ns), (k, ms)" => "(k, ns)"
        fix "keep one unit per key";
    /// A unit without its attribute has no effect and costs bytes.
    OP3502 "attribute-unit-unused" ["I" "1-4"] "attribute_units"
        "the key of an attribute unit is not used" finding "no attribute has the key {v}"
        source "OTEP 0239: attribute_units maps a key to its unit"
        example "(zzz, ns) without an attribute zzz" => "an attribute zzz"
        fix "drop the unit" fixed "the unused unit was left out";
}
