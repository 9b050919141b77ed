//! Reads every OTLP profiles payload ever put on the wire, says which one it is, converts it to
//! and from pprof without losing a field, and proves it.

#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod build;
mod compression;
mod convert;
mod error;
mod format;
mod framing;
mod limits;
pub mod model;
#[cfg(feature = "proto")]
pub mod proto;
pub mod semconv;
mod wire;

pub use build::Builder;
pub use compression::{Level, deflate, inflate};
pub use convert::{
    ReadOptions, Reading, Written, detect, read, read_all, write, write_all, write_into,
};
pub use error::{Error, ErrorKind, Finding, Result, Severity};
pub use format::detect::{Certainty, Detected, Endpoint};
pub use format::intake::Policy;
pub use format::losses::{LOSS_CODES, Loss, LossKind, Losses, Verdict};
pub use format::{FORMATS, Format, Refs, Timestamps, WriteOptions, format};
pub use framing::{Framing, Messages, frame, messages};
pub use limits::Limits;
pub use model::dictionary::{
    Attribute, Dictionary, Function, Line, Link, Locations, Mapping, Mappings,
};
pub use model::id::{AttributeId, FunctionId, LinkId, LocationId, MappingId, StackId, StringId};
pub use model::profile::{AggregationTemporality, Profile, ProfileId, ValueType};
pub use model::ragged::Ragged;
pub use model::samples::{SampleRef, Samples};
pub use model::strings::Strings;
pub use model::value::{KeyValue, Value};
pub use model::{EntityRef, Profiles, Resource, ResourceProfiles, Scope, ScopeProfiles};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../docs/PROFILER_AUTHORS.md")]
struct ProfilerAuthors;
