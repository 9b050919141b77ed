//! Compares OTLP responses with prost, and with those that receivers send.

use std::time::Duration;

use otlp_profiles::detect::Endpoint;
use otlp_profiles::response::{Encoding, ExportResponse, Status, http_status, is_retryable_http};
use otlp_profiles::{ErrorKind, Format, Limits, Policy, ReadOptions, Reader, read, write};
use prost::Message;
use prost_types::{Any, Duration as ProtoDuration};

/// `google.rpc.Status`, as its `.proto` declares it.
#[derive(Clone, PartialEq, Message)]
struct RpcStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(message, repeated, tag = "3")]
    details: Vec<Any>,
}

/// `google.rpc.RetryInfo`.
#[derive(Clone, PartialEq, Message)]
struct RetryInfo {
    #[prost(message, optional, tag = "1")]
    retry_delay: Option<ProtoDuration>,
}

fn busy() -> Status {
    let mut status = Status::new(Status::UNAVAILABLE, "the queue is full");
    status.retry_delay = Some(Duration::from_millis(1_500));
    status
}

#[test]
fn prost_encodes_a_status_to_the_same_bytes() {
    let retry_delay = Some(ProtoDuration { seconds: 1, nanos: 500_000_000 });
    let detail = Any {
        type_url: "type.googleapis.com/google.rpc.RetryInfo".into(),
        value: RetryInfo { retry_delay }.encode_to_vec(),
    };
    let other = Any { type_url: "type.googleapis.com/google.rpc.Help".into(), value: vec![1] };
    let mut theirs =
        RpcStatus { code: 14, message: "the queue is full".into(), details: vec![detail] };
    assert_eq!(busy().encode(Encoding::Protobuf), theirs.encode_to_vec());

    theirs.details.insert(0, other);
    assert_eq!(Status::decode(&theirs.encode_to_vec(), Encoding::Protobuf).unwrap(), busy());
}

#[test]
fn json_has_the_names_of_protobufs_mapping() {
    let text = r#"{"code":14,"message":"the queue is full","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.500000000s"}]}"#;
    assert_eq!(String::from_utf8(busy().encode(Encoding::Json)).unwrap(), text);
    for delay in ["1.5s", "1.500s", "1.500000000s"] {
        let text = text.replace("1.500000000s", delay);
        assert_eq!(Status::decode(text.as_bytes(), Encoding::Json).unwrap(), busy(), "{delay}");
    }
    for delay in ["", "1.5", "-1s", "s", "1.5.5s"] {
        let status = Status::decode(text.replace("1.500000000s", delay).as_bytes(), Encoding::Json);
        assert_eq!(status.unwrap().retry_delay, None, "{delay:?}");
    }

    let partial = ExportResponse::partial(7, "too \"old\"\n");
    let decoded = |text: &str| ExportResponse::decode(text.as_bytes(), Encoding::Json).unwrap();
    let encoded = String::from_utf8(partial.encode(Encoding::Json)).unwrap();
    assert_eq!(decoded(&encoded), partial);
    let original = r#"{"partial_success": {"rejected_profiles": 7, "error_message": "too \"old\"\n"}, "a": []}"#;
    assert_eq!(decoded(original), partial);
    for text in ["{}", r#"{"partialSuccess":null}"#, r#"{"partialSuccess":{}}"#] {
        assert!(!decoded(text).is_partial(), "{text}");
    }
}

#[test]
fn an_export_response_is_as_the_proto_declares_it() {
    let partial = ExportResponse::partial(3, "too old");
    assert_eq!(partial.encode(Encoding::Protobuf), b"\x0a\x0b\x08\x03\x12\x07too old");
    let unknown = b"\x0a\x0d\x08\x03\x12\x07too old\x18\x01\x15\0\0\0\0";
    assert_eq!(ExportResponse::decode(unknown, Encoding::Protobuf).unwrap(), partial);
    assert_eq!(ExportResponse::default().encode(Encoding::Protobuf), b"");
    assert_eq!(ExportResponse::default().encode(Encoding::Json), b"{}");
}

#[test]
fn a_body_that_is_no_response_is_malformed() {
    for (body, encoding) in [
        (&b"404 page not found"[..], Encoding::Protobuf),
        (b"404 page not found", Encoding::Json),
        (b"", Encoding::Json),
        (b"\x12\x02\xff\xff", Encoding::Protobuf),
    ] {
        let error = Status::decode(body, encoding).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed, "{body:?}: {error}");
    }
}

#[test]
fn senders_retry_as_the_specification_says() {
    let statuses: Vec<_> = (100..600).filter(|status| is_retryable_http(*status)).collect();
    assert_eq!(statuses, [429, 502, 503, 504]);
    let codes: Vec<_> = (0..17).filter(|code| Status::new(*code, "").is_retryable()).collect();
    assert_eq!(codes, [1, 4, 10, 11, 14, 15]);
    let mut exhausted = Status::new(Status::RESOURCE_EXHAUSTED, "");
    exhausted.retry_delay = Some(Duration::ZERO);
    assert!(exhausted.is_retryable());
}

/// The status of a receiver's response to a body, read at once and as a stream.
fn received(body: &[u8]) -> [u16; 2] {
    let options = ReadOptions::default().endpoint(Endpoint::V1Development);
    let status = |error: otlp_profiles::Error| http_status(error.kind());
    let streamed = Reader::new(body, &options).and_then(|mut reader| reader.next().unwrap());
    [read(body, &options).map_or_else(status, |_| 200), streamed.map_or_else(status, |_| 200)]
}

#[test]
fn an_endpoint_accepts_otlp_and_nothing_else() {
    let mut accepted = 0;
    for entry in std::fs::read_dir("testdata").unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let is_otlp = name.starts_with("otlp-");
        accepted += usize::from(is_otlp);
        // Two generations read this payload differently, and an endpoint does not decide between them.
        let expected = match name.as_str() {
            "ambiguous-1.10-or-1.9.otlp" => 400,
            _ if is_otlp => 200,
            _ => 415,
        };
        assert_eq!(received(&std::fs::read(&path).unwrap()), [expected; 2], "{name}");
    }
    assert_eq!(accepted, 7);

    let otlp = std::fs::read("testdata/otlp-1.11-aggregated-cpu.binpb").unwrap();
    let profiles = read(&otlp, &ReadOptions::default()).unwrap().profiles;
    for &format in Format::ALL.iter().filter(|format| format.can_write() && format.can_read()) {
        let payload = write(&profiles, format, &Default::default()).unwrap().payload;
        let expected = if format.is_otlp() { 200 } else { 415 };
        assert_eq!(received(&payload), [expected; 2], "{format}");
    }
    assert_eq!(received(b""), [200; 2]);
    assert_eq!(received(b"{}"), [200; 2]);
}

#[test]
fn a_damaged_body_of_an_endpoint_is_malformed() {
    let otlp = std::fs::read("testdata/otlp-1.11-aggregated-cpu.binpb").unwrap();
    for length in [3, 8, 20, otlp.len() / 2, otlp.len() - 1] {
        assert_eq!(received(&otlp[..length]), [400; 2], "{length} bytes");
    }
    // Two of its bytes are a line feed and a parenthesis, which is text.
    assert_eq!(received(&otlp[..2]), [415; 2]);
    assert_eq!(received(b"not a profile"), [415; 2]);
}

/// Clients of a server do not know items of this crate; the hint is for the programmer.
#[test]
fn the_text_for_clients_and_the_hint_for_programmers_are_apart() {
    let bytes = |path| std::fs::read(path).unwrap();
    let pprof = bytes("testdata/go-heap.pb.gz");
    let limited = ReadOptions::default().limits(Limits::network().max_samples(1));
    let as_pprof = ReadOptions::default().format(Format::PPROF);
    let folded = ReadOptions::default().format(Format::FOLDED);
    let cases: &[(&[u8], &ReadOptions, &str)] = &[
        (&pprof, &limited, "Limits::max_samples raises it"),
        (
            &bytes("testdata/ambiguous-1.10-or-1.9.otlp"),
            &ReadOptions::default(),
            "ReadOptions::format names the format, Ambiguity::Prefer accepts a guess",
        ),
        // One sample with the missing location 9, and with two values for one sample type.
        (
            b"\x0a\0\x12\x05\x0a\x01\x09\x12\0\x32\0",
            &as_pprof,
            "Policy::Repair drops the reference",
        ),
        (b"\x0a\0\x12\x04\x12\x02\x01\x02\x32\0", &as_pprof, "Policy::Repair drops the sample"),
        (b"\x0a\x02\x08\x09\x32\0", &as_pprof, "Policy::Repair takes an empty string"),
        (b"\x0a\0\x32\x01\xff\x32\0", &as_pprof, "Policy::Repair repairs row 0"),
        (b"\x0a\0\x2a\0\x32\0", &as_pprof, "Policy::Repair drops the id"),
        (
            b"\x0a\0\x2a\x02\x08\x01\x2a\x02\x08\x01\x32\0",
            &as_pprof,
            "Policy::Repair keeps one entry",
        ),
        (b"a;b 1\na;b\n", &folded, "Policy::Repair skips it"),
    ];
    for (payload, options, hint) in cases {
        let error = read(payload, options).unwrap_err();
        assert_eq!(error.hint().as_deref(), Some(*hint), "{error}");
        assert!(!error.to_string().contains("::"), "{error}");
        assert_eq!(format!("{error:?}"), format!("{error} ({hint})"));
        if hint.starts_with("Policy") {
            let options = (*options).clone().policy(Policy::Repair);
            assert!(read(payload, &options).is_ok(), "{hint}");
        }
    }
    // A fault that cannot be repaired has no such hint.
    assert_eq!(read(b"\x0a\xff", &as_pprof).unwrap_err().hint(), None);
}
