//! Processes many inputs on all cores, and returns the results in the order of the inputs.
//!
//! ```text
//! inputs ─► threads, within the limits ─► results, kept until their turn ─► take, one by one
//! ```
//!
//! Threads take inputs in order, and wait while the inputs being processed are too many or too
//! large, so memory stays bounded. Messages about an input are kept with its result and printed
//! before `take` gets it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder};

use crate::console::{Console, Level};

/// The most input bytes that are processed at once. A larger input is processed alone.
const MOST_BYTES: u64 = 64 << 20;
/// The most inputs that are processed at once, per thread.
const MOST_INPUTS: usize = 8;
/// The stack size of a thread, equal to the usual size of the main thread's stack.
const STACK: usize = 8 << 20;

/// The state that the threads share.
struct State<R> {
    /// The index of the next input.
    next: usize,
    /// The number of inputs that are being processed or whose result was not yet taken, and their
    /// bytes.
    inputs: usize,
    bytes: u64,
    /// Finished results whose turn has not come, with the lines logged meanwhile.
    results: BTreeMap<usize, (thread::Result<R>, Vec<String>)>,
    /// Set when the caller wants no further results.
    stopped: bool,
}

/// Calls `work` with each input and `take` with each result, in the order of the inputs, until
/// `take` breaks.
///
/// One thread does all the work if `in_order` is set, or if steps are logged (`-vv`), which gives
/// too many lines to keep.
pub(crate) fn each<I: Sync, R: Send>(
    inputs: &[I],
    console: &Console,
    in_order: bool,
    size: impl Fn(&I) -> u64 + Sync,
    work: impl Fn(&I, &Console) -> R + Sync,
    mut take: impl FnMut(&I, R) -> ControlFlow<()>,
) {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(inputs.len());
    let start = State { next: 0, inputs: 0, bytes: 0, results: BTreeMap::new(), stopped: false };
    let (state, changed) = (Mutex::new(start), Condvar::new());
    let worker = || {
        while let Some((row, input)) = next(inputs, threads, &size, &state, &changed) {
            let console = console.collecting();
            let result = catch_unwind(AssertUnwindSafe(|| work(input, &console)));
            lock(&state).results.insert(row, (result, console.into_lines()));
            changed.notify_all();
        }
    };
    thread::scope(|scope| {
        // This thread takes the results in order. If no worker starts, it also does the work.
        let alone = in_order || threads < 2 || console.shows(Level::Debug);
        let start =
            |_: &usize| Builder::new().stack_size(STACK).spawn_scoped(scope, worker).is_ok();
        let started = (0..if alone { 0 } else { threads }).filter(start).count();
        for (row, input) in inputs.iter().enumerate() {
            let result = match started {
                0 => work(input, console),
                _ => finished(row, &state, &changed, console),
            };
            let stopped = take(input, result).is_break();
            let mut state = lock(&state);
            if started > 0 {
                state.inputs -= 1;
                state.bytes -= size(input);
            }
            state.stopped |= stopped;
            changed.notify_all();
            if stopped {
                return;
            }
        }
    });
}

/// Waits until the limits allow a further input, and returns it. Returns `None` at the end.
fn next<'i, I, R>(
    inputs: &'i [I],
    threads: usize,
    size: impl Fn(&I) -> u64,
    state: &Mutex<State<R>>,
    changed: &Condvar,
) -> Option<(usize, &'i I)> {
    let mut state = lock(state);
    loop {
        let row = state.next;
        let input = inputs.get(row).filter(|_| !state.stopped)?;
        let bytes = state.bytes.saturating_add(size(input));
        if state.inputs == 0 || bytes <= MOST_BYTES && state.inputs < threads * MOST_INPUTS {
            (state.next, state.inputs, state.bytes) = (row + 1, state.inputs + 1, bytes);
            return Some((row, input));
        }
        state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
}

/// Waits for the result of an input, and prints the lines that were logged meanwhile.
fn finished<R>(row: usize, state: &Mutex<State<R>>, changed: &Condvar, console: &Console) -> R {
    let mut state = lock(state);
    let (result, lines) = loop {
        match state.results.remove(&row) {
            Some(result) => break result,
            None => state = changed.wait(state).unwrap_or_else(PoisonError::into_inner),
        }
    };
    drop(state);
    lines.iter().for_each(|line| console.say(line));
    result.unwrap_or_else(|panic| resume_unwind(panic))
}

fn lock<R>(state: &Mutex<State<R>>) -> MutexGuard<'_, State<R>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
