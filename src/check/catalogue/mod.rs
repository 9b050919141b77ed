//! The catalogue: every rule, a family a file. Each row says what is asked, who says so and what to do about it.
//!
//! It lies below all that asks: what takes bytes apart, the rules' own files (`rules/`), and the proof that messages
//! are fine (`fast/`) name rules by their ids.
//!
//! ```text
//! catalogue/*.rs ─► Rule::all ─► docs/RULES.md, `explain`, Rule::find
//!      └─ OP3101 ─► named by the code that raises it: findings.raise(&OP3101, spot, found, wanted)
//! ```
//!
//! A rule is data: id, severity by generation, place, sentence, source, example and advice. What it
//! takes to find one is code elsewhere, so the catalogue can be printed, tested for completeness
//! and translated into SARIF without running a check. The first two digits of an id are its topic
//! (00 files, 10 wire, 20 structure, 30 to 35 tables, 40 samples, 50 attributes, 60 identity, 70
//! frames, 80 conventions, 90 limits, 91 hints, 92 receivers), by which several places ask for a
//! whole family.

mod attributes;
mod container;
mod conventions;
mod duplicates;
mod frames;
mod identity;
mod indices;
mod limits;
mod orphans;
mod pprof;
mod readers;
mod repeats;
mod samples;
mod structure;
mod wire;
mod zero;

pub(crate) use attributes::*;
pub(crate) use container::*;
pub(crate) use conventions::*;
pub(crate) use duplicates::*;
pub(crate) use frames::*;
pub(crate) use identity::*;
pub(crate) use indices::*;
pub(crate) use limits::*;
pub(crate) use orphans::*;
pub(crate) use pprof::*;
pub(crate) use readers::*;
pub(crate) use repeats::*;
pub(crate) use samples::*;
pub(crate) use structure::*;
pub(crate) use wire::*;
pub(crate) use zero::*;

use super::rule::Rule;

/// Every family, in the order of the ids.
///
/// The length is written out, so that the compiler asks for a change here when a family is added. A
/// test wants ids and names to be unique over all of them.
static FAMILIES: [&[&Rule]; 16] = [
    container::RULES,
    wire::RULES,
    structure::RULES,
    zero::RULES,
    indices::RULES,
    duplicates::RULES,
    orphans::RULES,
    repeats::RULES,
    samples::RULES,
    attributes::RULES,
    identity::RULES,
    frames::RULES,
    conventions::RULES,
    limits::RULES,
    readers::RULES,
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

/// Whether a limit was reached where a rule is broken.
///
/// The command ends with an exit code of its own there, since a limit may be raised and a broken
/// payload may not. `OP9008` is about the report, `OP9101` and later are hints.
pub(crate) fn is_limit(rule: &Rule) -> bool {
    [&OP0002, &OP0003, &OP0028, &OP1017].contains(&rule)
        || rule.id.starts_with("OP900") && rule.id != "OP9008"
        || rule.id == "OP9010"
}

/// Whether a file or a message cannot be read where a rule is broken.
///
/// Such rules are asked whatever [`Options`](super::Options) leave out: a payload that could not be
/// looked at would otherwise pass for one without findings. `OP0010` is the exception, as the
/// messages inside the frames are checked.
pub(crate) fn is_unreadable(rule: &Rule) -> bool {
    let of_file = rule.id.starts_with("OP00") && *rule != OP0010 && !is_limit(rule);
    of_file || is_breaking(rule)
}
