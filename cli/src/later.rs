//! The arguments of a subcommand, declared where they may be needed.
//!
//! The declarations of all subcommands take as long as parsing the arguments of one. clap would make them later
//! (`Command::defer`), but behind those that all subcommands have, and so they would stand in the help.

use clap::error::Result;
use clap::{ArgMatches, Args, Command, FromArgMatches};

/// The arguments of a subcommand; in a box, as those of some are many.
#[derive(Clone, Debug)]
pub(crate) struct Later<T>(pub(crate) Box<T>);

/// What is called thousands of times, on small files. Others, and help, may ask for all declarations.
const ALONE: [&str; 4] = ["convert", "info", "top", "validate"];

impl<T: Args> Args for Later<T> {
    /// Called for every subcommand at every start, before it is known which one runs.
    fn augment_args(command: Command) -> Command {
        let called = std::env::args_os().nth(1).unwrap_or_default();
        match ALONE.iter().any(|alone| called == *alone) && called != command.get_name() {
            true => command,
            false => T::augment_args(command),
        }
    }

    /// clap asks for it only when arguments are parsed into what there is, which this command never
    /// does.
    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}

impl<T: FromArgMatches> FromArgMatches for Later<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self> {
        T::from_arg_matches(matches).map(|args| Self(Box::new(args)))
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self> {
        T::from_arg_matches_mut(matches).map(|args| Self(Box::new(args)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<()> {
        self.0.update_from_arg_matches(matches)
    }
}
