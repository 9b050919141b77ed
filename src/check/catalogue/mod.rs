//! The catalogue: every rule, a family a file. Each row says what is asked, who says so and what to do about it.
//!
//! It lies below all that reports: the decoders, and the files of the rules (`rules/`), name rules by their ids.
//!
//! ```text
//! catalogue/*.rs ─► Rule::all ─► docs/RULES.md, `explain`, Rule::find
//!      └─ OP3101 ─► named by the code that raises it: findings.report(&OP3101, spot, found, wanted)
//! ```
//!
//! A rule is data: id, severity by generation, place, sentence, source, example, advice, what `--fix` does, what
//! receivers make of it. Code elsewhere finds violations, so the catalogue can be printed, tested for completeness and
//! translated into SARIF without running a check. All facts of a rule are in its row, and lists of rules derive from it.
//!
//! The reactions of receivers are those of 20 November 2026, from their code:
//!
//! * Parca 0.28, `ValidateOtel*`: resources, zero entries in all tables and in the short form, samples, timestamps within
//!   the profile, profile ids of 16 bytes, keys once and in place, values in the attribute table and in
//!   [resources](super::rules::receivers::of_value). It fails at samples of several values without timestamps. It drops
//!   samples whose values are all 0, attributes of samples that are not text, and all attributes of locations.
//! * Pyroscope 2.2, `ConvertOtelToGoogle` and its limits. It drops attributes that are neither text nor integer, keys by
//!   reference, long values, timestamps, columns, everything in locations besides lines, and samples of several values.
//! * The Collector before 0.161: of numbers in several chunks it keeps the last one, it takes two dictionaries for one,
//!   and a group is an error. `OP9203` applies to files alone.

mod attributes;
mod container;
mod conventions;
mod duplicate_ids;
mod duplicates;
mod frames;
mod hints;
mod identity;
mod indices;
mod limits;
mod orphans;
mod pprof;
mod receivers;
mod samples;
mod structure;
mod wire;
mod zero;

pub(crate) use attributes::*;
pub(crate) use container::*;
pub(crate) use conventions::*;
pub(crate) use duplicate_ids::*;
pub(crate) use duplicates::*;
pub(crate) use frames::*;
pub(crate) use hints::*;
pub(crate) use identity::*;
pub(crate) use indices::*;
pub(crate) use limits::*;
pub(crate) use orphans::*;
pub(crate) use pprof::*;
pub(crate) use receivers::*;
pub(crate) use samples::*;
pub(crate) use structure::*;
pub(crate) use wire::*;
pub(crate) use zero::*;

use super::rule::Rule;

/// Every family, in the order of the ids.
///
/// The length is written out, so that the compiler asks for a change here when a family is added. A
/// test wants ids and names to be unique over all of them.
static FAMILIES: [&[&Rule]; 17] = [
    container::RULES,
    wire::RULES,
    structure::RULES,
    zero::RULES,
    indices::RULES,
    duplicates::RULES,
    orphans::RULES,
    duplicate_ids::RULES,
    samples::RULES,
    attributes::RULES,
    identity::RULES,
    frames::RULES,
    conventions::RULES,
    limits::RULES,
    hints::RULES,
    receivers::RULES,
    pprof::RULES,
];

impl Rule {
    /// Every rule, in the order of the ids.
    pub fn all() -> impl Iterator<Item = &'static Rule> {
        FAMILIES.iter().flat_map(|family| family.iter().copied())
    }

    /// The rule of an id (`OP3101`) or a name (`index-sample-stack-index`).
    pub fn find(name: &str) -> Option<&'static Rule> {
        Self::all().find(|rule| rule.id.eq_ignore_ascii_case(name) || rule.name == name)
    }
}
