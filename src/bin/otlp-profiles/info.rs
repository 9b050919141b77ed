//! `otlp-profiles info`: what files are, and why.

mod facts;
mod json;
mod text;

use std::path::PathBuf;

use otlp_profiles::framing::Framing;
use otlp_profiles::{Detected, Format, ReadOptions, Reading};
use serde_json::{Value as Json, json};

use crate::console::{Console, Level, Line};
use crate::deprecations::Deprecations;
use crate::exit::{Exit, Failure};
use crate::input::{Input, Inputs};
use crate::output;
use crate::reading::{Content, ReadArgs};

pub(crate) use crate::info::json::finding as finding_json;

/// What to describe.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Files, directories, quoted patterns, or - for stdin
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    read: ReadArgs,
}

/// The form of the JSON document. Keys are only ever added to it.
const SCHEMA: &str = "otlp-profiles/info/1";

/// What there is to say of one file, in the form it is printed in.
struct Described {
    name: String,
    stored: u64,
    inflated: u64,
    gzip: bool,
    framing: Framing,
    messages: Vec<Printed>,
    failure: Option<Failure>,
    /// What a message that could not be read seems to be.
    seems: Option<Detected>,
}

enum Printed {
    Text(String),
    Json(Json),
}

/// Describes every input, also when another one failed.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    let inputs = Inputs::of(&args.inputs);
    if inputs.stdins() > 1 {
        return crate::wrong_usage("info", "stdin can be read once");
    }
    let mut run = Run {
        deprecations: Deprecations::default(),
        options: args.read.options(),
        json: args.json,
        console,
    };
    let result = run.all(&inputs);
    run.deprecations.tell("info", console);
    match result {
        Ok(worst) => worst,
        Err(failure) => {
            let message = format!("Description failed: {failure}");
            console.log(&Line::new(Level::Critical, "info", message));
            failure.exit
        }
    }
}

struct Run<'a> {
    deprecations: Deprecations,
    options: ReadOptions,
    json: bool,
    console: &'a Console,
}

impl Run<'_> {
    /// # Errors
    ///
    /// stdout cannot be written.
    fn all(&mut self, inputs: &Inputs) -> Result<Exit, Failure> {
        let mut worst = Exit::Done;
        let mut files = Vec::new();
        for (name, failure) in &inputs.missing {
            worst = worst.max(failure.exit);
            self.failed(name, failure);
            files.push(json!({ "path": name, "error": failure.to_json() }));
        }
        self.console.expect(inputs.all.len() as u64, inputs.all.iter().map(Input::size).sum());
        for input in &inputs.all {
            self.console.next(&input.name());
            let described = self.describe(input);
            self.console.done();
            if let Some(failure) = &described.failure {
                worst = worst.max(failure.exit);
                self.failed(&described.name, failure);
            }
            if self.json {
                files.push(json::file(described));
            } else if !output::to_stdout(text::file(&described).as_bytes(), true)? {
                return Ok(Exit::Done); // nobody reads it
            }
        }
        self.console.finish();
        if self.json {
            let document = json!({ "schema": SCHEMA, "files": files });
            output::to_stdout(format!("{document:#}\n").as_bytes(), true)?;
        }
        Ok(worst)
    }

    fn describe(&mut self, input: &Input) -> Described {
        let mut described = Described {
            name: input.name(),
            stored: input.size(),
            inflated: 0,
            gzip: false,
            framing: Framing::None,
            messages: Vec::new(),
            failure: None,
            seems: None,
        };
        match self.read(input, &mut described) {
            Ok(format) => {
                if let Some(format) = format {
                    self.deprecations.read(&described.name, format);
                }
                self.tell_done(&described, format);
            }
            Err(failure) => described.failure = Some(failure),
        }
        described
    }

    /// Reads a file into `described`, as far as it goes.
    fn read(&self, input: &Input, described: &mut Described) -> Result<Option<Format>, Failure> {
        let mut content = Content::open(input, &self.options.limits)?;
        described.gzip = content.is_gzip();
        described.framing = content.framing();
        let mut format = None;
        let result = content.each(&self.options, self.console, |message| {
            format = Some(message.reading.detected.format);
            let printed = self.print(&message.reading, message.bytes);
            described.messages.push(printed);
            Ok(())
        });
        described.stored = content.stored();
        described.inflated = content.inflated();
        if described.messages.is_empty() {
            described.seems = content.seems;
        }
        result.map(|()| format)
    }

    fn print(&self, reading: &Reading, bytes: u64) -> Printed {
        if self.json {
            Printed::Json(json::message(reading, bytes))
        } else {
            Printed::Text(text::message(reading))
        }
    }

    fn tell_done(&self, described: &Described, format: Option<Format>) {
        let message =
            if described.messages.len() == 1 { "Payload described" } else { "Payloads described" };
        let line = Line::new(Level::Info, "info", message)
            .with("format", format.map_or("none", |format| format.name()))
            .with("messages", described.messages.len())
            .with("bytes", described.stored)
            .with("in", &described.name);
        self.console.log(&line);
    }

    fn failed(&self, name: &str, failure: &Failure) {
        let message = format!("Description failed: {failure}");
        self.console.log(&Line::new(Level::Error, "info", message).with("in", name));
    }
}
