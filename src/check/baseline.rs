//! Known findings, so that a run reports and fails only on new ones.
//!
//! ```text
//! {"file": "cpu.pb.gz", "rule": "PP1038", "path": "function", "count": 6}     six are known, whatever their rows
//! ```
//!
//! The key contains neither row nor byte, because both change whenever a payload is written again. Among findings
//! with equal keys the first count as known.

use std::collections::BTreeMap;
use std::fmt;

use super::report::Report;
use crate::error::{Error, Result};
use crate::format::json::lexer::Lexer;
use crate::format::json::object::{List, int, pick, string, write_string};
use crate::limits::Limits;

/// The identifier of the document's schema. Later versions only add keys.
const SCHEMA: &str = "otlp-profiles/baseline/1";

/// Known findings of several files, by file, rule and place.
///
/// Its [`Display`](fmt::Display) writes the JSON that [`parse`](Self::parse) reads: sorted, one entry per line.
///
/// ```
/// use otlp_profiles::check::{Baseline, Options, validate};
///
/// # fn main() -> otlp_profiles::Result<()> {
/// let mut report = validate(b"", &Options::default());
/// let mut baseline = Baseline::default();
/// baseline.add("empty.pb", &report);
/// let baseline = Baseline::parse(baseline.to_string().as_bytes())?;
/// assert_eq!(baseline.apply("empty.pb", &mut report).known, 1);
/// assert!(report.is_ok());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// By file, rule and path without rows.
    counts: BTreeMap<(String, String, String), u64>,
}

/// The comparison of a report with a [`Baseline`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Known {
    /// Findings that are in the baseline.
    pub known: u64,
    /// Findings of the baseline that the file no longer has.
    pub gone: u64,
}

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    ///
    /// [`Malformed`](crate::ErrorKind::Malformed) if the text is not a baseline.
    pub fn parse(json: &[u8]) -> Result<Self> {
        Self::entries(json).map_err(|error| error.located(json))
    }

    fn entries(json: &[u8]) -> Result<Self> {
        let depth = Limits::default().max_nesting;
        let mut baseline = Self::default();
        let [schema, findings] = pick(&mut Lexer::new(json)?, ["schema", "findings"], depth)?;
        let is_baseline = string(schema, "a schema")? == SCHEMA;
        let Some(findings) = findings.filter(|_| is_baseline) else {
            return Err(Error::malformed(format!("not a baseline: its schema is not {SCHEMA:?}")));
        };
        let mut list = List::of(findings)?;
        while list.another()? {
            let keys = ["file", "rule", "path", "count"];
            let [file, rule, path, count] = pick(&mut list.text, keys, depth)?;
            let key = (string(file, "a file")?, string(rule, "a rule")?, string(path, "a path")?);
            let count = count.map_or(Ok(1), |mut count| int(&mut count, "count"))?;
            *baseline.counts.entry(key).or_default() += count.max(0) as u64;
        }
        Ok(baseline)
    }

    /// Adds all findings of a report, listed or not.
    pub fn add(&mut self, file: &str, report: &Report) {
        for (rule, path, count) in &report.places {
            let key = (portable(file), rule.id.to_owned(), path.clone());
            *self.counts.entry(key).or_default() += count;
        }
    }

    /// Removes the known findings of a file from its report, so that only new ones are left.
    pub fn apply(&self, file: &str, report: &mut Report) -> Known {
        let file = portable(file);
        // An empty rule and path sort before all others of the file.
        let first = (file.clone(), String::new(), String::new());
        let of_file = self.counts.range(first..).take_while(|(key, _)| key.0 == file);
        let recorded: u64 = of_file.map(|(_, count)| count).sum();
        let mut found = Known::default();
        for (rule, path, count) in &mut report.places {
            let key = (file.clone(), rule.id.to_owned(), path.clone());
            let known = self.counts.get(&key).map_or(0, |known| (*count).min(*known));
            *count -= known;
            found.known += known;
        }
        // The places of a report are distinct, so no entry of the baseline counts twice.
        found.gone = recorded - found.known;
        if recorded > 0 {
            report.keep_places();
        }
        found
    }
}

/// Normalises a file name, so that it is the same on all systems and with or without a leading `./`.
pub(super) fn portable(file: &str) -> String {
    let file = if cfg!(windows) { file.replace('\\', "/") } else { file.to_owned() };
    file.strip_prefix("./").map(str::to_owned).unwrap_or(file)
}

impl fmt::Display for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{\n  \"schema\": \"{SCHEMA}\",\n  \"findings\": [")?;
        for (row, ((file, rule, path), count)) in self.counts.iter().enumerate() {
            let mut line = Vec::new();
            for (key, text) in
                [("{\"file\": ", file), (", \"rule\": ", rule), (", \"path\": ", path)]
            {
                line.extend_from_slice(key.as_bytes());
                write_string(&mut line, text);
            }
            let comma = if row > 0 { "," } else { "" };
            write!(f, "{comma}\n    {}, \"count\": {count}}}", String::from_utf8_lossy(&line))?;
        }
        f.write_str("\n  ]\n}\n")
    }
}
