//! `otlp-profiles pipeline`: profiles walk through the stages of a configuration file.
//!
//! ```text
//! inputs ─► by time ─► sources choose sample types ─► sinks: stages ─► publishers ─► files, stdout
//! ```
//!
//! Several inputs are read twice: first for their times.

mod config;
mod publisher;
mod stages;
mod yaml;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use otlp_profiles::transform::{Pipeline, Published};
use otlp_profiles::{Limits, Profiles, ReadOptions, Reading, WriteOptions};

use crate::console::{Console, Level, Line};
use crate::convert::encode::Converted;
use crate::convert::report::sentences;
use crate::exit::{Exit, Failure};
use crate::info::summaries::Quick;
use crate::input::{Input, Inputs, unreadable};
use crate::limits::{OutputLimits, file_options};
use crate::notices::Notices;
use crate::numbers::counted;
use crate::pipeline::config::{Config, Sink, Source};
use crate::pipeline::publisher::{Publisher, Written};
use crate::reading::{Content, ReadArgs};
use crate::readings::warn_of_repairs;
use crate::session::{Session, Turn};
use crate::text::{shown, shown_path};
use crate::time::{rfc3339, unix_nanos};

/// The arguments of `pipeline`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP, next_help_heading = "Pipeline")]
pub(crate) struct Args {
    /// Files, directories, quoted patterns, or - for stdin; they are read oldest first, by the profiles' times
    #[arg(required = true, value_name = "FILE", help_heading = "Input")]
    inputs: Vec<PathBuf>,
    /// The configuration, a YAML file: docs/PIPELINES.md explains it
    #[arg(short, long, value_name = "CONFIG")]
    config: PathBuf,
    /// Replace files; write binary to a terminal
    #[arg(short, long)]
    force: bool,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    limits: OutputLimits,
}

const AFTER_HELP: &str = "\
Examples:
  otlp-profiles pipeline -c pipeline.yaml night/
  otlp-profiles pipeline -c growth.yaml 'heap-*.pb.gz' > growth.otlp";

/// How far the clock of another machine may be ahead: five minutes in nanoseconds.
const SKEW: i128 = 300_000_000_000;

/// The subcommand, for messages.
const NAME: &str = "pipeline";

/// Sends the profiles of all inputs through the stages.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    let mut session = Session::new(NAME, console);
    let mut inputs = Inputs::of(&args.inputs);
    let is_stream = |input: &Input| {
        let path = input.path.as_ref();
        path.is_none_or(|path| path.metadata().is_ok_and(|file| !file.is_file()))
    };
    if inputs.all.len() > 1 && inputs.all.iter().any(is_stream) {
        let message = "stdin or a pipe must be the only input: several inputs are read twice, first for their times";
        return crate::wrong_usage(NAME, false, message);
    }
    let config = match read_config(&args.config) {
        Ok(config) => config,
        Err(failures) => {
            for failure in failures {
                session.ended(failure.exit);
                let line = Line::new(Level::Critical, NAME, "Configuration refused");
                console.log(&line.because(failure));
            }
            return session.finish();
        }
    };
    for warning in &config.warnings {
        session.notices.warn(warning, "", || warning.clone());
    }
    let options = args.read.options();
    config.leave_out_outputs(&mut inputs);
    let ordered = by_time(inputs, &options, &mut session);
    let write = args.limits.set(file_options());
    let mut run = Run::new(config, args.force, options.limits, write);
    let work = |input: &Input, console: &Console| read(input, &options, console);
    session.for_each(&Inputs::default(), &ordered, work, |session, turn| {
        if let Turn::Done(input, read) = turn {
            run.input(input, read, session);
        }
        ControlFlow::Continue(())
    });
    run.finish(&mut session);
    session.finish()
}

fn read_config(path: &Path) -> Result<Config, Vec<Failure>> {
    let name = shown_path(path);
    let text = std::fs::read_to_string(path).map_err(|error| {
        let failure = unreadable(&error);
        vec![Failure { message: format!("{name} {}", failure.message), ..failure }]
    })?;
    let usage = |message| Failure::new(Exit::Usage, message);
    Config::parse(&name, &text).map_err(|errors| errors.into_iter().map(usage).collect())
}

/// The inputs that can be read, in the order of their profiles' ends. Equal ones keep the order of the arguments.
fn by_time(inputs: Inputs, options: &ReadOptions, session: &mut Session<'_>) -> Vec<Input> {
    let mut timed = Vec::new();
    let work = |input: &Input, console: &Console| {
        // A single input needs no order, and a stream can be read only once.
        if inputs.all.len() == 1 {
            return Ok(0);
        }
        let mut end = None;
        let mut content = Content::open(input, &options.limits, console)?;
        content.skips_messages = true;
        content.each::<Quick>(options, console, |message| {
            end = end.max(message?.reading.time_range().map(|(_, end)| end));
            Ok(())
        })?;
        Ok(end.unwrap_or(0))
    };
    session.for_each(&inputs, &inputs.all, work, |session, turn| {
        match turn {
            Turn::Missing(name, failure) => session.failed("Reading", Some(name), failure),
            Turn::Done(input, Ok(end)) => timed.push((end, input.clone())),
            Turn::Done(input, Err(failure)) => {
                if !session.skip(input, &failure) {
                    session.failed("Reading", Some(&input.name()), &failure);
                }
            }
        }
        ControlFlow::Continue(())
    });
    timed.sort_by_key(|(end, _)| *end);
    timed.into_iter().map(|(_, input)| input).collect()
}

/// An input and what was noticed.
#[derive(Default)]
struct Read {
    messages: Vec<Profiles>,
    converted: Converted,
    notices: Notices,
    failure: Option<Failure>,
}

fn read(input: &Input, options: &ReadOptions, console: &Console) -> Read {
    let (mut read, name) = (Read::default(), input.name());
    let result = Content::open(input, &options.limits, console).and_then(|mut content| {
        content.skips_messages = true;
        content.each::<Reading>(options, console, |message| {
            let message = message?;
            message.check_certainty(&name, &mut read.notices)?;
            read.messages.push(read.converted.note(message));
            Ok(())
        })?;
        content.skipped.warn(&name, &mut read.notices);
        read.converted.note_skipped(&content.skipped)
    });
    read.failure = result.err();
    read
}

/// The stages and publishers of a run.
struct Run {
    /// Sources, and whether they have matched a sample type.
    sources: Vec<(Source, bool)>,
    sinks: Vec<Running>,
    options: WriteOptions,
    force: bool,
    /// The end of the latest profile.
    now: i128,
    /// The names of all sample types of the inputs.
    types: BTreeSet<String>,
}

/// A sink with its stages and what was lost in it.
struct Running {
    sink: Sink,
    pipeline: Pipeline,
    /// The losses of the stages.
    lost: Converted,
    /// The losses of each publisher.
    published: Vec<Converted>,
}

impl Run {
    fn new(config: Config, force: bool, limits: Limits, options: WriteOptions) -> Self {
        let sinks = config.sinks.into_iter().map(|mut sink| {
            let pipeline = Pipeline::new(std::mem::take(&mut sink.stages)).limits(limits);
            let published = sink.publishers.iter().map(|_| Converted::default()).collect();
            Running { sink, pipeline, lost: Converted::default(), published }
        });
        let sinks = sinks.collect();
        let sources = config.sources.into_iter().map(|source| (source, false)).collect();
        Self { sources, sinks, options, force, now: 0, types: BTreeSet::new() }
    }

    /// Sends the messages of an input through all sinks.
    fn input(&mut self, input: &Input, read: Read, session: &mut Session<'_>) {
        let name = input.name();
        if let Some(failure) = &read.failure {
            // The first reading finds most errors, but not those of references.
            if !session.skip(input, failure) {
                session.failed("Reading", Some(&name), failure);
            }
        }
        session.notices.merge(read.notices);
        warn_of_repairs(&name, &read.converted.findings, &mut session.notices);
        for profiles in read.messages {
            let end = end_of(&profiles).unwrap_or(self.now);
            self.now = self.now.max(end);
            warn_of_future(&name, end, &mut session.notices);
            for of in profiles.iter().flat_map(|profile| profile.sample_types()) {
                self.types.insert(profiles.dictionary().text(of.name).to_owned());
            }
            for (source, has_matched) in &mut self.sources {
                let mut wanted = profiles.clone();
                wanted.retain_sample_types(|entry, of| {
                    let has = source.has(entry.dictionary().text(of.name));
                    *has_matched |= has;
                    has
                });
                for row in &source.sinks {
                    self.sinks[*row].pipeline.push(wanted.clone());
                }
            }
            for running in &mut self.sinks {
                running.pipeline.advance(self.now);
                running.pipeline.flush();
                running.publish(self.now, &self.options, self.force, session);
            }
        }
    }

    /// Publishes what stages hold, completes all files, and reports what was lost.
    fn finish(&mut self, session: &mut Session<'_>) {
        // Without any type, no input was read.
        let all = self.sources.iter().filter(|_| !self.types.is_empty());
        for (source, _) in all.filter(|(_, has_matched)| !has_matched) {
            let types: Vec<&str> = self.types.iter().map(String::as_str).collect();
            let types = shown(&types.join(", "));
            session.notices.warn(&format!("unmatched {}", source.name), "", || {
                format!("source {} matches no sample type of the inputs: {types}", source.name)
            });
        }
        for running in &mut self.sinks {
            running.pipeline.finish();
            running.publish(self.now, &self.options, self.force, session);
            running.finish(self.force, session);
        }
    }
}

impl Running {
    /// Publishes what left the stages. Errors of one profile or publisher do not stop the others.
    fn publish(
        &mut self,
        now: i128,
        options: &WriteOptions,
        force: bool,
        session: &mut Session<'_>,
    ) {
        let Published { profiles, losses, errors, .. } = match self.pipeline.take() {
            Ok(published) => published,
            Err(error) => {
                let failure = Failure::of(&error, Exit::Output);
                return session.failed("Pipeline", Some(&self.sink.name), &failure);
            }
        };
        self.lost.losses.merge(&losses);
        for error in &errors {
            let failure = Failure::of(error, Exit::Output);
            session.failed("Pipeline", Some(&format!("sink {}", self.sink.name)), &failure);
        }
        let Some(profiles) = profiles else { return };
        let end = end_of(&profiles).unwrap_or(now);
        for (publisher, lost) in self.sink.publishers.iter_mut().zip(&mut self.published) {
            let written = publisher.publish(&profiles, end, options, force);
            tell(&self.sink.name, publisher, written, lost, session);
        }
    }

    /// Completes the files, and reports what was lost and what had no effect.
    fn finish(&mut self, force: bool, session: &mut Session<'_>) {
        let Self { sink, pipeline, lost, published } = self;
        for (publisher, lost) in sink.publishers.iter_mut().zip(&mut *published) {
            let written = publisher.write(force);
            tell(&sink.name, publisher, written, lost, session);
        }
        let name = &sink.name;
        let console = session.console;
        let notes = console.shows(Level::Info);
        let urls = sink.publishers.iter().map(|publisher| publisher.url.clone());
        let all = std::iter::once((format!("sink {name}"), &*lost)).chain(urls.zip(&*published));
        for (of, lost) in all {
            for sentence in sentences(lost, notes) {
                let message = format!("{}: {sentence}", shown(&of));
                console.log(&Line::new(Level::Warning, NAME, message));
            }
        }
        for sentence in pipeline.unmatched() {
            let message = format!("sink {name}: {}", shown(&sentence));
            session.notices.warn(&message, "", || message.clone());
        }
        if sink.publishers.iter().all(Publisher::is_unused) {
            session.notices.warn(&format!("unused {name}"), "", || {
                format!("sink {name} published nothing: no profile left its last transformer")
            });
        }
    }
}

/// Warns of a profile that ends later than now by the clock of this machine.
fn warn_of_future(name: &str, end: i128, notices: &mut Notices) {
    if let Some(time) = rfc3339(end).filter(|_| end > unix_nanos() + SKEW) {
        notices.warn("future", name, || {
            format!("{name}: a profile ends at {time}, which is in the future: its clock or that of this machine is wrong")
        });
    }
}

/// The end of the last profile, in nanoseconds since 1970.
fn end_of(profiles: &Profiles) -> Option<i128> {
    profiles.iter().map(|of| of.time_unix_nano() + of.duration_nanos().max(0)).max()
}

/// Logs what a publisher wrote, or why it did not.
fn tell(
    sink: &str,
    publisher: &Publisher,
    written: Result<Option<Written>, Failure>,
    lost: &mut Converted,
    session: &mut Session<'_>,
) {
    match written {
        Ok(None) => {}
        Ok(Some(Written { names, converted, expired })) => {
            if !expired.is_empty() {
                let files = counted(expired.len() as u64, "file");
                let line = Line::new(Level::Notice, NAME, format!("{files} expired and removed"));
                session.console.log(&line.with("sink", sink).with("files", expired.join(",")));
            }
            let line = Line::new(Level::Info, NAME, "Profiles published")
                .with("sink", sink)
                .count("profiles", converted.profiles)
                .count("samples", converted.samples)
                .count("bytes", converted.bytes_out)
                .with("out", names.join(","));
            session.console.log(&line);
            lost.add(converted);
        }
        Err(failure) => session.failed("Publication", Some(&publisher.url), &failure),
    }
}
