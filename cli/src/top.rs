//! `otlp-profiles top`: shows where time or memory is spent.
//!
//! ```text
//! Inputs ─► a Merger, if there are several messages ─► look::top, tree, peek or traces ─► text or JSON
//! ```

use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use otlp_profiles::look::{self, By, Header, Options, Pattern, Top, Traces, Tree};
use otlp_profiles::transform::MergeOptions;
use otlp_profiles::units::{Dimension, Unit};
use otlp_profiles::{OutputLimit, ReadOptions};

use crate::console::{Console, Level, Line};
use crate::exit::{Exit, Failure};
use crate::filters::{FilterArgs, Selection, compile, unknown_keys};
use crate::input::{Input, Inputs};
use crate::limits::OutputLimits;
use crate::numbers::counted;
use crate::output;
use crate::reading::ReadArgs;
use crate::readings::{Noticed, readings};
use crate::session::{Session, Turn};
use crate::sum::{Sum, Summed};
use crate::text;

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
    #[arg(long, value_name = "UNIT", value_parser = parse_unit, help_heading = "Output")]
    unit: Option<String>,
    /// Add inlined functions to the function that they were inlined into
    #[arg(long, hide_short_help = true)]
    no_inlines: bool,
    /// Divide values by those of the first sample type, row by row
    #[arg(long, hide_short_help = true)]
    mean: bool,
    /// Compute percentages relative to the samples that filters keep, without those whose frames are all hidden
    #[arg(long, hide_short_help = true)]
    relative: bool,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    filters: FilterArgs,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    limits: OutputLimits,
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

/// Checks a unit of printed values.
fn parse_unit(text: &str) -> Result<String, String> {
    match Unit::of(text) {
        _ if matches!(text, "auto" | "minimum") => Ok("minimum".to_owned()),
        Some(unit) if unit.dimension() != Dimension::Count => Ok(text.to_owned()),
        _ => {
            Err("unknown unit: expected ns, us, ms, s, min, h, B, kB, MB, GB, TB, PB, GCU, or auto"
                .to_owned())
        }
    }
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
    session.skips_unreadable = args.read.skips_unreadable();
    let which = (&args.selection, &args.filters);
    let sum = sum(&inputs, &args.read.options(), which, &mut session);
    let step = console.step("top", "report", &counted(inputs.all.len() as u64, "input"));
    let printed = sum.and_then(|sum| sum.map_or(Ok(()), |sum| report(args, &sum, &mut session)));
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
    which: (&Selection, &FilterArgs),
    session: &mut Session<'_>,
) -> Result<Option<Summed>, Failure> {
    let merge = MergeOptions::default().limits(options.limits);
    let (mut all, mut added, mut is_whole) = (Sum::new(&merge), 0, true);
    let console = session.console;
    let work = |input: &Input, console: &Console| {
        let mut sum = Sum::new(&merge);
        (read(input, options, which, &mut sum, console), sum)
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
            read(input, options, which, all, console);
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
fn read(
    input: &Input,
    options: &ReadOptions,
    (selection, filters): (&Selection, &FilterArgs),
    sum: &mut Sum,
    console: &Console,
) -> Noticed {
    let mut noticed = readings(input, options, selection, console, |message, _| {
        let mut profiles = message.reading.profiles;
        // Before the sum, because each profile declares the frames of its own samples.
        filters.drop_declared(&mut profiles)?;
        sum.add(input, profiles)
    });
    // A report has no times of samples.
    noticed.notices.forget("time.no_anchor");
    noticed
}

impl Args {
    /// Creates the arguments of a report, with defaults for all other options.
    pub(crate) fn of(
        inputs: &[PathBuf],
        rows: usize,
        (selection, filters): (&Selection, &FilterArgs),
        (read, limits): (&ReadArgs, &OutputLimits),
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
            selection: selection.clone(),
            filters: filters.clone(),
            read: read.clone(),
            limits: limits.clone(),
        }
    }

    fn options(&self, sum: &Summed) -> Options {
        let options = Options::default()
            .by(self.by.clone())
            .sample_type(self.read.sample_type())
            .cum(self.cum)
            .node_count(self.rows)
            .inlines(!self.no_inlines)
            .mean(self.mean)
            .unit(self.unit.clone())
            .relative_percentages(self.relative)
            .filter(self.filters.filter())
            .limit(self.limits.of(&sum.profiles))
            .covered(sum.covered.clone());
        match self.all {
            true => options.untrimmed().node_count(self.rows.unwrap_or(0)),
            false => options,
        }
    }
}

/// A report in either form.
enum Report {
    Top(Top),
    Tree(Tree),
    Traces(Traces),
}

impl Report {
    fn new(args: &Args, sum: &Summed) -> Result<Self, Failure> {
        let (options, profiles) = (args.options(sum), &sum.profiles);
        let report = match &args.peek {
            Some(pattern) => look::peek(profiles, pattern, &options).map(Self::Tree),
            None if args.tree => look::tree(profiles, &options).map(Self::Tree),
            None if args.traces => look::traces(profiles, &options).map(Self::Traces),
            None => look::top(profiles, &options).map(Self::Top),
        };
        let report = report.map_err(|error| Failure::reporting(&error))?;
        if matches!(args.by, By::Attribute(_)) && !report.has_frames() {
            let message = "frames do not differ in this attribute, so there are no calls to show: --tagroot KEY adds attributes of samples to the stacks";
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

    /// The JSON, which is counted before its tree is built.
    fn json(&self, limit: OutputLimit) -> Result<String, Failure> {
        let counted = limit.count(|out| {
            let written = match self {
                Self::Top(top) => serde_json::to_writer(Bytes(out), top),
                Self::Tree(tree) => serde_json::to_writer(Bytes(out), tree),
                Self::Traces(traces) => serde_json::to_writer(Bytes(out), traces),
            };
            written.map_err(|_| fmt::Error)
        });
        counted.map_err(|error| Failure::reporting(&error))?;
        let document = match self {
            Self::Top(top) => serde_json::to_value(top),
            Self::Tree(tree) => serde_json::to_value(tree),
            Self::Traces(traces) => serde_json::to_value(traces),
        };
        let mut document = document.map_err(Failure::unserialised)?;
        document["schema"] = SCHEMA.into();
        Ok(text::json(&document, true) + "\n")
    }

    /// The text in the width of the terminal.
    fn text(&self, limit: OutputLimit) -> Result<String, Failure> {
        let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let text = limit.text(|out| match self {
            Self::Top(top) => top.write_text(out, width),
            Self::Tree(tree) => tree.write_text(out, width),
            Self::Traces(traces) => traces.write_text(out, width),
        });
        text.map_err(|error| Failure::reporting(&error))
    }
}

/// A writer of bytes that passes on their number, as a text of some such length.
struct Bytes<'a>(&'a mut dyn fmt::Write);

impl io::Write for Bytes<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write_str(&String::from_utf8_lossy(bytes));
        written.map(|()| bytes.len()).map_err(|_| io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Prints the report.
fn report(args: &Args, sum: &Summed, session: &mut Session<'_>) -> Result<(), Failure> {
    let console = session.console;
    sum.choose(args.read.sample_type().as_deref(), &mut session.notices)?;
    let profiles = &sum.profiles;
    let report = Report::new(args, sum)?;
    let header = report.header();
    let by = if let By::Attribute(key) = &args.by { Some(&**key) } else { None };
    if let Some(message) = unknown_keys(&[profiles], by) {
        console.log(&Line::new(Level::Warning, "top", message));
    }
    if let Some(message) = args.filters.unmatched(&header.unmatched_filters, profiles)? {
        console.log(&Line::new(Level::Warning, "top", message));
    }
    let limit = args.limits.of(profiles);
    let text = if args.json { report.json(limit)? } else { report.text(limit)? };
    output::to_stdout(text.as_bytes(), true)?;
    let line = Line::new(Level::Info, "top", "Profiles added up")
        .with("type", &header.sample_type)
        .with("unit", &header.unit)
        .with("total", header.total)
        .count("other types", header.other_types.len() as u64);
    console.log(&line);
    Ok(())
}
