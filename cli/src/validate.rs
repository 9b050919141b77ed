//! `otlp-profiles validate`: checks files against the rules of their generation.
//!
//! [`otlp_profiles::check`] checks whole files and formats the reports for machines; `text` formats those for people.
//! A report is printed when its turn comes, and not kept.
//!
//! ```text
//! Inputs ─► bytes (at most max_input_bytes + 1) ─► check, or fix and check again ─► Checked
//!                                                                                     │ in order
//!     text │ json │ sarif │ junit │ github ◄─ without the baseline ◄──────────────────┘
//! ```
//!
//! A file that cannot be opened is an `Err` in its [`Checked`], never a finding.

mod baseline;
mod compat;
mod explain;
mod fix;
mod results;
mod text;

use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use otlp_profiles::check::output::{self as documents, Checked, Document};
use otlp_profiles::check::{Options, Report, Rule, validate};
use otlp_profiles::format::Receiver;
use otlp_profiles::{Format, Limits, ReadOptions, Severity, detect};

use crate::console::{self, Console, Level, Line};
use crate::exit::{Exit, Failure};
use crate::formats::FormatParser;
use crate::input::{Input, Inputs, unreadable};
use crate::limits::ReadLimits;
use crate::output;
use crate::session::{Session, Turn};
use crate::validate::baseline::Baselined;
use crate::validate::compat::{Checker, ProfcheckFlags};
use crate::validate::results::{Page, Results};

/// Arguments of `validate`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP, next_help_heading = "Rules")]
pub(crate) struct Args {
    /// Files, directories, quoted patterns, or - for stdin
    #[arg(required_unless_present = "explain", value_name = "FILE", help_heading = "Input")]
    inputs: Vec<PathBuf>,
    /// Explain a rule, or list all rules, and check nothing
    #[arg(long, value_name = "RULE|all", conflicts_with_all = ["inputs", "form", "compat", "all", "baseline"],
        conflicts_with_all = OUR_RULES)]
    explain: Option<String>,
    /// The form of the report
    #[arg(long = "format", value_enum, default_value_t = Form::Text, value_name = "FORM", help_heading = "Output")]
    form: Form,
    /// Fail on warnings, too
    #[arg(long)]
    strict: bool,
    /// Check these rules only (ids or names, also with commas)
    #[arg(long, value_name = "RULE", value_parser = parse_rule, value_delimiter = ',')]
    only: Vec<&'static Rule>,
    /// Skip these rules
    #[arg(long, value_name = "RULE", value_parser = parse_rule, value_delimiter = ',')]
    ignore: Vec<&'static Rule>,
    /// Report findings of these rules as errors, even with --allow
    #[arg(long, value_name = "RULE", value_parser = parse_rule, value_delimiter = ',')]
    deny: Vec<&'static Rule>,
    /// Report findings of these rules as infos
    #[arg(long, value_name = "RULE", value_parser = parse_rule, value_delimiter = ',')]
    allow: Vec<&'static Rule>,
    /// Report findings of this severity or worse; -q hides infos in text
    #[arg(long, value_parser = severities(), value_name = "LEVEL", default_value = "info")]
    min_severity: Severity,
    /// Print one line for each finding instead of one for each rule
    #[arg(long, help_heading = "Output")]
    all: bool,
    /// Report new findings only: those that are not in this file of known findings
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write all findings of this run to the file of --baseline
    #[arg(long, requires = "baseline")]
    update_baseline: bool,
    /// List at most N findings of each rule and file, and count the others
    #[arg(
        long,
        value_name = "N",
        default_value_t = 100,
        allow_negative_numbers = true,
        hide_short_help = true,
        help_heading = "Output"
    )]
    max_findings: u64,
    /// The format of the input; detected by default
    #[arg(long, value_name = "FORMAT", value_parser = FormatParser::Read, help_heading = "Input")]
    from: Option<Format>,
    /// Check the body of a request: one message in protobuf, neither JSON nor several messages
    #[arg(long)]
    wire: bool,
    /// Check the demands of a receiver, too: collector, parca or pyroscope
    #[arg(long = "for", value_name = "RECEIVER", value_parser = parse_receiver)]
    receiver: Option<Receiver>,
    /// Run the checks of another tool instead: profcheck, of OpenTelemetry's Profiling SIG
    #[arg(long, value_enum, value_name = "CHECKER", conflicts_with_all = OUR_RULES, help_heading = compat::HEADING, hide_short_help = true)]
    compat: Option<Checker>,
    #[command(flatten)]
    profcheck: ProfcheckFlags,
    /// Fix findings that have a single right answer, in place, and list the changes
    #[arg(long, help_heading = "Fixes")]
    fix: bool,
    /// With --fix: write the file here and keep the input (- is stdout; findings are not printed then)
    #[arg(short, long, value_name = "OUT", requires = "fix", help_heading = "Fixes")]
    output: Option<PathBuf>,
    /// With --fix: replace OUT if it exists
    #[arg(long, requires = "output", help_heading = "Fixes")]
    force: bool,
    #[command(flatten)]
    limits: ReadLimits,
}

/// The flags for the project's own rules.
///
/// clap rejects them with `--compat`, which runs the checks of another tool, and with `--explain`,
/// which checks no files.
const OUR_RULES: [&str; 10] = [
    "fix",
    "strict",
    "only",
    "ignore",
    "deny",
    "allow",
    "from",
    "wire",
    "receiver",
    "min_severity",
];

const AFTER_HELP: &str = "\
Examples:
  otlp-profiles validate --strict cpu.otlp
  otlp-profiles validate --fix -o fixed.otlp broken.otlp
  otlp-profiles validate --explain OP3101
  otlp-profiles validate profiles/ --format sarif > profiles.sarif";

/// The name of this work in messages.
const WHAT: &str = "Validation";

/// The forms of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Groups by rule, and a summary
    Text,
    /// One JSON document
    Json,
    /// SARIF 2.1.0
    Sarif,
    /// JUnit XML: a test case for each file
    Junit,
    /// Annotations of GitHub Actions
    Github,
}

impl Form {
    /// The form of the document, or `None` for text.
    fn document(self) -> Option<documents::Form> {
        Some(match self {
            Self::Text => return None,
            Self::Json => documents::Form::Json,
            Self::Sarif => documents::Form::Sarif,
            Self::Junit => documents::Form::Junit,
            Self::Github => documents::Form::Github,
        })
    }
}

/// Parses the name of a severity.
fn severities() -> impl TypedValueParser<Value = Severity> {
    PossibleValuesParser::new(["error", "warning", "info"]).map(|name| match name.as_str() {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        _ => Severity::Info,
    })
}

/// Parses the id (`OP0006`) or the name of a rule; names make configurations readable.
fn parse_rule(name: &str) -> Result<&'static Rule, String> {
    Rule::find(name).ok_or_else(|| explain::unknown(name))
}

/// Parses a receiver. It does not list possible values for clap, because the library's error lists
/// them.
fn parse_receiver(name: &str) -> Result<Receiver, String> {
    name.parse().map_err(|error: otlp_profiles::Error| error.message().to_owned())
}

/// The exit code for one file.
///
/// `deny` is the lowest severity that fails. Findings below it do not fail, even if the file cannot
/// be read to its end.
fn exit(file: &Checked, deny: Severity) -> Exit {
    match &file.report {
        Err(unread) if unread.exit == Exit::Output.code() => Exit::Output,
        Err(_) => Exit::Input,
        // Without findings the worst is `None`, which is below any severity.
        Ok(report) if report.worst() < Some(deny) => Exit::Done,
        Ok(report) if report.is_limited() => Exit::Limit,
        Ok(report) if !report.is_readable() => Exit::Input,
        Ok(_) => Exit::Denied,
    }
}

/// Creates the result for a file that could not be read.
fn unread(name: String, failure: &Failure) -> Checked {
    Checked::unread(name, failure.exit.code(), failure.to_string())
}

/// Checks every input, and continues if one fails.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    if let Some(name) = &args.explain {
        return explained(name, console);
    }
    let inputs = Inputs::of(&args.inputs);
    if inputs.stdins() > 1 {
        return crate::wrong_usage("validate", false, "stdin can be read once");
    }
    if let Some(message) = fix::misuse(args, &inputs) {
        return crate::wrong_usage("validate", false, message);
    }
    let mut session = Session::new("validate", console);
    if let Err(failure) = checked(args, &inputs, &mut session) {
        session.failed(WHAT, None, &failure);
    }
    session.finish()
}

/// # Errors
///
/// stdout or the baseline cannot be written, or the baseline cannot be read.
fn checked(args: &Args, inputs: &Inputs, session: &mut Session<'_>) -> Result<(), Failure> {
    let baseline = args.baseline.as_deref();
    let baseline = baseline.map(|path| Baselined::new(path, args.update_baseline)).transpose()?;
    let page = args.page(inputs.single, session.console);
    let mut results = Results::new(baseline, page, args.fix || args.update_baseline);
    let deny = args.deny_level();
    // What ended the run early, if anything did.
    let mut ended = None;
    let work = |input: &Input, console: &Console| file(args, input, console);
    session.for_each(inputs, &inputs.all, work, |session, turn| {
        let mut file = match turn {
            Turn::Missing(name, failure) => unread(name.to_owned(), failure),
            Turn::Done(_, Ok(file)) => file,
            Turn::Done(input, Err(failure)) => {
                session.skip(input, &failure);
                return ControlFlow::Continue(());
            }
        };
        tell(&file, deny, session.console);
        let printed = results.add(&mut file);
        session.ended(exit(&file, deny));
        match printed {
            Ok(true) => return ControlFlow::Continue(()),
            Ok(false) => ended = Some(Ok(())),
            Err(failure) => ended = Some(Err(failure)),
        }
        ControlFlow::Break(())
    });
    ended.unwrap_or_else(|| results.finish())
}

/// Checks one file.
///
/// The format of a file in a directory is detected only if the file has errors: few files do, and
/// detection costs as much as a fast check.
///
/// # Errors
///
/// The file was found in a directory and is not a profile, so the run skips it, as `info` and
/// `convert` do.
fn file(args: &Args, input: &Input, console: &Console) -> Result<Checked, Failure> {
    let options = args.options();
    let name = input.name();
    let step = console.step("validate", "load", &name);
    let bytes = bytes(input, &options.limits);
    drop(step);
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(failure) => {
            return Ok(unread(name, &failure));
        }
    };
    console.progress().read(bytes.len() as u64);
    let step = console.step("validate", if args.fix { "fix" } else { "check" }, &name);
    let checked = match args.fix {
        true => fix::file(input, &bytes, &options, args),
        false => Checked::new(name, validate(&bytes, &options)),
    };
    drop(step);
    let format = checked.report.as_ref().ok().and_then(|report| report.format);
    if let Some(receiver) = args.receiver.filter(|_| format == Some(Format::PPROF)) {
        let message = format!(
            "the demands of {receiver} on pprof are not known: only the rules of pprof are checked"
        );
        console.log(&Line::new(Level::Warning, "validate", message).about(&checked.name));
    }
    if !input.found || checked.report.as_ref().is_ok_and(Report::is_ok) {
        return Ok(checked);
    }
    let read = ReadOptions::default().limits(options.limits).format(args.from);
    match detect(&bytes, &read).map_err(|error| input.failure(&error, None)) {
        Err(failure) if input.may_be_skipped(&failure) => Err(failure),
        _ => Ok(checked),
    }
}

/// Logs that a file was checked, or the reason why it was not.
///
/// The report of findings explains to people why a file cannot be decoded; a log gets an error.
fn tell(file: &Checked, deny: Severity, console: &Console) {
    let failed = || Line::new(Level::Error, "validate", "Validation failed");
    let is_failed = console.form() != console::Form::Words && exit(file, deny) == Exit::Input;
    let mut findings = file.report.iter().flat_map(Report::findings);
    let first = findings.find(|finding| is_failed && finding.severity == Severity::Error);
    let line = match (&file.report, first) {
        (Err(unread), _) => failed().because(&unread.message),
        (_, Some(finding)) => failed().because(finding),
        (Ok(report), None) => Line::new(Level::Info, "validate", "Payload validated")
            .with("format", report.format.map_or("none", |format| format.name()))
            .count("errors", report.count(Severity::Error))
            .count("warnings", report.count(Severity::Warning))
            .count("infos", report.count(Severity::Info)),
    };
    console.log(&line.about(&file.name));
}

impl Args {
    /// The form of the output: text omits infos with `-q`.
    fn page(&self, single: bool, console: &Console) -> Page {
        let is_quiet = !console.shows(Level::Warning);
        let least = if is_quiet { Severity::Warning } else { Severity::Info };
        let view = text::View { all: self.all, least, single };
        match self.form.document() {
            _ if self.output.as_ref().is_some_and(|output| output.as_os_str() == "-") => Page::None,
            None => Page::Text(Box::new(text::Page::new(view))),
            Some(form) => Page::Document(Document::new(form, self.deny_level())),
        }
    }

    /// The lowest severity that fails the run.
    fn deny_level(&self) -> Severity {
        if self.strict { Severity::Warning } else { Severity::Error }
    }

    /// Converts flags to options of the library. `--max-findings` limits the list only; counts and
    /// the exit code cover all findings.
    fn options(&self) -> Options {
        Options::default()
            .limits(self.limits.set(Limits::file()))
            .format(self.from)
            .only(self.only.clone())
            .ignore(self.ignore.clone())
            .deny(self.deny.clone())
            .allow(self.allow.clone())
            .min_severity(self.min_severity)
            .max_findings(self.max_findings)
            .receiver(self.receiver)
            .wire(self.wire)
            .compat(self.compat.map(|Checker::Profcheck| self.profcheck.checks()))
    }
}

/// Reads all bytes of an input, up to one byte more than the limit.
///
/// The additional byte makes the library report the limit in its usual words.
fn bytes(input: &Input, limits: &Limits) -> Result<Vec<u8>, Failure> {
    let reader: Box<dyn Read> = match &input.path {
        None => Box::new(io::stdin().lock()),
        Some(path) => Box::new(File::open(path).map_err(|error| unreadable(&error))?),
    };
    let mut bytes = Vec::new();
    let most = limits.max_input_bytes.saturating_add(1);
    reader.take(most).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    Ok(bytes)
}

/// Prints the explanation of a rule, or of all rules.
fn explained(name: &str, console: &Console) -> Exit {
    let Some(page) = explain::page(name) else {
        let why = explain::unknown(name);
        let message = format!("invalid value '{name}' for '--explain <RULE|all>': {why}");
        return crate::wrong_usage("validate", false, message);
    };
    match output::text_to_stdout(&page) {
        Ok(_) => Exit::Done,
        Err(failure) => {
            let line = Line::new(Level::Critical, "validate", "Explanation failed");
            console.log(&line.because(&failure));
            failure.exit
        }
    }
}
