//! What rules ask, a message or a family a file: each function is given a message that was decoded.
//!
//! [`walk`](super::walk) calls them in two orders: what a message says of itself when it is
//! entered, and what only all that is inside it shows when it is left. They share one shape:
//!
//! ```text
//! fn rule(cx: &mut CheckContext, record: &Record)
//!         state of the walk   message of this version   its fields by cell
//! ```
//!
//! A rule raises findings and otherwise changes nothing but the state in [`CheckContext`](super::context::CheckContext) that
//! other rules read. Three invariants hold for all of them. A field is asked for by its cell, never
//! by its number, so one function serves all generations that have the field. Whether a rule is
//! asked in this generation, and how much it matters, is not its concern:
//! [`Findings`](super::findings::Findings) looks that up. And the cost is linear in the message,
//! with state that does not grow by more than a constant for each of its bytes.
//!
//! Functions, locations, stacks, attributes and samples have a second decoder, [`canonical`](super::canonical). Their
//! rules are functions of a row that both decoders fill, and tell a [`Sink`](super::sink::Sink).
//!
//! `ucum` and `regexp` have no rules: they decide what a unit or an expression is, and several ask them.

use crate::check::catalogue::*;
use crate::check::context::CheckContext;
use crate::check::fields::Fields;
use crate::check::findings::{Counted, Position, Shown, Step};
use crate::check::layout::MessageLayout;
use crate::check::lists;
use crate::check::record::{Lent, Record};
use crate::check::rule::Rule;
use crate::check::state::{Attribute, Class, Ids, Map, MappingFact, ProfileState, Set};
use crate::error::Severity;
use crate::format::Receiver;
use crate::schema::{
    ANY_VALUE, ARRAY_VALUE, ATTRIBUTE_UNIT, ENTITY_REF, FUNCTION, INSTRUMENTATION_SCOPE, KEY_VALUE,
    KEY_VALUE_AND_UNIT, KEY_VALUE_LIST, LABEL, LINE, LINK, LOCATION, MAPPING, MessageType, Noun,
    PROFILE, PROFILE_CONTAINER, PROFILES_DATA, RESOURCE, RESOURCE_PROFILES, Role, SAMPLE,
    SCOPE_PROFILES, STACK, Table, VALUE_TYPE, Version,
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
pub(crate) mod ucum;
pub(crate) mod units;
pub(crate) mod value_types;
pub(crate) mod values;
pub(crate) mod zero;
