//! Rules about ids and units that come twice.

use crate::check::rule::rules;

rules! {
    OP3401 "id-duplicate" ["W" "1"] "Mapping.id, Location.id, Function.id"
        "two entries share a non-zero id (\"Unique nonzero id\", deprecated)"
        source "OTEP 0239"
        example "id=1 twice"
        fix "give each entry its own id";
    OP3501 "attribute-unit-conflict" ["W" "1-4"] "attribute_units"
        "two entries for one key with different units; I when equal"
        source "OTEP 0239"
        example "(k,ns),(k,ms)"
        fix "keep one unit for each key";
    OP3502 "attribute-unit-unused" ["I" "1-4"] "attribute_units"
        "key is the key of no attribute"
        source "common sense"
        example "(zzz, ns)"
        fix "drop the unit";
}
