//! Checks payloads against the rules of their generation and reports every finding with its place.
//!
//! The [catalogue](Rule::all) has a rule for each sentence of the specifications that can be checked. The id of a
//! rule never changes. [`validate()`] walks the bytes of a payload once and returns all findings in one [`Report`]. It
//! accepts pprof and every generation of OTLP.
//!
//! ```
//! use otlp_profiles::check::{Options, validate};
//!
//! let file = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
//! let report = validate(&file, &Options::default());
//! for finding in report.findings() {
//!     println!("{finding}");
//! }
//! assert!(report.is_ok());
//! ```

mod anomalies;
mod baseline;
mod canonical;
mod canonical_form;
mod catalogue;
mod container;
mod context;
mod decode;
mod fields;
mod finding;
mod findings;
mod fix;
mod identify;
mod json;
mod layout;
mod levels;
mod lists;
mod memo;
mod merged;
mod message;
mod numbers;
mod options;
pub mod output;
mod packed;
mod position;
mod profcheck;
mod reader_errors;
mod record;
mod report;
mod rule;
mod rules;
mod run;
mod sink;
mod sources;
mod state;
mod tables;
mod text;
mod varint;
mod walk;

pub use baseline::{Baseline, Known};
pub use finding::{Finding, RuleCount};
pub use fix::{Change, Fixed, NotFixed, fix};
pub use options::{Options, Profcheck};
pub use report::Report;
pub use rule::Rule;

/// Checks a file: one payload or several, compressed or not.
///
/// It never fails: input that cannot be read is a finding too. Time is linear in the size of the input, and memory is a
/// few times that size.
///
/// ```
/// use otlp_profiles::check::{Options, validate};
///
/// let report = validate(b"", &Options::default());
/// assert_eq!(report.findings().next().unwrap().to_string(),
///     "error OP0001 input-empty: the input is empty: no bytes");
/// ```
pub fn validate(bytes: &[u8], options: &Options) -> Report {
    container::file(bytes, options)
}
