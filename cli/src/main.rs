//! The command `otlp-profiles`. It uses only the public API of the library.
//!
//! ```text
//! arguments ─► clap ─► Console (level and form of messages) ─► a subcommand ─► Exit ─► exit code
//! ```
//!
//! Doc comments on clap's structs and fields are the text of `--help`. Comments for readers of the
//! code are above functions and in module docs. Every subcommand goes on with the next input if one
//! fails, and ends with the highest exit code. `docs/CLI.md` is the manual. The `man` pages derive
//! from the same declarations.

#![forbid(unsafe_code)]

mod completions;
mod console;
mod convert;
#[cfg(feature = "corpus")]
mod corpus;
mod deferred;
mod diff;
mod exit;
#[cfg(feature = "parquet")]
mod export;
mod files;
mod filter;
mod filters;
mod formats;
#[cfg(feature = "parquet")]
mod import;
mod info;
mod input;
mod interrupt;
mod limits;
mod man;
mod many;
mod merge;
mod notices;
mod numbers;
mod output;
mod pipeline;
mod reading;
mod readings;
mod redact;
mod session;
mod skipped;
mod source;
mod split;
mod sql;
mod stale;
mod style;
mod sum;
mod text;
mod time;
mod tips;
mod top;
mod trace;
mod validate;
mod view;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::console::{Console, Form, Level, Line};
use crate::deferred::Deferred;
use crate::exit::{Exit, Failure};

/// Identify, convert, check, compare and merge profiles: pprof, every generation of OTLP profiles, and formats of other tools.
#[derive(Debug, Parser)]
#[command(name = "otlp-profiles", version, long_version = formats::long_version())]
#[command(max_term_width = 100, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Report inputs (-v), steps (-vv), table entries (-vvv)
    #[arg(short, long, global = true, help_heading = MESSAGES, action = clap::ArgAction::Count)]
    verbose: u8,
    /// Report errors only
    #[arg(short, long, global = true, help_heading = MESSAGES, conflicts_with = "verbose")]
    quiet: bool,
    /// Colour the output: auto, always or never [default: auto]
    #[arg(long, global = true, help_heading = MESSAGES, value_enum, hide_possible_values = true)]
    #[arg(value_name = "WHEN")]
    color: Option<style::Color>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Convert profiles from one format to another
    Convert(Deferred<convert::Args>),
    /// Show what files are and what they contain
    Info(Deferred<info::Args>),
    /// Check files against the rules of their generation
    Validate(Deferred<validate::Args>),
    /// Add up the profiles of many files
    Merge(Deferred<merge::Args>),
    /// Compare profiles, and fail if something costs more than before
    Diff(Deferred<diff::Args>),
    /// Keep a part of the samples, frames, labels or details
    Filter(Deferred<filter::Args>),
    /// Replace names by pseudonyms, so that profiles can be shared
    Redact(Deferred<redact::Args>),
    /// Divide profiles by size, resource, sample type, attribute or time
    Split(Deferred<split::Args>),
    /// Send profiles through the stages of a configuration file
    Pipeline(Deferred<pipeline::Args>),
    /// Write profiles as tables that DuckDB, ClickHouse, Spark, Polars and others query
    #[cfg(feature = "parquet")]
    Export(Deferred<export::Args>),
    /// Read profiles back from the tables that export wrote
    #[cfg(feature = "parquet")]
    Import(Deferred<import::Args>),
    /// Write profiles as tables; needs the feature `parquet`, which this build lacks
    #[cfg(not(feature = "parquet"))]
    #[command(hide = true)]
    Export(Unavailable),
    /// Read profiles back from tables; needs the feature `parquet`, which this build lacks
    #[cfg(not(feature = "parquet"))]
    #[command(hide = true)]
    Import(Unavailable),
    /// Show where time or memory is spent, as pprof does
    Top(Deferred<top::Args>),
    /// Write a page that shows profiles in a browser, and is a profile file itself
    View(Deferred<view::Args>),
    /// Print SQL that answers questions about exported profiles
    Sql(Deferred<sql::Args>),
    /// Write files that break each rule, and near misses, to test other tools
    #[cfg(feature = "corpus")]
    Corpus(Deferred<corpus::Args>),
    /// Write files that break each rule; needs the feature `corpus`, which this build lacks
    #[cfg(not(feature = "corpus"))]
    #[command(hide = true)]
    Corpus(Unavailable),
    /// Print a completion script for a shell
    Completions(Deferred<completions::Args>),
    /// Print the manual page, or write all pages to a directory
    Man(Deferred<man::Args>),
}

/// The arguments of a subcommand that this build lacks.
#[cfg(not(all(feature = "corpus", feature = "parquet")))]
#[derive(Clone, Debug, clap::Args)]
struct Unavailable {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<OsString>,
}

/// The heading of the options that every subcommand has.
const MESSAGES: &str = "Messages";

/// The help after the options. `man` makes a section of each heading, which is an unindented line
/// that ends in a colon.
const AFTER_HELP: &str = "\
Exit status:
  0    done
  1    a loss was denied, or validate found an error (--strict: or a warning)
  2    wrong usage
  3    an input cannot be read or recognised
  4    an output cannot be written, or its format cannot represent the data
  5    a limit was reached
  6    two generations fit equally well; --from decides
  7    diff: a difference exceeds a limit of the gate
  129, 130, 143  ended by SIGHUP, SIGINT or SIGTERM
  With several inputs the highest code wins.

Environment:
  OTLP_PROFILES_LOG=human|text|json  messages on stderr: sentences [default], log lines or JSON objects
  NO_COLOR, CLICOLOR_FORCE           no colours, or colours in a pipe too

Examples:
  otlp-profiles info cpu.otlp
  otlp-profiles top cpu.otlp
  otlp-profiles convert cpu.pb.gz -o cpu.otlp
  otlp-profiles validate cpu.otlp
  otlp-profiles diff before.pb.gz after.pb.gz
  otlp-profiles merge night/ -o night.pb.gz";

fn main() -> ExitCode {
    style::choose(std::env::args_os().skip(1));
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(mut error) => {
            tips::improve(&mut error);
            return ExitCode::from(
                say_usage(&error, asks_for_json(std::env::args_os().skip(1))).code(),
            );
        }
    };
    ExitCode::from(run(&cli).code())
}

/// Runs the subcommand. Installs the signal handler first, so that no temporary file is left
/// behind.
fn run(cli: &Cli) -> Exit {
    // Reports share stderr with messages, so --json applies to both.
    let json = match &cli.command {
        Command::Convert(Deferred(args)) => args.json(),
        Command::Merge(Deferred(args)) => args.convert.json(),
        Command::Diff(Deferred(args)) => args.convert.json(),
        Command::Filter(Deferred(args)) => args.convert.json(),
        Command::Redact(Deferred(args)) => args.convert.json(),
        Command::Split(Deferred(args)) => args.convert.json(),
        #[cfg(feature = "parquet")]
        Command::Import(Deferred(args)) => args.convert.json(),
        _ => false,
    };
    let console = match Console::new(cli.verbose, cli.quiet, json) {
        Ok(console) => console,
        Err(message) => return wrong_usage("", json, message),
    };
    interrupt::watch();
    match &cli.command {
        Command::Convert(Deferred(args)) => convert::run::run(args, &console),
        Command::Info(Deferred(args)) => info::run(args, &console),
        Command::Validate(Deferred(args)) => validate::run(args, &console),
        Command::Merge(Deferred(args)) => merge::run(args, &console),
        Command::Diff(Deferred(args)) => diff::run(args, &console),
        Command::Filter(Deferred(args)) => filter::run(args, &console),
        Command::Redact(Deferred(args)) => redact::run(args, &console),
        Command::Split(Deferred(args)) => split::run(args, &console),
        Command::Pipeline(Deferred(args)) => pipeline::run(args, &console),
        #[cfg(feature = "parquet")]
        Command::Export(Deferred(args)) => export::run(args, &console),
        #[cfg(feature = "parquet")]
        Command::Import(Deferred(args)) => import::run(args, &console),
        #[cfg(not(feature = "parquet"))]
        Command::Export(_) | Command::Import(_) => lacking("parquet"),
        Command::Top(Deferred(args)) => top::run(args, &console),
        Command::View(Deferred(args)) => view::run(args, &console),
        Command::Sql(Deferred(args)) => sql::run(args, &console),
        #[cfg(feature = "corpus")]
        Command::Corpus(Deferred(args)) => corpus::run(args, &console),
        #[cfg(not(feature = "corpus"))]
        Command::Corpus(_) => lacking("corpus"),
        Command::Completions(Deferred(args)) => completions::run(args, &console),
        Command::Man(Deferred(args)) => man::run(args, &console),
    }
}

/// Refuses a subcommand that was not built.
#[cfg(not(all(feature = "corpus", feature = "parquet")))]
fn lacking(feature: &str) -> Exit {
    let message = format!(
        "this build lacks the feature {feature}: build it with --features {feature}, or install all with cargo install otlp-profiles-cli"
    );
    wrong_usage("", false, &message)
}

/// Whether arguments that clap rejects request JSON on stderr.
///
/// Called only after clap has failed, so that its error respects `--json` too.
fn asks_for_json(arguments: impl Iterator<Item = OsString>) -> bool {
    let arguments: Vec<_> = arguments.take_while(|argument| argument != "--").collect();
    let has = |wanted: &[&str]| arguments.windows(wanted.len()).any(|window| window == wanted);
    has(&["convert"]) && (has(&["--json"]) || has(&["--report=json"]) || has(&["--report", "json"]))
}

/// Prints clap's help or error. Errors have the form of stderr.
fn say_usage(error: &clap::Error, json: bool) -> Exit {
    let console = Console::new(0, false, json);
    if !error.use_stderr() {
        let printed = output::text_to_stdout(&error.render().ansi().to_string());
        return printed.map_or_else(|failure| unprinted(console, &failure), |_| Exit::Done);
    }
    match console {
        Ok(console) if console.form() == Form::Json => {
            let text = error.render().to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
            console.log(&Line::new(Level::Error, "usage", "Arguments refused").because(text));
        }
        // A failure to write to stderr cannot be reported.
        _ => drop(error.print()),
    }
    Exit::Usage
}

/// Reports that help could not be printed.
fn unprinted(console: Result<Console, String>, failure: &Failure) -> Exit {
    if let Ok(console) = console {
        let line = Line::new(Level::Critical, "usage", "Printing of help failed");
        console.log(&line.because(failure));
    }
    failure.exit
}

/// Reports an invalid combination of arguments that clap does not check, in the form of clap's
/// errors.
fn wrong_usage(subcommand: &str, json: bool, message: impl std::fmt::Display) -> Exit {
    use clap::{CommandFactory, error::ErrorKind};
    let mut command = Cli::command();
    command.build();
    let error = match command.find_subcommand_mut(subcommand) {
        Some(command) => command.error(ErrorKind::ValueValidation, message),
        None => command.error(ErrorKind::ValueValidation, message),
    };
    say_usage(&error, json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
