//! A bar on a terminal, once there was enough to do: the step, the bytes that were read of all
//! inputs, the input.
//!
//! Bytes of input are what is known beforehand of all inputs; a step has no length of its own. The
//! bar is made hidden and shown later, so a run of less than a second never flickers.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::text::shown;

/// Work that takes less is done before a bar would help.
const PATIENCE: Duration = Duration::from_secs(1);
/// So many bytes of input take longer than that, in one step that shows nothing on its way.
const LARGE: u64 = 64 << 20;

/// How far a run is. Clones are the same bar.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    /// Hidden at first: a hidden bar counts, so nothing is lost when it is shown later.
    bar: ProgressBar,
    begun: Instant,
    /// Whether there may be a bar at all.
    allowed: bool,
}

impl Progress {
    pub(super) fn new(allowed: bool) -> Self {
        let allowed = allowed && io::stderr().is_terminal();
        Self { bar: ProgressBar::hidden(), begun: Instant::now(), allowed }
    }

    /// Makes ready for `total` bytes of input; 0 is unknown, as of a pipe.
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

    /// An input is next.
    pub(crate) fn next(&self, name: &str) {
        self.bar.set_message(shown(name));
        self.show_in_time();
    }

    /// A step of it is next.
    pub(super) fn step(&self, step: &'static str) {
        self.bar.set_prefix(step);
        self.show_in_time();
    }

    /// So many bytes more were read.
    pub(crate) fn read(&self, bytes: u64) {
        self.bar.inc(bytes);
        self.show_in_time();
    }

    /// Takes the bar off the terminal, before the last lines of a run are printed.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Does something with the bar out of the way.
    ///
    /// So that a line of a report is not drawn over.
    pub(super) fn suspend(&self, f: impl FnOnce()) {
        self.bar.suspend(f);
    }

    /// Shows the bar when there was enough to do.
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
