//! `otlp-profiles view`: writes a page that shows profiles in a browser.
//!
//! ```text
//! base files ─┐
//! new files  ─┼─► Reading ─► filters ─► sort_stacks ─► OTLP 1.10 ─► gzip ─► Embedded ─► Page ─► file, browser
//!             └─► top::sum ─► look::traces ─► Icicle ─► SVG, text
//! ```
//!
//! Every message becomes an element of the page, so reading the page gives the messages of the
//! inputs.

mod icicle;
mod page;

use std::fs::OpenOptions;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use otlp_profiles::compression::{Level, deflate_in_parallel};
use otlp_profiles::look::{self, Options};
use otlp_profiles::transform::{sort_stacks, totals};
use otlp_profiles::{Format, Profiles, Reading, write};
use serde_json::json;

use crate::console::{self, Console, Line};
use crate::exit::{Exit, Failure};
use crate::filters::{FilterArgs, Selection};
use crate::input::{Input, Inputs};
use crate::limits::{OutputLimits, file_options};
use crate::notices::Notices;
use crate::output::{self, Sync};
use crate::reading::{Message, ReadArgs};
use crate::readings::{Noticed, readings};
use crate::session::{Session, Turn};
use crate::sum::{LAST, warn};
use crate::top;
use crate::view::icicle::Icicle;
use crate::view::page::{Embedded, Page};

/// Arguments of `view`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP, next_help_heading = "Output")]
pub(crate) struct Args {
    /// Files, directories, quoted patterns, or - for stdin; one page shows all of them
    #[arg(required = true, value_name = "FILE", help_heading = "Input")]
    inputs: Vec<PathBuf>,
    /// The page or the picture (.svg) to write, or - for a page on stdout; without it, print the hottest functions
    #[arg(short, long, value_name = "OUT.html")]
    output: Option<PathBuf>,
    /// Print an icicle graph in the width of the terminal
    #[arg(long, conflicts_with_all = ["output", "open"])]
    flame: bool,
    /// Open the page in a browser; without -o, the page is a temporary file
    #[arg(long)]
    open: bool,
    /// Compare with this file or directory; repeatable
    #[arg(long, value_name = "BASE", help_heading = "Input")]
    diff: Vec<PathBuf>,
    /// Replace an existing file
    #[arg(short, long)]
    force: bool,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    filters: FilterArgs,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    limits: OutputLimits,
}

const AFTER_HELP: &str = "\
The page is one file without references to others: send it, attach it, open it offline. It holds the profiles, or
what the filters leave of them, so every subcommand reads it.

Examples:
  otlp-profiles view cpu.pb.gz -o cpu.html
  otlp-profiles view cpu.pb.gz --open
  otlp-profiles view after.pb.gz --diff before.pb.gz -o change.html
  otlp-profiles view cpu.pb.gz -o cpu.svg --focus 'sort[.]'
  otlp-profiles convert cpu.html -o cpu.otlp";

/// The name of this work in messages.
const WHAT: &str = "View";

/// The most messages of a page. Readers accept 1,024 gzip members.
const MOST_MESSAGES: usize = 1_000;

/// The number of rows of the report that is printed if no page is requested.
const ROWS: usize = 20;

/// Writes a page of all inputs, or prints the hottest functions.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    let usage = |message: &str| crate::wrong_usage("view", false, message);
    let path = args.path();
    let ends =
        |end: &str| path.as_ref().and_then(|path| path.extension()).is_some_and(|own| own == end);
    let is_page =
        ends("html") || ends("htm") || path.as_ref().is_some_and(|path| path.as_os_str() == "-");
    if !args.diff.is_empty() && !is_page {
        return usage("--diff needs a page: give -o OUT.html or --open");
    }
    if path.is_some() && !is_page && !ends("svg") {
        return usage("the name of the output must end with .html or .svg");
    }
    let (base, new) =
        (Inputs::but(&args.diff, path.as_deref()), Inputs::but(&args.inputs, path.as_deref()));
    if base.stdins() + new.stdins() > 1 {
        return usage("stdin can be read once");
    }
    match path {
        Some(path) if is_page => write_page(args, &base, &new, &path, console),
        None if !args.flame => {
            let filters = (&args.selection, &args.filters);
            let options = (&args.read, &args.limits);
            top::run(&top::Args::of(&args.inputs, ROWS, filters, options), console)
        }
        path => draw(args, &new, path.as_deref(), console),
    }
}

fn write_page(args: &Args, base: &Inputs, new: &Inputs, path: &Path, console: &Console) -> Exit {
    let mut session = Session::new("view", console);
    session.skips_unreadable = args.read.skips_unreadable();
    let mut page = Page::default();
    let has_base = embed(base, true, &mut page, &mut session, args);
    let has_new = embed(new, false, &mut page, &mut session, args);
    if page.len() > MOST_MESSAGES {
        let message = format!(
            "{} messages are too many for a page, which holds {MOST_MESSAGES}: merge the files first",
            page.len()
        );
        session.failed(WHAT, None, &Failure::new(Exit::Usage, message));
    } else if (has_base && has_new || session.skips_unreadable) && page.len() > 0 {
        let written = page
            .choose(args.read.sample_type().as_deref())
            .map_err(|error| Failure::of(&error, Exit::Input))
            .and_then(|cautions| {
                warn(cautions, LAST, &mut session.notices);
                put(page.document().as_bytes(), path, args)
            });
        match written {
            Ok(()) => {
                if args.output.is_none() {
                    session.notices.note("page", "", || format!("wrote {}", path.display()));
                }
                console.log(&written_to(path));
            }
            Err(failure) => session.failed(WHAT, None, &failure),
        }
    }
    session.finish()
}

/// Writes an SVG picture, or prints an icicle graph.
fn draw(args: &Args, inputs: &Inputs, path: Option<&Path>, console: &Console) -> Exit {
    let mut session = Session::new("view", console);
    session.skips_unreadable = args.read.skips_unreadable();
    let which = (&args.selection, &args.filters);
    let sum = top::sum(inputs, &args.read.options(), which, &mut session);
    let drawn = sum.and_then(|sum| {
        sum.map_or(Ok(()), |sum| {
            let sample_type = args.read.sample_type();
            sum.choose(sample_type.as_deref(), &mut session.notices)?;
            let limit = args.limits.of(&sum.profiles);
            let options = Options::default()
                .sample_type(sample_type)
                .filter(args.filters.filter())
                .limit(limit);
            let traces = look::traces(&sum.profiles, &options)
                .map_err(|error| Failure::reporting(&error))?;
            warn_unmatched(
                args,
                &traces.header.unmatched_filters,
                &sum.profiles,
                &mut session.notices,
            )?;
            let icicle = Icicle::new(&traces);
            let Some(path) = path else {
                let width =
                    terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0));
                output::text_to_stdout(&icicle.text(width, ROWS))?;
                console.log(&Line::new(console::Level::Info, "view", "Graph rendered"));
                return Ok(());
            };
            let svg = limit.text(|out| icicle.svg(out));
            put(svg.map_err(|error| Failure::reporting(&error))?.as_bytes(), path, args)?;
            console.log(&written_to(path));
            Ok(())
        })
    });
    if let Err(failure) = drawn {
        session.failed(WHAT, None, &failure);
    }
    session.finish()
}

/// The line of the log for a page or a picture.
fn written_to(path: &Path) -> Line {
    Line::new(console::Level::Info, "view", "View rendered").with("out", path.display())
}

/// Warns about filters without a match, or fails under `--require-match`.
fn warn_unmatched(
    args: &Args,
    names: &[&str],
    profiles: &Profiles,
    notices: &mut Notices,
) -> Result<(), Failure> {
    if let Some(message) = args.filters.unmatched(names, profiles)? {
        notices.warn(&message, "", || message.clone());
    }
    Ok(())
}

impl Args {
    /// The output to write, if any. With `--open` alone it is a temporary page with an unpredictable name.
    fn path(&self) -> Option<PathBuf> {
        let temporary = || {
            let name = format!("otlp-profiles-{:016x}.html", RandomState::new().hash_one(()));
            Some(std::env::temp_dir().join(name))
        };
        self.output.clone().or_else(|| self.open.then(temporary)?)
    }
}

/// Writes the page and opens it.
fn put(document: &[u8], path: &Path, args: &Args) -> Result<(), Failure> {
    if path.as_os_str() == "-" {
        return output::to_stdout(document, args.force).map(drop);
    }
    if args.output.is_none() {
        put_temporary(document, path)?;
    } else {
        output::to_files(
            &[(path.to_owned(), document.to_vec())],
            None,
            args.force,
            Sync::Deferred,
        )?;
    }
    if args.open { open(path) } else { Ok(()) }
}

/// Writes a file that only its owner can read, and only if no file has this name.
fn put_temporary(document: &[u8], path: &Path) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).and_then(|mut file| file.write_all(document)).map_err(|error| {
        let message = format!("{} cannot be written: {error}; give -o OUT.html", path.display());
        Failure::new(Exit::Output, message)
    })
}

/// Opens a file in the default program of the system.
fn open(path: &Path) -> Result<(), Failure> {
    let mut command = match () {
        () if cfg!(windows) => Command::new("explorer"),
        () if cfg!(target_os = "macos") => Command::new("open"),
        () => Command::new("xdg-open"),
    };
    let quiet = command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.spawn().map(drop).map_err(|error| {
        let (program, path) =
            (command.get_program().to_string_lossy().into_owned(), path.display());
        Failure::new(
            Exit::Output,
            format!("{program} cannot be started: {error}; open {path} yourself"),
        )
    })
}

/// Adds the messages of all inputs to the page. Returns `false` if an input failed.
fn embed(
    inputs: &Inputs,
    is_base: bool,
    page: &mut Page,
    session: &mut Session<'_>,
    args: &Args,
) -> bool {
    let mut all_read = true;
    let work = |input: &Input, console: &Console| read(input, is_base, args, console);
    let found = session.for_each(inputs, &inputs.all, work, |session, turn| {
        let (input, noticed, messages) = match turn {
            Turn::Done(input, (noticed, messages)) => (input, noticed, messages),
            Turn::Missing(name, failure) => {
                all_read = false;
                session.failed(WHAT, Some(name), failure);
                return ControlFlow::Continue(());
            }
        };
        if let Some(is_read) = noticed.tell(WHAT, input, session) {
            all_read &= is_read;
            page.messages.extend(messages);
        }
        ControlFlow::Continue(())
    });
    found && all_read
}

/// Reads and encodes the messages of an input.
fn read(input: &Input, is_base: bool, args: &Args, console: &Console) -> (Noticed, Vec<Embedded>) {
    let (name, mut messages) = (input.name(), Vec::new());
    let options = args.read.options();
    let noticed = readings(input, &options, &args.selection, console, |message, noticed| {
        match encode(message, &name, is_base, args, &mut noticed.notices) {
            Ok(embedded) => messages.push(embedded),
            Err(failure) => noticed.failures.push(failure),
        }
        Ok(())
    });
    (noticed, messages)
}

/// Encodes a message for the page.
fn encode(
    message: Message<'_>,
    name: &str,
    is_base: bool,
    args: &Args,
    notices: &mut Notices,
) -> Result<Embedded, Failure> {
    let Reading { mut profiles, detected, findings, .. } = message.reading;
    // Without filters, the page contains the whole profile.
    if args.filters.are_given() {
        args.filters.drop_declared(&mut profiles)?;
        let unmatched = args.filters.filter().apply(&mut profiles);
        let unmatched = unmatched.map_err(|error| Failure::of(&error, Exit::Input))?;
        warn_unmatched(args, &unmatched, &profiles, notices)?;
        profiles.compact();
    }
    sort_stacks(&mut profiles);
    let written = write(&profiles, Format::OTLP_1_10, &args.limits.set(file_options()))
        .map_err(|error| Failure::writing(&error))?;
    for loss in written.losses.iter() {
        notices.warn(&loss.code.to_string(), name, || format!("{name}: {loss}"));
    }
    let sentences = |all: &mut dyn Iterator<Item = String>| all.collect::<Vec<_>>();
    let about = json!({
        "file": name,
        "base": is_base,
        "format": detected.format.to_string(),
        "certainty": detected.certainty.to_string(),
        "evidence": detected.evidence,
        "findings": sentences(&mut findings.iter().map(ToString::to_string)),
        "losses": sentences(&mut written.losses.iter().map(ToString::to_string)),
        "bytes": written.payload.len(),
    });
    let (totals, gzip) = (totals(&profiles), deflate_in_parallel(&written.payload, Level::BEST));
    Ok(Embedded { about, gzip, totals })
}
