//! Removes the hashes from Rust function names, so that two builds can be compared:
//! `app::serve::h0123456789abcdef` becomes `app::serve`.
//!
//! ```sh
//! cargo run --example rename_functions in.pb.gz out.pb
//! ```

use otlp_profiles::model::StringField;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, output] = &arguments[..] else { return Err("needs IN OUT".into()) };
    std::fs::write(output, strip_hashes(&std::fs::read(input)?)?)?;
    Ok(())
}

pub fn strip_hashes(payload: &[u8]) -> otlp_profiles::Result<Vec<u8>> {
    let mut reading = otlp_profiles::read(payload, &Default::default())?;
    reading.profiles.rewrite_strings(&[StringField::FunctionName], |name| {
        let (path, hash) = name.rsplit_once("::h")?;
        let is_hash = hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then(|| path.to_owned())
    })?;
    reading.profiles.compact();
    let format = reading.detected.format;
    Ok(otlp_profiles::write(&reading.profiles, format, &Default::default())?.payload)
}
