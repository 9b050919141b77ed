//! What known receivers refuse or drop without a word, as of 20 November 2026: rules that are errors, or
//! warnings, where a payload is meant for one of them.

use super::catalogue::{
    OP1024, OP2004, OP2006, OP2014, OP2016, OP3003, OP3004, OP3005, OP3007, OP3008, OP4001, OP4002,
    OP4003, OP4012, OP5001, OP5002, OP5003, OP5005, OP5006, OP5007, OP5008, OP5009, OP5011, OP5015,
    OP6002, OP6003, OP6004, OP6005,
};
use super::rule::Rule;
use crate::error::Severity;
use crate::format::Receiver;

/// How much a rule matters at least to a receiver.
pub(crate) fn level(receiver: Receiver, rule: &'static Rule) -> Option<Severity> {
    let has = |rules: &[&'static Rule]| rules.contains(&rule);
    match receiver {
        // It refuses the payload.
        Receiver::Parca if has(PARCA_REFUSES) => Some(Severity::Error),
        // It drops what the rule is about and says nothing.
        Receiver::Pyroscope if has(PYROSCOPE_DROPS) => Some(Severity::Warning),
        Receiver::Collector if has(COLLECTOR_DAMAGES) => Some(Severity::Error),
        _ => None,
    }
}

/// Parca 0.28, `ValidateOtel*`: zero entries in all tables and in the short form, samples, timestamps within
/// the profile, a type of the period, profile ids of 16 bytes, keys once, values.
static PARCA_REFUSES: &[&Rule] = &[
    &OP2004, &OP2014, &OP2016, &OP3003, &OP3004, &OP3005, &OP3007, &OP3008, &OP4001, &OP4002,
    &OP4012, &OP5001, &OP5002, &OP5003, &OP5005, &OP6002, &OP6003, &OP6004, &OP6005,
];

/// Pyroscope 2.2, `ConvertOtelToGoogle`: attributes that are no text or integer, long values, samples of
/// several values.
static PYROSCOPE_DROPS: &[&Rule] = &[&OP4003, &OP5006, &OP5007, &OP5008, &OP5009, &OP5011, &OP5015];

/// The Collector before 0.161: fields in several chunks keep the last one; two dictionaries are taken for one.
static COLLECTOR_DAMAGES: &[&Rule] = &[&OP1024, &OP2006];
