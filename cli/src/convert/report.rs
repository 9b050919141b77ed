//! What one conversion lost, told on stderr.
//!
//! Losses (while writing) and findings (while reading) are one list to whoever reads the report:
//! what is missing at the end is missing, whichever step dropped it. In JSON they stay apart, as
//! their codes are of two catalogues.
//!
//! ```text
//! cpu.pb.gz: pprof to folded: lossy                     the form for people: the verdict,
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
use crate::text::shown;

/// How it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    Text,
    Json,
}

/// The form of the JSON object. Keys are only ever added to it.
const SCHEMA: &str = "otlp-profiles/convert/1";

/// The report on one input.
pub(crate) struct Report<'a> {
    /// As it was named on the command line or found in a directory; `-` is stdin.
    input: &'a str,
    /// The name of the format that was to be written, also where nothing was.
    to: &'static str,
    /// None of an input that failed; but what `--deny-loss` refused is here, so that the report
    /// says why.
    converted: Option<&'a Converted>,
    /// Names of the files that were written; none where nothing was.
    outputs: &'a [String],
    /// Set where nothing was written.
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

    /// The report on an input of which nothing was written.
    pub(crate) fn failed(
        input: &'a str,
        to: Format,
        converted: Option<&'a Converted>,
        failure: &'a Failure,
    ) -> Self {
        let (to, failure) = (to.name(), Some(failure));
        Self { input, to, converted, outputs: &[], failure }
    }

    /// A sentence on what a viewer's format leaves out, where the table has it only with `-v`.
    pub(crate) fn summary(&self, notes: bool) -> Option<(&'a str, String)> {
        let converted = self.converted.filter(|_| self.failure.is_none() && !notes)?;
        let kept = kept_by(self.to)?;
        // Sample types are chosen, and have a sentence of their own.
        let is_counted = |row: &&Row| row.is_usual && row.code != "sample_type.left_out";
        let count = rows(converted).iter().filter(is_counted).count() as u64;
        let (input, to, kinds) = (self.input, self.to, counted(count, "kind"));
        let message = format!("{input}: {to} {kept}; {kinds} of data left out (-v lists them)");
        (count > 0).then_some((input, message))
    }

    /// The names of several outputs, which the arguments do not have.
    pub(crate) fn wrote(&self) -> Option<String> {
        let (first, rest) = self.outputs.split_at(self.outputs.len().min(MOST_LISTED));
        let more = notices::and_more(rest.len() as u64);
        (first.len() > 1).then(|| format!("wrote {}{more}", first.join(", ")))
    }

    /// The report, if there is anything to say in that form.
    pub(crate) fn to_string(&self, form: Form, console: &Console) -> Option<String> {
        match form {
            Form::Json => Some(self.to_json().to_string()),
            Form::Text => self.to_text(console.shows(Level::Info)),
        }
    }

    /// Of an input that failed before it was read there is no more than its name and the error.
    ///
    /// Which keys there are is documented in `docs/CLI.md`, and what reads them relies on it.
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

    /// A table, the worst first; nothing where there is nothing to say.
    ///
    /// Notes, which lose no meaning, only where everything is shown (`-v`).
    fn to_text(&self, notes: bool) -> Option<String> {
        let converted = self.converted?;
        let mut rows = rows(converted);
        // Nobody expects a viewer's format to keep what no viewer shows.
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

/// The most outputs that a message lists.
const MOST_LISTED: usize = 20;

/// What a viewer's format keeps.
fn kept_by(format: &str) -> Option<&'static str> {
    match format {
        "folded" | "speedscope" => Some("keeps names and values only"),
        "firefox" => Some("keeps only what its viewer shows"),
        _ => None,
    }
}

/// A row of the table.
///
/// A loss of the writer or a finding of the reader, whose place is its first example.
struct Row<'a> {
    kind: LossKind,
    count: u64,
    code: &'a str,
    /// The catalogue's sentence for a loss; the message for a finding, which may quote the payload.
    meaning: String,
    /// Some of the places it happened at: the library keeps a few for each code, however many there
    /// were.
    first: Vec<String>,
    /// Whether the writer of a viewer's format is expected to leave it out: values are not.
    is_usual: bool,
}

/// In no order: the table sorts them, once both catalogues are in it.
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
