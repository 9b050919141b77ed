//! Merges profiles, hides the frames of the runtime, and prints the ten hottest functions:
//! `cargo run --example merge_top -- night/*.pb.gz`

use otlp_profiles::look::{self, Filter, Options, Pattern};
use otlp_profiles::transform::{MergeOptions, Merger};
use otlp_profiles::{ReadOptions, Result, read};

/// The report as `pprof -top` prints it.
pub fn merge_top<B: AsRef<[u8]>>(payloads: impl IntoIterator<Item = B>) -> Result<String> {
    let mut merger = Merger::new(MergeOptions::default());
    for payload in payloads {
        merger.add(&read(payload.as_ref(), &ReadOptions::default())?.profiles)?;
    }
    let merged = merger.finish()?;
    let mut filter = Filter::default();
    filter.hide = Some(Pattern::new("^runtime", |name| name.starts_with("runtime")));
    let top = look::top(&merged.profiles, &Options::default().node_count(10).filter(filter))?;
    Ok(top.to_string())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let files = std::env::args().skip(1).map(std::fs::read).collect::<std::io::Result<Vec<_>>>()?;
    print!("{}", merge_top(&files)?);
    Ok(())
}
