//! Reports as text, in the form of pprof.

use std::borrow::Cow;
use std::fmt::{self, Display, Write};

use crate::calendar;
use crate::escape::{line, terminal};
use crate::look::node::base;
use crate::look::report::{Call, Header, Inline, Top, Traces, Tree, Trimmed};
use crate::units::{AUTO, label, percentage, scale};

/// The line between the rows of a tree.
const TREE_LINE: &str =
    "----------------------------------------------------------+-------------\n";
/// The line between traces.
const TRACE_LINE: &str = "-----------+-------------------------------------------------------\n";

impl Header {
    fn value(&self, value: i128) -> String {
        // The unit is a text of the file.
        terminal(&label(value, &self.unit, &self.display_unit)).into_owned()
    }

    /// The lines about the profiles.
    fn write(&self, out: &mut dyn Write) -> fmt::Result {
        if let Some(file) = &self.file {
            writeln!(out, "File: {}", terminal(base(file)))?;
        }
        if let Some(build_id) = &self.build_id {
            writeln!(out, "Build ID: {}", terminal(build_id))?;
        }
        for comment in &self.comments {
            writeln!(out, "{}", line(comment))?;
        }
        if !self.sample_type.is_empty() {
            let mean = if self.mean { "mean_" } else { "" };
            writeln!(out, "Type: {mean}{}", terminal(&self.sample_type))?;
        }
        if let Some(url) = &self.doc_url {
            writeln!(out, "Doc: {}", terminal(url))?;
        }
        if self.time_unix_nano != 0 {
            writeln!(out, "Time: {}", utc(self.time_unix_nano))?;
        }
        if self.duration_nanos != 0 {
            let (nanos, unit) = scale(self.total, &self.unit, "nanoseconds");
            let share = percentage(nanos as i128, self.duration_nanos);
            let share =
                if unit == "ns" && nanos != 0.0 { format!("({share})") } else { String::new() };
            let duration = label(self.duration_nanos, "nanoseconds", AUTO);
            let total = self.value(self.total);
            writeln!(out, "Duration: {duration}, Total samples = {total} {share}")?;
        }
        Ok(())
    }

    /// The same with the filters and what was left out.
    fn write_with(&self, out: &mut dyn Write, trimmed: &Trimmed) -> fmt::Result {
        self.write(out)?;
        if !self.filters.is_empty() {
            writeln!(out, "Active filters:")?;
        }
        for filter in &self.filters {
            // pprof cuts a filter after 80 bytes. Here the cut moves back to the start of a character.
            let end = filter.char_indices().map(|(at, _)| at).take_while(|at| *at <= 80).last();
            let shown = if filter.len() > 80 { &filter[..end.unwrap_or(0)] } else { filter };
            let cut = if filter.len() > 80 { "…" } else { "" };
            writeln!(out, "   {}{cut}", terminal(shown))?;
        }
        let [shown, total] = [trimmed.shown, self.total].map(|value| self.value(value));
        if self.mean {
            writeln!(out, "Showing the mean of each row, of {total} in all")?;
        } else {
            let share = percentage(trimmed.shown, self.total);
            let share = share.trim_start();
            writeln!(out, "Showing nodes accounting for {shown}, {share} of {total} total")?;
        }
        if self.total == 0 {
            return Ok(());
        }
        if trimmed.dropped > 0 {
            let nodes = if trimmed.dropped > 1 { "nodes" } else { "node" };
            let cutoff = self.value(trimmed.cutoff);
            writeln!(out, "Dropped {} {nodes} (cum <= {cutoff})", trimmed.dropped)?;
        }
        if (1..trimmed.rows).contains(&trimmed.kept) {
            writeln!(out, "Showing top {} nodes out of {}", trimmed.kept, trimmed.rows)?;
        }
        Ok(())
    }

    /// The first five columns of a row.
    fn columns(&self, (flat, sum, cum): (i128, i128, i128)) -> String {
        let [flat_share, sum_share, cum_share] =
            [flat, sum, cum].map(|value| percentage(value, self.total));
        // Means do not add up.
        let sum_share = if self.mean { "     -" } else { &sum_share };
        let (flat, cum) = (self.value(flat), self.value(cum));
        format!("{flat:>10} {flat_share} {sum_share} {cum:>10} {cum_share}")
    }
}

/// A name of at most `width` characters less those of `before`, shortened in the middle.
fn shortened(name: &str, width: Option<usize>, before: usize) -> Cow<'_, str> {
    const LEAST: usize = 16;
    let name = terminal(name);
    let Some(width) = width else { return name };
    let room = width.saturating_sub(before).max(LEAST);
    let length = name.chars().count();
    if length <= room {
        return name;
    }
    let head = (room - 1) / 2;
    let tail = length - (room - 1 - head);
    let begin: String = name.chars().take(head).collect();
    let end: String = name.chars().skip(tail).collect();
    format!("{begin}…{end}").into()
}

impl Top {
    /// Returns the report as text, in the columns of pprof. Names are shortened in the middle to lines of `width`
    /// characters, if it is set. Hidden characters of names are escaped: see [`escape::terminal`](crate::escape::terminal).
    ///
    /// ```
    /// use otlp_profiles::look::{self, Options};
    /// # let bytes = std::fs::read("testdata/rust-cpu.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// let text = look::top(&profiles, &Options::default())?.text(Some(80));
    /// let rows = text.lines().skip_while(|line| !line.contains("flat%")).skip(1);
    /// assert!(rows.clone().count() > 5 && rows.clone().all(|row| row.chars().count() <= 80));
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn text(&self, width: Option<usize>) -> String {
        written(|out| self.write_text(out, width))
    }

    /// Writes the report as [`text`](Self::text), row by row, for an output without the whole text in memory.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write_text(&self, out: &mut dyn Write, width: Option<usize>) -> fmt::Result {
        self.header.write_with(out, &self.trimmed)?;
        writeln!(out, "      flat  flat%   sum%        cum   cum%")?;
        let mut sum = 0;
        for row in &self.rows {
            sum += row.flat;
            let columns = self.header.columns((row.flat, sum, row.cum));
            let inline = match row.inline {
                Inline::No => "",
                Inline::Partial => " (partial-inline)",
                Inline::Yes => " (inline)",
            };
            let name = shortened(&row.name, width, columns.len() + 2 + inline.len());
            writeln!(out, "{columns}  {name}{inline}")?;
        }
        Ok(())
    }
}

impl Tree {
    /// Returns the report as text: see [`Top::text`].
    pub fn text(&self, width: Option<usize>) -> String {
        written(|out| self.write_text(out, width))
    }

    /// Writes the report as [`text`](Self::text): see [`Top::write_text`].
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write_text(&self, out: &mut dyn Write, width: Option<usize>) -> fmt::Result {
        self.header.write_with(out, &self.trimmed)?;
        out.write_str(TREE_LINE)?;
        out.write_str(
            "      flat  flat%   sum%        cum   cum%   calls calls% + context \t \t \n",
        )?;
        let mut sum = 0;
        for one in &self.rows {
            let call = |out: &mut dyn Write, call: &Call| {
                let share = percentage(call.weight, one.row.cum);
                let columns = format!("{:>50} {share} |   ", self.header.value(call.weight));
                let inline = if call.is_inline { " (inline)" } else { "" };
                let name = shortened(&call.name, width, columns.len() + inline.len());
                writeln!(out, "{columns}{name}{inline}")
            };
            out.write_str(TREE_LINE)?;
            one.callers.iter().try_for_each(|caller| call(out, caller))?;
            sum += one.row.flat;
            let columns = self.header.columns((one.row.flat, sum, one.row.cum));
            let name = shortened(&one.row.name, width, columns.len() + 18);
            writeln!(out, "{columns}                | {name}")?;
            one.callees.iter().try_for_each(|callee| call(out, callee))?;
        }
        if self.rows.is_empty() { Ok(()) } else { out.write_str(TREE_LINE) }
    }
}

impl Traces {
    /// Returns the report as text: see [`Top::text`].
    pub fn text(&self, width: Option<usize>) -> String {
        written(|out| self.write_text(out, width))
    }

    /// Writes the report as [`text`](Self::text): see [`Top::write_text`].
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write_text(&self, out: &mut dyn Write, width: Option<usize>) -> fmt::Result {
        self.header.write(out)?;
        for trace in &self.traces {
            out.write_str(TRACE_LINE)?;
            for (key, text) in &trace.labels {
                writeln!(out, "{:>10}:  {}", line(key), terminal(text))?;
            }
            let mut value = self.header.value(trace.value);
            for (name, is_inline) in self.frames(trace) {
                let inline = if is_inline { " (inline)" } else { "" };
                let name = shortened(name, width, 13 + inline.len());
                // Only the leaf, which comes first, shows the value. Other names begin their line.
                let name = if value.is_empty() { line(&name) } else { name };
                writeln!(out, "{value:>10}   {name}{inline}")?;
                value.clear();
            }
        }
        out.write_str(TRACE_LINE)
    }
}

/// Returns what `write` writes.
fn written(write: impl FnOnce(&mut dyn Write) -> fmt::Result) -> String {
    let mut text = String::new();
    // Writing to memory does not fail.
    _ = write(&mut text);
    text
}

macro_rules! display {
    ($($report:ident)*) => {$(
        /// The text of the report, as pprof prints it.
        impl Display for $report {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.write_text(f, None)
            }
        }
    )*};
}

display! { Top Tree Traces }

/// A time as `2006-01-02 15:04:05 UTC`.
fn utc(nanos: i128) -> String {
    let seconds = nanos.div_euclid(1_000_000_000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Profiles have times of 64 bits, whose days fit easily.
    let [year, month, day] = calendar::date(i64::try_from(days).unwrap_or_default());
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_of_utc() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (-1, "1969-12-31 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_700_000_000, "2023-11-14 22:13:20 UTC"),
            (4_107_542_399, "2100-02-28 23:59:59 UTC"),
        ] {
            assert_eq!(utc(seconds * 1_000_000_000), text);
        }
    }

    #[test]
    fn names_are_shortened_in_the_middle() {
        assert_eq!(
            shortened("abcdefghijklmnopqrstuvwxyz", Some(30), 10),
            "abcdefghi…rstuvwxyz"[..].replace("rst", "qrst")
        );
        assert_eq!(shortened("short", Some(30), 10), "short");
        assert_eq!(shortened("abcdefghijklmnopqrstuvwxyz", None, 10).len(), 26);
    }
}
