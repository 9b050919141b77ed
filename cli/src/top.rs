//! `otlp-profiles top`: shows where time or memory is spent.
//!
//! ```text
//! Inputs ─► a Merger, if there are several messages ─► look::top, tree, peek or traces ─► text or JSON
//! ```

use std::ops::ControlFlow;
use std::path::PathBuf;

use otlp_profiles::look::{self, By, Header, Options, Pattern, Top, Traces, Tree};
use otlp_profiles::transform::MergeOptions;
use otlp_profiles::{Profiles, ReadOptions};

use crate::console::{Console, Level, Line};
use crate::exit::{Exit, Failure};
use crate::filters::{FilterArgs, compile};
use crate::input::{Input, Inputs};
use crate::numbers::counted;
use crate::output;
use crate::reading::ReadArgs;
use crate::readings::{Noticed, readings};
use crate::session::{Session, Turn};
use crate::sum::Sum;
use crate::text::shown;

/// Arguments of `top`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP, next_help_heading = "Report")]
pub(crate) struct Args {
    /// Files, directories, quoted patterns, or - for stdin; the values of several are added up
    #[arg(required = true, value_name = "FILE", help_heading = "Input")]
    inputs: Vec<PathBuf>,
    /// Add up by function, filefunction, file, line, address, mapping or attribute:KEY
    #[arg(long, value_name = "KIND", value_parser = parse_by, default_value = "function", hide_default_value = true)]
    by: By,
    /// Sort by cumulative value: the function and all that it calls
    #[arg(long)]
    cum: bool,
    /// Show at most N rows; 0 for all [default: all, 80 with --tree]
    #[arg(short = 'n', long, value_name = "N")]
    rows: Option<usize>,
    /// Show small rows and calls, too
    #[arg(long)]
    all: bool,
    /// Show the callers and callees of each function
    #[arg(long, group = "form")]
    tree: bool,
    /// Show the callers and callees of the functions that match
    #[arg(long, group = "form", value_name = "REGEX", value_parser = compile)]
    peek: Option<Pattern>,
    /// Show the stack of every sample
    #[arg(long, group = "form")]
    traces: bool,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Print values in this unit, such as ms or MB
    #[arg(long, value_name = "UNIT", help_heading = "Output")]
    unit: Option<String>,
    /// Add inlined functions to the function that they were inlined into
    #[arg(long, hide_short_help = true)]
    no_inlines: bool,
    /// Divide values by those of the first sample type, row by row
    #[arg(long, hide_short_help = true)]
    mean: bool,
    /// Compute percentages relative to the samples that filters keep
    #[arg(long, hide_short_help = true)]
    relative: bool,
    #[command(flatten)]
    filters: FilterArgs,
    #[command(flatten)]
    read: ReadArgs,
}

const AFTER_HELP: &str = "\
Examples:
  otlp-profiles top cpu.pb.gz
  otlp-profiles top heap.pb.gz --type inuse_space --cum -n 20
  otlp-profiles top cpu.otlp --focus 'json[.]' --by line
  otlp-profiles top cpu.otlp --peek '^main[.]serve$'";

/// The form of the JSON document. Keys are only ever added to it.
const SCHEMA: &str = "otlp-profiles/top/1";

/// The name of this work in messages.
const WHAT: &str = "Report";

fn parse_by(text: &str) -> Result<By, String> {
    Ok(match text.split_once(':') {
        None => match text {
            "function" => By::Function,
            "filefunction" => By::FileFunction,
            "file" => By::File,
            "line" => By::Line,
            "address" => By::Address,
            "mapping" => By::Mapping,
            _ => return Err(
                "expected function, filefunction, file, line, address, mapping or attribute:KEY"
                    .to_owned(),
            ),
        },
        Some(("attribute", key)) if !key.is_empty() => By::Attribute(key.to_owned()),
        Some(_) => return Err("expected attribute:KEY, such as attribute:thread.name".to_owned()),
    })
}

/// Reads all inputs and prints one report.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    let inputs = Inputs::of(&args.inputs);
    if inputs.stdins() > 1 {
        return crate::wrong_usage("top", false, "stdin can be read once");
    }
    if args.read.types().len() > 1 {
        let message = "a report is about one sample type: give --type once";
        return crate::wrong_usage("top", false, message);
    }
    let mut session = Session::new("top", console);
    let sum = sum(&inputs, &args.read.options(), &mut session);
    let step = console.step("top", "report", &counted(inputs.all.len() as u64, "input"));
    let printed = sum.and_then(|sum| sum.map_or(Ok(()), |sum| report(args, &sum, console)));
    drop(step);
    if let Err(failure) = printed {
        session.failed(WHAT, None, &failure);
    }
    session.finish()
}

/// Reads all inputs and adds them up. Returns `None` if no message is readable, or the sum fails.
pub(crate) fn sum(
    inputs: &Inputs,
    options: &ReadOptions,
    session: &mut Session<'_>,
) -> Result<Option<Profiles>, Failure> {
    let merge = MergeOptions::default().limits(options.limits);
    let (mut all, mut added, mut is_whole) = (Sum::new(&merge), 0, true);
    let console = session.console;
    let work = |input: &Input, console: &Console| {
        let mut sum = Sum::new(&merge);
        (read(input, options, &mut sum, console), sum)
    };
    session.for_each(inputs, &inputs.all, work, |session, turn| {
        let (input, noticed, sum) = match turn {
            Turn::Done(input, (noticed, sum)) => (input, noticed, sum),
            Turn::Missing(name, failure) => {
                session.failed(WHAT, Some(name), failure);
                return ControlFlow::Continue(());
            }
        };
        if noticed.tell(WHAT, input, session).is_none() {
            return ControlFlow::Continue(());
        }
        added += 1;
        // The first pass already recorded the failures of messages.
        let again = |all: &mut Sum| {
            read(input, options, all, console);
            Ok(())
        };
        match all.append(sum, input, again) {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                is_whole = false;
                session.failed(WHAT, Some(&input.name()), &failure.of_sum(added));
                ControlFlow::Break(())
            }
        }
    });
    if is_whole { all.into_profiles(&mut session.notices) } else { Ok(None) }
}

/// Adds the messages of an input to a sum, which has its own failures.
fn read(input: &Input, options: &ReadOptions, sum: &mut Sum, console: &Console) -> Noticed {
    readings(input, options, console, |message, _| sum.add(message.reading.profiles))
}

impl Args {
    /// Creates the arguments of a report, with defaults for all other options.
    pub(crate) fn of(
        inputs: &[PathBuf],
        rows: usize,
        filters: &FilterArgs,
        read: &ReadArgs,
    ) -> Self {
        Self {
            inputs: inputs.to_vec(),
            by: By::Function,
            cum: false,
            rows: Some(rows),
            all: false,
            tree: false,
            peek: None,
            traces: false,
            json: false,
            unit: None,
            no_inlines: false,
            mean: false,
            relative: false,
            filters: filters.clone(),
            read: read.clone(),
        }
    }

    fn options(&self, profiles: &Profiles) -> Result<Options, Failure> {
        let options = Options::default()
            .by(self.by.clone())
            .sample_type(self.read.types().first().map(|(name, _)| name.clone()))
            .cum(self.cum)
            .node_count(self.rows)
            .inlines(!self.no_inlines)
            .mean(self.mean)
            .unit(self.unit.clone())
            .relative_percentages(self.relative)
            .filter(self.filters.filter(profiles)?);
        Ok(match self.all {
            true => options.untrimmed().node_count(self.rows.unwrap_or(0)),
            false => options,
        })
    }
}

/// A report in either form.
enum Report {
    Top(Top),
    Tree(Tree),
    Traces(Traces),
}

impl Report {
    fn new(args: &Args, profiles: &Profiles) -> Result<Self, Failure> {
        let options = args.options(profiles)?;
        let report = match &args.peek {
            Some(pattern) => look::peek(profiles, pattern, &options).map(Self::Tree),
            None if args.tree => look::tree(profiles, &options).map(Self::Tree),
            None if args.traces => look::traces(profiles, &options).map(Self::Traces),
            None => look::top(profiles, &options).map(Self::Top),
        };
        let report = report.map_err(|error| Failure::new(Exit::Usage, error.message()))?;
        if matches!(args.by, By::Attribute(_)) && !report.has_frames() {
            let message = "frames do not differ in this attribute, so there are no calls to show: --tagroot KEY adds labels of samples to the stacks";
            return Err(Failure::new(Exit::Usage, message));
        }
        Ok(report)
    }

    /// Whether the report is about rows alone, or has calls or named frames.
    fn has_frames(&self) -> bool {
        match self {
            Self::Top(_) => true,
            Self::Tree(tree) => tree.rows.iter().any(|row| !row.callees.is_empty()),
            Self::Traces(traces) => {
                let mut all = traces.traces.iter().flat_map(|trace| traces.frames(trace));
                all.any(|(name, _)| name != "<unknown>")
            }
        }
    }

    fn header(&self) -> &Header {
        match self {
            Self::Top(top) => &top.header,
            Self::Tree(tree) => &tree.header,
            Self::Traces(traces) => &traces.header,
        }
    }

    fn json(&self) -> Result<String, Failure> {
        let document = match self {
            Self::Top(top) => serde_json::to_value(top),
            Self::Tree(tree) => serde_json::to_value(tree),
            Self::Traces(traces) => serde_json::to_value(traces),
        };
        let mut document = document.map_err(Failure::unserialised)?;
        document["schema"] = SCHEMA.into();
        Ok(format!("{document:#}\n"))
    }

    /// The text in the width of the terminal, with control characters escaped.
    fn text(&self) -> String {
        let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let text = match self {
            Self::Top(top) => top.text(width),
            Self::Tree(tree) => tree.text(width),
            Self::Traces(traces) => traces.text(width),
        };
        // Keep tabs, which the legend of a tree contains.
        let safe = |part: &str| part.split('\t').map(shown).collect::<Vec<_>>().join("\t");
        text.lines().map(|line| safe(line) + "\n").collect()
    }
}

/// Prints the report.
fn report(args: &Args, profiles: &Profiles, console: &Console) -> Result<(), Failure> {
    let report = Report::new(args, profiles)?;
    let header = report.header();
    if let Some(message) = args.filters.unmatched(&header.unmatched_filters)? {
        console.log(&Line::new(Level::Warning, "top", message));
    }
    let text = if args.json { report.json()? } else { report.text() };
    output::to_stdout(text.as_bytes(), true)?;
    let line = Line::new(Level::Info, "top", "Profiles added up")
        .with("type", &header.sample_type)
        .with("unit", &header.unit)
        .with("total", header.total)
        .count("other types", header.other_types.len() as u64);
    console.log(&line);
    Ok(())
}
