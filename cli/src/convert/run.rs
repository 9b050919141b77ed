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

use otlp_profiles::framing::Framing;
use otlp_profiles::{Certainty, Format, ReadOptions, WriteOptions};

use crate::console::{Console, Level, Line};
use crate::convert::Args;
use crate::convert::encode::Converted;
use crate::convert::plan::{Job, Plan, Target};
use crate::convert::report::{Form, Report};
use crate::convert::tally::Tally;
use crate::convert::types;
use crate::exit::{Exit, Failure};
use crate::files::labelled;
use crate::notices::Notices;
use crate::numbers::counted;
use crate::output::{self, Sync};
use crate::reading::{Content, Message, ambiguous, names};
use crate::session::{Session, Turn};

/// Converts every input, also when another one failed.
///
/// Arguments that name nothing are reported first, then each input in order. Notices about many inputs and the tally
/// come last.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    let plan = match Plan::of(args) {
        Ok(plan) => plan,
        Err(message) => return crate::wrong_usage("convert", args.json(), message),
    };
    let (read, write, to) = (args.read_options(), args.write_options(), plan.format);
    let conversion = Conversion { args, read, write, to };
    let mut session = Session::new("convert", console);
    let mut run = Run::new(args, console, to);
    if let Some(misnamed) = &plan.misnamed {
        console.log(&Line::new(Level::Warning, "convert", misnamed));
    }
    let work = |job: &Job, console: &Console| conversion.job(job, console);
    session.for_each(&plan.inputs, &plan.jobs, work, |session, turn| {
        match turn {
            Turn::Missing(name, failure) => run.failed(session, name, failure, None),
            Turn::Done(job, outcome) => run.job(session, job, outcome),
        }
        ControlFlow::Continue(())
    });
    output::sync(&run.directories);
    if run.report.is_none() {
        run.tally.tell(console);
    }
    session.finish()
}

/// What every input is converted with.
struct Conversion<'a> {
    args: &'a Args,
    /// Made once of the arguments; the same for every input.
    read: ReadOptions,
    /// Likewise, so the same input gives the same bytes wherever it stands among the arguments.
    write: WriteOptions,
    /// The plan's format, which all inputs are written in.
    to: Format,
}

/// What became of one input.
#[derive(Default)]
struct Outcome {
    converted: Converted,
    /// Warnings that may concern other inputs, too.
    notices: Notices,
}

/// Bytes of the files to write, with their labels.
type Blobs = Vec<(String, Vec<u8>)>;

impl Conversion<'_> {
    /// Converts one input, and compresses what it became; what was found until it failed is in the outcome.
    fn job(&self, job: &Job, console: &Console) -> (Outcome, Result<Blobs, Failure>) {
        let mut outcome = Outcome::default();
        let result = self.convert(job, &mut outcome, console).and_then(|()| {
            let _step = console.step("convert", "compression", &job.input.name());
            outcome.converted.blobs(self.to, job.packing, self.args.level())
        });
        (outcome, result)
    }

    /// Converts one input, message by message.
    ///
    /// Each message is read, cut to the types that were chosen, written and dropped before the next
    /// is read. With `--repair` a message of several that cannot be read is passed over, and
    /// counted as a loss; a file without frames has only the one, so there it stays an error.
    ///
    /// # Errors
    ///
    /// Whatever stops this input; `outcome` has what was found until then.
    fn convert(&self, job: &Job, outcome: &mut Outcome, console: &Console) -> Result<(), Failure> {
        let Self { args, read, write, to } = self;
        let Outcome { converted, notices } = outcome;
        let name = job.input.name();
        let mut content = Content::open(&job.input, &read.limits, console)?;
        converted.framing = content.framing();
        content.types_may_choose = to.options().contains(&"type");
        let may_pass = args.read.repairs() && converted.framing != Framing::None;
        content.each(read, console, |message| {
            let mut message = match message {
                Err(failure) if may_pass && failure.is_broken => {
                    notices.warn("message.unreadable", &name, || format!("{name}: {failure}"));
                    return converted.pass_over(failure);
                }
                message => message?,
            };
            met(notices, &name, &message)?;
            let from = message.reading.detected.format;
            taken(args, from, *to)?;
            // Of such a format the types say what its values are.
            let is_named = from.options().contains(&"type");
            let asked = args.read.types().iter().filter(|one| !is_named || types::is_all(one));
            let asked: Vec<_> = asked.cloned().collect();
            let (profiles, losses) = (&mut message.reading.profiles, &mut converted.losses);
            types::choose(profiles, &asked, *to, losses, (notices, &name))?;
            let _step = console.step("convert", "encode", &name);
            converted.add(message, &args.origin, *to, write)
        })?;
        if converted.messages == 0
            && let Some(failure) = converted.passed_over.take()
        {
            return Err(failure);
        }
        converted.stored = content.stored();
        if args.deny_loss && converted.is_lossy() {
            let message = "--deny-loss refuses the losses listed above; nothing was written";
            return Err(Failure::new(Exit::Denied, message));
        }
        Ok(())
    }
}

/// The most labels that a message lists.
const MOST_LISTED: usize = 10;

/// One run over all inputs: outputs are written and told of in the order of the inputs.
struct Run<'a> {
    args: &'a Args,
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
    fn new(args: &'a Args, console: &'a Console, to: Format) -> Self {
        let (report, tally) = (args.report(console), Tally::default());
        let (written, directories) = (HashSet::new(), BTreeSet::new());
        Self { args, console, to, report, tally, written, directories }
    }

    /// Writes the result of one input and reports on it. Other inputs go on if it failed.
    fn job(
        &mut self,
        session: &mut Session<'_>,
        job: &Job,
        (outcome, blobs): (Outcome, Result<Blobs, Failure>),
    ) {
        let name = job.input.name();
        let Outcome { converted, notices } = outcome;
        session.notices.merge(notices);
        match blobs.and_then(|blobs| self.store(job, blobs)) {
            Ok(outputs) => {
                self.tally.written(&name, &converted);
                session.notices.deprecated_written(&name, self.to);
                self.tell(session, &Report::done(&name, self.to, &converted, &outputs));
                self.tell_done(&name, &converted, &outputs);
            }
            Err(failure) if session.skip(&job.input, &failure) => {}
            Err(failure) => self.failed(session, &name, &failure, Some(&converted)),
        }
    }

    /// Writes what was converted; gives the names of the outputs.
    fn store(&mut self, job: &Job, blobs: Blobs) -> Result<Vec<String>, Failure> {
        let _step = self.console.step("convert", "store", &job.input.name());
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
            self.console.log(&Line::new(Level::Notice, "convert", wrote));
        }
    }

    /// The line of the log on an input that was converted: one for each, at INFO, whatever it lost.
    fn tell_done(&self, name: &str, converted: &Converted, outputs: &[String]) {
        let message =
            if converted.profiles == 1 { "Profile converted" } else { "Profiles converted" };
        let mut line = Line::new(Level::Info, "convert", message)
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
    fn failed(
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
            let mut line = Line::new(level, "convert", "Conversion failed").because(failure);
            if let Some(converted) = refused.filter(|_| self.report.is_none()) {
                line = line.with("losses", Tally::codes(converted));
            }
            self.console.log(&line.about(name));
        }
        session.ended(failure.exit);
    }
}

/// Notes what is to be said of how a message was read; what may as well be another is refused.
///
/// # Errors
///
/// A reading as likely as another with other sums: that is for the caller to decide.
fn met(notices: &mut Notices, name: &str, message: &Message) -> Result<(), Failure> {
    let detected = &message.reading.detected;
    notices.deprecated_read(name, detected.format);
    let findings = &message.reading.findings;
    if let Some(unused) = findings.iter().find(|f| f.code == "timestamps.label_unused") {
        notices.warn(unused.code, name, || format!("{name} has no such times: {}", unused.message));
    }
    if !message.is_guess() {
        return Ok(());
    }
    if let Certainty::Ambiguous(_) = detected.certainty {
        return Err(ambiguous(detected));
    }
    let (format, others) = (detected.format, names(detected.certainty.others()));
    notices.warn(&format!("{format} or {others}"), name, || {
        format!(
            "{name} was read as {format}, which is a guess: {others} fit as well and read something else; say which it is with --from"
        )
    });
    Ok(())
}

/// `Ok` when a format that is read or written takes the options that are for labels of pprof.
///
/// Asked of each message: only when it is read is its format known.
///
/// # Errors
///
/// One that would have no effect.
fn taken(args: &Args, from: Format, to: Format) -> Result<(), Failure> {
    let (time, links) = ("timestamp-label", "no-links");
    let lacks = |formats: &[Format], name| !formats.iter().any(|f| f.options().contains(&name));
    let message = if args.timestamp_label.is_some() && lacks(&[from], time) {
        format!("--{time} does not apply to reading {from}")
    } else if args.no_links && lacks(&[from, to], links) {
        format!("--{links} does not apply to reading {from} or writing {to}")
    } else {
        return Ok(());
    };
    Err(Failure::new(Exit::Usage, message))
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
