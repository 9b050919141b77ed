//! Receives OTLP profiles over HTTP, as protobuf or JSON, gzipped or not:
//!
//! ```sh
//! cargo run --bin receive_http -- 127.0.0.1:4318
//! ```

use axum::Router;
use axum::body::Bytes;
use axum::extract::DefaultBodyLimit;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use otlp_profiles::detect::Endpoint;
use otlp_profiles::response::{Encoding, ExportResponse, Status, http_status};
use otlp_profiles::{Limits, Profiles, ReadOptions, read};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:4318".into());
    Ok(axum::serve(tokio::net::TcpListener::bind(address).await?, router()).await?)
}

pub fn router() -> Router {
    let limit = usize::try_from(Limits::network().max_input_bytes).unwrap_or(usize::MAX);
    Router::new()
        .route("/v1development/profiles", post(export))
        .route("/v1experimental/profiles", post(export))
        .layer(DefaultBodyLimit::max(limit))
}

async fn export(uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let Some(encoding) = content_type.and_then(Encoding::of_content_type) else {
        return StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response();
    };
    let endpoint = uri.path().parse::<Endpoint>().ok();
    // Decoding takes processor time, which would block other connections.
    let decoded = tokio::task::spawn_blocking(move || {
        // `read` inflates gzip and recognises JSON by its first byte.
        read(&body, &ReadOptions::default().endpoint(endpoint))
    });
    let (status, body) = match decoded.await {
        Ok(Ok(reading)) => (200, store(&reading.profiles).encode(encoding)),
        Ok(Err(error)) => (http_status(error.kind()), Status::from(&error).encode(encoding)),
        Err(panic) => (500, Status::new(Status::INTERNAL, panic.to_string()).encode(encoding)),
    };
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [(CONTENT_TYPE, encoding.content_type())], body).into_response()
}

/// Stands for a real store. Stores no profiles, and rejects those without a duration.
fn store(profiles: &Profiles) -> ExportResponse {
    let rejected = profiles.iter().filter(|profile| profile.duration_nanos() == 0).count();
    match rejected {
        0 => ExportResponse::default(),
        _ => ExportResponse::partial(rejected as i64, "profiles without a duration are rejected"),
    }
}
