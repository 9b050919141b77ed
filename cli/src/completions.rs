//! `otlp-profiles completions`: prints completion scripts for shells.
//!
//! The script is generated from the declarations of the arguments when the command runs, so it is
//! always up to date.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::console::{Console, Level, Line};
use crate::exit::Exit;
use crate::output;

/// Arguments of `completions`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The shell to complete for
    shell: Shell,
}

const AFTER_HELP: &str = "\
Examples:
  otlp-profiles completions bash > ~/.local/share/bash-completion/completions/otlp-profiles
  otlp-profiles completions zsh > ~/.zfunc/_otlp-profiles
  otlp-profiles completions fish > ~/.config/fish/completions/otlp-profiles.fish";

/// Prints the script to stdout.
///
/// A script is text, so it is also written to a terminal: `to_stdout` gets `true` for `force`.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    let mut command = crate::Cli::command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    match output::to_stdout(&script, true) {
        Ok(_) => Exit::Done,
        Err(failure) => {
            let line = Line::new(Level::Critical, "completions", "Completion failed");
            console.log(&line.because(&failure));
            failure.exit
        }
    }
}
