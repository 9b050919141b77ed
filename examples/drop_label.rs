//! Drops a label from every sample of a profile, in any format.
//!
//! ```sh
//! cargo run --example drop_label in.otlp out.otlp endpoint
//! ```

use otlp_profiles::model::AttributeOwner;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, output, key] = &arguments[..] else { return Err("needs IN OUT KEY".into()) };
    std::fs::write(output, drop_label(&std::fs::read(input)?, key)?)?;
    Ok(())
}

pub fn drop_label(payload: &[u8], key: &str) -> otlp_profiles::Result<Vec<u8>> {
    let mut reading = otlp_profiles::read(payload, &Default::default())?;
    reading.profiles.edit_attributes(AttributeOwner::Sample, |labels| {
        labels.remove(key);
    })?;
    reading.profiles.compact();
    let format = reading.detected.format;
    Ok(otlp_profiles::write(&reading.profiles, format, &Default::default())?.payload)
}
