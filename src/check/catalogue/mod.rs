//! The catalogue of all rules, one file per topic. Each row has the statement, the source and the fix of a rule.
//!
//! The decoders and the rules (`rules/`) depend on this module and name rules by their ids.
//!
//! ```text
//! catalogue/*.rs ─► Rule::all ─► docs/RULES.md, `explain`, Rule::find
//!      └─ OP3101 ─► named by the code that raises it: findings.report(&OP3101, spot, found, wanted)
//! ```
//!
//! A rule is data: id, severity by generation, place, statement, source, example, advice, the change made by
//! `--fix`, and the reactions of receivers. Code elsewhere finds violations, so the catalogue can be printed,
//! tested for completeness and translated into SARIF without running a check. All facts of a rule are in its row,
//! and lists of rules derive from it.
//!
//! The reactions of receivers are those of 20 November 2026, from their code:
//!
//! * Parca 0.28 rejects, in `ValidateOtel*`, violations of the rules about resources, zero entries in all tables
//!   and in the short form, samples, timestamps within the profile, profile ids of 16 bytes, unique keys in place,
//!   and values in the attribute table and in resources. It fails on samples
//!   with several values and no timestamps. It drops samples whose values are all 0, attributes of samples that are
//!   not strings, and all attributes of locations.
//! * Pyroscope 2.2 rejects payloads in `ConvertOtelToGoogle` and by its limits. It drops attributes that are
//!   neither string nor integer, keys by reference, long values, timestamps, columns, all fields of locations
//!   except lines, and samples with several values.
//! * The Collector before 0.161 keeps only the last chunk of a packed list in several chunks, treats two dictionaries
//!   as one, and rejects groups. `OP9203` applies to files alone.

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

/// All topics, in the order of the ids.
///
/// The explicit length makes the compiler require a change here when a topic is added. A test checks that ids and
/// names are unique across all of them.
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
    /// Iterates over all rules, in the order of their ids.
    pub fn all() -> impl Iterator<Item = &'static Rule> {
        FAMILIES.iter().flat_map(|family| family.iter().copied())
    }

    /// Returns the rule with an id (`OP3101`) or a name (`index-sample-stack-index`).
    pub fn find(name: &str) -> Option<&'static Rule> {
        Self::all().find(|rule| rule.id.eq_ignore_ascii_case(name) || rule.name == name)
    }
}
