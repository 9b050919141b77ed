//! One run of `convert` over all inputs.
//!
//! ```text
//! for each job   open ─► each message: read, choose types, add ─► refuse losses? ─► pack ─► write
//! afterwards     the tally of losses, what is said once a run, the highest exit code
//! ```
//!
//! The output of an input is written when all of it could be converted, never in part. Files appear
//! under their name when they are complete (`output`).

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use otlp_profiles::framing::Framing;
use otlp_profiles::{Certainty, Format, Losses, Profiles, ReadOptions, WriteOptions};

use crate::console::{Console, Level, Line};
use crate::convert::Args;
use crate::convert::encode::{Converted, loss};
use crate::convert::plan::{Job, Plan, Target};
use crate::convert::report::{Form, Report};
use crate::convert::tally::Tally;
use crate::exit::{Exit, Failure};
use crate::numbers::counted;
use crate::once::{self, Once};
use crate::output;
use crate::reading::{Content, Message, ambiguous, names};

/// Converts every input, also when another one failed.
///
/// What cannot be read is said first, then each input in its order; notes that hold for many inputs
/// and the tally come last.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    let plan = match Plan::of(args) {
        Ok(plan) => plan,
        Err(message) => return crate::wrong_usage("convert", args.json(), message),
    };
    let mut run = Run {
        args,
        console,
        read: args.read_options(),
        write: args.write_options(),
        to: plan.format,
        report: args.report(console),
        tally: Tally::default(),
        once: Once::default(),
        skipped: 0,
        written: HashSet::new(),
    };
    let mut worst = Exit::Done;
    for (name, failure) in &plan.inputs.missing {
        worst = worst.max(run.failed(name, failure, None));
    }
    for (name, failure) in &plan.inputs.passed_over {
        once::skipped(&mut run.once, console, "convert", name, failure);
    }
    if let Some(misnamed) = &plan.misnamed {
        console.log(&Line::new(Level::Warning, "convert", misnamed));
    }
    let sizes = plan.jobs.iter().map(|job| job.input.size());
    console.progress().expect(sizes.sum());
    for job in &plan.jobs {
        console.progress().next(&job.input.name());
        worst = worst.max(run.job(job));
    }
    console.progress().finish();
    if run.skipped > 0 && run.skipped == plan.jobs.len() {
        worst = worst.max(once::nothing_found("convert", console));
    }
    if run.report.is_none() {
        run.tally.tell(console);
    }
    run.once.tell("convert", console);
    worst
}

/// One run over all inputs.
struct Run<'a> {
    args: &'a Args,
    console: &'a Console,
    /// Made once of the arguments; the same for every input.
    read: ReadOptions,
    /// Likewise, so the same input gives the same bytes wherever it stands among the arguments.
    write: WriteOptions,
    /// The plan's format, which all inputs are written in.
    to: Format,
    /// How each input's losses are reported; else the log has those of the run.
    report: Option<Form>,
    /// Losses of all inputs that were written, for a log; a report for each input makes it
    /// needless.
    tally: Tally,
    /// Warnings that are true of many inputs.
    once: Once,
    /// The files of directories that are no profiles.
    skipped: usize,
    /// What was written in this run, which not even `--force` may replace.
    written: HashSet<PathBuf>,
}

impl Run<'_> {
    /// Converts one input and tells about it. Its failure is an exit code here and stops nobody
    /// else.
    fn job(&mut self, job: &Job) -> Exit {
        let name = job.input.name();
        let mut converted = Converted::default();
        match self.convert(job, &mut converted) {
            Ok(outputs) => {
                self.tally.written(&name, &converted);
                once::deprecated_written(&mut self.once, &name, self.to);
                self.tell(&Report::done(&name, self.to, &converted, &outputs));
                self.tell_done(&name, &converted, &outputs);
                Exit::Done
            }
            Err(failure) if job.input.may_be_skipped(&failure) => {
                self.skipped += 1;
                once::skipped(&mut self.once, self.console, "convert", &name, &failure);
                Exit::Done
            }
            Err(failure) => self.failed(&name, &failure, Some(&converted)),
        }
    }

    /// Converts one input and writes it; gives the names of what was written.
    ///
    /// Each message is read, cut to the types that were chosen, written and dropped before the next
    /// is read. With `--repair` a message of several that cannot be read is passed over, and
    /// counted as a loss; a file without frames has only the one, so there it stays an error.
    ///
    /// # Errors
    ///
    /// Whatever stops this input; `converted` has what was found until then.
    fn convert(&mut self, job: &Job, converted: &mut Converted) -> Result<Vec<String>, Failure> {
        let name = job.input.name();
        let mut content = Content::open(&job.input, &self.read.limits, self.console)?;
        converted.framing = content.framing();
        let types = self.args.read.types();
        content.types_may_choose = self.to.options().contains(&"type");
        let Self { args, console, read, write, to, once, .. } = self;
        let may_pass = args.read.repairs() && converted.framing != Framing::None;
        content.each(read, console, |message| {
            let mut message = match message {
                Err(failure) if may_pass && failure.is_broken => {
                    once.note("message.unreadable", &name, || format!("{name}: {failure}"));
                    return converted.pass_over(failure);
                }
                message => message?,
            };
            met(once, &name, &message)?;
            taken(args, message.reading.detected.format, *to)?;
            if !message.reading.detected.format.options().contains(&"type") {
                choose(&mut message.reading.profiles, types, &mut converted.losses)?;
            }
            let _step = console.step("convert", "encode", &name);
            converted.add(message, &args.origin, *to, write)
        })?;
        if converted.messages == 0
            && let Some(failure) = converted.passed_over.take()
        {
            return Err(failure);
        }
        converted.stored = content.stored();
        drop(content);
        if self.args.deny_loss && converted.is_lossy() {
            let message = "something would be lost, which --deny-loss refuses; nothing was written";
            return Err(Failure::new(Exit::Denied, message));
        }
        self.store(job, converted)
    }

    /// Compression comes last: what is refused was not compressed in vain.
    ///
    /// Compresses and writes what was converted; gives the names of the outputs.
    fn store(&mut self, job: &Job, converted: &mut Converted) -> Result<Vec<String>, Failure> {
        let name = job.input.name();
        let effort = self.args.level();
        let step = self.console.step("convert", "compression", &name);
        let blobs = converted.blobs(self.to, job.packing, effort)?;
        drop(step);
        let step = self.console.step("convert", "store", &name);
        let outputs = match &job.target {
            Target::Stdout => to_stdout(&blobs, self.args.force)?,
            Target::File(path) => self.store_files(job, path, blobs)?,
        };
        drop(step);
        Ok(outputs)
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
        blobs: Vec<Vec<u8>>,
    ) -> Result<Vec<String>, Failure> {
        let of = blobs.len();
        let takes_all = output::is_null(path);
        if of > 1 && output::is_stream(path) && !takes_all {
            return Err(several(of));
        }
        let name = |row| match takes_all {
            true => path.to_owned(),
            false => crate::files::numbered(path, row, of),
        };
        let numbered = |(row, blob)| (name(row), blob);
        let files: Vec<(PathBuf, Vec<u8>)> = blobs.into_iter().enumerate().map(numbered).collect();
        let is_written = |path: &PathBuf| !takes_all && self.written.contains(path);
        if let Some((path, _)) = files.iter().find(|(path, _)| is_written(path)) {
            let path = crate::text::shown_path(path);
            let message = format!("{path} was written for another input of this run");
            return Err(Failure::new(Exit::Output, message));
        }
        if let Some(directory) = path.parent().filter(|_| job.make_directories) {
            output::make_directory(directory)?;
        }
        output::to_files(&files, job.input.path.as_deref(), self.args.force)?;
        let mut names: Vec<String> =
            files.iter().map(|(path, _)| path.to_string_lossy().into_owned()).collect();
        names.dedup();
        self.written.extend(files.into_iter().map(|(path, _)| path));
        Ok(names)
    }

    /// Prints the report on an input, if reports were asked for and there is something to say.
    fn tell(&self, report: &Report<'_>) {
        if let Some(text) = self.report.and_then(|form| report.to_string(form, self.console)) {
            self.console.say(&text);
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
    fn failed(&self, name: &str, failure: &Failure, converted: Option<&Converted>) -> Exit {
        let refused = converted.filter(|_| failure.exit == Exit::Denied);
        if refused.is_some() || self.report == Some(Form::Json) {
            self.tell(&Report::failed(name, self.to, refused, failure));
        }
        if self.report != Some(Form::Json) {
            let level = if failure.fatal { Level::Critical } else { Level::Error };
            let mut line = Line::new(level, "convert", "Conversion failed").because(failure);
            if let Some(converted) = refused.filter(|_| self.report.is_none()) {
                line = line.with("losses", Tally::codes(converted));
            }
            self.console.log(&line.about(name));
        }
        failure.exit
    }
}

/// Notes what is to be said of how a message was read; what may as well be another is refused.
///
/// # Errors
///
/// A reading as likely as another with other sums: that is for the caller to decide.
fn met(once: &mut Once, name: &str, message: &Message) -> Result<(), Failure> {
    let detected = &message.reading.detected;
    once::deprecated_read(once, name, detected.format);
    let findings = &message.reading.findings;
    if let Some(unused) = findings.iter().find(|f| f.code == "timestamps.label_unused") {
        once.note(unused.code, name, || format!("{name} has no such times: {}", unused.message));
    }
    if !message.is_guess() {
        return Ok(());
    }
    if let Certainty::Ambiguous(_) = detected.certainty {
        return Err(ambiguous(detected));
    }
    let (format, others) = (detected.format, names(detected.certainty.others()));
    once.note(&format!("{format} or {others}"), name, || {
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

/// Leaves the sample types that were chosen, if any were, and counts those that are left out.
///
/// `kind` alone, or `kind:unit`.
///
/// A loss rather than silence, as a sum over all types is another one afterwards. It is said of
/// what the caller left out as of anything else: the report is to be the whole difference.
///
/// # Errors
///
/// No profile is left: the sentence lists up to ten types that there are.
fn choose(
    profiles: &mut Profiles,
    types: &[(String, String)],
    losses: &mut Losses,
) -> Result<(), Failure> {
    if types.is_empty() {
        return Ok(());
    }
    let left_out = loss("sample_type.left_out")?;
    let mut known: Vec<String> = Vec::new();
    profiles.retain_sample_types(|entry, kind| {
        let [name, unit] = [kind.name, kind.unit].map(|text| entry.dictionary().text(text));
        let shown = format!("{name}:{unit}");
        if known.len() < 10 && !known.contains(&shown) {
            known.push(shown);
        }
        let wanted = types.iter().any(|(kind, of)| kind == name && (of.is_empty() || of == unit));
        losses.add_many(left_out, u64::from(!wanted), || format!("{name}:{unit}"));
        wanted
    });
    if profiles.iter().next().is_some() || known.is_empty() {
        return Ok(());
    }
    let message = format!("it has no such sample type as --type says, but {}", known.join(", "));
    Err(Failure::new(Exit::Usage, message))
}

/// Several files cannot go out one behind the other: what reads them could not tell where one ends.
fn to_stdout(blobs: &[Vec<u8>], force: bool) -> Result<Vec<String>, Failure> {
    let [blob] = blobs else {
        return Err(several(blobs.len()));
    };
    output::to_stdout(blob, force)?;
    Ok(vec!["-".to_owned()])
}

/// So many files are needed where there is room for one.
fn several(files: usize) -> Failure {
    let files = counted(files as u64, "file");
    let message = format!("{files} are needed for these profiles: give -o OUT, the name of a file");
    Failure::new(Exit::Output, message)
}
