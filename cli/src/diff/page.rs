//! The comparison in text, Markdown, JSON or folded stacks.

use std::fmt::{self, Display, Formatter};

use clap::ValueEnum;
use otlp_profiles::transform::{Diff, DiffMode, DiffRow, GateReport, Judgement};
use serde_json::{Value as Json, json};

use crate::numbers::{grouped, value};
use crate::text::shown;

/// The version of the JSON document's schema. Releases only add keys.
const SCHEMA: &str = "otlp-profiles/diff/1";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    #[default]
    Text,
    Markdown,
    Json,
    /// `stack base new`, as difffolded.pl writes
    Folded,
}

/// A comparison to print.
pub(super) struct Page<'a> {
    pub(super) form: Form,
    pub(super) mode: DiffMode,
    /// The most rows, or 0 for all.
    pub(super) rows: usize,
    pub(super) diff: &'a Diff,
    /// The verdict of the gate, if there is one.
    pub(super) verdict: Option<&'a GateReport>,
}

impl Display for Page<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.form {
            Form::Text => self.text(f),
            Form::Markdown => self.markdown(f),
            Form::Json => writeln!(f, "{:#}", self.json()),
            Form::Folded => self.first(0).iter().try_for_each(|row| {
                writeln!(f, "{} {} {}", row.name.replace('\n', " "), row.base, row.new)
            }),
        }
    }
}

impl Page<'_> {
    /// The first rows, or all of them.
    fn first(&self, most: usize) -> &[DiffRow] {
        let most = if most == 0 { self.diff.rows.len() } else { most };
        &self.diff.rows[..most.min(self.diff.rows.len())]
    }

    /// The heading: `cpu: 1,000 nanoseconds before, 2,000 after, +100.0 %`
    fn head(&self) -> String {
        let Diff { sample_type, unit, base_total, new_total, .. } = self.diff;
        let (base, new) = (value(*base_total, unit), value(*new_total, unit));
        let change = (*new_total - *base_total) as f64 / base_total.abs() as f64;
        let change =
            if *base_total == 0 { String::new() } else { format!(", {}", percent(change)) };
        format!("{}: {base} before, {new} after{change}", shown(sample_type))
    }

    fn difference(&self, row: &DiffRow) -> String {
        match (row.exact, self.mode) {
            (Some(exact), _) if exact > 0 => format!("+{}", grouped(exact)),
            (Some(exact), _) => grouped(exact),
            (None, DiffMode::Share) => format!("{:+.2} points", row.difference),
            (None, _) => format!("{:+.2}/s", row.difference),
        }
    }

    /// The columns of a row: base, new, difference, relative.
    fn columns(&self, row: &DiffRow) -> [String; 4] {
        let relative = match row.relative {
            _ if row.new == 0 => "gone".to_owned(),
            Some(relative) => percent(relative),
            None => "new".to_owned(),
        };
        [grouped(row.base), grouped(row.new), self.difference(row), relative]
    }

    fn text(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.verdict.iter().try_for_each(|verdict| write!(f, "{}\n\n", shown_lines(verdict)))?;
        writeln!(f, "{}", self.head())?;
        let rows = self.first(self.rows);
        if rows.is_empty() {
            return writeln!(f, "No difference.");
        }
        let heads = ["before", "after", "difference", "relative"].map(str::to_owned);
        let lines: Vec<_> = rows.iter().map(|row| self.columns(row)).collect();
        let width = |column: usize| {
            let cells = lines.iter().chain([&heads]).map(|line| line[column].chars().count());
            cells.max().unwrap_or_default()
        };
        let widths = [0, 1, 2, 3].map(width);
        let names = rows.iter().map(|row| shown(&row.name));
        let names = std::iter::once("name".to_owned()).chain(names);
        for (line, name) in std::iter::once(&heads).chain(&lines).zip(names) {
            for (cell, width) in line.iter().zip(widths) {
                write!(f, "{cell:>width$}  ")?;
            }
            writeln!(f, "{name}")?;
        }
        self.more(f)
    }

    /// Writes the number of omitted rows.
    fn more(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.diff.rows.len() - self.first(self.rows).len() {
            0 => Ok(()),
            more => writeln!(f, "{} more (-n 0 shows all)", grouped(more as i128)),
        }
    }

    /// Writes Markdown for the comment of a pull request.
    fn markdown(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(verdict) = self.verdict {
            writeln!(f, "```text\n{}\n```\n", shown_lines(verdict).replace('`', "'"))?;
        }
        writeln!(f, "**{}**\n", escaped(&self.head()))?;
        let rows = self.first(self.rows);
        if rows.is_empty() {
            return writeln!(f, "No difference.");
        }
        writeln!(
            f,
            "| before | after | difference | relative | name |\n|---:|---:|---:|---:|---|"
        )?;
        for row in rows {
            writeln!(f, "| {} | {} |", self.columns(row).join(" | "), escaped(&shown(&row.name)))?;
        }
        writeln!(f)?;
        self.more(f)
    }

    fn json(&self) -> Json {
        let diff = self.diff;
        let row = |row: &DiffRow| {
            json!({
                "name": row.name,
                "file": row.file,
                "base": number(row.base),
                "new": number(row.new),
                "difference": row.exact.map_or_else(|| row.difference.into(), number),
                "relative": row.relative,
            })
        };
        let mut page = json!({
            "schema": SCHEMA,
            "sample_type": diff.sample_type,
            "unit": diff.unit,
            "base_total": number(diff.base_total),
            "new_total": number(diff.new_total),
            "covered_nanos": diff.covered_nanos.map(number),
            "rows": self.first(self.rows).iter().map(row).collect::<Json>(),
            "rows_in_all": diff.rows.len(),
        });
        if let Some(verdict) = self.verdict {
            page["gate"] = gate(verdict);
        }
        page
    }
}

fn gate(verdict: &GateReport) -> Json {
    let fails = verdict.rows.iter().filter(|row| row.judgement != Judgement::Passes);
    let row = |row: &otlp_profiles::transform::GateRow| {
        json!({
            "name": row.name,
            "file": row.file,
            "base": number(row.base),
            "new": number(row.new),
            "change": row.change,
            "limit": row.rule.percent,
            "judgement": format!("{:?}", row.judgement).to_lowercase(),
            "z": row.noise.map(|noise| noise.z),
        })
    };
    json!({
        "passed": verdict.passed,
        "noise_tested": verdict.noise_tested,
        "rows": fails.map(row).collect::<Json>(),
    })
}

/// Converts to a JSON number, or to a string if 64 bits are too few.
fn number(number: i128) -> Json {
    i64::try_from(number).map_or_else(|_| number.to_string().into(), Json::from)
}

/// Formats a fraction as `+12.5 %`.
fn percent(fraction: f64) -> String {
    format!("{:+.1} %", 100.0 * fraction)
}

/// Escapes control characters in each line, because names come from untrusted files.
fn shown_lines(text: &impl Display) -> String {
    text.to_string().trim_end().lines().map(shown).collect::<Vec<_>>().join("\n")
}

/// Escapes a cell of a Markdown table.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '|' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '\\' | '#' | '@') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
