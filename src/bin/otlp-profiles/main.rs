//! The command: says what profiles are and converts them. It uses the library's public API only.

#![forbid(unsafe_code)]

mod completions;
mod console;
mod convert;
mod deprecations;
mod exit;
mod files;
mod info;
mod input;
mod interrupt;
mod limits;
mod output;
mod reading;
mod text;
mod time;
mod trace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::console::Console;
use crate::exit::Exit;

/// Says what profiles are (pprof, and every generation of OTLP profiles) and converts them
/// without losing anything silently.
#[derive(Debug, Parser)]
#[command(name = "otlp-profiles", version, max_term_width = 100, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Say more on stderr: units of work (-v), steps (-vv), table entries (-vvv)
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Convert profiles from one format to another
    Convert(Box<convert::Args>),
    /// Say what files are, and why
    Info(Box<info::Args>),
    /// Print the script by which a shell completes arguments
    Completions(completions::Args),
}

const AFTER_HELP: &str = "\
Exit codes: 0 done, 1 a loss was refused (--deny-loss), 2 wrong usage, 3 an input cannot be read, \
recognised or decoded, 4 an output cannot be written, 5 a limit was reached, 6 the generation is \
ambiguous and --from was not given. With several inputs the highest code wins. 130 and 143: \
interrupted (SIGINT) and terminated (SIGTERM).

OTLP_PROFILES_LOG=json makes every line on stderr a JSON object.";

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help goes to stdout; a reader that is gone is no failure.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(Exit::Usage.code()));
        }
    };
    interrupt::watch();
    let console = Console::new(cli.verbose);
    let exit = match cli.command {
        Command::Convert(args) => convert::run(&args, &console),
        Command::Info(args) => info::run(&args, &console),
        Command::Completions(args) => completions::run(&args, &console),
    };
    ExitCode::from(exit.code())
}

/// Reports wrong usage that clap cannot see by itself, the way clap does.
fn wrong_usage(subcommand: &str, message: impl std::fmt::Display) -> Exit {
    use clap::{CommandFactory, error::ErrorKind};
    let mut command = Cli::command();
    command.build();
    let error = match command.find_subcommand_mut(subcommand) {
        Some(command) => command.error(ErrorKind::ValueValidation, message),
        None => command.error(ErrorKind::ValueValidation, message),
    };
    let _ = error.print();
    Exit::Usage
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
