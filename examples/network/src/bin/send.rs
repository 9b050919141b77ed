//! Sends a profile to an OpenTelemetry Collector over OTLP/HTTP:
//!
//! ```sh
//! cargo run --bin send -- http://localhost:4318/v1development/profiles cpu.pb.gz
//! ```
//!
//! `write` encodes the body of an export request: `ProfilesData` has the same bytes.

use std::error::Error;
use std::time::Duration;

use otlp_profiles::compression::{Level, deflate};
use otlp_profiles::response::{Encoding, ExportResponse, Status, is_retryable_http};
use otlp_profiles::{Format, ReadOptions, WriteOptions, read, write};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Some(file)) = (arguments.next(), arguments.next()) else {
        return Err("usage: send URL FILE".into());
    };
    let profiles = read(&std::fs::read(file)?, &ReadOptions::default())?.profiles;
    let payload = write(&profiles, Format::OTLP_1_10, &WriteOptions::default())?.payload;
    let response = send(&url, &payload, Duration::from_secs(1))?;
    if response.is_partial() {
        eprintln!("{} profiles rejected: {}", response.rejected_profiles, response.error_message);
    }
    Ok(())
}

/// The number of times that a request is sent.
const ATTEMPTS: u32 = 5;

/// Sends a payload, and retries while the receiver permits it. A partial success is not retried.
///
/// Waits for the time in `Retry-After`, or for `backoff`, which doubles after each attempt.
pub fn send(
    url: &str,
    payload: &[u8],
    mut backoff: Duration,
) -> Result<ExportResponse, Box<dyn Error>> {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(10)));
    let agent: ureq::Agent = config.build().into();
    let body = deflate(payload, Level::DEFAULT);
    for attempt in 1.. {
        let sent = agent
            .post(url)
            .header("Content-Type", Encoding::Protobuf.content_type())
            .header("Content-Encoding", "gzip")
            .send(&body[..]);
        let (error, retry_after): (Box<dyn Error>, _) = match sent {
            Ok(mut response) => {
                let status = response.status().as_u16();
                let header = |name| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
                let retry_after = header("Retry-After").and_then(|seconds| seconds.parse().ok());
                let body = response.body_mut().with_config().limit(4 << 20).read_to_vec()?;
                if status == 200 {
                    return Ok(ExportResponse::decode(&body, Encoding::Protobuf)?);
                }
                // Responses of proxies are plain text.
                let message = match Status::decode(&body, Encoding::Protobuf) {
                    Ok(rejected) => rejected.message,
                    Err(_) => String::from_utf8_lossy(&body).into_owned(),
                };
                let error = format!("{url} responded with {status}: {message}").into();
                if !is_retryable_http(status) {
                    return Err(error);
                }
                (error, retry_after.map(Duration::from_secs))
            }
            // No connection: the receiver may be restarting.
            Err(error) => (format!("{url}: {error}").into(), None),
        };
        if attempt == ATTEMPTS {
            return Err(error);
        }
        std::thread::sleep(retry_after.unwrap_or(backoff).min(Duration::from_secs(60)));
        backoff *= 2;
    }
    unreachable!("the last attempt returns")
}
