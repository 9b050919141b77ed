//! Keeps the profiles of one service and removes everything else, including names.
//!
//! ```sh
//! cargo run --example filter_service in.otlp out.otlp checkout
//! ```

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, output, service] = &arguments[..] else {
        return Err("needs IN OUT SERVICE".into());
    };
    std::fs::write(output, of_service(&std::fs::read(input)?, service)?)?;
    Ok(())
}

pub fn of_service(payload: &[u8], service: &str) -> otlp_profiles::Result<Vec<u8>> {
    let mut reading = otlp_profiles::read(payload, &Default::default())?;
    reading.profiles.retain_resources(|resource| resource.get_str("service.name") == Some(service));
    reading.profiles.compact();
    let format = reading.detected.format;
    Ok(otlp_profiles::write(&reading.profiles, format, &Default::default())?.payload)
}
