//! A progress bar on a terminal: the step, the bytes read of all inputs, and the name of the input.
//!
//! Progress is counted in input bytes, because their total is known beforehand; the length of a
//! step is not. The bar is created hidden and appears after a second, so short runs do not flicker.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::text::shown;

/// The time after which the bar appears.
const PATIENCE: Duration = Duration::from_secs(1);
/// The input bytes from which the bar appears at once: one step will take longer than [`PATIENCE`]
/// and reports no progress meanwhile.
const LARGE: u64 = 64 << 20;

/// The progress of a run. Clones share one bar.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    /// Hidden at first. A hidden bar counts too, so it shows the right position when it appears.
    bar: ProgressBar,
    begun: Instant,
    /// Whether the bar may appear: stderr is a terminal and shows messages for people.
    allowed: bool,
}

impl Progress {
    pub(super) fn new(allowed: bool) -> Self {
        let allowed = allowed && io::stderr().is_terminal();
        Self { bar: ProgressBar::hidden(), begun: Instant::now(), allowed }
    }

    /// Prepares the bar for `total` bytes of input; 0 if the size is unknown, such as that of a
    /// pipe.
    pub(crate) fn expect(&self, total: u64) {
        if !self.allowed {
            return;
        }
        let style = match total {
            0 => "{spinner} {prefix:11} {binary_bytes} read  {wide_msg}",
            _ => {
                self.bar.set_length(total);
                "{spinner} {prefix:11} {bar:20} {binary_bytes} of {binary_total_bytes} read  {wide_msg}"
            }
        };
        if let Ok(style) = ProgressStyle::with_template(style) {
            self.bar.set_style(style);
        }
        if total >= LARGE {
            self.show();
        }
    }

    /// Shows the name of the next input.
    pub(crate) fn next(&self, name: &str) {
        self.bar.set_message(shown(name));
        self.show_in_time();
    }

    /// Shows the name of the next step.
    pub(super) fn step(&self, step: &'static str) {
        self.bar.set_prefix(step);
        self.show_in_time();
    }

    /// Counts further input bytes.
    pub(crate) fn read(&self, bytes: u64) {
        self.bar.inc(bytes);
        self.show_in_time();
    }

    /// Removes the bar from the terminal, before the last lines of a run are printed.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Hides the bar while `f` prints, so that the bar does not overwrite a line.
    pub(super) fn suspend(&self, f: impl FnOnce()) {
        self.bar.suspend(f);
    }

    /// Shows the bar if the run has taken longer than [`PATIENCE`].
    fn show_in_time(&self) {
        if self.begun.elapsed() >= PATIENCE {
            self.show();
        }
    }

    fn show(&self) {
        if self.allowed && self.bar.is_hidden() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }
}
