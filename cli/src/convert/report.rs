//! The report on one input, printed to stderr.
//!
//! The text lists losses of the writer and findings of the reader together, because the user cares
//! about missing data and not about the step that dropped it. JSON keeps them apart, because their
//! codes are in two catalogues.
//!
//! ```text
//! cpu.pb.gz: pprof to folded: lossy                     text: formats and verdict, then rows
//!   dropped  934 × function.source_dropped  file names or line numbers were dropped (location_table[1])
//!   dropped    1 × time.dropped             the start time or the duration was dropped (time_unix_nano)
//! ```
//!
//! ```text
//! {"schema":"otlp-profiles/convert/1","input":…,"outputs":[…],"from":"pprof","to":"folded",
//!  "verdict":"lossy","losses":[{"kind":…,"code":…,"count":…,"meaning":…,"first":[…]}],"findings":[…],…}
//! ```

use clap::ValueEnum;
use otlp_profiles::Format;
use otlp_profiles::losses::LossKind;
use serde_json::{Value, json};

use crate::console::{Console, Level};
use crate::convert::encode::{Converted, kind_of};
use crate::exit::Failure;
use crate::notices;
use crate::numbers::{counted, grouped};
use crate::style::{BAD, BOLD, WARN, styled};
use crate::text::{self, shown};

/// The form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    Text,
    Json,
}

/// The version of the JSON object's schema. Releases only add keys.
const SCHEMA: &str = "otlp-profiles/convert/1";

/// The report on one input.
pub(crate) struct Report<'a> {
    /// The name as given on the command line or found in a directory; `-` for stdin.
    input: &'a str,
    /// The name of the requested format, also if the input failed.
    to: &'static str,
    /// The result. `None` for an input that failed, unless `--deny-loss` refused it: the report
    /// then gives the losses.
    converted: Option<&'a Converted>,
    /// Names of the files that were written; empty after a failure.
    outputs: &'a [String],
    /// The error if the output was not written.
    failure: Option<&'a Failure>,
}

impl<'a> Report<'a> {
    /// The report on an input that was converted and written.
    pub(crate) fn done(
        input: &'a str,
        to: Format,
        converted: &'a Converted,
        outputs: &'a [String],
    ) -> Self {
        let (to, converted) = (to.name(), Some(converted));
        Self { input, to, converted, outputs, failure: None }
    }

    /// Reports on an input whose output was not written.
    pub(crate) fn failed(
        input: &'a str,
        to: Format,
        converted: Option<&'a Converted>,
        failure: &'a Failure,
    ) -> Self {
        let (to, failure) = (to.name(), Some(failure));
        Self { input, to, converted, outputs: &[], failure }
    }

    /// Returns a sentence about the data that a viewer's format omits. With `-v`, the table lists
    /// that data instead.
    pub(crate) fn summary(&self, notes: bool) -> Option<(&'a str, String)> {
        let converted = self.converted.filter(|_| self.failure.is_none() && !notes)?;
        let kept = kept_by(self.to)?;
        // Choosing sample types has its own message.
        let is_counted = |row: &&Row| row.is_usual && row.code != "sample_type.left_out";
        let count = rows(converted).iter().filter(is_counted).count() as u64;
        let (input, to, kinds) = (self.input, self.to, counted(count, "kind"));
        let message = format!("{input}: {to} {kept}; {kinds} of data left out (-v lists them)");
        (count > 0).then_some((input, message))
    }

    /// Returns a line with the names of the outputs, if there are several.
    pub(crate) fn wrote(&self) -> Option<String> {
        let (first, rest) = self.outputs.split_at(self.outputs.len().min(MOST_LISTED));
        let more = notices::and_more(rest.len() as u64);
        (first.len() > 1).then(|| format!("wrote {}{more}", first.join(", ")))
    }

    /// Formats the report, or returns `None` if it is empty in that form.
    pub(crate) fn to_string(&self, form: Form, console: &Console) -> Option<String> {
        match form {
            Form::Json => Some(text::json(&self.to_json(), false)),
            Form::Text => self.to_text(console.shows(Level::Info)),
        }
    }

    /// Formats the report as JSON. An input that failed before it was read has only its name and
    /// the error.
    ///
    /// `docs/CLI.md` documents the keys, and programs rely on them.
    fn to_json(&self) -> Value {
        let mut object = json!({
            "schema": SCHEMA,
            "input": self.input,
            "outputs": self.outputs,
            "to": self.to,
        });
        if let Some(converted) = self.converted {
            object["from"] = converted.from().into();
            if let Some(detected) = &converted.detected {
                let mut detected = json!(detected);
                for key in ["certainty", "others", "evidence"] {
                    object[key] = detected[key].take();
                }
            }
            object["guessed"] = converted.guessed.into();
            object["verdict"] = json!(converted.verdict());
            object["messages"] = converted.messages.into();
            object["profiles"] = converted.profiles.into();
            object["samples"] = converted.samples.into();
            object["bytes_in"] = converted.stored.into();
            object["bytes_out"] = converted.bytes_out.into();
            object["losses"] = json!(converted.losses);
            object["findings"] = json!(converted.findings);
        }
        if let Some(failure) = self.failure {
            object["error"] = failure.to_json();
        }
        object
    }

    /// Formats a table with the worst losses first, or returns `None` if it has no rows.
    ///
    /// Notes keep the meaning, so they appear only with `-v`.
    fn to_text(&self, notes: bool) -> Option<String> {
        let converted = self.converted?;
        let mut rows = rows(converted);
        // Users do not expect a viewer's format to keep data that no viewer shows.
        let summed_up = !notes && self.failure.is_none() && kept_by(self.to).is_some();
        rows.retain(|row| notes || row.kind > LossKind::Note && !(summed_up && row.is_usual));
        rows.sort_by(|a, b| b.kind.cmp(&a.kind).then(a.code.cmp(b.code)));
        if rows.is_empty() {
            return None;
        }
        let width = |of: fn(&Row) -> usize| rows.iter().map(of).max().unwrap_or(0);
        let kind = width(|row| row.kind.to_string().len());
        let count = width(|row| grouped(row.count).len());
        let code = width(|row| row.code.len());
        let (input, from) = (styled(&shown(self.input), BOLD), converted.from());
        let verdict = converted.verdict();
        let verdict = styled(&verdict.to_string(), if converted.is_lossy() { BAD } else { WARN });
        let mut text = format!("{input}: {from} to {}: {verdict}", self.to);
        for row in &rows {
            let (name, meaning) = (row.kind.to_string(), shown(&row.meaning));
            text.push_str(&format!(
                "\n  {name:kind$}  {:>count$} × {:code$}  {meaning}",
                grouped(row.count),
                row.code
            ));
            if !row.first.is_empty() {
                text.push_str(&format!(" ({})", shown(&row.first.join(", "))));
            }
        }
        Some(text)
    }
}

/// Returns a sentence for each loss and finding beyond notes, the worst first; with `notes`, for all.
pub(crate) fn sentences(converted: &Converted, notes: bool) -> Vec<String> {
    let mut rows = rows(converted);
    rows.retain(|row| notes || row.kind > LossKind::Note);
    rows.sort_by(|a, b| b.kind.cmp(&a.kind).then(a.code.cmp(b.code)));
    let sentence = |row: &Row<'_>| {
        let Row { kind, count, code, meaning, .. } = row;
        format!("{kind} {} × {code}: {}", grouped(*count), shown(meaning))
    };
    rows.iter().map(sentence).collect()
}

/// The most outputs that a message lists.
const MOST_LISTED: usize = 20;

/// Describes the data that a viewer's format keeps.
fn kept_by(format: &str) -> Option<&'static str> {
    match format {
        "folded" | "speedscope" => Some("keeps names and values only"),
        "firefox" => Some("keeps only what its viewer shows"),
        _ => None,
    }
}

/// A row of the table: a loss of the writer, or a finding of the reader with its place as the first
/// example.
struct Row<'a> {
    kind: LossKind,
    count: u64,
    code: &'a str,
    /// The catalogue's sentence for a loss, or the message of a finding, which may quote the
    /// payload.
    meaning: String,
    /// Some of the places where it happened. The library keeps a few for each code.
    first: Vec<String>,
    /// Whether writers of viewers' formats always omit such data; values are an exception.
    is_usual: bool,
}

/// Collects losses and findings, unsorted.
fn rows(converted: &Converted) -> Vec<Row<'_>> {
    let losses = converted.losses.iter().map(|loss| Row {
        kind: loss.code.kind(),
        count: loss.count,
        code: loss.code.as_str(),
        meaning: loss.code.meaning().to_owned(),
        first: loss.first.clone(),
        is_usual: matches!(loss.code.kind(), LossKind::Approximated | LossKind::Dropped)
            && !loss.code.as_str().starts_with("value."),
    });
    let findings = converted.findings.iter().map(|finding| Row {
        kind: kind_of(finding),
        count: finding.count,
        code: finding.code,
        meaning: finding.message.clone(),
        first: Some(finding.place.clone()).filter(|place| !place.is_empty()).into_iter().collect(),
        is_usual: false,
    });
    losses.chain(findings).collect()
}
