//! Runs `convert`, or another subcommand that writes profiles, over all inputs.
//!
//! ```text
//! on all cores   open ─► each message: read, choose types, add ─► deny losses? ─► pack
//! in input order write ─► report
//! afterwards     the tally of losses, notices once per run, the highest exit code
//! ```
//!
//! The output of an input is written only if all of the input was converted. A file appears under
//! its name when it is complete (`output`).

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use otlp_profiles::Format;

use crate::console::{Console, Level, Line};
use crate::convert::Args;
use crate::convert::conversion::{Apply, Blobs, Conversion, Outcome, Verb};
use crate::convert::encode::Converted;
use crate::convert::plan::{Job, Outputs, Plan, Target};
use crate::convert::report::{Form, Report};
use crate::convert::tally::Tally;
use crate::exit::{Exit, Failure};
use crate::files::labelled;
use crate::numbers::counted;
use crate::output::{self, Sync};
use crate::session::{Session, Turn};

const CONVERT: Verb = Verb { name: "convert", noun: "Conversion", past: "converted" };

/// Converts every input.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    each(args, &CONVERT, false, &|profiles, _, _| Ok(vec![(String::new(), profiles)]), console)
}

/// Applies a verb to every input, and continues if one fails.
///
/// Reports arguments that match no input first, then each input in order. Notices about many inputs
/// and the tally come last. Set `in_order` to process inputs in order if the result of one depends
/// on those before it.
pub(crate) fn each(
    args: &Args,
    verb: &'static Verb,
    in_order: bool,
    apply: &Apply<'_>,
    console: &Console,
) -> Exit {
    let plan = match Plan::of(args, Outputs::Each, verb.name) {
        Ok(plan) => plan,
        Err(message) => return crate::wrong_usage(verb.name, args.json(), message),
    };
    let conversion = Conversion::new(args, verb, plan.format);
    let mut session = Session::new(verb.name, console);
    let mut run = Run::new(&conversion, console);
    if let Some(misnamed) = &plan.misnamed {
        console.log(&Line::new(Level::Warning, verb.name, misnamed));
    }
    session.in_order = in_order;
    session.skips_unreadable = args.skips_unreadable();
    let work = |job: &Job, console: &Console| conversion.job(job, apply, console);
    session.for_each(&plan.inputs, &plan.jobs, work, |session, turn| {
        match turn {
            Turn::Missing(name, failure) => run.failed(session, name, failure, None),
            Turn::Done(job, outcome) => run.job(session, &job.input.name(), job, outcome),
        }
        ControlFlow::Continue(())
    });
    run.finish(session)
}

/// The most labels that a message lists.
const MOST_LISTED: usize = 10;

/// One run over all inputs. It writes outputs and reports on them in the order of the inputs.
pub(crate) struct Run<'a> {
    args: &'a Args,
    verb: &'static Verb,
    console: &'a Console,
    to: Format,
    /// The form of the report on each input. `None` logs the losses of the whole run instead.
    report: Option<Form>,
    /// Losses of all inputs that were written, for the log; unused if each input has a report.
    tally: Tally,
    /// Files written in this run. Not even `--force` may replace them.
    written: HashSet<PathBuf>,
    /// The directories that files were written to; synced at the end.
    directories: BTreeSet<PathBuf>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(conversion: &Conversion<'a>, console: &'a Console) -> Self {
        let &Conversion { args, verb, to, .. } = conversion;
        let (report, tally) = (args.report(console), Tally::default());
        let (written, directories) = (HashSet::new(), BTreeSet::new());
        Self { args, verb, console, to, report, tally, written, directories }
    }

    /// Ends the run and returns the exit code.
    pub(crate) fn finish(self, session: Session<'_>) -> Exit {
        output::sync(&self.directories);
        if self.report.is_none() {
            self.tally.tell(self.verb.name, self.console);
        }
        session.finish()
    }

    /// Writes the result of one input and reports on it. A failure does not end the run.
    pub(crate) fn job(
        &mut self,
        session: &mut Session<'_>,
        name: &str,
        job: &Job,
        (outcome, blobs): (Outcome, Result<Blobs, Failure>),
    ) {
        let Outcome { converted, notices } = outcome;
        session.notices.merge(notices);
        for warning in &converted.warnings {
            session.notices.warn(warning, name, || format!("{name}: {warning}"));
        }
        match blobs.and_then(|blobs| self.store(job, blobs)) {
            Ok(outputs) => {
                self.tally.written(name, &converted);
                session.notices.deprecated_written(name, self.to);
                self.tell(session, &Report::done(name, self.to, &converted, &outputs));
                self.tell_done(name, &converted, &outputs);
            }
            Err(failure) if session.skip(&job.input, &failure) => {}
            Err(failure) => self.failed(session, name, &failure, Some(&converted)),
        }
    }

    /// Writes the converted bytes and returns the names of the outputs.
    fn store(&mut self, job: &Job, blobs: Blobs) -> Result<Vec<String>, Failure> {
        let _step = self.console.step(self.verb.name, "store", &job.input.name());
        match &job.target {
            Target::Stdout => to_stdout(&blobs, self.args),
            Target::File(path) => self.store_files(job, path, blobs),
        }
    }

    /// Writes the files of one input. All names are checked before the first byte is written, so
    /// the second of two inputs with the same output is rejected and the file of the first stays
    /// intact. `/dev/null` accepts any number of outputs.
    ///
    /// # Errors
    ///
    /// This run already wrote the file; or it exists and may not be replaced; or several files
    /// would go to one pipe or device.
    fn store_files(
        &mut self,
        job: &Job,
        path: &Path,
        blobs: Blobs,
    ) -> Result<Vec<String>, Failure> {
        let takes_all = output::is_null(path);
        if blobs.len() > 1 && output::is_stream(path) && !takes_all {
            return Err(several(&blobs, self.args));
        }
        let labels: Vec<&str> = blobs.iter().map(|(label, _)| &**label).collect();
        let names = match takes_all {
            true => vec![path.to_owned(); blobs.len()],
            false => labelled(path, &labels),
        };
        let is_written = |path: &&PathBuf| !takes_all && self.written.contains(*path);
        if let Some(path) = names.iter().find(is_written) {
            let path = crate::text::shown_path(path);
            let message = format!("{path} was written for another input of this run");
            return Err(Failure::new(Exit::Output, message));
        }
        if let Some(directory) = path.parent().filter(|_| job.make_directories) {
            output::make_directory(directory)?;
        }
        let blobs = blobs.into_iter().map(|(_, blob)| blob);
        let files: Vec<(PathBuf, Vec<u8>)> = names.into_iter().zip(blobs).collect();
        let input = job.input.path.as_deref();
        self.directories.extend(output::to_files(&files, input, self.args.force, Sync::Deferred)?);
        let mut names: Vec<String> =
            files.iter().map(|(path, _)| path.to_string_lossy().into_owned()).collect();
        names.dedup();
        self.written.extend(files.into_iter().map(|(path, _)| path));
        Ok(names)
    }

    /// Prints the report on an input, if reports are enabled and it is not empty, and the names of
    /// outputs that the arguments do not contain.
    fn tell(&self, session: &mut Session<'_>, report: &Report<'_>) {
        if let Some(text) = self.report.and_then(|form| report.to_string(form, self.console)) {
            self.console.say(&text);
        }
        let notes = self.console.shows(Level::Info) || self.report != Some(Form::Text);
        if let Some((name, message)) = report.summary(notes) {
            session.notices.note("viewer", name, || message);
        }
        if let Some(wrote) = report.wrote() {
            self.console.log(&Line::new(Level::Notice, self.verb.name, wrote));
        }
    }

    /// Logs that an input was converted: one INFO line for each, whatever its losses.
    fn tell_done(&self, name: &str, converted: &Converted, outputs: &[String]) {
        let noun = if converted.profiles == 1 { "Profile" } else { "Profiles" };
        let message = format!("{noun} {}", self.verb.past);
        let mut line = Line::new(Level::Info, self.verb.name, message)
            .profile(converted.only_id())
            .with("from", converted.from())
            .with("to", self.to.name());
        if converted.profiles != 1 {
            line = line.count("profiles", converted.profiles);
        }
        if converted.messages != 1 {
            line = line.count("messages", converted.messages);
        }
        let bytes = format!("{}->{}", converted.stored, converted.bytes_out);
        let line = line
            .count("samples", converted.samples)
            .with("bytes", bytes)
            .with("in", name)
            .with("out", outputs.join(","));
        self.console.log(&line);
    }

    /// Reports that an input failed: with its JSON report, or with a line that lists the losses if
    /// `--deny-loss` refused them.
    pub(crate) fn failed(
        &self,
        session: &mut Session<'_>,
        name: &str,
        failure: &Failure,
        converted: Option<&Converted>,
    ) {
        let level = session.input_failed(failure);
        let refused = converted.filter(|_| failure.exit == Exit::Denied);
        if refused.is_some() || self.report == Some(Form::Json) {
            self.tell(session, &Report::failed(name, self.to, refused, failure));
        }
        if self.report != Some(Form::Json) {
            let message = format!("{} failed", self.verb.noun);
            let mut line = Line::new(level, self.verb.name, message).because(failure);
            if let Some(converted) = refused.filter(|_| self.report.is_none()) {
                line = line.with("losses", Tally::codes(converted));
            }
            self.console.log(&line.about(name));
        }
    }
}

/// Writes to stdout. Several files are an error: a reader could not find where one ends.
fn to_stdout(blobs: &Blobs, args: &Args) -> Result<Vec<String>, Failure> {
    let [(_, blob)] = &blobs[..] else {
        return Err(several(blobs, args));
    };
    output::to_stdout(blob, args.force)?;
    Ok(vec!["-".to_owned()])
}

/// The error for several files where only one fits.
fn several(blobs: &Blobs, args: &Args) -> Failure {
    let (files, labels) =
        (counted(blobs.len() as u64, "file"), blobs.iter().map(|(label, _)| &**label));
    let labels = labels.take(MOST_LISTED).collect::<Vec<_>>().join(", ");
    let message = match args.is_for_receiver() {
        true => format!(
            "a request holds one message, so these need {files} ({labels}): give -o OUT, the name of a file, or make one message with \"otlp-profiles merge\" (\"otlp-profiles split\" makes large ones smaller)"
        ),
        false => format!(
            "these profiles need {files} ({labels}): choose one with --type, or give -o OUT, the name of a file"
        ),
    };
    Failure::new(Exit::Output, message)
}
