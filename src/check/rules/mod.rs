//! What rules ask, a family a file: each function is given a message that was taken apart.
//!
//! [`walk`](super::walk) calls them in two orders: what a message says of itself when it is
//! entered, and what only all that is inside it shows when it is left. They share one shape:
//!
//! ```text
//! fn rule(cx: &mut Cx, shape: &'static Shape, record: &Record)
//!         state of the walk   message of this version   its fields by cell
//! ```
//!
//! A rule raises findings and otherwise changes nothing but the state in [`Cx`](super::cx::Cx) that
//! other rules read. Three invariants hold for all of them. A field is asked for by its cell, never
//! by its number, so one function serves all generations that have the field. Whether a rule is
//! asked in this generation, and how much it matters, is not its concern:
//! [`Findings`](super::findings::Findings) looks that up. And the cost is linear in the message,
//! with state that does not grow by more than a constant for each of its bytes.
//!
//! `ucum` and `regexp` have no rules: they decide what a unit or an expression is, and several ask them.

pub(crate) mod attributes;
pub(crate) mod cardinality;
pub(crate) mod conventions;
pub(crate) mod duplicates;
pub(crate) mod entries;
pub(crate) mod frames;
pub(crate) mod identity;
pub(crate) mod labels;
pub(crate) mod limits;
pub(crate) mod original;
pub(crate) mod orphans;
pub(crate) mod pprof;
pub(crate) mod pprof_rows;
pub(crate) mod pprof_samples;
pub(crate) mod readers;
pub(crate) mod regexp;
pub(crate) mod repeats;
pub(crate) mod resources;
pub(crate) mod samples;
pub(crate) mod structure;
pub(crate) mod times;
pub(crate) mod ucum;
pub(crate) mod units;
pub(crate) mod value_types;
pub(crate) mod zero;
