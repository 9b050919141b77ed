//! The example that sends to a collector, against a server on this machine that answers like one.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use otlp_profiles::build::root_first;
use otlp_profiles::{Builder, Format, ReadOptions, WriteOptions, read, write};

#[path = "../examples/otlp_http_sender.rs"]
#[allow(dead_code, reason = "its main is for people")]
mod sender;

use sender::{Answer, Backoff, Endpoint, send};

/// A request as the server got it: the first line, the headers in lower case, the body.
struct Request {
    first: String,
    headers: Vec<String>,
    body: Vec<u8>,
}

/// Gives each answer once, in order, each on a connection of its own.
fn serve(answers: Vec<Vec<u8>>) -> (Endpoint, JoinHandle<Vec<Request>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1development/profiles", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let mut requests = Vec::new();
        for answer in answers {
            let (stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream);
            requests.push(request(&mut reader));
            reader.into_inner().write_all(&answer).unwrap();
        }
        requests
    });
    (Endpoint::parse(&url).unwrap(), server)
}

fn request(from: &mut impl BufRead) -> Request {
    let mut lines = from.lines().map(Result::unwrap);
    let first = lines.next().unwrap();
    let headers: Vec<_> =
        lines.take_while(|line| !line.is_empty()).map(|line| line.to_lowercase()).collect();
    let length = headers.iter().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    from.read_exact(&mut body).unwrap();
    Request { first, headers, body }
}

fn http(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn payload() -> Vec<u8> {
    let mut builder = Builder::new();
    let cpu = builder.profile("cpu", "nanoseconds");
    builder.sample(cpu, root_first(["main", "parse"])).value(10_000_000);
    let profiles = builder.finish().unwrap();
    write(&profiles, Format::OTLP, &WriteOptions::default()).unwrap().payload
}

fn quick() -> Backoff {
    Backoff { attempts: 3, first: Duration::from_millis(1), most: Duration::from_secs(5) }
}

/// Sends, and returns what came of it and what the server saw.
fn exchange(answers: Vec<Vec<u8>>) -> (Answer, Vec<Request>) {
    let (endpoint, server) = serve(answers);
    let answer = send(&endpoint, &payload(), &quick(), &mut std::io::sink()).unwrap();
    (answer, server.join().unwrap())
}

/// `ExportProfilesServiceResponse { partial_success { rejected_profiles: 3, error_message: "too old" } }`
const PARTIAL: &[u8] = b"\x0a\x0b\x08\x03\x12\x07too old";
/// `google.rpc.Status { code: 3, message: "bad" }`
const STATUS: &[u8] = b"\x08\x03\x12\x03bad";

#[test]
fn what_arrives_is_what_was_built() {
    let (answer, requests) =
        exchange(vec![http("200 OK", "Content-Type: application/x-protobuf\r\n", b"")]);
    assert_eq!(answer, Answer::Accepted);
    let [request] = &requests[..] else { panic!() };
    assert_eq!(request.first, "POST /v1development/profiles HTTP/1.1");
    assert!(request.headers.contains(&"content-type: application/x-protobuf".into()));
    assert!(request.headers.contains(&"content-encoding: gzip".into()));
    let inflated =
        otlp_profiles::compression::inflate(&request.body, &otlp_profiles::Limits::network())
            .unwrap();
    assert_eq!(inflated, payload());
    let options = ReadOptions::default().format(Format::OTLP);
    assert_eq!(read(&request.body, &options).unwrap().profiles.iter().count(), 1);
}

#[test]
fn a_partial_success_is_told_and_not_sent_again() {
    let expected = Answer::Partial { rejected: 3, message: "too old".into() };
    assert_eq!(exchange(vec![http("200 OK", "", PARTIAL)]).0, expected);
    let chunked = [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n",
        &PARTIAL[..5],
        b"\r\n8;x=y\r\n",
        &PARTIAL[5..],
    ];
    let chunked = [&chunked.concat()[..], b"\r\n0\r\n\r\n"].concat();
    assert_eq!(exchange(vec![chunked]).0, expected);
    let until_the_end = [b"HTTP/1.0 200 OK\r\n\r\n", PARTIAL].concat();
    assert_eq!(exchange(vec![until_the_end]).0, expected);
    assert_eq!(
        exchange(vec![http("200 OK", "", b"\x0a\x00")]).0,
        Answer::Accepted,
        "an empty one is none"
    );
}

#[test]
fn statuses_that_ask_for_it_are_tried_again() {
    for status in [
        "429 Too Many Requests",
        "502 Bad Gateway",
        "503 Service Unavailable",
        "504 Gateway Timeout",
    ] {
        let (answer, requests) = exchange(vec![http(status, "", b""), http("200 OK", "", b"")]);
        assert_eq!((answer, requests.len()), (Answer::Accepted, 2), "{status}");
        assert_eq!(requests[0].body, requests[1].body);
    }
}

#[test]
fn the_server_says_how_long_to_wait() {
    let start = Instant::now();
    let later = http("503 Service Unavailable", "retry-after: 1\r\n", b"");
    assert_eq!(exchange(vec![later, http("200 OK", "", b"")]).0, Answer::Accepted);
    assert!(start.elapsed() >= Duration::from_secs(1));
}

#[test]
fn attempts_end() {
    let busy = || http("429 Too Many Requests", "Retry-After: 0\r\n", b"\x12\x04busy");
    let (answer, requests) = exchange(vec![busy(), busy(), busy()]);
    let retry_after = Some(Duration::ZERO);
    assert_eq!(answer, Answer::Refused { status: 429, message: "busy".into(), retry_after });
    assert_eq!(requests.len(), 3);
}

/// Whoever waits is told for what, and whoever is not reached has a name.
#[test]
fn waiting_is_said_and_errors_name_the_address() {
    let endpoint = Endpoint { authority: "127.0.0.1:1".into(), path: "/".into() };
    let mut log = Vec::new();
    let error = send(&endpoint, &payload(), &quick(), &mut log).unwrap_err();
    assert!(error.to_string().starts_with("127.0.0.1:1: "), "{error}");
    let log = String::from_utf8(log).unwrap();
    let lines: Vec<_> = log.lines().collect();
    assert_eq!(lines.len(), 2, "{log}");
    assert!(lines[0].starts_with("127.0.0.1:1: ") && lines[0].ends_with("again in 0.001 s"));
    let (endpoint, server) = serve(vec![http("503 Busy", "Retry-After: 0\r\n", b""); 3]);
    let mut log = Vec::new();
    send(&endpoint, &payload(), &quick(), &mut log).unwrap();
    server.join().unwrap();
    let log = String::from_utf8(log).unwrap();
    assert!(log.starts_with(&format!("{} answers 503; ", endpoint.authority)), "{log}");
}

#[test]
fn a_refusal_is_final_and_told() {
    let (answer, requests) = exchange(vec![http("400 Bad Request", "", STATUS)]);
    assert_eq!(answer, Answer::Refused { status: 400, message: "bad".into(), retry_after: None });
    assert_eq!(requests.len(), 1);
    let (answer, _) = exchange(vec![http("404 Not Found", "", b"404 page not found")]);
    assert_eq!(
        answer,
        Answer::Refused { status: 404, message: "404 page not found".into(), retry_after: None }
    );
}

#[test]
fn nonsense_and_silence_are_errors() {
    for answer in
        [&b""[..], b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"]
    {
        let (endpoint, server) = serve(vec![answer.to_vec(); 3]);
        assert!(send(&endpoint, &payload(), &quick(), &mut std::io::sink()).is_err(), "{answer:?}");
        server.join().unwrap();
    }
    let garbage = http("200 OK", "", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff");
    let (endpoint, server) = serve(vec![garbage; 3]);
    assert!(send(&endpoint, &payload(), &quick(), &mut std::io::sink()).is_err());
    server.join().unwrap();
}

#[test]
fn an_endpoint_is_taken_apart() {
    let endpoint =
        |authority: &str, path: &str| Endpoint { authority: authority.into(), path: path.into() };
    let usual = "/v1development/profiles";
    assert_eq!(Endpoint::parse("http://collector"), Ok(endpoint("collector:4318", usual)));
    assert_eq!(Endpoint::parse("http://[::1]:80/x?y"), Ok(endpoint("[::1]:80", "/x?y")));
    assert!(Endpoint::parse("https://collector").is_err());
}
