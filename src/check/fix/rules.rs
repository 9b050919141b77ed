//! Which rules are fixed, by what, and which stand in the way.
//!
//! Three lists, which are the policy of the fixer. A rule is on the first only if every reader
//! would agree what was meant: an index past its table is dropped where the reference is optional,
//! and stands in the way where it is not.

use crate::check::catalogue::{is_limit, is_unreadable};
use crate::check::findings::RuleCount;
use crate::check::rule::Rule;
use crate::error::Severity;
use crate::format::losses::LossCode;
use crate::format::losses::{
    ATTR_ROW_0, BUILD_ID_GUESS, DANGLING_MAPPING, DEDUP_FUNCTION, DEDUP_LOCATION, DEDUP_MAPPING,
    DEFAULT_NO_MATCH, EQUAL_ID, G1_ZERO_MAPPING, IDS_RENUMBERED, INDEX_OUT_OF_RANGE,
    ORPHAN_DROPPED, PROFILE_ID_SYNTHESIZED, ROW_0, ROW_0_UNUSED, VALUE_NEGATIVE,
};

/// What is done where a rule is broken that has one right answer.
///
/// Sorted by id. A test holds each to the catalogue, and to not standing in the way.
static FIXES: &[(&str, &str)] = &[
    ("OP0026", "the zeros behind the last gzip member were cut off"),
    ("OP0027", "the gzip members became one"),
    ("OP1003", "the number was written in its shortest form"),
    ("OP1021", "the last value was kept, as readers of protobuf do"),
    ("OP1022", "the occurrences were merged, as readers of protobuf do"),
    ("OP1023", "the last member was kept, as readers of protobuf do"),
    ("OP1024", "the values were written as one packed list"),
    ("OP1026", "true was written as 1"),
    ("OP1027", "the field was left out: absent it means the same"),
    ("OP2002", "the resource without scopes was left out"),
    ("OP2003", "the scope without profiles was left out"),
    ("OP2004", "the profile without samples was left out"),
    ("OP3001", "the empty string was written first"),
    (
        "OP3002",
        "the empty string was written first; names and keys that referred to string 0 kept their text",
    ),
    ("OP3003", "the zero element was written first"),
    (
        "OP3004",
        "the zero element was written first; an entry that nothing referred to was left out",
    ),
    ("OP3005", "Link{} was written first; a link that no sample referred to was left out"),
    (
        "OP3008",
        "the zero element was written first; an attribute that nothing referred to was left out",
    ),
    ("OP3102", "the reference to nothing was left out"),
    ("OP3103", "the reference to nothing was left out"),
    ("OP3105", "the reference to nothing was left out"),
    ("OP3106", "the reference to nothing was left out"),
    ("OP3109", "the reference to nothing was left out"),
    ("OP3110", "the reference to nothing was left out"),
    ("OP3111", "the reference to nothing was left out"),
    ("OP3112", "the reference to nothing was left out"),
    ("OP3113", "the reference to nothing was left out"),
    ("OP3115", "the reference to nothing was left out"),
    ("OP3116", "the reference to nothing was left out"),
    ("OP3201", "the equal rows became one"),
    ("OP3202", "the equal rows became one"),
    ("OP3203", "the equal rows became one"),
    ("OP3204", "the equal rows became one"),
    ("OP3205", "the equal rows became one"),
    ("OP3206", "the equal rows became one"),
    ("OP3207", "the equal rows became one"),
    ("OP3208", "row 0 took its place"),
    ("OP3301", "the unused row was left out"),
    ("OP3305", "the unused row was left out"),
    ("OP3306", "the unused row was left out"),
    ("OP3307", "the unused row was left out"),
    ("OP3308", "the unused row was left out"),
    ("OP3401", "the rows were numbered anew"),
    ("OP3502", "the unused unit was left out"),
    ("OP4013", "the timestamps were sorted, with their values where each has one"),
    ("OP5012", "the reference to the null attribute was left out"),
    ("OP5021", "the profiles of equal resources were put together"),
    ("OP5022", "the profiles of equal scopes were put together"),
    ("OP6001", "an id was made from what the profile holds"),
    (
        "OP6003",
        "an id of zeros is none: it was left out, or made from what the profile holds where one is required",
    ),
    (
        "PP1001",
        "string 0 was made empty: index 0 says that there is no text, so nothing showed what it held",
    ),
    ("PP1005", "one of the equal entries was kept"),
    ("PP1006", "one of the equal entries was kept"),
    ("PP1007", "one of the equal entries was kept"),
    ("PP1008", "the reference to nothing was left out"),
    ("PP1026", "the rows were numbered anew"),
    ("PP1031", "the equal rows became one"),
];

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
    const RULES: [&str; 8] =
        ["OP0005", "OP0007", "OP1013", "OP2006", "PP1010", "PP1014", "PP1021", "PP1035"];
    let rule = tally.rule;
    let is_error = tally.severity == Severity::Error;
    let refers = rule.id().starts_with("OP31") && rule.fixed_by().is_none();
    match () {
        () if is_error && is_limit(rule) => Some("a limit was reached"),
        () if is_error && is_unreadable(rule) => Some("it cannot be read"),
        () if refers || RULES.contains(&rule.id()) => {
            Some("there is no single right answer, and written anew it would be lost")
        }
        () => None,
    }
}

impl Rule {
    /// What [`fix`](super::fix()) does where the rule is broken; `None` where there is no single right
    /// answer.
    ///
    /// ```
    /// use otlp_profiles::check::Rule;
    ///
    /// let rule = Rule::find("duplicate-string").unwrap();
    /// assert_eq!(rule.fixed_by(), Some("the equal rows became one"));
    /// ```
    pub fn fixed_by(&self) -> Option<&'static str> {
        FIXES.iter().find(|(id, _)| *id == self.id()).map(|(_, done)| *done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_fixed_is_a_rule_that_does_not_stand_in_the_way() {
        for (id, done) in FIXES {
            let rule = Rule::find(id).unwrap_or_else(|| panic!("{id} is no rule"));
            let tally = RuleCount { rule, severity: rule.worst(), count: 1 };
            assert_eq!(in_the_way(&tally), None, "{id}: {done}");
            assert_eq!(rule.fixed_by(), Some(*done), "{id} is there twice");
        }
    }
}
