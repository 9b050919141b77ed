//! The inputs: real profiles, a generated one in three sizes, and one with deep stacks.

use otlp_profiles::Limits;
use otlp_profiles::proto::pprof;
use otlp_profiles::proto::prost::Message;

use crate::generate;

/// The default inputs.
pub fn default() -> Vec<String> {
    let mut files = Vec::new();
    if let Ok(corpus) = std::env::var("OTLP_PROFILES_CORPUS") {
        let real = [
            "public/google-pprof/large.cpu",
            "public/parca/alloc_objects.pb.gz",
            "public/parca/profile-with-labels.pb.gz",
            "public/pprofutils/anon.in.pprof",
            "made/standins/ruby-like.pb.gz",
        ];
        files.extend(real.map(|name| format!("{corpus}/{name}")));
    }
    files.extend(["generated×1", "generated×6", "generated×64", "deep×10000"].map(str::to_owned));
    files
}

/// The name of an input in a table.
pub fn name(input: &str) -> String {
    input.rsplit('/').next().unwrap_or(input).split('.').next().unwrap_or(input).to_owned()
}

/// The pprof of an input, inflated.
pub fn pprof(input: &str) -> Vec<u8> {
    let number = |text: &str| text.parse().expect("a number follows ×");
    if let Some(scale) = input.strip_prefix("generated×") {
        return generate::pprof(number(scale));
    }
    if let Some(samples) = input.strip_prefix("deep×") {
        return deep(number(samples));
    }
    let bytes = std::fs::read(input).expect("the input can be read");
    otlp_profiles::compression::inflate(&bytes, &Limits::file()).expect("gzip").into_owned()
}

/// Stacks of 61 to 80 frames, like Ruby's. Each branches off the previous one at a random height.
fn deep(samples: u32) -> Vec<u8> {
    const FUNCTIONS: u64 = 2000;
    let mut state = 0x5eed_u64;
    let mut random = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let mut profile = pprof::Profile {
        string_table: ["", "wall", "nanoseconds"].map(String::from).into(),
        sample_type: vec![pprof::ValueType { r#type: 1, unit: 2 }],
        ..Default::default()
    };
    for id in 1..=FUNCTIONS {
        profile.string_table.push(format!("Rack::Middleware{id}#call"));
        let name = profile.string_table.len() as i64 - 1;
        profile.function.push(pprof::Function {
            id,
            name,
            system_name: name,
            ..Default::default()
        });
        let line = pprof::Line { function_id: id, line: id as i64 % 300, ..Default::default() };
        profile.location.push(pprof::Location { id, line: vec![line], ..Default::default() });
    }
    let mut stack: Vec<u64> = Vec::new();
    for _ in 0..samples {
        stack.truncate(30 + random(40) as usize);
        let depth = 61 + random(20) as usize;
        stack.resize_with(depth, || 1 + random(FUNCTIONS));
        profile.sample.push(pprof::Sample {
            location_id: stack.iter().rev().copied().collect(),
            value: vec![1 + random(1000) as i64],
            label: Vec::new(),
        });
    }
    profile.encode_to_vec()
}
