//! A document that is written file by file.

use std::mem::take;

use super::builder::Array;
use super::checked::Checked;
use super::{github, json, junit, sarif};
use crate::error::Severity;

/// The form of a [`Document`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// One JSON document.
    ///
    /// Files with a denied finding have the verdict `reject`. `findings` of a file contains the listed findings;
    /// `rules` has the count of each rule.
    Json,
    /// A SARIF 2.1.0 document of one run.
    ///
    /// It contains the rules that have findings. A file that could not be read is a notification of the run, not a
    /// result. `partialFingerprints` derive from the file, the rule and the names of the path, so that they stay the
    /// same when rows and bytes move.
    Sarif,
    /// JUnit XML: a test case for each file.
    ///
    /// Files with a denied finding are failed tests. A file that cannot be read is an error, not a failure: the test
    /// could not run.
    Junit,
    /// A line `::error file=…,title=…::message` for each finding.
    ///
    /// Runners show ten annotations of a kind per step and drop the rest. Decide the job by the exit code, not by the
    /// number of annotations.
    Github,
}

/// A document of reports, written while files are checked.
///
/// The document is the concatenation of what [`add`](Self::add) and [`finish`](Self::finish) return. Memory depends on
/// the rules with findings and on the files that cannot be read, not on the number of files. Only JUnit, whose counts
/// precede its test cases, holds the text until the end.
///
/// ```
/// use otlp_profiles::Severity;
/// use otlp_profiles::check::output::{Checked, Document, Form};
/// use otlp_profiles::check::{Options, validate};
///
/// let mut document = Document::new(Form::Sarif, Severity::Error);
/// let mut text = String::new();
/// for path in ["testdata/go-heap.pb.gz", "testdata/go-cpu-labels.pb.gz"] {
///     let report = validate(&std::fs::read(path).unwrap(), &Options::default());
///     text += &document.add(&Checked::new(path, report));
/// }
/// text += &document.finish();
/// assert!(text.contains(r#""uri": "testdata/go-heap.pb.gz""#));
/// ```
#[derive(Debug)]
pub struct Document {
    /// Text that was not returned yet.
    text: String,
    /// The lowest severity that fails a file.
    deny: Severity,
    state: State,
}

#[derive(Debug)]
enum State {
    Json(Array),
    Sarif(sarif::Run),
    Junit(junit::Suite),
    Github,
}

impl Document {
    /// Begins a document. Findings of severity `deny` or higher fail a file.
    pub fn new(form: Form, deny: Severity) -> Self {
        let (text, state) = match form {
            Form::Json => (json::head(), State::Json(Array::default())),
            Form::Sarif => (sarif::HEAD.to_owned(), State::Sarif(sarif::Run::default())),
            Form::Junit => (String::new(), State::Junit(junit::Suite::default())),
            Form::Github => (String::new(), State::Github),
        };
        Self { text, deny, state }
    }

    /// Returns the whole document of these files.
    pub fn of(form: Form, deny: Severity, files: &[Checked]) -> String {
        let mut document = Self::new(form, deny);
        let mut text: String = files.iter().map(|file| document.add(file)).collect();
        text += &document.finish();
        text
    }

    /// Adds a file, and returns the next part of the document.
    #[must_use]
    pub fn add(&mut self, file: &Checked) -> String {
        match &mut self.state {
            State::Json(files) => files.push(&mut self.text, &json::file(file, self.deny)),
            State::Sarif(run) => run.add(&mut self.text, file),
            State::Junit(suite) => suite.add(file, self.deny),
            State::Github => github::add(&mut self.text, file),
        }
        take(&mut self.text)
    }

    /// Returns the last part of the document.
    #[must_use]
    pub fn finish(self) -> String {
        let mut text = self.text;
        match self.state {
            State::Json(files) => {
                text.push_str(files.end());
                text.push_str("}\n");
            }
            State::Sarif(run) => run.finish(&mut text),
            State::Junit(suite) => text.push_str(&suite.finish()),
            State::Github => {}
        }
        text
    }
}
