//! Sends a profile to an OpenTelemetry Collector over OTLP/HTTP. The HTTP client uses only the
//! standard library:
//!
//! ```sh
//! cargo run --example otlp_http_sender [http://localhost:4318/v1development/profiles [file]]
//! ```
//!
//! The file can have any format that this crate reads. Without one, the example builds a small profile.
//! An export request has the same bytes as `ProfilesData`, so the output of `write` is the body.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::process::ExitCode;
use std::time::Duration;

use otlp_profiles::build::root_first;
use otlp_profiles::compression::{Level, deflate};
use otlp_profiles::{Builder, Format, Profiles, ReadOptions, WriteOptions, read, write};

/// The maximum size of a response.
const MAX_RESPONSE: u64 = 4 << 20;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url =
        arguments.next().unwrap_or_else(|| "http://localhost:4318/v1development/profiles".into());
    let profiles = match arguments.next() {
        Some(file) => read(&std::fs::read(file)?, &ReadOptions::default())?.profiles,
        None => example()?,
    };
    let written = write(&profiles, Format::OTLP, &WriteOptions::default())?;
    let endpoint = Endpoint::parse(&url)?;
    match send(&endpoint, &written.payload, &Backoff::default(), &mut io::stderr())? {
        Answer::Accepted => println!("accepted"),
        Answer::Partial { rejected, message } => {
            println!("{rejected} profiles rejected: {message}")
        }
        Answer::Refused { status, message, .. } => {
            return Err(format!("refused with {status}: {message}").into());
        }
    }
    Ok(())
}

fn example() -> otlp_profiles::Result<Profiles> {
    let mut builder = Builder::new();
    builder.resource().attr("service.name", "otlp_http_sender");
    let cpu = builder.profile("cpu", "nanoseconds");
    builder.sample(cpu, root_first(["main", "serve", "parse"])).value(10_000_000);
    builder.finish()
}

/// The address of a collector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub authority: String,
    pub path: String,
}

impl Endpoint {
    /// Parses `http://host:port/path`.
    pub fn parse(url: &str) -> Result<Self, String> {
        let rest = url
            .strip_prefix("http://")
            .ok_or_else(|| format!("{url} does not begin with http://"))?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let port = if authority.contains(':') { "" } else { ":4318" };
        let path = if path.is_empty() { "/v1development/profiles" } else { path };
        Ok(Self { authority: format!("{authority}{port}"), path: path.into() })
    }
}

/// Retry count and delays, used if the collector sends no `Retry-After`.
#[derive(Clone, Debug)]
pub struct Backoff {
    pub attempts: u32,
    pub first: Duration,
    pub most: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { attempts: 5, first: Duration::from_secs(1), most: Duration::from_secs(30) }
    }
}

/// The final answer of the collector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// All profiles were accepted.
    Accepted,
    /// Some profiles were rejected; sending them again would not help.
    Partial { rejected: i64, message: String },
    /// All profiles were rejected.
    Refused { status: u16, message: String, retry_after: Option<Duration> },
}

/// Sends until the collector accepts or rejects for good, or until the attempts are used up. Logs the
/// reason for each wait to `log`.
pub fn send(
    to: &Endpoint,
    payload: &[u8],
    backoff: &Backoff,
    log: &mut impl Write,
) -> io::Result<Answer> {
    let body = deflate(payload, Level::DEFAULT);
    let mut pause = backoff.first;
    for attempt in 1.. {
        let answer = post(to, &body);
        let (wait, why) = match &answer {
            // The connection failed or ended early: retry, as for the retryable statuses.
            Err(error) => (None, error.to_string()),
            Ok(Answer::Refused { status: status @ (429 | 502..=504), retry_after, .. }) => {
                (*retry_after, format!("{} answers {status}", to.authority))
            }
            Ok(_) => return answer,
        };
        if attempt >= backoff.attempts {
            return answer;
        }
        let wait = wait.unwrap_or(pause).min(backoff.most);
        writeln!(log, "{why}; trying again in {} s", wait.as_secs_f32())?;
        std::thread::sleep(wait);
        pause = (pause * 2).min(backoff.most);
    }
    unreachable!("the loop ends by returning")
}

/// Sends once. Errors name the address.
fn post(to: &Endpoint, body: &[u8]) -> io::Result<Answer> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", to.authority));
    try_post(to, body).map_err(named)
}

fn try_post(to: &Endpoint, body: &[u8]) -> io::Result<Answer> {
    let mut stream = connect(&to.authority)?;
    write!(
        stream,
        "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/x-protobuf\r\nContent-Encoding: gzip\r\n\
         Content-Length: {}\r\nUser-Agent: otlp-profiles-example\r\nConnection: close\r\n\r\n",
        to.path,
        to.authority,
        body.len()
    )?;
    stream.write_all(body)?;
    stream.flush()?;
    let (status, headers, body) = response(&mut BufReader::new(stream.take(MAX_RESPONSE)))?;
    Ok(match status {
        200..=299 => accepted(&body)?,
        _ => Answer::Refused {
            status,
            message: status_message(&body),
            retry_after: retry_after(&headers),
        },
    })
}

fn connect(authority: &str) -> io::Result<TcpStream> {
    let timeout = Some(Duration::from_secs(10));
    let mut last = io::Error::new(io::ErrorKind::NotFound, format!("{authority} has no address"));
    for address in authority.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, Duration::from_secs(10)) {
            Ok(stream) => {
                stream.set_read_timeout(timeout)?;
                stream.set_write_timeout(timeout)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Header names in lower case, with their values.
type Headers = Vec<(String, String)>;

fn header<'a>(headers: &'a Headers, name: &str) -> Option<&'a str> {
    headers.iter().find(|(there, _)| there == name).map(|(_, value)| value.as_str())
}

/// Reads a response: status, headers, body.
fn response(from: &mut impl BufRead) -> io::Result<(u16, Headers, Vec<u8>)> {
    let first = line(from)?;
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| invalid(format!("not a status line: {first}")))?;
    let mut headers = Headers::new();
    loop {
        let line = line(from)?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut body = Vec::new();
    if header(&headers, "transfer-encoding").is_some_and(|how| how.eq_ignore_ascii_case("chunked"))
    {
        loop {
            let length = line(from)?;
            let length = length.split(';').next().unwrap_or_default();
            let length = u64::from_str_radix(length.trim(), 16)
                .map_err(|_| invalid("not a length of a chunk".into()))?;
            if length == 0 {
                break;
            }
            exactly(from, length, &mut body)?;
            line(from)?;
        }
    } else if let Some(length) = header(&headers, "content-length") {
        exactly(from, length.parse().map_err(|_| invalid("not a length".into()))?, &mut body)?;
    } else {
        from.read_to_end(&mut body)?;
    }
    Ok((status, headers, body))
}

fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

fn exactly(from: &mut impl BufRead, length: u64, into: &mut Vec<u8>) -> io::Result<()> {
    let read = from.by_ref().take(length).read_to_end(into)?;
    if (read as u64) < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// Seconds to wait. A date is also valid; then the backoff applies.
fn retry_after(headers: &Headers) -> Option<Duration> {
    header(headers, "retry-after")?.parse().ok().map(Duration::from_secs)
}

/// An `ExportProfilesServiceResponse`. Field 1 is the partial success: its field 1 is the number of
/// rejected profiles, its field 2 the reason.
fn accepted(body: &[u8]) -> io::Result<Answer> {
    let mut answer = Answer::Accepted;
    for field in fields(body) {
        if let (1, Field::Bytes(partial)) = field? {
            let (mut rejected, mut message) = (0, String::new());
            for field in fields(partial) {
                match field? {
                    (1, Field::Number(number)) => rejected = number as i64,
                    (2, Field::Bytes(text)) => message = String::from_utf8_lossy(text).into_owned(),
                    _ => {}
                }
            }
            if rejected != 0 || !message.is_empty() {
                answer = Answer::Partial { rejected, message };
            }
        }
    }
    Ok(answer)
}

/// The message of a `google.rpc.Status` (field 2), or the body if it is plain text.
fn status_message(body: &[u8]) -> String {
    let message = fields(body).find_map(|field| match field {
        Ok((2, Field::Bytes(text))) => Some(text),
        _ => None,
    });
    String::from_utf8_lossy(message.unwrap_or(body)).into_owned()
}

/// A field of a protobuf message.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a protobuf message, by number.
fn fields(mut body: &[u8]) -> impl Iterator<Item = io::Result<(u64, Field<'_>)>> {
    std::iter::from_fn(move || {
        if body.is_empty() {
            return None;
        }
        let field = field(&mut body).ok_or_else(|| invalid("not a protobuf message".into()));
        if field.is_err() {
            body = &[];
        }
        Some(field)
    })
}

fn field<'a>(body: &mut &'a [u8]) -> Option<(u64, Field<'a>)> {
    let tag = varint(body)?;
    let length = match tag & 7 {
        0 => return Some((tag >> 3, Field::Number(varint(body)?))),
        1 => 8,
        2 => usize::try_from(varint(body)?).ok()?,
        5 => 4,
        _ => return None,
    };
    let (bytes, rest) = body.split_at_checked(length)?;
    *body = rest;
    Some((tag >> 3, Field::Bytes(bytes)))
}

fn varint(body: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = body.split_first()?;
        *body = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}
