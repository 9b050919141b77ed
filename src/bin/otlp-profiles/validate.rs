//! `otlp-profiles validate`: checks files against the rules of their generation.
//!
//! Files are read whole and checked by [`otlp_profiles::check`]; what is printed is made of its
//! reports by a file for each form. All reports are kept until the end: JSON, SARIF and JUnit are
//! one document, and a summary comes last.
//!
//! ```text
//! Inputs ─► bytes (at most max_input_bytes + 1) ─► check, or fix and check again ─► Checked
//!                                                                                     │
//!          text │ json │ sarif │ junit │ github ◄─ page ◄─ all files, in their order ◄─┘
//! ```
//!
//! A file that no rule could be asked of is an `Err` in its [`Checked`], never a finding: a run
//! over a tree says of each file one or the other.

mod fix;
mod github;
mod json;
mod junit;
mod sarif;
mod text;

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use clap::ValueEnum;
use otlp_profiles::check::{Options, Profcheck, Report, Rule, validate};
use otlp_profiles::format::Receiver;
use otlp_profiles::{Format, Limits, ReadOptions, Severity, detect};

use crate::console::{Console, Level, Line};
use crate::exit::{Exit, Failure};
use crate::formats::FormatParser;
use crate::input::{Input, Inputs, unreadable};
use crate::limits::ReadLimits;
use crate::once::{self, Once};
use crate::output;
use crate::validate::fix::Mended;

/// What to check, and how to say it.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Files, directories, quoted patterns, or - for stdin
    #[arg(required_unless_present = "explain", value_name = "FILE")]
    inputs: Vec<PathBuf>,
    /// Print a rule of the catalogue, or all of them, and check nothing
    #[arg(long, value_name = "RULE|all", conflicts_with_all = ["inputs", "form", "compat"],
        conflicts_with_all = OUR_RULES)]
    explain: Option<String>,
    /// What the findings are printed as
    #[arg(long = "format", value_enum, default_value_t = Form::Text, value_name = "FORM")]
    form: Form,
    /// Fail on warnings as well
    #[arg(long)]
    strict: bool,
    /// Ask these rules and no others (ids or names, also with commas)
    #[arg(long, value_name = "RULE", value_parser = parse_rule, value_delimiter = ',')]
    only: Vec<&'static Rule>,
    /// Do not ask these rules
    #[arg(long, value_name = "RULE", value_parser = parse_rule, value_delimiter = ',')]
    ignore: Vec<&'static Rule>,
    /// Take findings of these rules for errors, also those of --allow
    #[arg(long, value_name = "RULE", value_parser = parse_rule, value_delimiter = ',')]
    deny: Vec<&'static Rule>,
    /// Take findings of these rules for infos
    #[arg(long, value_name = "RULE", value_parser = parse_rule, value_delimiter = ',')]
    allow: Vec<&'static Rule>,
    /// How many findings of each rule are listed; the others are counted
    #[arg(long, value_name = "N", default_value_t = 100, allow_negative_numbers = true)]
    max_findings: u64,
    /// What the input is; otherwise its bytes decide
    #[arg(long, value_name = "FORMAT", value_parser = FormatParser::Read)]
    from: Option<Format>,
    /// Ask what a receiver demands, too: collector, parca or pyroscope
    #[arg(long = "for", value_name = "RECEIVER", value_parser = parse_receiver)]
    receiver: Option<Receiver>,
    /// Give the verdict of another checker: profcheck, of OpenTelemetry's Profiling SIG
    #[arg(long, value_enum, value_name = "CHECKER", conflicts_with_all = OUR_RULES)]
    compat: Option<Checker>,
    #[command(flatten)]
    profcheck: ProfcheckFlags,
    /// Mend what has one right answer, in place, and say what was done
    #[arg(long)]
    fix: bool,
    /// With --fix: write the file here, and leave the input as it is (- is stdout, the findings then go nowhere)
    #[arg(short, long, value_name = "OUT", requires = "fix")]
    output: Option<PathBuf>,
    /// With --fix: replace what is at OUT
    #[arg(long, requires = "output")]
    force: bool,
    #[command(flatten)]
    limits: ReadLimits,
}

/// What decides about our own rules.
///
/// With `--compat` the verdict is another's, by rules that none of these flags knows, and with `--explain` there is
/// none; clap refuses them together.
const OUR_RULES: [&str; 8] =
    ["fix", "strict", "only", "ignore", "deny", "allow", "from", "receiver"];

/// Other checkers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Checker {
    /// Of OpenTelemetry's Profiling SIG
    Profcheck,
}

/// The flags of profcheck, with its names and defaults.
#[derive(Clone, Copy, Debug, clap::Args)]
struct ProfcheckFlags {
    /// With --compat profcheck: equal strings and mappings, too
    #[arg(long, requires = "compat")]
    check_dupes: bool,
    /// With --compat profcheck: what nothing refers to, too
    #[arg(long, requires = "compat")]
    check_orphans: bool,
    /// With --compat profcheck: whether samples have to be alike
    #[arg(long, requires = "compat", value_name = "BOOL", default_value_t = true,
        action = clap::ArgAction::Set)]
    check_sample_shapes: bool,
}

impl ProfcheckFlags {
    /// Its defaults are profcheck's own: shapes are checked, duplicates and orphans are not.
    fn checks(self) -> Profcheck {
        Profcheck::default()
            .check_dupes(self.check_dupes)
            .check_orphans(self.check_orphans)
            .check_sample_shapes(self.check_sample_shapes)
    }
}

/// What findings are printed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A line for each, and a summary
    Text,
    /// One JSON document
    Json,
    /// SARIF 2.1.0
    Sarif,
    /// JUnit's XML: a test case for each file
    Junit,
    /// Annotations of GitHub Actions
    Github,
}

/// By id (`OP0006`) or name, so that a configuration may be readable.
fn parse_rule(name: &str) -> Result<&'static Rule, String> {
    Rule::find(name).ok_or_else(|| "no such rule: `validate --explain all` lists them".to_owned())
}

/// Not a list of possible values, so the library's sentence names what it knows.
fn parse_receiver(name: &str) -> Result<Receiver, String> {
    name.parse().map_err(|error: otlp_profiles::Error| error.message().to_owned())
}

/// What is known of one file.
struct Checked {
    /// As it was given or found.
    name: String,
    /// What was found, or why the file could not be read.
    report: Result<Report, Failure>,
    /// What was mended of it, if that was asked for.
    fixed: Option<Mended>,
}

impl Checked {
    /// How the command ends for this file alone.
    ///
    /// `deny` is the lowest severity that fails. A finding below it is no failure, even of a file
    /// that cannot be read to its end.
    fn exit(&self, deny: Severity) -> Exit {
        match &self.report {
            Err(failure) => failure.exit,
            Ok(report) if report.worst() < Some(deny) => Exit::Done,
            Ok(report) if report.is_limited() => Exit::Limit,
            Ok(report) if !report.is_readable() => Exit::Input,
            Ok(_) => Exit::Denied,
        }
    }
}

/// Checks every input, also when another one failed.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    if let Some(name) = &args.explain {
        return explain(name, console);
    }
    let inputs = Inputs::of(&args.inputs);
    if inputs.stdins() > 1 {
        return crate::wrong_usage("validate", false, "stdin can be read once");
    }
    if let Some(message) = fix::misuse(args, &inputs) {
        return crate::wrong_usage("validate", false, message);
    }
    match checked(args, &inputs, console) {
        Ok(exit) => exit,
        Err(failure) => {
            let line = Line::new(Level::Critical, "validate", "Validation failed");
            console.log(&line.because(&failure));
            failure.exit
        }
    }
}

/// `worst` is the highest code of any file; findings below `deny` do not count. With `-o -` the
/// mended bytes own stdout, so the page is not printed at all.
///
/// # Errors
///
/// stdout cannot be written.
fn checked(args: &Args, inputs: &Inputs, console: &Console) -> Result<Exit, Failure> {
    let deny = if args.strict { Severity::Warning } else { Severity::Error };
    let mut worst = Exit::Done;
    let mut once = Once::default();
    for (name, failure) in &inputs.passed_over {
        once::skipped(&mut once, console, "validate", name, failure);
    }
    let missing = inputs.missing.iter().map(|(name, failure)| (name.clone(), failure.clone()));
    let missing = missing.map(|(name, why)| Checked { name, report: Err(why), fixed: None });
    let mut files: Vec<Checked> = missing.collect();
    files.iter().for_each(|file| tell(file, console));
    let mut skipped = 0;
    console.progress().expect(inputs.all.iter().map(Input::size).sum());
    for input in &inputs.all {
        console.progress().next(&input.name());
        match file(args, input, console) {
            Ok(file) => {
                tell(&file, console);
                files.push(file);
            }
            Err(failure) => {
                skipped += 1;
                once::skipped(&mut once, console, "validate", &input.name(), &failure);
            }
        }
    }
    console.progress().finish();
    once.tell("validate", console);
    if skipped > 0 && files.is_empty() {
        worst = once::nothing_found("validate", console);
    }
    worst = files.iter().map(|file| file.exit(deny)).fold(worst, Exit::max);
    let page = match args.form {
        Form::Text => text::page(&files, inputs),
        Form::Json => json::page(&files, deny),
        Form::Sarif => sarif::page(&files),
        Form::Junit => junit::page(&files, deny),
        Form::Github => github::page(&files),
    };
    if args.output.as_ref().is_none_or(|output| output.as_os_str() != "-") {
        output::to_stdout(page.as_bytes(), true)?;
    }
    Ok(worst)
}

/// What is found in one file.
///
/// A file in a directory is asked for its format only where a finding stands against it: most are
/// fine, and detection costs as much as a fast check.
///
/// # Errors
///
/// It is passed over: found in a directory, and by what `info` and `convert` say of it no profile.
fn file(args: &Args, input: &Input, console: &Console) -> Result<Checked, Failure> {
    let options = args.options();
    let name = input.name();
    let step = console.step("validate", "load", &name);
    let bytes = bytes(input, &options.limits);
    drop(step);
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(failure) => {
            return Ok(Checked { name, report: Err(failure), fixed: None });
        }
    };
    console.progress().read(bytes.len() as u64);
    let step = console.step("validate", if args.fix { "fix" } else { "check" }, &name);
    let checked = match args.fix {
        true => fix::file(input, &bytes, &options, args),
        false => Checked { name, report: Ok(validate(&bytes, &options)), fixed: None },
    };
    drop(step);
    let format = checked.report.as_ref().ok().and_then(|report| report.format);
    if let Some(receiver) = args.receiver.filter(|_| format == Some(Format::PPROF)) {
        let message =
            format!("what {receiver} asks of pprof is not known: only pprof's own rules are asked");
        console.log(&Line::new(Level::Warning, "validate", message).about(&checked.name));
    }
    if !input.found || checked.report.as_ref().is_ok_and(Report::is_ok) {
        return Ok(checked);
    }
    let read = ReadOptions::default().limits(options.limits).format(args.from);
    match detect(&bytes, &read).map_err(|error| Failure::reading(&error, input, false)) {
        Err(failure) if input.may_be_skipped(&failure) => Err(failure),
        _ => Ok(checked),
    }
}

/// Says that a file was checked, or why it was not.
///
/// In a log; for people the page has it all.
fn tell(file: &Checked, console: &Console) {
    let line = match &file.report {
        Err(failure) => Line::new(Level::Error, "validate", "Validation failed").because(failure),
        Ok(report) => Line::new(Level::Info, "validate", "Payload validated")
            .with("format", report.format.map_or("none", |format| format.name()))
            .count("errors", report.count(Severity::Error))
            .count("warnings", report.count(Severity::Warning))
            .count("infos", report.count(Severity::Info)),
    };
    console.log(&line.about(&file.name));
}

impl Args {
    /// `--max-findings` limits what is listed; counts and the exit code are of all findings.
    fn options(&self) -> Options {
        Options::default()
            .limits(self.limits.set(Limits::file()))
            .format(self.from)
            .only(self.only.clone())
            .ignore(self.ignore.clone())
            .deny(self.deny.clone())
            .allow(self.allow.clone())
            .max_findings(self.max_findings)
            .receiver(self.receiver)
            .compat(self.compat.map(|Checker::Profcheck| self.profcheck.checks()))
    }
}

/// All bytes of an input, and one more than the limit allows where it has more.
///
/// The library sees the one byte too many and words the error, so limits are told of in one way.
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

/// `all` is no rule's name, so a rule is looked for first.
fn explain(name: &str, console: &Console) -> Exit {
    let page = match Rule::find(name) {
        Some(rule) => rule.to_string(),
        None if name == "all" => text::catalogue(),
        None => {
            let message = format_args!("there is no rule {name:?}");
            return crate::wrong_usage("validate", false, message);
        }
    };
    match output::to_stdout(page.as_bytes(), true) {
        Ok(_) => Exit::Done,
        Err(failure) => {
            let line = Line::new(Level::Critical, "validate", "Explanation failed");
            console.log(&line.because(&failure));
            failure.exit
        }
    }
}
