//! One message checked: walked as it is, and once more as what is left of it where it says something twice.
//!
//! What makes bytes unreadable is told alone: of a message that breaks off, what the rest of it seems to mean would be
//! noise.
//!
//! ```text
//! walk ─► broken bytes?       keep findings about bytes
//!     ├─► two pprofs in one?  keep those and PP1014
//!     └─► said twice?         keep those; merge; walk again; keep the others, at their bytes in the payload
//! ```
//!
//! So each finding is about something: bytes as they are, meaning as decoders would have it.

use super::catalogue::{OP1017, OP1021, OP1022, PP1014, PP1038};
use super::context::CheckContext;
use super::findings::Findings;
use super::merged::Merged;
use super::rule::{Fact, Family, Rule};
use super::walk::walk;
use crate::limits::Limits;
use crate::schema::Version;

/// Walks a message; gives what is found in it, at the place that `around` is at.
///
/// At most two walks, and the second one only for payloads in which a singular field repeats.
/// Without a third: what was merged says nothing twice.
pub(crate) fn check(
    message: &[u8],
    version: Version,
    limits: Limits,
    around: &Findings,
) -> Findings {
    // What was known of its tables is gone before it is walked again.
    let (has_repeated_singular, shapes, mut own) = {
        let mut cx = CheckContext::new(message, version, limits, around.another());
        walk(&mut cx);
        (cx.has_repeated_singular, cx.shapes, cx.findings)
    };
    if own.any(|rule| rule.is(Fact::Breaking)) {
        own.retain(|rule| rule.is_of_bytes());
    } else if own.any(|rule| *rule == PP1014) {
        // Nothing else is told of what two profiles are when they are taken for one.
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
    if own.any(|rule| *rule == OP1017) {
        // What lies too deep was not walked, and may refer to any row.
        own.retain(|rule| rule.family != Family::Orphan && *rule != PP1038);
    }
    own
}
