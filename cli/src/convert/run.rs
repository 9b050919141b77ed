//! One run of `convert` over all inputs.
//!
//! ```text
//! on all cores   open ─► each message: read, choose types, add ─► refuse losses? ─► pack
//! in their order write ─► report
//! afterwards     the tally of losses, what is said once a run, the highest exit code
//! ```
//!
//! The output of an input is written when all of it could be converted, never in part. Files appear
//! under their name when they are complete (`output`).

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

/// Applies a verb to every input, also when another one failed.
///
/// Arguments that name nothing are reported first, then each input in order. Notices about many inputs and the tally
/// come last. Inputs are taken up `in_order` if the result of one depends on those before it.
pub(crate) fn each(
    args: &Args,
    verb: &'static Verb,
    in_order: bool,
    apply: &Apply<'_>,
    console: &Console,
) -> Exit {
    let plan = match Plan::of(args, Outputs::Each) {
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

/// One run over all inputs: outputs are written and told of in the order of the inputs.
pub(crate) struct Run<'a> {
    args: &'a Args,
    verb: &'static Verb,
    console: &'a Console,
    to: Format,
    /// How each input's losses are reported; else the log has those of the run.
    report: Option<Form>,
    /// Losses of all inputs that were written, for a log; a report for each input makes it
    /// needless.
    tally: Tally,
    /// What was written in this run, which not even `--force` may replace.
    written: HashSet<PathBuf>,
    /// The directories that files were written to.
    directories: BTreeSet<PathBuf>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(conversion: &Conversion<'a>, console: &'a Console) -> Self {
        let &Conversion { args, verb, to, .. } = conversion;
        let (report, tally) = (args.report(console), Tally::default());
        let (written, directories) = (HashSet::new(), BTreeSet::new());
        Self { args, verb, console, to, report, tally, written, directories }
    }

    /// Ends the run; returns the exit code.
    pub(crate) fn finish(self, session: Session<'_>) -> Exit {
        output::sync(&self.directories);
        if self.report.is_none() {
            self.tally.tell(self.verb.name, self.console);
        }
        session.finish()
    }

    /// Writes the result of one input and reports on it. Other inputs go on if it failed.
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

    /// Writes what was converted; gives the names of the outputs.
    fn store(&mut self, job: &Job, blobs: Blobs) -> Result<Vec<String>, Failure> {
        let _step = self.console.step(self.verb.name, "store", &job.input.name());
        match &job.target {
            Target::Stdout => to_stdout(&blobs, self.args.force),
            Target::File(path) => self.store_files(job, path, blobs),
        }
    }

    /// Names are known before the first byte goes out, so two inputs that mean one file are refused
    /// with that file whole. `/dev/null` takes any number of outputs under its one name.
    ///
    /// # Errors
    ///
    /// A file that this run wrote already, or that exists and may not be replaced; a pipe or a device that
    /// several files would go to, which have no names there.
    fn store_files(
        &mut self,
        job: &Job,
        path: &Path,
        blobs: Blobs,
    ) -> Result<Vec<String>, Failure> {
        let takes_all = output::is_null(path);
        if blobs.len() > 1 && output::is_stream(path) && !takes_all {
            return Err(several(&blobs));
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
        self.directories.extend(output::to_files(&files, input, self.args.force, Sync::Later)?);
        let mut names: Vec<String> =
            files.iter().map(|(path, _)| path.to_string_lossy().into_owned()).collect();
        names.dedup();
        self.written.extend(files.into_iter().map(|(path, _)| path));
        Ok(names)
    }

    /// Prints the report on an input, if reports were asked for and there is something to say, and the names of
    /// outputs that the arguments do not have.
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

    /// The line of the log on an input that was converted: one for each, at INFO, whatever it lost.
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

    /// Says that an input failed: by its report if it is to be JSON, else by a line, with what would
    /// have been lost.
    pub(crate) fn failed(
        &self,
        session: &mut Session<'_>,
        name: &str,
        failure: &Failure,
        converted: Option<&Converted>,
    ) {
        let refused = converted.filter(|_| failure.exit == Exit::Denied);
        if refused.is_some() || self.report == Some(Form::Json) {
            self.tell(session, &Report::failed(name, self.to, refused, failure));
        }
        if self.report != Some(Form::Json) {
            let level = if failure.fatal { Level::Critical } else { Level::Error };
            let message = format!("{} failed", self.verb.noun);
            let mut line = Line::new(level, self.verb.name, message).because(failure);
            if let Some(converted) = refused.filter(|_| self.report.is_none()) {
                line = line.with("losses", Tally::codes(converted));
            }
            self.console.log(&line.about(name));
        }
        session.ended(failure.exit);
    }
}

/// Several files cannot go out one behind the other: what reads them could not tell where one ends.
fn to_stdout(blobs: &Blobs, force: bool) -> Result<Vec<String>, Failure> {
    let [(_, blob)] = &blobs[..] else {
        return Err(several(blobs));
    };
    output::to_stdout(blob, force)?;
    Ok(vec!["-".to_owned()])
}

/// The profiles need several files where one fits.
fn several(blobs: &Blobs) -> Failure {
    let (files, labels) =
        (counted(blobs.len() as u64, "file"), blobs.iter().map(|(label, _)| &**label));
    let labels = labels.take(MOST_LISTED).collect::<Vec<_>>().join(", ");
    let message = format!(
        "these profiles need {files} ({labels}): choose one with --type, or give -o OUT, the name of a file"
    );
    Failure::new(Exit::Output, message)
}
