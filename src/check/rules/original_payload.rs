//! The payload that a profile was converted from.
//!
//! A converter may send its input file along with the profile (`original_payload`), with the name of its format.
//! OTEP 0239 has both fields in the container, later generations have them in the profile. The bytes are never
//! decoded: a check of one format should not depend on parsers of others, and the first bytes suffice to detect a
//! wrong format.

use super::*;

/// The cells of the original payload's fields, which differ between the two messages that have them.
pub(super) struct Original {
    /// Cell of `original_payload_format`. Public, because a container without a profile is tested for an original
    /// by it.
    pub(super) format: usize,
    /// Cell of `original_payload`.
    payload: usize,
}

/// The cells in a profile, since 1.4.
pub(super) const OF_PROFILE: Original = Original {
    format: PROFILE.cell("original_payload_format"),
    payload: PROFILE.cell("original_payload"),
};
/// The cells in a container: OTEP 0239, 1.3.
pub(super) const OF_CONTAINER: Original = Original {
    format: PROFILE_CONTAINER.cell("original_payload_format"),
    payload: PROFILE_CONTAINER.cell("original_payload"),
};

/// Checks that an original payload has a format, and that its bytes match the magic of that format.
///
/// Usually both fields are absent, and the function returns at once. One field without the other is a finding.
/// `samples` is the number of samples in the profile: an original must not replace them.
pub(super) fn original(cx: &mut CheckContext<'_>, record: &Record, of: &Original, samples: usize) {
    let (format, payload) = (cx.body(record, of.format), cx.body(record, of.payload));
    let in_format = record.field(of.format);
    let in_payload = record.field(of.payload);
    if format.is_empty() && payload.is_empty() {
        return;
    }
    if format.is_empty() {
        cx.report(&OP2022, in_format, "", "");
    }
    if payload.is_empty() {
        cx.report(&OP2023, in_payload, Shown(format), "");
    }
    if format == b"pprof" {
        cx.report(&OP2024, in_format, Shown(format), "");
    }
    if !format.is_empty() && !matches!(format, b"pprof" | b"jfr" | b"linux_perf") {
        cx.report(&OP2025, in_format, Shown(format), "pprof, jfr or linux_perf");
    }
    if payload.is_empty() {
        return;
    }
    let fits = match format {
        b"jfr" => payload.starts_with(b"FLR\0") || payload.starts_with(b"\x1f\x8b"),
        b"linux_perf" => payload.starts_with(b"PERFILE2"),
        b"pprof" => payload.starts_with(b"\x1f\x8b") || is_message(payload),
        _ => true,
    };
    if !fits {
        let head = payload.get(..payload.len().min(16)).unwrap_or_default();
        cx.report(&OP2026, in_payload, Shown(head), Shown(format));
    }
    if samples == 0 {
        cx.report(&OP2027, in_payload, Counted(payload.len(), "byte"), "");
    }
}

/// Whether bytes are a sequence of complete fields, as an uncompressed pprof is.
///
/// Field numbers end at 15 in pprof, which rules out nearly all other bytes.
fn is_message(bytes: &[u8]) -> bool {
    let mut fields = Fields::new(bytes, 0, bytes.len());
    while fields.at() < bytes.len() {
        match fields.next() {
            Some((1..=15, _)) => {}
            _ => return false,
        }
    }
    true
}
