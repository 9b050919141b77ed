//! A description for people.

use std::fmt::Write;

use otlp_profiles::framing::Framing;
use otlp_profiles::model::{ProfileId, Scope, ValueType};
use otlp_profiles::{Detected, Dictionary, Profile, Reading};
use serde_json::Value as Json;

use crate::info::{Described, Printed, facts};
use crate::text::{counted, shown};
use crate::time::{rfc3339, seconds};

/// What stands for nothing.
const NONE: &str = "(none)";

/// Lines of a name and what is to be said under it.
#[derive(Default)]
struct Page(String);

impl Page {
    fn line(&mut self, name: &str, text: &str) {
        // Writing to a text does not fail.
        let _ = writeln!(self.0, "  {name:<10} {}", shown(text));
    }

    fn unless_none(&mut self, name: &str, text: &str) {
        if text != NONE {
            self.line(name, text);
        }
    }

    fn inner(&mut self, name: &str, text: &str) {
        let _ = writeln!(self.0, "    {name:<8} {}", shown(text));
    }
}

/// One file.
pub(crate) fn file(described: &Described) -> String {
    let mut page = Page(shown(&described.name) + "\n");
    page.line("size", &size(described));
    if described.framing != Framing::None {
        let messages = counted(described.messages.len() as u64, "message");
        page.line("framing", &format!("{}, {messages}", described.framing));
    }
    for (row, message) in described.messages.iter().enumerate() {
        if described.messages.len() > 1 {
            page.line("message", &row.to_string());
        }
        if let Printed::Text(text) = message {
            page.0.push_str(text);
        }
    }
    if let Some(seems) = &described.seems {
        detected(&mut page, "seems", seems);
    }
    if let Some(failure) = &described.failure {
        page.line("error", &failure.to_string());
    }
    page.0
}

fn size(described: &Described) -> String {
    let stored = counted(described.stored, "byte");
    if described.gzip {
        format!("{stored}, {} inflated (gzip)", described.inflated)
    } else {
        stored
    }
}

/// One message of a file.
pub(crate) fn message(reading: &Reading) -> String {
    let mut page = Page::default();
    detected(&mut page, "format", &reading.detected);
    let profiles = &reading.profiles;
    let dictionary = profiles.dictionary();
    let tables = facts::tables(dictionary).map(|(name, rows)| format!("{rows} {name}"));
    page.line("tables", &tables.join(", "));
    for resource in profiles.resource_profiles() {
        let attributes = facts::pairs(dictionary, resource.resource().attributes());
        page.unless_none("resource", &attributes_text(&attributes));
        for scope in resource.scope_profiles() {
            page.unless_none("scope", &scope_text(dictionary, scope.scope()));
            for one in scope.profiles() {
                profile(&mut page, dictionary, one);
            }
        }
    }
    for finding in &reading.findings {
        page.line("finding", &finding.to_string());
    }
    page.0
}

fn detected(page: &mut Page, name: &str, detected: &Detected) {
    let (format, about) = (detected.format.name(), detected.format.about());
    page.line(name, &format!("{format} ({}): {about}", detected.certainty));
    for why in &detected.evidence {
        page.line("because", why);
    }
    if let Some(why) = detected.format.deprecated() {
        page.line("deprecated", why);
    }
}

fn profile(page: &mut Page, dictionary: &Dictionary, profile: &Profile) {
    let types = profile.sample_types().iter().map(|one| type_text(dictionary, *one));
    page.line("profile", &types.collect::<Vec<_>>().join(", "));
    page.inner("samples", &samples_text(profile));
    for (one, sum) in profile.sample_types().iter().zip(profile.sums()) {
        let unit = dictionary.text(one.unit);
        page.inner("sum", &format!("{} {sum} {unit}", dictionary.text(one.name)));
    }
    if profile.time_unix_nano() != 0 || profile.duration_nanos() != 0 {
        page.inner("time", &time_text(profile));
    }
    if !profile.period_type().is_none() || profile.period() != 0 {
        let period =
            format!("{} of {}", profile.period(), type_text(dictionary, profile.period_type()));
        page.inner("period", &period);
    }
    if profile.profile_id() != ProfileId::NONE {
        page.inner("id", &profile.profile_id().to_string());
    }
    if !profile.attributes().is_empty() {
        let attributes = facts::attributes(dictionary, profile.attributes());
        page.inner("with", &attributes_text(&attributes));
    }
    let (format, bytes) = profile.original_payload();
    if !bytes.is_empty() {
        let bytes = counted(bytes.len() as u64, "byte");
        page.inner("original", &format!("{bytes} of {}", dictionary.text(format)));
    }
}

fn samples_text(profile: &Profile) -> String {
    let samples = profile.samples().len();
    match facts::timestamps(profile) {
        0 => samples.to_string(),
        times => format!("{samples}, {}", counted(times, "timestamp")),
    }
}

fn type_text(dictionary: &Dictionary, of: ValueType) -> String {
    let mut text =
        format!("{} in {}", word(dictionary.text(of.name)), word(dictionary.text(of.unit)));
    if let Some(temporality) = of.temporality {
        text.push_str(&format!(" (aggregation temporality {temporality})"));
    }
    text
}

fn word(text: &str) -> &str {
    if text.is_empty() { NONE } else { text }
}

fn time_text(profile: &Profile) -> String {
    let (time, duration) = (profile.time_unix_nano(), profile.duration_nanos());
    let from = match time {
        0 => "unknown".to_owned(),
        _ => rfc3339(time).unwrap_or_else(|| format!("{time} ns after 1970")),
    };
    if duration == 0 { from } else { format!("{from} for {}", seconds(duration)) }
}

fn scope_text(dictionary: &Dictionary, scope: &Scope) -> String {
    let mut text = word(dictionary.text(scope.name())).to_owned();
    for part in [
        dictionary.text(scope.version()),
        &attributes_text(&facts::pairs(dictionary, scope.attributes())),
    ] {
        if !part.is_empty() && part != NONE {
            text.extend([" ", part]);
        }
    }
    text
}

/// `key=value, key=value`.
fn attributes_text(attributes: &Json) -> String {
    let Some(object) = attributes.as_object().filter(|object| !object.is_empty()) else {
        return NONE.to_owned();
    };
    let pairs = object.iter().map(|(key, value)| match value.as_str() {
        Some(text) => format!("{key}={text}"),
        None => format!("{key}={value}"),
    });
    pairs.collect::<Vec<_>>().join(", ")
}
