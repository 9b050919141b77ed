//! What readers said, as findings: their errors by the limit that was reached, and what they passed over.
//!
//! Files are opened, and texts turned into bytes, by the readers that `read` has; what stops those stops a check as well,
//! and is told at the place and the byte that the reader names.

use super::catalogue::{OP0002, OP0003, OP0004, OP0028, OP1017, OP9003, OP9006};
use super::findings::{Findings, Spot};
use super::rule::Rule;
use crate::error::{Error, ErrorKind};

/// Says which limit was reached.
///
/// The limit is named by the error; what is no limit is a format that cannot be read, where `wanted` would have been
/// right.
pub(super) fn limit(findings: &mut Findings, error: &Error, wanted: &str) {
    let rule = match error.limit() {
        Some("max_input_bytes") => &OP0002,
        Some("max_decompressed_bytes") => &OP0003,
        Some("max_gzip_members") => &OP0028,
        Some("max_nesting") => &OP1017,
        Some("max_table_entries") => &OP9003,
        Some("max_owned_bytes") => &OP9006,
        // The one that cannot be raised further: the model has no room for more.
        None if error.kind() == ErrorKind::Limit => &OP1017,
        _ => return raise(findings, &OP0004, error, wanted),
    };
    raise(findings, rule, error, "");
}

/// Raises what a reader said, at the place and the byte that it said it of.
pub(super) fn raise(findings: &mut Findings, rule: &'static Rule, error: &Error, bound: &str) {
    let around = findings.prefix.clone();
    let place = error.place();
    if !place.is_empty() {
        findings.prefix = if around.is_empty() { place } else { format!("{around}.{place}") };
    }
    let spot = Spot { field: None, row: None, byte: error.byte() };
    findings.raise(rule, spot, error.message(), bound);
    findings.prefix = around;
}
