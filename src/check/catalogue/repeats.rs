//! Rules about ids and units that come twice.
//!
//! Tables of older generations have names for their rows: ids in OTEP 0239, keys in the table of
//! units up to 1.7. A name that comes twice leads to two rows.
//! [`rules::repeats`](crate::check::rules::repeats) asks them, once per table.

use crate::check::rule::rules;

rules! {
    /// Deprecated and unused by readers of OTLP, which refer by row: a warning. 0 is "no id" and
    /// may repeat.
    OP3401 "id-duplicate" ["W" "1"] "Mapping.id, Location.id, Function.id"
        "two entries share a non-zero id (\"Unique nonzero id\", deprecated)"
        source "OTEP 0239"
        example "id=1 twice"
        fix "give each entry its own id";
    /// The unit of an attribute is looked up by its key there, so two entries make it a matter of
    /// order.
    OP3501 "attribute-unit-conflict" ["W" "1-4"] "attribute_units"
        "two entries for one key with different units; I when equal"
        source "OTEP 0239"
        example "(k,ns),(k,ms)"
        fix "keep one unit for each key";
    /// An orphan of its own kind, which [`fix`](crate::check::fix) drops.
    OP3502 "attribute-unit-unused" ["I" "1-4"] "attribute_units"
        "key is the key of no attribute"
        source "common sense"
        example "(zzz, ns)"
        fix "drop the unit";
}
