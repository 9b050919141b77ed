//! What is said of all lines of folded stacks: by options, and by the header that austin writes.
//!
//! ```text
//! # austin: 3.6.0
//! # interval: 10000        microseconds between samples: the period
//! # mode: full             cpu, memory, wall or full: what the columns are
//! ```
//!
//! Made from the first lines before any is read as a stack, and the same for all of a file: what
//! the options say goes before what a comment says.

use crate::error::{Error, ErrorKind, Result};
use crate::format::decimal::Decimal;
use crate::format::intake::Intake;
use crate::format::lines::lines;
use crate::format::source::{Dialect, SourceOptions};

/// What is said of all lines: by options, and by austin's header.
pub(super) struct Header {
    /// The options as the caller gave them.
    pub(super) source: SourceOptions,
    /// What the values of all columns are multiplied by.
    ///
    /// As decimal digits and not as a double, so that `0.1` scales exactly.
    pub(super) scale: Option<Decimal>,
    /// Name and unit of each column; as many as a line has numbers. `samples` in `count` where
    /// nobody says.
    pub(super) types: Vec<(String, String)>,
    /// Of each column, what its values are multiplied by.
    ///
    /// austin counts time in microseconds, the model has nanoseconds: 1000, else 1.
    pub(super) factors: Vec<i64>,
    /// In microseconds.
    ///
    /// Of austin's header alone; none where it is no number.
    pub(super) interval: Option<i64>,
}

impl Header {
    /// Only comments before the first stack are looked at, as austin writes its header first.
    ///
    /// # Errors
    ///
    /// Options that say nothing that could be done.
    pub(super) fn of(text: &[u8], intake: &Intake) -> Result<Self> {
        let source = intake.source.clone();
        let scale = source.scale.map(decimal).transpose()?;
        let given = source.sample_types.len();
        let columns = if source.columns == 0 { given.max(1) } else { source.columns };
        let own = |at| source.type_of(at);
        let mut types: Vec<_> = (0..columns).map(|at| owned(own(at))).collect();
        let mut factors = vec![1; columns];
        let mut interval = None;
        if source.dialect == Some(Dialect::Austin) {
            let said = |key: &str| {
                let mut comments =
                    lines(text).take_while(|(_, line)| line.is_empty() || line.starts_with(b"#"));
                comments.find_map(|(_, line)| {
                    let (said, value) =
                        std::str::from_utf8(line).ok()?.strip_prefix("# ")?.split_once(": ")?;
                    (said == key).then(|| value.trim().to_owned())
                })
            };
            let own: &[(&str, &str, i64)] = match said("mode").as_deref() {
                Some("cpu") => &[("cpu", "nanoseconds", 1000)],
                Some("memory") => &[("memory", "bytes", 1)],
                Some("full") => {
                    &[("wall", "nanoseconds", 1000), ("idle", "count", 1), ("memory", "bytes", 1)]
                }
                _ => &[("wall", "nanoseconds", 1000)],
            };
            factors = own.iter().map(|(_, _, factor)| *factor).collect();
            if given == 0 && source.columns == 0 {
                types = own.iter().map(|(name, unit, _)| owned((name, unit))).collect();
            } else {
                factors.resize(types.len(), 1);
            }
            interval = said("interval").and_then(|value| value.parse().ok());
        }
        Ok(Self { source, scale, types, factors, interval })
    }
}

/// A scale as it is written.
///
/// # Errors
///
/// One by which values would be 0, change their sign, or be no numbers.
fn decimal(scale: f64) -> Result<Decimal> {
    let is_scale = scale.is_finite() && scale > 0.0;
    let scale_of = Decimal::of(&format!("{scale:e}")).filter(|_| is_scale);
    scale_of.ok_or_else(|| {
        let message = format!("scale is {scale}, and must be greater than 0");
        Error::new(ErrorKind::InvalidOption, message)
    })
}

/// A sample type of the options, as texts of the reader's own.
fn owned((name, unit): (&str, &str)) -> (String, String) {
    (name.to_owned(), unit.to_owned())
}
