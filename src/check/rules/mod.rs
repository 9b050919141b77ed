//! The rules, one file for each message or group of messages. Each function checks one decoded message.
//!
//! [`walk`](super::walk) calls them at two points: when it enters a message, for rules that need only the message,
//! and when it leaves the message, for rules that need everything inside it. All share one signature:
//!
//! ```text
//! fn rule(cx: &mut CheckContext, record: &Record)
//!         state of the walk   message of this version   its fields by cell
//! ```
//!
//! A rule reports findings. Its only other effect is on the state in [`CheckContext`]
//! that other rules read. Three invariants hold for all rules:
//!
//! * A rule addresses fields by cell, never by number, so one function serves every generation that has the field.
//! * A rule does not decide whether it is enabled in this generation, nor its severity:
//!   [`Findings`](super::findings::Findings) looks both up.
//! * The cost is linear in the size of the message, and the state grows by at most a constant for each of its
//!   bytes.
//!
//! Functions, locations, stacks, attributes and samples have a second decoder, [`canonical`](super::canonical).
//! Their rules take a row that both decoders fill, and report to a [`Sink`](super::sink::Sink).
//!
//! `regexp` contains no rules: it validates regular expressions for several rules.

use crate::check::catalogue::*;
use crate::check::context::CheckContext;
use crate::check::fields::Fields;
use crate::check::findings::{Counted, Position, Shown, Step};
use crate::check::layout::MessageLayout;
use crate::check::lists;
use crate::check::record::{PooledRecord, Record};
use crate::check::rule::Rule;
use crate::check::state::{Attribute, Class, Ids, Map, MappingFact, ProfileState, Set};
use crate::error::Severity;
use crate::format::Receiver;
use crate::schema::{
    ANY_VALUE, ARRAY_VALUE, ATTRIBUTE_UNIT, ENTITY_REF, FUNCTION, INSTRUMENTATION_SCOPE, KEY_VALUE,
    KEY_VALUE_AND_UNIT, KEY_VALUE_LIST, LABEL, LINE, LINK, LOCATION, MAPPING, MessageKind,
    MessageType, PROFILE, PROFILE_CONTAINER, PROFILES_DATA, RESOURCE, RESOURCE_PROFILES, Role,
    SAMPLE, SCOPE_PROFILES, STACK, Table, VALUE_TYPE, Version,
};

pub(crate) mod attributes;
pub(crate) mod cardinality;
pub(crate) mod conventions;
pub(crate) mod duplicate_ids;
pub(crate) mod duplicates;
pub(crate) mod entries;
pub(crate) mod function;
pub(crate) mod identity;
pub(crate) mod labels;
pub(crate) mod limits;
pub(crate) mod location;
pub(crate) mod mapping;
pub(crate) mod original_payload;
pub(crate) mod orphans;
pub(crate) mod pprof;
pub(crate) mod pprof_rows;
pub(crate) mod pprof_samples;
pub(crate) mod receivers;
pub(crate) mod regexp;
pub(crate) mod resources;
pub(crate) mod samples;
pub(crate) mod sliced;
pub(crate) mod stacks;
pub(crate) mod structure;
pub(crate) mod times;
pub(crate) mod units;
pub(crate) mod value_types;
pub(crate) mod values;
pub(crate) mod zero;
