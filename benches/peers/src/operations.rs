//! The operations, and how each side performs them.

use std::hint::black_box;
use std::time::{Duration, Instant};

use otlp_profiles::proto::prost::Message;
use otlp_profiles::proto::{pprof, v1_3, v1_10};
use otlp_profiles::{Format, Limits, Profiles, ReadOptions, WriteOptions};

use crate::{able, twin};

/// A side of the comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The library.
    Ours,
    /// prost, with hash maps for conversions.
    Prost,
    /// prost, with a converter tuned for common files.
    Able,
}

impl Side {
    pub const ALL: [Self; 3] = [Self::Ours, Self::Prost, Self::Able];

    pub fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Prost => "prost",
            Self::Able => "able",
        }
    }
}

/// An operation, and the project's goal compared with prost.
pub struct Operation {
    pub name: &'static str,
    pub goal: f64,
    pub beside: &'static [Side],
    what: What,
}

enum What {
    Read(Wire),
    Write(Wire),
    Forth,
    Back,
}

/// The formats for which prost has types.
#[derive(Clone, Copy)]
enum Wire {
    Pprof,
    V1_10,
    V1_3,
}

impl Wire {
    fn format(self) -> Format {
        match self {
            Self::Pprof => Format::PPROF,
            Self::V1_10 => Format::OTLP_1_10,
            Self::V1_3 => Format::OTLP_1_3,
        }
    }
}

const DECODER: &[Side] = &[Side::Prost];
const CONVERTERS: &[Side] = &[Side::Prost, Side::Able];

pub const OPERATIONS: &[Operation] = &[
    Operation { name: "read-pprof", goal: 3.5, beside: DECODER, what: What::Read(Wire::Pprof) },
    Operation { name: "read-1.10", goal: 3.5, beside: DECODER, what: What::Read(Wire::V1_10) },
    Operation { name: "read-1.3", goal: 3.5, beside: DECODER, what: What::Read(Wire::V1_3) },
    Operation { name: "write-pprof", goal: 2.0, beside: DECODER, what: What::Write(Wire::Pprof) },
    Operation { name: "write-1.10", goal: 2.0, beside: DECODER, what: What::Write(Wire::V1_10) },
    Operation { name: "write-1.3", goal: 2.0, beside: DECODER, what: What::Write(Wire::V1_3) },
    Operation { name: "pprof-to-1.10", goal: 7.0, beside: CONVERTERS, what: What::Forth },
    Operation { name: "1.10-to-pprof", goal: 5.0, beside: CONVERTERS, what: What::Back },
];

/// The minimum time and number of runs per measurement.
const LEAST: (Duration, usize) = (Duration::from_millis(300), 5);

impl Operation {
    /// The least time of a side in seconds, or `None` if the side does not support the operation.
    pub fn measure(&self, side: Side, source: &[u8]) -> Option<f64> {
        match (&self.what, side) {
            (What::Read(_) | What::Write(_), Side::Able) => None,
            (What::Read(wire), _) => Some(read_by(side, &in_format(source, wire.format()), *wire)),
            (What::Write(wire), _) => {
                Some(write_by(side, &in_format(source, wire.format()), *wire))
            }
            (What::Forth, _) => Some(match side {
                Side::Ours => least(|| write(&read(source, Format::PPROF), Format::OTLP_1_10)),
                Side::Prost => least(|| twin::pprof_to_otlp(source)),
                Side::Able => least(|| able::pprof_to_otlp(source)),
            }),
            (What::Back, _) => {
                let payload = in_format(source, Format::OTLP_1_10);
                Some(match side {
                    Side::Ours => {
                        least(|| write(&read(&payload, Format::OTLP_1_10), Format::PPROF))
                    }
                    Side::Prost => least(|| twin::otlp_to_pprof(&payload)),
                    Side::Able => least(|| able::otlp_to_pprof(&payload)),
                })
            }
        }
    }
}

fn read(bytes: &[u8], format: Format) -> Profiles {
    let options = ReadOptions::default().limits(Limits::file()).format(format);
    otlp_profiles::read(bytes, &options).expect("readable").profiles
}

fn write(profiles: &Profiles, format: Format) -> Vec<u8> {
    let options = WriteOptions::default().max_output_bytes(u64::MAX).max_expanded_samples(u64::MAX);
    otlp_profiles::write(profiles, format, &options).expect("writable").payload
}

fn in_format(source: &[u8], format: Format) -> Vec<u8> {
    if format == Format::PPROF {
        source.to_vec()
    } else {
        write(&read(source, Format::PPROF), format)
    }
}

fn read_by(side: Side, payload: &[u8], wire: Wire) -> f64 {
    match (side, wire) {
        (Side::Ours, _) => least(|| read(payload, wire.format())),
        (_, Wire::Pprof) => least(|| pprof::Profile::decode(payload).expect("pprof")),
        (_, Wire::V1_10) => least(|| v1_10::ProfilesData::decode(payload).expect("1.10")),
        (_, Wire::V1_3) => least(|| v1_3::ProfilesData::decode(payload).expect("1.3")),
    }
}

fn write_by(side: Side, payload: &[u8], wire: Wire) -> f64 {
    fn encode<M: Message + Default>(payload: &[u8]) -> f64 {
        let message = M::decode(payload).expect("readable");
        least(|| message.encode_to_vec())
    }
    match (side, wire) {
        (Side::Ours, _) => {
            let profiles = read(payload, wire.format());
            least(|| write(&profiles, wire.format()))
        }
        (_, Wire::Pprof) => encode::<pprof::Profile>(payload),
        (_, Wire::V1_10) => encode::<v1_10::ProfilesData>(payload),
        (_, Wire::V1_3) => encode::<v1_3::ProfilesData>(payload),
    }
}

/// The least time of one call, including dropping its result.
fn least<T>(mut f: impl FnMut() -> T) -> f64 {
    let (begun, mut least, mut times) = (Instant::now(), f64::MAX, 0);
    while begun.elapsed() < LEAST.0 || times < LEAST.1 {
        let start = Instant::now();
        drop(black_box(f()));
        least = least.min(start.elapsed().as_secs_f64());
        times += 1;
    }
    least
}
