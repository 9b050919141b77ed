//! The violations and losses that prevent a fix.
//!
//! A row of the catalogue names its fix only if every reader would agree on the intended value: an index past its
//! table is dropped if the reference is optional, and prevents a fix otherwise.

use crate::check::findings::RuleCount;
use crate::check::rule::{Fact, Family};
use crate::error::Severity;
use crate::losses::LossCode;
use crate::losses::{
    ATTR_ROW_0, BUILD_ID_GUESS, DANGLING_MAPPING, DEDUP_FUNCTION, DEDUP_LOCATION, DEDUP_MAPPING,
    DEFAULT_NO_MATCH, EQUAL_ID, G1_ZERO_MAPPING, IDS_RENUMBERED, INDEX_OUT_OF_RANGE, LABEL_MIXED,
    ORPHAN_DROPPED, PROFILE_ID_SYNTHESIZED, ROW_0, ROW_0_UNUSED, VALUE_NEGATIVE,
};

/// Repairs by the reader and losses of the writer that keep the meaning of a rewritten payload. Other defects
/// prevent a fix by their rules.
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

/// Whether a payload with this repair or loss keeps its meaning.
///
/// Takes the text of the code, because repairs and losses share codes.
pub(super) fn is_tolerated(code: &str) -> bool {
    TOLERATED.iter().any(|tolerated| tolerated.as_str() == code)
}

/// Why a violation of a rule prevents a fix, if it does.
///
/// Unreadable input, exceeded limits, required references that dangle, and rules whose findings mean that bytes
/// would be dropped or guessed prevent a fix. Ids of wrong lengths are left to the reader, which reports the loss.
/// A link without any ids represents no link, so dropping it loses no data.
pub(super) fn in_the_way(tally: &RuleCount) -> Option<&'static str> {
    let rule = tally.rule;
    let is_error = tally.severity == Severity::Error;
    let refers = rule.family == Family::Index && rule.fixed.is_none();
    match () {
        () if is_error && rule.is(Fact::Limit) => Some("a limit was reached"),
        () if is_error && rule.is_unreadable() => Some("it cannot be read"),
        () if refers || rule.is(Fact::Lossy) => {
            Some("there is no single correct value, and rewriting would lose it")
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
