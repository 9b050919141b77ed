//! Files of the corpus, and broken variants of files.
#![allow(dead_code, reason = "not every test needs all of it")]

use std::path::PathBuf;

/// Returns a file of the corpus, if the corpus is present.
pub fn corpus(name: &str) -> Option<Vec<u8>> {
    let Some(corpus) = std::env::var_os("OTLP_PROFILES_CORPUS") else {
        eprintln!("skipped: OTLP_PROFILES_CORPUS is not set");
        return None;
    };
    let path = PathBuf::from(corpus).join(name);
    Some(std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
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
