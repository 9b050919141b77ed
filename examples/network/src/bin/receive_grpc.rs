//! Receives OTLP profiles over gRPC, without generated code:
//!
//! ```sh
//! cargo run --bin receive_grpc -- 127.0.0.1:4317
//! ```

use std::convert::Infallible;
use std::task::{Context, Poll};

use bytes::{Buf, BufMut};
use otlp_profiles::detect::Endpoint;
use otlp_profiles::response::{self, Encoding, ExportResponse};
use otlp_profiles::{ReadOptions, read};
use tonic::codec::{Codec, CompressionEncoding, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::{Body, BoxFuture, Service, StdError, http};
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::{Code, Request, Response, Status};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:4317".into());
    let server = tonic::transport::Server::builder().add_service(ProfilesService);
    Ok(server.serve(address.parse()?).await?)
}

/// `opentelemetry.proto.collector.profiles.v1development.ProfilesService`.
#[derive(Clone, Copy, Debug)]
pub struct ProfilesService;

impl NamedService for ProfilesService {
    const NAME: &'static str =
        "opentelemetry.proto.collector.profiles.v1development.ProfilesService";
}

impl<B> Service<http::Request<B>> for ProfilesService
where
    B: Body + Send + 'static,
    B::Error: Into<StdError> + Send + 'static,
{
    type Response = http::Response<tonic::body::Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        Box::pin(async move {
            if !request.uri().path().ends_with("/Export") {
                return Ok(Status::unimplemented("the only method is Export").into_http());
            }
            let mut grpc = Grpc::new(Payload)
                .accept_compressed(CompressionEncoding::Gzip)
                .apply_max_message_size_config(Some(64 << 20), None);
            Ok(grpc.unary(Export, request).await)
        })
    }
}

struct Export;

impl UnaryService<Vec<u8>> for Export {
    type Response = Vec<u8>;
    type Future = BoxFuture<Response<Vec<u8>>, Status>;

    fn call(&mut self, request: Request<Vec<u8>>) -> Self::Future {
        Box::pin(async move {
            let decoded = tokio::task::spawn_blocking(move || {
                let options = ReadOptions::default().endpoint(Endpoint::V1Development);
                read(request.get_ref(), &options)
            });
            match decoded.await {
                // Store the profiles here.
                Ok(Ok(_reading)) => {
                    Ok(Response::new(ExportResponse::default().encode(Encoding::Protobuf)))
                }
                Ok(Err(error)) => Err(rejected(&(&error).into())),
                Err(panic) => Err(Status::internal(panic.to_string())),
            }
        })
    }
}

/// The status in tonic's type. Its details carry a retry delay, if there is one.
fn rejected(status: &response::Status) -> Status {
    let details = status.encode(Encoding::Protobuf).into();
    Status::with_details(Code::from(status.code), status.message.clone(), details)
}

/// A codec that leaves messages encoded: `read` decodes them, whatever their generation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Payload;

impl Codec for Payload {
    type Encode = Vec<u8>;
    type Decode = Vec<u8>;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Payload {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, message: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put_slice(&message);
        Ok(())
    }
}

impl Decoder for Payload {
    type Item = Vec<u8>;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining()).into()))
    }
}
