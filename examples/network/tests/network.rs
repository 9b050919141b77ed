//! The sender and the receivers against each other, on this machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use otlp_profiles::builder::root_first;
use otlp_profiles::response::{Encoding, ExportResponse, Status};
use otlp_profiles::{Builder, Format, WriteOptions, write};
use tonic::codegen::http::uri::PathAndQuery;

#[path = "../src/bin/receive_grpc.rs"]
#[allow(dead_code, reason = "its main is for people")]
mod receive_grpc;
#[path = "../src/bin/receive_http.rs"]
#[allow(dead_code, reason = "its main is for people")]
mod receive_http;
#[path = "../src/bin/send.rs"]
#[allow(dead_code, reason = "its main is for people")]
mod send;

const BACKOFF: Duration = Duration::from_millis(1);

/// A profile that takes a second, or whose duration is unknown.
fn payload(format: Format, duration: Duration) -> Vec<u8> {
    let mut builder = Builder::new();
    let cpu = builder.profile("cpu", "nanoseconds");
    builder.profile_mut(cpu).duration(duration);
    builder.sample(cpu, root_first(["main", "parse"])).value(10_000_000);
    write(&builder.finish().unwrap(), format, &WriteOptions::default()).unwrap().payload
}

/// Starts the receiver of the example on a free port, and returns its address.
fn receiver() -> String {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            sender.send(listener.local_addr().unwrap()).unwrap();
            axum::serve(listener, receive_http::router()).await.unwrap();
        });
    });
    format!("http://{}/v1development/profiles", receiver.recv().unwrap())
}

/// Starts a receiver that gives each response once, in order, and returns its address.
fn scripted(responses: Vec<Vec<u8>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1development/profiles", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for response in responses {
            let mut reader = BufReader::new(listener.accept().unwrap().0);
            let mut length = 0;
            for line in reader.by_ref().lines().map(Result::unwrap) {
                if let Some(value) = line.to_lowercase().strip_prefix("content-length: ") {
                    length = value.parse().unwrap();
                }
                if line.is_empty() {
                    break;
                }
            }
            std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink()).unwrap();
            reader.into_inner().write_all(&response).unwrap();
        }
    });
    url
}

fn http(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n");
    [head.as_bytes(), headers.as_bytes(), b"\r\n", body].concat()
}

#[test]
fn a_profile_is_accepted_in_part_or_rejected() {
    let url = receiver();
    let second = Duration::from_secs(1);
    for format in [Format::OTLP_1_10, Format::OTLP_1_7, Format::OTLP_JSON] {
        let response = send::send(&url, &payload(format, second), BACKOFF).unwrap();
        assert_eq!(response, ExportResponse::default(), "{format}");
    }
    let unknown = payload(Format::OTLP_1_10, Duration::ZERO);
    let response = send::send(&url, &unknown, BACKOFF).unwrap();
    assert_eq!(response, ExportResponse::partial(1, "profiles without a duration are rejected"));

    let error = send::send(&url, b"main;work 7\n", BACKOFF).unwrap_err().to_string();
    let expected = "responded with 415: the body is folded, and v1development accepts OTLP only";
    assert!(error.ends_with(expected), "{error}");
}

#[test]
fn a_sender_retries_while_the_receiver_asks_for_it() {
    let body = payload(Format::OTLP_1_10, Duration::ZERO);
    for status in ["429 Too Many Requests", "502 Bad Gateway", "503 Service Unavailable"] {
        let url = scripted(vec![http(status, "", b""), http("200 OK", "", b"")]);
        assert!(!send::send(&url, &body, BACKOFF).unwrap().is_partial(), "{status}");
    }
    let start = Instant::now();
    let busy = http("503 Service Unavailable", "Retry-After: 1\r\n", b"");
    let url = scripted(vec![busy, http("200 OK", "", b"")]);
    send::send(&url, &body, BACKOFF).unwrap();
    assert!(start.elapsed() >= Duration::from_secs(1));

    let status = Status::new(Status::UNAVAILABLE, "busy").encode(Encoding::Protobuf);
    let busy = http("429 Too Many Requests", "Retry-After: 0\r\n", &status);
    let error = send::send(&scripted(vec![busy; 5]), &body, BACKOFF).unwrap_err().to_string();
    assert!(error.ends_with("responded with 429: busy"), "{error}");

    let not_found = http("404 Not Found", "", b"404 page not found");
    let error = send::send(&scripted(vec![not_found]), &body, BACKOFF).unwrap_err().to_string();
    assert!(error.ends_with("responded with 404: 404 page not found"), "{error}");
}

#[tokio::test]
async fn grpc_carries_the_same_payloads() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let server = tonic::transport::Server::builder().add_service(receive_grpc::ProfilesService);
    tokio::spawn(server.serve(address));
    let endpoint = tonic::transport::Endpoint::from_shared(format!("http://{address}")).unwrap();
    let channel = loop {
        match endpoint.connect().await {
            Ok(channel) => break channel,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let mut client =
        tonic::client::Grpc::new(channel).send_compressed(tonic::codec::CompressionEncoding::Gzip);
    let path = PathAndQuery::from_static(
        "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export",
    );

    client.ready().await.unwrap();
    let request = tonic::Request::new(payload(Format::OTLP_1_10, Duration::ZERO));
    let response = client.unary(request, path.clone(), receive_grpc::Payload).await.unwrap();
    let response = ExportResponse::decode(response.get_ref(), Encoding::Protobuf).unwrap();
    assert!(!response.is_partial());

    client.ready().await.unwrap();
    let request = tonic::Request::new(b"main;work 7\n".to_vec());
    let error = client.unary(request, path, receive_grpc::Payload).await.unwrap_err();
    assert_eq!(error.code(), tonic::Code::InvalidArgument);
    assert_eq!(error.message(), "the body is folded, and v1development accepts OTLP only");
    let details = Status::decode(error.details(), Encoding::Protobuf).unwrap();
    assert_eq!((details.code, details.message.as_str()), (3, error.message()));
}
