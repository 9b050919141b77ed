//! Declares the arguments of a subcommand only if the run may need them.
//!
//! Declaring all subcommands takes as long as parsing the arguments of one. `Command::defer` of
//! clap also delays declarations, but puts them after the global arguments, and the help follows
//! that order.

use clap::error::Result;
use clap::{ArgMatches, Args, Command, FromArgMatches};

/// The arguments of a subcommand, boxed because some are large.
#[derive(Clone, Debug)]
pub(crate) struct Deferred<T>(pub(crate) Box<T>);

/// Subcommands that scripts call thousands of times on small files: they skip the declarations of
/// the others. All other calls, including help, make all declarations.
const ALONE: [&str; 4] = ["convert", "info", "top", "validate"];

/// The subcommands that have all options of `convert` beside their own.
const VERBS: [&str; 6] = ["diff", "filter", "import", "merge", "redact", "split"];

/// Options of `convert` that the short help of the other verbs leaves out, so that it fits on a screen.
const RARE: [&str; 5] = ["receiver", "deny_loss", "resource", "compact", "json"];

/// Subcommands that report on one sample type, so that `--type all` means nothing to them.
const REPORTS: [&str; 3] = ["diff", "top", "view"];

/// The help of `--type` for these.
const ONE_TYPE: &str = "The sample type to report on; for folded stacks and speedscope the type and unit of each column";

impl<T: Args> Args for Deferred<T> {
    /// Declares the arguments. clap calls it for every subcommand at every start, before it knows
    /// which one runs.
    fn augment_args(command: Command) -> Command {
        let called = std::env::args_os().nth(1).unwrap_or_default();
        if ALONE.iter().any(|alone| called == *alone) && called != command.get_name() {
            return command;
        }
        let is_verb = VERBS.contains(&command.get_name());
        let is_report = REPORTS.contains(&command.get_name());
        let is_short = std::env::args_os().any(|argument| argument == "-h");
        T::augment_args(command).mut_args(|argument| match argument.get_id().as_str() {
            "from" | "to" if is_short => argument.hide_possible_values(true),
            "types" if is_report => argument.help(ONE_TYPE),
            id if is_verb && RARE.contains(&id) => argument.hide_short_help(true),
            _ => argument,
        })
    }

    /// Declares the arguments for clap's update of existing values, which this command does not
    /// use.
    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}

impl<T: FromArgMatches> FromArgMatches for Deferred<T> {
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
