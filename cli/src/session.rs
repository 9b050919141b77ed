//! One run of a subcommand over its inputs.
//!
//! ```text
//! Inputs ─► missing, skipped               reported first
//!        └► jobs ─► work, on all cores ─► take, in the order of the inputs ─► notices, exit code
//! ```
//!
//! A subcommand supplies `work`, which may run on any thread, and `take`, which prints or writes a
//! result. This module handles inputs, progress, skipped files, notices and the exit code for every
//! subcommand.

use std::borrow::Borrow;
use std::ops::ControlFlow;

use crate::console::{Console, Level, Line};
use crate::exit::{Exit, Failure};
use crate::input::{Input, Inputs};
use crate::many;
use crate::notices::Notices;

/// The state of a run.
pub(crate) struct Session<'a> {
    /// The name of the subcommand, for messages.
    name: &'static str,
    pub(crate) console: &'a Console,
    /// Messages that are printed once per run.
    pub(crate) notices: Notices,
    /// The highest exit code so far.
    exit: Exit,
    /// The number of skipped files, which were found in directories and hold no profile.
    skipped: usize,
    /// Whether one was skipped because no sample of it matches `--where`.
    has_unmatched: bool,
    /// Whether inputs that cannot be read are skipped with a warning (`--skip-unreadable`).
    pub(crate) skips_unreadable: bool,
    /// The number of inputs that failed.
    failures: usize,
    /// Whether an input was skipped because it cannot be read.
    lacks_input: bool,
    /// Whether an input was read, completely or in part.
    pub(crate) has_read: bool,
    /// Whether to process inputs in order, on one thread.
    pub(crate) in_order: bool,
}

/// An event that `take` handles.
pub(crate) enum Turn<'a, J, R> {
    /// An argument without readable inputs.
    Missing(&'a str, &'a Failure),
    /// A job and its result.
    Done(&'a J, R),
}

impl<'a> Session<'a> {
    pub(crate) fn new(name: &'static str, console: &'a Console) -> Self {
        Self {
            name,
            console,
            notices: Notices::default(),
            exit: Exit::Done,
            skipped: 0,
            has_unmatched: false,
            skips_unreadable: false,
            failures: 0,
            lacks_input: false,
            has_read: false,
            in_order: false,
        }
    }

    /// Runs `work` for each job on all cores, and passes the results to `take` in order until it
    /// breaks.
    ///
    /// Missing inputs come first. If every file was [skipped](Self::skip), the run fails and the
    /// function returns `false`.
    pub(crate) fn for_each<J: Borrow<Input> + Sync, R: Send>(
        &mut self,
        inputs: &Inputs,
        jobs: &[J],
        work: impl Fn(&J, &Console) -> R + Sync,
        mut take: impl FnMut(&mut Self, Turn<'_, J, R>) -> ControlFlow<()>,
    ) -> bool {
        for (name, failure) in &inputs.missing {
            if take(self, Turn::Missing(name, failure)).is_break() {
                return true;
            }
        }
        let skipped = self.skipped;
        // Not counted in `skipped`, which is compared with the number of jobs.
        for (name, failure) in &inputs.passed_over {
            self.note_skipped(name, failure);
            let message = || format!("{name} was skipped: {}", failure.message);
            self.notices.warn(&failure.message, name, message);
        }
        let (console, size) = (self.console, |job: &J| job.borrow().size());
        let progress = console.progress();
        progress.expect(jobs.iter().map(size).sum());
        let work = |job: &J, console: &Console| {
            console.progress().next(&job.borrow().name());
            work(job, console)
        };
        let mut flow = ControlFlow::Continue(());
        many::each(jobs, console, self.in_order, size, work, |job, result| {
            let without = (self.failures, self.skipped);
            flow = take(self, Turn::Done(job, result));
            self.has_read |= without == (self.failures, self.skipped);
            flow
        });
        progress.finish();
        let skipped = self.skipped - skipped;
        let all_skipped = flow.is_continue() && skipped > 0 && skipped == jobs.len();
        if all_skipped {
            // Without this error, a run over the wrong directory would succeed silently.
            let message = match self.has_unmatched {
                true => "No input has a sample that matches",
                false => "No profile was found: every file was skipped",
            };
            console.log(&Line::new(Level::Error, self.name, message));
            self.ended(Exit::Input);
        }
        !all_skipped
    }

    /// Skips an input without a sample that `--where` selects, and a file of a directory that is not a profile. Returns
    /// whether `failure` has one of these reasons.
    pub(crate) fn skip(&mut self, input: &Input, failure: &Failure) -> bool {
        let is_skipped = failure.is_unmatched || input.may_be_skipped(failure);
        if is_skipped {
            self.skipped += 1;
            self.has_unmatched |= failure.is_unmatched;
            self.note_skipped(&input.name(), failure);
            let name = input.name();
            let (key, message) = match failure.is_unmatched {
                true => ("unmatched", format!("{name}: {}", failure.message)),
                false => ("skipped", format!("{name} holds no profile and was skipped")),
            };
            self.notices.warn(key, &name, || message);
        }
        is_skipped
    }

    fn note_skipped(&self, input: &str, failure: &Failure) {
        let line = Line::new(Level::Info, self.name, "File skipped").because(failure);
        self.console.log(&line.about(input));
    }

    /// Records the exit code of an input. The highest wins.
    pub(crate) fn ended(&mut self, exit: Exit) {
        self.exit = self.exit.max(exit);
    }

    /// Records that an input failed, and returns the level of the message about it.
    pub(crate) fn input_failed(&mut self, failure: &Failure) -> Level {
        self.failures += 1;
        if self.skips_unreadable && failure.exit == Exit::Input && !failure.fatal {
            self.lacks_input = true;
            return Level::Warning;
        }
        self.ended(failure.exit);
        if failure.fatal { Level::Critical } else { Level::Error }
    }

    /// Logs the failure of an input, or of the run.
    pub(crate) fn failed(&mut self, what: &str, input: Option<&str>, failure: &Failure) {
        let level = match input {
            Some(_) => self.input_failed(failure),
            None => {
                self.ended(failure.exit);
                Level::Critical
            }
        };
        let mut line = Line::new(level, self.name, format!("{what} failed")).because(failure);
        if let Some(input) = input {
            line = line.about(input);
        }
        self.console.log(&line);
    }

    /// Prints the notices and returns the exit code.
    pub(crate) fn finish(self) -> Exit {
        self.notices.print(self.name, self.console);
        if self.lacks_input && !self.has_read { self.exit.max(Exit::Input) } else { self.exit }
    }
}
