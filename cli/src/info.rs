//! `otlp-profiles info`: shows the format of files and their contents.
//!
//! The description of a message is formatted as soon as the message is read, and the message is
//! dropped. So memory holds text or JSON only, for at most 10,000 messages of a file.
//!
//! ```text
//! Content::each ─► Quick (counts rows) or Full (reads, validates references)
//!                    ─► text::message or json::message ─► Described ─► text::file or json::file
//! ```

mod facts;
mod json;
mod sizes;
pub(crate) mod summaries;
mod text;

use std::ops::{ControlFlow, Deref};
use std::path::PathBuf;

use otlp_profiles::framing::Framing;
use otlp_profiles::summary::Sizes;
use otlp_profiles::{Detected, Format, ReadOptions, Summary};
use serde_json::{Value as Json, json};

use crate::console::{Console, Level, Line};
use crate::exit::{Exit, Failure};
use crate::info::facts::{Listed, MOST_LISTED};
use crate::info::summaries::{Full, Quick};
use crate::input::{Input, Inputs};
use crate::output;
use crate::reading::{Content, Message, ReadArgs, Summarised};
use crate::session::{Session, Turn};

/// Arguments of `info`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP, next_help_heading = "Output")]
pub(crate) struct Args {
    /// Files, directories, quoted patterns, or - for stdin
    #[arg(required = true, value_name = "FILE", help_heading = "Input")]
    inputs: Vec<PathBuf>,
    /// Print JSON: one document, or with several inputs one document per line
    #[arg(long)]
    json: bool,
    /// Read the whole payload as convert does, resolve all references, and count the rows
    #[arg(long)]
    full: bool,
    /// Show the size of each table and field, also gzipped, and the largest strings and stacks
    #[arg(long)]
    sizes: bool,
    #[command(flatten)]
    read: ReadArgs,
}

const AFTER_HELP: &str = "\
Examples:
  otlp-profiles info cpu.pb.gz
  otlp-profiles info --sizes cpu.otlp
  otlp-profiles info --json profiles/ | jq -c '.files[0].messages[0].format'";

/// The name of this work in messages.
const WHAT: &str = "Description";

/// The version of the JSON document's schema. Releases only add keys.
const SCHEMA: &str = "otlp-profiles/info/1";

/// The description of one file, formatted as text or JSON.
///
/// For a broken file it has the messages up to the error, and `failures` has the reason.
struct Described {
    /// The name as given or found; print it through `text::shown`.
    name: String,
    /// The size of the file in bytes; for a pipe, the bytes that were read.
    stored: u64,
    /// The bytes of the messages that were read, after decompression.
    inflated: u64,
    /// The compression of the content, whatever the name of the file.
    compression: Option<&'static str>,
    framing: Framing,
    /// The descriptions of the first messages, at most [`MOST_LISTED`].
    messages: Vec<Printed>,
    /// The number of messages, listed or not.
    count: usize,
    /// Whether the file could be opened; otherwise the failure is the only information.
    opened: bool,
    /// The errors, in the order of the messages.
    failures: Vec<Failure>,
    /// The format of the last readable message.
    format: Option<Format>,
    /// The likeliest format of an unreadable message.
    seems: Option<Detected>,
}

enum Printed {
    /// Lines for people, complete with their ends.
    Text(String),
    /// An element of `messages` in the document.
    Json(Json),
    /// An unreadable message, with the index of its failure.
    Failed(usize),
}

/// Describes every input, and continues if one fails.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    let inputs = Inputs::of(&args.inputs);
    if inputs.stdins() > 1 {
        return crate::wrong_usage("info", false, "stdin can be read once");
    }
    let describer = Describer::new(args, console);
    let mut session = Session::new("info", console);
    session.skips_unreadable = args.read.skips_unreadable();
    let mut pages = Pages { one: (args.json && inputs.single).then(Vec::new), args, console };
    // Why the run ended early: the reader closed stdout, as in `info … | head`, or writing failed.
    let mut ended = None;
    let work = |input: &Input, console: &Console| describer.describe(input, console);
    session.for_each(&inputs, &inputs.all, work, |session, turn| {
        match pages.add(session, turn) {
            Ok(true) => return ControlFlow::Continue(()),
            Ok(false) => ended = Some(Ok(true)),
            Err(failure) => ended = Some(Err(failure)),
        }
        ControlFlow::Break(())
    });
    if let Err(failure) = ended.unwrap_or_else(|| pages.finish()) {
        session.failed(WHAT, None, &failure);
    }
    session.finish()
}

/// Prints descriptions in the order of the inputs.
struct Pages<'a> {
    /// The files of the single document, if the arguments name a single input.
    one: Option<Vec<Json>>,
    args: &'a Args,
    console: &'a Console,
}

impl Pages<'_> {
    /// Prints the description of a file. Returns `false` if the reader of stdout has closed it.
    ///
    /// # Errors
    ///
    /// stdout cannot be written.
    fn add(
        &mut self,
        session: &mut Session<'_>,
        turn: Turn<'_, Input, Described>,
    ) -> Result<bool, Failure> {
        let (input, described) = match turn {
            Turn::Done(input, described) => (input, described),
            Turn::Missing(name, failure) => {
                session.failed(WHAT, Some(name), failure);
                let document = || json!({ "path": name, "error": failure.to_json() });
                return if self.args.json { self.document(document()) } else { Ok(true) };
            }
        };
        if let [failure] = &described.failures[..]
            && session.skip(input, failure)
        {
            return Ok(true);
        }
        // Errors go to stderr, and in JSON also into the document.
        let name = &described.name;
        session.has_read |= described.count > described.failures.len();
        described.failures.iter().for_each(|failure| session.failed(WHAT, Some(name), failure));
        if described.failures.is_empty() {
            if let Some(format) = described.format {
                session.notices.deprecated_read(name, format);
            }
            self.tell_done(&described);
        }
        match self.args.json {
            true => self.document(json::file(described)),
            false => text::file(&described).map_or(Ok(true), |page| output::text_to_stdout(&page)),
        }
    }

    /// Adds a file to the single document, or prints a document for it on one line.
    fn document(&mut self, file: Json) -> Result<bool, Failure> {
        if let Some(files) = &mut self.one {
            files.push(file);
            return Ok(true);
        }
        let document = json!({ "schema": SCHEMA, "files": [file] });
        output::to_stdout((crate::text::json(&document, false) + "\n").as_bytes(), true)
    }

    /// Prints the single document, if there is one.
    fn finish(&mut self) -> Result<bool, Failure> {
        let Some(files) = self.one.take() else { return Ok(true) };
        let document = json!({ "schema": SCHEMA, "files": files });
        output::to_stdout((crate::text::json(&document, true) + "\n").as_bytes(), true)
    }

    /// Logs that a file was described. Only the log needs it: people read the description itself.
    fn tell_done(&self, described: &Described) {
        let message = if described.count == 1 { "Payload described" } else { "Payloads described" };
        let line = Line::new(Level::Info, "info", message)
            .with("format", described.format.map_or("none", |format| format.name()))
            .count("messages", described.count as u64)
            .count("bytes", described.stored);
        self.console.log(&line.about(&described.name));
    }
}

/// The settings of a description.
struct Describer {
    options: ReadOptions,
    json: bool,
    /// Whether to resolve references, which takes several times as long as counting.
    full: bool,
    /// Whether to measure sizes by field, which compresses the payload many times.
    sizes: bool,
    /// Whether to include the evidence for the format.
    evidence: bool,
}

impl Describer {
    fn new(args: &Args, console: &Console) -> Self {
        let &Args { json, full, sizes, .. } = args;
        // At this level the log has every entry of every table, so all of them must be read.
        let full = full || console.shows(Level::Trace);
        let (options, evidence) = (args.read.options(), console.shows(Level::Info));
        Self { options, json, full, sizes, evidence }
    }

    /// Describes a file. Errors go to `failures`, next to the messages that could be read.
    fn describe(&self, input: &Input, console: &Console) -> Described {
        let mut described = Described {
            name: input.name(),
            stored: input.size(),
            inflated: 0,
            compression: None,
            framing: Framing::None,
            messages: Vec::new(),
            count: 0,
            opened: false,
            failures: Vec::new(),
            format: None,
            seems: None,
        };
        if let Err(failure) = self.read(input, &mut described, console) {
            described.failures.push(failure);
        }
        described
    }

    /// Reads a file into `described`, up to the first fatal error.
    fn read(
        &self,
        input: &Input,
        described: &mut Described,
        console: &Console,
    ) -> Result<(), Failure> {
        let mut content = Content::open(input, &self.options.limits, console)?;
        described.opened = true;
        described.compression = content.compression();
        described.framing = content.framing();
        match self.full {
            true => self.messages::<Full>(&mut content, described, console)?,
            false => self.messages::<Quick>(&mut content, described, console)?,
        }
        // Reading a broken text ends early, so use the size of the file.
        described.stored = content.stored().max(described.stored);
        described.inflated = content.inflated();
        if described.format.is_none() {
            described.seems = content.seems;
        }
        Ok(())
    }

    /// Describes each message, as `Quick` or `Full`: the latter resolves references.
    fn messages<T: Summarised + Deref<Target = Summary>>(
        &self,
        content: &mut Content,
        described: &mut Described,
        console: &Console,
    ) -> Result<(), Failure> {
        let values = Listed::new();
        content.each::<T>(&self.options, console, |message| {
            described.count += 1;
            let listed = described.messages.len() < MOST_LISTED;
            match message {
                Ok(message) => {
                    described.format = Some(message.reading.detected().format);
                    if listed {
                        described.messages.push(self.print(&message, &values, console));
                    }
                }
                Err(failure) if described.failures.len() < MOST_LISTED => {
                    described.failures.push(failure);
                    if listed {
                        described.messages.push(Printed::Failed(described.failures.len() - 1));
                    }
                }
                Err(_) => {}
            }
            Ok(())
        })
    }

    /// Formats the description of a message at once, so that the message can be dropped.
    fn print<T: Summarised + Deref<Target = Summary>>(
        &self,
        message: &Message<'_, T>,
        listed: &Listed,
        console: &Console,
    ) -> Printed {
        let sizes = self.sizes.then(|| self.measure(message, console));
        if self.json {
            let mut object = json::message(message, listed);
            if let Some(sizes) = sizes {
                object["sizes"] = sizes::json(&sizes);
            }
            Printed::Json(object)
        } else {
            let page = text::message(message, listed, self.evidence);
            Printed::Text(page + &sizes.map(|sizes| sizes::text(&sizes)).unwrap_or_default())
        }
    }

    /// Measures the size of each field of a message.
    ///
    /// Uses the format that was read, so that a second detection cannot give another answer.
    fn measure<T: Summarised + Deref<Target = Summary>>(
        &self,
        message: &Message<'_, T>,
        console: &Console,
    ) -> otlp_profiles::Result<Sizes> {
        let step = console.step("info", "measure", "the message");
        let limits = self.options.limits.max_input_bytes(u64::MAX);
        let format = message.reading.detected().format;
        let sizes =
            Sizes::of(&message.payload, &self.options.clone().limits(limits).format(format));
        drop(step);
        sizes
    }
}
