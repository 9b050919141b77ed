//! A payload written anew: read with its defects repaired, tables without equal and unused rows, and
//! written as the generation it was.
//!
//! ```text
//! payload ─► read, repairing ─► Builder (equal rows one) ─► mend ─► compact (unused rows go) ─► write
//! ```
//!
//! Written as the generation it was, since a mended payload has to be readable by whoever read it
//! before.

use crate::build::merge::Remap;
use crate::build::{Builder, WhenFull, compact};
use crate::error::{Error, Finding, Result};
use crate::format::intake::{Intake, Policy};
use crate::format::losses::Losses;
use crate::format::options::WriteOptions;
use crate::format::{Encoding, Format, Refs};
use crate::limits::{Limits, within};
use crate::model::Profiles;
use crate::model::id::{Id, MappingId};
use crate::schema::{ANY_VALUE, Kind, MessageType, PROFILES_DATA, Version};
use crate::wire::LEN;
use crate::wire::read::Reader;

use super::mend;

/// A payload written anew, what reading it repaired and what writing it could not say.
pub(super) struct Rewritten {
    /// Of the same format.
    pub(super) payload: Vec<u8>,
    /// How many resources and how many scopes were put into an equal one.
    pub(super) joined: [u64; 2],
    /// As the reader counts them; whether each is tolerable is asked by [`fix`](super).
    pub(super) repairs: Vec<Finding>,
    /// What the generation could not say of what it said before: usually nothing.
    pub(super) losses: Losses,
}

/// Writes a payload anew, in the format it is in and as it said its texts.
///
/// Costs a read, a copy of the profiles and a write. What needs several payloads is refused: a file
/// has one place for it.
pub(super) fn rewrite(payload: &[u8], format: Format, limits: &Limits) -> Result<Rewritten> {
    let mut intake = Intake::new(*limits, Policy::Repair, payload.len());
    // A label stays a label.
    intake.links = false;
    let read = format.read(payload, &mut intake).map_err(|error| error.located(payload))?;
    let mut profiles = interned(&read, limits)?;
    let joined = joined(&read, &profiles);
    drop(read);
    mend::leave_out_empty(&mut profiles);
    mend::sort_timestamps(&mut profiles);
    let kept = kept(&profiles, format);
    compact::compact(&mut profiles, &kept);
    let options = WriteOptions::default()
        .refs(refs_of(payload, format, limits))
        .links(false)
        .max_output_bytes(limits.max_output_bytes);
    let mut losses = Losses::default();
    let mut payloads = format.write(&profiles, &options, &mut losses, Vec::new())?;
    let (Some(payload), true) = (payloads.pop(), payloads.is_empty()) else {
        return Err(Error::malformed("what was one payload needs several"));
    };
    within("max_output_bytes", limits.max_output_bytes, payload.len() as u64)?;
    Ok(Rewritten { payload, joined, repairs: intake.findings, losses })
}

/// The same profiles, with equal rows of tables, equal resources and equal scopes made one.
///
/// By a builder, which makes equal rows one anyway.
fn interned(profiles: &Profiles, limits: &Limits) -> Result<Profiles> {
    let mut builder = Builder::with_limits(*limits, WhenFull::Refuse);
    builder.add(profiles)?;
    builder.finish()
}

/// How many resources and scopes there are no more.
///
/// For changes that no rule told: the builder joins resources whose attributes come in another
/// order, too.
fn joined(before: &Profiles, after: &Profiles) -> [u64; 2] {
    let counts = |profiles: &Profiles| {
        let scopes = profiles.resources.iter().map(|resource| resource.scope_profiles().len());
        [profiles.resources.len() as u64, scopes.sum::<usize>() as u64]
    };
    let ([resources, scopes], after) = (counts(before), counts(after));
    [resources - after[0], scopes - after[1]]
}

/// Rows that stay though nothing refers to them: the mappings of a pprof, which tell what was mapped, and of
/// which the first is the main binary.
///
/// `PP1038` tells of those; dropping them would lose what was mapped.
fn kept(profiles: &Profiles, format: Format) -> Vec<Remap> {
    if !matches!(format.encoding(), Encoding::Pprof) {
        return Vec::new();
    }
    let mut kept = Remap::default();
    kept.0[MappingId::TABLE].extend(0..profiles.dictionary().mappings().rows().len() as u32);
    vec![kept]
}

/// How a payload says the texts of resources, scopes and values: by the dictionary if any is said so.
///
/// Readers are of two minds about references (`OP9202`, `OP9203`), so what the sender chose is
/// kept.
fn refs_of(payload: &[u8], format: Format, limits: &Limits) -> Refs {
    let Some(schema) = format.schema().filter(|schema| schema.any_value.string_strindex != 0)
    else {
        return Refs::Inline;
    };
    let version = schema.version;
    match has_refs(Reader::new(payload), &PROFILES_DATA, version, limits.max_nesting) {
        Some(true) => Refs::Dictionary,
        _ => Refs::Inline,
    }
}

/// Whether a text of a message is said by a reference in the place of a text; `None` where its bytes
/// cannot be taken apart.
///
/// `levels` ends the recursion; a message that is deeper was not checked either.
fn has_refs(
    mut reader: Reader<'_>,
    message: &'static MessageType,
    version: Version,
    levels: u64,
) -> Option<bool> {
    let levels = levels.checked_sub(1)?;
    while let Some(tag) = reader.tag().ok()? {
        let field = message.numbered(tag >> 3, version);
        let is_value = std::ptr::eq(message, &ANY_VALUE) || message.name == "KeyValue";
        match field.map(|field| field.kind) {
            Some(Kind::Message(inner)) if tag & 7 == LEN => {
                if has_refs(reader.message().ok()?, inner, version, levels)? {
                    return Some(true);
                }
            }
            Some(Kind::Int32) if is_value => return Some(true),
            _ => reader.skip(tag, levels).ok()?,
        }
    }
    Some(false)
}
