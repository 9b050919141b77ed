//! Removal of temporary files when a signal ends the run.
//!
//! A signal handler may do very little, so a dedicated thread waits for signals. It takes the same
//! lock as the writers. It removes only files in the set, which are those of this run.

use std::collections::BTreeSet;
#[cfg(unix)]
use std::fs::File;
#[cfg(unix)]
use std::io::Read;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The existing temporary files and directories. Writers hold the lock while they create, rename or remove such a
/// file and update the set, so an interrupted run removes exactly its own files.
static TEMPORARY: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The locked set of temporary files.
pub(crate) struct Temporary(MutexGuard<'static, BTreeSet<PathBuf>>);

impl Temporary {
    /// Locks the set. Ignores poisoning, because the set is valid after every step.
    pub(crate) fn lock() -> Self {
        Self(TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds a new file. Create it while you hold the lock, and add it before you write to it.
    pub(crate) fn add(&mut self, path: &Path) {
        self.0.insert(path.to_owned());
    }

    /// Removes a file from the set, after it was renamed or deleted.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.0.remove(path);
    }

    /// Deletes all files of the set. Ignores errors, because the process is about to exit.
    #[cfg(unix)]
    fn remove_all(&mut self) {
        while let Some(path) = self.0.pop_first() {
            // The staging of a data set is a directory.
            let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(path));
        }
    }
}

/// Makes SIGINT, SIGTERM and SIGHUP remove the temporary files and end the run with 128 plus the
/// number of the signal, as shells expect. Signals that the parent process ignores, such as SIGHUP
/// under `nohup`, stay ignored.
///
/// SIGXFSZ would end the run when a file exceeds `ulimit -f`. Handled, it makes the write fail, so that
/// the run reports the file and goes on.
#[cfg(unix)]
pub(crate) fn watch() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, signal::SIGXFSZ};
    // Nobody reads the flag: with any handler, the write fails with `EFBIG`.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::<AtomicBool>::default());
    let ignored = ignored();
    let heeded =
        [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    // Without this handler, a signal ends the run by default.
    let Ok(mut signals) = signal_hook::iterator::Signals::new(heeded) else {
        return;
    };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let mut temporary = Temporary::lock();
            temporary.remove_all();
            // Keep the lock until exit, so that no file is created or renamed.
            std::process::exit(128 + signal);
        }
    });
}

/// The ignored signals as a bit mask; signal 1 is the lowest bit. 0 on systems without Linux's
/// `/proc/self/status`, because the system call requires unsafe code.
#[cfg(unix)]
fn ignored() -> u64 {
    // Large enough for the whole file, so that one read suffices.
    let mut status = String::with_capacity(4096);
    let _ = File::open("/proc/self/status").and_then(|mut file| file.read_to_string(&mut status));
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

/// Does nothing on other systems: a signal ends the run and leaves temporary files behind.
#[cfg(not(unix))]
pub(crate) fn watch() {}
