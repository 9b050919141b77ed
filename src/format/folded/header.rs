//! The settings for all lines of folded stacks, from options and from austin's header.
//!
//! ```text
//! # austin: 3.6.0
//! # interval: 10000        microseconds between samples: the period
//! # mode: full             cpu, memory, wall or full: what the columns are
//! ```
//!
//! They are built from the first lines of the file, before any stack is read. Options take precedence over
//! comments.

use crate::error::{Error, ErrorKind, Result};
use crate::format::decimal::Decimal;
use crate::format::lines::lines;
use crate::read_context::ReadContext;
use crate::source_options::{Dialect, SourceOptions};

/// The settings for all lines, from options and from austin's header.
pub(super) struct Header {
    /// The options of the caller.
    pub(super) source: SourceOptions,
    /// The factor for the values of all columns.
    ///
    /// It is decimal and not a double, so that `0.1` scales exactly.
    pub(super) scale: Option<Decimal>,
    /// Name and unit of each column, one for each number in a line. The default is `samples` in `count`.
    pub(super) types: Vec<(String, String)>,
    /// The factor for the values of each column.
    ///
    /// It is 1000 for austin's microseconds, because the model counts nanoseconds; else 1.
    pub(super) factors: Vec<i64>,
    /// The interval in microseconds from austin's header, or `None` if it is not a number.
    pub(super) interval: Option<i64>,
}

impl Header {
    /// Reads the comments before the first stack, where austin writes its header.
    ///
    /// # Errors
    ///
    /// The scale is not a positive finite number.
    pub(super) fn of(text: &[u8], cx: &ReadContext) -> Result<Self> {
        let source = cx.source.clone();
        let scale = source.scale.map(decimal).transpose()?;
        let given = source.sample_types.len();
        let columns = if source.columns == 0 { given.max(1) } else { source.columns };
        let own = |at| source.type_of(at);
        let mut types: Vec<_> = (0..columns).map(|at| owned(own(at))).collect();
        let mut factors = vec![1; columns];
        let mut interval = None;
        if source.dialect == Some(Dialect::Austin) {
            let setting = |key: &str| {
                let mut comments =
                    lines(text).take_while(|(_, line)| line.is_empty() || line.starts_with(b"#"));
                comments.find_map(|(_, line)| {
                    let (named, value) =
                        std::str::from_utf8(line).ok()?.strip_prefix("# ")?.split_once(": ")?;
                    (named == key).then(|| value.trim().to_owned())
                })
            };
            let own: &[(&str, &str, i64)] = match setting("mode").as_deref() {
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
            interval = setting("interval").and_then(|value| value.parse().ok());
        }
        Ok(Self { source, scale, types, factors, interval })
    }
}

/// Converts a scale to a decimal number.
///
/// # Errors
///
/// The scale is not a positive finite number.
fn decimal(scale: f64) -> Result<Decimal> {
    let is_scale = scale.is_finite() && scale > 0.0;
    let scale_of = Decimal::of(&format!("{scale:e}")).filter(|_| is_scale);
    scale_of.ok_or_else(|| {
        let message = format!("scale is {scale}, and must be greater than 0");
        Error::new(ErrorKind::InvalidOption, message)
    })
}

/// Copies a sample type of the options.
fn owned((name, unit): (&str, &str)) -> (String, String) {
    (name.to_owned(), unit.to_owned())
}
