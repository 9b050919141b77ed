//! Converts an input to the bytes of its outputs, on any thread.
//!
//! ```text
//! each_message: read, choose types ─► the verb ─► encode ─► pack: deny losses, frame, compress
//! ```

use std::ops::ControlFlow;

use otlp_profiles::framing::Framing;
use otlp_profiles::transform::MergeOptions;
use otlp_profiles::{Format, Limits, Profiles, ReadOptions, WriteOptions};

use crate::console::Console;
use crate::convert::Args;
use crate::convert::encode::{Converted, Part};
use crate::convert::plan::Job;
use crate::convert::types::Choice;
use crate::exit::{Exit, Failure};
use crate::filters::{Selected, drop_declared};
use crate::input::{Input, Inputs};
use crate::notices::Notices;
use crate::reading::{Content, Message};
use crate::session::{Session, Turn};
use crate::source::is_all;
use crate::sum::Sum;

/// The options of a run. The same input gives the same bytes, whatever its position among the
/// arguments.
pub(crate) struct Conversion<'a> {
    pub(crate) args: &'a Args,
    pub(crate) verb: &'static Verb,
    read: ReadOptions,
    write: WriteOptions,
    pub(crate) to: Format,
    /// Whether [sums](Self::sum) are of inputs without the frames that they declare to be of no interest.
    pub(crate) apply_frames: bool,
    /// Whether unreadable messages of a file of several are skipped, as reports do.
    pub(crate) skips_messages: bool,
}

/// A subcommand that reads and writes profiles, with the words that its messages use.
pub(crate) struct Verb {
    pub(crate) name: &'static str,
    /// As in `Conversion failed`.
    pub(crate) noun: &'static str,
    /// As in `Profile converted`.
    pub(crate) past: &'static str,
}

/// Turns the profiles of a message into those to write.
pub(crate) type Apply<'a> =
    dyn Fn(Profiles, &mut Converted, &Conversion<'_>) -> Result<Vec<Part>, Failure> + Sync + 'a;

/// The result of one input.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) converted: Converted,
    /// Warnings that may concern other inputs as well.
    pub(crate) notices: Notices,
}

/// The bytes of the files to write, with their labels.
pub(crate) type Blobs = Vec<(String, Vec<u8>)>;

impl<'a> Conversion<'a> {
    pub(crate) fn new(args: &'a Args, verb: &'static Verb, to: Format) -> Self {
        let (read, write) = (args.read_options(), args.write_options());
        Self { args, verb, read, write, to, apply_frames: false, skips_messages: false }
    }

    /// The limits for reading files, as the arguments set them.
    pub(crate) fn limits(&self) -> Limits {
        self.read.limits
    }

    pub(crate) fn write_options(&self) -> &WriteOptions {
        &self.write
    }

    /// Converts one input and compresses the result. If that fails, the outcome has the findings up
    /// to the failure.
    pub(crate) fn job(
        &self,
        job: &Job,
        apply: &Apply<'_>,
        console: &Console,
    ) -> (Outcome, Result<Blobs, Failure>) {
        let mut outcome = Outcome::default();
        let name = job.input.name();
        let result = self
            .each_message(&job.input, &mut outcome, true, console, |converted, message| {
                let _step = console.step(self.verb.name, "encode", &name);
                self.add(converted, message, apply)
            })
            .and_then(|()| self.pack(&mut outcome.converted, job, console));
        (outcome, result)
    }

    /// Applies the verb to a message and encodes the result.
    fn add(
        &self,
        converted: &mut Converted,
        message: Message,
        apply: &Apply<'_>,
    ) -> Result<(), Failure> {
        let mut profiles = converted.note(message);
        self.set_origin(&mut profiles)?;
        let parts = apply(profiles, converted, self)?;
        parts.into_iter().try_for_each(|part| self.encode(converted, part))
    }

    /// Sets the resource attributes and the scope that the arguments specify.
    pub(crate) fn set_origin(&self, profiles: &mut Profiles) -> Result<(), Failure> {
        self.args.origin.set(profiles).map_err(|error| Failure::writing(&error))
    }

    /// Keeps the sample types that the arguments select, or the one that the format holds. `sum` names the inputs.
    pub(crate) fn choose_types(
        &self,
        profiles: &mut Profiles,
        outcome: &mut Outcome,
        name: &str,
    ) -> Result<(), Failure> {
        let Outcome { converted, notices } = outcome;
        let mut choice = Choice::default();
        choice.keep(profiles, self.args.read.types(), self.to, &mut converted.losses)?;
        choice.finish(name, notices)
    }

    /// Encodes one payload.
    pub(crate) fn encode(&self, converted: &mut Converted, part: Part) -> Result<(), Failure> {
        converted.encode(part, self.to, &self.write)
    }

    /// Frames and compresses the payloads.
    ///
    /// # Errors
    ///
    /// `--deny-loss` was given and data was lost.
    pub(crate) fn pack(
        &self,
        converted: &mut Converted,
        job: &Job,
        console: &Console,
    ) -> Result<Blobs, Failure> {
        if self.args.deny_loss && converted.is_lossy() {
            let message = "--deny-loss refuses the losses listed above; nothing was written";
            return Err(Failure::new(Exit::Denied, message));
        }
        let _step = console.step(self.verb.name, "compression", &job.input.name());
        converted.blobs(self.to, job.packing, self.args.level(), self.args.is_for_receiver())
    }

    /// Adds up inputs on all cores. `see` gets the sum of each input, and `failed` the inputs that
    /// cannot be read.
    ///
    /// Returns `None` if no input was read, or the sum failed, which ends the run.
    pub(crate) fn sum(
        &self,
        session: &mut Session<'_>,
        inputs: &Inputs,
        options: &MergeOptions,
        outcome: &mut Converted,
        mut see: impl FnMut(&Sum) -> Result<(), Failure>,
        mut failed: impl FnMut(&mut Session<'_>, &str, &Failure),
    ) -> Option<Sum> {
        let console = session.console;
        let (mut all, mut added, mut is_whole) = (Sum::new(options), 0, true);
        let work = |input: &Input, console: &Console| {
            let (mut outcome, mut sum) = (Outcome::default(), Sum::new(options));
            let read = self.add_messages(input, &mut outcome, &mut sum, console);
            (outcome, read.and_then(|()| sum.merge()))
        };
        let found = session.for_each(inputs, &inputs.all, work, |session, turn| {
            let (input, one, sum) = match turn {
                Turn::Missing(name, failure) => {
                    failed(session, name, failure);
                    return ControlFlow::Continue(());
                }
                Turn::Done(input, (one, Ok(sum))) => (input, one, sum),
                Turn::Done(input, (_, Err(failure))) => {
                    if !session.skip(input, &failure) {
                        failed(session, &input.name(), &failure);
                    }
                    return ControlFlow::Continue(());
                }
            };
            outcome.add(one.converted);
            session.notices.merge(one.notices);
            added += 1;
            let again =
                |all: &mut Sum| self.add_messages(input, &mut Outcome::default(), all, console);
            match see(&sum).and_then(|()| all.append(sum, input, again)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(failure) => {
                    // The sum has a part of the input, so it is of no use.
                    is_whole = false;
                    failed(session, &input.name(), &failure.of_sum(added));
                    ControlFlow::Break(())
                }
            }
        });
        (found && is_whole && added > 0).then_some(all)
    }

    fn add_messages(
        &self,
        input: &Input,
        outcome: &mut Outcome,
        sum: &mut Sum,
        console: &Console,
    ) -> Result<(), Failure> {
        self.each_message(input, outcome, false, console, |converted, message| {
            let mut profiles = converted.note(message);
            if self.apply_frames {
                drop_declared(&mut profiles, "")?;
            }
            sum.add(input, profiles)
        })
    }

    /// Reads an input message by message, and passes each to `add`, with `chooses_types` only the sample types that the
    /// arguments select or the format holds.
    ///
    /// Only one message is in memory at a time. With `--skip-unreadable` or `--repair`, an unreadable
    /// message of an input that has several is skipped and counted as a loss; otherwise it is an error.
    ///
    /// # Errors
    ///
    /// The input cannot be read, or `add` fails. `outcome` then has the findings up to the failure.
    pub(crate) fn each_message(
        &self,
        input: &Input,
        outcome: &mut Outcome,
        chooses_types: bool,
        console: &Console,
        mut add: impl FnMut(&mut Converted, Message) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Self { args, read, to, .. } = self;
        let Outcome { converted, notices } = outcome;
        let name = input.name();
        let mut content = Content::open(input, &read.limits, console)?;
        converted.framing = content.framing();
        content.types_may_choose = true;
        let skips = args.read.repairs() || args.read.skips_unreadable();
        content.skips_messages = skips || self.skips_messages;
        let is_framed = converted.framing != Framing::None;
        let (mut choice, mut selected) = (Choice::default(), Selected::default());
        content.each(read, console, |message| {
            let mut message = message.map_err(|mut failure| {
                if is_framed && failure.is_broken {
                    failure.message += "; --skip-unreadable skips this message";
                }
                failure
            })?;
            message.check_certainty(&name, notices)?;
            let from = message.reading.detected.format;
            taken(args, from, *to)?;
            args.selection.apply(&mut message.reading.profiles, &mut selected);
            // The input has no types: --type describes its values instead of selecting among them.
            let is_named = from.options().contains(&"type");
            let asked = args.read.types().iter().filter(|one| !is_named || is_all(one));
            let asked: Vec<_> = asked.cloned().collect();
            let (profiles, losses) = (&mut message.reading.profiles, &mut converted.losses);
            if chooses_types && !choice.keep(profiles, &asked, *to, losses)? {
                converted.note(message);
                return Ok(());
            }
            add(converted, message)
        })?;
        selected.finish()?;
        content.skipped.warn(&name, notices);
        converted.note_skipped(&content.skipped)?;
        choice.finish(&name, notices)?;
        converted.stored = content.stored();
        Ok(())
    }
}

/// Checks that the format read or written supports the options for pprof labels.
///
/// It runs for each message, because the format of a message is known only after it is read.
///
/// # Errors
///
/// An option would have no effect.
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
