//! Compares the library with prost, on terms an opponent would choose.
//!
//! ```sh
//! cargo run --release --manifest-path benches/peers/Cargo.toml [ROUNDS] [FILE…]
//! ```
//!
//! Every operation on every file runs in its own process, one side at a time, so that neither benefits
//! from memory that the other or an earlier operation has warmed up. The sides alternate, and a cell is the
//! median of the rounds' ratios. Both sides run with the system allocator and with mimalloc. Conversions
//! have two opponents: straightforward code with hash maps (`twin`), and tuned code (`able`).

#[path = "../../support/generate.rs"]
mod generate;
#[path = "../../support/twin.rs"]
mod twin;

mod able;
mod inputs;
mod operations;

use std::process::Command;

use operations::{OPERATIONS, Operation, Side};

/// Measures one side if the arguments name one, otherwise everything.
pub fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["one", side, operation, input] => {
            let side = Side::ALL.into_iter().find(|known| known.name() == side);
            let operation = OPERATIONS.iter().find(|known| known.name == operation);
            let (Some(side), Some(operation)) = (side, operation) else {
                panic!("no such side or operation");
            };
            println!("{}", operation.measure(side, &inputs::pprof(input)).unwrap_or(f64::NAN));
        }
        [rounds, ref files @ ..] if rounds.parse::<usize>().is_ok() => {
            all(rounds.parse().unwrap_or(5), files);
        }
        ref files => all(5, files),
    }
}

/// Measures all operations on all inputs with both allocators, and prints a table for each.
fn all(rounds: usize, files: &[&str]) {
    let files: Vec<String> = match files {
        [] => inputs::default(),
        files => files.iter().map(|&file| file.to_owned()).collect(),
    };
    let own = std::env::current_exe().expect("this program has a path");
    let allocators = [("the system's allocator", "peers"), ("mimalloc", "peers-mimalloc")];
    for (allocator, binary) in allocators {
        let program = own.with_file_name(binary).with_extension(std::env::consts::EXE_EXTENSION);
        println!("\nWith {allocator}, times as fast as prost:\n");
        let names: Vec<_> = files.iter().map(|file| inputs::name(file)).collect();
        println!("| operation | beside | goal | {} | median |", names.join(" | "));
        println!("|---|---|---|{}---|", "---|".repeat(files.len()));
        for operation in OPERATIONS {
            for &side in operation.beside {
                let ratios: Vec<f64> = files
                    .iter()
                    .map(|file| ratio(&program, operation, side, file, rounds))
                    .collect();
                let cells: Vec<_> = ratios.iter().map(|&ratio| cell(ratio)).collect();
                let (name, goal) = (operation.name, operation.goal);
                let goal = if side == Side::Able { "".to_owned() } else { format!("{goal}×") };
                let all = median(ratios.into_iter().filter(|ratio| !ratio.is_nan()).collect());
                println!(
                    "| {name} | {} | {goal} | {} | **{all:.1}** |",
                    side.name(),
                    cells.join(" | ")
                );
            }
        }
    }
}

/// How many times as fast the library is as the other side.
fn ratio(
    program: &std::path::Path,
    operation: &Operation,
    other: Side,
    file: &str,
    rounds: usize,
) -> f64 {
    let time = |side: Side| {
        let output = Command::new(program)
            .args(["one", side.name(), operation.name, file])
            .output()
            .expect("the program runs again");
        // `able` rejects files whose ids do not count from 1.
        String::from_utf8_lossy(&output.stdout).trim().parse().unwrap_or(f64::NAN)
    };
    median((0..rounds).map(|_| time(other) / time(Side::Ours)).collect())
}

/// A ratio in a table, or a dash if a side does not support the operation.
fn cell(ratio: f64) -> String {
    if ratio.is_nan() { "–".to_owned() } else { format!("{ratio:.1}") }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
