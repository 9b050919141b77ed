//! `otlp-profiles info`: what files are, and why.
//!
//! A page is made as soon as its message is read, and the message is dropped: what is kept of a
//! file is text or JSON, and at most 10,000 messages of it.
//!
//! ```text
//! Content::each ─► Quick (counts by a walk) or Full (reads, proves references)
//!                    ─► text::message or json::message ─► Described ─► text::file or json::file
//! ```

mod facts;
mod json;
mod seen;
mod sizes;
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
use crate::info::seen::{Full, Quick};
use crate::input::{Input, Inputs};
use crate::output;
use crate::reading::{Content, Known, Message, ReadArgs};
use crate::session::{Session, Turn};

/// What to describe.
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

/// The work, in messages.
const WHAT: &str = "Description";

/// The form of the JSON document. Keys are only ever added to it.
const SCHEMA: &str = "otlp-profiles/info/1";

/// What there is to say of one file, in the form it is printed in.
///
/// Filled as far as reading goes: the description of a broken file says what could be read of it,
/// and `failures` why there is no more.
struct Described {
    /// As it was given or found; printed through `text::shown`.
    name: String,
    /// Bytes where it is stored; for a pipe those that were read.
    stored: u64,
    /// Bytes of its messages, as far as they were read.
    inflated: u64,
    /// Whether its content is gzip, whatever its name says; never true together with `zstd`.
    gzip: bool,
    zstd: bool,
    framing: Framing,
    /// The first of the messages, and how many there are.
    ///
    /// What is printed of each, up to [`MOST_LISTED`].
    messages: Vec<Printed>,
    /// How many there are, listed or not.
    count: usize,
    /// Whether it could be opened; without that nothing is known but the failure.
    opened: bool,
    /// What could not be read, in the order of the messages.
    failures: Vec<Failure>,
    /// What the last message that could be read is.
    format: Option<Format>,
    /// What a message that could not be read seems to be.
    seems: Option<Detected>,
}

enum Printed {
    /// Lines for people, complete with their ends.
    Text(String),
    /// An element of `messages` in the document.
    Json(Json),
    /// It could not be read; of the failures the one with this number says why.
    Failed(usize),
}

/// Describes every input, also when another one failed.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    let inputs = Inputs::of(&args.inputs);
    if inputs.stdins() > 1 {
        return crate::wrong_usage("info", false, "stdin can be read once");
    }
    let describer = Describer::new(args, console);
    let mut session = Session::new("info", console);
    let mut pages = Pages { one: (args.json && inputs.single).then(Vec::new), args, console };
    // What ended the run early: nobody reads stdout any more, as in `info … | head`, or it cannot be written.
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
    /// The files of the one document, where a single input was named.
    one: Option<Vec<Json>>,
    args: &'a Args,
    console: &'a Console,
}

impl Pages<'_> {
    /// Prints the description of a file; returns `false` if nobody reads stdout any more.
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

    /// Adds a file to the one document, or prints a document of it on a line.
    fn document(&mut self, file: Json) -> Result<bool, Failure> {
        if let Some(files) = &mut self.one {
            files.push(file);
            return Ok(true);
        }
        let document = json!({ "schema": SCHEMA, "files": [file] });
        output::to_stdout(format!("{document}\n").as_bytes(), true)
    }

    /// Prints the one document.
    fn finish(&mut self) -> Result<bool, Failure> {
        let Some(files) = self.one.take() else { return Ok(true) };
        let document = json!({ "schema": SCHEMA, "files": files });
        output::to_stdout(format!("{document:#}\n").as_bytes(), true)
    }

    /// Logs that a file was described. Only a log needs it: people read the page itself.
    fn tell_done(&self, described: &Described) {
        let message = if described.count == 1 { "Payload described" } else { "Payloads described" };
        let line = Line::new(Level::Info, "info", message)
            .with("format", described.format.map_or("none", |format| format.name()))
            .count("messages", described.count as u64)
            .count("bytes", described.stored);
        self.console.log(&line.about(&described.name));
    }
}

/// How files are described.
struct Describer {
    options: ReadOptions,
    json: bool,
    /// Whether references are followed, which takes several times as long as counting.
    full: bool,
    /// Whether bytes are counted by field as well, which compresses the payload many times over.
    sizes: bool,
    /// Whether pages have the evidence for the format.
    evidence: bool,
}

impl Describer {
    fn new(args: &Args, console: &Console) -> Self {
        let &Args { json, full, sizes, .. } = args;
        // Every entry of every table is logged then.
        let full = full || console.shows(Level::Trace);
        let (options, evidence) = (args.read.options(), console.shows(Level::Info));
        Self { options, json, full, sizes, evidence }
    }

    /// Never fails: what went wrong is in `failures`, beside what could be read.
    fn describe(&self, input: &Input, console: &Console) -> Described {
        let mut described = Described {
            name: input.name(),
            stored: input.size(),
            inflated: 0,
            gzip: false,
            zstd: false,
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

    /// Reads a file into `described`, as far as it goes.
    fn read(
        &self,
        input: &Input,
        described: &mut Described,
        console: &Console,
    ) -> Result<(), Failure> {
        let mut content = Content::open(input, &self.options.limits, console)?;
        described.opened = true;
        described.gzip = content.is_gzip();
        described.zstd = content.is_zstd();
        described.framing = content.framing();
        match self.full {
            true => self.messages::<Full>(&mut content, described, console)?,
            false => self.messages::<Quick>(&mut content, described, console)?,
        }
        // Of a text that is broken, the rest was not read.
        described.stored = content.stored().max(described.stored);
        described.inflated = content.inflated();
        if described.format.is_none() {
            described.seems = content.seems;
        }
        Ok(())
    }

    /// `Quick` or `Full`: whether references are followed.
    fn messages<T: Known + Deref<Target = Summary>>(
        &self,
        content: &mut Content,
        described: &mut Described,
        console: &Console,
    ) -> Result<(), Failure> {
        let room = Listed::new();
        content.each::<T>(&self.options, console, |message| {
            described.count += 1;
            let listed = described.messages.len() < MOST_LISTED;
            match message {
                Ok(message) => {
                    described.format = Some(message.reading.detected().format);
                    if listed {
                        described.messages.push(self.print(&message, &room, console));
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

    /// Made at once, so the message can go: what is kept of it is text.
    fn print<T: Known + Deref<Target = Summary>>(
        &self,
        message: &Message<'_, T>,
        room: &Listed,
        console: &Console,
    ) -> Printed {
        let sizes = self.sizes.then(|| self.measure(message, console));
        if self.json {
            let mut object = json::message(message, room);
            if let Some(sizes) = sizes {
                object["sizes"] = sizes::json(&sizes);
            }
            Printed::Json(object)
        } else {
            let page = text::message(message, room, self.evidence);
            Printed::Text(page + &sizes.map(|sizes| sizes::text(&sizes)).unwrap_or_default())
        }
    }

    /// Where the bytes of a message go, as the format that it was read as.
    ///
    /// By the format that was read, so that detection does not happen twice with two answers.
    fn measure<T: Known + Deref<Target = Summary>>(
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
