//! OTLP profiles: one reader and one writer for all generations, over a constant schema.
//!
//! | folder | direction | steps |
//! |---|---|---|
//! | `read/` | bytes to the model | count the tables, read them, validate them; samples are stored as columns from the first byte |
//! | `write/` | model to bytes | select the rows to write, then emit bytes in ascending order of field numbers |
//!
//! Both folders are generic over a [`Generation`]. Readers (`fields!`, `is!`) and writers (`emit!`) look up a
//! field by its key, and the compiler drops the code for fields that the generation lacks. All other
//! differences are [`Capabilities`](schema::Capabilities): where tables are, how rows are referenced, whether
//! times are fixed64.
//!
//! ```text
//! 1.3        v1experimental, OTEP 0239   a container around a profile that resembles pprof's
//! 1.4, 1.5   v1development               tables in every profile
//! 1.6                                    tables in ProfilesData: files have them, requests cannot
//! 1.7                                    tables in ProfilesDictionary
//! 1.8, 1.9                               one sample type per profile, a stack table, row 0 is empty
//! 1.10, 1.11                             keys and strings may be references into the string table
//! ```
//!
//! `src/schema/` lists the changes between them, field by field.

pub(crate) mod read;
pub(crate) mod write;

use crate::error::Result;
use crate::format::{Codec, Encoding, Read};
use crate::losses::Losses;
use crate::model::Profiles;
use crate::schema::{self, Generation};
use crate::write_options::WriteOptions;

/// Builds the registry entry of a generation.
///
/// Reader and writer are instances of two generic functions. The registry therefore holds plain function
/// pointers, and no other code names the type of a generation.
const fn codec<G: Generation>(about: &'static str, aliases: &'static [&'static str]) -> Codec {
    Codec {
        name: G::VERSION.name(),
        aliases,
        about,
        extensions: &["otlp", "binpb"],
        gzip_on_disk: false,
        deprecated: None,
        encoding: Encoding::Otlp(G::VERSION),
        read: Some(Read::Bytes(read::read::<G>)),
        write: Some(write_one::<G>),
        options: &["profile-id"],
    }
}

/// Writes one payload, which can hold any number of profiles.
fn write_one<G: Generation>(
    profiles: &Profiles,
    options: &WriteOptions,
    losses: &mut Losses,
    spare: Vec<u8>,
) -> Result<Vec<Vec<u8>>> {
    Ok(vec![write::write::<G>(profiles, options, losses, spare)?])
}

/// Builds the entry of a generation that a newer one replaces.
///
/// The command prints a hint once per run if it reads such a generation, and this reason if it writes one.
const fn old<G: Generation>(about: &'static str, aliases: &'static [&'static str]) -> Codec {
    let deprecated =
        Some("current readers expect another layout: write it only for a reader that requires it");
    Codec { deprecated, ..codec::<G>(about, aliases) }
}

pub(crate) static OTLP_1_10: Codec = codec::<schema::V1_10>(
    "OTLP 1.10 and 1.11, v1development: the current generation",
    &["otlp", "otlp-1.11", "1.11"],
);
pub(crate) static OTLP_1_9: Codec = old::<schema::V1_9>("OTLP 1.9, v1development", &[]);
pub(crate) static OTLP_1_8: Codec = old::<schema::V1_8>("OTLP 1.8, v1development", &[]);
pub(crate) static OTLP_1_7: Codec = old::<schema::V1_7>("OTLP 1.7, v1development", &[]);
pub(crate) static OTLP_1_6: Codec = old::<schema::V1_6>("OTLP 1.6, v1development: files only", &[]);
pub(crate) static OTLP_1_5: Codec = old::<schema::V1_5>("OTLP 1.5, v1development", &[]);
pub(crate) static OTLP_1_4: Codec = old::<schema::V1_4>("OTLP 1.4, v1development", &[]);
pub(crate) static OTLP_1_3: Codec = old::<schema::V1_3>(
    "OTLP 1.3, v1experimental: OTEP 0239",
    &["otlp-1.3.1", "otlp-1.3.2", "otep-0239"],
);
