//! Measures the size of profiles in each form, and writes the tables of docs/SIZES.md.
//!
//! `cargo bench --features proto,zstd --bench sizes` prints the page; `-- --write FILE` writes it to a file. Profiles
//! outside the repository are read from `OTLP_PROFILES_CORPUS`. Missing ones are skipped with a message.

#[path = "../../tests/support/alloc.rs"]
mod alloc;
mod contrib;
mod go;
mod inputs;
mod measure;
mod message;
mod objects;
mod otep;
mod report;

use otlp_profiles::proto::prost::Message as _;

#[global_allocator]
static ALLOCATOR: alloc::Counting = alloc::Counting;

fn main() {
    let mut text = report::HEAD.to_owned();
    text += "## The OTEP's table\n\n";
    match inputs::one("public/otep-0239/average.pprof") {
        Some(input) => {
            let rows = measure::all_forms(&input.bytes, &input.profile);
            text += &report::forms("`average`", &rows, Some(false));
            let timed = otep::with_timestamps(&input.profile, otep::SECOND);
            let rows = measure::all_forms(&timed.encode_to_vec(), &timed);
            text += &report::forms("`average` with timestamps", &rows, Some(true));
            text += report::DROPPED;
        }
        None => eprintln!("skipped: the OTEP's average.pprof is only in the corpus"),
    }
    for (path, title) in [
        ("made/standins/ruby-like.pb.gz", "Ruby-like"),
        ("made/standins/large-like.pb.gz", "Large"),
    ] {
        let Some(input) = inputs::one(path) else {
            eprintln!("skipped: {path} is only in the corpus");
            continue;
        };
        if title == "Ruby-like" {
            text += "## Stand-ins\n\nThe OTEP never published its `ruby` and `large`. These profiles have the same counts: use them for trends, not for comparison with the OTEP.\n\n";
        }
        let rows = measure::all_forms(&input.bytes, &input.profile);
        text += &report::forms(title, &rows, None);
    }
    if inputs::corpus().is_none() {
        eprintln!("OTLP_PROFILES_CORPUS is not set: measuring testdata/ only");
    }
    let recorded: Vec<_> = inputs::recorded().iter().map(measure::compared).collect();
    text += &report::recorded(&recorded);
    let mut arguments = std::env::args().skip_while(|argument| argument != "--write").skip(1);
    match arguments.next() {
        Some(path) => std::fs::write(&path, text).expect("the report can be written"),
        None => println!("{text}"),
    }
}
