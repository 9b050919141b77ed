//! Profiles its own process for a second and writes two files: `cpu.otlp` for OTLP readers, and
//! `cpu.pb.gz` for `go tool pprof`.
//!
//! ```sh
//! cargo run --release --features pprof --example profile_self [folder]
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use otlp_profiles::compression::{Level, deflate};
use otlp_profiles::{Builder, Format, WriteOptions, write};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));

    let guard = pprof::ProfilerGuard::new(997)?;
    work(Duration::from_secs(1));
    let report = guard.report().build()?;

    let mut builder = Builder::new();
    builder.resource().attr("service.name", "profile_self").attr("process.pid", std::process::id());
    builder.scope("pprof-rs").version("0.15");
    builder.report(&report);
    let profiles = builder.finish()?;

    let options = WriteOptions::default();
    let otlp = write(&profiles, Format::OTLP, &options)?;
    std::fs::write(folder.join("cpu.otlp"), &otlp.payload)?;
    let pprof = write(&profiles, Format::PPROF, &options)?;
    std::fs::write(folder.join("cpu.pb.gz"), deflate(&pprof.payload, Level::DEFAULT))?;

    let samples: usize = profiles.iter().map(|profile| profile.samples().len()).sum();
    println!("{samples} distinct samples, {} bytes as OTLP", otlp.payload.len());
    for loss in pprof.losses.iter() {
        println!("pprof cannot say: {loss}");
    }
    Ok(())
}

/// Work to profile: counts how often numbers share digits.
fn work(time: Duration) {
    let start = Instant::now();
    let mut seen = BTreeMap::<String, u32>::new();
    for number in 0u64.. {
        *seen.entry(digits(number)).or_default() += 1;
        if number % 1024 == 0 && start.elapsed() > time {
            break;
        }
    }
    std::hint::black_box(seen.len());
}

fn digits(number: u64) -> String {
    let mut digits = number.to_string().into_bytes();
    digits.sort_unstable();
    String::from_utf8_lossy(&digits).into_owned()
}
