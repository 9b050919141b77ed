//! One run of `convert` over all inputs.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use otlp_profiles::compression::Level as Effort;
use otlp_profiles::{Certainty, Format, ReadOptions, WriteOptions};

use crate::console::{Console, Level, Line};
use crate::convert::Args;
use crate::convert::encode::Converted;
use crate::convert::plan::{Job, Plan, Target};
use crate::convert::report::{Form, Report};
use crate::convert::tally::Tally;
use crate::deprecations::Deprecations;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::reading::Content;
use crate::text::counted;

/// Converts every input, also when another one failed.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    let plan = match Plan::of(args) {
        Ok(plan) => plan,
        Err(message) => return crate::wrong_usage("convert", message),
    };
    let read = args.read_options();
    let write = args.write_options(&read.limits);
    let form = if console.is_json() { Form::Json } else { Form::Text };
    let mut run = Run {
        args,
        console,
        read,
        write,
        to: plan.format,
        form: args.report.unwrap_or(form),
        tally: Tally::default(),
        deprecations: Deprecations::default(),
        written: HashSet::new(),
    };
    let mut worst = Exit::Done;
    for (name, failure) in &plan.inputs.missing {
        worst = worst.max(run.failed(name, failure, None));
    }
    let sizes = plan.jobs.iter().map(|job| job.input.size());
    console.expect(plan.jobs.len() as u64, sizes.sum());
    for job in &plan.jobs {
        console.next(&job.input.name());
        worst = worst.max(run.job(job));
        console.done();
    }
    console.finish();
    run.tally.tell(console);
    run.deprecations.tell("convert", console);
    worst
}

/// One run over all inputs.
struct Run<'a> {
    args: &'a Args,
    console: &'a Console,
    read: ReadOptions,
    write: WriteOptions,
    to: Format,
    form: Form,
    tally: Tally,
    deprecations: Deprecations,
    /// What was written in this run, which not even `--force` may replace.
    written: HashSet<PathBuf>,
}

impl Run<'_> {
    fn job(&mut self, job: &Job) -> Exit {
        let name = job.input.name();
        let mut converted = Converted::default();
        match self.convert(job, &mut converted) {
            Ok(outputs) => {
                self.tally.written(&name, &converted);
                self.deprecations.written(&name, self.to);
                Report::done(&name, self.to, &converted, &outputs).tell(self.form, self.console);
                self.tell_done(&name, &converted, &outputs);
                Exit::Done
            }
            Err(failure) => self.failed(&name, &failure, Some(&converted)),
        }
    }

    /// Converts one input and writes it; gives the names of what was written.
    fn convert(&mut self, job: &Job, converted: &mut Converted) -> Result<Vec<String>, Failure> {
        let name = job.input.name();
        let step = self.console.step("convert", "load", &name);
        let mut content = Content::open(&job.input, &self.read.limits)?;
        drop(step);
        converted.framing = content.framing();
        let (console, deprecations) = (self.console, &mut self.deprecations);
        let (read, write, to) = (&self.read, &self.write, self.to);
        content.each(read, console, |message| {
            let format = message.reading.detected.format;
            if read.from.is_none() {
                unambiguous(&message.reading.detected.certainty, format)?;
            }
            deprecations.read(&name, format);
            let _step = console.step("convert", "encode", &name);
            converted.add(message.reading, to, write)
        })?;
        converted.stored = content.stored();
        drop(content);
        if self.args.deny_loss && converted.is_lossy() {
            let message = "something would be lost, which --deny-loss refuses; nothing was written";
            return Err(Failure::new(Exit::LossRefused, message));
        }
        self.store(job, converted)
    }

    fn store(&mut self, job: &Job, converted: &mut Converted) -> Result<Vec<String>, Failure> {
        let name = job.input.name();
        let effort = Effort::new(self.args.level).unwrap_or_default();
        let step = self.console.step("convert", "compression", &name);
        let blobs = converted.blobs(self.to, job.gzip.then_some(effort))?;
        drop(step);
        let step = self.console.step("convert", "store", &name);
        let outputs = match &job.target {
            Target::Stdout => to_stdout(&blobs, self.args.force)?,
            Target::File(path) => self.store_files(job, path, blobs)?,
        };
        drop(step);
        Ok(outputs)
    }

    fn store_files(
        &mut self,
        job: &Job,
        path: &Path,
        blobs: Vec<Vec<u8>>,
    ) -> Result<Vec<String>, Failure> {
        let of = blobs.len();
        let numbered = |(row, blob)| (crate::files::numbered(path, row, of), blob);
        let files: Vec<(PathBuf, Vec<u8>)> = blobs.into_iter().enumerate().map(numbered).collect();
        if let Some((path, _)) = files.iter().find(|(path, _)| self.written.contains(path)) {
            let path = crate::text::shown_path(path);
            let message = format!("{path} was written for another input of this run");
            return Err(Failure::new(Exit::Output, message));
        }
        if let Some(directory) = path.parent().filter(|_| job.make_directories) {
            fs::create_dir_all(directory).map_err(|error| output::unwritable(directory, &error))?;
        }
        output::to_files(&files, job.input.path.as_deref(), self.args.force)?;
        let names = files.iter().map(|(path, _)| path.to_string_lossy().into_owned()).collect();
        self.written.extend(files.into_iter().map(|(path, _)| path));
        Ok(names)
    }

    fn tell_done(&self, name: &str, converted: &Converted, outputs: &[String]) {
        let message =
            if converted.profiles == 1 { "Profile converted" } else { "Profiles converted" };
        let mut line = Line::new(Level::Info, "convert", message)
            .profile(converted.only_id())
            .with("from", converted.from())
            .with("to", self.to.name());
        if converted.profiles != 1 {
            line = line.with("profiles", converted.profiles);
        }
        if converted.messages != 1 {
            line = line.with("messages", converted.messages);
        }
        let bytes = format!("{}->{}", converted.stored, converted.bytes_out);
        let line = line
            .with("samples", converted.samples)
            .with("bytes", bytes)
            .with("in", name)
            .with("out", outputs.join(","));
        self.console.log(&line);
    }

    fn failed(&self, name: &str, failure: &Failure, converted: Option<&Converted>) -> Exit {
        let refused = failure.exit == Exit::LossRefused;
        if refused || self.form == Form::Json {
            let converted = converted.filter(|_| refused);
            Report::failed(name, self.to, converted, failure).tell(self.form, self.console);
        }
        let level = if failure.fatal { Level::Critical } else { Level::Error };
        let message = format!("Conversion failed: {failure}");
        self.console.log(&Line::new(level, "convert", message).with("in", name));
        failure.exit
    }
}

fn to_stdout(blobs: &[Vec<u8>], force: bool) -> Result<Vec<String>, Failure> {
    let [blob] = blobs else {
        let files = counted(blobs.len() as u64, "file");
        let message = format!("{files} are needed for these profiles: give -o OUT");
        return Err(Failure::new(Exit::Output, message));
    };
    output::to_stdout(blob, force)?;
    Ok(vec!["-".to_owned()])
}

/// A reading that is a guess is not converted.
fn unambiguous(certainty: &Certainty, format: Format) -> Result<(), Failure> {
    match certainty {
        Certainty::Ambiguous(others) => {
            let names: Vec<_> = others.iter().map(|other| other.name()).collect();
            let (name, others) = (format.name(), names.join(", "));
            let message =
                format!("reads as {name}, and as well as {others}; say which with --from");
            Err(Failure::new(Exit::Ambiguous, message))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guess_is_not_converted() {
        let format = Format::OTLP;
        let exit = |certainty| unambiguous(&certainty, format).err().map(|failure| failure.exit);
        assert_eq!(exit(Certainty::Certain), None);
        assert_eq!(exit(Certainty::Preferred(vec![Format::OTLP_1_9])), None);
        assert_eq!(exit(Certainty::Ambiguous(vec![Format::OTLP_1_9])), Some(Exit::Ambiguous));
    }
}
