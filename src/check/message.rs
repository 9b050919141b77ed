//! Checks one message: walks it as it is, and a second time in merged form if a singular field repeats.
//!
//! If the bytes are malformed, only findings about bytes are kept: further findings would rest on a misread
//! message.
//!
//! ```text
//! walk ─► broken bytes?       keep findings about bytes
//!     ├─► two pprofs in one?  keep those and PP1014
//!     └─► repeated field?     keep those; merge; walk again; keep the others, at their bytes in the payload
//! ```
//!
//! So findings about bytes refer to the payload as it is, and the others to its meaning as decoders see it.

use super::catalogue::{OP1017, OP1021, OP1022, OP3102, OP4001, OP4026, PP1014, PP1038};
use super::context::CheckContext;
use super::findings::Findings;
use super::merged::Merged;
use super::rule::{Fact, Family, Rule};
use super::walk::walk;
use crate::limits::Limits;
use crate::schema::Version;

/// Walks a message and returns its findings, with paths that begin with that of `around`.
///
/// Makes at most two walks, the second only for payloads in which a singular field repeats. The merged message has
/// no repeated singular field, so it needs no third walk.
pub(crate) fn check(
    message: &[u8],
    version: Version,
    limits: Limits,
    around: &Findings,
) -> Findings {
    // Drop the state of the first walk before the second one starts.
    let (has_repeated_singular, shapes, mut own) = {
        let mut cx = CheckContext::new(message, version, limits, around.another());
        walk(&mut cx);
        (cx.has_repeated_singular, cx.shapes, cx.findings)
    };
    if own.any(|rule| rule.is(Fact::Breaking)) {
        own.retain(|rule| rule.is_of_bytes());
    } else if own.any(|rule| *rule == PP1014) {
        // Two profiles in one message make other findings meaningless.
        let told = |rule: &Rule| rule.is_of_bytes() && ![&OP1021, &OP1022].contains(&rule);
        own.retain(|rule| told(rule) || *rule == PP1014);
    } else if has_repeated_singular {
        own.retain(Rule::is_of_bytes);
        let merged = Merged::of(message, shapes, limits.max_nesting);
        let mut cx = CheckContext::new(&merged.bytes, version, limits, around.another());
        walk(&mut cx);
        let mut meant = cx.findings;
        meant.retain(|rule| !rule.is_of_bytes());
        meant.move_bytes(|byte| merged.place(byte));
        own.add(meant);
    }
    if own.any(|rule| *rule == OP4026) {
        // The consequences, whose fixes would drop what is left of the values.
        own.retain(|rule| ![&OP3102, &OP4001].contains(&rule));
    }
    if own.any(|rule| *rule == OP1017) {
        // Messages past the nesting limit were not walked, and may refer to any row.
        own.retain(|rule| rule.family != Family::Orphan && *rule != PP1038);
    }
    own
}
