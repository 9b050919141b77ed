//! pprof: `perftools.profiles.Profile`.

mod equal;
mod flags;
mod ids;
mod labels;
mod read;
mod samples;
mod times;
mod unsaid;
mod write;
mod write_samples;

use crate::format::otlp::schema::{
    Container, Generation, Home, Location, Mapping, Profile, Rows, Sample, Schema, Tables,
};
use crate::format::otlp::v1_3::V1_3;
use crate::format::{Codec, Encoding};

/// The schema of pprof's rows: OTEP 0239's inner profile, less what the OTEP added. Rows are known
/// by their ids, and the empty one is not said.
struct Rowed;

const NEXT: Schema = V1_3::SCHEMA;

impl Generation for Rowed {
    const SCHEMA: Schema = Schema {
        name: "pprof",
        home: Home::Profile,
        rows: Rows::FromZero,
        tables: Tables { attribute: 0, attribute_units: 0, link: 0, ..NEXT.tables },
        container: Container::NONE,
        profile: Profile { location_indices: 0, ..NEXT.profile },
        sample: Sample {
            slice_start: 0,
            slice_length: 0,
            stacktrace_id: 0,
            attributes: 0,
            link: 0,
            timestamps: 0,
            ..NEXT.sample
        },
        mapping: Mapping { build_id_kind: 0, attributes: 0, ..NEXT.mapping },
        location: Location { frame_type: 0, attributes: 0, ..NEXT.location },
        temporality: 0,
        ..NEXT
    };
}

/// `Profile.doc_url`, whose number OTEP 0239 gave to `location_indices`.
const DOC_URL: u32 = 15;

/// pprof as a format.
pub(crate) static PPROF: Codec = Codec {
    name: "pprof",
    aliases: &[],
    about: "pprof's profile.proto, as Go and most profilers write it",
    extensions: &["pb", "pprof", "prof"],
    gzip_on_disk: true,
    deprecated: None,
    encoding: Encoding::Pprof,
    read: read::read,
    write: write::write,
};
