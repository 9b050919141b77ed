//! A description for people.
//!
//! ```text
//! cpu.pb.gz
//!   size       3,517 bytes, … inflated (gzip)      a line: a name in ten columns, then the text
//!   format     pprof (certain): …
//!   profile    samples in count, cpu in nanoseconds
//!     samples  143                                 lines of a profile: indented by two more
//!     columns
//! ```
//!
//! All payload text passes through [`shown`], which escapes control characters. Absent facts have
//! no line.

use std::fmt::Write;
use std::ops::Deref;

use otlp_profiles::framing::Framing;
use otlp_profiles::model::{ProfileId, Scope, StringId, ValueType};
use otlp_profiles::summary::ProfileSummary;
use otlp_profiles::{Detected, Dictionary, Profile, Summary};
use serde_json::Value as Json;

use crate::info::facts::Listed;
use crate::info::{Described, Printed, facts};
use crate::numbers::{self, bytes, counted, grouped, value};
use crate::reading::{Message, Summarised};
use crate::style::{BOLD, WARN, styled};
use crate::text::{MOST_SHOWN, shown};
use crate::time::{is_implausible, rfc3339, seconds};

/// Replaces an empty text.
const NONE: &str = "(none)";

/// Lines of a name and a text.
#[derive(Default)]
struct Page(String);

impl Page {
    /// Appends a line about a file or a message: a name in ten columns and a text.
    fn line(&mut self, name: &str, text: &str) {
        // Writing to a `String` cannot fail.
        let _ = writeln!(self.0, "  {name:<10} {}", shown(text));
    }

    /// Appends such a line with its name in the colour of warnings.
    fn warning(&mut self, name: &str, text: &str) {
        let name = styled(&format!("{name:<10}"), WARN);
        let _ = writeln!(self.0, "  {name} {}", shown(text));
    }

    /// Appends the number of entries that are not listed, if any.
    fn unlisted(&mut self, count: usize, what: &str) {
        if count > 0 {
            self.line("more", &format!("{} not listed", counted(count as u64, what)));
        }
    }

    /// Appends a line unless the text is [`NONE`]: empty resources and scopes are common.
    fn unless_none(&mut self, name: &str, text: &str) {
        if text != NONE {
            self.line(name, text);
        }
    }

    /// Appends a line about a profile, indented by two more columns.
    fn inner(&mut self, name: &str, text: &str) {
        let _ = writeln!(self.0, "    {name:<8} {}", shown(text));
    }
}

/// Formats the description of a file, or returns `None` if the whole file is unreadable.
///
/// An unreadable message has a line here; its error is on stderr.
pub(crate) fn file(described: &Described) -> Option<String> {
    let is_read = |message: &Printed| !matches!(message, Printed::Failed(_));
    let any_read = described.messages.iter().any(is_read);
    if !any_read && described.seems.is_none() && !described.failures.is_empty() {
        return None;
    }
    let mut page = Page(styled(&shown(&described.name), BOLD) + "\n");
    page.line("size", &size(described));
    if described.framing != Framing::None {
        let messages = counted(described.count as u64, "message");
        page.line("framing", &format!("{}, {messages}", described.framing));
    }
    for (row, message) in described.messages.iter().enumerate() {
        if described.count > 1 {
            page.line("message", &row.to_string());
        }
        match message {
            Printed::Text(text) => page.0.push_str(text),
            // The error is on stderr.
            Printed::Failed(_) if described.count > 1 => {
                page.warning("unreadable", "it could not be read");
            }
            Printed::Failed(_) | Printed::Json(_) => {}
        }
    }
    page.unlisted(described.count - described.messages.len(), "message");
    if let Some(seems) = &described.seems {
        detected(&mut page, "seems", seems);
        because(&mut page, seems);
    }
    Some(page.0)
}

/// Formats the stored size, and the inflated size if the file is compressed.
fn size(described: &Described) -> String {
    let stored = bytes(described.stored);
    let Some(packing) = described.compression else { return stored };
    format!("{stored}, {} inflated ({packing})", bytes(described.inflated))
}

/// Formats one message of a file.
///
/// Empty resources and scopes have no line; their profiles are listed as usual.
pub(crate) fn message<T: Summarised + Deref<Target = Summary>>(
    message: &Message<'_, T>,
    listed: &Listed,
    evidence: bool,
) -> String {
    let summary: &Summary = &message.reading;
    let mut page = Page::default();
    detected(&mut page, "format", summary.detected());
    if message.is_guess() {
        readings(&mut page, message);
    }
    let dictionary = summary.outline().dictionary();
    let mut profiles = summary.profiles();
    for resource in summary.outline().resource_profiles() {
        if listed.has_room() {
            let attributes = facts::pairs(dictionary, resource.resource().attributes(), MOST_SHOWN);
            page.unless_none("resource", &attributes_text(&attributes));
        }
        for scope in resource.scope_profiles() {
            if listed.has_room() {
                page.unless_none("scope", &scope_text(dictionary, scope.scope()));
            }
            let profiles = profiles.by_ref().take(scope.profiles().len());
            let profiles = profiles.filter(|_| listed.has_room_for_profile());
            profiles.for_each(|one| profile(&mut page, dictionary, one));
        }
    }
    page.unlisted(listed.take_unlisted(), "profile");
    page.line("tables", &tables_text(summary));
    for finding in summary.findings() {
        page.line("finding", &finding.to_string());
    }
    if !summary.is_checked() {
        page.line("unchecked", "counted and summed up; --full follows references as well");
    }
    if evidence {
        because(&mut page, summary.detected());
    }
    page.0
}

/// Formats the sizes of the tables. A message that was only counted omits empty tables, because its
/// format may lack them; one that was read has all tables of the model.
fn tables_text(summary: &Summary) -> String {
    let tables = facts::tables(summary).into_iter();
    let tables = tables.filter(|(_, rows)| *rows > 0 || summary.is_checked());
    let tables: Vec<_> = tables.map(|(name, rows)| format!("{} {name}", grouped(rows))).collect();
    if tables.is_empty() { NONE.to_owned() } else { tables.join(", ") }
}

/// Appends the sums of each format that fits, so that users see which is right, and names the flag
/// that selects it.
fn readings<T: Summarised + Deref<Target = Summary>>(page: &mut Page, message: &Message<'_, T>) {
    page.warning(
        "guess",
        "other formats fit equally well and give other contents; select one with --from",
    );
    let others = message.other_readings();
    for reading in [&message.reading].into_iter().chain(&others) {
        let sums = facts::total(reading, MOST_SHOWN);
        let sums = sums.iter().map(|(name, unit, sum)| {
            let name = if name.is_empty() { NONE } else { name };
            format!("{name} {}", value(*sum, unit))
        });
        let sums: Vec<_> = sums.collect();
        page.line("reading", &format!("{}: {}", reading.detected().format, sums.join(", ")));
    }
}

/// Appends the detected format. `name` is `format`, or `seems` for an unreadable message.
fn detected(page: &mut Page, name: &str, detected: &Detected) {
    let (format, about) = (detected.format.name(), detected.format.about());
    page.line(name, &format!("{format} ({}): {about}", detected.certainty));
    if let Some(why) = detected.format.deprecated() {
        page.warning("deprecated", why);
    }
}

/// Appends the evidence for a format. For an unreadable message there is no other information.
fn because(page: &mut Page, detected: &Detected) {
    detected.evidence.iter().for_each(|why| page.line("because", why));
}

/// Appends a line for each fact of a profile. Each sample type has its own sum, because a profile
/// of the model may have several.
fn profile(page: &mut Page, dictionary: &Dictionary, summary: ProfileSummary<'_>) {
    let profile = summary.profile;
    let types = profile.sample_types().iter().map(|one| type_text(dictionary, *one));
    page.line("profile", &types.collect::<Vec<_>>().join(", "));
    page.inner("samples", &samples_text(summary));
    for (one, sum) in profile.sample_types().iter().zip(summary.sums) {
        let sum = value(*sum, &name(dictionary, one.unit));
        page.inner("sum", &format!("{} {sum}", name(dictionary, one.name)));
    }
    if profile.time_unix_nano() != 0 || profile.duration_nanos() != 0 {
        page.inner("time", &time_text(profile));
    }
    if !profile.period_type().is_none() || profile.period() != 0 {
        let period = format!(
            "{} of {}",
            grouped(profile.period()),
            type_text(dictionary, profile.period_type())
        );
        page.inner("period", &period);
    }
    if profile.profile_id() != ProfileId::NONE {
        page.inner("id", &profile.profile_id().to_string());
    }
    if !profile.attributes().is_empty() {
        let attributes = facts::attributes(dictionary, profile.attributes(), MOST_SHOWN);
        page.inner("with", &attributes_text(&attributes));
    }
    let (format, bytes) = profile.original_payload();
    if !bytes.is_empty() {
        let size = numbers::bytes(bytes.len() as u64);
        page.inner("original", &format!("{size} of {}", name(dictionary, format)));
    }
}

/// Formats the number of samples, and of timestamps if there are any.
fn samples_text(summary: ProfileSummary<'_>) -> String {
    let samples = grouped(summary.samples);
    match summary.timestamps {
        0 => samples,
        times => format!("{samples}, {}", counted(times, "timestamp")),
    }
}

/// Formats a sample type: `cpu in nanoseconds (aggregation temporality delta)`.
fn type_text(dictionary: &Dictionary, of: ValueType) -> String {
    let [name, unit] = [of.name, of.unit].map(|id| name(dictionary, id));
    let mut text = format!("{} in {}", word(&name), word(&unit));
    if let Some(temporality) = of.temporality {
        text.push_str(&format!(" (aggregation temporality {temporality})"));
    }
    text
}

/// Returns `(none)` for an empty text, which would leave a gap in the sentence.
fn word(text: &str) -> &str {
    if text.is_empty() { NONE } else { text }
}

/// Formats a time and a duration. A time before 1980 is marked as implausible, because it usually
/// indicates a wrong unit.
fn time_text(profile: &Profile) -> String {
    let (time, duration) = (profile.time_unix_nano(), profile.duration_nanos());
    let from = match time {
        0 => "unknown".to_owned(),
        _ => rfc3339(time).unwrap_or_else(|| format!("{time} ns after 1970")),
    };
    let from = match time {
        0 => from,
        _ if is_implausible(time) => format!("{from} (implausible: before 1980)"),
        _ => from,
    };
    if duration == 0 { from } else { format!("{from} for {}", seconds(duration)) }
}

/// Formats the name, the version and the attributes that are present.
fn scope_text(dictionary: &Dictionary, scope: &Scope) -> String {
    let mut text = word(&name(dictionary, scope.name())).to_owned();
    for part in [
        name(dictionary, scope.version()),
        attributes_text(&facts::pairs(dictionary, scope.attributes(), MOST_SHOWN)),
    ] {
        if !part.is_empty() && part != NONE {
            text.extend([" ", &part]);
        }
    }
    text
}

/// A string of the payload, truncated.
fn name(dictionary: &Dictionary, id: StringId) -> String {
    facts::text(dictionary, id, MOST_SHOWN)
}

/// Formats attributes as `key=value, key=value`. JSON shows more of long values.
///
/// Returns `(none)` for an empty list, so that callers can omit the line.
fn attributes_text(attributes: &Json) -> String {
    let Some(object) = attributes.as_object().filter(|object| !object.is_empty()) else {
        return NONE.to_owned();
    };
    let pairs = object.iter().map(|(key, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{key}={value}")
    });
    pairs.collect::<Vec<_>>().join(", ")
}
