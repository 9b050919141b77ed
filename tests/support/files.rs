//! Files of the corpus, and broken variants of files.
#![allow(dead_code, reason = "not every test needs all of it")]

use std::path::{Path, PathBuf};

use super::sized::is_slow;

/// Returns a file of the corpus, if the corpus is present.
pub fn corpus(name: &str) -> Option<Vec<u8>> {
    let Some(corpus) = std::env::var_os("OTLP_PROFILES_CORPUS") else {
        eprintln!("skipped: OTLP_PROFILES_CORPUS is not set");
        return None;
    };
    let path = PathBuf::from(corpus).join(name);
    Some(std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// Returns the files of the corpus with their names in it, sorted: every fourth, or all if long tests run in full.
pub fn corpus_files() -> Vec<(String, PathBuf)> {
    let Some(corpus) = std::env::var_os("OTLP_PROFILES_CORPUS").map(PathBuf::from) else {
        eprintln!("skipped: OTLP_PROFILES_CORPUS is not set");
        return Vec::new();
    };
    let mut files = Vec::new();
    below(&corpus, &mut files);
    files.sort();
    let named = |path: PathBuf| {
        (path.strip_prefix(&corpus).unwrap_or(&path).to_string_lossy().into_owned(), path)
    };
    files.into_iter().step_by(if is_slow() { 1 } else { 4 }).map(named).collect()
}

fn below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the corpus can be listed") {
        let path = entry.expect("the corpus can be listed").path();
        if path.is_dir() { below(&path, files) } else { files.push(path) }
    }
}

/// A pseudorandom sequence of numbers, the same in every run.
pub fn random() -> impl FnMut() -> usize {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize
    }
}

/// Iterates over mutants of some bytes. `change` gets a position and more random numbers, and changes the bytes
/// there.
pub fn mutants<'a>(
    payload: &'a [u8],
    count: usize,
    change: impl Fn(&mut Vec<u8>, usize, &mut dyn FnMut() -> usize) + 'a,
) -> impl Iterator<Item = Vec<u8>> + 'a {
    let mut next = random();
    (0..count).map(move |_| {
        let mut bytes = payload.to_vec();
        let at = next() % bytes.len();
        change(&mut bytes, at, &mut next);
        bytes
    })
}
