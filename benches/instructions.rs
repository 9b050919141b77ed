//! Runs every operation once, for callgrind, which counts its instructions. Unlike times, they are repeatable.
//!
//! ```sh
//! cargo bench --profile profiling --bench instructions --no-run   # prints the path of the program
//! valgrind --tool=callgrind --callgrind-out-file=out --zero-before=instructions::measured \
//!     --dump-after=instructions::measured PROGRAM FILE.pb.gz      # prints the operations, in the order of the parts
//! grep totals: out.*
//! ```

use std::hint::black_box;

use otlp_profiles::builder::{Frame, leaf_first};
use otlp_profiles::check::{Options, validate};
use otlp_profiles::{Builder, Format, Limits, Profiles, ReadOptions, Summary, WriteOptions};

/// Callgrind counts the instructions between start and end of this function.
#[inline(never)]
fn measured(name: &str, operation: &dyn Fn()) {
    operation();
    println!("{name}"); // after the operation, as callgrind misses the end of a tail call
}

fn options() -> ReadOptions {
    ReadOptions::default().limits(Limits::file())
}

fn read(bytes: &[u8], format: Format) -> Profiles {
    otlp_profiles::read(bytes, &options().format(format)).expect("readable").profiles
}

fn write(profiles: &Profiles, format: Format) -> Vec<u8> {
    let options = WriteOptions::default().max_output_bytes(u64::MAX).max_expanded_samples(u64::MAX);
    otlp_profiles::write(profiles, format, &options).expect("writable").payload
}

/// Records the samples of a profile again, frame by frame.
fn build(profiles: &Profiles) -> Profiles {
    let (dictionary, mut builder) = (profiles.dictionary(), Builder::new());
    let profile = builder.profile("cpu", "nanoseconds");
    for sample in profiles.iter().flat_map(|profile| profile.samples().iter()) {
        let locations = dictionary.stack(sample.stack).iter();
        let lines = locations.flat_map(|&location| dictionary.locations().lines(location));
        let frames = lines.map(|line| {
            let function = dictionary.function(line.function);
            let [name, file] = [function.name, function.filename].map(|id| dictionary.text(id));
            Frame::new(name).at(file, line.line as u32)
        });
        builder.sample(profile, leaf_first(frames)).value(1).attr("thread.name", "worker");
    }
    builder.finish().expect("within the limits")
}

fn main() {
    for path in std::env::args().skip(1).filter(|arg| !arg.starts_with("--")) {
        let bytes = std::fs::read(&path).expect("can be read");
        let profiles = otlp_profiles::read(&bytes, &options()).expect("readable").profiles;
        measured("build", &|| drop(black_box(build(&profiles))));
        for name in ["pprof", "otlp-1.3", "otlp-1.7", "otlp-1.9", "otlp-1.10"] {
            let format: Format = name.parse().expect("a format");
            let to = if name == "pprof" { Format::OTLP } else { Format::PPROF };
            let payload = write(&profiles, format);
            let own = read(&payload, format);
            let checks = Options::default().limits(Limits::file()).format(format);
            let measured = |what, run: &dyn Fn()| measured(&format!("{name} {what}"), run);
            measured("decode", &|| drop(black_box(read(&payload, format))));
            measured("encode", &|| drop(black_box(write(&own, format))));
            measured("convert", &|| drop(black_box(write(&read(&payload, format), to))));
            measured("validate", &|| drop(black_box(validate(&payload, &checks))));
            measured("detect", &|| drop(black_box(otlp_profiles::detect(&payload, &options()))));
            let options = options().format(format);
            measured("summary", &|| drop(black_box(Summary::of(&payload, &options))));
        }
    }
}
