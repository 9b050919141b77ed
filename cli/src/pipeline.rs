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

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use otlp_profiles::transform::{Pipeline, Published};
use otlp_profiles::{Limits, Profiles, ReadOptions, Reading, WriteOptions};

use crate::console::{Console, Level, Line};
use crate::convert::encode::Converted;
use crate::convert::tally::Tally;
use crate::exit::{Exit, Failure};
use crate::info::summaries::Quick;
use crate::input::{Input, Inputs, unreadable};
use crate::notices::Notices;
use crate::pipeline::config::{Config, Sink, Source};
use crate::pipeline::publisher::{Publisher, Written};
use crate::reading::{Content, ReadArgs};
use crate::session::{Session, Turn};
use crate::text::shown_path;

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
}

const AFTER_HELP: &str = "\
Examples:
  otlp-profiles pipeline -c pipeline.yaml night/
  otlp-profiles pipeline -c growth.yaml 'heap-*.pb.gz' > growth.otlp";

/// The subcommand, for messages.
const NAME: &str = "pipeline";

/// Sends the profiles of all inputs through the stages.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    let mut session = Session::new(NAME, console);
    let inputs = Inputs::of(&args.inputs);
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
    let ordered = by_time(inputs, &options, &mut session);
    let mut run = Run::new(config, args.force, options.limits);
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
        content.each::<Reading>(options, console, |message| {
            let message = message?;
            message.check_certainty(&name, &mut read.notices)?;
            read.messages.push(read.converted.note(message));
            Ok(())
        })
    });
    read.failure = result.err();
    read
}

/// The stages and publishers of a run.
struct Run {
    sources: Vec<Source>,
    sinks: Vec<(Sink, Pipeline)>,
    tally: Tally,
    options: WriteOptions,
    force: bool,
    /// The end of the latest profile.
    now: i128,
}

impl Run {
    fn new(config: Config, force: bool, limits: Limits) -> Self {
        let sinks = config.sinks.into_iter().map(|mut sink| {
            let stages = std::mem::take(&mut sink.stages);
            (sink, Pipeline::new(stages).limits(limits))
        });
        let options = WriteOptions::default().max_output_bytes(Limits::file().max_output_bytes);
        let tally = Tally::default();
        Self { sources: config.sources, sinks: sinks.collect(), tally, options, force, now: 0 }
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
        self.tally.written(&name, &read.converted);
        for profiles in read.messages {
            self.now = self.now.max(end_of(&profiles).unwrap_or(self.now));
            for source in &self.sources {
                let mut wanted = profiles.clone();
                wanted
                    .retain_sample_types(|entry, of| source.has(entry.dictionary().text(of.name)));
                for row in &source.sinks {
                    self.sinks[*row].1.push(wanted.clone());
                }
            }
            for row in 0..self.sinks.len() {
                let pipeline = &mut self.sinks[row].1;
                pipeline.advance(self.now);
                pipeline.flush();
                self.publish(row, session);
            }
        }
    }

    /// Publishes what stages hold, and completes all files.
    fn finish(&mut self, session: &mut Session<'_>) {
        for row in 0..self.sinks.len() {
            self.sinks[row].1.finish();
            self.publish(row, session);
            let (sink, _) = &mut self.sinks[row];
            for publisher in &mut sink.publishers {
                let written = publisher.write(self.force);
                tell(&sink.name, publisher, written, &mut self.tally, session);
            }
            if sink.publishers.iter().all(Publisher::is_unused) {
                let name = &sink.name;
                session.notices.warn(&format!("unused {name}"), "", || {
                    format!("sink {name} published nothing: no profile left its last transformer")
                });
            }
        }
        self.tally.tell(NAME, session.console);
    }

    /// Publishes what left the stages of a sink. Errors of one profile or publisher do not stop the others.
    fn publish(&mut self, row: usize, session: &mut Session<'_>) {
        let (sink, pipeline) = &mut self.sinks[row];
        let Published { profiles, losses, errors, .. } = match pipeline.take() {
            Ok(published) => published,
            Err(error) => {
                let failure = Failure::of(&error, Exit::Output);
                return session.failed("Pipeline", Some(&sink.name), &failure);
            }
        };
        let mut lost = Converted::default();
        lost.losses = losses;
        self.tally.written(&format!("sink {}", sink.name), &lost);
        for error in &errors {
            let failure = Failure::of(error, Exit::Output);
            session.failed("Pipeline", Some(&format!("sink {}", sink.name)), &failure);
        }
        let Some(profiles) = profiles else { return };
        let end = end_of(&profiles).unwrap_or(self.now);
        for publisher in &mut sink.publishers {
            let written = publisher.publish(&profiles, end, &self.options, self.force);
            tell(&sink.name, publisher, written, &mut self.tally, session);
        }
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
    tally: &mut Tally,
    session: &mut Session<'_>,
) {
    match written {
        Ok(None) => {}
        Ok(Some(Written { names, converted })) => {
            tally.written(&publisher.url, &converted);
            let line = Line::new(Level::Info, NAME, "Profiles published")
                .with("sink", sink)
                .count("profiles", converted.profiles)
                .count("samples", converted.samples)
                .count("bytes", converted.bytes_out)
                .with("out", names.join(","));
            session.console.log(&line);
        }
        Err(failure) => session.failed("Publication", Some(&publisher.url), &failure),
    }
}
