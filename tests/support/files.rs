//! Files of the corpus, and broken variants of files.
#![allow(dead_code, reason = "not every test needs all of it")]

use std::path::PathBuf;

/// A file of the corpus, where there is one.
pub fn corpus(name: &str) -> Option<Vec<u8>> {
    let Some(corpus) = std::env::var_os("OTLP_PROFILES_CORPUS") else {
        eprintln!("skipped: OTLP_PROFILES_CORPUS is not set");
        return None;
    };
    let path = PathBuf::from(corpus).join(name);
    Some(std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// Numbers that look random, the same ones every time.
pub fn random() -> impl FnMut() -> usize {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize
    }
}

/// Variants of some bytes, changed at places that a number decides by `change`, which is given the place and
/// more numbers.
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
