//! OTLP profiles: one reader and one writer for every generation, over a constant schema.

pub(crate) mod common;
mod frame_types;
mod gather;
mod ids;
pub(crate) mod lift;
mod location_list;
mod own_texts;
mod parts;
pub(crate) mod prove;
mod read;
mod refs;
mod samples;
pub(crate) mod schema;
mod settle;
mod shape;
pub(crate) mod shape_losses;
mod slices;
pub(crate) mod tables;
mod time_unit;
mod units;
mod v1_10;
pub(crate) mod v1_3;
mod v1_4;
mod v1_5;
mod v1_6;
mod v1_7;
mod v1_8;
mod v1_9;
pub(crate) mod write;
mod write_common;
mod write_notes;
mod write_profile;
mod write_samples;
mod write_tables;

use crate::error::Result;
use crate::format::intake::Intake;
use crate::format::losses::Losses;
use crate::format::otlp::schema::{Generation, Schema};
use crate::format::{Format, WriteOptions};
use crate::model::Profiles;

/// A generation as a format: what is not in its schema.
pub(crate) struct Otlp<G> {
    about: &'static str,
    aliases: &'static [&'static str],
    extensions: &'static [&'static str],
    gzip_on_disk: bool,
    deprecated: Option<&'static str>,
    generation: std::marker::PhantomData<G>,
}

impl<G: Generation> Format for Otlp<G> {
    fn name(&self) -> &'static str {
        G::SCHEMA.name
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn extensions(&self) -> &'static [&'static str] {
        self.extensions
    }

    fn gzip_on_disk(&self) -> bool {
        self.gzip_on_disk
    }

    fn deprecated(&self) -> Option<&'static str> {
        self.deprecated
    }

    fn schema(&self) -> Option<&'static Schema> {
        Some(const { &G::SCHEMA })
    }

    fn read(&self, payload: &[u8], intake: &mut Intake) -> Result<Profiles> {
        read::read::<G>(payload, intake)
    }

    fn write(
        &self,
        profiles: &Profiles,
        options: &WriteOptions,
        losses: &mut Losses,
        spare: Vec<u8>,
    ) -> Result<Vec<Vec<u8>>> {
        Ok(vec![write::write::<G>(profiles, options, losses, spare)?])
    }
}

const fn old<G>(
    about: &'static str,
    aliases: &'static [&'static str],
    gzip_on_disk: bool,
) -> Otlp<G> {
    let deprecated = Some(
        "readers of today expect another layout; write it only for a reader that must have it",
    );
    Otlp {
        about,
        aliases,
        extensions: &[],
        gzip_on_disk,
        deprecated,
        generation: std::marker::PhantomData,
    }
}

pub(crate) static OTLP_1_10: Otlp<v1_10::V1_10> = Otlp {
    about: "OTLP 1.10 and 1.11, v1development: the current generation",
    aliases: &["otlp", "otlp-1.11"],
    extensions: &["otlp", "binpb"],
    gzip_on_disk: false,
    deprecated: None,
    generation: std::marker::PhantomData,
};
pub(crate) static OTLP_1_9: Otlp<v1_9::V1_9> = old("OTLP 1.9, v1development", &[], false);
pub(crate) static OTLP_1_8: Otlp<v1_8::V1_8> = old("OTLP 1.8, v1development", &[], false);
pub(crate) static OTLP_1_7: Otlp<v1_7::V1_7> = old("OTLP 1.7, v1development", &[], true);
pub(crate) static OTLP_1_6: Otlp<v1_6::V1_6> =
    old("OTLP 1.6, v1development: files only", &[], true);
pub(crate) static OTLP_1_5: Otlp<v1_5::V1_5> = old("OTLP 1.5, v1development", &[], true);
pub(crate) static OTLP_1_4: Otlp<v1_4::V1_4> = old("OTLP 1.4, v1development", &[], true);
pub(crate) static OTLP_1_3: Otlp<v1_3::V1_3> =
    old("OTLP 1.3, v1experimental: OTEP 0239", &["otlp-1.3.1", "otlp-1.3.2", "otep-0239"], true);
