//! Reports of several files as one document: JSON, SARIF, JUnit's XML, annotations of GitHub Actions.
//!
//! The command `otlp-profiles validate` prints these documents. They need no feature and no other crate.
//!
//! ```
//! use otlp_profiles::Severity;
//! use otlp_profiles::check::output::{Checked, Document, Form};
//! use otlp_profiles::check::{Options, validate};
//!
//! let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
//! let report = validate(&bytes, &Options::default());
//! let files = [Checked::new("testdata/go-heap.pb.gz", report)];
//! let junit = Document::of(Form::Junit, Severity::Error, &files);
//! assert!(junit.contains(r#"tests="1" failures="0""#));
//! ```

mod builder;
mod checked;
mod document;
mod github;
mod json;
mod junit;
mod sarif;

pub use checked::{Checked, FixSummary, Unread};
pub use document::{Document, Form};
