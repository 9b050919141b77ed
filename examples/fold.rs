//! Prints a profile as folded stacks for flame graphs, one line per stack:
//! `main;serve;parse 10000000`.
//!
//! ```sh
//! cargo run --example fold profile.pb.gz
//! ```

use std::collections::BTreeMap;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let input = std::env::args().nth(1).ok_or("needs a file")?;
    print!("{}", fold(&std::fs::read(input)?)?);
    Ok(())
}

pub fn fold(payload: &[u8]) -> otlp_profiles::Result<String> {
    let profiles = otlp_profiles::read(payload, &Default::default())?.profiles;
    let mut stacks = BTreeMap::<String, i64>::new();
    for profile in &profiles {
        for sample in profile.samples() {
            let frames = profiles.dictionary().frames(sample.stack).rev();
            let names: Vec<String> = frames.map(|frame| frame.to_string()).collect();
            // pprof shows the last sample type by default.
            *stacks.entry(names.join(";")).or_default() +=
                profile.totals(sample).last().unwrap_or(0);
        }
    }
    Ok(stacks.into_iter().map(|(stack, total)| format!("{stack} {total}\n")).collect())
}
