//! Valid payloads of each generation, by the numbers of the catalogue.

use otlp_profiles::Format;
use otlp_profiles::fuzzing::Payload;

/// The generations of the catalogue, with a format for each.
pub const GENERATIONS: [(&str, &str); 8] = [
    ("1", "otlp-1.3"),
    ("2", "otlp-1.5"),
    ("3", "otlp-1.6"),
    ("4", "otlp-1.7"),
    ("5", "otlp-1.8"),
    ("6", "otlp-1.9"),
    ("7", "otlp-1.10"),
    ("P", "pprof"),
];

pub fn format(generation: &str) -> Format {
    let row = GENERATIONS.iter().find(|(name, _)| *name == generation).expect("a generation");
    row.1.parse().expect("a format")
}

/// The valid payload of a generation.
pub fn base(generation: &str) -> Payload {
    Payload::valid(format(generation)).expect("a valid payload")
}

/// The valid payload of a generation with edits.
#[track_caller]
pub fn edited(generation: &str, edits: &str) -> Vec<u8> {
    let mut payload = base(generation);
    payload.edit(edits).expect(edits);
    payload.encode()
}

/// Expands the abbreviations of edits in a path.
pub fn in_full(generation: &str, path: &str) -> String {
    base(generation).expand(path)
}
