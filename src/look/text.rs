//! Reports as text, in the form of pprof.

use std::fmt::{self, Display, Write};

use crate::look::node::base;
use crate::look::report::{Call, Header, Inline, Top, Traces, Tree, Trimmed};
use crate::look::unit::{AUTO, label, percentage, scale};

/// The line between the rows of a tree.
const TREE_LINE: &str =
    "----------------------------------------------------------+-------------\n";
/// The line between traces.
const TRACE_LINE: &str = "-----------+-------------------------------------------------------\n";

impl Header {
    fn value(&self, value: i128) -> String {
        label(value, &self.unit, &self.display_unit)
    }

    /// The lines about the profiles.
    fn write(&self, out: &mut String) {
        let mut line = |name: &str, text: &str| *out += &format!("{name}{text}\n");
        if let Some(file) = &self.file {
            line("File: ", base(file));
        }
        if let Some(build_id) = &self.build_id {
            line("Build ID: ", build_id);
        }
        self.comments.iter().for_each(|comment| line("", comment));
        if !self.sample_type.is_empty() {
            line(
                "Type: ",
                &format!("{}{}", if self.mean { "mean_" } else { "" }, self.sample_type),
            );
        }
        if let Some(url) = &self.doc_url {
            line("Doc: ", url);
        }
        if self.time_unix_nano != 0 {
            line("Time: ", &utc(self.time_unix_nano));
        }
        if self.duration_nanos != 0 {
            let (nanos, unit) = scale(self.total, &self.unit, "nanoseconds");
            let share = percentage(nanos as i128, self.duration_nanos);
            let share =
                if unit == "ns" && nanos != 0.0 { format!("({share})") } else { String::new() };
            let duration = label(self.duration_nanos, "nanoseconds", AUTO);
            line(
                "Duration: ",
                &format!("{duration}, Total samples = {} {share}", self.value(self.total)),
            );
        }
    }

    /// The same with the filters and what was left out.
    fn write_with(&self, out: &mut String, trimmed: &Trimmed) {
        self.write(out);
        if !self.filters.is_empty() {
            out.push_str("Active filters:\n");
        }
        for filter in &self.filters {
            // pprof cuts a filter after 80 bytes. Here the cut moves back to the start of a character.
            let end = filter.char_indices().map(|(at, _)| at).take_while(|at| *at <= 80).last();
            let shown = if filter.len() > 80 { &filter[..end.unwrap_or(0)] } else { filter };
            *out += &format!("   {shown}{}\n", if filter.len() > 80 { "…" } else { "" });
        }
        let [shown, total] = [trimmed.shown, self.total].map(|value| self.value(value));
        if self.mean {
            *out += &format!("Showing the mean of each row, of {total} in all\n");
        } else {
            let share = percentage(trimmed.shown, self.total);
            let share = share.trim_start();
            *out += &format!("Showing nodes accounting for {shown}, {share} of {total} total\n");
        }
        if self.total == 0 {
            return;
        }
        if trimmed.dropped > 0 {
            let nodes = if trimmed.dropped > 1 { "nodes" } else { "node" };
            let cutoff = self.value(trimmed.cutoff);
            *out += &format!("Dropped {} {nodes} (cum <= {cutoff})\n", trimmed.dropped);
        }
        if (1..trimmed.rows).contains(&trimmed.kept) {
            *out += &format!("Showing top {} nodes out of {}\n", trimmed.kept, trimmed.rows);
        }
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
fn shortened(name: &str, width: Option<usize>, before: usize) -> String {
    const LEAST: usize = 16;
    let Some(width) = width else { return name.to_owned() };
    let room = width.saturating_sub(before).max(LEAST);
    let length = name.chars().count();
    if length <= room {
        return name.to_owned();
    }
    let head = (room - 1) / 2;
    let tail = length - (room - 1 - head);
    let begin: String = name.chars().take(head).collect();
    let end: String = name.chars().skip(tail).collect();
    format!("{begin}…{end}")
}

impl Top {
    /// Returns the report as text, in the columns of pprof. Names are shortened in the middle to lines of `width`
    /// characters, if it is set.
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
        let mut out = String::new();
        self.header.write_with(&mut out, &self.trimmed);
        out.push_str("      flat  flat%   sum%        cum   cum%\n");
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
            _ = writeln!(out, "{columns}  {name}{inline}");
        }
        out
    }
}

impl Tree {
    /// Returns the report as text: see [`Top::text`].
    pub fn text(&self, width: Option<usize>) -> String {
        let mut out = String::new();
        self.header.write_with(&mut out, &self.trimmed);
        out.push_str(TREE_LINE);
        out.push_str(
            "      flat  flat%   sum%        cum   cum%   calls calls% + context \t \t \n",
        );
        let mut sum = 0;
        for one in &self.rows {
            let call = |call: &Call| {
                let share = percentage(call.weight, one.row.cum);
                let columns = format!("{:>50} {share} |   ", self.header.value(call.weight));
                let inline = if call.is_inline { " (inline)" } else { "" };
                let name = shortened(&call.name, width, columns.len() + inline.len());
                format!("{columns}{name}{inline}\n")
            };
            out.push_str(TREE_LINE);
            one.callers.iter().for_each(|caller| out += &call(caller));
            sum += one.row.flat;
            let columns = self.header.columns((one.row.flat, sum, one.row.cum));
            let name = shortened(&one.row.name, width, columns.len() + 18);
            out += &format!("{columns}                | {name}\n");
            one.callees.iter().for_each(|callee| out += &call(callee));
        }
        if !self.rows.is_empty() {
            out.push_str(TREE_LINE);
        }
        out
    }
}

impl Traces {
    /// Returns the report as text: see [`Top::text`].
    pub fn text(&self, width: Option<usize>) -> String {
        let mut out = String::new();
        self.header.write(&mut out);
        for trace in &self.traces {
            out.push_str(TRACE_LINE);
            for (key, text) in &trace.labels {
                out += &format!("{key:>10}:  {text}\n");
            }
            let mut value = self.header.value(trace.value);
            for (name, is_inline) in self.frames(trace) {
                let inline = if is_inline { " (inline)" } else { "" };
                let name = shortened(name, width, 13 + inline.len());
                out += &format!("{value:>10}   {name}{inline}\n");
                // Only the leaf, which comes first, shows the value.
                value.clear();
            }
        }
        out.push_str(TRACE_LINE);
        out
    }
}

macro_rules! display {
    ($($report:ident)*) => {$(
        /// The text of the report, as pprof prints it.
        impl Display for $report {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.text(None))
            }
        }
    )*};
}

display! { Top Tree Traces }

/// A time as `2006-01-02 15:04:05 UTC`.
fn utc(nanos: i128) -> String {
    let seconds = nanos.div_euclid(1_000_000_000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Years of this count begin with March, so that a leap day is the last day of its year.
    // 719,468 days lie between March 1 of year 0 and 1970; 146,097 days are 400 years.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let of_years = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * of_years + of_years / 4 - of_years / 100);
    // From March on, every five months have 153 days.
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = of_years + era * 400 + i128::from(month <= 2);
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
