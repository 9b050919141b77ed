//! What known receivers make of payloads that break a rule, as of 20 November 2026: what is refused is an error, what
//! is dropped or damaged without a word at least a warning.
//!
//! Ground of the claims: the receivers' own code, at the release that is named. A rule that is on
//! nobody's list matters as the catalogue says.

use super::catalogue::{
    OP1016, OP1024, OP2001, OP2004, OP2006, OP2016, OP3003, OP3004, OP3005, OP3007, OP3008, OP4001,
    OP4002, OP4003, OP4012, OP4019, OP5001, OP5002, OP5003, OP5005, OP5006, OP5007, OP5008, OP5009,
    OP5011, OP5015, OP6002, OP6003, OP6004, OP6005, OP7010, OP9201, OP9202, OP9203, OP9204, OP9205,
    OP9206, OP9207, OP9208, OP9209, OP9210,
};
use super::rule::Rule;
use crate::error::Severity;
use crate::format::Receiver;

/// How much a rule matters at least to a receiver.
///
/// `None` where the receiver has no opinion. The caller takes the worse of this and the
/// catalogue's, but for rules that are asked of receivers alone.
pub(crate) fn level(receiver: Receiver, rule: &Rule) -> Option<Severity> {
    let (refuses, drops) = match receiver {
        Receiver::Parca => (PARCA_REFUSES, PARCA_DROPS),
        Receiver::Pyroscope => (PYROSCOPE_REFUSES, PYROSCOPE_DROPS),
        Receiver::Collector => (COLLECTOR_DAMAGES, COLLECTOR_MAY_DAMAGE),
    };
    match () {
        () if refuses.contains(&rule) => Some(Severity::Error),
        () if drops.contains(&rule) => Some(Severity::Warning),
        () => None,
    }
}

impl Rule {
    /// Returns the other checkers and receivers that check the same, with their reaction.
    pub fn checked_by(&self) -> Vec<String> {
        let receivers = Receiver::ALL.iter().filter_map(|receiver| {
            let does = match level(*receiver, self)? {
                Severity::Error if *receiver != Receiver::Collector => "rejects the payload",
                _ => "drops or damages the data",
            };
            Some(format!("{receiver}: {does}"))
        });
        let tools = [("profcheck", "profcheck"), ("CheckValid", "google/pprof: rejects the file")];
        let tools = tools.iter().filter(|(name, _)| self.source().contains(name));
        receivers.chain(tools.map(|(_, does)| (*does).to_owned())).collect()
    }
}

/// Parca 0.28, `ValidateOtel*`: resources, zero entries in all tables and in the short form, samples, timestamps within
/// the profile, profile ids of 16 bytes, keys once and in place, values in the attribute table and in
/// [resources](super::rules::readers::of_value); it fails at samples of several values without timestamps.
static PARCA_REFUSES: &[&Rule] = &[
    &OP2001, &OP2004, &OP2016, &OP3003, &OP3004, &OP3005, &OP3007, &OP3008, &OP4001, &OP4002,
    &OP4003, &OP4012, &OP5001, &OP5002, &OP5003, &OP5005, &OP6002, &OP6003, &OP6004, &OP6005,
    &OP9201, &OP9202, &OP9209,
];

/// Samples whose values are all 0; attributes of samples that are no text, and all of locations.
static PARCA_DROPS: &[&Rule] = &[&OP4019, &OP9204, &OP9205];

/// Pyroscope 2.2, `ConvertOtelToGoogle` and its limits.
static PYROSCOPE_REFUSES: &[&Rule] = &[&OP9201, &OP9208, &OP9210];

/// Attributes that are no text or integer, keys by reference, long values, timestamps, columns, what locations say
/// besides their lines, samples of several values.
static PYROSCOPE_DROPS: &[&Rule] = &[
    &OP4003, &OP5006, &OP5007, &OP5008, &OP5009, &OP5011, &OP5015, &OP7010, &OP9202, &OP9204,
    &OP9205, &OP9206, &OP9207,
];

/// The Collector before 0.161: of numbers in several chunks the last one is kept, two dictionaries are taken for
/// one, a group is an error.
static COLLECTOR_DAMAGES: &[&Rule] = &[&OP1016, &OP1024, &OP2006, &OP9201];

/// What it does with files alone.
static COLLECTOR_MAY_DAMAGE: &[&Rule] = &[&OP9203];
