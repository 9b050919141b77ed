//! Turns errors of readers into findings, by the limit that was reached.
//!
//! The readers unpack files and convert texts to bytes. An error of theirs ends the check, and is reported at the
//! place and the byte that the reader names.

use super::catalogue::{OP0002, OP0003, OP0004, OP0028, OP1017, OP9003, OP9006};
use super::findings::{Findings, Position};
use super::rule::Rule;
use crate::error::{Error, ErrorKind};

/// Reports an error under the rule of its limit. Any other error means that the format cannot be read; `wanted`
/// names the expected one.
pub(super) fn report_limit(findings: &mut Findings, error: &Error, wanted: &str) {
    let rule = match error.limit() {
        Some("max_input_bytes") => &OP0002,
        Some("max_decompressed_bytes") => &OP0003,
        Some("max_gzip_members") => &OP0028,
        Some("max_nesting") => &OP1017,
        Some("max_table_entries") => &OP9003,
        Some("max_owned_bytes") => &OP9006,
        // This limit cannot be raised: the model cannot store more.
        None if error.kind() == ErrorKind::Limit => &OP1017,
        _ => return report(findings, &OP0004, error, wanted),
    };
    report(findings, rule, error, "");
}

/// Reports an error at its place and byte.
pub(super) fn report(findings: &mut Findings, rule: &'static Rule, error: &Error, bound: &str) {
    let around = findings.prefix.clone();
    let place = error.place();
    if !place.is_empty() {
        findings.prefix = if around.is_empty() { place } else { format!("{around}.{place}") };
    }
    let spot = Position { field: None, row: None, byte: error.byte() };
    findings.report(rule, spot, error.message(), bound);
    findings.prefix = around;
}
