//! `otlp-profiles sql`: prints statements that answer questions about exported profiles.
//!
//! ```text
//! QUESTION ─► sql/QUESTION.sql ─► {fragments} of the engine, {values} as literals ─► text on stdout
//! ```
//!
//! Each question has one template for all engines. [`dialect`] holds what differs between them. The
//! options that a question accepts follow from the placeholders in its template.

mod dialect;

#[cfg(feature = "parquet")]
use std::path::Path;

use clap::ValueEnum;
use otlp_profiles::escape;

use crate::console::{Console, Level, Line};
use crate::exit::Exit;
#[cfg(feature = "parquet")]
use crate::export::dataset;
use crate::output;
use crate::text::shown;
use crate::time;
use dialect::{Engine, python};

/// Arguments of `sql`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The question; without one, list the questions
    question: Option<Question>,
    /// The engine that will run the statement
    #[arg(long, value_name = "ENGINE", value_enum, default_value = "duckdb")]
    engine: Engine,
    /// Read the dataset in this directory or below this URL; without it, tables or views named samples, stacks and profiles
    #[arg(long, value_name = "DIR", value_parser = parse_dir)]
    dir: Option<String>,
    /// Select a sample type [default: that of the dataset in DIR, or cpu; inuse_space for hours; all for trace and contents]
    #[arg(long = "type", value_name = "TYPE", value_parser = parse_value, help_heading = SELECTION)]
    sample_type: Option<String>,
    /// Select a service by its service.name
    #[arg(long, value_name = "NAME", value_parser = parse_value, help_heading = SELECTION)]
    service: Option<String>,
    /// Select a version of the service, or two for compare: the old one and the new one
    #[arg(long, value_name = "VERSION", num_args = 1..=2, value_parser = parse_value, help_heading = SELECTION)]
    version: Vec<String>,
    /// Select profiles that start at this time or later: 2026-01-03, RFC 3339, or nanoseconds since 1970
    #[arg(long, value_name = "TIME", value_parser = parse_time, help_heading = SELECTION)]
    since: Option<u64>,
    /// Select profiles that start before this time
    #[arg(long, value_name = "TIME", value_parser = parse_time, help_heading = SELECTION)]
    until: Option<u64>,
    /// Count a function's callees, too: cumulative values instead of self values
    #[arg(long, help_heading = ANSWER)]
    cum: bool,
    /// Return at most N rows; 0 for all [default: 20 for top, compare, p95 and functions]
    #[arg(short = 'n', long, value_name = "N", help_heading = ANSWER)]
    rows: Option<u32>,
    /// label: the key of the attribute of samples; --service and --version select by those of resources
    #[arg(long, value_name = "KEY", value_parser = parse_value, help_heading = ANSWER)]
    label: Option<String>,
    /// functions: the regular expression, in the engine's syntax
    #[arg(long, value_name = "REGEX", value_parser = parse_value, help_heading = ANSWER)]
    regex: Option<String>,
    /// trace: the trace id in hex
    #[arg(long, value_name = "HEX", value_parser = parse_trace_id, help_heading = ANSWER)]
    trace_id: Option<String>,
}

const SELECTION: &str = "Selection";
const ANSWER: &str = "Answer";

const AFTER_HELP: &str = "\
Examples:
  otlp-profiles export night/ -o d
  duckdb -c \"$(otlp-profiles sql contents --dir d)\"
  duckdb -c \"$(otlp-profiles sql top --dir d --service checkout)\"
  duckdb -list -noheader -c \"$(otlp-profiles sql flame --dir d)\" > d.folded
  otlp-profiles sql compare --dir d --version 1.0 1.1
  otlp-profiles sql tables --engine clickhouse --dir s3://bucket/d";

/// A question with its template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Question {
    /// What does the dataset contain: services, versions, sample types, times
    Contents,
    /// Which functions cost most, by self value or with --cum
    Top,
    /// A flame graph, as folded stacks
    Flame,
    /// A flame graph, as one row per node with depth, self and total
    Tree,
    /// Which functions cost more in a new version than in the old one
    Compare,
    /// How the cost divides by an attribute of samples
    Label,
    /// What a function costs in a profile, as the 95th percentile over profiles
    P95,
    /// What the functions cost whose names match a regular expression
    Functions,
    /// The samples of one trace
    Trace,
    /// How functions grow from hour to hour; for heaps, allocation sites
    Hours,
    /// Declarations of the tables, so that statements work without --dir
    Tables,
}

/// The tables of a dataset.
const TABLES: [&str; 4] = ["samples", "stacks", "profiles", "mappings"];

impl Question {
    fn template(self) -> &'static str {
        match self {
            Self::Contents => include_str!("sql/contents.sql"),
            Self::Top => include_str!("sql/top.sql"),
            Self::Flame => include_str!("sql/flame.sql"),
            Self::Tree => include_str!("sql/tree.sql"),
            Self::Compare => include_str!("sql/compare.sql"),
            Self::Label => include_str!("sql/label.sql"),
            Self::P95 => include_str!("sql/p95.sql"),
            Self::Functions => include_str!("sql/functions.sql"),
            Self::Trace => include_str!("sql/trace.sql"),
            Self::Hours => include_str!("sql/hours.sql"),
            Self::Tables => "",
        }
    }

    fn has(self, placeholder: &str) -> bool {
        self.template().contains(placeholder)
    }

    /// The name on the command line.
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// The sample type that it selects without a dataset to read. Values of several types must not be added up.
    fn sample_type(self) -> Option<&'static str> {
        match self {
            Self::Contents | Self::Trace | Self::Tables => None,
            Self::Hours => Some("inuse_space"),
            _ => Some("cpu"),
        }
    }

    /// The number of rows that it returns by default. 0 means all.
    fn rows(self) -> u32 {
        match self {
            Self::Top | Self::Compare | Self::P95 | Self::Functions => 20,
            _ => 0,
        }
    }
}

/// Rejects control characters, which some clients of engines interpret or truncate at.
fn parse_value(text: &str) -> Result<String, String> {
    match text.chars().find(|char| escape::is_hidden(*char)) {
        None => Ok(text.to_owned()),
        Some(char) => Err(format!(
            "control character {} cannot be part of a statement: bind the value as a parameter in your program",
            shown(&char.to_string())
        )),
    }
}

/// Removes slashes from the end. Rejects characters that engines interpret in paths.
fn parse_dir(text: &str) -> Result<String, String> {
    if let Some(char) = text.chars().find(|char| "*?[]{}`".contains(*char)) {
        return Err(format!("engines interpret {char} in paths: rename the directory"));
    }
    let dir = parse_value(text)?;
    match dir.trim_end_matches('/') {
        "" if dir.is_empty() => Err("expected a directory".to_owned()),
        trimmed => Ok(trimmed.to_owned()),
    }
}

/// Checks that a trace id has 32 hex digits, and returns them in lower case, as the tables do.
fn parse_trace_id(text: &str) -> Result<String, String> {
    match text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => Ok(text.to_ascii_lowercase()),
        false => Err("expected 32 hex digits".to_owned()),
    }
}

/// Parses a date, or a time as in other subcommands.
fn parse_time(text: &str) -> Result<u64, String> {
    let date = text.parse::<jiff::civil::Date>().is_ok() && text.len() == 10;
    match date {
        true => time::parse_time(&format!("{text}T00:00:00Z")),
        false => time::parse_time(text),
    }
}

/// Prints the statement, or the list of questions.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    let text = match args.question {
        None => questions(),
        Some(question) => {
            if let Some(message) = args.misuse(question) {
                return crate::wrong_usage("sql", false, message);
            }
            Statement { args, question, sample_type: args.sample_type(question) }.text()
        }
    };
    match output::to_stdout(text.as_bytes(), true) {
        Ok(_) => Exit::Done,
        Err(failure) => {
            let line = Line::new(Level::Critical, "sql", "Printing failed");
            console.log(&line.because(&failure));
            failure.exit
        }
    }
}

/// Lists the questions, one a line.
fn questions() -> String {
    let values = Question::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let line = |value: clap::builder::PossibleValue| {
        let help = value.get_help().map(ToString::to_string).unwrap_or_default();
        format!("{:10} {help}\n", value.get_name())
    };
    values.map(line).collect()
}

impl Args {
    /// The sample type to select: the given one, or else the default one of the dataset.
    fn sample_type(&self, question: Question) -> Option<String> {
        if self.sample_type.is_some() {
            return self.sample_type.clone();
        }
        let fallback = question.sample_type()?;
        // It is about allocation sites, even if the dataset has other types.
        let is_fixed = question == Question::Hours;
        let of_dataset = || default_type(self.dir.as_deref().filter(|_| !is_fixed)?);
        Some(of_dataset().unwrap_or_else(|| fallback.to_owned()))
    }

    /// Describes an option that the question needs and lacks, or that does not apply to it.
    fn misuse(&self, question: Question) -> Option<String> {
        let name = question.name();
        let needed = [
            ("--label KEY", self.label.is_some(), question.has("{label}")),
            ("--regex REGEX", self.regex.is_some(), question.has("{matches}")),
            ("--trace-id HEX", self.trace_id.is_some(), question == Question::Trace),
            ("--version OLD NEW", self.version.len() == 2, question.has("{old}")),
            ("--dir DIR", self.dir.is_some(), question == Question::Tables),
        ];
        if let Some((option, ..)) = needed.iter().find(|(_, given, needed)| *needed && !given) {
            return Some(format!("{name} needs {option}"));
        }
        let selects = self.sample_type.is_some() || self.service.is_some() || self.since.is_some();
        let selects = selects || self.until.is_some() || !self.version.is_empty();
        let allowed = [
            ("--label", self.label.is_some(), question.has("{label}")),
            ("--regex", self.regex.is_some(), question.has("{matches}")),
            ("--trace-id", self.trace_id.is_some(), question == Question::Trace),
            ("a second --version", self.version.len() == 2, question.has("{old}")),
            ("--cum", self.cum, question.has("{functions}")),
            ("--rows", self.rows.is_some(), question.has("{limit}")),
            ("a selection", selects, question.has("{where}")),
        ];
        let (option, ..) = allowed.iter().find(|(_, given, allowed)| *given && !allowed)?;
        Some(format!("{option} does not apply to {name}"))
    }
}

/// A statement to print.
struct Statement<'a> {
    args: &'a Args,
    question: Question,
    /// The sample type that it selects, if any.
    sample_type: Option<String>,
}

/// Returns the default sample type of a dataset of Parquet files on this machine, of those that a statement can name.
#[cfg(feature = "parquet")]
fn default_type(dir: &str) -> Option<String> {
    let is_value = |name: &str| !name.is_empty() && parse_value(name).is_ok();
    dataset::default_type(Path::new(dir), is_value)
}

#[cfg(not(feature = "parquet"))]
fn default_type(_dir: &str) -> Option<String> {
    None
}

impl Statement<'_> {
    /// The complete text: declarations, if the engine needs them, and the statement.
    fn text(&self) -> String {
        let (engine, dir) = (self.args.engine, self.args.dir.as_deref());
        let declare = |tables: &[&str]| -> String {
            dir.map_or_else(String::new, |dir| {
                tables.iter().map(|table| engine.declaration(dir, table)).collect()
            })
        };
        let is_polars = engine == Engine::Polars;
        if self.question == Question::Tables {
            let head = if is_polars { "import polars as pl\n\n" } else { "" };
            return head.to_owned() + &declare(&TABLES);
        }
        let statement = self.expand(self.question.template());
        let lines = statement.lines().map(str::trim_end).filter(|line| !line.is_empty());
        let statement = lines.collect::<Vec<_>>().join("\n");
        if is_polars {
            return self.program(&declare(&TABLES[..3]), &statement);
        }
        let is_declared = engine == Engine::Datafusion;
        let declared = if is_declared { declare(&TABLES[..3]) } else { String::new() };
        format!("{declared}{statement};\n")
    }

    /// The Python program for Polars. It computes what SQLContext cannot express.
    fn program(&self, scans: &str, statement: &str) -> String {
        let mut setup = String::new();
        let mut frames = "samples=samples, stacks=stacks, profiles=profiles".to_owned();
        if let Some(key) = self.args.label.as_deref() {
            setup = include_str!("sql/polars_label.py").replace("{key}", &python(key));
        }
        if ["display_names", "path_names"].iter().any(|column| statement.contains(column))
            || self.question == Question::Tree
        {
            setup += include_str!("sql/polars_names.py");
        }
        if self.question == Question::Tree {
            setup += include_str!("sql/polars_prefixes.py");
            frames += ", prefixes=prefixes";
        }
        let statement = statement.replace('\\', "\\\\").replace('"', "\\\"");
        format!(
            "import polars as pl\n\n{scans}{setup}result = pl.SQLContext({frames}).execute(\"\"\"\n{statement}\n\"\"\", eager=True)\nprint(result)\n"
        )
    }

    /// Replaces the placeholders of a template. Values are inserted last and are not expanded.
    fn expand(&self, template: &str) -> String {
        let (mut text, mut rest) = (String::new(), template);
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').unwrap_or((after, ""));
            text.push_str(before);
            text.push_str(&self.part(name));
            rest = after;
        }
        text + rest
    }

    fn part(&self, name: &str) -> String {
        let (args, engine) = (self.args, self.args.engine);
        let literal = |text: Option<&String>| engine.literal(text.map_or("", String::as_str));
        match name {
            "where" => self.conditions(),
            "limit" => match args.rows.unwrap_or(self.question.rows()) {
                0 => String::new(),
                rows => format!("LIMIT {rows}"),
            },
            "functions" if args.cum => self.part("cumulative"),
            "functions" => self.part("self"),
            "key" => literal(args.label.as_ref()),
            "regex" => literal(args.regex.as_ref()),
            "old" => literal(args.version.first()),
            "new" => literal(args.version.get(1)),
            table if TABLES.contains(&table) => engine.source(args.dir.as_deref(), table),
            _ => self.expand(engine.fragment(name).unwrap_or_default()),
        }
    }

    /// The `WHERE` clause, or nothing.
    fn conditions(&self) -> String {
        let (args, engine) = (self.args, self.args.engine);
        let mut all = Vec::new();
        let equal = [
            ("type", self.sample_type.as_deref()),
            ("service_name", args.service.as_deref()),
            ("trace_id", args.trace_id.as_deref()),
        ];
        for (column, value) in equal {
            all.extend(value.map(|value| format!("{column} = {}", engine.literal(value))));
        }
        let versions: Vec<_> = args.version.iter().map(|value| engine.literal(value)).collect();
        match versions.as_slice() {
            [] => {}
            [one] => all.push(format!("service_version = {one}")),
            several => all.push(format!("service_version IN ({})", several.join(", "))),
        }
        let limit = |nanos: u64| i64::try_from(nanos).unwrap_or(i64::MAX);
        all.extend(args.since.map(|nanos| format!("time_unix_nano >= {}", limit(nanos))));
        all.extend(args.until.map(|nanos| format!("time_unix_nano < {}", limit(nanos))));
        match all.is_empty() {
            true => String::new(),
            false => format!("WHERE {}", all.join(" AND ")),
        }
    }
}
