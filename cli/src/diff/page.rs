//! The comparison in text, Markdown, JSON or folded stacks.

use std::fmt::{self, Display, Formatter};

use clap::ValueEnum;
use otlp_profiles::transform::{Diff, DiffMode, DiffRow, GateReport};
use otlp_profiles::{OutputLimit, escape};
use serde_json::Value as Json;

use crate::exit::Failure;
use crate::numbers::{grouped, value};
use crate::text::{json, shown};

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

/// Of the forms but JSON: see [`Page::render`].
impl Display for Page<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.form {
            Form::Text | Form::Json => self.text(f),
            Form::Markdown => self.markdown(f),
            Form::Folded => self.first(0).iter().try_for_each(|row| {
                writeln!(f, "{} {} {}", escape::line(&row.name), row.base, row.new)
            }),
        }
    }
}

impl Page<'_> {
    /// The page in its form, within the output limit.
    pub(super) fn render(&self, limit: OutputLimit) -> Result<String, Failure> {
        let text = match self.form {
            Form::Json => {
                let text = self.json().map_err(Failure::unserialised)?;
                limit.check(text.len() as u64).map(|()| text)
            }
            _ => limit.text(|out| write!(out, "{self}")),
        };
        text.map_err(|error| Failure::reporting(&error))
    }

    /// The first rows, or all of them.
    fn first(&self, most: usize) -> &[DiffRow] {
        let most = if most == 0 { self.diff.rows.len() } else { most };
        &self.diff.rows[..most.min(self.diff.rows.len())]
    }

    /// The heading: `cpu: 1,000 nanoseconds before, 2,000 after, +100.0 %`. Values a second are those of the rows.
    fn head(&self) -> String {
        let Diff { sample_type, unit, base_total, new_total, covered_nanos, .. } = self.diff;
        let totals = [*base_total, *new_total];
        let (sides, [base, new]) = match self.mode {
            DiffMode::PerSecond => (
                [0, 1].map(|side| format!("{} {unit}", self.measure(side, totals[side]))),
                [0, 1].map(|side| totals[side] as f64 / covered_nanos[side] as f64),
            ),
            DiffMode::Normalized => {
                let [base, new] = totals.map(|total| value(total, unit));
                return format!("{sample_type}: {base} before, {new} after, scaled to {base}");
            }
            _ => (totals.map(|total| value(total, unit)), totals.map(|total| total as f64)),
        };
        let change = if base == 0.0 {
            String::new()
        } else {
            format!(", {}", percent((new - base) / base.abs()))
        };
        format!("{sample_type}: {} before, {} after{change}", sides[0], sides[1])
    }

    /// A value of a side, in the measure of the mode.
    fn measure(&self, side: usize, value: i128) -> String {
        let Diff { base_total, new_total, covered_nanos, .. } = self.diff;
        let float = value as f64;
        match self.mode {
            DiffMode::PerSecond => format!("{:.2}/s", float * 1e9 / covered_nanos[side] as f64),
            DiffMode::Share => {
                format!("{:.2} %", 100.0 * float / [*base_total, *new_total][side] as f64)
            }
            DiffMode::Raw | DiffMode::Normalized => grouped(value),
        }
    }

    /// The new value of a row, scaled if the mode scales it.
    fn new_value(&self, row: &DiffRow) -> i128 {
        let scaled = row.exact.filter(|_| self.mode == DiffMode::Normalized);
        scaled.map_or(row.new, |difference| row.base + difference)
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
        [
            self.measure(0, row.base),
            self.measure(1, self.new_value(row)),
            self.difference(row),
            relative,
        ]
    }

    fn text(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.verdict.iter().try_for_each(|verdict| write!(f, "{}\n\n", shown_lines(verdict)))?;
        writeln!(f, "{}", escape::line(&self.head()))?;
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
        writeln!(f, "**{}**\n", escaped(&shown(&self.head())))?;
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

    fn json(&self) -> serde_json::Result<String> {
        let mut page = serde_json::to_value(self.diff)?;
        page["schema"] = SCHEMA.into();
        page["rows_in_all"] = self.diff.rows.len().into();
        if let Json::Array(rows) = &mut page["rows"] {
            rows.truncate(self.first(self.rows).len());
        }
        if let Some(verdict) = self.verdict {
            let mut gate = serde_json::to_value(verdict)?;
            if let Json::Array(rows) = &mut gate["rows"] {
                rows.retain(|row| row["judgement"] != "passes");
            }
            page["gate"] = gate;
        }
        Ok(json(&page, true) + "\n")
    }
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
