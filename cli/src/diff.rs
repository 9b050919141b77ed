//! `otlp-profiles diff`: compares two profiles, with a gate for continuous integration.
//!
//! ```text
//! base files ─► Merger ─┐                ┌─► text, Markdown, JSON, folded stacks on stdout
//! new files  ─► Merger ─┴─► diff, judge ─┴─► -o: a profile with negative values
//! ```

mod page;

use std::path::PathBuf;

use clap::ValueEnum;
use otlp_profiles::transform::{
    Caution, Covered, DiffBy, DiffMode, DiffOptions, DiffProfile, Gate, GateKind, GateReport,
    GateRule, InputTypes, MergeOptions, Merged, common_sample_type, diff, diff_profile, judge,
    strip_hash,
};
use otlp_profiles::{Error, Format, OutputLimit, Profiles};
use regex::Regex;

use crate::console::{Console, Level, Line};
use crate::convert;
use crate::convert::conversion::{Blobs, Conversion, Outcome, Verb};
use crate::convert::encode::Converted;
use crate::convert::plan::{Job, Outputs, Plan};
use crate::convert::run::Run;
use crate::diff::page::{Form, Page};
use crate::exit::{Exit, Failure};
use crate::filters::unknown_keys;
use crate::input::Inputs;
use crate::notices::Notices;
use crate::output;
use crate::readings::warn_of_repairs;
use crate::session::Session;
use crate::sum::{LAST, Sum, warn, warn_of_repeats};

/// Arguments of `diff`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP, next_help_heading = "Comparison")]
pub(crate) struct Args {
    /// Compare by function, file, line, mapping, stack, total or attribute:KEY
    #[arg(long, value_name = "KIND", value_parser = parse_by, default_value = "function")]
    by: DiffBy,
    /// Scale the new values to the total of the base
    #[arg(long, group = "mode")]
    normalize: bool,
    /// Compare shares of the totals, in percentage points
    #[arg(long, group = "mode")]
    share: bool,
    /// Compare values per second
    #[arg(long, group = "mode")]
    per_second: bool,
    /// Rename before comparing, as in sed: s/v[0-9]+//; repeatable
    #[arg(long, value_name = "S/RE/TEXT/", value_parser = parse_rename)]
    rename: Vec<Substitution>,
    /// Ignore hashes and numbers in names, which change with every build
    #[arg(long)]
    strip_hashes: bool,
    /// Keep the frames that the profiles declare to be of no interest
    #[arg(long, hide_short_help = true)]
    all_frames: bool,
    /// Show at most N rows; 0 for all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    rows: usize,
    /// The form of the report
    #[arg(long = "format", value_enum, default_value_t, value_name = "FORM")]
    form: Form,
    /// With -o: subtract equal samples instead of writing both
    #[arg(long, requires = "output", hide_short_help = true)]
    cancel: bool,
    /// Exit with 7 if the share of a function grows by more than P percentage points; also file:, stack: and
    /// total:P%
    #[arg(long, value_name = "[KIND:]P%", value_parser = parse_limit, help_heading = GATE)]
    fail_over: Vec<Limit>,
    /// The same for shares that shrink
    #[arg(long, value_name = "[KIND:]P%", value_parser = parse_limit, help_heading = GATE)]
    fail_under: Vec<Limit>,
    /// Measure changes relative to the base value instead of the total
    #[arg(long, help_heading = GATE, requires = "min_share", hide_short_help = true)]
    gate_relative: bool,
    /// Ignore rows below this share of the total
    #[arg(long, value_name = "P%", value_parser = parse_percent, help_heading = GATE)]
    min_share: Option<f64>,
    /// Ignore rows below this value
    #[arg(long, value_name = "VALUE", help_heading = GATE, hide_short_help = true)]
    min_value: Option<u64>,
    /// Ignore changes within Z standard errors of sampling; 0 turns the test off
    #[arg(long, value_name = "Z", default_value_t = 3.0, help_heading = GATE, hide_short_help = true)]
    sigma: f64,
    /// Ignore changes unless every new file exceeds every base file; needs three files on each side
    #[arg(long, value_enum, value_name = "separate", help_heading = GATE, hide_short_help = true)]
    repeats: Option<Repeats>,
    #[command(flatten)]
    pub(crate) convert: convert::Args,
    /// The new files, if there are several on a side: diff A1 A2 -- B1 B2
    #[arg(last = true, value_name = "NEW", help_heading = "Input")]
    new: Vec<PathBuf>,
}

const DIFF: Verb = Verb { name: "diff", noun: "Comparison", past: "compared" };

const GATE: &str = "Gate";

const AFTER_HELP: &str = "\
Examples:
  otlp-profiles diff before.pb.gz after.pb.gz
  otlp-profiles diff before.pb.gz after.pb.gz --fail-over 5% --min-share 0.5%
  otlp-profiles diff --repeats separate --fail-over 2% main/*.pb.gz -- branch/*.pb.gz
  otlp-profiles diff before.otlp after.otlp -o difference.pb.gz";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Repeats {
    Separate,
}

fn parse_by(text: &str) -> Result<DiffBy, String> {
    Ok(match text {
        "function" => DiffBy::Function,
        "file" => DiffBy::File,
        "line" => DiffBy::Line,
        "mapping" => DiffBy::Mapping,
        "stack" => DiffBy::Stack,
        "total" => DiffBy::Total,
        _ => match text.split_once(':') {
            Some(("attribute", key)) if !key.is_empty() => DiffBy::Attribute(key.to_owned()),
            _ => {
                let kinds = "function, file, line, mapping, stack, total or attribute:KEY";
                return Err(format!("expected {kinds}"));
            }
        },
    })
}

/// A limit of a gate.
#[derive(Clone, Copy, Debug)]
struct Limit {
    kind: GateKind,
    percent: f64,
}

fn parse_limit(text: &str) -> Result<Limit, String> {
    let (kind, percent) = text.split_once(':').unwrap_or(("function", text));
    let kind = match kind {
        "function" => GateKind::Function,
        "file" => GateKind::File,
        "stack" => GateKind::Stack,
        "total" => GateKind::Total,
        _ => return Err("expected function:, file:, stack: or total: before the limit".to_owned()),
    };
    Ok(Limit { kind, percent: parse_percent(percent)? })
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    let number = number.filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "expected a percentage such as 5%".to_owned())
}

/// A substitution in function names.
#[derive(Clone, Debug)]
struct Substitution {
    pattern: Regex,
    text: String,
}

fn parse_rename(text: &str) -> Result<Substitution, String> {
    let wrong = || "expected s/REGEX/TEXT/".to_owned();
    // As in sed, the character after `s` is the separator.
    let rest = text.strip_prefix('s').ok_or_else(wrong)?;
    let mark = rest.chars().next().filter(|mark| mark.is_ascii_punctuation()).ok_or_else(wrong)?;
    let parts: Vec<_> = rest.split(mark).collect();
    let ["", pattern, text, ""] = parts[..] else { return Err(wrong()) };
    let pattern = Regex::new(pattern).map_err(|error| error.to_string())?;
    Ok(Substitution { pattern, text: text.to_owned() })
}

impl Args {
    fn mode(&self) -> DiffMode {
        match (self.normalize, self.share, self.per_second) {
            (true, ..) => DiffMode::Normalized,
            (_, true, _) => DiffMode::Share,
            (.., true) => DiffMode::PerSecond,
            _ => DiffMode::Raw,
        }
    }

    fn by(&self) -> DiffBy {
        if self.form == Form::Folded { DiffBy::Stack } else { self.by.clone() }
    }

    /// Applies the substitutions to the name of a function. Returns `None` if none of them changes
    /// it.
    fn renamed(&self, name: &str) -> Option<String> {
        let mut new = self.strip_hashes.then(|| strip_hash(name)).flatten();
        for Substitution { pattern, text } in &self.rename {
            let old = new.as_deref().unwrap_or(name);
            let replaced = pattern.replace_all(old, text.as_str());
            if replaced != old {
                new = Some(replaced.into_owned());
            }
        }
        new
    }

    fn rules(&self) -> Vec<GateRule> {
        let over = self.fail_over.iter().map(|limit| GateRule::over(limit.kind, limit.percent));
        let under = self.fail_under.iter().map(|limit| GateRule::under(limit.kind, limit.percent));
        over.chain(under).collect()
    }
}

/// One side of the comparison.
struct Side {
    sum: Sum,
    /// The profiles of each file, if `--repeats` tests them.
    files: Vec<Merged>,
}

/// Compares the two sides. An unreadable file fails the run.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    let wrong = |message: String| crate::wrong_usage("diff", args.convert.json(), message);
    let (convert, base) = match sides(args) {
        Ok(sides) => sides,
        Err(message) => return wrong(message),
    };
    if let Err(message) = convert.origin.check(DIFF.name) {
        return wrong(message);
    }
    let plan =
        match convert.has_output().then(|| Plan::of(&convert, Outputs::One, DIFF.name)).transpose()
        {
            Ok(plan) => plan,
            Err(message) => return wrong(message),
        };
    let to = plan.as_ref().map_or(Format::OTLP, |plan| plan.format);
    let mut conversion = Conversion::new(&convert, &DIFF, to);
    conversion.apply_frames = !args.all_frames;
    conversion.skips_messages = !convert.has_output();
    let mut session = Session::new("diff", console);
    session.skips_unreadable = convert.skips_unreadable();
    let mut outcome = Outcome::default();
    let Some([base, new]) = read(args, &conversion, base, &mut outcome.converted, &mut session)
    else {
        return session.finish();
    };
    let mut run = Run::new(&conversion, console);
    let job = plan.as_ref().and_then(|plan| plan.jobs.first());
    if job.is_none() {
        // With an output, its report lists them.
        let findings = &outcome.converted.findings;
        warn_of_repairs("the inputs", findings, &mut session.notices);
    }
    let step = console.step("diff", "comparison", "both sides");
    let blobs = report(args, base, new, job.is_none(), &mut session)
        .and_then(|sides| difference(args, sides, &conversion, job, &mut outcome, console));
    drop(step);
    match (blobs, job) {
        (Ok(Some(blobs)), Some(job)) => {
            run.job(&mut session, "the difference", job, (outcome, Ok(blobs)));
        }
        (Err(failure), _) => session.failed(DIFF.noun, None, &failure),
        _ => {}
    }
    run.finish(session)
}

/// Returns the arguments of `convert` with the files of both sides, and the number of base files.
fn sides(args: &Args) -> Result<(convert::Args, usize), String> {
    let mut convert = args.convert.clone();
    let base = match (convert.inputs.len(), args.new.len()) {
        (2, 0) => 1,
        (base, 1..) => base,
        _ => return Err("expected two files, or several and --: diff A1 A2 -- B1 B2".to_owned()),
    };
    let is_option = |path: &&PathBuf| {
        path.to_string_lossy().starts_with('-') && path.as_os_str() != "-" && !path.exists()
    };
    if let Some(option) = args.new.iter().find(is_option) {
        let option = option.display();
        return Err(format!(
            "{option} comes after --, where only file names are allowed: put options before it"
        ));
    }
    convert.inputs.extend(args.new.iter().cloned());
    Ok((convert, base))
}

/// Reads both sides. Returns `None` if a file is unreadable and not skipped, after reporting it.
fn read(
    args: &Args,
    conversion: &Conversion<'_>,
    base: usize,
    outcome: &mut Converted,
    session: &mut Session<'_>,
) -> Option<[Side; 2]> {
    let paths = &conversion.args.inputs;
    let options = MergeOptions::default().limits(conversion.limits());
    let mut has_failed = false;
    let mut sides = Vec::new();
    for paths in [paths.get(..base)?, paths.get(base..)?] {
        let mut files = Vec::new();
        let see = |sum: &Sum| {
            let merged = args.repeats.map(|_| sum.clone().finish()).transpose()?;
            files.extend(merged.map(|(merged, _)| merged));
            Ok(())
        };
        let failed = |session: &mut Session<'_>, name: &str, failure: &Failure| {
            has_failed = true;
            session.failed(DIFF.noun, Some(name), failure);
        };
        let inputs = Inputs::but(paths, conversion.args.output.as_deref());
        let sum = conversion.sum(session, &inputs, &options, outcome, see, failed);
        sides.extend(sum.map(|sum| Side { sum, files }));
    }
    sides.try_into().ok().filter(|_| !has_failed || conversion.args.skips_unreadable())
}

/// Applies the gate and, if no profile is written, prints the comparison. Returns the merged sides.
fn report(
    args: &Args,
    base: Side,
    new: Side,
    is_printed: bool,
    session: &mut Session<'_>,
) -> Result<[Profiles; 2], Failure> {
    let files = [base.files, new.files];
    let [(base, mut inputs), (new, new_inputs)] = [base.sum.finish()?, new.sum.finish()?];
    inputs.append(new_inputs);
    let merged = [base, new];
    let rename = |name: &str| args.renamed(name);
    let sample_type = args.convert.sample_type();
    let failure = |error: Error| Failure::of(&error, Exit::Input);
    warn_of(&merged, sample_type.as_deref(), &inputs, &mut session.notices);
    let verdict = judged(args, &files, &merged)?;
    if verdict.as_ref().is_some_and(|verdict| !verdict.passed) {
        session.ended(Exit::OverGate);
    }
    if is_printed {
        let options = DiffOptions::default()
            .by(args.by())
            .mode(args.mode())
            .unchanged(args.form == Form::Folded)
            .sample_type(sample_type.as_deref())
            .rename(Some(&rename))
            .covered(merged.each_ref().map(|of| &of.covered[..]))
            .limit(Some(limit(args, &merged)));
        let diff = diff(&merged[0].profiles, &merged[1].profiles, &options).map_err(failure)?;
        let page = Page {
            form: args.form,
            mode: args.mode(),
            rows: args.rows,
            diff: &diff,
            verdict: verdict.as_ref(),
        };
        if let DiffBy::Attribute(key) = &args.by {
            let sides = merged.each_ref().map(|side| &side.profiles);
            if let Some(message) = unknown_keys(&sides, [&**key]) {
                session.notices.warn(&message, "", || message.clone());
            }
        }
        output::text_to_stdout(&page.render(limit(args, &merged))?)?;
        let line = Line::new(Level::Info, "diff", "Profiles compared")
            .with("type", &diff.sample_type)
            .count("rows", diff.rows.len() as u64);
        session.console.log(&line);
    } else if let Some(verdict) = verdict.filter(|_| !args.convert.is_stdout()) {
        output::text_to_stdout(&verdict.to_string())?;
    }
    Ok(merged.map(|of| of.profiles))
}

/// Warns about what a comparison leaves out, and about sums of snapshots.
fn warn_of(merged: &[Merged; 2], wanted: Option<&str>, inputs: &InputTypes, notices: &mut Notices) {
    let sides = [&merged[0].profiles, &merged[1].profiles];
    if let Ok(kind) = common_sample_type(sides, wanted) {
        let snapshots = merged.iter().flat_map(|of| &of.snapshots);
        warn(Caution::of(&sides, kind, inputs, snapshots), LAST, notices);
    }
    merged.iter().for_each(|of| warn_of_repeats(of, notices));
}

/// The verdict of the gate, if the arguments have one: on each file if repeats are tested, else on the merged sides.
fn judged(
    args: &Args,
    files: &[Vec<Merged>; 2],
    merged: &[Merged; 2],
) -> Result<Option<GateReport>, Failure> {
    let rules = args.rules();
    if rules.is_empty() {
        return Ok(None);
    }
    let [before, after] = files.each_ref().map(Vec::len);
    if args.repeats.is_some() && before.min(after) < 3 {
        let message = format!(
            "--repeats needs three profiles on each side, but there are {before} and {after}"
        );
        return Err(Failure::new(Exit::Usage, message));
    }
    let sides = match args.repeats {
        Some(_) => files.each_ref().map(|files| &files[..]),
        None => merged.each_ref().map(std::slice::from_ref),
    };
    let covered = sides.map(|side| side.iter().flat_map(|of| of.covered.clone()));
    let [base_covered, new_covered]: [Vec<Covered>; 2] = covered.map(Iterator::collect);
    let [base, new]: [Vec<&Profiles>; 2] =
        sides.map(|side| side.iter().map(|of| &of.profiles).collect());
    let rename = |name: &str| args.renamed(name);
    let sample_type = args.convert.sample_type();
    let gate = Gate::new(rules)
        .relative(args.gate_relative)
        .min_share(args.min_share.unwrap_or_default())
        .min_value(args.min_value.unwrap_or_default().into())
        .sigma(args.sigma)
        .separate(args.repeats.is_some())
        .sample_type(sample_type.as_deref())
        .rename(Some(&rename))
        .covered([&base_covered, &new_covered])
        .limit(Some(limit(args, merged)));
    // A gate that cannot reach a verdict fails like one with an unreadable input.
    let verdict = judge(&base, &new, &gate);
    verdict.map(Some).map_err(|error| Failure::new(Exit::Input, error.message()))
}

/// The limit on the names of stacks.
fn limit(args: &Args, [base, new]: &[Merged; 2]) -> OutputLimit {
    let limits = &args.convert.output_limits;
    limits.of(&base.profiles).and(limits.of(&new.profiles))
}

/// Encodes the difference as a profile, if an output is requested.
fn difference(
    args: &Args,
    [base, new]: [Profiles; 2],
    conversion: &Conversion<'_>,
    job: Option<&Job>,
    outcome: &mut Outcome,
    console: &Console,
) -> Result<Option<Blobs>, Failure> {
    let Some(job) = job else { return Ok(None) };
    let options = DiffProfile::default()
        .cancel(args.cancel)
        .normalize(args.normalize)
        .limits(Some(conversion.limits()));
    let Merged { mut profiles, losses, .. } =
        diff_profile(&base, &new, &options).map_err(|error| Failure::writing(&error))?;
    outcome.converted.losses.merge(&losses);
    conversion.set_origin(&mut profiles)?;
    conversion.encode(&mut outcome.converted, (String::new(), profiles))?;
    conversion.pack(&mut outcome.converted, job, console).map(Some)
}
