//! From an input to the bytes of its outputs, on any thread.
//!
//! ```text
//! each_message: read, choose types ─► the verb ─► encode ─► pack: refuse losses, frame, compress
//! ```

use otlp_profiles::framing::Framing;
use otlp_profiles::transform::{MergeOptions, Merger};
use otlp_profiles::{Certainty, Format, Limits, Profiles, ReadOptions, WriteOptions};

use crate::console::Console;
use crate::convert::Args;
use crate::convert::encode::{Converted, Part};
use crate::convert::plan::Job;
use crate::convert::types;
use crate::exit::{Exit, Failure};
use crate::input::Input;
use crate::notices::Notices;
use crate::reading::{Content, Message, ambiguous, names};
use crate::source::is_all;

/// The options of a run. The same input gives the same bytes wherever it stands among the arguments.
pub(crate) struct Conversion<'a> {
    pub(crate) args: &'a Args,
    pub(crate) verb: &'a Verb<'a>,
    read: ReadOptions,
    write: WriteOptions,
    pub(crate) to: Format,
}

/// A subcommand that reads profiles and writes profiles.
pub(crate) struct Verb<'a> {
    pub(crate) name: &'static str,
    /// For messages, such as `Conversion failed` and `Profile converted`.
    pub(crate) noun: &'static str,
    pub(crate) past: &'static str,
    /// Whether the result of an input depends on the inputs before it.
    pub(crate) in_order: bool,
    /// Turns the profiles of a message into those to write.
    pub(crate) apply: &'a Apply<'a>,
}

pub(crate) type Apply<'a> =
    dyn Fn(Profiles, &mut Converted, &Conversion<'_>) -> Result<Vec<Part>, Failure> + Sync + 'a;

/// The result of one input.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) converted: Converted,
    /// Warnings that may concern other inputs, too.
    pub(crate) notices: Notices,
}

/// Bytes of the files to write, with their labels.
pub(crate) type Blobs = Vec<(String, Vec<u8>)>;

impl<'a> Conversion<'a> {
    pub(crate) fn new(args: &'a Args, verb: &'a Verb<'a>, to: Format) -> Self {
        Self { args, verb, read: args.read_options(), write: args.write_options(), to }
    }

    /// The limits of files, as the arguments set them.
    pub(crate) fn limits(&self) -> Limits {
        self.read.limits
    }

    pub(crate) fn write_options(&self) -> &WriteOptions {
        &self.write
    }

    /// Converts one input and compresses the result. If it fails, the outcome has what was found until then.
    pub(crate) fn job(&self, job: &Job, console: &Console) -> (Outcome, Result<Blobs, Failure>) {
        let mut outcome = Outcome::default();
        let name = job.input.name();
        let result = self
            .each_message(&job.input, &mut outcome, console, |converted, message| {
                let _step = console.step(self.verb.name, "encode", &name);
                self.add(converted, message)
            })
            .and_then(|()| self.pack(&mut outcome.converted, job, console));
        (outcome, result)
    }

    /// Applies the verb to a message, and writes what it becomes.
    fn add(&self, converted: &mut Converted, message: Message) -> Result<(), Failure> {
        let mut profiles = converted.note(message);
        self.set_origin(&mut profiles)?;
        let parts = (self.verb.apply)(profiles, converted, self)?;
        parts.into_iter().try_for_each(|part| self.encode(converted, part))
    }

    /// Adds what the arguments tell about the resource and the scope.
    pub(crate) fn set_origin(&self, profiles: &mut Profiles) -> Result<(), Failure> {
        self.args.origin.set(profiles).map_err(|error| Failure::writing(&error))
    }

    /// Encodes one payload.
    pub(crate) fn encode(&self, converted: &mut Converted, part: Part) -> Result<(), Failure> {
        converted.encode(part, self.to, &self.write)
    }

    /// Frames and compresses the payloads.
    ///
    /// # Errors
    ///
    /// `--deny-loss` refuses what was lost.
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
        converted.blobs(self.to, job.packing, self.args.level())
    }

    /// Merges the messages of one input.
    pub(crate) fn merger(
        &self,
        options: &MergeOptions,
        input: &Input,
        console: &Console,
    ) -> (Outcome, Result<Merger, Failure>) {
        let mut outcome = Outcome::default();
        let mut merger = Merger::new(options.clone());
        let result = self.each_message(input, &mut outcome, console, |converted, message| {
            let profiles = converted.note(message);
            merger.add(&profiles).map_err(|error| Failure::of(&error, Exit::Input))
        });
        (outcome, result.map(|()| merger))
    }

    /// Reads an input message by message, and passes each to `add` with the sample types that were chosen.
    ///
    /// Only one message is in memory at a time. With `--repair`, a message that cannot be read is skipped and counted as
    /// a loss if the input has several; otherwise it is an error.
    ///
    /// # Errors
    ///
    /// The input cannot be read, or `add` fails; `outcome` has what was found until then.
    pub(crate) fn each_message(
        &self,
        input: &Input,
        outcome: &mut Outcome,
        console: &Console,
        mut add: impl FnMut(&mut Converted, Message) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Self { args, read, to, .. } = self;
        let Outcome { converted, notices } = outcome;
        let name = input.name();
        let mut content = Content::open(input, &read.limits, console)?;
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
            let asked = args.read.types().iter().filter(|one| !is_named || is_all(one));
            let asked: Vec<_> = asked.cloned().collect();
            let (profiles, losses) = (&mut message.reading.profiles, &mut converted.losses);
            types::choose(profiles, &asked, *to, losses, (notices, &name))?;
            add(converted, message)
        })?;
        if converted.messages == 0
            && let Some(failure) = converted.passed_over.take()
        {
            return Err(failure);
        }
        converted.stored = content.stored();
        Ok(())
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
