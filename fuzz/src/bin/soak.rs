//! Runs a target in a plain loop, without cargo-fuzz, a nightly compiler or coverage:
//!
//! ```text
//! soak TARGET SEED COUNT [FILE or DIRECTORY...]
//! ```
//!
//! Each execution mutates one of the files, or an earlier mutant of it, with the kit of the library. A panic prints the
//! seed and writes the input to `soak-TARGET-SEED.bin`. Equal arguments run equal inputs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs};

use otlp_profiles::fuzzing::Random;
use otlp_profiles_fuzz::{mutated, run};

/// The longest input.
const MOST: usize = 4096;
/// Mutants in a row, before the next file.
const CHAIN: u64 = 8;

fn files(paths: impl Iterator<Item = String>) -> Vec<Vec<u8>> {
    let mut all: Vec<PathBuf> = Vec::new();
    for path in paths.map(PathBuf::from) {
        match fs::read_dir(&path) {
            Ok(entries) => all.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) => all.push(path),
        }
    }
    all.sort();
    all.iter().map(|path| fs::read(path).expect("a readable file")).collect()
}

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let usage = "usage: soak TARGET SEED COUNT [FILE or DIRECTORY...]";
    let target = arguments.next().expect(usage);
    let mut number = || arguments.next().and_then(|text| text.parse::<u64>().ok()).expect(usage);
    let (seed, count) = (number(), number());
    let mut files = files(arguments);
    files.push(Vec::new());
    let random = &mut Random::new(seed);
    let (mut input, mut failures) = (Vec::new(), 0);
    for execution in 0..count {
        if execution % CHAIN == 0 {
            input.clone_from(&files[random.below(files.len())]);
        }
        let step = random.next_u64();
        input = mutated(&input, step, MOST);
        if catch_unwind(AssertUnwindSafe(|| run(&target, &input))).is_err() {
            let path = format!("soak-{target}-{step}.bin");
            fs::write(&path, &input).expect("a writable directory");
            eprintln!("execution {execution} failed: {path}");
            failures += 1;
        }
    }
    println!("{target}: {count} executions with seed {seed}, {failures} failures");
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
