//! Which violations and losses stand in the way of a fix.
//!
//! A row of the catalogue names its fix only if every reader would agree what was meant: an index past its table is
//! dropped where the reference is optional, and stands in the way where it is not.

use crate::check::findings::RuleCount;
use crate::check::rule::{Fact, Family};
use crate::error::Severity;
use crate::format::losses::LossCode;
use crate::format::losses::{
    ATTR_ROW_0, BUILD_ID_GUESS, DANGLING_MAPPING, DEDUP_FUNCTION, DEDUP_LOCATION, DEDUP_MAPPING,
    DEFAULT_NO_MATCH, EQUAL_ID, G1_ZERO_MAPPING, IDS_RENUMBERED, INDEX_OUT_OF_RANGE, LABEL_MIXED,
    ORPHAN_DROPPED, PROFILE_ID_SYNTHESIZED, ROW_0, ROW_0_UNUSED, VALUE_NEGATIVE,
};

/// What reading may repair, and writing may say, of a payload that means the same when it is written
/// anew: rules tell what stands in the way of the others.
static TOLERATED: &[LossCode] = &[
    ATTR_ROW_0,
    BUILD_ID_GUESS,
    DANGLING_MAPPING,
    DEDUP_FUNCTION,
    DEDUP_LOCATION,
    DEDUP_MAPPING,
    DEFAULT_NO_MATCH,
    EQUAL_ID,
    G1_ZERO_MAPPING,
    IDS_RENUMBERED,
    INDEX_OUT_OF_RANGE,
    LABEL_MIXED,
    ORPHAN_DROPPED,
    PROFILE_ID_SYNTHESIZED,
    ROW_0,
    ROW_0_UNUSED,
    VALUE_NEGATIVE,
];

/// Whether a payload of which that was said still means the same.
///
/// By its stable text, as repairs and losses share codes.
pub(super) fn is_tolerated(code: &str) -> bool {
    TOLERATED.iter().any(|tolerated| tolerated.as_str() == code)
}

/// Why a payload is left as it is where a rule is broken, if it is.
///
/// Errors of files and limits, references without an answer, and rules whose findings mean that
/// bytes were dropped or guessed. Of ids of other lengths the reader says what would be lost: of a link without any
/// nothing, as it is none.
pub(super) fn in_the_way(tally: &RuleCount) -> Option<&'static str> {
    let rule = tally.rule;
    let is_error = tally.severity == Severity::Error;
    let refers = rule.family == Family::Index && rule.fixed.is_none();
    match () {
        () if is_error && rule.is(Fact::Limit) => Some("a limit was reached"),
        () if is_error && rule.is_unreadable() => Some("it cannot be read"),
        () if refers || rule.is(Fact::Lossy) => {
            Some("there is no single right answer, and written anew it would be lost")
        }
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::rule::Rule;

    #[test]
    fn fixed_rules_do_not_stand_in_the_way() {
        for rule in Rule::all().filter(|rule| rule.fixed.is_some()) {
            let tally = RuleCount { rule, severity: rule.worst(), count: 1 };
            assert_eq!(in_the_way(&tally), None, "{rule:?}");
        }
    }
}
