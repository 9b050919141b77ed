//! What is left to do when the run is ended from outside: temporary files go.
//!
//! A signal handler may do nearly nothing; so signals are waited for by a thread of their own,
//! which takes the same lock as whoever writes. Only files of this run are ever removed: those that
//! are in the set.

use std::collections::BTreeSet;
#[cfg(unix)]
use std::fs::File;
#[cfg(unix)]
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The temporary files there are. Whoever makes, renames or removes one holds the lock until that is
/// done and noted here, so that an interrupted run finds all of them and no other file.
static TEMPORARY: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The temporary files, for as long as none may come or go.
pub(crate) struct Temporary(MutexGuard<'static, BTreeSet<PathBuf>>);

impl Temporary {
    /// A lock that was poisoned is taken all the same: the set is right after every step.
    pub(crate) fn lock() -> Self {
        Self(TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Noted before the file has any content, by whoever holds the lock while it is made.
    pub(crate) fn add(&mut self, path: &Path) {
        self.0.insert(path.to_owned());
    }

    /// The file has its own name now, or is gone.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.0.remove(path);
    }

    /// One that cannot be removed stays: there is nobody left to tell.
    #[cfg(unix)]
    fn remove_all(&mut self) {
        while let Some(path) = self.0.pop_first() {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Has SIGINT, SIGTERM and SIGHUP remove the temporary files and end the run, with 128 and the number
/// of the signal as shells have it; but for those that whoever started the run had ignored, as `nohup` does.
#[cfg(unix)]
pub(crate) fn watch() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let ignored = ignored();
    let heeded =
        [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    // Without the handler a signal ends the run all the same.
    let Ok(mut signals) = signal_hook::iterator::Signals::new(heeded) else {
        return;
    };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let mut temporary = Temporary::lock();
            temporary.remove_all();
            // The lock is held to the end: nothing is made or renamed any more.
            std::process::exit(128 + signal);
        }
    });
}

/// The signals that are ignored: signal 1 is the lowest bit. None where the system does not say it as Linux
/// does, in a file: asking it with a call takes unsafe code.
#[cfg(unix)]
fn ignored() -> u64 {
    // Room for all of it: one read instead of many.
    let mut status = String::with_capacity(4096);
    let _ = File::open("/proc/self/status").and_then(|mut file| file.read_to_string(&mut status));
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

/// Elsewhere the system ends the run, and temporary files stay where they are.
#[cfg(not(unix))]
pub(crate) fn watch() {}
